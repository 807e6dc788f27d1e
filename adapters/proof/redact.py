"""Redacts a history: texts are rewritten, and everything is recorded anew on its own tape."""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from string import ascii_lowercase
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from adapters.models import tape
from adapters.models.replies import KeptCall, KeptReply, KeptUsage
from adapters.proof.histories import History, take_history
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.timetravel.logs_at import LogHistory
from adapters.wiring import Home
from domain.agent.agent import AGENT
from domain.agent.commands import TakeJournal
from domain.agent.wake_queue import WAKE_QUEUE, Queued
from domain.append import envelope
from domain.append.causes import Cause, EpochBegan, LogShared, ReplicasImported, Replied
from domain.append.notification_batch import batch
from domain.append.texts import NO_WORDS, PAYLOAD_FIELDS, is_literal
from domain.changes.change_set import ItemProposed
from domain.changes.dependencies import MAKING, follow_up_id
from domain.errors import Refused, WakelogError, invalid
from domain.journal.catalog import INBOX
from domain.journal.commands import ImportTasks
from domain.journal.imported import ImportedTask
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.keys import command_key, key, payload_id
from domain.log.state import RecordedEvent
from domain.log.wire import SHARED, Payload, Words, payload, words
from domain.text import fold
from domain.tools.task_tools import CHECKLIST_TITLE
from domain.wake.commands import Begins, BeginWake, DeferWake, ProposeChanges, SkipWake
from domain.wake.day_context import DAY_NAMES
from domain.wake.short_ids import SHOWN
from domain.wake.task_search import TaskSearchIndex
from domain.wake.unchanged import moved_by
from domain.wake.wake import ModelAnswered, SectionRef
from domain.wake.wake_inputs import client_wake, given_by, given_to
from replay.appends import Append, appends
from replay.fork import carried_out
from replay.reads import is_read, read_again
from replay.references import journal_position


def matched_rows(
    was: Sequence[RecordedEvent], made: Sequence[RecordedEvent], ids: Mapping[str, str]
) -> list[RecordedEvent]:
    """The rows made, each at the place of the one it was. Where an append tells of several agents,
    they come in the order of their ids, which are others now. So a row goes first to where its
    stream was, then by its kind to a place that is left. `ids`: what is known already of which id
    became which."""
    streams: dict[object, deque[RecordedEvent]] = defaultdict(deque)
    for row in made:
        streams[row.of_kind, row.entity, type(row.fact)].append(row)
    wanted = [streams[one.of_kind, ids.get(one.entity, ""), type(one.fact)] for one in was]
    found = [stream.popleft() if stream else None for stream in wanted]
    left: dict[str, deque[RecordedEvent]] = defaultdict(deque)
    gone = {id(one) for one in found}
    for row in made:
        if id(row) not in gone:
            left[row.of_kind].append(row)
    return [one or left[was[nth].of_kind].popleft() for nth, one in enumerate(found)]


def redo_read(cause: Replied, logs: Mapping[str, Log]) -> tuple[Replied, list[Payload]]:
    """A reply with what these logs answer at its positions, and the payload that this needs; any
    other reply as it is."""
    fact = cause.fact
    if not is_read(fact):
        return cause, []
    journal = LogHistory(logs["journal"]).world(fact.position)
    agents = LogHistory(logs["agent"]).world(fact.agent_position)
    again = read_again(cause.entity, fact, journal, agents, TaskSearchIndex().of)
    if again is None:  # nobody asked for it
        return cause, []
    message, kept = words(again.unit, again.today.text)
    return replace(cause, fact=replace(fact, message=message)), list(kept)


# ----------------------------------------------------------------------- the redaction of a history

