"""Time is logged, corrected and noted where it can have been, once, and never over the person."""

from typing import Any

import pytest
from msgspec.structs import replace

from domain.journal import task as t
from domain.log import canonical
from domain.tools import registry
from domain.tools.base import Facts, Plan, ToolRefusal, base
from domain.tools.snapshot import ENTRIES_KEPT, Snapshot, captured
from tests.support.tool_calls import changed, instants, utc
from tests.support.tools import AGENT, CATALOG, applied, code, given

CREATED = t.TaskCreated("person", "Plant the garden", "c1")
SPAN = {"startedAt": "2027-01-01T08:00", "endedAt": "2027-01-01T09:00"}
DAY = {"startedAt": "2026-12-30T08:00", "endedAt": "2026-12-31T08:00"}
NOW = utc("2027-01-01T12:00")
REASON = "The note says so, in so many words."


def at_noon(*facts: t.TaskFact) -> Snapshot:
    return replace(given(CREATED, *facts), at=NOW)


def logged(by: str = "person", entry: str = "e1", start: str = "10:00", end: str = "11:00") -> Any:
    times = utc(f"2027-01-01T{start}"), utc(f"2027-01-01T{end}")
    return t.TimeLogged(by, entry, *times, "Dug")


def called(tool: str, before: Snapshot, **arguments: Any) -> Plan | ToolRefusal:
    found = registry.decode(tool, arguments)
    if isinstance(found, ToolRefusal):
        return found
    return registry.plan(tool, before, found, instants(tool, arguments).items())


def done(tool: str, before: Snapshot, **arguments: Any) -> Facts | ToolRefusal:
    return applied(tool, before, **changed(tool, arguments))


def test_an_instant_that_is_none_is_refused_whoever_gives_it() -> None:
    given = registry.decode("log_time", {**SPAN, "summary": "Dug"})
    assert not isinstance(given, ToolRefusal)
    wrong = {**instants("log_time", SPAN), "startedAt": "08:00"}
    refused = registry.plan("log_time", at_noon(), given, wrong.items())
    assert isinstance(refused, ToolRefusal)
    assert refused.code == "invalid_arguments"
    assert "expected a UTC instant" in refused.message


def test_a_correction_of_an_entry_that_is_gone_is_based_on_nothing() -> None:
    wish = canonical.text({"entryId": "gone", "summary": "Dug"})
    assert registry.base("edit_time_entry", at_noon(), wish) == base("edit_time_entry", None)


# ------------------------------------------------------------------------------------- logging


def test_a_span_is_proposed_in_local_time_with_the_instants_that_it_stands_for() -> None:
    plan = called("log_time", at_noon(), **SPAN, summary=" Dug\nthe bed ")
    assert isinstance(plan, Plan)
    (one,) = plan.proposals
    assert one.summary == "Log 2027-01-01 08:00-09:00 (1 h): Dug the bed"
    assert one.arguments == (
        '{"endedAt":"2027-01-01T09:00","endedUtc":"2027-01-01T09:00:00.000000Z",'
        '"startedAt":"2027-01-01T08:00","startedUtc":"2027-01-01T08:00:00.000000Z",'
        '"summary":"Dug the bed"}'
    )
    facts = registry.apply(one.tool, at_noon(), one.arguments, AGENT)
    assert isinstance(facts, tuple)
    (fact,) = facts
    assert isinstance(fact, t.TimeLogged)
    assert fact == t.TimeLogged(
        AGENT, fact.entry, utc(SPAN["startedAt"]), utc(SPAN["endedAt"]), "Dug the bed"
    )


@pytest.mark.parametrize(
    ("span", "wrong"),
    [
        ({"endedAt": "2027-01-01T08:00"}, "invalid_arguments"),
        ({"endedAt": "2027-01-01T12:00"}, "redundant"),  # not in the future, but taken
        ({"endedAt": "2027-01-01T12:01"}, "invalid_arguments"),
        (DAY, ""),
        ({**DAY, "endedAt": "2026-12-31T08:01"}, "invalid_arguments"),
        ({"startedAt": "2027-01-01T11:00", "endedAt": "2027-01-01T11:30"}, ""),
        ({"startedAt": "2027-01-01T10:59", "endedAt": "2027-01-01T11:30"}, "redundant"),
        ({"endedAt": "2027-01-01T10:00"}, ""),
        ({"endedAt": "2027-01-01T10:01"}, "redundant"),
        ({"startedAt": "2027-01-01T10:15", "endedAt": "2027-01-01T10:30"}, "redundant"),
    ],
)
def test_a_span_is_over_a_day_at_most_and_free(span: dict[str, str], wrong: str) -> None:
    before = at_noon(logged())
    said = {**SPAN, **span, "summary": "Dug"}
    assert code(called("log_time", before, **said)) == wrong
    assert code(done("log_time", before, **said)) == wrong


