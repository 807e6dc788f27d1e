"""Every document that a command prints with ``--json``, by a name, and its JSON Schema."""

from inspect import cleandoc
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from adapters.documents import databases, deeds
from adapters.documents.agents import AgentDetails, AgentLine, AgentsMade, TimerDetails
from adapters.documents.conflicts import ConflictDetails
from adapters.documents.demo import DemoData, DemoDataThere, DemoDetails
from adapters.documents.diffs import HomesDiff, WakesDiff, WorldsDiff
from adapters.documents.first_run import BegunHome
from adapters.documents.forks import ForkDetails
from adapters.documents.inbox import InboxSet
from adapters.documents.lessons import LessonLine, RatedRun
from adapters.documents.memory import DigestSources, MemoryDetails
from adapters.documents.metrics import TemplateMetrics
from adapters.documents.models import ModelDetails
from adapters.documents.notify import NotifyDetails, TestedReceiver
from adapters.documents.policy import Allowed, PolicyDocument, Preview, Ruled
from adapters.documents.proof import ProofDetails
from adapters.documents.reading import (
    JournalLine,
    MessageThread,
    PromptDetails,
    ReportDetails,
    WhyAgent,
    WhyLine,
)
from adapters.documents.status import HealthDetails, StatusDetails
from adapters.documents.syncing import (
    LeadReplica,
    NamedReplica,
    ReplicaLine,
    RescueReport,
    RetiredReplica,
    SyncReport,
)
from adapters.documents.task_past import FieldWhy
from adapters.documents.tasks import CategoryDetails, ImportDetails, LabelDetails
from adapters.documents.templates import SeedDetails, TemplateDetails, TemplateGiven
from adapters.documents.timetravel import (
    BisectDetails,
    MomentDetails,
    ReplayDetails,
    RequestDetails,
)
from adapters.documents.wakes import WakeAnswer, WakeDetails, WakeLine
from domain.journal.document import TaskDetails, TaskLine

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class SchemaLine(Struct, frozen=True):
    """A document by its name, and the commands that print it."""

    name: str
    commands: list[str]


class Described(NamedTuple):
    """The type of a document, and the commands that print it."""

    shape: Any
    commands: tuple[str, ...]


