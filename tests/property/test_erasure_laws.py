"""The laws of erasing (ADR 107) over homes that were lived in: no word is left, marks are what is
listed, the rest proves, and nothing a forger changes goes unnoticed."""

import json
import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from adapters.demo.generator import make_demo_home
from adapters.documents.agent_output import shown
from adapters.home.home_location import FolderLocation
from adapters.proof.prove import prove_home
from adapters.upkeep.erase import erase, plan_erasure
from adapters.upkeep.retain import retain
from adapters.wiring import Home, open_home
from projections.agents import VIEW as AGENTS
from projections.tasks import VIEW as TASKS
from projections.wakes import VIEW as WAKES
from tests.support.checker import findings
from tests.support.checking.erasing import MARK
from tests.support.checking.logs import key

pytestmark = pytest.mark.slow

SEEDS = ("wakelog", "q", "öl")
CHANGES = 60 if settings().max_examples >= 1_000 else 20
ENVIRON = {"WAKELOG_REPLICA": "demo", "WAKELOG_TIMEZONE": "UTC", "HOME": "/nonexistent"}
WORD = re.compile(r"[^\W\d_]{3,}(?: [^\W\d_]+)+|[A-ZÄÖÜ][^\W\d_]{4,}")


@pytest.fixture(scope="module", params=SEEDS)
def lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of four tasks with agents, and a month."""
    home = tmp_path_factory.mktemp("lived") / "home"
    home.mkdir()
    make_demo_home(home, seed=request.param, agents_count=4, months=1)
    return home


def copied(lived: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lived, tmp_path / "home"))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield re.sub(r"[a-z2-7]{32}", "", value)
        if value.startswith("{"):
            yield from strings(json.loads(value))
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def words(home: Path, task: str) -> set[bytes]:
    """What is said in a task and by its agents and nowhere else, read by SQL and JSON alone."""
    own, others = set[str](), list[bytes]()
    for name in ("journal", "agent"):
        with closing(sqlite3.connect(home / f"{name}.db")) as log:
            rows = log.execute("SELECT originator_id, state FROM stored_events").fetchall()
            payloads = log.execute("SELECT id, bytes FROM payloads")
            others += [data for kept, data in payloads if key("payload", task, data) != kept]
        of = {f"task:{task}"}
        agents = [one.split("@")[0] for one, state in rows if f'"task":"{task}"'.encode() in state]
        of.update(one for one in agents if one.startswith(("agent:", "wake:", "changes:")))
        for stream, state in rows:
            if stream.split("@")[0] in of:
                own.update(strings(json.loads(state)["data"]))
            elif not stream.startswith("receipt:"):
                others.append(state)
    every = b"\n".join(others)
    said = {one for text in own for one in WORD.findall(text)}
    return {one.encode() for one in said if one.encode() not in every}


def opened(home: Path) -> Any:
    return open_home(FolderLocation(home), ENVIRON, is_writing=True)


@pytest.mark.parametrize("nth", range(2))
def test_no_word_is_left_the_rest_proves_and_other_tasks_are_as_they_were(
    lived: Path, tmp_path: Path, nth: int
) -> None:
    path = copied(lived, tmp_path)
    with opened(path) as home:
        home.views.catch_up()
        task = home.views.page(TASKS)[nth].id
        said = words(path, task)
        assert len(said) >= 3
        linked = {one.id for one in home.views.page(TASKS) if task in repr(one.task.links)}
        before = {
            one.id: repr(one) for one in home.views.page(TASKS) if one.id not in {task, *linked}
        }
        plan = plan_erasure(home, "task", task)
        did = erase(home, "task", task)
        assert did.left == ()
        assert did.rows >= len(plan.journal.erasing.rows) + len(plan.agents.erasing.rows)
        home.views.catch_up()
        assert {one.id: repr(one) for one in home.views.page(TASKS) if one.id in before} == before
        assert task not in {one.task_id for one in home.views.page(AGENTS)}
        proved = prove_home(home)
        assert (proved.ok, proved.divergences) == (True, ())
        assert proved.erased is not None
        assert proved.erased.rows == did.rows
    assert findings(path) == []
    files = [one.read_bytes() for one in path.rglob("*") if one.is_file()]
    assert {one for one in said for data in files if one in data} == set()


def noted(home: Path) -> dict[tuple[str, str], set[bytes]]:
    """By task and note, the words that stand nowhere but in it and with the task's agents."""
    with closing(sqlite3.connect(home / "journal.db")) as log:
        sql = "SELECT originator_id, state FROM stored_events ORDER BY rowid"
        rows = log.execute(sql).fetchall()
        journal = [(one.split("@")[0], json.loads(state)["data"]) for one, state in rows]
        kept = dict(log.execute("SELECT id, bytes FROM payloads").fetchall())
    with closing(sqlite3.connect(home / "agent.db")) as log:
        rows = log.execute("SELECT originator_id, state FROM stored_events").fetchall()
        agents = [(one.split("@")[0], state) for one, state in rows]
        shown = log.execute("SELECT id, bytes FROM payloads").fetchall()

    def said(data: dict[str, Any]) -> str:
        text = json.dumps(data, ensure_ascii=False)
        return text + "".join(kept[one].decode() for one in kept if one in text)

    texts = [(of, data.get("note", ""), said(data)) for of, data in journal]
    found: dict[tuple[str, str], set[bytes]] = {}
    for of, note, text in texts:
        if of.startswith("task:") and note:
            own = {one.encode() for one in WORD.findall(re.sub(r"[a-z2-7]{32}", "", text))}
            found.setdefault((of.removeprefix("task:"), note), set()).update(own)
    for (task, note), words_of in found.items():
        its = {one for one, state in agents if f'"task":"{task}"'.encode() in state}
        rest = [text.encode() for of, nth, text in texts if nth != note and of[:8] != "receipt:"]
        rest += [data for one, data in shown if key("payload", task, data) != one]
        rest += [state for one, state in agents if one not in its and not one.startswith("wake:")]
        every = b"\n".join(rest)
        words_of.difference_update([one for one in words_of if one in every])
    return {one: some for one, some in found.items() if some}


