"""The rules model's report, in English and German.

A report says what is next, how the task stands, what was found and proposed, each with the words
it was read from, what waits in the inbox from before, what changed since the last report, and what
is an open question. It says that rules wrote it and never shows an internal id.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from adapters.models.offline import language
from adapters.models.offline.phrasing import says
from adapters.models.offline.wording import (
    DUE,
    Texts,
    bulleted,
    days_in,
    status_in,
    summary_in,
    texts_in,
)
from adapters.models.rules import summary
from adapters.models.rules.context import PromptTask
from adapters.models.rules.findings import CLOSED, HELD_UP, Finding, Findings, unfinished
from domain.text import cut, squeeze, tokens
from domain.tools.times import duration

ONE_LINER_MAX = 80


class ReportArguments(Struct, frozen=True):
    """The arguments of `update_report`."""

    content: str
    tldr: str
    one_liner: str


def report(seen: PromptTask, findings: Findings) -> ReportArguments:
    """Write the report of a task as it is seen, in its language."""
    texts = _texts(seen, findings)
    step = summary.next_step(seen, findings, texts)
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
    told.append(_outcome(seen, findings, texts))
    waiting = len(summary.waiting(seen, findings, texts))
    told += [texts["wait"].format(waiting)] if waiting else []
    return ReportArguments("\n\n".join(parts), " ".join(told), _one_liner(seen, findings))


def closing(seen: PromptTask, findings: Findings) -> str:
    """The last words of a wake."""
    texts = _texts(seen, findings)
    if seen.words:
        wishes = [plain(one, texts) for one in findings.proposals if _is_wish(one)]
        return answer(seen, findings, wishes, texts)
    return _outcome(seen, findings, texts)


def where(finding: Finding, seen: PromptTask) -> str:
    """Where a finding was read, in the task's language: "note of 2026-11-20"."""
    return summary.place(finding.source, _texts(seen, Findings()))


def plain(finding: Finding, texts: Texts) -> str:
    """What was found, without the words it was read from."""
    value = status_in(finding.value, texts) if finding.kind == "status" else finding.value
    if finding.kind == "estimate":
        value = texts["minutes"].format(value)
    return f"{texts['k.' + finding.kind]}: {value}"


def _texts(seen: PromptTask, findings: Findings) -> Texts:
    found = (finding.value for finding in findings.proposals if finding.kind == "language")
    code = seen.language or next(found, "")
    return texts_in(code or language.leaning(source.text for source in seen.sources))


def _state(seen: PromptTask, texts: Texts) -> list[str]:
    minutes = texts["minutes"]
    rows = [(texts["status"], summary.status(seen, texts))]
    rows += [(texts["blocked by"], one) for one in summary.blockers(seen, texts)]
    rows += [
        (texts["priority"], seen.priority or texts["none"]),
        (texts["due"], summary.due(seen, texts)),
        (texts["estimate"], minutes.format(seen.estimate) if seen.estimate else ""),
        (texts["progress"], summary.progress(seen, texts) if seen.items else ""),
        (texts["spent"], minutes.format(seen.minutes_spent) if seen.minutes_spent else ""),
    ]
    return [f"- **{name}:** {value}" for name, value in rows if value]


def _sections(seen: PromptTask, findings: Findings, texts: Texts) -> list[str]:
    """Headings and their lists, those that hold something."""
    wishes = [_line(one, texts) for one in findings.proposals if _is_wish(one)]
    wishes += [texts["shy"].format(_line(one, texts)) for one in findings.shy]
    if findings.held_back:
        wishes.append(texts["held"].format(findings.held_back))
    lists = {
        "r.asked": list(_answers(seen, findings, texts)),
        "found": wishes,
        "at once": [plain(one, texts) for one in findings.proposals if not _is_wish(one)],
        "waiting": summary.waiting(seen, findings, texts),
        "taken back": summary.taken_back(seen, findings, texts),
        "changed": summary.changed(seen, texts),
        "questions": summary.questions(seen, findings, texts),
        "open": summary.listed(unfinished(seen), texts),
    }
    quiet = [] if wishes else [summary.newest(seen, texts)]
    told = [f"## {texts[name]}\n\n{bulleted(rows)}" for name, rows in lists.items() if rows]
    return [*quiet, *told]


