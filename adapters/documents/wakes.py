"""The JSON document of a wake, as SPEC 10 fixes it.

What is not there (yet) is null. Times are RFC 3339 in UTC. The keys stand in the order of the
fields.
"""

from collections.abc import Iterable

from msgspec import Struct

from adapters.wiring import Home
from projections import agents, inbox, reports, wakes
from projections.wakes import WakeDocument


class WakeReport(Struct, frozen=True):
    """What a wake reported, in short."""

    tldr: str
    one_liner: str


class WakeLine(Struct, frozen=True):
    """A wake in a list: what `wake` and `wakes` print.

    `thread` is the conversation it belongs to, `reason_id` what asked for it, `outcome` how it
    ended and `state` where it stands. `error` says why it failed, `error_code` in one word.
    `proposals` and `observations` count what it made, `waits_for` says what a wake waits for that
    goes on at `waits_until`.
    """

    run_key: str
    agent_id: str
    task_id: str | None
    thread: str
    reason: str
    reason_id: str
    queued_at: str
    started_at: str | None
    ended_at: str | None
    outcome: str | None
    error: str | None
    turns: int
    tool_calls: int
    proposals: int
    observations: int
    report: WakeReport | None
    model: str | None
    template_version: int | None
    error_code: str | None
    state: str
    waits_until: str | None
    waits_for: str | None


class WakeAnswer(WakeLine, frozen=True):
    """What `agent ask` prints: the wake that answered, what was said, and the conversation's
    name; `turn` counts its questions."""

    answer: str | None
    session: str
    turn: int


def wake_lines(home: Home, found: Iterable[WakeDocument] | None = None) -> list[WakeLine]:
    """The documents of `wakes`; of all wakes, the newest first, if none are given."""
    if found is None:
        found = home.views.page(wakes.VIEW, newest_first=True)
    return [wake_document(home, one) for one in found]


def wake_document(home: Home, wake: WakeDocument) -> WakeLine:
    """The document of `wake`, and one of those of `wakes`."""
    made = home.views.get(inbox.VIEW, wake.set_id)
    report = home.views.get(reports.VIEW, wake.run_key) if wake.has_report else None
    told = None
    if report is not None and report.agent_id:  # else only a draft: the wake has not completed
        with home.desk.agents.reading() as world:
            told = WakeReport(world.text(report.tldr), report.one_liner)
    agent = home.views.get(agents.VIEW, wake.agent_id)
    return WakeLine(
        run_key=wake.run_key,
        agent_id=wake.agent_id,
        task_id=wake.task_id or (agent.task_id if agent else None),
        thread=wake.thread,
        reason=wake.reason,
        reason_id=wake.reason_id,
        queued_at=wake.queued_at,
        started_at=wake.started_at or None,
        ended_at=wake.ended_at or None,
        outcome=wake.outcome or None,
        error=(wake.message or wake.code) or None,
        turns=wake.turns,
        tool_calls=wake.tool_calls,
        proposals=len(made.items) if made else 0,
        observations=wake.observations,
        report=told,
        model=wake.model or None,
        template_version=wake.template_version or None,
        error_code=wake.code or None,
        state=wake.state,
        waits_until=wake.until or None,
        waits_for=wake.waits_for or None,
    )


def wake_of(home: Home, run_key: str) -> WakeDocument | None:
    """A wake by its whole run key."""
    return home.views.get(wakes.VIEW, run_key)
