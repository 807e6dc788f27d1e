"""Secrets of known kinds in a text, replaced before an agent reads it (ADR 37).

Only what is plainly a secret by its form: no guess at how random a word looks, which would eat ids
and hashes. The table is pinned by the scaffold: prompts are rendered again when they are proved, so
another kind, or another pattern of one, belongs to a new scaffold once this one is closed.

Every repeat without an end is possessive, and no match is followed by a letter or a digit. So a
text takes time in proportion to its length, and what was scrubbed has nothing more to scrub, but
for what follows a private key with headers: it may be taken for the key that is gone."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from domain.scaffold import Features

T = TypeVar("T")

_START = "(?<![0-9A-Za-z])"
_END = "(?![0-9A-Za-z])"


class Scrubbed(Struct, frozen=True):
    """A text, and how many secrets were replaced in it."""

    text: str
    count: int = 0


class SecretKind(NamedTuple):
    """A kind of secret. `hints`: one of them stands in every text that holds one. `pattern`: what
    is replaced is all of a match but its group ``kept``, which comes before it."""

    hints: tuple[str, ...]
    written: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled once it is needed: most commands read no prompt."""
        return _compiled(self.written)


_compiled = cache(re.compile)


def _kind(hints: str, pattern: str) -> SecretKind:
    return SecretKind(tuple(hints.split()), pattern)


def _token(prefix: str, pattern: str) -> SecretKind:
    """A word that begins with a prefix which nothing else has."""
    return _kind(prefix, f"{_START}{re.escape(prefix)}{pattern}")


SECRET_KINDS: Final[Mapping[str, SecretKind]] = {
    # what only its surroundings tell, before what stands for itself
    "password in a URL": _kind("://", r"(?P<kept>://[^\s/:@]{0,100}+:)[^\s/@]{1,200}+(?=@)"),
    "authorization": _kind(
        "uthorization UTHORIZATION",
        r"(?P<kept>(?i:authorization)[\"']?+ ?[:=] ?[\"']?+(?i:bearer|basic|token) )"
        r"[0-9A-Za-z._~+/=-]{8,}+",
    ),
    "AWS secret key": _kind(
        "ecret_access_key ecretAccessKey ECRET_ACCESS_KEY",
        r"(?P<kept>(?i:secret_?access_?key)[\"']? ?[:=] ?[\"']?)[0-9A-Za-z/+=]{40,}+",
    ),
    "Azure account key": _kind("AccountKey=", r"(?P<kept>AccountKey=)[0-9A-Za-z/+=]{40,}+"),
    "private key": _kind(
        "PRIVATE KEY",
        r"(?P<kept>-----BEGIN (?:[0-9A-Z]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\r?\n[ \t]{0,20}+[A-Z][0-9A-Za-z-]{1,30}+: [^\r\n]{0,200}+){0,5}+)"
        r"(?:[0-9A-Za-z+/=\\]|\r?\n[ \t]{0,20}+){20,}+",
    ),
    "JSON web token": _kind(
        "eyJ", r"(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_-]{8,}+\.eyJ[0-9A-Za-z_-]{8,}+\.[0-9A-Za-z_-]{8,}+"
    ),
    # words that begin as nothing else does
    "AWS access key": _kind("AKIA ASIA", f"{_START}(?:AKIA|ASIA)[0-9A-Z]{{16}}{_END}"),
    "GitHub token": _kind("ghp_ gho_ ghu_ ghs_ ghr_", f"{_START}gh[pousr]_[0-9A-Za-z]{{36,}}+"),
    "GitHub access token": _token("github_pat_", "[0-9A-Za-z_]{22,}+"),
    "GitLab token": _token("glpat-", "[0-9A-Za-z_-]{20,}+"),
    "Google API key": _token("AIza", "[0-9A-Za-z_-]{30,}+"),
    "Google OAuth token": _token("ya29.", "[0-9A-Za-z_-]{20,}+"),
    "Google client secret": _token("GOCSPX-", "[0-9A-Za-z_-]{20,}+"),
    "Anthropic key": _token("sk-ant-", "[0-9A-Za-z_-]{20,}+"),
    "OpenAI key": _kind(
        "sk-", f"{_START}sk-(?:(?:proj|svcacct|admin)-[0-9A-Za-z_-]{{20,}}+|[0-9A-Za-z]{{32,}}+)"
    ),
    "Slack token": _kind("xox", f"{_START}xox[abeoprs]-[0-9A-Za-z-]{{10,}}+"),
    "Slack webhook": _kind(
        "hooks.slack.com/", r"(?P<kept>hooks\.slack\.com/services/)[0-9A-Za-z/]{20,}+"
    ),
    "Stripe key": _kind("_live_ _test_", f"{_START}[rs]k_(?:live|test)_[0-9A-Za-z]{{16,}}+"),
    "webhook secret": _token("whsec_", "[0-9A-Za-z]{24,}+"),
    "SendGrid key": _token("SG.", r"[0-9A-Za-z_-]{16,64}+\.[0-9A-Za-z_-]{16,}+"),
    "npm token": _token("npm_", "[0-9A-Za-z]{36,}+"),
    "PyPI token": _token("pypi-AgE", "[0-9A-Za-z_-]{50,}+"),
    "Hugging Face token": _token("hf_", "[0-9A-Za-z]{30,}+"),
    "Telegram bot token": _kind(":AA", f"{_START}[0-9]{{8,10}}:AA[0-9A-Za-z_-]{{33,}}+"),
    "age key": _token("AGE-SECRET-KEY-1", "[0-9A-Z]{58}" + _END),
}


