"""What wakes do since scaffold 3: ids by their first letters, the person's own days, quotes that
are needed, edits that are heeded (ADR 97). What they did before is tested where it was built."""

import asyncio
from typing import Any

import pytest

from adapters.home.settings import Settings
from adapters.runtime import review
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from domain.changes.change_set import CHANGES, ChangeItem, set_id
from domain.journal import commands as do
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.wire import Words, payload
from domain.tools.arguments import RetractSuggestions, UpdateChecklistItems, rules
from domain.tools.snapshot import Snapshot
from domain.wake import wake as w
from domain.wake.citations import is_since
from domain.wake.short_ids import completed, in_full, shortened
from tests.support.scripted_wakes import call, ended, items, minutes, woken
from tests.support.services import StillClock, divergences, queued_key, services
from tests.support.services import task_with_agent as made
from wakelog.testing import REPORT
from wakelog.testing import calls as reply

LONG = "abcdefgh" + "2" * 24
ALIKE = "abcdefgh" + "3" * 24
OTHER = "z" * 32


def one(*titles: str) -> tuple[Services, str, str]:
    """A task with these items and its agent, whose first wake is over."""
    at = services()
    task, agent = made(at)
    if titles:
        at.append_journal(do.AddItems(task, titles))
    return at, task, agent


def note(at: Services, task: str, text: str) -> str:
    """The instant of a new note."""
    at.append_journal(do.AddNote(task, "note", Words(text)))
    with at.journal.reading() as world:
        return world.load(TASK, task).notes[-1].at


