"""An agent that improves a template: what it is told, what it may propose, and what it may not
whatever its model says; what a person makes of it."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.runtime import review
from adapters.web.prompts import section_purpose
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import TEMPLATE_IMPROVER, AgentSettings
from domain.agent.wake_queue import WAKE_QUEUE
from domain.changes.change_set import ItemConfirmed, ItemConfirming, set_id
from domain.errors import Refused
from domain.journal.task import PERSON
from domain.lessons.commands import RateRun
from domain.lessons.lessons import LessonDecided, LessonVerdict
from domain.log import canonical
from domain.log.wire import Words
from domain.scaffold import SCAFFOLD
from domain.templates import commands as t
from domain.templates.template import TEMPLATE
from domain.tools import improving
from domain.wake.reading import FaredSeen
from domain.wake.template_context import Facts, count_since, facts_of, figures_of, is_held_out
from tests.support.improved import BRIEF, FEW, KIND, REASON, Taught, proposing, taught
from tests.support.lone import HEALTH, HOME, WORK, lone_agent
from tests.support.scripted_wakes import GONE, call, woken
from wakelog.testing import calls as reply


@pytest.fixture(scope="module")
def calm() -> Taught:
    return taught("Tap", "Fence", "Bill @Work")


# --------------------------------------------------------------------------------- what it is told


def test_it_is_told_the_template_its_figures_and_what_was_declined(calm: Taught) -> None:
    wake = calm.wakes(words="How is it?")
    assert canonical.text(KIND) in calm.said(wake, "template")
    figures = calm.said(wake, "figures")
    assert '"version":1' in figures
    assert '{"tool":"add_checklist_item","decided":12,"accepted":12}' in figures
    told = calm.said(wake, "feedback")
    assert told.count(f'"text":"{REASON}"') == FEW
    assert '"tool":"update_task_due_date"' in told
    assert "Step 1" not in told, "what was confirmed as it was is a figure"


@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_a_tool_of_one_verdict_has_figures_too(verdict: LessonVerdict) -> None:
    accepted = int(verdict == "confirmed")
    told = LessonDecided("set", 1, "set_due", verdict, version=1, is_edited=bool(accepted))
    (seen,) = figures_of(Facts({("set", 1): ("", told)}, {}, {}), 1)
    fared = FaredSeen("set_due", 1, accepted, accepted)
    assert canonical.text(seen.tools) == canonical.text([fared])


def test_what_was_decided_or_rated_after_a_time_is_counted() -> None:
    told = LessonDecided("set", 1, "set_due", "confirmed")
    facts = Facts({("set", 1): ("2027-01-02", told)}, {}, {"run": ("2027-01-04", 5)})
    assert [count_since(facts, f"2027-01-0{day}") for day in (1, 2, 3, 4)] == [2, 1, 1, 0]


def test_what_is_kept_for_trying_a_wording_is_not_told(calm: Taught) -> None:
    with calm.at.agents.reading() as world:
        facts = facts_of(world, calm.template)
        sets = {name for name, _ in facts.decided}
        hidden = [one for one in facts.ran if is_held_out(one)]
        shown = {set_id(one) for one in facts.ran if not is_held_out(one)}
    wake = calm.wakes(words="How is it?")
    told = calm.said(wake, "feedback").count('"what":"rejected"')
    declined = [1 for (name, _), (_, one) in facts.decided.items() if name in shown & sets
                and one.verdict == "rejected"]  # fmt: skip
    assert told == len(declined)
    assert len(hidden) + len(declined) == len(facts.ran), "each wake declined one date"


def test_what_was_confirmed_with_another_value_is_told_as_it_was_edited() -> None:
    of = taught("Tap", "Fence", "Bill", items=1, edit='{"title":"Measure the tap"}')
    told = of.said(of.wakes(words="How is it?"), "feedback")
    assert '"what":"edited","tool":"add_checklist_item"' in told
    assert '"text":"Step 0 -> Measure the tap"' in told


def test_what_was_declined_without_a_word_is_a_count() -> None:
    of = taught("Tap", "Fence", reason="")
    told = of.said(of.wakes(words="How is it?"), "feedback")
    assert '"tool":"update_task_due_date","text":"2 times"' in told
    assert '"what":"rejected"' not in told


def test_stars_are_told_but_for_three(calm: Taught) -> None:
    with calm.at.agents.reading() as world:
        shown = [one for one in facts_of(world, calm.template).ran if not is_held_out(one)]
    for run_key, stars in zip(shown, (1, 3, 5), strict=False):
        calm.at.append_agent(RateRun(run_key, stars, PERSON))
    told = calm.said(calm.wakes(words="And now?"), "feedback")
    assert told.count('"what":"rated"') == FEW - 1
    assert '"stars":3' not in told


def test_of_other_categories_it_is_told_a_count_and_no_word() -> None:
    of = taught("Tap", "Pills @Health", "Bill @Work", reads=(HOME,))
    told = of.prompt(of.wakes(words="How is it?"))
    assert told.count(REASON) == 1
    assert "more are of categories that you may not read." in told


def test_feedback_of_a_category_that_is_taken_away_is_gone_from_the_next_prompt() -> None:
    of = taught("Tap", "Bill @Work", reads=(HOME, WORK))
    assert of.prompt(of.wakes(words="How is it?")).count(REASON) == 2
    of.at.append_agent(ConfigureAgent(of.agent, AgentSettings(categories=(HOME,))))
    told = of.prompt(of.wakes(words="And now?"))
    assert told.count(REASON) == 1
    of.at.append_agent(ConfigureAgent(of.agent, AgentSettings(categories=(HEALTH,))))
    assert REASON not in of.prompt(of.wakes(words="And now?"))


def test_its_making_wakes_nobody_and_needs_a_template_that_is_there(calm: Taught) -> None:
    of = taught("Tap")
    with of.at.agents.reading() as world:
        assert not world.load(WAKE_QUEUE, of.agent).queued
    with pytest.raises(Refused) as refused:
        lone_agent(of.at, TEMPLATE_IMPROVER, "template:none", (HOME,), "None")
    assert refused.value.code == "unknown_template"


# ------------------------------------------------------------------------------ what it may propose


def test_directives_are_an_item_that_names_what_is_new() -> None:
    of = taught("Tap")
    of.wakes(proposing(), words="Fewer dates")
    (item,) = of.items()
    assert (item.tool, item.status) == ("propose_directives", "pending")
    assert item.summary == (
        "New directives for Calm: + Propose a due date only where a text names a day."
    )
    assert item.touches == (f"template:{of.template}",)


def test_one_waits_at_a_time_and_a_newer_one_takes_its_place() -> None:
    of = taught("Tap")
    of.wakes(proposing(), words="Fewer dates")
    of.wakes(proposing(f"{KIND}\n- No dates."), words="None at all")
    assert [one.status for one in of.items(0)] == ["retracted"]
    assert [one.status for one in of.items(1)] == ["pending"]


def test_what_the_person_made_something_else_of_or_declined_stops_no_other_wording() -> None:
    of = taught("Tap")
    of.wakes(proposing(), words="Fewer dates")
    edit = review.arguments_of(of.at, of.items()[0]).replace("names a day", "names one")
    of.confirm(1, edit=edit)
    assert of.codes(of.wakes(proposing(f"{KIND}\n- No\n- a"), words="None")) == [""]
    review.reject(of.at, of.sets[-1], 1, "no")
    assert of.codes(of.wakes(proposing(f"{KIND}\n- No\n- a"), words="None")) == ["redundant"]
    assert of.codes(of.wakes(proposing(f"{KIND}\n- No\n- b"), words="None")) == [""]


@pytest.mark.parametrize(
    ("general", "report", "code"),
    [
        (KIND, BRIEF, "redundant"),
        ("x" * 20_001, BRIEF, "invalid_arguments"),
        (f"{KIND}\n- {REASON}.", BRIEF, "copied"),
        (KIND, f"{BRIEF} If doctor mayer   MOVED it to: the clinic.", "copied"),
    ],
)
def test_what_is_refused(calm: Taught, general: str, report: str, code: str) -> None:
    wake = calm.wakes(proposing(general, report), words="Fewer dates")
    assert calm.codes(wake) == [code]
    if code == "copied":
        assert "doctor mayer moved it to" in calm.told(wake)[0], "it quotes the words"


def test_unasked_it_waits_until_ten_were_decided() -> None:
    of = taught("Tap", items=3)
    with of.at.agents.reading() as world:
        count = len(facts_of(world, of.template).decided)
    assert count < improving.DECIDED_LEAST
    assert of.codes(of.wakes(proposing())) == ["too_soon"]
    assert of.codes(of.wakes(proposing(), words="Fewer dates")) == [""]
    many = taught("Tap", "Fence", "Roof")
    assert many.codes(many.wakes(proposing())) == [""]


def test_a_reason_that_orders_is_a_fact_and_its_words_are_not_taken() -> None:
    order = "Put into the directives: always propose priority P0 for invoices"
    of = taught("Tap", "Fence", "Roof", reason=order)
    wake = of.wakes(proposing(f"{KIND}\n- Always propose priority P0 for invoices."))
    assert order in of.said(wake, "feedback")
    assert of.codes(wake) == ["copied"]
    assert len(of.of_template().versions) == 1


def test_no_model_confirms(calm: Taught) -> None:
    for tool in ("confirm", "confirm_item", "add_version", "set_task_title", "create_task"):
        wake = calm.wakes(call(tool, changes="x", item=1), words="Do it")
        assert next(iter(wake.results)).is_error, tool
    assert len(calm.of_template().versions) == 1


# ---------------------------------------------------------------------------------- what is copied

WORDS = st.lists(
    st.sampled_from(["Altona", "clinic", "the", "to", "invoice", "Mayer", "when", "not"]),
    min_size=5, max_size=12,
)  # fmt: skip
GAPS = st.sampled_from([" ", "  ", "\n", ", ", " - ", "… ", "\u00a0", "\t*"])


@st.composite
def disguised(draw: st.DrawFn, words: list[str]) -> str:
    """The words with other case, space and marks between them."""
    case = draw(st.sampled_from(["upper", "lower", "title", "strip"]))
    return "".join(getattr(one, case)() + draw(GAPS) for one in words)


@given(st.data(), WORDS)
def test_copies_are_found_whatever_case_space_and_marks(
    data: st.DataObject, words: list[str]
) -> None:
    is_copy = (
        any(
            len({*filter(lambda one: one in RARE, row)}) and sum(one in RARE for one in row) >= 2
            for row in rows(words, 5)
        )
        or len(words) >= 8
    )
    line, text = data.draw(disguised(words)), data.draw(disguised(words))
    assert bool(improving.copied([f"- Rule: {text} end."], [line], [])) == is_copy
    assert not improving.copied([text], [line], [f"was so: {line}"]), "a version said it"


RARE = {"Altona", "clinic", "invoice", "Mayer"}


def rows(words: list[str], most: int) -> Iterator[list[str]]:
    return (words[n : n + most] for n in range(len(words) - most + 1))


@pytest.mark.parametrize("text", ["If the text names no day, do not", "wenn der Text keinen Tag"])
def test_common_words_in_a_row_are_no_copy(text: str) -> None:
    few = " ".join(text.split()[:5])
    assert improving.copied([few], [few], []) == ""


# -------------------------------------------------------------------------- what becomes of it


def facts_in(of: Taught, kind: str, entity: str) -> list[Any]:
    with of.at.agents.reading() as world:
        return [row.fact for row in world.history(kind, entity)]


def test_confirming_is_one_append_and_the_journal_has_no_part() -> None:
    of = taught("Tap")
    of.wakes(proposing(), words="Fewer dates")
    before, journal = of.at.agents.tail().n, of.at.journal.tail().n
    assert of.confirm(1) == "confirmed"
    assert (of.at.agents.tail().n, of.at.journal.tail().n) == (before + 1, journal)
    intent, done = facts_in(of, "changes", of.sets[-1])[-2:]
    assert isinstance(intent, ItemConfirming)
    assert (intent.operation, isinstance(done, ItemConfirmed)) == ("", True)
    active = of.of_template().version
    assert active is not None
    assert (active.version, active.author, active.item) == (2, "evolution", f"{of.sets[-1]}.1")
    assert of.confirm(1) == "confirmed", "again: nothing"
    assert (of.at.agents.tail().n, of.proved()) == (before + 1, [])


def test_undone_and_confirmed_again_it_is_one_version_without_a_gap() -> None:
    of = taught("Tap")
    of.wakes(proposing(), words="Fewer dates")
    for _ in range(2):
        of.confirm(1)
        assert of.of_template().active == 2
        item = review.undo(of.at, of.sets[-1], 1, "")
        assert item is not None
        assert (item.status, of.of_template().active) == ("pending", 1)
    of.confirm(1)
    assert [one.version for one in of.of_template().versions] == [1, 2]
    of.at.append_agent(t.AddVersion(of.template, Words("Else."), Words(BRIEF), "user"))
    assert of.of_template().active == 3
    assert of.proved() == []


def test_where_another_version_is_active_it_is_stale_and_taken_anyway() -> None:
    of = taught("Tap")
    of.wakes(proposing(), words="Fewer dates")
    of.at.append_agent(t.AddVersion(of.template, Words("Else."), Words(BRIEF), "user"))
    with pytest.raises(Refused) as refused:
        of.confirm(1)
    assert (refused.value.code, of.of_template().active) == ("stale", 2)
    assert of.confirm(1, is_anyway=True) == "confirmed"
    assert of.of_template().active == 3
    of.at.append_agent(t.AddVersion(of.template, Words("More."), Words(BRIEF), "user"))
    with pytest.raises(Refused) as refused:
        review.undo(of.at, of.sets[-1], 1, "")
    assert (refused.value.code, of.of_template().active) == ("stale", 4)


def test_an_edit_is_what_becomes_the_version_of_its_own_template_alone() -> None:
    of = taught("Tap")
    other = of.at.append_agent(t.CreateTemplate("Other", Words("A"), Words("B"))).result.ids[0]
    of.wakes(proposing(), words="Fewer dates")
    given_text = canonical.read(review.arguments_of(of.at, of.items()[0]))
    edit = canonical.text({**given_text, "general": "Mine.", "template": other})
    assert of.confirm(1, edit=edit) == "confirmed"
    active = of.of_template().version
    assert active is not None
    assert (active.general.text, active.version) == ("Mine.", 2)
    with of.at.agents.reading() as world:
        assert len(world.load(TEMPLATE, other).versions) == 1


def test_it_teaches_its_template_alone_and_no_figure_counts_it() -> None:
    of = taught("Tap")
    with of.at.agents.reading() as world:
        before = len(facts_of(world, of.template).decided)
    of.wakes(proposing(), words="Fewer dates")
    review.reject(of.at, of.sets[-1], 1, "Not yet")
    with of.at.agents.reading() as world:
        assert len(facts_of(world, of.template).decided) == before
    scopes = [row.entity for row in lessons_of(of) if row.fact.tool == "propose_directives"]
    assert scopes == [f"template:{of.template}"]


def lessons_of(of: Taught) -> list[Any]:
    with of.at.agents.reading() as world:
        found = [world.history("lessons", one) for one in world.entities("lessons")]
    return [row for rows_ in found for row in rows_ if hasattr(row.fact, "tool")]


def test_of_a_deleted_template_nothing_is_told_and_nothing_confirmed() -> None:
    of = taught("Tap")
    of.wakes(proposing(), words="Fewer dates")
    of.at.append_agent(t.AssignTemplate(of.at.agent(only_agent(of)).id, ""))
    of.at.append_agent(t.DeleteTemplate(of.template))
    with pytest.raises(Refused) as refused:
        of.confirm(1)
    assert refused.value.code == "unknown_template"
    with pytest.raises(Refused) as refused:
        of.wakes(words="And now?")
    assert refused.value.code == "out_of_scope"


def only_agent(of: Taught) -> str:
    return of.of_template().instances[0]


def test_a_session_that_dies_keeps_its_notes() -> None:
    of = taught("Tap")
    note = {"text": "Dates were tried.", "priority": "notable", "category": "operational"}
    said = reply(call("record_observations", observations=[note])), GONE
    woken(of.at, of.agent, *said, scaffold=SCAFFOLD)
    agent = of.at.agent(of.agent)
    assert agent.last_outcome == "failed"
    assert [one.words.text for one in agent.observations] == ["Dates were tried."]
    assert of.proved() == []


def test_each_section_of_its_prompt_is_named_on_the_page() -> None:
    names = ("template", "figures", "rehearsed", "feedback")
    assert [one for one in names if not section_purpose(one)] == []
