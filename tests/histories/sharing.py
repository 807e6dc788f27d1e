"""Keeps the homes of machines that share one, as they lie there: rows in the order in which they
came in. What is kept in ``shared/`` was lived in by commands of several revisions, and is never
written again: `python -m tests.histories.sharing HOME NAME`
"""

import gzip
import json
import sys
from base64 import b64decode, b64encode
from pathlib import Path

from adapters.store.log import Log
from adapters.store.recorder import by_append
from adapters.store.sqlite import SQLiteLogRecorder
from domain.append.envelope import Row
from domain.log.wire import Payload

FOLDER = Path(__file__).parent / "shared"
LOGS = ("journal", "agent")


def keep(home: Path, name: str, folder: Path = FOLDER) -> None:
    """Write what a home holds to ``shared/NAME.rows.gz``, or into another folder."""
    replica = (home / "replica").read_text("utf-8").strip()
    lines: list[dict[str, object]] = [{"replica": replica}]
    for log in LOGS:
        recorder = SQLiteLogRecorder(home / f"{log}.db", is_read_only=True)
        lines += [
            {"log": log, "payload": one, "base64": b64encode(data).decode()}
            for one, data in sorted(recorder.kept_payloads())
        ]
        lines += [
            {"log": log, **row._asdict(), "state": row.state.decode()}
            for row in recorder.newest(recorder.count())
        ]
        recorder.close()
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)
    (folder / f"{name}.rows.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def restored(name: str, home: Path, folder: Path = FOLDER) -> tuple[Log, Log]:
    """Both logs of a kept home, in new SQLite files."""
    text = gzip.decompress((folder / f"{name}.rows.gz").read_bytes()).decode()
    first, *lines = map(json.loads, text.splitlines())
    home.mkdir()
    journal, agents = (
        _log(log, home, first["replica"], [one for one in lines if one["log"] == log])
        for log in LOGS
    )
    return journal, agents


def _log(log: str, home: Path, replica: str, lines: list[dict[str, str]]) -> Log:
    kept = [Payload(one["payload"], b64decode(one["base64"])) for one in lines if "payload" in one]
    rows = [
        Row(one["stream"], int(one["version"]), one["topic"], one["state"].encode())
        for one in lines
        if "stream" in one
    ]
    recorder = SQLiteLogRecorder(home / f"{log}.db")
    with recorder.deciding():
        for append in by_append(rows):
            recorder.insert(append, kept)
        recorder.keep_order()
    recorder.close()
    return Log.open(log, home / f"{log}.db", replica)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2])
