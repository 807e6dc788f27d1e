"""What an agent remembers after any life (ADR 51). The counting here knows the rows alone: an
observation is uncovered, or under exactly one digest at the top; nothing is invented or lost."""

import random
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from adapters.home.settings import Settings
from adapters.proof.prove import prove_logs
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from domain.agent.agent import AGENT, AgentObserved
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AgentSettings
from domain.agent.memory import MEMORY, Memory, MemoryFolded
from domain.journal.task import TASK
from domain.log.state import LogState, RecordedEvent
from domain.text import squeeze, tokens
from domain.wake.commands import BeginWake
from domain.wake.memory import FOLDED_MAX, readable_digests, uncovered
from domain.wake.wake import ToolReturned
from tests.support.scripted_wakes import GONE, call, ended, woken
from tests.support.services import TickingClock, services, task_with_agent
from wakelog.testing import calls as reply

KILOBYTES_12 = 12_288
MARKER = "zebra"
LINE = "- ["
LEFT_OUT, RARE_MAX = "\nLeft out, among others: ", 15


class Row(NamedTuple):
    """An observation as its row says it."""

    position: str
    text: str
    priority: str
    resolves: tuple[str, ...]


def rows(at: Services, until: int = 10**9) -> Iterable[RecordedEvent]:
    return [row for one in at.agents.appends() for row in one if row.n <= until]


def observed(at: Services, world: LogState, until: int = 10**9) -> list[Row]:
    return [
        Row(
            f"{row.n}-{row.row}@{row.replica}", world.text(fact.words), fact.priority, fact.resolves
        )
        for row in rows(at, until)
        if isinstance(fact := row.fact, AgentObserved)
    ]


def digests(at: Services, until: int = 10**9) -> dict[str, MemoryFolded]:
    facts = (row.fact for row in rows(at, until))
    return {one.id: one for one in facts if isinstance(one, MemoryFolded)}


def under(digest: MemoryFolded, known: dict[str, MemoryFolded]) -> list[str]:
    """The positions under a digest, through all that it took in."""
    if digest.depth == 1:
        return list(digest.sources)
    return [one for source in digest.sources for one in under(known[source], known)]


def counted(at: Services, until: int = 10**9) -> tuple[list[MemoryFolded], list[str]]:
    """The digests at the top, and the positions that none covers; that each is once is held."""
    known = digests(at, until)
    taken = {source for one in known.values() for source in one.sources}
    top = [one for one in known.values() if one.id not in taken]
    covered = [position for one in top for position in under(one, known)]
    assert max(Counter(covered).values(), default=1) == 1, "an observation is covered twice"
    for one in top:
        assert one.count == len(under(one, known))
    with at.agents.reading() as world:
        every = [one.position for one in observed(at, world, until)]
    assert set(covered) <= set(every)
    left = [one for one in every if one not in set(covered)]
    assert every[len(every) - len(left) :] == left, "what is left is not the newest"
    return sorted(top, key=lambda one: every.index(one.first)), left


def holds(at: Services, agent: str, until: int = 0) -> None:
    """The laws over a log as it is, or as it was after an append."""
    top, left = counted(at, until or 10**9)
    world = at.agents.world_at(until or at.agents.tail().n)
    folded, mind = world.load(AGENT, agent), world.load(MEMORY, agent)
    assert [one.id for one in mind.top] == [one.id for one in top]
    assert [one.position for one in uncovered(world, folded)] == left
    notes = observed(at, world, until or 10**9)
    resolved = {position for one in notes for position in one.resolves}
    unresolved = [
        n.position for n in notes if n.priority == "critical" and n.position not in resolved
    ]
    assert [one.position for one in folded.critical] == unresolved[-200:]
    beginnings = tuple(squeeze(one.text) for one in notes)
    noted = {word for one in notes for word in tokens(one.text)}
    assert sum(len(world.text(one.words).encode()) for one in top) <= KILOBYTES_12
    for one in top:
        told, _, rare = world.text(one.words).partition(LEFT_OUT)
        lines = told.split("\n")
        named = rare.split(", ") if rare else []
        assert len(named) <= (RARE_MAX if one.contract > 1 else 0)
        assert noted.issuperset(named), "a word is invented"
        shown = " ".join(line.split(") ", 1)[1] for line in lines if line.startswith(LINE))
        assert not set(named).intersection(tokens(shown)), "a word is told twice"
        left_out = sum(map(int, re.findall(r"([0-9]+) more", lines[-1])))
        left_out *= not lines[-1].startswith(LINE)
        assert sum(line.startswith(LINE) for line in lines) + left_out == one.count
        for line in lines:
            if line.startswith(LINE):
                said = line.split(") ", 1)[1]
                assert any(note.startswith(said) for note in beginnings), line


