"""A home of tasks in plain Python: what it should hold after each deed of a person.

It shares no code with what it is held against. A world is a dict of cells, `(task, what, ...)`: a
deed is a copy of it before and one after, and to take a deed back is to put back the cells that are
as it left them. A task is a number of its own; which id it has, is learnt (`ids`). The line of a
file has the number of its task, for whoever edits the file knows which line is which.
"""

import calendar
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

CLOSED = ("DONE", "REJECTED")
EMPTY: dict[str, Any] = {
    "title": "", "status": ("OPEN", ""), "priority": "P2", "estimate": 0, "due": "",
    "category": "Inbox", "repeat": "", "wait": "", "description": "",
}  # fmt: skip
SAID = ("title", "category", "status", "priority", "estimate", "due", "repeat", "wait")
"""The fields that a line can say; a person may say otherwise."""
Cell = tuple[Any, ...]
Cells = dict[Cell, Any]
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@dataclass(frozen=True)
class Rule:
    """How a task repeats: as it is typed, as `list --json` has it, and as files say it: in words,
    and behind ``rec:``, where that can be."""

    words: str
    stored: str
    shown: str
    rec: str = ""
    unit: str = "day"
    every: int = 1
    days: tuple[int, ...] = ()
    month_day: int = 0

    @property
    def is_from_done(self) -> bool:
        return self.words.endswith(" when done")

    def when_done(self) -> "Rule":
        """The same, counted from the day on which the task is done."""
        return replace(
            self,
            words=f"{self.words} when done",
            stored=f"{self.stored};FROM=DONE",
            shown=f"{self.shown} when done",
            rec=self.rec[1:],
        )

    def fits(self, base: date, day: date) -> bool:
        """Whether a day is one of the rule that begins at another."""
        if self.unit == "day":
            return (day - base).days % self.every == 0
        if self.unit == "week":
            mondays = [one - timedelta(one.weekday()) for one in (base, day)]
            weeks = (mondays[1] - mondays[0]).days // 7
            return weeks % self.every == 0 and day.weekday() in (self.days or (base.weekday(),))
        months = (day.year - base.year) * 12 + day.month - base.month
        last = calendar.monthrange(day.year, day.month)[1]
        return months % self.every == 0 and day.day == min(self.month_day or base.day, last)

    def next(self, due: str, wait: str, today: str) -> tuple[str, str]:
        """When the next one is due, and until when it waits."""
        now = date.fromisoformat(today)
        was = date.fromisoformat(due or wait or today)
        base = now if self.is_from_done else was
        found = max(base + timedelta(1), now)
        while not self.fits(base, found):
            found += timedelta(1)
        if wait and not due:  # it only waits
            return "", str(found)
        return str(found), str(found - (was - date.fromisoformat(wait))) if wait else ""


RULES = (
    Rule("daily", "FREQ=DAILY", "every day", "+1d"),
    Rule("every 3 days", "FREQ=DAILY;INTERVAL=3", "every 3 days", "+3d", every=3),
    Rule("weekly", "FREQ=WEEKLY", "every week", "+1w", "week"),
    Rule(
        "every 2 weeks on mon, thu", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH",
        "every 2 weeks on Mon, Thu", "", "week", 2, (0, 3),
    ),
    Rule(
        "every weekday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "every week on Mon, Tue, Wed, Thu, Fri", "+1b", "week", 1, (0, 1, 2, 3, 4),
    ),
    Rule("monthly", "FREQ=MONTHLY", "every month", "+1m", "month"),
    Rule(
        "every month on the 31st", "FREQ=MONTHLY;BYMONTHDAY=31", "every month on the 31st",
        unit="month", month_day=31,
    ),
    Rule("yearly", "FREQ=YEARLY", "every year", "+1y", "month", 12),
)  # fmt: skip
EVERY_RULE = (*RULES, *(one.when_done() for one in RULES))


@dataclass(frozen=True)
class Said:
    """What a line says of its task; what is empty, it does not say."""

    title: str
    status: tuple[str, str] = ("OPEN", "")  # and the day on which it was closed
    priority: str = ""
    estimate: int = 0
    due: str = ""
    category: str = ""
    labels: tuple[str, ...] = ()
    items: tuple[tuple[str, bool], ...] = ()
    notes: tuple[str, ...] = ()
    needs: tuple[int, ...] = field(default=(), compare=False)  # tasks of the file; said by links
    repeat: Rule | str = ""
    wait: str = ""

    @property
    def is_open(self) -> bool:
        return self.status[0] not in CLOSED

    def value(self, name: str) -> Any:
        """A field as a task has it; None: nothing that could be taken."""
        found = getattr(self, name)
        if name == "category":
            return found or "Inbox"
        return None if name == "priority" and not found else found


