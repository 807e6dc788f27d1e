"""The JSON documents of wakes, as SPEC 10 fixes them.

What is not there (yet) is null. Times are RFC 3339 in UTC. The keys stand in the order of the
fields.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.members import Members
from adapters.home.files import machine_names
from adapters.home.prices import WHOLE, cost_of_rows
from adapters.wiring import Home
from domain.agent.agent import AGENT, AgentObserved
from domain.agent.wake_queue import HELD, UNCHANGED
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Words, tag_of
from domain.wake.wake import WAKE, Wake, WakeStarted
from projections import agents, inbox, reports, wakes
from projections.agents import AgentDocument
from projections.inbox import SetDocument
from projections.wakes import CauseLine, WakeDocument


class WakeReport(Struct, frozen=True):
    """What a wake reported, in short."""

    tldr: str
    one_liner: str


class WakeLine(Struct, frozen=True):
    """A wake in a list: what `wake` and `wakes` print.

    `run_key` is ``KEY@REPLICA`` of a wake under a key that another machine's wake has, too.
    `thread` is the conversation it belongs to, `reason_id` what asked for it, `outcome` how it
    ended and `state` where it stands. `error` says why it failed, `error_code` in one word.
    `proposals` and `observations` count what it made, `waits_for` says what a wake waits for that
    goes on at `waits_until`; `report_missing`: a report was due and none came. `who`: the member of
    a home of several people who asked for it, or made the change that it is for.
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
    report_missing: bool
    who: str | None


class WakeCause(Struct, frozen=True):
    """Why a wake was asked for: its ``first`` trigger, one ``merged`` into it while it was queued,
    or ``inherited``. `position` is that of a change, ``journal:r1:42``; `ticks` are timers; `hop`
    counts agents' changes in a row; `words` are those of a person; `about`: what another agent
    asks, in the wake `reason_id`."""

    how: str
    at: str
    reason: str
    reason_id: str
    position: str | None
    tokens: list[str]
    propagated: bool
    hop: int
    ticks: list[str]
    words: str | None
    about: str | None


class WakeStep(Struct, frozen=True):
    """A row of the agent log: `n` counts its appends, `kind` names the fact, ``wake.started.1``
    for example, and `data` holds its fields, long texts in their places."""

    n: int
    kind: str
    at: str
    data: dict[str, Any]


class WakeUsage(Struct, frozen=True):
    """Tokens of all answers, late and failed ones too; null where the model did not tell. `cost`
    is by the prices of settings.toml at their times, in their currency."""

    input_tokens: int | None
    output_tokens: int | None
    thought_tokens: int | None
    cached_tokens: int | None
    cost: float | None


class WakeBefore(Struct, frozen=True):
    """The wake that one of timers was compared with, which ended at `at`; `moved` says what was
    otherwise since: ``due in-7 -> in-3``."""

    run_key: str
    at: str
    moved: list[str]


class WakeDetails(WakeLine, frozen=True):
    """All about a wake: what `show` prints. `causes` are the first hundred of `cause_count`;
    `superseded_by` inherited its triggers; `before` is null but where timers alone made it."""

    superseded_by: str | None
    cause_count: int
    causes: list[WakeCause]
    steps: list[WakeStep]
    usage: WakeUsage
    before: WakeBefore | None


class WakeAnswer(WakeLine, frozen=True):
    """What `agent ask` prints: the wake that answered, what was said, and the conversation's
    name; `turn` counts its questions."""

    answer: str | None
    session: str
    turn: int


def wake_lines(home: Home, found: Iterable[WakeDocument] | None = None) -> list[WakeLine]:
    """The documents of `wakes`; of all wakes, the newest first, if none are given."""
    if found is None:
        newest = home.views.page(wakes.VIEW, newest_first=True)
        found = (each for one in newest for each in one.every)
    members = Members(home)
    return [wake_document(home, one, members) for one in found]


def wakes_found(
    home: Home, agent_id: str | None = None, outcome: str = "", limit: int = -1
) -> list[WakeDocument]:
    """The wakes, the newest first; of an agent, or that ended or stand so, if these are given."""
    most = -1 if outcome else limit  # only the documents tell which are of an outcome
    page = home.views.page(wakes.VIEW, shelf=agent_id, newest_first=True, limit=most)
    every = (each for one in page for each in one.every)
    return [one for one in every if not outcome or outcome in (one.outcome, one.state)]


def set_of(home: Home, wake: WakeDocument) -> SetDocument | None:
    """The change set that a wake made."""
    alone, own = (home.views.get(inbox.VIEW, one) for one in wake.set_ids)
    return own or alone


def wake_document(home: Home, wake: WakeDocument, members: Members | None = None) -> WakeLine:
    """The document of `wake`, and one of those of `wakes`; `members`: where it is to say
    who asked for it."""
    made = set_of(home, wake)
    report = home.views.get(reports.VIEW, wake.key) if wake.has_report else None
    told = None
    if report is not None and report.agent_id:  # else only a draft: the wake has not completed
        with home.services.agents.reading() as world:
            drafted = state_of(world, wake).report if wake.runner or "@" in wake.run_key else None
            told = WakeReport(world.text((drafted or report).tldr), (drafted or report).one_liner)
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
        waits_until=None if wake.waits_for in HELD else wake.until or None,
        waits_for=wake.waits_for or None,
        report_missing=wake.is_report_missing,
        who=(members.asked_for(wake) if members else "") or None,
    )


