"""What two machines said of agents, templates, models, ratings and proposals apart from each other
is settled on either of them, and where each does so its own way, both agree (ADR 73)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

from domain.agent import agent as a
from domain.changes import change_set as ch
from domain.errors import Refused
from domain.handlers.execute import handle
from domain.journal.commands import SideSeen
from domain.lessons import lessons as le
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Stored, Words
from domain.machines.commands import SettleAgentsConflict
from domain.policy import policy as p
from domain.replication.merge import MergeFilter
from domain.templates import template as te
from tests.support.services import START
from tests.support.sides import Sides, apart

AGENT, SET, TEMPLATE = "agent:a1", "changes:s1", "template:m1"
POLICY, LESSONS = "policy:main", "lessons:template:m1"
MADE = (
    a.AgentCreated("task_agent", "t1", 1, "Trip", "hybrid", ("c1", "c2", "c3")),
    a.AgentActivated(),
    a.LoopOpened(1, "call"),
    a.Subscribed("s1", ("id:t1",)),
)
PROPOSED = (
    ch.ItemProposed(1, "set_title", Words("{}"), "", "f1", "", ""),
    ch.SetOpened("a1", "t1", "run"),
)
CALM = (te.TemplateCreated("task_agent", "Calm"), te.VersionAdded(1, "user", Words(""), Words("")))
GENERAL, REPORT = Words("g"), Words("r")
SECTIONS = ("task",)


def world(sides: Sides, replica: str) -> LogState:
    """The log of a replica, with what it knows."""

    def read(stream: str, after: int) -> Sequence[RecordedEvent]:
        known = sides.known[replica]
        of_stream = (row for row in sides.rows if row.stream == stream and row.version > after)
        return [row for row in of_stream if (row.replica, row.n) in known]

    names = sorted(sides.known)
    n = max(one for _, one in sides.known[replica]) + 1
    none: Callable[[str], bytes | None] = lambda _: None  # noqa: E731  no text is so long
    return LogState("agent", replica, n, read, none, replicas=names, sift=MergeFilter(sides.knows))


def settle(sides: Sides, of: str, field: str, keep: str, *, on: str = "desk") -> list[Stored]:
    """Settle a conflict on a machine; what it wrote of the entity."""
    kind, _, entity = of.partition(":")
    asked = SettleAgentsConflict(kind, entity, field, keep, is_enabled=True)
    decided = handle(asked, "k", START, world(sides, on))
    for stream, fact in decided.events:
        sides.says(on, fact, of=stream.rpartition("@")[0])
    return [fact for stream, fact in decided.events if stream.startswith(f"{of}@")]


class Line(NamedTuple):
    of: str
    base: Sequence[Stored]
    desk: Stored
    phone: Stored
    field: str
    read: Callable[[Any], Any]
    values: tuple[Any, Any]


def slot(name: str) -> Callable[[Any], Any]:
    return lambda agent: agent.preferences[name].value


def consents(policy: Any) -> Any:
    return [(one.model, one.category) for one in policy.consents]


FIRST = p.ConsentGiven("gemini:*", ("c1", "c2"), 1, SECTIONS)
TABLE = {
    "a name": Line(
        AGENT, MADE, a.AgentNamed("A"), a.AgentNamed("B"), "name", lambda x: x.name, ("A", "B")
    ),
    "a mode": Line(
        AGENT, MADE, a.ModeSet("interactive"), a.ModeSet("autonomous"), "mode",
        lambda x: x.mode, ("interactive", "autonomous"),
    ),
    "categories": Line(
        AGENT, MADE, a.CategoriesAllowed(("c1",)), a.CategoriesAllowed(("c1", "c2")),
        "categories", lambda x: x.categories, (("c1",), ("c1", "c2")),
    ),
    "a model": Line(
        AGENT, MADE, a.ModelChosen("gemini"), a.ModelChosen("rules"), "model",
        lambda x: x.model, ("gemini", "rules"),
    ),
    "turns": Line(
        AGENT, MADE, a.TurnMaxSet(3), a.TurnMaxSet(9), "turn_max", lambda x: x.turn_max, (3, 9)
    ),
    "automatic updates": Line(
        AGENT, MADE, a.AutomationSet(False), a.AutomationSet(True), "automation",
        lambda x: x.is_automatic, (False, True),
    ),
    "a goal": Line(
        AGENT, MADE, a.GoalSet(1, "A"), a.GoalSet(4, "B"), "goal", lambda x: x.goal.value,
        ("A", "B"),
    ),
    "a preference": Line(
        AGENT, MADE, a.PreferenceSet(1, "tone", "dry"), a.PreferenceSet(1, "tone", "warm"),
        "preference:tone", slot("tone"), ("dry", "warm"),
    ),
    "a loop": Line(
        AGENT, MADE, a.LoopClosed(2, "call"), a.LoopOpened(2, "call", "agent:a1"), "loop:call",
        lambda x: x.loops, ((), ("call",)),
    ),
    "what it watches": Line(
        AGENT, MADE, a.Unsubscribed("s1"), a.Subscribed("s1", ("id:t1",), hears_agents=True),
        "subscription:s1", lambda x: [one.hears_agents for one in x.subscriptions], ([], [True]),
    ),
    "a pause": Line(
        AGENT, MADE, a.AgentPaused(), a.AgentActivated(), "life", lambda x: x.lifecycle,
        ("dormant", "active"),
    ),
    "a sleep": Line(
        AGENT, MADE, a.SleepOrdered("2027-05-01"), a.SleepOrdered(), "sleep",
        lambda x: x.sleeps_until, ("2027-05-01", ""),
    ),
    "a template": Line(
        AGENT, MADE, a.TemplateAssigned("m1"), a.TemplateAssigned(""), "template",
        lambda x: x.template, ("m1", ""),
    ),
    "a template's name": Line(
        TEMPLATE, CALM, te.TemplateNamed("A"), te.TemplateNamed("B"), "name", lambda x: x.name,
        ("A", "B"),
    ),
    "a template's model": Line(
        TEMPLATE, CALM, te.TemplateModelSet("rules"), te.TemplateModelSet(""), "model",
        lambda x: x.model, ("rules", ""),
    ),
    "a template's categories": Line(
        TEMPLATE, CALM, te.TemplateCategoriesSet(("c1",)), te.TemplateCategoriesSet(()),
        "categories", lambda x: x.categories, (("c1",), ()),
    ),
    "the active version": Line(
        TEMPLATE, CALM, te.VersionAdded(2, "user", GENERAL, REPORT),
        te.VersionAdded(2, "user", REPORT, REPORT), "active",
        lambda x: (x.active, x.active_of), ((2, "desk"), (2, "phone")),
    ),
    "an older version that one took": Line(
        TEMPLATE, CALM, te.VersionActivated(1, "desk"), te.VersionAdded(2, "user", GENERAL, REPORT),
        "active", lambda x: (x.active, x.active_of), ((1, "desk"), (2, "phone")),
    ),
    "a rule on models": Line(
        POLICY, (), p.ModelsRuled("c1", ("rules",)), p.ModelsRuled("c1"), "models:c1",
        lambda x: x.rules, ((("c1", ("rules",)),), ()),
    ),
    "a receipt": Line(
        POLICY, (FIRST,), p.ConsentGiven("gemini:*", ("c1",), 2, SECTIONS),
        p.ConsentGiven("gemini:*", ("c1", "c2"), 2, (*SECTIONS, "notes")), "consent:gemini:*:c1",
        lambda x: [one.sections for one in x.consents if one.category == "c1"],
        ([SECTIONS], [(*SECTIONS, "notes")]),
    ),
    "a receipt that one withdrew": Line(
        POLICY, (), FIRST, p.ConsentWithdrawn("gemini:*"), "receipt:gemini:*", consents,
        ([("gemini:*", "c1"), ("gemini:*", "c2")], []),
    ),
    "a rating": Line(
        LESSONS, (), le.WakeRated("run", 2), le.WakeRated("run", 5), "rating:run",
        lambda x: x.ratings, ((("run", 2),), (("run", 5),)),
    ),
}  # fmt: skip


def told_apart(line: Line) -> Sides:
    sides = apart(line.desk, line.phone, *line.base, of=line.of)
    sides.says("desk", *CALM, of="template:m1") if line.of != TEMPLATE else None
    sides.meet("desk", "phone")
    assert line.field in [one.field for one in sides.open(line.of)]
    return sides


@pytest.mark.parametrize("keep", ["desk", "phone"])
@pytest.mark.parametrize("name", TABLE)
def test_what_the_chosen_machine_said_stands_and_nothing_is_open(name: str, keep: str) -> None:
    line = TABLE[name]
    sides = told_apart(line)
    assert settle(sides, line.of, line.field, keep)
    assert line.read(sides.state(line.of)) == line.values[keep == "phone"]
    assert line.field not in [one.field for one in sides.open(line.of)]


@pytest.mark.parametrize("name", TABLE)
def test_what_each_settled_its_own_way_is_settled_once_more_and_then_agreed(name: str) -> None:
    line = TABLE[name]
    sides = told_apart(line)
    for one in "desk", "phone":
        settle(sides, line.of, line.field, one, on=one)
    sides.meet("desk", "phone")
    for again in sides.open(line.of):  # two rows that did not know each other, once more
        settle(sides, line.of, again.field, "phone", on="desk")
        sides.meet("desk", "phone")
    assert line.field not in [one.field for one in sides.open(line.of)]


def test_a_template_that_is_chosen_is_the_only_one_that_the_agent_lives_on() -> None:
    sides = apart(a.TemplateAssigned("m1"), a.TemplateAssigned("m2"), *MADE, of=AGENT)
    for one in "m1", "m2":
        sides.says("desk", *CALM, te.InstanceAdded("a1"), of=f"template:{one}")
    sides.meet("desk", "phone")
    settle(sides, AGENT, "template", "desk")
    assert sides.state("template:m1").instances == ("a1",)
    assert sides.state("template:m2").instances == ()


def test_an_agent_that_ended_is_not_brought_back() -> None:
    sides = apart(a.AgentDestroyed(), a.AgentPaused(), *MADE, of=AGENT)
    sides.meet("desk", "phone")
    with pytest.raises(Refused, match="destroyed, which is for good; name desk"):
        settle(sides, AGENT, "life", "phone")
    assert settle(sides, AGENT, "life", "desk") == [a.AgentDestroyed()]
    assert sides.open(AGENT) == []


def test_an_agent_that_is_resumed_wakes_to_see_what_changed() -> None:
    sides = told_apart(TABLE["a pause"])
    settle(sides, AGENT, "life", "phone")
    assert any(row.stream.startswith("alert:a1@") for row in sides.rows)


def test_of_verdicts_the_one_that_stands_is_kept_and_the_other_is_seen() -> None:
    rejected = ch.ItemRejected(1, "person", 5, "no")
    sides = apart(ch.ItemConfirming(1, "person", 1, "op", 1), rejected, *PROPOSED, of=SET)
    sides.meet("desk", "phone")
    before = sides.state(SET)
    with pytest.raises(
        Refused, match="item 1 is confirmed, and of verdicts that stands; name desk"
    ):
        settle(sides, SET, "item:1", "phone")
    assert settle(sides, SET, "item:1", "desk", on="phone") == [ch.VerdictsSeen(1, "confirmed")]
    assert (sides.open(SET), sides.state(SET)) == ([], before)


def test_what_a_verdict_leads_to_elsewhere_is_shown_again() -> None:
    rejected, asked = ch.ItemRejected(1, "person", 5), ch.ItemConfirming(1, "person", 1, "op", 1)
    sides = apart(rejected, asked, *PROPOSED, of=SET)
    sides.meet("desk", "phone")
    settle(sides, SET, "item:1", "desk")
    sides.says("phone", ch.ItemConfirmed(1, 1, 7), of=SET)  # it found the effect meanwhile
    sides.meet("desk", "phone")
    (one,) = sides.open(SET)
    assert (one.stands, [side.by for side in one.sides]) == ("confirmed", ["person", "person"])
    settle(sides, SET, "item:1", "phone")
    assert sides.open(SET) == []


def test_a_receipt_that_was_withdrawn_by_who_knew_both_is_no_conflict() -> None:
    sides = told_apart(TABLE["a receipt"])
    sides.says("desk", p.ConsentWithdrawn("gemini:*"), of=POLICY)
    assert sides.open(POLICY) == []


def test_what_is_not_open_or_has_changed_is_refused() -> None:
    sides = told_apart(TABLE["a name"])
    for field, keep, said in (
        ("mode", "desk", "no two machines"),
        ("name", "r9", "name one of desk, phone"),
    ):
        with pytest.raises(Refused, match=said):
            settle(sides, AGENT, field, keep)
    with pytest.raises(Refused, match="no two machines"):
        settle(sides, "home:main", "name", "desk")
    stale = SettleAgentsConflict("agent", "a1", "name", "desk", (SideSeen("desk", 1),))
    with pytest.raises(Refused, match="look at it again"):
        handle(stale, "k", START, world(sides, "desk"))
