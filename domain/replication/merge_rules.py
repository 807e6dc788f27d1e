"""What each fact means where several replicas wrote without knowing of each other: the fields that
it sets, the thing that it adds or removes. `domain.replication.merge` reads it (ADR 71, 73).

One table a log names every fact that its merged kinds fold; a test holds them against the event
union. Wake queues, watches and wakes are each replica's own."""

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from domain.agent import agent as a
from domain.agent.memory import MemoryFolded, overlap
from domain.changes import change_set as ch
from domain.journal import catalog as c
from domain.journal import day as d
from domain.journal import links as li
from domain.journal import task as t
from domain.journal import timer as ti
from domain.journal.task import FIELDS
from domain.lessons import lessons as le
from domain.log.wire import Stored
from domain.machines import machines as ma
from domain.policy import policy as p
from domain.templates import template as te

PERSON = "person"
PERSONS = 2  # the rank of what a person says
TASK_ITSELF = "deleted"
"""The thing that every fact of a stream is about; and the field its removal is shown as."""

Field = tuple[str, object]
"""The name of a field, and the value that a fact gives it."""

Weight = tuple[Any, ...]
"""What is compared of facts that set one field: the greater stands. Of one form in a field."""


class MergeRule(Struct, frozen=True):
    """What a fact does to its entity.

    `adds` and `removes` name a thing; `is_ranked`: whether a person's value beats an agent's (it
    cannot where the fact's twin in another stream does not say who did it); `is_shown`: whether
    values that differ are for a person to settle.

    `weight`: what decides in place of who said it; such a fact is beaten by one that is left out,
    too. `is_heard`: the fold has use for a fact that lost, and gets it as said before the one that
    it lost to. `ends`: of which facts it keeps those from counting that do not know of it.
    `renews`: what it took the place of does not count either where this one is beaten."""

    sets: tuple[Field, ...] = ()
    adds: str = ""
    removes: str = ""
    is_ranked: bool = True
    is_shown: bool = True
    weight: Weight | None = None
    is_heard: bool = False
    ends: Callable[[Stored], bool] | None = None
    renews: bool = False


RuleOfFact = Callable[[Any], MergeRule]
ALWAYS_COUNTS = MergeRule()
"""A fact that counts whatever others say."""


def _always(*facts: type[Stored]) -> dict[type, RuleOfFact]:
    return dict.fromkeys(facts, lambda _: ALWAYS_COUNTS)


def author(fact: Stored) -> str:
    """Who did it. Only persons and files change what does not say so, a catalog for example."""
    return getattr(fact, "by", "") or PERSON


def rank(fact: Stored) -> int:
    """Whose word it is: a person's 2, a file's 1, an agent's 0."""
    by = author(fact)
    if by == PERSON:
        return PERSONS
    return 1 if by.startswith("import:") else 0


# -------------------------------------------------------------------------------------- the journal


def _task_field(name: str, value: str) -> RuleOfFact:
    return lambda fact: MergeRule(((name, getattr(fact, value)),))


def _part(thing: str, of: str, field: str, value: object) -> RuleOfFact:
    """A field of a part of the task, which `of` names; with a fixed value."""
    return lambda fact: MergeRule(((f"{thing}:{getattr(fact, of)}{field}", value),))


def _day(name: str, value: str) -> RuleOfFact:
    """A day; of those of the next task that two machines made of one, the earlier stands."""

    def meant(fact: t.DueSet | t.WaitSet) -> MergeRule:
        day = getattr(fact, value)
        if not fact.is_next:
            return MergeRule(((name, day),))
        earlier = (-1, -int(f"0{day}".replace("-", "")))
        return MergeRule(((name, day),), weight=earlier, is_shown=False)

    return meant


def _item_added(fact: t.ItemAdded) -> MergeRule:
    item = f"item:{fact.item}"
    sets = ((f"{item}:checked", fact.is_checked), (f"{item}:archived", False))
    return MergeRule(sets, adds=item)


