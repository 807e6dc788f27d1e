"""What a person does on one task costs the same in every home: commands and pages, by size.

    .venv/bin/python tests/bench/growth.py [--large] [--only NAME] [--base PYTHON] [--json FILE]

Homes of 100 and 1,000 tasks, with `--large` of 10,000, are made once and kept (`--cache DIR`). Each
command is a process of its own on a copy of the home, each page a request to one server. What
counts is the processor's time, the least of five, and the most memory that the process held. The
exponent is that of the size, for what a command costs above the import of click, msgspec and
sqlite3: 0 does not grow, 1 grows as the home does; `!` marks those over 0.1. It fails where a
command that shows a bounded part costs in the largest home more than 1.15 of what it costs in the
smallest. Where Taskwarrior is installed, it does the twelve words of the day in turn with us, on as
many tasks of the same titles; a table says what each word costs of that import.

Then `wakelog run` (`--only run` is that alone), where every task of a copy has got a note, and a
watcher has taken the notes before, so that all agents are due a second later: what it costs until
the first wake and for each of `--wakes`, by what it tells; of `--rounds` the least.

`--base PYTHON` is the interpreter of another revision's environment. Both sides take turns, each on
copies of its own of the same homes, and a last table says how the present code compares.
"""

import argparse
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen
from uuid import UUID

import msgspec

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.documents.agents import all_agents
from adapters.home import files
from adapters.home.clock import ManualClock
from adapters.home.settings import load
from adapters.importers import markdown
from adapters.models.rules.model import RulesModel
from adapters.runtime import on_demand, watcher
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.timetravel.fork import copy_log
from adapters.usecases import agents, catalog, import_tasks, proposals, tasks
from adapters.usecases.import_sources import ParsedFile
from adapters.usecases.proposals import ItemVerdict
from adapters.wiring import Home, open_home
from domain.agent.agent import AGENT
from domain.changes.change_set import CHANGES
from domain.templates.seeds import SEEDS
from tests.bench.common import machine, table
from tests.support.clients import TASK, Taskwarrior
from tests.support.process import ROOT, environ

SIZES, LARGE = (100, 1000), 10_000
PATIENCE = 10.0  # seconds of the processor: what takes longer is run once
LEAST = 0.002  # seconds above the floor: less tells nothing
EXPONENT_MAX = 0.1
GROWN_MAX = 1.15  # from the smallest home to the largest, of what shows a bounded part
ROUNDS = 5
FLOOR = "import click, msgspec, sqlite3"
WAKELOG = "import sys; sys.argv[0] = 'wakelog'; from adapters.cli.main import main; main()"
# A process begins with the peak memory of the one that starts it, so a small one does.
STARTER = """\
import os, sys
_, status, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))
"""
SQL = "SELECT count(*) FROM wakes"
SQL_FIRST, STOP = "sql, first time", "stop"
SHOW_ALL = {
    "list", "inbox, all of it", "agent list", "run, no work", SQL_FIRST, "at DATE", "prove",
    "prove --no-views",
    "at RUN", "at DATE --task TASK",  # they fold all lessons up to then
}  # fmt: skip
MAY_TELL = ("health", "diff RUN RUN", "today")  # told by exit status 1, in Taskwarrior: nothing
PAGES = (
    "/",
    "/inbox",
    "/tasks",
    "/tasks/TASK",
    "/agents/AGENT",
    "/wakes/RUN",
    "/health",
    "/templates",
    "/lessons",
)
ID_OF = {"TASK": "task_id", "AGENT": "agent_id", "RUN": "run_key"}  # where a wake names it
MAKER = 1  # raised where the homes are made otherwise: those that are kept are made anew then
REPLICA = "growth"
START = "2027-01-04T08:00:00.000000Z"
SETTINGS = 'timezone = "Europe/Berlin"\nmodel = "rules"\n'
CATEGORIES = ("House", "Garden", "Work", "Club", "Travel")
SOURCE = "tasks.md"
NOTES = (
    "The plumber comes on Monday. It has to be done by 2027-03-{day:02}. Todo: buy a seal, {nth}.",
    "It takes about {hours} hours. I need to call the plumber about house {nth}.",
)
TIMER_EACH, WATCH_EACH, UNDECIDED_EACH = 4, 5, 5  # every so many tasks
RUN, WAKES = "run", 200
THROTTLE = "\n[agents]\nthrottle_seconds = 1\n"
ENVIRON = {files.REPLICA_VARIABLE: REPLICA}
# Of a home that other code has made the views are folded anew first: they list the agents.
CHANGE = """\
import os, sys
from pathlib import Path
from adapters.documents.agents import all_agents
from adapters.runtime import watcher
from adapters.usecases import tasks
from adapters.wiring import open_home
TEXT = "Todo: buy a pipe, {0}. It has to be done by 2027-04-{1:02}. It takes about {2} hours."
with open_home(Path(sys.argv[1]), os.environ, is_writing=True) as found:
    found.views.catch_up()
    agents = all_agents(found)
    for nth, one in enumerate(agents):
        tasks.add_note(found, one.task_id, TEXT.format(nth, nth % 28 + 1, nth % 5 + 8))
    watcher.catch_up(found.services)
    found.views.catch_up()
sys.exit(0 if agents else "the home has no agents")
"""


