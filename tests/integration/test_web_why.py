"""Why a field is as it is, and all that happened to a task: on the page, as JSON, on the line."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.cli import done, proved, refused, told
from tests.support.followups import ITEMS, TITLE, follow_up, item_id, with_items, woken
from tests.support.pages import Visitor, text_of, visiting

NOTE = "Due by 2027-03-15, says Ann."


class Lived(NamedTuple):
    home: Path
    tasks: dict[str, str]  # ids by their titles

    def of(self, title: str) -> str:
        return f"/tasks/{self.tasks[title]}"


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """A home in which values came about in every way there is."""
    place = tmp_path_factory.mktemp("why")
    home, file = place / "home", place / "TODO.md"
    file.write_text("- [ ] Paint the door due:2027-02-12\n  - [ ] Sand it\n")
    done(["import", str(file)], home)
    done(["task", "set", "Paint the door", "--due", "2027-03-01", "--priority", "P3"], home)
    done(["task", "check", "Paint the door", "1"], home)
    done(["write-back", str(file)], home)
    with_items(home)
    woken(
        home,
        place,
        follow_up(home, ITEMS[0]),
        ("set_task_language", {"languageCode": "en", "confidence": "high"}),
    )
    done(["confirm", "1.1"], home)
    done(["agent", "destroy", "The rest"], home)
    done(["task", "set", TITLE, "--priority", "P1"], home)
    done(["task", "note", TITLE, NOTE], home)
    woken(
        home,
        place,
        ("update_task_due_date", {"dueDate": "2027-03-15", "because": "Due by 2027-03-15"}),
    )
    done(["confirm", "2.1"], home)
    done(["task", "set", TITLE, "--priority", "P0"], home)
    done(["undo"], home)
    done(["label", "add", "at home"], home)
    done(["task", "set", TITLE, "--status", "blocked", "--reason", "It rains"], home)
    done(["label", "assign", TITLE, "at home"], home)
    done(["task", "link", TITLE, "blocks", "Paint the door"], home)
    done(["task", "time", TITLE, "--start", "2026-12-31 09:00", "--end", "2026-12-31 10:30"], home)
    tasks = {one["title"]: one["id"] for one in told(["task", "list"], home)}
    return Lived(home, tasks)


def kinds(answer: Any) -> list[str]:
    return [one["kind"] for one in answer["steps"]]


def test_every_kind_of_field_says_how_it_came_to_be(lived: Lived) -> None:
    sink, door, rest = (lived.of(one) for one in (TITLE, "Paint the door", "The rest"))
    shown = told(["task", "show", TITLE], lived.home)
    ways = [
        (f"{sink}/why/title", TITLE, ["set"]),
        (f"{sink}/why/status", "BLOCKED, because It rains", ["set"]),
        (f"{sink}/why/priority", "P1", ["undone", "set"]),
        (f"{sink}/why/estimate", "", ["unset"]),
        (f"{sink}/why/description", "", ["unset"]),
        (f"{sink}/why/category", "Inbox", ["set"]),
        (f"{sink}/why/language", "en", ["at_once", "wake", "woken"]),
        (f"{sink}/why/due", "2027-03-15", ["confirmed", "proposed", "wake", "woken"]),
        (f"{sink}/why/item:{item_id(lived.home, ITEMS[1])}", ITEMS[1], ["set"]),
        (f"{sink}/why/tick:{item_id(lived.home, ITEMS[1])}", "not ticked", ["set"]),
        (f"{sink}/why/note:{shown['notes'][-1]['id']}", NOTE, ["set"]),
        (
            f"{sink}/why/time:{shown['time'][0]['id']}",
            "2026-12-31 09:00 to 2026-12-31 10:30",
            ["set"],
        ),
        (
            f"{sink}/why/link:blocks:{lived.tasks['Paint the door']}",
            "blocks “Paint the door”",
            ["set"],
        ),
        (f"{door}/why/title", "Paint the door", ["written", "file"]),
        (f"{door}/why/due", "2027-03-01", ["written", "set"]),
        (f"{rest}/why/title", "The rest", ["confirmed", "proposed", "words", "wake", "woken"]),
    ]
    with visiting(lived.home) as visitor:
        labels = {text: one for one, text in _asked_labels(visitor, sink)}
        ways.append((f"{sink}/why/{labels['the label at home']}", "at home", ["set"]))
        found = [(path, visitor.json(path)) for path, _, _ in ways]
        pages = [visitor.page(path) for path, _, _ in ways]
    assert [(path, one["value"], kinds(one)) for path, one in found] == ways
    assert "from P2 to P1" in found[2][1]["steps"][1]["said"], "not what was undone"
    for (_, one), page in zip(found, pages, strict=True):
        for step in one["steps"]:
            assert step["said"] in unescape(text_of(page))


def _asked_labels(visitor: Visitor, task: str) -> list[tuple[str, str]]:
    """The fields that a task's page asks of, and how it names them."""
    page = visitor.page(task)
    parts = page.split(f'<a class="ask" href="{task}/why/')[1:]
    return [
        (part.partition('"')[0], part.partition('class="hide"> ')[2].partition("</span>")[0])
        for part in parts
    ]


