"""What the person does in a simulation by way of the deeds that command line and page share."""

from collections.abc import Sequence

from adapters.actions import catalog, lessons, tasks, undoing
from adapters.simulation.plan import Dice
from adapters.simulation.unruly_model import WORDS
from adapters.wiring import Home
from domain.journal.task import NoteKind, Task

_NOTES: tuple[NoteKind, ...] = ("note", "transcript")
_LABELS = tasks.assign_labels, tasks.remove_labels, tasks.suppress_labels, tasks.allow_labels


def write(home: Home, task: Task, dice: Dice) -> None:
    """Any edit of a task."""
    items = [one.id for one in task.items] or ["none"]
    match dice.number(9):
        case 0:
            tasks.edit_task(home, task.id, {"title": words(dice, 3)})
        case 1:
            text = words(dice, 1 + dice.number(300))
            tasks.add_note(home, task.id, text, kind=dice.pick(_NOTES))
        case 2:
            tasks.add_items(home, task.id, (words(dice, 2), words(dice, 2)))
        case 3:
            item = dice.pick(items)
            tasks.mark_items(home, task.id, [item], is_checked=bool(dice.number(2)))
        case 4:
            tasks.rename_item(home, task.id, dice.pick(items), words(dice, 2))
        case 5:
            status = dice.pick(["OPEN", "IN PROGRESS", "BLOCKED", "DONE", "REJECTED"])
            tasks.edit_task(home, task.id, {"status": status, "reason": words(dice, 3)})
        case 6:
            fields = {"priority": f"P{dice.number(4)}", "estimate": dice.number(90)}
            fields |= {"category": dice.pick(["Inbox", "Home"])} if dice.number(2) else {}
            tasks.edit_task(home, task.id, fields)
        case 7:
            dice.pick(_LABELS)(home, task.id, (dice.pick(WORDS),))
        case _ if dice.number(2):
            tasks.start_timer(home, task.id)
        case _:
            tasks.stop_timer(home, words(dice, 2))


def change_catalog(home: Home, dice: Dice) -> None:
    """A category or a label."""
    word = dice.pick(WORDS)
    match dice.number(4):
        case 0:
            catalog.add_category(home, word, dice.pick(["", "de"]))
        case 1:
            catalog.rename_category(home, word, dice.pick(WORDS))
        case 2:
            catalog.delete_label(home, word)
        case _:
            catalog.add_label(home, word)


def undo(home: Home, last: str, dice: Dice) -> str:
    """The newest deed that can be undone, or any that is named: the last undo, too.

    Returns:
        What takes the undo back; empty if nothing does.
    """
    ref = dice.pick(["", "", last])
    if dice.number(2):
        ref = dice.pick(["", *(one.ref for one in undoing.deeds(home))])
    return undoing.undo(home, ref).redo


def learn(home: Home, wakes: Sequence[str], dice: Dice) -> None:
    """A wake is rated, or the verdicts that taught nothing yet are learnt."""
    home.views.catch_up()
    if wakes and dice.number(2):
        lessons.rate_run(home, dice.pick(wakes), dice.number(7))
    else:
        lessons.learn_history(home)


def words(dice: Dice, count: int) -> str:
    """So many."""
    return " ".join(dice.pick(WORDS) for _ in range(count))
