"""Marks of what was erased, and what belongs to what is erased (ADR 107)."""

import pytest
from msgspec.structs import replace

from adapters.store.log import Log
from domain.agent import commands as agents
from domain.agent.agent import AgentCreated
from domain.agent.wake_queue import Trigger, WakeQueued
from domain.append import envelope
from domain.append.causes import Command, Receipt, Result
from domain.append.envelope import Row
from domain.changes.change_set import SetOpened
from domain.changes.commands import RejectItem
from domain.erasure import (
    Erase,
    ErasureList,
    ErasureMade,
    Listed,
    Unit,
    digest_of,
    line_key,
    listed_of,
    may_go,
    places_of,
    torn,
)
from domain.journal import commands as do
from domain.journal.catalog import CategoryAdded, CorrectionCaptured, LabelAdded, category_id
from domain.journal.day import BlockPut, PutBlock
from domain.journal.task import PERSON, TASK, NoteAdded, TaskCreated
from domain.lessons.lessons import LessonDecided
from domain.log.keys import sha
from domain.log.state import RecordedEvent
from domain.log.wire import Erased, Imported, Stored, Words, tag_of
from domain.wake.wake import SectionRef, ToolReturned, WakeStarted
from projections import inbox
from projections.view import fold as folded
from tests.support.stored import members

AT = "2027-01-01T09:00:00.000000Z"
FIRST = (
    b'{"at":"%s","n":3,"rows":2,"prev":"p","data":{"kind":"task.created.1","by":"person",'
    b'"title":"Call the clinic","category":"c"}}' % AT.encode()
)
SECOND = b'{"n":3,"row":1,"data":{"kind":"task.retitled.1","by":"person","title":"clinic"}}'


def recorded(
    stream: str, fact: Stored, n: int = 1, row: int = 0, version: int = 1
) -> RecordedEvent:
    return RecordedEvent(stream, version, "r1", n, row, AT, fact)


# ------------------------------------------------------------------------------------------ marks


@pytest.mark.parametrize("state", [FIRST, SECOND])
def test_a_mark_has_the_place_and_the_digest_of_its_row_and_none_of_its_words(state: bytes) -> None:
    row = Row("task:t@r1", 1, tag_of(envelope.read(Row("", 0, "", state)).data), state)
    mark = envelope.erased(row)
    assert envelope.digest([mark]) == envelope.digest([row])
    assert b"clinic" not in mark.state
    assert envelope.place_of(mark.state) == envelope.place_of(row.state)
    assert (envelope.tag_then(mark), mark[:2]) == (row.topic, row[:2])


def test_a_mark_that_is_erased_again_stays_as_it_is() -> None:
    mark = envelope.erased(Row("task:t@r1", 1, "task.created.1", FIRST))
    assert envelope.erased(mark) == mark


def test_of_a_mark_without_a_digest_its_own_bytes_are_digested() -> None:
    """Who forges one is found: nothing fits it."""
    row = Row("task:t@r1", 1, "erased.1", b'{"n":3,"data":{"kind":"erased.1"}}')
    assert (envelope.row_sha(row.state), envelope.tag_then(row)) == (sha(row.state), "erased.1")


def test_a_fold_passes_marks_over() -> None:
    task = TASK.evolve(TASK.initial("t"), recorded("task:t@r1", TaskCreated(PERSON, "Tap", "c")))
    assert TASK.evolve(task, recorded("task:t@r1", Erased("task.retitled.1", "0"), 2)) is task


def test_a_set_that_was_erased_keeps_its_number() -> None:
    opened = SetOpened("a", "t", "k")
    rows = [
        recorded("changes:one@r1", Erased("changes.opened.1", "0")),
        recorded("changes:one@r1", Erased("changes.item_proposed.1", "0"), 1, 1, 2),
        recorded("changes:two@r1", opened, 2),
    ]
    assert folded(inbox.RANKS, rows)["r1"].sets == ("one", "two")
    assert folded(inbox.VIEW, rows).keys() == {"two"}


# ------------------------------------------------------------------------------------------ forged

