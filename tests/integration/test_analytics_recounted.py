"""Every table, view and macro, counted a second time from the raw rows (`support/recounting`)."""

import gzip
from pathlib import Path

import pytest

from adapters.analytics.rows import LOGS
from adapters.proof import histories
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from domain.wire import Payload
from tests.histories import scenes
from tests.histories.test_formats import restored
from tests.support.analysed import Tables
from tests.support.checking.logs import opened
from tests.support.recounting.compared import TABLES, Counted, differing

FILES = [file for file in sorted(scenes.FOLDER.glob("**/*.jsonl*")) if "formats" not in file.parts]
FORMATS = sorted(scenes.FOLDER.glob("formats/*/"))
QUICK = ("each_verdict", "providers", "two_replicas")  # the other files are for the slow part


def named(file: Path) -> str:
    return str(file.relative_to(scenes.FOLDER)).partition(".jsonl")[0]


def filled(history: histories.History) -> Tables:
    """The analytics of a history."""
    logs = {}
    for name in ("agent", "journal"):
        recorder = MemoryLogRecorder()
        payloads = [Payload(one, data) for one, data in history.payloads.items()]
        recorder.insert(history.rows[name], payloads)
        logs[name] = Log(name, recorder, "r1")
    return Tables(logs["agent"], logs["journal"])


def kept(file: Path, folder: Path) -> Path:
    """A history's file, unpacked."""
    if file.suffix != ".gz":
        return file
    unpacked = folder / file.stem
    unpacked.write_bytes(gzip.decompress(file.read_bytes()))
    return unpacked


def mismatches(tables: Tables, counted: Counted) -> list[str]:
    """What the SQL made otherwise."""
    return [
        line
        for name in TABLES
        for line in differing(name, counted[name], tables.connection, f"FROM {name}")
    ]


def same(history: histories.History, file: Path) -> None:
    found = mismatches(filled(history), Counted(opened(file)))
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=named(file), marks=() if named(file) in QUICK else pytest.mark.slow)
        for file in FILES
    ],
)
def test_a_kept_history_counted_twice_is_the_same(file: Path, tmp_path: Path) -> None:
    file = kept(file, tmp_path)
    same(histories.read(file), file)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FORMATS, ids=lambda folder: f"format {folder.name}")
def test_logs_of_this_format_counted_twice_are_the_same(folder: Path, tmp_path: Path) -> None:
    journal, agents = (restored(folder / f"{name}.jsonl", tmp_path) for name in LOGS)
    same(histories.taken(journal, agents), tmp_path)
    journal.close()
    agents.close()
