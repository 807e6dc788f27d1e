"""Laws of lessons: nothing of another category, the count of the rows, any order, once.

That logs of before prove unchanged is held by `tests/histories/recorded`.
"""

import json
import random
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.documents.lessons import lesson_lines
from adapters.runtime import review
from adapters.runtime.services import Services
from adapters.usecases.lessons import learn_history
from adapters.wiring import Home, open_home
from domain.changes.commands import RejectItem
from domain.errors import Refused
from domain.journal import commands as j
from domain.lessons.commands import LEARNT_MAX, LearnVerdicts, PastVerdict
from domain.lessons.lessons import (
    CATEGORY,
    LESSONS,
    TEMPLATE,
    VERDICTS_KEPT,
    LessonDecided,
    Lessons,
)
from domain.log.state import RecordedEvent
from domain.log.timestamps import later
from projections.inbox import VIEW as INBOX
from tests.support.lessons import (
    HEALTH,
    WORK,
    agent_in,
    decided_in,
    proposed,
    proved,
    section,
    template,
    with_categories,
)
from tests.support.scripted_wakes import call, ended, minutes, woken
from tests.support.services import START, TickingClock

DUE = call("update_task_due_date", dueDate="2027-02-01")


# ---------------------------------------------------------------------------- 1: other categories


def test_nothing_of_another_category_changes_a_byte_of_the_section() -> None:
    at = with_categories()
    kept = template(at)
    for nth in range(6):
        review.reject(at, proposed(at, WORK, f"Task {nth}", kept=kept), 1, "a guess")
    _, reader = agent_in(at, WORK, "Reader", kept)
    told = section(at, reader)
    assert "0 of 6 accepted" in told
    for nth in range(6):
        made = proposed(at, HEALTH, f"Other {nth}", DUE, minutes(60), kept=kept)
        review.reject(at, made, 1, f"because of reason {nth % 2}")
        review.confirm(at, made, 2, edit='{"minutes":90}')
        at.append_journal(j.EditTask(review.changes_of(at, made).task, title=f"Renamed {nth}"))
    assert section(at, reader) == told


# ------------------------------------------------------------------------- 2: an independent count


def counted(at: Services) -> dict[str, Counter[tuple[str, str]]]:
    """By category, the last verdicts by tool: from the bytes of the rows, with no code of ours."""
    moves: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in at.journal.rows():
        told = json.loads(row.state)
        if told["data"]["kind"] in ("task.created.1", "task.category_set.1"):
            moves[row.stream[5:37]].append((told["n"], told["data"]["category"]))
    tools: dict[tuple[str, int], str] = {}
    task_of: dict[str, str] = {}
    last: dict[tuple[str, int], tuple[str, int]] = {}
    seen_at = 0
    for row in at.agents.rows():
        data = json.loads(row.state)["data"]
        made = row.stream[8:40]
        match data["kind"]:
            case "receipt.1":
                seen_at = data["command"].get("position", seen_at)
            case "changes.item_proposed.1":
                tools[made, data["item"]] = data["tool"]
            case "changes.opened.1":
                task_of[made] = data["task"]
            case "changes.item_confirming.1":
                last[made, -data["item"]] = "", seen_at  # where it was decided
            case "changes.item_confirmed.1":
                last[made, data["item"]] = "confirmed", last[made, -data["item"]][1]
            case "changes.item_reopened.1":
                last[made, data["item"]] = "", 0
            case "changes.item_rejected.1" | "changes.item_deferred.1" as kind:
                last[made, data["item"]] = kind[13:-2], data["position"]
    found: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for (made, item), (verdict, position) in last.items():
        if verdict:
            category = [one for n, one in moves[task_of[made]] if n <= position][-1]
            found[category][tools[made, item], verdict] += 1
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_fold_counts_what_stands_in_the_rows(seed: int) -> None:
    dice = random.Random(seed)
    at = with_categories()
    waiting: list[tuple[str, str, int]] = []
    for nth in range(8):
        task, agent = agent_in(at, dice.choice((WORK, HEALTH)), f"Task {nth}")
        made = woken(at, agent, *ended(DUE, minutes(30 + nth)))
        waiting += [(task, made, 1), (task, made, 2)]
    dice.shuffle(waiting)
    for task, made, item in waiting:
        if dice.random() < 0.3:
            at.append_journal(j.EditTask(task, category=dice.choice((WORK, HEALTH))))
        match dice.randrange(5):
            case 4:
                review.reject(at, made, item, "no")
                review.reopen(at, made, item)
            case 0:
                review.reject(at, made, item, dice.choice(("", "no")))
            case 1:
                review.defer(at, made, item, "")
                review.confirm(at, made, item)
            case 2:
                review.defer(at, made, item, "later")
            case _:
                review.confirm(at, made, item, is_anyway=True)
    with at.agents.reading() as world:
        folds = [world.load(LESSONS, CATEGORY + one) for one in (WORK, HEALTH)]
    folded = {
        one.id.removeprefix(CATEGORY): Counter(
            (tool, lesson.verdict) for tool, lessons in one.tools.items() for lesson in lessons
        )
        for one in folds
    }
    assert {name: one for name, one in folded.items() if one} == counted(at)
    assert proved(at) == ()


