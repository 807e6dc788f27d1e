"""Every document that a command prints with ``--json``, by a name, and its JSON Schema."""

from inspect import cleandoc
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from adapters.documents import agent_output, agents, homes, results, sync, templates, timetravel
from adapters.documents.day import DayDetails
from adapters.documents.demo import DemoData, DemoDataThere, DemoDetails
from adapters.documents.evaluations import EvalDetails, RehearsalDetails
from adapters.documents.import_conflicts import ConflictDetails
from adapters.documents.inbox import InboxSet
from adapters.documents.lessons import LessonLine, RatedRun
from adapters.documents.models import ModelDetails
from adapters.documents.notify import NotifyDetails, TestedReceiver
from adapters.documents.policy import Allowed, PolicyDocument, Preview, Ruled
from adapters.documents.proof import ProofDetails
from adapters.documents.status import HealthDetails, StatusDetails
from adapters.documents.tasks import (
    CategoryDetails,
    FieldWhy,
    FoundLine,
    ImportDetails,
    LabelDetails,
    TaskSummary,
)
from adapters.documents.wakes import WakeAnswer, WakeDetails, WakeLine
from domain.journal.document import TaskDetails, TaskLine

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class SchemaLine(Struct, frozen=True):
    """A document by its name, and the commands that print it."""

    name: str
    commands: list[str]


class DocumentType(NamedTuple):
    """The type of a document, and the commands that print it."""

    shape: Any
    commands: tuple[str, ...]


