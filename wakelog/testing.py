"""For suites of your own over agents in wakelog: scripted models, homes in memory, laws.

Say `pip install 'wakelog[testing]'`, and in a `conftest.py` ``pytest_plugins =
["wakelog.testing"]``, which brings the fixture `wakelog_home`.

>>> model = ScriptedModel([calls(("update_task_estimate", {"minutes": 45}), REPORT)])
>>> with memory_home(model) as home:
...     _ = home.add_task("Fix the tap")
...     _ = home.create_agent("Fix the tap")
...     _ = home.wake("Fix the tap")
...     [item.summary for one in home.inbox() for item in one.items]
...     assert_proves(home)
...     laws(home)
['Set estimate to 45 minutes']
[]

It may be imported before pytest knows of it: PYTEST_DONT_REWRITE.
"""

import json
import os
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from inspect import signature
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from adapters import wiring
from adapters.documents.timetravel import prompt_text
from adapters.home.clock import NOW_VARIABLE, ManualClock
from adapters.home.home_location import MemoryLocation
from adapters.models.tape import TapeModel
from adapters.simulation.fault_injection import Crashed
from adapters.text.proof import failure_text
from adapters.usecases.proving import broken_laws
from domain.errors import Refused, invalid
from domain.journal import task as t
from domain.journal.edits import ITEM_TITLE_MAX, REASON_MAX, SUMMARY_MAX, TITLE_MAX
from domain.ports import Call, Model, ModelFault, Reply, Request
from domain.scaffold import FEATURES, SCAFFOLD
from domain.text import squeeze
from domain.tools import registry
from domain.tools.decoding import asks
from wakelog import Home

NOW = "2027-01-01T09:00:00Z"
SAID = "so it was said"
Called = tuple[str, str | Mapping[str, Any]]
"""A tool, and its arguments by name, or as a text that may be no JSON."""

# --------------------------------------------------------------------------------- scripted models


def calls(*given: Called, text: str = "") -> Reply:
    """A model's answer: calls of tools, numbered c1, c2, ..., and words. What proposes and names no
    quote (``because``) is given one that stands nowhere, which no rule minds."""
    made = (Call(f"c{nth}", tool, quoted(tool, how)) for nth, (tool, how) in enumerate(given, 1))
    return Reply(b"", text, tuple(made))


def quoted(tool: str, arguments: str | Mapping[str, Any]) -> str:
    """The arguments of a call as a model writes them, with a quote if its tool wants one."""
    told = arguments if isinstance(arguments, str) else json.dumps(arguments)
    known = registry.TOOLS.get(registry.ALIASES.get(tool, tool))
    if known is None or not asks(known, FEATURES[SCAFFOLD]) or '"because"' in told:
        return told
    try:
        given = json.loads(told)
    except ValueError:
        return told
    if not isinstance(given, dict):
        return told
    return f'{told.rstrip().removesuffix("}")}{", " if given else ""}"because": "{SAID}"}}'


REPORT = "update_report", '{"content":"All.","oneLiner":"One.","tldr":"Short."}'
"""The call that every wake owes."""
NOTHING = Reply(b"", "Nothing to do.")
OVERLOADED = ModelFault("overloaded", "503", of_provider=True)
"""A fault of the provider: the wake is tried again later."""
BLOCKED = ModelFault("blocked", "it was blocked", of_provider=False)
"""A fault that ends the wake."""


class ScriptedModel(TapeModel):
    """Answers with one of its replies after the other, and with `then` where they end; `requests`
    is what it was asked. A fault is raised."""

    def __init__(
        self, replies: Sequence[Reply | ModelFault] = (), *, then: Reply | ModelFault = NOTHING
    ) -> None:
        super().__init__("tape:scripted", replies)
        self._then = then

    def then(self, *replies: Reply | ModelFault) -> None:
        """Say these next, instead of what was left."""
        del self._replies[len(self.requests) :]
        self._replies += TapeModel(self.name, replies)._replies

    async def reply(self, request: Request) -> Reply:
        """As of a tape, without an end."""
        if len(self.requests) == len(self._replies):
            self.then(self._then)
        return await super().reply(request)