def _entry(fact: t.TimeStopped | t.TimeEdited) -> MergeRule:
    """What is empty stays as it is; a summary may be emptied by an edit."""
    told: dict[str, object] = {"start": getattr(fact, "start", ""), "end": fact.end}
    sets = {name: value for name, value in told.items() if value}
    if fact.summary or (isinstance(fact, t.TimeEdited) and fact.summary is not None):
        sets["summary"] = fact.summary
    return MergeRule(tuple((f"entry:{fact.entry}:{name}", value) for name, value in sets.items()))


def _reopened(fact: t.TimeReopened) -> MergeRule:
    """It runs on: who stopped it elsewhere, or gave it another end, said something else."""
    said = () if fact.summary is None else ((f"entry:{fact.entry}:summary", fact.summary),)
    return MergeRule(((f"entry:{fact.entry}:end", ""), *said))


def _task_rated(fact: t.TaskRated) -> MergeRule:
    name = f"rating:{fact.entry}" if fact.entry else "rating"
    return MergeRule(((name, (fact.score, fact.comment)),))


def _link(end: str, value: bool) -> RuleOfFact:
    """Both ends of an edge must stand alike, and the far one does not say who made it."""

    def meant(fact: Any) -> MergeRule:
        name = f"link:{fact.relation}:{getattr(fact, end)}"
        return MergeRule(((name, value),), is_ranked=False, is_shown=end == "target")

    return meant


def _label_added(fact: c.LabelAdded) -> MergeRule:
    """What narrows a label that was everyone's is nobody's word, and a person's ends it."""

    def is_narrowed(other: Stored) -> bool:
        return isinstance(other, c.LabelScoped) and other.narrows and other.label == fact.label

    return MergeRule(((f"label:{fact.label}", (fact.name, fact.categories)),), ends=is_narrowed)


def _of_day(name: str) -> RuleOfFact:
    """What stands in a day; `name` is formatted with the fact. The plan shows it, nobody is asked
    to settle it."""
    return lambda fact: MergeRule(((name.format(fact), fact),), is_shown=False)


