"""A key that is used again: what its caller said counts, not what it was decided on (ADR 31)."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from adapters.store.log import Log
from domain.agent import commands as agents
from domain.agent import deciders
from domain.append.causes import Command, is_repeat
from domain.changes import commands as changes
from domain.erasure import Erase
from domain.errors import KeyReused
from domain.journal import commands as journal
from domain.lessons import commands as lessons
from domain.log.wire import Stored, Words
from domain.machines import commands as machines
from domain.policy import commands as policy
from domain.retention import Retain
from domain.templates import commands as templates
from domain.wake import commands as wakes
from tests.support.stored import members, sample

COMMANDS: list[type[Stored]] = sorted(members(Command), key=lambda one: one.__name__)
SAYING = [one for one in COMMANDS if one.said]
WHOLE: set[type[Stored]] = {
    # a person says all of it, or an operation has its own key
    *(one for one in members(journal.JournalCommand) if not one.said),
    *members(templates.TemplateCommand),
    *members(policy.PolicyCommand),
    lessons.LearnVerdicts,
    lessons.RuleTool,
    machines.LabelReplica,
    agents.ConfigureAgent,
    agents.WatchTokens,
    agents.UnwatchTokens,
    agents.RemoveTimer,
    agents.PauseAgent,
    agents.DestroyAgent,
    agents.DeleteAgent,
}
"""Nothing of them comes from the present."""
KEYLESS: set[type[Stored]] = {
    *members(wakes.WakeCommand),
    agents.TakeJournal,
    agents.TickTimer,
    changes.RetakeEffect,
    changes.ExpireItems,
    Erase,
    Retain,
}
"""No caller has a key for them: they look at the log and do what is left to do."""
AT, LATER = "2027-01-01T09:00:00.000000Z", "2027-02-01T09:00:00.000000Z"


def _ids(value: object) -> str:
    return value.__name__ if isinstance(value, type) else type(value).__name__


def other(value: Any) -> Any:
    """Some other value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}, other"
        case Words():
            return Words("other")
        case tuple():
            return (*value, *value)
    raise AssertionError(f"no other value of {value!r} is known: add one here")


def test_every_command_says_how_a_repeat_of_it_is_known() -> None:
    undecided = [one.__name__ for one in COMMANDS if not one.said and one not in WHOLE | KEYLESS]
    assert not undecided, (
        f"{undecided}: if one carries what only the present knows (a position, a switch, a time), "
        "give it `said`, the fields of its caller; else add it to WHOLE or KEYLESS here"
    )
    assert not [one.__name__ for one in SAYING if one in WHOLE | KEYLESS]


@pytest.mark.parametrize("command", SAYING, ids=_ids)
def test_what_is_said_are_fields_of_the_command(command: type[Stored]) -> None:
    assert set(command.said) < set(command.__struct_fields__)
    assert b"said" not in msgspec.json.encode(sample(command, is_full=True))


@pytest.mark.parametrize("command", SAYING, ids=_ids)
def test_a_repeat_is_known_whatever_the_present_has_become(command: type[Stored]) -> None:
    kept = sample(command, is_full=True)
    left = [name for name in command.__struct_fields__ if name not in command.said]
    given = replace(kept, **{name: other(getattr(kept, name)) for name in left})
    assert left
    assert given != kept
    assert is_repeat(kept, given)


@pytest.mark.parametrize("command", SAYING, ids=_ids)
def test_another_word_is_another_command(command: type[Stored]) -> None:
    kept = sample(command, is_full=True)
    if isinstance(kept, journal.UndoDeed):
        kept = replace(kept, operation="")  # an operation is its own key
    for name in command.said:
        given = replace(kept, **{name: other(getattr(kept, name))})
        assert not is_repeat(kept, given), name


def test_a_command_that_says_nothing_is_compared_as_a_whole() -> None:
    kept = journal.EditTask("t", title="Fix the sink")
    assert is_repeat(kept, journal.EditTask("t", title="Fix the sink"))
    assert not is_repeat(kept, journal.EditTask("t", title="Fix the sink", priority="P1"))


def test_equal_words_of_another_command_are_no_repeat() -> None:
    assert not is_repeat(changes.RejectItem("s", 1, "p", 7), changes.DeferItem("s", 1, "p", 7))
    assert not is_repeat(agents.PauseAgent("a"), agents.DestroyAgent("a"))


def test_who_cannot_say_all_again_names_what_to_compare() -> None:
    kept = changes.ConfirmItem("s", 1, "p", 7, Words("{}"))
    given = changes.ConfirmItem("s", 1, "p", 8)
    assert not is_repeat(kept, given)
    assert is_repeat(kept, given, ("changes", "item"))


# ------------------------------------------------------------------------------- through a log


AGENT = deciders.agent_id(deciders.AGENT_KIND, "t0", 1)
CREATED = agents.CreateAgent("t", "Trip", "c", 1, "hybrid")
ONCE, BERLIN = "once 2027-01-01 10:00", "Europe/Berlin"
CASES = [
    (CREATED, replace(CREATED, title="Journey", position=9), replace(CREATED, model="rules")),
    (
        agents.SetTimer(AGENT, ONCE, "UTC", "2027-01-01T10:00:00.000000Z"),
        agents.SetTimer(AGENT, ONCE, "UTC", ""),
        agents.SetTimer(AGENT, ONCE, BERLIN, ""),
    ),
    (
        agents.RequestWake(AGENT, "user", words="w", is_enabled=True),
        agents.RequestWake(AGENT, "user", "other", 3, "w"),
        agents.RequestWake(AGENT, "user", words="other", is_enabled=True),
    ),
    (
        agents.ResumeAgent(AGENT),
        agents.ResumeAgent(AGENT, is_enabled=True),
        agents.ResumeAgent("nobody"),
    ),
]


@pytest.fixture
def log() -> Log:
    made = Log.in_memory("agent")
    made.append(agents.CreateAgent("t0", "Sink", "c", 0, "hybrid"), AT)
    return made


@pytest.mark.parametrize(("first", "again", "another"), CASES, ids=_ids)
def test_the_log_answers_a_repeat_with_the_first_result_and_writes_nothing(
    log: Log, first: Command, again: Command, another: Command
) -> None:
    assert log.answered("k", first) is None
    appended = log.append(first, AT, key="k")
    count = log.count()
    assert log.append(again, LATER, key="k") == (appended.result, (), appended.n)
    assert log.answered("k", again) == appended.result
    with pytest.raises(KeyReused):
        log.append(another, LATER, key="k")
    with pytest.raises(KeyReused):
        log.answered("k", another)
    assert log.count() == count


def test_without_a_key_nothing_was_answered(log: Log) -> None:
    log.append(agents.PauseAgent(AGENT), AT)
    assert log.answered("", agents.PauseAgent(AGENT)) is None
