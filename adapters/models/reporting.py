"""The rules model's report, in English and German.

A report says what is next, how the task stands, what was found and proposed, each with the words
it was read from, what waits in the inbox from before, what changed since the last report, and what
is an open question. It says that rules wrote it and never shows an internal id.
"""

from msgspec import Struct

from adapters.models import answers, standing
from adapters.models.findings import CLOSED
from adapters.models.found import Finding, Findings
from adapters.models.offline.wording import Texts, bulleted, status_in, texts_in
from adapters.models.reading import PromptTask
from domain.text import cut, squeeze

ONE_LINER_MAX = 80


class Report(Struct, frozen=True):
    """The arguments of `update_report`."""

    content: str
    tldr: str
    one_liner: str


def report(seen: PromptTask, findings: Findings) -> Report:
    """Write the report of a task as it is seen, in its language."""
    texts = _texts(seen, findings)
    step = standing.next_step(seen, findings, texts)
    parts = [f"**{texts['next']}:** {step}"] if step else []
    if not seen.is_readable:
        parts.append(texts["unreadable"])
    parts.append("\n".join(_state(seen, texts)))
    parts += _sections(seen, findings, texts)
    if seen.is_cut:
        parts.append(texts["cut"])
    parts.append(texts["by"])
    told = [f"{_summary(seen, texts)}."]
    told += [f"{texts['next']}: {step.rstrip('.')}."] if step else []
    told.append(_outcome(findings, texts))
    waiting = len(standing.waiting(seen, findings, texts))
    told += [texts["wait"].format(waiting)] if waiting else []
    return Report("\n\n".join(parts), " ".join(told), _one_liner(seen, findings))


def closing(seen: PromptTask, findings: Findings) -> str:
    """The last words of a wake."""
    texts = _texts(seen, findings)
    if seen.words:
        wishes = [plain(one, texts) for one in findings.proposals if _is_wish(one)]
        return answers.answer(seen, findings, wishes, texts)
    return _outcome(findings, texts)


def where(finding: Finding, seen: PromptTask) -> str:
    """Where a finding was read, in the task's language: "note of 2026-11-20"."""
    return standing.place(finding.source, _texts(seen, Findings()))


def plain(finding: Finding, texts: Texts) -> str:
    """What was found, without the words it was read from."""
    value = status_in(finding.value, texts) if finding.kind == "status" else finding.value
    if finding.kind == "estimate":
        value = texts["minutes"].format(value)
    return f"{texts['k.' + finding.kind]}: {value}"


def _texts(seen: PromptTask, findings: Findings) -> Texts:
    found = (finding.value for finding in findings.proposals if finding.kind == "language")
    return texts_in(seen.language or next(found, "en"))


def _state(seen: PromptTask, texts: Texts) -> list[str]:
    minutes = texts["minutes"]
    rows = [(texts["status"], standing.status(seen, texts))]
    rows += [(texts["blocked by"], one) for one in standing.blockers(seen, texts)]
    rows += [
        (texts["priority"], seen.priority or texts["none"]),
        (texts["due"], standing.due(seen, texts)),
        (texts["estimate"], minutes.format(seen.estimate) if seen.estimate else ""),
        (texts["progress"], standing.progress(seen, texts) if seen.items else ""),
        (texts["spent"], minutes.format(seen.minutes_spent) if seen.minutes_spent else ""),
    ]
    return [f"- **{name}:** {value}" for name, value in rows if value]


def _sections(seen: PromptTask, findings: Findings, texts: Texts) -> list[str]:
    """Headings and their lists, those that hold something."""
    wishes = [_line(one, texts) for one in findings.proposals if _is_wish(one)]
    if findings.held_back:
        wishes.append(texts["held"].format(findings.held_back))
    items = standing.open_items(seen)
    lists = {
        "found": wishes,
        "at once": [plain(one, texts) for one in findings.proposals if not _is_wish(one)],
        "waiting": standing.waiting(seen, findings, texts),
        "taken back": standing.taken_back(seen, findings, texts),
        "changed": standing.changed(seen, texts),
        "questions": standing.questions(seen, findings, texts),
        "open": standing.listed(items, texts),
    }
    quiet = [] if wishes else [texts["nothing"]]
    told = [f"## {texts[name]}\n\n{bulleted(rows)}" for name, rows in lists.items() if rows]
    return [*quiet, *told]


def _line(finding: Finding, texts: Texts) -> str:
    line = plain(finding, texts)
    if not finding.quote:
        return line
    return f'{line}, "{finding.quote}" ({standing.place(finding.source, texts)})'


def _outcome(findings: Findings, texts: Texts) -> str:
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


def _summary(seen: PromptTask, texts: Texts) -> str:
    """Status, due date and progress in one clause."""
    parts = [f"{texts['status']} {status_in(seen.status, texts) or texts['none']}"]
    if standing.is_overdue(seen):
        parts.append(standing.due(seen, texts).partition(", ")[2])
    elif seen.due and seen.status not in CLOSED:
        parts.append(f"{texts['due'].lower()} {seen.due}")
    parts.append(standing.progress(seen, texts))
    return ", ".join(parts)


def _one_liner(seen: PromptTask, findings: Findings) -> str:
    texts = _texts(seen, findings)
    line = _summary(seen, texts)
    if count := _count(findings):
        line += ", " + texts["count"].format(count)
    return cut(squeeze(line), length_max=ONE_LINER_MAX)