JOURNAL_RULES: dict[type, RuleOfFact] = {
    t.TaskCreated: lambda fact: MergeRule(
        (("title", fact.title), ("category", fact.category)), adds=TASK_ITSELF
    ),
    t.TaskRetitled: _task_field("title", "title"),
    t.TaskDescribed: _task_field("description", "description"),
    t.StatusSet: lambda fact: MergeRule((("status", (fact.status, fact.reason)),)),
    **{one.fact: _task_field(one.name, one.value) for one in FIELDS},
    t.DueSet: _day("due", "due"),
    t.WaitSet: _day("wait_until", "until"),
    t.CategorySet: _task_field("category", "category"),
    t.LabelAssigned: _part("label", "label", "", value=True),
    t.LabelRemoved: _part("label", "label", "", value=False),
    t.LabelSuppressed: _part("suppressed", "label", "", value=True),
    t.LabelAllowed: _part("suppressed", "label", "", value=False),
    t.ChecklistAdded: lambda fact: MergeRule(adds=f"checklist:{fact.checklist}"),
    t.ItemAdded: _item_added,
    t.ItemRetitled: lambda fact: MergeRule(((f"item:{fact.item}:title", fact.title),)),
    t.ItemChecked: _part("item", "item", ":checked", value=True),
    t.ItemUnchecked: _part("item", "item", ":checked", value=False),
    t.ItemArchived: _part("item", "item", ":archived", value=True),
    t.ItemRestored: _part("item", "item", ":archived", value=False),
    t.NoteAdded: lambda fact: MergeRule(
        ((f"note:{fact.note}", fact.words),), adds=f"note:{fact.note}"
    ),
    t.NoteEdited: lambda fact: MergeRule(((f"note:{fact.note}", fact.words),)),
    t.NoteRemoved: lambda fact: MergeRule(removes=f"note:{fact.note}"),
    t.TimeStarted: lambda fact: MergeRule(adds=f"entry:{fact.entry}"),
    t.TimeStopped: _entry,
    t.TimeLogged: lambda fact: MergeRule(adds=f"entry:{fact.entry}"),
    t.TimeEdited: _entry,
    t.TimeReopened: _reopened,
    t.TimeRemoved: lambda fact: MergeRule(removes=f"entry:{fact.entry}"),
    t.TaskRated: _task_rated,
    t.TaskLinked: _link("target", value=True),
    t.TaskUnlinked: _link("target", value=False),
    t.TaskDeleted: lambda _: MergeRule(removes=TASK_ITSELF),
    t.TaskImported: lambda fact: MergeRule(
        ((f"imported:{fact.by}", fact.document),), is_shown=False
    ),
    li.LinkedFrom: _link("source", value=True),
    li.UnlinkedFrom: _link("source", value=False),
    c.CategoryAdded: lambda fact: MergeRule(adds=f"category:{fact.category}"),
    c.CategoryRenamed: lambda fact: MergeRule(((f"category:{fact.category}:name", fact.name),)),
    c.CategoryRemoved: lambda fact: MergeRule(removes=f"category:{fact.category}"),
    c.LabelAdded: _label_added,
    c.LabelDeleted: lambda fact: MergeRule(((f"label:{fact.label}", None),)),
    d.BlockPut: _of_day("block:{0.block}"),
    d.BlockRemoved: _of_day("block:{0.block}"),
    d.DayTaskPinned: _of_day("pinned:{0.task}"),
    d.DayTaskUnpinned: _of_day("pinned:{0.task}"),
    d.DayRated: _of_day("rated"),
    **_always(
        t.TaskRestored, t.DifferenceSettled, t.DeedUndone, ti.TimerStarted, ti.TimerStopped,
        c.CorrectionCaptured, c.LabelScoped,
    ),
}  # fmt: skip
"""What counts always: a restored task, every timer that somebody started
and ended, each correction, each category of a label, what was settled with a file, and that it is
settled no more."""


# ------------------------------------------------------------------------------------ the agent log

LAST: tuple[int, ...] = (0,)
"""The weight of what the canonical last of all decides."""


def merge_rule(fact: Stored) -> MergeRule:
    """What a fact means to merging; of what no table names: nothing, it counts."""
    meant = MERGE_RULES.get(type(fact))
    return meant(fact) if meant else ALWAYS_COUNTS


def _plain_field(name: str, value: str, *, is_shown: bool = True) -> RuleOfFact:
    """A field without rank."""

    def meant(fact: Any) -> MergeRule:
        return MergeRule(((name, getattr(fact, value)),), weight=LAST, is_shown=is_shown)

    return meant


# ----------------------------------------------------------------------------------------- agents


def _agent_created(fact: a.AgentCreated) -> MergeRule:
    """The first one counts; what a second was allowed, the agent was allowed too."""
    sets = (("name", fact.name), ("mode", fact.mode), ("categories", fact.categories))
    return MergeRule(sets, adds="agent", weight=(-len(fact.categories),), is_heard=True)


def _allowed(fact: a.CategoriesAllowed) -> MergeRule:
    """The fewest; what it wrote meanwhile may speak of the others, so these are heard."""
    narrow = (-len(fact.categories),)
    return MergeRule((("categories", fact.categories),), weight=narrow, is_heard=True)


def _life(word: str, weight: int) -> RuleOfFact:
    """Deleted, destroyed, dormant, active: the most that ended of it."""
    return lambda _: MergeRule((("life", word),), weight=(weight,))


def _loop(fact: a.LoopOpened | a.LoopClosed) -> MergeRule:
    is_opened = isinstance(fact, a.LoopOpened)
    return MergeRule(((f"loop:{fact.loop}", is_opened),), weight=(fact.version,))


def _subscribed(fact: a.Subscribed) -> MergeRule:
    """An end beats a change, here and in the streams of its tokens, which see no change of flags:
    both ends stand alike."""
    said = (fact.tokens, fact.category, fact.status, fact.hears_agents, fact.defers_propagated)
    return MergeRule(((f"subscription:{fact.subscription}", said),), weight=(0,))


