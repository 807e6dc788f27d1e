"""Two machines that hold the same print the same, of everything but their own name (ADR 86).

The past is a simulated fleet's: both edit, wake and decide, meet by bad luck, and order agents to
sleep. At the end all have met, the clock is within the sleep, and one of them leads. Then every
reading command is asked on both, as JSON, and every table of `sql`.
"""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.documents.schemas import DOCUMENTS
from adapters.simulation.fleet import FleetEpisode, Machine
from adapters.simulation.plan import plan
from adapters.store.recorder import by_append
from adapters.store.sqlite import SQLiteLogRecorder
from domain.agent.commands import SleepAgent
from domain.agent.wake_queue import WAKE_QUEUE
from domain.log.timestamps import later
from domain.log.wire import Payload
from domain.machines.commands import Lead
from tests.golden import asked
from tests.support import cli
from tests.support.analysed import Tables

SLEEPS_SECONDS = 90 * 86_400
OF_EACH = 3  # tasks, agents and wakes that are looked at

OWN_COMMANDS = {
    "home show": "where this machine keeps what",
    "settings show": "settings do not travel",
    "settings --defaults": "the same",
    "notify show": "a receiver is allowed on one machine",
    "doctor": "looks after the files of this machine",
    "health": "looks after what this machine has to do",
    "rebuild": "makes the files of this machine anew, and counts its chain",
    "undo --list": "takes back what was done on this machine",
    "policy try": "what would be asked here, by who knew what this machine knows",
    "why": "what this machine noticed; see ADR 86",
    "at": "a moment is one in this machine's chain",
    "diff": "of two of them",
    "sync": "writes; what it did here",
    "replicas": "says which one is this one",
}
"""What is of a machine by its nature, and why. A moment of a wake is asked all the same."""
OWN_ENDS = ("position", "appends", "at")
OWN_WORK = {"queued", "running", "in_doubt", "next_due", "run_status", "next_wake_at"}
OWN_KEYS: dict[str, set[str]] = {
    "status": {*OWN_ENDS, *OWN_WORK, "home", "lead", "lead_away", "lag"},
    "agent": OWN_WORK,
    "at": {*OWN_WORK, "wakes"},
    "prove": {"seconds", "checked", "digest", "replicas", "appends", "memory_file"},
    "inbox": {"set"},  # the number of a set of one's own
}
"""The ends of its own chain, which markers make longer, who else leads, and what is queued, runs or
is in doubt on it: it alone has to do that (ADR 86)."""
NOT_READ = {
    *(
        "import-task",
        "imports-undone",
        "import",
        "written-back",
        "agents-made",
        "answer",
        "improving-session",
        "seed",
        "deleted",
    ),
    *("template-given", "verdicts", "rated-run", "policy-allowed", "policy-ruled", "deed-undone"),
    *("notify-tests", "wake", "run-counts", "exported-tables", "exported-wakes", "tasks-done"),
    *(
        "exported-tasks",
        "exported-history",
        "simulation",
        "recovered",
        "backup",
        "restored",
        "erased",
        "erasures",
        "begun",
        "homes",
    ),
    *("evaluation", "rehearsal"),
    *(
        "copied-home",
        "synced",
        "joined",
        "named-replica",
        "rescued",
        "lead-replica",
        "retired-replica",
    ),
    *("thawed-home", "created-home", "frozen-home", "renamed-home", "home-members", "fork"),
    *("created-token", "tokens", "revoked-token", "prepared-database", "checked-database"),
    *(
        "cluster",
        "worked-homes",
        "worker-health",
        "page-health",
        "adopted",
        "deleted-home",
        "retained",
        "scrubbed-database",
        "adopted-database",
        "demo",
        "demo-data",
        "category",
    ),
    *("demo-data-there", "label", "bisect", "template", "memory-sources", "rows", "metrics"),
}
"""Documents of what a command did, of databases and their servers, and of what the pasts have none
of; `rows` are asked by table."""
BY_ARGUMENTS = {"prompt", "task", "why-field", "why-change", "request"}
"""Documents that a command prints where it is given more, as `show RUN --prompt`."""
TEXTS = (asked.ALL, asked.OF_TASK, asked.OF_WAKE, asked.MORE, asked.OF_TASK_MORE)
LINES = [
    line for text in TEXTS for line in text.strip().splitlines() if not line.startswith("help")
]
LINES += ["agent timer {agent} list", "template sessions {template}"]
REF = re.compile(r"\b[a-z]+/(?=\d+\.\d)")
"""``desk/3.1`` is ``3.1`` at the desk."""


