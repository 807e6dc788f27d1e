"""`wakelog simulate`: the whole of it on made-up homes, and the laws after every step."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, option
from adapters.documents.results import SimulationDetails
from adapters.home.files import check_no_database
from adapters.proof import histories
from adapters.text.common import counted, safe
from domain.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.simulation.play import Episode, SimulationResult

FAULTS_SHOWN = 10
WAKES_MAX = 10_000_000


@command(
    "simulate",
    epilog="Examples: wakelog simulate --wakes 500 --seed monday; "
    "wakelog --json simulate --wakes 20000 --seed 7 --keep failing.jsonl",
)
@option("--wakes", kind=click.IntRange(1, WAKES_MAX), shown=200)
@option("--seed=TEXT", shown="wakelog")
@option(
    "--replicas", "Machines of each home, which meet in a folder.", click.IntRange(1, 5), shown=1
)
@option(
    "--keep=FILE", "Where to write a failing episode, as a history.",
    click.Path(dir_okay=False, path_type=Path),
)  # fmt: skip
def simulate_command(
    session: Session, wakes: int, seed: str, replicas: int, keep: Path | None
) -> None:
    """Try everything at once, by a seed: nothing of yours is read or written.

    In memory, on a virtual clock, a scripted person edits, asks and decides; the model calls
    wrong tools, sends bad JSON, repeats itself, floods, falls silent or is overloaded; processes
    die at appends, and the disk fills up. With --replicas, all of it goes on on several machines,
    whose clocks differ and whose folder brings files late, twice or not at all. After every step
    the laws are checked, and in the end all logs are proved. The same seed gives the same digest
    on every machine. Exit status 1: a law was broken; then the plan is made as short as it can
    be, and --keep writes its history.
    """
    from adapters.simulation.fleet import FleetEpisode
    from adapters.simulation.play import HomeEpisode, simulate

    play = partial(FleetEpisode, replicas) if replicas > 1 else HomeEpisode
    with session.bar("Simulating", wakes) as bar:
        done = simulate(seed, wakes, lambda at, _: bar.update(at - bar.pos), play)
    kept = _kept(done, keep, play) if keep and done.faults else None
    document = SimulationDetails(
        ok=not done.faults,
        seed=seed,
        digest=done.digest,
        episodes=done.episodes,
        wakes=done.wakes,
        rows=done.rows,
        crashes=done.crashes,
        faults=list(done.faults),
        failed=done.failed or None,
        steps=[(one.deed, one.who, one.how) for one in done.steps],
        history=str(kept) if kept else None,
        replicas=replicas,
    )
    if not session.printed(document):
        _tell(session, done, kept)
    raise SystemExit(1 if done.faults else 0)


def _tell(session: Session, done: "SimulationResult", kept: Path | None) -> None:
    what = f"{counted(done.wakes, 'wake')} in {counted(done.episodes, 'home')}, "
    what += f"{counted(done.rows, 'row')}, {counted(done.crashes, 'accident')}"
    if not done.faults:
        session.say(f"{what}: every law held after every step, and all of it proved.")
    else:
        session.say(
            f"A law was broken after {what}, in the home of seed {done.failed}:", style="red"
        )
        for fault in done.faults[:FAULTS_SHOWN]:
            session.say(safe(f"    {fault}"))
        steps = " ".join(one.deed for one in done.steps)
        session.say(f"The shortest plan found that does it: {steps}")
        session.say(f"Its history is in {kept}." if kept else "--keep FILE writes its history.")
    session.say(f"digest {done.digest}")


def _kept(done: "SimulationResult", path: Path, play: "Callable[[], Episode]") -> Path:
    from adapters.simulation.play import history_of

    check_no_database(path)
    try:
        path.write_text(
            "".join(histories.history_lines(history_of(done.steps, play))), encoding="utf-8"
        )
    except OSError as error:
        because = f"{path} cannot be written: {error.strerror}"
        raise Refused("read_only", because=because, instead="name another file") from None
    return path