def _subscriber(fact: a.SubscriberAdded | a.SubscriberRemoved) -> MergeRule:
    is_added = isinstance(fact, a.SubscriberAdded)
    name = f"subscriber:{fact.agent}:{fact.subscription}"
    return MergeRule(((name, is_added),), weight=(int(not is_added),), is_shown=False)


def _timer(timer: str, next_at: str, *, renews: bool = False) -> MergeRule:
    """The later tick; none any more beats one. Its id names the schedule."""
    weight = (0, next_at) if next_at else (1, "")
    return MergeRule(
        ((f"timer:{timer}", next_at or None),), weight=weight, is_shown=False, renews=renews
    )


# ------------------------------------------------------------------------------------ change sets


def _verdict(word: str) -> RuleOfFact:
    """The fold says what stands (`domain.changes`); the heads say who differs."""
    return lambda fact: MergeRule(((f"item:{fact.item}", word),), weight=LAST, is_shown=False)


# ----------------------------------------------------------------------- policy, memory, lessons


def _given(fact: p.ConsentGiven) -> MergeRule:
    """The narrower: of an older notice, of fewer sections."""
    said = (fact.notice, fact.sections)
    sets = tuple((f"consent:{fact.model}:{one}", said) for one in fact.categories)
    return MergeRule(sets, weight=(-fact.notice, -len(fact.sections)))


def _ruled(fact: p.ModelsRuled) -> MergeRule:
    """The narrower: any rule before none, names before patterns, few before many."""
    wild = sum("*" in one for one in fact.allowed)
    weight = (int(bool(fact.allowed)), -wild, -len(fact.allowed))
    return MergeRule(((f"models:{fact.category}", fact.allowed),), weight=weight)


def _folded(fact: MemoryFolded) -> MergeRule:
    """The first of those that hold one note; what the others held is uncovered again."""
    return MergeRule(ends=lambda other: isinstance(other, MemoryFolded) and overlap(fact, other))


def _lesson(fact: le.LessonDecided) -> MergeRule:
    """A verdict as it was given beats one that was learnt later; of those the first counts, for
    their order in time is that of clocks."""
    lesson = f"lesson:{fact.changes}:{fact.item}"
    learnt = f"learnt:{fact.changes}:{fact.item}" if fact.at else ""
    sets = ((lesson, fact.verdict),)
    return MergeRule(sets, adds=learnt, weight=(int(not fact.at),), is_shown=False)


# -------------------------------------------------------------------------------------- templates


def _template(fact: te.TemplateCreated) -> MergeRule:
    sets = (("name", fact.name), ("model", fact.model), ("categories", fact.categories))
    return MergeRule(sets, adds=TASK_ITSELF, weight=LAST)


def _version(fact: te.VersionAdded) -> MergeRule:
    """All versions stay; which one is active is a field. A proposal is one, whatever its number."""
    said = (fact.item or str(fact.version), fact.general, fact.report, fact.model)
    return MergeRule((("active", said),), weight=LAST)


def _instance(fact: te.InstanceAdded | te.InstanceRemoved) -> MergeRule:
    is_there = isinstance(fact, te.InstanceAdded)
    return MergeRule(((f"instance:{fact.agent}", is_there),), weight=LAST, is_shown=False)


