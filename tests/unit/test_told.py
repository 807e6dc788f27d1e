"""What scaffold 2 tells an agent besides: the day, who set a value and when."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.home.schedules import local_time
from domain.agent.wake_queue import Queued, Trigger, run_key_of
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.task import TASK
from domain.log.wire import Words
from domain.tools.snapshot import Touched, captured
from domain.wake import reading as r
from domain.wake.commands import LocalTime
from domain.wake.context import TURNS_LOOKED_AT, thread_of
from domain.wake.prompt import render
from domain.wake.wake import ModelAnswered, SectionRef, WakeStarted
from tests.support.readings import (
    AGENT,
    AT,
    HOME,
    ROOF,
    WORK,
    Book,
    add_note,
    body,
    household,
    read,
    sections,
)

SATURDAY = LocalTime("Saturday", "2026-11-21T14:05", "Europe/Berlin", "+01:00")
NOW = r.PromptOptions(2, local=SATURDAY)


def task_json(reading: r.Reading) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(body(sections(render(reading, r.PromptLimits()))["task"]))
    return document


def due(day: str, status: Any = "OPEN", given: r.PromptOptions = NOW) -> Any:
    book = household()
    book.tell("task", ROOF, t.DueSet("person", day), t.StatusSet("person", status))
    return task_json(read(book, given=given)).get("dueIn", "no key")


@pytest.mark.parametrize(
    ("day", "told"),
    [
        ("2026-11-21", "today"),
        ("2026-11-22", "in 1 day"),
        ("2026-11-24", "in 3 days"),
        ("2027-11-21", "in 365 days"),
        ("2026-11-20", "overdue by 1 day"),
        ("2026-10-21", "overdue by 31 days"),
        ("", None),
    ],
)
def test_a_due_date_is_counted_in_days_of_the_persons_calendar(day: str, told: str | None) -> None:
    assert due(day) == told


def test_what_is_done_is_not_overdue() -> None:
    assert due("2026-11-01", "DONE") is None
    assert due("2026-11-01", given=r.PromptOptions(1, local=SATURDAY)) == "no key"


@pytest.mark.parametrize(
    ("at", "zone", "told"),
    [
        ("2026-11-21T18:20:00", "Asia/Kathmandu", "Sunday 2026-11-22 00:05, {} (UTC+05:45)"),
        ("2027-04-03T14:59:00", "Australia/Lord_Howe", "Sunday 2027-04-04 01:59, {} (UTC+11:00)"),
        ("2027-04-03T15:00:00", "Australia/Lord_Howe", "Sunday 2027-04-04 01:30, {} (UTC+10:30)"),
        ("2027-03-28T00:59:00", "Europe/Berlin", "Sunday 2027-03-28 01:59, {} (UTC+01:00)"),
        ("2027-03-28T01:00:00", "Europe/Berlin", "Sunday 2027-03-28 03:00, {} (UTC+02:00)"),
        ("2027-01-01T03:29:00", "America/St_Johns", "Thursday 2026-12-31 23:59, {} (UTC-03:30)"),
    ],
)
def test_the_clock_of_any_zone_is_told(at: str, zone: str, told: str) -> None:
    given = r.PromptOptions(2, local=local_time(f"{at}.000000Z", zone))
    text = sections(render(read(household(), given=given), r.PromptLimits()))["now"]
    assert body(text) == told.format(zone)


def test_the_day_of_a_due_date_is_that_of_the_zone() -> None:
    evening = "2026-11-21T18:20:00.000000Z"
    here, there = (
        r.PromptOptions(2, local=local_time(evening, zone)) for zone in ("UTC", "Asia/Kathmandu")
    )
    assert due("2026-11-22", given=here) == "in 1 day"
    assert due("2026-11-22", given=there) == "today"


def set_by(**facts: Any) -> dict[str, Any]:
    book = household()
    for fact in facts.values():
        book.tell("task", ROOF, fact)
    return task_json(read(book, given=NOW))


def test_each_value_says_who_set_it_and_when() -> None:
    document = set_by(
        title=t.TaskRetitled("agent:agent-roof", "Mend the roof today"),
        priority=t.PrioritySet("import:house.md", "P1"),
        estimate=t.EstimateSet("person", 60),
        language=t.LanguageSet("agent:agent-roof", "de"),
    )
    first = 6  # appends of the household and its task; one fact a day after that
    assert document["title"] == {
        "value": "Mend the roof today",
        "by": "agent",
        "at": AT.format(first),
    }
    assert document["priority"] == {"value": "P1", "by": "import", "at": AT.format(first + 1)}
    assert document["estimateMinutes"] == {"value": 60, "by": "person", "at": AT.format(first + 2)}
    assert document["languageCode"] == {"value": "de", "by": "agent", "at": AT.format(first + 3)}
    assert document["category"]["value"]["name"] == "Home"
    assert document["category"]["by"] == "person"


def test_an_agents_value_leaves_it_known_when_a_person_touched_the_field() -> None:
    book = household()
    book.tell("task", ROOF, t.PrioritySet("person", "P1"))
    mine = book.n
    book.tell("task", ROOF, t.PrioritySet("agent:a", "P2"), t.EstimateSet("agent:a", 60))
    world = book.world()
    seen = captured(world.load(TASK, ROOF), world.load(CATALOG, "main"), book.n, 2)
    assert seen.touched == (Touched("priority", mine),)
    assert task_json(read(book, given=NOW))["priority"]["by"] == "agent"


def test_a_value_that_nobody_set_stands_alone() -> None:
    document = set_by()
    assert document["status"] == {"value": "OPEN"}
    assert document["priority"] == {"value": "P2"}
    assert document["dueDate"] is document["estimateMinutes"] is document["languageCode"] is None


def test_a_note_says_when_it_was_edited() -> None:
    book = household()
    add_note(book, "note-1", "By Friday")
    told = task_json(read(book, given=NOW))["log"]
    assert list(told[0]) == ["at", "type", "by", "text"]
    book.tell("task", ROOF, t.NoteEdited("import:house.md", "note-1", book.words("By Monday")))
    (entry,) = task_json(read(book, given=NOW))["log"]
    assert entry == told[0] | {"text": "By Monday", "by": "import", "editedAt": AT.format(book.n)}
    assert "editedAt" not in task_json(read(book))["log"][0]


def test_a_date_that_was_taken_away_says_by_whom() -> None:
    cleared = set_by(due=t.DueSet("person", "2027-01-01"), none=t.DueSet("person"))["dueDate"]
    assert (cleared["value"], cleared["by"]) == (None, "person")


def test_scaffold_1_says_it_as_it_did() -> None:
    book = household()
    book.tell("task", ROOF, t.DueSet("person", "2027-01-01"), t.LanguageSet("person", "de"))
    document = task_json(read(book))
    assert (document["title"], document["dueDate"]) == ("Mend the roof", "2027-01-01")
    assert document["languageSource"] == "person"


def test_texts_of_values_stay_within_their_bounds() -> None:
    book: Book = household()
    book.tell("task", ROOF, t.TaskRetitled("person", "## x " * 1_000))
    seen = task_json(replace(read(book, given=NOW)))["title"]
    assert seen["value"].endswith("more bytes]")


# ------------------------------------------------------------------------------------------ time


def time_section(book: Book, **bounds: int) -> str:
    limits = r.PromptLimits(**bounds)
    found = sections(render(read(book, given=NOW, limits=limits), limits))
    return body(found["time"]) if "time" in found else ""


def logged(nth: int, minutes: int, summary: str = "") -> t.TimeLogged:
    start, end = (f"2027-03-{nth:02}T09:{minute:02}:00.000000Z" for minute in (0, minutes))
    return t.TimeLogged("person", f"time-{nth}", start, end, summary)


def test_time_is_told_by_entries_their_sum_and_the_running_timer() -> None:
    book = household()
    assert time_section(book) == ""
    book.tell("task", ROOF, logged(2, 30, "Calls\n## to Kim"), logged(1, 5))
    book.tell("task", ROOF, t.TimeStarted("person", "time-9", AT.format(9)))
    assert time_section(book).split("\n") == [
        "A timer runs since 2027-03-09T10:00.",
        "Logged in all: 35 minutes.",
        "- time-1 2027-03-01T10:00 to 10:05, 5 minutes",
        "- time-2 2027-03-02T10:00 to 10:30, 30 minutes: Calls ## to Kim",
    ]
    assert "time" not in sections(render(read(book), r.PromptLimits()))


def test_of_much_time_the_newest_ten_entries_are_told() -> None:
    book = household()
    book.tell("task", ROOF, *(logged(nth, 2) for nth in range(1, 15)))
    told = time_section(book).split("\n")
    assert told[:2] == ["Logged in all: 28 minutes.", "[cut: 4 older entries]"]
    assert [one.split()[1] for one in told[2:]] == [f"time-{nth}" for nth in range(5, 15)]


def test_an_entry_over_midnight_tells_both_days() -> None:
    book = household()
    span = "2027-03-01T22:30:00.000000Z", "2027-03-01T23:30:00.000000Z"
    book.tell("task", ROOF, t.TimeLogged("person", "night", *span))
    assert time_section(book).endswith("- night 2027-03-01T23:30 to 2027-03-02T00:30, 60 minutes")


def test_an_entry_of_last_summer_is_told_as_clocks_showed_it_then() -> None:
    book = household()
    span = "2026-07-01T08:00:00.000000Z", "2026-07-01T09:00:00.000000Z"
    book.tell("task", ROOF, t.TimeLogged("person", "e", *span))
    assert "- e 2026-07-01T09:00 to 10:00" in time_section(book)  # by the offset that holds now
    summer = replace(NOW, local=local_time("2027-03-01T09:00:00.000000Z", "Europe/Berlin"))
    found = sections(render(read(book, given=summer), r.PromptLimits()))
    assert "- e 2026-07-01T10:00 to 11:00" in body(found["time"])


def test_ratings_are_told_beside_what_they_are_of() -> None:
    book = household()
    book.tell("task", ROOF, logged(1, 5), t.TaskRated("person", "time-1", 5))
    book.tell("task", ROOF, t.TaskRated("person", "", 1), t.TaskRated("person", "", 2, "Too\nlong"))
    told = time_section(book).split("\n")
    assert told[0] == "The person rates the task 2 of 5: Too long."
    assert told[-1].endswith(", 5 minutes, rated 5 of 5")


# ---------------------------------------------------------------------------------------- thread


def thread_section(count: int, text: str = "words", **more: int) -> str:
    turns = tuple(r.ExchangeSeen(AT.format(n), f"{n} {text}", text) for n in range(1, count + 1))
    reading = replace(read(household(), given=NOW), thread=r.ThreadSeen(turns))
    return body(sections(render(reading, r.PromptLimits(**more)))["thread"])


def turns_told(section: str) -> list[dict[str, str]]:
    turns: list[dict[str, str]] = json.loads(section[section.index("[\n") :])
    return turns


def test_whole_turns_are_told_as_many_as_fit() -> None:
    told = thread_section(10, "x" * 600)
    turns = turns_told(told)
    assert 0 < len(turns) < 10
    assert told.startswith(f"[cut: {10 - len(turns)} earlier turns]\n")
    assert [one["person"][:2] for one in turns] == [f"{n} "[:2] for n in range(11 - len(turns), 11)]
    assert all(len(one["you"]) == 600 for one in turns)
    assert len(told.encode()) < 6_100


def test_at_most_twelve_turns_are_told() -> None:
    assert len(turns_told(thread_section(14))) == 12


def test_of_a_turn_that_is_longer_than_all_may_be_its_beginnings_are_told() -> None:
    (turn,) = turns_told(thread_section(3, "x" * 9_000))
    assert turn["person"].startswith("3 x")
    assert "[cut: " in turn["person"]
    assert "[cut: " in turn["you"]


def queued(turn: int) -> Queued:
    trigger = Trigger("user", "kitchen", turn=turn)
    return Queued("run", "user", "agent:session:kitchen", AT.format(1), AT.format(1), (trigger,))


def test_a_superseded_turn_leaves_no_gap_and_no_turn_is_looked_for_without_end() -> None:
    agents = Book("agent")
    run_key = run_key_of(AGENT.id, Trigger("user", "kitchen", turn=3))
    section = SectionRef("words", agents.keep("## The user's words\n\nWhen?"))
    started = WakeStarted(
        AGENT.id, ROOF, "user", "", "rules", 2, 5, 0, 0, "", (), (section,), (), "", (HOME,)
    )
    said = (ModelAnswered(1, 1, "", Words("I look.")), ModelAnswered(2, 1, "", Words("Friday.")))
    agents.tell("wake", run_key, started, *said, ModelAnswered(3, 1, ""))
    seen = thread_of(agents.world(), AGENT, queued(5), r.PromptLimits())
    assert seen.turns == (r.ExchangeSeen(AT.format(1), "When?", "Friday."),)
    elsewhere = replace(AGENT, categories=(WORK,))  # nothing that was said under another category
    assert thread_of(agents.world(), elsewhere, queued(5), r.PromptLimits()).turns == ()
    assert thread_of(agents.world(), AGENT, queued(1), r.PromptLimits()) == r.ThreadSeen()
    looked_at = len(agents.rows)
    far = thread_of(agents.world(), AGENT, queued(10_000), r.PromptLimits())
    assert len(agents.rows) - looked_at == TURNS_LOOKED_AT  # each look makes an empty stream
    assert far == r.ThreadSeen((), 9_999 - TURNS_LOOKED_AT)
