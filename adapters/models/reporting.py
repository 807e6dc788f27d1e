"""The rules model's report and answers, in English and German.

A report states the task as it is, then what was found, each with the words it was read from. It
says that rules wrote it and never shows an internal id.
"""

from msgspec import Struct

from adapters.models.findings import CLOSED, Finding, Findings
from adapters.models.reading import PromptTask
from domain.text import cut, squeeze

OPEN_ITEMS_MAX = 20
ONE_LINER_MAX = 80
QUESTION_MAX = 300

_EN = {
    "by": "_Written by the offline rules model: it finds fixed phrases and understands nothing._",
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
    "set": "set at once",
    "open": "Open items",
    "more": "and {} more",
    "freed": "The text says it is no longer blocked, the status still does",
    "unclear": "The text names a task that is none here, or might be several",
    "cut": "Only the newest part of a long text was read.",
    "unreadable": "The task could not be read.",
    "you said": "Your words",
    "cannot": "I am the offline rules model: I cannot converse, I only find fixed phrases.",
    "facts": "What I know: {}.",
    "description": "description",
    "title": "title",
    "words": "your words",
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
    "k.follow_up": "Follow-up task",
    "k.time": "Time spent",
    "k.link": "Blocked by",
    "proposed": "Proposed: {}.",
    "count": "{} proposed",
}
_DE = {
    "by": "_Geschrieben vom Offline-Regelmodell: Es findet feste Wendungen und versteht nichts._",
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
    "set": "gleich gesetzt",
    "open": "Offene Punkte",
    "more": "und {} weitere",
    "freed": "Laut Text ist die Aufgabe nicht mehr blockiert, der Status sagt es noch",
    "unclear": "Der Text nennt eine Aufgabe, die es hier nicht oder nicht eindeutig gibt",
    "cut": "Von langem Text wurde nur der neueste Teil gelesen.",
    "unreadable": "Die Aufgabe ließ sich nicht lesen.",
    "you said": "Deine Worte",
    "cannot": "Ich bin das Offline-Regelmodell: Ich kann kein Gespräch führen, ich finde nur feste "
    "Wendungen.",
    "facts": "Was ich weiß: {}.",
    "description": "Beschreibung",
    "title": "Titel",
    "words": "deine Worte",
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
    "k.follow_up": "Folgeaufgabe",
    "k.time": "Aufgewendete Zeit",
    "k.link": "Blockiert durch",
    "proposed": "Vorgeschlagen: {}.",
    "count": "{} vorgeschlagen",
}
_STATUS_DE = {
    "OPEN": "offen",
    "GROOMED": "vorbereitet",
    "IN PROGRESS": "in Arbeit",
    "BLOCKED": "blockiert",
    "ON HOLD": "pausiert",
    "DONE": "erledigt",
    "REJECTED": "abgelehnt",
}


class Report(Struct, frozen=True):
    """The arguments of `update_report`."""

    content: str
    tldr: str
    one_liner: str


def report(seen: PromptTask, findings: Findings) -> Report:
    """Write the report of a task as it is seen, in its language."""
    texts = _texts(seen, findings)
    parts = [texts["by"]]
    if not seen.is_readable:
        parts.append(texts["unreadable"])
    parts.append("\n".join(_state(seen, texts)))
    if seen.words:
        parts += [f"## {texts['you said']}", _said(seen), texts["cannot"]]
    parts += [f"## {texts['found']}", _found(findings, texts)]
    if open_items := _open_items(seen, texts):
        parts += [f"## {texts['open']}", open_items]
    if seen.is_cut:
        parts.append(texts["cut"])
    return Report("\n\n".join(parts), _tldr(seen, findings, texts), _one_liner(seen, findings))


def answer(seen: PromptTask, findings: Findings) -> str:
    """What the model says to the user's words: what it is, and the facts it has."""
    texts = _texts(seen, findings)
    facts = [_summary(seen, texts)]
    facts += [_plain(finding, texts) for finding in findings.proposals]
    parts = [_said(seen), f"{texts['cannot']} {texts['facts'].format('; '.join(facts))}"]
    if open_items := _open_items(seen, texts):
        parts += [f"{texts['open']}:", open_items]
    return "\n\n".join(parts)


def closing(seen: PromptTask, findings: Findings) -> str:
    """The last words of a wake."""
    texts = _texts(seen, findings)
    if seen.words:
        return answer(seen, findings)
    return _outcome(findings, texts)


def where(finding: Finding, seen: PromptTask) -> str:
    """Where a finding was read, in the task's language: "note of 2026-11-20"."""
    return _where(finding, _texts(seen, Findings()))


def _texts(seen: PromptTask, findings: Findings) -> dict[str, str]:
    found = (finding.value for finding in findings.proposals if finding.kind == "language")
    language = seen.language or next(found, "en")
    return _DE if language[:2].lower() == "de" else _EN


