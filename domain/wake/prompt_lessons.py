"""The section on how proposals fared on other tasks of the category: since scaffold 2 (ADR 50)."""

from domain.ports import Section
from domain.wake.prompt_text import cut_note, dump, line, section, size
from domain.wake.reading import LessonSeen, Limits, Reading

REASONS_MAX = 3  # of a tool
EDITS_MAX = 5
TEXT_MAX_BYTES = 200  # of a reason or an edit
_INTRO = "How the person decided on proposals for other tasks of this category, the newest of each."


def lessons(reading: Reading, limits: Limits) -> Section | None:
    """Numbers and reasons by tool, then edits; whole lines, as many as fit."""
    bytes_max = min(limits.line_max_bytes, TEXT_MAX_BYTES)
    told = [_tool(one, bytes_max) for one in reading.lessons]
    edits = [one for each in reading.lessons for one in each.edits]
    for one in edits[:EDITS_MAX]:
        edit = line(one.edit, bytes_max)
        told.append((f"- edited before it was accepted: {one.field}: {edit}", (one.task,)))
    for count in range(len(told), 0, -1):
        body = [_INTRO, *(text for text, _ in told[:count])]
        body += cut_note(len(told) - count, "more lines")
        units = (unit for _, tasks in told[:count] for unit in tasks)
        made = section("lessons", "Lessons", "\n".join(body), units)
        if size(made.text) <= limits.lessons_max_bytes:
            return made
    return None


def _tool(one: LessonSeen, bytes_max: int) -> tuple[str, tuple[str, ...]]:
    """The line of a tool, and the tasks whose texts it repeats."""
    shown = one.reasons[:REASONS_MAX]
    text = f"- {one.tool}: {one.accepted} of {one.decided} accepted."
    if shown:
        named = (f"{dump(line(known.text, bytes_max))} ({known.count})" for known in shown)
        text += f" Declined because: {', '.join(named)}."
    if one.bare:
        text += f" Declined without a reason: {one.bare}."
    return text, tuple(task for known in shown for task in known.tasks)
