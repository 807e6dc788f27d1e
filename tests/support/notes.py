"""Notes as people write them (`tests/data/notes`), and what the offline model makes of each.

A case says what a careful assistant would propose, and no more than the text plainly says. What it
`may` propose is counted neither as right nor as wrong. Where several values would do, a list names
them; between titles that would do stands ``|``. The model is asked as a wake of the newest scaffold
asks it: by its own prompt, with all its tools.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml
from msgspec import Struct

from adapters.home.schedules import local_time
from adapters.models.rules.model import RulesModel
from domain.ports import Request, ToolSpec
from domain.scaffold import FEATURES
from domain.text import tokens
from domain.tools.registry import offered, specs
from domain.wake.prompt import render
from domain.wake.reading import (
    EntrySeen,
    ItemSeen,
    OriginSeen,
    PromptLimits,
    ProposalSeen,
    Reading,
    TaskSeen,
)

NOTES = Path(__file__).parents[1] / "data" / "notes"
TODAY = "2026-11-21"
CREATED = "2026-11-01"
SCAFFOLD = 2
ONE = ("due", "estimate", "status", "priority")
MANY = ("tick", "add", "untick", "retract")
KINDS = (*ONE, *MANY)
TAGS = frozenset(
    "deadline duration waiting unblocking on_hold done to_do urgency list speech negation "
    "nothing".split()
)
SMALL = frozenset(
    "a an the my our your some of to for also still yet as well please on up "
    "der die das den dem des ein eine einen einem einer mein meine meinen unser unsere unseren "
    "noch auch bitte zu".split()
)
"""Words by which two titles of the same item may differ; so may case, marks, order and umlauts."""
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_TENTHS_COUNTED = 3


class Note(Struct, frozen=True):
    at: str
    text: str


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """A note or several, the task they stand at, and what is wanted of them. `is_kept_back`:
    of those that nobody saw who wrote a rule; `is_seen`: of those that were, and are open now."""

    task: dict[str, Any]
    want: dict[str, Any]
    kind: list[str]
    note: str = ""
    notes: list[Note] = []
    may: dict[str, Any] = {}
    today: str = TODAY
    language: str = ""
    is_kept_back: bool = False
    is_seen: bool = False

    @property
    def written(self) -> list[Note]:
        """Its notes, oldest first."""
        return self.notes or [Note(self.today, self.note)]

    @property
    def text(self) -> str:
        return "\n".join(one.text for one in self.written)

    @property
    def is_counted_only(self) -> bool:
        """Of the three in ten by the hash of their text that nobody looks at: they only count."""
        tenth = hashlib.sha256(self.text.encode()).digest()[0] % 10
        return tenth < _TENTHS_COUNTED and not self.is_seen


class Marks(NamedTuple):
    """Of one kind of proposal: `wrong` was proposed and not wanted, `missed` the other way."""

    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


def cases() -> Iterator[Case]:
    """All of them; the name of a file begins with its language; it may end in ``-kept`` or
    ``-seen``."""
    for path in sorted(NOTES.glob("*.yaml")):
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        for told in yaml.load(path.read_bytes(), loader):
            where = {
                "language": path.stem[:2],
                "is_kept_back": path.stem.endswith("-kept"),
                "is_seen": path.stem.endswith("-seen"),
            }
            yield msgspec.convert(told | where, Case)


def proposed(case: Case) -> dict[str, list[str]]:
    """What the offline model proposes in its first turn, by kind."""
    reply = asyncio.run(RulesModel().reply(request(case)))
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for call in reply.calls:
        for kind, value in _told(call.tool, json.loads(call.arguments), case):
            found[kind].append(value)
    return found


def marks(case: Case, found: Mapping[str, list[str]]) -> dict[str, Marks]:
    """What was proposed beside what was wanted, by kind."""
    of_one = {kind: _single(case, kind, found[kind]) for kind in ONE}
    return of_one | {kind: _several(case, kind, found[kind]) for kind in MANY}


def precision_and_recall(told: Iterable[Marks]) -> tuple[float, float, int]:
    """Both as shares, and how many were wanted. Where nothing was proposed, nothing was wrong."""
    right = wrong = missed = 0
    for one in told:
        right, wrong = right + len(one.right), wrong + len(one.wrong)
        missed += len(one.missed)
    return (
        right / (right + wrong) if right + wrong else 1.0,
        right / (right + missed) if right + missed else 1.0,
        right + missed,
    )


def request(case: Case) -> Request:
    """What a wake of this task asks first."""
    reading = Reading(
        _task(case),
        proposals=tuple(ProposalSeen(f"p{n}", line) for n, line in enumerate(_open(case))),
        scaffold=SCAFFOLD,
        local=local_time(_instant(case.today, hour=11), "Europe/Berlin"),
    )
    prompt = render(reading, PromptLimits())
    tools = _tools(has_open=bool(reading.proposals))
    return Request("rules", prompt.system, prompt.user, tools)


@cache
def _tools(*, has_open: bool) -> tuple[ToolSpec, ...]:
    names = offered("task_agent", "manual", SCAFFOLD, has_open=has_open)
    return specs(names, FEATURES[SCAFFOLD])


def same(title: str) -> frozenset[str]:
    """What two titles of the same item have in common.

    >>> same("Still buy the Äpfel!") == same("Buy aepfel")
    True
    """
    words = frozenset(one.translate(_UMLAUTS) for one in tokens(title))
    return words - SMALL or words


def _task(case: Case) -> TaskSeen:
    told = case.task
    return TaskSeen(
        id="task1task1task1",
        title=told["title"],
        description=told.get("description", ""),
        status=_value(told.get("status", "OPEN")),
        priority=_value(told.get("priority", "P2")),
        estimate=int(_value(told.get("estimate", "0"))),
        due=_value(told.get("due", "")),
        language=case.language,
        items=tuple(_item(n, title) for n, title in enumerate(told.get("items", ()))),
        log=tuple(EntrySeen(_instant(one.at), "note", "person", one.text) for one in case.written),
        created_at=_instant(CREATED),
        origins={name: _origin(told[name]) for name in ONE if name in told},
    )


def _value(told: Any) -> str:
    return str(told["value"] if isinstance(told, dict) else told)


def _origin(told: Any) -> OriginSeen:
    if isinstance(told, dict):
        return OriginSeen(told["by"], _instant(told["at"], hour=12))
    return OriginSeen("person", _instant(CREATED))


def _item(n: int, title: str) -> ItemSeen:
    if title.startswith("[x] "):
        return ItemSeen(f"item{n}", title[4:], True, "person", _instant(CREATED))
    return ItemSeen(f"item{n}", title)


def _open(case: Case) -> list[str]:
    lines: list[str] = case.task.get("open", [])
    return lines


def _instant(day: str, *, hour: int = 10) -> str:
    return f"{day}T{hour:02}:00:00.000000Z"


def _told(tool: str, given: dict[str, Any], case: Case) -> Iterator[tuple[str, str]]:
    match tool:
        case "update_task_due_date":
            yield "due", given["dueDate"]
        case "update_task_estimate":
            yield "estimate", str(given["minutes"])
        case "set_task_status":
            yield "status", given["status"]
        case "update_task_priority":
            yield "priority", given["priority"]
        case "add_multiple_checklist_items":
            yield from (("add", one["title"]) for one in given["items"])
        case "update_checklist_items":
            titles = {one.id: one.title for one in _task(case).items}
            for one in given["items"]:
                yield "tick" if one.get("isChecked") else "untick", titles[one["id"]]
        case "retract_suggestions":
            for one in given["proposals"]:
                yield "retract", _kind_of(_open(case)[int(one["fingerprint"][1:])])


def _kind_of(summary: str) -> str:
    """Of an open proposal, by its line: ``Set due date to ...``."""
    return summary.split()[1] if summary.startswith("Set ") else "add"


def _listed(told: Any) -> list[str]:
    return told if isinstance(told, list) else [told]


def _single(case: Case, kind: str, found: list[str]) -> Marks:
    wanted = _listed(case.want[kind]) if kind in case.want else []
    allowed = _listed(case.may[kind]) if kind in case.may else []
    right = tuple(one for one in found if one in wanted)
    wrong = tuple(one for one in found if one not in wanted and one not in allowed)
    return Marks(right, wrong, () if right or not wanted else ("|".join(wanted),))


def _several(case: Case, kind: str, found: list[str]) -> Marks:
    wanted = [_forms(title) for title in case.want.get(kind, ())]
    allowed = {form for title in case.may.get(kind, ()) for form in _forms(title)}
    seen = {same(title): title for title in found}
    known = {form for forms in wanted for form in forms}
    return Marks(
        tuple(title for key, title in seen.items() if key in known),
        tuple(title for key, title in seen.items() if key not in known | allowed),
        tuple(next(iter(forms.values())) for forms in wanted if forms.keys().isdisjoint(seen)),
    )


def _forms(title: str) -> dict[frozenset[str], str]:
    """What would do for a title: ``Check the roof | Check the roof before we sign``."""
    return {same(form): form for form in title.split(" | ")}
