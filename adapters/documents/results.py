"""The JSON documents of commands that do something: what came of it.

What is not there is null.
"""

from typing import Literal

from msgspec import Struct

from adapters.home.copies import Copied
from domain.append.causes import GivenUp


class Deleted(Struct, frozen=True):
    """What was taken out of use, by its id."""

    id: str
    deleted: Literal[True] = True


class DecidedItem(Struct, frozen=True):
    """What came of a verdict on an item; `error` says why it is not as the person wanted it,
    `unchanged`: it was so already; `concluded`: the task was set DONE after it."""

    ref: str
    status: str
    error: str | None
    summary: str
    unchanged: bool
    concluded: bool


class DecidedItems(Struct, frozen=True):
    """What `confirm`, `reject` and `defer` print."""

    results: list[DecidedItem]


class UndoableDeed(Struct, frozen=True):
    """A deed of the person. `state`: ``open``: it can be undone; ``moved``: something of it was
    changed since; ``stays``: nothing takes it back; ``undone``: it was, and `again` is the command
    that does it again. `does`: what undoing it does, in words; `stays`: what of it nothing takes
    back. `tasks` are titles, of so many as are looked at, and days; `task_count`: of how many there
    are. `name`: what a question calls it."""

    ref: str
    at: str
    what: str
    state: str
    tasks: list[str]
    proposals: list[str]
    does: list[str]
    stays: list[str]
    name: str
    task_count: int
    again: str


class UndoableDeeds(Struct, frozen=True):
    """What `undo --list` prints, the newest first."""

    deeds: list[UndoableDeed]


class UndoneDeed(Struct, frozen=True):
    """What `undo` prints. `redo`: the command that does it again; `kept`: tasks of an import that
    were changed since and stay; `passed`: newer deeds that nothing takes back; `repeated`: it was
    done before under the key."""

    undone: UndoableDeed
    redo: str
    kept: list[str]
    passed: list[UndoableDeed]
    repeated: bool


class RecoveredStep(Struct, frozen=True):
    """Something that a crash left undone: a ``wake``, an ``operation`` or an ``expiry``, by the
    name that commands take (`ref`) and by its id."""

    what: str
    ref: str
    id: str
    status: str | None
    error: str | None


class RecoveredSteps(Struct, frozen=True):
    """What `recover` prints."""

    steps: list[RecoveredStep]


class RebuiltViews(Struct, frozen=True):
    """What `rebuild` prints: how many appends of each log the views were made from."""

    journal_appends: int
    agent_appends: int


class DoctorCheck(Struct, frozen=True):
    """One thing that was looked at, what was found, and what helps (`do`) where it is not ok."""

    check: str
    ok: bool
    message: str
    do: str | None


class DoctorDetails(Struct, frozen=True):
    """What `doctor` prints; `ok`: every check is."""

    ok: bool
    checks: list[DoctorCheck]


class BackupDetails(Struct, frozen=True):
    """What `backup` prints: the folder, and the files that were written there."""

    ok: Literal[True]
    folder: str
    files: list[str]
    bytes: int


class RestoredDetails(Struct, frozen=True):
    """What `restore` prints: the folder, who writes it from now on and who did; `at`: the time of
    its newest append; `aside`: where the home is that stood there; `label` and `leads`: what it has
    of the old name; `meets`: where its machines met; `recovered`: wakes that it goes on with;
    `proved`: it came out as it was; `erased`: what was erased in what stood there, and here now."""

    ok: Literal[True]
    folder: str
    replica: str
    was: str | None
    at: str
    aside: str | None
    label: str | None
    leads: bool
    meets: str | None
    recovered: int
    proved: bool
    erased: int = 0


class ErasedMention(Struct, frozen=True):
    """A row that stays and holds a text of what is erased: of which `log`, `stream` and append;
    `about`: the task or the agent that it is of, by its title or name."""

    about: str | None
    log: str
    stream: str
    n: int
    text: str


class ErasedDetails(Struct, frozen=True):
    """What `erase` prints: `rows` of both logs and `payloads`, which became marks and went, or,
    with --dry-run (`done` is false), would; `wakes` among them; `mentions`, which stay, but for
    what --derived takes, too (`derived`); `sent`: by model, prompts that left the machine;
    `copies` that are not in reach, as far as they are known; `forks` that were removed. Then
    `files`, and `tables` of a home in a database, were searched for `texts`; `left`: those that
    hold one all the same."""

    ok: bool
    done: bool
    unit: str
    title: str
    rows: int
    payloads: int
    wakes: int
    mentions: list[ErasedMention]
    derived: list[str]
    sent: dict[str, int]
    copies: list[Copied]
    forks: list[str]
    texts: int
    files: int
    left: list[str]
    tables: int = 0