def wakes(at: Services, agent: str, *calls: tuple[str, str]) -> tuple[list[str], list[ChangeItem]]:
    """What each call of a wake is answered with, and what it proposes."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    found = items(at, woken(at, agent, *ended(*calls), scaffold=3))
    rows = at.agents.facts(f"wake:{run_key}@r1")
    facts = [row.fact for row in rows if isinstance(row.fact, w.ToolReturned)]
    with at.agents.reading() as world:
        told = [f"{each.code}: {world.text(each.message)}" for each in facts]
    assert divergences(at) == []
    return told, list(found)


def sections(at: Services, agent: str) -> dict[str, str]:
    with at.agents.reading() as world:
        begun = world.load(w.WAKE, at.agent(agent).last_run).begun
        return {ref.name: world.payload(ref.payload).decode() for ref in begun.user}


# --------------------------------------------------------------------------------------- short ids


def test_where_two_ids_begin_alike_more_letters_are_told() -> None:
    told = shortened([LONG, ALIKE, OTHER, "i1"])
    assert told == {LONG: "abcdefgh2", ALIKE: "abcdefgh3", OTHER: "zzzzzzzz"}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("zzzzzz", OTHER),
        ("  zzzzzzzz ", OTHER),
        (OTHER, OTHER),
        ("abcdefgh2", LONG),
        ("abcdefgh", "abcdefgh"),  # two
        ("zzzzz", "zzzzz"),  # too short to name anything
        ("zzzzzzq", "zzzzzzq"),  # none
        (7, 7),
    ],
)
def test_an_id_is_completed_to_the_one_thing_that_it_begins(given: Any, found: Any) -> None:
    known = [LONG, ALIKE, OTHER]
    asked = {"items": [{"id": given, "title": "zzzzzzzz"}], "odd": given}
    made_of = completed(rules(UpdateChecklistItems), asked, lambda: known)
    assert made_of == {"items": [{"id": found, "title": "zzzzzzzz"}], "odd": given}
    spelled = {"proposals": [{"Fingerprint": given}]}
    made_of = completed(rules(RetractSuggestions), spelled, lambda: known)
    assert made_of == {"proposals": [{"Fingerprint": found}]}


def test_a_call_by_short_ids_is_about_what_was_shown_and_nothing_else() -> None:
    at, task, agent = one("Buy tape", "Buy nails")
    _, proposed = wakes(at, agent, minutes(60))
    tick = {"isChecked": True, "because": "done"}
    with at.journal.reading() as world:
        tape, nails = (item.id for item in world.load(TASK, task).items)
    told, found = wakes(
        at,
        agent,
        call("update_checklist_items", items=[{"id": tape[:8], **tick}, {"id": nails[:6], **tick}]),
        call("update_checklist_items", items=[{"id": nails[:5], **tick}]),
        call(
            "retract_suggestions",
            proposals=[{"fingerprint": proposed[0].fingerprint[:8], "reason": "It is less."}],
        ),
    )
    assert [canonical.read(item.arguments.text)["id"] for item in found] == [tape, nails]
    assert told[1].startswith("not_found: Not proposed: This task has no item with the id")
    assert told[2] == ": Staged 1 retraction(s) for the end of this wake."
    shown = sections(at, agent)["task"]
    assert f'"id":"{tape[:8]}"' in shown
    assert tape not in shown


def test_an_id_that_came_without_its_object_is_completed_too() -> None:
    at, task, agent = one("Buy nails")
    with at.journal.reading() as world:
        (nails,) = (item.id for item in world.load(TASK, task).items)
    told, (item,) = wakes(
        at,
        agent,
        call("create_follow_up_task", title="Rest", carryOver=[nails[:8]], because="the rest"),
    )
    assert canonical.read(item.arguments.text)["carryOver"] == [{"id": nails}]
    assert told[0].endswith("Taken: carryOver[0] as id.")


def test_a_report_names_no_ids_short_or_whole() -> None:
    at, task, agent = one("Buy tape")
    with at.journal.reading() as world:
        (tape,) = (item.id for item in world.load(TASK, task).items)
    said = f"See {tape[:8]} (item id: {tape}) and complete {task[:8]}."
    told = call("update_report", content=said, tldr="Fine.", oneLiner="One.")
    woken(at, agent, reply(told), reply(text="Done."), scaffold=3)
    with at.agents.reading() as world:
        drafted = world.load(w.WAKE, at.agent(agent).report).report
        assert drafted is not None
        assert world.text(drafted.content) == "See and complete."


def test_what_is_no_id_stays_in_a_text() -> None:
    assert in_full("complete abcdefgh2 the zzzzzzzz.", [LONG, ALIKE, OTHER]) == (
        f"complete {LONG} the {OTHER}."
    )


# ------------------------------------------------------------------------------- places and days

BERLIN = Settings(timezone="Europe/Berlin")
NIGHT = (
    "2027-10-31T00:30:05.000000Z",
    "2027-10-31T00:30:09.000000Z",
    "2027-10-31T01:30:05.000000Z",
)
"""Twice in one minute, and an hour later, when clocks show the same minute again."""


def test_a_quote_stands_where_it_was_written_though_clocks_show_one_minute() -> None:
    at, task, agent = one()
    at.settings = BERLIN
    for when, text in zip(NIGHT, ("It takes an hour", "It rains", "It is urgent"), strict=True):
        at.clock = StillClock(when)
        note(at, task, text)
    at.clock = StillClock("2027-10-31T08:00:00.000000Z")
    wishes = (
        call("update_task_estimate", minutes=60, because="takes an hour"),
        call("set_task_title", title="Rain", because="it rains"),
        call("update_task_priority", priority="P0", because="is urgent"),
    )
    run_key, model = queued_key(at, agent), services(ended(*wishes)).model_for("")
    at.model_for = lambda _: model
    asyncio.run(run_wake(at, agent, run_key, is_now=True))
    assert [one.because_at for one in items(at, set_id(run_key))] == [f"note:{at}" for at in NIGHT]
    assert divergences(at) == []
    task_shown = sections(at, agent)["task"]
    assert task_shown.count('"at":"Sun 2027-10-31 02:30"') == 3
    assert "000Z" not in task_shown


def test_a_value_tells_how_many_entries_are_newer() -> None:
    at, task, agent = one()
    note(at, task, "Due on the 5th.")
    at.append_journal(do.EditTask(task, due="2027-02-09", priority="P1"))
    note(at, task, "Ann called.")
    at.append_journal(do.EditTask(task, priority="P2"))
    with at.journal.reading() as world:
        first = world.load(TASK, task).notes[0].id
    wakes(at, agent, REPORT)
    shown = sections(at, agent)["task"]
    assert '"dueDate": {"value":"2027-02-09","by":"person","at":"2027-01-01T' in shown  # no clock
    assert shown.count('"newer":1') == 1
    at.append_journal(do.EditNote(task, first, Words("Due on the 6th.")))
    wakes(at, agent, REPORT)
    shown = sections(at, agent)["task"]
    due, priority = (shown.partition(f'"{name}": ')[2] for name in ("dueDate", "priority"))
    assert (due.partition('"newer":')[2][0], priority.partition('"newer":')[2][0]) == ("2", "1")
    assert shown.index("Ann called") < shown.index("Due on the 6th"), "its words are newer"


# ------------------------------------------------------------------------------- quotes and edits


def test_nothing_is_proposed_without_words_that_it_rests_on() -> None:
    at, _, agent = one()
    missing = "because: is missing; quote the words that the proposal rests on"
    half = [{"title": "Tape", "because": "tape"}, {"title": "Nails"}]
    told, found = wakes(
        at,
        agent,
        call("update_task_estimate", minutes=60, because="  "),
        call("add_multiple_checklist_items", items=half, because=""),
        call("add_multiple_checklist_items", items=half, because="buy both"),
    )
    assert told[:2] == [f"invalid_arguments: {missing}"] * 2
    assert [item.because for item in found] == ["tape", "buy both"]


def set_of(at: Services, item: ChangeItem) -> str:
    with at.agents.reading() as world:
        every = [world.load(CHANGES, one) for one in world.entities("changes")]
    return next(one.id for one in every if item in one.items)


def confirm(at: Services, item: ChangeItem, edited: str = "") -> None:
    review.confirm(at, set_of(at, item), item.number, edit=edited)


def estimate(count: int, quote: str) -> tuple[str, str]:
    return call("update_task_estimate", minutes=count, because=quote)


def test_an_edit_is_the_persons_word_until_words_about_it_are_newer() -> None:
    at, task, agent = one()
    note(at, task, "It takes an hour.")
    _, (item,) = wakes(at, agent, estimate(60, "takes an hour"))
    confirm(at, item, '{"minutes":90}')
    note(at, task, "Ann called.")  # newer, and about something else
    for count in (60, 75):
        told, found = wakes(at, agent, estimate(count, "takes an hour"))
        assert found == []
        assert "made something else of it on 2027-01-01, and the words that it rests on" in told[0]
    _, found = wakes(at, agent, estimate(60, "nobody said so"))
    assert found == []
    note(at, task, "No, 75 minutes will do.")
    _, found = wakes(at, agent, estimate(75, "75 minutes will do"))
    assert [each.summary for each in found] == ["Set estimate to 75 minutes"]


def test_an_edited_note_is_newer_and_so_are_the_persons_words() -> None:
    at, task, agent = one()
    note(at, task, "It takes an hour.")
    _, (item,) = wakes(at, agent, estimate(60, "takes an hour"))
    confirm(at, item, '{"minutes":90}')
    with at.journal.reading() as world:
        first = world.load(TASK, task).notes[0].id
    at.append_journal(do.EditNote(task, first, Words("It takes two hours.")))
    _, found = wakes(at, agent, estimate(120, "takes two hours"))
    assert len(found) == 1
    review.reject(at, set_of(at, found[0]), 1, "no")
    said = payload(task, b"Make it an hour after all.")
    at.append_agent(at.request(agent, "user", "", 0, said.id), payloads=[said])
    _, found = wakes(at, agent, estimate(60, "an hour after all"))
    assert len(found) == 1


@pytest.mark.parametrize(("said_at", "is_newer"), [("05", True), ("03", False)])
def test_of_a_talk_what_was_said_after_a_verdict_is_newer(said_at: str, is_newer: bool) -> None:
    seen = Snapshot("t", 0, "OPEN", "P2")
    assert is_since(f"thread:2027-01-{said_at}", "2027-01-04", 0, seen) is is_newer


def test_an_item_that_was_renamed_at_its_verdict_is_not_proposed_as_it_was() -> None:
    at, task, agent = one()
    note(at, task, "Buy milk.")
    milk = call("add_multiple_checklist_items", items=[{"title": "Milk"}], because="buy milk")
    _, (item,) = wakes(at, agent, milk)
    confirm(at, item, '{"title":"Oat milk"}')
    note(at, task, "Ann called.")
    assert wakes(at, agent, milk)[1] == []
    note(at, task, "Buy milk, too.")
    again = call("add_multiple_checklist_items", items=[{"title": "Milk"}], because="milk, too")
    assert len(wakes(at, agent, again)[1]) == 1


def test_an_estimate_may_be_of_many_days() -> None:
    at, _, agent = one()
    _, (item,) = wakes(at, agent, minutes(5_000))
    confirm(at, item)
    told, found = wakes(at, agent, minutes(60_001))
    assert found == []
    assert "from 1 to 60000" in told[0]
    assert divergences(at) == []
    before = woken(at, agent, *ended(minutes(5_001)), scaffold=2)
    assert items(at, before) == ()
