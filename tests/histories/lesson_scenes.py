"""A scene of lessons: of verdicts as they are given, of earlier ones, of rated wakes."""

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.changes.commands import DeferItem, RejectItem
from domain.journal.task import PERSON
from domain.lessons.commands import LEARNT_MAX, LearnVerdicts, PastVerdict, RateRun
from domain.lessons.lessons import CATEGORY, TEMPLATE
from tests.histories.acting import NOBODY, Scene, refused, told, twice
from tests.support.lessons import WORK, agent_in, proposed, template, with_categories
from tests.support.scripted_wakes import ended, minutes, woken


def lessons() -> Services:
    """What was decided before is learnt, and again; an agent is told of it; wakes are rated."""
    at = with_categories()
    kept = template(at)
    sets = [proposed(at, WORK, f"Task {nth}", kept=kept) for nth in range(6)]
    for made in sets[:2]:
        told(at, RejectItem(made, 1, PERSON, at.journal.tail().n, "a guess"))
    told(at, DeferItem(sets[2], 1, PERSON, at.journal.tail().n, "later"))
    past = (*(PastVerdict(made, 1, "rejected") for made in sets[:2]),)
    for scope in (CATEGORY + WORK, TEMPLATE + kept):
        twice(at, LearnVerdicts(scope, (*past, PastVerdict(sets[2], 1, "deferred"))))
    refused(at, "invalid_value", LearnVerdicts("", past), LearnVerdicts(CATEGORY, past))
    refused(at, "invalid_value", LearnVerdicts(TEMPLATE + NOBODY, past))
    undecided = PastVerdict(sets[3], 1, "rejected"), PastVerdict(NOBODY, 1, "rejected")
    refused(at, "invalid_value", *(LearnVerdicts(CATEGORY + WORK, (one,)) for one in undecided))
    many = past[:1] * (LEARNT_MAX + 1)
    refused(at, "invalid_value", LearnVerdicts(CATEGORY + WORK, many))

    review.confirm(at, sets[2], 1)
    review.reject(at, sets[3], 1, "A GUESS")
    review.confirm(at, sets[4], 1, edit='{"dueDate":"2027-03-01"}')
    review.defer(at, sets[5], 1, "")
    reader = agent_in(at, WORK, "Reader", kept)[1]
    made = woken(at, reader, *ended(minutes(30)))  # it is told of the six
    run_key = review.changes_of(at, made).run_key
    for stars in (1, 5):
        twice(at, RateRun(run_key, stars, PERSON))
    refused(at, "invalid_value", RateRun(run_key, 0, PERSON), RateRun(run_key, 6, PERSON))
    bare = review.changes_of(at, proposed(at, WORK, "Bare")).run_key
    refused(at, "invalid_value", RateRun(bare, 3, PERSON))
    refused(at, "unknown_wake", RateRun(NOBODY, 3, PERSON))
    return at


SCENES: tuple[Scene, ...] = (lessons,)
