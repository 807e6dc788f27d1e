"""Models behind an address: which one a name means, and which key it is sent.

A key goes to the address that it was set for, below ``[openai]`` or ``[models.NAME]``; without
either, `OPENAI_API_KEY` to an https address that a model's name says. Nobody else is sent it, this
machine's own servers neither: whoever listens there may be anybody's program."""

from collections.abc import Mapping

from msgspec import Struct

from adapters.home import api_keys
from adapters.home.settings import (
    KEYRING,
    NamedModel,
    OpenAISettings,
    Settings,
    check_encrypted,
    full_model_name,
)
from adapters.home.settings_toml import nearest_name
from domain.agent import endpoints
from domain.errors import Refused

DEFAULT_KEY = f"env:{api_keys.OPENAI_VARIABLE}"


class Endpoint(Struct, frozen=True):
    """A model behind an address. `name`: as it is recorded on a wake; `key`: where its key comes
    from, ``env:NAME`` or ``keyring:NAME``, or empty: it is sent none; `needs_key`: it is not asked
    without one."""

    name: str
    model: str
    base_url: str
    key: str = ""
    needs_key: bool = False


def endpoint_of(name: str, settings: Settings) -> Endpoint:
    """The endpoint that ``openai:NAME``, ``openai:MODEL`` or ``openai:MODEL@URL`` means. Raises
    Refused, code ``model_unavailable``: it names no address, and the settings neither;
    ``invalid_value``: it cannot be one, or is one of another machine without encryption."""
    found = endpoints.named(full_name(name, settings))
    if found is None or found.address is None:
        meant = nearest_name(name.removeprefix(endpoints.PREFIX), list(settings.models))
        both = "name both, as openai:qwen3@http://localhost:11434/v1"
        instead = f"{both}, or set openai.base_url or [models.NAME]"
        instead = f"did you mean {endpoints.PREFIX}{meant}?" if meant else instead
        because = f"the model {name!r} names no address, or no model"
        raise Refused("model_unavailable", because=because, instead=instead)
    where = found.address
    given = _endpoint_setting(found.name, where.origin, settings)
    allow_plain = (given[1] if given else settings.openai).allow_plain
    check_encrypted(where, name, allow_plain=allow_plain)
    is_hosted = where.scheme == "https" and not where.is_loopback
    if given is None:
        key = "" if settings.openai.base_url or not is_hosted else DEFAULT_KEY
        return Endpoint(found.name, found.model, where.url, key, needs_key=is_hosted)
    whose, setting = given
    key = f"{KEYRING}:{whose}" if setting.key == KEYRING else setting.key
    if isinstance(setting, OpenAISettings):
        is_needed = bool(key) or is_hosted
        return Endpoint(found.name, found.model, where.url, key or DEFAULT_KEY, is_needed)
    return Endpoint(found.name, found.model, where.url, key, needs_key=bool(key))


def full_name(name: str, settings: Settings) -> str:
    """A model's name with its address: that which the settings name so, or their own, where it
    names none itself."""
    return full_model_name(name, settings.openai, settings.models)


def _endpoint_setting(
    name: str, origin: str, settings: Settings
) -> tuple[str, OpenAISettings | NamedModel] | None:
    """The setting that a whole name is of, and whose entry of a keyring is its own: that of this
    very model, else the first at its scheme, host and port; None: there is none."""
    given: list[tuple[str, OpenAISettings | NamedModel]] = [
        (f"{endpoints.PREFIX}{named}", one) for named, one in settings.models.items()
    ]
    for one in given:
        if isinstance(one[1], NamedModel) and one[1].name == name:
            return one
    for one in ((endpoints.PROTOCOL, settings.openai), *given):
        if one[1].base_url and endpoints.address(one[1].base_url).origin == origin:
            return one
    return None


def endpoint_key(endpoint: Endpoint, environ: Mapping[str, str]) -> str:
    """The key that an endpoint is sent; empty: none. Raises Refused, code ``missing_key``: it needs
    one; ``invalid_value``: what is there cannot be one. Neither repeats it."""
    place, _, which = endpoint.key.partition(":")
    found = api_keys.from_keyring(which) if place == KEYRING else environ.get(which, "")
    if key := found.strip():
        return api_keys.checked_key(key, "the system's keyring" if place == KEYRING else which)
    if not endpoint.needs_key:
        return ""
    if place == KEYRING:
        because = f"the system's keyring has none for {which}"
        instead = f"say `keyring set {api_keys.KEYRING_SERVICE} {which}`, or name a variable"
    elif which:
        because, instead = f"{which} is not set", "set it where wakelog is started"
    else:
        because = f"{api_keys.OPENAI_VARIABLE} is for another"
        instead = "name the address and its key below [models.NAME] in settings.toml"
    because = f"the model {endpoint.name} needs a key, and {because}"
    raise Refused("missing_key", because=because, instead=instead)
