"""The words that a proposal rests on are kept with it, and decide nothing (ADR 43)."""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.runtime.services import Services
from domain.changes.change_set import ChangeItem
from domain.journal import commands as do
from domain.log import canonical
from domain.log.wire import INLINE_MAX_BYTES, Words, payload
from domain.tools import registry
from domain.tools.decoding import BECAUSE_MAX
from domain.tools.registry import TOOLS
from domain.wake.citations import place_of, texts_shown
from domain.wake.wake import ExchangeRef, ResultRef, SectionRef, ToolReturned, Wake, WakeStarted
from tests.support.scripted_wakes import call, ended, items, woken
from tests.support.services import divergences, queued_key, services, task_with_agent

PROPOSING = [tool for tool in TOOLS.values() if tool.mode == "deferred"]


def kept(at: Services, agent: str, *calls: tuple[str, str], scaffold: int = 2) -> list[ChangeItem]:
    return list(items(at, woken(at, agent, *ended(*calls), scaffold=scaffold)))


def noted(*texts: str) -> tuple[Services, str, str]:
    """A task with these notes, and its agent."""
    at = services()
    task, agent = task_with_agent(at)
    for text in texts:
        at.append_journal(do.AddNote(task, "note", Words(text)))
    return at, task, agent


@pytest.mark.parametrize("tool", PROPOSING, ids=lambda tool: tool.name)
def test_every_proposing_tool_asks_for_a_quote_since_scaffold_2(tool: Any) -> None:
    plain, asked = (registry.specs([tool.name], scaffold)[0].schema for scaffold in (1, 2))
    assert '"because"' not in json.dumps(plain)
    holder = asked["properties"][tool.array]["items"] if tool.array else asked
    assert holder["properties"]["because"]["maxLength"] == BECAUSE_MAX
    assert "because" not in holder["required"]


def test_a_quote_is_kept_with_the_place_where_it_stands() -> None:
    at, _, agent = noted("It takes  TWO\nhours, says Ann.", "A pipe drips.")
    wish = call("update_task_estimate", minutes=120, because="“it takes two hours”")
    (item,) = kept(at, agent, wish)
    assert item.because == "“it takes two hours”"
    assert item.because_at == "note:2027-01-01T00:00:03.000000Z"
    assert item.arguments.text == '{"minutes":120}'
    assert divergences(at) == []


@pytest.mark.parametrize(
    ("quote", "place"),
    [("fix the sink", "title"), ("never said", ""), ("...", ""), ("say when", "words")],
)
def test_a_quote_is_looked_up_in_what_was_shown(quote: str, place: str) -> None:
    at, task, agent = noted()
    kept(at, agent)  # the wake that its creation asked for
    said = payload(task, b"Say, when?")
    at.append_agent(at.request(agent, "user", "", 0, said.id), payloads=[said])
    (item,) = kept(at, agent, call("update_task_priority", priority="P1", because=quote))
    assert (item.because, item.because_at) == (quote, place)
    assert divergences(at) == []


TURN = '{"at":"A","person":"Make it two hours","you":"It is done"}'
LINK = '{"relation":"blocks","id":"t2","title":"Pay the tax","oneLiner":"Waits for Ann"}'
SECTIONS = {
    "thread": f"## T\n\n[cut: 3 earlier turns]\n[\n{TURN}\n]",
    "linked": f"## L\n\n[\n{LINK}\n]",
    "task": "## Task\n\n{not JSON",
    "report": "## R\n\nMy own words",
}


TASK = {
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
    user = (SectionRef("task", "p"),)
    started = WakeStarted("a", "t1", "user", "r", "tape", 2, 3, 1, 1, "p", (), user, (), "s")
    texts = texts_shown(Wake("k", started=started), lambda _: f"## Task\n\n{json.dumps(TASK)}")
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
    user = tuple(SectionRef(name, name) for name in SECTIONS)
    started = WakeStarted("a", "t1", "user", "r", "tape", 2, 3, 1, 1, "p", (), user, (), "s")
    result = ResultRef("c1", "set_task_language", Words("Done: Set language to de"), is_error=False)
    wake = Wake("k", started=started, exchanges=(ExchangeRef("r", (result,)),))
    texts = texts_shown(wake, lambda said: SECTIONS.get(said.payload, said.text))
    assert place_of(quote, texts) == place


def test_each_element_of_a_batch_rests_on_its_own_quote_else_on_that_of_the_call() -> None:
    at, _, agent = noted("Buy a wrench. Buy tape.")
    wishes = [{"title": "Tape", "because": "Buy tape"}, {"title": "Wrench"}, {"title": "Tape"}]
    found = kept(at, agent, call("add_multiple_checklist_items", items=wishes, because="Buy a"))
    assert [(one.summary, one.because) for one in found] == [
        ('Add: "Tape"', "Buy tape"),
        ('Add: "Wrench"', "Buy a"),
    ]


def test_a_wake_of_scaffold_1_does_not_know_a_quote() -> None:
    at, _, agent = noted("It takes two hours")
    run_key = queued_key(at, agent)
    wish = call("update_task_estimate", minutes=120, because="It takes two hours")
    assert kept(at, agent, wish, scaffold=1) == []
    facts = (row.fact for row in at.agents.facts(f"wake:{run_key}@r1"))
    (no, *_) = (fact for fact in facts if isinstance(fact, ToolReturned))
    assert (no.status, no.code) == ("denied", "invalid_arguments")
    assert 'unknown argument "because"' in no.message.text


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
            holder.update({"because": quotes[0]} if quotes else {})
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
