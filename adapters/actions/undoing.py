"""The person's last deeds are found back in both logs, and one of them is taken back whole."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from adapters.actions import undoing_import
from adapters.actions.deciding import item_of
from adapters.actions.hearing import heard
from adapters.actions.importing import TASKS_MAX
from adapters.actions.naming import nth_key
from adapters.actions.tasks import keep
from adapters.runtime import finishing, review
from adapters.store.recorder import by_append, numbered
from domain import envelope
from domain.changes.change_set import is_undone
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem, ReopenItem, UndoItem
from domain.changes.events import ItemConfirming
from domain.errors import Refused, Remedy
from domain.handlers.imports import undone as undone_import
from domain.handlers.undoing import TakenBack, taken_back
from domain.journal import commands as do
from domain.journal.commands import UndoDeed, UndoImport
from domain.journal.task import PERSON, TaskFact
from domain.wire import Stored
from domain.world import entity_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.store.log import Log
    from adapters.wiring import Home
    from domain.envelope import Row
    from domain.world import Recorded, World

DEEDS_MAX = 20
LOOK_FIRST = 64  # appends from the end
LOOK_BACK = 2_000  # the same, where a page asks what can be undone
STANDS = {ConfirmItem: "confirmed", RejectItem: "rejected", DeferItem: "deferred"}
NEVER = (
    do.ApplyOperation, do.VoidOperation, do.AddCategory, do.RenameCategory, do.AddCorrection,
    do.AddLabel, do.DeleteLabel,
)  # fmt: skip
"""Commands of the journal that are none of a person, or change no task."""

State = Literal["open", "moved", "stays"]
ItemRef = tuple[str, int]


class Said(NamedTuple):
    """A command as it stands in a log, and the tasks that its append changed. `place`: in the
    order of both logs; a verdict comes after the journal that its person saw."""

    place: tuple[int, int, int]
    n: int
    at: str
    name: str
    command: Stored
    tasks: tuple[str, ...]

    @property
    def ref(self) -> str:
        return f"{'a' if self.place[1] else 'j'}{self.n}"


class Effect(NamedTuple):
    """What a confirmation wrote to the journal: the append `n` of a replica."""

    operation: str
    replica: str
    n: int


class Deed(NamedTuple):
    """Something that a person did. `appends`, of the journal, with the `tasks` that they changed,
    and `items`, of which the verdict is taken back, are what of it is not undone yet; `effects`:
    by item what it was confirmed with, None of another verdict.

    `state`: ``open``: it can be undone; ``moved``: something of it was changed since; ``stays``:
    nothing takes it back. `facts` would do it, by task; `staying` are what nothing takes back.
    """

    ref: str
    at: str
    what: str
    tasks: tuple[str, ...]
    appends: tuple[int, ...]
    items: tuple[ItemRef, ...]
    state: State = "open"
    facts: tuple[tuple[str, TaskFact], ...] = ()
    staying: tuple[TaskFact, ...] = ()
    source: str = ""  # of an import
    effects: tuple[Effect | None, ...] = ()


class Undone(NamedTuple):
    """What was taken back. `redo`: what the deed is called that does it again, if some of it is one
    of the journal's own; verdicts are given again; `kept`: tasks of an import that were changed
    since and stay; `passed`: newer deeds that nothing takes back."""

    deed: Deed
    redo: str = ""
    kept: tuple[str, ...] = ()
    passed: tuple[Deed, ...] = ()
    is_repeated: bool = False


def undo(home: "Home", ref: str = "", key: str = "") -> Undone:
    """Take the person's newest deed back that can be, or the one that `ref` names.

    Raises:
        Refused: Code ``stale``: something of it was changed since; ``invalid_value``: there is
            none.
    """
    _recovered(home)
    if before := _under(home, key):
        _check_undone(home, before[-1])
        rest = _rest(home, before[-1])
        return _taken_back(home, rest, key, len(before)) if rest else _repeated(before)
    found = _named(home, ref) if ref else deeds(home)
    deed = next((one for one in found if one.state != "stays"), None)
    if deed is None:
        because = f"nothing takes {ref} back" if found else "there is nothing to undo"
        instead = "`wakelog undo --list` shows what can be undone"
        raise Refused("invalid_value", because=because, instead=instead)
    passed = tuple(found[: found.index(deed)])
    if deed.state == "moved":
        raise _moved()
    if deed.source:
        command = UndoImport(deed.tasks, deed.appends[0], deed.appends[-1])
        took = undoing_import.take_back(home, command, key)
        return Undone(deed, _end(home), took.kept, passed)
    return _taken_back(home, deed, key)._replace(passed=passed)


def _taken_back(home: "Home", deed: Deed, key: str, after: int = 0) -> Undone:
    """Take edits and verdicts back, the newest first; `after`: appends that were made under the key
    before."""
    redo, nth = "", after
    with heard(home):
        if own := _own_appends(home, deed):
            nth += 1
            keep(home, UndoDeed(deed.tasks, own), key, nth=nth)
            redo = _end(home)
        for item, effect in reversed([*zip(deed.items, deed.effects, strict=True)]):
            nth += 1
            _take_back_verdict(home, item, effect, nth_key(key, nth))
    return Undone(deed, redo)


def _own_appends(home: "Home", deed: Deed) -> tuple[int, ...]:
    """The appends that are no effects of verdicts."""
    own = home.services.journal.replica
    effects = {one.n for one in deed.effects if one and one.replica == own}
    return tuple(n for n in deed.appends if n not in effects)


def _take_back_verdict(home: "Home", item: ItemRef, effect: Effect | None, key: str) -> None:
    if effect is None:
        review.reopen(home.services, *item, key)
        return
    after = review.undo(home.services, *item, effect.operation, key)
    if after is not None and not is_undone(after, effect.operation):
        raise _moved()


def _moved() -> Refused:
    told = "what it did was changed since, so it was not changed back"
    instead = "look at the task, and change it by hand; or name an older deed, see `--list`"
    return Refused("stale", because=told, instead=instead)


def deeds(home: "Home", name: str = "", *, within: int = 0) -> list[Deed]:
    """The newest deeds of the person that are not undone, the newest first; only the one that is
    kept under a name, if that is given. Of more than `DEEDS_MAX`, undone ones counted, the older
    are left out; and what is further back than `within` appends of each log, if that is given."""
    found: dict[str, list[Said]] = {}
    undone: set[int] = set()
    for said in _said(home, within):
        match said.command:
            case UndoDeed(appends=appends) as command if said.n not in undone:
                is_own = command.of in ("", home.services.journal.replica)
                undone.update(appends if is_own else ())
            case UndoImport(first=first, last=last) if said.n not in undone:
                undone.update(range(first, last + 1))
            case UndoDeed() | UndoImport():
                pass
            case _:
                found.setdefault(said.name, []).append(said)
    seen: set[ItemRef] = set()
    newest = [*found.items()][:DEEDS_MAX]
    made = [(known, _deed(home, parts, undone, seen)) for known, parts in newest]
    return [_judged(home, one) for known, one in made if one and name in ("", known)]


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


def _said(home: "Home", within: int = 0) -> list[Said]:
    """The commands of the person in both logs, the newest first, with the name of their deed."""
    journal = _newest(home.services.journal, _of_journal, within)
    verdicts = _newest(home.services.agents, _of_agents, within)
    every = sorted([*journal, *verdicts], reverse=True)
    names = {one.name for one in every}
    named: list[Said] = []
    for one in every:
        name = _imported(one, named) or _deed_name(one.name, names)
        named.append(one._replace(name=name))
    return named


def _newest(log: "Log", read: "Callable[[list[Row]], Iterator[Said]]", within: int) -> list[Said]:
    """As far back as is needed, or to the beginning; no further than `within` appends, if that is
    given."""
    last = end = log.tail().n
    count = LOOK_FIRST
    found: list[Said] = []
    while True:  # bounded: looks at each append once
        after = max(last - count, 0)
        older = [
            said
            for rows in _between(log, after, last)
            if rows[0].stream.startswith("receipt:") and rows[0].stream.endswith(f"@{log.replica}")
            for said in read(rows)
        ]
        found = older + found
        names = {one.name for one in found}
        is_enough = len({_deed_name(one, names) for one in names}) > 2 * DEEDS_MAX
        if is_enough or not after or 0 < within <= end - after:
            return found
        last, count = after, count * 2


def _between(log: "Log", after: int, last: int) -> "Iterator[list[Row]]":
    return takewhile(lambda rows: numbered(rows[0].state).n <= last, by_append(log.rows(after)))


def _of_journal(rows: "Sequence[Row]") -> Iterator[Said]:
    first: Any = envelope.read(rows[0])
    command = first.data.command
    tasks = {entity_of(row.stream): None for row in rows if row.stream.startswith("task:")}
    is_copy = isinstance(command, do.ImportTasks) and command.is_written_back
    if tasks and not is_copy and not isinstance(command, NEVER):
        name = entity_of(rows[0].stream)
        yield Said((first.n, 0, 0), first.n, first.at, name, command, tuple(tasks))


def _of_agents(rows: "Sequence[Row]") -> Iterator[Said]:
    first: Any = envelope.read(rows[0])
    command = first.data.command
    is_verdict = isinstance(command, ConfirmItem | RejectItem | DeferItem)
    if is_verdict and command.by == PERSON and len(rows) > 1:
        place = command.position, 1, first.n
        yield Said(place, first.n, first.at, entity_of(rows[0].stream), command, ())


def _deed_name(name: str, names: set[str]) -> str:
    """What all appends of a deed have in common: of ``K:1``, ``K:2``, ``K:2:1`` it is ``K``; a
    caller's key may end in a number, too.

    >>> _deed_name("K:2:1", {"K:1"}), _deed_name("job:2:1", {"job:1:1"}), _deed_name("K", set())
    ('K', 'job:2', 'K')
    """
    base, _, nth = name.rpartition(":")
    if not base or not nth.isdigit():
        return name
    outer, _, inner = base.rpartition(":")
    is_within = outer and inner.isdigit() and names & {outer, f"{outer}:1"}
    return outer if is_within else base


def _imported(said: Said, newer: Sequence[Said]) -> str:
    """The name of an import's deed: all its parts but the last are full."""
    command = said.command
    if not isinstance(command, do.ImportTasks):
        return ""
    for one in reversed(newer):
        if one.n == said.n + 1 and not one.place[1]:
            is_part = (
                isinstance(one.command, do.ImportTasks) and one.command.source == command.source
            )
            return one.name if is_part and len(command.tasks) >= TASKS_MAX else said.name
    return said.name