# -------------------------------------------------------------------------------- 3: in any order


def folded(facts: list[tuple[str, LessonDecided]]) -> Lessons:
    state = LESSONS.initial("category:a")
    for at, fact in facts:
        state = LESSONS.evolve(state, RecordedEvent("", 0, "", 0, 0, at, fact))
    return state


@settings(max_examples=30)
@given(st.integers(1, VERDICTS_KEPT + 20), st.randoms(use_true_random=False))
def test_the_order_of_verdicts_on_different_items_does_not_matter(
    count: int, dice: random.Random
) -> None:
    told = [
        (
            later(START, seconds=dice.randrange(20)),
            LessonDecided(f"set-{nth}", 1, "tool", dice.choice(("confirmed", "rejected"))),
        )
        for nth in range(count)
    ]
    in_order = folded(told)
    dice.shuffle(told)
    assert folded(told) == in_order
    assert len(in_order.tools["tool"]) == min(count, VERDICTS_KEPT)


# --------------------------------------------------------------------------- 4: the past, but once


def home_of_before(path: Path) -> Home:
    """Verdicts that no lesson was kept of, more than one command takes."""
    home = open_home(path, {})
    at = home.services
    at.clock = TickingClock()
    for name in ("Work", "Health"):
        at.append_journal(j.AddCategory(name))
    kept = template(at)
    many = call("add_multiple_checklist_items", items=[{"title": f"Item {n}"} for n in range(20)])
    left = LEARNT_MAX + 5
    for nth in range(11):
        made = proposed(at, WORK, f"Task {nth}", many, kept=kept)
        items = review.changes_of(at, made).items
        for one in items[:left]:
            position = at.journal.tail().n
            at.append_agent(RejectItem(made, one.number, "person", position, "too fine"))
        left -= len(items[:left])
    at.append_journal(j.EditTask(review.changes_of(at, made).task, category=HEALTH))
    home.views.catch_up()
    return home


def test_the_past_is_learnt_once_where_it_was_decided_and_each_verdict_is_checked(
    tmp_path: Path,
) -> None:
    with closing(home_of_before(tmp_path)) as home:
        at = home.services
        assert learn_history(home) == 2 * (LEARNT_MAX + 5)  # in the category, and in the template
        n = at.agents.tail().n
        assert learn_history(home) == 0
        assert at.agents.tail().n == n
        assert decided_in(at, CATEGORY + HEALTH, "add_checklist_item") == []
        assert len(decided_in(at, CATEGORY + WORK, "add_checklist_item")) == VERDICTS_KEPT
        lines = lesson_lines(home)
        assert [(one.name, one.rejected) for one in lines] == [("Work", 50), ("Calm", 50)]
        assert [(one.text, one.count) for one in lines[0].reasons] == [("too fine", 30)]
        assert proved(at) == ()
        made = home.views.all(INBOX)[0]
        wrong = PastVerdict(made.id, 1, "confirmed")
        with pytest.raises(Refused, match="is not confirmed"):
            at.append_agent(LearnVerdicts(CATEGORY + WORK, (wrong,)))
        right = PastVerdict(made.id, 1, "rejected")
        with pytest.raises(Refused, match="of this template"):
            at.append_agent(LearnVerdicts(TEMPLATE + "other", (right,)))
        at.append_agent(LearnVerdicts(CATEGORY + HEALTH, (right,)))
        (found,) = proved(at)
        assert (found.path, found.expected, found.actual) == (
            "data.command.verdicts[0]",
            WORK,
            HEALTH,
        )
