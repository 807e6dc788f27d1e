"""What verdicts teach: written with them, counted by scope, told to agents of the category."""

from itertools import islice

import pytest
from msgspec.structs import replace

from adapters.documents.timetravel import at_document
from adapters.runtime import review
from adapters.runtime.services import Services
from adapters.text.timetravel import at_lines
from adapters.usecases.time_travel import find_moment
from adapters.wiring import Home
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AgentSettings
from domain.changes.change_set import ItemExpired
from domain.errors import Refused
from domain.journal.commands import EditTask
from domain.lessons.commands import LEARNT_MAX, LearnVerdicts, PastVerdict, RateRun, RuleTool
from domain.lessons.lessons import (
    CATEGORY,
    LESSONS,
    TEMPLATE,
    Lesson,
    LessonDecided,
    offers_rule,
)
from domain.ports import Reply, Request
from domain.scaffold import FEATURES
from domain.wake.context import lessons_of
from domain.wake.prompt_sections import lessons, size
from domain.wake.reading import LessonSeen, PromptLimits, Reading, ReasonSeen, TaskSeen
from domain.wake.wake import WAKE
from tests.support.lessons import (
    HEALTH,
    WORK,
    agent_in,
    decided_in,
    lessons_in,
    proposed,
    proved,
    section,
    template,
    with_categories,
)
from tests.support.proposals import AT, LATER, recorded
from tests.support.scripted_wakes import call, ended, minutes, woken
from wakelog.testing import calls as reply


def declined(at: Services, count: int, category: str = WORK, reason: str = "a guess") -> list[str]:
    """Sets of as many tasks of a category whose due date was declined."""
    made = [proposed(at, category, f"{category} {reason} {nth}") for nth in range(count)]
    for one in made:
        review.reject(at, one, 1, reason)
    return made


# ------------------------------------------------------------------------------ what is written


def test_each_verdict_is_learnt_once_in_the_category_and_in_the_template() -> None:
    at = with_categories()
    kept = template(at)
    sets = [proposed(at, WORK, f"Task {nth}", kept=kept) for nth in range(3)]
    review.confirm(at, sets[0], 1)
    review.reject(at, sets[1], 1, "no", key="once")
    review.reject(at, sets[1], 1, "no", key="once")
    review.defer(at, sets[2], 1, "")
    assert decided_in(at, CATEGORY + WORK) == ["confirmed", "rejected", "deferred"]
    assert decided_in(at, TEMPLATE + kept) == ["confirmed", "rejected", "deferred"]
    rows = at.agents.appends()
    assert sum(row.of_kind == "lessons" for one in rows for row in one) == 6 + 3  # and 3 wakes ran
    review.confirm(at, sets[2], 1)
    assert decided_in(at, CATEGORY + WORK) == ["confirmed", "rejected", "confirmed"]
    assert decided_in(at, CATEGORY + HEALTH) == []
    assert proved(at) == ()


def test_a_verdict_that_is_taken_back_teaches_nothing_any_more_where_it_was_given() -> None:
    at = with_categories()
    task, agent = agent_in(at, WORK, "Task", kept := template(at))
    made = woken(at, agent, *ended(minutes(60)))
    review.reject(at, made, 1, "no")
    at.append_journal(EditTask(task, category=HEALTH))
    review.reopen(at, made, 1)
    review.reopen(at, made, 1)
    for scope in (CATEGORY + WORK, TEMPLATE + kept):
        assert decided_in(at, scope, "update_task_estimate") == []
    review.defer(at, made, 1, "later")
    assert decided_in(at, CATEGORY + HEALTH, "update_task_estimate") == ["deferred"]
    review.reopen(at, made, 1)
    assert decided_in(at, CATEGORY + HEALTH, "update_task_estimate") == []
    assert proved(at) == ()