def _deed(home: "Home", parts: Sequence[Said], undone: set[int], seen: set[ItemRef]) -> Deed | None:
    """What of a deed is not undone, or None if all of it is."""
    own = home.services.journal.replica
    tasks: dict[str, None] = {}
    appends: set[int] = set()
    items: list[tuple[ItemRef, Effect | None]] = []
    for one in parts:
        match one.command:
            case ConfirmItem() | RejectItem() | DeferItem() as verdict:
                name = (verdict.changes, verdict.item)
                item = item_of(home, *name)
                if name in seen or item.status != STANDS[type(verdict)]:
                    continue
                seen.add(name)
                if not isinstance(verdict, ConfirmItem):
                    items.append((name, None))
                elif found := _effect(home, one, undone):
                    effect, changed = found
                    appends.update({effect.n} if effect.replica == own else ())
                    items.append((name, effect))
                    tasks |= dict.fromkeys(changed)
            case _ if one.n not in undone:
                appends.add(one.n)
                tasks |= dict.fromkeys(one.tasks)
    if not (appends or items):
        return None
    command = parts[-1].command
    source = command.source if isinstance(command, do.ImportTasks) else ""
    newest, ns = parts[0], tuple(sorted(appends))
    refs, effects = tuple(one for one, _ in items[::-1]), tuple(one for _, one in items[::-1])
    what = what_of(command)
    return Deed(newest.ref, newest.at, what, tuple(tasks), ns, refs, source=source, effects=effects)


