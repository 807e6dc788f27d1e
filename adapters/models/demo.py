"""Offline models with tempers, for demo data: they read as `rules` does, and do as they are told.

`demo:quick` is cheap and sloppy: directives that press for dates make it guess some, it gets
arguments wrong, and takes an order in a note for one of its person. `demo:careful` guesses
nothing. The same request always gets the same bytes; tokens are bytes of text by four."""

import re
from datetime import date, timedelta

import msgspec
from msgspec import Struct

from adapters.models.rules.model import RulesModel
from domain.errors import Refused
from domain.log import canonical
from domain.log.keys import sha
from domain.ports import Call, Reply, Request, Usage

QUICK, CAREFUL = "demo:quick", "demo:careful"
NAMES = (QUICK, CAREFUL)
PRESSES_FOR_DATES = "as soon as the texts show"
PRESSES_FOR_ITEMS = "at least three new items"
ORDER = "to the assistant reading this"
FILLERS = {
    "de": ("Ergebnis prüfen", "Alle informieren", "Nächsten Schritt planen"),
    "en": ("Check the result", "Inform everybody", "Plan the next step"),
}
BYTES_A_TOKEN = 4
DAYS_GUESSED = (7, 10, 14, 21)
MINUTES_GUESSED = (45, 90, 150, 240)
STUBBORN = 12  # of a hundred: proposes once more what was rejected
_GERMAN = re.compile(r'"languageCode": (?:\{"value":)?"de"')
_TITLE = re.compile(r'^"title": (?:\{"value":)?"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_AT = re.compile(r'[aA]t":"(?:[A-Z][a-z]{2} )?(\d{4}-\d\d-\d\d)')
_THANKS = re.compile("Danke|Thank you")
_NUMBER = re.compile(r"^- (\S+) \[", re.MULTILINE)  # of a critical note that is open
_SMALL = ("label_", "time_", "timer", "priority_set", "link_", "through a link")

_PHRASES = {
    "update_task_due_date": "due date to {dueDate}",
    "update_task_estimate": "estimate to {minutes} minutes",
    "update_task_priority": "priority to {priority}",
    "set_task_status": "status to {status}",
    "add_multiple_checklist_items": "",
    "update_checklist_items": "Check: ",
}
"""How a verdict on a tool's proposal is worded in a prompt."""

Wish = tuple[str, str]
"""A tool and its arguments, JSON."""


class DemoModel:
    """See the module."""

    def __init__(self, name: str) -> None:
        """Raises Refused: Code ``model_unavailable``."""
        if name not in NAMES:
            because = f"there is no demo model {name!r}"
            raise Refused("model_unavailable", because=because, instead=f"use {QUICK} or {CAREFUL}")
        self.name = name
        self._rules = RulesModel()

    async def reply(self, request: Request) -> Reply:
        """One answer; never raises `ModelFault`."""
        chance = _Chance(self.name, request)
        read = await self._rules.reply(request)
        wishes = [(one.tool, one.arguments) for one in read.calls]
        if not request.forced:
            wishes = self._tempered(request, wishes, chance)
        text = read.text or ("" if wishes else "Nothing to do.")
        usage = _usage(self.name, request, wishes, text)
        return parse(canonical.encode(_KeptReply(self.name, text, tuple(wishes), usage)))

    def _tempered(self, request: Request, wishes: list[Wish], chance: "_Chance") -> list[Wish]:
        shown = {one.name: one.text for one in request.user}
        told = "\n".join(one.text for one in request.system)
        if self.name == QUICK and ORDER in shown.get("task", "").casefold():
            return _obeyed(len(request.exchanges))
        if request.exchanges:
            return wishes
        is_quick = self.name == QUICK
        wishes = _settling(shown, wishes)
        if not (is_quick and chance.under(STUBBORN, "stubborn")):
            wishes = _heeding(shown, wishes)
        if _is_idle(shown, wishes) and not (is_quick and chance.under(10, "idle")):
            return []
        if not is_quick:
            return wishes
        if PRESSES_FOR_DATES in told:
            wishes = [*_guesses(shown, wishes, chance), *wishes]
        if PRESSES_FOR_ITEMS in told:
            wishes = [_fillers(shown), *wishes]
        return [*_slips(chance), *wishes]


class _Chance:
    """What a request makes likely: the same for the same request."""

    def __init__(self, name: str, request: Request) -> None:
        texts = [one.text for one in (*request.system, *request.user)]
        self._seed = canonical.encode([name, len(request.exchanges), *texts])

    def number(self, below: int, what: str) -> int:
        return int(sha(what.encode() + b"/" + self._seed)[:12], 16) % below

    def under(self, percent: int, what: str) -> bool:
        return self.number(100, what) < percent


def _is_idle(shown: dict[str, str], wishes: list[Wish]) -> bool:
    """Whether there is a report, nothing to propose, and only small change since."""
    if not shown.get("report") or any(tool != "update_report" for tool, _ in wishes):
        return False
    lines = [line for line in shown.get("changed", "").splitlines() if line.startswith("- ")]
    return all(any(word in line for word in _SMALL) for line in lines)


def _heeding(shown: dict[str, str], wishes: list[Wish]) -> list[Wish]:
    """The wishes without what the person has rejected already."""
    lines = shown.get("proposals", "").splitlines()
    rejected = [line for line in lines if line.startswith("- rejected: ")]
    heeded = [(tool, _without(tool, arguments, rejected)) for tool, arguments in wishes]
    left = [(tool, arguments) for tool, arguments in heeded if arguments]
    is_bare = all(tool in ("record_observations", "update_report") for tool, _ in left)
    is_bare &= "words" not in shown
    return [one for one in left if one[0] != "record_observations"] if is_bare else left


def _settling(shown: dict[str, str], wishes: list[Wish]) -> list[Wish]:
    """The wishes, of which one settles the oldest grievance if the person says thank you."""
    open_ones = _NUMBER.findall(shown.get("critical", ""))
    if not open_ones or not _THANKS.search(shown.get("words", "")):
        return wishes
    return [
        (tool, canonical.text({**canonical.read(arguments), "resolves": open_ones[:1]}))
        if tool == "record_observations"
        else (tool, arguments)
        for tool, arguments in wishes
    ]


def _without(tool: str, arguments: str, rejected: list[str]) -> str:
    """A wish's arguments without what was rejected; empty: nothing is left of it."""
    values = canonical.read(arguments)
    if not rejected or not isinstance(values, dict) or tool not in _PHRASES:
        return arguments
    if tool == "add_multiple_checklist_items":
        items = [one for one in values["items"] if not _is_in(f'"{one["title"]}"', rejected)]
        return canonical.text({"items": items}) if items else ""
    return "" if _is_in(_PHRASES[tool].format(**values), rejected) else arguments


def _is_in(phrase: str, lines: list[str]) -> bool:
    return any(phrase in line for line in lines)


def _guesses(shown: dict[str, str], wishes: list[Wish], chance: _Chance) -> list[Wish]:
    """A date or an effort that no text names."""
    known = {tool for tool, _ in wishes}
    task, made = shown.get("task", ""), list[Wish]()
    lines = shown.get("proposals", "").splitlines()
    proposed = "\n".join(line for line in lines if line.startswith("- fp="))
    is_free = "update_task_due_date" not in known and "due date" not in proposed
    if is_free and chance.under(45, "due"):
        days = DAYS_GUESSED[chance.number(len(DAYS_GUESSED), "days")]
        made.append(_claimed(task, "update_task_due_date", dueDate=_day(task, days)))
    is_free = "update_task_estimate" not in known and "stimate" not in proposed
    if is_free and chance.under(25, "estimate"):
        minutes = MINUTES_GUESSED[chance.number(len(MINUTES_GUESSED), "minutes")]
        made.append(_claimed(task, "update_task_estimate", minutes=minutes))
    return made


def _claimed(task: str, tool: str, **arguments: object) -> Wish:
    """A wish that no words support: it says that the title does."""
    title = _TITLE.search(task)
    return tool, canonical.text(arguments | {"because": title[1] if title else "It has to be."})


def _day(task: str, days: int) -> str:
    """So many days after the newest time that the task shows."""
    last = max(_AT.findall(task), default="2026-01-01")
    return (date.fromisoformat(last) + timedelta(days=days)).isoformat()


def _fillers(shown: dict[str, str]) -> Wish:
    is_german = _GERMAN.search(shown.get("task", "")) is not None
    items = [{"title": title} for title in FILLERS["de" if is_german else "en"]]
    return _claimed(shown.get("task", ""), "add_multiple_checklist_items", items=items)


def _slips(chance: _Chance) -> list[Wish]:
    """What a sloppy model gets wrong."""
    match chance.number(30, "slip"):
        case 0:
            return [("update_task_estimate", '{"minutes":"two hours"}')]
        case 1:
            return [("send_email", '{"to":"everybody"}')]
        case 2:
            return [("update_task_due_date", '{"dueDate":')]
        case _:
            return []


def _obeyed(turn: int) -> list[Wish]:
    """A note said so."""
    status = {"status": "DONE", "reason": f"the mail says that it is finished ({turn + 1})"}
    sure = canonical.text({"sure": True})
    return [("set_task_status", canonical.text(status)), ("delete_task", sure)]


def _usage(name: str, request: Request, wishes: list[Wish], text: str) -> tuple[int, int, int]:
    sections = sum(len(one.text.encode()) for one in (*request.system, *request.user))
    before = sum(len(one.reply) for one in request.exchanges)
    said = len(text) + sum(len(arguments) for _, arguments in wishes)
    thought = (sections // 40 + 200) if name == CAREFUL else 0
    return (sections + before) // BYTES_A_TOKEN, said // BYTES_A_TOKEN + 12, thought


class _KeptReply(Struct, frozen=True, forbid_unknown_fields=True):
    """A reply as it is kept: tools with their arguments, tokens in, out and thought."""

    model: str
    text: str
    calls: tuple[Wish, ...]
    usage: tuple[int | None, int | None, int | None]


def parse(raw: bytes) -> Reply:
    """The reply that recorded bytes stand for: the inverse of `Reply.raw`. Raises Refused, code
    ``invalid_input``: not the bytes of such a model."""
    try:
        kept = msgspec.json.decode(raw, type=_KeptReply)
    except msgspec.MsgspecError as error:
        because = f"a recorded reply of a demo model: {error}"
        instead = "give the bytes of a reply that was recorded"
        raise Refused("invalid_input", because=because, instead=instead) from None
    calls = tuple(Call(f"c{nth}", *wish) for nth, wish in enumerate(kept.calls, start=1))
    return Reply(raw, kept.text, calls, Usage(*kept.usage))
