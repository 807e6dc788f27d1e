"""Which models of others are installed, by their entry points; none is loaded here (ADR 115)."""

from domain.agent.endpoints import MODELS
from domain.errors import Refused

GROUP = "wakelog.models"
BUILT_IN = frozenset("rules demo tape gemini openai mcp".split())


def prefix_of(model: str) -> str:
    """The extension that a name of a model asks; empty: none, it is one of ours.

    >>> prefix_of("echo:loud"), prefix_of("gemini:pro"), prefix_of("rules")
    ('echo', '', '')
    """
    prefix, colon, _ = model.partition(":")
    return prefix if colon and prefix not in BUILT_IN else ""


def installed() -> dict[str, str]:
    """The extensions that are installed, and why one cannot be asked; empty where it can."""
    from importlib.metadata import entry_points  # only who asks for them waits for it

    found: dict[str, list[str]] = {}
    for one in entry_points(group=GROUP):
        found.setdefault(one.name, []).append(one.value)
    return {name: _problem(name, claims) for name, claims in sorted(found.items())}


def _problem(name: str, claims: list[str]) -> str:
    if name in BUILT_IN:
        return f"{claims[0]} claims {name}, which is built in"
    return f"{' and '.join(sorted(claims))} both claim {name}" if len(claims) > 1 else ""


def check_installed(model: str) -> None:
    """Look whether who is asked by a name is there. Raises Refused, code ``model_unavailable``."""
    if (prefix := prefix_of(model)) and (problem := missing(prefix)):
        raise Refused("model_unavailable", because=problem, instead=f"install it, or use {MODELS}")


def missing(prefix: str) -> str:
    """Why an extension cannot be asked; empty where it can."""
    return installed().get(prefix, f"no installed package gives models of {prefix!r}")