def _effect(home: "Home", said: Said, undone: set[int]) -> "tuple[Effect, tuple[str, ...]] | None":
    """What a confirmation wrote, and to which tasks; None where that was taken back alone."""
    services, command = home.services, said.command
    item = item_of(home, *_item_of(command))
    asked = (envelope.read(row).data for row in services.agents.append_at(said.n))
    operations = [one.operation for one in asked if isinstance(one, ItemConfirming)]
    receipt = finishing.effect(services, item.tool, operations)
    if receipt is None or (receipt.replica == services.journal.replica and receipt.n in undone):
        return None
    done = _command_of(receipt)
    return Effect(receipt.entity, receipt.replica, receipt.n), (done.task, *done.others)


def _judged(home: "Home", deed: Deed) -> Deed:
    """A deed with what takes it back, as things are."""
    now = home.services.clock.now()
    found: dict[str, TakenBack] = {}
    with home.services.journal.reading() as world:
        deed = _without_staying(world, deed, now)
        for task in deed.tasks:
            if deed.source:
                back, _ = undone_import(world, task, deed.appends[0], deed.appends[-1])
                found[task] = TakenBack(back)
            else:
                found[task] = taken_back(world, task, deed.appends, now)
        others = _taken_from_others(world, deed, now)
    every = [*found.items(), *others]
    state: State = "open"
    if any(one.is_moved for _, one in every):
        state = "moved"
    elif not deed.items and not any(one.facts for _, one in every):
        state = "stays"
    facts = tuple((task, fact) for task, one in every for fact in one.facts)
    staying = tuple(fact for _, one in every for fact in one.staying)
    return deed._replace(state=state, facts=facts, staying=staying)


def _without_staying(world: "World", deed: Deed, now: str) -> Deed:
    """A deed without the confirmations of which nothing can be taken back: they stand."""
    kept = [
        (item, effect)
        for item, effect in zip(deed.items, deed.effects, strict=True)
        if effect is None
        or any(one.is_moved or one.facts for one in _back(world, deed, effect, now))
    ]
    items, effects = tuple(one for one, _ in kept), tuple(one for _, one in kept)
    return deed._replace(items=items, effects=effects)