@pytest.mark.parametrize("nth", range(2))
def test_of_a_note_no_word_is_left_and_of_the_others_all(
    lived: Path, tmp_path: Path, nth: int
) -> None:
    path = copied(lived, tmp_path)
    every = noted(path)
    (task, note), said = sorted(every.items())[nth * 5 % len(every)]
    with opened(path) as home:
        home.views.catch_up()
        before = {one.id: repr(one) for one in home.views.page(TASKS) if one.id != task}
        assert erase(home, "note", f"{task}/{note}").left == ()
        home.views.catch_up()
        assert {one.id: repr(one) for one in home.views.page(TASKS) if one.id != task} == before
        assert task not in {one.task_id for one in home.views.page(AGENTS)}
        assert prove_home(home).ok
    assert findings(path) == []
    files = [one.read_bytes() for one in path.rglob("*") if one.is_file()]
    assert {one for one in said for data in files if one in data} == set()
    others = {one for of, some in every.items() if of != (task, note) for one in some}
    assert others <= {one for one in others for data in files if one in data} | said


def test_of_a_category_nothing_is_left_and_the_rest_is_as_it_was(
    lived: Path, tmp_path: Path
) -> None:
    path = copied(lived, tmp_path)
    with opened(path) as home:
        home.views.catch_up()
        category = home.views.page(TASKS)[0].category
        gone = [one.id for one in home.views.page(TASKS) if one.category == category]
        said = [words(path, one) for one in gone]
        before = {one.id for one in home.views.page(TASKS)} - {*gone}
        assert erase(home, "category", category).left == ()
        home.views.catch_up()
        assert {one.id for one in home.views.page(TASKS)} == before
        proved = prove_home(home)
        assert (proved.ok, proved.divergences) == (True, ())
    assert findings(path) == []
    files = [one.read_bytes() for one in path.rglob("*") if one.is_file()]
    assert {one for some in said for one in some for data in files if one in data} == set()


