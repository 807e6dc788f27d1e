"""The sections of a prompt besides the task: each from its part of a reading, or left out."""

from collections.abc import Callable, Sequence

from domain.ports import Section
from domain.wake import directives
from domain.wake.prompt_task import labels_left
from domain.wake.prompt_text import block, cut_note, dump, line, newest_of, rows, section
from domain.wake.reading import LabelSeen, Limits, LinkSeen, ObservationSeen, Reading
from domain.wire import SHARED

Part = Callable[[Reading, Limits], Section | None]

CRITICAL_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Grievances", ("grievance", "template_improvement")),
    ("Excellence", ("excellence",)),
    ("Operational", ("operational",)),
)


def role(reading: Reading, limits: Limits) -> Section:
    return section("role", "Role and rules", directives.ROLES[reading.scaffold])


def now(reading: Reading, limits: Limits) -> Section | None:
    """What day it is to the person: without it overdue cannot be told from due."""
    if (local := reading.local) is None:
        return None
    day, time = local.time.split("T")
    return section("now", "Now", f"{local.weekday} {day} {time}, {local.zone} (UTC{local.offset})")


def goal(reading: Reading, limits: Limits) -> Section | None:
    """What the person told the agent to pursue."""
    slots = reading.slots
    loops = newest_of(slots.loops, limits.slots_max)
    preferences = slots.preferences[: limits.slots_max]
    parts = [f"Goal: {block(slots.goal, limits.words_max_bytes)}"] if slots.goal else []
    loops_cut = cut_note(len(slots.loops) - len(loops), "older open loops")
    own = slots.own_loops if reading.scaffold >= 2 else ()
    shown = [
        f"{line(loop, limits.line_max_bytes)}{' (yours)' if loop in own else ''}" for loop in loops
    ]
    parts += _list("Open loops:", shown, loops_cut)
    told = [
        f"{line(name, limits.line_max_bytes)}: {line(value, limits.line_max_bytes)}"
        for name, value in preferences
    ]
    told_cut = cut_note(len(slots.preferences) - len(preferences), "more preferences")
    parts += _list("Preferences:", told, told_cut)
    return section("goal", "Goal and preferences", "\n\n".join(parts)) if parts else None


def guiding(reading: Reading, limits: Limits) -> Section:
    text = directives.DIRECTIVES[directives.DIRECTIVES_VERSION]
    if reading.directives:
        text = block(reading.directives, limits.directives_max_bytes)
    return section("directives", "Directives", text)


def suppressed_labels(reading: Reading, limits: Limits) -> Section | None:
    if not reading.suppressed:
        return None
    body = ["Never propose these for this task.", *_labels(reading.suppressed, limits)]
    return section("suppressed_labels", "Suppressed labels", "\n".join(body))


def available_labels(reading: Reading, limits: Limits) -> Section | None:
    if not reading.available:
        return None
    left = labels_left(reading.task)
    if not left:
        count = len(reading.task.labels)
        body = [f"The task has {count} labels: none may be assigned."]
    else:
        body = [f"At most {left} more may be assigned.", *_labels(reading.available, limits)]
    return section("available_labels", "Available labels", "\n".join(body))


def corrections(reading: Reading, limits: Limits) -> Section | None:
    """Newest first; JSON strings, so that quotes and ends of line are escaped."""
    if not reading.corrections:
        return None
    shown = reading.corrections[: limits.corrections_max]
    body = ["How the person corrected wording in this category, newest first."]
    body += [
        f"- {dump(line(one.before, limits.line_max_bytes))}"
        f" -> {dump(line(one.after, limits.line_max_bytes))}"
        for one in shown
    ]
    body += cut_note(len(reading.corrections) - len(shown), "older corrections")
    units = () if reading.scaffold == 1 else (SHARED,)
    return section("corrections", "Correction examples", "\n".join(body), units)


def linked(reading: Reading, limits: Limits) -> Section | None:
    """Directed relations, seen from the task; what may not be seen is not there."""
    if not reading.linked:
        return None
    links = reading.linked[: limits.linked_max]
    if reading.scaffold == 1:
        shown, units = [dump(_link(one, limits)) for one in links], []
    else:
        shown, units = [dump(_link_2(one, limits)) for one in links], [one.id for one in links]
    if left_out := len(reading.linked) - len(shown):
        shown.append(dump({"linksCut": left_out}))
    return section("linked", "Linked tasks", rows(shown), filter(None, units))


def _link(link: LinkSeen, limits: Limits) -> dict[str, object]:
    if link.is_deleted:
        return {"relation": link.relation, "deleted": True}
    if not link.id:
        return {"relation": link.relation}
    return {
        "relation": link.relation,
        "id": link.id,
        "title": line(link.title, limits.line_max_bytes),
        "status": link.status,
        "priority": link.priority,
        "oneLiner": line(link.one_liner, limits.line_max_bytes) or None,
    }


def _link_2(link: LinkSeen, limits: Limits) -> dict[str, object]:
    """What is not there takes no room."""
    told = {
        "relation": link.relation,
        "direction": link.direction,
        "deleted": link.is_deleted,
        "id": link.id,
        "title": line(link.title, limits.line_max_bytes),
        "status": link.status,
        "priority": link.priority,
        "due": link.due,
        "labels": [line(one, limits.line_max_bytes) for one in link.labels[: limits.labels_max]],
        "oneLiner": line(link.one_liner, limits.line_max_bytes),
        "tldr": line(link.tldr, limits.line_max_bytes),
    }
    return {name: value for name, value in told.items() if value}


