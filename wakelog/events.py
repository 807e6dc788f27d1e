"""The logs of a home for programs that follow them, by the `eventsourcing` library (ADR 112).

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> import wakelog
>>> with TemporaryDirectory() as folder:
...     file, at = Path(folder, "TODO.md"), Path(folder, "home")
...     _ = file.write_text("- [ ] Fix the tap\\n")
...     with wakelog.open_home(at, may_be_new=True, environ={}) as home:
...         _ = home.import_file(file)
...     with JournalLog({"WAKELOG_HOME": str(at)}) as journal:
...         found = journal.recorder.select_notifications(None, 10, topics=["task.created.1"])
...         [journal.mapper.to_domain_event(one).fact.title for one in found]
['Fix the tap']

`JournalLog` and `AgentLog` are applications of the library that only read: notifications are rows,
in the order in which they arrived here, and topics are wakelog's tags. `runner` leads a projection.
"""

import os
from functools import partial
from typing import Any, ClassVar, NoReturn, TypeVar

from eventsourcing.application import Application
from eventsourcing.persistence import (
    InfrastructureFactory,
    JSONTranscoder,
    Mapper,
    NotSupportedError,
    StoredEvent,
    Tracking,
    TrackingRecorder,
)
from eventsourcing.projection import BaseProjectionRunner, Projection, ProjectionRunner
from eventsourcing.utils import Environment, EnvType
from msgspec.structs import astuple

from adapters import wiring
from adapters.home.home_location import location_of
from adapters.home.log_recorders import ALL, LogRecorder, TimedNotification, recorder_of
from domain.append import envelope
from domain.append.envelope import ERASED, Row, row_sha
from domain.erasure import ErasureMade, places_of, read_list
from domain.errors import Refused
from domain.log.keys import key, sha
from domain.log.state import RecordedEvent
from domain.log.wire import PayloadId, Words, tag_of

__all__ = ["AgentLog", "HomeLog", "JournalLog", "LogRunner", "Recorded", "runner"]

ERASURE = tag_of(ErasureMade("", "", ""))
ANEW = "make the view anew: begin with an empty one"
READS = "a home is written by wakelog alone"
V = TypeVar("V", bound=TrackingRecorder)


class Recorded(RecordedEvent, frozen=True):
    """A fact with what its row knows: `stream` and `version` there, `n` and `row` of the append,
    the `replica` that wrote it, and `at`, when. Where a person had it erased, the fact is
    `domain.log.wire.Erased`, with the tag that it `was`."""

    @property
    def originator_id(self) -> str:
        return self.stream

    @property
    def originator_version(self) -> int:
        return self.version


class RowMapper(Mapper[str]):
    """Makes facts of rows, and no rows of facts."""

    def to_domain_event(self, stored_event: StoredEvent) -> Recorded:
        """Decode a row. Raises UnknownFact: a newer wakelog wrote it."""
        stream, version = str(stored_event.originator_id), stored_event.originator_version
        row = Row(stream, version, stored_event.topic, bytes(stored_event.state))
        at = stored_event.at if isinstance(stored_event, TimedNotification) else ""
        return Recorded(*astuple(envelope.recorded(row, at, envelope.read(row))))

    def to_stored_event(self, *_: object) -> NoReturn:
        raise NotSupportedError(READS)


class ReadingFactory(InfrastructureFactory[TrackingRecorder]):
    """Gives an application the recorder that it reads by, and none to write with."""

    def __init__(self, env: Environment, recorder: LogRecorder) -> None:
        super().__init__(env)
        self._recorder = recorder

    def application_recorder(self) -> LogRecorder:
        return self._recorder

    def aggregate_recorder(self, *_: object, **__: object) -> NoReturn:
        raise NotSupportedError(READS)

    def tracking_recorder(self, *_: object, **__: object) -> NoReturn:
        raise NotSupportedError(READS)

    def process_recorder(self, *_: object, **__: object) -> NoReturn:
        raise NotSupportedError(READS)

    def close(self) -> None:
        self._recorder.close()


