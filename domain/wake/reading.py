"""What an agent reads when it wakes: values only, gathered from both logs (SPEC 4).

A `Reading` holds nothing that the agent may not see: of a link outside its categories it has
the relation and no more. `domain.wake.context` makes it, `domain.wake.prompt` renders it."""

from msgspec import Struct

from domain.agent.deciders import AGENT_KIND
from domain.agent.wake_queue import Reason, Trigger
from domain.errors import Refused, invalid
from domain.scaffold import PROMPT_MIN_BYTES, Features, features_of
from domain.wake.commands import LocalTime
from domain.wake.manifests import Manifest, SectionOrder, manifest_of

LABELS_MAX = 3
"""Labels of a task that agents may fill up to (SPEC 5)."""


class PromptLimits(Struct, frozen=True):
    """How much of a reading a prompt shows. Texts in UTF-8 bytes, the rest are counts.

    Everything but `prompt_max_bytes` is a bound of one part; where the whole is still too
    large, parts give way in the order of `domain.wake.prompt.LADDER`.

    Raises:
        Refused: Code ``invalid_value``: `prompt_max_bytes` is below `PROMPT_MIN_BYTES`.
    """

    prompt_max_bytes: int = 120_000
    log_entries_max: int = 1_000
    log_entries_min: int = 10  # the newest, kept while another part can still give way
    entry_max_bytes: int = 4_000  # one log entry
    text_max_bytes: int = 8_000  # description, report
    line_max_bytes: int = 1_200  # titles, summaries, observations, sides of a correction
    words_max_bytes: int = 8_000  # the user's words, goal, preferences
    directives_max_bytes: int = 20_000  # of a template
    finished_items_max: int = 100  # checked or archived
    items_max: int = 400  # still to do
    journal_max: int = 220
    critical_max: int = 200
    corrections_max: int = 50
    linked_max: int = 100
    day_tasks_max: int = 60
    week_tasks_max: int = 50
    week_done_max: int = 20
    feedback_max: int = 50
    versions_max: int = 5  # of a template, before the active one
    labels_max: int = 200
    proposals_max: int = 200
    verdicts_max: int = 20
    changes_max: int = 100
    slots_max: int = 50  # open loops, and preferences
    time_max: int = 10  # finished entries
    thread_max: int = 12  # turns
    thread_max_bytes: int = 6_000  # all of them; each side of one at most half
    lessons_max_bytes: int = 3_000
    memory_max_bytes: int = 12_288  # all digests

    def __post_init__(self) -> None:
        if self.prompt_max_bytes < PROMPT_MIN_BYTES:
            because = f"a prompt of {self.prompt_max_bytes} bytes cannot hold rules and task"
            raise invalid(because, f"allow at least {PROMPT_MIN_BYTES} bytes")


class PromptOptions(Struct, frozen=True):
    """What a prompt follows from besides both logs: it stands in the command that begins the wake.

    `scaffold`: which of `domain.scaffold`. `prompt_max_bytes`: 0 for the default.
    `local`: the person's clock; scaffold 1 shows none. `model`: who is asked, as far as nobody
    agreed to some of what it would be told; empty: whoever stays here. `client`: the words of who
    proposes without being asked."""

    scaffold: int = 1
    prompt_max_bytes: int = 0
    local: LocalTime | None = None
    model: str = ""
    client: str = ""

    @property
    def features(self) -> Features:
        return features_of(self.scaffold)


class WakeReason(Struct, frozen=True):
    """Why this wake; `words` are the person's, of a user wake."""

    reason: Reason
    triggers: tuple[Trigger, ...] = ()
    words: str = ""


class ReportShown(Struct, frozen=True):
    """The current report, its texts in full."""

    at: str
    tldr: str
    one_liner: str
    content: str
    newer: int = 0  # entries of the log that are since; told since scaffold 3


class LinkedAgent(Struct, frozen=True):
    """What the agent of a linked task says about it, in one line; may be empty."""

    one_liner: str = ""
    tldr: str = ""


class LabelSeen(Struct, frozen=True):
    id: str
    name: str


class ItemSeen(Struct, frozen=True):
    """A checklist item; `checked_by` is empty or who ticked or unticked it last."""

    id: str
    title: str
    is_checked: bool = False
    checked_by: str = ""
    checked_at: str = ""
    is_archived: bool = False


class EntrySeen(Struct, frozen=True):
    """A log entry; `by` is person, agent or import."""

    at: str
    entry_kind: str
    by: str
    text: str
    edited_at: str = ""


