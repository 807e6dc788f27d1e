"""Policy as JSON: what was agreed to, what is ruled, and what waits for it."""

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.documents.tasks import catalog_of
from domain.agent.agent import AGENT
from domain.agent.wake_queue import NO_RECEIPT
from domain.log.state import MAIN
from domain.policy.flow import ALLOWED
from domain.policy.gate import (
    NOTICE_OF,
    NOTICE_VERSION,
    REQUESTS_NOTICE,
    notice,
    pattern_of,
    sections_of,
    unconsented,
)
from domain.policy.policy import POLICY, Policy
from domain.ports import Section, ToolSpec
from domain.scaffold import SCAFFOLD

if TYPE_CHECKING:
    from adapters.wiring import Home

ALLOW = "wakelog policy allow "


class ReceiptDetails(Struct, frozen=True):
    """What was agreed to for one category. `current`: the notice that was shown is today's; of
    an older one `not_for` are the kinds of agents that are sent more, for which it opens nothing.
    `sections` are the parts of a prompt that it named."""

    model: str
    category: str
    category_id: str
    notice: int
    current: bool
    sections: list[str]
    given_at: str
    not_for: list[str]


class RuleDetails(Struct, frozen=True):
    """Which models agents of a category may ask; null: agents of every category."""

    category: str | None
    category_id: str | None
    allowed: list[str]


class HeldWake(Struct, frozen=True):
    """A wake that waits for ``consent`` or a ``secret``, and the command that lets it go on; null
    where that is no command but a key to set."""

    run_key: str
    agent_id: str
    agent: str
    model: str
    waits_for: str
    since: str
    command: str | None


class RefusalDetails(Struct, frozen=True):
    """A wake that the gate skipped, by its code, or let wait: ``consent`` or ``secret``."""

    at: str
    run_key: str
    agent_id: str | None
    code: str


class BoundaryDetails(Struct, frozen=True):
    """What may be read across a boundary today; a wake that would read more is not begun."""

    boundary: str
    fields: list[str]


class PolicyDocument(Struct, frozen=True):
    """What `policy show` prints: receipts, rules, which wakes wait for consent or a key, the
    newest 20 refusals, the newest first, and what new wakes may read across each boundary.
    `notice` is the version of today's notice."""

    notice: int
    receipts: list[ReceiptDetails]
    rules: list[RuleDetails]
    waiting: list[HeldWake]
    refusals: list[RefusalDetails]
    boundaries: list[BoundaryDetails]


class NeededReceipt(Struct, frozen=True):
    """A receipt that some agents cannot wake without: ask once for all of it.

    `model` is the pattern to agree to, `text` the notice to show, `command` what types the same.
    """

    model: str
    category_ids: list[str]
    categories: list[str]
    agent_ids: list[str]
    text: str
    command: str


class Allowed(Struct, frozen=True):
    """What `policy allow` and `policy withdraw` print: what the receipt is about, and whether
    anything changed. `resumed` counts the wakes that waited for it and are due again."""

    model: str
    category_ids: list[str]
    categories: list[str]
    notice: int
    changed: bool
    resumed: int = 0


class Ruled(RuleDetails, frozen=True):
    """What `policy models` prints; null: agents of every category."""

    changed: bool


class Preview(Struct, frozen=True):
    """What `policy try` prints: the first question of an agent's next wake, as its model gets it.
    `leaves`: it would go to another machine; `refused`: the code of the gate that is closed."""

    agent_id: str
    agent: str
    model: str
    leaves: bool
    refused: str | None
    because: str | None
    secrets_replaced: int
    system: list[Section]
    user: list[Section]
    tools: list[ToolSpec]


def unheard(home: "Home") -> list[NeededReceipt]:
    """The receipts for want of which agents lately asked others in vain, one for each provider."""
    from projections.policy import VIEW
    from projections.wakes import VIEW as WAKES

    known = home.views.get(VIEW, MAIN)
    refused = [one for one in known.refusals if one.code == NO_RECEIPT] if known else []
    wakes = (home.views.get(WAKES, one.run_key) for one in refused)
    ids = {one.agent_id for one in wakes if one}
    return needed(home, sorted(ids), REQUESTS_NOTICE) if ids else []


def needed(home: "Home", agent_ids: Iterable[str], least: int = 0) -> list[NeededReceipt]:
    """The receipts that these agents lack before they can wake, one for each provider; none
    where all may ask their models. A model that cannot be had is left to who asks for it.
    `least`: the notice that they need; 0: what their kinds do."""
    from adapters.runtime import gate

    lacking: dict[str, tuple[set[str], list[str]]] = {}
    with home.services.agents.reading() as world:
        policy = world.load(POLICY, MAIN)
        agents = [world.load(AGENT, one) for one in agent_ids]
    for agent in agents:
        model = gate.full_name(home.services, home.services.model_name(agent))
        if missing := unconsented(policy, agent, model, least):
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
    names = category_names(home, categories)
    text = notice(model, names, sections_of())
    command = allow_command(model, names)
    return NeededReceipt(model, list(categories), names, agent_ids, text, command)


def allow_command(model: str, categories: Iterable[str]) -> str:
    """The command that agrees to a model for some categories, by their names.

    >>> allow_command("gemini:*", ["Work", "At home"])
    "wakelog policy allow 'gemini:*' --category Work --category 'At home'"
    """
    named = "".join(f" --category {shlex.quote(one)}" for one in categories)
    return f"{ALLOW}{shlex.quote(model)}{named}"


def standing(home: "Home") -> PolicyDocument:
    """What is agreed to and ruled, what waits for it, and what was refused lately."""
    from projections.policy import VIEW

    known = home.views.get(VIEW, MAIN)
    policy = known.policy if known else Policy(MAIN)
    names = catalog_names(home)
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
                not_for=[kind for kind, notice in NOTICE_OF.items() if one.notice < notice],
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
        boundaries=[
            BoundaryDetails(boundary, sorted(names))
            for boundary, names in ALLOWED[SCAFFOLD].items()
        ],
    )


def waiting(home: "Home") -> list[HeldWake]:
    """The wakes that wait for a consent or a key, each with the command that lets it go on."""
    from projections.policy import VIEW

    known = home.views.get(VIEW, MAIN)
    if known is None or not known.waiting:
        return []
    from adapters.runtime import gate  # most homes have no wake that waits

    found: list[HeldWake] = []
    for one in known.waiting:
        agent = home.services.agent(one.agent_id)
        model = gate.full_name(home.services, home.services.model_name(agent))
        lacking = needed(home, [agent.id]) if one.code == "consent" else []
        command = lacking[0].command if lacking else None
        found.append(HeldWake(one.run_key, agent.id, agent.name, model, one.code, one.at, command))
    return found


def catalog_names(home: "Home") -> dict[str, str]:
    """What categories are called, by their ids."""
    return {one.id: one.name for one in catalog_of(home).categories.values()}


def category_names(home: "Home", ids: Iterable[str]) -> list[str]:
    """What these categories are called."""
    names = catalog_names(home)
    return [names.get(one, one) for one in ids]
