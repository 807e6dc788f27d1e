"""Every fact that a log may hold: the union that rows are decoded by."""

from domain.agent.events import AgentFact, SubsFact
from domain.agent.memory import MemoryFolded
from domain.agent.wake_queue_events import WakeQueueFact, WatchFact
from domain.causes import Command, LogFact, Receipt
from domain.changes.events import ChangesFact
from domain.journal.catalog import CatalogFact
from domain.journal.links import LinksFact
from domain.journal.task import TaskFact
from domain.journal.timer import TimerFact
from domain.lessons.lessons import LessonsFact
from domain.machines.machines import MachinesFact
from domain.policy.policy import PolicyFact
from domain.templates.template import TemplateFact
from domain.wake.events import WakeFact

JournalFact = TaskFact | CatalogFact | TimerFact | LinksFact
AgentLogFact = (
    AgentFact
    | SubsFact
    | WakeQueueFact
    | WatchFact
    | WakeFact
    | ChangesFact
    | TemplateFact
    | PolicyFact
    | LessonsFact
    | MemoryFolded
    | MachinesFact
)
Fact = JournalFact | AgentLogFact | Receipt | LogFact

__all__ = ["Command", "Fact"]
