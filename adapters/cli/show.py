"""`wakelog show`: a task, or a wake; what only a wake needs is loaded for one."""

from typing import TYPE_CHECKING

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag
from adapters.text.common import ID_SHOWN, typed
from adapters.usecases.resolve import pick_run, pick_task
from domain.errors import Refused, Remedy

if TYPE_CHECKING:
    from adapters.wiring import Home


@command(
    "show",
    "what=TASK|RUN",
    example=('"Book the flight"', "nb5evlz4", "nb5evlz4 --prompt > prompt.txt"),
)
@flag("--wake is_wake", "It is a wake.")
@flag("--prompt", "Only what the model was shown, byte for byte.")
def show_command(session: Session, what: str, *, is_wake: bool, prompt: bool) -> None:
    """Show all about a task: fields, checklist, notes, time, links, history, and its report; or a
    wake, step by step: why, what was asked, answered, done, and how it ended.

    RUN is a run key or the beginning of one, of 8 letters or more, see `wakelog wakes`.
    """
    home = session.reading()
    run_key, task_id = _named(home, what, is_wake=is_wake or prompt)
    if task_id:
        from adapters.cli.tasks import show_task

        show_task(session, home, task_id)
        return
    from adapters.cli.reading import show_wake

    show_wake(session, home, run_key, is_prompt=prompt)


def _named(home: "Home", what: str, *, is_wake: bool) -> tuple[str, str]:
    """The wake that a word names, or the task: whole run keys and long beginnings of one are wakes,
    short ones only where no task is meant. Raises Refused: it names neither, or both."""
    from projections.wakes import VIEW

    begun = what.partition("@")[0].lower()
    is_run = len(begun) >= ID_SHOWN and bool(home.views.page(VIEW, prefix=begun, limit=1))
    if is_wake:
        return pick_run(home, what), ""
    try:
        task_id = pick_task(home, what, is_whole=is_run)  # a part of a title is no run key
    except Refused as refused:
        if not is_run and (refused.code == "ambiguous" or not begun):
            raise
        try:
            return pick_run(home, what), ""
        except Refused as no_wake:
            if is_run or no_wake.code != "unknown_wake":
                raise
            because = refused.because.replace("there is no task", "there is no wake and no task", 1)
            raise Refused("unknown_wake", because=because, instead=Remedy("see_tasks")) from None
    if is_run:
        because = f"{what!r} names a wake and a task"
        instead = f"say `wakelog show {typed(what)} --wake` or `wakelog task show {typed(what)}`"
        raise Refused("ambiguous", because=because, instead=instead)
    return "", task_id
