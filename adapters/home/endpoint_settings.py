"""What a person sets of models behind an address: ``[openai]``, and ``[models.NAME]`` for others.

A key is no setting: `key` says where it is kept. Whatever stands there instead is not repeated.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, replace

from adapters.home.settings_refusals import invalid, near, unknown
from domain import endpoints
from domain.errors import Refused

KEYRING = "keyring"
_KEY = re.compile(rf"env:[A-Za-z_][A-Za-z0-9_]{{0,99}}|{KEYRING}")
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,59}")
_KINDS = {str: "a text in quotes", bool: "true or false"}


class OpenAI(Struct, frozen=True):
    """Where ``openai:MODEL`` is asked; empty: nowhere. `allow_plain`: http also to other machines,
    which anybody on the way can read; `key`: ``env:NAME`` or ``keyring``, empty: OPENAI_API_KEY."""

    base_url: str = ""
    allow_plain: bool = False
    key: str = ""


class NamedModel(Struct, frozen=True):
    """A model behind an address that is asked as ``openai:NAME``; without `key` it is sent none."""

    base_url: str
    model: str
    key: str = ""
    allow_plain: bool = False

    @property
    def name(self) -> str:
        """As it is recorded on a wake."""
        return endpoints.Named(self.model, endpoints.address(self.base_url)).name


def checked(given: OpenAI, source: str) -> OpenAI:
    """The table ``openai`` as it is kept; `source`: how errors name it. Raises `Refused`."""
    if given.key and not given.base_url:
        told = f"{source}.key is for one address, and {source}.base_url names none"
        raise invalid(told, "set base_url, too, or delete the line")
    _check_key(given.key, source)
    return replace(given, base_url=base_url(given.base_url, f"{source}.base_url"))


def whole(name: str, openai: OpenAI, models: Mapping[str, NamedModel]) -> str:
    """A model's name with its address, see `adapters.home.endpoints.whole_name`."""
    found = endpoints.named(name)
    if found is None:
        return name
    if found.address:
        return found.name
    if meant := models.get(found.model):
        return meant.name
    if not openai.base_url:
        return name
    return endpoints.Named(found.model, endpoints.address(openai.base_url)).name


def base_url(given: str, source: str) -> str:
    """An address in its one way of writing, or empty. Raises `Refused`."""
    try:
        return endpoints.address(given).url if given else ""
    except Refused as refused:
        raise invalid(f"{source}: {refused.because}", refused.instead) from None


def named_models(given: Any, path: str) -> dict[str, NamedModel]:
    """The models that the table ``models`` of settings names.

    Args:
        given: The table: of each name a table.
        path: How errors name the file.

    Raises:
        Refused: Code ``unknown_setting`` or ``invalid_value``.
    """
    if not isinstance(given, dict):
        raise invalid(f"{path}: models: expected a table", "write [models.NAME] and lines below it")
    found: dict[str, NamedModel] = {}
    known: dict[str, str] = {}
    for name, table in given.items():
        source = f"{path}: models.{name}"
        if _NAME.fullmatch(name) is None:
            raise invalid(f"{source}: {name!r} is no name", "use letters, digits, - and _")
        one = found[name] = _named(table, source)
        if other := known.get(one.name):
            told = f"{source} is the same model at the same address as models.{other}"
            raise invalid(told, "keep one of both")
        known[one.name] = name
    return found


def _named(given: Any, source: str) -> NamedModel:
    _check_table(given, source)
    _check_key(given.get("key", ""), source)
    where = base_url(given["base_url"], f"{source}.base_url")
    one = NamedModel(**{**given, "base_url": where})
    found = endpoints.named(f"{endpoints.PREFIX}{one.model}")
    if not where or found is None or found.address or endpoints.named(one.name) is None:
        told = f"{source}: base_url and model name no model together"
        raise invalid(told, "write them as the server does, in at most 180 characters")
    check_plain(endpoints.address(where), source, allow_plain=one.allow_plain)
    return one


def check_plain(where: endpoints.Address, source: str, *, allow_plain: bool) -> None:
    """Look whether an address is one that what is sent may go to unencrypted, or encrypted.

    Raises:
        Refused: Code ``invalid_value``.
    """
    if where.scheme == "http" and not where.is_loopback and not allow_plain:
        raise invalid(
            f"{source}: http to {where.host} can be read by anybody on the way",
            "use https, or set allow_plain = true below [openai] or [models.NAME] in settings.toml",
        )


def _check_table(given: Any, source: str) -> None:
    known = {one.name: one for one in fields(NamedModel)}
    if not isinstance(given, dict):
        raise invalid(f"{source}: expected a table", "write base_url and model below it")
    for name, value in given.items():
        if name not in known:
            raise unknown(f"{source}: the key {name}", near(name, list(known)), ", ".join(known))
        if not isinstance(value, known[name].type):
            told = f"{source}.{name}: expected {_KINDS[known[name].type]}"
            raise invalid(told, "correct the value, or delete the line")
    if missing := [name for name in known if known[name].required and name not in given]:
        told = f"{source}: {missing[0]} is missing"
        raise invalid(told, 'give both, as in base_url = "https://host/v1" and model = "qwen3"')


def _check_key(given: str, source: str) -> None:
    if given and _KEY.fullmatch(given) is None:  # not repeated: it may be one
        told = f"{source}.key names no place where a key is kept, and keys are not read from files"
        raise invalid(told, f'write "env:NAME" for a variable, or "{KEYRING}"')
