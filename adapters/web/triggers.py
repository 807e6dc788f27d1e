"""Why a wake was asked for, as sentences that lead to what caused it."""

from collections.abc import Sequence

from msgspec import Struct

from adapters.documents.agent_output import fact_told
from adapters.documents.wakes import WakeCause
from adapters.timetravel.why import ABOUT_WORDS, append_of
from adapters.web.filters import local
from adapters.web.site import Site
from domain.agent.agent import TimerSet
from domain.append.notification_batch import origin_of
from domain.journal.catalog import CATALOG
from domain.journal.task import TASK, NoteAdded
from domain.log.state import MAIN, RecordedEvent
from projections.wakes import WakeDocument

CAUSES_SHOWN = 20
WHATS_SHOWN = 4  # of one change
HOW = {
    "first": "",
    "merged": "also, while it waited: ",
    "inherited": "taken over from a wake that this one replaced: ",
}


class SentencePiece(Struct, frozen=True):
    """A part of a sentence. `said`: somebody's words; `at`: a time that it tells."""

    text: str
    href: str = ""
    said: bool = False
    at: str = ""


class CauseDetails(Struct, frozen=True):
    """What the logs say of a cause. `by`: ``person``, ``import:NAME`` or ``agent:ID``; `by_name`
    an agent's name; `whats` what was changed in the task; `note` the words of a note that was
    added, at `note_at`; `timer_at` when the timer was set."""

    by: str = "person"
    by_name: str = ""
    task_id: str = ""
    title: str = ""
    is_own: bool = True
    whats: tuple[str, ...] = ()
    note: str = ""
    note_at: str = ""
    schedule: str = ""
    timer_at: str = ""


class CauseSentence(Struct, frozen=True):
    """A cause in words; `tip` says it in those of the log."""

    pieces: tuple[SentencePiece, ...]
    at: str
    tip: str


def sentences(site: Site, wake: WakeDocument, causes: Sequence[WakeCause]) -> list[CauseSentence]:
    """The first causes of a wake, each as a sentence."""
    return [
        sentence(one, _details(site, wake, one), wake.agent_id, site.zone)
        for one in causes[:CAUSES_SHOWN]
    ]


def sentence(cause: WakeCause, found: CauseDetails, agent_id: str, zone: str) -> CauseSentence:
    """A cause of an agent's wake, as `show` tells it, in words; by the clocks of a zone."""
    begin = [SentencePiece(HOW[cause.how])] if HOW[cause.how] else []
    tip = ", ".join(
        filter(None, (cause.how, cause.reason, cause.position, *cause.tokens[:WHATS_SHOWN]))
    )
    pieces = [*begin, *_pieces(cause, found, agent_id, zone)]
    if cause.reason in ("manual", "user") and cause.words:
        pieces += [SentencePiece(": "), SentencePiece(cause.words, said=True)]
    return CauseSentence(tuple(pieces), cause.at, tip)


def stood(at: str, zone: str) -> str:
    """A time as a calendar and a clock show it.

    >>> stood("2026-11-17T08:12:00.000000Z", "Europe/Berlin")
    'Tuesday 2026-11-17, 09:12'
    """
    return f"{local(at, zone):%A %Y-%m-%d, %H:%M}"


def _pieces(cause: WakeCause, found: CauseDetails, agent_id: str, zone: str) -> list[SentencePiece]:
    match cause.reason:
        case "timer":
            return _timer(cause, found, agent_id, zone)
        case "user":
            return [SentencePiece("you asked", f"/agents/{agent_id}"), _on(cause.at, zone)]
        case "manual":
            return [SentencePiece("you woke it"), _on(cause.at, zone)]
        case "creation":
            made = SentencePiece("the agent", f"/agents/{agent_id}")
            return [made, SentencePiece(" was made"), _on(cause.at, zone)]
        case "recovery":
            return [SentencePiece("the agent was resumed"), _on(cause.at, zone)]
        case "request":
            asker = SentencePiece("another agent", f"/wakes/{cause.reason_id}")
            asked = SentencePiece(f" asked {ABOUT_WORDS.get(cause.about or '', '')}")
            return [asker, asked, _on(cause.at, zone)]
        case _:
            return _change(cause, found, zone)


