"""A marker in every kind of text of three categories, and every byte that a model's server is sent:
none of a category that its agent is not allowed (edges.md B1).

The server is the test's own; who may be told what is said by a model of the test's own, which only
knows what this test typed.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, told
from tests.support.openai_server import KEY, OpenAIServer, answer, call
from tests.support.scripted_server import Answer, Sent, served

pytestmark = pytest.mark.slow

MARKS = re.compile(r"[me](\d{3})x")
NAMES = ("House", "Work", "Health")
ENVIRON = {"MY_KEY": KEY}
WAKES = 72  # of each of which three requests are sent


def marks_in(sent: Sent) -> set[str]:
    """What it was told; not its own words, which say more than it knows when it searches."""
    told = [one for one in sent.body["messages"] if one["role"] != "assistant"]
    return set(MARKS.findall(json.dumps([told, sent.body["tools"]])))


class Echo(OpenAIServer):
    """Looks up all it can, and puts every marker it is shown into all that it may write."""

    def __init__(self) -> None:
        super().__init__(())
        self.tasks: list[str] = []

    def take(self, sent: Sent) -> Answer:
        self.sent.append(sent)
        turns = sum(one["role"] == "assistant" for one in sent.body["messages"])
        seen = " ".join(f"e{one}x" for one in sorted(marks_in(sent)))
        calls: list[tuple[str, Any]]
        if not turns:
            words = " ".join(f"m{nth:03}x" for nth in range(200))
            looks = [("read_task", {"taskId": one}) for one in self.tasks]
            calls = [("find_tasks", {"words": words}), ("recall", {"words": "nothing"}), *looks]
        elif turns == 1:
            told = {"content": seen, "tldr": seen[:900], "oneLiner": seen[:90]}
            note = {"text": seen, "priority": "critical", "category": "grievance"}
            calls = [
                ("add_multiple_checklist_items", {"items": [{"title": seen[:90] or "nothing"}]}),
                ("record_observations", {"observations": [note]}),
                ("update_report", told),
            ]
        else:
            return answer("Done.")
        return answer(None, *(call(*one, call_id=f"c{nth}") for nth, one in enumerate(calls)))


class Told:
    """What was typed: of each marker the categories whose agents may be told of it."""

    def __init__(self) -> None:
        self.of: list[set[str]] = []

    def mark(self, *categories: str) -> str:
        self.of.append(set(categories))
        return f"m{len(self.of) - 1:03}x"

    def leaked(self, sent: Sent, allowed: set[str]) -> Iterator[str]:
        for one in sorted(marks_in(sent)):
            if self.of[int(one)].isdisjoint(allowed):
                yield f"{one} of {self.of[int(one)]}"


def typed(home: Path, folder: Path, marks: Told) -> dict[str, tuple[str, str]]:
    """Three files and all that a person can say of their tasks; category and agent by task."""
    for name in NAMES:
        of = [marks.mark(name) for _ in range(12)]
        (folder / of[0]).mkdir()
        file = folder / of[0] / f"{of[1]}.md"
        file.write_text(
            f"# {name}\n"
            f"- [ ] First {of[2]} #{of[3]} 📅 2027-02-01\n  - [ ] Item {of[4]}\n\n  Note {of[5]}\n"
            f"- [ ] Second {of[6]} #{of[7]}\n"
        )
        done(["import", str(file), "--no-agents"], home)
        done(["category", "correct", name, f"before {of[8]}", f"after {of[9]}"], home)
        done(["category", "rename", name, f"{name} {of[10]}"], home)
        done(["label", "add", of[11], "--category", f"{name} {of[10]}"], home)
        guide = marks.mark(name)
        args = ["--general", f"Be {guide}", "--category", f"{name} {of[10]}"]
        done(["template", "create", f"Guide {guide}", *args], home)
    of_task = {}
    for one in told(["task", "list"], home):
        name, ref = one["category"].partition(" ")[0], one["id"]
        m = [marks.mark(name) for _ in range(10)]
        done(["task", "note", ref, m[0]], home)
        done(["task", "note", ref, m[1], "--kind", "transcript"], home)
        done(["task", "item", "add", ref, m[2]], home)
        done(["task", "set", ref, "--description", m[3]], home)
        done(["task", "set", ref, "--status", "blocked", "--reason", m[4]], home)
        spent = ["--start", "2026-12-31 09:00", "--end", "2026-12-31 10:00", "--summary", m[5]]
        done(["task", "time", ref, *spent], home)
        done(["task", "rate", ref, "3", "--note", m[6]], home)
        agent = str(told(["agent", "create", ref, "--name", m[7]], home)["id"])
        slots = ["--goal", m[8], "--loop", m[9], "--prefer", f"tone={m[0]}"]
        done(["agent", "set", agent, *slots], home)
        of_task[ref] = name, agent
    return of_task


def test_no_request_says_anything_of_a_category_that_its_agent_is_not_allowed(
    tmp_path: Path,
) -> None:
    home, marks = tmp_path / "home", Told()
    nobodys = marks.mark()  # what a machine is called is nobody's business
    of_task = typed(home, tmp_path, marks)
    tasks = list(of_task)
    done(["sync", str(tmp_path)], home)
    done(["replicas", "name", nobodys], home)
    for nth, one in enumerate(tasks):
        done(["task", "link", one, "relates to", tasks[(nth + 2) % len(tasks)]], home)
    names = {one["name"].partition(" ")[0]: one["name"] for one in told(["category", "list"], home)}
    allowed = {one: {name} for one, (name, _) in of_task.items()}
    with served(Echo()) as server:
        server.tasks = tasks
        model = f'base_url = "{server.base_url}"\nmodel = "qwen3:8b"\nkey = "env:MY_KEY"\n'
        named = f'model = "openai:local"\n[models.local]\n{model}'
        (home / "settings.toml").write_text(named, encoding="utf-8")
        done(["policy", "allow", "openai:local", "--yes"], home, env=ENVIRON)
        seen = 0
        for nth in range(WAKES):
            task = tasks[nth % len(tasks)]
            name, agent = of_task[task]
            if nth and nth % 4 == 0:  # what it may see is wider for a while
                other = NAMES[(nth // 4) % len(NAMES)]
                allowed[task] = {name, *([other] if nth % 8 else [])}
                given = [
                    part for one in sorted(allowed[task]) for part in ("--category", names[one])
                ]
                done(["agent", "set", agent, *given], home)
            if nth == WAKES // 2:
                labelled(home, marks, tasks)
            done(["wake", agent], home, env=ENVIRON)
            for sent in server.sent[seen:]:
                assert list(marks.leaked(sent, allowed[task])) == [], f"wake {nth}"
            assert len(server.sent) > seen
            seen = len(server.sent)
        assert seen > 200
        everything = json.dumps([one.body for one in server.sent])
        told_of = {one for sent in server.sent for one in marks_in(sent)}
        assert len(told_of) > len(marks.of) // 2, "there was something to find"
        assert KEY not in everything
    proved(home)


def labelled(home: Path, marks: Told, tasks: list[str]) -> None:
    """A person takes a label of House to a task of Work, and lets one of Health be everyone's."""
    labels: Any = {one["name"]: one for one in told(["label", "list"], home)}
    (house, *_), (health, *_) = (
        sorted(name for name, one in labels.items() if one["categories"][0].startswith(kind))
        for kind in ("House", "Health")
    )
    done(["label", "assign", tasks[2], house], home)
    marks.of[int(house[1:4])].add("Work")
    done(["label", "widen", health], home)
    marks.of[int(health[1:4])].update(NAMES)