_ID = re.compile(r"(?<![a-z2-7])[a-z2-7]{32}(?![a-z2-7])")
_SHORT = re.compile(rf"(?<![a-z2-7])[a-z2-7]{{{SHOWN}}}(?![a-z2-7])")  # as prompts tell them
_KEPT_ARGUMENTS = frozenset(
    """
    id status priority dueDate languageCode confidence fingerprint category minutes isChecked
    isArchived checklist entryId startedAt endedAt startedUtc endedUtc relation
    resolves day start end taskId block about estimateMinutes
    """.split()
)
_ADDRESS = re.compile(r"(openai:.*@https?://)(?!localhost|127\.|\[::1)([^:/]+)(:\d+)?(.*)")
_JSON_BEGINS = frozenset('{["')
_JSON_WORDS = frozenset({"null", "true", "false"})
_DATE = r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
_WHOLE = re.compile(f"{_ID.pattern}|{_DATE}")
_NAMED_BY_CODE = {fold(INBOX), fold(CHECKLIST_TITLE), *DAY_NAMES}  # no person's words
_SORTED = {"tokens", "batches", "categories"}  # by ids, so that they do not pair
DRAWS_MAX = 64  # for a word that no other word has become; short words are soon used up


class Redactor:
    """Rewrites one history; see `redacted`."""

    def __init__(self, history: History) -> None:
        self._old = history
        self._salt = history.digest
        self._ids: dict[str, str] = {}
        self._short: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._meant: dict[str, str] = {}  # what a new word stands for
        self._brought: list[Payload] = []
        self._units: list[str] = [SHARED]
        rows = history.rows["journal"] or history.rows["agent"]
        replica = rows[0].stream.rpartition("@")[2] if rows else "r1"
        self.logs = {name: Log.in_memory(name, replica) for name in ("journal", "agent")}

    def record(self) -> History:
        """Every cause once more, in an order in which it finds what it names."""
        left = appends(self._old.rows["journal"])
        reached = 0
        for one in appends(self._old.rows["agent"]):
            named = max((journal_position(row.fact) for row in one.facts), default=0)
            while reached < named and (behind := next(left, None)) is not None:
                reached = behind.n
                self._again("journal", behind)
            self._again("agent", one)
        for behind in left:
            self._again("journal", behind)
        made = take_history(self.logs["journal"], self.logs["agent"])
        run = self._ids.get(self._old.run, self._old.run)
        return replace(made, run=run, is_redacted=True)

    def _again(self, name: str, one: Append) -> None:
        cause, given = envelope.cause_of(one.facts[0])
        if isinstance(cause, ReplicasImported | LogShared):
            because = "histories of several replicas cannot be redacted"
            raise invalid(because, "export it without --redact")
        if isinstance(cause, EpochBegan):
            return  # the log begins its epoch by itself
        log = self.logs[name]
        self._learn_units(one)
        self._brought = []
        before = log.count()
        anew = self._cause(cause)
        named = self._key(one, name, anew, given)
        log.append(anew, one.first.at, key=named, payloads=self._brought)
        rows = [row for known in log.appends(one.n - 1) for row in known]
        kinds = [sorted(row.of_kind for row in side) for side in (one.facts, rows)]
        if log.count() == before or kinds[0] != kinds[1]:
            because = f"append {one.n} of the {name} log comes out otherwise without its texts"
            raise invalid(because, "export it without --redact")
        made = matched_rows(one.facts, rows, self._ids)
        for was, now in reversed(list(zip(one.facts, made, strict=True))):  # the receipt last
            self._pair(was.entity, now.entity)
            if isinstance(was.fact, ItemProposed) and was.fact.tool in MAKING:
                number = was.fact.item
                self._become(follow_up_id(was.entity, number), follow_up_id(now.entity, number))
            self._pair(msgspec.to_builtins(was.fact), msgspec.to_builtins(now.fact))

    def _key(self, one: Append, log: str, cause: Cause, given: str) -> str:
        if operation := carried_out(cause):
            return operation
        if isinstance(cause, Replied) or given == command_key(log, one.replica, one.n):
            return ""
        return key("redacted", self._salt, given)

    def _learn_units(self, one: Append) -> None:
        """The tasks whose texts may be payloads, and new ids of those named by their titles."""
        for row in one.facts:
            command = getattr(row.fact, "command", row.fact)
            names = [getattr(command, "task", "")]
            if isinstance(command, ImportTasks):
                names = [ref.task for ref in command.tasks]
                for name in names:
                    self._become(name, key("redacted", self._salt, name))
            names += [row.entity] if row.of_kind == "task" else []
            self._units += [name for name in names if name and name not in self._units]

    def _pair(self, was: Any, now: Any) -> None:
        """Learn which id became which."""
        if isinstance(was, str) and isinstance(now, str):
            for one, other in zip(_ID.findall(was), _ID.findall(now), strict=False):
                self._become(one, other)
        elif isinstance(was, dict) and isinstance(now, dict):
            for name in was.keys() & now.keys() - _SORTED:
                self._pair(was[name], now[name])
        elif isinstance(was, list | tuple) and isinstance(now, list | tuple):
            for one, other in zip(was, now, strict=False):
                self._pair(one, other)

    def _become(self, one: str, other: str) -> None:
        self._ids.setdefault(one, other)
        self._short.setdefault(one[:SHOWN], self._ids[one][:SHOWN])

    # ------------------------------------------------------------------------------------- causes

    def _cause(self, cause: Cause) -> Any:
        match cause:
            case BeginWake():
                return self._begin(cause, cause)
            case ProposeChanges():
                reply = self._struct(cause.reply)
                anew = replace(cause, session=self._named(cause.session), reply=reply)
                return replace(anew, begin=self._begin(anew, cause.begin))
            case SkipWake() if cause.moved_by:
                return self._skip(cause)
            case TakeJournal():
                behind = self.logs["journal"].appends(cause.first - 1)
                found = (self._batch(rows) for rows in behind if rows[0].n <= cause.last)
                batches = tuple(one for one in found if one is not None)
                digest = self._digest(cause.journal_digest, cause.last)
                return replace(cause, batches=batches, journal_digest=digest)
            case Replied(of_kind=of_kind, entity=entity, fact=fact):
                made = Replied(of_kind, self._named(entity), self._struct(fact))
                made, kept = redo_read(made, self.logs)
                self._brought += kept
                return made
            case _:
                return self._struct(cause)

    def _begin(self, said: Begins, cause: BeginWake) -> BeginWake:
        """What a wake is given of the redacted logs. `said`: the cause that gives it."""
        journal = self.logs["journal"].world_at(cause.journal_position)
        agents = self.logs["agent"].world_at(cause.agent_position)
        agent = agents.load(AGENT, self._named(cause.agent))
        if isinstance(said, ProposeChanges):
            queued: Queued | None = client_wake(agent.id, said.session)
        else:
            queued = agents.load(WAKE_QUEUE, agent.id).queued
        if queued is None:
            because = f"the wake {cause.run_key} is not queued"
            raise Refused("unknown_wake", because=because, instead="prove the history first")
        given = given_by(said)
        prompt, seen = given_to(journal, agents, agent, queued, given, cause.journal_position)

        def kept(data: bytes) -> str:
            self._brought.append(payload(agent.unit, data))
            return self._brought[-1].id

        system, user = (
            tuple(SectionRef(one.name, kept(one.text.encode()), one.units) for one in part)
            for part in (prompt.system, prompt.user)
        )
        return replace(
            cause, agent=agent.id, run_key=queued.run_key, model=self._model(cause.model),
            snapshot=kept(canonical.encode(seen)), system=system, user=user,
            journal_digest=self._digest(cause.journal_digest, cause.journal_position),
            moved_by=moved_by(journal, agents, agent, given) if cause.moved_by else (),
        )  # fmt: skip

    def _skip(self, cause: SkipWake) -> SkipWake:
        journal = self.logs["journal"].world_at(cause.journal_position)
        agents = self.logs["agent"].world_at(cause.agent_position)
        agent = agents.load(AGENT, self._named(cause.agent))
        return replace(
            cause,
            agent=agent.id,
            run_key=self._named(cause.run_key),
            model=self._model(cause.model),
            journal_digest=self._digest(cause.journal_digest, cause.journal_position),
            moved_by=moved_by(journal, agents, agent, given_by(cause)),
        )

    def _model(self, name: str) -> str:
        return "tape" if name.startswith("tape:") else self._named(name)

    def _digest(self, was: str, n: int) -> str:
        """The digest of a journal's append as it is now, where a cause names it."""
        return self.logs["journal"].digest_at(n) if was else ""

    def _batch(self, rows: Sequence[RecordedEvent]) -> Any:
        world = self.logs["journal"].world_at(rows[0].n)
        return batch(rows, partial(world.load, LINKS), partial(world.load, TASK))

    # ------------------------------------------------------------------------------------- values

    def _struct(self, value: Struct) -> Any:
        """A stored value, its texts rewritten and its payloads with it."""
        if isinstance(value, Words):
            return self._said(value)
        hints = get_type_hints(type(value))
        changed: dict[str, Any] = {}
        for name in value.__struct_fields__:
            known = getattr(value, name)
            if name in PAYLOAD_FIELDS.get(type(value), ()):
                changed[name] = self._payload(known, value) if known else known
            elif not is_literal(hints[name]):
                is_kept = name in NO_WORDS or (isinstance(value, DeferWake) and name == "reason")
                changed[name] = self._value(known, is_kept=is_kept)
        if isinstance(value, ModelAnswered):
            changed["reply_format"] = tape.FORMAT  # see `_reply`
        return replace(value, **changed)

    def _value(self, value: Any, *, is_kept: bool) -> Any:
        match value:
            case str():
                return self._named(value) if is_kept else self.text(value)
            case Struct():
                return self._struct(value)
            case tuple():
                return tuple(self._value(one, is_kept=is_kept) for one in value)
            case _:
                return value

    def _named(self, name: str) -> str:
        """A name with the ids in it as they are now, and of a model without its host."""
        if found := _ADDRESS.fullmatch(name):
            begin, host, port, path = found.groups("")
            return begin + self.text(host) + port + self.text(path)
        name = _ID.sub(lambda found: self._ids.get(found[0], found[0]), name)
        return _SHORT.sub(lambda found: self._short.get(found[0], found[0]), name)

    def text(self, given: str) -> str:
        """A text: the same word as the same word; ids, dates and what stands between words stay."""
        parts: list[str] = []
        at = 0
        for found in _WHOLE.finditer(given):
            parts += [*self._spelled(given[at : found.start()]), self._named(found[0])]
            at = found.end()
        return "".join([*parts, *self._spelled(given[at:])])

    def _spelled(self, given: str) -> Iterator[str]:
        for found in re.finditer(r"[^\W_]+|[\W_]+", given):
            yield self._word(found[0]) if found[0][0].isalnum() else found[0]

    def _word(self, word: str) -> str:
        if fold(word) in _NAMED_BY_CODE:
            return word
        if word in self._short:
            return self._short[word]
        if word not in self._words:
            drawn = (self._drawn(word, nth) for nth in range(DRAWS_MAX))
            free = (one for one in drawn if self._meant.get(fold(one), "") in ("", fold(word)))
            self._words[word] = next(free, self._drawn(word, 0))
            self._meant.setdefault(fold(self._words[word]), fold(word))
        return self._words[word]

    def _drawn(self, word: str, nth: int) -> str:
        drawn = key("redacted", self._salt, fold(word), str(nth))
        letters = [ascii_lowercase[ord(char) % 26] for char in drawn] * (len(word) // 32 + 1)
        return "".join(_similar_letter(old, new) for old, new in zip(word, letters, strict=False))

    def _said(self, said: Words) -> Words:
        text = self._data(said.payload).decode() if said.payload else said.text
        made, kept = words(self._unit(said.payload), self._rewritten(text))
        self._brought += kept
        return made

    def _rewritten(self, text: str) -> str:
        """A text; what may be the arguments of a call, sent as text or not, stays JSON."""
        if text[:1] in _JSON_BEGINS or text in _JSON_WORDS:
            with suppress(WakelogError):
                return canonical.text(self._arguments(canonical.read(text)))
        return self.text(text)

    def _arguments(self, value: Any, *, is_kept: bool = False) -> Any:
        match value:
            case str():
                return self._named(value) if is_kept else self._rewritten(value)
            case list():
                return [self._arguments(one, is_kept=is_kept) for one in value]
            case dict():
                return {
                    name: self._arguments(one, is_kept=name in _KEPT_ARGUMENTS)
                    for name, one in value.items()
                }
            case _:
                return value

    # ----------------------------------------------------------------------------------- payloads

    def _payload(self, old: str, owner: Struct) -> str:
        """The id of what a payload becomes."""
        data = self._data(old)
        if isinstance(owner, ModelAnswered):
            data = self._reply(owner)
        else:
            try:
                document = msgspec.json.decode(data, type=ImportedTask)
                task_id = self._named(document.task_id)
                data = canonical.encode(replace(self._struct(document), task_id=task_id))
            except (msgspec.DecodeError, UnicodeDecodeError):
                data = self.text(data.decode("utf-8", "replace")).encode()
        self._brought.append(payload(self._unit(old), data))
        return self._brought[-1].id

    def _reply(self, answered: ModelAnswered) -> bytes:
        """The provider's bytes say too much: what is kept is what they meant."""
        calls = []
        for one in answered.calls:  # what could not be read is cut, so that it cannot be now
            arguments = self._text_of(one.arguments)[: 1 if one.problem else None]
            calls.append(KeptCall(id=one.call_id, tool=one.tool, arguments=arguments))
        said = self._text_of(answered.text) if answered.text else ""
        usage = KeptUsage(**{one: getattr(answered, one) for one in KeptUsage.__struct_fields__})
        return canonical.encode(KeptReply(text=said, calls=tuple(calls), usage=usage))

    def _text_of(self, said: Words) -> str:
        made = self._said(said)
        if not made.payload:
            return made.text
        return next(one.data for one in self._brought if one.id == made.payload).decode()

    def _data(self, old: str) -> bytes:
        data = self._old.payloads.get(old)
        if data is None:
            because = f"the payload {old} is missing"
            raise Refused("unknown_payload", because=because, instead="prove the history first")
        return data

    def _unit(self, old: str) -> str:
        """The unit of an old payload, as it is called now; of a text that is none the newest."""
        if old:
            data = self._data(old)
            found = (unit for unit in self._units if payload_id(unit, data) == old)
            return self._named(next(found, SHARED))
        return self._named(self._units[-1])


def redacted(history: History) -> History:
    """The history without its texts, recorded anew. Raises Refused: it comes out otherwise without
    them, or does not prove as it is."""
    return Redactor(history).record()


def _similar_letter(old: str, new: str) -> str:
    """A letter for a letter, in its case; a digit for a digit."""
    if old.isdigit():
        return str(ord(new) % 10)
    return new.upper() if old.isupper() else new


# ------------------------------------------------------------------------- a home without its texts

HOLDS_TEXTS = (
    "It holds what people and agents wrote, word for word: titles, notes, reasons, reports, "
    "prompts. To give it away, export with --redact."
)
TEXTS_REWRITTEN = (
    "Texts, names and ids were rewritten, each word as another of its length; times, statuses, "
    "tokens and codes are as they were."
)


def redacted_home(home: Home) -> Home:
    """The same causes recorded anew without their texts, as `adapters.proof.redact` does it. Raises
    Refused: several replicas wrote in it, or it comes out otherwise without its texts."""
    known = home.services
    made = Redactor(take_history(known.journal, known.agents))
    made.record()
    logs = made.logs["journal"], made.logs["agent"]
    found = Home.in_memory(Services(*logs, known.clock, known.settings, known.model_for))
    found.views.catch_up()
    return found
