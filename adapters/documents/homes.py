"""What commands print of homes: of `init`, and of a PostgreSQL database and the homes in it."""

from msgspec import Struct

from adapters.documents.tasks import ImportDetails


class PreparedDatabase(Struct, frozen=True):
    """What `wakelog database init` did: whether it made tables, which scripts ran, and the logins
    that were given their roles, as ``page=NAME``."""

    database: str
    made: bool
    ran: list[str]
    logins: list[str]


class CheckedDatabase(Struct, frozen=True):
    """What `wakelog database check` found: `findings` keep homes from working, `notes` do not.

    `login`: what this login is for, ``owner``, ``worker``, ``page`` or nothing. `homes`: None where
    it sees one at a time. `may_erase`: whether it may take words out of a home for good.
    """

    database: str
    homes: int | None
    findings: list[str]
    notes: list[str]
    login: str
    may_erase: bool = False


class ScrubbedTable(Struct, frozen=True):
    """A table that `wakelog database scrub` wrote anew: bytes on the disk before and after; `held`:
    dead rows that it still keeps, as a transaction that is open somewhere sees them."""

    table: str
    before: int
    after: int
    held: int


class ScrubbedDatabase(Struct, frozen=True):
    """What `wakelog database scrub` did. `ok`: nothing of before is left in the tables' files.
    `skipped`: tables that this login may not write anew."""

    ok: bool
    database: str
    tables: list[ScrubbedTable]
    skipped: list[str]


class CreatedHome(Struct, frozen=True):
    """A home that was made, and what was brought in."""

    home: str
    imported: ImportDetails | None


class CopiedHome(Struct, frozen=True):
    """A home that was copied whole: from where, to where, and how many appends each log has."""

    source: str
    target: str
    journal: int
    agent: int


class FrozenHome(Struct, frozen=True):
    """A home that nobody writes in until it is thawed."""

    home: str


class DeletedHome(Struct, frozen=True):
    """A home that was deleted: how many rows and texts its logs had, with which number and digest
    each ended, how many members and tokens."""

    home: str
    rows: int
    texts: int
    members: int
    tokens: int
    journal: int
    journal_digest: str
    agent: int
    agent_digest: str


class AdoptedDatabase(Struct, frozen=True):
    """A database that stands where it is from now on: ``moved``, or a ``copy``, in which so many
    homes were given new names to write by, and sleep until they are thawed."""

    database: str
    how: str
    renamed: int


class RenamedHome(Struct, frozen=True):
    """A home that has another name now, and which it had."""

    home: str
    was: str


class HomeMember(Struct, frozen=True):
    """Who may enter a home on the page: ``viewer``, ``member``, ``owner`` or ``operator``."""

    subject: str
    role: str


class CreatedToken(Struct, frozen=True):
    """A token that was drawn: its text is shown here and never again."""

    token: str
    home: str
    role: str
    expires_at: str
    subject: str
    id: str


class ListedToken(Struct, frozen=True):
    """A token of a home without its text. `state`: ``good``, ``expired`` or ``revoked``."""

    id: str
    subject: str
    role: str
    expires_at: str
    state: str


class RevokedToken(Struct, frozen=True):
    """A token that opens nothing any more."""

    id: str


class ThawedHome(Struct, frozen=True):
    """A home that may be written again: whether it could not before."""

    home: str
    was_frozen: bool


class ListedHome(Struct, frozen=True):
    """A home of a database: its state, its writer's name, and at which n both logs end."""

    name: str
    state: str
    replica: str
    journal: int
    agent: int


class WorkedHomes(Struct, frozen=True):
    """What a worker did: how often it tended a home, the wakes it ran, and its troubles."""

    homes: int
    wakes: int
    failed: int
    troubles: int


class WorkerLine(Struct, frozen=True):
    """A worker that lives: its place and process, since when, its last sign of life, and how many
    homes it tends."""

    id: str
    place: str
    since: str
    beat: str
    homes: int


class WorkerHealth(Struct, frozen=True):
    """What `wakelog worker --health` answers: whether it takes homes and renews its leases, what
    is the matter if not, and the worker as `wakelog cluster` tells of it."""

    ok: bool
    trouble: str | None
    worker: WorkerLine


class PageHealth(Struct, frozen=True):
    """What `wakelog serve --database --health` answers: whether it answers and reaches its
    database, and what is the matter if not."""

    ok: bool
    trouble: str | None


class HomesCount(Struct, frozen=True):
    """The homes of a cluster: open to be tended, due now, held off after a trouble, frozen, and at
    a limit of what models may be asked."""

    open: int
    due: int
    held: int
    frozen: int
    limited: int = 0


class HomeStanding(Struct, frozen=True):
    """How a home of a cluster stands, without a word of it: ``open``, ``frozen`` or ``moved``; the
    worker that tends it; whether it is due; until when it is held off after a trouble, and until
    when no model may be asked for it."""

    name: str
    state: str
    worker: str | None
    due: bool
    held_until: str | None
    limited_until: str | None


class ClusterDetails(Struct, frozen=True):
    """How a cluster stands: its workers, its homes, for how long the oldest one is due that nobody
    tends, and how many jobs have lost their worker. `held_off`: the homes in trouble, by name;
    `queue`: how many homes are queued, by what becomes of them: ``todo``, ``doing``; `limited`: the
    homes that wait for a limit of `worker --requests` and others, by name; `cost`: of this UTC day,
    by currency, where workers have `--cost`; `every`: each home, where it is asked for."""

    workers: list[WorkerLine]
    homes: HomesCount
    oldest_due_seconds: float | None
    stalled: int
    held_off: list[str]
    queue: dict[str, int] = {}
    limited: list[str] = []
    cost: dict[str, float] = {}
    every: list[HomeStanding] | None = None


class SettingsText(Struct, frozen=True):
    """The settings of a home, as they are kept."""

    home: str
    text: str


# ---------------------------------------------------------------------------------------- of `init`


class BegunHome(Struct, frozen=True):
    """What `init` prints; `imported` is what `import` prints, `agents` how many were made."""

    home: str
    timezone: str
    imported: ImportDetails | None
    agents: int
