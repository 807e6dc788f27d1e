"""A model that misbehaves: what it says is drawn from dice, what it names from what it is shown."""

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from adapters.simulation.plan import Dice
from domain.log import canonical
from domain.ports import Call, ModelFault, Reply, Request, Usage

_ID = re.compile(r'(?:"id": ?"|^- |the id )([a-z2-7]{8,32})(?=["\s:.])', re.MULTILINE)
_TODAY = re.compile(r"## Now\n\n\w+ (\d{4}-\d\d-\d\d)")
_RESULTS = "## Results"
_FINGERPRINT = re.compile(r"fp=([a-z2-7]{8,32})")
_NUMBER = re.compile(r"^- (\d+-\d+) \[", re.MULTILINE)  # of a critical observation that is open
CALLS_MAX = 70  # one more turn's worth than are answered one by one

WORDS = "call buy fix paint ask write send check measure sweep order return Kim Ute paper".split()
MOODS: dict[str, int] = {
    "nothing": 10, "report": 14, "propose": 14, "items": 8, "check": 6, "labels": 4, "language": 4,
    "observe": 6, "retract": 4, "status": 5, "wrong_tool": 3, "bad_json": 3, "bad_arguments": 4,
    "loop": 2, "flood": 1, "strange": 2, "long": 2, "silence": 1, "provider": 4, "broken": 2,
    "look": 6, "follow_up": 6, "move": 6, "relate": 4, "time": 6, "loops": 4,
}  # fmt: skip
RELATIONS = "relates_to blocks is_blocked_by follows_up_on has_follow_up fixes is_near".split()


