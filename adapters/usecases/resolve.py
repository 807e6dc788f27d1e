"""What a person types, as the id that it names.

Words mean a title in any case, by any part of it; of those that mean none the nearest are told."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.text.common import ID_SHOWN
from domain.errors import Refused, Remedy, invalid
from domain.text import cut, fold, tokens

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.journal.task import ChecklistItem, Task
    from domain.lessons.commands import RateRun, RuleTool
    from domain.log.wire import Stored
    from domain.policy.commands import PolicyCommand
    from projections.agents import AgentDocument
    from projections.tasks import TaskDocument

NEAR_ENOUGH = 0.6  # how alike two words are that one may be mistyped for the other
NEAREST_MAX = 3


class Titles(NamedTuple):
    """What can be named: its id, and each title that it goes by."""

    id: str
    titles: tuple[str, ...]


def fuzzy_matches(words: str, known: Iterable[Titles]) -> list[Titles]:
    """Those that words mean: as a title in any case, else as a part of one, else word by word, each
    the beginning of a word of it.

    >>> shed = Titles("1", ("Paint the shed",))
    >>> both = [shed, Titles("2", ("Fix the sink",))]
    >>> [one.id for one in fuzzy_matches("THE SH", both)], fuzzy_matches("fix shed", both)
    (['1'], [])
    """
    told, parts = fold(words), tokens(words)
    if not told:
        return []
    known = list(known)
    fits: tuple[Callable[[str], bool], ...] = (
        lambda title: fold(title) == told,
        lambda title: told in fold(title),
        lambda title: bool(parts) and _has_each(tokens(title), parts),
    )
    for one_fits in fits:
        if found := [one for one in known if any(map(one_fits, one.titles))]:
            return found
    return []


def is_fuzzy_match(words: str, one: Titles) -> bool:
    """Whether a search for words shows it: by the beginning of its id, or by `fuzzy_matches`."""
    told = words.strip().lower()
    return bool(told) and (one.id.startswith(told) or bool(fuzzy_matches(words, [one])))


def _has_each(title: Sequence[str], parts: Sequence[str]) -> bool:
    return all(any(word.startswith(part) for word in title) for part in parts)


def nearest_titles(words: str, known: Iterable[Titles]) -> list[Titles]:
    """At most three that may have been meant by words that mean none, the nearest first."""
    from difflib import get_close_matches  # only who mistyped a name waits for it

    titled = [(one, {word for title in one.titles for word in tokens(title)}) for one in known]
    every = sorted({word for _, title in titled for word in title})
    parts = tokens(words)
    near = [get_close_matches(part, every, n=10, cutoff=NEAR_ENOUGH) for part in parts]
    scored = [(_score(title, near), one) for one, title in titled]
    found = [pair for pair in scored if 2 * pair[0] > 10 * len(parts)]
    found.sort(key=lambda pair: -pair[0])
    return [one for _, one in found[:NEAREST_MAX]]


def _score(title: set[str], near: Sequence[Sequence[str]]) -> int:
    """For each typed word up to ten, by how near the nearest word of a title is."""
    return sum(
        max((10 - place for place, word in enumerate(words) if word in title), default=0)
        for words in near
    )


# ---------------------------------------------------------------------------------------------- ids

PREFIX_MIN = 1  # characters of an id that name it, if they do so alone
LISTED_MAX = 5  # of what a word names, in a refusal


def pick(
    wanted: str,
    found: Sequence[tuple[str, str]],
    what: str,
    code: str,
    see: str | Remedy,
    *,
    is_whole: bool = False,
) -> str:
    """The one id that a word names: an id, an unambiguous prefix of one, or a title: exactly, else
    by a part of it, see `fuzzy_matches`.

    Args:
        found: ``(id, title)`` of all there are.
        what: ``"task"``, for the message.
        code: Of the refusal if there is none, ``"unknown_task"`` for example; else ``ambiguous``.
        see: Where all there are can be seen.
        is_whole: A part of a title does not do.
    """
    if exact := _exact_match(wanted, found, what):
        return exact
    names = [Titles(one, (title,)) for one, title in found]
    return pick_by_words(wanted, [] if is_whole else [names], what, code, see)


def _exact_match(wanted: str, found: Sequence[tuple[str, str]], what: str) -> str:
    """The one id that a word names as an id, a title, or the beginning of an id; else empty. Raises
    Refused, code ``ambiguous``."""
    ids = [one for one, _ in found]
    if wanted in ids:
        return wanted
    titled = [one for one, title in found if wanted and title == wanted]
    begun = [one for one in ids if len(wanted) >= PREFIX_MIN and one.startswith(wanted.lower())]
    matches = titled or begun
    if len(matches) > 1:
        because = f"{wanted!r} names {len(matches)} {what}s ({_short_ids(matches)})"
        raise Refused("ambiguous", because=because, instead="use more of the id")
    return matches[0] if matches else ""


def pick_by_words(
    wanted: str, groups: Sequence[Sequence[Titles]], what: str, code: str, see: str | Remedy
) -> str:
    """The id that words mean in the first group where they mean any. Raises Refused, code
    ``ambiguous`` with those they mean, or `code` with the nearest ones."""
    for group in groups:
        found = fuzzy_matches(wanted, group)
        if len(found) == 1:
            return found[0].id
        if found:
            because = f"{wanted!r} names {len(found)} {what}s: {_listed_names(found)}"
            raise Refused("ambiguous", because=because, instead="use more words, or the id")
    because = f"there is no {what} {wanted!r}"
    if near := nearest_titles(wanted, [one for group in groups for one in group]):
        because += f", the nearest: {_listed_names(near)}"
    raise Refused(code, because=because, instead=see)


def _listed_names(names: Sequence[Titles]) -> str:
    shown = [f'{one.id[:8]} "{cut(one.titles[0], length_max=40)}"' for one in names[:LISTED_MAX]]
    return ", ".join(shown) + (", ..." if len(names) > LISTED_MAX else "")


def pick_task(
    home: "Home", wanted: str, *, is_deleted: bool = False, is_whole: bool = False
) -> str:
    """The id of the task that a word names, see `pick`; living tasks before deleted ones.
    `is_deleted`: look among the deleted ones first; `is_whole`: a part of a title does not do.
    Raises Refused, code ``unknown_task`` or ``ambiguous``."""
    from projections.tasks import VIEW

    if home.views.get(VIEW, wanted) is not None:
        return wanted
    begun = home.views.page(VIEW, prefix=wanted.lower()) if len(wanted) >= PREFIX_MIN else []
    found = {task.id: task for task in (*home.views.titled(VIEW, wanted), *begun)}
    tasks = [found[one] for one in sorted(found)]
    if not begun:
        tasks = _without_namesakes(tasks)
    for is_it in (is_deleted, not is_deleted):
        known = [(task.id, task.title) for task in tasks if task.is_deleted == is_it]
        if exact := _exact_match(wanted, known, "task"):
            return exact
    every = [] if is_whole else _without_namesakes(home.views.page(VIEW))
    groups = [
        [Titles(one.id, (one.title,)) for one in every if one.is_deleted == is_it]
        for is_it in (is_deleted, not is_deleted)
    ]
    return pick_by_words(wanted, groups, "task", "unknown_task", Remedy("see_tasks"))


def _without_namesakes(tasks: "Sequence[TaskDocument]") -> "list[TaskDocument]":
    """The tasks but those that are closed and have the title of an open one, as what repeats."""
    titles = {fold(one.title) for one in tasks if one.is_open}
    return [one for one in tasks if one.is_open or one.is_deleted or fold(one.title) not in titles]


def nth_key(key: str, nth: int) -> str:
    """The key of a command's nth append, from 1; empty where the caller brought none (DESIGN 6).

    >>> nth_key("monday", 2), nth_key("", 2)
    ('monday:2', '')
    """
    return f"{key}:{nth}" if key else ""


def append_to_agents(home: "Home", command: "PolicyCommand | RateRun | RuleTool", key: str) -> bool:
    """Append a command to the agent log as the first of a deed; whether anything changed."""
    appended = home.services.append_agent(command, key=nth_key(key, 1))
    home.views.catch_up()
    return len(appended.rows) > 1  # one alone is a receipt


def retry_key(given: str) -> str:
    """An idempotency key as it was given: one that is changed would be another key. Raises Refused,
    code ``invalid_value``."""
    from domain.log.canonical import clean

    if clean(given) != given:
        raise invalid(f"the key {clean(given)!r} is no UTF-8", "use letters and digits")
    return given


# --------------------------------------------------------------------------- tasks and their parts
# As whoever writes names them: a retry under its key means what it meant then.


def pick_again(home: "Home", wanted: str, key: str = "", *, is_deleted: bool = False) -> "Task":
    """The task that a word names, see `pick_task`; a retry knows it by the title it had then.
    `is_deleted`: look among the deleted ones first."""
    from domain.journal.task import TASK

    try:
        task_id = pick_task(home, wanted, is_deleted=is_deleted, is_whole=bool(key))
    except Refused:
        # before a part of another's title: a retry means what it meant
        before = _named_before(home, wanted, key)
        task_id = before or pick_task(home, wanted, is_deleted=is_deleted)
    with home.services.journal.reading() as world:
        return world.load(TASK, task_id)


def pick_part(home: "Home", task: "Task", wanted: str, key: str = "") -> "ChecklistItem":
    """The checklist item that a word names: its number, id, prefix of it, or title."""
    titles = [(item.id, item.title) for item in task.items]
    numbered = {str(number): item for number, item in enumerate(task.items, start=1)}
    if wanted in numbered and wanted not in (title for _, title in titles):
        return numbered[wanted]
    see = f"see `wakelog task show {task.id[:ID_SHOWN]}` for its items and their numbers"
    try:
        item_id = pick(wanted, titles, "item", "unknown_item", see=see, is_whole=bool(key))
    except Refused:
        item_id = getattr(kept_before(home, key), "item", "")
        if not _has_had(home, task.id, wanted, item_id):
            item_id = pick(wanted, titles, "item", "unknown_item", see=see)
    return next(item for item in task.items if item.id == item_id)


def pick_note(home: "Home", task: "Task", wanted: str, key: str = "") -> str:
    """The id of the note that a word names: its number, its id or the beginning of one."""
    had = getattr(kept_before(home, key), "note", "")  # by a retry of what removed it
    known = [one.id for one in task.notes]
    return _part(task, wanted, "note", "notes and their numbers", known, had)


def pick_entry(task: "Task", wanted: str) -> str:
    """The id of the time entry that a word names: its number, its id or the beginning."""
    return _part(task, wanted, "entry", "time entries", [one.id for one in task.time])


def kept_before(home: "Home", key: str, *, nth: int = 1) -> "Stored | None":
    """The command of the nth append that stands under a key already, of a retry."""
    from domain.append.causes import Receipt

    rows = home.services.journal.receipts(nth_key(key, nth)) if key else ()
    receipt = rows[0].fact if rows else None
    return receipt.command if isinstance(receipt, Receipt) else None


def _named_before(home: "Home", wanted: str, key: str) -> str:
    command = kept_before(home, key)
    for name in ("task", "target"):
        task_id = getattr(command, name, "")
        if _has_had(home, task_id, wanted):
            return str(task_id)
    return ""


def _has_had(home: "Home", task_id: str, title: str, item_id: str = "") -> bool:
    """Whether a task, or an item of it, ever had a title."""
    if not task_id:
        return False
    journal = home.services.journal
    rows = journal.facts(f"task:{task_id}@{journal.replica}")
    return any(_gave(row.fact, item_id) == title for row in rows)


def _part(
    task: "Task", wanted: str, what: str, shown: str, known: Sequence[str], had: str = ""
) -> str:
    """The id of a part that a word names: its number, its id or the beginning of one."""
    numbered = {str(number): one for number, one in enumerate(known, start=1)}
    see = f"see `wakelog task show {task.id[:ID_SHOWN]}` for its {shown}"
    ids = [(one, "") for one in dict.fromkeys([*known, had]) if one]
    return numbered.get(wanted) or pick(wanted, ids, what, "unknown_item", see=see)


def _gave(fact: object, item_id: str) -> str | None:
    """The title that a fact gave to a task, or to an item of it."""
    from domain.journal import task as t

    match fact:
        case t.TaskCreated(title=title) | t.TaskRetitled(title=title) if not item_id:
            return title
        case t.ItemAdded(title=title) | t.ItemRetitled(title=title) if fact.item == item_id:
            return title
        case _:
            return None


# -------------------------------------------------------------------------------- agents and wakes


def pick_agent(home: "Home", wanted: str) -> str:
    """The id of the agent that a word names: by the agent's id, a beginning of it, its name, or
    its task, named as `pick` does; living agents before destroyed ones. Raises Refused, code
    ``unknown_agent``, ``no_agent`` (a task without one) or ``ambiguous``."""
    from domain.log.canonical import clean
    from projections import tasks

    stored = clean(wanted)  # no other text is in a document
    titles = {task.id: task.title for task in home.views.titled(tasks.VIEW, stored)}
    start = wanted.lower() if len(wanted) >= PREFIX_MIN else "-"
    known = _agents_like(home, stored, clean(start), titles)
    for is_living in (True, False):
        group = [agent for agent in known if agent.is_living == is_living]
        ids = {agent.id: (agent.id, agent.task_id) for agent in group}
        names = {agent.id: (agent.name, titles.get(agent.task_id, "")) for agent in group}
        found = (
            [one for one, parts in ids.items() if wanted in parts]
            or [one for one, parts in names.items() if wanted and wanted in parts]
            or [one for one, parts in ids.items() if any(part.startswith(start) for part in parts)]
        )
        if len(found) == 1:
            return found[0]
        if found:
            because = f"{wanted!r} names {len(found)} agents ({_short_ids(found)})"
            raise Refused("ambiguous", because=because, instead="use more of the id")
    if wanted in titles.values() or home.views.get(tasks.VIEW, stored) is not None:
        raise _without_agent(wanted)
    return _agent_by_words(home, stored)


def _agent_by_words(home: "Home", wanted: str) -> str:
    """The agent that words mean by its name or its task's title; living ones come first."""
    from projections import agents, tasks

    titles = {task.id: task.title for task in home.views.page(tasks.VIEW)}
    known = [one for one in home.views.page(agents.VIEW) if one.exists]
    groups: list[list[Titles]] = [[], []]
    for one in known:
        groups[not one.is_living].append(Titles(one.id, (one.name, titles.get(one.task_id, ""))))
    given = {one.task_id for one in known}
    others = [Titles(one, (title,)) for one, title in titles.items() if one not in given]
    if not any(fuzzy_matches(wanted, group) for group in groups) and (
        found := fuzzy_matches(wanted, others)
    ):
        raise _without_agent(found[0].titles[0])
    try:
        return pick_by_words(wanted, groups, "agent", "unknown_agent", Remedy("see_agents"))
    except Refused as refused:
        because = refused.because.replace("there is no agent", "there is no agent and no task", 1)
        instead = refused.remedy or refused.instead
        raise Refused(refused.code, because=because, instead=instead) from None


