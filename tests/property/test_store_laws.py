"""Where a log is kept makes no difference to a single byte of it."""

from itertools import cycle
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from adapters.home.home_location import HomeLocation, location_of
from adapters.proof.prove import prove_home
from adapters.store.log import Log
from adapters.upkeep.home_copy import copy_home
from adapters.wiring import open_home
from domain.agent.commands import CreateAgent
from domain.errors import Refused, WakelogError
from domain.journal import commands as do
from domain.journal.catalog import category_id
from replay.prove import LogProof

AT, LATER = "2027-01-01T00:00:00.000000Z", "2027-01-02T00:00:00.000000Z"
NAMES = st.sampled_from(["a", "b", "Plan  the trip", "", "ä" * 201])
TIMES = st.sampled_from([AT, LATER, "2026-01-01T00:00:00.000000Z"])
COMMANDS = st.one_of(
    st.builds(do.CreateTask, NAMES, priority=st.sampled_from(["", "P0", "P9"])),
    st.builds(do.EditTask, NAMES, title=NAMES),
    st.builds(do.AddItems, NAMES, st.lists(NAMES, max_size=3).map(tuple)),
    st.builds(do.AddLabel, NAMES),
    st.builds(do.DeleteTask, NAMES),
    st.builds(do.RestoreTask, NAMES),
)
STEP = st.tuples(COMMANDS, TIMES, st.sampled_from(["", "", "k1", "k2"]))
FIRST: list[tuple[do.JournalCommand, str, str]] = [(do.CreateTask("first"), AT, "")]
STEPS = st.lists(STEP, max_size=12).map(lambda steps: FIRST + steps)


def performed(
    log: Log,
    steps: list[tuple[do.JournalCommand, str, str]],
    known: dict[str, str] | None = None,
) -> list[str]:
    """Do it, with the titles of tasks in place of their ids, of which some are known; what came of
    each step."""
    ids: dict[str, str] = {} if known is None else known
    came = []
    for command, now, key in steps:
        try:
            appended = log.append(_meant(command, ids), now, key=key)
        except WakelogError as error:
            came.append(error.code)
            continue
        came.append(f"{appended.n} {appended.result}")
        if isinstance(command, do.CreateTask):
            ids.setdefault(command.title, appended.result.ids[0])
    return came


def _meant(command: do.JournalCommand, ids: dict[str, str]) -> do.JournalCommand:
    task = getattr(command, "task", "")
    return replace(command, task=ids.get(task, task)) if task else command


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_two_writers_of_a_home_in_a_database_and_one_in_memory_hold_the_same_bytes(
    postgres_homes: Any, steps: list[tuple[do.JournalCommand, str, str]]
) -> None:
    home = postgres_homes.create(f"home-{len(postgres_homes.all())}", "r1")
    writers = cycle([postgres_homes.log(home, "journal") for _ in range(2)])
    memory = Log.in_memory("journal")
    ids: dict[str, str] = {}
    others: dict[str, str] = {}
    for step in steps:
        assert performed(next(writers), [step], ids) == performed(memory, [step], others)
    for log in (next(writers), next(writers)):
        assert list(log.rows()) == list(memory.rows())
        assert list(log.appends()) == list(memory.appends())
        assert sorted(log.kept_payloads()) == sorted(memory.kept_payloads())
        assert log.tail() == memory.tail()
    assert list(LogProof("journal", log.payload).walk(log.rows())) == []


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_a_home_that_is_made_up_goes_into_a_database_and_back_as_it_was(
    postgres_homes: Any,
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[do.JournalCommand, str, str]],
) -> None:
    folder = tmp_path_factory.mktemp("homes")
    environ = {"WAKELOG_DATABASE": postgres_homes.database.url, "HOME": str(folder)}
    names = str(folder / "home"), f"pg:made-{len(postgres_homes.all())}", str(folder / "back")
    here, there, back = (location_of(name, environ) for name in names)
    with open_home(here, environ, is_writing=True) as opened:
        performed(opened.services.journal, steps)
        task = next(opened.services.journal.appends(1))[-1].entity
        command = CreateAgent(task, "A", category_id("Inbox"), 2, "hybrid", is_enabled=True)
        opened.services.append_agent(command)
    copy_home(here, there, environ, lambda *_: None)
    copy_home(there, back, environ, lambda *_: None)
    found = [contents(one, environ) for one in (here, there, back)]
    assert found[0] == found[1] == found[2]
    with open_home(back, environ) as opened:
        assert prove_home(opened).divergences == ()


def contents(place: HomeLocation, environ: dict[str, str]) -> list[Any]:
    """All rows, payloads and ends of a home's logs."""
    with open_home(place, environ) as opened:
        logs = opened.services.journal, opened.services.agents
        return [(list(one.rows()), sorted(one.kept_payloads()), one.tail()) for one in logs]


@pytest.mark.slow
@given(STEPS)
def test_memory_and_file_hold_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[do.JournalCommand, str, str]]
) -> None:
    file = Log.open("journal", tmp_path_factory.mktemp("log") / "journal.db", "r1")
    memory = Log.in_memory("journal")
    assert performed(file, steps) == performed(memory, steps)
    assert list(file.rows()) == list(memory.rows())
    assert list(file.appends()) == list(memory.appends())
    assert file.tail() == memory.tail()
    for stream in {row.stream for row in file.rows()}:
        assert file.facts(stream) == memory.facts(stream)
    assert list(LogProof("journal", file.payload).walk(file.rows())) == []
    file.close()


def test_a_refused_first_command_leaves_no_row_in_memory_either() -> None:
    memory = Log.in_memory("journal")
    with pytest.raises(Refused):
        memory.append(do.DeleteTask("nobody"), AT)
    assert memory.count() == 0
