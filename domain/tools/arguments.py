"""The arguments of every tool, as the model is shown them and as they are kept (SPEC 5).

One Struct says all: its JSON Schema is what the model is offered and what `decoding` checks.
Keys of ours in the schema, which the model never sees: ``x-clean`` names how a value is
tidied before it is checked, ``x-elements`` how the elements of a forgiving list are (of which
none may be left), ``x-asked`` how many elements the model is asked for where more are read and
the best of them kept. ``x-instant-of`` names the local time whose UTC instant a field holds: the
core knows no zones, so whoever records a call or an edit resolves it (ADR 41).

STORAGE FORMAT for the singular ones: a change set keeps their canonical JSON, and fingerprints
and bases are taken of it."""

from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from domain.journal.task import MINUTES_MAX

TITLE_MAX = 200
ITEM_TITLE_MAX = 400
REASON_MAX = 500
ESTIMATE_MAX = 1440  # before scaffold 3
BATCH_MAX = 20
LABELS_MAX = 3
LOOP_MAX = 200
LOOPS_AT_ONCE = 3
NUMBER_MAX = 100
NEED_REASON = ("BLOCKED", "ON HOLD")


class Arguments(
    Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """Defaults are None, "" and () only: they mean "not given", and are not written."""

    def problem(self) -> str:
        """What the rules that need no task say against them; empty: nothing."""
        return ""


def text_of(length_max: int | None, description: str, clean: str = "words") -> Meta:
    ours = {"x-clean": clean}
    return Meta(
        min_length=1, max_length=length_max, description=description, extra_json_schema=ours
    )


def id_of(description: str, clean: str = "id") -> Meta:
    return text_of(100, description, clean)


def list_of(description: str, least: int = 1) -> Meta:
    return Meta(min_length=least, max_length=BATCH_MAX, description=description)


def forgiving_list(description: str, elements: str) -> Meta:
    ours = {"minItems": 1, "x-elements": elements}
    return Meta(max_length=BATCH_MAX, description=description, extra_json_schema=ours)


ItemTitle = Annotated[str, text_of(ITEM_TITLE_MAX, "The item's text, in one line.")]
TaskStatus = Annotated[
    Literal["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD"],
    Meta(description="The new status.", extra_json_schema={"x-clean": "status"}),
]
TaskPriority = Literal["P0", "P1", "P2", "P3"]
LabelConfidence = Annotated[
    Literal["very_high", "high", "medium", "low"],
    Meta(description="How sure you are; low ones are dropped."),
]


class SetTaskTitle(Arguments, frozen=True):
    title: Annotated[str, text_of(TITLE_MAX, "The new title, in one line.")]


class UpdateTaskEstimate(Arguments, frozen=True):
    minutes: Annotated[
        int, Meta(ge=1, le=MINUTES_MAX, description="The whole task's duration in minutes.")
    ]


class UpdateTaskEstimateOfADay(UpdateTaskEstimate, frozen=True):
    """What a call may ask for before scaffold 3."""

    minutes: Annotated[
        int, Meta(ge=1, le=ESTIMATE_MAX, description="The whole task's duration in minutes.")
    ]


class UpdateTaskDueDate(Arguments, frozen=True):
    due_date: Annotated[str, text_of(10, "The day it is due, YYYY-MM-DD.", "date")]


class UpdateTaskPriority(Arguments, frozen=True):
    priority: Annotated[TaskPriority, Meta(description="P0 is the most urgent.")]


class SetTaskStatus(Arguments, frozen=True):
    status: TaskStatus
    reason: Annotated[str, text_of(REASON_MAX, "Why; needed for BLOCKED and ON HOLD.")] = ""

    def problem(self) -> str:
        is_missing = self.status in NEED_REASON and not self.reason
        return f"reason: is missing; {self.status} needs one" if is_missing else ""


class SetTaskLanguage(Arguments, frozen=True):
    language_code: Annotated[str, text_of(2, "ISO 639-1, two letters.", "language")]
    confidence: Annotated[
        Literal["high", "medium", "low"],
        Meta(description="How sure you are; a low one is refused."),
    ]

    def problem(self) -> str:
        is_low = self.confidence == "low"
        return "confidence: is low; set the language only when you are surer" if is_low else ""


class LabelChoice(Arguments, frozen=True):
    """An available label."""

    id: Annotated[str, id_of("The label's id, from the available labels.", "label")]
    confidence: LabelConfidence


class AssignTaskLabels(Arguments, frozen=True):
    labels: Annotated[
        tuple[LabelChoice, ...],
        Meta(
            min_length=1,
            max_length=BATCH_MAX,
            description="The labels that fit best.",
            extra_json_schema={"x-asked": LABELS_MAX},
        ),
    ]


class AddChecklistItem(Arguments, frozen=True):
    """An item to add."""

    title: ItemTitle


class AddMultipleChecklistItems(Arguments, frozen=True):
    items: Annotated[tuple[AddChecklistItem, ...], list_of("The items, in their order.")]


class UpdateChecklistItem(Arguments, frozen=True):
    """A change to one item; give only what changes."""

    id: Annotated[str, id_of("The item's id.")]
    is_checked: Annotated[bool | None, Meta(description="Whether it is done.")] = None
    title: ItemTitle = ""
    is_archived: Annotated[bool | None, Meta(description="Whether it is put away.")] = None
    reason: Annotated[
        str, text_of(REASON_MAX, "Why; at least 20 characters against a person's own tick.")
    ] = ""

    @property
    def is_empty(self) -> bool:
        return self.is_checked is None and self.is_archived is None and not self.title

    def problem(self) -> str:
        return "give isChecked, title or isArchived" if self.is_empty else ""


class UpdateChecklistItems(Arguments, frozen=True):
    items: Annotated[tuple[UpdateChecklistItem, ...], list_of("One entry for each item.")]

    def problem(self) -> str:
        found = (f"items[{n}]: {one.problem()}" for n, one in enumerate(self.items) if one.is_empty)
        return next(found, "")


class UpdateReport(Arguments, frozen=True):
    content: Annotated[str, text_of(None, "The whole report, Markdown.", "text")]
    tldr: Annotated[str, text_of(None, "What matters, in one to three sentences.", "text")]
    one_liner: Annotated[str, text_of(None, "Where the task stands, in one short line.")]


ObservationPriority = Literal["routine", "notable", "critical"]
ObservationCategory = Literal["grievance", "excellence", "template_improvement", "operational"]
ObservationTarget = Literal["template", "soul", "both"]


class Observed(Arguments, frozen=True):
    """A private note to yourself."""

    text: Annotated[str, Meta(min_length=1, description="What you noticed.")]
    priority: Annotated[ObservationPriority | None, Meta(description="routine if left out.")] = None
    category: Annotated[
        ObservationCategory | None, Meta(description="operational if left out.")
    ] = None
    target: Annotated[ObservationTarget | None, Meta(description="What it is about.")] = None


class RecordObservations(Arguments, frozen=True):
    observations: Annotated[
        tuple[Annotated[str, Meta(min_length=1)] | Observed, ...],
        forgiving_list("Texts, or objects.", "observation"),
    ]


NoteNumber = Annotated[
    str, Meta(min_length=1, max_length=NUMBER_MAX, extra_json_schema={"x-clean": "words"})
]


class RecordAndResolve(RecordObservations, frozen=True):
    """What is recorded where critical observations have numbers."""

    resolves: Annotated[
        tuple[NoteNumber, ...],
        list_of("Numbers of critical observations that these settle: shown until then.", least=0),
    ] = ()


class Retract(Arguments, frozen=True):
    """An open proposal of yours to take back."""

    fingerprint: Annotated[str, id_of("From the list of open proposals.")]
    reason: Annotated[str, text_of(REASON_MAX, "Why it no longer fits.")]


class RetractSuggestions(Arguments, frozen=True):
    proposals: Annotated[
        tuple[Retract, ...], forgiving_list("The proposals to take back.", "retraction")
    ]


LoopText = Annotated[str, text_of(LOOP_MAX, "What is to be kept in sight, in one line.")]
Loops = Annotated[tuple[LoopText, ...], Meta(min_length=0, max_length=LOOPS_AT_ONCE)]


class UpdateLoops(Arguments, frozen=True):
    add: Loops = ()
    close: Loops = ()

    def problem(self) -> str:
        return "" if self.add or self.close else "give add or close"


class AssignTaskLabel(Arguments, frozen=True):
    """The singular form; a person who edits it need not say how sure they are."""

    id: Annotated[str, id_of("The label's id.", "label")]
    confidence: LabelConfidence | None = None


class SuppressLabel(Arguments, frozen=True):
    """No tool of the model: what rejecting a label does, and taking that back (SPEC 6)."""

    id: Annotated[str, id_of("The label's id.")]


# -------------------------------------------------------------------------------- about other tasks
# Follow-ups, links, and looking things up.

DESCRIPTION_MAX = 4_000
WORDS_MAX = 200
FOUND_MAX = 10
RECALLED_MAX = 8

FollowUpRelation = Literal["follows_up_on", "relates_to", "blocks"]
LinkPhrase = Literal[
    "relates_to", "blocks", "is_blocked_by", "follows_up_on", "has_follow_up", "duplicates",
    "is_duplicated_by", "fixes", "is_fixed_by", "supersedes", "is_superseded_by",
]  # fmt: skip
TargetId = Annotated[
    str, id_of("The other task's id: a linked one, one that you found, or your new follow-up task.")
]


class CarriedItem(Arguments, frozen=True):
    """An item to carry over."""

    id: Annotated[str, id_of("The item's id.")]


class CreateFollowUpTask(Arguments, frozen=True):
    title: Annotated[str, text_of(TITLE_MAX, "The new task's title, in one line.")]
    description: Annotated[
        str, text_of(DESCRIPTION_MAX, "What it is about, where the title does not say it.", "text")
    ] = ""
    due_date: Annotated[str, text_of(10, "The day it is due, YYYY-MM-DD.", "date")] = ""
    priority: Annotated[TaskPriority | None, Meta(description="P0 is the most urgent.")] = None
    relation: Annotated[
        FollowUpRelation | None,
        Meta(description="How the new task is related to this one; follows_up_on if left out."),
    ] = None
    carry_over: Annotated[
        tuple[CarriedItem, ...],
        list_of("Open items that move from this task to the new one.", least=0),
    ] = ()


class MigrateChecklistItem(Arguments, frozen=True):
    """The singular form: one item moves."""

    id: Annotated[str, id_of("The item's id.")]
    target_task_id: TargetId


class MigrateChecklistItems(Arguments, frozen=True):
    items: Annotated[tuple[CarriedItem, ...], list_of("The items that move.")]
    target_task_id: TargetId


class ProposeLink(Arguments, frozen=True):
    relation: Annotated[LinkPhrase, Meta(description="How this task is related to the other one.")]
    target_task_id: TargetId


_Words = Annotated[str, text_of(WORDS_MAX, "Words to look for, whatever their case.")]


class FindTasks(Arguments, frozen=True):
    words: _Words
    status: Annotated[
        Literal["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED"] | None,
        Meta(description="Only tasks of this status."),
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=FOUND_MAX)] | None,
        Meta(description=f"At most; {FOUND_MAX} if left out."),
    ] = None


