"""What is shown or done costs the same in a home of four times as many tasks.

Work is counted, not timed: the steps of SQLite's own machine that reading the views takes. Each
row that is read, and so each document, costs some.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from adapters.cli.agents import agent_command
from adapters.cli.conflicts import conflicts_command
from adapters.cli.reading import wakes_command
from adapters.cli.shared import Session
from adapters.cli.show import show_command
from adapters.cli.tasks import task_command, today_command
from adapters.documents.agents import all_agents
from adapters.documents.inbox import inbox_sets
from adapters.store.sqlite import SQLiteLogRecorder
from adapters.usecases.resolve import pick_agent, pick_task
from adapters.usecases.wake_agents import prepare_wakes
from adapters.web import agents, first_run, policy, time_travel
from adapters.web.http_types import FormRequest
from adapters.web.routes import Show
from adapters.web.site import Site
from adapters.wiring import Home, open_home
from projections import wakes
from tests.support.cli import FIXED, done
from tests.support.homes import Homes

SMALL, LARGE = 60, 240
STEPS = 10  # between two looks at the counter
ALIKE = 1.5  # an index is a step deeper in a large home

Deed = Callable[[Home], object]


def _made(home: Path, count: int) -> None:
    lines = (f"- [ ] Fix tap {nth}\n" for nth in range(count))
    (home / "TODO.md").write_text("".join(lines))
    done(["import", str(home / "TODO.md")], home)
    done(["agent", "create", "--all"], home)
    done(["task", "add", "Left alone"], home)
    done(["wake", "Fix tap 7"], home)


def small(home: Path) -> None:
    _made(home, SMALL)


def large(home: Path) -> None:
    _made(home, LARGE)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Home]]:
    """A home, and one of four times as many tasks, each but one with an agent."""
    folder = tmp_path_factory.mktemp("growth")
    copies = Homes(folder)
    found = []
    for make in (small, large):
        home = copies.copy(make, folder / make.__name__)
        found.append(open_home(home, {**FIXED, "WAKELOG_HOME": str(home)}))
        found[-1].views.catch_up()
    first, second = found
    yield first, second
    for one in found:
        one.close()


def work(home: Home, deed: Deed) -> int:
    """How much SQLite does for a deed in the views."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    connection = home.views._store._connection  # type: ignore[attr-defined]  # a file
    connection.set_progress_handler(count, STEPS)
    try:
        deed(home)
    finally:
        connection.set_progress_handler(None, STEPS)
    return steps


def command(found: click.Command, *args: str) -> Deed:
    """A reading command, on a home that is open already."""

    def run(home: Home) -> None:
        session = Session(home.path, model="", as_json=True, is_quiet=False)
        session._home = home
        found.context_settings["help_option_names"] = ["-h", "--help"]  # which click keeps
        CliRunner().invoke(found, args, obj=session, catch_exceptions=False)

    return run


def run_key(home: Home) -> str:
    return home.views.page(wakes.VIEW, limit=1)[0].run_key


def shown(show: Show, site: Site, asked: FormRequest) -> Deed:
    """The page of a site, without its HTML."""
    return lambda _: show(site, asked)


@pytest.mark.parametrize(
    "deed",
    [
        pytest.param(command(task_command, "list", "--limit", "5"), id="task list"),
        pytest.param(command(task_command, "list", "--open", "--limit", "5"), id="open ones"),
        pytest.param(command(task_command, "list", "--deleted"), id="deleted ones"),
        pytest.param(command(agent_command, "list", "--lifecycle", "destroyed"), id="agents"),
        pytest.param(command(wakes_command, "--limit", "5"), id="wakes"),
        pytest.param(command(conflicts_command), id="conflicts"),
        pytest.param(command(today_command), id="today"),
    ],
)
def test_a_list_reads_what_it_shows(both: tuple[Home, Home], deed: Deed) -> None:
    one, other = (work(home, deed) for home in both)
    assert 0 < other <= one * ALIKE, (one, other)


@pytest.mark.parametrize(
    "deed",
    [
        pytest.param(lambda home: pick_task(home, "Fix tap 7"), id="a task's title"),
        pytest.param(lambda home: pick_agent(home, "Fix tap 7"), id="an agent's name"),
        pytest.param(command(agent_command, "show", "Fix tap 7"), id="agent show"),
        pytest.param(lambda home: command(show_command, run_key(home))(home), id="show RUN"),
    ],
)
def test_what_is_named_is_found_without_the_others(both: tuple[Home, Home], deed: Deed) -> None:
    one, other = (work(home, deed) for home in both)
    assert 0 < other <= one * ALIKE, (one, other)


def test_a_page_about_one_thing_reads_no_more_in_a_large_home(both: tuple[Home, Home]) -> None:
    """Where a model is named the newest agents' are offered; `/first` counts tasks unread."""
    found: list[list[int]] = []
    for one in both:
        site, agent = Site(one.path, FIXED), pick_agent(one, "Fix tap 7")
        wake = one.views.page(wakes.VIEW, shelf=agent, newest_first=True)[0]
        asked = FormRequest("/", {"id": agent, "run": wake.run_key})
        pages = policy.show, agents.show_one, time_travel.show
        found.append([work(site.home, shown(show, site, asked)) for show in pages])
        told = first_run.show(site, asked).document
        assert (told["tasks_without_agent"], told["agents"]) == (1, len(all_agents(one)))
        site.close()
    assert all(0 < large <= small * ALIKE for small, large in zip(*found, strict=True)), found


def test_who_wakes_goes_on_from_states_that_were_kept(both: tuple[Home, Home]) -> None:
    for one in both:
        assert not one.services.agents.has_resumed
        prepare_wakes(one)
        assert one.services.agents.has_resumed


def test_an_inbox_is_read_at_one_time_however_much_waits(tmp_path: Path) -> None:
    tasks = (f"- [ ] Fix tap {nth}\n\n  It takes about 2 hours.\n\n" for nth in range(8))
    (tmp_path / "TODO.md").write_text("".join(tasks))
    done(["import", str(tmp_path / "TODO.md")], tmp_path)
    done(["agent", "create", "--all"], tmp_path)
    done(["wake"], tmp_path)
    with open_home(tmp_path, {**FIXED, "WAKELOG_HOME": str(tmp_path)}) as home:
        home.views.catch_up()
        begun: list[str] = []
        for log in (home.services.journal, home.services.agents):
            recorder = log.recorder
            assert isinstance(recorder, SQLiteLogRecorder)
            recorder._connection.set_trace_callback(begun.append)
        assert sum(len(one.items) for one in inbox_sets(home)) >= 8
    assert begun.count("BEGIN") == 2  # one of each log
