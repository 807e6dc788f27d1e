"""What a person agreed to, what the gate makes of it, and what may cross a boundary at all."""

import ast
import re
from collections.abc import Iterator, Sequence

import pytest
from msgspec import Struct
from msgspec.structs import replace

from adapters.runtime import effect_executor
from adapters.upkeep import doctor
from adapters.wiring import Home
from domain.agent.agent import Agent
from domain.agent.subscriptions import Batch
from domain.errors import REFUSAL_CODES, Refused
from domain.journal import task as t
from domain.log.state import MAIN, RecordedEvent
from domain.policy import policy as p
from domain.policy.flow import ALLOWED, project
from domain.policy.gate import (
    NOTICE_VERSION,
    REQUESTS_NOTICE,
    TOLD,
    GateRefusal,
    is_leaving,
    notice,
    notice_of,
    refusal,
    sections_of,
)
from domain.policy.policy import POLICY, Policy
from domain.scaffold import FEATURES
from domain.tools.base import CAPABILITIES, CLIENT
from domain.wake.commands import SkipWake
from domain.wake.lookups import RecalledMemory, TaskFound
from domain.wake.manifests import MANIFESTS
from domain.wake.reading import (
    DayTaskSeen,
    DoneTaskSeen,
    FeedbackSeen,
    LinkedAgent,
    LinkSeen,
    PromptOptions,
    TaskSeen,
    WeekTaskSeen,
)
from tests.support.architecture import tree_of
from tests.support.process import ROOT
from tests.support.readings import AGENT as READER
from tests.support.readings import HOME, ROOF, WORK, add_link, add_task, household, read
from tests.support.services import one_agent, queued_key

PRO = "gemini:pro"
SECTIONS = sections_of()
SECTION = re.compile(r'\bsection\(\s*"(\w+)"')


def given(*facts: p.PolicyFact, policy: Policy | None = None) -> Policy:
    """The policy that these facts make."""
    known = policy or POLICY.initial(MAIN)
    for n, fact in enumerate(facts, start=1):
        known = POLICY.evolve(
            known, RecordedEvent("policy:main@r1", n, "r1", n, 0, f"at {n}", fact)
        )
    return known


def agreed(*categories: str, model: str = "gemini:*", notice: int = NOTICE_VERSION) -> Policy:
    return given(p.ConsentGiven(model, categories, notice, SECTIONS))


def agent(*categories: str) -> Agent:
    return Agent("a", lifecycle="active", categories=categories)


def code(policy: Policy, who: Agent, model: str = PRO, *, has_secret: bool = True) -> str:
    refused = refusal(policy, who, model, has_secret)
    return refused.code if refused else ""


# ---------------------------------------------------------------------------------------- receipts


def test_a_receipt_is_given_once_and_says_nothing_the_second_time() -> None:
    facts = p.give(Policy(MAIN), "gemini:*", ("work", "home", "work"), 1, SECTIONS)
    assert facts == [p.ConsentGiven("gemini:*", ("home", "work"), 1, SECTIONS)]
    known = given(*facts)
    assert p.give(known, "gemini:*", ("home",), 1, SECTIONS) == []
    assert p.give(known, "gemini:*", ("home",), 2, SECTIONS) != []
    assert p.give(known, "gemini:*", ("health",), 1, SECTIONS) != []


def test_a_newer_receipt_takes_the_place_of_an_older_one_of_its_categories() -> None:
    known = given(
        p.ConsentGiven("gemini:*", ("home", "work"), 1, SECTIONS),
        p.ConsentGiven("gemini:*", ("work",), 2, SECTIONS),
    )
    told = [(one.category, one.notice, one.at) for one in known.consents]
    assert told == [("home", 1, "at 1"), ("work", 2, "at 2")]


