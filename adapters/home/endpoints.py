"""Models behind an address: which one a name means, and which key it is sent.

A key goes to the address that it was set for: that of the setting `openai.base_url`; without the
setting, to an https address that a model's name says. Nobody else is sent it, this machine's own
servers neither: whoever listens there may be anybody's program.
"""

from collections.abc import Mapping

from msgspec import Struct

from adapters.home import api_keys
from adapters.home.settings import OpenAI
from domain import endpoints
from domain.errors import Refused

DEFAULT_KEY = f"env:{api_keys.OPENAI_VARIABLE}"


class Endpoint(Struct, frozen=True):
    """A model behind an address. `name`: as it is recorded on a wake; `key`: where its key comes
    from, ``env:NAME``, or empty: it is sent none; `needs_key`: it is not asked without one."""

    name: str
    model: str
    base_url: str
    key: str = ""
    needs_key: bool = False
    allow_plain: bool = False


def endpoint_of(name: str, given: OpenAI) -> Endpoint:
    """The endpoint that a name means.

    Args:
        name: ``openai:MODEL`` or ``openai:MODEL@URL``.
        given: The setting.

    Raises:
        Refused: Code ``model_unavailable``: it names no address, and the setting neither;
            ``invalid_value``: it cannot be one, or is one of another machine without encryption.
    """
    found = endpoints.named(name)
    if found is None or not (found.address or given.base_url):
        raise Refused(
            "model_unavailable",
            because=f"the model {name!r} names no address, or no model",
            instead="name both, as openai:qwen3@http://localhost:11434/v1, or set openai.base_url",
        )
    default = endpoints.address(given.base_url) if given.base_url else None
    where = found.address or default
    assert where is not None
    is_plain = where.scheme == "http"
    if is_plain and not where.is_loopback and not given.allow_plain:
        raise Refused(
            "invalid_value",
            because=f"http to {where.host} can be read by anybody on the way",
            instead="use https, or set allow_plain = true below [openai] in settings.toml",
        )
    is_meant = where.origin == default.origin if default else not is_plain
    return Endpoint(
        name=endpoints.Named(found.model, where).name,
        model=found.model,
        base_url=where.url,
        key=DEFAULT_KEY if is_meant else "",
        needs_key=not is_plain and not where.is_loopback,
        allow_plain=given.allow_plain,
    )


def whole_name(name: str, given: OpenAI) -> str:
    """A model's name, with the address of the setting where it names none itself."""
    found = endpoints.named(name)
    if found is None:
        return name
    if found.address or not given.base_url:
        return found.name
    return endpoints.Named(found.model, endpoints.address(given.base_url)).name


def endpoint_key(endpoint: Endpoint, environ: Mapping[str, str]) -> str:
    """The key that an endpoint is sent; empty: none.

    Raises:
        Refused: Code ``missing_key``: it needs one; ``invalid_value``: what is there cannot be
            one. Neither repeats it.
    """
    source = endpoint.key.removeprefix("env:")
    if key := environ.get(source, "").strip() if source else "":
        return api_keys.checked(key, source)
    if endpoint.needs_key:
        raise Refused(
            "missing_key",
            because=f"the model {endpoint.name} needs a key, and "
            + (f"{source} is not set" if source else f"{api_keys.OPENAI_VARIABLE} is for another"),
            instead="set it, and openai.base_url to the address that it is for",
        )
    return ""
