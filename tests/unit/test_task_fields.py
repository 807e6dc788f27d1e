"""Every place that must know a plain field of a task: one that forgets a field is named here."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args

import pytest
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from adapters.analytics.rows import documentation
from adapters.cli import task_edits
from adapters.documents.tasks import TaskPage
from adapters.importers import todotxt
from adapters.proof import histories, redact
from adapters.store.log import Log
from adapters.text.task import task_text
from adapters.text.task_facts import undo_sentence
from adapters.timetravel import bisect
from adapters.usecases.inputs import NONE, typed
from adapters.wiring import Home, open_home
from domain.journal import commands as do
from domain.journal import imports
from domain.journal.catalog import CATALOG
from domain.journal.document import task_line
from domain.journal.edits import set_field
from domain.journal.imported import ImportedTask
from domain.journal.links import LINKS
from domain.journal.repeat import told
from domain.journal.task import FIELDS, TASK, Task, TaskFact, TaskField
from domain.journal.undo import inverse
from projections import tasks
from projections.view import fold
from replay.appends import appends
from tests.support.analysed import Tables
from tests.support.cli import FIXED
from tests.support.lives import START
from tests.support.pages import Visitor, visiting

VALUES: dict[str, Any] = {
    "minutes": 90,
    "day": "2027-02-12",
    "language": "de",
    "rule": "FREQ=WEEKLY",
}
CATALOGUE = CATALOG.initial("main")
OWN_RULES = {
    *"title description status reason category labels stops_timer scopes_labels".split(),
    *"makes_names next_due next_wait".split(),
}
"""Fields of commands that are more than a value which replaces another one."""


def value_of(field: TaskField) -> Any:
    """One that a task does not begin with."""
    return field.choices[0] if field.kind == "choice" else VALUES[field.kind]


def names_of(struct: type[Struct]) -> dict[str, Any]:
    """A Struct's fields and their defaults."""
    optional = struct.__struct_fields__[-len(struct.__struct_defaults__) :]
    given = dict(zip(optional, struct.__struct_defaults__, strict=True))
    return {name: given.get(name) for name in struct.__struct_fields__}


def line_of(task: Task) -> dict[str, Any]:
    """The task as `task list` gives it."""
    line: dict[str, Any] = to_builtins(task_line(task, CATALOGUE, ""))
    return line


FILLED = {field.name: value_of(field) for field in FIELDS}


def bare_and_filled(field: TaskField) -> tuple[Task, Task]:
    """A task without a value of its own, and the same with one, if it can have one."""
    bare = Task("task", exists=True, title="Bare", category="home")
    known = {field.name: value_of(field)} if field.name in names_of(Task) else {}
    return bare, replace(bare, **known)


# --------------------------------------------------------------- what is written by hand for each


def is_stored(field: TaskField) -> bool:
    at_first = names_of(Task).get(field.name)
    return at_first == field.empty if field.can_be_empty else at_first in field.choices


def is_fact(field: TaskField) -> bool:
    names = field.fact.__struct_fields__
    return field.fact in get_args(TaskFact) and names[:2] == ("by", field.value)


def is_created_with(field: TaskField) -> bool:
    return bool(names_of(do.CreateTask).get(field.name) == field.empty)


def is_edited(field: TaskField) -> bool:
    names = names_of(do.EditTask)
    return field.name in names and names[field.name] == (None if field.can_be_empty else "")


def is_in_imports(field: TaskField) -> bool:
    return bool(names_of(ImportedTask).get(field.name) == field.empty) is field.is_imported


def is_in_document(field: TaskField) -> bool:
    values = [line_of(one).get(field.key) for one in bare_and_filled(field)]
    return bool(values[0] != values[1] == value_of(field))


def is_in_text(field: TaskField) -> bool:
    texts = [
        task_text(TaskPage(one, LINKS.initial(one.id), CATALOGUE, "", {}, {}), "UTC")
        for one in bare_and_filled(field)
    ]
    return texts[0] != texts[1]


def is_described(field: TaskField) -> bool:
    table = documentation().split("\n### tasks\n")[1].split("\n### ")[0]
    tag = field.fact.__struct_config__.tag.rpartition(".")[0]
    return any(
        line.startswith(f"| {field.column} | ") and line.endswith(f" | {tag} |")
        for line in table.splitlines()
    )


WRITTEN_BY_HAND: dict[str, Callable[[TaskField], bool]] = {
    "domain/journal/task.py: Task": is_stored,
    "domain/journal/task.py: TaskFact": is_fact,
    "domain/journal/commands.py: CreateTask": is_created_with,
    "domain/journal/commands.py: EditTask": is_edited,
    "domain/journal/imported.py: ImportedTask": is_in_imports,
    "domain/journal/document.py: task_line": is_in_document,
    "adapters/text/task.py: task show": is_in_text,
    "projections/analytics/README.md: tasks": is_described,
}


@pytest.mark.parametrize("place", WRITTEN_BY_HAND)
@pytest.mark.parametrize("field", FIELDS, ids=[field.name for field in FIELDS])
def test_a_place_that_is_written_by_hand_knows_the_field(place: str, field: TaskField) -> None:
    assert WRITTEN_BY_HAND[place](field), f"{place} does not know the field {field.name!r}"


# ---------------------------------------------------------------------------- what reads the table


