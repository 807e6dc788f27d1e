"""A part of a long stream is read as the whole is, from a file and from memory."""

from pathlib import Path

from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from adapters.store.sqlite import SQLiteLogRecorder
from domain.journal import commands as do
from domain.log.wire import words

AT = "2027-01-01T00:00:00.000000Z"


def test_rows_with_some_tags_are_left_out_of_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = Log.open("journal", path, "r1")
    task = journal.append(do.CreateTask("one"), AT).result.ids[0]
    for text in ("a", "b"):
        journal.append(do.AddNote(task, "note", words(task, text)[0]), AT)
    stream, memory = f"task:{task}@r1", MemoryLogRecorder()
    memory.insert(list(journal.rows()), ())
    for recorder in (SQLiteLogRecorder(path), memory):
        rows = recorder.stream(stream, 0)
        noted = rows[-1].row.topic
        others = [one for one in rows if one.row.topic != noted]
        assert 0 < len(others) == len(rows) - 2
        assert recorder.stream(stream, 0, [noted, "unknown"]) == others
        assert recorder.stream(stream, len(others), [noted]) == []
        recorder.close()
    journal.close()
