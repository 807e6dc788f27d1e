"""Tasks that are exported as Markdown and imported in a fresh home are the same tasks, whatever
they say; and what is exported there are the same bytes."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from adapters.documents.tasks import (
    ImportReport,
    catalog_of,
    category_named,
    label_named,
    task_page,
)
from adapters.importers import formats
from adapters.importers.markdown import read
from adapters.importers.writing import markdown
from adapters.usecases import tasks as deeds
from adapters.usecases.import_sources import ParsedFile
from adapters.usecases.import_tasks import Importing
from adapters.usecases.task_lists import TaskFilter, export_text
from adapters.wiring import Home
from domain.journal import commands as do
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.task import PRIORITIES, STATUSES
from domain.text import fold, squeeze
from projections.tasks import VIEW
from tests.support.services import services

PIECES = [
    *"ab x#[]()*_`~!<>&\\:;,.-+=|1290'\"{}@^/",
    *("due:2027-01-01", "#lab", "~2h", "!p1", "- [ ] ", "status:blocked", "label:x", "^3", "1. "),
    *("📅 2027-02-02", "⏫", "🔁 every day", "漢字", "e\u0301", "😀", "\ufe0f", "\u200b", "\x1b"),
    *("https://a.b/c_d_", "`x`", "**b**", "[[w]]", "[a](b)", "<div>", "<!--", "&amp;", "&#35;"),
    *("2027-01-01", "because: ", "blocks: ^1", "   ", "\t", "\x85", "[due:: 2027-01-01]"),
    *(
        "@due(2027-01-01)",
        "```",
        "---",
        "===",
        "[x]",
        "\uff3b \uff3d",
        "\u2028",
        "\r",
        "# H",
        "> q",
    ),
]


@dataclass
class Told:
    """A task as a person makes it."""

    title: str
    category: str = "Home"
    status: str = "OPEN"
    reason: str = ""
    priority: str = "P2"
    estimate: int = 0
    due: str = ""
    labels: list[str] = field(default_factory=list)
    description: str = ""
    items: list[tuple[str, bool]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Person:
    """Whoever writes tasks: strange ones, by a seed."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)
        self.chosen = self._dice.choice
        self.below = self._dice.randrange

    def line(self, most: int = 7) -> str:
        """Some pieces, or any character."""
        some = (self._piece() for _ in range(self.below(most) + 1))
        return "".join(some)

    def _piece(self) -> str:
        return self.chosen(PIECES) if self.below(8) else chr(self.below(0xD7FF) + 1)

    def title(self, most: int = 7) -> str:
        return squeeze(self.line(most)) or "t"

    def text(self) -> str:
        lines = [self.line() if self.below(5) else "" for _ in range(self.below(4))]
        return "\n".join([*lines, self.title()] if self.below(2) else [self.title(), *lines])

    def task(self) -> Told:
        labels = {fold(one): one for one in (self.title(3) for _ in range(self.below(3)))}
        return Told(
            self.title(),
            category=self.chosen(["Home", "Inbox", "# [x] #", self.title(4)]),
            status=self.chosen(STATUSES),
            reason=self.title(),
            priority=self.chosen(PRIORITIES),
            estimate=self.chosen([0, 1, 59, 60, 61, 1440]),
            due=self.chosen(["", "2027-03-01", "0999-12-31"]),
            labels=[*labels.values()],
            description=self.chosen(["", self.text()]),
            items=[(self.title(), bool(self.below(2))) for _ in range(self.below(4))],
            notes=[self.text() for _ in range(self.below(3))],
        )


def made(home: Home, said: Told) -> str:
    fields = {key: getattr(said, key) for key in ("priority", "estimate", "due")}
    home.services.append_journal(do.AddCategory(said.category))
    fields["category"] = category_named(catalog_of(home), said.category).id
    for label in said.labels:
        home.services.append_journal(do.AddLabel(label))
    labels = [label_named(catalog_of(home), one).id for one in said.labels]
    (task, *_) = deeds.add_task(
        home,
        said.title,
        fields,
        labels=labels,
        items=[one for one, _ in said.items],
        description=said.description or None,
    ).ids
    deeds.edit_task(home, task, {"status": said.status, "reason": said.reason})
    for note in said.notes:
        deeds.add_note(home, task, note)
    home.views.catch_up()
    page = task_page(home, task)
    pairs = zip(page.task.items, said.items, strict=True)
    if ticked := [item.id for item, (_, is_checked) in pairs if is_checked]:
        deeds.mark_items(home, task, ticked, is_checked=True)
    return task


