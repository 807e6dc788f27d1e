"""A proof that goes on from a remembered one says what a proof from the beginning says (ADR 60)."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from adapters.proof import histories
from adapters.proof.histories import History
from adapters.proof.incremental import RawLog, walk_on
from adapters.proof.prove import Proved, prove_logs
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.recorder import TimedRow
from adapters.store.sqlite import SQLiteLogRecorder
from domain.append.envelope import Row
from domain.log.wire import Payload
from replay.appends import Append, appends
from tests.support.rows import altered, rechained

KEPT = Path(__file__).parents[1] / "histories"
SCENES = (
"already_so", "applied_too_late", "crashes", "each_verdict", "follow_ups",
    "hearsay", "in_doubt", "label_rules", "lessons", "links", "looked_up", "modes_and_reasons",
    "proposed_again", "second_wakes", "sessions", "taken_back", "template_versions",
    "two_replicas", "undone", "watchers", "wrong_calls",
)  # fmt: skip
"""Lives in which something stays open from one append to a much later one."""

POINTS = 3  # of one history, at which a proof is remembered
EDITS = (('"at":"2', '"at":"3'), ('"status":"applied"', '"status":"noop"'), ("minutes", "seconds"))


ROW, PAYLOAD = "UPDATE stored_events SET {} WHERE rowid = ?", "payloads WHERE rowid = 1 + ? % 9"
LAST = "substr(state, 1, length(state) - 4) || 'x' || substr(state, -3)"
FORGED = (
    ROW.format("state = CAST(replace(CAST(state AS TEXT), '2027', '2028') || ' ' AS BLOB)"),
    ROW.format(f"state = CAST({LAST} AS BLOB)"),
    ROW.format("topic = 'task.renamed.1'"),
    ROW.format("originator_version = originator_version + 1000"),
    ROW.format("originator_id = replace(originator_id, '@r1', '@r9')"),
    "DELETE FROM stored_events WHERE rowid >= ?",
    ROW.format("rowid = -rowid"),
    f"DELETE FROM {PAYLOAD}",
    "UPDATE payloads SET bytes = CAST(bytes || 'x' AS BLOB) WHERE rowid = 1 + ? % 9",
)


class Counting(MemoryLogRecorder):
    """Counts the rows that are read of it: on the way, and `again`."""

    def __init__(self) -> None:
        super().__init__()
        self.walked = self.again = 0

    def rows(self, after: int) -> Iterator[Row]:
        for row in super().rows(after):
            self.walked += 1
            yield row

    def stream(self, stream: str, after: int, but: Sequence[str] = ()) -> Sequence[TimedRow]:
        found = super().stream(stream, after, but)
        self.again += len(found)
        return found

    def append_at(self, n: int) -> Sequence[Row]:
        found = super().append_at(n)
        self.again += len(found)
        return found


def logs(
    history: History,
    rows: dict[str, list[Row]],
    make: Callable[[], MemoryLogRecorder] = MemoryLogRecorder,
) -> tuple[Log, Log]:
    """Both logs in memory, with so many rows."""
    made = []
    for name in ("journal", "agent"):
        recorder = make()
        payloads = [Payload(*one) for one in history.payloads.items()]
        replica = rows[name][0].stream.rpartition("@")[2] if rows[name] else "r1"
        with recorder.deciding():
            recorder.insert(rows[name], payloads)
        made.append(Log(name, recorder, replica))
    return made[0], made[1]


def cut(history: History, nth: int, of: int) -> dict[str, list[Row]]:
    """The home as it was when so much of its agent log was written."""
    agents = list(appends(history.rows["agent"]))
    agents = agents[: len(agents) * nth // of]
    journal = list(appends(history.rows["journal"]))
    at = max((one.first.at for one in agents), default="")
    ahead = [one.n for one in journal if one.first.at > at][: nth % 3]  # not looked at yet
    last = max([one.n for one in journal if one.first.at <= at] + ahead, default=0)
    return {
        "journal": _rows([one for one in journal if one.n <= last]),
        "agent": _rows(agents),
    }


def _rows(found: Sequence[Append]) -> list[Row]:
    return [row for one in found for row in one.rows]


def went_on(history: History, before: dict[str, list[Row]], now: dict[str, list[Row]]) -> Proved:
    """What a proof finds that goes on from where the home stood before; what it does not see."""
    old = prove_logs(*logs(history, before))
    assert old.ok
    return walked_on(old, logs(history, before), logs(history, now))


def walked_on(old: Proved, before: Sequence[Log], now: Sequence[Log]) -> Proved:
    """What is found in these logs, of which all that stood there before was proved."""
    then = [RawLog(log, {}).proved() for log in before]
    begin = old.end.ends, {name: end.n for name, end in then[1].ends.items()}
    raws = tuple(
        RawLog(log, {}, start, known.ends)
        for log, start, known in zip(now, begin, then, strict=True)
    )
    assert all(raw.is_as(known) for raw, known in zip(raws, then, strict=True))
    return walk_on(old.end, raws, {})


def told(proved: Proved) -> set[tuple[str, str, str, str]]:
    return {(one.position, one.kind_of, one.path, one.actual) for one in proved.divergences}


def history_of(scene: str) -> History:
    return histories.read_history(KEPT / f"{scene}.jsonl")


@pytest.mark.parametrize("scene", SCENES)
def test_what_was_proved_and_what_is_new_come_to_the_same_digest(scene: str) -> None:
    history = history_of(scene)
    whole = prove_logs(*logs(history, history.rows))
    assert whole.ok
    for nth in range(POINTS + 1):
        proved = went_on(history, cut(history, nth, POINTS), history.rows)
        assert told(proved) == set()
        assert (proved.digest, proved.heads, proved.end) == (whole.digest, whole.heads, whole.end)


@pytest.mark.parametrize("scene", SCENES[::3])
def test_a_forged_new_part_is_found_as_a_proof_from_the_beginning_finds_it(scene: str) -> None:
    history = history_of(scene)
    before = cut(history, 2, 4)
    planted = 0
    for log in ("journal", "agent"):
        if any("@r2" in row.stream for row in history.rows[log]):
            continue
        rows = history.rows[log]
        for nth in range(len(before[log]), len(rows), 7):
            edit = next((one for one in EDITS if one[0].encode() in rows[nth].state), None)
            if edit is None:
                continue
            planted += 1
            forged = rechained(rows, nth, partial(altered, before=edit[0], after=edit[1]))
            now = {**history.rows, log: forged}
            whole, after = prove_logs(*logs(history, now)), went_on(history, before, now)
            assert whole.ok == after.ok, (log, nth, edit)
            assert {one[:3] for one in told(after)} == {one[:3] for one in told(whole)}
            assert after.digest == whole.digest
    assert planted or "two" in scene


def test_what_an_append_says_it_rests_on_is_compared_with_what_was_proved_before() -> None:
    history = history_of("in_doubt")
    rows, names = history.rows["agent"], ('journalDigest":"', 'journalDigest":"x')
    nth = max(n for n, row in enumerate(rows) if names[0].encode() in row.state)
    forged = rechained(rows, nth, lambda row: altered(row, *names))
    before, now = ({**history.rows, "agent": agents} for agents in (rows[:nth], forged))
    found = told(went_on(history, before, now))
    assert found == told(prove_logs(*logs(history, now)))
    assert "data.command.journalDigest" in {path for _, _, path, _ in found}


READ_AGAIN_MAX = 4  # rows of the log itself, of which there are two: what was given up, or erased


@pytest.mark.parametrize("scene", ["undone", "looked_up", "sessions"])
def test_since_a_position_each_row_is_read_once_and_no_world_of_before_is_made(scene: str) -> None:
    history = history_of(scene)
    count = sum(map(len, history.rows.values()))
    again = []
    for of in (1, 2, None):  # from the end, from the middle, and all
        made: list[Counting] = []

        def counting(kept: list[Counting] = made) -> Counting:
            kept.append(Counting())
            return kept[-1]

        ends = {name: next(reversed(list(appends(rows)))).n for name, rows in history.rows.items()}
        since = {name: n // of for name, n in ends.items()} if of else None
        proved = prove_logs(*logs(history, history.rows, counting), since=since)
        assert proved.ok
        assert proved.rows == sum(one.walked for one in made) == count
        again.append(sum(one.again for one in made))
    assert again[0] <= READ_AGAIN_MAX < again[2]
    assert again == sorted(again)


def test_each_changed_byte_of_what_was_proved_is_seen_without_executing(tmp_path: Path) -> None:
    history = history_of("each_verdict")
    for name, rows in history.rows.items():
        file, forged = tmp_path / f"{name}.db", tmp_path / "forged.db"
        recorder = SQLiteLogRecorder(file)
        with recorder.deciding():
            recorder.insert(rows, [Payload(*one) for one in history.payloads.items()])
        log = Log(name, recorder, "r1")
        then = RawLog(log, {}).proved()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        edits = ("SELECT 1 WHERE ? IS NULL", *FORGED)
        for edit, nth in product(edits, range(2, len(rows), len(rows) // 2)):
            forged.unlink(missing_ok=True)
            shutil.copy(file, forged)
            with closing(sqlite3.connect(forged)) as connection, connection:
                connection.execute(edit, (nth,))
            known = Log.read_only(name, forged, "r1")
            raw = RawLog(known, {}, known=then.ends)
            assert raw.is_as(then) == edit.startswith("SELECT"), edit
            known.close()
