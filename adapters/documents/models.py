"""The models that a home could ask, as JSON: what `wakelog models` prints, and what is offered
where a model is named. No key is in it, and none is asked."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from adapters.documents.tasks import catalog_of
from adapters.home.api_keys import GEMINI_VARIABLE, KEYRING_USER, gemini_key
from adapters.home.endpoints import endpoint_key, endpoint_of, full_name
from adapters.home.extensions import installed, missing, prefix_of
from adapters.home.settings import KEYRING, Settings
from domain.agent import deciders
from domain.agent.endpoints import GEMINI_MODEL, MODELS, PREFIX
from domain.errors import Refused, invalid
from domain.log.state import MAIN
from domain.policy.gate import is_leaving, notice_of
from domain.policy.policy import POLICY

if TYPE_CHECKING:
    from adapters.wiring import Home
    from projections.agents import AgentDocument

BUILT_IN = ("rules", "gemini")
AGENTS_ASKED = 50  # the newest, whose models are offered: a page costs the same in every home


class Trial(Struct, frozen=True):
    """How a model answered a test. `called`: by the tool that it was given; `offers`: the models
    that its server says it has, null where it does not say; `problem`: what went wrong, or null."""

    called: bool
    milliseconds: int
    offers: list[str] | None
    problem: str | None


class ModelDetails(Struct, frozen=True):
    """A model that this home could ask. `name` is what `--model` takes, `recorded` what a wake is
    recorded with; `named_by` is ``wakelog``, ``home`` (its model), ``settings``, ``agent``,
    ``template`` and ``installed`` (a package of others). `key` is ``set``, ``missing``, or ``none``
    where none is needed, `key_from` the place where it is looked for. `agreed` and `lacking` are
    the categories with and without a receipt; `problem` says why it cannot be asked; `trial` is
    null where nothing was tried."""

    name: str
    recorded: str
    named_by: list[str]
    leaves: bool
    key: str
    key_from: str | None
    agreed: list[str]
    lacking: list[str]
    problem: str | None
    trial: Trial | None = None


def models_document(
    home: "Home", names: Sequence[str] = (), environ: Mapping[str, str] = os.environ
) -> list[ModelDetails]:
    """Each model that wakelog, the settings, an agent or a template names, once; or only these
    `names`, whoever names them else. Raises Refused: one of them is no model's."""
    from adapters.documents.agents import all_agents

    if "" in names:
        raise invalid("'' is no model", f"use {MODELS}")
    known = _named(home, all_agents(home))
    wanted = {deciders.valid_model(one): known.get(one, []) for one in names} if names else known
    with home.services.agents.reading() as world:
        policy = world.load(POLICY, MAIN)
    categories = catalog_of(home).categories.values()
    found = []
    for name, named_by in wanted.items():
        recorded, key, key_from, problem = _asked(name, home.settings, environ)
        leaves = is_leaving(recorded)
        given = {
            one.name: not leaves
            or policy.consented(recorded, one.id, notice_of(deciders.AGENT_KIND))
            for one in categories
        }
        found.append(
            ModelDetails(
                name=name,
                recorded=recorded,
                named_by=named_by,
                leaves=leaves,
                key=key,
                key_from=key_from,
                agreed=[category for category, is_given in given.items() if is_given and leaves],
                lacking=[category for category, is_given in given.items() if not is_given],
                problem=problem,
            )
        )
    return found


def model_names(home: "Home") -> list[str]:
    """What a person may mean where a model is named, the usual first; of agents' own models those
    of the newest ones."""
    from adapters.documents.agents import newest_living

    return list(_named(home, newest_living(home, AGENTS_ASKED)))


def _named(home: "Home", agents: "list[AgentDocument]") -> dict[str, list[str]]:
    """Each model as it is named, and by whom."""
    from adapters.documents.templates import templates_of

    settings = home.settings
    named = [(one, "wakelog") for one in BUILT_IN]
    named += [(f"{PREFIX}{one}", "settings") for one in settings.models]
    named += [(f"{one}:default", "installed") for one in installed()]
    named.append((settings.model, "home"))
    named += [(one.model_in_force, "template") for one in templates_of(home)]
    named += [(one.agent.model, "agent") for one in agents if one.is_living]
    found: dict[str, list[str]] = {}
    for name, by in named:
        known = found.setdefault(name, []) if name else []
        if by not in known:
            known.append(by)
    return found


def _asked(
    name: str, settings: "Settings", environ: Mapping[str, str]
) -> tuple[str, str, str | None, str | None]:
    """A model's full name, whether its key is there, where that is kept, and what is wrong."""
    if not is_leaving(name):
        return name, "none", None, None
    if prefix := prefix_of(name):
        return name, "none", None, missing(prefix) or None
    recorded, place = full_name(name, settings), GEMINI_VARIABLE
    is_gemini = name.partition(":")[0] == "gemini"
    try:
        if is_gemini:
            recorded = name if ":" in name else f"gemini:{GEMINI_MODEL}"
            key = gemini_key(environ)
            place = place if environ.get(place) else f"{KEYRING}:{KEYRING_USER}"
        else:
            endpoint = endpoint_of(name, settings)
            place = endpoint.key.removeprefix("env:")
            key = endpoint_key(endpoint, environ)
    except Refused as refused:
        is_missing = refused.code == "missing_key"
        told = f"{refused.because}; {refused.instead}"
        return recorded, "missing" if is_missing else "none", place or None, told
    return recorded, "set" if key else "none", place if key else None, None
