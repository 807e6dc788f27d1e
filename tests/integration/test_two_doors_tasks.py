"""One way to do each deed: page and command line, given the same key, write the same rows.

The table holds every deed on tasks and proposals that both doors have.
"""

import re
import shlex
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from adapters.home.files import AGENT, JOURNAL
from adapters.runtime import watcher
from adapters.wiring import open_home
from tests.support.cli import FIXED, done, proved, run, told
from tests.support.forms import Form, forms
from tests.support.homes import Homes
from tests.support.pages import Visitor, decided_by, refs, visiting
from tests.support.waking import proposing

pytestmark = pytest.mark.slow  # each of them is quick, all together take seven seconds

NONCE = "two-doors"
KEY = f"web-{NONCE}"
BY_CLOCK = re.compile(r'2027-01-01T09:0\d:\d\d\.\d{6}Z|(?<="prev":")\w+|(?<="journalDigest":")\w+')
SINK = "Fix the sink"
WALL = "Paint the wall"


class Deed(NamedTuple):
    """What is typed, and the form that says the same.

    `typed` and `sent` name ids in braces; `form` is where the form goes below the task's address,
    `holding` what tells it from others of the page; `first` are commands that go before, on both.
    """

    typed: Sequence[str]
    form: str
    sent: Mapping[str, str]
    holding: Mapping[str, str]
    first: Sequence[str]


class Verdict(NamedTuple):
    """The same of a proposal: `typed` goes before its reference, `more` after it."""

    typed: str
    sent: Mapping[str, str]
    more: Sequence[str] = ()
    field: str = ""
    first: Sequence[str] = ()


def deed(
    typed: str,
    form: str,
    holding: Mapping[str, str] = MappingProxyType({}),
    first: Sequence[str] = (),
    **sent: str,
) -> Deed:
    return Deed(shlex.split(typed), form, sent, holding, first)


def field(**sent: str) -> Deed:
    """A field of the task, by its option and by the form of all fields."""
    typed = [part for name, value in sent.items() for part in (f"--{name}", value)]
    return Deed(["task", "set", "{task}", *typed], "edit", sent, {}, ())


def verb(name: str) -> dict[str, str]:
    return {"verb": name}


