"""What if? `wakelog fork`."""

import re
import shlex
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from adapters.actions.naming import pick, pick_task
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session
from adapters.cli.upkeep import progress_bar
from adapters.text.common import ID_SHOWN
from domain.errors import Refused, Remedy

if TYPE_CHECKING:
    from adapters.branches import Forked, NoteEdit, TemplateVersion, Wanted
    from adapters.documents.forks import ForkDetails, ForkTemplate
    from adapters.proving import Progress
    from adapters.timetravel.place import Place
    from adapters.wiring import Home
    from replay.diff import WakesCompared
    from replay.fork import Verdict

T = TypeVar("T")

FOLDER = "forks"
ABOUT = "fork.json"
FORKS_MAX = 10_000
_VERDICT = re.compile(r"([a-z0-9]{1,32}\.[1-9][0-9]{0,4})=(confirm|reject)")
_NUMBERED = re.compile(r"(.+)\.([1-9][0-9]{0,4})")


class Options(NamedTuple):
    """What the person typed."""

    run: str
    model: str
    template: str
    notes: tuple[tuple[str, str], ...]
    verdicts: tuple[str, ...]
    out: str


@click.command(
    "fork",
    epilog="Examples: wakelog fork nb5evlz4 --model gemini; wakelog fork nb5evlz4.64 "
    '--model rules; wakelog fork nb5evlz4 --note "Fix the sink.1" "Due by 2027-03-01."; '
    "wakelog fork nb5evlz4 --verdict 3.1=reject; "
    "wakelog fork nb5evlz4 --template Calm.2 --model gemini",
)
@click.argument("run", type=TEXT, metavar="RUN[.STEP]")
@click.option("--model", type=TEXT, default="", metavar="M", help="Who answers what is new.")
@click.option(
    "--template", type=TEXT, default="", metavar="T[.N]",
    help="It lives on template T, at version N or the active one; `built-in`: on none.",
)  # fmt: skip
@click.option(
    "--note", "notes", type=(TEXT, TEXT), multiple=True, metavar="TASK[.N] TEXT",
    help="Note N of a task says TEXT; without N it has one more.",
)  # fmt: skip
@click.option(
    "--verdict", "verdicts", type=TEXT, multiple=True, metavar="SET.ITEM=confirm|reject",
    help="An item was decided so.",
)  # fmt: skip
@click.option("--out", type=TEXT, default="", metavar="DIR", help="A new folder for the fork.")
@click.pass_obj
def fork_command(session: Session, /, **options: object) -> None:
    """Run a wake again with something else in its world, in a home of its own.

    Your journal and agent log are only read. Recorded answers are used for as long as the request
    is byte for byte the recorded one; then the model given is asked, or the fork stops. With
    RUN.STEP the wake goes on from that step, with another model. What happened between another
    verdict and the wake happens again in that world, where models answer what they answered.
    Exit status 1: the fork stopped before its end.

    Every answer is marked: recorded; live, of a language model; stub, of `rules` or a tape.
    """
    from adapters.actions.places import find
    from adapters.documents.timetravel import wake_seen
    from adapters.moments import Past
    from adapters.timetravel.place import past_of
    from replay import diff

    given = Options(**options)  # type: ignore[arg-type]  # click gives them by these names
    home = session.reading()
    place = find(home, given.run)
    wanted = _wanted(home, place, given._replace(model=given.model or session.model))
    folder = _folder(home, place.spot.run_key, given.out)
    with progress_bar(session, home, "Forking") as progress:
        forked = _forked(home, place, wanted, folder, progress)
    try:
        branch = Past(forked.journal, forked.agents)
        was = wake_seen(past_of(home), place.spot.run_key, place.replica)
        compared = diff.wakes(was, wake_seen(branch, forked.run_key, place.replica))
    finally:
        forked.close()
    document = _document(place, wanted, folder, forked, compared)
    _keep(folder, home.path, document)
    if session.as_json:
        session.document(document)
    else:
        _tell(session, document)
    raise SystemExit(1 if forked.stopped else 0)


