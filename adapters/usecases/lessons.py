"""What verdicts taught: looked up, brought in from the past, and wakes rated."""

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, get_args

from adapters.documents.lessons import RatedRun, scopes
from adapters.documents.tasks import catalog_of, category_named
from adapters.text.agent_output import ruled_text
from adapters.usecases.resolve import append_to_agents, pick, pick_run
from domain.agent.agent import template_in
from domain.errors import Remedy
from domain.journal.task import PERSON
from domain.lessons.commands import LEARNT_MAX, LearnVerdicts, PastVerdict, RateRun, RuleTool
from domain.lessons.lessons import CATEGORY, LESSONS, TEMPLATE, LessonDecided, LessonVerdict
from domain.log.keys import key as make_key
from domain.wake.wake import Wake, anyones
from projections.inbox import VIEW as INBOX
from projections.inbox import SetDocument

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.changes.change_set import ChangeItem

VERDICTS: Final[dict[str, LessonVerdict]] = {one: one for one in get_args(LessonVerdict)}


def pick_scope(home: "Home", wanted: str) -> str:
    """The scope that the name or id of a category or a template means. Raises Refused, code
    ``unknown_category`` or ``ambiguous``."""
    named = [(one.partition(":")[2], name) for one, name in scopes(home).items()]
    what, see = "category or template", Remedy("see_categories")
    found = pick(wanted, named, what, "unknown_category", see)
    return next(one for one in scopes(home) if one.endswith(":" + found))


def rate_run(home: "Home", wanted: str, stars: int, key: str = "") -> RatedRun:
    """Say from 1 to 5 how good a wake was. `wanted`: see `pick_run`; `stars`: 5 is the best. Raises
    Refused: it names no wake, one without a template, or there are no so many stars."""
    run_key = pick_run(home, wanted).partition("@")[0]
    is_news = append_to_agents(home, RateRun(run_key, stars, PERSON), key)
    begun = _wake(home, run_key).begun
    of = template_in(home.services.agent(begun.agent).subject or "")
    template = begun.template or of or ""
    return RatedRun(run_key, template, stars, unchanged=not is_news)


def rule_tool(home: "Home", wanted: str, tool: str, *, is_off: bool, key: str = "") -> str:
    """Have no more items of a tool proposed in a category, or have them again; what was done, in
    words. `wanted`: the category, by name or id; `tool`: as items bear it. Raises Refused: there is
    no such category, or no such tool."""
    category = category_named(catalog_of(home), wanted)
    is_news = append_to_agents(home, RuleTool(category.id, tool, is_off), key)
    return ruled_text(tool, category.name, is_off=is_off, is_news=is_news)


def _wake(home: "Home", run_key: str) -> "Wake":
    """The wake of a run key, whichever machine ran it."""
    with home.services.agents.reading() as world:
        return anyones(world, run_key)


def learn_history(home: "Home") -> int:
    """Learn the verdicts that were given before lessons were kept; how many lessons there are of
    them. What is learnt already is left alone, so once more does nothing."""
    learnt = 0
    for scope, verdicts in sorted(_unlearnt(home).items()):
        for at in range(0, len(verdicts), LEARNT_MAX):
            portion = tuple(verdicts[at : at + LEARNT_MAX])
            names = (f"{one.changes}.{one.item}.{one.verdict}" for one in portion)
            own = make_key("learn_verdicts", scope, *names)
            home.services.append_agent(LearnVerdicts(scope, portion), key=own)
            learnt += len(portion)
    home.views.catch_up()
    return learnt


def _unlearnt(home: "Home") -> dict[str, list[PastVerdict]]:
    """By scope the verdicts that nothing was learnt of, oldest first; of tasks that were in no
    category then, none."""
    known = _known(home)
    found: dict[str, list[tuple[str, PastVerdict]]] = defaultdict(list)
    for one, item in _decided(home):
        past = PastVerdict(one.id, item.number, VERDICTS[item.status])
        for scope in _scopes(home, one, item.position):
            if (scope, one.id, item.number) not in known:
                found[scope].append((item.decided_at, past))
    aged = ((scope, sorted(many, key=lambda pair: pair[0])) for scope, many in found.items())
    return {scope: [one for _, one in pairs] for scope, pairs in aged}


def _decided(home: "Home") -> Iterator[tuple[SetDocument, "ChangeItem"]]:
    for one in home.views.all(INBOX):
        if one.is_opened:
            yield from ((one, item) for item in one.items if item.status in VERDICTS)


def _known(home: "Home") -> set[tuple[str, str, int]]:
    with home.services.agents.reading() as world:
        return {
            (scope, row.fact.changes, row.fact.item)
            for scope in world.entities("lessons")
            for row in world.rows(LESSONS, scope)
            if isinstance(row.fact, LessonDecided)
        }


def _scopes(home: "Home", one: SetDocument, position: int) -> list[str]:
    """Where a verdict belongs that was given at a position of the journal."""
    from adapters.runtime.review import category_at  # only to learn: who reads loads no runtime

    if not (category := category_at(home.services, one.task_id, position)):
        return []
    started = _wake(home, one.run_key).started
    template = started.template if started else ""
    return [CATEGORY + category, *([TEMPLATE + template] if template else [])]