def prompt_of(model: ScriptedModel, nth: int = 1) -> str:
    """What it read in its `nth` request, for a snapshot: all sections, and the turns before."""
    return prompt_text(model.requests[nth - 1])


# ------------------------------------------------------------------------------------------- homes


class _MortalClock(ManualClock):
    fuse = 0  # readings that are left to who dies; 0: nobody

    def now(self) -> str:
        self.fuse -= 1
        if self.fuse == 0:
            raise Crashed
        return super().now()


def memory_home(model: str | Model = "rules", *, now: str = NOW, settings: str = "") -> Home:
    """An empty home in memory, whose clock stands at `now`, moves a millisecond at each reading,
    and by `advance`. `settings`: TOML, as of a home's file. Nothing of the environment counts."""
    environ = {NOW_VARIABLE: now}
    opened = wiring.open_home(MemoryLocation(settings), environ, model=model)
    opened.services.clock = _MortalClock(opened.services.clock.now())
    return Home(opened, model, environ)


@pytest.fixture
def wakelog_model() -> ScriptedModel:
    """The model of `wakelog_home`: it has nothing to say until ``then`` gives it something."""
    return ScriptedModel()


@pytest.fixture
def wakelog_home(wakelog_model: ScriptedModel) -> Iterator[Home]:
    """An empty home in memory."""
    with memory_home(wakelog_model) as home:
        yield home


@contextmanager
def dying(home: Home, after: int) -> Iterator[None]:
    """Let the process die in this block, so to say, as it reads the clock for the `after`-th time,
    which it does before whatever it writes: between an intent and its effect, for example. The
    home, of `memory_home`, goes on with what was written until then; `recover` mends it."""
    clock = home._open().services.clock
    assert isinstance(clock, _MortalClock), "only a home of memory_home dies"
    clock.fuse = after
    try:
        yield
    except Crashed:
        pass
    finally:
        clock.fuse = 0


def assert_proves(home: Home) -> None:
    """Run both logs again and compare every byte; fails with what `prove` tells."""
    proved = home.prove()
    if not proved.ok:
        raise AssertionError(failure_text(proved))


def laws(home: Home) -> list[str]:
    """What in a home of one machine is against the laws of wakelog, by its rows alone; of one in
    which nothing is under way, see `recover`."""
    return broken_laws(home._open().services)


def keep_history(home: Home, path: str | os.PathLike[str]) -> None:
    """Write all of it as a file that ``pytest --wakelog-histories`` proves with any later code."""
    home.export_history(path, is_all=True)


# -------------------------------------------------------------------------------------- strategies


class Step(NamedTuple):
    """A deed: a method of `Home` with its arguments. A whole number as `task`, `tasks`, `other`,
    `agent` or `ref` stands for one of those that are there by then, counted round."""

    name: str
    arguments: Mapping[str, Any]


Drawn = Mapping[str, st.SearchStrategy[Any]]
Given = st.SearchStrategy[Mapping[str, Any]]
_NTH = st.integers(0, 7)
_WORDS = ["buy the seal", "Straße", "買い物", "due by 2027-02-12", "it takes 45 minutes", "urgent"]


def texts(length_max: int = TITLE_MAX) -> st.SearchStrategy[str]:
    """What a person may write in so many characters; not nothing."""
    odd = st.text(st.characters(codec="utf-8"), min_size=1, max_size=length_max)
    return st.sampled_from(_WORDS) | odd.filter(squeeze)


_DAYS = st.dates(date(2026, 12, 1), date(2028, 2, 29))
_MINUTES = st.integers(1, t.MINUTES_MAX)
_FIELDS: Drawn = {
    "description": texts(2_000), "priority": st.sampled_from(t.PRIORITIES), "estimate": _MINUTES,
    "due": _DAYS, "wait_until": _DAYS, "labels": st.lists(texts(20), max_size=2),
}  # fmt: skip
_STATUS: Drawn = {"status": st.sampled_from(t.STATUSES), "reason": texts(REASON_MAX)}
_ITEMS = st.lists(st.sampled_from("123"), min_size=1, max_size=2)


def _of(more: Drawn | None = None, /, **given: st.SearchStrategy[Any]) -> Given:
    return st.fixed_dictionaries(given, optional=dict(more or {}))


