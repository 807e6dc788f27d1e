"""A scene of timers that end with their tasks, and run on where that is undone."""

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.changes.change_set import set_id
from domain.journal import commands as do
from domain.log.wire import Words
from tests.histories.acting import Scene, refused, told
from tests.histories.tool_scenes import call, wake
from tests.support.services import services, task_with_agent


def timers_undone() -> Services:
    """Done, rejected, concluded and deleted with a timer that ran; starts, stops and entered time
    taken back and done again; another timer that runs since; the same as of 0.2.0."""
    at = services()
    tap, agent = task_with_agent(at)
    (wall,) = told(at, do.CreateTask("Wall"))

    def back(*tasks: str, reopens: bool = True) -> None:
        told(at, do.UndoDeed(tasks, (at.journal.tail().n,), reopens=reopens))

    for status in "DONE", "REJECTED":
        told(at, do.StartTimer(tap))
        told(at, do.EditTask(tap, status=status, stops_timer=True))
        back(tap)
        back(tap)
        back(tap)
        told(at, do.StopTimer("Looked"))
        back(tap)
        back(tap)
    told(at, do.StartTimer(tap))
    told(at, do.StartTimer(wall))
    back(tap, wall)
    back(tap, wall)
    told(at, do.DeleteTask(wall))
    back(wall)
    told(at, do.ConcludeTask(wall, Words("The rest"), stops_timer=True))
    told(at, do.StartTimer(tap))
    (entry,) = told(at, do.StartTimer(wall))
    told(at, do.RetimeEntry(wall, entry, summary="Called"))
    told(at, do.EditTask(tap, status="OPEN", stops_timer=True))
    told(at, do.EditTask(wall, status="OPEN"))
    told(at, do.EditTask(wall, status="DONE", stops_timer=True))
    n = at.journal.tail().n
    told(at, do.StartTimer(tap))
    told(at, do.UndoDeed((wall,), (n,), reopens=True))  # its timer stays stopped
    told(at, do.StopTimer())
    refused(at, "invalid_value", do.UndoDeed((tap,), (at.journal.tail().n,)))
    times = "2026-01-01T09:00:00.000000Z", "2026-01-01T10:00:00.000000Z"
    told(at, do.LogTime(tap, *times, "Dug"))
    refused(at, "invalid_value", do.UndoDeed((tap,), (at.journal.tail().n,)))
    back(tap)
    back(tap)
    spent = call(
        "log_time", startedAt="2026-12-31T09:00", endedAt="2026-12-31T10:00", summary="Dug"
    )
    made = set_id(wake(at, agent, [spent]))
    for _ in range(2):
        review.confirm(at, made, 1)
        done = review.changes_of(at, made).items[0].operations[-1]
        review.undo(at, made, 1, done)
    told(at, do.StartTimer(tap))
    told(at, do.StopTimer())
    back(tap)  # and it runs to the end
    return at


SCENES: tuple[Scene, ...] = (timers_undone,)
