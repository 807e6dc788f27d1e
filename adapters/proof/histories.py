"""Histories: both logs up to a wake's end, as one JSON Lines file that proves itself.

The first line says what it is: ``{"history": 1, "rules": ..., "digest": ..., ...}``. Then come the
payloads, ``{"payload": id, "text": ...}`` (or ``"base64"`` where the bytes are no UTF-8), then the
rows of the journal and of the agent log, ``{"log", "stream", "version", "topic", "state"}``. All
that came before the wake is in it, for a wake can rest on any of it; what came after is not.

Whoever plays a scene may keep what leaves no row, too, last in the file. What was refused:
``{"refused": {"log", "n", "at", "code", "command"}}``, which today's code has to refuse as well.
And what a view made of it: ``{"view": {"name", "version", "digest"}}``, which is compared for as
long as the view has that version."""

import json
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.home import files
from adapters.proof.prove import Proved, prove_sides
from adapters.store.log import Log
from domain.append import envelope
from domain.append.causes import FAILURES, Command
from domain.append.envelope import Row
from domain.append.texts import payloads_named
from domain.erasure import listed_of
from domain.errors import Refused, Remedy, WakelogError
from domain.handlers.execute import execute
from domain.log.keys import key, log_digest
from domain.log.rules import RULES
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import PayloadId, tag_of
from projections.all_views import VIEWS
from projections.view import View, fold
from replay.appends import appends
from replay.divergence import ALTERED, CHANGED, VIEW, Divergence
from replay.log_pair import PairedLog, WorldAt
from replay.prove import LogProof, ProofOptions
from replay.references import given_up, journal_position
from replay.streams import LIMITS, WalkLimits

FORMAT = 1
LOGS = ("journal", "agent")


class RefusedCommand(Struct, frozen=True):
    """A command that was refused with `code`, where append `n` of `log` would have been."""

    log: str
    n: int
    at: str
    code: str
    command: Command


class ViewDigest(Struct, frozen=True):
    """What a view of this version makes of a history: a digest of its documents."""

    name: str
    version: int
    digest: str


class History(Struct, frozen=True):
    """Both logs as rows, and their payloads. `digest`: of the whole; `run`: the wake it was made
    for, empty for all of a home; `refused`: what was not done, in order; `views`: of its end."""

    rows: dict[str, list[Row]]
    payloads: dict[PayloadId, bytes]
    digest: str
    run: str = ""
    is_redacted: bool = False
    refused: tuple[RefusedCommand, ...] = ()
    views: tuple[ViewDigest, ...] = ()


# ------------------------------------------------------------------------------------ out of a home


def take_history(journal: Log, agents: Log, run_key: str = "") -> History:
    """The history of a wake: both logs up to its last row; without one, all of both. Raises
    Refused, code ``unknown_wake``; ``erased``: rows of it were, and what says so came later;
    ``dropped``: so was the reply of a model (of all of a home it need not be there)."""
    last = _last_of(agents, run_key) if run_key else None
    made = _up_to(agents, last)
    facts = (row.fact for append in appends(made) for row in append.facts)
    known = max(map(journal_position, facts), default=0) if run_key else None
    rows = {"journal": _up_to(journal, known), "agent": made}
    if run_key and any(row.topic == envelope.ERASED for name in LOGS for row in rows[name]):
        because = "rows of this wake's history were erased"
        raise Refused("erased", because=because, instead="export all of it with --all")
    payloads: dict[PayloadId, bytes] = {}
    for log, facts_of in zip((journal, agents), _facts(rows).values(), strict=True):
        ids = dict.fromkeys(one for row in facts_of for one in payloads_named(row.fact))
        read = log.payload_or_refuse if run_key else log.payload
        payloads |= {one: data for one in ids if (data := read(one)) is not None}
    return History(rows, dict(sorted(payloads.items())), digest_of(rows), run_key)


def digest_of(rows: Mapping[str, Sequence[Row]]) -> str:
    """The digest of both logs, as `prove` tells it."""
    every = ((name, one) for name in LOGS for one in appends(rows[name]))
    return log_digest({f"{name}:{one.replica}": envelope.digest(one.rows) for name, one in every})


def _last_of(agents: Log, run_key: str) -> int:
    found = agents.facts(f"wake:{run_key}@{agents.replica}")
    if not found:
        because = f"there is no wake {run_key!r} that began"
        raise Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))
    return found[-1].n


def _up_to(log: Log, n: int | None) -> list[Row]:
    if n is None:
        return list(log.rows())
    return [row for one in appends(log.rows()) if one.n <= n for row in one.rows]


# ---------------------------------------------------------------------------------------- the file


def history_lines(history: History) -> Iterator[str]:
    """A history as the lines of its file."""
    head: dict[str, Any] = {"history": FORMAT, "rules": RULES, "digest": history.digest}
    head |= {"run": history.run, "redacted": history.is_redacted}
    yield _line(head)
    for name, data in sorted(history.payloads.items()):
        try:
            yield _line({"payload": name, "text": data.decode()})
        except UnicodeDecodeError:
            yield _line({"payload": name, "base64": b64encode(data).decode()})
    for log in LOGS:
        for row in history.rows[log]:
            told = dict(zip(("stream", "version", "topic"), row, strict=False))
            yield _line({"log": log, **told, "state": row.state.decode()})
    for refusal in history.refused:
        yield _line({"refused": msgspec.to_builtins(refusal)})
    for view in history.views:
        yield _line({"view": msgspec.to_builtins(view)})