def tasks() -> Given:
    """Arguments of `add_task`."""
    items = st.lists(texts(ITEM_TITLE_MAX), max_size=3)
    return _of({**_FIELDS, "items": items}, title=texts())


_ON: Drawn = {"task": _NTH}
_SEEN: Drawn = {"agent": _NTH}
STEPS: Mapping[str, Given] = {
    "add_task": tasks(),
    "edit_task": _of(_FIELDS, **_ON, title=texts()) | _of(**_ON, **_STATUS),
    "note": _of(**_ON, text=texts(2_000)),
    "remove_note": _of(**_ON, note=st.just("1")),
    "done": _of(tasks=st.lists(_NTH, min_size=1, max_size=2)),
    "delete_task": _of(**_ON),
    "restore_task": _of(**_ON),
    "conclude_task": _of(**_ON, title=texts()),
    "add_items": _of(**_ON, titles=st.lists(texts(ITEM_TITLE_MAX), min_size=1, max_size=3)),
    **{name: _of(**_ON, items=_ITEMS) for name in ("check", "uncheck", "archive_items")},
    "rename_item": _of(**_ON, item=st.just("1"), title=texts(ITEM_TITLE_MAX)),
    "link": _of(**_ON, relation=st.sampled_from(["blocks", "relates-to"]), other=_NTH),
    "start_timer": _of(**_ON),
    "stop_timer": _of(summary=texts(SUMMARY_MAX)),
    "create_agent": _of({"mode": st.sampled_from(["hybrid", "autonomous"])}, **_ON),
    "set_agent": _of(**_SEEN, goal=texts(), turns=st.integers(1, 4)),
    **{f"{deed}_agent": _of(**_SEEN) for deed in ("pause", "resume", "destroy")},
    "wake": _of(**_ON),
    "cancel_wake": _of(**_ON),
    "ask": _of(**_ON, words=texts(500)),
    "confirm": _of({"is_anyway": st.booleans(), "concludes": st.booleans()}, ref=_NTH),
    "reject": _of({"reason": texts(REASON_MAX)}, ref=_NTH),
    "defer": _of({"until": st.dates(date(2027, 2, 1), date(2028, 2, 29))}, ref=_NTH),
    "undo": _of(is_agreed=st.just(value=True)),
    "recover": _of(),
    "advance": _of(seconds=st.integers(1, 86_400)),
}  # fmt: skip
"""What `steps` draws from: the deeds of a person, by their names."""


def steps(*names: str) -> st.SearchStrategy[Step]:
    """Deeds of these names, or of all in `STEPS`."""
    drawn = (st.builds(Step, st.just(one), STEPS[one]) for one in names or STEPS)
    return st.one_of(*drawn)


def done(home: Home, step: Step) -> Any:
    """Do a step; what its method gives. Raises Refused: nothing like that is there, or the rules
    forbid it."""
    given = {name: _there(home, step.name, name, one) for name, one in step.arguments.items()}
    return called(home, step.name, given)


