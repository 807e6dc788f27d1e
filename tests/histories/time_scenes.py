"""Scenes of time that a task took: what is logged, corrected, noted and rated, by whom."""

from msgspec.structs import replace

from adapters.home.settings import Settings
from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AgentSettings
from domain.changes.change_set import set_id
from domain.journal import commands as do
from domain.journal import day as d
from tests.histories.acting import Scene, refused, set_clock, told, twice
from tests.histories.tool_scenes import call, task_of, wake
from tests.support.days import MORNING, TODAY, planner
from tests.support.lone import reviewer, with_agents
from tests.support.services import TickingClock, services, task_with_agent

REASON = "The note says that it took until noon."
SUMMER = "2027-03-28T12:00:00.000000Z"  # the night before, clocks in Berlin skipped an hour


def log(began: str, ended: str, summary: str = "Soldered") -> tuple[str, str]:
    return call(
        "log_time", startedAt=f"2027-03-{began}", endedAt=f"2027-03-{ended}", summary=summary
    )


def correct(entry: str, **said: str) -> tuple[str, str]:
    return call("edit_time_entry", entryId=entry, **said)


def time_spent() -> Services:
    """Time in Berlin, over a change of its clocks; every rule of each tool on both of its sides."""
    at = services()
    at.settings = Settings(timezone="Europe/Berlin")
    task, agent = task_with_agent(at)
    set_clock(at, SUMMER)
    mine = told(at, do.LogTime(task, "2027-03-27T09:00:00.000000Z", "2027-03-27T10:00:00.000000Z"))[
        0
    ]
    offers = [log("27T16:00", "27 18:00"), log("27T23:30", "28T00:45"), log("28T01:30", "28T02:30")]
    wrong = [log("27T10:30", "27T10:45"), log("28T13:00", "28T15:00"), log("26T16:00", "27T17:00")]
    wrong += [log("27T18:00", "27T16:00"), log("27T18:00", "27T18:00"), log("27", "28")]
    wrong += [
        call("log_time", startedAt="2027-03-27T19:00"),
        call("note_timer", summary="Soldering"),
    ]
    late = correct(mine, endedAt="2027-03-27T12:00", reason=REASON)
    named = [correct(mine, endedAt="2027-03-27T12:00"), correct("none", summary="x"), late]
    made = set_id(wake(at, agent, offers, [*wrong, *named, correct(mine, summary="Calls")]))
    for number in (1, 2, 4):
        review.confirm(at, made, number)
    told(at, do.LogTime(task, "2027-03-28T00:45:00.000000Z", "2027-03-28T00:50:00.000000Z"))
    review.confirm(at, made, 3)  # stale: the person was there first
    review.confirm(at, made, 3, is_anyway=True)
    review.confirm(at, made, 5)
    rate_and_retime(at, task, mine)
    twice(at, do.StartTimer(task))
    noted = set_id(wake(at, agent, [call("note_timer", summary="Soldering")], [*offers, late]))
    review.confirm(at, noted, 1)
    told(at, do.StopTimer())
    wake(at, agent, [call("note_timer", summary="Again")])
    return at


def rate_and_retime(at: Services, task: str, mine: str) -> None:
    """Every correction and rating of a person, and what of it is refused."""
    other = task_of(at, task).time[-1].id
    twice(at, do.RetimeEntry(task, other, summary="Swept"), do.RetimeEntry(task, mine, summary=""))
    twice(at, do.RetimeEntry(task, mine, "2027-03-27T08:30:00.000000Z"))
    twice(
        at, do.RateTask(task, 2, comment="Dull"), do.RateTask(task, 4), do.RateTask(task, 5, mine)
    )
    refused(at, "invalid_value", do.RateTask(task, 0), do.RateTask(task, 6))
    refused(at, "unknown_item", do.RateTask(task, 1, "none"), do.RetimeEntry(task, "none", "x"))
    span = replace(do.RetimeEntry(task, mine), end="2027-03-27T08:00:00.000000Z")
    refused(at, "invalid_value", span, replace(span, end="2027-03-29T00:00:00.000000Z"))
    refused(at, "invalid_value", replace(span, end="2027-03-27T16:00:00.000000Z"))


def day_by_hand() -> Services:
    """A day that a person plans: blocks of a task and of none, moved, taken away and undone."""
    at, date = services(), "2027-01-04"
    at.settings = Settings(timezone="Europe/Berlin")
    task, agent = task_with_agent(at)
    (first,) = told(at, d.PutBlock(date, "09:00", "11:00", task=task))
    (lunch,) = told(at, d.PutBlock(date, "12:00", "13:00", title="Lunch", category="Inbox"))
    put = at.journal.tail().n
    refused(at, "invalid_value", d.PutBlock(date, "10:30", "11:30", title="Call"))
    refused(at, "invalid_value", d.PutBlock(date, "20:00", "24:30", title="Call"))
    refused(at, "unknown_block", d.RemoveBlock(date, "none"), d.PutBlock(date, block="none"))
    twice(at, d.PutBlock(date, "13:00", "14:00", lunch), d.PinTask(date, task, is_pinned=True))
    told(at, d.PutBlock(date, "23:00", "24:00", title="Read"))
    twice(at, d.RateDay(date, 4, "Long"), d.RateDay(date, 2))
    told(at, d.RemoveBlock(date, first))
    told(at, do.UndoDeed((), (at.journal.tail().n,), days=(date,), reopens=True))
    refused(at, "stale", do.UndoDeed((), (put,), days=(date,), reopens=True))
    told(at, do.LogTime(task, f"{date}T08:10:00.000000Z", f"{date}T09:50:00.000000Z"))
    told(at, do.LogTime(task, f"{date}T22:30:00.000000Z", f"{date}T23:30:00.000000Z"))
    told(at, d.PinTask(date, task))
    wake(at, agent, [call("note_timer", summary="Read")])  # a day is no news of a task
    told(at, do.DeleteTask(task))
    return at


