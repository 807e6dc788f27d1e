"""What an agent that improves a template is told of it: facts, counted from the lessons of the
template, and texts of the categories that it may read. Its feedback is of the half of the wakes
that is not kept for trying wordings on (ADR 95)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import asdict

from domain.agent.agent import AGENT, Agent, template_in
from domain.agent.wake_queue import Queued, heeds_moves
from domain.changes.change_set import CHANGES, find, item_named
from domain.errors import Refused
from domain.lessons.lessons import (
    LESSONS,
    TAKEN_BACK,
    TEMPLATE,
    LessonDecided,
    WakeRan,
    WakeRated,
)
from domain.log.keys import key
from domain.log.state import LogState
from domain.policy.flow import may_enter, project
from domain.templates import template as templates
from domain.templates.template import TEMPLATE as TEMPLATE_TYPE
from domain.templates.template import Rehearsed
from domain.tools.improving import PROPOSE
from domain.wake.context import edit_of
from domain.wake.reading import (
    ArmSeen,
    FaredSeen,
    FeedbackSeen,
    FiguresSeen,
    PromptOptions,
    RehearsedSeen,
    TemplateSeen,
    VersionSeen,
)

FACTS_READ = 400  # of the newest the texts are looked up
INSTANCES_READ = 200  # agents whose notes are looked through
FACTS_LEAST = 5  # new ones, for which a timer asks
PLAIN_STARS = 3  # says neither this nor that


def is_held_out(run_key: str) -> bool:
    """Whether a wake is of the half that wordings are tried on, which who improves them never
    sees."""
    return "a" <= key("rehearsal", run_key)[0] < "q"


class Facts(NamedTuple):
    """What the lessons of a template hold: by set and item the last verdict, with its time; by run
    key how a wake ended, and the stars that stand, with their time."""

    decided: Mapping[tuple[str, int], tuple[str, LessonDecided]]
    ran: Mapping[str, WakeRan]
    rated: Mapping[str, tuple[str, int]]


def facts_of(agents: LogState, template: str) -> Facts:
    """The facts of a template; what became of proposals for itself is none of them."""
    decided: dict[tuple[str, int], tuple[str, LessonDecided]] = {}
    ran: dict[str, WakeRan] = {}
    rated: dict[str, tuple[str, int]] = {}
    for row in agents.rows(LESSONS, TEMPLATE + template):
        match row.fact:
            case LessonDecided(tool=tool) as told if tool != PROPOSE:
                name = told.changes, told.item
                known = decided.pop(name, None)
                at = told.at or row.at
                if known and told.at and known[0] > at:
                    decided[name] = known
                elif told.verdict not in TAKEN_BACK:
                    decided[name] = (at, told)
            case WakeRan() as end:
                ran[end.run_key] = end
            case WakeRated(run_key=run_key, stars=stars):
                rated[run_key] = (row.at, stars)
            case _:
                pass
    return Facts(decided, ran, rated)


def count_since(facts: Facts, since: str) -> int:
    """How many facts are newer than a time: verdicts and ratings."""
    times = [at for at, _ in (*facts.decided.values(), *facts.rated.values())]
    return sum(at > since for at in times)


def is_too_few(agents: LogState, agent: Agent, queued: Queued) -> bool:
    """Whether a queued wake of an agent that improves a template need not ask: timers alone made
    it, and hardly anything was decided or rated since its last wake."""
    of = template_in(agent.subject or "")
    if of is None or not heeds_moves(agent, queued):
        return False
    return count_since(facts_of(agents, of), agent.last_wake_at) < FACTS_LEAST


def decided_of(agents: LogState, template: str) -> int:
    """How many proposals of the active version were accepted or declined."""
    active = templates.load(agents, template).active
    told = (one for _, one in facts_of(agents, template).decided.values())
    return sum(one.version == active and one.verdict != "deferred" for one in told)


def template_seen(agents: LogState, agent: Agent, given: PromptOptions) -> TemplateSeen:
    """What a wake is told of its template. Raises Refused, code ``out_of_scope``: it is gone."""
    template = templates.load(agents, template_in(agent.subject or "") or "")
    if template.is_deleted or not template.exists:
        because = f"the template that agent {agent.id} improves is gone"
        raise Refused("out_of_scope", because=because, instead="destroy the agent")
    ordered = sorted(template.versions, key=lambda one: (one != template.version, -one.version))
    facts = facts_of(agents, template.id)
    figures = figures_of(facts, template.active)
    told, others = _feedback(agents, agent, template.id, facts, given.scaffold)
    return TemplateSeen(
        name=template.name,
        versions=tuple(
            VersionSeen(
                one.version,
                one.author,
                agents.text(one.general),
                agents.text(one.report),
                is_active=one == template.version,
            )
            for one in ordered
        ),
        figures=figures,
        rehearsed=_rehearsed(agents, template.id),
        feedback=tuple(one for _, one, _ in told),
        units=tuple(unit for *_, unit in told),
        others=others,
        decided=next((one.decided for one in figures if one.version == template.active), 0),
    )


def _rehearsed(agents: LogState, template: str) -> tuple[RehearsedSeen, ...]:
    """What was tried on past wakes, the newest first."""
    told = [row.fact for row in agents.rows(TEMPLATE_TYPE, template)][::-1]
    return tuple(
        RehearsedSeen(
            one.wakes,
            ArmSeen(**asdict(one.tried)),
            ArmSeen(**asdict(one.control)),
            one.version,
            _summary(agents, one.item),
        )
        for one in told
        if isinstance(one, Rehearsed)
    )


def _summary(agents: LogState, item: str) -> str:
    found = item_named(agents, item) if item else None
    return found.summary if found else ""


def figures_of(facts: Facts, active: int) -> tuple[FiguresSeen, ...]:
    """How each version fared, the active one first, then the newest."""
    tools: dict[int, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for _, one in facts.decided.values():
        if one.verdict != "deferred":
            tools[one.version][one.tool].update(
                decided=1, accepted=int(one.verdict == "confirmed"), edited=int(one.is_edited)
            )
    ends = Counter(one.version for one in facts.ran.values())
    idle = Counter(one.version for one in facts.ran.values() if one.is_noop)
    stars: dict[int, list[int]] = defaultdict(list)
    for run_key, (_, given) in facts.rated.items():
        if run_key in facts.ran:
            stars[facts.ran[run_key].version].append(given)
    versions = sorted({*tools, *ends}, key=lambda one: (one != active, -one))
    return tuple(
        FiguresSeen(
            one,
            wakes=ends[one],
            idle=idle[one],
            decided=sum(each["decided"] for each in tools[one].values()),
            accepted=sum(each["accepted"] for each in tools[one].values()),
            stars=_mean(stars[one]),
            tools=tuple(_fared(tool, tools[one][tool]) for tool in sorted(tools[one])),
        )
        for one in versions
    )


def _fared(tool: str, count: Counter[str]) -> FaredSeen:
    return FaredSeen(tool, count["decided"], count["accepted"], count["edited"])


def _mean(stars: Sequence[int]) -> float | None:
    """To a tenth; whole numbers alone, so that all machines come to the same."""
    return (20 * sum(stars) + len(stars)) // (2 * len(stars)) / 10 if stars else None


Told = tuple[str, FeedbackSeen, str]


def _feedback(
    agents: LogState, agent: Agent, template: str, facts: Facts, scaffold: int
) -> tuple[list[Told], int]:
    """How many were declined without a word, by tool; then facts with a text, or stars, newest
    first, each with its time and the unit of its text; and how many are of categories that may not
    be read."""
    found: list[Told] = []
    bare, others = Counter[str](), 0

    def told(what: str, tool: str = "", version: int = 0, text: str = "", stars: int = 0) -> Any:
        return project("feedback", FeedbackSeen(what, tool, version, text, stars), scaffold)

    newest = sorted(facts.decided.items(), key=lambda one: (one[1][0], one[0]), reverse=True)
    for (set_id, number), (at, one) in newest[:FACTS_READ]:
        changes = agents.load(CHANGES, set_id)
        item = find(changes, number)
        is_told = one.is_edited or one.verdict == "rejected"
        if item is None or not is_told or is_held_out(changes.run_key):
            continue
        if not may_enter(agents.load(AGENT, changes.agent).categories_ever or (), agent):
            others += 1
        elif one.is_edited and item.arguments_now is not None:
            edit = edit_of(agents.text(item.arguments), agents.text(item.arguments_now))
            found.append((at, told("edited", one.tool, one.version, edit), changes.unit))
        elif item.reason:
            found.append((at, told("rejected", one.tool, one.version, item.reason), changes.unit))
        else:
            bare[one.tool] += 1
    for run_key, (at, stars) in facts.rated.items():
        ran = facts.ran.get(run_key)
        if ran and stars != PLAIN_STARS and not is_held_out(run_key):
            found.append((at, told("rated", version=ran.version, stars=stars), ""))
    found += [
        (at, told("noted", text=text), unit) for at, text, unit in _noted(agents, agent, template)
    ]
    found.sort(key=lambda one: (one[0], one[1].what, one[1].text), reverse=True)
    without = "declined without a reason"
    counts = [("", told(without, tool, text=f"{bare[tool]} times"), "") for tool in sorted(bare)]
    return [*counts, *found], others


def _noted(agents: LogState, agent: Agent, template: str) -> Iterator[tuple[str, str, str]]:
    """What agents that live on the template noted as important about it: when, what, and whose
    text it is."""
    for one in agents.load(TEMPLATE_TYPE, template).instances[-INSTANCES_READ:]:
        other = agents.load(AGENT, one)
        if not may_enter(other.categories_ever or (), agent):
            continue
        for note in other.critical:
            if note.category == "template_improvement" and not is_held_out(note.run_key):
                yield note.at, agents.text(note.words), other.unit
