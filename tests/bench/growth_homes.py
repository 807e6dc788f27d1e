"""The homes of `growth.py`: so many tasks, each with an agent that woke, proposed and reported.

Each size is lived once, in memory and in one process, and kept. The agents take turns, as they do
where people work: no two appends in a row are of one agent.
"""

import os
import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

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


class Made(NamedTuple):
    """A home that is kept. `journal`: the append of a note to the task in the middle."""

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
