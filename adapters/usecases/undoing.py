"""The person's last deeds are found back in both logs, and one of them is taken back whole."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from adapters.documents.inbox import set_name
from adapters.documents.ranks import Ranks, ranks_of
from adapters.documents.results import UndoableDeed, UndoneDeed
from adapters.home.files import RUNTIME
from adapters.home.origin import origin_text
from adapters.runtime import orphaned_effects, review
from adapters.store.command_history import DoneCommand, kept
from adapters.store.recorder import by_append, numbered
from adapters.text.common import ago
from adapters.text.day import day_undone
from adapters.text.task_facts import deed_made, deed_question, left_standing, undo_sentence
from adapters.usecases.proposals import in_flight_sets, item_of
from adapters.usecases.resolve import nth_key
from adapters.usecases.tasks import append_command, dispatch_after_commit, has_lost_labels
from domain.agent import commands as agent
from domain.append import envelope
from domain.changes.change_set import ItemConfirming, is_undone
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, ReopenItem, UndoItem
from domain.errors import Refused, Remedy, invalid
from domain.handlers.undo import UndoneTask, import_undone_in_task, undone_in_task
from domain.journal import commands as do
from domain.journal.commands import UndoDeed, UndoImport
from domain.journal.day import DAY, DayFact, taken_back
from domain.journal.task import PERSON, TASK, DeedUndone, TaskFact
from domain.lessons.commands import RateRun, RuleTool
from domain.log.state import LogState, RecordedEvent, entity_of
from domain.log.timestamps import seconds_between
from domain.log.wire import Stored
from domain.policy.commands import PolicyCommand
from domain.templates import commands as template
from domain.tools.improving import PROPOSE
from domain.tools.registry import days_of

if TYPE_CHECKING:
    from adapters.store.log import Log
    from adapters.wiring import Home
    from domain.append.envelope import Row

DEEDS_MAX = 20
JUDGED_MAX = 20  # tasks of a deed that is only shown
SHOWN_FIRST = 2  # deeds: most often the newest one is undone
OLD_SECONDS = 3_600
MANY = 10  # tasks
LOOK_FIRST = 64  # appends from the end
LOOK_BACK = 2_000  # the same, where a page asks what can be undone
STANDS = {ConfirmItem: "confirmed", RejectItem: "rejected", DeferItem: "deferred"}
NEVER = (
    do.ApplyOperation, do.VoidOperation, do.AddCategory, do.RenameCategory, do.AddCorrection,
    do.AddLabel, do.DeleteLabel,
)  # fmt: skip
"""Commands of the journal that are none of a person, or change no task."""
LASTING = (
    do.AddCategory, do.RenameCategory, do.AddLabel, do.DeleteLabel, agent.CreateAgent,
    agent.ConfigureAgent, agent.SetTimer, agent.RemoveTimer, agent.PauseAgent, agent.ResumeAgent,
    agent.SleepAgent, agent.DestroyAgent, agent.DeleteAgent, template.CreateTemplate,
    template.ChangeTemplate, template.AddVersion, template.RollBackTemplate,
    template.AssignTemplate, template.DeleteTemplate, *get_args(PolicyCommand), RuleTool, RateRun,
)  # fmt: skip
"""What a person does that no undo takes back, as it is about no task."""
MORE_THAN_TASKS = "task.time_", "catalog."
"""How the topics begin of what an undo that reopens takes back."""

DeedState = Literal["open", "moved", "stays", "undone"]
ItemRef = tuple[str, int]


class PersonCommand(NamedTuple):
    """A command as it stands in a log, and the tasks and days that its append changed. `place`: in
    the order of both logs; a verdict comes after the journal that its person saw. `reopens`: it
    started, stopped or entered time, or made names."""

    place: tuple[int, int, int]
    n: int
    at: str
    name: str
    command: Stored
    tasks: tuple[str, ...]
    reopens: bool = False
    days: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        return f"{'a' if self.place[1] else 'j'}{self.n}"


class ConfirmationEffect(NamedTuple):
    """What a confirmation wrote to the journal: the append `n` of a replica, to these tasks and
    days."""

    operation: str
    replica: str
    n: int
    tasks: tuple[str, ...]
    days: tuple[str, ...] = ()


class Deed(NamedTuple):
    """Something that a person did. `appends`, of the journal, with the `tasks` and `days` that they
    changed, and `items`, of which the verdict is taken back, are what of it is not undone yet;
    `effects`: by item what it was confirmed with, None of another verdict.

    `state`: ``open``: it can be undone; ``moved``: something of it was changed since; ``stays``:
    nothing takes it back; ``undone``: it was, and `again` names what does it again. `facts`, by
    task, and `day_facts` would do it; `staying` are what nothing takes back. `reopens`: see
    `UndoDeed`; `left`, `more`: how many of its tasks, and verdicts, were not looked at; `place`: of
    the newest part."""

    ref: str
    at: str
    what: str
    tasks: tuple[str, ...]
    appends: tuple[int, ...]
    items: tuple[ItemRef, ...]
    state: DeedState = "open"
    facts: tuple[tuple[str, TaskFact], ...] = ()
    staying: tuple[TaskFact, ...] = ()
    source: str = ""  # of an import
    effects: tuple[ConfirmationEffect | None, ...] = ()
    reopens: bool = False
    again: str = ""
    left: int = 0
    more: int = 0
    place: tuple[int, int, int] = (0, 0, 0)
    days: tuple[str, ...] = ()
    day_facts: tuple[DayFact, ...] = ()

    @property
    def size(self) -> int:
        """Of how many tasks and days it is."""
        return len(self.tasks) + self.more * bool(self.tasks) + len(self.days)


class UndoResult(NamedTuple):
    """What was taken back. `redo`: what the deed is called that does it again, if some of it is one
    of the journal's own; verdicts are given again; `kept`: tasks of an import that were changed
    since and stay; `passed`: newer deeds that nothing takes back."""

    deed: Deed
    redo: str = ""
    kept: tuple[str, ...] = ()
    passed: tuple[Deed, ...] = ()
    is_repeated: bool = False


class UndoChoice(NamedTuple):
    """The newest deed that can be undone. `passed`: newer ones that nothing takes back, or of which
    something was changed since; `lasting`: what was done here since that no undo is about; `where`
    it was done, in words, if it was not here; `nothing`: what was asked here since and was so
    already, and of which task; `is_old`, `is_large`: it is more than an hour ago, or changed more
    than ten tasks."""

    deed: Deed
    passed: tuple[Deed, ...]
    lasting: tuple[str, ...]
    where: str
    nothing: tuple[str, str]
    is_old: bool
    is_large: bool

    @property
    def is_clear(self) -> bool:
        """Whether it is what a person thinks of who undoes without a name."""
        is_newest = not (self.passed or self.lasting or self.nothing[0])
        return is_newest and not (self.where or self.is_old or self.is_large)


def newest(home: "Home") -> UndoChoice:
    """What an undo without a name takes back, and why it should be asked first. Raises Refused,
    code ``invalid_value``: there is none."""
    passed: list[Deed] = []
    for deed in _find_deeds(home, most=JUDGED_MAX, first=SHOWN_FIRST):
        if deed.state == "open":
            return _choice(home, deed, tuple(passed))
        passed += [deed] if deed.state != "undone" else []
    raise _nothing()


def _choice(home: "Home", deed: Deed, passed: tuple[Deed, ...]) -> UndoChoice:
    done = _done(home)
    log, n = deed.ref[0], int(deed.ref[1:])
    who = next((one.who for one in done if one.holds(log, n, deed.at)), "")
    last = next((one for one in done if one.who == home.doer), None)
    is_after = last is not None and last.last >= deed.place[0]
    nothing = (last.nothing, last.task) if last is not None and is_after else ("", "")
    age = seconds_between(deed.at, home.services.clock.now())
    is_old, is_large = age > OLD_SECONDS, deed.size > MANY
    where, lasting = origin_text(who, home.doer), _lasting(home, done, deed)
    return UndoChoice(deed, passed, lasting, where, nothing, is_old, is_large)


def _lasting(home: "Home", done: Sequence[DoneCommand], deed: Deed) -> tuple[str, ...]:
    """What was done here after a deed that no undo is about, the newest first; of what one command
    did only its newest appends are looked at."""
    log, n, found = deed.ref[0], int(deed.ref[1:]), dict[str, None]()
    since = [*takewhile(lambda one: not one.holds(log, n, deed.at), done)]
    for one in since if len(since) < len(done) and home.exists else ():
        kept = home.services.journal if one.log == "j" else home.services.agents
        is_here = one.who == home.doer and not one.nothing
        newest = range(one.last, max(one.first, one.last - JUDGED_MAX) - 1, -1)
        every = map(kept.append_at, newest if is_here else ())
        for rows in filter(None, every):  # a log that was put back may have none there
            command = getattr(envelope.read(rows[0]).data, "command", None)
            if isinstance(command, LASTING):
                found[what_of(command)] = None
    return tuple(found)


def _done(home: "Home") -> list[DoneCommand]:
    if home.exists:
        return kept(home.path / RUNTIME)
    every = (one for told in home.services.done.values() for one in told)  # of one in memory
    return [one._replace(who=home.doer) for one in every]


def newest_here(home: "Home") -> tuple[Deed | None, bool]:
    """The newest deed that was done here, within the hour, and is not undone, if no undo leaves
    out what was done here since; and whether any of the newest was done here at all."""
    done = [one for one in _done(home) if one.who == home.doer]
    is_any, now = bool(done), home.services.clock.now()
    for deed in _find_deeds(home, most=JUDGED_MAX, first=SHOWN_FIRST) if is_any else ():
        log, n = deed.ref[0], int(deed.ref[1:])
        is_own = any(one.holds(log, n, deed.at) for one in done)
        if is_own and deed.state != "undone" and seconds_between(deed.at, now) <= OLD_SECONDS:
            return (None, False) if _lasting(home, done, deed) else (deed, True)
    return None, is_any


def _nothing() -> Refused:
    return invalid("there is nothing to undo", "`wakelog undo --list` shows what can be undone")


def is_done(home: "Home", key: str) -> bool:
    return bool(_undos_under(home, key))


def undo(home: "Home", ref: str = "", key: str = "") -> UndoResult:
    """Take the person's newest deed back that can be, or the one that `ref` names. Who asks first
    where it may be another than a person thinks of, looks at `newest`. Raises Refused, code
    ``stale``: something of it was changed since; ``invalid_value``: there is none."""
    _recovered(home)
    if before := _undos_under(home, key):
        _check_undone(home, before[-1])
        rest = _rest(home, before[-1])
        return _taken_back(home, rest, key, len(before)) if rest else _repeated(before)
    found = _deeds_named(home, ref) if ref else _open_first(home)
    deed = next((one for one in found if one.state != "stays"), None)
    if deed is None:
        if not found:
            raise _nothing()
        raise invalid(f"nothing takes {ref} back", "`wakelog undo --list` shows what can be undone")
    passed = tuple(found[: found.index(deed)])
    if deed.state == "moved":
        raise _moved()
    if deed.source:
        from adapters.usecases import import_tasks

        command = import_tasks.undo_command(deed.tasks, deed.appends)
        took = import_tasks.take_back(home, command, key)
        return UndoResult(deed, _end(home), took.kept, passed)
    return _taken_back(home, deed, key)._replace(passed=passed)


def undo_asked(
    home: "Home", ref: str, key: str, agree: "Callable[[UndoChoice], None] | None"
) -> UndoneDeed:
    """As `undo`, told as its document. `agree`: is asked first where nothing is named and the
    newest deed may be another than is thought of, and raises what ends it; None: it is agreed."""
    passed: list[UndoableDeed] = []
    if not ref and not is_done(home, key):
        choice = newest(home)
        if agree is not None and not choice.is_clear:
            agree(choice)
        ref, passed = choice.deed.ref, undo_documents(home, choice.passed)
    done = undo(home, ref, key)
    home.views.catch_up()
    told = undo_document(home, done.deed)
    redo = redo_commands(done.redo, done.deed.what, told.proposals)
    return UndoneDeed(told, redo, [*done.kept], passed, done.is_repeated)


def refuse_undo(home: "Home", choice: UndoChoice) -> None:
    """Says what would be undone, where nobody can be asked. Raises Refused, always."""
    newer, wanted = passed_over(home, choice), undo_question(home, choice)
    because = "; ".join([*newer, f"before it: {wanted}"] if newer else [f"it is {wanted}"])
    raise invalid(because, f"`wakelog undo {choice.deed.ref}` takes that back, or add --yes")


def undo_verdict(home: "Home", item: ItemRef, key: str = "") -> None:
    """Take one verdict back, however old it is, and of several that were given at once only this.
    Raises Refused, code ``stale``: something of it was changed since."""
    _recovered(home)
    found = item_of(home, *item)
    if found.status == "pending":
        return
    receipt = orphaned_effects.effect(home.services, found.tool, found.operations[::-1])
    effect = _in_one(home) if (found.status, found.tool) == ("confirmed", PROPOSE) else None
    if found.status == "confirmed" and receipt is not None:
        effect = ConfirmationEffect(receipt.entity, receipt.replica, receipt.n, ())
    with dispatch_after_commit(home):
        _take_back_verdict(home, item, effect, key)


def _open_first(home: "Home") -> list[Deed]:
    """The newest deed that something takes back, behind those that nothing does."""
    found: list[Deed] = []
    for deed in _find_deeds(home, most=JUDGED_MAX, first=SHOWN_FIRST):
        if deed.state in ("open", "moved"):
            return [*found, *_deeds_named(home, deed.ref)]
        found += [deed] if deed.state == "stays" else []
    return found


def _taken_back(home: "Home", deed: Deed, key: str, after: int = 0) -> UndoResult:
    """Take edits and verdicts back, the newest first; `after`: appends that were made under the key
    before."""
    redo, nth, replica = "", after, home.services.journal.replica
    with dispatch_after_commit(home):
        effects = {one.n for one in deed.effects if one and one.replica == replica}
        if own := tuple(n for n in deed.appends if n not in effects):
            nth += 1
            is_said = any(isinstance(fact, DeedUndone) for _, fact in deed.facts)
            revives = has_lost_labels(home, deed.tasks)
            reopens = deed.reopens or is_said
            command = UndoDeed(deed.tasks, own, reopens=reopens, revives=revives, days=deed.days)
            append_command(home, command, key, nth=nth)
            redo = _end(home)
        for item, effect in reversed([*zip(deed.items, deed.effects, strict=True)]):
            nth += 1
            _take_back_verdict(home, item, effect, nth_key(key, nth))
    return UndoResult(deed, redo)


def _take_back_verdict(
    home: "Home", item: ItemRef, effect: ConfirmationEffect | None, key: str
) -> None:
    home.resume_states()
    if effect is None:
        review.reopen(home.services, *item, key)
        return
    after = review.undo(home.services, *item, effect.operation, key)
    if after is not None and not is_undone(after, effect.operation, after.confirmation):
        raise _moved()


def _in_one(home: "Home") -> ConfirmationEffect:
    """What a confirmation wrote in its own append: nothing to the journal."""
    return ConfirmationEffect("", home.services.journal.replica, 0, ())


def _moved() -> Refused:
    told = "what it did was changed since, so it was not changed back"
    instead = "look at the task, and change it by hand; or name an older deed, see `--list`"
    return Refused("stale", because=told, instead=instead)


def deeds(home: "Home", name: str = "", *, within: int = 0) -> list[Deed]:
    """The newest deeds of the person that are not undone, the newest first; only the one that is
    kept under a name, if that is given. Of more than `DEEDS_MAX`, undone ones counted, the older
    are left out; and what is further back than `within` appends of each log, if that is given."""
    return [one for one in _find_deeds(home, name, within=within) if one.state != "undone"]


def listed(home: "Home") -> list[Deed]:
    """The newest deeds, those that were undone, too; of a large one only its newest tasks are
    looked at."""
    return list(_find_deeds(home, most=JUDGED_MAX))


def _find_deeds(
    home: "Home",
    name: str = "",
    *,
    within: int = 0,
    most: int = 0,
    first: int = DEEDS_MAX,
    whole: str = "",
) -> Iterator[Deed]:
    """The newest deeds, as they are asked for: see `deeds`. `most`: how many tasks and verdicts of
    each are looked at, 0: all; `first`: for so many the logs are read, and for all once another one
    is asked for; `whole`: the name of one of which all is looked at."""
    known, seen = list[str](), set[ItemRef]()
    own = home.services.journal.replica
    for wanted in dict.fromkeys((first, DEEDS_MAX)):
        said = _person_commands(home, within, wanted)
        undone, parts = _undone(said, own), dict[str, list[PersonCommand]]()
        for one in said:
            if not isinstance(one.command, UndoDeed | UndoImport):
                parts.setdefault(one.name, []).append(one)
        for other in [*parts][:wanted]:
            if other in known:
                continue
            known.append(other)
            looked = 0 if parts[other][0].ref == whole else most
            deed = _deed(home, parts[other], undone, seen, looked)
            if deed is not None and name in ("", other):
                yield deed if deed.state == "undone" else _judged(home, deed, looked)


def _undone(said: "Sequence[PersonCommand]", own: str) -> dict[int, str]:
    """The appends of this replica that were undone, and the name of what undid each; the newest
    come first."""
    undone: dict[int, str] = {}
    for one in said:
        match one.command:
            case UndoDeed(appends=appends, of=of) if one.n not in undone:
                undone |= dict.fromkeys(appends if of in ("", own) else (), one.ref)
            case UndoImport() as back if one.n not in undone:
                back_to = back.appends or range(back.first, back.last + 1)
                undone |= dict.fromkeys(back_to, one.ref)
    return undone


def deed_under(home: "Home", key: str) -> Deed | None:
    """What was just done under a caller's key, if it can be undone: each verdict on the page asks,
    however long the logs are."""
    found = deeds(home, key, within=LOOK_FIRST)
    return next((one for one in found if one.state == "open"), None)


# --------------------------------------------------------------------------------- finding back


def deeds_of(home: "Home", task: str) -> list[Deed]:
    """Those of the newest deeds that changed a task and can be undone: its page asks, however long
    the logs are."""
    found = deeds(home, within=LOOK_BACK)
    return [one for one in found if one.state == "open" and task in one.tasks]


class _DeedNames:
    """The names of deeds, as far back as was read. Of what is further back a log says whether it
    is there."""

    def __init__(self, home: "Home", read: set[str]) -> None:
        self._logs = (home.services.journal, home.services.agents)
        self._read = read

    def has(self, *names: str) -> bool:
        return any(one in self._read or self.is_behind(one) for one in names)

    def is_behind(self, name: str) -> bool:
        """Whether it stands in a log, before what was read."""
        return name not in self._read and any(log.receipts(name) for log in self._logs)


def _person_commands(home: "Home", within: int = 0, wanted: int = DEEDS_MAX) -> list[PersonCommand]:
    """The commands of the person in both logs, the newest first, with the name of their deed: so
    many whole deeds at least, if there are, no further back than `within` appends, if given."""
    ends = [(home.services.journal, _of_journal), (home.services.agents, _of_agents)]
    tails = [_LogTail(log, read, within) for log, read in ends]
    count = LOOK_FIRST
    while True:  # bounded: looks at each append once
        for one in tails:
            one.look(count)
        every = sorted([said for one in tails for said in one.found], reverse=True)
        names = _DeedNames(home, {name for one in tails for name in one.names})
        named: list[PersonCommand] = []
        for said in every:
            name = _imported(said, named) or _deed_name(said.name, names.has)
            named.append(said._replace(name=name))
        deeds = [*dict.fromkeys(said.name for said in named)]
        is_more = len(deeds) > wanted + 1
        is_whole = not any(
            names.is_behind(first)
            for one in deeds[:wanted]
            for first in (one, f"{one}:1", f"{one}:1:1")
        )
        if (is_more and is_whole) or all(one.is_over for one in tails):
            return named
        count *= 2


class _LogTail:
    """What a log says, from its end on backwards: no further than `within` appends, if given."""

    def __init__(
        self, log: "Log", read: "Callable[[list[Row]], Iterator[PersonCommand]]", within: int
    ) -> None:
        self._log, self._read, self._within = log, read, within
        self._last = self._end = log.tail().n
        self.found: list[PersonCommand] = []
        self.names: set[str] = set()

    @property
    def is_over(self) -> bool:
        return not self._last or 0 < self._within <= self._end - self._last

    def look(self, count: int) -> None:
        """Look so many appends further back."""
        if self.is_over:
            return
        after, last, log = max(self._last - count, 0), self._last, self._log
        older: list[PersonCommand] = []
        every = by_append(log.rows(after))
        for rows in takewhile(lambda rows: numbered(rows[0].state).n <= last, every):
            stream = rows[0].stream
            if rows[0].topic == envelope.ERASED:
                continue
            if stream.startswith("receipt:") and stream.endswith(f"@{log.replica}"):
                self.names.add(entity_of(stream))
                older += self._read(rows)
        self.found, self._last = older + self.found, after


def _of_journal(rows: "Sequence[Row]") -> Iterator[PersonCommand]:
    first: Any = envelope.read(rows[0])
    command = first.data.command
    changed = dict.fromkeys(row.stream for row in rows)
    tasks, days = (
        tuple(entity_of(one) for one in changed if one.startswith(f"{kind.name}:"))
        for kind in (TASK, DAY)
    )
    is_copy = isinstance(command, do.ImportTasks) and command.is_written_back
    if (tasks or days) and not is_copy and not isinstance(command, NEVER):
        name, place = entity_of(rows[0].stream), (first.n, 0, 0)
        reopens = any(row.topic.startswith(MORE_THAN_TASKS) for row in rows)
        yield PersonCommand(place, first.n, first.at, name, command, tasks, reopens, days)


def _of_agents(rows: "Sequence[Row]") -> Iterator[PersonCommand]:
    first: Any = envelope.read(rows[0])
    command = first.data.command
    is_verdict = isinstance(command, ConfirmItem | RejectItem | DeferItem)
    if is_verdict and command.by == PERSON and len(rows) > 1:
        place = command.position, 1, first.n
        yield PersonCommand(place, first.n, first.at, entity_of(rows[0].stream), command, ())


def _deed_name(name: str, has: "Callable[..., bool]") -> str:
    """What all appends of a deed have in common: of ``K:1``, ``K:2``, ``K:2:1`` it is ``K``; a
    caller's key may end in a number, too. `has`: whether any of these names is there.

    >>> of_k, of_none = lambda *names: "K:1" in names, lambda *names: False
    >>> _deed_name("K:2:1", of_k), _deed_name("job:2:1", of_none), _deed_name("K", of_none)
    ('K', 'job:2', 'K')
    """
    base, _, nth = name.rpartition(":")
    if not base or not nth.isdigit():
        return name
    outer, _, inner = base.rpartition(":")
    is_within = outer and inner.isdigit() and has(outer, f"{outer}:1")
    return outer if is_within else base


def _imported(said: PersonCommand, newer: Sequence[PersonCommand]) -> str:
    """The name of an import's deed: all its parts but the last are full."""
    command = said.command
    if not isinstance(command, do.ImportTasks):
        return ""
    from adapters.usecases.import_tasks import TASKS_MAX  # few deeds are imports: it loads readers

    for one in reversed(newer):
        if one.n == said.n + 1 and not one.place[1]:
            after = one.command
            is_part = isinstance(after, do.ImportTasks) and after.source == command.source
            return one.name if is_part and len(command.tasks) >= TASKS_MAX else said.name
    return said.name