def _back(world: "World", deed: Deed, effect: Effect, now: str) -> "Iterator[TakenBack]":
    """What takes an effect back, by task."""
    return (taken_back(world, one, (effect.n,), now, effect.replica) for one in deed.tasks)


def _taken_from_others(world: "World", deed: Deed, now: str) -> "list[tuple[str, TakenBack]]":
    """The same of effects that other machines of a shared home wrote, by task."""
    others = (one for one in deed.effects if one and one.replica != world.replica)
    return [
        pair
        for one in others
        for pair in zip(deed.tasks, _back(world, deed, one, now), strict=True)
    ]


def what_of(command: Stored) -> str:
    """What a command is called.

    >>> what_of(UndoDeed((), ()))
    'undo deed'
    """
    return str(command.__struct_config__.tag).split(".")[1].replace("_", " ")


def _named(home: "Home", ref: str) -> list[Deed]:
    """The deed of that name, or an earlier undo."""
    if found := [one for one in deeds(home) if one.ref == ref]:
        return found
    for one in _said(home):
        if one.ref == ref and isinstance(one.command, UndoDeed) and one.command.operation:
            because = f"{ref} took a confirmation back, and the proposal waits for you again"
            raise Refused("invalid_value", because=because, instead=Remedy("see_open_proposals"))
        if one.ref == ref and isinstance(one.command, UndoDeed | UndoImport):
            deed = Deed(ref, one.at, what_of(one.command), one.tasks, (one.n,), ())
            return [_judged(home, deed)]
        if one.ref == ref:
            because = f"what {ref} did was undone or changed since, or is too long ago"
            instead = "look at the task, and change it by hand"
            raise Refused("stale", because=because, instead=instead)
    because = f"{ref!r} is none of the deeds that can be undone"
    instead = "`wakelog undo --list` shows them with their names"
    raise Refused("invalid_value", because=because, instead=instead)


def _recovered(home: "Home") -> None:
    """What a process that is gone left in doubt is brought to its end first."""
    from adapters.actions.recovering import in_flight_sets

    for set_id in in_flight_sets(home) if home.exists else ():
        review.recover(home.services, set_id)


def _end(home: "Home") -> str:
    return f"j{home.services.journal.tail().n}"


def _under(home: "Home", key: str) -> list["Recorded"]:
    """What an undo under that key appended before, the first one first."""
    logs = (home.services.agents, home.services.journal) if key else ()
    found: list[Recorded] = []
    while rows := [row for log in logs for row in log.receipts(nth_key(key, len(found) + 1))]:
        if not isinstance(_command_of(rows[0]), ReopenItem | UndoItem | UndoDeed | UndoImport):
            break  # the key stands for something else
        found.append(rows[0])
    return found


def _rest(home: "Home", last: "Recorded") -> Deed | None:
    """What is left of a deed whose process was gone after it took a part of it back."""
    command = _command_of(last)
    if isinstance(command, UndoImport):
        return None
    if isinstance(command, UndoDeed):
        parts = (one for one in _said(home) if not one.place[1] and one.n in command.appends)
    else:
        item = _item_of(command)
        verdicts = (one for one in _said(home) if one.place[1] and one.n < last.n)
        parts = (one for one in verdicts if _item_of(one.command) == item)
    name = next((one.name for one in parts), "")
    return next((one for one in deeds(home, name) if one.state == "open"), None) if name else None


def _check_undone(home: "Home", last: "Recorded") -> None:
    """Refuse where a confirmation was to be taken back and stands."""
    command = _command_of(last)
    if isinstance(command, UndoItem):
        item = item_of(home, *_item_of(command))
        if not is_undone(item, command.operation):
            raise _moved()


def _repeated(before: Sequence["Recorded"]) -> Undone:
    """What an undo was that is over."""
    row, commands = before[-1], [_command_of(one) for one in before]
    verdicts = [one for one in commands if isinstance(one, ReopenItem | UndoItem)]
    items = tuple(_item_of(one) for one in reversed(verdicts))
    what = "confirm item" if any(isinstance(one, UndoItem) for one in verdicts) else ""
    own = [one for one in before if not isinstance(_command_of(one), ReopenItem | UndoItem)]
    tasks = _command_of(own[-1]).tasks if own else ()
    redo = f"j{own[-1].n}" if own else ""
    return Undone(Deed("", row.at, what, tasks, (), items), redo, is_repeated=True)


def _command_of(row: "Recorded") -> Any:
    return getattr(row.fact, "command", row.fact)


def _item_of(command: Any) -> ItemRef:
    return command.changes, command.item