NOTED = Erased("task.note_added.1", "0")
STARTED, ANSWERED = Erased("wake.started.1", "0"), Erased("wake.tool_returned.1", "0")


@pytest.mark.parametrize(
    ("unit", "what", "stream", "fact", "is_its"),
    [
        ("task:t", "task", "task:t@r1", NOTED, True),
        ("task:t", "task", "task:u@r1", NOTED, False),
        ("task:t", "task", "links:u@r1", NOTED, False),
        ("task:t", "task", "agent:a@r1", NOTED, True),
        ("category:c", "category", "task:u@r1", NOTED, True),  # it went along
        ("note:t/n", "note", "task:t@r1", NOTED, True),
        ("note:t/n", "note", "task:t@r1", Erased("task.created.1", "0"), False),
        ("agent:a", "agent", "alert:a@r1", NOTED, True),
        ("agent:a", "agent", "alert:b@r1", NOTED, False),
        ("agent:a", "agent", "task:t@r1", NOTED, False),
        ("agent:a", "agent", "timer:main@r1", NOTED, False),
        ("home", "fork", "task:t@r1", NOTED, True),
    ],
)
def test_of_tasks_and_agents_an_erasure_takes_its_own(
    unit: str, what: str, stream: str, fact: Stored, *, is_its: bool
) -> None:
    made = ErasureMade(unit, what, "listed", ("u",) if what == "category" else ())
    assert made.takes(recorded(stream, fact)) == is_its


@pytest.mark.parametrize(
    ("what", "stream", "listed", "is_spared"),
    [
        ("agent", "changes:s@r1", Erased("changes.item_rejected.1", "0"), True),
        ("agent", "wake:w@r1", STARTED, True),
        ("agent", "wake:w@r1", ANSWERED, False),  # what another one looked up
        ("task", "task:t@r1", NOTED, True),
        ("note", "task:t@r1", NOTED, False),
        ("fork", "changes:s@r1", NOTED, False),
    ],
)
def test_what_goes_whole_is_not_listed_in_part(
    what: str, stream: str, listed: Stored, *, is_spared: bool
) -> None:
    rows = [recorded(stream, listed), recorded(stream, TaskCreated(PERSON, "Tap", "c"), 2)]
    asked: list[tuple[str, str]] = []

    def known(kind: str, entity: str) -> list[RecordedEvent]:
        asked.append((kind, entity))
        return [*rows, recorded(stream, NOTED, 3)]

    made = ErasureMade("task:t", what, "listed")
    assert [*made.spares(rows[:1], known)] == rows[1:] * is_spared
    assert [*made.spares(rows, known)] == []
    assert {kind for kind, _ in asked} <= {stream.partition(":")[0]}


def test_what_a_wake_did_in_one_append_goes_together() -> None:
    opened = recorded("changes:s@r1", SetOpened("a", "t", "k"))
    queue = recorded("alert:a@r1", TaskCreated(PERSON, "Tap", "c"))
    assert [*torn([recorded("wake:w@r1", STARTED), opened, queue])] == [opened]
    assert [*torn([recorded("wake:w@r1", ANSWERED), opened])] == []
    assert [*torn([opened, queue])] == []


# -------------------------------------------------------------------------------------- the decider


def test_an_erasure_is_told_once_with_its_list() -> None:
    log = Log.in_memory("journal")
    rows = log.append(Erase("task:t", "task", "listed", "digest"), AT).rows
    assert [(row.stream.partition(":")[0], row.topic) for row in rows] == [
        ("receipt", "receipt.1"), ("log", "erasure.made.1"),
    ]  # fmt: skip
    assert log.erasures().made == [(AT, ErasureMade("task:t", "task", "listed"))]


def test_lists_of_several_erasures_are_joined() -> None:
    rows = [recorded("task:t@r1", Erased("x", "0"), 2, nth) for nth in (0, 2)]
    listed = ErasureList.of([*rows, recorded("task:t@r1", Erased("x", "0"), 3)], ["p"])
    assert listed.rows == (("r1", 2, (0, 2)), ("r1", 3, (0,)))
    assert [*places_of(listed)] == [("r1", 2, 0), ("r1", 2, 2), ("r1", 3, 0)]
    assert listed_of([], lambda _: None).rows == Listed().rows == {}


