"""The gate is monotone: whatever is withdrawn, it never opens further."""

from hypothesis import given
from hypothesis import strategies as st

from domain.agent.agent import Agent
from domain.log.state import MAIN, RecordedEvent
from domain.policy import policy as p
from domain.policy.gate import NOTICE_VERSION, refusal
from domain.policy.policy import POLICY, Policy

CATEGORIES = ("health", "home", "work")
MODELS = ("gemini", "gemini:pro", "gemini:flash", "mine", "rules", "tape:a")
patterns = st.sampled_from(("gemini:*", "gemini:p*", "gemini:pro", "mine", "mine:*", "rules", "r*"))
categories = st.lists(st.sampled_from(CATEGORIES), unique=True).map(tuple)
given_ = st.builds(
    p.ConsentGiven,
    patterns,
    categories,
    st.integers(NOTICE_VERSION - 1, NOTICE_VERSION + 1),
    st.just(("task",)),
)
withdrawn = st.builds(p.ConsentWithdrawn, patterns, categories)
ruled = st.builds(
    p.ModelsRuled, st.sampled_from(("", *CATEGORIES)), st.lists(patterns, max_size=2).map(tuple)
)
agents = categories.map(lambda known: Agent("a", lifecycle="active", categories=known))


def folded(*facts: p.PolicyFact) -> Policy:
    policy = POLICY.initial(MAIN)
    for n, fact in enumerate(facts, start=1):
        policy = POLICY.evolve(policy, RecordedEvent("policy:main@r1", n, "r1", n, 0, "", fact))
    return policy


def is_open(policy: Policy, agent: Agent, model: str, *, has_secret: bool = True) -> bool:
    return refusal(policy, agent, model, has_secret) is None


@given(st.lists(st.one_of(given_, ruled, withdrawn), max_size=6), withdrawn, agents,
       st.sampled_from(MODELS))  # fmt: skip
def test_withdrawing_anything_never_allows_more(
    facts: list[p.PolicyFact], last: p.ConsentWithdrawn, agent: Agent, model: str
) -> None:
    before, after = folded(*facts), folded(*facts, last)
    assert is_open(before, agent, model) or not is_open(after, agent, model)
    assert is_open(before, agent, model) or not is_open(before, agent, model, has_secret=False)


@given(st.lists(st.one_of(given_, ruled), max_size=6), withdrawn, agents, st.sampled_from(MODELS))
def test_what_was_withdrawn_is_asked_no_more(
    facts: list[p.PolicyFact], last: p.ConsentWithdrawn, agent: Agent, model: str
) -> None:
    after = folded(*facts, last)
    concerned = set(agent.categories) & set(last.categories or agent.categories)
    if concerned and p.matches(last.model, model) and not model.startswith(("rules", "tape")):
        assert not is_open(after, agent, model)


@given(st.lists(st.one_of(given_, ruled, withdrawn), max_size=6), patterns, categories)
def test_what_was_decided_once_is_so_the_second_time(
    facts: list[p.PolicyFact], pattern: str, named: tuple[str, ...]
) -> None:
    policy = folded(*facts)
    if named:
        receipts = p.give(policy, pattern, named, NOTICE_VERSION, ("task",))
        assert p.give(folded(*facts, *receipts), pattern, named, NOTICE_VERSION, ("task",)) == []
    ends = p.withdraw(policy, pattern, named)
    assert p.withdraw(folded(*facts, *ends), pattern, named) == []