def test_two_tasks_in_any_order_leave_the_same_marks(lived: Path, tmp_path: Path) -> None:
    made = []
    for order in (1, -1):
        path = Path(shutil.copytree(lived, tmp_path / f"home{order}"))
        with opened(path) as home:
            home.views.catch_up()
            end = home.services.agents.tail().n
            tasks = [one.id for one in home.views.page(TASKS)][:2]
            for task in tasks[::order]:
                erase(home, "task", task)
            assert prove_home(home).ok
        with closing(sqlite3.connect(path / "agent.db")) as log:
            sql = f"SELECT originator_id, originator_version, state FROM stored_events \
                WHERE topic = '{MARK}' AND originator_id NOT LIKE 'receipt:%' ORDER BY 1, 2"
            rows = log.execute(sql).fetchall()
            made.append([row for row in rows if json.loads(row[2])["n"] <= end])
        assert findings(path) == []
    assert made[0] == made[1]


def test_what_renders_again_is_dropped_and_all_is_shown_and_proved_as_before(
    lived: Path, tmp_path: Path
) -> None:
    path = copied(lived, tmp_path)
    now = {**ENVIRON, "WAKELOG_NOW": "2026-02-12T09:00:00Z"}
    with open_home(FolderLocation(path), now, is_writing=True) as home:
        home.views.catch_up()
        before, was = shown_in(home), prove_home(home)
        did = retain(home, 9, 9)
        assert did.prompts > 0
        assert (after := shown_in(home)) == before, "byte for byte"
        assert len(after) > 5
        proved = prove_home(home)
        assert (proved.ok, proved.dropped_replies) == (True, did.replies)
        assert (proved.wakes, proved.prompts) == (was.wakes, was.prompts)
        task = home.views.page(TASKS)[0].id
        erase(home, "task", task)
        assert prove_home(home).ok
        assert retain(home, 9, 9).prompts == 0
    assert findings(path) == []


def shown_in(home: Home) -> dict[str, list[str]]:
    """What the model was shown, by wake."""
    found = {one.key: shown(home, one) for one in home.views.page(WAKES)}
    return {
        name: [part.text for part in (*one.system, *one.user)] for name, one in found.items() if one
    }


def test_nothing_that_a_forger_changes_goes_unnoticed(lived: Path, tmp_path: Path) -> None:
    """A row, a mark, a text or a list: each changed alone, proved, and put back."""
    path = copied(lived, tmp_path)
    with opened(path) as home:
        home.views.catch_up()
        erase(home, "task", home.views.page(TASKS)[0].id)
    dice, unnoticed = random.Random(path.name), []
    for nth in range(CHANGES):
        name = dice.choice(("journal", "agent"))
        told = forged(path / f"{name}.db", dice, nth)
        with open_home(FolderLocation(path), ENVIRON) as home:
            if prove_home(home).ok:
                unnoticed.append(told)
        put_back(path / f"{name}.db")
    assert unnoticed == []
    with open_home(FolderLocation(path), ENVIRON) as home:
        assert prove_home(home).ok


def forged(path: Path, dice: random.Random, nth: int) -> str:
    """Change one thing in a log; what it was is kept beside it."""
    shutil.copy(path, path.with_suffix(".kept"))
    with closing(sqlite3.connect(path)) as log, log:
        marks = nth % 3 == 0
        rows = log.execute(
            f"SELECT rowid, topic, state FROM stored_events WHERE topic {'=' if marks else '<>'} ?",
            (MARK,),
        ).fetchall()
        if nth % 3 == 2:
            name, data = dice.choice(log.execute("SELECT id, bytes FROM payloads").fetchall())
            if dice.random() < 0.5:
                log.execute("DELETE FROM payloads WHERE id = ?", (name,))
                return f"{path.name}: payload {name} gone"
            changed = data[:-1] + bytes([data[-1] ^ 1])
            log.execute("UPDATE payloads SET bytes = ? WHERE id = ?", (changed, name))
            return f"{path.name}: payload {name} altered"
        rowid, topic, state = dice.choice(rows)
        at = dice.randrange(len(state) - 1)
        letter = state[at : at + 1]
        other = b"1" if letter != b"1" else b"2"
        log.execute(
            "UPDATE stored_events SET state = ? WHERE rowid = ?",
            (state[:at] + other + state[at + 1 :], rowid),
        )
        return f"{path.name}: row {rowid} ({topic}), byte {at} of {state!r}"


def put_back(path: Path) -> None:
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.with_suffix(".kept").replace(path)