def test_the_digest_of_marks_holds_their_times_and_tags() -> None:
    row = recorded("task:t@r1", Erased("task.created.1", "0" * 64))
    others = [
        replace(row, at="2027-01-01T09:00:01.000000Z"),
        replace(row, fact=Erased("task.created.2", "0" * 64)),
        replace(row, fact=Erased("task.created.1", "1" * 64)),
        replace(row, n=2),
    ]
    assert len({digest_of([one]) for one in (row, *others)}) == 5


# ------------------------------------------------------------------------------- what belongs to it

TAP = Unit.of("task", "tap")
KNOWN = TAP._replace(agents=frozenset({"a"}), wakes=frozenset({"run"}), sets=frozenset({"set"}))


def receipt(command: Command) -> RecordedEvent:
    return recorded("receipt:k@r1", Receipt(command, Result()))


def test_a_task_has_its_agents_their_wakes_and_sets() -> None:
    made = AgentCreated("task_agent", "tap", 1, "Tap", "hybrid")
    trigger = Trigger("creation", AT)
    of = TAP
    for row in (
        recorded("agent:b@r1", replace(made, task="fence")),
        recorded("agent:a@r1", made),
        recorded("alert:b@r1", WakeQueued("other", trigger, AT, "t")),
        recorded("alert:a@r1", WakeQueued("run", trigger, AT, "t")),
        recorded("changes:other@r1", SetOpened("b", "fence", "other")),
        recorded("changes:set@r1", SetOpened("a", "tap", "run")),
    ):
        of = of.learn(row)
    assert of == KNOWN


NOTE = NoteAdded(PERSON, "n", "note", Words("It drips."))
TAP_, CATALOG_, HOUSE, WORDS = "task:tap@r1", "catalog:main@r1", category_id("House"), Words("x")


@pytest.mark.parametrize(
    ("append", "taken"),
    [
        ([receipt(do.AddNote("tap", "note", Words("x"))), recorded("task:tap@r1", NOTE)], 2),
        ([receipt(do.AddNote("fence", "note", Words("x"))), recorded("task:fence@r1", NOTE)], 0),
        ([receipt(do.StopTimer("at it")), recorded("task:tap@r1", NOTE)], 2),
        ([receipt(do.StopTimer("at it")), recorded("task:fence@r1", NOTE)], 0),
        ([receipt(do.LinkTask("tap", "blocks", "fence")), recorded("task:tap@r1", NOTE)], 1),
        ([receipt(do.AddCategory("House"))], 0),
        ([receipt(agents.PauseAgent("a"))], 1),
        ([receipt(agents.PauseAgent("b"))], 0),
        ([receipt(RejectItem("set", 1, "person", 2, "no"))], 1),
        ([receipt(RejectItem("other", 1, "person", 2, "no"))], 0),
        ([recorded("wake:run@r1", NOTE)], 1),
        ([recorded("wake:other@r1", NOTE)], 0),
        ([recorded("task:tap@r1", Erased("x", "0"))], 0),
    ],
)
def test_rows_belong_to_it_and_commands_that_are_about_it_alone(
    append: list[RecordedEvent], taken: int
) -> None:
    assert len(KNOWN.rows_of(append)) == taken


def test_the_command_that_made_its_agent_belongs_to_it() -> None:
    command = agents.CreateAgent("tap", "Tap", "c", 1, "hybrid")
    made = AgentCreated("task_agent", "tap", 1, "Tap", "hybrid")
    assert len(KNOWN.rows_of([receipt(command), recorded("agent:a@r1", made)])) == 2
    assert KNOWN.rows_of([receipt(command), recorded("agent:b@r1", made)]) == []


PUT = BlockPut(PERSON, "b", "09:00", "10:00", "tap", "house")
LEARNT = LessonDecided("set", 1, "set_due", "confirmed")