class ReadTask(Arguments, frozen=True):
    task_id: Annotated[str, id_of("The task's id, as find_tasks gave it.")]


class Recall(Arguments, frozen=True):
    words: _Words
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=RECALLED_MAX)] | None,
        Meta(description=f"At most; {RECALLED_MAX} if left out."),
    ] = None


# --------------------------------------------------------------------------------------- about time
SUMMARY_MAX = 500


def _local_time(what: str) -> Meta:
    return text_of(20, f"{what}, YYYY-MM-DDTHH:MM as the person's clock shows it.", "local_time")


def _instant_of(name: str) -> Meta:
    ours = {"x-clean": "instant", "x-instant-of": name}
    return Meta(min_length=1, max_length=27, extra_json_schema=ours)


class LogTime(Arguments, frozen=True):
    started_at: Annotated[str, _local_time("When it began")]
    ended_at: Annotated[str, _local_time("When it ended")]
    summary: Annotated[str, text_of(SUMMARY_MAX, "What was done, in one line.")]


class LogTimeAt(LogTime, frozen=True):
    """The change: with the instants of its local times."""

    started_utc: Annotated[str, _instant_of("startedAt")] = ""
    ended_utc: Annotated[str, _instant_of("endedAt")] = ""

    def problem(self) -> str:
        return _unresolved(self)


