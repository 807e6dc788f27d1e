"""Agents without a task, and those that they ask, are told nothing of categories that they may not
read: by no prompt, snapshot, answer or fact, over two hops, and after both the categories of tasks
and those of agents changed (kinds.md, law 3 over `day`, `week` and `requests`).

Every text holds a marker of its own. What a model was shown it repeats in all that it may write, as
`e` for `m`, so that what came by way of an agent is told from what was read where it stands.
"""

import asyncio
import re
from collections.abc import Callable, Iterator

import pytest
from msgspec import json
from msgspec.structs import replace

from adapters.proof.prove import prove_logs
from adapters.runtime import review
from adapters.runtime.effect_executor import run_wake
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import Captured, capture
from domain.agent.agent import Agent
from domain.agent.commands import ConfigureAgent, CreateAgent
from domain.agent.deciders import CATEGORY_AGENT, DAY_AGENT, AgentSettings
from domain.journal import commands as do
from domain.journal import day as d
from domain.journal.commands import JournalCommand
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.wire import SHARED, Words, payload
from domain.ports import Reply, Request
from domain.tools.snapshot import Snapshot
from domain.wake.wake import WAKE, Wake
from tests.support.lone import HEALTH, HOME, TODAY, WORK, lone_agent, with_tasks
from tests.support.marked import MARKS, Echo, text_of
from tests.support.scripted_wakes import call
from tests.support.services import queued_key
from wakelog.testing import calls as reply

TITLES = (
    "tap @Home", "roof @Home", "leaves @Home", "office @Work", "desk @Work", "tooth @Health",
    "comes @Health",
)  # fmt: skip
LINKS = (("tap", "tooth"), ("roof", "tap"), ("office", "tooth"), ("desk", "office"))
"""Whose agents read of whom: first those that may read Health, too, then those that may not."""
ORDER = ("tooth", "comes", "tap", "office", "roof", "desk", "leaves")
YESTERDAY = "2027-01-03"
SPENT = f"{YESTERDAY}T09:00:00.000000Z", f"{YESTERDAY}T10:00:00.000000Z"
LAST = 20  # marks that a title or a loop holds
PAYLOAD = re.compile(r"\b[a-z2-7]{32,64}\b")


