"""Two logs of different times: refused for writing, read all the same, and a way to go on."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from adapters.home.clock import ManualClock
from adapters.home.log_pairing import newest_mismatch
from adapters.home.settings import Settings
from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.store.log import Log
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.wiring import open_home
from domain.errors import Refused
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words
from domain.ports import Model
from tests.support import checker
from tests.support.cli import FIXED, done, refused, run, told
from tests.support.homes import Homes
from tests.support.services import queued_key

OTHER = {"WAKELOG_REPLICA": "r2"}
ENDS = "the journal ends at append 3, and the agent log refers to 4"
OUT = "restore both from one backup, or go on with `wakelog home adopt restored`"
WRITING = (
    ["task", "add", "Another"],
    ["wake"],
    ["run", "--until-idle"],
    ["serve", "--port", "0"],
)


@pytest.fixture
def older(tmp_path: Path, homes: Homes) -> Path:
    """A home whose journal was restored to before the last note."""
    home = homes.copy(begun, tmp_path / "home")
    restored_alone(home, JOURNAL, lambda: gone_on(home))
    return home


def findings(home: Path, env: dict[str, str] | None = None) -> list[tuple[bool, str]]:
    """What doctor says of both logs, after whether the home is well."""
    result = run(["doctor", "--json"], home, env=env)
    document = json.loads(result.stdout)
    assert result.exit_code == int(not document["ok"])
    checks = [one for one in document["checks"] if one["check"] == "journal and agent log"]
    return [(one["ok"], one["message"]) for one in checks]


@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_an_older_journal_refuses_every_command_that_writes(
    older: Path, command: list[str]
) -> None:
    before = [(older / name).read_bytes() for name in (JOURNAL, AGENTS)]
    line = refused(command, older)
    assert ENDS in line
    assert OUT in line
    assert line.endswith("[other_past]")
    assert [(older / name).read_bytes() for name in (JOURNAL, AGENTS)] == before


def test_an_older_journal_is_read_and_says_so_in_one_line(older: Path, tmp_path: Path) -> None:
    for command in (["task", "list"], ["status"], ["--json", "wakes"], ["report", SINK]):
        result = run(command, older)
        assert result.exit_code == 0, result.output
        assert result.stderr.count(ENDS) == 1
    export = run(["export", "--parquet", str(tmp_path / "out")], older)
    assert (export.exit_code, export.stderr.count(ENDS)) == (0, 1)
    assert run(["--quiet", "task", "list"], older).stderr == ""


def test_prove_and_doctor_name_an_older_journal(older: Path) -> None:
    proof = run(["prove"], older)
    assert proof.exit_code == 1
    assert "journal append 4" in proof.stdout
    assert findings(older) == [(False, f"{ENDS}: the two files are of different times")]


def test_logs_restored_together_go_on(tmp_path: Path, homes: Homes) -> None:
    home = homes.copy(begun, tmp_path / "home")
    done(["backup", str(tmp_path / "backup")], home)
    gone_on(home)
    for name in (JOURNAL, AGENTS):
        put_back(home, name, tmp_path / "backup" / name)
    gone_on(home, "Takes about 3 hours.")
    assert told(["prove"], home)["ok"]


def test_the_numbers_of_what_was_given_up_are_not_given_again(older: Path) -> None:
    adopted = told(["home", "adopt", "restored"], older, env=OTHER)
    assert (adopted["replica"], adopted["was"]) == ("r2", "r1")
    assert adopted["given_up"] == [{"replica": "r1", "after": 3, "until": 4}]
    assert told(["prove"], older, env=OTHER)["ok"]
    assert findings(older, OTHER)[0][0]
    done(["task", "note", SINK, "Takes about 3 hours."], older, env=OTHER)
    (wake,) = told(["wake"], older, env=OTHER)
    assert wake["outcome"] == "completed"
    assert "Takes about 3 hours." in done(["show", wake["run_key"], "--prompt"], older, env=OTHER)
    assert told(["prove"], older, env=OTHER)["ok"]
    assert told(["doctor"], older, env=OTHER)["ok"]
    assert told(["status"], older, env=OTHER)["journal"]["appends"] > 4
    assert [one for one in checker.findings(older) if ":r2:" in one.where] == []


def test_a_drawn_name_is_drawn_anew_once(tmp_path: Path) -> None:
    """Where no variable names the writer, as in most homes."""
    home, own = tmp_path / "home", {"WAKELOG_REPLICA": ""}
    done(["task", "add", SINK], home, env=own)
    done(["agent", "create", SINK], home, env=own)
    done(["wake"], home, env=own)
    was = (home / "replica").read_text()
    aside = shutil.copy(home / JOURNAL, tmp_path / "aside")
    done(["task", "note", SINK, "Takes about 2 hours."], home, env=own)
    done(["wake"], home, env=own)
    put_back(home, JOURNAL, Path(aside))
    assert "other_past" in refused(["task", "add", "x"], home, env=own)
    adopted = told(["home", "adopt", "restored"], home, env=own)
    assert adopted["was"] == was
    assert adopted["replica"] == (home / "replica").read_text() != was
    line = refused(["home", "adopt", "restored"], home, env=own)
    assert line.endswith("[nothing_to_adopt]")
    assert (home / "replica").read_text() == adopted["replica"]
    done(["task", "note", SINK, "Takes about 3 hours."], home, env=own)
    assert told(["wake"], home, env=own)[0]["outcome"] == "completed"
    assert told(["prove"], home, env=own)["ok"]
    assert told(["doctor"], home, env=own)["ok"]


def test_another_journal_of_the_same_length_is_known_by_its_digest(
    tmp_path: Path, homes: Homes
) -> None:
    home, twin = (homes.copy(begun, tmp_path / name) for name in ("home", "twin"))
    gone_on(home, "Takes about 2 hours.")
    gone_on(twin, "Takes about 3 hours.")
    put_back(home, JOURNAL, twin / JOURNAL)
    line = refused(["task", "note", SINK, "And on."], home)
    assert "append 4 of the journal is not the one that the agent log refers to" in line
    assert line.endswith("[other_past]")
    proof = run(["prove", "--json"], home)
    paths = [one["path"] for one in json.loads(proof.stdout)["divergences"]]
    assert "data.command.journalDigest" in paths
    adopted = told(["home", "adopt", "restored"], home, env=OTHER)
    assert adopted["given_up"] == [{"replica": "r1", "after": 3, "until": 4}]
    done(["wake"], home, env=OTHER)
    assert told(["prove"], home, env=OTHER)["ok"]
    assert told(["doctor"], home, env=OTHER)["ok"]


def test_an_effect_that_nobody_has_taken_is_missed_too(tmp_path: Path, homes: Homes) -> None:
    home = homes.copy(begun, tmp_path / "home")
    gone_on(home)
    restored_alone(home, JOURNAL, lambda: done(["confirm", "1.1"], home))
    line = refused(["task", "add", "Another"], home)
    assert "the journal ends at append 4, and the agent log refers to 5" in line


def test_who_has_written_here_cannot_adopt_it(older: Path) -> None:
    line = refused(["home", "adopt", "restored"], older)
    assert "WAKELOG_REPLICA is r1, which has written in this home" in line
    assert "other_past" in refused(["wake"], older)


def test_an_old_name_is_refused_after_another_one_went_on(older: Path) -> None:
    done(["home", "adopt", "restored"], older, env=OTHER)
    done(["task", "note", SINK, "And on."], older, env=OTHER)
    done(["wake"], older, env=OTHER)
    assert "other_past" in refused(["task", "note", SINK, "Me again."], older)


def test_a_name_that_was_lost_with_the_file_adopts_nothing_by_itself(older: Path) -> None:
    """Only the way out says that something is given up."""
    assert ENDS in refused(["task", "add", "Another"], older, env=OTHER)
    done(["home", "adopt", "restored"], older, env=OTHER)
    done(["backup", str(older.with_name("copy"))], older, env=OTHER)
    third = {"WAKELOG_REPLICA": "r3"}
    copy = older.with_name("copy")
    done(["task", "note", SINK, "Takes about 3 hours."], copy, env=third)
    assert told(["wake"], copy, env=third)[0]["outcome"] == "completed"
    assert told(["prove"], copy, env=third)["ok"]


def test_logs_that_belong_together_are_not_adopted(tmp_path: Path, homes: Homes) -> None:
    home = homes.copy(begun, tmp_path / "home")
    before = (home / JOURNAL).read_bytes()
    assert refused(["home", "adopt", "restored"], home).endswith("[nothing_to_adopt]")
    assert (home / JOURNAL).read_bytes() == before
    assert "there is no home" in refused(["home", "adopt", "restored"], tmp_path / "none")


def test_an_older_agent_log_is_a_note(tmp_path: Path, homes: Homes) -> None:
    home = homes.copy(begun, tmp_path / "home")
    done(["task", "note", SINK, "Takes about 2 hours. Buy: tape."], home)

    def work() -> None:
        done(["wake"], home)
        done(["confirm", "1", "--all"], home)

    restored_alone(home, AGENTS, work)
    ((is_ok, message),) = findings(home)
    assert is_ok
    effects = int(message.split()[0])
    assert effects >= 1
    assert "have no intent in the agent log, which is older" in message
    result = run(["task", "add", "Another"], home)
    assert result.exit_code == 0
    assert f"older than the journal: {effects} of the journal's effects" in result.stderr
    assert run(["task", "list"], home).stderr == ""
    done(["wake"], home)
    assert run(["task", "add", "And another"], home).stderr == ""


@pytest.mark.parametrize("waiting", [0, 5])
def test_looking_costs_the_same_however_long_the_logs_are(tmp_path: Path, waiting: int) -> None:
    short, long = (made(tmp_path / str(count), count, waiting) for count in (60, 500))
    assert statements(short) == statements(long)


def test_an_adoption_that_was_cut_short_is_done_again(older: Path) -> None:
    """A name was drawn, and nothing told to the journal."""
    own = {"WAKELOG_REPLICA": ""}
    (older / "replica").write_text("rnew")
    assert "other_past" in refused(["wake"], older, env=own)
    adopted = told(["home", "adopt", "restored"], older, env=own)
    assert adopted["given_up"] == [{"replica": "r1", "after": 3, "until": 4}]
    assert told(["prove"], older, env=own)["ok"]


def test_a_wake_that_was_under_way_is_left_as_a_restored_backup_leaves_it(
    tmp_path: Path, homes: Homes
) -> None:
    home, plain = (homes.copy(begun, tmp_path / name) for name in ("home", "plain"))
    for one in (home, plain):
        done(["task", "note", SINK, "Takes about 2 hours."], one)
    restored_alone(home, JOURNAL, lambda: under_way(home))
    under_way(plain)
    done(["home", "adopt", "restored"], home, env=OTHER)
    done(["backup", str(tmp_path / "copy")], plain)
    seen = []
    for one in (home, tmp_path / "copy"):
        done(["wake"], one, env=OTHER)
        assert told(["prove"], one, env=OTHER)["ok"]
        document = json.loads(run(["doctor", "--json"], one, env=OTHER).stdout)
        seen.append([(found["check"], found["ok"]) for found in document["checks"]])
        wakes = told(["wakes"], one, env=OTHER)
        assert wakes[0]["outcome"] == "completed"
    assert seen[0] == seen[1]


def under_way(home: Path) -> None:
    """A note more, and a wake that has begun and waits for its model."""
    done(["task", "note", SINK, "Takes about 3 hours."], home)
    with open_home(home, FIXED, is_writing=True) as opened:
        watcher.catch_up(opened.services)
        (agent,) = told(["agent", "list"], home)
        run_key = queued_key(opened.services, agent["id"])
        captured = capture(opened.services, agent["id"], run_key, is_now=True)
        opened.services.append_agent(captured.command, payloads=captured.payloads)


JOURNAL, AGENTS = "journal.db", "agent.db"
SINK = "Fix the sink"


def begun(home: Path) -> Path:
    """A home with an agent that woke once."""
    done(["task", "add", SINK, "--item", "Buy parts"], home)
    done(["agent", "create", SINK], home)
    done(["wake"], home)
    return home


def gone_on(home: Path, note: str = "Takes about 2 hours.") -> None:
    """One more note, and a wake that has seen it."""
    done(["task", "note", SINK, note], home)
    assert told(["wake"], home)[0]["outcome"] == "completed"


def restored_alone(home: Path, file: str, work: Callable[[], object]) -> None:
    """Do some work in a home, and then put one of its files back to where it was."""
    aside = home.with_name(f"{home.name}-{file}")
    shutil.copyfile(home / file, aside)
    work()
    put_back(home, file, aside)


def put_back(home: Path, file: str, source: Path) -> None:
    """Put another file in the place of a log; what SQLite keeps beside it goes with the old one."""
    for end in ("-wal", "-shm"):
        (home / f"{file}{end}").unlink(missing_ok=True)
    shutil.copyfile(source, home / file)


NOW = "2027-01-01T00:00:00.000000Z"
EACH = 10  # notes, and then all are taken


def nobody(name: str) -> Model:
    raise Refused("model_unavailable", because=f"{name} is not asked here", instead="ask another")


@contextmanager
def opened(home: Path) -> Iterator[Services]:
    journal, agents = (Log.open(one, home / f"{one}.db", "r1") for one in ("journal", "agent"))
    with closing(Services(journal, agents, ManualClock(NOW), Settings(), nobody)) as services:
        yield services


def made(home: Path, appends: int, waiting: int) -> Path:
    """A home of so many notes, of which the last ones nobody has taken."""
    home.mkdir()
    with opened(home) as services:
        task = services.append_journal(CreateTask("Fix the sink")).result.ids[0]
        for nth in range(appends):
            if nth % EACH == 0 and nth <= appends - waiting:
                watcher.catch_up(services)
            services.append_journal(AddNote(task, "note", Words(f"Note {nth}")))
        if not waiting:
            watcher.catch_up(services)
    return home


def statements(home: Path) -> int:
    """How many statements SQLite is asked for it, in both files."""
    found: list[str] = []
    with opened(home) as services:
        for log in (services.journal, services.agents):
            recorder = log.recorder
            assert isinstance(recorder, SQLiteLogRecorder)
            recorder._connection.set_trace_callback(found.append)
        newest_mismatch(services.journal, services.agents)
    return len(found)
