"""A month in which a person does whatever there is to do with tasks and three files of them, each
of another program, against a home in plain Python (`support/month.py`).

Whatever is listed, found and shown is compared day by day, and what is written into the files is
read by rules of its own. A life that differs prints its deeds as commands.
"""

import json
import os
import random
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import proved, run
from tests.support.month import CLOSED, EVERY_RULE, SAID, Cell, Oracle, Rule, Said

LIVES = int(os.environ.get("LIVES", "5"))
MARKDOWN, TODO, TASKWARRIOR = "TODO.md", "todo.txt", "tasks.json"
CATEGORIES, LABELS = ("Home", "Work", "Garden"), ("errand", "phone", "later", "green")
LEVELS = dict(zip(("P0", "P1", "P2", "P3"), "🔺⏫🔼🔽", strict=True))
LETTERS = dict(zip(("P0", "P1", "P2", "P3"), "ABCD", strict=True))
HMLS = {"P1": "H", "P2": "M", "P3": "L"}
BOXES = {"OPEN": " ", "DONE": "x", "REJECTED": "-", "IN PROGRESS": "/"}
ENDED = {"DONE": ("✅", "completed on"), "REJECTED": ("❌", "cancelled on")}
CAN_SAY: dict[str, dict[str, Any]] = {
    MARKDOWN: {
        "status": {*BOXES}, "due": None, "priority": None, "estimate": None, "title": None,
        "repeat": None, "wait": None,
    },
    TODO: {
        "status": {"OPEN", "DONE"}, "due": None, "priority": None, "title": None, "wait": None,
        "repeat": {"", *(one for one in EVERY_RULE if one.rec)},
    },
}  # fmt: skip
"""What a line can be told by `write-back`; None: whatever it is."""
Lines = list[tuple[int, Said]]
EDITS = (
    *("new", "new", "tick", "tick", "title", "due", "due", "label", "level", "move", "below"),
    *("needs", "next", "next", "delete", "sort"),
)


# ----------------------------------------------------------------------- files, by a tiny reader


def markdown_line(said: Said) -> str:
    status, reason = said.status
    words = [f"- [{BOXES[status]}] {said.title}", *(f"#{one}" for one in said.labels)]
    words += [f"~{said.estimate}m"] * bool(said.estimate)
    words += [LEVELS[said.priority]] if said.priority else []
    words += [f"🔁 {said.repeat.shown}"] if isinstance(said.repeat, Rule) else []
    words += [f"🛫 {said.wait}"] if said.wait else []
    words += [f"📅 {said.due}"] if said.due else []
    words += [f"{ENDED[status][0]} {reason[-10:]}"] if reason else []
    items = "".join(f"  - [{'x' if done else ' '}] {one}\n" for one, done in said.items)
    notes = "".join(f"\n  {one}\n" for one in said.notes)
    return f"{' '.join(words)}\n{items}{notes}"


def markdown(lines: Lines) -> str:
    """A file with a heading for each category; what has none stands above them."""
    text = ""
    for category in ("", *CATEGORIES):
        own = [markdown_line(said) for _, said in lines if said.category == category]
        head = f"# {category}\n\n" if category else ""
        text += f"{head}{''.join(own)}\n" if own else ""
    return text


def todo_line(said: Said) -> str:
    letter, (status, reason) = LETTERS.get(said.priority, ""), said.status
    done = status == "DONE"
    words = [f"x {reason[-10:]}".strip()] if done else [f"({letter})"] if letter else []
    words += [said.title, *([f"+{said.category}"] if said.category else [])]
    words += [f"@{one}" for one in said.labels] + ([f"due:{said.due}"] if said.due else [])
    words += [f"rec:{said.repeat.rec}"] if isinstance(said.repeat, Rule) else []
    words += [f"t:{said.wait}"] if said.wait else []
    return " ".join([*words, f"pri:{letter}"] if done and letter else words) + "\n"


def records(lines: Lines, deleted: Iterable[int], today: str) -> str:
    """What `task export` writes."""

    def record(task: int, said: Said) -> dict[str, Any]:
        status, reason = said.status
        at, made = f"{today.replace('-', '')}T070000Z", "20270101T0700"
        found: dict[str, Any] = {
            "uuid": f"0000-{task:04}",
            "description": said.title,
            "entry": f"{made}00Z",
            "modified": at,
            "status": "completed" if status == "DONE" else "pending",
            "project": said.category,
            "tags": [*said.labels],
            "due": f"{said.due.replace('-', '')}T000000Z" if said.due else "",
            "priority": HMLS.get(said.priority, ""),
            "end": f"{reason[-10:].replace('-', '')}T070000Z" if status == "DONE" else "",
            "start": at if status == "IN PROGRESS" else "",
            "depends": [f"0000-{one:04}" for one in said.needs],
            "annotations": [
                {"entry": f"{made}{nth:02}Z", "description": one}
                for nth, one in enumerate(said.notes)
            ],
        }
        return {name: one for name, one in found.items() if one}

    gone = [{"uuid": f"0000-{one:04}", "description": "x", "status": "deleted"} for one in deleted]
    return json.dumps([*(record(*one) for one in lines), *gone], indent=1, ensure_ascii=False)


