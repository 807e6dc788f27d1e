"""Laws of what clients propose, in any order and with any arguments: nothing moves but what waits
for the person, and the log proves."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.agent.wake_queue import WAKE_QUEUE
from domain.changes.change_set import CHANGES
from domain.journal import commands as do
from domain.log.wire import Words
from domain.tools.registry import TOOLS
from tests.histories.acting import REPORT, changed, told
from tests.histories.client_scenes import CLAUDE, CODEX, HOURS, agree, proposed
from tests.support.services import divergences, queued_key, services, task_with_agent
from wakelog.testing import calls as reply

QUOTES = st.sampled_from(["about 2 hours", "says Ann. 東京", "Friday", "", "\ud800x"])
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 100_000), st.text(max_size=5), QUOTES,
    st.sampled_from(["DONE", "P0", "2027-03-01", "blocks"]),
)  # fmt: skip
NAMES = st.sampled_from("minutes status priority dueDate title items because relation id x".split())
ARGUMENTS = st.one_of(
    st.fixed_dictionaries({"minutes": st.integers(1, 300), "because": QUOTES}),
    st.fixed_dictionaries(
        {"items": st.lists(st.fixed_dictionaries({"title": QUOTES, "because": QUOTES}), max_size=3)}
    ),
    st.dictionaries(NAMES, VALUES, max_size=4),
)
CHANGES_ = st.lists(st.tuples(st.sampled_from([*TOOLS, "fly"]), ARGUMENTS), min_size=1, max_size=4)
DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["claude", "codex", "note", "wake", "decide"]),
        CHANGES_,
        st.sampled_from(["", "The person wants Friday.", "東" * 300]),
    ),
    max_size=8,
)


def standing(at: Services, agent: str) -> tuple[Any, ...]:
    """What no client moves."""
    with at.agents.reading() as world:
        known = world.load(AGENT, agent)
        queue = world.load(WAKE_QUEUE, agent)
    moved = known.position, known.last_wake_at, known.report, known.newest, known.lifecycle
    return at.journal.tail(), queue, *moved


@settings(max_examples=15)
@given(DEEDS)
def test_nothing_moves_but_what_waits_for_the_person(deeds: list[Any]) -> None:
    at = services([one for _ in range(9) for one in (reply(REPORT), reply())])
    task, agent = task_with_agent(at)
    at.append_journal(do.AddNote(task, "note", Words(HOURS)))
    told(at, agree(at, agent, CLAUDE))
    told(at, agree(at, agent, CODEX))
    known: set[str] = set()
    for deed, changes, words in deeds:
        if deed == "note":
            at.append_journal(do.AddNote(task, "note", Words("Once more.")))
        elif deed == "wake" and queued_key(at, agent):
            changed(at, agent)
        elif deed == "decide":
            decided(at, agent)
        elif deed in ("claude", "codex"):
            before, appends = standing(at, agent), at.agents.tail().n
            run = proposed(at, agent, f"mcp:{deed}", words, *changes)
            assert standing(at, agent) == before
            assert at.agents.tail().n == appends + (run not in known)
            known.add(run)
            wake = at.wake(run)
            assert (wake.outcome, wake.phase, len(wake.exchanges)) == ("completed", "done", 1)
    assert divergences(at) == []


def decided(at: Services, agent: str) -> None:
    for one in at.agent(agent).sets[-1:]:
        with at.agents.reading() as world:
            (item, *_) = world.load(CHANGES, one).items
        if item.status == "pending":
            review.confirm(at, one, item.number)