def _line(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def read_history(path: Path) -> History:
    """A history from its file. Raises Refused, code ``unreadable_file``: it cannot be read, or is
    none."""
    files.check_no_database(path)
    try:
        told = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _no_history(path, str(error)) from None
    rows: dict[str, list[Row]] = {name: [] for name in LOGS}
    payloads: dict[PayloadId, bytes] = {}
    refused: list[RefusedCommand] = []
    views: list[ViewDigest] = []
    head: dict[str, Any] = {}
    for nth, line in enumerate(told, start=1):
        try:
            document = json.loads(line) if line else {}
            if "payload" in document:
                payloads[document["payload"]] = _data(document)
            elif "log" in document:
                state = document["state"].encode()
                row = Row(document["stream"], document["version"], document["topic"], state)
                rows[document["log"]].append(row)
            elif "refused" in document:
                refused.append(msgspec.convert(document["refused"], RefusedCommand))
            elif "view" in document:
                views.append(msgspec.convert(document["view"], ViewDigest))
            elif document:
                head = document
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _no_history(path, f"line {nth}: {error}") from None
    if head.get("history") != FORMAT:
        raise _no_history(path, f"its first line is none of a history of format {FORMAT}")
    digest, run = (str(head.get(name, "")) for name in ("digest", "run"))
    is_redacted = bool(head.get("redacted"))
    return History(rows, payloads, digest, run, is_redacted, tuple(refused), tuple(views))


def _data(document: dict[str, str]) -> bytes:
    return document["text"].encode() if "text" in document else b64decode(document["base64"])


def _no_history(path: Path, why: str) -> Refused:
    because = f"{path} cannot be read as a history: {why}"
    return Refused("unreadable_file", because=because, instead="make it with export-history")


# ----------------------------------------------------------------------------------------- proving


def prove_history(history: History, limits: WalkLimits = LIMITS) -> Proved:
    """Re-execute a history with today's code, its prompts included; ask once more for what was
    refused; fold the views it knows; and compare its digest."""
    rows, anew = history.rows, dict[PayloadId, bytes]()

    def payload(name: PayloadId) -> bytes | None:
        return history.payloads.get(name, anew.get(name))

    worlds = {name: _worlds(name, rows[name], payload) for name in LOGS}
    facts = _facts(rows)
    options = ProofOptions(limits=limits)
    proofs = {
        name: LogProof(name, payload, options, listed=listed_of(facts[name], payload), anew=anew)
        for name in LOGS
    }
    lost = given_up(facts["journal"])
    sides = (PairedLog(proofs[name], rows[name], worlds[name], payload, lost) for name in LOGS)
    proved = prove_sides(*sides)
    found = [*_allowed(history.refused, worlds), *_differing(history)]
    if proved.digest != history.digest:
        found.append(Divergence("", "", "", 0, ALTERED, "digest", history.digest, proved.digest))
    return replace(proved, divergences=(*proved.divergences, *found)) if found else proved


def _allowed(
    refused: Iterable[RefusedCommand], worlds: Mapping[str, WorldAt]
) -> Iterator[Divergence]:
    """What was refused, and is not today, or for another reason."""
    for one in refused:
        world = worlds[one.log](one.n - 1, "")
        try:
            execute(one.command, "", one.at, "", world)
            code = ""
        except WakelogError as error:
            code = error.code
        except FAILURES as error:
            code = type(error).__name__
        if code != one.code:
            position = f"{one.log}:{world.replica}:{one.n}"
            told = f"{tag_of(one.command)} refused"
            yield Divergence(one.log, position, "", 0, CHANGED, told, one.code, code)


def view_digests(rows: Mapping[str, Sequence[Row]]) -> tuple[ViewDigest, ...]:
    """What every view makes of the rows of both logs."""
    facts = _facts(rows)
    return tuple(_view_digest(view, facts[view.log]) for view in VIEWS)


def _facts(rows: Mapping[str, Sequence[Row]]) -> dict[str, list[RecordedEvent]]:
    return {name: [row for one in appends(rows[name]) for row in one.facts] for name in LOGS}


def _view_digest(view: View[Any], facts: Iterable[RecordedEvent]) -> ViewDigest:
    documents = msgspec.json.encode(dict(sorted(fold(view, facts).items())))
    return ViewDigest(view.name, view.version, key("view", view.name, documents))


def _differing(history: History) -> Iterator[Divergence]:
    """The views that come out otherwise today, although they are of the same version."""
    known = {(one.name, one.version): one.digest for one in history.views}
    facts = _facts(history.rows) if known else {}
    for view in VIEWS if known else ():
        expected = known.get((view.name, view.version), "")
        try:
            actual = _view_digest(view, facts[view.log]).digest
        except FAILURES as error:
            actual = type(error).__name__
        if expected and actual != expected:
            yield Divergence(
                view.log, view.log, f"view:{view.name}", 0, VIEW, "documents", expected, actual
            )


def _worlds(
    name: str, rows: Sequence[Row], payload: Callable[[PayloadId], bytes | None]
) -> WorldAt:
    """Worlds of long ago, for wakes that ran at once."""
    streams: dict[str, list[RecordedEvent]] = defaultdict(list)

    def at(n: int, replica: str) -> LogState:
        if not streams:
            for one in appends(rows):
                for row in one.facts:
                    streams[row.stream].append(row)

        def again(stream: str, after: int) -> list[RecordedEvent]:
            return [row for row in streams.get(stream, ()) if row.version > after and row.n <= n]

        replica = replica or (rows[0].stream.rpartition("@")[2] if rows else "")

        def of_kind(kind: str) -> list[str]:
            return [one for one in streams if one.startswith(f"{kind}:")]

        return LogState(name, replica, n + 1, again, payload, streams=of_kind)

    return at