def _deed(
    home: "Home",
    parts: Sequence[PersonCommand],
    undone: Mapping[int, str],
    seen: set[ItemRef],
    most: int = 0,
) -> Deed | None:
    """What of a deed is not undone, or that all of it is; None where later verdicts replaced it.
    `most`: of how many verdicts it is looked at, if that is given."""
    own = home.services.journal.replica
    tasks, days = dict[str, None](), dict[str, None]()
    appends: set[int] = set()
    items: list[tuple[ItemRef, ConfirmationEffect | None]] = []
    reopened: list[ItemRef] = []
    again, reopens, more = "", False, 0
    for one in parts:
        match one.command:
            case ConfirmItem() | RejectItem() | DeferItem() if 0 < most <= len(items):
                more += 1
            case ConfirmItem() | RejectItem() | DeferItem() as verdict:
                name = (verdict.changes, verdict.item)
                item = item_of(home, *name)
                if name in seen or item.status not in (STANDS[type(verdict)], "pending"):
                    continue
                seen.add(name)
                is_confirm = isinstance(verdict, ConfirmItem)
                effect = _effect(home, one) if is_confirm and item.status != "pending" else None
                n = effect.n if effect and effect.replica == own else 0
                if item.status == "pending":  # with an error it was tried in vain, else undone
                    reopened += [] if item.error else [name]
                elif n in undone:
                    again = undone[n]
                elif effect or not is_confirm:
                    items.append((name, effect))
                    appends.update({n} - {0})
                    tasks |= dict.fromkeys(effect.tasks if effect else ())
                    days |= dict.fromkeys(effect.days if effect else ())
            case _ if one.n not in undone:
                appends.add(one.n)
                tasks |= dict.fromkeys(one.tasks)
                days |= dict.fromkeys(one.days)
                reopens |= one.reopens
            case _:
                again = undone[one.n]
    newest, command = parts[0], parts[-1].command
    source = command.source if isinstance(command, do.ImportTasks) else ""
    named = Deed(newest.ref, newest.at, what_of(command), (), (), (), source=source)
    if not (appends or items):
        if not (again or reopened):
            return None
        changed = dict.fromkeys(task for one in parts for task in one.tasks)
        on_days = dict.fromkeys(date for one in parts for date in one.days)
        named = named._replace(tasks=tuple(changed), items=tuple(reopened), days=tuple(on_days))
        return named._replace(state="undone", again=again)
    return named._replace(
        tasks=tuple(tasks),
        appends=tuple(sorted(appends)),
        items=tuple(one for one, _ in items[::-1]),
        effects=tuple(one for _, one in items[::-1]),
        reopens=reopens,
        more=more,
        place=newest.place,
        days=tuple(days),
    )