class Gossip(Echo):
    """A model that puts what it was shown into whatever an agent of any kind may write.
    `meanwhile` is done before its next answer, once."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] = lambda: None

    async def reply(self, request: Request) -> Reply:
        deed, self.meanwhile = self.meanwhile, lambda: None
        deed()
        made = await super().reply(request)
        found = sorted({one.replace("m", "e") for one in MARKS.findall(text_of(request))})
        if not made.calls:
            return Reply(raw=b"", text=f"I saw {' '.join(found)}.")
        if not request.exchanges:
            return made
        told = " ".join(found[-LAST:])
        return reply(
            *((one.tool, one.arguments) for one in made.calls),
            call("create_task", title=f"see to {told}", description=" ".join(found)),
            call("update_loops", add=[f"ask about {told}"]),
        )


class Kinds:
    """A home in memory whose every text is marked; an agent of each task, one that looks over Home,
    and one that plans days and may read Home and Work."""

    def __init__(self) -> None:
        self.at: Services
        self.at, self.tasks = with_tasks(*TITLES)
        self.model = Gossip()
        self.at.model_for = lambda _: self.model
        self.owners: dict[str, str] = {}  # of each marker: a task, or a category
        self.stood = {one: [self.category_of(one)] for one in self.tasks.values()}
        self.agents: dict[str, str] = {}
        self.looked_at: set[str] = set()  # the payloads
        for category in (HOME, WORK, HEALTH):
            self._describe(category)
        for task in self.tasks.values():
            self._write(task)
        self._plan()
        for source, target in LINKS:
            self._do(do.LinkTask(self.tasks[source], "relates_to", self.tasks[target]))
        for title, task in self.tasks.items():
            born, category = self.at.journal.tail().n, self.category_of(task)
            made = CreateAgent(task, title, category, born, "hybrid", is_enabled=True)
            self._set_up(title, self.at.append_agent(made).result.ids[0], task)
        of_home = CATEGORY_AGENT, f"category:{HOME}", (HOME,)
        self._set_up("home", lone_agent(self.at, *of_home, "Home week"), HOME)
        self._set_up("day", lone_agent(self.at, DAY_AGENT, "home", (HOME, WORK), "Day"), HOME)

    # ------------------------------------------------------------------------------------ deeds

    def wakes(self, name: str, *asked: str, words: str = "") -> Wake:
        """A wake that asks the agents of tasks, looks up what it can, and repeats all that it was
        shown, in which nothing may be found that its agent may not read."""
        self._want(name, words)
        self.model.reads = [
            *(call("ask_agent", taskId=self.tasks[one], about="stale") for one in asked),
            call("find_tasks", words="see"),
            *(call("read_task", taskId=self.tasks[one]) for one in ("tap", "desk", "comes")),
            call("recall", words="nothing"),
            call("recall", words="rejected"),
        ]
        wake = self.runs(name)
        assert list(self.leaks(wake)) == []
        return wake

    def runs(self, name: str) -> Wake:
        """What is queued for an agent, to its end."""
        run_key = queued_key(self.at, self.agents[name])
        asyncio.run(run_wake(self.at, self.agents[name], run_key, is_now=True))
        wake = self.at.wake(run_key)
        assert wake.outcome == "completed", (name, wake)
        return wake

    def tells_around(self) -> None:
        """Each agent of a task wakes, those first that others read of."""
        for one in ORDER:
            if self.category_of(self.tasks[one]) in self.agent(one).categories:
                self.wakes(one)

    def allows(self, name: str, *categories: str) -> None:
        settings = AgentSettings(categories=categories)
        self.at.append_agent(ConfigureAgent(self.agents[name], settings))

    def moves(self, title: str, category: str) -> None:
        self._do(do.EditTask(self.tasks[title], category=category))
        self.stood[self.tasks[title]].append(category)

    # --------------------------------------------------------------------------------- what is told

    def leaks(self, wake: Wake) -> Iterator[str]:
        """The marks in whatever was told to a wake, or written by it, that its agent may not know;
        where each stands."""
        for place, text in self.texts(wake):
            for mark in sorted(set(MARKS.findall(text))):
                if not self._may_know(mark, wake.begun.categories):
                    yield f"{mark} in {place}"

    def texts(self, wake: Wake) -> Iterator[tuple[str, str]]:
        """Each fact of the appends that a wake wrote in, what queued it, and each payload that
        these name."""
        run_key, queue = wake.run_key, f"alert:{wake.begun.agent}@r1"
        kept = dict(self.at.agents.recorder.kept_payloads())
        found: list[tuple[str, str]] = []
        for append in self.at.agents.appends():
            is_its = any(row.stream == f"wake:{run_key}@r1" for row in append)
            told = ((row.stream, canonical.encode(row.fact).decode()) for row in append)
            found += [one for one in told if is_its or (one[0] == queue and run_key in one[1])]
        named = kept.keys() & {one for _, fact in found for one in PAYLOAD.findall(fact)}
        self.looked_at |= named
        yield from ((stream.partition(":")[0], fact) for stream, fact in found)
        yield from (("a payload", kept[one].decode()) for one in named)

    def section(self, wake: Wake, name: str) -> set[str]:
        """The marks in a section that a wake was shown."""
        refs = (one for one in (*wake.begun.system, *wake.begun.user) if one.name == name)
        with self.at.agents.reading() as world:
            texts = [world.payload(one.payload).decode() for one in refs]
        assert texts, f"{name} was not shown"
        return set(MARKS.findall("".join(texts)))

    def one_liner(self, wake: Wake, name: str, title: str) -> set[str]:
        """The marks in what the agent of a task says of it, as a section tells that."""
        ref = next(one for one in wake.begun.user if one.name == name)
        with self.at.agents.reading() as world:
            told = world.payload(ref.payload).decode()
        tasks = json.decode("{" + told.partition("{")[2])["tasks"]
        (line,) = (one for one in tasks if self.of(title) & set(MARKS.findall(one["title"])))
        return set(MARKS.findall(line.get("oneLiner", "")))

    def answers(self, wake: Wake, tool: str) -> set[str]:
        """The marks in what the calls of a tool were answered with."""
        with self.at.agents.reading() as world:
            told = [world.text(one.message) for one in wake.results if one.tool == tool]
        assert told, f"{tool} was not called"
        return set(MARKS.findall("".join(told)))

    def of(self, owner: str, *, repeated: bool = False) -> set[str]:
        """The marks of a task, by its title, or of a category; or as agents repeat them."""
        known = self.tasks.get(owner, owner)
        found = {mark for mark, one in self.owners.items() if one == known}
        return {mark.replace("m", "e") for mark in found} if repeated else found

    def ends(self) -> None:
        """Both logs prove, and no text of an agent without a task was left unseen."""
        assert list(prove_logs(self.at.journal, self.at.agents).divergences) == []
        units = [f"agent:{self.agents[one]}" for one in ("home", "day")]
        kept = self.at.agents.recorder.kept_payloads()
        own = {id_ for id_, data in kept if any(payload(one, data).id == id_ for one in units)}
        assert own
        assert own <= self.looked_at

    def _may_know(self, mark: str, allowed: tuple[str, ...]) -> bool:
        """A text of a task is its category's, as that is now; what an agent repeats may be told
        where it stood in one of the categories that are allowed."""
        owner = self.owners.get(mark.replace("e", "m"), "nobody's")
        stood = self.stood.get(owner, [owner])
        return not set(stood if mark[0] == "e" else stood[-1:]).isdisjoint(allowed)

    # --------------------------------------------------------------------------------- its texts

    def agent(self, name: str) -> Agent:
        return self.at.agent(self.agents[name])

    def category_of(self, task: str) -> str:
        with self.at.journal.reading() as world:
            return world.load(TASK, task).category

    def mark(self, owner: str) -> str:
        """A new marker, in a text of a task or of a category."""
        made = f"m{len(self.owners):03}x"
        self.owners[made] = owner
        return made

    def _do(self, command: JournalCommand) -> None:
        self.at.append_journal(command)

    def _want(self, name: str, words: str) -> None:
        """Ask for a wake where none is queued; with words, in one of the person's."""
        agent = self.agents[name]
        if words:
            text = payload(f"agent:{agent}", words.encode())
            asked = self.at.request(agent, "user", "session", len(self.looked_at), text.id)
            self.at.append_agent(asked, payloads=[text])
        elif not queued_key(self.at, agent):
            self.at.append_agent(self.at.request(agent))

    def _describe(self, category: str) -> None:
        sides = [payload(SHARED, self.mark(category).encode()) for _ in range(2)]
        corrected = do.AddCorrection(category, *(one.id for one in sides))
        self.at.append_journal(corrected, payloads=sides)
        self._do(do.AddLabel(self.mark(category), (category,)))
        self._do(do.RenameCategory(category, f"Named {self.mark(category)}"))

    def _write(self, task: str) -> None:
        _, _, label, _ = (
            mark for mark, one in self.owners.items() if one == self.category_of(task)
        )
        for command in (
            do.EditTask(task, title=f"see {self.mark(task)}"),
            do.EditTask(task, description=Words(self.mark(task))),
            do.EditTask(task, status="BLOCKED", reason=self.mark(task)),
            do.EditTask(task, status="OPEN", reason=self.mark(task)),
            do.AddItems(task, (self.mark(task),)),
            do.AddNote(task, "note", Words(self.mark(task))),
            do.AddNote(task, "transcript", Words(self.mark(task))),
            do.LogTime(task, *SPENT, self.mark(task)),
            do.RateTask(task, 4, comment=self.mark(task)),
            do.ChangeLabels(task, assign=(label,)),
        ):
            self._do(command)

    def _plan(self) -> None:
        """Blocks of two days, some with titles, and what is wanted today."""
        for day in (YESTERDAY, TODAY):
            for hour, one in enumerate(("tap", "leaves", "office", "tooth", "comes"), start=9):
                self._do(d.PutBlock(day, f"{hour:02}:00", f"{hour:02}:30", task=self.tasks[one]))
            for hour, category in ((18, HEALTH), (19, HOME), (20, WORK)):
                title = self.mark(category)
                self._do(
                    d.PutBlock(day, f"{hour}:00", f"{hour}:30", category=category, title=title)
                )
            self._do(d.PutBlock(day, "21:00", "21:30", title=self.mark("nobody's")))
        for one in ("tooth", "leaves", "comes"):
            self._do(d.PinTask(TODAY, self.tasks[one], is_pinned=True))

    def _set_up(self, name: str, agent: str, owner: str) -> None:
        self.agents[name] = agent
        goal, loop, preference = (self.mark(owner) for _ in range(3))
        slots = AgentSettings(goal=goal, open_loops=(loop,), preferences=(("tone", preference),))
        self.at.append_agent(ConfigureAgent(agent, slots))


