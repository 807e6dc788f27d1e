"""What each fact means where two replicas wrote without knowing of each other: those of the agent
log here, those of the journal in `domain.journal.merged` (ADR 71, 73).

One table a log names every fact that its merged kinds fold; a test holds them against the
vocabulary. Alerts, watches and wakes are each replica's own.
"""

from functools import partial
from typing import Any

from domain.agent import events as a
from domain.agent.memory import MemoryFolded, overlap
from domain.changes import events as ch
from domain.journal.merged import MEANINGS as OF_JOURNAL
from domain.lessons import lessons as le
from domain.machines import machines as ma
from domain.meanings import NOTHING, TASK_ITSELF, Meaning, Meant
from domain.policy import policy as p
from domain.templates import template as te
from domain.wire import Stored

LAST: tuple[int, ...] = (0,)
"""The weight of what the canonical last of all decides."""


def meaning(fact: Stored) -> Meaning:
    """What a fact means to merging; of what no table names: nothing, it counts."""
    meant = MEANINGS.get(type(fact))
    return meant(fact) if meant else NOTHING


def _field(name: str, value: str, *, is_shown: bool = True) -> Meant:
    """A field without rank."""

    def meant(fact: Any) -> Meaning:
        return Meaning(((name, getattr(fact, value)),), weight=LAST, is_shown=is_shown)

    return meant


# ----------------------------------------------------------------------------------------- agents


def _created(fact: a.AgentCreated) -> Meaning:
    """The first one counts; what a second was allowed, the agent was allowed too."""
    sets = (("name", fact.name), ("mode", fact.mode), ("categories", fact.categories))
    return Meaning(sets, adds="agent", weight=(-len(fact.categories),), is_heard=True)


def _allowed(fact: a.CategoriesAllowed) -> Meaning:
    """The fewest; what it wrote meanwhile may speak of the others, so these are heard."""
    narrow = (-len(fact.categories),)
    return Meaning((("categories", fact.categories),), weight=narrow, is_heard=True)


def _life(word: str, weight: int) -> Meant:
    """Deleted, destroyed, dormant, active: the most that ended of it."""
    return lambda _: Meaning((("life", word),), weight=(weight,))


def _automation(fact: a.AutomationSet) -> Meaning:
    return Meaning((("automation", fact.is_on),), weight=(int(not fact.is_on),))


def _goal(fact: a.GoalSet) -> Meaning:
    return Meaning((("goal", fact.goal),), weight=(fact.version,))


def _preference(fact: a.PreferenceSet) -> Meaning:
    return Meaning(((f"preference:{fact.name}", fact.value),), weight=(fact.version,))


def _loop(fact: a.LoopOpened | a.LoopClosed) -> Meaning:
    is_opened = isinstance(fact, a.LoopOpened)
    return Meaning(((f"loop:{fact.loop}", is_opened),), weight=(fact.version,))


def _subscribed(fact: a.Subscribed) -> Meaning:
    """An end beats a change, here and in the streams of its tokens, which see no change of flags:
    both ends stand alike."""
    said = (fact.tokens, fact.category, fact.status, fact.hears_agents, fact.defers_propagated)
    return Meaning(((f"subscription:{fact.subscription}", said),), weight=(0,))


def _unsubscribed(fact: a.Unsubscribed) -> Meaning:
    return Meaning(((f"subscription:{fact.subscription}", None),), weight=(1,))


def _subscriber(fact: a.SubscriberAdded | a.SubscriberRemoved) -> Meaning:
    is_added = isinstance(fact, a.SubscriberAdded)
    name = f"subscriber:{fact.agent}:{fact.subscription}"
    return Meaning(((name, is_added),), weight=(int(not is_added),), is_shown=False)


def _timer(timer: str, next_at: str, *, renews: bool = False) -> Meaning:
    """The later tick; none any more beats one. Its id names the schedule."""
    weight = (0, next_at) if next_at else (1, "")
    return Meaning(
        ((f"timer:{timer}", next_at or None),), weight=weight, is_shown=False, renews=renews
    )


# ------------------------------------------------------------------------------------ change sets


def _verdict(word: str) -> Meant:
    """The fold says what stands (`domain.changes`); the heads say who differs."""
    return lambda fact: Meaning(((f"item:{fact.item}", word),), weight=LAST, is_shown=False)


def _verdicts_seen(fact: ch.VerdictsSeen) -> Meaning:
    return _verdict(fact.verdict)(fact)


# ----------------------------------------------------------------------- policy, memory, lessons


def _given(fact: p.ReceiptGiven) -> Meaning:
    """The narrower: of an older notice, of fewer sections."""
    said = (fact.notice, fact.sections)
    sets = tuple((f"consent:{fact.model}:{one}", said) for one in fact.categories)
    return Meaning(sets, weight=(-fact.notice, -len(fact.sections)))


def _withdrawn(fact: p.ReceiptWithdrawn) -> Meaning:
    return Meaning(ends=partial(p.ends, fact))


def _ruled(fact: p.ModelsRuled) -> Meaning:
    """The narrower: any rule before none, names before patterns, few before many."""
    wild = sum("*" in one for one in fact.allowed)
    weight = (int(bool(fact.allowed)), -wild, -len(fact.allowed))
    return Meaning(((f"models:{fact.category}", fact.allowed),), weight=weight)


def _folded(fact: MemoryFolded) -> Meaning:
    """The first of those that hold one note; what the others held is uncovered again."""

    def is_double(other: Stored) -> bool:
        return isinstance(other, MemoryFolded) and overlap(fact, other)

    return Meaning(ends=is_double)


