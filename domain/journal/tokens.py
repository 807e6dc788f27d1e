"""What a fact touches, as notification tokens (DESIGN 5)."""

from domain.journal import task as t
from domain.wire import Stored

_ITEM_FACTS = (
    t.ItemAdded,
    t.ItemRetitled,
    t.ItemChecked,
    t.ItemUnchecked,
    t.ItemArchived,
    t.ItemRestored,
)
_TIME_FACTS = (
    t.TimeStarted,
    t.TimeStopped,
    t.TimeLogged,
    t.TimeEdited,
    t.TimeReopened,
    t.TimeRemoved,
)


def tokens_of(task: str, fact: Stored) -> tuple[str, ...]:
    """What a fact about a task touches, as tokens."""
    own = f"id:{task}"
    match fact:
        case t.ChecklistAdded(checklist=checklist):
            return own, "key:CHECKLIST", f"id:{checklist}"
        case _ if isinstance(fact, _ITEM_FACTS):
            return own, "key:CHECKLIST_ITEM", f"id:{fact.item}"
        case t.NoteAdded(note=note, note_kind=note_kind):
            return own, "key:NOTE", f"sub:note:{note_kind}", f"id:{note}"
        case t.NoteEdited(note=note) | t.NoteRemoved(note=note):
            return own, "key:NOTE", f"id:{note}"
        case _ if isinstance(fact, _TIME_FACTS):
            return own, "key:TIME_ENTRY", f"id:{fact.entry}"
        case t.TaskRated(entry=entry):
            return (own, "key:RATING", f"id:{entry}") if entry else (own, "key:RATING")
        case t.TaskLinked(target=target) | t.TaskUnlinked(target=target):
            return own, "key:LINK", f"id:{target}"
        case t.LabelAssigned(label=label) | t.LabelRemoved(label=label):
            return own, "key:TASK", "key:LABEL", f"id:{label}"
        case _:
            return own, "key:TASK"