@pytest.fixture
def of() -> Kinds:
    return Kinds()


# ---------------------------------------------------------------------------------- over two hops


def test_over_two_hops_nothing_is_told_that_is_not_allowed(of: Kinds) -> None:
    """Agents of Home and of Work that read Health speak of it; those that are asked speak of what
    they were told; nobody else hears of it."""
    of.allows("tap", HOME, HEALTH)
    of.allows("office", WORK, HEALTH)
    for _ in range(2):
        of.tells_around()
        home, day = of.wakes("home", "tap", "roof", "tooth"), of.wakes("day", "tap", "desk")
    heard = of.section(of.wakes("tap"), "linked") | of.section(of.wakes("office"), "linked")
    assert heard & of.of("tooth", repeated=True), "the first hop is there"
    for wake, name in ((home, "week"), (day, "day")):
        told = of.section(wake, name)
        assert told & of.of("tap")
        assert of.one_liner(wake, name, "roof"), "one-liners are told"
        assert not of.one_liner(wake, name, "tap"), "but none of whom may read more"
    assert of.one_liner(day, "day", "desk")
    assert not of.one_liner(day, "day", "office")
    assert of.answers(home, "find_tasks") & of.of("leaves")
    assert of.answers(home, "read_task") & of.of("tap")
    assert of.answers(home, "recall") & of.of("roof", repeated=True)
    of.ends()