class HomeLog(Application[str]):
    """One of a home's two logs: a `JournalLog` or an `AgentLog`."""

    log_name: ClassVar[str]
    recorder: LogRecorder
    mapper: RowMapper

    def __init__(self, env: EnvType | None = None) -> None:
        """Open it to be read. `env`: what counts beside the environment, `WAKELOG_HOME` above all.
        Raises Refused, code ``not_a_log``: there is no home."""
        self._environ = {**os.environ, **(env or {})}
        self.place = location_of(None, self._environ).looked()
        super().__init__(env)
        identity = key("followed", self.recorder.replica, *self.place.identity())
        self.name = f"wakelog {self.log_name} {self.recorder.replica} {identity}"

    def construct_factory(self, env: Environment) -> ReadingFactory:
        return ReadingFactory(env, recorder_of(self.place, self.log_name, self._environ))

    def construct_mapper(self) -> RowMapper:
        return RowMapper(JSONTranscoder())

    def text(self, words: Words) -> str:
        """The text of a fact's field. Raises as `payload`."""
        return self.payload(words.payload).decode() if words.payload else words.text

    def payload(self, payload_id: PayloadId) -> bytes:
        """The bytes of a text that stands beside the rows; of a prompt that was dropped, those that
        it renders to. Raises Refused, code ``erased``, ``dropped`` or ``unknown_payload``."""
        if (found := self.recorder.payload(payload_id)) is not None:
            return found
        with wiring.open_home(self.place, self._environ) as home:
            log = home.services.journal if self.log_name == "journal" else home.services.agents
            if (rendered := log.payload_or_refuse(payload_id)) is not None:
                return rendered
        because = f"the {self.log_name} log holds no text {payload_id}"
        raise Refused("unknown_payload", because=because, instead="see `wakelog prove`")


class JournalLog(HomeLog):
    """The person's log: tasks, notes, items, times."""

    log_name = "journal"


class AgentLog(HomeLog):
    """The agents' log: wakes, proposals, verdicts, reports."""

    log_name = "agent"


# ----------------------------------------------------------------------------- projections are led


class LogRunner(ProjectionRunner[HomeLog, V]):
    """The library's runner, for a view that belongs to one home."""

    def __init__(
        self,
        *,
        application_class: type[HomeLog],
        projection_class: type[Projection[V]],
        view_class: type[V],
        env: EnvType | None = None,
    ) -> None:
        """See `runner`."""
        made = self._construct_env(name=projection_class.name, env=env)
        self.view = InfrastructureFactory[V].construct(env=made).tracking_recorder(view_class)
        self.projection = projection_class(view=self.view)
        checked = CheckedProjection(self.projection, application_class, env)
        BaseProjectionRunner.__init__(
            self,
            projection=checked,
            application_class=application_class,
            tracking_recorder=self.view,
            topics=checked.topics,
            env=env,
        )


def runner(
    projection: type[Projection[V]],
    view: type[V],
    env: EnvType | None = None,
    *,
    log: type[HomeLog],
) -> LogRunner[V]:
    """Lead a projection over a home's log, in a thread of its own, from where its view stands.

    Args:
        projection: What becomes of each row; its `topics` are tags, none: all rows are given.
        view: What it becomes, a tracking recorder: it notes its place with what it keeps.
        env: `WAKELOG_HOME`, and where the view is, as the library has it: `PERSISTENCE_MODULE`,
            `<PROJECTION>_SQLITE_DBNAME`.
        log: `JournalLog` or `AgentLog`.

    Raises:
        Refused: Code ``other_past``: the view was filled by another home, or by this one before it
            was copied, moved or restored; ``erased_past``: it took what was erased since. Also from
            `wait` and `run_forever` of the runner, as it goes on. The way out is an empty view.
    """
    return LogRunner(application_class=log, projection_class=projection, view_class=view, env=env)


