"""What verdicts taught: looked up, brought in from the past, and wakes rated."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from adapters.actions.naming import nth_key, pick, pick_run
from adapters.documents.lessons import RatedRun, scopes
from domain.errors import Remedy
from domain.journal.fold import TASK
from domain.journal.task import PERSON
from domain.keys import key as make_key
from domain.lessons.commands import LEARNT_MAX, LearnVerdicts, PastVerdict, RateRun
from domain.lessons.lessons import CATEGORY, LESSONS, TEMPLATE, LessonDecided
from domain.wake.state import WAKE
from projections.inbox import VIEW as INBOX

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.changes.change_set import Item


def pick_scope(home: "Home", wanted: str) -> str:
    """The scope that the name or id of a category or a template means.

    Raises:
        Refused: Code ``unknown_category`` or ``ambiguous``.
    """
    named = [(one.partition(":")[2], name) for one, name in scopes(home).items()]
    what, see = "category or template", Remedy("see_categories")
    found = pick(wanted, named, what, "unknown_category", see)
    return next(one for one in scopes(home) if one.endswith(":" + found))


def rate_run(home: "Home", wanted: str, stars: int, key: str = "") -> RatedRun:
    """Say from 1 to 5 how good a wake was.

    Args:
        home: Open to write.
        wanted: See `pick_run`.
        stars: 5 is the best.
        key: The caller's.

    Raises:
        Refused: It names no wake, one without a template, or there are no so many stars.
    """
    run_key = pick_run(home, wanted)
    command = RateRun(run_key, stars, PERSON)
    appended = home.services.append_agent(command, key=nth_key(key, 1))
    home.views.catch_up()
    template = home.services.wake(run_key).begun.template
    return RatedRun(run_key, template, stars, unchanged=len(appended.rows) <= 1)


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
    """By scope the verdicts that nothing was learnt of, oldest first."""
    known = set(_known(home))
    found: dict[str, list[tuple[str, PastVerdict]]] = defaultdict(list)
    for scope, changes, item in _decided(home):
        if (scope, changes, item.number) not in known and item.status != "retracted":
            verdict = PastVerdict(changes, item.number, item.status)  # type: ignore[arg-type]
            found[scope].append((item.decided_at, verdict))
    return {
        scope: [one for _, one in sorted(many, key=lambda pair: pair[0])]
        for scope, many in found.items()
    }


def _known(home: "Home") -> Iterator[tuple[str, str, int]]:
    with home.services.agents.reading() as world:
        for scope in world.entities("lessons"):
            for row in world.rows(LESSONS, scope):
                if isinstance(row.fact, LessonDecided):
                    yield scope, row.fact.changes, row.fact.item


def _decided(home: "Home") -> Iterator[tuple[str, str, "Item"]]:
    """Every verdict that stands, in each scope it is of: of tasks without a category in none."""
    journal = home.services.journal

    @cache
    def category(task: str, position: int) -> str:
        return journal.world_at(position).load(TASK, task).category

    for one in home.views.all(INBOX):
        items = [item for item in one.items if item.status in ("confirmed", "rejected", "deferred")]
        if not one.is_opened or not items:
            continue
        with home.services.agents.reading() as world:
            started = world.load(WAKE, one.run_key).started
        for item in items:
            if filed := category(one.task_id, item.position):
                yield CATEGORY + filed, one.id, item
                if started and started.template:
                    yield TEMPLATE + started.template, one.id, item
