"""What the performer can ask of a wake, besides handing it replies (SPEC 3, DESIGN 7).

STORAGE FORMAT: receipts keep commands, see `domain.log.wire`."""

from domain.log.timestamps import Shift
from domain.log.wire import Imported, Part, PayloadId, Stored
from domain.wake.wake import ModelAnswered, SectionRef


class LocalTime(Part, frozen=True):
    """What the person's clock said when a wake was captured: ``Saturday``, ``2026-11-21T14:05``,
    ``Europe/Berlin``, ``+01:00``. Made by the adapter: the core knows no zones. `earlier`: the
    offsets of the year before, oldest first."""

    weekday: str
    time: str
    zone: str
    offset: str
    earlier: tuple[Shift, ...] = ()


class BeginWake(Stored, frozen=True, tag="command.begin_wake.1"):
    """Start a queued wake on a captured input. The positions say where both logs stood when
    the sections were rendered; `is_now`: do not wait until it is due."""

    agent: str
    run_key: str
    model: str
    scaffold: int
    journal_position: int
    agent_position: int
    snapshot: PayloadId
    system: tuple[SectionRef, ...]
    user: tuple[SectionRef, ...]
    is_now: bool = False
    is_enabled: bool = False
    ttl_days: int = 0  # after which its undecided proposals expire; 0: never
    throttle_seconds: int = 0  # of changes that come while it runs; 0: the default
    prompt_max_bytes: int = 0  # what the sections had to fit in; 0: the default
    template: str = ""  # whose directives the sections hold; empty: the built-in ones
    template_version: int = 0
    journal_digest: str = ""  # of the append at `journal_position`; empty in older ones
    local: LocalTime | None = None  # since scaffold 2
    has_secret: bool = False  # the key that the model needs is there; False where none is needed
    seen: tuple[Imported, ...] = ()  # of a shared journal: what its position knows of each machine
    template_of: str = ""  # whose version of that number; empty: the own one, or the only
    agent_kind: str = ""  # since scaffold 3, so that an older wakelog knows that it is newer
    moved_by: tuple[str, ...] = ()  # see `domain.wake.unchanged`; since scaffold 4


class SkipWake(Stored, frozen=True, tag="command.skip_wake.1"):
    """A queued wake that cannot start: ``task_deleted``, ``missing_category``, or a gate's code;
    or that a person does not want: ``cancelled``.

    Or that a timer made, and nothing moved since the wake before: ``unchanged``. Then the others
    say what it would have been given, as in `BeginWake`."""

    agent: str
    run_key: str
    code: str
    message: str = ""
    moved_by: tuple[str, ...] = ()
    journal_position: int = 0
    agent_position: int = 0
    scaffold: int = 0
    model: str = ""
    local: LocalTime | None = None
    journal_digest: str = ""


class StopWake(Stored, frozen=True, tag="command.stop_wake.1"):
    """End a begun wake: ``deadline`` or ``internal`` fails it, ``switched_off`` and
    ``cancelled`` skip it.

    `turn`, `attempt` and `operation` name the intent that is stopped: once the wake waits for
    another one, somebody else goes on with it, and a stop that comes late changes nothing. An
    attempt of 0: whatever it waits for."""

    run_key: str
    code: str
    message: str = ""
    turn: int = 0
    attempt: int = 0
    operation: str = ""


class RetakeWake(Stored, frozen=True, tag="command.retake_wake.1"):
    """Take over a begun wake whose process is gone: its intent under the next attempt.

    `turn`, `attempt` and `operation` name the intent that was seen in doubt: once the wake waits
    for another one, somebody else goes on with it. An attempt of 0: whatever it waits for."""

    run_key: str
    turn: int = 0
    attempt: int = 0
    operation: str = ""


class DeferWake(Stored, frozen=True, tag="command.defer_wake.1"):
    """Let a begun or queued wake wait: ``budget``, ``consent``, ``secret``; or, ``requested``, end
    such a wait. The last three name an intent, as those of
    `StopWake` do."""

    agent: str
    run_key: str
    until: str
    reason: str
    turn: int = 0
    attempt: int = 0
    operation: str = ""


class ProposeChanges(Stored, frozen=True, tag="command.propose.1"):
    """What a client proposes that no wake asked, a coding agent for example: a whole wake in one
    append (ADR 114). `session`: who it is, and the digest of what it said; `begin`: what it was
    given; `reply`: its words, short enough to stand in the row, and its calls."""

    session: str
    begin: BeginWake
    reply: ModelAnswered

    @property
    def agent(self) -> str:
        return self.begin.agent

    @property
    def run_key(self) -> str:
        return self.begin.run_key

    @property
    def journal_position(self) -> int:
        return self.begin.journal_position

    @property
    def journal_digest(self) -> str:
        return self.begin.journal_digest

    @property
    def said_text(self) -> str:
        """The words of the client."""
        return self.reply.text.text if self.reply.text else ""


WakeCommand = BeginWake | SkipWake | StopWake | RetakeWake | DeferWake | ProposeChanges
Begins = BeginWake | ProposeChanges


def begun_of(cause: object) -> BeginWake | None:
    """What a cause gives to the wake that it begins; None: it begins none."""
    match cause:
        case BeginWake():
            return cause
        case ProposeChanges(begin=begin):
            return begin
        case _:
            return None