def blocks(source: str, text: str) -> list[str]:
    """The lines of a file, each with what stands below it."""
    rest = [one for one in re.split(r"\n(?=\S)", text.strip("\n")) if not one.startswith("#")]
    return [f"{one.rstrip()}\n" for one in rest] if source == MARKDOWN else rest


def read(source: str, block: str) -> Said:
    """What a line says; its category is told by where it stands."""
    line, _, below = block.strip("\n").partition("\n")

    def take(pattern: str) -> str:
        nonlocal line
        found = re.search(pattern, line)
        line = line.replace(found[0], "", 1) if found else line
        return found[1] if found else ""

    if source == TODO:
        is_done = line.startswith("x ")
        day = take(r"^x (\S{10}) ") if re.match(r"x \d", line) else take("^x ()")
        letter = take(r"^\(([A-Z])\) ") or take(r" pri:([A-Z])\b")
        priority = {one: level for level, one in LETTERS.items()}.get(letter, "")
        status, due, took = "DONE" if is_done else "OPEN", take(r" due:(\S+)"), ""
        rule, wait = take(r" rec:(\S+)"), take(r" t:(\S+)")
        repeat: Rule | str = next((one for one in EVERY_RULE if one.rec == rule != ""), "")
    else:
        mark = take(r"^- \[(.)\] ")
        status = next(one for one, box in BOXES.items() if box == mark)
        day, due = take(r" [✅❌] (\S+)"), take(r" (?:📅 |due:)(\S+)")
        took = take(r" ~((?:\d+h)?(?:\d+m)?)(?= |$)")
        repeat = ""
        for one in EVERY_RULE:
            if re.search(f" 🔁 {one.shown}(?= [^a-zA-Z]| due:|$)", line):
                repeat, line = one, line.replace(f" 🔁 {one.shown}", "", 1)
        wait = take(r" 🛫 (\S+)")
        level = take(f" ([{''.join(LEVELS.values())}])") or take(r" !p(\d)")
        priority = {one: name for name, one in LEVELS.items()}.get(level, level and f"P{level}")
    category = take(r" \+(\S+)")
    words = line.split()
    items = tuple((one[2], one[1] == "x") for one in re.finditer(r"  - \[(.)\] (.+)", below))
    notes = tuple(one[1] for one in re.finditer(r"(?m)^  (?!- \[)(.+)", below))
    reason = f"{ENDED[status][1]} {day}" if day else ""
    labels = tuple(one[1:] for one in words if one[0] in "#@")
    title = " ".join(one for one in words if one[0] not in "#@")
    minutes = sum(
        int(one[:-1]) * (60 if one[-1] == "h" else 1) for one in re.findall(r"\d+.", took)
    )
    said = Said(title, (status, reason), priority, minutes, due, category, labels, items, notes)
    return replace(said, repeat=repeat, wait=wait)


def sorted_(said: Said) -> Said:
    """A line, whatever the order of its labels."""
    return replace(said, labels=tuple(sorted(said.labels)))


# ----------------------------------------------------------------------------------------- a life