def _effect(home: "Home", said: PersonCommand) -> ConfirmationEffect | None:
    """What a confirmation wrote, and to which tasks."""
    services, command = home.services, said.command
    item = item_of(home, *_item_of(command))
    asked = (envelope.read(row).data for row in services.agents.append_at(said.n))
    operations = [one.operation for one in asked if isinstance(one, ItemConfirming)]
    if item.tool == PROPOSE:
        return _in_one(home)
    receipt = orphaned_effects.effect(services, item.tool, operations)
    if receipt is None:
        return None
    done = _command_of(receipt)
    tasks = tuple(one for one in (done.task, *done.others) if one)
    days = days_of(done.task, done.tool, review.arguments_of(services, item))
    return ConfirmationEffect(receipt.entity, receipt.replica, receipt.n, tasks, days)


def _judged(home: "Home", deed: Deed, most: int = 0) -> Deed:
    """A deed with what takes it back, as things are; of its tasks so many are looked at, if that is
    given: who undoes it looks at all of them once more."""
    now = home.services.clock.now()
    found: dict[str, UndoneTask] = {}
    with home.services.journal.reading() as world:
        deed = _without_staying(world, deed, now)
        for task in deed.tasks:
            if 0 < most <= len(found) and any(one.facts or one.is_moved for one in found.values()):
                break
            if deed.source:
                found[task] = UndoneTask(import_undone_in_task(world, task, deed.appends, now)[0])
            else:
                found[task] = undone_in_task(world, task, deed.appends, now, reopens=True)
        days = [*_days_back(world, deed.days, world.replica, deed.appends)]
        others = [one for one in deed.effects if one and one.replica != world.replica]
        every = [*found.items(), *(pair for one in others for pair in _back(world, one, now))]
        for one in others:
            days += _days_back(world, one.days, one.replica, (one.n,))
    alone = zip(deed.items, deed.effects, strict=True)
    are_there = all(review.can_return(home.services, *of) for of, one in alone if one and not one.n)
    state: DeedState = "open"
    day_facts = tuple(fact for one in days for fact in one or ())
    if any(one.is_moved for _, one in every) or None in days or not are_there:
        state = "moved"
    elif not (deed.items or day_facts or any(one.facts for _, one in every)):
        state = "stays"
    facts = tuple((task, fact) for task, one in every for fact in one.facts)
    staying = tuple(fact for _, one in every for fact in one.staying)
    left = len(deed.tasks) - len(found)
    return deed._replace(state=state, facts=facts, staying=staying, left=left, day_facts=day_facts)