AGENT_RULES: dict[type, RuleOfFact] = {
    a.AgentCreated: _agent_created,
    a.AgentNamed: _plain_field("name", "name"),
    a.ModeSet: _plain_field("mode", "mode"),
    a.CategoriesAllowed: _allowed,
    a.ModelChosen: _plain_field("model", "model"),
    a.TurnMaxSet: _plain_field("turn_max", "turn_max"),
    a.AutomationSet: lambda fact: MergeRule(
        (("automation", fact.is_on),), weight=(int(not fact.is_on),)
    ),
    a.GoalSet: lambda fact: MergeRule((("goal", fact.goal),), weight=(fact.version,)),
    a.LoopOpened: _loop,
    a.LoopClosed: _loop,
    a.PreferenceSet: lambda fact: MergeRule(
        ((f"preference:{fact.name}", fact.value),), weight=(fact.version,)
    ),
    a.AgentActivated: _life("active", 1),
    a.AgentPaused: _life("dormant", 2),
    a.AgentDestroyed: _life("destroyed", 3),
    a.AgentDeleted: _life("deleted", 4),
    a.Subscribed: _subscribed,
    a.Unsubscribed: lambda fact: MergeRule(
        ((f"subscription:{fact.subscription}", None),), weight=(1,)
    ),
    a.TimerSet: lambda fact: _timer(fact.timer, fact.next_at, renews=True),
    a.TimerRemoved: lambda fact: _timer(fact.timer, ""),
    a.TimerTicked: lambda fact: _timer(fact.timer, fact.next_at),
    a.AgentReported: _plain_field("report", "run_key", is_shown=False),
    a.TemplateAssigned: _plain_field("template", "template"),
    a.SleepOrdered: lambda fact: MergeRule(  # the later; what the other replaced is over
        (("sleep", fact.until),), weight=(fact.until,), is_heard=True
    ),
    a.SubscriberAdded: _subscriber,
    a.SubscriberRemoved: _subscriber,
    ch.ItemConfirming: _verdict("confirmed"),
    ch.ItemConfirmed: _verdict("confirmed"),
    ch.ItemFailed: _verdict(""),
    ch.ItemRejected: _verdict("rejected"),
    ch.ItemDeferred: _verdict("deferred"),
    ch.ItemRetracted: _verdict("retracted"),
    ch.ItemExpired: _verdict("expired"),
    ch.ItemReopened: _verdict("pending"),
    ch.VerdictsSeen: lambda fact: _verdict(fact.verdict)(fact),
    ch.ItemUndone: lambda fact: ALWAYS_COUNTS if fact.code else _verdict("pending")(fact),
    te.TemplateCreated: _template,
    te.TemplateNamed: _plain_field("name", "name"),
    te.TemplateModelSet: _plain_field("model", "model"),
    te.TemplateCategoriesSet: _plain_field("categories", "categories"),
    te.VersionAdded: _version,
    te.VersionActivated: lambda fact: MergeRule(
        (("active", (str(fact.version), fact.of)),), weight=LAST
    ),
    te.Rehearsed: lambda _: ALWAYS_COUNTS,
    te.InstanceAdded: _instance,
    te.InstanceRemoved: _instance,
    te.TemplateDeleted: lambda _: MergeRule(removes=TASK_ITSELF),
    p.ConsentGiven: _given,
    p.ConsentWithdrawn: lambda fact: MergeRule(ends=partial(p.ends, fact)),
    p.ModelsRuled: _ruled,
    le.LessonDecided: _lesson,
    le.WakeRated: lambda fact: MergeRule(((f"rating:{fact.run_key}", fact.stars),), weight=LAST),
    le.ToolRuled: lambda fact: MergeRule(((f"rule:{fact.tool}", fact.is_off),), is_shown=False),
    MemoryFolded: _folded,
    **_always(
        a.AgentObserved, a.AgentProposed, a.AgentSettled, ch.ItemProposed, ch.SetOpened,
        ch.SuppressionAsked, ch.SuppressionDone, ch.LiftAsked, ch.LiftDone, ch.UndoAsked,
        le.WakeRan, ma.ReplicaLabelled, ma.ReplicaLed, ma.ReplicaRetired,
    ),
}  # fmt: skip
"""What counts always: each note, change set and end of a wake of an agent,
what a wake proposed, what came of the operations on labels, each wake that a template ran, that a
confirmation was to be taken back, and what was said of machines, of which their fold takes the
highest term."""

MERGE_RULES: dict[type, RuleOfFact] = {**JOURNAL_RULES, **AGENT_RULES}