def _line(finding: Finding, texts: Texts) -> str:
    line = plain(finding, texts)
    if not finding.quote:
        return line
    return f'{line}, "{finding.quote}" ({summary.place(finding.source, texts)})'


def _outcome(seen: PromptTask, findings: Findings, texts: Texts) -> str:
    """What the person is asked now, in a sentence."""
    kinds = dict.fromkeys(texts["k." + one.kind] for one in findings.proposals if _is_wish(one))
    if kinds:
        return texts["proposed"].format(", ".join(kinds))
    held = texts["held"].format(findings.held_back) + "."
    return held if findings.held_back else summary.newest(seen, texts)


def _is_wish(finding: Finding) -> bool:
    """Whether the person is asked; a language is set at once."""
    return finding.kind != "language"


def _summary(seen: PromptTask, texts: Texts) -> str:
    """Status, due date and progress in one clause."""
    parts = [f"{texts['status']} {status_in(seen.status, texts) or texts['none']}"]
    if summary.is_overdue(seen):
        parts.append(summary.due(seen, texts).partition(", ")[2])
    elif seen.due and seen.status not in CLOSED:
        parts.append(f"{texts['due'].lower()} {seen.due}")
    parts.append(summary.progress(seen, texts))
    return ", ".join(parts)


def _one_liner(seen: PromptTask, findings: Findings) -> str:
    texts = _texts(seen, findings)
    line = _summary(seen, texts)
    if count := sum(map(_is_wish, findings.proposals)):
        line += ", " + texts["count"].format(count)
    return cut(squeeze(line), length_max=ONE_LINER_MAX)


# -------------------------------------------------------------------- answers to the person's words
# Nothing is understood but what a question is about, by its words; all that fits is told.

_ABOUT = "due open done long waits proposed changed state next".split()
"""What a question may be about; `about_...` are the words that tell."""


def answer(seen: PromptTask, found: Findings, wishes: Sequence[str], texts: Texts) -> str:
    """What is known of what the person asks; of any other words what the task is like. `wishes`:
    what is proposed now, in words."""
    told = dict(_known(seen, found, wishes, texts))
    asked = [name for name in _about(seen.words) if name in told]
    shown = [told[name] for name in asked or ("state", "due", "next", "open")]
    if wishes and "proposed" not in asked:
        shown.append(texts["proposed"].format("; ".join(wishes)))
    return "\n\n".join([*shown, texts["cannot"]])


def _about(words: str) -> list[str]:
    """What a question is about; nothing where the words are none."""
    known = tokens(words)
    if "?" not in words and not says(known[:1], "asking"):
        return []
    return [name for name in _ABOUT if says(known, f"about_{name}")]


def _known(
    seen: PromptTask, found: Findings, wishes: Sequence[str], texts: Texts
) -> Iterator[tuple[str, str]]:
    minutes = texts["minutes"]
    yield "due", _due(seen, found, texts)
    yield "open", _rows(texts, "open", summary.listed(unfinished(seen), texts))
    rows = bulleted(summary.listed(summary.finished(seen), texts))
    yield "done", texts["a.done"].format(summary.progress(seen, texts), rows).rstrip(":\n")
    estimate = minutes.format(seen.estimate) if seen.estimate else texts["none"]
    yield "long", texts["a.long"].format(estimate, minutes.format(seen.minutes_spent))
    waits = [f"{texts['blocked by']}: {one}" for one in summary.blockers(seen, texts)]
    if seen.status in HELD_UP:
        waits.insert(0, summary.status(seen, texts).rstrip("."))
    free = texts["a.free"].format(status_in(seen.status, texts) or texts["none"])
    yield "waits", texts["a.waits"].format("; ".join(waits)) if waits else free
    yield "proposed", _rows(texts, "proposed", [*wishes, *summary.waiting(seen, found, texts)])
    yield "changed", _rows(texts, "changed", summary.changed(seen, texts))
    status = summary.status(seen, texts)
    yield "state", texts["a.state"].format(status, seen.priority or texts["none"])
    if step := summary.next_step(seen, found, texts):
        yield "next", texts["a.next"].format(step.rstrip("."))