ITEM, LABEL, WHOLE = {"item": "{item}"}, {"label": "{urgent}"}, {"entry": ""}
DELETED = [f"task delete '{SINK}'"]
RUNS = [f"task timer start '{SINK}'"]
LINKED = [f"task link '{SINK}' blocks '{WALL}'"]
SPENT = ("2026-12-31T09:00", "2026-12-31T10:30")
SPAN = f"--start {SPENT[0]} --end {SPENT[1]}"
TIMED = [f"task time '{SINK}' {SPAN}"]
PUT_AWAY = [f"task item archive '{SINK}' 1"]
TICKED = [f"task check '{SINK}' 1"]
HEARD = [
    f"task note '{SINK}' --remove 1",
    f"task note '{SINK}' 'Bob nose' --kind transcript",
]
BOB = "task note {task} 'Bob knows' --edit 1"
REST = "task conclude {task} --follow-up 'The rest'"
DEEDS = {
    "status and reason": field(status="BLOCKED", reason="No parts"),
    "due tomorrow": field(due="tomorrow"),
    "category": field(category="{work}"),
    "several fields": field(
        title="Mend the sink", priority="P1", due="none", estimate="1h30m", language="de"
    ),
    "describe": deed(
        "task set {task} --description 'New\n\nTwo lines'", "describe", text="New\r\n\r\nTwo lines"
    ),
    "check": deed("task check {task} 1", "item", ITEM, verb="check"),
    "uncheck": deed("task uncheck {task} 1", "item", ITEM, TICKED, verb="uncheck"),
    "archive an item": deed("task item archive {task} 1", "item", ITEM, verb="archive"),
    "restore an item": deed("task item restore {task} 1", "item", ITEM, PUT_AWAY, verb="restore"),
    "rename an item": deed(
        "task item rename {task} 1 'Buy two seals'",
        "item",
        ITEM | verb("rename"),
        verb="rename",
        title="Buy two seals",
    ),
    "add an item": deed("task item add {task} 'Look below'", "add-item", title="Look below"),
    "note": deed("task note {task} 'Ann knows'", "note", verb("add"), verb="add", text="Ann knows"),
    "edit a note": deed(BOB, "note", verb("edit"), verb="edit", text="Bob knows"),
    "edit a transcript": deed(BOB, "note", verb("edit"), HEARD, verb="edit", text="Bob knows"),
    "remove a note": deed(
        "task note {task} --remove {note}", "note", verb("remove"), verb="remove", sure="yes"
    ),
    "assign a label": deed(
        "label assign {task} {later}", "label", verb("assign"), verb="assign", label="{later}"
    ),
    "remove a label": deed("label remove {task} {urgent}", "label", LABEL, verb="remove"),
    "link": deed("task link {task} blocked-by {wall}", "link", phrase="is_blocked_by", target=WALL),
    "unlink": deed(
        "task unlink {task} blocks {wall}", "link", verb("remove"), LINKED, verb="remove"
    ),
    "start the timer": deed("task timer start {task}", "timer", verb="start"),
    "stop the timer": deed(
        "task timer stop --summary Looked", "timer", first=RUNS, verb="stop", summary="Looked"
    ),
    "enter time": deed(
        f"task time {{task}} {SPAN} --summary Looked",
        "time",
        began=SPENT[0],
        ended=SPENT[1],
        summary="Looked",
    ),
    "correct a time": deed(
        "task retime {task} 1 --end 2026-12-31T11:00",
        "retime",
        first=TIMED,
        ended="2026-12-31T11:00",
    ),
    "rate": deed(
        "task rate {task} 4 --note 'Went well'", "rate", WHOLE, score="4", comment="Went well"
    ),
    "rate an entry": deed("task rate {task} 2 --entry 1", "rate", first=TIMED, score="2"),
    "conclude": deed(REST, "conclude", title="The rest"),
    "conclude, the items stay": deed(
        f"{REST} --keep-items", "conclude", title="The rest", keep="yes"
    ),
    "delete": deed("task delete {task}", "delete", verb="delete", sure="yes"),
    "restore": deed("task restore {task}", "delete", first=DELETED, verb="restore"),
}
STALE = [f"task set '{SINK}' --estimate 25"]
VERDICTS = {
    "confirm": Verdict("confirm", {"verdict": "confirm"}),
    "edit and confirm": Verdict(
        "confirm",
        {"verdict": "confirm", "edit.minutes": "45"},
        ["--edit", '{"minutes": 45}'],
        "edit.minutes",
    ),
    "confirm what is stale": Verdict("confirm", {"verdict": "confirm"}, first=STALE),
    "confirm, and it is done": Verdict("confirm", {"verdict": "conclude"}, ["--conclude"]),
    "confirm anyway": Verdict("confirm", {"verdict": "anyway"}, ["--anyway"], first=STALE),
    "reject": Verdict(
        "reject", {"verdict": "reject", "reason": "Not so"}, ["--reason", "Not so"], "reason"
    ),
    "defer": Verdict("defer", {"verdict": "defer"}),
}


def written(home: Path) -> None:
    proposing(home)
    for line in (
        f"task add '{WALL}'",
        f"task item add '{SINK}' 'Buy a seal'",
        f"task set '{SINK}' --description Old",
        "category add Work",
        "label add urgent",
        "label add later",
        f"label assign '{SINK}' urgent",
    ):
        done(shlex.split(line), home)


@pytest.fixture
def homes_of(tmp_path: Path, homes: Homes) -> tuple[Path, Path]:
    """Two homes alike: one for each door."""
    return homes.copy(written, tmp_path / "typed"), tmp_path / "sent"


def prepared(pair: tuple[Path, Path], first: Sequence[str]) -> None:
    """Do what goes before, then copy."""
    for line in first:
        done(shlex.split(line), pair[0])
    shutil.copytree(*pair)


