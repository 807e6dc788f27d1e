"""What a person agreed to let leave this machine: the stream ``policy:main``.

STORAGE FORMAT, see `domain.log.wire`; tags and texts call a consent a receipt. It says what a
person was shown and agreed to: that the named sections go to the models of a pattern, for agents
of these categories. A rule says which models agents of a category may ask at all. One person, so
no roles."""

import re

from msgspec import Struct
from msgspec.structs import replace

from domain.agent import clients, endpoints
from domain.agent.deciders import at_most
from domain.errors import invalid
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import Stored

PATTERNS_MAX = 50  # of one rule
CATEGORIES_MAX = 1000  # of one consent

_PATTERN = re.compile(r"[^*\s\x00-\x1f][^*\x00-\x1f]{0,199}\*?")


class ConsentGiven(Stored, frozen=True, tag="policy.receipt_given.1"):
    """`notice`: version of the text that was shown; `sections`: what it named."""

    model: str  # a pattern, ``gemini:*``
    categories: tuple[str, ...]
    notice: int
    sections: tuple[str, ...]


class ConsentWithdrawn(Stored, frozen=True, tag="policy.receipt_withdrawn.1"):
    """Every consent whose pattern meets this one ends for these categories; none: for all."""

    model: str
    categories: tuple[str, ...] = ()


class ModelsRuled(Stored, frozen=True, tag="policy.models_ruled.1"):
    """Which models agents of a category may ask. `category` empty: of every one; `allowed`
    empty: any with a consent."""

    category: str = ""
    allowed: tuple[str, ...] = ()


PolicyFact = ConsentGiven | ConsentWithdrawn | ModelsRuled


class Consent(Struct, frozen=True):
    """What was agreed to for one category, in force since `at`."""

    model: str
    category: str
    notice: int
    sections: tuple[str, ...]
    at: str


class Policy(Struct, frozen=True):
    """What is agreed to, and which models are allowed; `rules`: by category, in its order."""

    id: str
    consents: tuple[Consent, ...] = ()
    rules: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def consented(self, model: str, category: str, notice: int) -> bool:
        """Whether a consent of this notice, or a later one, covers a model for a category."""
        return any(
            known.category == category and known.notice >= notice and covers(known.model, model)
            for known in self.consents
        )

    def allows(self, model: str, category: str) -> bool:
        """Whether neither the rule of all categories nor this one's own forbids a model."""
        return all(
            any(matches(pattern, model) for pattern in allowed)
            for ruled, allowed in self.rules
            if ruled in ("", category)
        )


def matches(pattern: str, model: str) -> bool:
    """Whether a pattern names a model. A ``*`` stands at its end only; ``gemini:*`` is also plain
    ``gemini``, the provider's default.

    >>> [matches("gemini:*", one) for one in ("gemini:pro", "gemini", "geminis", "rules")]
    [True, True, False, False]
    """
    if endpoints.is_every(pattern):
        return endpoints.origin(pattern) == endpoints.origin(model)
    if not pattern.endswith("*"):
        return model == pattern
    return model.startswith(pattern[:-1]) or f"{model}:*" == pattern


def covers(pattern: str, model: str) -> bool:
    """Whether a consent of a pattern is one for a model: that of another address never is, so
    that of models behind an address only its whole name counts, or all models there.

    >>> here, there = "openai:qwen3@http://localhost:11434/v1", "openai:qwen3@https://example.org"
    >>> [covers("openai:*@http://localhost:11434", one) for one in (here, there)]
    [True, False]
    >>> covers("m*", "mcp:claude"), covers("mcp:*", "mcp:claude")
    (False, True)
    >>> covers("openai:*", here), covers("openai:qwen3", "openai:qwen3"), covers("*", "gemini")
    (False, False, True)
    """
    if model.startswith(clients.PREFIX) and not pattern.startswith(clients.PREFIX):
        return False  # what was shown for all models was no client's
    if not model.startswith(endpoints.PREFIX):
        return matches(pattern, model)
    return endpoints.every(model) == pattern or (pattern == model and bool(endpoints.origin(model)))