class Known(NamedTuple):
    """A home with a task of which every field is said, one of which none is, and its page."""

    home: Home
    full: Task
    bare: Task
    visitor: Visitor


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    first = [
        (place, one.name)
        for place, is_known in WRITTEN_BY_HAND.items()
        for one in FIELDS
        if not is_known(one)
    ]
    assert first == [], "write these first"
    path = tmp_path_factory.mktemp("fields") / "home"
    with open_home(path, FIXED, is_writing=True) as home:
        home.services.append_journal(do.CreateTask("Full", **FILLED))
        home.services.append_journal(do.CreateTask("Bare"))
    with open_home(path, FIXED) as home, visiting(path) as visitor:
        journal = home.services.journal
        rows = (one for append in journal.appends() for one in append)
        full, bare = (one.task for one in fold(tasks.VIEW, rows).values())
        yield Known(home, full, bare, visitor)


def is_folded(field: TaskField, known: Known) -> bool:
    with known.home.services.journal.reading() as world:
        task = world.load(TASK, known.full.id)
    return getattr(task, field.name) == value_of(field) and field.name in task.touched


def is_viewed(field: TaskField, known: Known) -> bool:
    return bool(getattr(known.full, field.name) == value_of(field))


def is_decided(field: TaskField, known: Known) -> bool:
    log = Log.in_memory("journal")
    task = log.append(do.CreateTask("Edited"), START).result.ids[0]
    for value in (value_of(field), *((field.empty,) if field.can_be_empty else ())):
        log.append(do.EditTask(task, **{field.name: value}), START)
        with log.reading() as world:
            now = world.load(TASK, task)
        if getattr(now, field.name) != value or set_field(now, field, value, "person"):
            return False
    return True


def is_imported(field: TaskField, known: Known) -> bool:
    if not field.is_imported:
        return True
    names = imports.ImportNames(str, str, str)
    before = ImportedTask(known.bare.id, "Bare")
    now = ImportedTask(known.bare.id, "Bare", **{field.name: value_of(field)})
    facts, _ = imports.decide(known.bare, before, now, names, "import:x")
    return facts == [field.fact("import:x", value_of(field))]


def is_pair(field: TaskField, _: Known) -> bool:
    read = todotxt.read(f"Paint {field.pair}:{value_of(field)}".encode(), source="x")
    return not field.pair or getattr(read.tasks[0], field.name) == value_of(field)


def is_option(field: TaskField, _: Known) -> bool:
    option = f"--{field.name.replace('_', '-')}"
    return all(
        any(param.name == field.name and param.opts == [option] for param in one.params)
        for one in (task_edits.add, task_edits.edit)
    )


def is_typed(field: TaskField, known: Known) -> bool:
    cleared = typed(field, NONE, lambda: known.home) if field.can_be_empty else field.empty
    value = typed(field, str(value_of(field)), lambda: known.home)
    return bool((value, cleared) == (value_of(field), field.empty))


def is_on_page(field: TaskField, known: Known) -> bool:
    address = f"/tasks/{known.full.id}"
    value = value_of(field)
    was = ("was." + field.name, told(value) if field.kind == "rule" else str(value))
    html = known.visitor.page(address)
    is_asked = f"<label>{field.label} <" in html and f' name="{field.name}"' in html
    return is_asked and was in known.visitor.form(address, f"{address}/edit").fields


def is_undone(field: TaskField, _: Known) -> bool:
    bare, filled = bare_and_filled(field)
    fact = field.fact("person", getattr(filled, field.name))
    found = inverse(fact, bare, filled, filled, "")
    return found.outcome == "undone" and f" {field.name} " in undo_sentence(
        found.facts[0], filled, ""
    )


def is_searched(field: TaskField, known: Known) -> bool:
    (row,) = bisect.table_rows({"tasks": [line_of(known.full)]}, "tasks")
    found = dict(zip(bisect.TABLES["tasks"], row, strict=True))
    return bool(found.get(field.key) == value_of(field))


def is_counted(field: TaskField, known: Known) -> bool:
    tables = Tables(known.home.services.agents, known.home.services.journal)
    found = tables.ask(f"SELECT {field.column}::VARCHAR FROM tasks ORDER BY title DESC")
    changes = tables.ask(
        "SELECT value FROM task_changes WHERE what = ?",
        field.fact.__struct_config__.tag.split(".")[1],
    )
    tables.connection.close()
    text = str(value_of(field))
    return found[0] == (text,) != found[1] and changes == [(text,)]


def is_redacted(field: TaskField, known: Known) -> bool:
    services = known.home.services
    history = redact.redacted(histories.take_history(services.journal, services.agents))
    facts = [row.fact for one in appends(history.rows["journal"]) for row in one.facts]
    return field.fact("person", value_of(field)) in facts


READERS: dict[str, Callable[[TaskField, Known], bool]] = {
    "fold": is_folded,
    "view of tasks": is_viewed,
    "deciders": is_decided,
    "import": is_imported,
    "todo.txt": is_pair,
    "options of task add and task set": is_option,
    "what a person types": is_typed,
    "form of the page": is_on_page,
    "undo of a verdict": is_undone,
    "tables of bisect": is_searched,
    "tables of the analytics": is_counted,
    "redacted history": is_redacted,
}


@pytest.mark.parametrize("place", READERS)
@pytest.mark.parametrize("field", FIELDS, ids=[field.name for field in FIELDS])
def test_what_reads_the_table_knows_the_field(place: str, field: TaskField, known: Known) -> None:
    assert READERS[place](field, known), f"the {place} does not know the field {field.name!r}"


def test_a_field_of_the_commands_is_in_the_table_or_has_rules_of_its_own() -> None:
    said = {*names_of(do.CreateTask), *names_of(do.EditTask)} - {"task"}
    assert said - {field.name for field in FIELDS} == OWN_RULES
