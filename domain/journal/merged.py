"""What each fact of the journal means where two replicas wrote without knowing of each other: the
fields that it sets, the thing that it adds or removes (`domain.merging`, ADR 71).

One table names every fact that a journal's kinds fold; a test holds it against the vocabulary.
"""

from typing import Any

from domain.journal import catalog as c
from domain.journal import links as li
from domain.journal import task as t
from domain.journal import timer as ti
from domain.journal.fields import FIELDS
from domain.meanings import NOTHING, TASK_ITSELF, Meaning, Meant
from domain.wire import Stored


def _field(name: str, value: str) -> Meant:
    return lambda fact: Meaning(((name, getattr(fact, value)),))


def _part(thing: str, of: str, field: str, value: object) -> Meant:
    """A field of a part of the task, which `of` names; with a fixed value."""
    return lambda fact: Meaning(((f"{thing}:{getattr(fact, of)}{field}", value),))


def _status(fact: t.StatusSet) -> Meaning:
    return Meaning((("status", (fact.status, fact.reason)),))


def _created(fact: t.TaskCreated) -> Meaning:
    return Meaning((("title", fact.title), ("category", fact.category)), adds=TASK_ITSELF)


def _item_added(fact: t.ItemAdded) -> Meaning:
    item = f"item:{fact.item}"
    sets = ((f"{item}:checked", fact.is_checked), (f"{item}:archived", False))
    return Meaning(sets, adds=item)


def _note(fact: t.NoteEdited) -> Meaning:
    return Meaning(((f"note:{fact.note}", fact.words),))


def _note_added(fact: t.NoteAdded) -> Meaning:
    return Meaning(((f"note:{fact.note}", fact.words),), adds=f"note:{fact.note}")


def _entry(fact: t.TimeStopped | t.TimeEdited) -> Meaning:
    """What is empty stays as it is; a summary may be emptied by an edit."""
    told: dict[str, object] = {"start": getattr(fact, "start", ""), "end": fact.end}
    sets = {name: value for name, value in told.items() if value}
    if fact.summary or (isinstance(fact, t.TimeEdited) and fact.summary is not None):
        sets["summary"] = fact.summary
    return Meaning(tuple((f"entry:{fact.entry}:{name}", value) for name, value in sets.items()))


def _reopened(fact: t.TimeReopened) -> Meaning:
    """It runs on: who stopped it elsewhere, or gave it another end, said something else."""
    said = () if fact.summary is None else ((f"entry:{fact.entry}:summary", fact.summary),)
    return Meaning(((f"entry:{fact.entry}:end", ""), *said))


def _rated(fact: t.TaskRated) -> Meaning:
    name = f"rating:{fact.entry}" if fact.entry else "rating"
    return Meaning(((name, (fact.score, fact.comment)),))


def _link(end: str, value: bool) -> Meant:
    """Both ends of an edge must stand alike, and the far one does not say who made it."""

    def meant(fact: Any) -> Meaning:
        name = f"link:{fact.relation}:{getattr(fact, end)}"
        return Meaning(((name, value),), is_ranked=False, is_shown=end == "target")

    return meant


def _imported(fact: t.TaskImported) -> Meaning:
    return Meaning(((f"imported:{fact.by}", fact.document),), is_shown=False)


def _label_added(fact: c.LabelAdded) -> Meaning:
    """What narrows a label that was everyone's is nobody's word, and a person's ends it."""

    def is_narrowed(other: Stored) -> bool:
        return isinstance(other, c.LabelScoped) and other.narrows and other.label == fact.label

    return Meaning(((f"label:{fact.label}", (fact.name, fact.categories)),), ends=is_narrowed)


MEANINGS: dict[type, Meant] = {
    t.TaskCreated: _created,
    t.TaskRetitled: _field("title", "title"),
    t.TaskDescribed: _field("description", "description"),
    t.StatusSet: _status,
    **{one.fact: _field(one.name, one.value) for one in FIELDS},
    t.CategorySet: _field("category", "category"),
    t.LabelAssigned: _part("label", "label", "", value=True),
    t.LabelRemoved: _part("label", "label", "", value=False),
    t.LabelSuppressed: _part("suppressed", "label", "", value=True),
    t.LabelAllowed: _part("suppressed", "label", "", value=False),
    t.ChecklistAdded: lambda fact: Meaning(adds=f"checklist:{fact.checklist}"),
    t.ItemAdded: _item_added,
    t.ItemRetitled: lambda fact: Meaning(((f"item:{fact.item}:title", fact.title),)),
    t.ItemChecked: _part("item", "item", ":checked", value=True),
    t.ItemUnchecked: _part("item", "item", ":checked", value=False),
    t.ItemArchived: _part("item", "item", ":archived", value=True),
    t.ItemRestored: _part("item", "item", ":archived", value=False),
    t.NoteAdded: _note_added,
    t.NoteEdited: _note,
    t.NoteRemoved: lambda fact: Meaning(removes=f"note:{fact.note}"),
    t.TimeStarted: lambda fact: Meaning(adds=f"entry:{fact.entry}"),
    t.TimeStopped: _entry,
    t.TimeLogged: lambda fact: Meaning(adds=f"entry:{fact.entry}"),
    t.TimeEdited: _entry,
    t.TimeReopened: _reopened,
    t.TimeRemoved: lambda fact: Meaning(removes=f"entry:{fact.entry}"),
    t.TaskRated: _rated,
    t.TaskLinked: _link("target", value=True),
    t.TaskUnlinked: _link("target", value=False),
    t.TaskDeleted: lambda _: Meaning(removes=TASK_ITSELF),
    t.TaskRestored: lambda _: NOTHING,
    t.TaskImported: _imported,
    t.DifferenceSettled: lambda _: NOTHING,
    t.DeedUndone: lambda _: NOTHING,
    li.LinkedFrom: _link("source", value=True),
    li.UnlinkedFrom: _link("source", value=False),
    ti.TimerStarted: lambda _: NOTHING,
    ti.TimerStopped: lambda _: NOTHING,
    c.CategoryAdded: lambda fact: Meaning(adds=f"category:{fact.category}"),
    c.CategoryRenamed: lambda fact: Meaning(((f"category:{fact.category}:name", fact.name),)),
    c.CategoryRemoved: lambda fact: Meaning(removes=f"category:{fact.category}"),
    c.CorrectionCaptured: lambda _: NOTHING,
    c.LabelAdded: _label_added,
    c.LabelScoped: lambda _: NOTHING,
    c.LabelDeleted: lambda fact: Meaning(((f"label:{fact.label}", None),)),
}
"""What stands here as nothing counts always: a restored task, every timer that somebody started
and ended, each correction, each category of a label, what was settled with a file, and that it is
settled no more."""