class EditTimeEntry(Arguments, frozen=True):
    entry_id: Annotated[str, id_of("The entry's id, from the time section.")]
    started_at: Annotated[str, _local_time("Its new start")] = ""
    ended_at: Annotated[str, _local_time("Its new end")] = ""
    summary: Annotated[str, text_of(SUMMARY_MAX, "Its new summary, in one line.")] = ""
    reason: Annotated[
        str, text_of(REASON_MAX, "Why; at least 20 characters against the person's own times.")
    ] = ""

    def problem(self) -> str:
        is_empty = not (self.started_at or self.ended_at or self.summary)
        return "give startedAt, endedAt or summary" if is_empty else ""


class EditTimeEntryAt(EditTimeEntry, frozen=True):
    """The change: with the instants of its local times."""

    started_utc: Annotated[str, _instant_of("startedAt")] = ""
    ended_utc: Annotated[str, _instant_of("endedAt")] = ""

    def problem(self) -> str:
        return EditTimeEntry.problem(self) or _unresolved(self)


def _unresolved(given: LogTimeAt | EditTimeEntryAt) -> str:
    times = (given.started_at, given.started_utc), (given.ended_at, given.ended_utc)
    why = "a local time needs its instant, and an instant its local time"
    return next((f"{wall or utc}: {why}" for wall, utc in times if bool(wall) != bool(utc)), "")


