"""Proposals of wakes of scaffold 2: replaced, remembered, answered truly, offered where there is
something to work on, and resting on a quote (ADR 43)."""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from adapters.documents.inbox import reason_of
from adapters.documents.ranks import Ranks
from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE
from domain.changes.change_set import ChangeItem, set_id
from domain.changes.commands import ConfirmItem, RejectItem
from domain.journal import commands as do
from domain.journal import task as t
from domain.journal.catalog import label_id
from domain.log import canonical
from domain.log.wire import INLINE_MAX_BYTES, Words, payload
from domain.scaffold import FEATURES
from domain.tools import registry
from domain.tools.base import OF_NO_CATEGORY, ToolRefusal
from domain.tools.decoding import BECAUSE_MAX
from domain.tools.registry import TOOLS
from domain.tools.snapshot import Snapshot
from domain.wake import wake as w
from domain.wake.citations import place_of, texts_shown
from domain.wake.reading import PromptOptions
from domain.wake.wake_inputs import shown
from tests.support.scripted_wakes import call, ended, items, minutes, woken
from tests.support.services import divergences, one_agent, queued_key
from tests.support.tools import LABELS
from tests.support.tools import given as task_of
from wakelog.testing import REPORT
from wakelog.testing import calls as reply


def test_a_person_is_told_what_replaced_a_proposal_by_the_number_of_its_set() -> None:
    at, _, agent = one_agent()
    first = woken(at, agent, *ended(minutes(45)))
    second = woken(at, agent, *ended(minutes(60)))
    (item,) = items(at, first)
    assert reason_of(Ranks(["a", "b", first, second], {}), item) == "replaced by 4.1"
    assert reason_of(Ranks([], {}), item) == f"replaced by {second[:8]}.1"
    for other in (replace(item, status="rejected"), replace(item, reason="replaced by tea.")):
        assert reason_of(Ranks([second], {}), other) == other.reason


# -------------------------------------------------------------------------- verdicts are remembered


def confirm(at: Services, made: str, edited: str = "") -> None:
    words = Words(edited) if edited else None
    at.append_agent(ConfirmItem(made, 1, "person", at.journal.tail().n, words))
    review.drive(at, made, 1)


def note(at: Services, task: str, text: str) -> None:
    at.append_journal(do.AddNote(task, "note", Words(text)))


def is_proposed(at: Services, agent: str, offer: tuple[str, str], scaffold: int = 2) -> bool:
    return bool(items(at, woken(at, agent, *ended(offer), scaffold=scaffold)))


@pytest.mark.parametrize("scaffold", [1, 2])
def test_what_was_edited_away_is_not_proposed_again_before_a_text_is_newer(scaffold: int) -> None:
    at, task, agent = one_agent()
    confirm(at, woken(at, agent, *ended(minutes(60))), '{"minutes":90}')
    assert is_proposed(at, agent, minutes(60), scaffold) == (scaffold == 1)
    note(at, task, "An hour will do.")
    if scaffold == 2:
        assert is_proposed(at, agent, minutes(60), scaffold)
    assert divergences(at) == []


def test_the_persons_words_in_a_wake_are_newer_than_any_verdict() -> None:
    at, task, agent = one_agent()
    confirm(at, woken(at, agent, *ended(minutes(60))), '{"minutes":90}')
    said = payload(task, b"Make it an hour after all.")
    at.append_agent(at.request(agent, "user", "", 0, said.id), payloads=[said])
    assert is_proposed(at, agent, minutes(60))


def test_an_edit_of_the_reason_alone_takes_nothing_away() -> None:
    """Nor does another proposal of the agent that was confirmed since."""
    at, _, agent = one_agent()
    blocked = call("set_task_status", status="BLOCKED", reason="no tools")
    confirm(at, woken(at, agent, *ended(blocked)), '{"reason":"no time","status":"BLOCKED"}')
    confirm(at, woken(at, agent, *ended(call("set_task_status", status="OPEN"))))
    assert is_proposed(at, agent, blocked)


def told(at: Services, agent: str, scaffold: int) -> str:
    """What the agent is told of its proposals when it wakes."""
    at.append_agent(at.request(agent))
    with at.journal.reading() as journal, at.agents.reading() as agents:
        queued = agents.load(WAKE_QUEUE, agent).queued
        assert queued is not None
        known = agents.load(AGENT, agent)
        prompt = shown(journal, agents, known, queued, PromptOptions(scaffold))
    return next(one.text for one in prompt.user if one.name == "proposals")