class Made(NamedTuple):
    """A home that is kept: lived once, in memory and in one process. The agents take turns, as they
    do where people work: no two appends in a row are of one agent. `journal`: the append of a note
    to the task in the middle."""

    folder: Path
    tasks: int
    rows: int
    wakes: int
    journal: int
    end: str

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def middle(self) -> str:
        """The middle of its life."""
        begun = datetime.fromisoformat(START)
        return (begun + (datetime.fromisoformat(self.end) - begun) / 2).isoformat()

    @property
    def file(self) -> Path:
        """What its tasks were imported from."""
        return self.folder / SOURCE


def cache_folder() -> Path:
    """Where homes are kept if nobody says where."""
    kept = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(kept) / "wakelog" / "growth"


def title(nth: int) -> str:
    return f"Fix the sink of house {nth:05}"


def made(cache: Path, count: int) -> Made:
    """The home of so many tasks: the one that is kept, else a new one."""
    folder = cache / f"maker{MAKER}-{count}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        begun = Path(tempfile.mkdtemp(dir=cache))
        try:
            _make(begun, count)
            begun.rename(folder)
        finally:
            shutil.rmtree(begun, ignore_errors=True)
    facts = msgspec.json.decode((folder / "made.json").read_bytes())
    return Made(folder, **facts)


def _make(folder: Path, count: int) -> None:
    path = folder / "home"
    path.mkdir()
    (path / files.SETTINGS).write_text(SETTINGS, encoding="utf-8")
    files.ensure(path, {files.REPLICA_VARIABLE: REPLICA})
    (folder / SOURCE).write_text(_file(count), encoding="utf-8")
    journal, agent_log = (Log.in_memory(name, REPLICA) for name in ("journal", "agent"))
    clock, model = ManualClock(START, step_ms=1), RulesModel()
    services = Services(journal, agent_log, clock, load(path, {}), lambda _: model)
    with closing(Home.in_memory(services)) as home:
        wakes, note = _live(home, folder / SOURCE, count)
        facts = {
            "tasks": count,
            "rows": journal.count() + agent_log.count(),
            "wakes": wakes,
            "journal": note,
            "end": clock.now(),
        }
        for log, name in ((journal, files.JOURNAL), (agent_log, files.AGENT)):
            copy_log(log, log.tail().n, path / name, REPLICA).close()
    with open_home(path, {files.REPLICA_VARIABLE: REPLICA}) as kept:
        kept.views.catch_up()
    (folder / "made.json").write_bytes(msgspec.json.encode(facts))


def _file(count: int) -> str:
    lines = []
    for group, category in enumerate(CATEGORIES):
        lines.append(f"# {category}\n")
        lines += [
            f"- [ ] {title(nth)} ~1h\n  - [ ] Look at it\n  - [ ] Clean up\n"
            for nth in range(group, count, len(CATEGORIES))
        ]
    return "\n".join(lines)


