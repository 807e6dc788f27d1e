"""What an agent may read: its own task, direct links in its categories, and nothing else."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from domain.agent.agent import AgentObservation, AgentTimer, Slot
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
    ProposalSeen,
    TimerSeen,
    VerdictSeen,
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


def test_a_task_outside_the_agents_categories_is_not_read() -> None:
    book = household()
    book.tell("task", ROOF, t.CategorySet("person", WORK))
    with pytest.raises(Refused) as refused:
        read(book)
    assert refused.value.code == "out_of_scope"
    assert "Mend" not in str(refused.value)


@pytest.mark.parametrize("categories", [(), ("",)])
def test_without_a_category_nothing_is_read(categories: tuple[str, ...]) -> None:
    book = Book()
    add_task(book, ROOF, "Mend the roof", "")
    with pytest.raises(Refused) as refused:
        read(book, replace(AGENT, categories=categories))
    assert refused.value.code == "out_of_scope"


def test_a_deleted_task_is_not_read() -> None:
    book = household()
    book.tell("task", ROOF, t.TaskDeleted("person"))
    with pytest.raises(Refused) as refused:
        read(book)
    assert refused.value.code == "task_deleted"


def test_a_task_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        read(Book())
    assert refused.value.code == "unknown_task"


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


def test_a_link_to_a_task_that_never_came_shows_the_relation() -> None:
    book = household()
    add_link(book, ROOF, "blocks", "task-nowhere")
    assert read(book).linked == (LinkSeen("blocks"),)


def test_links_of_links_are_not_read() -> None:
    book = household()
    add_task(book, "task-near", "Near", HOME)
    add_task(book, "task-far", "Far away", HOME)
    add_link(book, ROOF, "blocks", "task-near")
    add_link(book, "task-near", "blocks", "task-far")
    assert [link.id for link in read(book).linked] == ["task-near"]


# ------------------------------------------------------------------------------------- task


def test_the_task_is_read_with_who_did_what() -> None:
    book = household()
    book.tell(
        "task",
        ROOF,
        t.LanguageSet("import:notes.md", "de"),
        t.ItemAdded("agent:agent-roof", "list-1", "item-1", "Buy tiles"),
        t.ItemChecked("import:notes.md", "item-1"),
        t.TimeLogged("person", "time-1", AT.format(1), "2027-03-01T09:01:50.000000Z"),
        t.TimeLogged("person", "time-2", AT.format(2), "2027-03-02T09:00:20.000000Z"),
        t.TimeStarted("person", "time-3", AT.format(3)),
    )
    task = read(book).task
    assert (task.language, task.language_by) == ("de", "person")
    assert [(item.id, item.is_checked, item.checked_by) for item in task.items] == [
        ("item-1", True, "import")
    ]
    assert task.minutes_spent == 2


def test_the_log_is_oldest_first_by_when_it_was_recorded() -> None:
    book = household()
    add_note(book, "note-new", "new", at=AT.format(20))
    add_note(book, "note-old", "old", at=AT.format(10), by="import:notes.md")
    log = read(book).task.log
    assert [(entry.text, entry.by) for entry in log] == [("old", "import"), ("new", "person")]


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


def test_a_deleted_label_stays_on_the_task_and_is_no_longer_named_as_suppressed() -> None:
    book = household()
    book.tell("task", ROOF, t.LabelAssigned("person", "label-money"))
    book.tell("task", ROOF, t.LabelSuppressed("person", "label-house"))
    gone = (c.LabelDeleted("label-money"), c.LabelDeleted("label-house"))
    book.tell("catalog", "main", *gone)
    reading = read(book)
    assert ids(reading.task.labels) == ["label-money"]
    assert ids(reading.suppressed) == ids(reading.available) == []


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


def test_observations_are_read_from_the_agents_log() -> None:
    agents = Book("agent")
    long = AgentObservation(
        AT.format(1), "run", agents.words("x" * 2_000), "notable", "operational"
    )
    reading = read(household(), replace(AGENT, observations=(long,)), agents=agents)
    assert reading.journal[0].text == "x" * 2_000


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


def test_open_items_keep_their_order_and_verdicts_are_newest_first() -> None:
    items = (
        item(1, "rejected", 3, "too early"),
        item(2, "pending"),
        item(3, "deferred", 5, "next week"),
        item(4, "confirmed", 4, edited='{"minutes":60}'),
        item(5, "retracted", 6),
        item(6, "expired", 7),
    )
    reading = read(household(), sets=[ChangeSet("s1", task=ROOF, is_opened=True, items=items)])
    assert reading.proposals == (
        ProposalSeen("fp2", "Summary 2"),
        ProposalSeen("fp3", "Summary 3", "deferred"),
    )
    assert reading.verdicts == (
        VerdictSeen("deferred", "Summary 3", "next week"),
        VerdictSeen("confirmed", "Summary 4", is_edited=True),
        VerdictSeen("rejected", "Summary 1", "too early"),
    )


def test_a_set_of_another_task_or_not_yet_opened_is_not_read() -> None:
    hidden = [
        ChangeSet("s1", task="task-other", is_opened=True, items=(item(1, "pending"),)),
        ChangeSet("s2", task=ROOF, is_opened=False, items=(item(2, "pending"),)),
    ]
    assert read(household(), sets=hidden).proposals == ()


def test_forgotten_preferences_are_not_read() -> None:
    preferences = {"tone": Slot(2, "dry"), "length": Slot(1, "short"), "old": Slot(3)}
    agent = replace(AGENT, goal=Slot(1, "Dry by winter"), preferences=preferences)
    slots = read(household(), agent).slots
    assert slots.goal == "Dry by winter"
    assert slots.preferences == (("length", "short"), ("tone", "dry"))


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


def test_on_the_first_wake_nothing_has_changed() -> None:
    assert (
        read(household(), asked=WakeReason("creation", (Trigger("creation", "7"),))).changes == ()
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


def test_an_unlinked_task_is_not_named() -> None:
    book = household()
    add_task(book, "task-bank", "Ask the bank", HOME)
    add_link(book, ROOF, "blocks", "task-bank")
    agent = replace(AGENT, position=book.n)
    book.tell("task", ROOF, t.TaskUnlinked("person", "blocks", "task-bank"))
    assert read(book, agent).changes == (ChangeSeen(ROOF, "unlinked by person"),)


def test_timers_name_all_ticks_and_a_resumed_agent_says_so() -> None:
    agent = replace(AGENT, timers=(AgentTimer("t1", "every day 07:00", "UTC", AT.format(9)),))
    ticks = (AT.format(2), AT.format(1))
    timer = Trigger("timer", "t1", ticks=ticks)
    reading = read(household(), agent, asked=WakeReason("timer", (timer, Trigger("recovery", "4"))))
    assert reading.timers == (TimerSeen("t1", "every day 07:00", (ticks[1], ticks[0])),)
    assert reading.is_resumed
