"""The rules model's words in English and German, by what they say."""

from collections.abc import Iterable

Texts = dict[str, str]

EN: Texts = {
    "by": "_Written by the offline rules model: it says only what stands in the task._",
    "status": "Status",
    "priority": "Priority",
    "due": "Due",
    "estimate": "Estimate",
    "spent": "Time spent",
    "progress": "Progress",
    "none": "not set",
    "minutes": "{} min",
    "of": "{} of {} items done",
    "no items": "no checklist",
    "found": "Found and proposed",
    "nothing": "Nothing new was found in the text.",
    "held": "{} found and not proposed: decided before, waiting already, or not allowed",
    "open": "Open items",
    "more": "and {} more",
    "freed": "The text says it is no longer blocked, the status still does",
    "unclear": "The text names a task that is none here, or might be several",
    "cut": "Only the newest part of a long text was read.",
    "unreadable": "The task could not be read.",
    "cannot": "I am the offline rules model: I cannot converse, I tell what stands in the task.",
    "description": "description",
    "title": "title",
    "words": "your words",
    "time": "the time you logged",
    "note": "note of {}",
    "undated": "a note",
    "k.language": "Language",
    "k.due": "Due date",
    "k.estimate": "Estimate",
    "k.priority": "Priority",
    "k.status": "Status",
    "k.label": "Label",
    "k.item": "New checklist item",
    "k.check": "Checklist item done",
    "k.untick": "Checklist item not done",
    "k.archive": "Checklist item put away",
    "k.title": "Title",
    "k.follow_up": "Follow-up task",
    "k.time": "Time spent",
    "k.link": "Blocked by",
    "proposed": "Proposed: {}.",
    "count": "{} proposed",
    "next": "Next",
    "since": "since {}",
    "today": "today",
    "tomorrow": "tomorrow",
    "in days": "in {} days",
    "overdue": "overdue since yesterday",
    "overdue days": "overdue by {} days",
    "one day": "1 day",
    "days": "{} days",
    "blocked by": "Blocked by",
    "at once": "Done at once",
    "wait": "In the inbox from before: {}.",
    "taken back": "Taken back",
    "waiting": "Proposed before and undecided",
    "changed": "Changed since the last report",
    "questions": "Open questions",
    "new notes": "New notes: {}",
    "title changed": "Title: {}",
    "ticked": "Ticked: {}",
    "unticked": "No longer ticked: {}",
    "n.closed": "nothing, the task is closed",
    "n.freed": "let it go on: the text says that nothing holds it up now",
    "n.wait": "nothing yet ({})",
    "n.ask": "ask again after {} days ({})",
    "n.rest": "nothing while it is on hold",
    "n.late": "{} (overdue)",
    "n.decide": "decide on the proposed items",
    "n.all": "close it, all its items are done",
    "a.due": "It is due on {}.",
    "a.no due": "No due date is set.",
    "a.open": "Still open:\n{}",
    "a.none open": "No item is open.",
    "a.done": "{}:\n{}",
    "a.long": "Estimate: {}; time spent: {}",
    "a.waits": "It waits: {}.",
    "a.free": "It waits for nobody: its status is {}.",
    "a.proposed": "In the inbox:\n{}",
    "a.none proposed": "Nothing waits in the inbox.",
    "a.changed": "Changed since the last report:\n{}",
    "a.none changed": "Nothing changed since the last report.",
    "a.state": "Status {}, priority {}.",
    "a.next": "Next: {}.",
}
DE: Texts = {
    "by": "_Geschrieben vom Offline-Regelmodell: Es sagt nur, was in der Aufgabe steht._",
    "status": "Status",
    "priority": "Priorität",
    "due": "Fällig",
    "estimate": "Schätzung",
    "spent": "Zeit bisher",
    "progress": "Fortschritt",
    "none": "nicht gesetzt",
    "minutes": "{} Min.",
    "of": "{} von {} Punkten erledigt",
    "no items": "keine Checkliste",
    "found": "Gefunden und vorgeschlagen",
    "nothing": "Im Text wurde nichts Neues gefunden.",
    "held": "{} gefunden und nicht vorgeschlagen: schon entschieden, noch offen oder nicht erlaubt",
    "open": "Offene Punkte",
    "more": "und {} weitere",
    "freed": "Laut Text ist die Aufgabe nicht mehr blockiert, der Status sagt es noch",
    "unclear": "Der Text nennt eine Aufgabe, die es hier nicht oder nicht eindeutig gibt",
    "cut": "Von langem Text wurde nur der neueste Teil gelesen.",
    "unreadable": "Die Aufgabe ließ sich nicht lesen.",
    "cannot": "Ich bin das Offline-Regelmodell: Ich kann kein Gespräch führen, ich sage nur, was "
    "in der Aufgabe steht.",
    "description": "Beschreibung",
    "title": "Titel",
    "words": "deine Worte",
    "time": "deine erfasste Zeit",
    "note": "Notiz vom {}",
    "undated": "eine Notiz",
    "k.language": "Sprache",
    "k.due": "Fälligkeit",
    "k.estimate": "Schätzung",
    "k.priority": "Priorität",
    "k.status": "Status",
    "k.label": "Label",
    "k.item": "Neuer Checklistenpunkt",
    "k.check": "Checklistenpunkt erledigt",
    "k.untick": "Punkt nicht erledigt",
    "k.archive": "Punkt weggelegt",
    "k.title": "Titel",
    "k.follow_up": "Folgeaufgabe",
    "k.time": "Aufgewendete Zeit",
    "k.link": "Blockiert durch",
    "proposed": "Vorgeschlagen: {}.",
    "count": "{} vorgeschlagen",
    "next": "Als Nächstes",
    "since": "seit {}",
    "today": "heute",
    "tomorrow": "morgen",
    "in days": "in {} Tagen",
    "overdue": "seit gestern überfällig",
    "overdue days": "seit {} Tagen überfällig",
    "one day": "1 Tag",
    "days": "{} Tage",
    "blocked by": "Blockiert durch",
    "at once": "Gleich erledigt",
    "wait": "Von früher im Eingang: {}.",
    "taken back": "Zurückgezogen",
    "waiting": "Früher vorgeschlagen und nicht entschieden",
    "changed": "Seit dem letzten Bericht geändert",
    "questions": "Offene Fragen",
    "new notes": "Neue Notizen: {}",
    "title changed": "Titel: {}",
    "ticked": "Abgehakt: {}",
    "unticked": "Nicht mehr abgehakt: {}",
    "n.closed": "nichts, die Aufgabe ist abgeschlossen",
    "n.freed": "weitermachen: laut Text hält sie nichts mehr auf",
    "n.wait": "noch nichts ({})",
    "n.ask": "nach {} Tagen nachfragen ({})",
    "n.rest": "nichts, solange sie pausiert",
    "n.late": "{} (überfällig)",
    "n.decide": "über die vorgeschlagenen Punkte entscheiden",
    "n.all": "abschließen, alle Punkte sind erledigt",
    "a.due": "Fällig am {}.",
    "a.no due": "Es ist keine Fälligkeit gesetzt.",
    "a.open": "Noch offen:\n{}",
    "a.none open": "Kein Punkt ist offen.",
    "a.done": "{}:\n{}",
    "a.long": "Schätzung: {}; Zeit bisher: {}",
    "a.waits": "Sie wartet: {}.",
    "a.free": "Sie wartet auf niemanden: Der Status ist {}.",
    "a.proposed": "Im Eingang:\n{}",
    "a.none proposed": "Im Eingang wartet nichts.",
    "a.changed": "Seit dem letzten Bericht geändert:\n{}",
    "a.none changed": "Seit dem letzten Bericht hat sich nichts geändert.",
    "a.state": "Status {}, Priorität {}.",
    "a.next": "Als Nächstes: {}.",
}
_STATUS_DE: Texts = {
    "OPEN": "offen",
    "GROOMED": "vorbereitet",
    "IN PROGRESS": "in Arbeit",
    "BLOCKED": "blockiert",
    "ON HOLD": "pausiert",
    "DONE": "erledigt",
    "REJECTED": "abgelehnt",
}
DUE = "Set due date to "
_SUMMARIES_DE: Texts = {
    DUE: "Fälligkeit auf ",
    "Set estimate to ": "Schätzung auf ",
    "Set priority to ": "Priorität auf ",
    "Set status to ": "Status auf ",
    "Add: ": "Neu: ",
    "Check: ": "Abhaken: ",
}
"""How a proposal's summary begins, which the home writes in English."""


def texts_in(language: str) -> Texts:
    """The words of a language; English where there are none."""
    return DE if language[:2].lower() == "de" else EN


def status_in(status: str, texts: Texts) -> str:
    """A status as it is called in these words."""
    return _STATUS_DE.get(status, status) if texts is DE else status


def summary_in(summary: str, texts: Texts) -> str:
    """A proposal's summary, told in these words as far as they go."""
    for told, ours in _SUMMARIES_DE.items() if texts is DE else ():
        if summary.startswith(told):
            return ours + summary.removeprefix(told).replace(" minutes", " Minuten")
    return summary


def bulleted(rows: Iterable[str]) -> str:
    """Lines of a list."""
    return "\n".join(f"- {row}" for row in rows)


def days_in(count: int, texts: Texts) -> str:
    """So many days."""
    return texts["one day"] if count == 1 else texts["days"].format(count)
