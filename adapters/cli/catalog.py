"""`wakelog category` and `wakelog label`: what tasks are sorted by."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from adapters.actions import tasks
from adapters.actions.catalog import (
    add_category,
    add_label,
    check_correction,
    correct_category,
    delete_label,
    rename_category,
)
from adapters.actions.inputs import language_named
from adapters.cli.editing import Editing
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, key_option
from adapters.documents.deeds import Deleted
from adapters.documents.tasks import catalog_of, category_documents, category_named, label_documents
from adapters.text.common import safe
from domain.journal.catalog import NAME_MAX
from domain.journal.edits import titled
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.actions.tasks import Kept
    from adapters.documents.tasks import CategoryDetails, LabelDetails

CATEGORIES_EMPTY = (
    "No categories yet. Importing makes them from headings; "
    'or add one with `wakelog category add "Name"`.'
)
LABELS_EMPTY = (
    'No labels yet. Importing makes them from #words; or add one with `wakelog label add "name"`.'
)


# -------------------------------------------------------------------------------------- categories


@click.group("category", epilog="CATEGORY is a category's name, in any case, or its id.")
def category_command() -> None:
    """List, add, rename and correct categories."""


def _categories(session: Session) -> "list[CategoryDetails]":
    home = session.reading()
    tasks = [one.task for one in home.views.all(VIEW)]
    with home.services.journal.reading() as world:
        return category_documents(world, tasks)


@category_command.command("list", epilog="Example: wakelog category list")
@click.pass_obj
def category_list(session: Session) -> None:
    """List categories, with their tasks and correction examples counted."""
    found = _categories(session)
    if session.as_json:
        session.document(found)
    elif found:
        rows = [(one.name, one.language, one.tasks, len(one.corrections)) for one in found]
        session.table(("Category", "Language", "Tasks", "Corrections"), rows)
    else:
        session.say(CATEGORIES_EMPTY)


def _tell_category(editing: Editing, done: str, kept: "Kept") -> None:
    """Say what became of a category."""
    (category_id,) = editing.did(kept).ids
    category = category_named(catalog_of(editing.session.reading()), category_id)
    if editing.session.as_json:
        found = [one for one in _categories(editing.session) if one.id == category.id]
        editing.session.document(found[0])
    editing.session.say(f'{editing.outcome(done)}: category "{safe(category.name)}"')


@category_command.command("add", epilog='Example: wakelog category add "Garden" --language en')
@click.argument("name", type=TEXT)
@click.option("--language", type=TEXT, default="none", metavar="L", help="Its default language.")
@key_option
@click.pass_obj
def category_add(session: Session, name: str, language: str, key: str) -> None:
    """Add a category."""
    said = titled(name, NAME_MAX), language_named(language)
    editing = Editing(session, key)
    _tell_category(editing, "Added", add_category(editing.home, *said, key))


@category_command.command("rename", epilog='Example: wakelog category rename "Garden" "Outdoors"')
@click.argument("category", type=TEXT)
@click.argument("name", type=TEXT)
@key_option
@click.pass_obj
def category_rename(session: Session, category: str, name: str, key: str) -> None:
    """Give a category another name; its tasks stay in it."""
    editing = Editing(session, key)
    _tell_category(editing, "Renamed", rename_category(editing.home, category, name, key))


@category_command.command(
    "correct", epilog='Example: wakelog category correct Work "mtg" "meeting"'
)
@click.argument("category", type=TEXT)
@click.argument("before", type=TEXT)
@click.argument("after", type=TEXT)
@key_option
@click.pass_obj
def category_correct(session: Session, category: str, before: str, after: str, key: str) -> None:
    """Teach agents by example: what was written, and what it should have been."""
    check_correction(before, after)
    editing = Editing(session, key)
    kept = correct_category(editing.home, category, before, after, key)
    _tell_category(editing, "Noted the correction", kept)


# ------------------------------------------------------------------------------------------ labels


@click.group("label", epilog="LABEL is a label's name, in any case, or its id.")
def label_command() -> None:
    """List, add, delete and suppress labels."""


def _labels(session: Session) -> "list[LabelDetails]":
    home = session.reading()
    tasks = [one for one in home.views.all(VIEW) if not one.is_deleted]
    return label_documents(
        catalog_of(home), lambda label: sum(label in one.labels for one in tasks)
    )


@label_command.command("list", epilog="Example: wakelog label list")
@click.pass_obj
def label_list(session: Session) -> None:
    """List labels, where they may be used, and how many tasks carry them."""
    found = _labels(session)
    if session.as_json:
        session.document(found)
    elif found:
        rows = [(one.name, ", ".join(one.categories) or "all", one.tasks) for one in found]
        session.table(("Label", "Categories", "Tasks"), rows)
    else:
        session.say(LABELS_EMPTY)


@label_command.command("add", epilog="Example: wakelog label add urgent --category Work")
@click.argument("name", type=TEXT)
@click.option("--category", "categories", type=TEXT, multiple=True, metavar="C", help="Only there.")
@key_option
@click.pass_obj
def label_add(session: Session, name: str, categories: Sequence[str], key: str) -> None:
    """Add a label; agents may then propose it."""
    said = titled(name.removeprefix("#"), NAME_MAX)
    editing = Editing(session, key)
    (label_id,) = editing.did(add_label(editing.home, said, categories, key)).ids
    found = [one for one in _labels(session) if one.id == label_id]
    if session.as_json:
        session.document(found[0] if found else {})
    session.say(f"{editing.outcome('Added')}: label {_hash(name)}")


@label_command.command("delete", epilog="Example: wakelog label delete urgent")
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


def _changing(name: str, text: str) -> None:
    """Add ``label NAME TASK LABEL...`` to the group."""

    @label_command.command(
        name, help=text, epilog=f'Example: wakelog label {name} "Call Ann" urgent'
    )
    @click.argument("task", type=TEXT)
    @click.argument("label", type=TEXT, nargs=-1, required=True)
    @key_option
    @click.pass_obj
    def change(session: Session, task: str, label: Sequence[str], key: str) -> None:
        _change(session, task, label, key, name)


_changing("assign", "Put labels on a task.")
_changing("remove", "Take labels off a task.")
_changing("suppress", "Keep agents from proposing labels for a task.")
_changing("allow", "Let agents propose suppressed labels for a task again.")
