"""The arguments of every tool, as the model is shown them and as they are kept (SPEC 5).

One Struct says all: its JSON Schema is what the model is offered and what `decoding` checks.
Keys of ours in the schema, which the model never sees: ``x-clean`` names how a value is
tidied before it is checked, ``x-elements`` how the elements of a forgiving list are (of which
none may be left), ``x-asked`` how many elements the model is asked for where more are read and
the best of them kept. ``x-instant-of`` names the local time whose UTC instant a field holds: the
core knows no zones, so whoever records a call or an edit resolves it (ADR 41).

STORAGE FORMAT for the singular ones: a change set keeps their canonical JSON, and fingerprints
and bases are taken of it.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

TITLE_MAX = 200
ITEM_TITLE_MAX = 400
REASON_MAX = 500
ESTIMATE_MAX = 1440
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


def text_of(length_max: int, description: str, clean: str = "words") -> Meta:
    ours = {"x-clean": clean}
    return Meta(
        min_length=1, max_length=length_max, description=description, extra_json_schema=ours
    )


def id_of(description: str, clean: str = "id") -> Meta:
    return text_of(100, description, clean)


ItemTitle = Annotated[str, text_of(ITEM_TITLE_MAX, "The item's text, in one line.")]
TaskStatus = Annotated[
    Literal["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD"],
    Meta(description="The new status.", extra_json_schema={"x-clean": "status"}),
]
LabelConfidence = Annotated[
    Literal["very_high", "high", "medium", "low"],
    Meta(description="How sure you are; low ones are dropped."),
]


class SetTaskTitle(Arguments, frozen=True):
    title: Annotated[str, text_of(TITLE_MAX, "The new title, in one line.")]


class UpdateTaskEstimate(Arguments, frozen=True):
    minutes: Annotated[
        int, Meta(ge=1, le=ESTIMATE_MAX, description="The whole task's duration in minutes.")
    ]


class UpdateTaskDueDate(Arguments, frozen=True):
    due_date: Annotated[str, text_of(10, "The day it is due, YYYY-MM-DD.", "date")]


class UpdateTaskPriority(Arguments, frozen=True):
    priority: Annotated[Literal["P0", "P1", "P2", "P3"], Meta(description="P0 is the most urgent.")]


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
    items: Annotated[
        tuple[AddChecklistItem, ...],
        Meta(min_length=1, max_length=BATCH_MAX, description="The items, in their order."),
    ]


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
    items: Annotated[
        tuple[UpdateChecklistItem, ...],
        Meta(min_length=1, max_length=BATCH_MAX, description="One entry for each item."),
    ]

    def problem(self) -> str:
        found = (f"items[{n}]: {one.problem()}" for n, one in enumerate(self.items) if one.is_empty)
        return next(found, "")


class UpdateReport(Arguments, frozen=True):
    content: Annotated[
        str,
        Meta(
            min_length=1,
            description="The whole report, Markdown.",
            extra_json_schema={"x-clean": "text"},
        ),
    ]
    tldr: Annotated[
        str,
        Meta(
            min_length=1,
            description="What matters, in one to three sentences.",
            extra_json_schema={"x-clean": "text"},
        ),
    ]
    one_liner: Annotated[
        str,
        Meta(
            min_length=1,
            description="Where the task stands, in one short line.",
            extra_json_schema={"x-clean": "words"},
        ),
    ]


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
        Meta(
            max_length=BATCH_MAX,
            description="Texts, or objects.",
            extra_json_schema={"minItems": 1, "x-elements": "observation"},
        ),
    ]


NoteNumber = Annotated[
    str, Meta(min_length=1, max_length=NUMBER_MAX, extra_json_schema={"x-clean": "words"})
]


class RecordAndResolve(RecordObservations, frozen=True):
    """What is recorded since scaffold 2."""

    resolves: Annotated[
        tuple[NoteNumber, ...],
        Meta(
            min_length=0,
            max_length=BATCH_MAX,
            description="Numbers of critical observations that these settle: shown until then.",
        ),
    ] = ()


class Retract(Arguments, frozen=True):
    """An open proposal of yours to take back."""

    fingerprint: Annotated[str, id_of("From the list of open proposals.")]
    reason: Annotated[str, text_of(REASON_MAX, "Why it no longer fits.")]


class RetractSuggestions(Arguments, frozen=True):
    proposals: Annotated[
        tuple[Retract, ...],
        Meta(
            max_length=BATCH_MAX,
            description="The proposals to take back.",
            extra_json_schema={"minItems": 1, "x-elements": "retraction"},
        ),
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
