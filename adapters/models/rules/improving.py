"""How a template fares, by rules: figures are told, and nothing is proposed.

Nothing but the section `figures` counts, so the same one always gets the same report."""

from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert

from adapters.models.offline.wording import Texts, bulleted, texts_in
from adapters.models.rules import context
from domain.errors import Refused
from domain.log import canonical
from domain.ports import Request

Count = Annotated[int, Meta(ge=0)]
VERSIONS_SHOWN = 5


class Tool(Struct, frozen=True):
    tool: str
    decided: Count = 0
    accepted: Count = 0


class Version(Struct, frozen=True):
    """How a version fared."""

    version: Count
    wakes: Count = 0
    decided: Count = 0
    accepted: Count = 0
    tools: tuple[Tool, ...] = ()


def answer(request: Request) -> context.Said:
    """What is said of the figures, and the report: on the first turn, later only what is forced."""
    sections = {one.name: context.tidy(one.text) for one in request.user}
    texts = texts_in(context.report_language(sections))
    report = _report(_read(sections["figures"]), texts)
    return context.in_turn(request, {"update_report": report}, report["tldr"])


def _read(section: str) -> tuple[Version, ...]:
    """The versions, the active one first; none of what cannot be read."""
    lines = (one.rstrip(",") for one in section.splitlines() if one.startswith("{"))
    try:
        return convert(tuple(map(canonical.read, lines)), tuple[Version, ...])
    except (Refused, ValidationError):
        return ()


def _report(seen: tuple[Version, ...], texts: Texts) -> dict[str, Any]:
    told = [
        texts["f.version"].format(one.version, one.decided, one.accepted, one.wakes)
        for one in seen[:VERSIONS_SHOWN]
    ]
    first = told[0] if told else texts["f.none"]
    tools = [
        texts["f.tool"].format(one.tool, one.accepted, one.decided)
        for version in seen[:1]
        for one in version.tools
    ]
    parts = [bulleted(one) for one in (told, tools) if one]
    return {
        "content": "\n\n".join([*(parts or [first]), texts["f.by"]]),
        "tldr": f"{first} {texts['f.by']}",
        "oneLiner": first,
    }
