"""A real server from outside: its page as a browser without JavaScript uses it, the files that it
has open, and what stands in the logs that it writes. Nothing here imports the code that is asked.
"""

import json
import socket
import sqlite3
import urllib.error
import urllib.request
from collections import Counter
from contextlib import closing
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.support.forms import forms

TIMEOUT = 60
LOGS = ("journal.db", "agent.db")
_DELETED = " (deleted)"
_TEXTS = {
    "task.created.1": lambda data: data["title"],
    "task.note_added.1": lambda data: data["words"].get("text", ""),
    "task.note_edited.1": lambda data: data["words"].get("text", ""),
    "catalog.label_added.1": lambda data: data["name"],
    "catalog.label_scoped.1": lambda data: data.get("name", ""),
}


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


class Browser:
    """Somebody at the page of a server, with cookies of their own."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._open = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar())
        ).open

    def is_answered(self) -> bool:
        """Whether the server is there yet."""
        try:
            return bool(self.page("/inbox"))
        except urllib.error.URLError:
            return False

    def page(self, path: str) -> str:
        """The text of a page that must be there."""
        with self._open(f"{self.address}{path}", timeout=TIMEOUT) as answer:
            return str(answer.read().decode())

    def json(self, path: str) -> Any:
        return json.loads(self.page(f"{path}.json"))

    def send(self, path: str, action: str, **fields: str) -> bool:
        """Send the last form of a page to an address; whether it was acknowledged."""
        found = [
            one
            for one in forms(self.page(path))
            if one.action == action and any(name == "nonce" for name, _ in one.fields)
        ]
        if not found:
            return False
        kept = [(name, value) for name, value in found[-1].fields if name not in fields]
        body = urlencode([*kept, *fields.items()])
        headers = {"Origin": self.address}
        asked = urllib.request.Request(f"{self.address}{action}", body.encode(), headers)
        with self._open(asked, timeout=TIMEOUT) as answer:
            return "told=" in str(answer.url)


def fallen(pid: int, home: Path) -> list[str]:
    """The files of a home that a process has open and that are deleted: whatever it writes there
    is lost. The analytics are left out: they are only read, and replaced as a whole."""
    found = []
    for one in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(one.readlink())
        except FileNotFoundError:  # closed meanwhile
            continue
        name = target.removesuffix(_DELETED)
        is_ours = name.startswith(f"{home}/") and name.endswith((".db", ".db-wal", ".db-shm"))
        if is_ours and name != target:
            found.append(name)
    return found


def written(home: Path) -> Counter[str]:
    """Titles, notes and labels in a journal, and how often each was written; what an undo brought
    back of a note is the same text."""
    sql = "SELECT topic, state FROM stored_events"
    found: Counter[str] = Counter()
    notes = set[tuple[str, str]]()
    with closing(sqlite3.connect(f"file:{home / LOGS[0]}?mode=ro", uri=True)) as connection:
        for topic, state in connection.execute(sql):
            if topic not in _TEXTS:
                continue
            data = json.loads(state)["data"]
            text, note = _TEXTS[topic](data), data.get("note", "")
            if (note, text) not in notes or not note:
                found[text] += 1
            notes.add((note, text))
    return found
