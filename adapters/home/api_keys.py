"""Where API keys come from: the environment, else the system's keyring. They are never stored.

A key is handed to its adapter and to nobody else: no setting, log row or message holds one. In
the texts of a person or a file its value is replaced before they become a cause (DESIGN 4)."""

import importlib
import re
from collections.abc import Iterable, Mapping

from domain.errors import Refused, invalid

GEMINI_VARIABLE = "GEMINI_API_KEY"
TOKEN_VARIABLE = "WAKELOG_SERVE_TOKEN"
OPENAI_VARIABLE = "OPENAI_API_KEY"
SECRET_VARIABLES = (GEMINI_VARIABLE, OPENAI_VARIABLE, TOKEN_VARIABLE)
SECRET_MIN = 16  # characters; a shorter value may be any word
KEYRING_SERVICE = "wakelog"
KEYRING_USER = "gemini"
KEY_MAX = 512  # characters


def gemini_key(environ: Mapping[str, str]) -> str:
    """The key for Gemini. Raises Refused, code ``missing_key``: there is none; ``invalid_value``:
    what is there cannot be one. Neither repeats it."""
    key, source = environ.get(GEMINI_VARIABLE, "").strip(), GEMINI_VARIABLE
    if not key:
        key, source = from_keyring(KEYRING_USER).strip(), "the system's keyring"
    if not key:
        because = f"the model gemini needs a key, and {GEMINI_VARIABLE} is not set"
        instead = "set it, or use `--model rules`, which needs no key and no network"
        raise Refused("missing_key", because=because, instead=instead)
    return checked_key(key, source)


def checked_key(key: str, source: str) -> str:
    """A key that can be one. Raises `Refused` as `gemini_key` does."""
    if len(key) > KEY_MAX or not (key.isascii() and key.isprintable()) or " " in key:
        told = "holds what no key can hold: a space, a line break, a letter that is not ASCII"
        because = f"the key in {source} {told}, or too much"
        raise invalid(because, "copy it again, alone and whole")
    return key


def without_keys(
    text: str, environ: Mapping[str, str], more: Iterable[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """A text, each value of a known key variable in it replaced by the variable's name, and the
    names, one for each that was replaced. A value that is part of a longer word stays; `more`:
    variables that settings name.

    >>> environ = {"GEMINI_API_KEY": "AIza-0123456789abcdef"}
    >>> without_keys("It is AIza-0123456789abcdef.", environ)
    ('It is [GEMINI_API_KEY].', ('GEMINI_API_KEY',))
    >>> without_keys("AIza-0123456789abcdefg", environ)
    ('AIza-0123456789abcdefg', ())
    """
    replaced: list[str] = []
    for name in dict.fromkeys((*SECRET_VARIABLES, *more)):
        value = environ.get(name, "").strip()
        if len(value) >= SECRET_MIN and value in text:
            whole = re.compile(rf"(?<![\w-]){re.escape(value)}(?![\w-])")
            text, count = whole.subn(f"[{name}]", text)
            replaced += [name] * count
    return text, tuple(replaced)


def from_keyring(user: str) -> str:
    """The key of an entry of the system's keyring; empty where there is no keyring or entry."""
    try:
        keyring = importlib.import_module("keyring")
        errors = importlib.import_module("keyring.errors")
    except ImportError:
        return ""
    try:
        found = keyring.get_password(KEYRING_SERVICE, user)
    except (errors.KeyringError, RuntimeError, OSError):  # locked, or a machine without one
        return ""
    return found if isinstance(found, str) else ""
