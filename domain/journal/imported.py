"""What an importer hands over: one document per task, as the file says it (SPEC 1).

The document is kept as a payload; the next import of the same file is compared with it, so
that only what *the file* changed is written and a person's later edits survive."""

import msgspec

from domain.log.wire import Part


class ImportedItem(Part, frozen=True):
    """A checklist item; `title` 1..400 characters; `id` of one that was renamed in the file, where
    its title makes another."""

    title: str
    is_checked: bool = False
    id: str = ""


class ImportedNote(Part, frozen=True):
    """A note; `at` is its own time as stored text, or empty: then the import's time stands."""

    text: str
    at: str = ""
    key: str = ""  # the source's own id of the note, if it has one


class ImportedTask(Part, frozen=True):
    """A task as one file has it. Empty and 0 mean that the file does not say.

    `status` is one of SPEC 1's; `due` is ``YYYY-MM-DD``; `estimate` is minutes, 1..60,000;
    `priority` is ``P0``..``P3``; `category` and `labels` are names, not ids; `repeat` is a rule
    and `wait_until` a day."""

    task_id: str
    title: str
    category: str = ""
    status: str = ""
    status_reason: str = ""
    priority: str = ""
    estimate: int = 0
    due: str = ""
    labels: tuple[str, ...] = ()
    description: str = ""
    checklist: str = ""  # title of the checklist; empty: "Checklist"
    items: tuple[ImportedItem, ...] = ()
    notes: tuple[ImportedNote, ...] = ()
    repeat: str = ""
    wait_until: str = ""


ID_KEPT = 12  # letters of an id that tell the tasks of a source apart


def line_kept(task_id: str, anchor: str) -> str:
    """What is kept of a line: by which task it is found, and what the file calls it."""
    return f"{task_id[:ID_KEPT]} {anchor}" if anchor else task_id[:ID_KEPT]


_read_lines = msgspec.json.Decoder(list[str]).decode


def lines_of(data: bytes | None) -> list[str]:
    """The lines that were kept, see `line_kept`; none where they are gone."""
    return _read_lines(data or b"[]")


decoded = msgspec.json.Decoder(ImportedTask).decode
"""A document as it is kept."""


class Unreadable(Part, frozen=True):
    """A line (1-based) that could not be taken over as it stands, and why."""

    line: int
    reason: str


class ImportedFile(Part, frozen=True):
    """A whole file, read. `format` is ``markdown``, ``todotxt``, ... ."""

    format: str
    source: str
    tasks: tuple[ImportedTask, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    left_out: tuple[str, ...] = ()  # what is no task by its nature, counted: "2 pull requests"
    remarks: tuple[Unreadable, ...] = ()  # boxes that were read as open, with what they say
    boxes_as_open: int = 0  # how many those are
    boxes_left_out: int = 0  # of `unreadable`, what looked like a box
    deleted: tuple[str, ...] = ()  # ids of tasks that the file says are deleted
    lines: tuple[int, ...] = ()  # of the tasks' titles, from 0, where a task is a line
    named: tuple[Unreadable, ...] = ()  # keys that have no place here, each once
    earlier: tuple[ImportedTask, ...] = ()  # tasks as older readers read them, where they differ
    links: tuple[tuple[str, str, str], ...] = ()  # a task's id, relation, and another one's
    anchors: tuple[str, ...] = ()  # what a line is called by its own file, empty where nothing
    formulas: tuple[tuple[str, ...], ...] = ()  # what a task's id is made of but its last number
    as_of: tuple[str, ...] = ()  # ``replica:n``, after which append a task was exported; or empty

    def line_of(self, nth: int) -> int:
        """The line of the nth task's title, from 1; 0: it has none here."""
        return self.lines[nth] + 1 if nth < len(self.lines) else 0
