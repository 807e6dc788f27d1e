"""What may leave the machine: a person agrees to it, withdraws it, and rules which models.

What the doors offer, in this order: `needed` says which receipts some agents lack, each with the
notice to show and the command that gives it, so that `wake`, `ask` and `run` ask once; `allow`
gives one, `withdraw` ends one, `rule` says which models a category may ask; `standing` is the
document of `policy show` and of the page.
"""

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adapters.documents.policy import (
    Allowed,
    HeldWake,
    NeededReceipt,
    PolicyDocument,
    ReceiptDetails,
    RefusalDetails,
    Ruled,
    RuleDetails,
)
from adapters.runtime import gate
from domain.agent.agent import AGENT
from domain.errors import invalid
from domain.journal.catalog import CATALOG, find_category, unknown_category
from domain.policy.commands import GiveReceipt, PolicyCommand, RuleModels, WithdrawReceipt
from domain.policy.gate import is_leaving, pattern_of, unconsented
from domain.policy.notices import NOTICE_VERSION, notice, sections_of
from domain.policy.policy import POLICY, Policy, pattern
from domain.world import MAIN
from projections.policy import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.journal.catalog import Catalog


def notice_text(home: "Home", model: str, categories: Sequence[str] = ()) -> str:
    """The notice that `allow` of the same would agree to. Raises what `allow` does."""
    ids = _categories(home, categories)
    return notice(_pattern(model), _named(home, ids), sections_of())


def allow(home: "Home", model: str, categories: Sequence[str] = (), key: str = "") -> Allowed:
    """Agree to what today's notice shows, and let go on what waited for that.

    Args:
        home: Open to write.
        model: A model, or a pattern with ``*`` at its end; a provider's name means all of it.
        categories: By name or id; none: all there are now.
        key: The caller's.

    Raises:
        Refused: Code ``unknown_category`` or ``invalid_value``; nothing is written.
    """
    ids, named = _categories(home, categories), _pattern(model)
    command = GiveReceipt(named, ids, NOTICE_VERSION, sections_of())
    changed = _noted(home, command, key)
    resumed = gate.let_go(home.services, held_agents(home))
    home.views.catch_up()
    return Allowed(named, list(ids), _named(home, ids), NOTICE_VERSION, changed, len(resumed))


def withdraw(home: "Home", model: str, categories: Sequence[str] = (), key: str = "") -> Allowed:
    """End every receipt that covers a model, or one of a pattern's; no category: for all.

    A wake that asked its model already keeps the reply that comes, and sends nothing more.

    Raises:
        Refused: Code ``unknown_category`` or ``invalid_value``; nothing is written.
    """
    ids = _categories(home, categories) if categories else ()
    named = _pattern(model)
    changed = _noted(home, WithdrawReceipt(named, ids), key)
    return Allowed(named, list(ids), _named(home, ids), NOTICE_VERSION, changed)


def rule(home: "Home", category: str, patterns: Sequence[str] = (), key: str = "") -> Ruled:
    """Say which models agents of a category may ask; an empty category: of every one; no
    pattern: any that there is a receipt for.

    Raises:
        Refused: Code ``unknown_category`` or ``invalid_value``; nothing is written.
    """
    ids = _categories(home, [category]) if category else ("",)
    allowed = tuple(_pattern(one) if is_leaving(one) else one for one in patterns)
    changed = _noted(home, RuleModels(ids[0], allowed), key)
    gate.let_go(home.services, held_agents(home))
    home.views.catch_up()
    name = _named(home, ids)[0] if category else None
    return Ruled(name, ids[0] or None, list(allowed), changed)


def ruling(home: "Home", category: str) -> Ruled:
    """The rule of a category by itself; empty: of every one. Raises what `rule` does."""
    (wanted,) = _categories(home, [category]) if category else ("",)
    with home.services.agents.reading() as world:
        allowed = dict(world.load(POLICY, MAIN).rules).get(wanted, ())
    name = _named(home, [wanted])[0] if category else None
    return Ruled(name, wanted or None, list(allowed), changed=False)


def allow_all(home: "Home", agent_ids: Sequence[str]) -> list[Allowed]:
    """Agree for all categories there are to what the home's model is sent, and what those of some
    agents are: for a service, which nobody can ask. Nothing where all of them answer here."""
    if not _catalog(home).categories:
        return []
    models = {one.model for one in needed(home, agent_ids)}
    if is_leaving(home.settings.model):
        models.add(pattern_of(home.settings.model))
    return [allow(home, one) for one in sorted(models)]