def test_each_field_of_a_task_asks_why_and_its_answer_is_there(lived: Lived) -> None:
    with visiting(lived.home) as visitor:
        for title in (TITLE, "Paint the door", "The rest"):
            asked = [field for field, _ in _asked_labels(visitor, lived.of(title))]
            assert {"title", "status", "due", "priority", "estimate", "category"} <= set(asked)
            assert {"description", "language"} <= set(asked)
        asked = [field.partition(":")[0] for field, _ in _asked_labels(visitor, lived.of(TITLE))]
        assert {"item", "label", "time", "link"} <= set(asked)
        answer = visitor.get(f"{lived.of(TITLE)}/why/nothing.json")
        assert (answer.status_code, answer.json()["error"]) == (404, "unknown_field")


def test_a_task_is_read_first_and_each_value_leads_to_its_field(lived: Lived) -> None:
    with visiting(lived.home) as visitor:
        here = lived.of(TITLE)
        shown = visitor.page(here)
        assert '<details id="edits" data-key="edit-fields">' in shown
        by_agent = re.findall('by the agent <time.*?/why/([a-z]+)"', shown, re.DOTALL)
        assert by_agent == ["due", "language"]
        assert f'href="{here}?edit=due#edits"' in shown
        opened = visitor.page(f"{here}?edit=due")
        assert '<details id="edits" data-key="edit-fields" open>' in opened
        assert re.findall('name="([a-z]+)"[^<]* autofocus', opened) == ["due"]
        saved = visitor.send(visitor.form(f"{here}?edit=due", f"{here}/edit"))
        assert (saved.url.path, "edit" in saved.url.params) == (here, False)


def test_the_command_line_says_the_same(lived: Lived) -> None:
    with visiting(lived.home) as visitor:
        page = visitor.json(f"{lived.of(TITLE)}/why/due")
    said = told(["why", TITLE, "due date"], lived.home)
    hrefs = [one.pop("href") for one in page["steps"]]
    assert (said, len(hrefs)) == (page, 4)
    text = done(["why", TITLE, "at home"], lived.home)
    assert "You put the label “at home” on." in text
    assert "name one of title" in refused(["why", TITLE, "colour"], lived.home)


def test_a_history_is_told_filtered_and_paged(lived: Lived) -> None:
    path = f"{lived.of(TITLE)}/history"
    with visiting(lived.home) as visitor:
        every = visitor.json(f"{path}")["entries"]
        assert every[0]["said"].startswith("You entered time")
        assert every[-1]["undo"] is None, "it was changed since"
        door = visitor.json(f"{lived.of('Paint the door')}/history")["entries"]
        refs = [one["undo"] for one in door if one["undo"]]
        assert len(refs) == len(set(refs)) > 0, "one button for a deed of two changes"
        assert every[-1]["said"] == f"You made the task “{TITLE}”."
        asked: dict[str, Callable[[Any], bool]] = {
            "kind=checklist": lambda one: one["kind"] == "checklist",
            "who=agent": lambda one: one["who"] == "agent",
            "q=says+ANN": lambda one: one["words"] == NOTE,
        }
        for query, fits in asked.items():
            found = visitor.get(f"{path}.json?{query}").json()["entries"]
            assert found == [one for one in every if fits(one)] != [], query
        seen, following = list[Any](), f"{path}.json?limit=5"
        while following:
            one = visitor.get(following).json()
            seen += one["entries"]
            following = (one["next"] or "").replace("/history?", "/history.json?")
        assert seen == every
        page = visitor.page(f"{lived.of('Paint the door')}/history")
        assert text_of(page).count("more changes by the same import") == 1
        brought = next(one for one in together_of(page) if "made the task" in one)
        assert "added the item “Sand it”" in brought.partition("<details")[2], "it is folded"
        first = door[-2]["entry"]
        opened = visitor.page(f"{lived.of('Paint the door')}/history?from={first}")
        assert f'data-key="import-{door[-1]["entry"]}" open' in opened, "what is led to is in view"
        page = text_of(visitor.page(path))
        assert "By an undo you changed the priority from P0 to P1." in page
        assert "The agent set the due date to 2027-03-15. You confirmed it: proposal 2.1" in page