def prompts(at: Services) -> list[tuple[int, dict[str, str]]]:
    """The user sections of each wake's prompt, and after which append it was rendered."""
    commands = [getattr(row.fact, "command", None) for row in rows(at)]
    begun = [one for one in commands if isinstance(one, BeginWake)]
    with at.agents.reading() as world:
        texts = [
            {ref.name: world.payload(ref.payload).decode() for ref in one.user} for one in begun
        ]
    return [(one.agent_position, sections) for one, sections in zip(begun, texts, strict=True)]


def life(seed: int, wakes: int, scaffold: int = 2) -> tuple[Services, str]:
    """An agent that notes this and that, resolves some of it, and sometimes fails."""
    draw, at = random.Random(seed), services()
    _, agent = task_with_agent(at)
    for nth in range(wakes):
        notes = [
            {
                "text": f"n{nth}.{one} " + draw.choice(("Ann called.", "x " * 90, "grüße\n## no")),
                "priority": draw.choice(("routine", "routine", "routine", "notable", "critical")),
            }
            for one in range(draw.choice((0, 1, 3, 8, 19)))
        ]
        with at.agents.reading() as world:
            known = [one.position for one in world.load(AGENT, agent).critical]
        settled = [one.partition("@")[0] for one in draw.sample(known, min(len(known), 2))]
        recorded = call("record_observations", observations=notes, resolves=settled)
        calls = [recorded] if notes else []
        fails = draw.random() < 0.1
        replies = (reply(*calls), GONE) if fails else ended(*calls)
        woken(at, agent, *replies, scaffold=scaffold)
    return at, agent


@pytest.mark.parametrize(("seed", "scaffold"), [(0, 2), (1, 3)])
def test_every_note_is_uncovered_or_under_one_digest_after_each_append(
    seed: int, scaffold: int
) -> None:
    at, agent = life(seed, 45, scaffold)
    holds(at, agent)
    last = at.agents.tail().n
    for until in random.Random(seed).sample(range(3, last), 12):  # a crash leaves any of these
        holds(at, agent, until)
    assert {one.contract for one in digests(at).values()} == {scaffold - 1}
    with at.agents.reading() as world:
        texts = {one.position: squeeze(one.text) for one in observed(at, world)}
    for position, sections in prompts(at):
        top, left = counted(at, position)
        journal = sections.get("journal", "")
        assert all(texts[one][:100] in journal for one in left), (
            "a note is neither shown nor covered"
        )
        assert len(left) <= 40
        memory = sections.get("memory", "")
        assert len(memory.encode()) <= KILOBYTES_12
        assert memory.count(" notes:\n") == len(top)
        then = at.agents.world_at(position).load(AGENT, agent)
        shown = sections.get("critical", "")
        assert all(f"- {one.position.partition('@')[0]} [" in shown for one in then.critical)
    assert not prove_logs(at.journal, at.agents).divergences