DOCUMENTS: dict[str, DocumentType] = {
    "tasks": DocumentType(list[TaskLine], ("list", "today", "task list")),
    "tasks-found": DocumentType(list[FoundLine], ("search",)),
    "summary": DocumentType(TaskSummary, ("summary",)),
    "task": DocumentType(
        TaskDetails,
        (
            "show TASK", "add", "log", "edit", "note", "delete", "start", "stop", "task show",
            "task add", "task set", "task delete", "task restore", "task check",
            "task uncheck", "task item add", "task item rename", "task item archive",
            "task item restore", "task note", "task link", "task unlink", "task time",
            "task conclude", "task retime", "task rate", "task timer start", "task timer stop",
            "label assign", "label remove", "label suppress", "label allow", "settle",
        ),
    ),
    "tasks-done": DocumentType(
        list[TaskDetails], ("done", "edit TASK TASK", "delete TASK TASK")
    ),
    "day": DocumentType(
        DayDetails,
        (
            "day show", "day put", "day move", "day keep", "day remove", "day pin",
            "day unpin", "day rate", "day plan",
        ),
    ),
    "days": DocumentType(list[DayDetails], ("day show --days",)),
    "categories": DocumentType(list[CategoryDetails], ("category list",)),
    "category": DocumentType(
        CategoryDetails, ("category add", "category rename", "category correct")
    ),
    "labels": DocumentType(list[LabelDetails], ("label list",)),
    "label": DocumentType(LabelDetails, ("label add", "label widen")),
    "import": DocumentType(ImportDetails, ("import",)),
    "imports-undone": DocumentType(results.ImportsUndone, ("import --undo",)),
    "deed-undone": DocumentType(results.UndoneDeed, ("undo",)),
    "deeds-undoable": DocumentType(results.UndoableDeeds, ("undo --list",)),
    "conflicts": DocumentType(list[ConflictDetails], ("conflicts",)),
    "written-back": DocumentType(results.FilesBack, ("write-back",)),
    "agents": DocumentType(list[agents.AgentLine], ("agent list",)),
    "agent": DocumentType(
        agents.AgentDetails,
        (
            "agent show", "agent create", "agent set", "agent pause", "agent resume", "agent sleep",
            "agent destroy", "agent delete", "agent watch", "agent unwatch",
            "agent timer AGENT set", "agent timer AGENT remove",
        ),
    ),
    "agents-made": DocumentType(agents.AgentsMade, ("agent create --all",)),
    "timers": DocumentType(list[agents.TimerDetails], ("agent timer AGENT list",)),
    "answer": DocumentType(WakeAnswer, ("agent ask", "agent chat")),
    "templates": DocumentType(list[templates.TemplateDetails], ("template list",)),
    "template": DocumentType(
        templates.TemplateDetails,
        (
            "template show",
            "template create",
            "template set",
            "template version",
            "template rollback",
        ),
    ),
    "seed": DocumentType(templates.SeedDetails, ("template show laura",)),
    "template-given": DocumentType(templates.TemplateGiven, ("template assign",)),
    "deleted": DocumentType(results.Deleted, ("template delete", "label delete")),
    "inbox": DocumentType(list[InboxSet], ("inbox",)),
    "verdicts": DocumentType(results.DecidedItems, ("confirm", "reject", "defer")),
    "lessons": DocumentType(list[LessonLine], ("lessons",)),
    "rated-run": DocumentType(RatedRun, ("rate",)),
    "models": DocumentType(list[ModelDetails], ("models",)),
    "policy": DocumentType(PolicyDocument, ("policy show",)),
    "policy-allowed": DocumentType(Allowed, ("policy allow", "policy withdraw")),
    "policy-ruled": DocumentType(Ruled, ("policy models",)),
    "policy-preview": DocumentType(Preview, ("policy try",)),
    "notify": DocumentType(NotifyDetails, ("notify show", "notify allow", "notify withdraw")),
    "notify-tests": DocumentType(list[TestedReceiver], ("notify test",)),
    "wakes": DocumentType(list[WakeLine], ("wakes", "wake")),
    "wake": DocumentType(WakeLine, ("wake TASK", "category review")),
    "run": DocumentType(WakeDetails, ("show",)),
    "prompt": DocumentType(agent_output.PromptDetails, ("show --prompt",)),
    "report": DocumentType(agent_output.ReportDetails, ("report",)),
    "journal": DocumentType(list[agent_output.JournalLine], ("journal",)),
    "memory": DocumentType(agents.MemoryDetails, ("memory",)),
    "memory-sources": DocumentType(agents.DigestSources, ("memory --sources",)),
    "messages": DocumentType(list[agent_output.MessageThread], ("messages",)),
    "why": DocumentType(list[agent_output.WhyLine], ("why",)),
    "why-field": DocumentType(FieldWhy, ("why TASK FIELD",)),
    "why-change": DocumentType(list[agent_output.WhyAgent], ("why journal:N",)),
    "run-counts": DocumentType(results.RunCounts, ("run",)),
    "rows": DocumentType(list[dict[str, Any]], ("sql",)),
    "metrics": DocumentType(list[templates.TemplateMetrics], ("metrics",)),
    "exported-tables": DocumentType(results.ExportedTables, ("export --parquet",)),
    "exported-wakes": DocumentType(results.ExportedWakes, ("export --inspect",)),
    "exported-tasks": DocumentType(results.ExportedTasks, ("export --markdown",)),
    "exported-history": DocumentType(results.ExportedHistory, ("export-history --out",)),
    "status": DocumentType(StatusDetails, ("status",)),
    "health": DocumentType(HealthDetails, ("health", "status --check")),
    "doctor": DocumentType(results.DoctorDetails, ("doctor",)),
    "proof": DocumentType(ProofDetails, ("prove",)),
    "replay": DocumentType(timetravel.ReplayDetails, ("replay",)),
    "moment": DocumentType(timetravel.MomentDetails, ("at",)),
    "request": DocumentType(timetravel.RequestDetails, ("at --prompt",)),
    "diff": DocumentType(
        timetravel.WakesDiff | timetravel.WorldsDiff | timetravel.HomesDiff, ("diff",)
    ),
    "bisect": DocumentType(timetravel.BisectDetails, ("bisect",)),
    "fork": DocumentType(timetravel.ForkDetails, ("fork",)),
    "evaluation": DocumentType(EvalDetails, ("eval",)),
    "rehearsal": DocumentType(RehearsalDetails, ("rehearse",)),
    "simulation": DocumentType(results.SimulationDetails, ("simulate",)),
    "recovered": DocumentType(results.RecoveredSteps, ("recover",)),
    "rebuilt": DocumentType(results.RebuiltViews, ("rebuild",)),
    "backup": DocumentType(results.BackupDetails, ("backup",)),
    "restored": DocumentType(results.RestoredDetails, ("restore",)),
    "erased": DocumentType(results.ErasedDetails, ("erase",)),
    "erasures": DocumentType(list[results.ErasureLine], ("erase --list",)),
    "retained": DocumentType(results.RetainDetails, ("retain",)),
    "begun": DocumentType(homes.BegunHome, ("init",)),
    "home": DocumentType(results.HomeDetails, ("home show",)),
    "homes": DocumentType(list[homes.ListedHome], ("home list",)),
    "copied-home": DocumentType(homes.CopiedHome, ("move",)),
    "synced": DocumentType(sync.SyncReport, ("sync",)),
    "joined": DocumentType(sync.JoinReport, ("sync --join",)),
    "replicas": DocumentType(list[sync.ReplicaLine], ("replicas",)),
    "named-replica": DocumentType(sync.NamedReplica, ("replicas name",)),
    "rescued": DocumentType(sync.RescueReport, ("replicas rescue",)),
    "lead-replica": DocumentType(sync.LeadReplica, ("replicas lead",)),
    "retired-replica": DocumentType(sync.RetiredReplica, ("replicas retire",)),
    "thawed-home": DocumentType(homes.ThawedHome, ("home thaw",)),
    "created-home": DocumentType(homes.CreatedHome, ("home create",)),
    "frozen-home": DocumentType(homes.FrozenHome, ("home freeze",)),
    "deleted-home": DocumentType(homes.DeletedHome, ("home delete",)),
    "adopted-database": DocumentType(homes.AdoptedDatabase, ("database adopt",)),
    "renamed-home": DocumentType(homes.RenamedHome, ("home rename",)),
    "home-members": DocumentType(list[homes.HomeMember], ("home access",)),
    "created-token": DocumentType(homes.CreatedToken, ("token create",)),
    "tokens": DocumentType(list[homes.ListedToken], ("token list",)),
    "revoked-token": DocumentType(homes.RevokedToken, ("token revoke",)),
    "prepared-database": DocumentType(homes.PreparedDatabase, ("database init",)),
    "checked-database": DocumentType(homes.CheckedDatabase, ("database check",)),
    "scrubbed-database": DocumentType(homes.ScrubbedDatabase, ("database scrub",)),
    "settings": DocumentType(
        homes.SettingsText, ("settings show", "settings set", "settings edit")
    ),
    "cluster": DocumentType(homes.ClusterDetails, ("cluster",)),
    "worked-homes": DocumentType(homes.WorkedHomes, ("worker",)),
    "worker-health": DocumentType(homes.WorkerHealth, ("worker --health",)),
    "adopted": DocumentType(results.AdoptedHome, ("home adopt",)),
    "demo": DocumentType(DemoDetails, ("demo",)),
    "demo-data": DocumentType(DemoData, ("demo-data",)),
    "demo-data-there": DocumentType(DemoDataThere, ("demo-data",)),
    "schemas": DocumentType(list[SchemaLine], ("schema",)),
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
