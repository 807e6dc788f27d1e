"""The arguments of the tools about time that was spent; see `domain.tools.arguments`.

STORAGE FORMAT for the changes, as there.
"""

from typing import Annotated

from msgspec import Meta

from domain.tools.arguments import REASON_MAX, Arguments, id_of, text_of

SUMMARY_MAX = 500


def _local_time(what: str) -> Meta:
    told = f"{what}, YYYY-MM-DDTHH:MM as the person's clock shows it."
    return text_of(20, told, "local_time")


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
        return _unresolved(self.started_at, self.started_utc) or _unresolved(
            self.ended_at, self.ended_utc
        )


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
        return (
            EditTimeEntry.problem(self)
            or _unresolved(self.started_at, self.started_utc)
            or _unresolved(self.ended_at, self.ended_utc)
        )


def _unresolved(wall: str, utc: str) -> str:
    if bool(wall) == bool(utc):
        return ""
    return f"{wall or utc}: a local time needs its instant, and an instant its local time"


class NoteTimer(Arguments, frozen=True):
    summary: Annotated[str, text_of(SUMMARY_MAX, "What is being done, in one line.")]
