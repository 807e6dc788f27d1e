"""Lessons: what verdicts, ends of wakes and ratings teach, in the append that they are made in."""

from collections.abc import Iterable

from domain.agent.agent import AGENT, Agent, template_in
from domain.agent.deciders import at_most
from domain.append.causes import Result
from domain.changes import change_set as c
from domain.errors import invalid
from domain.handlers.decided import Decision, Event, after, on
from domain.handlers.journal import Handler
from domain.lessons import commands as do
from domain.lessons import lessons as l
from domain.lessons.lessons import LESSONS, LessonDecided, LessonVerdict
from domain.log.state import LogState
from domain.log.wire import Stored
from domain.tools import registry
from domain.wake.wake import Wake, WakeFinished, anyones


def of_verdicts(
    world: LogState, changes: c.ChangeSet, facts: Iterable[Stored], category: str = ""
) -> list[Event]:
    """What the verdicts among a set's new facts teach: its category, and its wake's template.

    `changes`: the set as it was before them. `facts`: what was decided about it. `category`: as the
    command named it; a confirmed item's stands in its intent. Empty: nothing is learnt."""
    events: list[Event] = []
    for fact in facts:
        match fact:
            case c.ItemRejected():
                events += _taught(world, changes, fact.item, "rejected", category)
            case c.ItemDeferred():
                events += _taught(world, changes, fact.item, "deferred", category)
            case c.ItemReopened():
                events += _taught(world, changes, fact.item, "reopened", category)
            case c.ItemConfirmed():
                item = c.find(changes, fact.item)
                under_way = (item.asked, item.held) if item else ()
                named = (one.category for one in under_way if isinstance(one, c.ItemConfirming))
                events += _taught(world, changes, fact.item, "confirmed", next(named, ""))
            case c.ItemUndone(code=""):
                asked = intent(world, changes, fact.item, fact.undoes)
                category = asked.category if asked else ""
                events += _taught(world, changes, fact.item, "undone", category)
            case _:
                pass
    return events


def intent(
    world: LogState, changes: c.ChangeSet, item: int, operation: str
) -> c.ItemConfirming | None:
    """The first intent of a confirmation, by the operation that it asked for."""
    asked = (row.fact for row in world.history(c.CHANGES.name, changes.id))
    mine = (one for one in asked if isinstance(one, c.ItemConfirming) and one.item == item)
    return next((one for one in mine if one.operation == operation), None)


def _taught(
    world: LogState, changes: c.ChangeSet, number: int, verdict: LessonVerdict, category: str
) -> list[Event]:
    of = _improved(world, changes)
    if not category and not of:
        return []
    told = _told(world, changes, number, verdict)
    scopes = [l.CATEGORY + category] if category else []
    scopes += [l.TEMPLATE + told.template] if told.template else []
    return [
        event
        for scope in scopes
        for event in on(world, "lessons", scope, l.decide(world.load(LESSONS, scope), told))
    ]


def _improved(world: LogState, changes: c.ChangeSet) -> str:
    """The template that a set would improve; empty of any other."""
    if changes.task:
        return ""
    return template_in(world.load(AGENT, changes.agent).subject or "") or ""


def _told(
    world: LogState, changes: c.ChangeSet, number: int, verdict: LessonVerdict, at: str = ""
) -> LessonDecided:
    """The lesson of a verdict."""
    item = c.find(changes, number)
    begun = anyones(world, changes.run_key).started
    return LessonDecided(
        changes.id,
        number,
        item.tool if item else "",
        verdict,
        is_edited=verdict == "confirmed" and item is not None and item.arguments_now is not None,
        template=(begun.template if begun else "") or _improved(world, changes),
        version=begun.template_version if begun else 0,
        model=begun.model if begun else "",
        at=at,
    )


def of_end(world: LogState, agent: Agent, wake: Wake, finished: WakeFinished) -> list[Event]:
    """What the end of a wake tells of its template.

    `agent`: its agent, with what the wake observed. `wake`: as it is then. `finished`: how it
    ended."""
    begun = wake.begun
    if not (wake.features.has_lessons and begun.template):
        return []
    has_done = (
        wake.is_material
        or wake.report is not None
        or bool(wake.retractions)
        or any(one.run_key == wake.run_key for one in agent.observations)
    )
    is_noop = finished.outcome == "completed" and not has_done
    ran = l.WakeRan(wake.run_key, begun.template_version, finished.outcome, is_noop=is_noop)
    return on(world, "lessons", l.TEMPLATE + begun.template, [ran])


def rate(cause: do.RateRun, key: str, at: str, world: LogState) -> Decision:
    wake = anyones(world, cause.run_key)
    agent = world.load(AGENT, wake.begun.agent)
    template = wake.begun.template or template_in(agent.subject or "")
    if not template:
        because = f"the wake {cause.run_key} ran without a template"
        raise invalid(because, "rate a wake of an agent that lives on one")
    scope = l.TEMPLATE + template
    facts = l.rate(world.load(LESSONS, scope), cause.run_key, cause.stars)
    return Decision(on(world, "lessons", scope, facts), Result((cause.run_key,)))


def learn(cause: do.LearnVerdicts, key: str, at: str, world: LogState) -> Decision:
    """Verdicts as their sets have them; what is known already is left alone."""
    if not cause.scope.partition(":")[2] or not cause.scope.startswith((l.CATEGORY, l.TEMPLATE)):
        raise invalid(f"{cause.scope!r} is no scope of lessons", "name a category or a template")
    at_most(do.LEARNT_MAX, len(cause.verdicts), "verdicts of one command")
    known = world.load(LESSONS, cause.scope)
    learnt: list[l.LessonsFact] = []
    for past in cause.verdicts:
        facts = l.decide(known, _checked(world, cause.scope, past))
        known = after(world, LESSONS, known, facts, at)
        learnt += facts
    return Decision(on(world, "lessons", cause.scope, learnt), Result((cause.scope,)))


def _checked(world: LogState, scope: str, past: do.PastVerdict) -> LessonDecided:
    changes = world.load(c.CHANGES, past.changes)
    item = c.find(changes, past.item)
    if item is None or not changes.is_opened or item.status != past.verdict:
        because = f"item {past.item} of the set {past.changes} is not {past.verdict}"
        raise invalid(because, "learn what stands in the set")
    told = _told(world, changes, past.item, past.verdict, item.decided_at)
    if scope.startswith(l.TEMPLATE) and scope != l.TEMPLATE + told.template:
        because = f"the set {past.changes} was not proposed by a wake of this template"
        raise invalid(because, "learn it in its own scope")
    return told


def rule(cause: do.RuleTool, key: str, at: str, world: LogState) -> Decision:
    if cause.tool not in registry.PROPOSED:
        because = f"{cause.tool!r} is no change that agents propose"
        raise invalid(because, f"name one of {', '.join(sorted(registry.PROPOSED))}")
    scope = l.CATEGORY + cause.category
    facts = l.rule(world.load(LESSONS, scope), cause.tool, is_off=cause.is_off)
    return Decision(on(world, "lessons", scope, facts), Result((scope,)))


HANDLERS: dict[type, Handler] = {do.RateRun: rate, do.LearnVerdicts: learn, do.RuleTool: rule}