def test_a_running_timer_takes_all_time_from_its_start() -> None:
    before = at_noon(t.TimeStarted("person", "e1", utc("2027-01-01T08:30")))
    assert code(called("log_time", before, **SPAN, summary="Dug")) == "redundant"


@pytest.mark.parametrize("told", ["2027-01-01 08:00", "2027-01-01t08:00:00", " 2027-01-01T08:00 "])
def test_a_local_time_has_one_spelling_in_the_end(told: str) -> None:
    plan = called("log_time", at_noon(), **{**SPAN, "startedAt": told}, summary="Dug")
    assert isinstance(plan, Plan)
    assert '"startedAt":"2027-01-01T08:00"' in plan.proposals[0].arguments


@pytest.mark.parametrize(
    "told",
    ["08:00", "2027-02-29T08:00", "2027-01-01T24:00", "2027-01-01T08:00Z", "0000-01-01T00:00",
     "1969-12-31T23:00", "2027-01-01T08:00:30", "9001-01-01T00:00"],
)  # fmt: skip
def test_what_no_clock_shows_is_no_local_time(told: str) -> None:
    found = registry.decode("log_time", {**SPAN, "endedAt": told, "summary": "Dug"})
    assert code(found) == "invalid_arguments"


def test_a_model_gives_no_instants_itself() -> None:
    said = {**SPAN, "summary": "Dug", "startedUtc": NOW}
    assert code(registry.decode("log_time", said)) == "invalid_arguments"
    assert "startedUtc" not in registry.specs(["log_time"])[0].schema["properties"]


@pytest.mark.parametrize("gone", ["startedUtc", "endedAt"])
def test_a_change_without_an_instant_is_no_change(gone: str) -> None:
    whole = changed("log_time", {**SPAN, "summary": "Dug"})
    said = {name: value for name, value in whole.items() if name != gone}
    assert code(applied("log_time", at_noon(), **said)) == "invalid_arguments"
    assert code(registry.check_edit("log_time", said)) == "invalid_arguments"


def test_an_entry_that_was_moved_away_leaves_its_name_behind() -> None:
    first = done("log_time", at_noon(), **SPAN, summary="Dug")
    assert isinstance(first, tuple)
    entry = getattr(first[0], "entry", "")
    moved = t.TimeEdited("person", entry, utc("2027-01-01T06:00"), utc("2027-01-01T07:00"))
    second = done("log_time", at_noon(*first, moved), **SPAN, summary="Dug")
    assert isinstance(second, tuple)
    assert getattr(second[0], "entry", "") != entry