def _without_staying(world: "LogState", deed: Deed, now: str) -> Deed:
    """A deed without the confirmations of which nothing can be taken back: they stand."""
    kept = [
        (item, effect)
        for item, effect in zip(deed.items, deed.effects, strict=True)
        if effect is None
        or not effect.n
        or any(one.is_moved or one.facts for _, one in _back(world, effect, now))
        or any(one != [] for one in _days_back(world, effect.days, effect.replica, (effect.n,)))
    ]
    items, effects = tuple(one for one, _ in kept), tuple(one for _, one in kept)
    return deed._replace(items=items, effects=effects)


def _back(
    world: "LogState", effect: ConfirmationEffect, now: str
) -> "Iterator[tuple[str, UndoneTask]]":
    """What takes an effect back, by task."""
    for one in effect.tasks:
        yield one, undone_in_task(world, one, (effect.n,), now, effect.replica, reopens=True)


def _days_back(
    world: "LogState", days: Sequence[str], replica: str, appends: Collection[int]
) -> Iterator[Sequence[DayFact] | None]:
    """What takes appends of a replica back in each day; None where something was moved since."""
    for one in days:
        yield taken_back(world.rows(DAY, one), world.load(DAY, one), replica, appends)


def what_of(command: Stored) -> str:
    """What a command is called.

    >>> what_of(UndoDeed((), ())), what_of(do.EditTask("t", status="DONE"))
    ('undo deed', 'finish task')
    """
    if isinstance(command, do.EditTask | do.CreateTask) and command.status == "DONE":
        return "finish task" if isinstance(command, do.EditTask) else "log task"
    name = str(command.__struct_config__.tag).split(".")[1]
    return name.replace("_", " ").replace("receipt", "consent")


