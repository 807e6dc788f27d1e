"""Whatever is edited in a stored log, prove names that row or the first one it breaks.

Each edit is drawn by dice of its own from the rows of real histories: a value, a key, a tag, the
order, a deletion, a doubled row, a payload, a cut tail.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adapters.proof import histories
from adapters.proof.histories import History
from adapters.proof.prove import Proved, prove_sides
from adapters.simulation.plan import Dice
from domain.append.envelope import Row
from replay.appends import appends
from replay.divergence import Divergence
from replay.log_pair import PairedLog
from replay.prove import LogProof, ProofOptions

FOLDER = Path(__file__).parents[1] / "histories"
NAMES = ("verdicts", "imports", "crashes", "sessions", "links", "provider_faults")
EDITS = ("value", "number", "key", "tag", "topic", "order", "delete", "double", "payload", "tail",
         "stream", "prev", "time", "append")  # fmt: skip
FAST, SLOW = 3, 25  # edits of each sort


class Edited(NamedTuple):
    """A history with one edit: what was done, where, and the rows that may be named."""

    history: History
    told: str
    log: str
    n: int


@cache
def _history(name: str) -> History:
    return histories.read_history(FOLDER / f"{name}.jsonl")


def edited(sort: str, nth: int) -> Edited:
    """One edit of a sort; the same one every time."""
    dice = Dice(f"{sort}/{nth}")
    history = _history(dice.pick(NAMES))
    log = dice.pick(["journal", "agent"])
    rows = list(history.rows[log])
    payloads = dict(history.payloads)
    at = 1 + dice.number(len(rows) - 2)
    n = _n(rows[at])
    match sort:
        case "payload":
            name = dice.pick(sorted(payloads))
            payloads[name] += b" "
            where = _named_at(history, name)
            return Edited(History(history.rows, payloads, history.digest), f"payload {nth}", *where)
        case "tail":
            n = _n(rows[-1]) - 1 - dice.number(2)
            rows = [row for row in rows if _n(row) <= n]
        case "append":
            rows = [row for row in rows if _n(row) != n]
        case "delete":
            del rows[at]
        case "double":
            rows.insert(at, rows[at])
        case "order":
            at = _with_neighbour(rows, dice)
            n = _n(rows[at])
            rows[at], rows[at + 1] = rows[at + 1], rows[at]
        case _:
            at, rows[at] = _within(sort, rows, at, dice)
            n = _n(history.rows[log][at])
    made = History({**history.rows, log: rows}, payloads, history.digest)
    return Edited(made, f"{sort} {nth} at {log}:{n}", log, n)


def _n(row: Row) -> int:
    return int(json.loads(row.state)["n"])


def _with_neighbour(rows: Sequence[Row], dice: Dice) -> int:
    found = [at for at in range(len(rows) - 1) if _n(rows[at]) == _n(rows[at + 1])]
    return dice.pick(found)


def _within(sort: str, rows: list[Row], first: int, dice: Dice) -> tuple[int, Row]:
    """A row from `first` on in which such an edit can be made, and the row with it."""
    for step in range(len(rows)):
        at = (first + step) % len(rows)
        changed = _changed(sort, rows[at], dice)
        if changed != rows[at]:
            return at, changed
    raise AssertionError(sort)


def _changed(sort: str, row: Row, dice: Dice) -> Row:
    document = json.loads(row.state)
    match sort:
        case "topic":
            return row._replace(topic=row.topic.replace(".1", ".2"))
        case "stream":
            kind, _, rest = row.stream.partition(":")
            return row._replace(stream=f"{kind}:{_turned(rest[:4])}{rest[4:]}")
        case "tag":
            document["data"]["kind"] = document["data"]["kind"].replace(".1", ".2")
        case "time" if "at" in document:
            document["at"] = document["at"].replace("2027-", "2026-")
        case "prev" if document.get("prev"):
            document["prev"] = _turned(document["prev"])
        case "value" | "number" | "key":
            _edit(document["data"], sort, dice)
        case _:
            return row
    return row._replace(state=_encoded(document))


def _encoded(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _edit(value: dict[str, Any], sort: str, dice: Dice) -> None:
    """Change one leaf, or one key, somewhere in a fact."""
    leaves = [
        (owner, name)
        for owner, name in _leaves(value)
        if name != "kind"
        and {"value": isinstance(owner[name], str) and bool(owner[name]),
             "number": isinstance(owner[name], int) and not isinstance(owner[name], bool),
             "key": isinstance(owner, dict)}[sort]
    ]  # fmt: skip
    if not leaves:
        return
    owner, name = dice.pick(leaves)
    if sort == "value":
        owner[name] = _turned(owner[name])
    elif sort == "number":
        owner[name] += 1
    else:
        owner[f"{name}X"] = owner.pop(name)


def _leaves(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    names = value if isinstance(value, dict) else range(len(value))
    for name in names:
        inner = value[name]
        found += _leaves(inner) if isinstance(inner, dict | list) else [(value, name)]
    return found


def _turned(text: str) -> str:
    """The text with its first letter another one."""
    return ("b" if text[0] == "a" else "a") + text[1:]


def _named_at(history: History, name: str) -> tuple[str, int]:
    for log in ("journal", "agent"):
        for one in appends(history.rows[log]):
            if any(name.encode() in row.state for row in one.rows):
                return log, one.n
    raise AssertionError(name)


def proved(history: History, known: History) -> Proved:
    """Prove with the digests of the whole one as an anchor."""
    anchors: dict[str, dict[int, str]] = {}
    whole = histories.prove_history(known)
    for head, (n, digest) in whole.heads.items():
        anchors[head] = {n: digest}
    sides = [
        PairedLog(
            LogProof(name, history.payloads.get, ProofOptions(anchors=anchors)),
            history.rows[name],
            payload=history.payloads.get,
        )
        for name in ("journal", "agent")
    ]
    return prove_sides(*sides)


def position(one: Divergence) -> tuple[str, int]:
    log, _, n = one.position.split(":")
    return log, int(n)


def check(sort: str, nth: int) -> None:
    one = edited(sort, nth)
    name = Dice(f"{sort}/{nth}").pick(NAMES)
    found = proved(one.history, _history(name)).divergences
    assert found, one.told
    # the append itself, or the next one, whose digest shows that it was altered
    places = [position(known) for known in found]
    near = [(one.log, one.n), (one.log, one.n + 1), (one.log, one.n - 1)]
    assert any(place in near for place in places), (one.told, places)
    in_log = [n for log, n in places if log == one.log]
    assert min(in_log) in (one.n - 1, one.n, one.n + 1), (one.told, places)


@pytest.mark.parametrize("sort", EDITS)
def test_an_edit_is_found_where_it_was_made(sort: str) -> None:
    for nth in range(FAST):
        check(sort, nth)


@pytest.mark.slow
@pytest.mark.parametrize("sort", EDITS)
def test_many_edits_are_found_where_they_were_made(sort: str) -> None:
    for nth in range(FAST, SLOW):
        check(sort, nth)
