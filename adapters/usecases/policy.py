"""What may leave the machine: a person agrees to it, withdraws it, and rules which models.

What the doors offer, in this order: `needed` says which receipts some agents lack, each with the
notice to show and the command that gives it, so that `wake`, `ask` and `run` ask once; `allow`
gives one, `withdraw` ends one, `rule` says which models a category may ask; `standing` is the
document of `policy show` and of the page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from adapters.documents.agents import all_agents
from adapters.documents.policy import (
    Allowed,
    Preview,
    Ruled,
    category_names,
    needed,
    standing,
    waiting,
)
from adapters.documents.tasks import catalog_of, category_named
from adapters.home.endpoints import full_name
from adapters.runtime import gate
from adapters.runtime.wake_capture import given_now
from adapters.usecases.resolve import append_to_agents
from domain.agent.agent import AGENT
from domain.agent.endpoints import PREFIX, PROTOCOL, every
from domain.agent.wake_queue import WAKE_QUEUE, Queued, Trigger
from domain.errors import invalid
from domain.log.state import MAIN
from domain.policy.commands import GiveConsent, RuleModels, WithdrawConsent
from domain.policy.gate import NOTICE_VERSION, is_leaving, notice, pattern_of, sections_of
from domain.policy.policy import POLICY
from domain.policy.policy import pattern as checked
from domain.ports import Request
from domain.tools import registry
from domain.wake.wake_inputs import given_to, tools_of
from projections.policy import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home


def notice_text(home: "Home", model: str, categories: Sequence[str] = ()) -> str:
    """The notice that `allow` of the same would agree to. Raises what `allow` does."""
    ids, pattern = _categories(home, categories), _whole(home, model)
    return notice(pattern, category_names(home, ids), sections_of(model=pattern))


def allow(home: "Home", model: str, categories: Sequence[str] = (), key: str = "") -> Allowed:
    """Agree to what today's notice shows, and let go on what waited for that. `model`: or a pattern
    with ``*`` at its end; a provider's name means all of it. Categories by name or id; none: all
    there are now. Raises Refused, code ``unknown_category`` or ``invalid_value``; nothing is
    written."""
    ids, pattern = _categories(home, categories), _whole(home, model)
    command = GiveConsent(pattern, ids, NOTICE_VERSION, sections_of(model=pattern))
    changed = append_to_agents(home, command, key)
    resumed = gate.let_go(home.services, held_agents(home))
    home.views.catch_up()
    return Allowed(
        pattern, list(ids), category_names(home, ids), NOTICE_VERSION, changed, len(resumed)
    )


def sending(home: "Home") -> list[str]:
    """The living agents that ask a model elsewhere: of the others `needed` need not be asked."""
    leaves: dict[tuple[str, str], bool] = {}
    found: list[str] = []
    for one in filter(lambda one: one.is_living, all_agents(home)):
        asks = one.agent.template, one.agent.model
        if asks not in leaves:
            leaves[asks] = is_leaving(home.services.model_name(one.agent))
        found += [one.id] if leaves[asks] else []
    return found


def withdraw(home: "Home", model: str, categories: Sequence[str] = (), key: str = "") -> Allowed:
    """End every receipt that covers a model, or one of a pattern's; no category: for all.

    A wake that asked its model already keeps the reply that comes, and sends nothing more. Raises
    Refused, code ``unknown_category`` or ``invalid_value``; nothing is written."""
    ids = _categories(home, categories) if categories else ()
    pattern = _pattern(full_name(model, home.settings))
    changed = append_to_agents(home, WithdrawConsent(pattern, ids), key)
    return Allowed(pattern, list(ids), category_names(home, ids), NOTICE_VERSION, changed)


def rule(home: "Home", category: str, patterns: Sequence[str] = (), key: str = "") -> Ruled:
    """Say which models agents of a category may ask; an empty category: of every one; no
    pattern: any that there is a receipt for. Raises Refused, code ``unknown_category`` or
    ``invalid_value``; nothing is written."""
    ids = _categories(home, [category]) if category else ("",)
    whole = (full_name(one, home.settings) for one in patterns)
    allowed = tuple(_pattern(one) if is_leaving(one) else one for one in whole)
    changed = append_to_agents(home, RuleModels(ids[0], allowed), key)
    gate.let_go(home.services, held_agents(home))
    home.views.catch_up()
    name = category_names(home, ids)[0] if category else None
    return Ruled(name, ids[0] or None, list(allowed), changed)


def ruling(home: "Home", category: str) -> Ruled:
    """The rule of a category by itself; empty: of every one. Raises what `rule` does."""
    (wanted,) = _categories(home, [category]) if category else ("",)
    with home.services.agents.reading() as world:
        allowed = dict(world.load(POLICY, MAIN).rules).get(wanted, ())
    name = category_names(home, [wanted])[0] if category else None
    return Ruled(name, wanted or None, list(allowed), changed=False)


def allow_all(home: "Home", agent_ids: Sequence[str]) -> list[Allowed]:
    """Agree for all categories there are to what the home's model is sent, and what those of some
    agents are: for a service, which nobody can ask. Nothing where all of them answer here."""
    if not catalog_of(home).categories:
        return []
    models = {one.model for one in needed(home, agent_ids)}
    if is_leaving(home.settings.model):
        models.add(pattern_of(full_name(home.settings.model, home.settings)))
    return [allow(home, one) for one in sorted(models)]


def held_agents(home: "Home") -> list[str]:
    """The agents with a wake that waits for a consent or a key."""
    known = home.views.get(VIEW, MAIN)
    return [one.agent_id for one in known.waiting] if known else []


def _whole(home: "Home", model: str) -> str:
    """What a receipt is for: of models behind an address, the one that the home asks, where the
    name says none."""
    if model in (PROTOCOL, f"{PREFIX}*"):
        at_home = every(full_name(home.settings.model, home.settings))
        return at_home or every(f"{PREFIX}*@{home.settings.openai.base_url}") or _pattern(model)
    return _pattern(full_name(model, home.settings))


def _pattern(model: str) -> str:
    """A model or pattern as a receipt names it; a provider's name alone is all of its models."""
    if not is_leaving(model):
        raise invalid(f"the model {model} sends nothing", "it needs no receipt: just use it")
    is_whole = not model or ":" in model or model.endswith("*")
    return checked(model if is_whole else pattern_of(model))


