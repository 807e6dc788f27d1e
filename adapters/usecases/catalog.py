"""What a person does to the catalog, what tasks are sorted by: its categories and its labels.

Each deed is a command of the journal, appended under its key; the first id is the category's, or
the label's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adapters.documents.tasks import catalog_of, label_named
from adapters.usecases.tasks import UseCaseResult, append_command
from domain.append import envelope
from domain.errors import invalid
from domain.journal import commands as do
from domain.journal.catalog import CATALOG, LabelAdded, find_category, with_inbox
from domain.journal.task import LabelAssigned
from domain.log.state import MAIN, entity_of
from domain.log.wire import SHARED, payload
from domain.text import squeeze
from projections.tasks import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home

SCOPED = "labels scoped"  # the name under which it is remembered that it was looked for


def add_category(home: "Home", name: str, language: str = "", key: str = "") -> UseCaseResult:
    """Add a category; one of that name changes nothing."""
    return append_command(home, do.AddCategory(name, language), key)


def rename_category(home: "Home", category: str, name: str, key: str = "") -> UseCaseResult:
    """Give a category, by name or id, another name; its tasks stay in it. Raises Refused: also
    where it would take the name of the Inbox, which nothing is in yet."""
    catalog = catalog_of(home)
    seen = with_inbox(catalog)  # looked at here: a decider would judge what older logs did anew
    inbox = find_category(seen, name)
    if inbox and inbox.id not in catalog.categories and find_category(seen, category) != inbox:
        raise invalid(f"there is a category {inbox.name!r} already", "choose another name")
    return append_command(home, do.RenameCategory(category, name), key)


def correct_category(
    home: "Home", category: str, before: str, after: str, key: str = ""
) -> UseCaseResult:
    """Note in a category what was written, and what it should have been."""
    check_correction(before, after)
    texts = [payload(SHARED, text.encode()) for text in (before, after)]
    command = do.AddCorrection(category, texts[0].id, texts[1].id)
    return append_command(home, command, key, payloads=texts)


def check_correction(before: str, after: str) -> None:
    """Look whether two texts show a correction. Raises Refused, code ``invalid_value``."""
    if not squeeze(before) or not squeeze(after) or before == after:
        instead = "give two different texts, the wrong one first"
        raise invalid("the example shows no correction", instead)


def add_label(
    home: "Home", name: str, categories: Sequence[str] = (), key: str = ""
) -> UseCaseResult:
    """Add a label that agents may propose; of some categories, by name or id, or of all."""
    return append_command(home, do.AddLabel(name, tuple(categories)), key)


def widen_label(home: "Home", label: str, key: str = "") -> UseCaseResult:
    """Let a label, by name or id, be used in all categories; it stays so. Raises Refused, code
    ``unknown_label``."""
    return append_command(home, do.AddLabel(label_named(catalog_of(home), label).name), key)


def scope_labels(home: "Home") -> list[str]:
    """Let labels that older imports made be used only where tasks carry them, once; their names.

    An import of 0.2.0 made them everyone's, so agents of other categories were told of them
    (ADR 83). One that a person added for all categories is left as it is."""
    if home.views.remembered(SCOPED):
        return []
    home.views.catch_up()
    journal = home.services.journal
    with journal.reading() as world:
        rows = world.rows(CATALOG, MAIN)
        labels = world.load(CATALOG, MAIN).labels
    added = {row.fact.label: row for row in rows if isinstance(row.fact, LabelAdded)}
    wide = {one: row for one, row in added.items() if one in labels and not labels[one].categories}
    known = {task.id: task for task in home.views.all(VIEW)} if wide else {}
    scopes: list[do.LabelScope] = []
    for one, added_by in wide.items():
        append = journal.append_at(added_by.n, added_by.replica)
        facts: list[Any] = [envelope.read(row).data for row in append]
        if not isinstance(facts[0].command, do.ImportTasks):
            continue
        carriers = [task for task in known.values() if one in task.labels]
        for row, fact in zip(append, facts, strict=True):
            if isinstance(fact, LabelAssigned) and fact.label == one:
                carriers.append(known[entity_of(row.stream)])
        scope = tuple(sorted({task.category for task in carriers}))
        scopes += [do.LabelScope(one, scope)] if scope else []
    if scopes:
        home.services.append_journal(do.ScopeLabels(tuple(scopes)))
    home.views.remember(SCOPED, b"1")
    return [labels[one.label].name for one in scopes]


def delete_label(home: "Home", label: str, key: str = "") -> UseCaseResult:
    """Take a label, by name or id, out of use; tasks that carry it keep it."""
    return append_command(home, do.DeleteLabel(label), key)