@pytest.mark.parametrize(
    ("what", "entity", "append", "taken"),
    [
        ("note", "tap/n", [receipt(do.AddNote("tap", "note", WORDS)), recorded(TAP_, NOTE)], 2),
        ("note", "tap/m", [receipt(do.AddNote("tap", "note", WORDS)), recorded(TAP_, NOTE)], 0),
        ("note", "tap/n", [receipt(do.EditNote("tap", "n", WORDS))], 1),
        ("note", "fence/n", [receipt(do.EditNote("tap", "n", WORDS))], 0),
        ("note", "tap/n", [receipt(do.UndoDeed(("tap", "fence"), (1,))), recorded(TAP_, NOTE)], 1),
        ("task", "tap", [receipt(PutBlock("d", task="tap")), recorded("day:d@r1", PUT)], 2),
        ("block", "d/b", [receipt(PutBlock("d", task="tap")), recorded("day:d@r1", PUT)], 2),
        ("block", "d/x", [receipt(PutBlock("d", task="tap")), recorded("day:d@r1", PUT)], 0),
        ("block", "d/b", [receipt(PutBlock("d", block="b"))], 1),
        ("category", "house", [recorded("day:d@r1", PUT)], 0),
        ("category", "house", [recorded("day:d@r1", replace(PUT, task="", title="Tea"))], 1),
        ("category", HOUSE, [receipt(do.AddCategory("House"))], 1),
        ("category", HOUSE, [receipt(do.AddCategory("Garden"))], 0),
        ("category", HOUSE, [recorded(CATALOG_, CategoryAdded(HOUSE, "House"))], 1),
        ("category", HOUSE, [recorded(CATALOG_, LabelAdded("l", "tap", (HOUSE,)))], 1),
        ("category", HOUSE, [recorded(CATALOG_, LabelAdded("l", "tap", (HOUSE, "other")))], 0),
        ("category", HOUSE, [recorded(f"lessons:category:{HOUSE}@r1", LEARNT)], 1),
        ("category", HOUSE, [receipt(do.CreateTask("Tap", "House")), recorded(TAP_, NOTE)], 0),
    ],
)
def test_a_part_of_a_task_a_day_or_the_catalog_has_its_own_rows(
    what: str, entity: str, append: list[RecordedEvent], taken: int
) -> None:
    assert len(Unit.of(what, entity).rows_of(append)) == taken


@pytest.mark.parametrize(
    ("what", "entity", "made", "goes"),
    [
        ("note", "tap/n", AgentCreated("task_agent", "tap", 1, "Tap", "hybrid"), True),
        ("note only", "tap/n", AgentCreated("task_agent", "tap", 1, "Tap", "hybrid"), False),
        ("note", "tap/n", AgentCreated("task_agent", "fence", 1, "Tap", "hybrid"), False),
        ("block", "d/b", AgentCreated("day_agent", "", 1, "D", "hybrid", subject="home"), True),
        ("block only", "d/b", AgentCreated("day_agent", "", 1, "D", "hybrid"), False),
        ("category", "c", AgentCreated("x", "", 1, "C", "hybrid", subject="category:c"), True),
        ("category", "c", AgentCreated("x", "", 1, "C", "hybrid", subject="category:d"), False),
    ],
)
def test_who_was_told_of_it_in_each_prompt_goes_along(
    what: str, entity: str, made: AgentCreated, *, goes: bool
) -> None:
    assert bool(Unit.of(what, entity).learn(recorded("agent:a@r1", made)).agents) is goes


TAUGHT = CorrectionCaptured("house", "before", "after")


@pytest.mark.parametrize(
    ("what", "entity", "stream", "taken"),
    [
        ("task", "tap", TAP_, 2),
        ("task", "tap", "task:fence@r1", 0),
        ("note", "tap/n", TAP_, 2),
        ("note", "tap/m", TAP_, 0),
        ("category", "house", TAP_, 1),  # of what was said of it in all tasks
        ("category", "other", TAP_, 0),
    ],
)
def test_what_was_taken_of_its_words_as_an_example_belongs_to_it(
    what: str, entity: str, stream: str, taken: int
) -> None:
    append = [recorded(CATALOG_, TAUGHT), recorded(stream, NOTE)]
    assert len(Unit.of(what, entity).rows_of(append)) == taken


