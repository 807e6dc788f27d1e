"""What a person types, as the id that it names."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adapters.text.common import ID_SHOWN
from domain.errors import Refused, Remedy

if TYPE_CHECKING:
    from adapters.wiring import Home
    from projections.agents import AgentDocument


PREFIX_MIN = 1  # characters of an id that name it, if they do so alone


def pick(
    wanted: str, found: Sequence[tuple[str, str]], what: str, code: str, see: str | Remedy
) -> str:
    """The one id that a word names: an id, an unambiguous prefix of one, or an exact title.

    Args:
        wanted: What the user typed.
        found: ``(id, title)`` of all there are.
        what: ``"task"``, for the message.
        code: Of the refusal if there is none, ``"unknown_task"`` for example.
        see: Where all there are can be seen.

    Raises:
        Refused: With `code`, or ``ambiguous``.
    """
    ids = [one for one, _ in found]
    if wanted in ids:
        return wanted
    titled = [one for one, title in found if wanted and title == wanted]
    begun = [one for one in ids if len(wanted) >= PREFIX_MIN and one.startswith(wanted.lower())]
    matches = titled or begun
    if len(matches) == 1:
        return matches[0]
    if not matches:
        because = f"there is no {what} {wanted!r}"
        raise Refused(code, because=because, instead=see)
    names = ", ".join(one[:8] for one in matches[:5])
    because = f"{wanted!r} names {len(matches)} {what}s ({names})"
    raise Refused("ambiguous", because=because, instead="use more of the id")


def pick_task(home: "Home", wanted: str, *, is_deleted: bool = False) -> str:
    """The id of the task that a word names, see `pick`; living tasks before deleted ones.

    Args:
        home: Open, its views caught up.
        wanted: What the user typed.
        is_deleted: Look among the deleted ones first.

    Raises:
        Refused: Code ``unknown_task`` or ``ambiguous``.
    """
    from projections.tasks import VIEW

    if home.views.get(VIEW, wanted) is not None:
        return wanted
    begun = home.views.page(VIEW, prefix=wanted.lower()) if len(wanted) >= PREFIX_MIN else []
    found = {task.id: task for task in (*home.views.titled(VIEW, wanted), *begun)}
    tasks = [found[one] for one in sorted(found)]
    first = [(task.id, task.title) for task in tasks if task.is_deleted == is_deleted]
    second = [(task.id, task.title) for task in tasks if task.is_deleted != is_deleted]
    try:
        return pick(wanted, first, "task", "unknown_task", Remedy("see_tasks"))
    except Refused as refused:
        if refused.code == "ambiguous":
            raise
        return pick(wanted, second, "task", "unknown_task", Remedy("see_tasks"))


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
    from domain.canonical import clean

    if clean(given) != given:
        because = f"the key {clean(given)!r} is no UTF-8"
        raise Refused("invalid_value", because=because, instead="use letters and digits")
    return given


def pick_agent(home: "Home", wanted: str) -> str:
    """The id of the agent that a word names: by the agent's id, a beginning of it, its name, or
    its task, named as `pick` does; living agents before destroyed ones.

    Raises:
        Refused: Code ``unknown_agent``, ``no_agent`` (a task without one) or ``ambiguous``.
    """
    from domain.canonical import clean
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
            because = f"{wanted!r} names {len(found)} agents ({_short(found)})"
            raise Refused("ambiguous", because=because, instead="use more of the id")
    if wanted in titles.values() or home.views.get(tasks.VIEW, stored) is not None:
        because = f"the task {wanted!r} has no agent"
        raise Refused("no_agent", because=because, instead=Remedy("give_task_agent"))
    because = f"there is no agent and no task {wanted!r}"
    raise Refused("unknown_agent", because=because, instead=Remedy("see_agents"))


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


def _short(ids: Sequence[str]) -> str:
    return ", ".join(one[:8] for one in ids[:5])


def pick_run(home: "Home", wanted: str) -> str:
    """The run key that a word names: itself, or an unambiguous beginning of it."""
    from projections.wakes import VIEW

    known = [(one.run_key, "") for one in home.views.page(VIEW, prefix=wanted.lower()[:ID_SHOWN])]
    return pick(wanted, known, "wake", "unknown_wake", Remedy("see_wakes"))