class FuzzModel:
    """Answers as its dice say. `dice` is set anew for each wake."""

    name = "unruly"

    def __init__(self) -> None:
        self.dice = Dice("")
        self._calls: list[tuple[str, str]] = []
        self._last: list[tuple[str, str]] = []

    async def reply(self, request: Request) -> Reply:
        """One answer, or none. Raises `ModelFault`, or `TimeoutError` where it is silent."""
        self._calls = []
        told = ""
        for _ in range(1 + self.dice.number(3)):
            told = self._do(self.dice.weighed(MOODS), request)
        self._last = self._calls
        calls = tuple(Call(f"c{nth}", *one) for nth, one in enumerate(self._calls[:CALLS_MAX], 1))
        usage = Usage(self.dice.number(5000), self.dice.number(500))
        said = {"text": told, "calls": [[*one] for one in self._calls[:CALLS_MAX]]}
        return Reply(canonical.encode(said), told, calls, usage)

    def calls(self, request: Request, moods: Iterable[str]) -> list[tuple[str, str]]:
        """Tools and arguments that some moods call; of moods that always answer."""
        self._calls = []
        for mood in moods:
            self._do(mood, request)
        return self._calls

    def _do(self, mood: str, request: Request) -> str:
        match mood:
            case "silence":
                raise TimeoutError
            case "provider":
                seconds = self.dice.pick([None, 30, 3600])
                raise ModelFault("overloaded", "503", of_provider=True, retry_seconds=seconds)
            case "broken":
                raise ModelFault("blocked", "it was blocked", of_provider=False)
            case _:
                deed: Callable[[str], str | None] = getattr(self, f"_{mood}")
                return deed(_shown_text(request)) or ""

    def _call(self, tool: str, **arguments: object) -> None:
        self._calls.append((tool, canonical.text(arguments)))

    def _words(self, count: int) -> str:
        return " ".join(self.dice.pick(WORDS) for _ in range(count))

    def _an_id(self, shown: str, after: str = "", until: str = "") -> str:
        """Any id that is shown; mostly one of a part, if one is named."""
        part = shown.partition(after)[2].partition(until)[0] if after else ""
        near: list[str] = _ID.findall(part) if self.dice.number(4) else []
        found: list[str] = near or _ID.findall(shown)
        return self.dice.pick(found or ["nothing"])

    def _an_item(self, shown: str) -> str:
        return self._an_id(shown, '"checklist": [', "\n## ")

    def _another(self, shown: str) -> str:
        """Mostly a task that is linked, was found, or is to be made."""
        return self._an_id(shown, _RESULTS if self.dice.number(2) else "## Linked tasks", "\n## ")

    def _nothing(self, shown: str) -> str:
        return "Nothing to do."

    def _report(self, shown: str) -> None:
        says = self._words(4)
        self._call("update_report", content=f"# {says}", tldr=says, oneLiner=says)

    def _propose(self, shown: str) -> str:
        match self.dice.number(4):
            case 0:
                self._quoting("update_task_estimate", minutes=1 + self.dice.number(600))
            case 1:
                day = 1 + self.dice.number(28)
                self._quoting("update_task_due_date", dueDate=f"2027-02-{day:02d}")
            case 2:
                self._quoting("update_task_priority", priority=f"P{self.dice.number(4)}")
            case _:
                self._quoting("set_task_title", title=self._words(2))
        return "I would change something."

    def _items(self, shown: str) -> None:
        titles = [{"title": self._words(2)} for _ in range(1 + self.dice.number(4))]
        self._quoting("add_multiple_checklist_items", items=titles)

    def _check(self, shown: str) -> None:
        change = {"id": self._an_id(shown), "isChecked": bool(self.dice.number(2))}
        if self.dice.number(2):
            change["reason"] = "the person wrote that it is done by now"
        self._quoting("update_checklist_items", items=[change])

    def _labels(self, shown: str) -> None:
        label = {"id": self._an_id(shown), "confidence": self.dice.pick(["high", "low"])}
        self._quoting("assign_task_labels", labels=[label])

    def _language(self, shown: str) -> None:
        language = self.dice.pick(["de", "en", "fr", "xx"])
        self._call("set_task_language", languageCode=language, confidence="high")

    def _observe(self, shown: str) -> None:
        priority = self.dice.pick(["routine", "notable", "critical"])
        seen = {"text": self._words(5), "priority": priority, "category": "operational"}
        more = [self._words(2) for _ in range(self.dice.pick([1, 18]))]
        known = _NUMBER.findall(shown)
        settled = {"resolves": [self.dice.pick(known)]} if known and self.dice.number(3) else {}
        self._call("record_observations", observations=[seen, *more], **settled)

    def _retract(self, shown: str) -> None:
        known = _FINGERPRINT.findall(shown) or ["none"]
        gone = {"fingerprint": self.dice.pick(known), "reason": "no need"}
        self._call("retract_suggestions", proposals=[gone])

    def _status(self, shown: str) -> None:
        status = self.dice.pick(["IN PROGRESS", "BLOCKED", "DONE", "GROOMED"])
        self._quoting("set_task_status", status=status, reason=self._words(2))

    def _look(self, shown: str) -> None:
        """Reads, sometimes more than a wake may make."""
        for _ in range(1 + self.dice.number(4)):
            self._call("find_tasks", words=self._words(2))
            self._call("read_task", taskId=self._an_id(shown))
            self._call("recall", words=self._words(1))

    def _follow_up(self, shown: str) -> str:
        """A new task, with items, tasks or nothing at all; often something goes there at once."""
        carried = [{"id": self._an_item(shown)} for _ in range(self.dice.number(3))]
        more = self.dice.pick([{}, {}, {"dueDate": "2027-02-30"}, {"relation": "blocks"}])
        self._quoting("create_follow_up_task", title=self._words(2), carryOver=carried, **more)
        return "The rest is another matter."

    def _move(self, shown: str) -> None:
        moved = [{"id": self._an_item(shown)} for _ in range(1 + self.dice.number(3))]
        self._quoting("migrate_checklist_items", items=moved, targetTaskId=self._another(shown))

    def _relate(self, shown: str) -> None:
        relation = self.dice.pick(RELATIONS)
        self._quoting("link_task", relation=relation, targetTaskId=self._another(shown))

    def _time(self, shown: str) -> None:
        """Time that was spent, or will be; also times that are none."""
        start, end = self._wall(shown), self._wall(shown)
        match self.dice.number(4):
            case 0:
                entry = self._an_id(shown, "## Time", "\n## ")
                why = self.dice.pick(["", "the person wrote when it really was"])
                self._quoting("edit_time_entry", entryId=entry, startedAt=start, reason=why)
            case 1:
                self._quoting("note_timer", summary=self._words(3))
            case _:
                self._quoting("log_time", startedAt=start, endedAt=end, summary=self._words(2))

    def _wall(self, shown: str) -> str:
        """A local time of the last days, an hour to come, or none at all."""
        today = date.fromisoformat(_TODAY.findall(shown)[0])
        day, hour = today - timedelta(days=self.dice.number(4)), self.dice.number(24)
        strange = self.dice.pick(["2027-03-28T02:30", "2026-10-25T02:30", "at noon", ""])
        return strange if self.dice.number(8) == 0 else f"{day.isoformat()}T{hour:02d}:00"

    def _loops(self, shown: str) -> None:
        added = [self._words(2) for _ in range(self.dice.number(4))]
        self._call("update_loops", add=added, close=[self.dice.pick(WORDS), *added[:1]])

    def _quoting(self, tool: str, **arguments: object) -> None:
        """A call with a quote of what was shown, or of nothing that was."""
        quote = self.dice.pick([self.dice.pick(WORDS), self._words(3), ""])
        self._call(tool, **arguments, because=quote)

    def _wrong_tool(self, shown: str) -> None:
        self._call(self.dice.pick(["delete_task", "", "set_task_estimate"]), minutes=5)

    def _bad_json(self, shown: str) -> None:
        bad = self.dice.pick(["{", '{"a":1,"a":2}', "[" * 80, '{"minutes":NaN}', "nothing"])
        self._calls.append(("update_task_estimate", bad))

    def _bad_arguments(self, shown: str) -> None:
        wrong = self.dice.pick([{"minutes": "many"}, {"minutes": -1}, {"hours": 2}, {}])
        self._calls.append(("update_task_estimate", canonical.text(wrong)))

    def _loop(self, shown: str) -> None:
        """The same calls once more."""
        self._calls += self._last or [("update_task_estimate", '{"minutes":45}')]

    def _flood(self, shown: str) -> None:
        for _ in range(CALLS_MAX):
            self._items(shown)

    def _strange(self, shown: str) -> str:
        self._quoting("set_task_title", title=self.dice.pick(["\u202e txet", "é" * 90, "  a  "]))
        return "lone \ud800 surrogate"

    def _long(self, shown: str) -> str:
        self._call("update_report", content=self._words(400), tldr="Long.", oneLiner="Long")
        return self._words(300)


def _shown_text(request: Request) -> str:
    """What the ids that it names are taken from: its sections, and what its calls came to."""
    told = [*(one.text for one in request.user), _RESULTS]
    told += [one.output for turn in request.exchanges for one in turn.results]
    return "\n".join(told)