def wake_of(home: Home, run_key: str) -> WakeDocument | None:
    """A wake by its whole run key, or ``KEY@REPLICA``."""
    wake = home.views.get(wakes.VIEW, run_key.partition("@")[0])
    every = wake.every if wake else ()
    named = (one for one in every if run_key in (one.run_key, f"{one.key}@{one.replica}"))
    return next(named, None)


def own_wake_of(home: Home, run_key: str) -> WakeDocument | None:
    """The wake that this machine has under a run key; another one's where it has none."""
    own = wake_of(home, f"{run_key}@{home.services.agents.replica}")
    return own or wake_of(home, run_key)


def without_report(home: Home, agent: AgentDocument | None) -> str | None:
    """The last wake of an agent, where it completed without the report that was due."""
    wake = wake_of(home, agent.agent.last_run) if agent else None
    return wake.run_key if wake and wake.is_report_missing else None


def state_of(world: LogState, wake: WakeDocument) -> Wake:
    """A wake as the rows of who ran it make it."""
    return world.load_of(WAKE, wake.key, wake.replica)


def run_named(home: Home, run_key: str, length: int = -1) -> str:
    """What a person calls a wake: its run key, or so much of its beginning; with the name of the
    machine where another one has the key."""
    key, at, replica = run_key.partition("@")
    short = key[:length] if length >= 0 else key
    if not at:
        return short
    names = machine_names(home.path, home.services.agents.replica)
    return f"{short}@{names.get(replica, replica)}"


def run_document(home: Home, run_key: str) -> WakeDetails:
    """The document of `show`."""
    wake = wake_of(home, run_key)
    assert wake is not None, run_key
    rows = rows_of(home, wake)
    with home.services.agents.reading() as world:
        causes = [_cause(world, one) for one in wake.causes]
        steps = [WakeStep(row.n, tag_of(row.fact), row.at, plain(world, row.fact)) for row in rows]
    return WakeDetails(
        **asdict(wake_document(home, wake, Members(home))),
        superseded_by=wake.superseded_by or None,
        cause_count=wake.cause_count,
        causes=causes,
        steps=steps,
        usage=_usage(wake, cost_of_rows(home.settings.prices, wake.model, rows)),
        before=wake_before(home, wake),
    )


def wake_before(home: Home, wake: WakeDocument) -> WakeBefore | None:
    """What a wake of timers was compared with; None of others, and where nothing was to compare."""
    # here, not above: who lists wakes needs no prompts
    from domain.wake.unchanged import differences, last_completed

    is_decided = wake.started_at or wake.code == UNCHANGED
    if not is_decided or any(one.trigger.reason != "timer" for one in wake.causes):
        return None
    (first, *_) = home.services.agents.facts(f"wake:{wake.key}@{wake.replica}")
    world = home.services.agents.world_at(first.n - 1, first.replica)
    agent = world.load(AGENT, wake.agent_id)
    last = last_completed(world, agent)
    if last is None or not last.moved_by:
        return None
    moved = differences(last, first.fact) if isinstance(first.fact, WakeStarted) else ()
    return WakeBefore(agent.last_run, agent.last_wake_at, [*moved])


def rows_of(home: Home, wake: WakeDocument) -> list[RecordedEvent]:
    """All rows of a wake, of its change set, and of what it observed, in order."""
    log = home.services.agents
    replica = wake.replica
    rows = log.facts(f"wake:{wake.key}@{replica}")
    for one in wake.set_ids:
        rows += log.facts(f"changes:{one}@{replica}")
    rows += [
        row
        for row in log.facts(f"agent:{wake.agent_id}@{replica}")
        if isinstance(row.fact, AgentObserved) and row.fact.run_key == wake.key
    ]
    return sorted(rows, key=lambda row: (row.n, row.row))


def _cause(world: LogState, line: CauseLine) -> WakeCause:
    trigger = line.trigger
    writer, n = trigger.of or trigger.replica, trigger.of_n or trigger.position
    position = f"journal:{writer}:{n}" if trigger.position else None
    return WakeCause(
        how=line.how,
        at=line.at,
        reason=trigger.reason,
        reason_id=trigger.reason_id,
        position=position,
        tokens=list(trigger.tokens),
        propagated=trigger.is_propagated,
        hop=trigger.hop,
        ticks=list(trigger.ticks),
        words=world.payload(trigger.words).decode() if trigger.words else None,
        about=trigger.about or None,
    )


def plain(world: LogState, value: Any) -> Any:
    """A value for JSON: texts in the place of `Words`, arguments decoded."""
    match value:
        case Words():
            return world.text(value)
        case Struct():
            names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            found = {encoded: plain(world, getattr(value, name)) for name, encoded in names}
            if isinstance(found.get("arguments"), str):
                found["arguments"] = decoded_or_text(found["arguments"])
            return found
        case tuple():
            return [plain(world, one) for one in value]
        case _:
            return value


def decoded_or_text(text: str) -> Any:
    """Arguments as values; as they came where they are no JSON."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _usage(wake: WakeDocument, parts: int | None) -> WakeUsage:
    used = wake.usage
    cost = None if parts is None else parts / WHOLE
    tokens = (used.tokens_in, used.tokens_out, used.tokens_thought, used.tokens_cached)
    return WakeUsage(*tokens, cost)