def test_a_withdrawal_ends_what_its_pattern_meets_and_says_nothing_the_second_time() -> None:
    known = agreed("home", "work")
    (fact,) = p.withdraw(known, PRO, ("work",))
    left = given(fact, policy=known)
    assert [one.category for one in left.consents] == ["home"]
    assert p.withdraw(left, PRO, ("work",)) == []
    assert p.withdraw(left, "mine:*", ()) == []
    assert given(*p.withdraw(left, "gemini:*", ()), policy=left).consents == ()


def test_a_rule_stands_until_another_one_of_its_category() -> None:
    (fact,) = p.rule(Policy(MAIN), "work", (PRO, "gemini:flash", PRO))
    known = given(fact)
    assert known.rules == (("work", ("gemini:flash", PRO)),)
    assert p.rule(known, "work", ("gemini:flash", PRO)) == []
    assert given(*p.rule(known, "work", ()), policy=known).rules == ()


@pytest.mark.parametrize("wrong", ["", "*", "gemini:*pro", "a\nb", "x" * 202, " gemini"])
def test_a_pattern_has_a_name_and_its_star_at_the_end(wrong: str) -> None:
    with pytest.raises(Refused) as refused:
        p.give(Policy(MAIN), wrong, ("work",), 1, SECTIONS)
    assert refused.value.code == "invalid_value"


def test_a_receipt_names_a_category_and_not_too_many() -> None:
    for wrong in ((), tuple(str(nth) for nth in range(p.CATEGORIES_MAX + 1))):
        with pytest.raises(Refused):
            p.give(Policy(MAIN), PRO, wrong, 1, SECTIONS)
    with pytest.raises(Refused):
        p.rule(Policy(MAIN), "", tuple(f"m{nth}" for nth in range(p.PATTERNS_MAX + 1)))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("gemini:*", "gemini:p*", True),
        ("gemini:p*", "gemini:*", True),
        ("gemini:f*", "gemini:p*", False),
        (PRO, "gemini:*", True),
        ("gemini:*", "gemini", True),
        (PRO, "gemini:flash", False),
    ],
)
def test_two_patterns_meet_where_one_model_has_both(
    one: str, other: str, *, expected: bool
) -> None:
    assert p.meets(one, other) is expected


# -------------------------------------------------------------------------------------------- gate


def test_the_gates_close_in_their_order() -> None:
    barred = given(p.ModelsRuled("work", ("rules",)))
    ruled = given(p.ModelsRuled("work", ("rules",)), policy=agreed("work"))
    assert code(barred, agent()) == "out_of_scope"
    assert code(barred, agent("work"), has_secret=False) == "disallowed_provider_model"
    assert code(ruled, agent("work")) == "disallowed_provider_model"
    assert code(Policy(MAIN), agent("work"), has_secret=False) == "privacy_confirmation_required"
    assert code(agreed("work"), agent("work"), has_secret=False) == "secret_unavailable"
    assert code(agreed("work"), agent("work")) == ""


def test_each_category_of_an_agent_needs_a_receipt() -> None:
    refused = refusal(agreed("work"), agent("health", "work"), PRO, has_secret=True)
    assert refused is not None
    assert (refused.categories, refused.waits_for) == (("health",), "consent")


def test_a_receipt_of_an_older_notice_opens_nothing() -> None:
    """A receipt of what a task's agent is sent goes on being good for task agents."""
    for kind, least in (("day_agent", 2), ("category_agent", 3)):
        old, other = agreed("work", notice=least - 1), replace(agent("work"), agent_kind=kind)
        assert code(old, other) == "privacy_confirmation_required"
        assert code(old, agent("work")) == code(agreed("work", notice=least), other) == ""
    assert code(agreed("work", notice=0), agent("work")) == "privacy_confirmation_required"


@pytest.mark.parametrize("model", ["rules", "demo", "demo:quick", "tape", "tape:a.jsonl"])
def test_what_stays_on_the_machine_needs_neither_receipt_nor_key(model: str) -> None:
    assert code(Policy(MAIN), agent("work"), model, has_secret=False) == ""


