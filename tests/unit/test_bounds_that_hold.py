"""Bounds and facts that no other test would miss: each is red where its code is changed."""

import string
from itertools import pairwise

import pytest

from adapters.home.prices import Price
from adapters.home.settings import AgentsSettings, BudgetSettings, Settings
from adapters.runtime import effects, watcher
from adapters.runtime.budgets import Budgets
from adapters.runtime.services import Services
from domain.agent.commands import TakeJournal
from domain.agent.wake_queue import TriggerSuppressed
from domain.append.causes import Receipt
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.edits import set_field
from domain.journal.imported import ImportedTask
from domain.journal.task import FIELDS, PERSON, TASK, Task
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import Words, payload
from domain.ports import Reply, Usage
from domain.text import tokens
from domain.wake import prompt_sections
from domain.wake.reading import ObservationSeen, PromptLimits, Reading, TaskSeen
from tests.histories.acting import woken
from tests.support.services import one_agent, services, task_with_agent

CHAIN = 130  # tasks that block one another; the search looks at a thousand


def test_a_circle_of_many_tasks_is_found_and_a_long_line_is_none() -> None:
    at = services()
    tasks = [at.append_journal(do.CreateTask(f"Step {nth}")).result.ids[0] for nth in range(CHAIN)]
    for one, other in pairwise(tasks[1:]):
        at.append_journal(do.LinkTask(one, "blocks", other))
    at.append_journal(
        do.LinkTask(tasks[0], "blocks", tasks[1])
    )  # what it blocks is walked to its end
    with pytest.raises(Refused, match="already blocks"):
        at.append_journal(do.LinkTask(tasks[-1], "blocks", tasks[0]))


def taken(at: Services) -> TakeJournal:
    """What the watcher took last."""
    watcher.catch_up(at)
    rows = (row.fact for one in at.agents.appends() for row in one)
    commands = [fact.command for fact in rows if isinstance(fact, Receipt)]
    return [one for one in commands if isinstance(one, TakeJournal)][-1]


def test_a_match_through_a_link_is_due_when_the_settings_say() -> None:
    at = services()
    at.settings = Settings(timezone="Europe/Berlin", agents=AgentsSettings(propagated_at="05:30"))
    task, _ = task_with_agent(at)
    at.append_journal(do.EditTask(task, priority="P0"))
    assert taken(at).propagated_due[10:] == "T04:30:00.000000Z"  # in winter


def imported(at: Services, task: str, title: str, *, is_written_back: bool = False) -> None:
    kept = payload(task, canonical.encode(ImportedTask(task, title)))
    refs = (do.ImportedRef(task, kept.id),)
    command = do.ImportTasks("todo.md", refs, is_written_back=is_written_back)
    at.append_journal(command, payloads=[kept])


def test_an_import_is_told_to_agents() -> None:
    at = services()
    task_with_agent(at, "Mend the roof")
    task = key("task", "todo.md", "sink")
    imported(at, task, "Fix the sink")
    told = taken(at).batches[-1]
    assert (told.n, told.origin) == (at.journal.tail().n, "import:todo.md")
    assert f"id:{task}" in told.tokens


@pytest.mark.parametrize(
    ("title", "is_written_back", "is_told"),
    [("As here", False, True), ("As here", True, False), ("Other", True, True)],
)
def test_only_a_file_that_was_made_to_say_what_stands_here_is_no_news(
    title: str, *, is_written_back: bool, is_told: bool
) -> None:
    at = services()
    task = key("task", "todo.md", "sink")
    imported(at, task, "Fix the sink")
    at.append_journal(do.EditTask(task, title="As here"))
    imported(at, task, title, is_written_back=is_written_back)
    told = [one.n for one in taken(at).batches]
    assert (at.journal.tail().n in told) is is_told