def _state(seen: PromptTask, texts: dict[str, str]) -> list[str]:
    reason = f" ({squeeze(seen.status_reason)})" if seen.status_reason else ""
    minutes = texts["minutes"]
    rows = [
        (texts["status"], (_status(seen.status, texts) or texts["none"]) + reason),
        (texts["priority"], seen.priority or texts["none"]),
        (texts["due"], seen.due or texts["none"]),
        (texts["estimate"], minutes.format(seen.estimate) if seen.estimate else texts["none"]),
        (texts["progress"], _progress(seen, texts)),
    ]
    if seen.minutes_spent:
        rows.append((texts["spent"], minutes.format(seen.minutes_spent)))
    return [f"- **{name}:** {value}" for name, value in rows]


def _found(findings: Findings, texts: dict[str, str]) -> str:
    rows = [f"- {_line(finding, texts)}" for finding in findings.proposals]
    if findings.freed is not None:
        said = f'"{findings.freed.quote}" ({_where(findings.freed, texts)})'
        rows.append(f"- {texts['freed']}: {said}")
    if findings.unclear is not None:
        said = f'"{findings.unclear.quote}" ({_where(findings.unclear, texts)})'
        rows.append(f"- {texts['unclear']}: {said}")
    if findings.held_back:
        rows.append(f"- {texts['held'].format(findings.held_back)}")
    return "\n".join(rows) or texts["nothing"]


def _said(seen: PromptTask) -> str:
    return f'"{cut(squeeze(seen.words), length_max=QUESTION_MAX)}"'


def _line(finding: Finding, texts: dict[str, str]) -> str:
    line = _plain(finding, texts)
    if not finding.quote:
        return line
    return f'{line}, "{finding.quote}" ({_where(finding, texts)})'


def _plain(finding: Finding, texts: dict[str, str]) -> str:
    value = _status(finding.value, texts) if finding.kind == "status" else finding.value
    if finding.kind == "estimate":
        value = texts["minutes"].format(value)
    if finding.kind == "language":  # no proposal: its tool does it
        value = f"{value}, {texts['set']}"
    return f"{texts['k.' + finding.kind]}: {value}"


def _where(finding: Finding, texts: dict[str, str]) -> str:
    source = finding.source
    if source.kind != "note":
        return texts[source.kind]
    return texts["note"].format(source.day.isoformat()) if source.day else texts["undated"]


def _open_items(seen: PromptTask, texts: dict[str, str]) -> str:
    todo = [item for item in seen.items if not item.is_checked and not item.is_archived]
    rows = [f"- {squeeze(item.title)}" for item in todo[:OPEN_ITEMS_MAX]]
    if len(todo) > OPEN_ITEMS_MAX:
        rows.append(f"- … {texts['more'].format(len(todo) - OPEN_ITEMS_MAX)}")
    return "\n".join(rows)


def _tldr(seen: PromptTask, findings: Findings, texts: dict[str, str]) -> str:
    return f"{_summary(seen, texts)}. {_outcome(findings, texts)}"


def _outcome(findings: Findings, texts: dict[str, str]) -> str:
    """What the person is asked now, in a sentence."""
    if not _count(findings):
        held = texts["held"].format(findings.held_back) + "."
        return held if findings.held_back else texts["nothing"]
    kinds = dict.fromkeys(texts["k." + one.kind] for one in findings.proposals if _is_wish(one))
    return texts["proposed"].format(", ".join(kinds))


def _is_wish(finding: Finding) -> bool:
    """Whether the person is asked; a language is set at once."""
    return finding.kind != "language"


def _count(findings: Findings) -> int:
    return sum(map(_is_wish, findings.proposals))


def _summary(seen: PromptTask, texts: dict[str, str]) -> str:
    """Status, due date and progress in one clause."""
    parts = [f"{texts['status']} {_status(seen.status, texts) or texts['none']}"]
    if seen.due and seen.status not in CLOSED:
        parts.append(f"{texts['due'].lower()} {seen.due}")
    parts.append(_progress(seen, texts))
    return ", ".join(parts)


def _one_liner(seen: PromptTask, findings: Findings) -> str:
    texts = _texts(seen, findings)
    line = _summary(seen, texts)
    if count := _count(findings):
        line += ", " + texts["count"].format(count)
    return cut(line, length_max=ONE_LINER_MAX)


def _progress(seen: PromptTask, texts: dict[str, str]) -> str:
    items = [item for item in seen.items if not item.is_archived]
    done = sum(item.is_checked for item in items)
    return texts["of"].format(done, len(items)) if items else texts["no items"]


def _status(status: str, texts: dict[str, str]) -> str:
    return _STATUS_DE.get(status, status) if texts is _DE else status