def test_who_is_asked_is_told_nothing_of_what_the_asker_knows(of: Kinds) -> None:
    of.tells_around()
    of.wakes("day", "tap", "desk", words=f"Plan the office: {of.mark(WORK)}")
    of.wakes("home", "tap")
    for name, about in (("tap", 2), ("desk", 1)):
        wake = of.wakes(name)
        assert wake.begun.reason == "request"
        assert of.section(wake, "requests") == set()
        with of.at.agents.reading() as world:
            ref = next(one for one in wake.begun.user if one.name == "requests")
            assert world.payload(ref.payload).decode().count("- stale") == about
    of.ends()


# ---------------------------------------------------------------------------- after something moved


def test_a_task_that_moved_away_is_told_no_more_and_one_that_came_is(of: Kinds) -> None:
    of.tells_around()
    of.wakes("home", "leaves")
    of.wakes("day", "leaves")
    of.moves("leaves", HEALTH)
    of.moves("comes", HOME)
    for _ in range(2):
        home, day = of.wakes("home", "tap"), of.wakes("day", "tap")
        for wake, name in ((home, "week"), (day, "day")):
            told = of.section(wake, name)
            assert told & of.of("comes"), "its own texts are of Home now"
            assert not of.one_liner(wake, name, "comes"), "what its agent said is not"
            assert told.isdisjoint(of.of("leaves"))
        assert of.answers(home, "read_task") & of.of("comes")
        of.tells_around()
    of.ends()


def test_an_agent_that_is_allowed_less_is_told_nothing_of_what_it_knew(of: Kinds) -> None:
    """Its report, notes, loops, proposals with the person's reasons, and its conversation."""
    of.tells_around()
    of.allows("home", HOME, WORK)
    for name in ("home", "day", "home", "day"):
        of.wakes(name, "tap", "desk", words=f"And the office? {of.mark(WORK)}")
    review.reject(of.at, of.agent("home").sets[-1], 1, f"rejected for {of.mark(WORK)}")
    wide = of.wakes("home", words=f"Once more. {of.mark(WORK)}")
    known = of.of("desk", repeated=True) | of.of(WORK)
    for name in ("report", "critical", "goal", "proposals", "thread"):
        assert of.section(wide, name) & known, name
    assert of.answers(wide, "recall") & known
    for one in ("home", "day"):
        of.allows(one, HOME)
    for name in ("home", "day", "home", "day"):
        of.wakes(name, "tap", words="Once more.")
    of.ends()


