"""What a wake says of its own proposals is what became of them; from scaffold 2 on."""

import pytest

from adapters.runtime.services import Services
from domain.changes.commands import RejectItem
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.wake.wake import ToolReturned
from tests.support.scripted_wakes import REPORT, call, ended, items, minutes, woken
from tests.support.services import divergences, queued_key, reply, services, task_with_agent

DUE = call("update_task_due_date", dueDate="2027-02-12")
KEPT = "The report is kept; the last one of this wake counts."


def answers(at: Services, agent: str, *calls: tuple[str, str], scaffold: int = 2) -> list[str]:
    """What each call of a wake is answered with, and the code of each."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    woken(at, agent, reply(*calls), reply(text="Done."), scaffold=scaffold)
    rows = at.agents.facts(f"wake:{run_key}@r1")
    facts = [row.fact for row in rows if isinstance(row.fact, ToolReturned)]
    with at.agents.reading() as world:
        return [f"{one.code}: {world.text(one.message)}".removeprefix(": ") for one in facts]


def declined(at: Services) -> str:
    """An agent whose due date was rejected."""
    _, agent = task_with_agent(at)
    made = woken(at, agent, *ended(DUE))
    at.append_agent(RejectItem(made, 1, "person", at.journal.tail().n, "no hurry"))
    return agent


@pytest.mark.parametrize("scaffold", [1, 2])
def test_the_answer_to_a_report_says_what_was_proposed_and_what_not(scaffold: int) -> None:
    at = services()
    agent = declined(at)
    *_, told = answers(at, agent, DUE, minutes(60), REPORT, scaffold=scaffold)
    if scaffold == 1:
        assert told == KEPT
        return
    assert told == (
        f"{KEPT} Recorded: 1 of 2 proposed.\n"
        "Not proposed: rejected by the person on 2027-01-01 (no hurry), nothing changed since: "
        "Set due date to 2027-02-12.\n"
        "If the report says otherwise, write it again."
    )
    assert divergences(at) == []


def test_a_report_of_a_wake_that_proposes_nothing_is_answered_briefly() -> None:
    at = services()
    _, agent = task_with_agent(at)
    wrong = call("update_task_estimate", minutes=0)  # put right, it would be no other wish
    assert answers(at, agent, wrong, REPORT)[-1] == KEPT


def test_what_is_so_already_counts_as_a_wish() -> None:
    at = services()
    task, agent = task_with_agent(at)
    at.append_journal(do.EditTask(task, estimate=60))
    told = answers(at, agent, minutes(60), REPORT)[-1]
    assert "Recorded: 0 of 1 proposed.\nNot proposed: The estimate is already 60 minutes." in told


def test_what_will_be_replaced_is_said_at_once_and_with_the_report() -> None:
    at = services()
    _, agent = task_with_agent(at)
    woken(at, agent, *ended(minutes(45)))
    queued, told = answers(at, agent, minutes(60), REPORT)
    older = "Replaces, when this wake ends: Set estimate to 45 minutes."
    assert queued == f"Queued for the person's review: 1 item(s).\n{older}"
    assert f"Recorded: 1 of 1 proposed.\n{older}\n" in told


def test_a_long_list_is_cut_and_counted() -> None:
    at = services()
    task, agent = task_with_agent(at)
    names = tuple(
        f"Nail {nth:02} of a very long row of nails that are all alike" for nth in range(20)
    )
    at.append_journal(do.AddItems(task, (*names, "Saw", "Axe")))
    titles = [{"title": name} for name in names]
    offers = call("add_multiple_checklist_items", items=[*titles[1:], {"title": "Rope"}])
    again = call("add_multiple_checklist_items", items=[*titles[:2], {"title": "Wire"}])
    *_, told = answers(at, agent, offers, again, REPORT)
    assert "Recorded: 2 of 23 proposed." in told
    assert told.count("Not proposed: ") == 20
    assert "\nand 1 more\n" in told
    assert divergences(at) == []


@pytest.mark.parametrize("scaffold", [1, 2])
def test_a_batch_of_nothing_bears_the_code_of_what_was_refused(scaffold: int) -> None:
    at = services()
    task, agent = task_with_agent(at)
    at.append_journal(do.AddLabel("garden"))
    at.append_journal(do.ChangeLabels(task, suppress=("garden",)))
    at.append_journal(do.AddLabel("house"))
    unwanted = call("assign_task_labels", labels=[{"id": label_id("garden"), "confidence": "high"}])
    unsure = call("assign_task_labels", labels=[{"id": label_id("house"), "confidence": "low"}])
    one, other, _ = answers(at, agent, unwanted, unsure, REPORT, scaffold=scaffold)
    if scaffold == 1:
        assert one.startswith('not_found: Refused 1: The person does not want label "garden"')
        assert other == ('redundant: Skipped 1: Label "house" is dropped: its confidence is low..')
    else:
        assert one.startswith('sovereignty: Not proposed: The person does not want label "garden"')
        assert other == 'limit: Not proposed: Label "house" is dropped: its confidence is low.'


@pytest.mark.parametrize("scaffold", [1, 2])
def test_a_second_language_in_one_wake_is_not_asked_for(scaffold: int) -> None:
    at = services()
    _, agent = task_with_agent(at)
    language = call("set_task_language", languageCode="de", confidence="high")
    first, second, _ = answers(at, agent, language, language, REPORT, scaffold=scaffold)
    assert not first.startswith("redundant")
    assert second.partition(":")[0] == ("stale" if scaffold == 1 else "redundant")


@pytest.mark.parametrize("scaffold", [1, 2])
def test_an_unknown_fingerprint_takes_nothing_back(scaffold: int) -> None:
    at = services()
    _, agent = task_with_agent(at)
    made = woken(at, agent, *ended(minutes(45)))
    known = {"fingerprint": items(at, made)[0].fingerprint, "reason": "It takes longer."}
    unknown = {"fingerprint": "f" * 32, "reason": "It is gone."}
    told = answers(
        at,
        agent,
        call("retract_suggestions", proposals=[unknown]),
        call("retract_suggestions", proposals=[unknown, known]),
        REPORT,
        scaffold=scaffold,
    )
    if scaffold == 1:
        assert told[:2] == [f"Staged {n} retraction(s) for the end of this wake." for n in (1, 2)]
    else:
        nothing = f'No pending proposal of yours has the fingerprint "{"f" * 32}".'
        staged = f"Staged 1 retraction(s) for the end of this wake. {nothing}"
        assert told[:2] == [f"not_found: {nothing}", staged]
    assert items(at, made)[0].status == "retracted"