def state(home: Home) -> list[Any]:
    """What `task show --json` prints of all tasks, but for ids, times, and what was before."""
    home.views.catch_up()
    ids = [one.id for one in home.views.all(VIEW)]
    found = {one: to_builtins(task_page(home, one).document()) for one in ids}
    names = {one: (found[one]["category"], found[one]["title"]) for one in ids}
    return sorted((_plain(one, names) for one in found.values()), key=repr)


def _plain(task: Any, names: Any) -> Any:
    gone = ("id", "time", "agent_id", "language", "rating", "suppressed_labels")
    kept = {key: value for key, value in task.items() if key not in gone}
    kept["history"] = [(one["status"], one["reason"]) for one in task["history"][-1:]]
    kept["items"] = [(one["title"], one["checked"]) for one in task["items"]]
    kept["notes"] = [one["text"] for one in task["notes"]]
    links = [(one["relation"], one["direction"], names[one["task_id"]]) for one in task["links"]]
    return {**kept, "links": sorted(links)}


def taken(home: Home, text: str, form: str = "markdown") -> ImportReport:
    file = formats.read(text.encode(), "", form, "list")
    assert file is not None
    return Importing().take(home, "list", ParsedFile(file))


def unplaced(records: str) -> str:
    """Records without where the journal ended."""
    return re.sub('"as_of":"[^"]*"', "", records)


@example(0, [Told("a [x] #b, due:2027-01-01", notes=["# h\n\n- [ ] x\n"], labels=["two words"])])
@example(0, [Told("same"), Told("same", status="BLOCKED", reason="Ann: `x`")])
@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.integers(0, 10**9), st.just(()))
def test_what_is_exported_and_imported_is_the_same(seed: int, told: Sequence[Told]) -> None:
    here, there, person = Home.in_memory(services()), Home.in_memory(services()), Person(seed)
    found = told or [person.task() for _ in range(3)]
    ids = [made(here, one) for one in found]
    if len(ids) > 1:
        deeds.link(here, ids[0], person.chosen(["blocks", "relates_to", "fixes"]), ids[-1])
    here.views.catch_up()
    first = export_text(here, "kept", TaskFilter()).text
    report = taken(there, first)
    assert (report.created, report.unreadable, report.remarks) == (len(ids), (), ())
    assert state(there) == state(here)
    assert export_text(there, "kept", TaskFilter()).text == first
    assert taken(there, first).events == 0


@settings(max_examples=20, deadline=None, phases=[Phase.generate])
@given(st.integers(0, 10**9))
def test_records_of_this_home_write_no_row_and_in_another_the_same_tasks(seed: int) -> None:
    here, there, person = Home.in_memory(services()), Home.in_memory(services()), Person(seed)
    ids = [made(here, person.task()) for _ in range(3)]
    deeds.link(here, ids[0], person.chosen(["blocks", "relates_to", "fixes"]), ids[-1])
    here.views.catch_up()
    first = export_text(here, "kept", TaskFilter(), "tasks").text
    rows = here.services.journal.count()
    report = taken(here, first, "tasks")
    assert (report.unchanged, report.unreadable, here.services.journal.count()) == (3, (), rows)
    assert taken(there, first, "tasks").created == 3
    assert state(there) == state(here)
    assert {one.id for one in there.views.all(VIEW)} == {*ids}
    assert unplaced(export_text(there, "kept", TaskFilter(), "tasks").text) == unplaced(first)
    assert taken(there, first, "tasks").events == 0


@settings(max_examples=100, deadline=None, phases=[Phase.generate])
@given(st.integers(0, 10**9))
def test_what_is_written_is_read_as_it_was_meant(seed: int) -> None:
    person = Person(seed)
    tasks = [_document(person.task()) for _ in range(person.below(3) + 1)]
    order = [one.category for one in tasks]
    tasks.sort(key=lambda one: order.index(one.category))
    file = read(markdown(tasks).encode(), source="s")
    assert [replace(one, task_id="") for one in file.tasks] == tasks
    assert (file.unreadable, file.remarks) == ((), ())


def _document(said: Told) -> ImportedTask:
    """As a file says it, which does not say what is so by default."""
    fields = asdict(said)
    return ImportedTask(
        "",
        status_reason=fields.pop("reason"),
        labels=tuple(fields.pop("labels")),
        items=tuple(ImportedItem(*one) for one in fields.pop("items")),
        notes=tuple(ImportedNote(one) for one in fields.pop("notes")),
        status=fields.pop("status").replace("OPEN", ""),
        priority=fields.pop("priority").replace("P2", ""),
        **fields,
    )


def test_only_a_file_that_says_it_is_one_is_read_so() -> None:
    (task,) = read(b"- [ ] Wait status:blocked\n  > so\n", source="s").tasks
    assert (task.title, task.status) == ("Wait status:blocked", "")
    assert [one.text for one in task.notes] == ["> so"]
