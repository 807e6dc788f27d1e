"""An import is taken back as one deed: as before, but for what was changed since."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, refused, told

TODO = (
    "# Home\n- [ ] Paint the door ~2h due:2027-02-12 #green\n  - [ ] Sand it\n\n  A note.\n"
    "- [ ] Tap\n"
)
NEWER = (
    "# House\n- [x] Paint the door ~3h #red !p1\n  - [x] Sand it\n  - [ ] Wash it\n\n  A note!\n"
    "  And more.\n- [ ] Tap due:2027-03-01\n- [ ] New\n"
)


@pytest.fixture
def todo(home: Path, tmp_path: Path) -> Path:
    """A file that was imported, and imported again when all of it had changed."""
    file = tmp_path / "TODO.md"
    file.write_text(TODO)
    done(["import", str(file)], home)
    return file


def state(home: Path) -> Any:
    found = []
    for one in told(["task", "list"], home):
        page = told(["task", "show", one["id"]], home)
        items = [item for item in page["items"] if not item["archived"]]
        for item in items:
            item.pop("checked_by")
        found.append({**page, "items": items, "history": []})
    return found


def test_an_import_is_taken_back_in_one_append(home: Path, todo: Path) -> None:
    before = state(home)
    todo.write_text(NEWER)
    done(["import", str(todo)], home)
    after = state(home)
    assert after != before
    rows = proved(home)
    assert "3 brought back, 0 kept" in done(["import", str(todo), "--undo"], home)
    assert state(home) == before
    assert proved(home) > rows
    again = told(["import", str(todo), "--undo"], home)
    assert again["undone"][0]["tasks"] == []
    done(["import", str(todo)], home)
    for field in ("id", "title", "due_date"):
        assert [one[field] for one in state(home)] == [one[field] for one in after]
    proved(home)


def test_a_first_import_is_taken_back_too(home: Path, todo: Path) -> None:
    done(["import", str(todo), "--undo"], home)
    assert told(["task", "list"], home) == []
    assert len(told(["task", "list", "--deleted"], home)) == 2
    proved(home)


def test_what_was_changed_since_stays(home: Path, todo: Path) -> None:
    todo.write_text(NEWER)
    done(["import", str(todo)], home)
    done(["task", "set", "Tap", "--due", "2027-04-01"], home)
    done(["task", "set", "New", "--due", "2027-04-01"], home)
    text = done(["import", str(todo), "--undo"], home)
    assert "2 brought back, 2 kept" in text
    assert "Tap: changed since, left alone" in text
    found = {one["title"]: one["due_date"] for one in told(["task", "list"], home)}
    assert found == {"Paint the door": "2027-02-12", "Tap": "2027-04-01", "New": "2027-04-01"}


def test_a_long_import_is_taken_back_whole(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "long.md"
    file.write_text("".join(f"- [ ] Task {nth}\n" for nth in range(450)))
    done(["import", str(file)], home)
    assert len(told(["import", str(file), "--undo"], home)["undone"][0]["tasks"]) == 450
    assert told(["task", "list"], home) == []


def test_what_was_not_imported_cannot_be_taken_back(home: Path, todo: Path) -> None:
    assert "nothing was imported" in refused(["import", "other.md", "--undo"], home)
    assert "not tried" in refused(["import", str(todo), "--undo", "--dry-run"], home)


DOCUMENTS = (["task", "list"], ["label", "list"], ["category", "list"], ["conflicts"])


def documents(home: Path) -> list[str]:
    return [done([*one, "--json"], home) for one in DOCUMENTS]


def test_the_lists_are_byte_for_byte_as_before_with_conflicts_and_what_was_gone(
    home: Path, todo: Path
) -> None:
    done(["task", "add", "By hand"], home)
    done(["task", "set", "Tap", "--due", "2027-04-01"], home)
    todo.write_text(TODO.replace("- [ ] Tap", "- [ ] Tap due:2027-04-02"))
    done(["import", str(todo)], home)
    before = documents(home)
    assert "2027-04-02" in before[-1]
    todo.write_text("# New\n- [ ] Tap due:2027-04-03 #blue\n- [ ] Door 🆔 a\n- [ ] Wall ⛔ a\n")
    done(["import", str(todo), "--gone", "delete", "--key", "K"], home)
    assert not [one for one, other in zip(documents(home), before, strict=True) if one == other]
    done(["import", str(todo), "--undo"], home)
    assert documents(home) == before
    deleted = [one["title"] for one in told(["task", "list", "--deleted"], home)]
    assert sorted(deleted) == ["Door", "Wall"]
    done(["undo"], home)  # the import before it, which opened the conflict
    assert told(["conflicts"], home) == []
    proved(home)


def test_of_two_files_under_one_key_one_is_taken_back(home: Path, tmp_path: Path) -> None:
    files = [tmp_path / "a.md", tmp_path / "b.md"]
    for file in files:
        file.write_text("".join(f"- [ ] {file.stem} {nth}\n" for nth in range(201)))
    done(["import", *map(str, files), "--key", "K"], home)
    done(["task", "add", "By hand"], home)
    assert len(told(["import", str(files[0]), "--undo"], home)["undone"][0]["tasks"]) == 201
    titles = {one["title"][0] for one in told(["task", "list"], home)}
    assert titles == {"b", "B"}
    proved(home)


def test_a_conflict_is_open_again_when_its_settling_is_undone(home: Path, todo: Path) -> None:
    done(["task", "set", "Tap", "--due", "2027-04-01"], home)
    todo.write_text(TODO.replace("- [ ] Tap", "- [ ] Tap due:2027-04-02"))
    done(["import", str(todo)], home)
    before = documents(home)
    for keep in ("mine", "file"):
        done(["settle", "Tap", "due", "--keep", keep], home)
        assert told(["conflicts"], home) == []
        assert "Open the conflict again" in done(["undo", "--list"], home)
        done(["undo"], home)
        assert documents(home) == before
    proved(home)
