"""How long the page takes for the Markdown that costs a parser most: half a second at the most.

    python tests/bench/page_markdown.py

Each text has as many characters as are rendered. `plain` is what the parser alone takes.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from markdown_it import MarkdownIt

from adapters.web import markdown

AIM_SECONDS = 0.5
SHOWN = 14
UNITS = (
    "[ ![ [] [a]( [a](< [a](<b [a](b( [a](b' [a][ [a][b] [a] [[a] [* [` [< [![ ]( "
    "` `a * *a *_ *a** **x a**b _a *_**__ ~~ a~~a < <a <a@b <http: <!-- <? "
    "& &# &amp; \\ \\[ | |a # - 1. > >- *a` word"
).split()
LINES = (
    *("[", "[x\n", "[a]: b", "[a]: b '", "[a]:", '[a]: b "\n', "- a", "- a\n", "* * * * a"),
    *("1. a", "-", "a|b\n-|-", "a|\n-", "|a", "# a", "===", "a\n===", "a\n---", "---", "a", "a  "),
    *("> a", ">a", ">\n", "    a", "```", "~~~", "> - a", "- a\n" + " " * 200),
    *("- " * 45 + "a", "> " * 45 + "a", ">" * 95 + "a"),
)


def texts() -> dict[str, str]:
    """Texts that are hard on a parser, by a name."""
    size = markdown.LENGTH_MAX
    found = {repr(unit): (unit * size)[:size] for unit in UNITS}
    found |= {repr(f"{unit} "): (f"{unit} " * size)[:size] for unit in UNITS}
    found |= {repr(f"{line}\n"[:20]): (f"{line}\n" * size)[:size] for line in LINES}
    ladder = range(1, 310)
    cells = f"{'|a' * 300}\n{'|-' * 300}\n"
    return found | {
        "lazy lines of 50 quotes": ("> " * 50 + "a\n" + "a\n" * size)[:size],
        "lazy lines of 50 lists": ("- " * 50 + "a\n" + "a\n" * size)[:size],
        "cells that a head makes": (cells + "a\n" * size)[:size],
        "a head of 3,000 cells": "a|" * 3_000 + "a\n" + "-|" * 3_000 + "-\n" + "|a\n" * 12_000,
        "references to one address": f"[a]: http://{'x' * 10_000}\n\n" + "[a]" * 13_000,
        "runs of backticks": " ".join("`" * one for one in ladder)[:size],
        "lists in lists": "\n".join("  " * one + "- a" for one in ladder)[:size],
        "quotes in quotes": "\n".join(">" * one for one in ladder)[:size],
        "emphasis in emphasis": "**a " * 6_250 + "b** " * 6_250,
    }


def seconds(work: Callable[[str], Any], text: str) -> float:
    """What it costs the processor."""
    begin = time.process_time()
    work(text)
    return time.process_time() - begin


def main() -> int:
    parser = MarkdownIt("js-default")
    parser.disable("image")
    markdown.html("warm")
    rows = []
    for name, text in texts().items():
        ours = seconds(markdown.html, text)
        kind = "raw" if 'class="raw">Shown' in markdown.html(text) else "rendered"
        rows.append((ours, seconds(parser.render, text), kind, name))
    print(f"{len(rows)} texts of {markdown.LENGTH_MAX:,} characters, seconds of the processor\n")
    print("| ours | plain | |\n|--:|--:|---|")
    for ours, plain, kind, name in sorted(rows, reverse=True)[:SHOWN]:
        print(f"| {ours:.2f} | {plain:.2f} | {kind}: `{name}` |")
    worst = max(plain for _, plain, _, _ in rows)
    print(f"\nslowest of ours {max(rows)[0]:.2f}, of the parser alone {worst:.2f}")
    return int(max(rows)[0] > AIM_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