def _live(home: Home, file: Path, count: int) -> tuple[int, int]:
    """All that happens; how many wakes ran, and the append of a note in the middle."""
    for one in CATEGORIES:
        catalog.add_category(home, one, "en")
    found = markdown.read(file.read_bytes(), source=SOURCE)
    import_tasks.Importing().take(home, SOURCE, ParsedFile(found))
    home.views.catch_up()
    agents.assign_all(home, agents.AgentOptions(template=SEEDS[0].name))
    pairs = [(one.task_id, one.id) for one in all_agents(home)]
    _steer(home, pairs)
    wakes, middle = 0, 0
    for text in NOTES:
        for nth, (task, agent) in enumerate(pairs):
            said = text.format(nth=nth, day=nth % 28 + 1, hours=nth % 5 + 2)
            tasks.add_note(home, task, said)
            if nth == count // 2:
                middle = home.services.journal.tail().n
            wakes += _woken(home, agent)
            if nth % UNDECIDED_EACH:
                _decide(home, agent)
    for _, agent in pairs:
        wakes += _woken(home, agent)
    return wakes, middle


def _steer(home: Home, pairs: list[tuple[str, str]]) -> None:
    """Some agents have a timer, some hear of the next task."""
    for nth, (_, agent) in enumerate(pairs):
        if nth % TIMER_EACH == 0:
            agents.set_timer(home, agent, "every monday 09:00", "")
        if nth % WATCH_EACH == 0:
            after = pairs[(nth + 1) % len(pairs)][0]
            agents.watch_tokens(home, agent, agents.NewSubscription((f"id:{after}",)))


def _woken(home: Home, agent: str) -> int:
    """Run what is queued of the agent; how many wakes."""
    watcher.catch_up(home.services)
    return len(on_demand.run_ready(home.services, [agent], lambda *_: None))


def _decide(home: Home, agent: str) -> None:
    """Decide what it proposes, the first item of a set so and the next otherwise."""
    with home.services.agents.reading() as world:
        sets = [world.load(CHANGES, one) for one in world.load(AGENT, agent).sets[-2:]]
    for changes in sets:
        for item in changes.items:
            if item.status == "pending":
                verdict = (
                    ItemVerdict("confirm") if item.number % 2 else ItemVerdict("reject", "Not now.")
                )
                proposals.decide(home, changes.id, item.number, verdict)


# ----------------------------------------------------------------------------------- the sides


class Cost(NamedTuple):
    """Seconds of the processor, and the most memory that was held."""

    seconds: float
    megabytes: float


Costs = dict[str, dict[int, Cost]]
"""By command or page, by size."""


