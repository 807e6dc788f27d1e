"""GitHub issues arrive as the tasks that they mean (SPEC 1, Importers)."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.importers.formats import guess
from adapters.importers.github import read
from domain.journal.imported import ImportedFile, ImportedItem, ImportedNote, ImportedTask
from domain.log.keys import key

DATA = Path(__file__).parents[1] / "data/github"
HOUSE_12 = key("task", "github", "ann/house", "12")


def issues(*found: dict[str, Any]) -> ImportedFile:
    whole = [{"number": n, "title": f"Issue {n}", **one} for n, one in enumerate(found, start=1)]
    return read(json.dumps(whole).encode(), source="s")


def only_task(**values: Any) -> ImportedTask:
    file = issues(values)
    (task,) = file.tasks
    assert file.unreadable == ()
    return task


def test_the_shape_of_the_command_line() -> None:
    file = read((DATA / "gh.json").read_bytes(), source="issues.json")
    leak, pink = file.tasks
    assert (file.format, file.unreadable, file.left_out) == ("github", (), ())
    assert leak == ImportedTask(
        HOUSE_12,
        "Stop the leak",
        category="house",
        due="2027-03-20",
        labels=("bug", "good first issue", "Spring"),
        description=("The roof leaks in **two** places.\n\n## Steps\n\n```\n- [ ] no box\n```"),
        items=(
            ImportedItem("Find the first one", is_checked=True),
            ImportedItem("Find the second one"),
            ImportedItem("look under the tiles"),
        ),
        notes=(
            ImportedNote("first: https://example.org/1"),
            ImportedNote(
                "bob: I have a ladder.", "2027-01-04T10:11:12.000000Z", "IC_kwDOAAAAAA6aaaa1"
            ),
        ),
    )
    assert (pink.status, pink.status_reason) == ("REJECTED", "not planned")


def test_the_shape_of_the_rest_interface() -> None:
    file = read((DATA / "rest.json").read_bytes(), source="other.json")
    assert (file.unreadable, file.left_out) == ((), ("1 pull request",))
    leak, ladder = file.tasks
    assert (leak.task_id, leak.category, leak.labels) == (HOUSE_12, "house", ("bug", "Spring"))
    assert (leak.description, leak.items) == ("The roof leaks.", (ImportedItem("Find it"),))
    assert (ladder.status, ladder.status_reason) == ("DONE", "closed on 2027-01-04")


@pytest.mark.parametrize(
    ("values", "repository", "category"),
    [
        ({}, "s", ""),
        ({"url": "https://github.com/Ann/House/issues/1"}, "ann/house", "House"),
        ({"html_url": "https://git.example.org/ann/house/issues/1"}, "ann/house", "house"),
        ({"url": "https://git.example.org/api/v3/repos/ann/house/issues/1"}, "ann/house", "house"),
        ({"repository_url": "https://api.github.com/repos/ann/house"}, "ann/house", "house"),
        ({"repository": {"name": "house", "nameWithOwner": "ann/house"}}, "ann/house", "house"),
        ({"repository": {"full_name": "ann/house"}}, "ann/house", "house"),
        ({"url": "ftp://ann/house"}, "s", ""),
    ],
)
def test_ids_are_made_of_repository_and_number(
    values: dict[str, Any], repository: str, category: str
) -> None:
    task = only_task(**values)
    assert (task.task_id, task.category) == (key("task", "github", repository, "1"), category)


@pytest.mark.parametrize(
    ("values", "status", "reason"),
    [
        ({}, "", ""),
        ({"state": "OPEN", "stateReason": "REOPENED"}, "", ""),
        ({"state": "CLOSED"}, "DONE", ""),
        ({"state": "CLOSED", "stateReason": "COMPLETED"}, "DONE", ""),
        ({"state": "closed", "state_reason": "not_planned"}, "REJECTED", "not planned"),
        ({"state": "closed", "state_reason": "duplicate"}, "REJECTED", "duplicate"),
        (
            {"state": "closed", "closed_at": "2027-01-04T08:00:00Z"},
            "DONE",
            "closed on 2027-01-04",
        ),
    ],
)
def test_status(values: dict[str, Any], status: str, reason: str) -> None:
    task = only_task(**values)
    assert (task.status, task.status_reason) == (status, reason)


def test_pull_requests_are_left_out_and_counted() -> None:
    file = issues(
        {"pull_request": {"url": "x"}},
        {"url": "https://github.com/ann/house/pull/2"},
        {"pull_request": None},
    )
    assert ([task.title for task in file.tasks], file.left_out) == (
        ["Issue 3"],
        ("2 pull requests",),
    )


@pytest.mark.parametrize(
    ("body", "description", "items"),
    [
        (None, "", []),
        ("Only words", "Only words", []),
        ("- [ ] One\n- [x] Two", "", [("One", False), ("Two", True)]),
        ("Do\n\n- [ ] One\n\nthen\n\n* [X] Two\n", "Do\n\nthen", [("One", False), ("Two", True)]),
        ("- [-] Struck\n- [ ]\n- plain", "- [-] Struck\n- [ ]\n- plain", []),
        ("```\n- [ ] code\n\n\n```", "```\n- [ ] code\n\n\n```", []),
        ("> - [ ] quoted", "> - [ ] quoted", [("quoted", False)]),
    ],
)
def test_boxes_of_the_body_are_the_checklist_and_the_rest_the_description(
    body: str | None, description: str, items: list[tuple[str, bool]]
) -> None:
    task = only_task(body=body)
    assert task.description == description
    assert [(item.title, item.is_checked) for item in task.items] == items


def test_comments_are_notes_and_a_count_is_none() -> None:
    rest = {"id": 5, "user": {"login": "bob"}, "body": "Hi", "created_at": "2027-01-04T10:11:12Z"}
    assert only_task(comments=3).notes == ()
    assert only_task(comments=[rest, {"body": " "}, {"body": "Who?"}]).notes == (
        ImportedNote("bob: Hi", "2027-01-04T10:11:12.000000Z", "5"),
        ImportedNote("Who?"),
    )


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"state": "ajar"}, "the state 'ajar' is neither open nor closed"),
        ({"state": 1}, "`state` is no text: 1"),
        ({"body": ["x"]}, "`body` is no text: a list"),
        ({"labels": [{"name": 1}, 2, None]}, "`labels` has 3 of no text"),
        ({"labels": {"name": "bug"}}, "`labels` is no list: an object"),
        ({"labels": ["b" * 101]}, "the label"),
        ({"comments": "many"}, "`comments` is no list: 'many'"),
        ({"comments": [1]}, "`comments` has 1 of no object"),
        ({"milestone": 3}, "`milestone` is no object: 3"),
        ({"milestone": {"title": "M", "dueOn": "spring"}}, "`dueOn` is no time: 'spring'"),
        ({"repository": "ann/house"}, "`repository` is no object"),
    ],
)
def test_values_outside_their_limits_are_left_out_and_named(
    values: dict[str, Any], reason: str
) -> None:
    file = issues({}, values)
    assert [task.title for task in file.tasks] == ["Issue 1", "Issue 2"]
    assert [found.reason.startswith(reason) for found in file.unreadable] == [True]


@pytest.mark.parametrize(
    "values",
    [
        {"number": 0},
        {"number": "7"},
        {"number": True},
        {"number": 1.5},
        {"title": " "},
        {"number": 1},
    ],
)
def test_an_issue_without_number_or_title_is_left_out_and_named(values: dict[str, Any]) -> None:
    file = issues({}, values)
    assert [task.title for task in file.tasks] == ["Issue 1"]
    assert 1 <= len(file.unreadable) <= 2


def test_what_a_search_answers_is_read_with_its_repositories() -> None:
    url = "https://github.com/{}/issues/1"
    issues = [
        {"number": 1, "title": "Leak", "html_url": url.format("ann/tap")},
        {"number": 1, "title": "Draft", "html_url": url.format("bob/roof")},
        {"number": 2, "title": "Patch", "html_url": url.format("bob/roof"), "pull_request": {}},
    ]
    search = {"total_count": 7, "incomplete_results": False, "items": issues}
    data = json.dumps(search, indent=1).encode()
    assert guess(data, "found.json") == "github"
    file = read(data, source="found.json")
    assert [(one.title, one.category) for one in file.tasks] == [("Leak", "tap"), ("Draft", "roof")]
    assert len({one.task_id for one in file.tasks}) == 2
    assert file.left_out == ("1 pull request",)
    (told,) = file.unreadable
    assert "3 of 7 issues" in told.reason
    alone = read(json.dumps(issues[:2]).encode(), source="other.json")
    assert [one.task_id for one in alone.tasks] == [one.task_id for one in file.tasks]