def _on(at: str, zone: str) -> SentencePiece:
    return SentencePiece(f" on {stood(at, zone)}", at=at)


def _timer(cause: WakeCause, found: CauseDetails, agent_id: str, zone: str) -> list[SentencePiece]:
    what = f"the timer “{found.schedule}”" if found.schedule else "a timer"
    pieces = [SentencePiece(what, f"/agents/{agent_id}")]
    if found.timer_at:
        pieces += [SentencePiece(" that you set"), _on(found.timer_at, zone)]
    times = len(cause.ticks)
    return [*pieces, SentencePiece(f" rang {times} times" if times > 1 else " rang")]


def _change(cause: WakeCause, found: CauseDetails, zone: str) -> list[SentencePiece]:
    where = f"/tasks/{found.task_id}" if found.task_id else ""
    task = SentencePiece(found.title or "a task", where, said=True)
    if found.note_at:
        href = f"/tasks/{found.task_id}#note:{found.note_at}"
        who = _who(found)
        whose = "your" if who == "you" else f"{who}’s"
        pieces = [
            SentencePiece(f"{whose} note of {stood(found.note_at, zone)}", href, at=found.note_at)
        ]
        pieces += [] if found.is_own else [SentencePiece(" on a linked task, "), task]
        return [*pieces, SentencePiece(": "), SentencePiece(found.note, said=True)]
    if cause.propagated or not found.is_own:
        pieces = [SentencePiece("a linked task changed: "), task]
    else:
        pieces = [SentencePiece(f"{_who(found)} changed "), task]
    pieces.append(_on(cause.at, zone))
    if found.whats:
        more = len(found.whats) - WHATS_SHOWN
        told = "; ".join(found.whats[:WHATS_SHOWN]) + (f"; and {more} more" if more > 0 else "")
        pieces += [SentencePiece(": "), SentencePiece(told, said=True)]
    return pieces


def _who(found: CauseDetails) -> str:
    kind, _, name = found.by.partition(":")
    if kind == "agent":
        return f"the agent {found.by_name or name[:8]}"
    return {"person": "you"}.get(kind, f"the import of {name or 'a file'}")


# ------------------------------------------------------------------------------- out of the logs


def _details(site: Site, wake: WakeDocument, cause: WakeCause) -> CauseDetails:
    if cause.reason == "timer":
        return _timer_details(site, wake, cause.reason_id)
    if not cause.position:
        return CauseDetails()
    _, replica, n = cause.position.split(":")
    append = append_of(site.home.services.journal, int(n), replica)
    rows = [row for row in append if row.of_kind == "task"]
    if not rows:
        return CauseDetails()
    own = wake.task_id or site.home.services.agent(wake.agent_id).task
    rows = [row for row in rows if row.entity == own] or rows
    return _change_details(site, rows, own)


def _change_details(site: Site, rows: Sequence[RecordedEvent], own: str) -> CauseDetails:
    task_id, by = rows[0].entity, origin_of(rows)
    with site.home.services.journal.reading() as world:
        task, catalog = world.load(TASK, task_id), world.load(CATALOG, MAIN)
        notes = [(row.fact, row.at) for row in rows if isinstance(row.fact, NoteAdded)]
        note, at = notes[0] if notes else (None, "")
        words = world.text(note.words) if note else ""
    of_it = [row for row in rows if row.entity == task_id]
    return CauseDetails(
        by=by,
        by_name=site.agent_name(by.removeprefix("agent:")),
        task_id=task_id,
        title=task.title,
        is_own=task_id == own,
        whats=tuple(dict.fromkeys(fact_told(row.fact, task, catalog) for row in of_it)),
        note=words,
        note_at=(note.recorded_at or at) if note else "",
    )


def _timer_details(site: Site, wake: WakeDocument, timer: str) -> CauseDetails:
    """A timer as it was set last before the wake was asked for; only a person sets one."""
    found = [
        (row.fact.schedule, row.at)
        for row in site.home.services.agents.facts(f"agent:{wake.agent_id}@{wake.replica}")
        if isinstance(row.fact, TimerSet) and row.fact.timer == timer and row.n <= wake.queued_n
    ]
    return CauseDetails(schedule=found[-1][0], timer_at=found[-1][1]) if found else CauseDetails()
