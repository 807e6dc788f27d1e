"""Markdown that a model or a person wrote, as HTML that cannot do anything.

Raw HTML is shown as text, links lead to http, https and mailto only, and images, which would be
asked for at once, become links to follow or not.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup

from adapters.web.words import clip, shown

LENGTH_MAX = 50_000  # characters that are rendered; the rest is cut off and said so
HEADING_FIRST = 3  # below the page's own
HEADING_LAST = 6
_SCHEMES = ("http://", "https://", "mailto:")


def html(text: str) -> Markup:
    """The HTML of a Markdown text.

    >>> html("**a** <b> [x](javascript:alert(1))")
    Markup('<p><strong>a</strong> &lt;b&gt; [x](javascript:alert(1))</p>\\n')
    """
    return Markup(
        _parser().render(clip(shown(text), LENGTH_MAX))
    )  # made from tokens, nothing of the text is raw


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default")
    parser.disable("image")
    parser.validateLink = _is_safe  # type: ignore[method-assign]  # the library's way
    parser.add_render_rule("link_open", _link_open)
    parser.core.ruler.push("outline", _outline)
    return parser


def _is_safe(url: str) -> bool:
    return url.strip().lower().startswith(_SCHEMES)


def _link_open(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    return str(self.renderToken(tokens, at, options, env))


def _outline(state: StateCore) -> None:
    """Headings below those of the page around them, and no level left out between two."""
    above: list[int] = []  # the levels, as written, that a heading stands below
    for token in state.tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            above = [one for one in above if one < level]
            token.tag = f"h{min(HEADING_FIRST + len(above), HEADING_LAST)}"
            above.append(level)
        elif token.type == "heading_close":
            token.tag = f"h{min(HEADING_FIRST + len(above) - 1, HEADING_LAST)}"