def _deeds_named(home: "Home", ref: str) -> list[Deed]:
    """The deed of that name, or an earlier undo."""
    for deed in _find_deeds(home, most=JUDGED_MAX, whole=ref):
        if deed.ref == ref and deed.state != "undone":
            return [deed]
    for one in _person_commands(home):
        if one.ref == ref and isinstance(one.command, UndoDeed) and one.command.operation:
            because = f"{ref} took a confirmation back, and the proposal waits for you again"
            raise invalid(because, Remedy("see_open_proposals"))
        if one.ref == ref and isinstance(one.command, UndoDeed | UndoImport):
            deed = Deed(ref, one.at, what_of(one.command), one.tasks, (one.n,), ())
            return [_judged(home, deed._replace(reopens=one.reopens, days=one.days))]
        if one.ref == ref:
            because = f"what {ref} did was undone or changed since, or is too long ago"
            instead = "look at the task, and change it by hand"
            raise Refused("stale", because=because, instead=instead)
    because = f"{ref!r} is none of the deeds that can be undone"
    raise invalid(because, "`wakelog undo --list` shows them with their names")


def _recovered(home: "Home") -> None:
    """What a process that is gone left in doubt is brought to its end first."""
    for set_id in in_flight_sets(home) if home.exists else ():
        review.recover(home.services, set_id)