def test_two_replicas_that_go_on_from_each_other_cover_each_note_once() -> None:
    recorders = {name: MemoryLogRecorder() for name in ("journal", "agent")}
    clock = TickingClock()

    def on(replica: str) -> Services:
        journal, agents = (Log(name, one, replica) for name, one in recorders.items())
        return Services(journal, agents, clock, Settings(), lambda _: services().model_for(""))

    here, there = on("r1"), on("r2")
    _, agent = task_with_agent(here)
    for nth in range(22):
        notes = [f"n{nth}.{one}" for one in range(11)]
        at = (here, there)[nth % 3 == 1]
        woken(at, agent, *ended(call("record_observations", observations=notes)))
    holds(here, agent)
    holds(there, agent, there.agents.tail().n)
    assert {one.depth for one in digests(here).values()} == {1, 2}
    assert not prove_logs(here.journal, here.agents).divergences


def test_an_agent_of_an_older_scaffold_catches_up_in_portions() -> None:
    at = services()
    _, agent = task_with_agent(at)
    for nth in range(45):
        notes = call("record_observations", observations=[f"old {nth}.{one}" for one in range(20)])
        woken(at, agent, *ended(notes), scaffold=1)
    assert not digests(at)
    made: list[int] = []
    while len(counted(at)[1]) > 40:  # bounded: each wake makes fewer
        before = len(digests(at))
        woken(at, agent, *ended())
        made.append(len(digests(at)) - before)
        holds(at, agent)
    assert 0 < max(made) <= FOLDED_MAX
    assert len(made) > 1
    assert len(prompts(at)[-1][1]["journal"].split("\n- ")) <= 221
    assert not prove_logs(at.journal, at.agents).divergences


def test_what_was_noted_under_a_category_that_is_gone_comes_back_through_no_digest() -> None:
    at = services()
    task, agent = task_with_agent(at)
    with at.journal.reading() as world:
        own = world.load(TASK, task).category

    def allow(*categories: str) -> None:
        at.append_agent(ConfigureAgent(agent, AgentSettings(categories=categories)))

    def noted(text: str, wakes: int) -> None:
        for nth in range(wakes):
            texts = [f"{text} {nth}.{one}" for one in range(20)]
            woken(at, agent, *ended(call("record_observations", observations=texts)))

    noted("plain", 3)
    allow(own, "another")
    noted(MARKER, 12)
    allow(own)
    noted("plain again", 12)
    with at.agents.reading() as world:
        reader = world.load(AGENT, agent)
        shown = readable_digests(world, reader)
        assert shown
        assert not any(MARKER in world.text(one.words) for one in shown)
        assert any("plain again" in world.text(one.words) for one in shown)
    woken(at, agent, reply(call("recall", words=MARKER)), *ended())
    after = [str(sections) for _, sections in prompts(at)[-12:]]
    assert not any(MARKER in one for one in after)
    holds(at, agent)
    assert any("more routine notes" in world.text(one.words) for one in shown)


def test_digests_with_such_notes_were_there_before() -> None:
    """The marker of the test above does stand in digests, while it may."""
    at = services()
    _, agent = task_with_agent(at)
    for _ in range(4):
        notes = call("record_observations", observations=[f"{MARKER} {n}" for n in range(20)])
        woken(at, agent, *ended(notes))
    woken(at, agent, reply(call("recall", words=f"{MARKER} 3")), *ended())
    assert MARKER in prompts(at)[-1][1]["memory"]


def folded(*facts: MemoryFolded) -> Memory:
    memory = Memory("a")
    for n, fact in enumerate(facts):
        memory = MEMORY.evolve(memory, RecordedEvent("memory:a@r1", n + 1, "r1", n, 0, "", fact))
    return memory


def test_two_replicas_that_fold_the_same_span_make_one_digest() -> None:
    at, _ = life(1, 20)
    known = [one for one in digests(at).values() if one.depth == 1]
    assert folded(*known, *known) == folded(*known)
    over = replace(known[0], id="z", sources=(*known[0].sources, known[1].sources[0]))
    both = folded(known[0], over, known[1])
    assert both.count == known[0].count + known[1].count, "each note counts once"