# ---------------------------------------------------------------------------------- correcting


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (
            {"endedAt": "2027-01-01T11:30"},
            t.TimeEdited(AGENT, "e1", end=utc("2027-01-01T11:30")),
        ),
        (
            {"startedAt": "2027-01-01T09:30", "endedAt": "2027-01-01T11:00"},
            t.TimeEdited(AGENT, "e1", start=utc("2027-01-01T09:30")),
        ),
        ({"summary": "Raked"}, t.TimeEdited(AGENT, "e1", summary="Raked")),
    ],
)
def test_what_differs_of_an_entry_is_corrected(said: dict[str, str], fact: t.TimeEdited) -> None:
    assert done("edit_time_entry", at_noon(logged(AGENT)), entryId="e1", **said) == (fact,)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"entryId": "e9", "summary": "x"}, "not_found"),
        ({}, "invalid_arguments"),
        ({"summary": "Dug", "endedAt": "2027-01-01T11:00"}, "redundant"),
        ({"endedAt": "2027-01-01T10:00", "reason": REASON}, "invalid_arguments"),
        ({"endedAt": "2027-01-01T13:00", "reason": REASON}, "invalid_arguments"),
        ({"startedAt": "2026-12-31T10:59", "reason": REASON}, "invalid_arguments"),
        ({"startedAt": "2027-01-01T08:59", "reason": REASON}, "redundant"),
        ({"endedAt": "2027-01-01T11:30"}, "sovereignty"),
        ({"endedAt": "2027-01-01T11:30", "reason": "x" * 19}, "sovereignty"),
        ({"endedAt": "2027-01-01T11:30", "reason": "x" * 20}, ""),
        ({"summary": "Raked"}, ""),
        ({"entryId": "e3", "summary": "x"}, "invalid_arguments"),
    ],
)
def test_a_correction_keeps_the_rules_of_a_span_and_the_person_s_times(
    said: dict[str, str], wrong: str
) -> None:
    other = logged(AGENT, "e2", "08:00", "09:00")
    runs = t.TimeStarted("person", "e3", utc("2027-01-01T11:45"))
    said = {"entryId": "e1", **said}
    before = at_noon(logged(), other, runs)
    assert code(called("edit_time_entry", before, **said)) == wrong


def test_the_times_that_an_agent_gave_are_the_person_s_once_she_has_set_them() -> None:
    before = at_noon(logged(AGENT), t.TimeEdited("person", "e1", end=utc("2027-01-01T10:30")))
    said = {"entryId": "e1", "endedAt": "2027-01-01T11:30"}
    assert code(called("edit_time_entry", before, **said)) == "sovereignty"


def test_a_correction_is_told_in_words() -> None:
    said = changed(
        "edit_time_entry",
        {"entryId": "e1", "startedAt": "2026-12-31T23:30", "endedAt": "2027-01-01T00:45"},
    )
    text = canonical.text(said)
    assert registry.summary("edit_time_entry", at_noon(logged()), text) == (
        'Correct the time entry "Dug": its time is '
        "2026-12-31 23:30 to 2027-01-01 00:45 (1 h 15 min)"
    )


def test_a_correction_of_one_end_and_of_an_entry_that_is_gone_are_told() -> None:
    said = changed("edit_time_entry", {"entryId": "e9", "startedAt": "2027-01-01T08:00"})
    told = registry.summary("edit_time_entry", at_noon(), canonical.text(said))
    assert told == "Correct the time entry e9…: it began 2027-01-01 08:00"
    assert registry.present("edit_time_entry", at_noon(), said) == "gone"
    assert registry.present("note_timer", at_noon(), {}) == "no timer runs"


# --------------------------------------------------------------------------- timers, the snapshot


def test_a_note_is_put_on_the_timer_that_runs_here_and_on_no_other() -> None:
    assert code(called("note_timer", at_noon(logged()), summary="Digging")) == "not_found"
    before = at_noon(t.TimeStarted("person", "e1", utc("2027-01-01T11:00")))
    assert done("note_timer", before, summary="Digging") == (
        t.TimeEdited(AGENT, "e1", summary="Digging"),
    )
    noted = at_noon(
        t.TimeStarted("person", "e1", utc("2027-01-01T11:00")),
        t.TimeEdited(AGENT, "e1", summary="Digging"),
    )
    assert code(called("note_timer", noted, summary="Digging")) == "redundant"


def test_a_wake_knows_the_newest_entries_and_one_of_scaffold_1_none() -> None:
    task = t.Task("t1", exists=True, time=tuple(
        t.TimeEntry(f"e{nth:03}", utc("2026-12-01T00:00").replace("T00", f"T{nth % 24:02}"), NOW)
        for nth in range(ENTRIES_KEPT + 10)
    ))  # fmt: skip
    assert len(captured(task, CATALOG, 1, 2).time) == ENTRIES_KEPT
    assert captured(task, CATALOG, 1, 1).time == ()


def test_local_times_are_read_beside_a_quote() -> None:
    given = {"startedAt": "2026-11-20T16:00", "endedAt": "2026-11-20T18:00", "summary": "Painted"}
    walls = registry.local_times("log_time", given)
    assert sorted(walls) == ["endedAt", "startedAt"]
    assert registry.local_times("log_time", given | {"because": "from 4 to 6pm"}) == walls
