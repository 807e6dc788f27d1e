"""What an agent may read: its own task, direct links in its categories, and nothing else."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from domain.agent.agent import AgentObservation
from domain.agent.wake_queue import Trigger
from domain.changes.change_set import ChangeItem, ChangeSet
from domain.errors import Refused
from domain.journal import catalog as c
from domain.journal import task as t
from domain.log.wire import Words
from domain.wake.reading import (
    ChangeSeen,
    CorrectionSeen,
    LabelSeen,
    LinkedAgent,
    LinkSeen,
    PromptLimits,
    WakeReason,
)
from tests.support.readings import (
    AGENT,
    AT,
    HOME,
    ROOF,
    WORK,
    Book,
    add_link,
    add_note,
    add_task,
    household,
    read,
)


def ids(labels: tuple[LabelSeen, ...]) -> list[str]:
    return [label.id for label in labels]


# ------------------------------------------------------------------------------------ scope


@pytest.mark.parametrize(
    ("fact", "code"),
    [(t.CategorySet("person", WORK), "out_of_scope"), (t.TaskDeleted("person"), "task_deleted")],
)
def test_a_task_elsewhere_or_deleted_is_not_read_and_not_named(fact: t.TaskFact, code: str) -> None:
    book = household()
    book.tell("task", ROOF, fact)
    with pytest.raises(Refused) as refused:
        read(book)
    assert refused.value.code == code
    assert "Mend" not in str(refused.value)


@pytest.mark.parametrize("categories", [(), ("",)])
def test_without_a_category_nothing_is_read(categories: tuple[str, ...]) -> None:
    book = Book()
    for code in ("unknown_task", "out_of_scope"):
        with pytest.raises(Refused) as refused:
            read(book, replace(AGENT, categories=categories))
        assert refused.value.code == code
        add_task(book, ROOF, "Mend the roof", "")


# ------------------------------------------------------------------------------------ links


def test_links_are_read_in_both_directions_as_seen_from_the_task() -> None:
    book = household()
    add_task(book, "task-bank", "Ask the bank", HOME)
    add_task(book, "task-paint", "Paint", HOME)
    add_link(book, ROOF, "blocks", "task-paint")
    add_link(book, "task-bank", "blocks", ROOF)
    linked = read(book, linked_agents={"task-bank": LinkedAgent("Waiting for the bank")}).linked
    assert linked == (
        LinkSeen("blocks", "task-paint", "Paint", "OPEN", "P2"),
        LinkSeen(
            "is_blocked_by", "task-bank", "Ask the bank", "OPEN", "P2", "Waiting for the bank"
        ),
    )


def test_a_link_that_stands_in_both_directions_is_read_once() -> None:
    book = household()
    add_task(book, "task-paint", "Paint", HOME)
    add_link(book, ROOF, "relates_to", "task-paint")
    add_link(book, "task-paint", "relates_to", ROOF)
    (one,) = read(book).linked
    assert (one.relation, one.id) == ("relates_to", "task-paint")


def test_links_of_links_are_not_read() -> None:
    book = household()
    add_task(book, "task-near", "Near", HOME)
    add_task(book, "task-far", "Far away", HOME)
    add_link(book, ROOF, "blocks", "task-near")
    add_link(book, "task-near", "blocks", "task-far")
    assert [link.id for link in read(book).linked] == ["task-near"]


def test_of_a_link_outside_the_categories_only_the_relation_is_read() -> None:
    book = household()
    add_task(book, "task-secret", "Negotiate my salary", WORK)
    book.tell("task", "task-secret", t.TaskDescribed("person", Words("very private")))
    add_link(book, ROOF, "relates_to", "task-secret")
    add_link(book, "task-secret", "fixes", ROOF)
    token = Trigger("subscription", "s1", tokens=("id:task-secret",), is_propagated=True)
    reading = read(
        book,
        replace(AGENT, position=1),
        asked=WakeReason("subscription", (token,)),
        linked_agents={"task-secret": LinkedAgent("Salary talks are on")},
    )
    assert reading.linked == (LinkSeen("relates_to"), LinkSeen("is_fixed_by"))
    assert reading.hidden == 1
    seen = msgspec.json.encode(reading).lower()
    for word in (b"salary", b"private", b"task-secret", WORK.encode()):
        assert word not in seen


@pytest.mark.parametrize(
    ("category", "expected"),
    [(HOME, LinkSeen("blocks", is_deleted=True)), (WORK, LinkSeen("blocks"))],
)
def test_of_a_deleted_linked_task_no_text_is_read(category: str, expected: LinkSeen) -> None:
    book = household()
    add_task(book, "task-gone", "Old plan", category)
    add_link(book, ROOF, "blocks", "task-gone")
    book.tell("task", "task-gone", t.TaskDeleted("person"))
    assert read(book).linked == (expected,)


# ------------------------------------------------------------------------------------- task


def test_only_the_newest_payloads_that_can_fit_are_read() -> None:
    book = household()
    for number in range(100):
        add_note(book, f"note-{number}", f"{number} " + "x" * 5_000, at=AT.format(1 + number % 28))
    limits = PromptLimits(prompt_max_bytes=20_000, entry_max_bytes=4_000)
    task = read(book, limits=limits).task
    assert len(book.payloads_read) == len(task.log) == 5
    assert task.log_unread == 95
    assert [entry.at for entry in task.log] == sorted(entry.at for entry in task.log)
    assert task.log[-1].at == AT.format(28)


# --------------------------------------------------------------------- labels and corrections


def test_available_are_living_labels_in_scope_that_are_neither_assigned_nor_suppressed() -> None:
    book = household()
    for label in ("garden", "old", "urgent"):
        book.tell("catalog", "main", c.LabelAdded(f"label-{label}", label, (HOME,)))
    book.tell("catalog", "main", c.LabelDeleted("label-old"))
    book.tell("task", ROOF, t.LabelAssigned("person", "label-money"))
    book.tell("task", ROOF, t.LabelSuppressed("person", "label-urgent"))
    reading = read(book)
    assert ids(reading.available) == ["label-garden", "label-house"]
    assert ids(reading.suppressed) == ["label-urgent"]
    assert reading.task.labels == (LabelSeen("label-money", "money"),)


def test_corrections_are_of_the_tasks_category_newest_first() -> None:
    book = household()
    for category, before, after in (
        (HOME, "ruf", "roof"),
        (WORK, "x", "y"),
        (HOME, "tils", "tiles"),
    ):
        pair = c.CorrectionCaptured(category, book.keep(before), book.keep(after))
        book.tell("catalog", "main", pair)
    expected = (CorrectionSeen("tils", "tiles"), CorrectionSeen("ruf", "roof"))
    assert read(book).corrections == expected


@pytest.mark.parametrize(
    ("task", "category", "expected"), [("de", "fr", "de"), ("", "fr", "fr"), ("", "", "")]
)
def test_the_report_is_in_the_tasks_language_or_the_categorys(
    task: str, category: str, expected: str
) -> None:
    book = Book()
    book.tell("catalog", "main", c.CategoryAdded(HOME, "Home", category))
    add_task(book, ROOF, "Mend the roof", HOME)
    book.tell("task", ROOF, t.LanguageSet("person", task))
    assert read(book).language == expected


# ------------------------------------------------------------------- journal and proposals


def observation(day: int, priority: Any = "routine") -> AgentObservation:
    return AgentObservation(AT.format(day), "run", Words(f"day {day}"), priority, "operational")


def test_the_journal_is_the_newest_with_all_critical_ones_before_them() -> None:
    window = (observation(5), observation(6, "critical"), observation(7))
    critical = (observation(1, "critical"), observation(6, "critical"))
    reading = read(household(), replace(AGENT, observations=window, critical=critical))
    assert [one.text for one in reading.journal] == ["day 1", "day 5", "day 6", "day 7"]
    assert [one.text for one in reading.critical] == ["day 1", "day 6"]


def item(number: int, status: Any, day: int = 0, reason: str = "", edited: str = "") -> ChangeItem:
    at = AT.format(day) if day else ""
    return ChangeItem(
        number,
        "update_task_estimate",
        Words("{}"),
        f"Summary {number}",
        f"fp{number}",
        "",
        "",
        status=status,
        decided_at=at,
        reason=reason,
        arguments_now=Words(edited) if edited else None,
    )


def test_a_set_of_another_task_or_not_yet_opened_is_not_read() -> None:
    hidden = [
        ChangeSet("s1", task="task-other", is_opened=True, items=(item(1, "pending"),)),
        ChangeSet("s2", task=ROOF, is_opened=False, items=(item(2, "pending"),)),
    ]
    assert read(household(), sets=hidden).proposals == ()


# ------------------------------------------------------------------------------- what changed


def test_changes_are_the_facts_after_the_agents_position_and_not_its_own() -> None:
    book = household()
    agent = replace(AGENT, position=book.n)
    book.tell("task", ROOF, t.StatusSet("person", "IN PROGRESS"))
    book.tell("task", ROOF, t.EstimateSet("agent:agent-roof", 60))
    book.tell("task", ROOF, t.EstimateSet("agent:someone", 90))
    for _ in range(2):
        book.tell("task", ROOF, t.ItemRetitled("import:notes.md", "item-1", "Tiles"))
    assert read(book, agent).changes == (
        ChangeSeen("item-1", "item_retitled by import", 2),
        ChangeSeen(ROOF, "estimate_set by another agent"),
        ChangeSeen(ROOF, "status_set by person"),
    )


def test_a_trigger_adds_what_no_fact_tells() -> None:
    book = household()
    add_task(book, "task-bank", "Ask the bank", HOME)
    add_link(book, "task-bank", "blocks", ROOF)
    agent = replace(AGENT, position=book.n)
    book.tell("task", ROOF, t.StatusSet("person", "IN PROGRESS"))
    direct = Trigger("subscription", "s1", tokens=(f"id:{ROOF}", "key:TASK"))
    through = Trigger("subscription", "s1", tokens=("id:task-bank",), is_propagated=True)
    reading = read(book, agent, asked=WakeReason("subscription", (direct, through)))
    assert reading.changes == (
        ChangeSeen("key:TASK", "changed"),
        ChangeSeen("task-bank", "changed, through a link"),
        ChangeSeen(ROOF, "status_set by person"),
    )
    assert reading.hidden == 0