# ---------------------------------------------------------------------------------- what is wanted


def _wanted(home: "Home", place: "Place", given: Options) -> "Wanted":
    from adapters.actions.places import check_begun
    from adapters.branches import Wanted

    if place.wake is None:
        because = f"{given.run!r} is a moment and no wake"
        raise Refused("unknown_wake", because=because, instead="name a RUN, see `wakelog wakes`")
    check_begun(place.wake, "fork")
    if place.spot.step and (given.template or given.notes or given.verdicts):
        raise Refused(
            "invalid_value",
            because="what a wake is shown is fixed once it has begun",
            instead=f"use `wakelog fork {place.spot.run_key[:ID_SHOWN]}` without a step",
        )
    return Wanted(
        given.model,
        _template(home, given.template) if given.template else None,
        tuple(_note(home, *one) for one in given.notes),
        tuple(_verdict(home, one) for one in given.verdicts),
    )


def _numbered(wanted: str, unknown: str, found: Callable[[str, int], T]) -> T:
    """What a name stands for, with the number behind its last dot, unless that is part of the
    name; 0 where there is none.

    Args:
        wanted: What the person typed.
        unknown: The code with which `found` refuses a name that there is not.
        found: Looks a name and its number up.
    """
    numbered = _NUMBERED.fullmatch(wanted)
    try:
        return found(wanted, 0)
    except Refused as refused:
        if numbered is None or refused.code != unknown:
            raise
    return found(numbered[1], int(numbered[2]))


def _note(home: "Home", task: str, text: str) -> "NoteEdit":
    """A note of a task, or one more."""
    from adapters.branches import NoteEdit

    return _numbered(
        task, "unknown_task", lambda name, number: NoteEdit(pick_task(home, name), number, text)
    )


def _template(home: "Home", wanted: str) -> "TemplateVersion":
    """A template by name or id, and its version."""
    return _numbered(wanted, "unknown_template", lambda name, number: _version(home, name, number))


def _version(home: "Home", wanted: str, number: int) -> "TemplateVersion":
    """A template's version, 0 for the active one; a built-in template that is not in use, too."""
    from adapters.actions.templates import BUILT_IN, seed_named
    from adapters.branches import TemplateVersion
    from adapters.documents.templates import templates_of
    from domain.templates.seeds import seed_id

    if wanted == BUILT_IN:
        return TemplateVersion("", BUILT_IN, 0, "", "")
    living = {one.id: one for one in templates_of(home)}
    seed = seed_named(wanted)
    if seed is not None and seed_id(seed.seed) not in living:
        _check_version(seed.name, (1,), number or 1)
        texts = seed.general, seed.report
        return TemplateVersion(seed_id(seed.seed), seed.name, 1, *texts, seed.seed)
    wanted = seed_id(seed.seed) if seed is not None else wanted
    named = [(one.id, one.name) for one in living.values()]
    template = living[pick(wanted, named, "template", "unknown_template", Remedy("see_templates"))]
    versions = {one.version: one for one in template.versions}
    number = number or template.active
    _check_version(template.name, versions, number)
    with home.desk.agents.reading() as world:
        texts = world.text(versions[number].general), world.text(versions[number].report)
    return TemplateVersion(template.id, template.name, number, *texts)


def _check_version(name: str, known: Collection[int], number: int) -> None:
    if number not in known:
        because = f"the template {name!r} has no version {number}"
        instead = f"see `wakelog template show {shlex.quote(name)}`"
        raise Refused("unknown_template", because=because, instead=instead)


def _verdict(home: "Home", given: str) -> "Verdict":
    from adapters.actions.proposals import pick_item
    from adapters.documents.inbox import all_sets, ranks_of
    from replay.fork import Verdict

    read = _VERDICT.fullmatch(given)
    if read is None:
        because = f"{given!r} is no verdict"
        instead = "write SET.ITEM=confirm or SET.ITEM=reject, 3.1=reject for example"
        raise Refused("invalid_value", because=because, instead=instead)
    ref, verb = read.groups()
    changes, item = pick_item(ref, [one.id for one in all_sets(home)], ranks_of(home))
    return Verdict(changes, item, "confirm" if verb == "confirm" else "reject")


