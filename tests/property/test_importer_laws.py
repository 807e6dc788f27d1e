"""No bytes ever raise in a reader; what it hands over is within limits, and always the same."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.importers import formats
from adapters.importers.common import UNREADABLE_MAX
from domain.journal.imported import ImportedFile, ImportedTask
from domain.journal.task import PRIORITIES, STATUSES
from domain.log import canonical
from domain.log.timestamps import is_date, is_moment
from domain.text import squeeze

DATA = Path(__file__).parents[1] / "data"
SAMPLES = sorted(
    file for name in ("taskwarrior", "todotxt", "github") for file in (DATA / name).iterdir()
)
NAMES = """
uuid description status due entry modified priority project tags annotations depends wait start end
number title body labels state stateReason state_reason comments milestone url html_url name id
repository_url repository pull_request createdAt closedAt dueOn author login
""".split()
TEXTS = (
    "pending",
    "waiting",
    "completed",
    "deleted",
    "recurring",
    "H",
    "open",
    "CLOSED",
    "NOT_PLANNED",
)

forms = st.sampled_from(formats.FORMATS)
texts = (
    st.sampled_from(TEXTS) | st.text(max_size=20) | st.datetimes().map("{:%Y%m%dT%H%M%SZ}".format)
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=20,
)
objects = st.fixed_dictionaries(
    {"uuid": st.sampled_from("abc"), "number": st.integers(1, 3)},
    optional={name: values for name in NAMES if name not in ("uuid", "number")},
)
todo_words = st.sampled_from(
    [
        "x",
        "(A)",
        "(Z)",
        "2027-01-01",
        "2027-02-30",
        "+p",
        "@c",
        "due:2027-01-01",
        "pri:B",
        "k:v",
        "w",
        "\t",
        "\x85",
    ]
)


def sound(file: ImportedFile | None) -> None:
    """What every reader promises of what it hands over."""
    assert file is not None
    ids = [task.task_id for task in file.tasks]
    assert len(ids) == len(set(ids))
    assert len(file.unreadable) <= UNREADABLE_MAX + 1
    assert all(problem.line >= 1 and problem.reason for problem in file.unreadable)
    for task in file.tasks:
        within_limits(task)
        assert canonical.read(canonical.encode(task))


def within_limits(task: ImportedTask) -> None:
    """What the journal's deciders would refuse does not come from a reader."""
    assert 1 <= len(task.title) <= 200
    assert task.title == squeeze(task.title)
    assert len(task.category) <= 100
    assert task.status in ("", *STATUSES)
    assert len(task.status_reason) <= 500
    assert task.status_reason or task.status not in ("BLOCKED", "ON HOLD")
    assert task.priority in ("", *PRIORITIES)
    assert not task.due or is_date(task.due)
    assert all(1 <= len(label) <= 100 for label in task.labels)
    assert all(1 <= len(item.title) <= 400 for item in task.items)
    assert all(note.text.strip() and (not note.at or is_moment(note.at)) for note in task.notes)


@given(data=st.binary(max_size=300), form=forms)
@example(data=b"", form="github")
@example(data=b"\xef\xbb\xbf[{}]", form="taskwarrior")
@example(data=b"\xff\xfe[\0{\0}\0]\0", form="taskwarrior")
def test_no_bytes_raise(data: bytes, form: str) -> None:
    sound(formats.read(data, "x", form, "s"))
    assert formats.read(data, "x", form, "s") == formats.read(data, "x", form, "s")
    assert formats.guess(data, "x") in ("", *formats.FORMATS)


@given(
    found=st.lists(objects, max_size=5), form=st.sampled_from(["taskwarrior", "github", "tasks"])
)
@example(
    found=[{"uuid": "a", "number": 1, "title": "\ud800", "description": "\ud800\0"}], form="github"
)
@example(found=[{"uuid": "a", "description": "d", "urgency": math.nan}], form="taskwarrior")
def test_any_values_give_sound_tasks(found: list[dict[str, Any]], form: str) -> None:
    whole = json.dumps(found).encode()
    lines = "\n".join(map(json.dumps, found)).encode()
    one, other = (formats.read(data, "x", form, "\ud800") for data in (whole, lines))
    sound(one)
    assert one is not None
    assert other is not None
    assert (one.tasks, one.left_out) == (other.tasks, other.left_out)


@given(words=st.lists(st.lists(todo_words, max_size=8), max_size=6))
def test_any_line_gives_sound_tasks(words: list[list[str]]) -> None:
    text = "\n".join(map(" ".join, words))
    file = formats.read(text.encode(), "todo.txt", "todotxt", "s")
    sound(file)
    assert file is not None
    blank = sum(not squeeze(line) for line in text.split("\n"))
    without = sum("does not say what" in problem.reason for problem in file.unreadable)
    assert len(file.tasks) + without + blank == len(text.split("\n"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda file: file.name)
@given(where=st.floats(0, 1), put=st.binary(max_size=4), cut=st.integers(0, 20))
def test_a_damaged_file_never_raises(sample: Path, where: float, put: bytes, cut: int) -> None:
    data = sample.read_bytes()
    at = int(where * len(data))
    damaged = data[:at] + put + data[at + cut :]
    sound(formats.read(damaged, sample.name, sample.parent.name, "s"))
    sound(formats.read(data[:at], sample.name, sample.parent.name, "s"))


@pytest.mark.parametrize("form", ["taskwarrior", "github"])
@pytest.mark.parametrize(
    "part",
    [b"[", b"{", b'{"uuid":', b'{"a":"\\\n', b"\0", b" ", b"9", b"  \n {"],
)
def test_ten_megabytes_of_no_tasks_end_soon(form: str, part: bytes) -> None:
    sound(formats.read(part * (10_000_000 // len(part)), "x", form, "s"))


@pytest.mark.parametrize("form", ["todotxt", "taskwarrior", "github"])
@pytest.mark.parametrize(
    ("before", "part", "after"),
    [
        (b"", b"+a ", b""),
        (b"+a", b",", b"1"),
        (b"", b" ", b"{"),
        (b"", b"{}\n", b""),
        (b"", b'{"a":NaN}\n', b""),
        (b"", b"x 2027-01-01 ", b"y"),
        (b"", b"(A) due:x @y\n", b""),
        (b"", b'{"number":1,"title":"x","uuid":"1","description":"y","tags":[1]}\n', b""),
        (b'{"number":1,"title":"x","body":"', b"- [ ] a\\n", b'"}'),
        (b'{"uuid":"1","description":"', b"a ", b'"}'),
    ],
)
def test_very_many_marks_end_soon(form: str, before: bytes, part: bytes, after: bytes) -> None:
    sound(formats.read(before + part * (300_000 // len(part)) + after, "x", form, "s"))
