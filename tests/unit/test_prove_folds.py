"""A row that today's folds fail on is named, though no later cause reads its stream."""

import pytest
from msgspec.structs import replace

from adapters.proof.prove import prove_logs
from adapters.runtime.services import Services
from domain.append.envelope import STREAM_TYPES
from domain.journal.commands import DeleteTask, EditTask, RestoreTask
from domain.journal.task import TASK, Task, TaskRestored
from domain.log.state import RecordedEvent
from replay.prove import LogProof, ProofOptions
from replay.streams import WalkLimits
from tests.support.services import divergences, services, task_with_agent


def refusing(task: Task, row: RecordedEvent) -> Task:
    """A fold of tasks that somebody broke: it knows no task that came back."""
    if isinstance(row.fact, TaskRestored):
        raise KeyError("is_deletedx")
    return TASK.evolve(task, row)


@pytest.fixture
def restored() -> Services:
    """Two tasks; one was deleted, and comes back with the log's last append."""
    at = services()
    task, _ = task_with_agent(at)
    at.append_journal(DeleteTask(task))
    task_with_agent(at, "Mend the roof")
    at.append_journal(RestoreTask(task))
    return at


@pytest.fixture
def _a_broken_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a kind of its own in the place of tasks; what decides still folds as it should."""
    monkeypatch.setitem(STREAM_TYPES, "task", replace(TASK, evolve=refusing))


def test_it_folds_as_it_is(restored: Services) -> None:
    assert divergences(restored) == []


@pytest.mark.usefixtures("_a_broken_fold")
def test_a_row_that_does_not_fold_is_named_at_the_end_of_a_log(restored: Services) -> None:
    (one,) = divergences(restored)
    last = list(restored.journal.rows())[-1]
    assert (one.kind_of, one.path) == ("rule changed", "fold")
    assert (one.stream, one.version) == (last.stream, last.version)
    assert one.expected == "a fact that folds (KeyError: 'is_deletedx')"
    assert last.state.decode() in one.actual


@pytest.mark.usefixtures("_a_broken_fold")
def test_it_is_named_where_the_cause_is_only_folded(restored: Services) -> None:
    proof = LogProof("journal", restored.journal.payload, ProofOptions(rules=99))
    assert [one.path for one in proof.walk(restored.journal.rows())] == ["fold"]


@pytest.mark.usefixtures("_a_broken_fold")
@pytest.mark.parametrize("is_followed", [False, True])
def test_it_is_named_once_where_streams_rest_and_are_read_again(
    restored: Services, is_followed: bool
) -> None:
    if is_followed:
        last = list(restored.journal.rows())[-1]
        restored.append_journal(EditTask(last.stream[len("task:") : -len("@r1")], title="Fix it"))
    found = prove_logs(restored.journal, restored.agents, limits=WalkLimits(states=0)).divergences
    assert [(one.kind_of, one.path) for one in found] == [("rule changed", "fold")]