def _due(seen: PromptTask, found: Findings, texts: Texts) -> str:
    """The due date, and another one that waits in the inbox."""
    due = summary.due(seen, texts)
    told = texts["a.due"].format(due) if due else texts["a.no due"]
    lines = summary.waiting(seen, found, texts)
    other = [one for one in lines if one.startswith(summary_in(DUE, texts))]
    return f"{told} {_rows(texts, 'proposed', other)}" if other else told


def _rows(texts: Texts, name: str, rows: Sequence[str]) -> str:
    return texts[f"a.{name}"].format(bulleted(rows)) if rows else texts[f"a.none {name}"]


# ---------------------------------------------------------------------- answers to other agents


def _answers(seen: PromptTask, found: Findings, texts: Texts) -> Iterator[str]:
    """A row for each kind of question, by what is known."""
    for kind in seen.asked:
        facts = list(_FACTS[kind](seen, found, texts))
        if seen.status in CLOSED and kind != "estimate":
            facts = [texts["r.closed"].format(status_in(seen.status, texts))]
        if not seen.is_readable:
            facts = [texts["unreadable"]]
        yield f"{texts[f'r.{kind}']}: {'; '.join(facts).rstrip('.')}."


def _about_today(seen: PromptTask, found: Findings, texts: Texts) -> Iterator[str]:
    left = (seen.estimate or 0) - seen.minutes_spent
    if not seen.estimate:
        yield from _about_estimate(seen, found, texts)
    elif left > 0:
        yield texts["r.left"].format(duration(left))
    else:
        yield texts["r.none left"].format(duration(seen.estimate))
    due = summary.due(seen, texts)
    yield f"{texts['due'].lower()} {due}" if due else texts["r.no due"]
    yield from _about_blockers(seen, found, texts)


def _about_estimate(seen: PromptTask, found: Findings, texts: Texts) -> Iterator[str]:
    spent = duration(seen.minutes_spent)
    if seen.estimate:
        is_over = seen.minutes_spent > seen.estimate
        yield texts["r.over" if is_over else "r.within"].format(spent, duration(seen.estimate))
    else:
        yield texts["r.no estimate"]
        yield texts["r.spent"].format(spent)
    if seen.items:
        yield summary.progress(seen, texts)
    for one in found.proposals:
        if one.kind == "estimate":
            yield texts["r.proposed"].format(_line(one, texts))


def _about_blockers(seen: PromptTask, found: Findings, texts: Texts) -> Iterator[str]:
    """What holds it up: its status, linked tasks, and what is proposed of both."""
    is_held, others = seen.status in HELD_UP, summary.blockers(seen, texts)
    if is_held:
        yield summary.status(seen, texts).rstrip(".")
    yield from (f"{texts['blocked by'].lower()}: {one}" for one in others)
    held = tuple(summary_in(f"Set status to {one}", texts) for one in HELD_UP)
    wishes = [one for one in summary.waiting(seen, found, texts) if one.startswith(held)]
    wishes += [
        _line(one, texts)
        for one in found.proposals
        if one.kind == "link" or (one.kind == "status" and one.value in HELD_UP)
    ]
    yield from (texts["r.proposed"].format(one) for one in wishes)
    if is_held and not others and not squeeze(seen.status_reason):
        yield texts["r.unsure"]
    if found.freed is not None:
        yield f'{texts["freed"]}: "{found.freed.quote}"'
    if not is_held and not others and not wishes:
        yield texts["r.free"]


def _about_age(seen: PromptTask, _: Findings, texts: Texts) -> Iterator[str]:
    """When somebody last wrote of it or spent time on it."""
    notes = [one for one in seen.sources if one.kind == "note"]
    day, now = notes[-1].day if notes else None, summary.today(seen)
    if day is None:
        yield texts["r.undated" if notes else "r.no note"]
    else:
        days = (now - day).days if now else 0
        ago = f" ({texts['r.ago'].format(days_in(days, texts))})" if days > 0 else ""
        yield texts["r.last note"].format(day) + ago
    if worked := max((start for start, _ in seen.around.spent), default=""):
        yield texts["r.worked"].format(worked[:10])
    yield texts["r.unsure"]


_FACTS = {
    "fits_today": _about_today,
    "estimate": _about_estimate,
    "blocked": _about_blockers,
    "stale": _about_age,
}