@dataclass
class Deed:
    """What one command changed. `source`: of an import; `docs`: tasks of which a file spoke."""

    n: int
    source: str
    before: Cells
    after: Cells
    docs: set[int] = field(default_factory=set)
    is_settling: bool = False
    is_undone: bool = False

    @property
    def cells(self) -> list[Cell]:
        """Those that it changed."""
        every = dict.fromkeys((*self.before, *self.after))
        return [one for one in every if self.before.get(one) != self.after.get(one)]


@dataclass
class Back:
    """What an undo would do: the world after it, and tasks of which nothing said then counts."""

    state: str  # open, moved or stays, as `undo --list` calls it
    cells: Cells
    docs: set[int] = field(default_factory=set)


class Oracle:
    def __init__(self) -> None:
        self.cells: Cells = {}
        self.now = datetime(2027, 1, 1, 8, tzinfo=UTC)
        self.n = 0  # of the deed; 0 of what is none
        self.count = 0
        self.deeds: list[Deed] = []
        self.ids: dict[int, str] = {}
        self.source: dict[int, str] = {}
        self.docs: defaultdict[int, list[tuple[int, Said]]] = defaultdict(list)
        self.spoke: defaultdict[tuple[int, str], list[tuple[int, str, int]]] = defaultdict(list)
        self.uncounted: set[tuple[int, int]] = set()  # tasks, and deeds undone, that a file said
        self.history: defaultdict[int, list[tuple[datetime, str]]] = defaultdict(list)
        self.closed_as: dict[int, set[tuple[str, str]]] = {}
        self.ended: dict[int, str] = {}  # who deleted it last: person, a source, or undo
        self.next_of: dict[int, int] = {}
        self.carried: set[tuple[int, str]] = set()  # items that came with a tick in a file
        self.gone: defaultdict[str, str] = defaultdict(lambda: "keep")
        self.stood: defaultdict[str, set[int]] = defaultdict(set)  # in the file, when imported last

    # ------------------------------------------------------------------------------- small things

    @property
    def today(self) -> str:
        return str(self.now.date())

    def get(self, task: int, name: str) -> Any:
        return self.cells[task, name]

    def fresh(self) -> int:
        """A number that no task has."""
        self.count += 1
        return self.count

    def tasks(self, *, is_deleted: bool = False) -> list[int]:
        """In the order of their making."""
        return [
            cell[0]
            for cell, one in self.cells.items()
            if cell[1] == "deleted" and one is is_deleted and cell[0] in self.ids
        ]

    def parts(self, task: int, what: str) -> list[Cell]:
        return [one for one in self.cells if one[0] == task and one[1] == what]

    def labels(self, task: int) -> list[str]:
        return sorted(one[2] for one in self.parts(task, "label"))

    def items(self, task: int) -> dict[str, bool]:
        """Titles and ticks, without those that were put away."""
        found = {one[2]: self.cells[one] for one in self.parts(task, "item") if one[3] == "checked"}
        return {one: it for one, it in found.items() if not self.cells[task, "item", one, "away"]}

    def notes(self, task: int) -> list[str]:
        return sorted(one[2] for one in self.parts(task, "note"))

    def is_open(self, task: int) -> bool:
        return not self.get(task, "deleted") and self.get(task, "status")[0] not in CLOSED

    def running(self, cells: Cells | None = None) -> list[Cell]:
        found = self.cells if cells is None else cells
        return [one for one, it in found.items() if one[1] == "time" and not it[1]]

    def links(self, relation: str) -> list[tuple[int, int]]:
        return [(one[0], one[3]) for one in self.cells if one[1:3] == ("link", relation)]

    def blocked(self) -> set[int]:
        return {there for here, there in self.links("blocks") if self.is_open(here)}

    def waits(self, task: int) -> bool:
        return self.is_open(task) and self.get(task, "wait") > self.today

    def would_circle(self, source: int, target: int) -> bool:
        """Whether the target blocks the source already, however far."""
        ahead, seen = [target], set[int]()
        while ahead:
            one = ahead.pop()
            seen.add(one)
            ahead += [there for here, there in self.links("blocks") if here == one]
            ahead = [each for each in ahead if each not in seen]
        return source in seen

    @contextmanager
    def deed(self, source: str = "", *, is_settling: bool = False) -> Iterator[Deed]:
        """One command: what it changes is one deed, if it changes anything."""
        self.n = len(self.deeds) + 1
        made = Deed(self.n, source, dict(self.cells), {}, is_settling=is_settling)
        yield made
        made.after, self.n = dict(self.cells), 0
        if made.before != made.after or made.docs:
            self.deeds.append(made)

    # -------------------------------------------------------------------------- what a person does

    def create(self, task: int, title: str, category: str = "Inbox", by: str = "person") -> int:
        """A task as it is when nothing else is said of it."""
        self.cells[task, "deleted"] = False
        for name, value in EMPTY.items():
            self.cells[task, name] = value
        for name, value in (("title", title), ("category", category)):
            self.cells[task, name] = value
            self.spoke[task, name].append((self.n, by, 0))
        return task

    def put(self, task: int, name: str, value: Any, by: str = "person") -> None:
        """Set a field; nothing where it is so."""
        if self.cells[task, name] != value:
            self.cells[task, name] = value
            self._spoken(task, name, by)

    def _spoken(self, task: int, name: str, by: str) -> None:
        self.spoke[task, name].append((self.n, by, len(self.docs[task])))
        if name == "status":
            self._status_set(task)

    def _status_set(self, task: int) -> None:
        """Keep when a task was set to its status, and as what."""
        self.history[task].append((self.now, self.get(task, "status")[0]))
        said = self.said(task)
        lines = {(said.title, said.due)} if said else set()
        self.closed_as[task] = {(self.get(task, "title"), self.get(task, "due")), *lines}

    def set_status(self, task: int, status: str, reason: str = "", by: str = "person") -> None:
        held, why = self.get(task, "status")
        if status != held or reason not in ("", why):
            self.put(task, "status", (status, reason), by)

    def edit(self, task: int, fields: dict[str, Any], *, is_last: bool = False) -> None:
        """Change fields; what is closed so stops its timer, is followed by the next one, and lets
        go what waited for it."""
        was_open, before = self.is_open(task), dict(self.cells)
        status, reason = fields.get("status", ("", ""))
        if "title" in fields:
            self.put(task, "title", fields["title"])
        if status:
            self.set_status(task, status, reason)
        for name, value in fields.items():
            if name not in ("title", "status"):
                self.put(task, name, value)
        if status not in CLOSED:
            return
        self.stop(task)
        if self.cells == before:
            return
        if was_open and not is_last and (rule := self.get(task, "repeat")):
            due, wait = self.get(task, "due"), self.get(task, "wait")
            self.follow(task, *rule.next(due, wait, self.today))
        for one in {there for here, there in self.links("blocks") if here == task}:
            held, said = self.get(one, "status"), self.said(one)
            is_files = held[0] == "BLOCKED" and said is not None and said.status == held
            if is_files and self.is_open(one) and one not in self.blocked():
                self.put(one, "status", ("OPEN", ""))

    def follow(self, task: int, due: str, wait: str, by: str = "person") -> None:
        """The next one of a task that repeats; none where it is there."""
        made = self.next_of.get(task, 0)
        if made and self.is_known(made) and not self.get(made, "deleted"):
            return
        if not made or not self.is_known(made):
            made = self.next_of[task] = self.create(made or self.fresh(), "", by=by)
            self._carry(task, made, by)
        self.cells[made, "deleted"] = False
        for one in self.parts(made, "item"):
            if one[3] == "checked":
                self.cells[one] = False
        own = {"due": due, "wait": wait, "status": ("OPEN", "")}
        for name in EMPTY:
            of_nobody = name in ("due", "wait")
            self.put(made, name, own.get(name, self.get(task, name)), "next" if of_nobody else by)
        for label in self.labels(task):
            self.cells[made, "label", label] = True

    def complete(self, task: int, made: int) -> None:
        """A next one that its file brought gets what the line does not say."""
        for name in ("priority", "estimate", "repeat", "description"):
            if self.get(made, name) == EMPTY[name]:
                self.put(made, name, self.get(task, name), "file")
        for label in self.labels(task):
            self.cells[made, "label", label] = True
        if self.parts(made, "item"):
            self.cells[made, "link", "follows_up_on", task] = True
        else:
            self._carry(task, made, "file")

    def _carry(self, task: int, made: int, by: str) -> None:
        for item in self.items(task):
            self.cells[made, "item", item, "checked"] = False
            self.cells[made, "item", item, "away"] = False
            self.carried |= {(made, item)} if by == "file" else set()
        self.cells[made, "link", "follows_up_on", task] = True

    def stop(self, task: int = 0, summary: str = "") -> None:
        """Stop the timer; of a task, if it runs there."""
        for cell in self.running():
            if task in (0, cell[0]):
                start, _, noted = self.cells[cell]
                self.cells[cell] = start, f"{self.now:%Y-%m-%dT%H:%M}", summary or noted

    def start(self, task: int) -> None:
        if all(cell[0] != task for cell in self.running()):
            self.stop()
            self.cells[task, "time", self.n] = f"{self.now:%Y-%m-%dT%H:%M}", "", ""

    def delete(self, task: int, by: str = "person") -> None:
        if not self.get(task, "deleted"):
            self.stop(task)
            self.cells[task, "deleted"] = True
            self.ended[task] = by

    # ----------------------------------------------------------------------- between file and home

    def _counted(self, task: int, upto: int | None = None) -> list[Said]:
        docs = self.docs[task][:upto]
        return [said for n, said in docs if (task, n) not in self.uncounted]

    def said(self, task: int) -> Said | None:
        """What its file said last."""
        return next(reversed(self._counted(task)), None)

    def _speaker(self, task: int, name: str) -> tuple[int, str, int]:
        every = self.spoke[task, name]
        return next(
            (one for one in reversed(every) if (task, one[0]) not in self.uncounted), (0, "", 0)
        )

    def by(self, task: int, name: str) -> str:
        """Who set a field: person, file, or nobody."""
        return self._speaker(task, name)[1]

    def _stands(self, task: int, name: str, value: Any) -> bool:
        held = self.get(task, name)
        if name == "status":
            return bool(held[0] == value[0] and value[1] in ("", held[1]))
        return bool(held == value)

    def differs(self, task: int, name: str) -> bool:
        """Whether the file said something since the person did, and it is not what stands."""
        _, by, upto = self._speaker(task, name)
        told, before = self._counted(task), self._counted(task, upto)
        if by != "person" or self.get(task, "deleted") or len(told) == len(before):
            return False
        value = told[-1].value(name)
        if name == "status" and value[0] == self.get(task, name)[0] and self._is_day(task, value):
            return False  # it only says when, too
        is_news = value != (before[-1] if before else Said("")).value(name)
        return value is not None and is_news and not self._stands(task, name, value)

    def settle(self, task: int, name: str, *, is_file: bool) -> None:
        said = self.said(task)
        assert said is not None
        if is_file:
            self.put(task, name, said.value(name))
        self.spoke[task, name].append((self.n, "person", len(self.docs[task])))

    def kept(self, task: int, line: Said) -> Said:
        """What is kept of a line: a day on which its task was closed here, too, says nothing."""
        before, (status, reason) = self.said(task), line.status
        if before is None or reason == before.status[1] or not reason:
            return line
        return replace(line, status=(status, "")) if self._is_day(task, line.status) else line

    def _is_day(self, task: int, said: tuple[str, str]) -> bool:
        """Whether a status is said with a day on which its task was set to it here."""
        hours = (timedelta(hours=one) for one in (-12, 0, 14))
        days = {(one, str((at + h).date())) for h in hours for at, one in self.history[task]}
        return (said[0], said[1][-10:]) in days

    def is_known(self, task: int) -> bool:
        return (task, "deleted") in self.cells

    def news(self, lines: Sequence[tuple[int, Said]]) -> bool:
        """Whether these lines say what was not imported."""
        return any(
            not self.is_known(task)
            or (not self.get(task, "deleted") and self.kept(task, line) != self.said(task))
            for task, line in lines
        )

    def imports(
        self, deed: Deed, lines: Sequence[tuple[int, Said]], how: str, deleted: Iterable[int] = ()
    ) -> None:
        """Take a file over. `how`: what was said of what is gone, if anything; `deleted`: tasks
        that the file says were deleted."""
        source, here = deed.source, {task for task, _ in lines}
        was_open = {one: self.is_open(one) for one in self.tasks()}
        nexts: list[tuple[int, str, str]] = []
        back = [task for task, said in lines if self.is_known(task) and self._returns(task, said)]
        new = [task for task, _ in lines if not self.is_known(task)]
        for task, line in lines:
            self.source[task] = source
            if task in back:
                self.cells[task, "deleted"] = False
                if self.get(task, "status")[0] in CLOSED:
                    self.set_status(task, line.status[0], line.status[1], "file")
                deed.docs.add(task)
            said = self.kept(task, line) if self.is_known(task) else line
            if self.is_known(task) and (self.get(task, "deleted") or said == self.said(task)):
                continue
            rule = said.repeat or (self.is_known(task) and self.get(task, "repeat"))
            if was_open.get(task) and not said.is_open and isinstance(rule, Rule):
                due = said.due or self.get(task, "due")
                nexts.append((task, *rule.next(due, self.get(task, "wait"), self.today)))
            self._take(task, said, is_back=task in back)
            deed.docs.add(task)
        for task, due, wait in nexts:
            made = self.next_of.get(task, 0)
            if self.is_open(task) or self.get(task, "deleted"):
                continue
            if made in {*new, *back}:
                self.complete(task, made)
            else:
                self.follow(task, due, wait, "file")
        for task, line in lines:
            for other in line.needs:
                is_new = other in here and {task, other} & {*new, *back}
                is_gone = self.get(task, "deleted") or (is_new and self.get(other, "deleted"))
                if is_new and not (is_gone or self.would_circle(other, task)):
                    self.cells[other, "link", "blocks", task] = True
        for task in deleted:
            if self.is_known(task):
                self.delete(task, source)
        self._close_gone(source, here | {*deleted}, how)
        self.stood[source] = here
        for task, was in was_open.items():
            if was and not self.is_open(task):
                self.stop(task)

    def _returns(self, task: int, said: Said) -> bool:
        """Whether a task comes back that was closed, or never made, because of its file."""
        if self.get(task, "deleted"):
            return self.ended[task] in ("undo", self.source.get(task))
        gone = self.get(task, "status") == ("REJECTED", f"no longer in {self.source.get(task)}")
        return gone and said.is_open

    def _take(self, task: int, said: Said, *, is_back: bool) -> None:
        """What a line says otherwise than before is taken, unless the person changed it, too."""
        was = self.said(task)
        if not self.is_known(task):
            self.create(task, said.title, said.value("category"), "file")
            was = Said(said.title, category=said.category)
        elif was is None:
            made = [one for n, one in self.docs[task] if n == self.spoke[task, "title"][0][0]]
            was = [*(made or [self.docs[task][-1][1]])][-1] if is_back else Said("")
        for name in SAID:
            value, before = said.value(name), was.value(name)
            if getattr(said, name) == getattr(was, name):
                continue
            held = EMPTY[name] if before is None else before
            if self.by(task, name) == "person" and not self._stands(task, name, held):
                continue
            if name == "status":
                self.set_status(task, value[0], value[1], "file")
            elif value is not None:
                self.put(task, name, value, "file")
        for label in {*was.labels} ^ {*said.labels}:
            self.cells.pop((task, "label", label), None)
            if label in said.labels:
                self.cells[task, "label", label] = True
        ticks = dict(was.items)
        for item, is_checked in said.items:
            cell = task, "item", item, "checked"
            if ticks.get(item) != is_checked or cell not in self.cells:
                if cell not in self.cells or self.cells.pop((*cell[:3], "unmade"), False):
                    self.cells[task, "item", item, "away"] = False
                self.cells[cell] = is_checked
        for note in said.notes:
            if note not in was.notes:
                self.cells[task, "note", note] = True
        self.docs[task].append((self.n, said))

    def _close_gone(self, source: str, here: set[int], how: str) -> None:
        self.gone[source] = how or self.gone[source]
        for task in self.tasks():
            is_gone = self.source.get(task) == source and task not in here
            if not is_gone or not (how or task in self.stood[source]):
                continue
            reason = f"no longer in {source}"
            if self.gone[source] == "delete" and self.get(task, "status")[1] != reason:
                self.delete(task, source)
            if self.gone[source] == "reject" and self.is_open(task):
                self.set_status(task, "REJECTED", reason, "file")

    def unwritten(self, task: int, line: Said) -> dict[str, Any]:
        """What a line does not say yet of its task, by field; `status` with its day."""
        found: dict[str, Any] = {}
        if self.get(task, "deleted"):
            return found
        is_other = line.is_open and (line.title, line.due) not in self.closed_as.get(task, set())
        for name in ("status", "due", "priority", "estimate", "repeat", "wait", "title"):
            value, said = self.get(task, name), line.value(name) or EMPTY[name]
            if name == "status":
                value, said = value[0], said[0]
                if is_other and value in CLOSED:
                    continue
            if value != said and not self.differs(task, name):
                found[name] = value
        return found

    def wrote(self, task: int, line: Said) -> None:
        """A line says now what its task is."""
        self.docs[task].append((0, self.kept(task, line)))

    # ---------------------------------------------------------------------------------------- undo

    def shape(self, cells: Cells, task: int) -> set[tuple[Cell, Any]]:
        """What a task says; what was put away, it does not."""
        own = {one: it for one, it in cells.items() if one[0] == task}
        away = {one[2] for one, it in own.items() if one[-1] == "away" and it}
        return {
            (one, it)
            for one, it in own.items()
            if one[1] != "deleted" and not (one[1] == "item" and one[2] in away)
        }

    def back(self, deed: Deed) -> Back:
        """What taking a deed back would do."""
        found = Back("open", dict(self.cells))
        touched = dict.fromkeys([one[0] for one in deed.cells])
        steps = [
            self._task_back(deed, task, found) for task in dict.fromkeys((*touched, *deed.docs))
        ]
        if "moved" in steps and not deed.source:
            return Back("moved", self.cells)
        return found if "open" in steps else Back("stays", self.cells)

    def _task_back(self, deed: Deed, task: int, found: Back) -> str:
        cells, after, before = found.cells, deed.after, deed.before
        is_gone, was_gone = self.cells[task, "deleted"], before.get((task, "deleted"), True)
        if deed.source and is_gone and not after[task, "deleted"]:
            return "stays"
        is_made = (task, "deleted") not in before
        if is_made or (deed.source and was_gone and not after[task, "deleted"]):
            since = {n for n, _ in self.docs[task] if (task, n) not in self.uncounted} - {deed.n}
            is_spoken = is_made and bool(since - ({0} if not deed.source else set()))  # since
            if is_gone or is_spoken or self.shape(after, task) != self.shape(self.cells, task):
                return "moved"
            cells[task, "deleted"] = True
        if deed.source or (deed.is_settling and task in deed.docs):
            found.docs.add(task)
        if is_made:
            for one in self.parts(task, "link") if deed.source else ():
                del cells[one]
            return "open"
        outcome = "open" if task in found.docs else "stays"
        is_ended = is_gone and not (after[task, "deleted"] and not was_gone)
        for cell in (one for one in deed.cells if one[0] == task):
            is_item = cell[1] == "item" and cell not in before
            parts = [(*cell[:3], one) for one in ("checked", "away")] if is_item else [cell]
            is_moved = any(self.cells.get(one) != after.get(one) for one in parts)
            if not is_moved and cell[1] == "time" and cell in before and self._another_runs(deed):
                continue
            if is_moved or is_ended:
                if deed.source:
                    continue
                return "moved"
            outcome = "open"
            if is_item:
                cells[task, "item", cell[2], "away"] = True
                cells[task, "item", cell[2], "unmade"] = bool(deed.source)
            elif cell in before:
                cells[cell] = before[cell]
            else:
                cells.pop(cell, None)
        return outcome

    def _another_runs(self, deed: Deed) -> bool:
        own = {one for one in self.running(deed.after) if one not in deed.before}
        return any(one not in own for one in self.running())

    def undo(self, deed: Deed) -> Cells:
        """Take a deed back; the cells as they were before that."""
        back, was = self.back(deed), self.cells
        assert back.state == "open"
        self.cells, deed.is_undone = back.cells, True
        self.uncounted |= {(task, deed.n) for task in back.docs}
        self._told_anew(was, {*back.docs}, "undo" if deed.source else "person")
        return was

    def redo(self, deed: Deed, cells: Cells) -> None:
        """Do it again, right after it was undone."""
        was, self.cells, deed.is_undone = self.cells, cells, False
        docs = {task for task, n in self.uncounted if n == deed.n}
        self.uncounted -= {(task, deed.n) for task in docs}
        self._told_anew(was, docs, "person")

    def _told_anew(self, was: Cells, docs: set[int], by: str) -> None:
        """Note who said what an undo put back; of what a file said, that is as before."""
        for cell, value in self.cells.items():
            if was.get(cell) == value:
                continue
            if cell[1] in SAID and cell[0] not in docs:
                self._spoken(cell[0], cell[1], "person")
            elif cell[1] == "status":
                self._status_set(cell[0])
            elif cell[1] == "deleted" and value:
                self.ended[cell[0]] = by