@pytest.mark.parametrize("model", ["gemini", PRO, "local", "ruleset", "tapes:x", "RULES"])
def test_any_other_name_leaves_the_machine(model: str) -> None:
    assert is_leaving(model)
    assert code(Policy(MAIN), agent("work"), model) == "privacy_confirmation_required"


def test_a_rule_for_all_categories_and_one_of_its_own_must_both_allow_a_model() -> None:
    both = given(p.ModelsRuled("", ("gemini:*", "rules")), p.ModelsRuled("work", ("rules",)))
    assert code(both, agent("work"), "rules") == ""
    assert code(both, agent("work"), PRO) == "disallowed_provider_model"
    assert code(both, agent("home"), PRO) == "privacy_confirmation_required"
    assert code(both, agent("home"), "mine") == "disallowed_provider_model"


# ------------------------------------------------------------------------------------------ notice


def test_the_notice_names_the_model_the_categories_and_each_section() -> None:
    text = notice("gemini:*", ["Work", "Health"], SECTIONS)
    assert "an agent for Work or Health wakes" in text
    assert "every model of gemini" in text
    assert text.count("\n- ") == len(SECTIONS)
    assert "the model gemini:pro" in notice(PRO, ["Work"], ("task", "other_part"))
    assert "- other part" in notice("gem*", ["Work"], ("task", "other_part"))


def test_the_notice_tells_of_every_section_that_a_prompt_may_hold() -> None:
    sources = (ROOT / "domain" / "wake").glob("*.py")
    made = {name for file in sources for name in SECTION.findall(file.read_text(encoding="utf-8"))}
    untold = made - set(sections_of()) - {CLIENT}  # what it said itself
    assert {"role", "task", "linked"} <= made
    assert not untold, (
        f"{untold}: tell of them in domain/policy/gate.py; in a new notice, which every person "
        "is asked about again, if a dated section of CHANGELOG names the last one"
    )


SUBJECTS = {"task": "task", "home": "day", "category": "week", "template": "feedback"}


def test_a_wake_needs_the_notice_of_what_its_kind_is_told() -> None:
    """What a notice of an ended issue says never changes; a new section is told by another one."""
    for kinds in MANIFESTS.values():
        for kind, one in kinds.items():
            held = {*one.order.system, *one.order.before_task, *one.order.after_task}
            subject = SUBJECTS[one.subject]
            told = {*sections_of(notice_of(kind)), "guiding"}
            held -= {"requests"}  # left out where no newer notice was agreed to
            assert held | {subject, "tools"} <= told, kind
    assert NOTICE_VERSION == max(TOLD) == max(map(notice_of, CAPABILITIES))
    assert "requests" in sections_of(REQUESTS_NOTICE)


def test_what_a_refusal_tells_names_no_task() -> None:
    found: Sequence[GateRefusal | None] = [
        refusal(Policy(MAIN), agent(*categories), PRO, has_secret=True)
        for categories in ((), ("work",))
    ]
    assert all(one is not None and "work" not in one.because for one in found)


# ------------------------------------------------------------------------ what may cross a boundary

STRUCTS: dict[str, tuple[type[Struct], ...]] = {
    "own_task": (TaskSeen,),
    "linked_task": (LinkSeen,),
    "notice": (Batch,),
    "category_task": (TaskFound,),
    "own_past": (RecalledMemory,),
    "day_task": (DayTaskSeen,),
    "week_task": (WeekTaskSeen, DoneTaskSeen),
    "feedback": (FeedbackSeen,),
}


@pytest.mark.parametrize("scaffold", FEATURES)
def test_every_scaffold_has_a_row_for_every_boundary(scaffold: int) -> None:
    since = {"day_task": 4, "week_task": 5, "feedback": 7, "category_task": 2, "own_past": 2}
    assert ALLOWED[scaffold].keys() == {one for one in STRUCTS if since.get(one, 1) <= scaffold}
    for boundary, names in ALLOWED[scaffold].items():
        held = {name for one in STRUCTS[boundary] for name in one.__struct_fields__}
        assert names <= held, boundary


