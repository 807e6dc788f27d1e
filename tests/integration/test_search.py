"""`wakelog search`: held against a scan of what the other commands print, by rules of its own."""

import os
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.usecases.search import TOLD_FROM, search
from adapters.wiring import open_home
from tests.support.cli import FIXED, done, refused, told

WORDS = ("door", "doors", "Door", "paint", "red", "Grün", "grüner", "東京へ行く", "a-b", "plumber")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
KINDS = st.sampled_from("add note item retitle unnote tick delete restore".split())
DEEDS = st.lists(st.tuples(KINDS, st.integers(0, 3), TEXTS), min_size=1, max_size=12)
WANTED = st.sampled_from(("door", "doo", "RED", "grün", "京へ", "paint re"))


def texts(home: Path, task: str) -> list[str]:
    """All that stands in a task, as it is shown."""
    shown = told(["show", task], home)
    items = [one["title"] for one in shown["items"] if not one["archived"]]
    return [shown["title"], shown["description"], *items, *(one["text"] for one in shown["notes"])]


def has(text: str, word: str) -> bool:
    """Whether a word of a text begins so: by a regular expression, and of Japanese any place."""
    begins = "" if re.search("[぀-鿿]", word) else r"(?<![^\W_])"
    return re.search(begins + re.escape(word), text, re.IGNORECASE) is not None


def scanned(home: Path, words: str, *, is_deleted: bool = False) -> set[str]:
    listed = told(["list", "--deleted" if is_deleted else "--limit=999"], home)
    return {
        one["id"]
        for one in listed
        if all(any(has(text, word) for text in texts(home, one["id"])) for word in words.split())
    }


def found(home: Path, words: str, *options: str) -> list[str]:
    return [one["id"] for one in told(["search", *words.split(), *options], home)]


def do(home: Path, deed: str, nth: int, text: str) -> None:
    living = [one["id"] for one in told(["list"], home)]
    gone = [one["id"] for one in told(["list", "--deleted"], home)]
    if deed == "add" or not living:
        done(["add", text], home)
        return
    task = living[nth % len(living)]
    shown: Any = told(["show", task], home)
    match deed:
        case "note":
            done(["note", task, text], home)
        case "item":
            done(["task", "item", "add", task, text], home)
        case "retitle":
            done(["edit", task, "--title", text, "--description", text], home)
        case "unnote" if shown["notes"]:
            done(["note", task, "--remove", "1"], home)
        case "tick" if shown["items"]:
            done(["task", "item", "archive", task, "1"], home)
        case "delete":
            done(["delete", task], home)
        case "restore" if gone:
            done(["task", "restore", gone[0]], home)


@pytest.mark.slow
@given(deeds=DEEDS, wanted=st.lists(WANTED, min_size=2, max_size=3))
@settings(max_examples=12)
def test_what_is_found_is_what_has_the_words(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[tuple[str, int, str]], wanted: list[str]
) -> None:
    home = tmp_path_factory.mktemp("searched") / "home"
    for deed, nth, text in deeds:
        do(home, deed, nth, text)
        for words in wanted:
            assert set(found(home, words)) == scanned(home, words), (deed, words)
    assert set(found(home, "door", "--deleted")) == scanned(home, "door", is_deleted=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    done(["add", "Fix the tap"], home)
    done(["note", "Fix the tap", "Need to call the plumber Meyer."], home)
    done(["add", "Call Meyer"], home)
    return home


def test_the_title_comes_first_and_where_the_words_stand_is_told(home: Path) -> None:
    assert [one["title"] for one in told(["search", "meyer"], home)] == [
        "Call Meyer",
        "Fix the tap",
    ]
    assert done(["search", "meyer"], home).splitlines()[2] == (
        "          note: Need to call the plumber Meyer."
    )
    assert done(["search", "nothing"], home) == "No task has 'nothing'.\n"
    assert "there is no word to look for" in refused(["search", "..."], home)
    assert len(done(["search", "meyer", "--limit", "1"], home).splitlines()) == 1


def test_what_agents_say_and_are_asked_is_found_once_it_is_said(home: Path) -> None:
    done(["agent", "create", "--all"], home)
    assert found(home, "checklist") == []
    done(["wake", "Fix the tap"], home)
    (one,) = told(["search", "checklist", "proposed"], home)
    assert (one["title"], one["where"]) == ("Fix the tap", "report")
    done(["agent", "ask", "Fix the tap", "Is the boiler concerned?"], home)
    (one,) = told(["search", "boiler"], home)
    assert one["where"] in ("chat", "observation")
    assert "Is the boiler concerned?" in one["text"]


@pytest.mark.parametrize("how", ["random bytes", "no tables", "another format", "another's"])
def test_an_index_that_cannot_be_believed_is_made_anew(
    home: Path, tmp_path: Path, how: str
) -> None:
    before = found(home, "meyer")
    file = home / "search.db"
    if how == "random bytes":
        file.write_bytes(os.urandom(9_000))
    elif how == "another's":
        done(["add", "Meyer, Meyer"], tmp_path / "other")
        found(tmp_path / "other", "meyer")
        file.write_bytes((tmp_path / "other" / "search.db").read_bytes())
    else:
        connection = sqlite3.connect(file)
        connection.execute("DROP TABLE places" if how == "no tables" else "PRAGMA user_version=99")
        connection.close()
    assert found(home, "meyer") == before
    done(["note", "Fix the tap", "Anew."], home)
    assert len(found(home, "anew")) == 1


def test_what_is_written_while_the_index_is_made_is_found_the_next_time(
    tmp_path: Path,
) -> None:
    home, file = tmp_path / "home", tmp_path / "TODO.md"
    file.write_text("".join(f"- [ ] Bed {n}\n" for n in range(TOLD_FROM + 1)), encoding="utf-8")
    done(["import", str(file)], home)
    task = str(told(["list", "--limit", "1"], home)[0]["id"])
    written: list[int] = []

    def meanwhile(nth: int, of: int) -> None:
        if nth == 200 and not written:
            written.append(of)
            done(["note", task, "The rake broke."], home)

    with open_home(home, FIXED) as opened:
        opened.views.catch_up()
        search(opened, "bed", progress=meanwhile)
    assert written == [TOLD_FROM + 1]
    assert found(home, "rake") == [task]


def test_a_home_without_tasks_says_how_to_begin(tmp_path: Path) -> None:
    assert done(["search", "x"], tmp_path / "none").startswith("No tasks yet.")
    assert list(tmp_path.iterdir()) == []