def test_an_edited_value_is_told_with_what_was_made_of_it() -> None:
    at, _, agent = one_agent()
    confirm(at, woken(at, agent, *ended(minutes(60))), '{"minutes":90}')
    assert "- confirmed: Set estimate to 60 minutes (edited)" in told(at, agent, 1)
    assert "- confirmed: Set estimate to 60 minutes (edited: 60 -> 90)" in told(at, agent, 2)


# ----------------------------------------------------------------------- a report is answered truly


def answers(at: Services, agent: str, *calls: tuple[str, str], scaffold: int = 2) -> list[str]:
    """What each call of a wake is answered with, and the code of each."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    woken(at, agent, reply(*calls), reply(text="Done."), scaffold=scaffold)
    rows = at.agents.facts(f"wake:{run_key}@r1")
    facts = [row.fact for row in rows if isinstance(row.fact, w.ToolReturned)]
    with at.agents.reading() as world:
        return [f"{one.code}: {world.text(one.message)}".removeprefix(": ") for one in facts]


def test_what_will_be_replaced_is_said_at_once_and_with_the_report() -> None:
    at, _, agent = one_agent()
    woken(at, agent, *ended(minutes(45)))
    queued, told = answers(at, agent, minutes(60), REPORT)
    older = "Replaces, when this wake ends: Set estimate to 45 minutes."
    assert queued == f"Queued for the person's review: 1 item(s).\n{older}"
    assert f"Recorded: 1 of 1 proposed.\n{older}\n" in told


@pytest.mark.parametrize("scaffold", [1, 2])
def test_a_batch_of_nothing_bears_the_code_of_what_was_refused(scaffold: int) -> None:
    at, task, agent = one_agent()
    at.append_journal(do.AddLabel("garden"))
    at.append_journal(do.ChangeLabels(task, suppress=("garden",)))
    at.append_journal(do.AddLabel("house"))
    unwanted = call("assign_task_labels", labels=[{"id": label_id("garden"), "confidence": "high"}])
    unsure = call("assign_task_labels", labels=[{"id": label_id("house"), "confidence": "low"}])
    one, other, _ = answers(at, agent, unwanted, unsure, REPORT, scaffold=scaffold)
    if scaffold == 1:
        assert one.startswith('not_found: Refused 1: The person does not want label "garden"')
        assert other == ('redundant: Skipped 1: Label "house" is dropped: its confidence is low..')
    else:
        assert one.startswith('sovereignty: Not proposed: The person does not want label "garden"')
        assert other == 'limit: Not proposed: Label "house" is dropped: its confidence is low.'


@pytest.mark.parametrize("scaffold", [1, 2])
def test_an_unknown_fingerprint_takes_nothing_back(scaffold: int) -> None:
    at, _, agent = one_agent()
    made = woken(at, agent, *ended(minutes(45)))
    known = {"fingerprint": items(at, made)[0].fingerprint, "reason": "It takes longer."}
    unknown = {"fingerprint": "f" * 32, "reason": "It is gone."}
    told = answers(
        at,
        agent,
        call("retract_suggestions", proposals=[unknown]),
        call("retract_suggestions", proposals=[unknown, known]),
        REPORT,
        scaffold=scaffold,
    )
    if scaffold == 1:
        assert told[:2] == [f"Staged {n} retraction(s) for the end of this wake." for n in (1, 2)]
    else:
        nothing = f'No pending proposal of yours has the fingerprint "{"f" * 32}".'
        staged = f"Staged 1 retraction(s) for the end of this wake. {nothing}"
        assert told[:2] == [f"not_found: {nothing}", staged]
    assert items(at, made)[0].status == "retracted"


# --------------------------------------------------------------------------- tools that are offered

BARE = (t.TaskCreated("person", "Plant", "c1"),)
ITEMS = (
    t.ChecklistAdded("person", "k1", "Steps"),
    t.ItemAdded("person", "k1", "i1", "Dig"),
)
FULL = tuple(t.LabelAssigned("person", f"l-{one}") for one in LABELS[:3])
DECLINED = tuple(t.LabelSuppressed("person", f"l-{one}") for one in LABELS)


def hidden(snapshot: Snapshot, scaffold: int = 2) -> set[str]:
    """What a wake on this task is not offered of what its scaffold has; since 3 nothing."""
    every = registry.offered("task_agent", "manual", scaffold)
    return set(every) - set(registry.offered("task_agent", "manual", scaffold, snapshot))


@pytest.mark.parametrize(
    ("tool", "facts", "is_hidden"),
    [
        ("update_checklist_items", (), True),
        ("update_checklist_items", ITEMS, False),
        ("update_checklist_items", (*ITEMS, t.ItemArchived("person", "i1")), False),
        ("assign_task_labels", (), False),
        ("assign_task_labels", FULL, True),
        ("assign_task_labels", DECLINED, True),
        ("assign_task_labels", (*FULL[:2], *DECLINED[2:4]), False),
        ("set_task_language", (), False),
        ("set_task_language", (t.LanguageSet("person", "de"),), True),
        ("set_task_language", (t.LanguageSet("agent:a1", "de"),), True),
    ],
)
def test_a_tool_is_hidden_where_the_task_has_nothing_for_it(
    tool: str, facts: tuple[t.TaskFact, ...], is_hidden: bool
) -> None:
    seen = task_of(*BARE, *facts)
    assert (tool in hidden(seen)) is is_hidden
    assert hidden(seen, 1) == hidden(seen, 3) == set()


def test_a_hidden_tool_could_have_proposed_nothing() -> None:
    """What is hidden is what every call of it would be refused for."""
    seen = task_of(*BARE, *FULL, t.LanguageSet("agent:a1", "de"))
    assert hidden(seen) >= {"update_checklist_items", "assign_task_labels", "set_task_language"}
    wishes: dict[str, dict[str, object]] = {
        "update_checklist_items": {"items": [{"id": "i1", "isChecked": True}]},
        "assign_task_labels": {"labels": [{"id": "l-bath", "confidence": "high"}]},
        "set_task_language": {"languageCode": "en", "confidence": "high"},
    }
    for tool, wish in wishes.items():
        arguments = registry.decode(tool, wish)
        plan = registry.plan(tool, seen, arguments)
        assert isinstance(plan, ToolRefusal) or plan.refused or plan.skipped, "it says why"
        assert not getattr(plan, "proposals", ()), tool


def tools_of(
    at: Services, agent: str, *calls: tuple[str, str], scaffold: int = 2
) -> tuple[str, ...]:
    """What a wake that calls these is offered."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    woken(at, agent, *ended(*calls), scaffold=scaffold)
    with at.agents.reading() as world:
        return world.load(w.WAKE, run_key).begun.tools


