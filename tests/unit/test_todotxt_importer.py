"""Lines of todo.txt arrive as the tasks that they mean (SPEC 1, Importers)."""

from pathlib import Path

import pytest

from adapters.importers.todotxt import read
from domain.journal.imported import ImportedFile, ImportedNote, ImportedTask
from domain.log.keys import key

DATA = Path(__file__).parents[1] / "data/todotxt"


def read_text(text: str) -> ImportedFile:
    return read(text.encode(), source="todo.txt")


def only_task(line: str) -> ImportedTask:
    file = read_text(line)
    (task,) = file.tasks
    assert file.unreadable == ()
    return task


def problems(text: str) -> list[tuple[int, str]]:
    return [(found.line, found.reason) for found in read_text(text).unreadable]


@pytest.mark.parametrize(
    ("line", "title", "priority", "status", "reason"),
    [
        ("Call Mom", "Call Mom", "", "", ""),
        ("(A) Call Mom", "Call Mom", "P0", "", ""),
        ("(B) 2027-01-01 Call Mom", "Call Mom", "P1", "", ""),
        ("(C) Call Mom", "Call Mom", "P2", "", ""),
        ("(D) Call Mom", "Call Mom", "P3", "", ""),
        ("(Z) Call Mom", "Call Mom", "P3", "", ""),
        ("2027-01-01 Call Mom", "Call Mom", "", "", ""),
        ("(a) Call Mom", "(a) Call Mom", "", "", ""),
        ("(A)Call Mom", "(A)Call Mom", "", "", ""),
        ("Call (A) Mom", "Call (A) Mom", "", "", ""),
        ("2027-01-01 2027-01-02 review", "2027-01-02 review", "", "", ""),
        ("x Call Mom", "Call Mom", "", "DONE", ""),
        ("x 2027-01-02 Call Mom", "Call Mom", "", "DONE", "completed on 2027-01-02"),
        ("x 2027-01-02 2027-01-01 Call Mom", "Call Mom", "", "DONE", "completed on 2027-01-02"),
        ("x (A) 2027-01-02 Call Mom", "Call Mom", "P0", "DONE", "completed on 2027-01-02"),
        ("x 2027-01-02 (B) Call Mom", "Call Mom", "P1", "DONE", "completed on 2027-01-02"),
        ("x 2027-01-02 Call Mom pri:C", "Call Mom", "P2", "DONE", "completed on 2027-01-02"),
        ("X Call Mom", "X Call Mom", "", "", ""),
        ("xylophone lesson", "xylophone lesson", "", "", ""),
        ("  Call \t Mom  ", "Call Mom", "", "", ""),
    ],
)
def test_the_head_of_a_line(line: str, title: str, priority: str, status: str, reason: str) -> None:
    task = only_task(line)
    assert (task.title, task.priority) == (title, priority)
    assert (task.status, task.status_reason) == (status, reason)


@pytest.mark.parametrize(
    ("line", "title", "category", "labels"),
    [
        ("Call Mom +Family @phone", "Call Mom", "Family", ("phone",)),
        ("@phone @home +Family Call Mom", "Call Mom", "Family", ("phone", "home")),
        ("Call @Mom about +Wedding today", "Call Mom about Wedding today", "Wedding", ("Mom",)),
        ("Sell it +Garage +Money @shop", "Sell it", "Garage", ("Money", "shop")),
        ("Call @mom, then @Mom.", "Call mom, then", "", ("mom",)),
        ("Write to ann@example.org", "Write to ann@example.org", "", ()),
        ("Add 1 + 1 @ 10:30 for +1 person", "Add 1 + 1 @ 10:30 for +1 person", "", ()),
        ("Küche putzen +Wohnung @zürich", "Küche putzen", "Wohnung", ("zürich",)),
    ],
)
def test_projects_and_contexts(
    line: str, title: str, category: str, labels: tuple[str, ...]
) -> None:
    task = only_task(line)
    assert (task.title, task.category, task.labels) == (title, category, labels)


def test_a_due_date_is_taken_and_other_pairs_stay_in_the_title() -> None:
    task = only_task("Pay rent rec:1m +Home due:2027-02-12 t:2027-02-01")
    assert (task.title, task.due) == ("Pay rent rec:1m t:2027-02-01", "2027-02-12")
    assert only_task("See https://example.org/due:x").title == "See https://example.org/due:x"


