"""What a person types, as the id that it names.

Words mean a title in any case, by any part of it; of those that mean none the nearest are told.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.text.common import ID_SHOWN
from domain.errors import Refused, Remedy, invalid
from domain.text import cut, fold, tokens

if TYPE_CHECKING:
    from adapters.wiring import Home
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
        code: Of the refusal if there is none, ``"unknown_task"`` for example.
        see: Where all there are can be seen.
        is_whole: A part of a title does not do.

    Raises:
        Refused: With `code`, or ``ambiguous``.
    """
    if exact := _exact_match(wanted, found, what):
        return exact
    names = [Titles(one, (title,)) for one, title in found]
    return pick_by_words(wanted, [] if is_whole else [names], what, code, see)


def _exact_match(wanted: str, found: Sequence[tuple[str, str]], what: str) -> str:
    """The one id that a word names as an id, a title, or the beginning of an id; else empty.

    Raises:
        Refused: Code ``ambiguous``.
    """
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
    """The id that words mean in the first group where they mean any.

    Raises:
        Refused: Code ``ambiguous`` with those they mean, or `code` with the nearest ones.
    """
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

    Args:
        is_deleted: Look among the deleted ones first.
        is_whole: A part of a title does not do.

    Raises:
        Refused: Code ``unknown_task`` or ``ambiguous``.
    """
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


def retry_key(given: str) -> str:
    """An idempotency key as it was given: one that is changed would be another key.

    Raises:
        Refused: Code ``invalid_value``.
    """
    from domain.log.canonical import clean

    if clean(given) != given:
        raise invalid(f"the key {clean(given)!r} is no UTF-8", "use letters and digits")
    return given


def pick_agent(home: "Home", wanted: str) -> str:
    """The id of the agent that a word names: by the agent's id, a beginning of it, its name, or
    its task, named as `pick` does; living agents before destroyed ones.

    Raises:
        Refused: Code ``unknown_agent``, ``no_agent`` (a task without one) or ``ambiguous``.
    """
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
    groups = [
        [
            Titles(one.id, (one.name, titles.get(one.task_id, "")))
            for one in known
            if one.is_living == is_living
        ]
        for is_living in (True, False)
    ]
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
        raise Refused(
            refused.code, because=because, instead=refused.remedy or refused.instead
        ) from None


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
    ]
    if (named := views.get(VIEW, wanted)) is not None:
        found.append(named)
    known = {one.id: one for one in found if one.exists}
    return sorted(known.values(), key=lambda one: (one.place, one.id))


def _short_ids(ids: Sequence[str]) -> str:
    return ", ".join(one[:8] for one in ids[:LISTED_MAX])


def pick_run(home: "Home", wanted: str) -> str:
    """The run key that a word names: itself, an unambiguous beginning of it, or, where it has run
    only once, the agent that it names. ``RUN@MACHINE``: the wake that a machine has under the key,
    which the answer names with its replica unless the wake has the key for itself.

    Raises:
        Refused: Code ``unknown_wake`` or ``ambiguous``, which lists the agent's newest wakes.
    """
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
    shown = _short_ids([one.run_key for one in newest])
    instead = f"name one of them, the newest first: {shown}"
    raise Refused("ambiguous", because=because, instead=instead)