def _without_agent(task: str) -> Refused:
    because = f"the task {task!r} has no agent"
    return Refused("no_agent", because=because, instead=Remedy("give_task_agent"))


def _agents_like(
    home: "Home", wanted: str, start: str, task_ids: Iterable[str]
) -> "list[AgentDocument]":
    """Every agent that a word may name, in the order they came in: by its name or id, by its task's
    id, by the start of one of both, or as one of some tasks'."""
    from projections.agents import VIEW

    views = home.views
    found = [
        *views.titled(VIEW, wanted),
        *views.page(VIEW, prefix=start),
        *views.shelved(VIEW, start),
        *(one for shelf in (wanted, *task_ids) for one in views.page(VIEW, shelf=shelf)),
        views.get(VIEW, wanted),
    ]
    known = {one.id: one for one in found if one and one.exists}
    return sorted(known.values(), key=lambda one: (one.place, one.id))


def _short_ids(ids: Sequence[str]) -> str:
    return ", ".join(one[:8] for one in ids[:LISTED_MAX])


def pick_run(home: "Home", wanted: str) -> str:
    """The run key that a word names: itself, an unambiguous beginning of it, or, where it has run
    only once, the agent that it names. ``RUN@MACHINE``: the wake that a machine has under the key,
    which the answer names with its replica unless the wake has the key for itself. Raises Refused,
    code ``unknown_wake`` or ``ambiguous``, which lists the agent's newest wakes."""
    try:
        return _pick_run(home, wanted)
    except Refused as refused:
        run, at, machine = wanted.rpartition("@")
        if not at or refused.code == "ambiguous":
            raise
    return _run_of(home, _pick_run(home, run), machine)