def _end(home: "Home") -> str:
    return f"j{home.services.journal.tail().n}"


def _undos_under(home: "Home", key: str) -> list["RecordedEvent"]:
    """What an undo under that key appended before, the first one first."""
    logs = (home.services.agents, home.services.journal) if key else ()
    found: list[RecordedEvent] = []
    while rows := [row for log in logs for row in log.receipts(nth_key(key, len(found) + 1))]:
        if not isinstance(_command_of(rows[0]), ReopenItem | UndoItem | UndoDeed | UndoImport):
            break  # the key stands for something else
        found.append(rows[0])
    return found


def _rest(home: "Home", last: "RecordedEvent") -> Deed | None:
    """What is left of a deed whose process was gone after it took a part of it back."""
    command = _command_of(last)
    if isinstance(command, UndoImport):
        return None
    every = _person_commands(home)
    if isinstance(command, UndoDeed):
        parts = (one for one in every if not one.place[1] and one.n in command.appends)
    else:
        verdicts = (one for one in every if one.place[1] and one.n < last.n)
        parts = (one for one in verdicts if _item_of(one.command) == _item_of(command))
    name = next((one.name for one in parts), "")
    return next((one for one in deeds(home, name) if one.state == "open"), None) if name else None


def _check_undone(home: "Home", last: "RecordedEvent") -> None:
    """Refuse where a confirmation was to be taken back and stands."""
    command = _command_of(last)
    if isinstance(command, UndoItem):
        item = item_of(home, *_item_of(command))
        if not is_undone(item, command.operation, item.confirmation):
            raise _moved()


