"""Why an agent woke, or did not: each of its last triggers with what became of it (SPEC 3).

A trigger stands in the agent's log as queued, merged or suppressed. What is left out there, a
journal append that touches nothing the agent subscribes to, is computed here, as far back as was
asked for."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from adapters.runtime import watcher
from adapters.runtime.services import Services
from adapters.store.log import Log
from domain.agent import wake_queue as a
from domain.agent.agent import AGENT, Agent, AgentSettled, SubscriberAdded
from domain.agent.subscriptions import Batch, match
from domain.append import envelope
from domain.append.notification_batch import batch, origin_of
from domain.changes.change_set import CHANGES, ref
from domain.changes.dependencies import follow_up_id
from domain.errors import Remedy, invalid
from domain.journal.links import LINKS
from domain.journal.task import TASK, TaskCreated
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import tag_of
from projections.agents import VIEW, AgentDocument

if TYPE_CHECKING:
    from adapters.wiring import Home

ID_SHOWN = 8
Reaction = Literal["woke", "merged", "suppressed", "queued", "unmatched"]
NOT_NOTICED = "not_noticed"
"""The rule of a change that would wake the agent as soon as somebody looks at the journal."""
PREDICATE = "predicate"
"""The rule of a change that a subscription names, in another category or status."""

ASKED = {
    "timer": "a timer ticked",
    "user": "you asked it something",
    "creation": "it was created",
    "recovery": "it was resumed",
}
"""What is said of triggers that are no change, by their reason; of the others: you woke it."""


ABOUT_WORDS = {
    "fits_today": "whether it fits into the day",
    "estimate": "whether its estimate is right",
    "blocked": "what blocks it",
    "stale": "whether it is still wanted",
}
"""What agents ask each other."""


class TriggerFate(Struct, frozen=True):
    """One trigger, or what the agent asked another one. `position` is ``journal:r1:42``, or
    ``agent:r1:7`` for what was asked or ticked; `run_key` is the wake it went to, empty where there
    is none; `what` says in a few words what happened."""

    position: str
    at: str
    tokens: tuple[str, ...]
    outcome: Reaction
    run_key: str
    rule: str
    reason: str
    what: str


class _Fates:
    """What an agent's attention made of its triggers, by the key that names each."""

    def __init__(self, agent: str, services: Services) -> None:
        self.first: dict[str, tuple[a.Trigger, RecordedEvent]] = {}
        self.last: dict[str, a.WakeQueued | a.TriggerMerged | a.TriggerSuppressed] = {}
        self.begun: set[str] = set()
        self.waits_for: dict[str, str] = {}
        self.dropped: dict[str, str] = {}
        self.heirs: dict[str, str] = {}  # of wakes that passed on more than has rows
        for row in services.agents.facts(f"alert:{agent}@{services.agents.replica}"):
            match row.fact:
                case a.WakeQueued() | a.TriggerMerged() | a.TriggerSuppressed() as fact:
                    name = a.run_key_of(agent, fact.trigger)
                    self.first.setdefault(name, (fact.trigger, row))
                    self.last[name] = fact
                    if isinstance(fact, a.WakeQueued):  # it may come back to this machine
                        self.dropped.pop(fact.run_key, None)
                case a.WakeBegun(run_key=run_key):
                    self.begun.add(run_key)
                case a.WakeBackedOff(run_key=run_key, reason=reason):
                    self.waits_for[run_key] = reason
                case a.WakeDropped(run_key=run_key, code=code, by=by, left_out=left_out):
                    self.dropped[run_key] = code
                    if left_out:
                        self.heirs[run_key] = by
                case _:
                    pass

    def of(self, name: str) -> tuple[Reaction, str, str]:
        """Outcome, run key and rule of a trigger; of one passed on, where it went last."""
        fact = self.last[name]
        if isinstance(fact, a.TriggerSuppressed):
            return "suppressed", "", fact.rule
        run_key = fact.run_key
        while run_key in self.heirs:  # bounded: each was queued after the one before
            run_key = self.heirs[run_key]
        code = self.dropped.get(run_key, "")
        if code and code != "superseded":
            return "suppressed", run_key, code
        if run_key not in self.begun and not code:
            waits_for = self.waits_for.get(run_key, "")
            return "queued", run_key, waits_for if waits_for in a.HELD else ""
        is_own = isinstance(fact, a.WakeQueued) and run_key == fact.run_key
        return ("woke" if is_own else "merged"), run_key, ""


def trigger_fates(services: Services, agent_id: str, limit: int) -> list[TriggerFate]:
    """The last triggers of an agent, and the changes that were none, the newest first. `limit`: how
    many triggers, and how many of the journal's last appends are looked through for such
    changes."""
    agent = services.agent(agent_id)
    fates = _Fates(agent_id, services)
    newest = list(fates.first.items())[-limit:]
    made = (_triggered(services, fates, name, *one) for name, one in newest)
    found = [_with_origin(services, agent, one) for one in made]
    known = {_origin(trigger) for trigger, _ in fates.first.values()}
    found += [*_others(services, agent, known, limit), *_requests(services, agent, limit)]
    return sorted(found, key=lambda one: (one.at, one.position), reverse=True)