class Side:
    """A revision, and its own copy of a home."""

    def __init__(self, name: str, python: str, at: Made, home: Path) -> None:
        shutil.copytree(at.home, home)
        self.name, self.at, self._home, self._python = name, at, home, python
        self._environ = {
            name: value
            for name, value in os.environ.items()
            if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("WAKELOG_")
        }
        self._environ |= {"WAKELOG_NOW": at.end, files.REPLICA_VARIABLE: REPLICA}
        self.wakes = self._told("wakes", title(at.tasks // 2), "--limit", "2")
        sets = [
            [str(item["ref"]) for item in one["items"] if item["status"] == "pending"]
            for one in self._told("inbox")
        ]
        self.items = [refs[0] for refs in sets if refs]

    def asked(self, nth: int) -> dict[str, list[str]]:
        return commands(self, nth)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """A command, in a folder where no revision's modules lie."""
        return self._start([self._python, *self._line(arguments)])

    def cost(self, name: str, arguments: Sequence[str]) -> Cost:
        """What a command costs; without arguments, what the floor does. Exits where it fails."""
        if name == SQL_FIRST:
            (self._home / files.ANALYTICS).unlink(missing_ok=True)
        if name == STOP:
            self.start("start", title(0)).communicate()
        line = self._line(arguments) if arguments else ["-c", FLOOR]
        process = self._start([sys.executable, "-ISc", STARTER, self._python, *line])
        return _cost_of(process, name)

    def _line(self, arguments: Sequence[str]) -> list[str]:
        return ["-c", WAKELOG, "--home", str(self._home), *arguments]

    def _start(self, line: Sequence[str]) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen(
            line, cwd=self._home.parent, env=self._environ, stdout=pipe, stderr=pipe, text=True
        )

    def _told(self, *arguments: str) -> list[dict[str, Any]]:
        process = self.start(*arguments, "--json")
        output, errors = process.communicate()
        if process.returncode:
            sys.exit(f"{' '.join(arguments)} ended with {process.returncode}: {errors}")
        return list(msgspec.json.decode(output))


def _cost_of(process: "subprocess.Popen[str]", name: str) -> Cost:
    output, errors = process.communicate()
    seconds, megabytes, status = output.rsplit(None, 3)[-3:]
    if int(status) not in ((0, 1) if name in MAY_TELL else (0,)):
        sys.exit(f"{name} ended with {status}: {errors}")
    return Cost(float(seconds), float(megabytes))


class Peer:
    """Taskwarrior, and as many tasks of its own."""

    name = "task"

    def __init__(self, at: Made, folder: Path) -> None:
        folder.mkdir()
        self.at, self._task = at, Taskwarrior(folder)
        every = [
            {"uuid": str(UUID(int=nth + 1)), "description": title(nth), "status": "pending",
             "project": CATEGORIES[nth % len(CATEGORIES)], "entry": "20270104T080000Z"}
            for nth in range(at.tasks)
        ]  # fmt: skip
        (folder / "tasks.json").write_bytes(msgspec.json.encode(every))
        self._task("import", str(folder / "tasks.json"))

    def asked(self, nth: int) -> dict[str, list[str]]:
        """What it calls the twelve words of the day, in the nth round."""
        task, other = (str(UUID(int=one)) for one in (self.at.tasks // 2 + 1, nth + 1))
        return {
            "list": ["list"],
            "show TASK": [task, "info"],
            "today": ["due.before:tomorrow", "list"],
            "search WORD, all have it": ["description.contains:sink", "limit:20", "list"],
            "add": ["add", f"Paint the shed {nth}"],
            "edit TASK": [task, "modify", f"priority:{'HML'[nth % 3]}"],
            "note TASK": [task, "annotate", f"One more, {nth}."],
            "start TASK": [other, "start"],
            STOP: [other, "stop"],
            "done TASK": [other, "done"],
            "delete TASK": [str(UUID(int=self.at.tasks - nth)), "delete"],
            "undo": ["undo"],
        }

    def cost(self, name: str, arguments: Sequence[str]) -> Cost:
        if name == STOP:
            self._task(arguments[0], "start")
        return _cost_of(
            self._task.begun(sys.executable, "-ISc", STARTER, str(TASK), *arguments), name
        )


AnySide = Side | Peer


# --------------------------------------------------------------------------------- the commands


def commands(side: Side, nth: int) -> dict[str, list[str]]:
    """What a person does, in the nth round: to the task in the middle, or to all."""
    task, other = title(side.at.tasks // 2), title(side.at.tasks // 2 + 1)
    runs = [str(one["run_key"]) for one in side.wakes]
    shed = f"Paint the shed {nth}"
    return {
        FLOOR: [],
        "--help": ["--help"],
        "list": ["list"],
        "list --limit 20": ["list", "--limit", "20"],
        "show TASK": ["show", task],
        "show RUN": ["show", runs[0]],
        "today": ["today"],
        "search WORD, all have it": ["search", "plumber", "--limit", "20"],
        "run, no work": ["run", "--until-idle"],
        "add": ["add", shed],
        "edit TASK": ["edit", task, "--estimate", f"{77 + nth}m"],
        "note TASK": ["note", task, f"One more, {nth}."],
        "start TASK": ["start", title(nth)],
        STOP: ["stop"],
        "done TASK": ["done", shed],
        "delete TASK": ["delete", shed],
        "undo --list": ["undo", "--list"],
        "undo": ["undo", "--yes"],
        "import, unchanged": ["import", str(side.at.file)],
        "inbox": ["inbox"],
        "inbox TASK": ["inbox", task],
        "inbox, all of it": ["inbox", "--json"],
        "confirm ITEM": ["confirm", side.items[nth], "--anyway"],
        "reject ITEM": ["reject", side.items[-1 - nth]],
        "defer ITEM": ["defer", side.items[-11 - nth], "--until", "2027-02-01"],
        "report TASK": ["report", task],
        "wake TASK": ["wake", other],
        "agent list": ["agent", "list"],
        "agent show TASK": ["agent", "show", task],
        "wakes --limit 20": ["wakes", "--limit", "20"],
        "conflicts": ["conflicts"],
        "status": ["status"],
        "health": ["health"],
        "why TASK": ["why", task],
        "why journal:N": ["why", f"journal:{side.at.journal}"],
        SQL_FIRST: ["sql", SQL],
        "sql, again": ["sql", SQL],
        "metrics": ["metrics"],
        "at RUN": ["at", runs[0]],
        "at DATE --task TASK": ["at", side.at.middle, "--task", task],
        "at DATE": ["at", side.at.middle],
        "diff RUN RUN": ["diff", *runs],
        "prove --no-views": ["prove", "--no-views"],
        "prove": ["prove"],
    }


def measure_command(sides: Sequence[AnySide], which: str) -> list[Cost]:
    """What a command costs each side; they take turns."""
    found: list[list[Cost]] = [[] for _ in sides]
    for nth in range(ROUNDS):
        for costs, side in zip(found, sides, strict=True):
            if not costs or costs[0].seconds < PATIENCE:
                costs.append(side.cost(which, side.asked(nth)[which]))
    return [min(costs) for costs in found]


# ------------------------------------------------------------------------------------- the pages


@contextmanager
def serving(side: Side) -> Iterator[tuple[str, int]]:
    """The address of a server, and its process."""
    process = side.start("serve", "--port", "0")
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip().rstrip("/"), process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def measure_page(
    sides: Sequence[Side], servers: Sequence[tuple[str, int]], page: str
) -> list[Cost]:
    """What a page costs each side, in turns; of the memory, what the server has held so far."""
    found: list[list[Cost]] = [[] for _ in sides]
    for nth in range(ROUNDS + 1):  # the first one loads modules and compiles its template
        for costs, side, server in zip(found, sides, servers, strict=True):
            *before, last = page.split("/")
            named = str(side.wakes[0][ID_OF[last]]) if last in ID_OF else last
            cost = _requested(*server, "/".join([*before, named]))
            if nth:
                costs.append(cost)
    return [min(costs) for costs in found]


def _requested(address: str, pid: int, path: str) -> Cost:
    before = spent(pid)
    with urlopen(address + path) as answer:
        answer.read()
    after = spent(pid)
    return Cost(after.seconds - before.seconds, after.megabytes)


def spent(pid: int) -> Cost:
    """What another process that runs has cost so far: Linux has a clock of each."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    peak = next(line for line in status if line.startswith("VmHWM:"))
    return Cost(time.clock_gettime((~pid << 3) | 2), int(peak.split()[1]) / 1024)


# ------------------------------------------------------------------------------------ the tables


def exponent(costs: Mapping[int, Cost], floor: float) -> float:
    """Of the size, from the smallest home to the largest, for what is above the floor."""
    first, last = min(costs), max(costs)
    few, many = (max(LEAST, costs[one].seconds - floor) for one in (first, last))
    return math.log(many / few) / math.log(last / first)


def told(name: str, costs: Costs) -> None:
    """Print the table of a side."""
    sizes = list(costs[FLOOR])
    floor = min(one.seconds for one in costs[FLOOR].values())
    print(f"\n{name}:\n")
    rows = []
    for which, by_size in costs.items():
        row = [which]
        for one in by_size.values():
            row += [f"{one.seconds * 1e3:,.0f}", f"{one.megabytes:.0f}"]
        grown = exponent(by_size, 0 if which.startswith("/") else floor)
        mark = "!" if grown > EXPONENT_MAX else " "
        rows.append([*row, "" if which == FLOOR else f"{grown:.2f} {mark}"])
    heads = [head for size in sizes for head in (f"{size:,}: ms", "MB")]
    table(("processor time", *heads, "exponent  "), rows)


def grown(costs: Costs) -> list[str]:
    """The commands that show a bounded part and cost more in the largest home all the same."""
    first, last = min(costs[FLOOR]), max(costs[FLOOR])
    found = {
        which: by_size[last].seconds / by_size[first].seconds
        for which, by_size in costs.items()
        if which not in SHOW_ALL and not which.startswith("/")
    }
    return [f"{which}: {one:.2f}" for which, one in found.items() if one > GROWN_MAX]


def compared(base: Costs, present: Costs) -> None:
    """Print how many times as fast the present code is."""
    sizes = list(base[FLOOR])
    print("\nBase by present, of the processor's time (2: twice as fast now):\n")
    table(
        ("", *(f"{size:,}" for size in sizes)),
        [
            [which, *(f"{by_size[n].seconds / present[which][n].seconds:.2f}" for n in sizes)]
            for which, by_size in base.items()
        ],
    )


def in_words(costs: Costs, peers: Costs) -> None:
    """Print what the words of the day cost, of the floor, here and in Taskwarrior."""
    sizes = list(costs[FLOOR])
    floor = min(one.seconds for one in costs[FLOOR].values())

    def cells(side: Costs, which: str) -> list[str]:
        every = [side[which][n].seconds for n in sizes]
        return [f"{one * 1e3:,.0f} ({one / floor:.1f})" for one in every]

    print(f"\nThe words of the day, ms (of the floor, {floor * 1e3:.0f} ms):\n")
    heads = [f"{name}, {n:,}" for name in ("wakelog", "task") for n in sizes]
    rows = [[which, *cells(costs, which), *cells(peers, which)] for which in peers]
    table(("", *heads), rows)


def measured(
    sides: Sequence[Side], peers: Sequence[Peer], is_wanted: Callable[[str], bool]
) -> dict[str, Costs]:
    """All costs, by the sides' names."""
    everybody: list[AnySide] = [*sides, *peers]
    found: dict[str, Costs] = {side.name: {} for side in everybody}

    def keep(which: str, costs: Sequence[Cost], sides: Sequence[AnySide] = sides) -> None:
        for side, cost in zip(sides, costs, strict=True):
            found[side.name].setdefault(which, {})[side.at.tasks] = cost
        print(which, *(f"{one.seconds * 1e3:,.0f} ms" for one in costs), file=sys.stderr)

    for which in commands(sides[0], 0):
        if which == FLOOR or is_wanted(which):
            every = [one for one in everybody if which in one.asked(0)]
            keep(which, measure_command(every, which), every)
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(side)) for side in sides]
        for page in filter(is_wanted, PAGES):
            keep(page, measure_page(sides, servers, page))
    return found


# -------------------------------------------------------------------------------------- the runtime


class Ran(NamedTuple):
    """Seconds on the clock until the first wake began, and what that cost; seconds of the
    processor for all wakes, milliseconds for each of their second half; the rows that each
    wrote; the most memory that was held."""

    clock: float
    first: Cost
    wakes: float
    each: float
    rows: float
    megabytes: float


class Runner:
    """A revision: its interpreter, and what its processes need."""

    def __init__(self, python: str, path: str) -> None:
        self._python, self._path = python, path

    def changed(self, at: Made, home: Path) -> None:
        """A copy of a home in which every agent has something to wake for."""
        shutil.copytree(at.home, home)
        (home / files.SETTINGS).write_text(SETTINGS + THROTTLE, encoding="utf-8")
        line = [self._python, "-c", CHANGE, str(home)]
        subprocess.run(line, cwd=home.parent, env=self._environ(home), check=True)

    def ran(self, home: Path, wakes: int) -> Ran:
        """Run it until so many wakes have ended."""
        before, begun = _rows(home), time.perf_counter()
        process = subprocess.Popen(
            [self._python, "-m", "adapters.cli.main", "run", "--json"],
            cwd=home.parent,
            env=self._environ(home),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        clock, costs = 0.0, list[Cost]()
        assert process.stderr is not None
        for line in process.stderr:  # until it ends
            event = msgspec.json.decode(line)["event"]
            if event == "waking" and not costs:
                clock = time.perf_counter() - begun
            if event != "ended" and (event != "waking" or costs):
                continue
            costs.append(spent(process.pid))
            if len(costs) == wakes + 1:  # once: a second interrupt would be told in other words
                process.send_signal(signal.SIGINT)
        process.wait()
        first, half, last = costs[0], costs[wakes // 2], costs[wakes]
        each = (last.seconds - half.seconds) / (wakes - wakes // 2) * 1e3
        rows = (_rows(home) - before) / (len(costs) - 1)
        return Ran(clock, first, last.seconds - first.seconds, each, rows, last.megabytes)

    def _environ(self, home: Path) -> dict[str, str]:
        return environ(home, more={**ENVIRON, "PYTHONPATH": self._path})


def _rows(home: Path) -> int:
    with closing(sqlite3.connect(home / files.AGENT)) as connection:
        return int(connection.execute("SELECT count(*) FROM stored_events").fetchone()[0])


def _round(side: Runner, at: Made, wakes: int) -> Ran:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        side.changed(at, home)
        return side.ran(home, min(wakes, at.tasks))


def _row(at: Made, name: str, rounds: list[Ran], wakes: int) -> tuple[str, ...]:
    found = min(rounds, key=lambda one: one.wakes)
    return (
        f"{at.tasks:,}",
        name,
        f"{min(wakes, at.tasks):,}",
        f"{found.clock:.1f}",
        f"{found.first.seconds:.2f}",
        f"{found.wakes:.2f}",
        f"{found.each:.1f}",
        f"{found.rows:.1f}",
        f"{found.megabytes:.0f}",
    )


def running(given: argparse.Namespace, homes: Sequence[Made]) -> None:
    """Print what the runtime costs each side; they take turns."""
    sides = {"present": Runner(sys.executable, str(ROOT))}
    if given.base:
        sides = {"base": Runner(str(given.base.absolute()), ""), **sides}
    rows = []
    for at in homes:
        found: dict[str, list[Ran]] = {name: [] for name in sides}
        for _ in range(given.rounds):
            for name, side in sides.items():
                found[name].append(_round(side, at, given.wakes))
                print(RUN, at.tasks, name, found[name][-1], file=sys.stderr, flush=True)
        rows += [_row(at, name, ran, given.wakes) for name, ran in found.items()]
    print()
    heads = "agents, all due", "side", "wakes", "first wake: s", "processor s"
    table((*heads, "all wakes: s", "ms a wake", "rows a wake", "peak MB"), rows)


def measuring(given: argparse.Namespace, homes: Sequence[Made]) -> None:
    """Print what commands and pages cost each side."""
    only = [one for one in given.only if one != RUN]
    pythons = {"base": str(given.base.absolute())} if given.base else {}
    with tempfile.TemporaryDirectory() as folder:
        sides = [
            Side(name, python, at, Path(folder, f"{name}-{at.tasks}"))
            for at in homes
            for name, python in {**pythons, "present": sys.executable}.items()
        ]
        peers = [Peer(at, Path(folder, f"task-{at.tasks}")) for at in homes if TASK]
        costs = measured(sides, peers, lambda which: not only or any(one in which for one in only))
    for name in {side.name for side in sides}:
        told(name, costs[name])
    if peers:
        in_words(costs["present"], costs[Peer.name])
    if given.base:
        compared(costs["base"], costs["present"])
    if given.json:
        given.json.write_bytes(msgspec.json.format(msgspec.json.encode(costs)))
    if found := grown(costs["present"]):
        sys.exit(f"What shows a bounded part may grow by {GROWN_MAX}. {'; '.join(found)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="10,000 tasks, too")
    parser.add_argument("--only", action="append", default=[], help="commands with this in them")
    parser.add_argument("--wakes", type=int, default=WAKES, help="that are run in each home")
    parser.add_argument("--rounds", type=int, default=1, help="of which the least counts")
    parser.add_argument("--base", type=Path, help="the interpreter of another revision")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="where homes are kept")
    parser.add_argument("--json", type=Path, help="write the costs to this file, too")
    given = parser.parse_args()
    only: list[str] = given.only
    cache = given.cache.absolute()  # the processes are not where we are
    homes = [made(cache, size) for size in (*SIZES, *((LARGE,) if given.large else ()))]
    print(machine())
    for one in homes:
        print(f"{one.tasks:,} tasks: {one.wakes:,} wakes, {one.rows:,} rows of both logs")
    if only != [RUN]:
        measuring(given, homes)
    if not only or RUN in only:
        running(given, homes)


if __name__ == "__main__":
    main()