def test_an_agents_change_is_told_with_how_many_led_to_it() -> None:
    at, task, agent = one_agent()
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    command = do.ApplyOperation(
        "op", agent, task, "update_task_estimate", Words(), hop=1, categories=(category,)
    )
    assert effects.apply(at, command, '{"minutes":45}').result.status == "applied"
    told = taken(at).batches[-1]
    assert (told.origin, told.hop) == (f"agent:{agent}", 2)
    (suppressed,) = (row.fact for row in at.agents.facts(f"alert:{agent}@r1") if row.n > 2)
    assert isinstance(suppressed, TriggerSuppressed)
    assert (suppressed.rule, suppressed.trigger.hop) == ("own_write", 2)


def test_a_word_is_made_of_letters_and_digits_and_ends_at_every_mark() -> None:
    word = string.ascii_lowercase + string.digits
    assert tokens(word) == (word,)
    assert [
        mark for mark in f"{string.punctuation}«»„“”…–—" if tokens(f"a{mark}b") != ("a", "b")
    ] == []


@pytest.mark.parametrize(
    ("value", "by", "is_said"),
    [("de", "agent:a", False), ("de", PERSON, True), ("fr", "agent:a", True), ("", PERSON, True)],
)
def test_a_person_who_says_an_agents_language_again_has_said_it(
    value: str, by: str, *, is_said: bool
) -> None:
    language = next(one for one in FIELDS if one.kind == "language")
    task = Task("t", exists=True, language="de", language_by="agent:a")
    assert bool(set_field(task, language, value, by)) is is_said
    assert set_field(Task("t", exists=True), language, "", PERSON) == []


@pytest.mark.parametrize(
    ("bound", "kept"), [(0, ""), (1, "4"), (3, "234"), (4, "1234"), (5, "1234")]
)
def test_a_journal_keeps_the_newest_notes_and_counts_what_it_leaves_out(
    bound: int, kept: str
) -> None:
    notes = tuple(ObservationSeen("now", "high", "insight", f"note {nth}") for nth in (1, 2, 3, 4))
    section = prompt_sections.journal(
        Reading(TaskSeen("t", "Roof"), journal=notes), PromptLimits(journal_max=bound)
    )
    assert section is not None
    lines = [one for one in section.text.splitlines() if one.startswith(("- [", "[cut"))]
    left_out = [f"[cut: {4 - len(kept)} older observations]"] if len(kept) < 4 else []
    assert lines == [*left_out, *(f"- [now] (high) note {nth}" for nth in kept)]


@pytest.fixture(scope="module")
def spent() -> tuple[Services, str]:
    """Two wakes of an agent and one of another, and the agent's second wake."""
    used = (Usage(50, 10), Usage(500, 150), Usage(5000, 2000))
    replies = [Reply(raw=b"", text="Fine.", usage=one) for one in used]
    at, _, agent = one_agent([one for one in replies for _ in ("answered", "asked for a report")])
    woken(at, agent)
    at.append_agent(at.request(agent))
    second = woken(at, agent)
    _, other = task_with_agent(at, "Mend the roof")
    woken(at, other)
    return at, second


@pytest.mark.parametrize(
    ("limit", "spends"),
    [
        ("tokens_per_wake", 1300),
        ("tokens_per_agent_day", 1420),
        ("tokens_per_day", 15_420),
        ("cost_per_day", 2 * 11_100 + 3 * 4320),
    ],
)
def test_a_wake_goes_on_below_each_limit_and_waits_for_midnight_at_it(
    spent: tuple[Services, str], limit: str, spends: int
) -> None:
    at, run_key = spent
    wake, now = at.wake(run_key), at.clock.now()
    prices = {wake.begun.model: (Price(2_000_000, 3_000_000),)}
    waits = {
        most: Budgets(
            at.agents, Settings(prices=prices, budget=BudgetSettings(**{limit: most}))
        ).until(wake, now)
        for most in (0, spends - 1, spends, spends + 1)
    }
    midnight = "2027-01-02T00:00:00.000000Z"
    assert waits == {0: "", spends - 1: midnight, spends: midnight, spends + 1: ""}
