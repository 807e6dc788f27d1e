"""`wakelog label add`, `delete`, `assign`, `remove`, `suppress` and `allow`."""

from collections.abc import Callable, Sequence

import click

from adapters.cli.catalog import all_labels
from adapters.cli.editing import Editing
from adapters.cli.lazy_groups import keyed
from adapters.cli.shared import Session
from adapters.documents.results import Deleted
from adapters.text.common import safe
from adapters.usecases import tasks
from adapters.usecases.catalog import add_label, delete_label, widen_label
from domain.journal.catalog import NAME_MAX
from domain.journal.edits import titled


@keyed("label add", "name", example="urgent --category Work")
@click.option("--category", "categories", multiple=True, metavar="C", help="Only there.")
def label_add(session: Session, name: str, categories: Sequence[str], key: str) -> None:
    """Add a label; agents may then propose it."""
    said = titled(name.removeprefix("#"), NAME_MAX, "name")
    editing = Editing(session, key)
    (label_id,) = editing.did(add_label(editing.home, said, categories, key)).ids
    _show(session, label_id, f"{editing.outcome('Added')}: label {_hash(name)}")


@keyed("label widen", "label", example="urgent")
def label_widen(session: Session, label: str, key: str) -> None:
    """Offer a label in all categories. One from a file is offered where its tasks are."""
    editing = Editing(session, key)
    (label_id,) = editing.did(widen_label(editing.home, label.removeprefix("#"), key)).ids
    told = f"{editing.outcome('Widened')}: label {_hash(label)}, in all categories"
    _show(session, label_id, told)


@keyed("label delete", "label", example="urgent")
def label_delete(session: Session, label: str, key: str) -> None:
    """Take a label out of use; tasks that carry it keep it."""
    editing = Editing(session, key)
    (label_id,) = editing.did(delete_label(editing.home, label.removeprefix("#"), key)).ids
    session.printed(Deleted(label_id))
    session.say(f"{editing.outcome('Deleted')}: label {_hash(label)}")


def _show(session: Session, label_id: str, told: str) -> None:
    """A label as it is now, or a line of what was done."""
    found = [one for one in all_labels(session) if one.id == label_id]
    if session.as_json:
        session.document(found[0] if found else {})
    session.say(told)


def _hash(label: str) -> str:
    return f"#{safe(label.removeprefix('#'))}"


def _change(
    session: Session,
    task: str,
    labels: Sequence[str],
    key: str,
    deed: Callable[..., tasks.UseCaseResult],
    done: str,
) -> None:
    """Change what a task has to do with some labels."""
    editing = Editing(session, key)
    found = editing.task(task)
    names = tuple(label.removeprefix("#") for label in labels)
    editing.did(deed(editing.home, found.id, names, key=editing.key))
    editing.tell(done.format(" ".join(map(_hash, labels))), found.id)


@keyed("label assign", "task", "label...", example='"Call Ann" urgent')
def assign(session: Session, task: str, label: Sequence[str], key: str) -> None:
    """Put labels on a task."""
    _change(session, task, label, key, tasks.assign_labels, "Labelled {}")


@keyed("label remove", "task", "label...", example='"Call Ann" urgent')
def remove(session: Session, task: str, label: Sequence[str], key: str) -> None:
    """Take labels off a task."""
    _change(session, task, label, key, tasks.remove_labels, "Took {} off")


@keyed("label suppress", "task", "label...", example='"Call Ann" urgent')
def suppress(session: Session, task: str, label: Sequence[str], key: str) -> None:
    """Keep agents from proposing labels for a task."""
    _change(session, task, label, key, tasks.suppress_labels, "Agents may no longer propose {}")


@keyed("label allow", "task", "label...", example='"Call Ann" urgent')
def allow(session: Session, task: str, label: Sequence[str], key: str) -> None:
    """Let agents propose suppressed labels for a task again."""
    _change(session, task, label, key, tasks.allow_labels, "Agents may propose {} again")
