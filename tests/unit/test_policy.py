"""What a person agreed to, and what the gate makes of it."""

import re
from collections.abc import Sequence

import pytest

from domain.agent.agent import Agent
from domain.errors import Refused
from domain.log.state import MAIN, RecordedEvent
from domain.policy import policy as p
from domain.policy.gate import (
    GATED_SINCE,
    NOTICE_VERSION,
    TOLD,
    GateRefusal,
    is_leaving,
    notice,
    notice_of,
    refusal,
    sections_of,
)
from domain.policy.policy import POLICY, Policy
from domain.wake.scaffolds import SCAFFOLD
from tests.support.process import ROOT

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
    old = agreed("work", notice=NOTICE_VERSION - 1)
    assert code(old, agent("work")) == "privacy_confirmation_required"


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
    untold = made - set(sections_of(notice_of(SCAFFOLD)))
    assert {"role", "task", "linked"} <= made
    assert not untold, (
        f"{untold}: tell of them in domain/policy/gate.py; in a new notice, which every person "
        "is asked about again, if a dated section of CHANGELOG names the last one"
    )


def test_a_wake_needs_the_notice_of_its_own_time() -> None:
    assert [notice_of(one) for one in (GATED_SINCE, SCAFFOLD, SCAFFOLD + 1)] == [1, 1, 1]
    assert NOTICE_VERSION == max(TOLD) == notice_of(SCAFFOLD)


def test_what_a_refusal_tells_names_no_task() -> None:
    found: Sequence[GateRefusal | None] = [
        refusal(Policy(MAIN), agent(*categories), PRO, has_secret=True)
        for categories in ((), ("work",))
    ]
    assert all(one is not None and "work" not in one.because for one in found)