class Person:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.home = folder, folder / "home"
        self.dice, self.world = random.Random(seed), Oracle()
        self.script: list[str] = []
        self.files: dict[str, Lines] = {MARKDOWN: [], TODO: [], TASKWARRIOR: []}
        self.deleted: list[int] = []  # of the records of Taskwarrior
        self.words = 0
        self.touched: set[int] = set()  # since they were looked at

    # -------------------------------------------------------------------------------- small things

    def word(self) -> str:
        """A word that nothing has yet, of letters alone, and like no other one."""
        self.words += 1
        found, nth = "", self.words * 79_861 % 60**3
        for _ in range(3):
            nth, sign = divmod(nth, 60)
            found += "bdfgklmnprst"[sign % 12] + "aeiou"[sign // 12]
        return found

    def title(self) -> str:
        return " ".join([self.word().capitalize(), self.word(), self.word()])

    def day(self, first: int = -4, last: int = 20) -> str:
        return str(self.world.now.date() + timedelta(self.dice.randint(first, last)))

    def some(self, of: Iterable[Any], most: int = 1, least: int = 0) -> list[Any]:
        every = [*of]
        return self.dice.sample(every, min(len(every), self.dice.randint(least, most)))

    def task(self, fits: Callable[[int], bool] = lambda _: True) -> int:
        """A task that is not deleted; 0: there is none."""
        found = [one for one in self.world.tasks() if fits(one)]
        open_ = [one for one in found if self.world.is_open(one)]
        found = open_ if open_ and self.dice.random() < 0.8 else found
        return self.dice.choice(found) if found else 0

    def run(self, *args: str, status: tuple[int, ...] = (0,)) -> Any:
        """The document of a command at the world's time."""
        now = f"{self.world.now:%Y-%m-%dT%H:%M:%SZ}"
        self.script.append(f"WAKELOG_NOW={now} wakelog {shlex.join(args)}")
        result = run(["--json", *args], self.home, env={"WAKELOG_NOW": now})
        assert result.exit_code in status, (args, result.output)
        return json.loads(result.stdout) if result.stdout else result.stderr

    def same(self, what: str, found: Any, wanted: Any) -> None:
        assert found == wanted, f"{what}:\n  is     {found}\n  should {wanted}"

    def id(self, task: int) -> str:
        self.touched.add(task)
        return self.world.ids[task]

    # ------------------------------------------------------------------------------------- deeds

    def fields(self) -> tuple[dict[str, Any], list[str]]:
        """Some plain fields, for the oracle and as options."""
        drawn: dict[str, Any] = {
            "due": self.dice.choice(["", self.day(), self.day(), self.day()]),
            "priority": self.dice.choice([*LETTERS]),
            "estimate": self.dice.choice([0, 15, 60, 90, 120]),
            "category": self.dice.choice(["Inbox", *CATEGORIES]),
            "wait": self.dice.choice(["", self.day(-2, 6)]),
            "repeat": self.dice.choice(["", *EVERY_RULE]),
            "description": f"About {self.word()}",
        }
        found = {one: drawn[one] for one in self.some(drawn, 3, 1)}
        options: list[str] = []
        for name, value in found.items():
            shown = value.words if value and name == "repeat" else str(value or "none")
            options += ["--wait-until" if name == "wait" else f"--{name}", shown]
        return found, options

    def add(self) -> None:
        fields, options = self.fields()
        title, labels = self.title(), self.some(LABELS, 2)
        items = [f"Item {self.word()}" for _ in range(self.dice.choice([0, 0, 1, 3]))]
        for name, values in (("--label", labels), ("--item", items)):
            options += [one for value in values for one in (name, value)]
        with self.world.deed():
            task = self.world.create(self.world.fresh(), title)
            for name, value in fields.items():
                self.world.put(task, name, value)
            self.parts(task, labels, items)
        self.world.ids[task] = self.run("add", title, *options)["id"]
        self.touched.add(task)

    def parts(self, task: int, labels: Iterable[str], items: Iterable[str] = ()) -> None:
        for label in labels:
            self.world.cells[task, "label", label] = True
        for item in items:
            self.world.cells[task, "item", item, "checked"] = False
            self.world.cells[task, "item", item, "away"] = False

    def log(self) -> None:
        title, minutes, labels = self.title(), self.dice.choice([0, 20, 75]), self.some(LABELS)
        options = [one for label in labels for one in ("--label", label)]
        with self.world.deed():
            task = self.world.create(self.world.fresh(), title)
            self.world.set_status(task, "DONE")
            self.parts(task, labels)
            if minutes:
                begin = self.world.now - timedelta(minutes=minutes)
                both = (f"{one:%Y-%m-%dT%H:%M}" for one in (begin, self.world.now))
                self.world.cells[task, "time", self.world.n] = (*both, "")
        options += ["--time", f"{minutes}m"] if minutes else []
        self.world.ids[task] = self.run("log", title, *options)["id"]

    def edit(self) -> None:
        many = self.dice.random() < 0.25
        tasks = dict.fromkeys(self.task() for _ in range(self.dice.randint(2, 4) if many else 1))
        fields, options = self.fields()
        if not many and self.dice.random() < 0.3:
            fields["title"] = self.title()
            options += ["--title", fields["title"]]
        self.edits(tasks, fields, options)

    def edits(self, tasks: Iterable[int], fields: dict[str, Any], options: list[str]) -> None:
        if found := [one for one in tasks if one]:
            with self.world.deed():
                for task in found:
                    self.world.edit(task, fields, is_last="--all" in options)
            self.run("edit", *map(self.id, found), *options, "--yes")

    def status(self, named: str = "", task: int = 0, *more: str) -> None:
        named = named or self.dice.choice("groomed in-progress blocked on-hold open".split())
        reason = f"Why {self.word()}" if named in ("blocked", "on-hold") else ""
        fields = {"status": (named.replace("-", " ").upper(), reason)}
        more = (*more, "--reason", reason) if reason else more
        self.edits([task or self.task()], fields, ["--status", named, *more])

    def done(self) -> None:
        tasks = [*dict.fromkeys(self.task() for _ in range(self.dice.choice([1, 1, 1, 3])))]
        with self.world.deed():
            for task in tasks:
                self.world.edit(task, {"status": ("DONE", "")})
        self.run("done", *map(self.id, tasks))

    def done_blocker(self) -> None:
        blocking = {here for here, _ in self.world.links("blocks")}
        self.status("done", self.task(lambda one: one in blocking and self.world.is_open(one)))

    def reject(self) -> None:
        repeating = self.task(lambda one: bool(self.world.get(one, "repeat")))
        more = ["--all"] if self.dice.random() < 0.3 else []
        self.status("rejected", self.dice.choice([repeating, self.task()]), *more)

    def reopen(self) -> None:
        self.status("open", self.task(lambda one: self.world.get(one, "status")[0] in CLOSED))

    def delete(self) -> None:
        drawn = dict.fromkeys([self.task(), *self.some([self.task()])])
        tasks = [one for one in drawn if not self.is_renamed_back(one)]
        with self.world.deed():
            for task in tasks:
                self.world.delete(task)
        if tasks:
            self.run("delete", *map(self.id, tasks))

    def is_renamed_back(self, task: int) -> bool:
        """Whether its line has a title that was taken back here: once it is deleted, the line is
        taken for a task of its own."""
        said = self.world.said(task)
        lines = (line for every in self.files.values() for one, line in every if one == task)
        return said is not None and any(line.title != said.title for line in lines)

    def restore(self) -> None:
        for task in self.some(self.world.tasks(is_deleted=True), 1, 1):
            with self.world.deed():
                self.world.cells[task, "deleted"] = False
            self.run("task", "restore", self.id(task))

    def note(self) -> None:
        task = self.task()
        held = self.world.notes(task)
        if held and self.dice.random() < 0.3:
            text = self.dice.choice(held)
            shown = self.run("show", self.id(task))["notes"]
            (note,) = (one["id"] for one in shown if one["text"] == text)
            with self.world.deed():
                del self.world.cells[task, "note", text]
            self.run("note", self.id(task), "--remove", note)
        else:
            text = f"Remark {self.word()}"
            with self.world.deed():
                self.world.cells[task, "note", text] = True
            self.run("note", self.id(task), text)

    def item(self) -> None:
        task = self.task(lambda one: bool(self.world.items(one))) or self.task()
        items = self.world.items(task)
        what = self.dice.choice("check check uncheck archive add".split() if items else ["add"])
        one = self.dice.choice([*items]) if what != "add" else f"Item {self.word()}"
        with self.world.deed():
            if what == "add":
                self.parts(task, [], [one])
            elif what == "archive":
                self.world.cells[task, "item", one, "away"] = True
            else:
                self.world.cells[task, "item", one, "checked"] = what == "check"
        verb = ["item", what] if what in ("add", "archive") else [what]
        self.run("task", *verb, self.id(task), one)

    def timer(self) -> None:
        if self.world.running() and self.dice.random() < 0.5:
            summary = f"Sum {self.word()}" if self.dice.random() < 0.5 else ""
            with self.world.deed():
                self.world.stop(summary=summary)
            self.run("stop", "--summary", summary)
        else:
            task = self.task()
            with self.world.deed():
                self.world.start(task)
            self.run("start", self.id(task))

    def link(self) -> None:
        here, there = self.task(), self.task()
        relation = self.dice.choice(["blocks", "blocks", "relates_to"])
        cell = here, "link", relation, there
        if here == there or (there, "link", "relates_to", here) in self.world.cells:
            return
        if relation == "blocks" and self.world.would_circle(here, there):
            said = self.run("task", "link", self.id(here), "blocks", self.id(there), status=(2,))
            assert '"code": "cycle"' in said
            return
        verb, phrase = self.turn(cell, "link", "unlink"), relation.replace("_", "-")
        self.run("task", verb, self.id(here), phrase, self.id(there))

    def turn(self, cell: Cell, on: str, off: str) -> str:
        """Let something be that is not there, or the other way round; what that is called."""
        is_there = cell in self.world.cells
        with self.world.deed():
            self.world.cells[cell] = True
            if is_there:
                del self.world.cells[cell]
        return off if is_there else on

    def label(self) -> None:
        task, label = self.task(), self.dice.choice(LABELS)
        verb = self.turn((task, "label", label), "assign", "remove")
        self.run("label", verb, self.id(task), label)

    def settle(self) -> None:
        every = [(task, name) for task in self.world.tasks() for name in SAID]
        for task, name in self.some([one for one in every if self.world.differs(*one)]):
            side = self.dice.choice(["file", "mine"])
            with self.world.deed(is_settling=True) as deed:
                deed.docs.add(task)
                self.world.settle(task, name, is_file=side == "file")
            self.run("settle", self.id(task), name, "--keep", side)

    def undo(self) -> None:
        """Take the newest deed back that can be, or one that is named; perhaps do it again."""
        told = self.run("undo", "--list")["deeds"]
        known = self.world.deeds[:-21:-1]
        states = ["undone" if one.is_undone else self.world.back(one).state for one in known]
        self.same("undo --list", [one["state"] for one in told], states)
        nths = [nth for nth, state in enumerate(states) if state == "open"]
        if not nths:
            return
        nth = self.dice.choice([nths[0], nths[0], self.dice.choice(nths)])
        stale = [one["ref"] for one, state in zip(told, states, strict=True) if state == "moved"]
        for ref in self.some(stale):
            assert "stale" in self.run("undo", ref, status=(2,))
        named = ["--yes"] if nth == nths[0] and self.dice.random() < 0.7 else [told[nth]["ref"]]
        was = self.world.undo(known[nth])
        answer = self.run("undo", *named)
        self.touched |= {cell[0] for cell in known[nth].cells}
        if self.dice.random() < 0.3:
            self.learn()
            self.compare()
            self.world.redo(known[nth], was)
            self.run("undo", answer["redo"].split()[-1])

    # -------------------------------------------------------------------------------- files

    def client(self, source: str) -> None:
        """A client of another program edits a file."""
        lines = self.files[source]
        wanted = self.dice.randint(1, 4) if lines else 4
        clear = {task for task, line in self.told(source) if self.is_clear(task, line)}
        for _ in range(wanted):
            clear -= {task for task, _ in self.edited(source, clear)}

    def edited(self, source: str, clear: set[int]) -> Lines:
        """One edit, of a line that is `clear` or a new one; what it edited."""
        lines, what = self.files[source], self.dice.choice(EDITS)
        titles = [said.title for _, said in lines]
        free = [nth for nth, (task, _) in enumerate(lines) if task in clear]
        free = [nth for nth in free if titles.count(titles[nth]) == 1]
        if what == "new" or not free:
            task = self.world.fresh()
            said = self.line(source, task)
            lines.insert(self.dice.randint(0, len(lines)), (task, said))
            return []
        if what == "sort":
            lines.sort(key=lambda one: one[1].title)
            return []
        nth = self.dice.choice(free)
        task, said = lines[nth]
        if what == "delete":
            if len(lines) > 4:
                del lines[nth]
                self.deleted += [task] * (source == TASKWARRIOR and self.dice.random() < 0.7)
            return []
        lines[nth] = task, self.changed(source, what, task, said)
        if what == "next" and lines[nth][1] != said:
            lines.insert(nth, self.following(task, said))
        return [(task, said)]

    def following(self, task: int, said: Said) -> tuple[int, Said]:
        """The line that a client writes once it has ticked one that repeats."""
        made, due = self.world.next_of.get(task, 0), self.later(said.due)
        if not made:
            made = self.world.next_of[task] = self.world.fresh()
        days = date.fromisoformat(due) - date.fromisoformat(said.due)
        wait = str(date.fromisoformat(said.wait) + days) if said.wait else ""
        return made, replace(said, due=due, wait=wait, items=(), notes=())

    def has_a_next(self, task: int) -> bool:
        """Whether the next one was in the file before, or is closed or deleted by now."""
        made = self.world.next_of.get(task, 0)
        is_known = bool(made) and self.world.is_known(made)
        return bool(made) and not (
            is_known and self.world.is_open(made) and made not in self.world.source
        )

    def is_clear(self, task: int, line: Said) -> bool:
        """Whether nothing but one edit will be news of a line; of two nobody may be able to tell
        which line it was. A line of a deleted task is none that could have another title."""
        is_here = self.world.is_known(task) and not self.world.get(task, "deleted")
        return is_here and self.world.kept(task, line) == self.world.said(task)

    def line(self, source: str, task: int) -> Said:
        """A new line of a file."""
        is_markdown = source == MARKDOWN
        items = [(f"Item {self.word()}", self.dice.random() < 0.3) for _ in self.some("abc", 3)]
        return Said(
            self.title(),
            self.ticked(source) if self.dice.random() < 0.1 else ("OPEN", ""),
            self.dice.choice(["", *(HMLS if source == TASKWARRIOR else LETTERS)]),
            self.dice.choice([0, 30, 45]) if is_markdown else 0,
            self.dice.choice(["", self.day(), self.day()]),
            self.dice.choice([*CATEGORIES, *[""] * (not is_markdown)]),
            tuple(self.some(LABELS, 2)),
            tuple(items) if is_markdown else (),
            tuple(f"Remark {self.word()}" for _ in self.some("a")) if source != TODO else (),
            self.needed(source, task),
        )

    def needed(self, source: str, task: int) -> tuple[int, ...]:
        """What a line waits for: lines that were there before it, so there is no circle of them."""
        others = [one for one, _ in self.files[source] if one < task and source == TASKWARRIOR]
        return tuple(sorted(self.some(others, 2)))

    def later(self, due: str) -> str:
        return str(date.fromisoformat(due) + timedelta(self.dice.randint(1, 9)))

    def ticked(self, source: str) -> tuple[str, str]:
        """The status of a line that a client ticks, with the day, if it writes one."""
        day = f"completed on {self.world.today}"
        return "DONE", day if source == TASKWARRIOR or self.dice.random() < 0.6 else ""

    def changed(self, source: str, what: str, task: int, said: Said) -> Said:
        is_markdown = source == MARKDOWN
        match what:
            case "tick":
                started = [("IN PROGRESS", "")] if source != TODO else []
                open_ = [self.ticked(source)] * 2 + started
                open_ = open_ if said.is_open else [("OPEN", "")]
                return replace(said, status=self.dice.choice(open_))
            case "title":
                return replace(said, title=f"{said.title}{self.dice.choice(['ko', 'mi', 'ru'])}")
            case "due" if said.repeat and not self.world.is_open(task):
                return said  # a later day would be that of the next one
            case "due":
                return replace(said, due=self.dice.choice(["", self.day(), self.day()]))
            case "label":
                kept = [one for one in said.labels if self.dice.random() < 0.5]
                new = [one for one in self.some(LABELS) if one not in kept]
                return replace(said, labels=(*kept, *new))
            case "level":
                return replace(said, priority=self.line(source, task).priority)
            case "move":
                return replace(said, category=self.dice.choice(CATEGORIES))
            case "below" if is_markdown:
                ticks = [(one, done != (self.dice.random() < 0.4)) for one, done in said.items]
                drop, add = self.dice.choice([(0, 0), (0, 1), (1, 0)])  # both: one was renamed?
                items = (*ticks[drop:], *[(f"Item {self.word()}", False)] * add)
                notes = (*said.notes, *(f"Remark {self.word()}" for _ in self.some("a")))
                return replace(said, items=items, notes=notes)
            case "next" if said.is_open and said.due and source != TASKWARRIOR:
                is_rule = said.repeat and not self.has_a_next(task)  # it writes that, too
                return replace(said, status=self.ticked(source)) if is_rule else said
            case "needs" if source == TASKWARRIOR:
                return replace(said, needs=self.needed(source, task))
            case _:
                return said

    def told(self, source: str) -> Lines:
        """What a file says of its tasks, one after the other."""
        lines = self.files[source]
        if source == MARKDOWN:
            return sorted(lines, key=lambda one: ("", *CATEGORIES).index(one[1].category))
        if source == TODO:
            return lines
        found: Lines = []
        titles = {task: said.title for task, said in lines if said.is_open}
        for task, said in lines:
            waits = [titles[one] for one in said.needs if one in titles]
            is_blocked = said.status[0] == "OPEN" and waits
            status = ("BLOCKED", f"waiting for: {'; '.join(waits)}") if is_blocked else said.status
            found.append((task, replace(said, status=status)))
        return found

    def save(self, source: str) -> None:
        lines = self.told(source)
        if source == MARKDOWN:
            text, self.files[source] = markdown(lines), lines
        elif source == TODO:
            text = "".join(todo_line(said) for _, said in lines)
        else:
            text = records(self.files[source], self.deleted, self.world.today)
        self.script.append(f"cat > {source} <<'EOF'\n{text.rstrip()}\nEOF")
        (self.folder / source).write_text(text, encoding="utf-8")

    def import_(self) -> None:
        source = self.dice.choice([*self.files])
        if self.dice.random() < 0.9 or not self.files[source]:
            self.client(source)
            self.save(source)
        if self.files[source] and source != TASKWARRIOR and self.dice.random() < 0.2:
            self.write_back(source)
        how = self.dice.choice(["", "", "", "", "keep", "delete", "reject"])
        self.imports(source, how)

    def imports(self, source: str, how: str = "") -> None:
        lines = self.told(source)
        with self.world.deed(source) as deed:
            self.world.imports(deed, lines, how, self.deleted if source == TASKWARRIOR else ())
        options = ["--gone", how] if how else []
        self.run("import", str(self.folder / source), *options, "--yes", status=(0, 1))
        self.touched |= {task for task, _ in lines if task in self.world.ids}

    def write_back(self, source: str = "") -> None:
        source = source or self.dice.choice([MARKDOWN, TODO])
        lines, path = self.files[source], self.folder / source
        if not lines:
            return
        if self.world.news(lines):
            assert "stale" in self.run("write-back", str(path), status=(2,))
            return
        before = blocks(source, path.read_text(encoding="utf-8"))
        self.run("write-back", str(path))
        after = blocks(source, path.read_text(encoding="utf-8"))
        has_days = source == TODO or any(re.search("[📅✅❌🔺⏫🔼🔽🔁🛫]", one) for one in before)
        written: Lines = []
        added = self.added(source, lines, after, has_days=has_days)
        after = [one for nth, one in enumerate(after) if nth not in added]
        for (task, said), was, now in zip(lines, before, after, strict=True):
            wanted = self.written(source, task, said, has_days=has_days)
            found = read(source, now)
            found = found if source == TODO else replace(found, category=said.category)
            self.same(f"{source}, {said.title}", found, wanted)
            if wanted == said:
                self.same(f"{source}, another line", now, was)
            else:
                self.world.wrote(task, wanted)
            written.append((task, wanted))
        for nth, (task, said) in sorted(added.items()):
            written.insert(nth, (task, said))
            self.world.wrote(task, said)
            self.world.source[task] = source
            self.world.stood[source].add(task)
        self.files[source] = written

    def next_line(self, source: str, made: int, before: Said) -> Said:
        """The line of a next task: as the one before it, or, where that says otherwise, its own."""
        get, can_say = partial(self.world.get, made), CAN_SAY[source]
        days = {name: get(name) for name in ("due", "wait")}
        copy = replace(before, status=("OPEN", ""), items=(), notes=(), needs=(), **days)
        names = ("title", "category", "priority", "estimate", "repeat")
        is_same = all(getattr(copy, one) in ("", 0, get(one)) for one in names)
        if not (is_same and {*copy.labels} <= {*self.world.labels(made)}):
            category = "" if get("category") == "Inbox" else get("category")
            own = {one: get(one) for one in ("title", "due", "wait")}
            copy = Said(**own, category=category, labels=tuple(self.world.labels(made)))
        for name, value in self.world.unwritten(made, copy).items():
            if name in can_say and value in (can_say[name] or {value}):
                said: dict[str, Any] = {name: (value, "") if name == "status" else value}
                copy = replace(copy, **said)
        items = tuple(self.world.items(made).items())
        return replace(copy, items=items) if source == MARKDOWN else copy

    def added(
        self, source: str, lines: Lines, after: list[str], *, has_days: bool
    ) -> dict[int, tuple[int, Said]]:
        """The lines of next tasks, by their places: of a series whose line is closed by then the
        one that is open here, and in no file."""
        world, here, found = self.world, {task for task, _ in lines}, dict[int, tuple[int, Said]]()
        now = [(task, self.written(source, task, said, has_days=has_days)) for task, said in lines]
        for task, said in now:
            made = world.next_of.get(task, 0)
            if said.is_open:
                continue
            while made and world.is_known(made) and made not in here and not world.is_open(made):
                made = world.next_of.get(made, 0)
            is_own = not (made and world.is_known(made)) or made in here or made in world.source
            if is_own or any(made == one for one, _ in found.values()):
                continue
            wanted = self.next_line(source, made, said)
            if any(sorted_(one) == sorted_(wanted) for _, one in now):  # they would say the same
                continue
            read_ = [(nth, read(source, one)) for nth, one in enumerate(after) if nth not in found]
            of_title = [
                (nth, one)
                for nth, one in read_
                if one.title == wanted.title and one.is_open and one.due == wanted.due
            ]
            assert len(of_title) == 1, f"{wanted.title!r} has no next line in {source}"
            ((nth, line),) = of_title
            line = line if source == TODO else replace(line, category=wanted.category)
            self.same(f"{source}, the next of {wanted.title}", sorted_(line), sorted_(wanted))
            found[nth] = made, line
        return found

    def written(self, source: str, task: int, said: Said, *, has_days: bool) -> Said:
        """What a line should say after `write-back`."""
        wanted, can_say = said, CAN_SAY[source]
        day = f"{self.world.history[task][-1][0]:%Y-%m-%d}" if self.world.history[task] else ""
        for name, value in self.world.unwritten(task, said).items():
            if name in can_say and value in (can_say[name] or {value}):
                reason = f"{ENDED[value][1]} {day}" if value in CLOSED and has_days else ""
                fields: dict[str, Any] = {name: (value, reason) if name == "status" else value}
                wanted = replace(wanted, **fields)
        if source == MARKDOWN and not self.world.get(task, "deleted"):
            held, known = self.world.items(task), {one for one, _ in said.items}
            ticks = [(one, held.get(one, done)) for one, done in said.items]
            own = [one for one in held.items() if one[0] not in known and self.is_own(task, one[0])]
            wanted = replace(wanted, items=(*ticks, *own))
        return wanted

    def is_own(self, task: int, item: str) -> bool:
        """Whether no file brought an item."""
        docs = (said for _, said in self.world.docs[task])
        is_carried = (task, item) in self.world.carried
        return not is_carried and all(item != one for said in docs for one, _ in said.items)

    # ----------------------------------------------------------------------------- what is compared

    def listed(self, task: int) -> dict[str, Any]:
        """A task as a list has it."""
        get, items = partial(self.world.get, task), self.world.items(task)
        runs = [self.world.cells[one][0] for one in self.world.running() if one[0] == task]
        return {
            "id": self.world.ids[task],
            "title": get("title"),
            "status": get("status")[0],
            "priority": get("priority"),
            "due_date": get("due") or None,
            "estimate_minutes": get("estimate") or None,
            "category": get("category"),
            "labels": self.world.labels(task),
            "checklist": {"done": sum(items.values()), "total": len(items)},
            "running_since": next(iter(runs), None),
            "repeat": get("repeat").stored if get("repeat") else None,
            "wait_until": get("wait") or None,
        }

    def learn(self) -> None:
        """Learn the ids of what was made by the way: by title and day."""
        world, get = self.world, self.world.get
        unknown = [one[0] for one in world.cells if one[1] == "deleted" and one[0] not in world.ids]
        known = {*world.ids.values()}
        for one in self.run("list") if unknown else ():
            if one["id"] not in known:
                said = one["title"], one["due_date"] or ""
                fit = [task for task in unknown if (get(task, "title"), get(task, "due")) == said]
                assert fit, f"nobody made {said}"
                world.ids[fit[0]] = one["id"]
                unknown.remove(fit[0])
                self.touched.add(fit[0])
        assert not unknown, f"not made: {[get(one, 'title') for one in unknown]}"

    def compare(self, *, is_deleted: bool = False) -> None:
        """All tasks, as the list has them."""
        found = self.run("list", *["--deleted"] * is_deleted)
        lists = {one["id"]: self.short(one) for one in found}
        tasks = self.world.tasks(is_deleted=is_deleted)
        wanted = {self.world.ids[one]: self.listed(one) for one in tasks}
        for one in {*wanted} | {*lists}:
            self.same("list", lists.get(one), wanted.get(one))
        self.same("the order of the list", [*lists], [*wanted])

    def short(self, one: dict[str, Any]) -> dict[str, Any]:
        """A line of a list as `listed` has it."""
        since = one["running_since"]
        kept = {name: value for name, value in one.items() if name not in ("language", "agent_id")}
        more = {"running_since": since and since[:16], "labels": sorted(one["labels"])}
        return {**kept, **more}

    def look(self) -> None:
        """Some filters, what is due, what is found by words, and where files say otherwise."""
        world, today, get = self.world, self.world.today, self.world.get
        living, blocked = world.tasks(), world.blocked()
        some, day = self.dice.choice(living), self.day(-3, 10)
        word = self.dice.choice(get(some, "title").split())[: self.dice.randint(3, 6)].upper()
        label = next((one for one in LABELS if one in world.labels(some)), "")
        category = get(some, "category")

        def is_named(task: int) -> bool:
            told = word.lower()
            return world.ids[task].startswith(told) or told in get(task, "title").lower()

        filters: dict[str, Callable[[int], bool]] = {
            f"--due-before {day}": lambda one: "" < get(one, "due") < day,
            f"--due-after {day}": lambda one: get(one, "due") > day,
            f"--category {category}": lambda one: get(one, "category") == category,
            "--blocked": lambda one: one in blocked and self.is_shown(one),
            "--ready": lambda one: one not in blocked and self.is_shown(one),
            "--waiting": world.waits,
            word: is_named,
            "@mine": lambda one: world.is_open(one) and get(one, "due") > today,
            "--overdue": lambda one: self.is_shown(one) and "" < get(one, "due") < today,
            "--status done": lambda one: get(one, "status")[0] == "DONE",
        }
        if label:
            filters[f"--label {label}"] = lambda one: label in world.labels(one)
            filters[f"--not-label {label}"] = lambda one: label not in world.labels(one)
        for options in self.dice.sample([*filters], 6):
            wanted = [world.ids[one] for one in living if filters[options](one)]
            found = [one["id"] for one in self.run("list", *options.split())]
            self.same(f"list {options}", found, wanted)
        due = [one for one in living if self.is_shown(one) and self.is_due(one)]
        due.sort(key=lambda one: (get(one, "due") or "9999", get(one, "priority")))
        self.same(
            "today", [one["id"] for one in self.run("today")], [world.ids[one] for one in due]
        )
        both = [
            (world.ids[one], name) for one in living for name in SAID if world.differs(one, name)
        ]
        told = [(one["task"], one["field"]) for one in self.run("conflicts")]
        self.same("conflicts", sorted(told), sorted(both))
        self.search(some, is_deleted=self.dice.random() < 0.3)

    def is_due(self, task: int) -> bool:
        """Whether a task is due, or was on hold until now."""
        today, get = self.world.today, partial(self.world.get, task)
        is_back = get("status")[0] == "ON HOLD" and "" < get("wait") <= today
        return is_back or bool("" < get("due") <= today)

    def is_shown(self, task: int) -> bool:
        return self.world.is_open(task) and not self.world.waits(task)

    def search(self, some: int, *, is_deleted: bool) -> None:
        words = [one[:4].lower() for one in self.some(self.texts_of(some), 2, 1)]

        def has(task: int) -> bool:
            every = [one.lower() for one in self.texts_of(task)]
            return all(any(one.startswith(word) for one in every) for word in words)

        tasks = self.world.tasks(is_deleted=is_deleted)
        options = ["--limit", "500", *["--deleted"] * is_deleted]
        found = [one["id"] for one in self.run("search", *words, *options)]
        wanted = [self.world.ids[task] for task in tasks if has(task)]
        self.same(f"search {words}", sorted(found), sorted(wanted))

    def texts_of(self, task: int) -> list[str]:
        own = [self.world.get(task, "title"), self.world.get(task, "description")]
        return " ".join([*own, *self.world.items(task), *self.world.notes(task)]).split()

    def shows(self, task: int) -> None:
        """All about a task."""
        world, found = self.world, self.run("show", self.world.ids[task])
        items = {one["title"]: one["checked"] for one in found["items"] if not one["archived"]}
        self.same("items", items, world.items(task))
        self.same("notes", sorted(one["text"] for one in found["notes"]), world.notes(task))
        self.same("description", found["description"], world.get(task, "description"))
        links = {(one["relation"], one["direction"], one["task_id"]) for one in found["links"]}
        every = [(one[0], one[2], one[3]) for one in world.cells if one[1] == "link"]
        wanted = {(how, "out", world.ids[to]) for at, how, to in every if at == task}
        wanted |= {(how, "in", world.ids[at]) for at, how, to in every if to == task}
        self.same(f"links of {world.ids[task]}", links, wanted)
        times = {
            (one["start"][:16], (one["end"] or "")[:16], one["summary"]) for one in found["time"]
        }
        self.same("time", times, {world.cells[one] for one in world.parts(task, "time")})
        last = found["history"][-1]
        self.same("status", (last["status"], last["reason"]), world.get(task, "status"))

    # ------------------------------------------------------------------------------------ the month

    def live(self, days: int = 30) -> None:
        self.run("settings", "set", "lists.mine", '"--open --due-after today"')
        deeds = [self.add] * 4 + [self.edit] * 4 + [self.done] * 4 + [self.import_] * 6
        deeds += [self.undo] * 4 + [self.reject, self.reopen, self.delete, self.restore] * 2
        deeds += [self.note, self.item, self.timer, self.link, self.label, self.status] * 2
        deeds += [self.log, self.settle] + [self.write_back, self.link, self.done_blocker] * 2
        for nth in range(days):
            self.world.now = self.world.now.replace(hour=7, minute=0) + timedelta(days=nth > 0)
            for _ in range(self.dice.randint(3, 10)):
                self.world.now += timedelta(minutes=self.dice.randint(1, 70))
                self.dice.choice(deeds if self.world.tasks() else [self.add])()
                self.learn()
                self.compare()
            self.compare(is_deleted=True)
            if self.world.tasks():
                self.look()
            for task in self.some(sorted(self.touched), 5, 5):
                self.shows(task)
            self.touched.clear()
        for task in self.world.ids:
            self.shows(task)
        proved(self.home)


@pytest.mark.parametrize("seed", range(LIVES))
def test_a_month_of_deeds_ends_as_it_should(seed: int, tmp_path: Path) -> None:
    person = Person(tmp_path, seed)
    try:
        person.live(30)
    except BaseException as error:
        reads = re.compile("wakelog (list|show|search|today|conflicts|undo --list)")
        deeds = [one for one in person.script if not reads.search(one) or one is person.script[-1]]
        error.add_note("\n".join([f"seed {seed}, {len(deeds)} deeds:", *deeds]))
        raise
