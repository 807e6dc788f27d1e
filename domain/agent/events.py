"""What happens to an agent: the streams ``agent:<id>`` and ``subs:<token>`` (SPEC 2).

STORAGE FORMAT, see `domain.wire`. Slots carry a version, one above the slot's last.
"""

from typing import Literal

from domain.wire import Imported, Stored, Words

Mode = Literal["autonomous", "interactive", "hybrid"]
Lifecycle = Literal["created", "active", "dormant", "destroyed"]
Outcome = Literal["completed", "failed", "skipped", "superseded"]
Priority = Literal["routine", "notable", "critical"]
Category = Literal["grievance", "excellence", "template_improvement", "operational"]


class AgentCreated(Stored, frozen=True, tag="agent.created.1"):
    agent_kind: str  # "task_agent"
    task: str
    generation: int  # 1-based among the task's agents
    name: str
    mode: Mode
    categories: tuple[str, ...] = ()
    position: int = 0  # the journal's n then; what came before is no news
    seen: tuple[Imported, ...] = ()  # of a journal that machines share: what was known of each


class AgentNamed(Stored, frozen=True, tag="agent.named.1"):
    name: str


class ModeSet(Stored, frozen=True, tag="agent.mode_set.1"):
    mode: Mode


class CategoriesAllowed(Stored, frozen=True, tag="agent.categories_allowed.1"):
    categories: tuple[str, ...]


class ModelChosen(Stored, frozen=True, tag="agent.model_chosen.1"):
    model: str = ""  # "rules", "gemini:MODEL"; empty: the home's setting


class TurnMaxSet(Stored, frozen=True, tag="agent.turn_max_set.1"):
    turn_max: int


class AutomationSet(Stored, frozen=True, tag="agent.automation_set.1"):
    is_on: bool


class GoalSet(Stored, frozen=True, tag="agent.goal_set.1"):
    version: int
    goal: str


class LoopOpened(Stored, frozen=True, tag="agent.loop_opened.1"):
    version: int
    loop: str
    by: str = ""  # empty: the person; else ``agent:<id>``


class LoopClosed(Stored, frozen=True, tag="agent.loop_closed.1"):
    version: int
    loop: str
    by: str = ""  # as in `LoopOpened`


class PreferenceSet(Stored, frozen=True, tag="agent.preference_set.1"):
    version: int
    name: str
    value: str = ""  # empty: forgotten


class AgentActivated(Stored, frozen=True, tag="agent.activated.1"):
    """From created to active, or resumed."""


class AgentPaused(Stored, frozen=True, tag="agent.paused.1"):
    reason: str = ""  # empty: the person; "failures", "task_deleted"


class AgentDestroyed(Stored, frozen=True, tag="agent.destroyed.1"):
    pass


class AgentDeleted(Stored, frozen=True, tag="agent.deleted.1"):
    pass


class Subscribed(Stored, frozen=True, tag="agent.subscribed.1"):
    """`tokens`: at least one must be in a batch; `category`, `status`: the predicate;
    `hears_agents`: other agents' writes count too, up to 3 hops; `defers_propagated`: matches
    only through a link wait until 06:00."""

    subscription: str
    tokens: tuple[str, ...]
    category: str = ""
    status: str = ""
    hears_agents: bool = False
    defers_propagated: bool = False


class Unsubscribed(Stored, frozen=True, tag="agent.unsubscribed.1"):
    subscription: str


class TimerSet(Stored, frozen=True, tag="agent.timer_set.1"):
    timer: str
    schedule: str  # "every day 07:00", a cron line, or "once 2027-01-01 07:00"
    zone: str  # IANA name; its wall clock is meant
    next_at: str


class TimerRemoved(Stored, frozen=True, tag="agent.timer_removed.1"):
    timer: str


class TimerTicked(Stored, frozen=True, tag="agent.timer_ticked.1"):
    """One wake for all ticks it stands for; `next_at` is empty after a last one."""

    timer: str
    ticks: tuple[str, ...]
    next_at: str = ""


class AgentReported(Stored, frozen=True, tag="agent.reported.1"):
    """The head of the agent's report moves to the one drafted in that wake."""

    run_key: str


class AgentObserved(Stored, frozen=True, tag="agent.observed.1"):
    run_key: str
    words: Words
    priority: Priority
    category: Category
    target: str = ""
    resolves: tuple[str, ...] = ()  # positions of critical ones that are settled by it


class AgentProposed(Stored, frozen=True, tag="agent.proposed.1"):
    """The wake opened a change set."""

    changes: str
    run_key: str


class AgentSettled(Stored, frozen=True, tag="agent.settled.1"):
    """A wake of the agent ended. `code`: why, where it failed or was skipped. `position`: up
    to which journal `n` of its replica the agent has seen its task."""

    run_key: str
    outcome: Outcome
    code: str = ""
    position: int = 0
    is_fresh: bool = False  # the wake brought the report up to date with what it saw
    seen: tuple[Imported, ...] = ()  # of a journal that machines share: what it saw of each


class TemplateAssigned(Stored, frozen=True, tag="agent.template_assigned.1"):
    template: str = ""  # empty: the built-in directives


AgentFact = (
    AgentCreated
    | AgentNamed
    | ModeSet
    | CategoriesAllowed
    | ModelChosen
    | TurnMaxSet
    | AutomationSet
    | GoalSet
    | LoopOpened
    | LoopClosed
    | PreferenceSet
    | AgentActivated
    | AgentPaused
    | AgentDestroyed
    | AgentDeleted
    | Subscribed
    | Unsubscribed
    | TimerSet
    | TimerRemoved
    | TimerTicked
    | AgentReported
    | AgentObserved
    | AgentProposed
    | AgentSettled
    | TemplateAssigned
)


class SubscriberAdded(Stored, frozen=True, tag="subs.added.1"):
    agent: str
    subscription: str


class SubscriberRemoved(Stored, frozen=True, tag="subs.removed.1"):
    agent: str
    subscription: str


SubsFact = SubscriberAdded | SubscriberRemoved
