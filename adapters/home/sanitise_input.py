"""Foreign text as the journal keeps it: the one place that the command line, the page, `wakelog`
and the importers hand it to.

The journal keeps what a person wrote, but for the values of known keys (DESIGN 4). Where the
setting `policy.scrub_entry` is on, secrets of known kinds stay out, too (ADR 37)."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.home.api_keys import without_keys
from domain.policy.scrub import scrub

if TYPE_CHECKING:
    from adapters.home.settings import Settings

SECRET_KIND = "secret"
"""What stands for a secret of any kind among the names of what was replaced."""

_JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def sanitised(
    value: Any, environ: Mapping[str, str], *, is_scrubbed: bool, keys: Sequence[str] = ()
) -> tuple[Any, tuple[str, ...]]:
    """A text, or each text in plain values (lists and the values of dictionaries), as it is kept;
    and the names of what was replaced, one for each time: a variable's, or `SECRET_KIND`.

    `is_scrubbed`: the setting `policy.scrub_entry`; `keys`: the variables that settings name, see
    `Settings.key_variables`, besides those of every home.

    >>> sanitised(["AKIAABCDEFGHIJKLMNOP"], {}, is_scrubbed=True)
    (['[secret: AWS access key]'], ('secret',))
    >>> sanitised("AKIAABCDEFGHIJKLMNOP", {}, is_scrubbed=False)
    ('AKIAABCDEFGHIJKLMNOP', ())
    """
    match value:
        case str():
            kept, names = without_keys(value, environ, keys)
            if not is_scrubbed:
                return kept, names
            clean = scrub(kept)
            return clean.text, names + (SECRET_KIND,) * clean.count
        case list() | tuple():
            found = [sanitised(one, environ, is_scrubbed=is_scrubbed, keys=keys) for one in value]
            return [one for one, _ in found], tuple(n for _, names in found for n in names)
        case dict():
            inner = [*value.values()]
            kept, names = sanitised(inner, environ, is_scrubbed=is_scrubbed, keys=keys)
            return dict(zip(value, kept, strict=True)), names
        case _:
            return value, ()


def sanitised_by(
    settings: "Settings", value: Any, environ: Mapping[str, str]
) -> tuple[Any, tuple[str, ...]]:
    """What `sanitised` gives in a home with these settings."""
    is_scrubbed = settings.policy.scrub_entry
    return sanitised(value, environ, is_scrubbed=is_scrubbed, keys=settings.key_variables)


def sanitised_json(
    text: str, environ: Mapping[str, str], *, is_scrubbed: bool, keys: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """The same for JSON that nobody has read yet: a secret is looked for in one text at a time,
    so that none seems to reach over the quotes, and what is no text stays as it is written."""
    text, replaced = without_keys(text, environ, keys)
    if not is_scrubbed:
        return text, replaced
    more: list[str] = []

    def kept(found: re.Match[str]) -> str:
        try:
            given = json.loads(found[0], strict=False)
            one, names = sanitised(given, environ, is_scrubbed=True, keys=keys)
        except ValueError:  # its reader says what is wrong with it
            return found[0]
        more.extend(names)
        return json.dumps(one) if names else found[0]

    return _JSON_TEXT.sub(kept, text), (*replaced, *more)


def replacement_line(name: str) -> str:
    if name == SECRET_KIND:
        return "a secret was replaced by its kind: policy.scrub_entry is on"
    return f"the value of {name} was replaced by [{name}]: keys are not kept"