def _run_of(home: "Home", run_key: str, machine: str) -> str:
    from adapters.home.files import machine_names
    from projections.wakes import VIEW

    wake = home.views.get(VIEW, run_key)
    every = wake.every if wake else ()
    names = machine_names(home.path, home.services.agents.replica)
    called = {one.run_key: (one.replica, names.get(one.replica, "")) for one in every}
    found = [name for name, known in called.items() if machine in known]
    if found:
        return found[0]
    ran_on = ", ".join(label or replica for replica, label in called.values())
    because = f"the wake {run_key[:ID_SHOWN]} did not run on {machine!r}"
    raise Refused("unknown_wake", because=because, instead=f"it ran on {ran_on}")


def _pick_run(home: "Home", wanted: str) -> str:
    from projections.wakes import VIEW

    known = [(one.run_key, "") for one in home.views.page(VIEW, prefix=wanted.lower()[:ID_SHOWN])]
    try:
        return pick(wanted, known, "wake", "unknown_wake", Remedy("see_wakes"))
    except Refused as refused:
        if refused.code == "ambiguous":
            raise
        try:
            agent_id = pick_agent(home, wanted)
        except Refused:
            raise refused from None
    newest = home.views.page(VIEW, shelf=agent_id, newest_first=True, limit=LISTED_MAX)
    if len(newest) == 1:
        return newest[0].run_key
    count = home.views.count(VIEW, shelf=agent_id)
    because = f"{wanted!r} names an agent with {count} wakes"
    if not newest:
        raise Refused("unknown_wake", because=because, instead=Remedy("see_wakes"))
    instead = f"name one of them, the newest first: {_short_ids([one.run_key for one in newest])}"
    raise Refused("ambiguous", because=because, instead=instead)