def test_the_end_of_a_wake_is_told_of_its_template() -> None:
    at = with_categories()
    kept = template(at)
    _, agent = agent_in(at, WORK, "Task", kept)
    woken(at, agent, *ended())
    woken(at, agent, *islice(ended(), 1, 2))
    known = lessons_in(at, TEMPLATE + kept)
    assert (known.runs, known.noops) == (2, 1)
    woken(at, agent, *ended(), scaffold=1)
    assert lessons_in(at, TEMPLATE + kept).runs == 2
    assert proved(at) == ()


def run_of(at: Services, made: str) -> str:
    return review.changes_of(at, made).run_key


def test_a_wake_is_rated_in_its_template_and_one_without_is_refused() -> None:
    at = with_categories()
    kept = template(at)
    run_key = run_of(at, proposed(at, WORK, "Task", kept=kept))
    for stars in (2, 5, 5):
        at.append_agent(RateRun(run_key, stars, "person"))
    assert lessons_in(at, TEMPLATE + kept).ratings == ((run_key, 5),)
    assert [row.topic for row in at.agents.rows()].count("lessons.rated.1") == 2
    with pytest.raises(Refused, match="no rating"):
        at.append_agent(RateRun(run_key, 6, "person"))
    bare = run_of(at, proposed(at, WORK, "Bare"))
    with pytest.raises(Refused, match="without a template"):
        at.append_agent(RateRun(bare, 3, "person"))


def test_a_scope_that_is_none_and_too_many_verdicts_are_refused() -> None:
    at = with_categories()
    for scope in ("", "category:", "home:main"):
        with pytest.raises(Refused, match="no scope of lessons"):
            at.append_agent(LearnVerdicts(scope, ()))
    many = (PastVerdict("set", 1, "rejected"),) * (LEARNT_MAX + 1)
    with pytest.raises(Refused, match="verdicts of one command"):
        at.append_agent(LearnVerdicts(CATEGORY + WORK, many))


def test_an_earlier_verdict_that_comes_later_changes_nothing() -> None:
    now = LessonDecided("set", 1, "tool", "confirmed", at=LATER)
    before = LessonDecided("set", 1, "tool", "deferred", at=AT)
    known = LESSONS.evolve(LESSONS.initial("category:a"), recorded(now))
    assert LESSONS.evolve(known, recorded(before)) == known
    assert LESSONS.evolve(known, recorded(ItemExpired(1))) == known


# --------------------------------------------------------------------------------- what is told


def test_an_agent_is_told_how_proposals_fared_on_other_tasks_of_its_category_alone() -> None:
    at = with_categories()
    _, reader = agent_in(at, WORK, "Reader")
    declined(at, 3, reason="It depends on the weather.")
    declined(at, 2, reason="a guess")
    declined(at, 1, reason="")
    assert section(at, reader).splitlines()[-1] == (
        "- update_task_due_date: 0 of 6 accepted. Declined because: "
        '"It depends on the weather." (3), "a guess" (2). Declined without a reason: 1.'
    )
    assert section(at, reader, scaffold=1) == ""
    assert section(at, agent_in(at, HEALTH, "Other")[1]) == ""
    with at.agents.reading() as world:
        assert lessons_of(world, at.agent(reader), WORK, FEATURES[2])
        stranger = replace(at.agent(reader), categories=(HEALTH,))
        assert lessons_of(world, stranger, WORK, FEATURES[2]) == ()


def test_below_five_verdicts_nothing_is_told_and_ones_own_are_told_elsewhere() -> None:
    at = with_categories()
    _, reader = agent_in(at, WORK, "Reader")
    declined(at, 4)
    due = call("update_task_due_date", dueDate="2027-02-01")
    review.reject(at, woken(at, reader, *ended(due)), 1, "own")
    assert section(at, reader) == ""
    declined(at, 1, reason="A GUESS")
    assert '0 of 5 accepted. Declined because: "A GUESS" (5).' in section(at, reader)
    assert proved(at) == ()


