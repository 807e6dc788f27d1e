"""What a reading looks like to a model: sections, what gives way first, who set what."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.home.schedules import local_time
from domain.agent.wake_queue import Queued, Trigger, run_key_of
from domain.errors import Refused
from domain.journal import task as t
from domain.log.wire import Words
from domain.policy.flow import ALLOWED
from domain.scaffold import FEATURES, PROMPT_MIN_BYTES
from domain.wake import reading as r
from domain.wake.commands import LocalTime
from domain.wake.context import TURNS_LOOKED_AT, thread_of
from domain.wake.directives import DIRECTIVES, DIRECTIVES_VERSION
from domain.wake.manifests import MANIFESTS
from domain.wake.prompt import LADDER, render
from domain.wake.prompt_sections import block, memory
from domain.wake.wake import ModelAnswered, SectionRef, WakeStarted
from tests.support.readings import (
    AGENT,
    AT,
    HOME,
    ROOF,
    WORK,
    Book,
    body,
    household,
    read,
    sections,
)

TASK = r.TaskSeen("task-1", "Mend the roof", category=r.LabelSeen("cat-1", "Home"))


# -------------------------------------------------------------------------------------- cuts


def test_of_digests_the_newest_are_shown_while_they_fit() -> None:
    days = [r.DigestSeen(AT.format(day), AT.format(day), 20, f"day {day}") for day in (1, 2, 3)]
    section = memory(r.Reading(TASK, memory=tuple(days)), r.PromptLimits(memory_max_bytes=110))
    assert section
    found = ["day 1" in section.text, "day 2" in section.text, "day 3" in section.text]
    assert found == [False, True, True]
    assert "1 older digests" in section.text


def test_every_rung_of_the_ladder_is_a_bound() -> None:
    known = set(r.PromptLimits.__struct_fields__)
    named = [name for rung in LADDER for name in rung]
    assert known - set(named) == {"prompt_max_bytes", "log_entries_max", "log_entries_min"}
    assert len(named) == len(set(named))


def test_a_limit_too_small_for_the_rules_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        r.PromptLimits(prompt_max_bytes=PROMPT_MIN_BYTES - 1)
    assert refused.value.code == "invalid_value"


def test_the_versions_in_use_are_there() -> None:
    assert list(MANIFESTS) == list(ALLOWED) == list(FEATURES)
    every = [one for kinds in MANIFESTS.values() for one in kinds.values()]
    assert max(DIRECTIVES) == DIRECTIVES_VERSION
    for text in (
        *DIRECTIVES.values(),
        *(text for one in every for text in (one.role, one.guiding)),
    ):
        assert block(text, 100_000) == text, "a fixed text may not look like a heading either"


# --------------------------------------------------------------------------------- since scaffold 2

SATURDAY = LocalTime("Saturday", "2026-11-21T14:05", "Europe/Berlin", "+01:00")
NOW = r.PromptOptions(2, local=SATURDAY)


def told_json(reading: r.Reading) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(body(sections(render(reading, r.PromptLimits()))["task"]))
    return document


def due(day: str, status: Any = "OPEN", given: r.PromptOptions = NOW) -> Any:
    book = household()
    book.tell("task", ROOF, t.DueSet("person", day), t.StatusSet("person", status))
    return told_json(read(book, given=given)).get("dueIn", "no key")


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


def test_texts_of_values_stay_within_their_bounds() -> None:
    book: Book = household()
    book.tell("task", ROOF, t.TaskRetitled("person", "## x " * 1_000))
    seen = told_json(replace(read(book, given=NOW)))["title"]
    assert seen["value"].endswith("more bytes]")


# ------------------------------------------------------------------------------------------ time


def time_section(book: Book, **bounds: int) -> str:
    limits = r.PromptLimits(**bounds)
    found = sections(render(read(book, given=NOW, limits=limits), limits))
    return body(found["time"]) if "time" in found else ""


def test_an_entry_of_last_summer_is_told_as_clocks_showed_it_then() -> None:
    book = household()
    span = "2026-07-01T08:00:00.000000Z", "2026-07-01T09:00:00.000000Z"
    book.tell("task", ROOF, t.TimeLogged("person", "e", *span))
    assert "- e 2026-07-01T09:00 to 10:00" in time_section(book)  # by the offset that holds now
    summer = replace(NOW, local=local_time("2027-03-01T09:00:00.000000Z", "Europe/Berlin"))
    found = sections(render(read(book, given=summer), r.PromptLimits()))
    assert "- e 2026-07-01T10:00 to 11:00" in body(found["time"])


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