def report(reading: Reading, limits: Limits) -> Section | None:
    if (known := reading.report) is None:
        return None
    content = block(known.content, limits.text_max_bytes)
    tldr = line(known.tldr, limits.line_max_bytes)
    body = f"Written at {known.at}.\n\nTL;DR: {tldr}\n\n{content}"
    return section("report", "Current report", body)


def critical(reading: Reading, limits: Limits) -> Section | None:
    """Grievances first, then excellence, then the rest; oldest first in each, newest kept."""
    if not reading.critical:
        return None
    shown = newest_of(reading.critical, limits.critical_max)
    groups = [
        "\n".join([f"{title}:", *told])
        for title, categories in CRITICAL_GROUPS
        if (told := [_critical(one, limits) for one in shown if one.category in categories])
    ]
    groups += cut_note(len(reading.critical) - len(shown), "older critical observations")
    return section("critical", "Prior critical observations", "\n\n".join(groups))


def _critical(one: ObservationSeen, limits: Limits) -> str:
    return f"- {_number(one)}[{one.at}] ({one.category}) {line(one.text, limits.line_max_bytes)}"


def _number(one: ObservationSeen) -> str:
    return f"{one.number} " if one.number else ""


def journal(reading: Reading, limits: Limits) -> Section | None:
    """The agent's own observations, oldest first."""
    if not reading.journal:
        return None
    shown = newest_of(reading.journal, limits.journal_max)
    body = cut_note(len(reading.journal) - len(shown), "older observations")
    body += [
        f"- {_number(one)}[{one.at}] ({one.priority}) {line(one.text, limits.line_max_bytes)}"
        for one in shown
    ]
    return section("journal", "Agent journal", "\n".join(body))


def proposals(reading: Reading, limits: Limits) -> Section | None:
    """Open items with fingerprints, then what the person decided, newest first."""
    shown = newest_of(reading.proposals, limits.proposals_max)
    body = cut_note(len(reading.proposals) - len(shown), "older open proposals")
    for one in shown:
        status = "" if one.status == "pending" else f" [{one.status}]"
        summary = line(one.summary, limits.line_max_bytes)
        body.append(f"- fp={one.fingerprint} {summary}{status}")
    if reading.verdicts:
        body += ["", "Recent verdicts:"] if body else ["Recent verdicts:"]
    for verdict in reading.verdicts[: limits.verdicts_max]:
        why = line(verdict.reason, limits.line_max_bytes)
        edit = line(verdict.edit, limits.line_max_bytes)
        edited = f"edited: {edit}" if edit else "edited" if verdict.is_edited else ""
        why = "; ".join(part for part in (why, edited) if part)
        summary = line(verdict.summary, limits.line_max_bytes)
        body.append(f"- {verdict.verdict}: {summary}{f' ({why})' if why else ''}")
    body += cut_note(len(reading.verdicts[limits.verdicts_max :]), "older verdicts")
    if not body:
        return None
    return section("proposals", "Open proposals and recent verdicts", "\n".join(body))


def changed(reading: Reading, limits: Limits) -> Section | None:
    """Sorted ids with what changed, then timers, then why else it woke."""
    shown = reading.changes[: limits.changes_max]
    body = []
    for change in shown:
        times = f" ({change.times} times)" if change.times > 1 else ""
        body.append(f"- {line(change.subject, limits.line_max_bytes)}: {change.what}{times}")
    body += cut_note(len(reading.changes) - len(shown), "more changes")
    if reading.hidden:
        body.append(f"- {reading.hidden} more changed outside of what you may see")
    for timer in reading.timers[: limits.changes_max]:
        schedule = f" ({line(timer.schedule, limits.line_max_bytes)})" if timer.schedule else ""
        ticks = newest_of(timer.ticks, limits.changes_max)
        earlier = cut_note(len(timer.ticks) - len(ticks), "earlier ticks")
        told = ", ".join((*earlier, *ticks))
        body.append(f"- timer {line(timer.id, limits.line_max_bytes)}{schedule} fired: {told}")
    body += cut_note(len(reading.timers[limits.changes_max :]), "more timers")
    if reading.is_resumed:
        body.append("- you were paused and have been resumed")
    return section("changed", "Changed since last wake", "\n".join(body)) if body else None


def words(reading: Reading, limits: Limits) -> Section | None:
    if not reading.words:
        return None
    return section("words", "The user's words", block(reading.words, limits.words_max_bytes))


def first_wake(reading: Reading, limits: Limits) -> Section | None:
    if not reading.is_first:
        return None
    return section("first_wake", "First wake", directives.SENTENCES[reading.scaffold].first_wake)


def instruction(reading: Reading, limits: Limits) -> Section:
    language = line(reading.language, limits.line_max_bytes) or "en"
    told = directives.SENTENCES[reading.scaffold]
    parts = [told.answer] if reading.words else []
    parts += [told.act_first] if reading.is_first else [told.no_op, told.act]
    parts.append(f"Language of the report: {language}.")
    return section("instruction", "Instruction", "\n".join(parts))


def _labels(labels: Sequence[LabelSeen], limits: Limits) -> list[str]:
    shown = labels[: limits.labels_max]
    told = [f"- {label.id}: {line(label.name, limits.line_max_bytes)}" for label in shown]
    return [*told, *cut_note(len(labels) - len(shown), "more labels")]


def _list(title: str, texts: Sequence[str], cut: Sequence[str]) -> list[str]:
    if not texts and not cut:
        return []
    return ["\n".join([title, *cut, *(f"- {text}" for text in texts)])]