def test_what_is_outside_of_the_table_is_refused_and_not_repeated() -> None:
    link = LinkSeen("blocks", "task-1", "A title", tldr="a secret")
    assert project("linked_task", link, 2) is link
    with pytest.raises(Refused) as refused:
        project("linked_task", link, 1)
    assert refused.value.code == "overshared_payload_blocked"
    assert refused.value.code in REFUSAL_CODES
    assert "tldr" in str(refused.value)
    assert "a secret" not in str(refused.value)


def test_a_field_that_is_left_empty_crosses_every_boundary() -> None:
    assert project("linked_task", LinkSeen("blocks"), 1) == LinkSeen("blocks")


def _name(function: ast.expr) -> str:
    """Whom a call calls, where it is called by its name alone."""
    return function.id if isinstance(function, ast.Name) else ""


def _made(tree: ast.Module) -> Iterator[str]:
    """Structs of a boundary that are made and do not go through `project` on the way out."""
    named = {one.__name__ for many in STRUCTS.values() for one in many}
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    if not any(_name(call.func) in named for call in calls):
        return
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    projected = {
        name.id
        for call in calls
        if _name(call.func) == "project"
        for given in call.args
        for name in ast.walk(given)
        if isinstance(name, ast.Name)
    }
    for call in calls:
        if _name(call.func) not in named:
            continue
        around = parents[call]
        is_direct = isinstance(around, ast.Call) and _name(around.func) == "project"
        is_kept = isinstance(around, ast.Assign) and ast.unparse(around.targets[0]) in projected
        function = next(one for one in functions if call in ast.walk(one))
        if not (is_direct or is_kept or function.name in projected):
            yield f"line {call.lineno}: {_name(call.func)}"


def test_what_is_read_for_somebody_else_is_made_through_the_table_alone() -> None:
    made = 0
    for folder in ("domain", "projections", "adapters", "replay"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            if any(f"{one.__name__}(" in text for many in STRUCTS.values() for one in many):
                assert list(_made(tree_of(text))) == [], file
            made += text.count("project(")
    assert made >= len(STRUCTS)
    around = "def f():\n    return LinkSeen('blocks', title=secret)\n"
    assert list(_made(tree_of(around))) == ["line 2: LinkSeen"]


def test_a_linked_task_is_told_by_direction_date_and_labels_since_scaffold_2() -> None:
    book = household()
    add_task(book, "task-bank", "Ask the bank", HOME)
    book.tell("task", "task-bank", t.DueSet("person", "2027-04-01"))
    for label in ("label-house", "label-job"):
        book.tell("task", "task-bank", t.LabelAssigned("person", label))
    add_link(book, "task-bank", "relates_to", ROOF)
    add_task(book, "task-secret", "Negotiate", WORK)
    add_link(book, ROOF, "relates_to", "task-secret")
    said = {"task-bank": LinkedAgent("Waiting", "They have the papers.")}
    foreign, bank = read(book, READER, linked_agents=said, given=PromptOptions(2)).linked
    assert foreign == LinkSeen("relates_to", direction="outgoing")
    assert (bank.direction, bank.due, bank.tldr) == (
        "incoming",
        "2027-04-01",
        "They have the papers.",
    )
    assert bank.labels == ("house",), "the name of a label of another category stays there"
    (_, before) = read(book, READER, linked_agents=said).linked
    assert before == replace(bank, direction="", due="", labels=(), tldr="")


def test_a_wake_that_would_be_told_too_much_is_skipped_and_doctor_says_so() -> None:
    at, _, agent = one_agent()
    code = "overshared_payload_blocked"
    at.append_agent(SkipWake(agent, queued_key(at, agent), code, "notes may not cross"))
    assert code in effect_executor.CANNOT_START
    home = Home.in_memory(at)
    home.views.catch_up()
    (told, *_) = doctor._runs(home)
    assert not told.is_ok
    assert "more than it may" in told.told
