"""Payloads read many at once, by whom goes through the log from its beginning."""

from pathlib import Path

import pytest

from adapters.store.log import Log
from adapters.store.sqlite import PAGE_PAYLOADS
from domain.journal.commands import AddNote, CreateTask
from domain.log.wire import Words, payload

AT = "2027-01-01T00:00:00.000000Z"
LONG = 40  # times; longer than what is read along


@pytest.mark.parametrize("is_file", [True, False])
def test_payloads_onward_begin_with_the_one_wanted(tmp_path: Path, is_file: bool) -> None:
    log = Log.open("journal", tmp_path / "j.db", "r1") if is_file else Log.in_memory("journal")
    task = log.append(CreateTask("one"), AT).result.ids[0]
    texts = [f"{nth} ".encode() * 1_000 for nth in range(PAGE_PAYLOADS)]
    texts[2] *= LONG
    kept = [payload(task, text) for text in texts]
    for one in kept:
        log.append(AddNote(task, "note", Words(payload=one.id)), AT, payloads=[one])
    pairs = [(one.id, one.data) for one in kept]
    read = log.onward()
    assert list(read("none")) == []
    assert list(read(kept[1].id)) == ([*pairs[1:2], *pairs[3:]] if is_file else pairs[1:2])
    assert list(read(kept[2].id)) == pairs[2:3]  # alone: the others have been read
    assert list(read(kept[0].id)) == pairs[:1]
    log.close()