class Past(FleetEpisode):
    """Two machines that hold the same, in the middle of it; `leads` is a name of one."""

    def __init__(self, seed: str, leads: str, steps: int) -> None:
        super().__init__(2)
        self._leads = leads
        self.run(plan(seed, steps))

    def _end(self) -> None:
        for one in self.machines:
            one.deeds.restart()
        self._rounds()
        desk, laptop = self.machines
        now = self.now
        with laptop.services.agents.reading() as world:
            known = world.entities("agent")
        for agent in known:
            order = SleepAgent(agent, later(now, seconds=SLEEPS_SECONDS), is_ordered=True)
            if laptop.services.agent(agent).lifecycle in ("active", "dormant"):
                laptop.services.append_agent(order)
        leader = next(one for one in (desk, laptop) if one.name == self._leads)
        leader.services.append_agent(Lead(leader.name, leader.services.first))
        self._rounds()

    @property
    def now(self) -> str:
        return max(one.services.clock.now() for one in self.machines)


def put(one: Machine, folder: Path) -> Path:
    """The home of a machine, as files."""
    home = folder / one.name
    home.mkdir()
    (home / "replica").write_text(f"{one.name}\n", encoding="utf-8")
    for log in one.logs:
        recorder, kept = SQLiteLogRecorder(home / f"{log.name}.db"), log.recorder
        with recorder.deciding():
            payloads = [Payload(*pair) for pair in kept.kept_payloads()]
            for append in by_append(kept.newest(kept.count())):
                recorder.insert(append, payloads)
                payloads = []
            recorder.keep_order()
        recorder.close()
    return home


class Asked:
    """The homes of both, and what they say.

    Args:
        folder: An empty one.
        past: What they lived.
    """

    def __init__(self, folder: Path, past: Past) -> None:
        self.homes = [put(one, folder) for one in past.machines]
        self.now = later(past.now, seconds=3_600)
        tasks, agents, wakes = (
            self.ask(self.homes[0], line) for line in ("task list --all", "agent list", "wakes")
        )
        self.words = {
            "task": [one["id"] for one in tasks[:OF_EACH]],
            "agent": [one["id"] for one in agents[:OF_EACH]],
            "run": [one["run_key"] for one in wakes[:OF_EACH]],
        }

    def ask(self, home: Path, line: str) -> Any:
        """The document of a command, or what it refuses."""
        env = {"WAKELOG_NOW": self.now, "WAKELOG_REPLICA": home.name, "WAKELOG_TIMEZONE": "UTC"}
        done = cli.run(["--json", *shlex.split(line)], home, env=env)
        return json.loads(done.stdout) if done.stdout.strip() else done.stderr

    def lines(self) -> Iterator[str]:
        """Every reading command."""
        for line in LINES:
            word = next((one for one in self.words if f"{{{one}}}" in line), None)
            filled = [line.format(**{word: one}) for one in self.words[word]] if word else [line]
            yield from (one for one in filled if "{" not in one)

    def differing(self, *lines: str) -> dict[str, list[str]]:
        """What the two print otherwise: the places in the document, by command; of all, or some."""
        found = {}
        for line in lines or self.lines():
            told = [cleaned(line, self.ask(home, line)) for home in self.homes]
            if not is_own(line) and told[0] != told[1]:
                found[line] = sorted(one for one, _ in set(leaves(told[0])) ^ set(leaves(told[1])))
        return found


