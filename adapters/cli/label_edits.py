"""`wakelog label add`, `delete`, `assign`, `remove`, `suppress` and `allow`."""

from collections.abc import Sequence

import click

from adapters.cli.catalog import all_labels
from adapters.cli.editing import Editing
from adapters.cli.param_types import TEXT
from adapters.cli.shared import Session, key_option
from adapters.documents.results import Deleted
from adapters.text.common import safe
from adapters.usecases import tasks
from adapters.usecases.catalog import add_label, delete_label, widen_label
from domain.journal.catalog import NAME_MAX
from domain.journal.edits import titled


@click.command("add", epilog="Example: wakelog label add urgent --category Work")
@click.argument("name", type=TEXT)
@click.option("--category", "categories", type=TEXT, multiple=True, metavar="C", help="Only there.")
@key_option
@click.pass_obj
def label_add(session: Session, name: str, categories: Sequence[str], key: str) -> None:
    """Add a label; agents may then propose it."""
    said = titled(name.removeprefix("#"), NAME_MAX, "name")
    editing = Editing(session, key)
    (label_id,) = editing.did(add_label(editing.home, said, categories, key)).ids
    _show(session, label_id, f"{editing.outcome('Added')}: label {_hash(name)}")


@click.command("widen", epilog="Example: wakelog label widen urgent")
@click.argument("label", type=TEXT)
@key_option
@click.pass_obj
def label_widen(session: Session, label: str, key: str) -> None:
    """Offer a label in all categories. One from a file is offered where its tasks are."""
    editing = Editing(session, key)
    (label_id,) = editing.did(widen_label(editing.home, label.removeprefix("#"), key)).ids
    told = f"{editing.outcome('Widened')}: label {_hash(label)}, in all categories"
    _show(session, label_id, told)


@click.command("delete", epilog="Example: wakelog label delete urgent")
@click.argument("label", type=TEXT)
@key_option
@click.pass_obj
def label_delete(session: Session, label: str, key: str) -> None:
    """Take a label out of use; tasks that carry it keep it."""
    editing = Editing(session, key)
    (label_id,) = editing.did(delete_label(editing.home, label.removeprefix("#"), key)).ids
    if session.as_json:
        session.document(Deleted(label_id))
    session.say(f"{editing.outcome('Deleted')}: label {_hash(label)}")


def _show(session: Session, label_id: str, told: str) -> None:
    """A label as it is now, or a line of what was done."""
    found = [one for one in all_labels(session) if one.id == label_id]
    if session.as_json:
        session.document(found[0] if found else {})
    session.say(told)


def _hash(label: str) -> str:
    return f"#{safe(label.removeprefix('#'))}"


def _change(session: Session, task: str, labels: Sequence[str], key: str, how: str) -> None:
    """Change what a task has to do with some labels."""
    deeds = {
        "assign": tasks.assign_labels,
        "remove": tasks.remove_labels,
        "suppress": tasks.suppress_labels,
        "allow": tasks.allow_labels,
    }
    names = tuple(label.removeprefix("#") for label in labels)
    editing = Editing(session, key)
    found = editing.task(task)
    editing.did(deeds[how](editing.home, found.id, names, key=editing.key))
    told = " ".join(_hash(label) for label in labels)
    done = {
        "assign": f"Labelled {told}",
        "remove": f"Took {told} off",
        "suppress": f"Agents may no longer propose {told}",
        "allow": f"Agents may propose {told} again",
    }
    editing.tell(done[how], found.id)


def _changing(name: str, text: str) -> click.Command:
    """``label NAME TASK LABEL...``."""

    @click.command(name, help=text, epilog=f'Example: wakelog label {name} "Call Ann" urgent')
    @click.argument("task", type=TEXT)
    @click.argument("label", type=TEXT, nargs=-1, required=True)
    @key_option
    @click.pass_obj
    def change(session: Session, task: str, label: Sequence[str], key: str) -> None:
        _change(session, task, label, key, name)

    return change


COMMANDS: tuple[click.Command, ...] = (
    label_add,
    label_widen,
    label_delete,
    _changing("assign", "Put labels on a task."),
    _changing("remove", "Take labels off a task."),
    _changing("suppress", "Keep agents from proposing labels for a task."),
    _changing("allow", "Let agents propose suppressed labels for a task again."),
)