def called(home: Home, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call a method with arguments by name, also where it takes some as a row."""
    method, given, first = getattr(home, name), dict(arguments), list[Any]()
    known = signature(method).parameters.values()
    if row := next((one.name for one in known if one.kind is one.VAR_POSITIONAL), ""):
        before = (one.name for one in known if one.kind is one.POSITIONAL_OR_KEYWORD)
        first = [given.pop(one) for one in before if one in given] + [*given.pop(row, ())]
    return method(*first, **given)


def _there(home: Home, step: str, name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_there(home, step, name, one) for one in value]
    if name not in ("task", "tasks", "other", "agent", "ref") or not isinstance(value, int):
        return value
    if name == "ref":
        found = [item.ref for one in home.inbox() for item in one.items]
    else:
        every = home.tasks(scope="deleted") if step == "restore_task" else home.tasks()
        found = [one.id for one in every]
    if not found:
        raise invalid(f"there is nothing that {step} could name", "make it first")
    return found[value % len(found)]


_RIGHT: Sequence[st.SearchStrategy[Called]] = [
    st.just(REPORT),
    st.builds(lambda one: ("update_task_estimate", {"minutes": one}), _MINUTES),
    st.builds(lambda one: ("update_task_due_date", {"dueDate": one.isoformat()}), _DAYS),
    st.builds(lambda one: ("update_task_priority", {"priority": one}), _FIELDS["priority"]),
    st.builds(lambda one: ("set_task_title", {"title": one}), texts()),
    st.builds(lambda one: ("add_multiple_checklist_items", {"items": [{"title": one}]}), texts()),
    st.builds(lambda one: ("record_observations", {"observations": [one]}), texts(500)),
    st.just(("set_task_language", {"languageCode": "de", "confidence": "high"})),
    st.just(("set_task_status", {"status": "IN PROGRESS", "reason": "it was begun"})),
]
_HOSTILE: Sequence[Called] = [
    ("delete_task", {}),
    ("update_task_estimate", "{"),
    ("update_task_estimate", '{"minutes":45,"minutes":46}'),
    ("update_task_estimate", {"minutes": "many"}),
    ("update_task_due_date", {"dueDate": "2027-02-30"}),
    ("set_task_status", {"status": "DONE", "reason": "I say so"}),
    ("", "[" * 80),
]


def replies() -> st.SearchStrategy[Reply]:
    """What models say: right, wrong and hostile calls, the same ones twice, and words."""
    made = st.lists(st.one_of(*_RIGHT, *map(st.just, _HOSTILE)), max_size=4)
    return st.builds(
        lambda given, again, text: calls(*given, *given[:again], text=text),
        made, st.integers(0, 2), texts(500) | st.just(""),
    )  # fmt: skip


def faults() -> st.SearchStrategy[ModelFault]:
    """What they say instead."""
    return st.sampled_from([OVERLOADED, BLOCKED])


@st.composite
def homes(draw: st.DrawFn, deeds: int = 20) -> Home:
    """Homes in memory after so many deeds at most, done or refused, with a model of any replies."""
    home = memory_home(ScriptedModel(draw(st.lists(replies() | faults(), max_size=6))))
    weakref.finalize(home, home._open().close)
    for step in draw(st.lists(steps(), max_size=deeds)):
        try:
            done(home, step)
        except Refused:
            continue
    return home


class HomeMachine(RuleBasedStateMachine):
    """A home in memory under all that may happen to it: a person, an unruly model, time, crashes.
    Give it rules and invariants of your own; at its end both logs prove, and no law is broken.

    `home`, `model`: what it plays with; `refusals`: how often each code was met; `settings_text`:
    TOML, as of a home's file.
    """

    settings_text = ""
    _is_proposed = False  # as the last wake left it: to look at each step takes a millisecond

    def __init__(self) -> None:
        super().__init__()
        self.model = ScriptedModel()
        self.home = memory_home(self.model, settings=self.settings_text)
        self.refusals = Counter[str]()

    def does(self, step: Step) -> Any:
        """Do a step: what it gives; None: it was refused."""
        try:
            return done(self.home, step)
        except Refused as refused:
            self.refusals[refused.code] += 1
            return None

    @initialize(titles=st.lists(texts(), min_size=1, max_size=3))
    def begin(self, titles: list[str]) -> None:
        for title in titles:
            self.home.create_agent(self.home.add_task(title).id)

    @rule(step=steps())
    def person(self, step: Step) -> None:
        self.does(step)

    @rule(step=steps("wake", "ask"), said=st.lists(replies() | faults(), max_size=3))
    def agent(self, step: Step, said: list[Reply | ModelFault]) -> None:
        self.model.then(*said)
        self.does(step)
        self._is_proposed = bool(self.home.inbox())

    @precondition(lambda self: self._is_proposed)
    @rule(step=steps("confirm", "reject", "defer"))
    def verdict(self, step: Step) -> None:
        self.does(step)

    @rule(step=steps("wake", "confirm", "undo", "done"), after=st.integers(1, 9))
    def crash(self, step: Step, after: int) -> None:
        with dying(self.home, after):
            self.does(step)
        self.home.recover()

    def teardown(self) -> None:
        self.home.recover()
        assert_proves(self.home)
        if broken := laws(self.home):
            raise AssertionError("\n".join(broken))
        self.home.close()
