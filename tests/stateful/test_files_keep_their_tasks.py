"""Whatever a client does to files of tasks, each task stays with its line, and no tick is invented.

The client knows which line is which because it makes the edits: that list is the model, nothing in
it is matched. A person does things here meanwhile; files are imported, written back, moved, linked,
archived, and empty for a moment. After every import and write-back the laws are checked.

Left out are edits after which nobody could tell what they were: `Files.edit` names them. Where it
takes an effort (one of two equal neighbours is taken away) a line may become a new task, and never
another line's.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.edited import SECTIONS, WORD, Edited, Line
from tests.support.filed import UNDO_RESTORES, Door

IS_EXPLORING = settings().max_examples >= 1_000
TITLES = (
    *("Pay rent", "Pay rent", "Pay rent"),  # many are alike
    *("Call Ann", "Dentist", "Paint the garden door", "Paint the front door"),
    *("Water plants week 1", "Water plants week 2", "Buy oat milk and bread"),
)
FRESH = (
    *("attic", "bicycle", "cellar", "dolphin", "engine", "fjord", "glacier", "harbour", "igloo"),
    *("jungle", "kiosk", "lagoon", "museum", "nectar", "orchard", "piano", "quarry", "rocket"),
    *("stable", "tunnel", "umbrella", "valley", "windmill", "xylophone", "yacht", "zeppelin"),
)
Drawn = tuple[str, str, bool, int]
drawn_lines = st.lists(
    st.tuples(
        st.sampled_from(TITLES),
        st.sampled_from(["", "", "2027-03-01", "fresh"]),  # its due date
        st.sampled_from([False, False, True]),  # whether it repeats
        st.sampled_from([0, 0, 0, 1, 2]),  # how much stands below it
    ),
    min_size=2,
    max_size=5,
)
places = st.integers(0, 11)
how_gone = st.sampled_from(["", "keep", "delete", "reject"])
which = st.sampled_from([0, 0, 1])
at_once = st.sampled_from([True, True, True, False])  # whether an edit is imported at once


class Batch:
    """What a client did to a file since it was imported."""

    def __init__(self, file: Edited) -> None:
        self.edits = 0
        self.is_alone = False  # nothing else may be done to the file before its import
        self.words: set[str] = set()  # of the titles that were edited
        self.structural = 0  # lines that came, went, or are called otherwise
        self.retitled: set[int] = set()
        self.rough: set[int] = set()  # lines that may become new tasks
        self.standing = {one.who for one in file.tasks}


class Files(RuleBasedStateMachine):
    is_markdown = True

    def __init__(self) -> None:
        super().__init__()
        self.scratch = TemporaryDirectory(prefix="wakelog-files-")
        self.folder = Path(self.scratch.name)
        self.home = self.folder / "home"
        self.day = date(2027, 1, 1)
        self.counts: Counter[str] = Counter()
        self.files: list[Edited] = []
        self.batches: list[Batch] = []
        self.removed: list[list[tuple[int, Line]]] = [[], []]  # lines, each with its place
        self.how = ["keep", "keep"]  # what was said last of what is gone from a file
        self.last: dict[int, str] = {}  # the task of each line at its last import
        self.said: dict[int, str] = {}  # and what it said then
        self.owner: dict[str, int] = {}  # the line of each task, for ever
        self.words: dict[str, set[str]] = {}  # all that a task was ever called
        self.own: dict[int, tuple[set[str], set[str]]] = {}  # words and days of a line, ever
        self.texts: dict[str, int] = {}  # whose each note and item is
        self.kept: list[tuple[str, str]] = []  # notes and items made here: task, text
        self.agents: dict[str, str] = {}
        self.ticked: set[int] = set()  # lines that somebody ticked, ever
        self.changed: set[int] = set()  # lines whose tasks were changed here
        self.deleted: set[str] = set()  # tasks that a person deleted
        self.may_be_gone: set[str] = set()  # these, and what was gone when somebody said so
        self.file_of: dict[int, int] = {}
        self.first: dict[int, int] = {}  # of a series, by its later lines
        self.waiting: dict[int, int] = {}  # next lines that were made here, by the lines done

    # ------------------------------------------------------------------------------- small things

    @property
    def door(self) -> Door:
        return Door(self.home, f"{self.day}T09:00:00Z")

    @property
    def tomorrow(self) -> str:
        """The day of the next import."""
        return str(self.day + timedelta(days=1))

    def new(self, what: str) -> int:
        self.counts[what] += 1
        return self.counts[what]

    def series(self, who: int) -> int:
        """The first line of those that repeat one another."""
        return self.first.get(who, who)

    def fresh_day(self) -> str:
        return str(date(2027, 6, 1) + timedelta(days=self.new("day")))

    def fresh_word(self) -> str:
        """A word that no title ever had."""
        return FRESH[self.new("word") % len(FRESH)] + "x" * (self.counts["word"] // len(FRESH))

    def lines_of(self, file: Edited, drawn: Iterable[Drawn]) -> list[Line]:
        found = []
        for title, due, repeats, body in drawn:
            day = self.fresh_day() if due == "fresh" else due
            line = file.line(self.new("line"), title, day, repeats=repeats)
            if file.is_markdown:
                for what in ("item", "note")[:body]:
                    self.below(line, what)
            found.append(line)
        return found

    def named(self, kind: str, line: Line) -> str:
        """A text that belongs to a line and to no other."""
        text = f"{kind} {self.new('text')}"
        self.texts[text] = line.who
        return text

    def at(self, where: int) -> tuple[int, Edited, Batch]:
        where = min(where, len(self.files) - 1)
        return where, self.files[where], self.batches[where]

    def status(self, line: Line) -> str:
        return str(self.door.tasks()[self.last[line.who]]["status"]) if self.has(line) else ""

    def has(self, line: Line) -> bool:
        """Whether the line was imported."""
        return line.who in self.last

    def standing(self, where: int) -> set[int]:
        file = self.files[where]
        return {one.who for one in (*file.tasks, *file.archive)}

    # --------------------------------------------------------------------- what a client edits

    def may_be_called(self, who: int, words: set[str]) -> bool:
        """Whether no task that a line has lost was called so, also to its like: it may have come
        back."""
        standing = {who, *(one for where in range(len(self.files)) for one in self.standing(where))}
        return not any(
            words & self.words[task]
            for task, other in self.owner.items()
            if not (other in standing and self.last.get(other) == task)
        )

    def edit(
        self, where: int, line: Line, change: Callable[[], object], *, now: bool, **how: bool
    ) -> None:
        """Let the client make an edit, if afterwards one can tell what it was."""
        where, file, batch = self.at(where)
        if line.who in self.waiting and not how.get("is_next", False):
            return  # what was made of it here would be called otherwise
        was, lines, twins = replace(line), [*file.lines], file.twins(line)
        alike = [line, *file.alike(line)]
        is_odd = len(alike) > 1 and len({self.status(one) for one in alike}) > 1
        change()
        twins += [one for one in file.twins(line) if not any(one is other for other in twins)]
        stands = any(one is line for one in file.lines)
        is_other = line.text != was.text or line.who not in batch.standing
        words, is_alone = was.words | line.words, how.get("is_alone", False) or bool(twins)
        if (
            is_odd  # which of the lines that say the same was done here?
            or batch.is_alone
            or (is_alone and batch.edits)  # of equal titles only the order tells which is which
            or words & batch.words  # one went and one came, or one was renamed?
            or (stands and is_other and file.is_beside_its_like(line))  # which of both is new?
            or not self.may_be_called(line.who, words)  # or is it one that has come back?
        ):
            line.text, file.lines = was.text, lines
            return
        batch.edits += 1
        batch.is_alone = is_alone
        batch.words |= words
        batch.structural += how.get("is_structural", False)
        batch.retitled |= {line.who} if was.words != line.words else set()
        near = {one.who for one in twins if one.due in (was.due, line.due)} & batch.standing
        is_rough = how.get("is_rough", False) or near or (twins and was.due != line.due)
        batch.rough |= near | ({line.who} if is_rough else set())
        self.ticked |= {line.who} if line.is_ticked and not was.is_ticked else set()
        self.saved(where)
        if now:
            self.take(where)

    def saved(self, where: int) -> None:
        """Save a file; what its lines say is their own."""
        for one in self.files[where].tasks:
            words, days = self.own.setdefault(one.who, (set(), set()))
            words.update(one.words)
            days.update([one.due] * bool(one.due))
        self.files[where].save()

    # ----------------------------------------------------------------------- imports, and the laws

    def take(self, where: int, *typed: str) -> None:
        """Import a file, and check the laws."""
        where, file, batch = self.at(where)
        self.day += timedelta(days=1)
        archive = file.archive_path if file.archive else None
        self.how[where] = typed[-1] if typed else self.how[where]
        rows = self.door.rows() if self.owner else 0
        before = self.door.world() if UNDO_RESTORES and rows else []
        self.door.imports(file.path, *typed, "--yes", archive=archive)
        if before and not typed and self.door.rows() > rows:
            found = self.door.tasks_at(file.path)
            self.door.undoes()
            assert self.door.world() == before, "undo of an import does not restore all"
            self.door.imports(file.path, "--yes", archive=archive)
            assert self.door.tasks_at(file.path) == found, "not the same tasks after an undo"
        self.look(where, batch)
        self.batches[where] = Batch(file)
        self.changes_nothing(where)
        self.check()

    def changes_nothing(self, where: int) -> None:
        """Importing what was imported writes nothing."""
        file = self.files[where]
        rows = self.door.rows()
        self.door.imports(file.path, archive=file.archive_path if file.archive else None)
        assert self.door.rows() == rows, "an unchanged file wrote something"

    def look(self, where: int, batch: Batch) -> None:
        """Which task each line is now: its own, or a new one where nobody could tell."""
        file = self.files[where]
        found = self.door.tasks_at(file.path)
        now = {who: found[at] for who, at in file.at.items()}
        assert len(found) == len(now)
        if batch.structural > 1:
            batch.rough |= batch.retitled
        for line in file.tasks:
            who, task = line.who, now[line.who]
            whose = self.owner.setdefault(task, who)
            if whose != who and self.are_one(whose, who):
                whose = self.owner[task] = who
            assert whose == who, f"{line.first!r} took the task of another line"
            if who in batch.standing - batch.rough:
                assert self.last[who] == task, f"{line.first!r} has become another task"
            self.words.setdefault(task, set()).update(line.words)
            self.file_of.setdefault(who, where)
        for task, agent in self.agents_now(self.door.tasks()).items():
            heirs = [self.agents[one] for one in self.agents if self.is_before(one, task)]
            assert task in self.agents or heirs, f"nobody gave {task} an agent"
            self.agents.setdefault(task, agent)
        self.last |= now
        self.said |= {line.who: line.text for line in file.tasks}
        self.may_be_gone -= {*now.values()} - self.deleted  # what comes back opens again
        if self.how[where] != "keep":
            stands = {self.last[who] for who in self.standing(where)}
            mine = (task for task, who in self.owner.items() if self.file_of[who] == where)
            self.may_be_gone |= {task for task in mine if task not in stands}

    def are_one(self, who: int, other: int) -> bool:
        """Whether it is all one which of two lines is which task: they said the same, and nobody
        did anything with either here."""
        mine = {self.last[one] for one in (who, other) if one in self.last}
        used = {task for task, _ in self.kept} | self.agents.keys() | self.deleted
        is_same = self.said.get(who, "") == self.said.get(other, None)
        return is_same and mine.isdisjoint(used) and self.changed.isdisjoint({who, other})

    @staticmethod
    def agents_now(tasks: Mapping[str, Any]) -> dict[str, str]:
        return {task: one["agent_id"] for task, one in tasks.items() if one["agent_id"]}

    def is_before(self, task: str, other: str) -> bool:
        """Whether both are times of one that repeats."""
        who, later = self.owner[task], self.owner[other]
        return who < later and self.series(who) == self.series(later)

    def check(self) -> None:
        tasks = self.door.tasks()
        for task, who in self.owner.items():
            status = tasks[task]["status"]
            assert status != "DONE" or who in self.ticked, f"nobody ticked {tasks[task]}"
            if status in ("DELETED", "REJECTED"):
                assert task in self.may_be_gone, f"nobody deleted {tasks[task]}"
        agents = self.agents_now(tasks)
        assert agents.items() <= self.agents.items()
        assert self.agents.keys() <= agents.keys() | self.may_be_gone

    def teardown(self) -> None:
        try:
            for task, who in self.owner.items():
                page = self.door.told("task", "show", task)
                texts = [one["text"] for one in page["notes"]]
                texts += [one["title"] for one in page["items"]]
                strangers = [
                    one for one in texts if self.series(self.texts[one]) != self.series(who)
                ]
                assert not strangers, f"{page['title']} has {strangers} of another line"
                lost = {text for kept, text in self.kept if kept == task} - set(texts)
                assert not lost, f"{page['title']} lost {lost}"
        finally:
            self.scratch.cleanup()

    # ------------------------------------------------------------------------------- files at first

    def begin(self, path: Path, lines: list[Line], how: str) -> None:
        file, middle = Edited(path), (len(lines) + 1) // 2
        home, work = (Line(0, f"# {name}\n") for name in SECTIONS)
        whole = [home, *lines[:middle], work, *lines[middle:]]
        file.lines = whole if file.is_markdown else lines
        self.files.append(file)
        self.batches.append(Batch(Edited(path)))
        self.saved(-1)
        self.take(len(self.files) - 1, *(["--gone", how] if how else []))

    @initialize(drawn=drawn_lines, how=how_gone)
    def a_file_is_imported(self, drawn: list[Drawn], how: str) -> None:
        path = self.folder / "x" / ("TODO.md" if self.is_markdown else "todo.txt")
        self.begin(path, self.lines_of(Edited(path), drawn), how)

    @precondition(lambda self: len(self.files) == 1)
    @rule(drawn=drawn_lines, how=how_gone, is_copy=st.booleans(), is_namesake=st.booleans())
    def another_file_is_imported(
        self, drawn: list[Drawn], how: str, is_copy: bool, is_namesake: bool
    ) -> None:
        first = self.files[0]
        name = first.path.name if is_namesake else f"more.{first.path.name}"
        path = self.folder / "y" / name
        if is_copy:
            drawn = [(one.title, one.due, one.repeats, 0) for one in first.tasks]
        lines = self.lines_of(Edited(path), drawn)
        if lines and all(self.may_be_called(one.who, one.words) for one in lines):
            self.begin(path, lines, how)

    @rule(where=which, how=how_gone.filter(bool))
    def the_file_is_imported_with_a_word_on_what_is_gone(self, where: int, how: str) -> None:
        self.take(where, "--gone", how)

    # -------------------------------------------------------------------------------------- edits

    def line(self, where: int, nth: int) -> tuple[Edited, Line | None]:
        """A line; of every second draw one that has its like, if there is any."""
        _, file, _ = self.at(where)
        twins = [one for one in file.tasks if file.twins(one)]
        found = twins if twins and nth % 2 else file.tasks
        return file, found[nth // 2 % len(found)] if found else None

    @rule(where=which, nth=places, now=at_once, is_dated=st.booleans())
    def a_line_is_ticked(self, where: int, nth: int, now: bool, is_dated: bool) -> None:
        file, line = self.line(where, nth)
        if line is None or line.is_ticked:
            return

        def change() -> None:
            file.tick(line, self.tomorrow, is_dated=is_dated)

        if not line.repeats:
            self.edit(where, line, change, now=now)

    @rule(where=which, nth=places, is_twice=st.booleans())
    def a_line_that_repeats_is_ticked(self, where: int, nth: int, is_twice: bool) -> None:
        file, line = self.line(where, nth)
        if line is None or line.is_ticked or not line.repeats:
            return

        after = self.waiting.get(line.who) or self.new("line")

        last = self.new("line")

        def change() -> None:
            following = file.with_next(line, after, self.fresh_day())
            file.tick(line, self.tomorrow)
            if is_twice and following.due:
                file.with_next(following, last, self.fresh_day())
                file.tick(following, self.tomorrow)
                self.ticked.add(after)

        if all(one.first != line.first for one in file.twins(line)):
            self.first[after] = self.first[last] = self.series(line.who)
            self.edit(where, line, change, now=True, is_alone=True, is_next=True)
            if after in self.last:
                self.waiting.pop(line.who, None)

    @rule(where=which, nth=places)
    def what_is_done_here_is_ticked_by_hand_and_written_once_more(
        self, where: int, nth: int
    ) -> None:
        file, line = self.line(where, nth)
        if line is None or line.is_ticked or file.twins(line) or self.at(where)[2].edits:
            return
        if line.repeats:  # one that has no day yet is its next one
            return
        if self.status(line) == "OPEN":
            self.person_does("done", line)
        if self.status(line) != "DONE":
            return

        def change() -> None:
            file.lines.insert(file.place(line), Line(self.new("line"), f"{line.first}\n"))
            file.tick(line, self.tomorrow, is_dated=False)

        self.edit(where, line, change, now=True, is_alone=True)

    @rule(where=which, nth=places, now=at_once)
    def a_line_is_unticked(self, where: int, nth: int, now: bool) -> None:
        file, line = self.line(where, nth)
        if line is not None and line.is_ticked:
            self.edit(where, line, lambda: file.untick(line), now=now)

    @rule(where=which, nth=places, now=at_once, other=places)
    def a_word_is_changed(self, where: int, nth: int, now: bool, other: int) -> None:
        _, line = self.line(where, nth)
        words = [one for one in line.title.split() if one.isalpha()] if line else []
        if line is None or not words:
            return
        title = line.title.replace(words[other % len(words)], self.fresh_word(), 1)
        is_rough = len(words) < 3

        def change() -> None:
            line.change(line.title, title)

        self.edit(where, line, change, now=now, is_structural=True, is_rough=is_rough)

    @rule(where=which, nth=places, now=at_once)
    def a_word_is_added(self, where: int, nth: int, now: bool) -> None:
        _, line = self.line(where, nth)
        if line is not None:
            title = f"{line.title} {self.fresh_word()}"

            def change() -> None:
                line.change(line.title, title)

            self.edit(where, line, change, now=now, is_structural=True, is_rough=True)

    @rule(where=which, nth=places, now=at_once, other=places, is_fresh=st.booleans())
    def a_due_date_is_changed(
        self, where: int, nth: int, now: bool, other: int, is_fresh: bool
    ) -> None:
        file, line = self.line(where, nth)
        if line is not None:
            days = [one.due for one in file.twins(line) if one.due]
            is_fresh |= line.is_ticked  # else is it that one, ticked on the same day?
            due = self.fresh_day() if is_fresh or not days else days[other % len(days)]
            self.edit(where, line, lambda: file.set_due(line, due), now=now)

    @rule(where=which, at=places, now=at_once, due=st.booleans())
    def a_line_is_new(self, where: int, at: int, now: bool, due: bool) -> None:
        title = f"{self.fresh_word()} {self.fresh_word()}".capitalize()
        self.insert(where, at, title, self.fresh_day() if due else "", now=now)

    @rule(where=which, nth=places, at=places, now=at_once, is_here=st.booleans(), day=places)
    def a_line_is_called_as_another(
        self, where: int, nth: int, at: int, now: bool, is_here: bool, day: int
    ) -> None:
        where, _, _ = self.at(where)
        _, line = self.line(where if is_here else len(self.files) - 1 - where, nth)
        if line is not None:
            due = [line.due, self.fresh_day(), ""][day % 3]
            self.insert(where, at, line.title, due, now=now, repeats=line.repeats)

    def insert(
        self, where: int, at: int, title: str, due: str, *, now: bool, repeats: bool = False
    ) -> None:
        _, file, _ = self.at(where)
        line = file.line(self.new("line"), title, due, repeats=repeats)
        first = int(file.is_markdown)  # below a heading
        place = first + at % (len(file.lines) + 1 - first)
        self.edit(where, line, lambda: file.lines.insert(place, line), now=now, is_structural=True)

    @rule(where=which, nth=places, now=at_once)
    def a_line_is_taken_away(self, where: int, nth: int, now: bool) -> None:
        where, file, _ = self.at(where)
        _, line = self.line(where, nth)
        if line is None:
            return

        def change() -> None:
            self.removed[where].append((file.place(line), line))
            file.lines.remove(line)

        count = len(self.removed[where])
        self.edit(where, line, change, now=now, is_structural=True)
        if any(one is line for one in file.lines):  # it was put back
            del self.removed[where][count:]

    @rule(where=which)
    def the_line_that_was_taken_away_is_put_back(self, where: int) -> None:
        where, file, batch = self.at(where)
        if not self.removed[where] or self.batches[where].edits:
            return
        at, line = self.removed[where].pop()
        batch.standing.discard(line.who)
        at = min(at, len(file.lines))

        def change() -> None:
            file.lines.insert(at, line)

        self.edit(where, line, change, now=True, is_alone=True, is_structural=True)

    @rule(where=which, nth=places, now=at_once)
    def a_line_is_moved_below_the_other_heading(self, where: int, nth: int, now: bool) -> None:
        file, line = self.line(where, nth)
        if line is not None and not file.alike(line):
            self.edit(where, line, lambda: file.move(line), now=now, is_alone=True)

    @rule(where=which, nth=places, to=places, is_sorted=st.booleans())
    def lines_stand_in_another_order(self, where: int, nth: int, to: int, is_sorted: bool) -> None:
        where, file, batch = self.at(where)
        _, line = self.line(where, nth)
        if line is None or batch.is_alone or any(file.alike(one) for one in file.tasks):
            return
        if any(file.twins(one) for one in file.tasks) and batch.edits:
            return
        if is_sorted:
            file.sort()
        else:
            first, end = file.section(line)
            file.lines.remove(line)
            file.lines.insert(first + to % (end - first), line)
        batch.edits += 1
        batch.is_alone = True
        batch.rough |= batch.retitled
        batch.rough |= {
            one.who for one in file.tasks if any(other.due == one.due for other in file.twins(one))
        }
        self.saved(where)
        self.take(where)

    @precondition(lambda self: self.is_markdown)
    @rule(
        where=which, nth=places, now=at_once,
        what=st.sampled_from(["item", "note", "tick", "rename", "drop", "drop note"]),
    )  # fmt: skip
    def what_stands_below_a_line_is_edited(
        self, where: int, nth: int, now: bool, what: str
    ) -> None:
        _, line = self.line(where, nth)
        if line is not None:
            self.edit(where, line, lambda: self.below(line, what), now=now)

    def below(self, line: Line, what: str) -> None:
        below = [one.strip() for one in line.text.splitlines()[1:] if one.strip()]
        items = [one for one in below if one.startswith("- [")]
        notes = [one for one in below if not one.startswith("- [")]
        match what:
            case "item":
                items.append(f"- [ ] {self.named('Item', line)}")
            case "tick" if items:
                items[0] = items[0].replace("[ ]", "[x]")
            case "rename" if items:
                items[0] = f"{items[0][:6]}{self.named('Item', line)}"
            case "drop" if items:
                del items[0]
            case "note":
                notes.append(self.named("Remark", line))
            case "drop note" if notes:
                del notes[0]
        shown = [f"  {one}\n" for one in items] + [f"\n  {one}\n" for one in notes]
        line.text = f"{line.first}\n{''.join(shown)}"

    # ---------------------------------------------------------------------------- files as a whole

    @rule(where=which)
    def a_file_is_empty_for_a_moment(self, where: int) -> None:
        where, file, batch = self.at(where)
        if batch.edits:
            return
        tasks, lines = self.door.tasks(), self.door.tasks_at(file.path)
        archive = file.archive_path if file.archive else None
        file.path.write_text("")
        self.door.imports(file.path, archive=archive)
        assert self.door.tasks() == tasks, "a file was empty for a moment, and tasks are lost"
        file.save()
        self.door.imports(file.path, archive=archive)
        assert (self.door.tasks(), self.door.tasks_at(file.path)) == (tasks, lines)

    @rule(where=which, is_folder=st.booleans())
    def a_file_has_another_name(self, where: int, is_folder: bool) -> None:
        where, file, batch = self.at(where)
        if batch.edits or file.archive or not file.tasks:
            return
        nth, name = self.new("file"), file.path.name
        path = (
            self.folder / f"folder{nth}" / name
            if is_folder
            else file.path.with_name(f"{nth}.{name}")
        )
        path.parent.mkdir(exist_ok=True)
        file.path = file.path.rename(path)
        self.take(where)

    @rule(where=which, is_namesake=st.booleans())
    def a_file_is_imported_by_a_link(self, where: int, is_namesake: bool) -> None:
        where, file, batch = self.at(where)
        if batch.edits or file.archive:
            return
        nth, name = self.new("file"), file.path.name
        link = self.folder / f"link{nth}" / (name if is_namesake else f"{nth}.{name}")
        link.parent.mkdir()
        link.symlink_to(file.path)
        rows, lines = self.door.rows(), self.door.tasks_at(file.path)
        self.door.imports(link)
        assert (self.door.rows(), self.door.tasks_at(link)) == (rows, lines)

    @precondition(lambda self: not self.is_markdown)
    @rule(where=which)
    def done_lines_are_archived(self, where: int) -> None:
        where, file, batch = self.at(where)
        if not batch.edits and file.put_away():
            self.saved(where)
            self.take(where)

    # ------------------------------------------------------------------------------- a person, here

    @rule(
        where=which, nth=places, is_undone=st.booleans(),
        what=st.sampled_from(
            ["done", "reopen", "note", "item", "title", "due", "delete", "agent", "done", "done"]
        ),
    )  # fmt: skip
    def a_person_changes_a_task(self, where: int, nth: int, is_undone: bool, what: str) -> None:
        _, _, batch = self.at(where)
        _, line = self.line(where, nth)
        if line is None or not self.has(line) or line.words & batch.words:
            return
        status = self.status(line)
        closed = ("DONE", "REJECTED")
        if status == "DELETED" or (what, status) in (("done", "DONE"), ("reopen", "OPEN")):
            return
        if what != "agent" or (status not in closed and self.last[line.who] not in self.agents):
            self.person_does(what, line, is_undone=is_undone and what != "agent")

    def person_does(self, what: str, line: Line, *, is_undone: bool = False) -> None:
        task, text, tasks = self.last[line.who], self.named(what, line), self.door.tasks()
        title, day = f"{line.title} {self.fresh_word()}", self.fresh_day()
        deeds = {
            "done": ["done", task],
            "reopen": ["task", "set", task, "--status", "open"],
            "note": ["task", "note", task, text],
            "item": ["task", "item", "add", task, text],
            "title": ["task", "set", task, "--title", title],
            "due": ["task", "set", task, "--due", day],
            "delete": ["task", "delete", task],
            "agent": ["agent", "create", task],
        }
        told = self.door.told(*deeds[what])
        new = self.there(self.door.tasks()) - self.there(tasks)
        if is_undone:
            self.door.undoes()
            now = self.door.tasks()
            assert self.there(now) == self.there(tasks), f"undo of {what} does not restore all"
            stayed = [one for one in tasks if one not in new]
            assert [now[one] for one in stayed] == [tasks[one] for one in stayed]
            return
        self.changed.add(line.who)
        words, days = self.own[line.who]
        match what:
            case "done":
                self.ticked.add(line.who)
                self.next_is_made(line, new)
            case "title":
                words.update(WORD.findall(title.lower()))
                self.words[task] |= words
            case "due":
                days.add(day)
            case "delete":
                self.deleted.add(task)
                self.may_be_gone.add(task)
            case "agent":
                self.agents[task] = told["id"]
            case "note" | "item":
                self.kept.append((task, text))
        self.check()

    @staticmethod
    def there(tasks: Mapping[str, Any]) -> set[str]:
        return {one for one, said in tasks.items() if said["status"] != "DELETED"}

    def next_is_made(self, line: Line, new: Iterable[str]) -> None:
        """What is done here is followed by another task, if it repeats; each has one next."""
        for task in new:
            assert line.repeats
            if task in self.owner:  # it was there, and somebody deleted it
                continue
            who = self.waiting[line.who] = self.new("line")
            self.owner[task], self.last[who] = who, task
            self.first[who] = self.series(line.who)
            self.own[who] = set(line.words), {str(self.door.tasks()[task]["due_date"])}
            self.words[task], self.file_of[who] = set(line.words), self.file_of[line.who]
            if self.last[line.who] in self.agents:
                self.agents[task] = self.agents_now(self.door.tasks())[task]

    def with_waiting(self, file: Edited) -> None:
        """A client that is told to would write the next lines so."""
        for line in [one for one in file.tasks if one.who in self.waiting]:
            if self.status(line) == "DONE":
                self.changed.add(who := self.waiting.pop(line.who))
                file.with_next(line, who, "2027-01-01")

    @rule(where=which)
    def what_was_done_here_is_written_back(self, where: int) -> None:
        where, file, batch = self.at(where)
        if batch.edits:
            self.take(where)
        self.door.writes_back(file.path)
        blocks = file.blocks()
        self.with_waiting(file)
        assert len(blocks) == len(file.lines)
        for line, block in zip(file.lines, blocks, strict=True):
            if line.who not in self.changed:
                assert block == line.text, "another line was written"
            line.text = block
            if line.who:
                words, days = self.own[line.who]
                assert line.words <= words
                assert {line.due} <= days | {""}
                assert line.who in self.ticked or not line.is_ticked, f"nobody ticked {block}"
        self.changes_nothing(where)
        self.look(where, Batch(file))
        self.batches[where] = Batch(file)
        self.check()


class TodoTxt(Files):
    is_markdown = False


@pytest.mark.parametrize("kind", [Files, TodoTxt], ids=["Markdown", "todo.txt"])
def test_each_task_stays_with_its_line_whatever_a_client_does(kind: type[Files]) -> None:
    count = 2_000 if IS_EXPLORING else 80
    phases = (Phase.generate, Phase.shrink) if IS_EXPLORING else (Phase.generate,)
    how = settings(max_examples=count, stateful_step_count=12, phases=phases)
    run_state_machine_as_test(kind, settings=how)