class TimeSeen(Struct, frozen=True):
    """A time entry; `minutes` is None while its timer runs. `rating`: the person's, 0 if none."""

    start: str
    minutes: int | None
    summary: str = ""
    id: str = ""
    end: str = ""
    rating: int = 0


class OriginSeen(Struct, frozen=True):
    """Who set a field: person, agent or import; and when. `newer`: how many entries of the log are
    since; told since scaffold 3."""

    by: str
    at: str
    newer: int = 0


class TaskSeen(Struct, frozen=True):
    """The owned task. `log` is oldest first; `log_unread` counts entries older than its first.

    Empty texts and an `estimate` of 0 mean that there is none. `origins`: of the fields that
    somebody has set, by their name here. `time` is oldest first; `time_unread` counts finished
    entries older than its first."""

    id: str
    title: str
    description: str = ""
    status: str = "OPEN"
    status_reason: str = ""
    priority: str = "P2"
    estimate: int = 0
    due: str = ""
    language: str = ""
    language_by: str = ""
    category: LabelSeen = LabelSeen("", "")
    labels: tuple[LabelSeen, ...] = ()
    items: tuple[ItemSeen, ...] = ()
    log: tuple[EntrySeen, ...] = ()
    log_unread: int = 0
    minutes_spent: int = 0
    created_at: str = ""
    origins: dict[str, OriginSeen] = {}
    time: tuple[TimeSeen, ...] = ()
    time_unread: int = 0
    rating: int = 0  # the person's, of the whole task; 0: none
    comment: str = ""  # of the rating


class CorrectionSeen(Struct, frozen=True):
    before: str
    after: str


class LinkSeen(Struct, frozen=True):
    """An edge seen from the owned task. With an empty `id` only `relation`, `direction` and
    `is_deleted` may be known: the other task is out of scope, deleted or not there.

    `direction`: ``outgoing`` where the owned task names the other one, else ``incoming``. It,
    `due`, `labels` and `tldr` are filled since scaffold 2."""

    relation: str
    id: str = ""
    title: str = ""
    status: str = ""
    priority: str = ""
    one_liner: str = ""
    is_deleted: bool = False
    direction: str = ""
    due: str = ""
    labels: tuple[str, ...] = ()
    tldr: str = ""


class ObservationSeen(Struct, frozen=True):
    at: str
    priority: str
    category: str
    text: str
    number: str = ""  # of an open critical one, since scaffold 2: what `resolves` names


class DigestSeen(Struct, frozen=True):
    """The beginnings of older observations, and how many it stands for."""

    since: str
    until: str
    count: int
    text: str


class ProposalSeen(Struct, frozen=True):
    """An open item; `status` is pending, confirming or deferred."""

    fingerprint: str
    summary: str
    status: str = "pending"


class VerdictSeen(Struct, frozen=True):
    """What a person decided: confirmed, rejected or deferred. `edit`: what was proposed and what
    the person made of it; scaffold 1 tells only that there was an edit."""

    verdict: str
    summary: str
    reason: str = ""
    is_edited: bool = False
    edit: str = ""


class ChangeSeen(Struct, frozen=True):
    """Something that changed; `subject` is an id or token that the agent may see."""

    subject: str
    what: str
    times: int = 1


class TimerSeen(Struct, frozen=True):
    """A timer that fired, and the times that this wake stands for."""

    id: str
    schedule: str = ""
    ticks: tuple[str, ...] = ()


class SlotsSeen(Struct, frozen=True):
    """What the person told the agent to pursue; `preferences` are sorted by name. `own_loops`:
    those of the loops that the agent opened itself; no wake of scaffold 1 could."""

    goal: str = ""
    loops: tuple[str, ...] = ()
    preferences: tuple[tuple[str, str], ...] = ()
    own_loops: tuple[str, ...] = ()


class ExchangeSeen(Struct, frozen=True):
    """A turn of a session: the person's words and the agent's last ones, empty if it gave none."""

    at: str
    words: str
    answer: str = ""


class ThreadSeen(Struct, frozen=True):
    """Earlier turns of a session, oldest first; `left_out` counts those before them."""

    turns: tuple[ExchangeSeen, ...] = ()
    left_out: int = 0


class ReasonSeen(Struct, frozen=True):
    """Why proposals were declined; `tasks` are those that it was said of."""

    text: str
    count: int
    tasks: tuple[str, ...] = ()


class EditSeen(Struct, frozen=True):
    """What a person made of a proposed value."""

    field: str
    edit: str
    task: str