def fates_of_change(
    home: "Home", n: int, replica: str = ""
) -> list[tuple[AgentDocument, TriggerFate]]:
    """What became of one change of the journal: each agent that it concerns, the oldest first, and
    the wake that took it, the rule that suppressed it, or why a subscription that names it did not
    match. Empty: no agent subscribes to what it touched. Only agents that hear, or once heard, of
    what it touched are asked. `replica`: whose append, of a journal that machines share; empty:
    this one's. Raises Refused, code ``invalid_value``: there is no such append."""
    services = home.services
    append = append_of(services.journal, n, replica)
    if not append:
        of = f" of {replica}" if replica else ""
        because = f"the journal has no append {n}{of}, its last is {services.journal.tail().n}"
        raise invalid(because, Remedy("see_status"))
    seen = _batch(services, append)
    if seen is None:
        return []
    found = list[tuple[AgentDocument, TriggerFate]]()
    is_shared, place = services.journal.is_shared, (append[0].replica, n)
    for document in _hearers(home, seen):
        agent_id, agent = document.id, services.agent(document.id)
        fates = _Fates(agent_id, services)
        triggers = [
            (name, trigger, row)
            for name, (trigger, row) in fates.first.items()
            if trigger.reason == "subscription"
            and (_origin(trigger) == place if is_shared else trigger.position == n)
        ]
        found += [(document, _triggered(services, fates, *one)) for one in triggers]
        if triggers or _is_older(services, agent, append):
            continue
        other = _other(services, agent, append, seen)
        if other.rule or other.outcome == "queued":
            found.append((document, other))
    return found


def _is_older(services: Services, agent: Agent, append: Sequence[RecordedEvent]) -> bool:
    """Whether an agent was made by who knew of a change."""
    is_shared, first = services.journal.is_shared, append[0]
    born = (agent.born_seen or {}).get(first.replica, 0) if is_shared else agent.born
    return first.n <= born


def _hearers(home: "Home", seen: Batch) -> list[AgentDocument]:
    """The agents that subscribe, or once did, to what a change touched, the oldest first."""
    agents = home.services.agents
    world = agents.world_at(agents.tail().n)  # it caches no fold: this one is nobody else's
    tokens = (*seen.tokens, *seen.propagated)
    ids = {one for token in tokens for one in world.load(_EVER, token)}
    known = (home.views.get(VIEW, agent_id) for agent_id in ids)
    found = [one for one in known if one is not None and one.exists]
    return sorted(found, key=lambda one: (one.place, one.id))


def _with_subscriber(known: frozenset[str], row: RecordedEvent) -> frozenset[str]:
    return known | {row.fact.agent} if isinstance(row.fact, SubscriberAdded) else known


_EVER: StreamType[frozenset[str]] = StreamType("subs", lambda _: frozenset(), _with_subscriber)
"""The agents that ever subscribed to a token."""


def _triggered(
    services: Services, fates: _Fates, name: str, trigger: a.Trigger, row: RecordedEvent
) -> TriggerFate:
    outcome, run_key, rule = fates.of(name)
    then = outcome, run_key, rule, trigger.reason
    if trigger.reason != "subscription":
        position = f"agent:{row.replica}:{row.n}"
        return TriggerFate(position, row.at, (), *then, _asked(services, trigger))
    replica, n = _origin(trigger)
    append = append_of(services.journal, n, replica)
    at = append[0].at if append else row.at
    what = _what(append) + (", through a link" if trigger.is_propagated else "")
    return TriggerFate(f"journal:{replica}:{n}", at, trigger.tokens, *then, what)


def _origin(trigger: a.Trigger) -> tuple[str, int]:
    """Whose append of the journal it is of: what another machine wrote came with a marker."""
    return (trigger.of, trigger.of_n) if trigger.of else (trigger.replica, trigger.position)


def _with_origin(services: Services, agent: Agent, one: TriggerFate) -> TriggerFate:
    """Of a creation, for which proposal: the wake that made it, and the words that it rests on."""
    if one.reason != "creation":
        return one
    with services.journal.reading() as journal, services.agents.reading() as agents:
        made = next(iter(journal.rows(TASK, agent.task)), None)
        by = made.fact.by if made and isinstance(made.fact, TaskCreated) else ""
        source = agents.load(AGENT, by.removeprefix("agent:")) if by.startswith("agent:") else None
        sets = agents.load_each(CHANGES, source.sets) if source else ()
    for changes in sets:
        for item in changes.items:
            if follow_up_id(changes.id, item.number) == agent.task:
                said = f', which rests on "{item.because}"' if item.because else ""
                made_by = f"{ref(changes, item.number)} of the wake {changes.run_key[:ID_SHOWN]}"
                return replace(one, what=f"{one.what} for the task of proposal {made_by}{said}")
    return one