def test_a_digest_is_cut_at_an_append_however_much_that_brought() -> None:
    at = services()
    _, agent = task_with_agent(at)
    calls = [
        call("record_observations", observations=[f"n{nth}.{one}" for one in range(15)])
        for nth in range(4)
    ]
    woken(at, agent, reply(*calls), *ended())  # sixty in one append
    woken(at, agent, reply(calls[0]), reply(calls[1]), *ended())
    woken(at, agent, *ended(calls[2]))
    counts = [one.count for one in digests(at).values()]
    assert counts == [60, 15]
    holds(at, agent)


def test_a_digest_of_small_appends_is_full_and_leaves_twenty_notes() -> None:
    at = services()
    _, agent = task_with_agent(at)
    for count in (1, 20, 20):
        notes = [f"n{count}.{one}" for one in range(count)]
        woken(at, agent, *ended(call("record_observations", observations=notes)))
    assert [one.count for one in digests(at).values()] == [21]
    assert len(counted(at)[1]) == 20


@pytest.mark.parametrize(("word", "least"), [("parcel", RARE_MAX), ("handwerkerleistungen", 8)])
def test_a_digest_ends_with_the_rarest_words_that_it_leaves_out(word: str, least: int) -> None:
    """Of all depths: words of a digest that is taken in are among those of the other one."""
    at = services()
    _, agent = task_with_agent(at)
    for nth in range(26):
        notes = [f"{'The usual thing. ' * 9}{nth}.{one} {word}{nth}x{one}" for one in range(11)]
        woken(at, agent, *ended(call("record_observations", observations=notes)), scaffold=3)
    with at.agents.reading() as world:
        told = {one: world.text(one.words).split("\n") for one in digests(at).values()}
    assert {one.depth for one in told} == {1, 2}
    for lines in told.values():
        words = lines[-1].removeprefix(LEFT_OUT.strip()).strip().split(", ")
        assert least <= len(words) <= RARE_MAX
        assert all(one.startswith(word) for one in words)
        assert len(lines[-1]) <= 240
    holds(at, agent)
    assert not prove_logs(at.journal, at.agents).divergences


def test_no_half_of_a_secret_stands_at_the_end_of_a_beginning() -> None:
    at = services()
    _, agent = task_with_agent(at)
    notes = [f"{nth % 4} {'x' * 145} ghp_{'a1B2' * 9}" for nth in range(20)]
    for _ in range(3):
        woken(at, agent, *ended(call("record_observations", observations=notes)), scaffold=3)
    (digest,) = digests(at).values()
    with at.agents.reading() as world:
        told = world.text(digest.words)
    assert "x" * 140 in told
    assert "ghp_" not in told
    assert "token" not in told.partition(LEFT_OUT)[2], "a word of its mark is no word of the note"


def test_a_number_that_is_none_is_refused_and_nothing_is_kept() -> None:
    at = services()
    _, agent = task_with_agent(at)
    grievance = {"text": "Too loud.", "priority": "critical", "category": "grievance"}
    woken(at, agent, *ended(call("record_observations", observations=[grievance])))
    with at.agents.reading() as world:
        number = world.load(AGENT, agent).critical[0].position.partition("@")[0]
    wrong = call("record_observations", observations=["Quiet now."], resolves=["9-9"])
    right = call("record_observations", observations=["Quiet now."], resolves=[number])
    woken(at, agent, *ended(wrong))
    with at.agents.reading() as world:
        assert len(world.load(AGENT, agent).critical) == 1
        facts = [row.fact for row in rows(at)]
        told = [world.text(one.message) for one in facts if isinstance(one, ToolReturned)]
    because = 'resolves: no open critical observation of yours has the number "9-9".'
    assert f"{because} Use those that are shown." in told
    woken(at, agent, *ended(right))
    with at.agents.reading() as world:
        assert world.load(AGENT, agent).critical == ()
        assert len(uncovered(world, world.load(AGENT, agent))) == 2, "the journal keeps it"
    assert not prove_logs(at.journal, at.agents).divergences