def _lesson(fact: le.LessonDecided) -> Meaning:
    """A verdict as it was given beats one that was learnt later; of those the first counts, for
    their order in time is that of clocks."""
    lesson = f"lesson:{fact.changes}:{fact.item}"
    learnt = f"learnt:{fact.changes}:{fact.item}" if fact.at else ""
    sets = ((lesson, fact.verdict),)
    return Meaning(sets, adds=learnt, weight=(int(not fact.at),), is_shown=False)


def _rated(fact: le.WakeRated) -> Meaning:
    return Meaning(((f"rating:{fact.run_key}", fact.stars),), weight=LAST)


# -------------------------------------------------------------------------------------- templates


def _template(fact: te.TemplateCreated) -> Meaning:
    sets = (("name", fact.name), ("model", fact.model), ("categories", fact.categories))
    return Meaning(sets, adds=TASK_ITSELF, weight=LAST)


def _version(fact: te.VersionAdded) -> Meaning:
    """All versions stay; which one is active is a field."""
    said = (str(fact.version), fact.general, fact.report, fact.model)
    return Meaning((("active", said),), weight=LAST)


def _activated(fact: te.VersionActivated) -> Meaning:
    return Meaning((("active", (str(fact.version), fact.of)),), weight=LAST)


def _instance(fact: te.InstanceAdded | te.InstanceRemoved) -> Meaning:
    is_there = isinstance(fact, te.InstanceAdded)
    return Meaning(((f"instance:{fact.agent}", is_there),), weight=LAST, is_shown=False)


OF_AGENTS: dict[type, Meant] = {
    a.AgentCreated: _created,
    a.AgentNamed: _field("name", "name"),
    a.ModeSet: _field("mode", "mode"),
    a.CategoriesAllowed: _allowed,
    a.ModelChosen: _field("model", "model"),
    a.TurnMaxSet: _field("turn_max", "turn_max"),
    a.AutomationSet: _automation,
    a.GoalSet: _goal,
    a.LoopOpened: _loop,
    a.LoopClosed: _loop,
    a.PreferenceSet: _preference,
    a.AgentActivated: _life("active", 1),
    a.AgentPaused: _life("dormant", 2),
    a.AgentDestroyed: _life("destroyed", 3),
    a.AgentDeleted: _life("deleted", 4),
    a.Subscribed: _subscribed,
    a.Unsubscribed: _unsubscribed,
    a.TimerSet: lambda fact: _timer(fact.timer, fact.next_at, renews=True),
    a.TimerRemoved: lambda fact: _timer(fact.timer, ""),
    a.TimerTicked: lambda fact: _timer(fact.timer, fact.next_at),
    a.AgentReported: _field("report", "run_key", is_shown=False),
    a.AgentObserved: lambda _: NOTHING,
    a.AgentProposed: lambda _: NOTHING,
    a.AgentSettled: lambda _: NOTHING,
    a.TemplateAssigned: _field("template", "template"),
    a.SubscriberAdded: _subscriber,
    a.SubscriberRemoved: _subscriber,
    ch.ItemProposed: lambda _: NOTHING,
    ch.SetOpened: lambda _: NOTHING,
    ch.ItemConfirming: _verdict("confirmed"),
    ch.ItemConfirmed: _verdict("confirmed"),
    ch.ItemFailed: _verdict(""),
    ch.ItemRejected: _verdict("rejected"),
    ch.ItemDeferred: _verdict("deferred"),
    ch.ItemRetracted: _verdict("retracted"),
    ch.ItemExpired: _verdict("expired"),
    ch.SuppressionAsked: lambda _: NOTHING,
    ch.SuppressionDone: lambda _: NOTHING,
    ch.LiftAsked: lambda _: NOTHING,
    ch.LiftDone: lambda _: NOTHING,
    ch.ItemReopened: _verdict("pending"),
    ch.VerdictsSeen: _verdicts_seen,
    ch.UndoAsked: lambda _: NOTHING,
    ch.ItemUndone: lambda fact: NOTHING if fact.code else _verdict("pending")(fact),
    te.TemplateCreated: _template,
    te.TemplateNamed: _field("name", "name"),
    te.TemplateModelSet: _field("model", "model"),
    te.TemplateCategoriesSet: _field("categories", "categories"),
    te.VersionAdded: _version,
    te.VersionActivated: _activated,
    te.InstanceAdded: _instance,
    te.InstanceRemoved: _instance,
    te.TemplateDeleted: lambda _: Meaning(removes=TASK_ITSELF),
    p.ReceiptGiven: _given,
    p.ReceiptWithdrawn: _withdrawn,
    p.ModelsRuled: _ruled,
    le.LessonDecided: _lesson,
    le.WakeRan: lambda _: NOTHING,
    le.WakeRated: _rated,
    MemoryFolded: _folded,
    ma.ReplicaLabelled: lambda _: NOTHING,
    ma.ReplicaLed: lambda _: NOTHING,
    ma.ReplicaRetired: lambda _: NOTHING,
}
"""What stands here as nothing counts always: each note, change set and end of a wake of an agent,
what a wake proposed, what came of the operations on labels, each wake that a template ran, that a
confirmation was to be taken back, and what was said of machines, of which their fold takes the
highest term."""

MEANINGS: dict[type, Meant] = {**OF_JOURNAL, **OF_AGENTS}