class CheckedProjection(Projection[V]):
    """Leads another one as long as its view and the log belong together.

    What is known of that stands in the view beside its place, under names of its own: whose it is,
    the row at which it stood when it was taken up last, and the newest erasure that it knows."""

    def __init__(
        self, inner: Projection[V], log: type[HomeLog], env: EnvType | None = None
    ) -> None:
        super().__init__(inner.view)
        self._inner, self._open = inner, partial(log, env)
        self.topics: tuple[str, ...] = ()
        if inner.topics:
            self.topics = tuple(dict.fromkeys((*inner.topics, ERASURE)))
        with self._open() as opened:
            place = self.view.max_tracking_id(opened.name) or 0
            self._check_past(opened, place)
            self._check_erased(opened, place)

    def process_event(self, domain_event: Any, tracking: Tracking) -> None:
        if isinstance(domain_event.fact, ErasureMade):
            with self._open() as opened:
                self._check_erased(opened, tracking.notification_id, tracking.notification_id)
            if self._inner.topics and ERASURE not in self._inner.topics:
                self.view.insert_tracking(tracking)
                return
        self._inner.process_event(domain_event, tracking)

    def _check_past(self, log: HomeLog, place: int) -> None:
        owner = Tracking(f"wakelog {log.log_name}", int(sha(log.name.encode())[:15], 16))
        known = self.view.max_tracking_id(owner.application_name)
        if known is None:
            self.view.insert_tracking(owner)
        elif known != owner.notification_id:
            raise _other_past("was filled by another home, or before this one was copied or moved")
        if place > (log.recorder.max_notification_id() or 0):
            raise _other_past("has taken more than the log holds, as before a restore")
        stood = f"{log.name} row"
        then = self.view.max_tracking_id(stood) or 0
        if then and self.view.max_tracking_id(_row_name(log, then)) is None:
            raise _other_past("has taken rows that the log does not hold, as before a restore")
        if place > then:
            self.view.insert_tracking(Tracking(_row_name(log, place), place))
            self.view.insert_tracking(Tracking(stood, place))

    def _check_erased(self, log: HomeLog, place: int, until: int | None = None) -> None:
        """Look whether an erasure that is new to the view, or one of them up to `until`, lists what
        it took, up to `place`. Rows that wait to be taken may have been read before a later one."""
        name = f"{log.name} erased"
        known = self.view.max_tracking_id(name) or 0
        made = _facts(log, ERASURE, known, until)
        if not made:
            return
        listed = [read_list(log.recorder.payload(one.fact.listed)) for _, one in made]
        gone = {row for one in listed for row in places_of(one)} if place else set()
        for _, mark in _facts(log, ERASED, 0, place) if gone else ():
            is_taken = not self.topics or mark.fact.was in self.topics
            if is_taken and (mark.replica, mark.n, mark.row) in gone:
                because = f"this view took what was erased since, of {mark.stream}"
                raise Refused("erased_past", because=because, instead=ANEW)
        self.view.insert_tracking(Tracking(name, made[-1][0]))


def _facts(log: HomeLog, tag: str, after: int, until: int | None) -> list[tuple[int, Any]]:
    """The rows of a tag above one id and up to another, each behind its id."""
    found = log.recorder.select_notifications(after + 1, ALL, until, [tag])
    return [(one.id, log.mapper.to_domain_event(one)) for one in found]


def _row_name(log: HomeLog, notification_id: int) -> str:
    """A name for a row that tells it from any other in its place; a mark keeps that of its row."""
    found = log.recorder.select_notifications(notification_id, 1, notification_id)
    return f"{log.name} row {notification_id} {row_sha(found[0].state) if found else ''}"


def _other_past(what: str) -> Refused:
    return Refused("other_past", because=f"this view {what}", instead=ANEW)