def needed(home: "Home", agent_ids: Iterable[str]) -> list[NeededReceipt]:
    """The receipts that these agents lack before they can wake, one for each provider; none
    where all may ask their models. A model that cannot be had is left to who asks for it."""
    lacking: dict[str, tuple[set[str], list[str]]] = {}
    with home.services.agents.reading() as world:
        policy = world.load(POLICY, MAIN)
        agents = [world.load(AGENT, one) for one in agent_ids]
    for agent in agents:
        model = gate.full_name(home.services, home.services.model_name(agent))
        if missing := unconsented(policy, agent, model):
            categories, ids = lacking.setdefault(pattern_of(model), (set(), []))
            categories.update(missing)
            ids.append(agent.id)
    return [
        _needed(home, model, tuple(sorted(categories)), ids)
        for model, (categories, ids) in lacking.items()
    ]


def _needed(
    home: "Home", model: str, categories: tuple[str, ...], agent_ids: list[str]
) -> NeededReceipt:
    names = _named(home, categories)
    text = notice(model, names, sections_of())
    command = allow_command(model, names)
    return NeededReceipt(model, list(categories), names, agent_ids, text, command)


def allow_command(model: str, categories: Iterable[str]) -> str:
    """The command that agrees to a model for some categories, by their names.

    >>> allow_command("gemini:*", ["Work", "At home"])
    "wakelog policy allow 'gemini:*' --category Work --category 'At home'"
    """
    named = "".join(f" --category {shlex.quote(one)}" for one in categories)
    return f"wakelog policy allow {shlex.quote(model)}{named}"


# ---------------------------------------------------------------------------------------- reading


def standing(home: "Home") -> PolicyDocument:
    """What is agreed to and ruled, what waits for it, and what was refused lately."""
    known = home.views.get(VIEW, MAIN)
    policy = known.policy if known else Policy(MAIN)
    names = _catalog_names(home)
    refusals = known.refusals[::-1] if known else ()
    return PolicyDocument(
        notice=NOTICE_VERSION,
        receipts=[
            ReceiptDetails(
                model=one.model,
                category=names.get(one.category, one.category),
                category_id=one.category,
                notice=one.notice,
                current=one.notice >= NOTICE_VERSION,
                sections=list(one.sections),
                given_at=one.at,
            )
            for one in policy.consents
        ],
        rules=[
            RuleDetails(names.get(one, one) or None, one or None, list(allowed))
            for one, allowed in policy.rules
        ],
        waiting=waiting(home),
        refusals=[
            RefusalDetails(one.at, one.run_key, one.agent_id or None, one.code) for one in refusals
        ],
    )


def waiting(home: "Home") -> list[HeldWake]:
    """The wakes that wait for a consent or a key, each with the command that lets it go on."""
    known = home.views.get(VIEW, MAIN)
    found: list[HeldWake] = []
    for one in known.waiting if known else ():
        agent = home.services.agent(one.agent_id)
        model = gate.full_name(home.services, home.services.model_name(agent))
        lacking = needed(home, [agent.id]) if one.code == "consent" else []
        command = lacking[0].command if lacking else None
        found.append(HeldWake(one.run_key, agent.id, agent.name, model, one.code, one.at, command))
    return found


def held_agents(home: "Home") -> list[str]:
    """The agents with a wake that waits for a consent or a key."""
    known = home.views.get(VIEW, MAIN)
    return [one.agent_id for one in known.waiting] if known else []


def _noted(home: "Home", command: PolicyCommand, key: str) -> bool:
    """Append a command; whether anything changed."""
    appended = home.services.append_agent(command, key=key)
    home.views.catch_up()
    return len(appended.rows) > 1  # one alone is a receipt


def _pattern(model: str) -> str:
    """A model or pattern as a receipt names it; a provider's name alone is all of its models."""
    if not is_leaving(model):
        raise invalid(f"the model {model} sends nothing", "it needs no receipt: just use it")
    is_pattern = not model or ":" in model or model.endswith("*")
    return pattern(model if is_pattern else pattern_of(model))


def _catalog(home: "Home") -> "Catalog":
    with home.services.journal.reading() as world:
        return world.load(CATALOG, MAIN)


def _catalog_names(home: "Home") -> dict[str, str]:
    return {one.id: one.name for one in _catalog(home).categories.values()}


def _named(home: "Home", ids: Iterable[str]) -> list[str]:
    names = _catalog_names(home)
    return [names.get(one, one) for one in ids]


def _categories(home: "Home", wanted: Sequence[str]) -> tuple[str, ...]:
    """The ids of categories, by name or id; none named: of all there are."""
    catalog = _catalog(home)
    return tuple(sorted({_found(catalog, one) for one in wanted or catalog.categories}))


def _found(catalog: "Catalog", wanted: str) -> str:
    category = find_category(catalog, wanted)
    if category is None:
        raise unknown_category(wanted)
    return category.id