def _requests(services: Services, agent: Agent, limit: int) -> list[TriggerFate]:
    """What an agent without a task asked others in its last wakes, and what came of it there."""
    if agent.task:
        return []
    found: list[TriggerFate] = []
    own = f"agent:{agent.id}@{services.agents.replica}"
    facts = services.agents.facts(own)
    settled = [(one, one.fact.run_key) for one in facts if isinstance(one.fact, AgentSettled)]
    for row, run_key in settled[-limit:]:
        for asked in services.wake(run_key).requests:
            fates = _Fates(asked.agent, services)
            name = a.run_key_of(asked.agent, a.Trigger("request", run_key))
            if name not in fates.last:  # it did not complete, or asked on another machine
                continue
            with services.journal.reading() as world:
                title = world.load(TASK, asked.task).title
            outcome, woken, rule = fates.of(name)
            what = f"it asked the agent of “{title}” {ABOUT_WORDS.get(asked.about, asked.about)}"
            position = f"agent:{row.replica}:{row.n}"
            found.append(TriggerFate(position, row.at, (), outcome, woken, rule, "request", what))
    return found


def _asked(services: Services, trigger: a.Trigger) -> str:
    if trigger.reason == "request":
        by = services.agent(services.wake(trigger.reason_id).begun.agent).name
        return f"the agent “{by}” asked {ABOUT_WORDS.get(trigger.about, trigger.about)}"
    said = ASKED.get(trigger.reason, "you woke it")
    ticks = len(trigger.ticks) if trigger.reason == "timer" else 0
    return f"{said}, {ticks} times" if ticks > 1 else said


def _others(
    services: Services, agent: Agent, known: set[tuple[str, int]], limit: int
) -> list[TriggerFate]:
    """The newest journal appends that are no trigger of the agent."""
    last = services.journal.tail().n
    after = max(agent.born, last - limit)
    return [
        _other(services, agent, append, seen)
        for append in services.journal.appends(after)
        if (append[0].replica, append[0].n) not in known
        and (seen := _batch(services, append)) is not None
    ]


def _other(
    services: Services, agent: Agent, append: Sequence[RecordedEvent], seen: Batch
) -> TriggerFate:
    """A change that is no trigger of the agent."""
    noticed = watcher.position(services)
    first, known = append[0], {one.replica: one.n for one in services.journal.horizon(noticed)}
    is_noticed = first.n <= (known.get(first.replica, 0) if known else noticed)
    outcome, rule, tokens = _unmatched(agent, seen, is_noticed=is_noticed)
    if rule == NOT_NOTICED and not services.leads:
        outcome, rule = "suppressed", a.LED_ELSEWHERE
    position = f"journal:{append[0].replica}:{append[0].n}"
    what = _what(append)
    return TriggerFate(position, append[0].at, tokens, outcome, "", rule, "subscription", what)


def _unmatched(
    agent: Agent, seen: Batch, *, is_noticed: bool
) -> tuple[Reaction, str, tuple[str, ...]]:
    """What a change is that no trigger was made of."""
    found = [match(one, seen) for one in agent.subscriptions]
    matched = sorted({token for one in found if one for token in one[0]})
    if matched and not is_noticed:
        return "queued", NOT_NOTICED, tuple(matched)
    tokens = {*seen.tokens, *seen.propagated}
    is_named = any(tokens.intersection(one.tokens) for one in agent.subscriptions)
    rule = PREDICATE if is_named and not matched else ""
    return "unmatched", rule, seen.tokens


def append_of(log: Log, n: int, replica: str = "") -> list[RecordedEvent]:
    """The facts of one append; empty where there is none. `replica`: see `Log.append_at`."""
    rows = [(row, envelope.read(row)) for row in log.append_at(n, replica)]
    return [envelope.recorded(row, rows[0][1].at, one) for row, one in rows]


def _batch(services: Services, append: Sequence[RecordedEvent]) -> Batch | None:
    """What a journal append touched; None where it is no change."""
    journal = services.journal
    world = journal.world_at(append[0].n, append[0].replica if journal.is_shared else "")
    return batch(append, partial(world.load, LINKS), partial(world.load, TASK))


def _what(append: Sequence[RecordedEvent]) -> str:
    """What happened in a journal append, ``item checked, note added by person`` for example."""
    kinds = [
        tag_of(row.fact).split(".")[1].replace("_", " ")
        for row in append
        if row.of_kind in ("task", "catalog")
    ]
    if not kinds:
        return "a change"
    named = list(dict.fromkeys(kinds))
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    origin, _, name = origin_of(append).partition(":")
    who = {"person": "you", "agent": "an agent"}.get(origin, f"the import of {name}")
    return f"{', '.join(named[:3])}{more} by {who}"