def day_planned() -> Services:
    """A day that an agent plans: what it may not propose, and each way in which that is decided."""
    of = planner("Paint", "Fix", "Write @Work", "Call", "Run @Health")
    of.at.clock = TickingClock(MORNING)
    of.put("12:00", "13:00", title="Lunch")
    of.put("15:00", "15:30", title="", task=of.tasks["Run"])
    of.proposes("Paint 09:00-10:00", "Fix 10:00-11:00", "Write 11:00-12:00", "Call 13:00-14:00")
    of.proposes("Paint 12:30-13:30", "Run 16:00-17:00", "Fix 10:15-11:15")
    of.confirm(1, nth=0)
    edit = of.items(0)[2].arguments.text.replace("11:00", "11:30")
    of.confirm(3, nth=0, edit=edit)
    review.reject(of.at, of.sets[0], 4, "not today")
    of.put("10:30", "11:00", title="Doctor")
    of.confirm(1, nth=1, is_anyway=True)
    kept = of.day().blocks[0].id
    wanted = {"taskId": of.tasks["Paint"], "start": "08:30", "end": "09:30", "block": kept}
    of.wakes(call("propose_blocks", blocks=[wanted]), words="Earlier, if you can. Not Call.")
    of.confirm(1)
    of.wakes(call("drop_blocks", blocks=[{"block": kept}]), call("read_task", id="x"))
    of.confirm(1)
    review.undo(of.at, of.sets[0], 3, of.operation(3, nth=0))
    of.at.append_journal(d.PutBlock(TODAY, "17:00", "18:00", title="Read"))
    of.proposes("Call 14:00-15:00", "Fix 16:00-17:00", words="Plan 2027-01-05.")
    of.at.append_journal(do.DeleteTask(of.tasks["Fix"]))
    of.confirm(2)
    of.at.clock = TickingClock("2027-01-05T23:00:01.000000Z")
    review.expire(of.at, of.sets[-1])
    return of.at


def category_reviewed() -> Services:
    """A category that an agent looks over: tasks that it proposes, and whom it asks."""
    of = reviewer("Tap", "Roof", "Fence", "Run @Health")
    of.at.clock = TickingClock(MORNING)
    agents = with_agents(of, "Tap", "Roof")
    do_ = of.at.append_journal
    do_(do.LogTime(of.tasks["Tap"], "2027-01-02T08:00:00.000000Z", "2027-01-02T09:30:00.000000Z"))
    do_(d.PutBlock("2027-01-03", "09:00", "10:00", task=of.tasks["Tap"]))
    do_(do.EditTask(of.tasks["Fence"], status="DONE"))
    do_(do.RateTask(of.tasks["Fence"], 4))
    plumber = {"items": [{"title": "price"}], "dueDate": "2027-01-08", "description": "The tap."}
    of.wakes(
        call("create_task", title="Call the plumber", because="Tap", estimateMinutes=30, **plumber),
        call("create_task", title="tap", because="Tap"),
        call("ask_agent", taskId=of.tasks["Tap"], about="blocked"),
        call("ask_agent", taskId=of.tasks["Roof"], about="stale"),
        call("ask_agent", taskId=of.tasks["Run"], about="stale"),
        call("propose_blocks", blocks=[]),
    )
    of.confirm(1)
    review.undo(of.at, of.sets[0], 1, of.operation(1))
    edit = of.items()[0].arguments.text.replace("plumber", "baker")
    of.confirm(1, edit=edit)
    of.runs(agents["Tap"])
    of.at.append_agent(ConfigureAgent(agents["Tap"], AgentSettings(is_automatic=False)))
    of.wakes(
        call("create_task", title="call the BAKER", because="Tap"),
        call("create_task", title="Paint", because="Fence"),
        call("ask_agent", taskId=of.tasks["Tap"], about="estimate"),
        call("ask_agent", taskId=of.tasks["Roof"], about="fits_today"),
        call("find_tasks", words="Tap"),
        call("recall", words="plumber"),
    )  # fmt: skip
    review.reject(of.at, of.sets[-1], 1, "no")
    of.at.append_agent(of.at.request(agents["Roof"]))
    of.runs(agents["Roof"])
    of.wakes(call("create_task", title="paint", because="Fence"), words="Do paint it.")
    do_(do.DeleteTask(of.tasks["Roof"]))
    of.wakes(reports=False)
    return of.at


SCENES: tuple[Scene, ...] = (time_spent, day_by_hand, day_planned, category_reviewed)