def looked_up(answer: Words) -> ToolReturned:
    return ToolReturned(1, "o", 1, "a", "c", "read_task", "success", answer)


def told(
    units: tuple[str, ...] = (), name: str = "linked", *, journal: int = 7, categories: str = "c"
) -> WakeStarted:
    """A wake that was shown one section."""
    shown = (SectionRef(name, "shown", units),)
    known = 1, 1, journal, 1, "snapshot", (), shown, (), "specs", (categories,)
    return WakeStarted("b", "fence", "manual", "thread", "m", *known)


@pytest.mark.parametrize(
    ("fact", "repeated"),
    [
        (told(("tap",)), ["shown", "snapshot"]),
        (told(("fence",)), []),
        (told(name="corrections"), ["shown", "snapshot"]),
        (told(name="corrections", categories="d"), []),
        (told(name="corrections", journal=6), []),
        (told(), []),
        (looked_up(Words(payload="of tap")), ["of tap"]),
        (looked_up(Words(payload="of others")), []),
        (looked_up(Words("of tap")), []),  # the row itself goes
    ],
)
def test_what_others_were_told_of_it_goes_and_what_they_say_stays(
    fact: Stored, repeated: list[str]
) -> None:
    unit = Unit.of("task", "tap")._replace(taught=frozenset({("r1", 7, "c")}))
    row = recorded("wake:other@r1", fact, n=3)
    assert [*unit.repeated_in(row, lambda name: name)] == repeated
    assert len(unit.rows_of([row])) == (fact == looked_up(Words("of tap")))


def test_an_example_of_which_no_category_is_known_any_more_may_have_been_told_to_all() -> None:
    unit = Unit.of("task", "tap")._replace(taught=frozenset({("r2", 7, "")}))
    knows = replace(told(name="corrections"), seen=(Imported("r2", 7),))
    for fact, repeated in ((knows, 2), (told(name="corrections"), 0)):
        row = recorded("wake:other@r1", fact)
        assert len([*unit.repeated_in(row, lambda _: "")]) == repeated


@pytest.mark.parametrize(
    ("kept", "goes"),
    [
        ('["aaaabbbbcccc zwiebel-17","x"]', True),
        ('["aaaabbbbcccc","x id:1"]', False),  # an id says nothing
    ],
)
def test_what_a_file_calls_it_goes_with_the_other_lines_of_the_file(kept: str, goes: bool) -> None:
    unit, command = Unit.of("task", "aaaabbbbccccdddd"), do.ImportTasks("s", (), lines="lines")
    assert [*unit.repeated_in(receipt(command), lambda _: kept)] == ["lines"] * goes


@pytest.mark.parametrize("stream", ["policy:main@r1", "log:main@r1", "watch:main@r1"])
def test_what_nobody_may_erase(stream: str) -> None:
    assert not may_go(stream)
    assert may_go("changes:one@r1")


def test_a_line_is_known_again_by_what_its_own_file_calls_it() -> None:
    assert line_key("a.md", "Ring  Ann") == line_key("a.md", "ring ann")
    assert len({line_key("a.md", "Ann"), line_key("b.md", "Ann"), line_key("a.md", "Bob")}) == 3


OF_NOBODY = set(
    """
    AddCategory RenameCategory AddCorrection AddLabel DeleteLabel ScopeLabels StopTimer RemoveBlock
    RateDay TakeJournal LearnVerdicts RuleTool GiveConsent WithdrawConsent RuleModels LabelReplica
    Lead RetireReplica CreateTemplate ChangeTemplate AddVersion RollBackTemplate DeleteTemplate
    CreateTask Erase Retain RecordRehearsal
    """.split()
)
"""They name no task, agent, wake or set; whose words they hold, the rows that came of them tell:
those of catalogs, days, lessons, policy and templates belong to no task."""
NAMING = {"task", "tasks", "agent", "run_key", "changes", "entity"}


def test_every_command_names_whose_it_is_or_it_is_said_that_it_does_not() -> None:
    nameless = {
        one.__name__
        for one in members(Command)
        if not NAMING.intersection(dir(one)) and one is not agents.CreateAgent
    }
    assert nameless == OF_NOBODY