def tables_differing(past: Past) -> dict[str, set[str]]:
    """Which columns of which tables and views of `sql` hold something else on the two."""
    both = [Tables(one.services.agents, one.services.journal) for one in past.machines]
    found = {}
    for (name,) in both[0].ask("SHOW TABLES"):
        if name in OWN_TABLES:
            continue
        rows = [each.ask(f'FROM "{name}" ORDER BY ALL') for each in both]
        columns = [one[0] for one in both[0].ask(f'DESCRIBE "{name}"')]
        if len(rows[0]) != len(rows[1]):
            found[name] = {"rows"}
        elif rows[0] != rows[1]:
            pairs = zip(
                columns, zip(*rows[0], strict=True), zip(*rows[1], strict=True), strict=True
            )
            found[name] = {column for column, one, other in pairs if one != other}
    return found


OWN_TABLES = {"events": "its markers", "causes": "the same", "meta": "when it was made here"}
"""Rows of each machine's own chain that do not travel."""


def is_own(line: str) -> bool:
    if re.match(r"at [a-z2-7]{32}$", line):
        return False
    return any(line == one or line.startswith(f"{one} ") for one in OWN_COMMANDS)


def cleaned(line: str, told: Any) -> Any:
    """Without what is of one machine."""
    own = OWN_KEYS.get(line.split(maxsplit=1)[0], set())
    match told:
        case dict():
            return {name: cleaned(line, one) for name, one in told.items() if name not in own}
        case list():
            return [cleaned(line, one) for one in told]
        case str():
            return REF.sub("", told)
        case _:
            return told


def leaves(told: Any, place: str = "") -> Iterator[tuple[str, str]]:
    match told:
        case dict():
            for name, one in told.items():
                yield from leaves(one, f"{place}.{name}")
        case list():
            yield f"{place}[]", str(len(told))
            for nth, one in enumerate(told):
                yield from leaves(one, f"{place}[{nth}]")
        case _:
            yield place, repr(told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "leads"), [("a", "desk"), ("a", "laptop"), ("b", "laptop"), ("c", "desk")]
)
def test_who_holds_the_same_prints_the_same_but_for_its_own_name(
    seed: str, leads: str, tmp_path: Path
) -> None:
    past = Past(seed, leads, 60 if seed == "a" else 160)
    assert past.faults == []
    said = Asked(tmp_path, past)
    digests = {said.ask(home, "prove")["shared"] for home in said.homes}
    assert len(digests) == 1
    asleep = said.ask(said.homes[0], "agent list")
    assert any(one["asleep_until"] for one in asleep)
    assert said.differing() == {}
    assert tables_differing(past) == {}


def test_every_document_is_asked_for_or_it_is_said_why_not() -> None:
    lines = [*LINES, *asked.OF_PAIR.strip().splitlines()]
    for name, one in DOCUMENTS.items():
        commands = [command.replace("AGENT", "{agent}") for command in one.commands]
        is_asked = any(line.startswith(command) for line in lines for command in commands)
        assert is_asked or name in NOT_READ | BY_ARGUMENTS, name


@pytest.fixture(scope="module")
def past() -> Past:
    return Past("b", "desk", 60)  # in which something is in conflict


@pytest.mark.slow
def test_a_name_that_one_machine_alone_keeps_is_found(past: Past, tmp_path: Path) -> None:
    said = Asked(tmp_path, past)
    label = {"label": "", "labels": {"desk": "The big one"}}
    (said.homes[1] / "sync.json").write_text(json.dumps(label), encoding="utf-8")
    assert any(".label" in place for place in said.differing("conflicts")["conflicts"])


@pytest.mark.slow
def test_what_a_machine_says_of_its_own_queue_alone_is_found(past: Past, tmp_path: Path) -> None:
    class Leaking(Asked):
        def ask(self, home: Path, line: str) -> Any:
            told = super().ask(home, line)
            if line == "agent list":
                services = past.machines[self.homes.index(home)].services
                with services.agents.reading() as world:
                    queues = [world.load(WAKE_QUEUE, one["id"]) for one in told]
                told = [{**one, "seen": len(q.seen)} for one, q in zip(told, queues, strict=True)]
            return told

    assert any(
        ".seen" in place for place in Leaking(tmp_path, past).differing("agent list")["agent list"]
    )