def meets(one: str, other: str) -> bool:
    """Whether a model could be named by both patterns.

    >>> meets("gemini:*", "gemini:pro"), meets("gemini:pro", "gemini:flash")
    (True, False)
    """
    if one.endswith("*") and other.endswith("*"):
        return one.startswith(other[:-1]) or other.startswith(one[:-1])
    for begins, at in ((one, other), (other, one)):
        if begins.endswith("*") and endpoints.is_every(at):
            return matches(begins, endpoints.PREFIX) or begins.startswith(endpoints.PREFIX)
    return matches(one, other) or matches(other, one)


def pattern(given: str) -> str:
    """A pattern as it is kept, or Refused if it is none."""
    if given.startswith(clients.PREFIX) and not given.endswith("*"):
        return clients.client_model(given.removeprefix(clients.PREFIX))
    if endpoints.is_every(given):
        return endpoints.every(given)
    if found := endpoints.named(given):
        return found.name
    if _PATTERN.fullmatch(given) is None:
        because = f"{given!r} names no model"
        raise invalid(because, "use a model's name, or PROVIDER:* for all of it")
    return given


def ends(withdrawn: ConsentWithdrawn, fact: Stored) -> bool:
    """Whether a withdrawal ends a consent, or a part of it."""
    return (
        isinstance(fact, ConsentGiven)
        and meets(fact.model, withdrawn.model)
        and not (withdrawn.categories and set(withdrawn.categories).isdisjoint(fact.categories))
    )


def give(
    policy: Policy, model: str, categories: tuple[str, ...], notice: int, sections: tuple[str, ...]
) -> list[PolicyFact]:
    """Agree to what was shown; nothing where that stands already."""
    if not (kept := tuple(sorted(set(categories)))):
        raise invalid("the receipt names no category", "name one at least")
    at_most(CATEGORIES_MAX, len(kept), "categories of one receipt")
    model = pattern(model)
    if model.startswith(endpoints.PREFIX) and not endpoints.origin(model):
        because = f"{model!r} names no address, and a receipt is for one"
        raise invalid(because, "name it, as openai:*@http://localhost:11434")
    wanted = {(model, category, notice, sections) for category in kept}
    known = {(one.model, one.category, one.notice, one.sections) for one in policy.consents}
    return [] if wanted <= known else [ConsentGiven(model, kept, notice, sections)]


def withdraw(policy: Policy, model: str, categories: tuple[str, ...]) -> list[PolicyFact]:
    """End every consent that covers one of these models; nothing where none does."""
    withdrawn = ConsentWithdrawn(pattern(model), tuple(sorted(set(categories))))
    return [withdrawn] if _left(policy, withdrawn) != policy.consents else []


def rule(policy: Policy, category: str, allowed: tuple[str, ...]) -> list[PolicyFact]:
    """Say which models agents of a category may ask; nothing where that stands already."""
    kept = tuple(sorted({pattern(one) for one in allowed}))
    at_most(PATTERNS_MAX, len(kept), "patterns of one rule")
    return [] if dict(policy.rules).get(category, ()) == kept else [ModelsRuled(category, kept)]


def evolve(policy: Policy, recorded: RecordedEvent) -> Policy:
    """The policy after one more fact."""
    match recorded.fact:
        case ConsentGiven() as given:
            return replace(policy, consents=_with(policy, given, recorded.at))
        case ConsentWithdrawn() as withdrawn:
            return replace(policy, consents=_left(policy, withdrawn))
        case ModelsRuled(category=category, allowed=allowed):
            rules = {**dict(policy.rules), category: allowed}
            kept = sorted((of, names) for of, names in rules.items() if names)
            return replace(policy, rules=tuple(kept))
        case _:
            return policy


def _with(policy: Policy, given: ConsentGiven, at: str) -> tuple[Consent, ...]:
    """The consents with those of a new one in place of its older ones."""
    others = (
        known
        for known in policy.consents
        if known.model != given.model or known.category not in given.categories
    )
    made = (
        Consent(given.model, category, given.notice, given.sections, at)
        for category in given.categories
    )
    return (*others, *made)


def _left(policy: Policy, withdrawn: ConsentWithdrawn) -> tuple[Consent, ...]:
    return tuple(
        known
        for known in policy.consents
        if not meets(known.model, withdrawn.model)
        or (withdrawn.categories and known.category not in withdrawn.categories)
    )


POLICY: StreamType[Policy] = StreamType("policy", Policy, evolve)