def _repeated(before: Sequence["RecordedEvent"]) -> UndoResult:
    """What an undo was that is over."""
    row, commands = before[-1], [_command_of(one) for one in before]
    verdicts = [one for one in commands if isinstance(one, ReopenItem | UndoItem)]
    items = tuple(_item_of(one) for one in reversed(verdicts))
    what = "confirm item" if any(isinstance(one, UndoItem) for one in verdicts) else ""
    own = [one for one in before if not isinstance(_command_of(one), ReopenItem | UndoItem)]
    tasks, days = (getattr(_command_of(own[-1]), of, ()) if own else () for of in ("tasks", "days"))
    redo = f"j{own[-1].n}" if own else ""
    deed = Deed("", row.at, what, tasks, (), items, days=days)
    return UndoResult(deed, redo, is_repeated=True)


def _command_of(row: "RecordedEvent") -> Any:
    return getattr(row.fact, "command", row.fact)


def _item_of(command: Any) -> ItemRef:
    return command.changes, command.item


# --------------------------------------------------------------------------- the document of a deed

SAID_MAX = 20  # sentences of one deed


def undo_document(home: "Home", deed: Deed, ranked: Ranks | None = None) -> UndoableDeed:
    """A deed with what undoing it does, in words; `ranked`: what `ranks_of` gives."""
    now = home.services.clock.now()
    with home.services.journal.reading() as world:
        titles = [world.load(TASK, one).title for one in deed.tasks[:JUDGED_MAX]] + [*deed.days]
        facts = [(fact, world.load(TASK, task)) for task, fact in deed.facts[:SAID_MAX]]
    if deed.source:  # that nothing it said counts is no conflict
        facts = [one for one in facts if not isinstance(one[0], DeedUndone) or one[0].source]
    said = [undo_sentence(fact, task, now) for fact, task in facts]
    said += [day_undone(one) for one in deed.day_facts]
    if more := len(deed.facts) - len(facts):
        said.append(f"And {more} more")
    if left := deed.left + deed.more:
        said.append(f"And what it did to {left:,} more tasks")
    ranked = ranks_of(home) if ranked is None else ranked
    refs = [f"{set_name(ranked, one)}.{number}" for one, number in deed.items]
    if deed.state != "undone":
        said += [f"Put {one} before you again" for one in refs]
    name = f"the import of {deed.source}" if deed.source else deed_made(facts, deed.what)
    stays = [*dict.fromkeys(map(left_standing, deed.staying))]
    again = redo_commands(deed.again, deed.what, refs) if deed.state == "undone" else ""
    about = deed.ref, deed.at, deed.what, deed.state, titles, refs
    return UndoableDeed(*about, [*dict.fromkeys(said)], stays, name, deed.size, again)


