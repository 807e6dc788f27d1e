"""Today's code reads, proves and continues a log of every storage format and every release."""

import json
from base64 import b64decode
from pathlib import Path

import pytest

from adapters.store.log import Log
from adapters.store.sqlite import SQLiteLogRecorder
from domain.append.envelope import Row
from domain.journal.commands import AddCategory, CreateTask
from domain.log.keys import log_digest
from domain.log.rules import FORMAT
from domain.log.wire import Payload
from replay.prove import LogProof
from tests.histories import make
from tests.support.cli import done, proved, told
from tests.support.services import START, divergences

FOLDERS = sorted(make.FOLDER.glob("*/"))
RELEASES = [folder for folder in FOLDERS if "." in folder.name]
LATER = "2099-01-01T00:00:00.000000Z"


def restored(file: Path, home: Path) -> Log:
    """A log in a new SQLite file, with the rows and payloads of a history."""
    rows: list[Row] = []
    payloads: list[Payload] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if "payload" in one:
            payloads.append(Payload(one["payload"], b64decode(one["base64"])))
        else:
            rows.append(Row(one["stream"], one["version"], one["topic"], one["state"].encode()))
    recorder = SQLiteLogRecorder(home / f"{file.stem}.db")
    with recorder.deciding():
        recorder.insert(rows, payloads)
    recorder.close()
    return Log.open(file.stem, home / f"{file.stem}.db", "r1")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"format {folder.name}")
def test_a_log_of_this_format_is_proved_and_continued(folder: Path, tmp_path: Path) -> None:
    heads: dict[str, str] = {}
    for name in ("journal", "agent"):
        log = restored(folder / f"{name}.jsonl", tmp_path)
        proof = LogProof(name, log.payload, listed=log.erasures())
        assert list(proof.walk(log.rows())) == []
        assert proof.rows == log.count() > 40
        heads |= proof.heads
        if name == "journal":
            log.append(CreateTask("Written by today's code"), LATER)
            log.append(AddCategory("Today"), LATER)
            proof = LogProof(name, log.payload, listed=log.erasures())
            assert list(proof.walk(log.rows())) == []
            assert proof.rows == log.count()
        log.close()
    assert len(log_digest(heads)) == 32


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: f"release {folder.name}")
def test_a_home_of_a_release_opens_proves_and_goes_on(folder: Path, tmp_path: Path) -> None:
    for name in ("journal", "agent"):
        restored(folder / f"{name}.jsonl", tmp_path).close()
    before = proved(tmp_path)
    done(["task", "note", "Fix the kitchen tap", "It takes about 3 hours."], tmp_path)
    done(["wake"], tmp_path)
    (first, *_) = told(["inbox"], tmp_path)
    done(["confirm", first["items"][0]["ref"], "--anyway"], tmp_path)
    assert proved(tmp_path) > before + 20
    done(["doctor"], tmp_path)


def test_a_home_in_which_rows_were_erased_proves_and_goes_on(tmp_path: Path) -> None:
    for name in ("journal", "agent"):
        restored(make.FOLDER / "3" / f"{name}.jsonl", tmp_path).close()
    erased = told(["prove"], tmp_path)["erased"]
    assert [one["what"] for one in erased["units"]] == ["task", "agent"]
    assert (erased["rows"], erased["payloads"]) == (138, 44)
    done(["note", "Fix the kitchen tap", "It takes about 3 hours."], tmp_path)
    done(["erase", "task", "Renew the passport", "--sure"], tmp_path)
    assert len(told(["prove"], tmp_path)["erased"]["units"]) == 3


def test_the_script_makes_a_history_that_proves() -> None:
    at = make.history()
    assert divergences(at) == []
    kinds = {row.stream.partition(":")[0] for log in (at.journal, at.agents) for row in log.rows()}
    assert kinds >= set("task links catalog timer agent alert subs wake changes watch".split())


def test_the_history_of_the_present_format_is_kept() -> None:
    if not FOLDERS:
        pytest.skip("the format is not frozen yet; run `python -m tests.histories.make` then")
    assert str(FORMAT) in {folder.name for folder in FOLDERS}
    assert START < LATER