def test_proposals_are_taken_back_only_where_some_wait() -> None:
    at, _, agent = one_agent()
    proposed = set_id(queued_key(at, agent))
    assert "retract_suggestions" not in tools_of(at, agent, minutes(60))
    assert "retract_suggestions" in tools_of(at, agent)
    at.append_agent(RejectItem(proposed, 1, "person", at.journal.tail().n, "no"))
    assert "retract_suggestions" not in tools_of(at, agent)
    every = tuple(name for name in TOOLS if TOOLS[name].since == 1)
    assert tools_of(at, agent, scaffold=1) == every
    assert divergences(at) == []


# ------------------------------------------------------------------ quotes that a proposal rests on

PROPOSING = [
    tool for tool in TOOLS.values() if tool.mode == "deferred" and tool.scope not in OF_NO_CATEGORY
]
"""Those of a day rest on nothing that somebody said."""


def kept(at: Services, agent: str, *calls: tuple[str, str], scaffold: int = 2) -> list[ChangeItem]:
    return list(items(at, woken(at, agent, *ended(*calls), scaffold=scaffold)))


def noted(*texts: str) -> tuple[Services, str, str]:
    """A task with these notes, and its agent."""
    at, task, agent = one_agent()
    for text in texts:
        at.append_journal(do.AddNote(task, "note", Words(text)))
    return at, task, agent


@pytest.mark.parametrize("tool", PROPOSING, ids=lambda tool: tool.name)
def test_every_proposing_tool_asks_for_a_quote_since_scaffold_2(tool: Any) -> None:
    plain, asked, needed = (
        registry.specs([tool.name], FEATURES[number])[0].schema for number in (1, 2, 3)
    )
    assert '"because"' not in json.dumps(plain)
    for schema, is_needed in ((asked, False), (needed, True)):
        holder = schema["properties"][tool.array]["items"] if tool.array else schema
        assert holder["properties"]["because"].get("maxLength") in (None, BECAUSE_MAX)
        assert ("because" in holder["required"]) is is_needed


