"""The rules model's own words, by what they say, in the languages that have them."""

from collections.abc import Iterable
from functools import cache

from adapters.models.offline.phrasing import FIRST, texts

Texts = dict[str, str]
DUE = "Set due date to "


def texts_in(language: str) -> Texts:
    """The words of a language, English where it has none."""
    return _texts(language[:2].lower())


@cache
def _texts(code: str) -> Texts:
    return texts(FIRST) | texts(code)


def status_in(status: str, told: Texts) -> str:
    """A status as it is called in these words."""
    return told.get(f"s.{status}", status)


def summary_in(summary: str, told: Texts) -> str:
    """A proposal's summary, told in these words as far as they go: the home writes English."""
    for key, ours in told.items():
        if key.startswith("p.") and summary.startswith(key[2:]):
            return ours + summary.removeprefix(key[2:]).replace(" minutes", told["p minutes"])
    return summary


def bulleted(rows: Iterable[str]) -> str:
    """Lines of a list."""
    return "\n".join(f"- {row}" for row in rows)


def days_in(count: int, told: Texts) -> str:
    """So many days."""
    return told["one day"] if count == 1 else told["days"].format(count)