class NoteTimer(Arguments, frozen=True):
    summary: Annotated[str, text_of(SUMMARY_MAX, "What is being done, in one line.")]


# -------------------------------------------------------------------------------- their JSON Schema

Schema = dict[str, Any]


@cache
def rules(shape: type[Struct]) -> Schema:
    """The schema with references written out and keys of ours left in. Not to be changed.

    "Not given" is an absent key, so null and defaults do not appear in it."""
    document = msgspec.json.schema(shape)
    plain = _plain(document, document.get("$defs", {}))
    plain.pop("description", None)  # the tool has its own
    return plain


def public(shape: type[Struct]) -> Schema:
    """The schema as a model is offered it: always an object, nothing but standard keys.

    >>> from domain.tools.arguments import UpdateTaskPriority
    >>> public(UpdateTaskPriority)["properties"]["priority"]["enum"]
    ['P0', 'P1', 'P2', 'P3']
    """
    return _standard(rules(shape))  # type: ignore[no-any-return]  # a schema of an object is one


_FORMATS = {"date": "YYYY-MM-DD", "local_time": "YYYY-MM-DDTHH:MM", "language": "ISO 639-1"}


def brief(shape: type[Struct]) -> Schema:
    """The schema without what a refusal says better: its bounds, and what names say already.

    >>> brief(UpdateTaskDueDate)["properties"]["dueDate"]
    {'type': 'string', 'description': 'YYYY-MM-DD'}
    """
    return _brief(rules(shape))  # type: ignore[no-any-return]  # a schema of an object is one


def _brief(node: Any) -> Any:
    match node:
        case {"type": "object"}:
            fields = {name: _brief(field) for name, field in node["properties"].items()}
            return {"type": "object", "properties": fields, "required": node["required"]}
        case {"anyOf": options}:
            return {"anyOf": [_brief(one) for one in options]}
        case dict():
            kept = {name: node[name] for name in ("type", "enum") if name in node}
            if "items" in node:
                kept["items"] = _brief(node["items"])
            if told := _FORMATS.get(node.get("x-clean", "")):
                kept["description"] = told
            return kept
        case _:  # pragma: no cover  # a schema is made of nothing else
            return node


def _plain(node: Schema, definitions: Schema) -> Schema:
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**target, **{name: node[name] for name in node if name != "$ref"}}
    kept = {name: node[name] for name in node if name not in ("$defs", "default", "title")}
    if "anyOf" in kept:
        options = [_plain(option, definitions) for option in kept.pop("anyOf")]
        options = [option for option in options if option.get("type") != "null"]
        kept = {**options[0], **kept} if len(options) == 1 else {**kept, "anyOf": options}
    if "enum" in kept:
        kept["type"] = "string"
    if "properties" in kept:
        fields = kept["properties"].items()
        kept["properties"] = {name: _plain(field, definitions) for name, field in fields}
    if "items" in kept:
        kept["items"] = _plain(kept["items"], definitions)
    return kept


def _standard(node: Any) -> Any:
    match node:
        case dict():
            kept = {name: node[name] for name in node if not name.startswith("x-")}
            if "x-asked" in node:
                kept["maxItems"] = node["x-asked"]
            return {name: _standard(value) for name, value in kept.items()}
        case list():
            return [_standard(value) for value in node]
        case _:
            return node