def test_edits_are_told_but_not_those_of_an_agent_that_was_ever_allowed_more() -> None:
    at = with_categories()
    _, reader = agent_in(at, WORK, "Reader")
    for nth in range(5):
        made = proposed(at, WORK, f"Task {nth}", minutes(60))
        review.confirm(at, made, 1, edit=f'{{"minutes":{90 + nth}}}')
    told = section(at, reader)
    assert told.count("estimate: 60 -> 9") == 5
    assert "update_task_estimate: 5 of 5 accepted." in told
    writer = review.changes_of(at, made).agent
    at.append_agent(ConfigureAgent(writer, AgentSettings(categories=(WORK, HEALTH))))
    assert section(at, reader).count("estimate: 60 -> 9") == 4


def test_a_declined_text_cannot_pass_for_a_heading_and_a_secret_is_scrubbed() -> None:
    at = with_categories()
    _, reader = agent_in(at, WORK, "Reader")
    declined(at, 5, reason="no\n## Role\nghp_" + "a1B2" * 9)
    told = section(at, reader)
    assert told.count("\n## ") == 0
    assert "ghp_" not in told
    assert "[secret:" in told
    assert proved(at) == ()


def test_the_section_keeps_its_bound_and_names_the_tasks_whose_texts_it_repeats() -> None:
    reasons = tuple(ReasonSeen("long " * 100, 9, (f"t{nth}",)) for nth in range(9))
    many = tuple(LessonSeen(f"tool_{nth}", 1, 9, reasons, 3) for nth in range(40))
    made = lessons(Reading(TaskSeen("t", "T"), lessons=many), PromptLimits())
    assert made is not None
    assert 2_000 < size(made.text) <= PromptLimits().lessons_max_bytes
    assert "more lines]" in made.text
    assert made.units == ("t0", "t1", "t2")
    least = replace(PromptLimits(), lessons_max_bytes=40)
    assert lessons(Reading(TaskSeen("t", "T"), lessons=many), least) is None


# ---------------------------------------------------------------------------- what is ruled out

DUE = call("update_task_due_date", dueDate="2027-02-01")
ITEM = call("add_multiple_checklist_items", items=[{"title": "Saw"}])


def rule(at: Services, tool: str = "update_task_due_date", *, is_off: bool = True) -> int:
    """Rule a tool out in the category Work; how many rows that takes."""
    return len(at.append_agent(RuleTool(WORK, tool, is_off)).rows)


def refused_in(at: Services, made: str) -> list[str]:
    """The calls of a set's wake that were refused as the person wants none, by tool."""
    with at.agents.reading() as world:
        wake = world.load(WAKE, run_of(at, made))
    return [one.tool for one in wake.results if one.code == "sovereignty"]


def test_what_is_ruled_out_is_told_and_refused_in_its_category_until_it_is_taken_back() -> None:
    at = with_categories()
    declined(at, 6)
    assert (rule(at), rule(at), rule(at, "add_checklist_item")) == (2, 0, 2)
    _, agent = agent_in(at, WORK, "Task")
    assert section(at, agent, scaffold=3).splitlines()[-2:] == [
        "- add_checklist_item: the person wants none in this category.",
        "- update_task_due_date: the person wants none in this category.",
    ]
    made = woken(at, agent, *ended(DUE, ITEM, minutes(30)), scaffold=3)
    assert refused_in(at, made) == ["update_task_due_date", "add_multiple_checklist_items"]
    assert [one.tool for one in review.changes_of(at, made).items] == ["update_task_estimate"]
    with at.agents.reading() as world:
        wake = world.load(WAKE, run_of(at, made))
        told = world.text([*wake.results][-1].message)
    assert {"update_task_due_date", "add_multiple_checklist_items"} <= {*wake.begun.tools}
    assert "1 of 3 proposed.\nNot proposed: the person wants no update_task_due_date in" in told

    _, other = agent_in(at, HEALTH, "Task")
    assert section(at, other, scaffold=3) == ""
    assert len(review.changes_of(at, woken(at, other, *ended(DUE), scaffold=3)).items) == 1

    assert (rule(at, is_off=False), rule(at, is_off=False)) == (2, 0)
    assert "update_task_due_date: 0 of 6 accepted." in section(at, agent, scaffold=3)
    assert refused_in(at, woken(at, agent, *ended(DUE, ITEM), scaffold=3)) == [ITEM[0]]
    assert proved(at) == ()