def together_of(page: str) -> list[str]:
    """The rows of a history, each with what is folded in it."""
    return page.split('<ol class="history">')[1].split('  <li id="e')[1:]


def test_a_deed_of_the_history_is_undone_and_what_cannot_be_has_no_button(lived: Lived) -> None:
    path = f"{lived.of(TITLE)}/history"
    with visiting(lived.home) as visitor:
        entries = visitor.json(path)["entries"]
        by_said = {one["said"]: one["undo"] for one in entries}
        assert by_said["You changed the priority from P1 to P0."] is None
        assert next(said for said in by_said if said.startswith("You entered time"))
        ref = by_said["You put the label “at home” on."]
        form = visitor.form(path, f"{path.removesuffix('/history')}/undo", deed=ref)
        answer = visitor.send(form)
        assert "Undone, in" in text_of(answer.text)
        assert "By an undo you took the label “at home” off." in text_of(visitor.page(path))
        door = f"{lived.of('Paint the door')}"
        (link,) = [one for one in visitor.json(path)["entries"] if one["kind"] == "links"]
        assert link["undo"]
        assert 'name="many"' not in visitor.page(f"{door}/history")
    assert told(["task", "show", TITLE], lived.home)["labels"] == []
    proved(lived.home)


def test_open_tasks_come_first_and_overdue_ones_say_so(lived: Lived) -> None:
    done(["task", "set", "Paint the door", "--status", "done"], lived.home)
    done(["task", "set", "The rest", "--due", "2026-12-01"], lived.home)
    done(["task", "add", "The newest", "--status", "rejected"], lived.home)
    with visiting(lived.home) as visitor:
        found = visitor.json("/tasks")["tasks"]
        assert [one["status"] in ("DONE", "REJECTED") for one in found] == [False] * 2 + [True] * 2
        paged, following = list[Any](), "/tasks.json?limit=1"
        while following:
            one = visitor.get(following).json()
            paged += one["tasks"]
            following = (one["next"] or "").replace("/tasks?", "/tasks.json?")
        assert paged == found
        late = visitor.get("/tasks.json?status=overdue").json()["tasks"]
        assert [(one["title"], one["overdue"]) for one in late] == [("The rest", True)]
        assert "2026-12-01 overdue" in text_of(visitor.page("/tasks"))
        assert 'class="overdue"' in visitor.page(lived.of("The rest"))


def test_what_a_form_got_wrong_is_told_at_its_field(lived: Lived) -> None:
    door, wrong = lived.of("Paint the door"), {}
    with visiting(lived.home) as visitor:
        for name, changed in {
            "estimate": {"estimate": "a while", "priority": "P0"},
            "reason": {"status": "BLOCKED"},
            "title": {"title": " "},
        }.items():
            form = visitor.form(door, f"{door}/edit")
            page = visitor.send(form, None, **changed).text
            wrong[name] = page.count(f'aria-describedby="wrong-{name}"')
            assert page.count(f'id="wrong-{name}"') == 1
            assert page.count("aria-invalid") == 1
        empty = visitor.send(visitor.form("/tasks", "/tasks"), title=" ").text
        assert 'aria-describedby="wrong-title"' in empty
    assert wrong == dict.fromkeys(wrong, 1)