def redo_commands(ref: str, what: str, refs: list[str]) -> str:
    """The commands that do again what was undone: its verdicts, then its edits."""
    verb = next((one for one in ("confirm", "defer") if what.startswith(one)), "reject")
    verdicts = [" ".join(["wakelog", verb, *refs])] if refs else []
    return " && ".join([*verdicts, *([f"wakelog undo {ref}"] if ref else [])])


def undo_question(home: "Home", choice: UndoChoice) -> str:
    """What an undo without a name would take back, as a question names it."""
    deed, now = choice.deed, home.services.clock.now()
    place = f", done {choice.where}" if choice.where else ""
    return f"{deed_question(undo_document(home, deed))}, {ago(deed.at, now)}{place}"


def passed_over(home: "Home", choice: UndoChoice) -> list[str]:
    """What came after it, and is not taken back, each with why."""
    found: list[str] = []
    what, task = choice.nothing
    if what:
        with home.services.journal.reading() as world:
            found.append(f"Nothing to take back in `{what}` of “{world.load(TASK, task).title}”")
    passed = undo_documents(home, choice.passed)
    if choice.lasting:
        found.append(f"Nothing takes back what came after it: {', '.join(choice.lasting)}")
    return found + [f"Not undone: {deed_question(one)}: {why_not_undone(one)}" for one in passed]


def undo_documents(home: "Home", deeds: Sequence[Deed]) -> list[UndoableDeed]:
    ranked = ranks_of(home)
    return [undo_document(home, one, ranked) for one in deeds]


def why_not_undone(one: UndoableDeed) -> str:
    if one.state == "moved" or (one.what == "import tasks" and not one.stays):
        return "changed since"
    return "; ".join(one.stays) or "nothing takes it back"