class LessonSeen(Struct, frozen=True):
    """How a tool's proposals for other tasks of the category fared. `reasons`: the most frequent
    first; `bare` counts what was declined without one; `edits` are newest first.
    `is_ruled_out`: the person wants none."""

    tool: str
    accepted: int
    decided: int
    reasons: tuple[ReasonSeen, ...] = ()
    bare: int = 0
    edits: tuple[EditSeen, ...] = ()
    is_ruled_out: bool = False


class BlockSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A block of a day; `by` is person or agent. `title`: of a person's own, or ``busy`` where the
    agent may not know it; with a task it has none."""

    id: str
    start: str
    end: str
    by: str
    task: str = ""
    title: str = ""


class DayTaskSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A task that may be planned. Minutes: the `estimate`, `spent` on it in all, `planned` of it in
    blocks of that day; 0 where there are none. `items`: ``2/5`` are done."""

    id: str
    title: str
    status: str
    priority: str
    due: str = ""
    estimate: int = 0
    spent: int = 0
    planned: int = 0
    items: str = ""
    category: str = ""
    one_liner: str = ""
    pinned: bool = False


class SpentSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Minutes spent on a task on a day."""

    id: str
    title: str
    minutes: int


class DayBeforeSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The day before the one that is planned: its blocks, and what time was spent on."""

    date: str
    blocks: tuple[BlockSeen, ...] = ()
    spent: tuple[SpentSeen, ...] = ()


class DaySeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A day as its agent is told it, by the person's clock. `now`: only of the day that it is;
    `hours` and `pauses`: by the person's preferences; `tasks`: those that may be planned, the most
    urgent first, and `more_tasks` how many are left out; `declined`: those whose blocks of that day
    the person turned down."""

    date: str
    weekday: str
    hours: tuple[str, str]
    now: str = ""
    pauses: tuple[tuple[str, str], ...] = ()
    blocks: tuple[BlockSeen, ...] = ()
    tasks: tuple[DayTaskSeen, ...] = ()
    more_tasks: int = 0
    declined: tuple[str, ...] = ()
    before: DayBeforeSeen | None = None


class WeekTaskSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """An open task of a category. Minutes: the `estimate`; `spent` on it and `planned` of it in
    both weeks. `untouched`: days since anything of it changed; `items`: ``2/5`` are done."""

    id: str
    title: str
    status: str
    priority: str
    due: str = ""
    estimate: int = 0
    spent: int = 0
    planned: int = 0
    rating: int = 0
    items: str = ""
    untouched: int = 0
    one_liner: str = ""


class DoneTaskSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A task that was done in the two weeks, on that `date`; `spent`: minutes in all."""

    id: str
    title: str
    date: str
    estimate: int = 0
    spent: int = 0
    rating: int = 0


class SevenDaysSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Seven days of a category: how many tasks were `made` and `done`, minutes, and the mean of
    what was rated in them."""

    since: str
    until: str
    made: int = 0
    done: int = 0
    planned: int = 0
    spent: int = 0
    rating: float | None = None


class WeekSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Two weeks of a category, as its agent is told them by the person's clock, the last one first.
    `tasks`: the open ones, by due date, then the longest untouched; `waiting`: so many more rest
    until a later day. `done`: the newest first. `unread`: of so many tasks touched in that time
    nobody looked at the times."""

    date: str
    weekday: str
    category: str
    weeks: tuple[SevenDaysSeen, ...]
    tasks: tuple[WeekTaskSeen, ...] = ()
    more_tasks: int = 0
    waiting: int = 0
    done: tuple[DoneTaskSeen, ...] = ()
    more_done: int = 0
    unread: int = 0

    @property
    def shown(self) -> tuple[str, ...]:
        """The ids of its tasks."""
        return tuple(one.id for one in self.tasks) + tuple(one.id for one in self.done)


class VersionSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A version of a template, with its directives."""

    version: int
    author: str
    general: str
    report: str
    is_active: bool = False


class FaredSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """How proposals of a kind fared; `edited`: so many of the accepted ones were changed first."""

    tool: str
    decided: int = 0
    accepted: int = 0
    edited: int = 0


class FiguresSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """How a version fared. `idle`: so many of its wakes came to nothing; `stars`: the mean of what
    the person gave, to a tenth."""

    version: int
    wakes: int = 0
    idle: int = 0
    decided: int = 0
    accepted: int = 0
    stars: float | None = None
    tools: tuple[FaredSeen, ...] = ()


class ArmSeen(Struct, frozen=True, omit_defaults=True):
    """What became of decided proposals; `new`: so many nobody had decided on."""

    kept: int = 0
    lost: int = 0
    avoided: int = 0
    repeated: int = 0
    new: int = 0


class RehearsedSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """How a wording did on wakes of before, beside what was in force then; `version` 0: of a
    proposal, named by its summary in `proposed`."""

    wakes: int
    tried: ArmSeen
    in_force: ArmSeen
    version: int = 0
    proposed: str = ""


class FeedbackSeen(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A fact of how a template does: `what` is ``rejected`` with the person's reason, ``edited``
    with what they made of it, ``rated``, or ``noted`` by an agent that lives on it."""

    what: str
    tool: str = ""
    version: int = 0
    text: str = ""
    stars: int = 0


class TemplateSeen(Struct, frozen=True):
    """A template as the agent that improves it is told. `versions`, `figures`: the active version
    first, then the newest; `feedback`: newest first; `others`: so many facts are of categories that
    it may not read; `units`: of each fact, whose text it repeats."""

    name: str
    versions: tuple[VersionSeen, ...]
    figures: tuple[FiguresSeen, ...] = ()
    rehearsed: tuple[RehearsedSeen, ...] = ()  # newest first
    feedback: tuple[FeedbackSeen, ...] = ()
    units: tuple[str, ...] = ()
    others: int = 0
    decided: int = 0  # of the active version


class RequestSeen(Struct, frozen=True):
    """What another agent asks of the task: one of `domain.tools.category.ABOUT`, and its kind."""

    about: str
    kind: str


class Reading(Struct, frozen=True):
    """Everything one wake reads. `language` is the report's; empty means English.

    `suppressed` and `available` are by name; `corrections` and `verdicts` newest first;
    `journal` oldest first, the critical ones included, which `critical` repeats. `hidden`
    counts changed ids that the agent may not see."""

    task: TaskSeen
    reason: Reason = "manual"
    slots: SlotsSeen = SlotsSeen()
    suppressed: tuple[LabelSeen, ...] = ()
    available: tuple[LabelSeen, ...] = ()
    corrections: tuple[CorrectionSeen, ...] = ()
    linked: tuple[LinkSeen, ...] = ()
    report: ReportShown | None = None
    critical: tuple[ObservationSeen, ...] = ()
    journal: tuple[ObservationSeen, ...] = ()
    proposals: tuple[ProposalSeen, ...] = ()
    verdicts: tuple[VerdictSeen, ...] = ()
    changes: tuple[ChangeSeen, ...] = ()
    hidden: int = 0
    timers: tuple[TimerSeen, ...] = ()
    is_resumed: bool = False
    words: str = ""
    language: str = ""
    directives: str = ""  # of the agent's template; empty: the built-in ones
    scaffold: int = 1  # whose texts and sections it is rendered with
    local: LocalTime | None = None
    short: dict[str, str] = {}  # ids as they are told, where that is not in full
    thread: ThreadSeen = ThreadSeen()
    lessons: tuple[LessonSeen, ...] = ()
    memory: tuple[DigestSeen, ...] = ()  # oldest first
    kind: str = AGENT_KIND  # of the agent
    day: DaySeen | None = None  # of an agent that plans one; it has no task of its own
    week: WeekSeen | None = None  # the same, of one that looks over a category
    template: TemplateSeen | None = None  # the same, of one that improves it
    requests: tuple[RequestSeen, ...] = ()
    client: str = ""  # the words of who proposes without being asked; nobody may quote them

    @property
    def has_task(self) -> bool:
        return self.day is None and self.week is None and self.template is None

    def named(self, id_: str) -> str:
        """An id as the agent is told it."""
        return self.short.get(id_, id_)

    @property
    def manifest(self) -> Manifest:
        return manifest_of(self.scaffold, self.kind)

    @property
    def order(self) -> SectionOrder:
        """Its sections, in order. Raises Refused, code ``newer_rules``: no client may read it."""
        if self.reason != "client":
            return self.manifest.order
        if (found := self.manifest.for_clients) is None:
            because = (
                f"clients of scaffold {self.scaffold} know no agents of the kind {self.kind!r}"
            )
            raise Refused("newer_rules", because=because, instead="use the wakelog that made it")
        return found

    @property
    def is_first(self) -> bool:
        """Whether there is no report yet: the wake is to write the initial one."""
        return self.report is None

    @property
    def features(self) -> Features:
        return features_of(self.scaffold)
