"""Runs every notebook on a home, and writes a copy with pictures that any git host shows.

    .venv/bin/python -m notebooks.execute --home demo-data [--to notebooks] [trust ...]

A copy is Markdown with its pictures as PNG beside it. Nothing in it tells when or where it was
made, so the same home gives the same bytes. A cell that fails ends the run with exit status 1.
"""

import argparse
import ast
import hashlib
import importlib
import os
import re
import sys
import textwrap
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import polars as pl
from matplotlib.figure import Figure

from notebooks.drawing import Prose
from notebooks.names import NOTEBOOKS

HERE = Path(__file__).parent
DPI = 110
ROWS_MAX = 20


def copies(name: str, folder: Path) -> Iterator[str]:
    """Run a notebook, and give its copy in paragraphs; its pictures go into ``pictures/``."""
    module = importlib.import_module(f"notebooks.{name}")
    outputs, _ = module.app.run()
    sources = list(_cells(HERE / f"{name}.py"))
    if len(sources) != len(outputs):
        raise RuntimeError(f"{name}.py has {len(sources)} cells and gave {len(outputs)} outputs")
    yield (
        f"<!-- Made from {name}.py by `make notebooks`: do not edit. -->"  # nothing else is dated
    )
    pending: list[str] = []  # code of the cells since the last thing shown
    nth = 0
    for source, output in zip(sources, outputs, strict=True):
        pending.append(source)
        if isinstance(output, Prose):
            yield output.text
            pending = []
        elif isinstance(output, Figure):
            nth += 1
            yield _kept(output, folder / "pictures" / f"{name}-{nth}.png")
            yield _code(pending)
            pending = []
        elif isinstance(output, pl.DataFrame):
            yield _table(output)
            yield _code(pending)
            pending = []


def _cells(path: Path) -> Iterator[str]:
    """The source of each cell's body, without what it returns."""
    text = path.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            body = [one for one in node.body if not isinstance(one, ast.Return)]
            lines = text.splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
            yield textwrap.dedent("\n".join(lines))


def _kept(figure: Figure, path: Path) -> str:
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=DPI, metadata={"Software": None, "data": _data(figure)})
    title = " ".join(figure.get_suptitle().split())
    return f"![{title}](pictures/{path.name})"


def _data(figure: Figure) -> str:
    """The digest of what a picture shows: two are told apart by it, whoever drew them."""
    shown: list[object] = []
    for axes in cast("list[Any]", figure.axes):
        shown += [one.get_text() for one in (*axes.texts, *axes.get_xticklabels())]
        shown += [one.get_xydata().tolist() for one in axes.lines]
        shown += [one.get_bbox().extents.tolist() for one in axes.patches if "Rect" in repr(one)]
        shown += [sorted(one.get_offsets().tolist()) for one in axes.collections]
    rounded = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.6g}", repr(shown))
    return hashlib.sha256(rounded.encode()).hexdigest()[:16]


def _code(sources: list[str]) -> str:
    code = "\n\n".join(sources)
    return f"<details><summary>How</summary>\n\n```python\n{code}\n```\n\n</details>"


def _table(found: pl.DataFrame) -> str:
    head = f"| {' | '.join(found.columns)} |\n|{'---|' * len(found.columns)}"
    rows = [f"| {' | '.join(map(_cell, row))} |" for row in found.head(ROWS_MAX).iter_rows()]
    more = f"\n\nand {len(found) - ROWS_MAX} more" if len(found) > ROWS_MAX else ""
    return "\n".join([head, *rows]) + more


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:,.2f}"
        case int():
            return f"{value:,}"
        case list():
            return ", ".join(map(str, value))
        case _:
            return str(value).replace("|", "\\|").replace("\n", " ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NOTEBOOKS, metavar="NOTEBOOK")
    parser.add_argument("--home", required=True, type=Path)
    parser.add_argument("--to", type=Path, default=HERE)
    given = parser.parse_args()
    os.environ["WAKELOG_HOME"] = str(given.home)
    given.to.mkdir(exist_ok=True)
    failed = []
    for name in given.names:
        try:
            paragraphs = list(copies(name, given.to))
        except Exception:  # noqa: BLE001  a cell may fail in any way; the others are tried all the same
            traceback.print_exc()
            failed.append(name)
            continue
        path = given.to / f"{name}.md"
        path.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")
        print(f"{path}: {sum(one.startswith('![') for one in paragraphs)} pictures")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