class RetainDetails(Struct, frozen=True):
    """What `retain` prints: how many prompt texts and replies were dropped, or, with --dry-run
    (`done` is false), would be, and their bytes; of the agents' file its bytes `before` and
    `after`."""

    done: bool
    prompts: int
    prompt_bytes: int
    replies: int
    reply_bytes: int
    before: int
    after: int


class ErasureLine(Struct, frozen=True):
    """What `erase --list` prints of one erasure: ``task:<id>``, ``note:<task>/<id>`` for example,
    of which kind, when, and how many rows and texts it took of both logs."""

    unit: str
    what: str
    at: str
    rows: int
    payloads: int


class HomeDetails(Struct, frozen=True):
    """What `home show` prints. `replica` is who writes there, `place` ``here``, ``elsewhere``,
    ``unknown`` or ``unchecked``; `other_past` says why the two logs do not belong together."""

    home: str
    exists: bool
    replica: str | None
    installation: str | None
    place: str
    other_past: str | None


class AdoptedHome(Struct, frozen=True):
    """What `home adopt` prints: who writes there now and who did; `given_up`: what its agent log
    said of a journal that is gone; of one that was put back whole `aside`: where it is as it was,
    and whether it leads now."""

    ok: Literal[True]
    adopted: Literal["restored", "moved", "copy"]
    replica: str
    was: str | None
    given_up: tuple[GivenUp, ...]
    aside: str | None = None
    leads: bool = False


class ExportedTables(Struct, frozen=True):
    """What `export --parquet` prints: the rows of each table."""

    folder: str
    tables: dict[str, int]
    redacted: bool = False


class ExportedFile(Struct, frozen=True):
    """A file of `export --inspect`, and how many wakes stand in it."""

    file: str
    template: str
    template_version: int
    model: str
    wakes: int


class ExportedWakes(Struct, frozen=True):
    """What `export --inspect` prints."""

    folder: str
    files: list[ExportedFile]
    redacted: bool = False


class ExportedTasks(Struct, frozen=True):
    """What `export --markdown FILE` prints."""

    file: str
    tasks: int
    bytes: int


class ExportedHistory(Struct, frozen=True):
    """What `export-history --out` prints; `run_key` is null for a whole home."""

    file: str
    run_key: str | None
    rows: int
    payloads: int
    bytes: int
    digest: str
    redacted: bool


class RunCounts(Struct, frozen=True):
    """What `run` prints when it ends: wakes that ran, failed, and were left by a crash; journal
    appends that agents were told of; troubles that were no wake's."""

    wakes: int
    failed: int
    recovered: int
    journal_appends: int
    troubles: int


class SimulationDetails(Struct, frozen=True):
    """What `simulate` prints. `faults` are laws that were broken, in the episode `failed`, whose
    shortest `steps` (what, who, how) follow; `history` is the file that was kept; `replicas`: how
    many machines each home had."""

    ok: bool
    seed: str
    digest: str
    episodes: int
    wakes: int
    rows: int
    crashes: int
    faults: list[str]
    failed: str | None
    steps: list[tuple[str, int, int]]
    history: str | None
    replicas: int


class ChangeBack(Struct, frozen=True):
    """A change of a task as it goes back into its file; `field` names an item, too. `because`: why
    it does not, empty of one that does."""

    task: str
    field: str
    because: Literal["", "both_changed", "cannot_be_said", "closed_as_another"] = ""


class FileBack(Struct, frozen=True):
    """What was written into a file, and what was left out, with why; ids of tasks whose lines say
    more to this version than to the one that imported them, which was imported as they changed."""

    file: str
    written: list[ChangeBack]
    left_out: list[ChangeBack]
    read_anew: list[str]
    added: list[str] = []  # ids of tasks that were in no file, and have a line in this one now
    not_added: list[str] = []  # of those, what cannot be said in it


class FilesBack(Struct, frozen=True):
    """What `write-back` prints, or, with --dry-run, would do."""

    files: list[FileBack]


class ImportUndone(Struct, frozen=True):
    """The ids of tasks that were brought back to before an import, and of those that were changed
    since."""

    source: str
    tasks: list[str]
    kept: list[str]


class ImportsUndone(Struct, frozen=True):
    """What `import --undo` prints."""

    undone: list[ImportUndone]
