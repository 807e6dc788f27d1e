"""A quote for calls that a test lets a model make, which since scaffold 3 propose nothing without.

It stands nowhere in what a wake is shown, which no rule minds: what a quote is worth is tested
where tests give their own.
"""

import json
from typing import Any

from msgspec.structs import replace

from domain.ports import Reply
from domain.scaffold import FEATURES, SCAFFOLD
from domain.tools import registry
from domain.tools.decoding import asks

SAID = "so it was said"


def quoted(tool: str, arguments: Any) -> Any:
    """The arguments of a call, as text or not, with a quote if its tool proposes and has none."""
    told = arguments if isinstance(arguments, str) else json.dumps(arguments)
    known = registry.TOOLS.get(registry.ALIASES.get(tool, tool))
    if known is None or not asks(known, FEATURES[SCAFFOLD]) or '"because"' in told:
        return arguments
    try:
        given = json.loads(told)
    except ValueError:
        return arguments
    if not isinstance(given, dict):
        return arguments
    if not isinstance(arguments, str):
        return given | {"because": SAID}
    return f'{told.rstrip().removesuffix("}")}{", " if given else ""}"because": "{SAID}"}}'


def unquoted(reply: Reply) -> Reply:
    """An answer of a model that nobody asks for quotes."""
    bare = (
        replace(one, arguments=one.arguments.replace(f', "because": "{SAID}"', ""))
        for one in reply.calls
    )
    return replace(reply, calls=tuple(bare))