def test_an_agent_that_is_allowed_less_while_it_wakes_looks_up_less(of: Kinds) -> None:
    of.tells_around()
    of.allows("home", HOME, WORK)
    assert of.answers(of.wakes("home"), "find_tasks") & of.of("desk")
    of.model.meanwhile = lambda: of.allows("home", HOME)
    wake = of.wakes("home")
    assert HOME in wake.begun.categories
    assert WORK in wake.begun.categories
    for tool in ("find_tasks", "read_task", "recall"):
        found = of.answers(wake, tool)
        assert found.isdisjoint(of.of("desk") | of.of("desk", repeated=True)), tool
    assert of.answers(wake, "find_tasks") & of.of("tap")


@pytest.mark.parametrize("name", ["home", "day"])
def test_what_an_agent_says_that_was_ever_allowed_more_is_not_told(of: Kinds, name: str) -> None:
    """Though it may read no more than the reader by now, and woke again since (0.5)."""
    section = {"home": "week", "day": "day"}[name]
    of.tells_around()
    assert of.one_liner(of.wakes(name), section, "tap")
    of.allows("tap", HOME, HEALTH)
    of.allows("tap", HOME)
    of.wakes("tap")
    wake = of.wakes(name)
    assert not of.one_liner(wake, section, "tap")
    assert of.one_liner(wake, section, "roof")
    of.allows("home", HOME, HEALTH)
    of.allows("day", HOME, WORK, HEALTH)
    assert of.one_liner(of.wakes(name), section, "tap"), "who may read as much is told it again"


# ----------------------------------------------------------------------------- that the check bites


def in_a_section(name: str) -> Callable[[Captured, str, str], Captured]:
    """What puts a text into a section of a prompt that was rendered."""

    def planted(captured: Captured, unit: str, told: str) -> Captured:
        command, kept = captured
        before = next(one for one in command.user if one.name == name)
        text = next(one.data for one in kept if one.id == before.payload)
        after = payload(unit, text + told.encode())
        shown = [replace(one, payload=after.id) if one == before else one for one in command.user]
        return Captured(replace(command, user=tuple(shown)), [*kept, after])

    return planted


def in_the_snapshot(captured: Captured, unit: str, told: str) -> Captured:
    command, kept = captured
    seen = next(one.data for one in kept if one.id == command.snapshot)
    leaking = replace(json.decode(seen, type=Snapshot), title=told)
    after = payload(unit, canonical.encode(leaking))
    return Captured(replace(command, snapshot=after.id), [*kept, after])


@pytest.mark.parametrize(
    ("name", "plant", "places"),
    [
        ("home", in_a_section("week"), {"a payload", "wake", "agent", "changes"}),
        ("day", in_a_section("day"), {"a payload", "wake", "agent"}),
        ("roof", in_a_section("requests"), {"a payload", "wake", "agent", "changes"}),
        ("home", in_the_snapshot, {"a payload"}),
    ],
)
def test_a_text_that_is_planted_is_found(
    of: Kinds, name: str, plant: Callable[[Captured, str, str], Captured], places: set[str]
) -> None:
    """And where the model repeats it, too."""
    of.tells_around()
    of.wakes("home", "roof")
    if name != "roof":
        of.wakes(name)
        of.at.append_agent(of.at.request(of.agents[name]))
    (stolen, *_) = sorted(of.of("tooth"))
    agent, run_key = of.agents[name], queued_key(of.at, of.agents[name])
    captured = capture(of.at, agent, run_key, is_now=True)
    command, kept = plant(captured, of.agent(name).unit, f"\n- stolen {stolen}")
    of.at.append_agent(command, payloads=kept)
    asyncio.run(run_wake(of.at, agent, run_key, is_now=True))
    with of.at.agents.reading() as world:
        wake = world.load(WAKE, run_key)
    found = set(of.leaks(wake))
    assert {one.partition(" in ")[2] for one in found} == places
    assert {one[:5] for one in found} <= {stolen, stolen.replace("m", "e")}