def _categories(home: "Home", wanted: Sequence[str]) -> tuple[str, ...]:
    """The ids of categories, by name or id; none named: of all there are."""
    catalog = catalog_of(home)
    return tuple(sorted({category_named(catalog, one).id for one in wanted or catalog.categories}))


# ------------------------------------------------------------------------------------------ preview


def preview(home: "Home", agent_id: str, template_id: str = "") -> tuple[Preview, Request]:
    """What the first question of an agent's next wake would be: of the one that is queued, else
    of one that a person asks for. With a template: as if it lived on that. Raises Refused: no
    prompt may be rendered, see `shown`, or the model cannot be had."""
    services, now = home.services, home.services.clock.now()
    with services.journal.reading() as journal, services.agents.reading() as agents:
        agent = agents.load(AGENT, agent_id)
        agent = replace(agent, template=template_id) if template_id else agent
        trigger = Trigger("manual", "")
        asked_for = Queued("", "manual", "", now, now, (trigger,), is_urgent=True)
        queued = agents.load(WAKE_QUEUE, agent_id).queued or asked_for
        given = given_now(services)
        prompt, seen = given_to(journal, agents, agent, queued, given, journal.n - 1)
        names = tools_of(agents, agent, queued.reason, given.scaffold, seen)
    model = gate.full_name(services, services.model_name(agent))
    tools = registry.specs(names, given.features)
    request = Request(model, tuple(prompt.system), tuple(prompt.user), tools)
    refused = gate.held_as(services, agent)
    shown = Preview(
        agent_id=agent_id,
        agent=agent.name,
        model=model,
        leaves=is_leaving(model),
        refused=refused.code if refused else None,
        because=refused.because if refused else None,
        secrets_replaced=prompt.secrets,
        system=list(request.system),
        user=list(request.user),
        tools=list(request.tools),
    )
    return shown, request


__all__ = ["needed", "standing", "waiting"]
