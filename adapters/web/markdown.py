"""Markdown that a model or a person wrote, as HTML that cannot do anything, hides nothing, and is
made in bounded time.

Raw HTML is shown as text, links lead to http, https and mailto only, and images, which would be
asked for at once, become links to follow or not. What a model reads a person sees: where a link
leads and what its title says stands behind it, what a code block is called above it, and
definitions of references stay text. A text of which something would not be seen all the same, or
whose rendering takes too many steps, is shown as it was written, and says so.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from threading import Lock
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as plain_table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline import link as plain_link
from markdown_it.token import Token
from markupsafe import Markup, escape

from adapters.web.filters import clip, revealed
from domain.log.keys import payload_id

LENGTH_MAX = 50_000  # characters that are rendered; the rest is cut off and said so
HEADING_FIRST = 3  # below the page's own
HEADING_LAST = 6
NESTING_MAX = 16  # quotes, and twice the lists, in each other; a deeper part would not be made
STEPS_MAX = 20_000  # rules that are tried: about a quarter of a second
CELL_STEPS = 2  # that a cell of a table counts
NUMBER_MAX = 999  # of an item of a list that there is room to show
SMALL_MAX = 2_000  # characters of a text that waits for no other one
CHARS_KEPT = 16_000_000  # of texts that were rendered before
TOO_MUCH = "Shown as it was written: it would take too long to render."
UNSEEN = "Shown as it was written: rendered, a part of it could not be seen."
_SCHEMES = ("http://", "https://", "mailto:")
_UNREAD = re.compile(r"[\s!-/:-@\[-`{-~]+")  # ASCII punctuation and spaces: what marks may take


def html(text: str) -> Markup:
    """The HTML of a Markdown text; made once for each text.

    >>> html("**a** <b> [x](javascript:alert(1))")
    Markup('<p><strong>a</strong> &lt;b&gt; [x](javascript:alert(1))</p>\\n')
    """
    name = payload_id("web:markdown", text.encode("utf-8", "replace"))
    if (found := _rendered_texts.get(name)) is not None:
        return found
    with _turn if len(text) > SMALL_MAX else nullcontext():
        found = _rendered_texts.get(name)  # who waited finds what was made meanwhile
        if found is None:
            found = _html(clip(revealed(text), LENGTH_MAX))
            _rendered_texts.keep(name, found)
        return found


class RenderedTexts:
    """Texts that were rendered, by their id: those that were asked for last."""

    def __init__(self, chars_max: int) -> None:
        self._chars_max = chars_max
        self._chars = 0
        self._lock = Lock()  # pages are made in several threads
        self._found: OrderedDict[str, Markup] = OrderedDict()

    def get(self, name: str) -> Markup | None:
        """A text that is kept."""
        with self._lock:
            found = self._found.pop(name, None)
            if found is not None:
                self._found[name] = found
            return found

    def keep(self, name: str, made: Markup) -> None:
        """Keep a text, and forget the oldest ones."""
        with self._lock:
            self._chars += len(made) - len(self._found.pop(name, ""))
            self._found[name] = made
            while self._chars > self._chars_max:
                self._chars -= len(self._found.popitem(last=False)[1])


_rendered_texts = RenderedTexts(CHARS_KEPT)
_turn = Lock()  # one long text at a time: the processor is there for others, too


class _TooMuch(Exception):
    """Rendering took more steps than a text may take."""


def _html(text: str) -> Markup:
    env: dict[str, Any] = {"steps": 0, "seen": []}
    parser = _parser()
    try:
        tokens = parser.parse(text, env)
    except _TooMuch:
        return _raw(text, TOO_MUCH)
    if _UNREAD.sub("", "".join(env["seen"])) != _UNREAD.sub("", text):
        return _raw(text, UNSEEN)
    made = parser.renderer.render(tokens, parser.options, env)
    return Markup(made)  # made from tokens, nothing of the text is raw


def _raw(text: str, why: str) -> Markup:
    return Markup('<p class="raw">{}</p>\n<pre>{}</pre>\n').format(why, text)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"maxNesting": NESTING_MAX})
    parser.disable(["image", "reference"])
    parser.validateLink = _is_safe  # type: ignore[method-assign]  # the library's way
    parser.normalizeLinkText = str  # type: ignore[assignment]  # as it was written
    chains = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("table", "steps", lambda state, *_: _step(state.env), {"alt": chains})
    parser.inline.ruler.at("link", _link)
    parser.inline.ruler.before("text", "steps", lambda state, _: _step(state.env))
    parser.core.ruler.before("text_join", "seen", _see)
    parser.core.ruler.push("outline", _outline)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("link_close", _link_close)
    parser.add_render_rule("fence", _fence)
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler):
        ruler.getRules()  # put together here: threads that do so at once see half of them
    parser.inline.ruler2.getRules()
    return parser


# ---------------------------------------------------------------------------------------- bounds


def _step(env: Any, steps: int = 1) -> bool:
    """Count what is done; no rule applies by that."""
    env["steps"] += steps
    if env["steps"] > STEPS_MAX:
        raise _TooMuch
    return False


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table; one line of it makes as many cells as its head has, hence they are counted first."""
    if not plain_table(state, start, end, True):
        return False
    if silent:
        return True
    last = next((line for line in range(start, end) if state.isEmpty(line)), end)
    head = state.src[state.bMarks[start] : state.eMarks[start]]
    _step(state.env, CELL_STEPS * (head.count("|") + 1) * (last - start))
    return plain_table(state, start, end, False)


# ---------------------------------------------------------------------------- what a reader sees


def _link(state: StateInline, silent: bool) -> bool:
    """A link; what stands in its brackets is kept as it was written."""
    start = state.pos
    if not plain_link(state, silent):
        return False
    if not silent:
        end, after = state.md.helpers.parseLinkLabel(state, start, True), state.pos
        text, tail = state.src[start + 1 : end], state.src[end + 1 : after]
        state.tokens[-1].meta = {"tail": tail, "is_told": tail == f"({text})"}
    return True


def _see(state: StateCore) -> None:
    """Collect what of the text will be seen, in order; escapes and entities as written."""
    state.env["seen"] += [_seen(token) for token in _all(state.tokens)]


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _seen(token: Token) -> str:
    match token.type:
        case "text" | "code_inline" | "code_block":
            return token.content
        case "text_special":
            return token.markup
        case "fence":
            return f"{token.info}\n{token.content}"
        case "link_close":
            return str(token.meta.get("tail", ""))
        case "list_item_open" if token.info and int(token.info) <= NUMBER_MAX:
            token.attrSet("value", str(int(token.info)))  # else it is counted on from the first
            return token.info
        case "th_open" | "td_open":
            token.attrs.pop("style", None)  # which our content policy forbids
    return ""


def _is_safe(url: str) -> bool:
    return url.strip().lower().startswith(_SCHEMES)


def _link_open(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].attrs.pop("title", None)  # it stands behind the link
    tokens[at].attrSet("rel", "noopener noreferrer nofollow")
    return str(self.renderToken(tokens, at, options, env))


def _link_close(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    meta = tokens[at].meta
    if not meta.get("tail") or meta["is_told"]:
        return "</a>"
    return f'</a><wbr><span class="raw">{escape(meta["tail"])}</span>'


def _fence(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    named = tokens[at].info.strip()
    above = f'<p class="raw">{escape(named)}</p>\n' if named else ""
    return f"{above}<pre><code>{escape(tokens[at].content)}</code></pre>\n"


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