DOCUMENTS: dict[str, Described] = {
    "tasks": Described(list[TaskLine], ("task list",)),
    "task": Described(
        TaskDetails,
        (
            "task show", "task add", "task set", "task delete", "task restore", "task check",
            "task uncheck", "task item add", "task item rename", "task item archive",
            "task item restore", "task note", "task link", "task unlink", "task time",
            "task conclude", "task retime", "task rate", "task timer start", "task timer stop",
            "label assign", "label remove", "label suppress", "label allow", "settle",
        ),
    ),
    "tasks-done": Described(list[TaskDetails], ("done",)),
    "categories": Described(list[CategoryDetails], ("category list",)),
    "category": Described(
        CategoryDetails, ("category add", "category rename", "category correct")
    ),
    "labels": Described(list[LabelDetails], ("label list",)),
    "label": Described(LabelDetails, ("label add", "label widen")),
    "import": Described(ImportDetails, ("import",)),
    "imports-undone": Described(deeds.ImportsUndone, ("import --undo",)),
    "deed-undone": Described(deeds.UndoneDeed, ("undo",)),
    "deeds-undoable": Described(deeds.UndoableDeeds, ("undo --list",)),
    "conflicts": Described(list[ConflictDetails], ("conflicts",)),
    "written-back": Described(deeds.FilesBack, ("write-back",)),
    "agents": Described(list[AgentLine], ("agent list",)),
    "agent": Described(
        AgentDetails,
        (
            "agent show", "agent create", "agent set", "agent pause", "agent resume", "agent sleep",
            "agent destroy", "agent delete", "agent watch", "agent unwatch",
            "agent timer AGENT set", "agent timer AGENT remove",
        ),
    ),
    "agents-made": Described(AgentsMade, ("agent create --all",)),
    "timers": Described(list[TimerDetails], ("agent timer AGENT list",)),
    "answer": Described(WakeAnswer, ("agent ask", "agent chat")),
    "templates": Described(list[TemplateDetails], ("template list",)),
    "template": Described(
        TemplateDetails,
        (
            "template show",
            "template create",
            "template set",
            "template version",
            "template rollback",
        ),
    ),
    "seed": Described(SeedDetails, ("template show laura",)),
    "template-given": Described(TemplateGiven, ("template assign",)),
    "deleted": Described(deeds.Deleted, ("template delete", "label delete")),
    "inbox": Described(list[InboxSet], ("inbox",)),
    "verdicts": Described(deeds.DecidedItems, ("confirm", "reject", "defer")),
    "lessons": Described(list[LessonLine], ("lessons",)),
    "rated-run": Described(RatedRun, ("rate",)),
    "models": Described(list[ModelDetails], ("models",)),
    "policy": Described(PolicyDocument, ("policy show",)),
    "policy-allowed": Described(Allowed, ("policy allow", "policy withdraw")),
    "policy-ruled": Described(Ruled, ("policy models",)),
    "policy-preview": Described(Preview, ("policy try",)),
    "notify": Described(NotifyDetails, ("notify show", "notify allow", "notify withdraw")),
    "notify-tests": Described(list[TestedReceiver], ("notify test",)),
    "wakes": Described(list[WakeLine], ("wakes", "wake")),
    "wake": Described(WakeLine, ("wake TASK",)),
    "run": Described(WakeDetails, ("show",)),
    "prompt": Described(PromptDetails, ("show --prompt",)),
    "report": Described(ReportDetails, ("report",)),
    "journal": Described(list[JournalLine], ("journal",)),
    "memory": Described(MemoryDetails, ("memory",)),
    "memory-sources": Described(DigestSources, ("memory --sources",)),
    "messages": Described(list[MessageThread], ("messages",)),
    "why": Described(list[WhyLine], ("why",)),
    "why-field": Described(FieldWhy, ("why TASK FIELD",)),
    "why-change": Described(list[WhyAgent], ("why journal:N",)),
    "run-counts": Described(deeds.RunCounts, ("run",)),
    "rows": Described(list[dict[str, Any]], ("sql",)),
    "metrics": Described(list[TemplateMetrics], ("metrics",)),
    "exported-tables": Described(deeds.ExportedTables, ("export --parquet",)),
    "exported-wakes": Described(deeds.ExportedWakes, ("export --inspect",)),
    "exported-tasks": Described(deeds.ExportedTasks, ("export --markdown",)),
    "exported-history": Described(deeds.ExportedHistory, ("export-history --out",)),
    "status": Described(StatusDetails, ("status",)),
    "health": Described(HealthDetails, ("health",)),
    "doctor": Described(deeds.DoctorDetails, ("doctor",)),
    "proof": Described(ProofDetails, ("prove",)),
    "replay": Described(ReplayDetails, ("replay",)),
    "moment": Described(MomentDetails, ("at",)),
    "request": Described(RequestDetails, ("at --prompt",)),
    "diff": Described(WakesDiff | WorldsDiff | HomesDiff, ("diff",)),
    "bisect": Described(BisectDetails, ("bisect",)),
    "fork": Described(ForkDetails, ("fork",)),
    "simulation": Described(deeds.SimulationDetails, ("simulate",)),
    "recovered": Described(deeds.RecoveredSteps, ("recover",)),
    "rebuilt": Described(deeds.RebuiltViews, ("rebuild",)),
    "backup": Described(deeds.BackupDetails, ("backup",)),
    "begun": Described(BegunHome, ("init",)),
    "home": Described(deeds.HomeDetails, ("home show",)),
    "homes": Described(list[databases.ListedHome], ("home list",)),
    "copied-home": Described(databases.CopiedHome, ("copy",)),
    "synced": Described(SyncReport, ("sync",)),
    "replicas": Described(list[ReplicaLine], ("replicas",)),
    "named-replica": Described(NamedReplica, ("replicas name",)),
    "rescued": Described(RescueReport, ("replicas rescue",)),
    "lead-replica": Described(LeadReplica, ("replicas lead",)),
    "retired-replica": Described(RetiredReplica, ("replicas retire",)),
    "thawed-home": Described(databases.ThawedHome, ("home thaw",)),
    "created-home": Described(databases.CreatedHome, ("home create",)),
    "frozen-home": Described(databases.FrozenHome, ("home freeze",)),
    "renamed-home": Described(databases.RenamedHome, ("home rename",)),
    "home-members": Described(list[databases.HomeMember], ("home access",)),
    "created-token": Described(databases.CreatedToken, ("token create",)),
    "tokens": Described(list[databases.ListedToken], ("token list",)),
    "revoked-token": Described(databases.RevokedToken, ("token revoke",)),
    "prepared-database": Described(databases.PreparedDatabase, ("database init",)),
    "checked-database": Described(databases.CheckedDatabase, ("database check",)),
    "settings": Described(
        databases.SettingsText, ("settings show", "settings set", "settings edit")
    ),
    "cluster": Described(databases.ClusterDetails, ("cluster",)),
    "worked-homes": Described(databases.WorkedHomes, ("worker",)),
    "worker-health": Described(databases.WorkerHealth, ("worker --health",)),
    "adopted": Described(deeds.AdoptedHome, ("home adopt",)),
    "demo": Described(DemoDetails, ("demo",)),
    "demo-data": Described(DemoData, ("demo-data",)),
    "demo-data-there": Described(DemoDataThere, ("demo-data",)),
    "schemas": Described(list[SchemaLine], ("schema",)),
}  # fmt: skip


def schema_lines() -> list[SchemaLine]:
    """The document of `schema`."""
    return [SchemaLine(name, list(one.commands)) for name, one in DOCUMENTS.items()]


def schema_of(name: str) -> dict[str, Any] | None:
    """The JSON Schema of a document, by its name or by a command; None where there is none."""
    found = DOCUMENTS.get(name)
    if found is None:
        found = next((one for one in DOCUMENTS.values() if name in one.commands), None)
    if found is None:
        return None
    schema = msgspec.json.schema(found.shape)
    for one in schema.get("$defs", {}).values():
        if "description" in one:
            one["description"] = cleandoc(one["description"])
    return {"$schema": DIALECT, **schema}