TURN = '{"at":"A","person":"Make it two hours","you":"It is done"}'
LINK = '{"relation":"blocks","id":"t2","title":"Pay the tax","oneLiner":"Waits for Ann"}'
SECTIONS = {
    "thread": f"## T\n\n[cut: 3 earlier turns]\n[\n{TURN}\n]",
    "linked": f"## L\n\n[\n{LINK}\n]",
    "task": "## Task\n\n{not JSON",
    "report": "## R\n\nMy own words",
}
SEEN = Snapshot("t1", 1, "OPEN", "P2")
SHOWN = {
    "title": "Fix the sink",
    "description": "It drips",
    "checklist": [{"id": "i1", "title": "Buy a wrench"}],
    "log": [{"at": "A", "text": "Ann called"}, {"at": "B", "text": "Ann called again"}],
}


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("fix the sink", "title"),
        ("it drips", "description"),
        ("buy a wrench", "item:i1"),
        ("ann called", "note:B"),  # the newest
        ("i1", ""),
    ],
)
def test_each_part_of_a_task_is_a_text_that_was_shown(quote: str, place: str) -> None:
    user = (w.SectionRef("task", "p"),)
    started = w.WakeStarted("a", "t1", "user", "r", "tape", 2, 3, 1, 1, "p", (), user, (), "s")
    texts = texts_shown(
        w.Wake("k", started=started), SEEN, lambda _: f"## Task\n\n{json.dumps(SHOWN)}"
    )
    assert place_of(quote, texts) == place


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("make it two hours", "thread:A"),
        ("it is done", ""),  # the agent's own answer
        ("waits for ann", "task:t2"),
        ("set language to de", "result:set_task_language"),
        ("my own words", ""),
    ],
)
def test_turns_links_and_results_are_texts_that_were_shown(quote: str, place: str) -> None:
    user = tuple(w.SectionRef(name, name) for name in SECTIONS)
    started = w.WakeStarted("a", "t1", "user", "r", "tape", 2, 3, 1, 1, "p", (), user, (), "s")
    result = w.ResultRef(
        "c1", "set_task_language", Words("Done: Set language to de"), is_error=False
    )
    wake = w.Wake("k", started=started, exchanges=(w.ExchangeRef("r", (result,)),))
    texts = texts_shown(wake, SEEN, lambda said: SECTIONS.get(said.payload, said.text))
    assert place_of(quote, texts) == place


def test_each_element_of_a_batch_rests_on_its_own_quote_else_on_that_of_the_call() -> None:
    at, _, agent = noted("Buy a wrench. Buy tape.")
    wishes = [{"title": "Tape", "because": "Buy tape"}, {"title": "Wrench"}, {"title": "Tape"}]
    found = kept(at, agent, call("add_multiple_checklist_items", items=wishes, because="Buy a"))
    assert [(one.summary, one.because) for one in found] == [
        ('Add: "Tape"', "Buy tape"),
        ('Add: "Wrench"', "Buy a"),
    ]


def test_a_secret_that_was_not_shown_is_not_kept_in_a_quote() -> None:
    secret = "ghp_" + "a1" * 20
    at, _, agent = noted(f"The token is {secret}")
    wish = call("update_task_priority", priority="P1", because=f"the token is {secret}")
    (item,) = kept(at, agent, wish)
    assert item.because == "the token is [secret: GitHub token]"
    assert item.because_at.startswith("note:")


ODD = st.one_of(
    st.text(),
    st.integers(-1, 1),
    st.none(),
    st.lists(st.text(), max_size=2),
    st.dictionaries(st.text(), st.text(), max_size=2),
    st.sampled_from(['"', "\\", "\x00\x1b[31m", "\u202egnp", "{", '{"because":', "x" * 10_000]),
    st.sampled_from(["💧" * 10_000, " ", "```", "Fix the sink", "ß" * 700]),
)
WISHES = (
    ("update_task_estimate", {"minutes": 60}, ""),
    ("add_multiple_checklist_items", {"items": [{"title": "Tape"}, {"title": "Wrench"}]}, "items"),
    ("set_task_status", {"status": "BLOCKED", "reason": "a pipe"}, ""),
)


@cache
def plainly() -> list[ChangeItem]:
    return proposed()


def proposed(*quotes: object) -> list[ChangeItem]:
    """What the wishes come to with such quotes, none where there is none."""
    at, _, agent = noted("A pipe drips.")
    made = []
    for name, arguments, array in WISHES:
        wish = json.loads(json.dumps(arguments))
        for holder in wish[array] if array else [wish]:
            holder["because"] = quotes[0] if quotes else ""
        made.append((name, canonical.text(wish)))
    found = kept(at, agent, *made)
    assert divergences(at) == []
    return found


@settings(max_examples=40, deadline=None)
@given(ODD)
def test_whatever_is_quoted_the_same_is_proposed(quote: object) -> None:
    plain, found = plainly(), proposed(quote)
    assert [_decides(one) for one in found] == [_decides(one) for one in plain]
    assert all(len(one.because.encode()) <= INLINE_MAX_BYTES for one in found)
    assert not any(one.because or one.because_at for one in plain)


def _decides(one: ChangeItem) -> tuple[object, ...]:
    same = (one.number, one.tool, one.arguments, one.summary, one.fingerprint, one.display)
    return (*same, one.base, one.touches)
