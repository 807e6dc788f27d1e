"""The reference that `make docs` shows, made from the program itself: no page of it is kept.

`python -m tests.support.reference` writes docs/reference anew.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.outputs import fixed, helped
from tests.support.cli import done, told

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/reference"


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of each page."""
    with TemporaryDirectory() as folder, fixed(Path(folder)):
        yield "commands", _listed("Commands", _commands())
        home = Path(folder) / "home"
        text = f"```toml\n{done(['settings', 'show'], home)}```\n"
        yield "settings", f"# Settings\n\nWhat a new home's `settings.toml` says.\n\n{text}"
        yield "schemas", _listed("JSON documents", _schemas(home))
    for name, path in (
        ("tables", "projections/analytics/README.md"),
        ("tools", "domain/tools/contract.md"),
    ):
        yield name, (ROOT / path).read_text("utf-8")


def _listed(title: str, parts: Iterator[str]) -> str:
    return "\n".join((f"# {title}\n", *parts))


def _commands() -> Iterator[str]:
    for one in helped():
        words = one.asked.removeprefix("$ ").removesuffix(" --help")
        yield f"## {words}\n\n```text\n{one.text}```\n"


def _schemas(home: Path) -> Iterator[str]:
    for one in told(["schema"], home):
        text = json.dumps(told(["schema", one["name"]], home), indent=2, ensure_ascii=False)
        by = ", ".join(f"`{command}`" for command in one["commands"])
        yield f"## {one['name']}\n\nPrinted by {by}.\n\n```json\n{text}\n```\n"


def write(folder: Path) -> None:
    """Make all pages anew in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in pages():
        (folder / f"{name}.md").write_text(text, "utf-8")


if __name__ == "__main__":
    write(FOLDER)