def scrub(text: str) -> Scrubbed:
    """A text, each secret of a known kind in it replaced by its kind's name.

    >>> scrub("postgres://ada:lovelace@db/x").text
    'postgres://ada:[secret: password in a URL]@db/x'
    >>> scrub("no secret")
    Scrubbed(text='no secret', count=0)
    """
    if _hinted().search(text) is None:
        return Scrubbed(text)
    count = 0
    for name, kind in SECRET_KINDS.items():
        if not any(hint in text for hint in kind.hints):
            continue
        pattern = kind.pattern
        kept = r"\g<kept>" if pattern.groups else ""
        text, replaced = pattern.subn(f"{kept}[secret: {name}]", text)
        count += replaced
    return Scrubbed(text, count)


@cache
def _hinted() -> re.Pattern[str]:
    """What stands in every text that holds a secret of any kind: most hold none."""
    hints = sorted({hint for kind in SECRET_KINDS.values() for hint in kind.hints})
    return re.compile("|".join(map(re.escape, hints)))


def scrubbed_text(text: str, features: Features) -> str:
    """A text as a wake is told it."""
    return scrub(text).text if features.scrubs else text


def scrub_all(value: T) -> tuple[T, int]:
    """The same for every text in a Struct or tuple, at any depth; and how many were replaced."""
    made, count = _scrubbed(value, set())
    return cast("T", made), count


def _scrubbed(value: object, clean: set[tuple[object, ...]]) -> tuple[object, int]:
    """`clean`: tuples that hold no secret; the same one may be met very often."""
    match value:
        case str():
            found = scrub(value)
            return found.text, found.count
        case tuple():
            return (value, 0) if value in clean else _scrubbed_parts(value, clean)
        case Struct():
            names = value.__struct_fields__
            fields = {name: _scrubbed(getattr(value, name), clean) for name in names}
            changed = {name: one for name, (one, more) in fields.items() if more}
            count = sum(more for _, more in fields.values())
            return (replace(value, **changed) if changed else value), count
        case _:
            return value, 0


def _scrubbed_parts(
    value: tuple[object, ...], clean: set[tuple[object, ...]]
) -> tuple[object, int]:
    parts = [_scrubbed(one, clean) for one in value]
    if not (count := sum(more for _, more in parts)):
        clean.add(value)
        return value, 0
    return tuple(one for one, _ in parts), count
