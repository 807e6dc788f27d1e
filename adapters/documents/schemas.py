"""Every document that a command prints with ``--json``, by a name, and its JSON Schema."""

from inspect import cleandoc
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from adapters.documents import (
    agent_output,
    agents,
    homes,
    improving,
    results,
    sync,
    templates,
    timetravel,
)
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
from adapters.importers.task_records import TaskRecord
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


_ROWS: dict[str, tuple[Any, str]] = {
    "tasks": (list[TaskLine], "list|today|task list"),
    "tasks-found": (list[FoundLine], "search"),
    "summary": (TaskSummary, "summary"),
    "task": (
        TaskDetails,
        ("show TASK|add|log|edit|note|delete|start|stop|task show|task add|task set|task delete"
        "|task restore|task check|task uncheck|task item add|task item rename|task item archive"
        "|task item restore|task note|task link|task unlink|task time|task conclude|task retime"
        "|task rate|task timer start|task timer stop|label assign|label remove|label suppress"
        "|label allow|settle"),
    ),
    "tasks-done": (list[TaskDetails], "done|edit TASK TASK|delete TASK TASK"),
    "day": (
        DayDetails,
        "day show|day put|day move|day keep|day remove|day pin|day unpin|day rate|day plan",
    ),
    "days": (list[DayDetails], "day show --days"),
    "categories": (list[CategoryDetails], "category list"),
    "category": (CategoryDetails, "category add|category rename|category correct"),
    "labels": (list[LabelDetails], "label list"),
    "label": (LabelDetails, "label add|label widen"),
    "import": (ImportDetails, "import"),
    "import-task": (TaskRecord, "import --format tasks"),
    "imports-undone": (results.ImportsUndone, "import --undo"),
    "deed-undone": (results.UndoneDeed, "undo"),
    "deeds-undoable": (results.UndoableDeeds, "undo --list"),
    "conflicts": (list[ConflictDetails], "conflicts"),
    "written-back": (results.FilesBack, "write-back"),
    "agents": (list[agents.AgentLine], "agent list"),
    "agent": (
        agents.AgentDetails,
        ("agent show|agent create|agent set|agent pause|agent resume|agent sleep|agent destroy"
        "|agent delete|agent watch|agent unwatch|agent timer AGENT set|agent timer AGENT remove"),
    ),
    "agents-made": (agents.AgentsMade, "agent create --all"),
    "timers": (list[agents.TimerDetails], "agent timer AGENT list"),
    "answer": (WakeAnswer, "agent ask|agent chat"),
    "templates": (list[templates.TemplateDetails], "template list"),
    "template": (
        templates.TemplateDetails,
        "template show|template create|template set|template version|template rollback",
    ),
    "seed": (templates.SeedDetails, "template show laura"),
    "improving-session": (improving.ImprovingSession, "template improve"),
    "improving-sessions": (list[improving.SessionLine], "template sessions"),
    "template-given": (templates.TemplateGiven, "template assign"),
    "deleted": (results.Deleted, "template delete|label delete"),
    "inbox": (list[InboxSet], "inbox"),
    "verdicts": (results.DecidedItems, "confirm|reject|defer"),
    "lessons": (list[LessonLine], "lessons"),
    "rated-run": (RatedRun, "rate"),
    "models": (list[ModelDetails], "models"),
    "policy": (PolicyDocument, "policy show"),
    "policy-allowed": (Allowed, "policy allow|policy withdraw"),
    "policy-ruled": (Ruled, "policy models"),
    "policy-preview": (Preview, "policy try"),
    "notify": (NotifyDetails, "notify show|notify allow|notify withdraw"),
    "notify-tests": (list[TestedReceiver], "notify test"),
    "wakes": (list[WakeLine], "wakes|wake"),
    "wake": (WakeLine, "wake TASK|category review"),
    "run": (WakeDetails, "show"),
    "prompt": (agent_output.PromptDetails, "show --prompt"),
    "report": (agent_output.ReportDetails, "report"),
    "journal": (list[agent_output.JournalLine], "journal"),
    "memory": (agents.MemoryDetails, "memory"),
    "memory-sources": (agents.DigestSources, "memory --sources"),
    "messages": (list[agent_output.MessageThread], "messages"),
    "why": (list[agent_output.WhyLine], "why"),
    "why-field": (FieldWhy, "why TASK FIELD"),
    "why-change": (list[agent_output.WhyAgent], "why journal:N"),
    "run-counts": (results.RunCounts, "run"),
    "rows": (list[dict[str, Any]], "sql"),
    "metrics": (list[templates.TemplateMetrics], "metrics"),
    "exported-tables": (results.ExportedTables, "export --parquet"),
    "exported-wakes": (results.ExportedWakes, "export --inspect"),
    "exported-tasks": (results.ExportedTasks, "export --markdown|export --json-tasks"),
    "exported-history": (results.ExportedHistory, "export-history --out"),
    "status": (StatusDetails, "status"),
    "health": (HealthDetails, "health|status --check"),
    "doctor": (results.DoctorDetails, "doctor"),
    "proof": (ProofDetails, "prove"),
    "replay": (timetravel.ReplayDetails, "replay"),
    "moment": (timetravel.MomentDetails, "at"),
    "request": (timetravel.RequestDetails, "at --prompt"),
    "diff": (timetravel.WakesDiff | timetravel.WorldsDiff | timetravel.HomesDiff, "diff"),
    "bisect": (timetravel.BisectDetails, "bisect"),
    "fork": (timetravel.ForkDetails, "fork"),
    "evaluation": (EvalDetails, "eval"),
    "rehearsal": (RehearsalDetails, "rehearse"),
    "simulation": (results.SimulationDetails, "simulate"),
    "recovered": (results.RecoveredSteps, "recover"),
    "rebuilt": (results.RebuiltViews, "rebuild"),
    "backup": (results.BackupDetails, "backup"),
    "restored": (results.RestoredDetails, "restore"),
    "erased": (results.ErasedDetails, "erase"),
    "erasures": (list[results.ErasureLine], "erase --list"),
    "retained": (results.RetainDetails, "retain"),
    "begun": (homes.BegunHome, "init"),
    "home": (results.HomeDetails, "home show"),
    "homes": (list[homes.ListedHome], "home list"),
    "copied-home": (homes.CopiedHome, "move"),
    "synced": (sync.SyncReport, "sync"),
    "joined": (sync.JoinReport, "sync --join"),
    "replicas": (list[sync.ReplicaLine], "replicas"),
    "named-replica": (sync.NamedReplica, "replicas name"),
    "rescued": (sync.RescueReport, "replicas rescue"),
    "lead-replica": (sync.LeadReplica, "replicas lead"),
    "retired-replica": (sync.RetiredReplica, "replicas retire"),
    "thawed-home": (homes.ThawedHome, "home thaw"),
    "created-home": (homes.CreatedHome, "home create"),
    "frozen-home": (homes.FrozenHome, "home freeze"),
    "deleted-home": (homes.DeletedHome, "home delete"),
    "adopted-database": (homes.AdoptedDatabase, "database adopt"),
    "renamed-home": (homes.RenamedHome, "home rename"),
    "home-members": (list[homes.HomeMember], "home access"),
    "created-token": (homes.CreatedToken, "token create"),
    "tokens": (list[homes.ListedToken], "token list"),
    "revoked-token": (homes.RevokedToken, "token revoke"),
    "prepared-database": (homes.PreparedDatabase, "database init"),
    "checked-database": (homes.CheckedDatabase, "database check"),
    "scrubbed-database": (homes.ScrubbedDatabase, "database scrub"),
    "settings": (homes.SettingsText, "settings show|settings set|settings edit"),
    "cluster": (homes.ClusterDetails, "cluster"),
    "worked-homes": (homes.WorkedHomes, "worker"),
    "worker-health": (homes.WorkerHealth, "worker --health"),
    "page-health": (homes.PageHealth, "serve --database --health"),
    "adopted": (results.AdoptedHome, "home adopt"),
    "demo": (DemoDetails, "demo"),
    "demo-data": (DemoData, "demo-data"),
    "demo-data-there": (DemoDataThere, "demo-data"),
    "schemas": (list[SchemaLine], "schema"),
}  # fmt: skip
DOCUMENTS = {
    name: DocumentType(shape, tuple(told.split("|"))) for name, (shape, told) in _ROWS.items()
}


def schema_lines() -> list[SchemaLine]:
    """The document of `schema`."""
    return [SchemaLine(name, list(one.commands)) for name, one in DOCUMENTS.items()]


def schema_of(name: str) -> dict[str, Any] | None:
    """The JSON Schema of a document, by its name or by a command; None where there is none."""
    by_command = (one for one in DOCUMENTS.values() if name in one.commands)
    found = DOCUMENTS.get(name) or next(by_command, None)
    if found is None:
        return None
    schema = msgspec.json.schema(found.shape)
    for one in schema.get("$defs", {}).values():
        if "description" in one:
            one["description"] = cleandoc(one["description"])
    return {"$schema": DIALECT, **schema}
