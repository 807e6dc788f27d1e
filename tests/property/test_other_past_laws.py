"""Whatever was done, and however much of the journal is gone: it is known, and nothing that comes
after it was adopted is without notice (DESIGN 2, law 9)."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from adapters.home import log_pairing
from adapters.proof.prove import prove_logs
from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import by_append, numbered
from adapters.timetravel.fork_verdicts import payloads_of
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append import envelope
from domain.append.causes import GivenUp
from domain.journal.commands import EditTask
from domain.journal.task import TASK
from tests.support.services import queued_key, services, task_with_agent

STEPS = st.lists(st.sampled_from(["task", "edit", "take", "begin"]), min_size=1, max_size=12)


def lived(steps: list[str]) -> tuple[Services, list[tuple[str, str]]]:
    """Services where these things were done, and its tasks with their agents."""
    at = services()
    pairs = [task_with_agent(at)]
    for nth, step in enumerate(steps):
        match step:
            case "task":
                pairs.append(task_with_agent(at, f"Task {nth}"))
            case "edit":
                at.append_journal(EditTask(pairs[nth % len(pairs)][0], title=f"Title {nth}"))
            case "take":
                watcher.take(at)
            case _:
                begin(at, pairs[nth % len(pairs)][1])
    return at, pairs


def begin(at: Services, agent: str) -> None:
    """Begin the agent's queued wake, unless one runs."""
    with at.agents.reading() as world:
        is_running = world.load(WAKE_QUEUE, agent).running
    if (run_key := queued_key(at, agent)) and not is_running:
        captured = capture(at, agent, run_key, is_now=True)
        at.append_agent(captured.command, payloads=captured.payloads)


def cut(log: Log, n: int, replica: str = "r1") -> Log:
    """A log as it was after append n."""
    recorder = MemoryLogRecorder()
    for rows in by_append(log.rows()):
        if numbered(rows[0].state).n <= n:
            facts = [envelope.read(row).data for row in rows]
            with recorder.deciding():
                recorder.insert(rows, payloads_of(log, facts))
    return Log(log.name, recorder, replica)


def under(at: Services, journal: Log, replica: str) -> Services:
    """The same agent log beside a journal, for another writer."""
    agents = cut(at.agents, at.agents.tail().n, replica)
    return Services(journal, agents, at.clock, at.settings, at.model_for)


@settings(max_examples=40)
@given(STEPS, st.integers(0, 20))
@example(["edit", "take", "task", "take"], 3)
@example(["task", "task", "begin", "edit"], 1)
def test_a_shorter_journal_is_known_and_what_follows_is_noticed(
    steps: list[str], kept: int
) -> None:
    at, pairs = lived(steps)
    last = min(kept, at.journal.tail().n)
    journal = cut(at.journal, last)
    seen = max(one.n for one in log_pairing._claims(at.agents.rows()))
    other = log_pairing.newest_mismatch(journal, at.agents)
    assert (other is not None) == (seen > last)
    lost = log_pairing.all_mismatches(journal, at.agents)
    assert lost == ((GivenUp("r1", last, seen),) if seen > last else ())
    if not lost:
        return
    adopted = under(at, cut(at.journal, last, "r2"), "r2")
    adopted.journal.adopt(adopted.clock.now(), lost)
    assert log_pairing.newest_mismatch(adopted.journal, adopted.agents) is None
    assert log_pairing.all_mismatches(adopted.journal, adopted.agents) == ()
    watcher.catch_up(adopted)
    with adopted.journal.reading() as world:
        there = [pair for pair in pairs if world.load(TASK, pair[0]).exists]
    for task, agent in there:
        before = adopted.journal.tail().n
        adopted.append_journal(EditTask(task, title="What came then"))
        assert adopted.journal.tail().n == before + 1 > seen
        watcher.catch_up(adopted)
        begin(adopted, agent)
        with adopted.agents.reading() as world:
            assert world.load(WAKE_QUEUE, agent).running
    proved = prove_logs(adopted.journal, adopted.agents)
    assert proved.divergences == ()


@settings(max_examples=30)
@given(STEPS, st.integers(0, 12))
def test_logs_of_one_past_are_never_refused(steps: list[str], kept: int) -> None:
    """Also with an agent log that is older, as that of a backup is."""
    at, _ = lived(steps)
    agents = cut(at.agents, min(kept, at.agents.tail().n))
    for replica in ("r1", "r2"):
        journal = cut(at.journal, at.journal.tail().n, replica)
        assert log_pairing.newest_mismatch(journal, cut(agents, agents.tail().n, replica)) is None
        assert log_pairing.all_mismatches(journal, agents) == ()


def test_what_older_code_took_is_known_by_its_number_alone() -> None:
    at, ((task, _),) = lived(["edit"])
    taken = watcher.following(at)
    assert taken is not None
    at.append_agent(replace(taken, journal_digest=""))
    (receipt,) = (row for row in at.agents.rows() if b"take_journal" in row.state)
    assert b"journalDigest" not in receipt.state
    journal = cut(at.journal, taken.last - 1)
    assert log_pairing.newest_mismatch(journal, at.agents) is not None
    other = Services(journal, at.agents, at.clock, at.settings, at.model_for)
    other.append_journal(EditTask(task, title="Another past"))
    assert log_pairing.newest_mismatch(journal, at.agents) is None


def test_what_is_known_of_a_journal_is_known_of_each_replica() -> None:
    """Two wrote in turn; the file is put back to before the second one."""
    at, ((task, _),) = lived(["edit", "take"])
    first = at.journal.tail().n
    second = under(at, cut(at.journal, first, "r2"), "r2")
    second.append_journal(EditTask(task, title="The second one's"))
    watcher.catch_up(second)
    assert log_pairing.newest_mismatch(second.journal, second.agents) is None
    journal = cut(at.journal, first, "r2")
    last = second.journal.tail().n
    assert log_pairing.all_mismatches(journal, second.agents) == (GivenUp("r2", first, last),)
    third = under(second, cut(journal, first, "r3"), "r3")
    assert log_pairing.newest_mismatch(third.journal, third.agents) is not None
    third.journal.adopt(third.clock.now(), log_pairing.all_mismatches(journal, second.agents))
    assert log_pairing.newest_mismatch(third.journal, third.agents) is None
    watcher.catch_up(third)
    assert prove_logs(third.journal, third.agents).divergences == ()
    fourth = under(third, cut(third.journal, third.journal.tail().n, "r4"), "r4")
    assert log_pairing.newest_mismatch(fourth.journal, fourth.agents) is None
    watcher.catch_up(fourth)
    assert prove_logs(fourth.journal, fourth.agents).divergences == ()