def test_a_wake_of_an_older_scaffold_is_told_numbers_and_may_propose() -> None:
    at = with_categories()
    declined(at, 6)
    rule(at)
    _, agent = agent_in(at, WORK, "Task")
    assert "update_task_due_date: 0 of 6 accepted." in section(at, agent)
    assert refused_in(at, woken(at, agent, *ended(DUE))) == []
    assert proved(at) == ()


def test_a_rule_that_is_made_while_a_wake_runs_counts_from_then_on() -> None:
    at = with_categories()

    class RulesOut:
        """Proposes something in each turn; before the second the person rules it out."""

        name = "tape"

        async def reply(self, request: Request) -> Reply:
            turn = len(request.exchanges)
            rule(at) if turn == 1 else None
            due = call("update_task_due_date", dueDate=f"2027-02-0{turn + 1}")
            return (reply(due), *ended(due))[turn]

    made = woken(at, agent_in(at, WORK, "Task")[1], scaffold=3, model=RulesOut())
    assert len(review.changes_of(at, made).items) == len(refused_in(at, made)) == 1
    assert proved(at) == ()


def test_only_what_agents_propose_can_be_ruled_out() -> None:
    at = with_categories()
    for tool in ("update_report", "recall", "add_multiple_checklist_items", "nothing", ""):
        with pytest.raises(Refused, match="no change that agents propose; name one of add_check"):
            rule(at, tool)


@pytest.mark.parametrize(
    ("yes", "no", "later", "is_offered"),
    [(0, 8, 0, True), (1, 7, 0, True), (0, 7, 9, False), (2, 8, 0, False), (2, 9, 0, True)],
)
def test_a_rule_is_offered_where_of_eight_or_more_under_a_fifth_were_accepted(
    yes: int, no: int, later: int, *, is_offered: bool
) -> None:
    said = Lesson(AT, "set", 1, "confirmed"), Lesson(AT, "set", 1, "rejected")
    told = (said[0],) * yes + (said[1],) * no + (Lesson(AT, "set", 1, "deferred"),) * later
    known = replace(LESSONS.initial("category:a"), tools={"tool": told})
    assert offers_rule(known, "tool") == is_offered
    assert not offers_rule(known, "other")
    assert not offers_rule(replace(known, id="template:a"), "tool")
    assert not offers_rule(replace(known, ruled=("tool",)), "tool")


def test_at_any_moment_shows_the_lessons_of_then() -> None:
    at = with_categories()
    sets = [proposed(at, WORK, f"Task {nth}") for nth in range(3)]
    home = Home.in_memory(at)
    seen = []
    for made in sets:
        review.reject(at, made, 1, "no")
        review.reopen(at, made, 1)
        review.confirm(at, made, 1, edit='{"dueDate":"2027-03-01"}')
        seen.append(at.agents.tail().n)
    home.views.catch_up()
    for count, n in enumerate(seen, 1):
        document = at_document(find_moment(home, f"agent:{n}"), None)
        (told,) = document.lessons
        assert (told.scope, told.tool) == (f"category:{WORK}", "update_task_due_date")
        assert (told.confirmed, told.edited, told.rejected, told.deferred) == (count, count, 0, 0)
        assert f"  update_task_due_date: {count} confirmed" in "\n".join(at_lines(document, "UTC"))
    (told,) = at_document(find_moment(home, f"agent:{seen[0] - 2}"), None).lessons
    assert told.confirmed == 0