def test_values_outside_their_limits_are_left_out_and_named() -> None:
    text = (
        f"One due:2027-02-30\n\nx 2027-13-01 Two\nThree due:2027-01-01 due:2027-01-02 @{'a' * 101}"
    )
    file = read_text(text)
    assert [(task.title, task.due) for task in file.tasks] == [
        ("One", ""),
        ("Two", ""),
        ("Three", "2027-01-01"),
    ]
    lines = [found.line for found in file.unreadable]
    assert lines == [1, 3, 4, 4]
    assert "'2027-02-30' is no date" in file.unreadable[0].reason
    assert file.tasks[1].status == "DONE"


@pytest.mark.parametrize("line", ["(A)", "x 2027-01-01", "+Home @phone", "due:2027-01-01"])
def test_a_line_without_a_text_is_named(line: str) -> None:
    (problem,) = problems(f"One\n{line}\nTwo")
    assert problem == (
        2,
        "the line does not say what is to be done; write it, or delete the line",
    )


def test_an_x_alone_is_a_title() -> None:
    assert only_task("x").title == "x"


def test_ids_follow_the_words_and_not_the_marks() -> None:
    plain = only_task("Call Mom").task_id
    assert plain == key("task", "todo.txt", "todotxt", "call mom", "0")
    for line in (
        "(A) 2027-01-01 call  mom",
        "x 2027-01-02 2027-01-01 Call Mom +Family",
        "Call Mom @phone due:2027-02-12 t:2027-02-01",
        "Call @Mom",
    ):
        assert only_task(line).task_id in (plain, key("task", "todo.txt", "todotxt", "call", "0"))
    first, second = read_text("Call Mom\nx Call Mom").tasks
    assert (first.task_id, second.task_id) == (
        plain,
        key("task", "todo.txt", "todotxt", "call mom", "1"),
    )


def test_a_long_title_is_cut_at_a_word_and_kept_whole() -> None:
    title = " ".join(["word"] * 60)
    task = only_task(f"{title} @home")
    assert (len(task.title) <= 200, task.title[-5:]) == (True, "word…")
    assert task.notes == (ImportedNote(title, key="title"),)


def test_a_very_long_word_is_no_mark() -> None:
    task = only_task(f"Call @{'a' * 200}")
    assert (len(task.notes), task.labels) == (1, ())


def test_any_line_ends_and_a_byte_order_mark() -> None:
    data = b"\xef\xbb\xbf(A) One\r\nTwo\rThree\n\n"
    assert [task.title for task in read(data, source="s").tasks] == ["One", "Two", "Three"]


def test_bytes_that_are_no_text_are_named_once() -> None:
    file = read(b"One\nT\xffwo \xfe\n\x00three", source="s")
    assert [task.title for task in file.tasks] == ["One", "T\ufffdwo \ufffd", "\ufffdthree"]
    assert [found.line for found in file.unreadable] == [2]


def test_what_the_real_client_wrote() -> None:
    file = read((DATA / "todo.txt").read_bytes(), source="todo.txt")
    assert file.unreadable == ()
    assert [(task.title, task.category, task.priority, task.status) for task in file.tasks] == [
        ("Call Ann about the roof", "Home", "P0", ""),
        ("Pay rent rec:1m t:2027-01-25", "Home", "P3", ""),
        ("Buy milk – 2 l", "", "", "DONE"),
        ("Read https://example.org/a:b at 10:30", "", "", ""),
    ]
    assert [task.labels for task in file.tasks[:3]] == [("Ann", "phone"), ("Money",), ("shop",)]
    done = read((DATA / "done.txt").read_bytes(), source="todo.txt")
    assert done.tasks == (file.tasks[2],)


def test_keys_that_mean_nothing_here_are_named_once_and_stay_in_the_title() -> None:
    text = b"Water +Home rec:1w t:2027-02-01\n(D) Call T:2027-03-01 h:1 pri:A due:2027-02-12\n"
    file = read(text, source="todo.txt")
    assert [(one.line, one.reason.partition(" ")[0]) for one in file.named] == [
        (1, "`rec:`"),
        (1, "`t:`"),
        (2, "`h:`"),
    ]
    assert [task.title for task in file.tasks] == [
        "Water rec:1w t:2027-02-01",
        "Call T:2027-03-01 h:1",
    ]
    assert file.tasks[1].priority == "P3"
    assert file.unreadable == ()
