"""A pytest plugin: proves recorded histories with today's code, one test for each file.

Make histories with `wakelog export-history RUN --out histories/NAME.jsonl`, keep them in your
repository, and let CI say::

    pytest --wakelog-histories histories

Each file is a test of its own. One fails where today's code would decide, write or show a model
something else than what was recorded; it says which wake and row, of which class, and both sides.
Without the option the plugin does nothing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from adapters.proof.prove import Proved

OPTION = "--wakelog-histories"
ENDING = ".jsonl"
FOLDED = "wakelog_folded"  # of a test: causes that were not executed again
ALTERED = "The file is not what was exported: take it from your repository again."
CHANGED = "Meant so? Raise domain.log.rules.RULES with an ADR, or record the history anew."


class Diverged(Exception):
    """A history that today's code does not prove."""

    def __init__(self, proved: "Proved") -> None:
        super().__init__(f"{len(proved.divergences) + proved.left} divergences")
        self.proved = proved


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--wakelog-histories DIR``, as often as wanted."""
    parser.getgroup("wakelog").addoption(
        OPTION,
        action="append",
        default=[],
        metavar="DIR",
        help="Prove every history (*.jsonl) of this folder, or this file, as a test of its own.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect the folders, too."""
    folders = _folders(config)
    for folder in folders:
        if not folder.exists():
            raise pytest.UsageError(f"{OPTION}: there is no {folder}")
    config.args.extend(str(folder) for folder in folders if str(folder) not in config.args)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file of one history."""
    if file_path.suffix != ENDING:
        return None
    if not {file_path, file_path.parent} & set(_folders(parent.config)):
        return None
    found: pytest.Collector = HistoryFile.from_parent(parent, path=file_path)
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the histories of older rules: today's code was not asked what it would decide there."""
    folded = [
        one.nodeid.partition("::")[0]
        for one in terminalreporter.getreports("passed")
        if one.when == "call" and any(name == FOLDED for name, _ in one.user_properties)
    ]
    if folded:
        terminalreporter.section("wakelog histories of older rules")
        terminalreporter.line("They were folded, not executed again; record them anew to guard:")
        for name in sorted(folded):
            terminalreporter.line(f"  {name}")


def _folders(config: pytest.Config) -> list[Path]:
    return [Path(given).resolve() for given in config.getoption(OPTION, default=[])]


def _is_altered(proved: "Proved") -> bool:
    """Whether bytes of the history itself are other ones, so that today's code is not to blame."""
    from replay import divergence

    return any(one.kind_of in divergence.DAMAGE for one in proved.divergences)


class HistoryFile(pytest.File):
    """One file, one test."""

    def collect(self) -> Iterator[pytest.Item]:
        yield HistoryItem.from_parent(self, name="proves")


class HistoryItem(pytest.Item):
    """Hands every cause of a history to today's code."""

    def runtest(self) -> None:
        from adapters.proof import histories

        proved = histories.prove_history(histories.read_history(self.path))
        if proved.folded:
            self.user_properties.append((FOLDED, proved.folded))
        if not proved.ok:
            raise Diverged(proved)

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: object = None,  # noqa: ARG002  pytest's own signature
    ) -> str:
        """What differs, as `wakelog prove` tells it; another error in one line."""
        if not isinstance(excinfo.value, Diverged):
            return f"{type(excinfo.value).__name__}: {excinfo.value}"
        from adapters.text.proof import failure_text

        proved = excinfo.value.proved
        end = ALTERED if _is_altered(proved) else CHANGED
        return f"{self.path.name}: {failure_text(proved)}\n{end}"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.path.stem} proves"