@pytest.fixture(scope="module")
def ids(homes: Homes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The ids that the deeds name: those of every copy."""
    home = homes.copy(written, tmp_path_factory.mktemp("named"))
    page = told(["task", "show", SINK], home)
    labels = {one["name"]: one["id"] for one in told(["label", "list"], home)}
    named = {one["name"]: one["id"] for one in told(["category", "list"], home)}
    return {
        "task": page["id"],
        "item": page["items"][0]["id"],
        "note": page["notes"][0]["id"],
        "wall": told(["task", "show", WALL], home)["id"],
        "work": named["Work"],
        **labels,
    }


def rows(home: Path) -> list[Any]:
    """All rows of both logs and their payloads, but for the times that the clock told, and the
    digests of whole appends, which follow from them: one door reads it more often."""
    found: list[Any] = []
    for name in (JOURNAL, AGENT):
        with closing(sqlite3.connect(home / name)) as log:
            for *place, state in log.execute("SELECT * FROM stored_events ORDER BY 1, 2"):
                found.append((name, *place, BY_CLOCK.sub("now", state.decode())))
            found += log.execute("SELECT * FROM payloads ORDER BY 1").fetchall()
    return found


def noticed(home: Path) -> None:
    """Tell the agents what changed, as the page does before and after each deed on the journal;
    after a command it waits until the next wake."""
    opened = open_home(home, FIXED, is_writing=True)
    watcher.catch_up(opened.services)
    opened.close()


def typed(home: Path, line: Sequence[str], status: int = 0) -> None:
    """Give a command twice under one key: it does one thing."""
    noticed(home)
    for _ in range(2):
        ended = run([*line, "--key", KEY], home)
        assert ended.exit_code == status, ended.output
    noticed(home)


def same(pair: tuple[Path, Path], before: int) -> None:
    ours, theirs = (rows(one) for one in pair)
    assert [one for one in ours if one not in theirs] == []
    assert ours == theirs
    assert len(ours) > before
    assert proved(pair[1])


def send(visitor: Visitor, form: Form, sent: Mapping[str, str], status: int = 200) -> None:
    """Send a form twice, as a browser may: it does one thing."""
    data = {name.replace(".", "__"): value for name, value in sent.items()}
    for _ in range(2):
        assert visitor.send(form, None, nonce=NONCE, **data).status_code == status


@pytest.mark.parametrize("deed", DEEDS.values(), ids=list(DEEDS))
def test_a_deed_on_a_task_is_the_same_through_both_doors(
    homes_of: tuple[Path, Path], ids: dict[str, str], deed: Deed
) -> None:
    prepared(homes_of, deed.first)
    before = len(rows(homes_of[0]))
    typed(homes_of[0], [part.format(**ids) for part in deed.typed])
    url = f"/tasks/{ids['task']}"
    with visiting(homes_of[1]) as visitor:
        holding = {name: value.format(**ids) for name, value in deed.holding.items()}
        form = visitor.form(url, f"{url}/{deed.form}", **holding)
        send(visitor, form, {name: value.format(**ids) for name, value in deed.sent.items()})
    same(homes_of, before)


def test_a_task_is_added_alike_through_both_doors(
    homes_of: tuple[Path, Path], ids: dict[str, str]
) -> None:
    prepared(homes_of, [])
    before = len(rows(homes_of[0]))
    typed(homes_of[0], ["task", "add", "Wash up", "--category", ids["work"]])
    with visiting(homes_of[1]) as visitor:
        form = visitor.form("/tasks", "/tasks")
        send(visitor, form, {"title": "Wash up", "category": ids["work"]})
    same(homes_of, before)


@pytest.mark.parametrize("verdict", VERDICTS.values(), ids=list(VERDICTS))
def test_a_verdict_is_the_same_through_both_doors(
    homes_of: tuple[Path, Path], verdict: Verdict
) -> None:
    prepared(homes_of, verdict.first)
    before = len(rows(homes_of[0]))
    ref = refs(homes_of[0])["update_task_estimate"]
    is_stale = verdict.typed == "confirm" and verdict.first and not verdict.more
    typed(homes_of[0], [verdict.typed, ref, *verdict.more], 1 if is_stale else 0)
    with visiting(homes_of[1]) as visitor:
        form = decided_by(visitor, ref, verdict.field)
        send(visitor, form, verdict.sent, 409 if is_stale else 200)
    same(homes_of, before)


def test_all_of_a_set_are_confirmed_alike_through_both_doors(homes_of: tuple[Path, Path]) -> None:
    prepared(homes_of, [])
    before = len(rows(homes_of[0]))
    typed(homes_of[0], ["confirm", "1", "--all"])
    with visiting(homes_of[1]) as visitor:
        form = visitor.form("/inbox", "/inbox/decide-several")
        send(visitor, form, {"all": dict(form.buttons)["all"]})
    same(homes_of, before)


UNDONE = [
    ("confirm", "update_task_estimate"),
    ("confirm", "assign_task_label"),
    ("reject", "assign_task_label"),
    ("defer", "update_task_estimate"),
]


@pytest.mark.parametrize(("verb", "tool"), UNDONE, ids=["-".join(one) for one in UNDONE])
def test_to_undo_a_verdict_is_the_same_through_both_doors(
    homes_of: tuple[Path, Path], verb: str, tool: str
) -> None:
    prepared(homes_of, [f"label remove '{SINK}' urgent", "wake"])
    before = len(rows(homes_of[0]))
    ref = refs(homes_of[0])[tool]
    noticed(homes_of[0])
    done([verb, ref, "--key", f"{KEY}-first"], homes_of[0])
    typed(homes_of[0], ["undo"])
    with visiting(homes_of[1]) as visitor:
        form = decided_by(visitor, ref)
        answer = visitor.send(form, None, verdict=verb, nonce=f"{NONCE}-first")
        undo = next(one for one in forms(answer.text) if one.action == "/undo")
        for _ in range(2):
            assert visitor.send(undo, None, nonce=NONCE).status_code == 200
    same(homes_of, before)