def _folder(home: "Home", run_key: str, out: str) -> Path:
    """Where the fork will be: as told, else the next free folder in the home's `forks`."""
    if out:
        return Path(out).expanduser().absolute()
    free = (home.path / FOLDER / f"{run_key[:ID_SHOWN]}-{nth}" for nth in range(1, FORKS_MAX))
    found = next((path for path in free if not path.exists()), None)
    if found is None:
        because = f"there are {FORKS_MAX} forks of this wake"
        raise Refused("invalid_value", because=because, instead="name a folder with --out")
    return found


def _forked(
    home: "Home", place: "Place", wanted: "Wanted", folder: Path, progress: "Progress | None"
) -> "Forked":
    from adapters.branches import Branch

    model = home.desk.model_for(wanted.model) if wanted.model else None
    branch = Branch(place.past, place.spot.run_key, place.replica, home.settings)
    return branch.make(folder, place.spot, wanted, model, progress)


# -------------------------------------------------------------------------------------- telling it


def _document(
    place: "Place", wanted: "Wanted", folder: Path, forked: "Forked", compared: "WakesCompared"
) -> "ForkDetails":
    """The document of `fork`, which is also kept beside the fork."""
    from adapters.documents.forks import ForkDetails, ForkNote, ForkVerdict

    where = place.spot.where
    return ForkDetails(
        home=str(folder),
        of=str(place.home.path),
        run_key=place.spot.run_key,
        forked_run_key=forked.run_key,
        step=place.spot.step or None,
        journal=place.past.journal.position(where.journal),
        agent=place.past.agents.position(where.agent),
        model=wanted.model or None,
        template=_told(wanted.template) if wanted.template else None,
        notes=[ForkNote(one.task, one.number or None) for one in wanted.notes],
        verdicts=[ForkVerdict(one.changes, one.item, one.verb) for one in wanted.verdicts],
        answers=list(forked.answers),
        stopped=forked.stopped or None,
        left_out=forked.left_out,
        diff=compared,
    )


def _told(template: "TemplateVersion") -> "ForkTemplate":
    from adapters.documents.forks import ForkTemplate

    version = template.version or None
    return ForkTemplate(template.template or None, template.name, version)


def _keep(folder: Path, home: Path, document: "ForkDetails") -> None:
    """What the fork is of, beside it, and the settings of the home that it comes from."""
    import msgspec
    from msgspec.structs import asdict

    from adapters.homefiles import SETTINGS

    told = {name: value for name, value in asdict(document).items() if name not in ("diff", "home")}
    text = msgspec.json.format(msgspec.json.encode(told), indent=2)
    (folder / ABOUT).write_bytes(text + b"\n")
    if (home / SETTINGS).exists():
        (folder / SETTINGS).write_bytes((home / SETTINGS).read_bytes())


def _tell(session: Session, document: "ForkDetails") -> None:
    from adapters.text.timetravel import sides_lines, wakes_lines

    run = document.run_key[:ID_SHOWN]
    session.say(f"forked wake {run} as of {document.agent} into {document.home}")
    for one in document.answers:
        session.say(f"turn {one.turn}  {one.how} answer of {one.model}")
    if document.left_out:
        left = document.left_out
        session.say(f"{left} recorded causes were left out: the fork's world refuses them")
    if document.stopped:
        session.say(f"stopped: {document.stopped}; go on with --model M", style="yellow")
    session.say()
    session.lines(sides_lines("as it was recorded", "in the fork"))
    session.lines(wakes_lines(document.diff))
    home, there = shlex.quote(document.home), document.forked_run_key[:ID_SHOWN]
    session.note(f"\nIt is a home: `wakelog --home {home} show {there}`; delete it at will.")
