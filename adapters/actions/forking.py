"""What if? A wake is run again with something else in its world, in a home of its own."""

import re
import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from msgspec.structs import asdict

from adapters.actions.forks import ABOUT, SIDES, new_fork
from adapters.actions.naming import pick, pick_task
from adapters.actions.places import check_begun, find
from adapters.actions.proposals import pick_item
from adapters.actions.templates import BUILT_IN, replica_named, seed_named
from adapters.documents.forks import ForkDetails, ForkNote, ForkTemplate, ForkVerdict
from adapters.documents.ranks import ranks_of
from adapters.documents.templates import templates_of, whose
from adapters.documents.timetravel import wake_seen
from adapters.home.files import SETTINGS
from adapters.runtime.fork_ledger import Spent
from adapters.store.log import LogProgress
from adapters.text.common import ID_SHOWN
from adapters.timetravel.fork import Branch, Forked, NoteEdit, TemplateVersion, Wanted
from adapters.timetravel.fork_spending import TOKENS_MAX, Spending
from adapters.timetravel.logs_at import Past
from adapters.timetravel.place import Place
from domain.errors import Refused, Remedy
from domain.policy.gate import is_leaving
from domain.templates.seeds import seed_id
from replay import diff
from replay.diff import WakesCompared
from replay.fork import Verdict

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.ports import Model

T = TypeVar("T")

_VERDICT = re.compile(r"((?:[^=]+/)?[a-z0-9]{1,32}\.[1-9][0-9]{0,4})=(confirm|reject)")
_NUMBERED = re.compile(r"(.+)\.([1-9][0-9]{0,4})")


class Branching(NamedTuple):
    """What shall be otherwise, as a person says it.

    `template` is T or T.N, or ``built-in``; each of `notes` a task, with the number of a note or
    without, and its text; `verdicts` are spelled SET.ITEM=confirm or SET.ITEM=reject. `model`
    answers what the record does not; empty: nobody, after other notes the home's. `out` is a new
    folder; empty: one in the home. `tokens_max`: so many a model that is paid may take.
    """

    model: str = ""
    template: str = ""
    notes: Sequence[tuple[str, str]] = ()
    verdicts: Sequence[str] = ()
    out: str = ""
    tokens_max: int = TOKENS_MAX


def fork_wake(
    home: "Home", run: str, wish: Branching, progress: LogProgress | None = None
) -> ForkDetails:
    """Run a wake again in a home of its own; this one is only read.

    Args:
        home: Its views caught up.
        run: RUN or RUN.STEP.
        wish: What shall be otherwise.
        progress: Is told how far each log has come, in appends.

    Returns:
        The document of `fork`, which is also kept beside the fork.

    Raises:
        Refused: What is wished for is not there, or not possible in the fork.
    """
    if wish.tokens_max < 1:
        because = f"a fork of {wish.tokens_max} tokens asks nobody"
        raise Refused("invalid_value", because=because, instead="give at least 1")
    place, wanted = look(home, run, wish)
    model = _model(home, wanted)
    is_paid = model is not None and is_leaving(model.name)
    with new_fork(home.path, place.spot.run_key, wish.out, is_alone=is_paid) as (folder, made):
        spending = _spending(home, place, folder.name, model, wish) if model and is_paid else None
        branch = Branch(place.past, place.spot.run_key, place.replica, home.settings)
        forked = branch.make(made, place.spot, wanted, model, progress, spending)
        try:
            there = Past(forked.journal, forked.agents)
            was = wake_seen(place.past, place.spot.run_key, place.replica)
            compared = diff.wakes(was, wake_seen(there, forked.run_key, place.replica))
        finally:
            forked.close()
        taken = spending.tokens if spending is not None else 0
        document = _document(place, wanted, folder, forked, compared, taken)
        _keep(made, home.path, document)
    return document


def _spending(home: "Home", place: Place, name: str, model: "Model", wish: Branching) -> Spending:
    """What a paid model may take: the fork's limit, and what is left of the home's day.

    Raises:
        Refused: Code ``unpriced_model``.
    """
    assert place.wake is not None  # `look` has looked
    services = home.services
    services.budgets.check_priced(model.name, services.clock.now())
    about = Spent(name, place.wake.agent_id, model.name)
    return Spending(services.budgets, services.clock, services.ledger, about, wish.tokens_max)


def look(home: "Home", run: str, wish: Branching) -> tuple[Place, Wanted]:
    """Which wake is meant, and what shall be otherwise; nothing is made yet.

    Raises:
        Refused: What is wished for is not there.
    """
    place = find(home, run)
    return place, _wanted(home, place, run, wish)


def _model(home: "Home", wanted: Wanted) -> "Model | None":
    """Who answers what the record does not; a model that nobody asked for by name, and that has no
    key here, is none."""
    try:
        return home.services.model_for(wanted.model) if wanted.model else None
    except Refused as refused:
        if wanted.is_going_on and refused.code == "missing_key":
            return None
        raise


# ---------------------------------------------------------------------------------- what is wanted


def _wanted(home: "Home", place: Place, run: str, wish: Branching) -> Wanted:
    if place.wake is None:
        because = f"{run!r} is a moment and no wake"
        raise Refused("unknown_wake", because=because, instead="name a RUN, see `wakelog wakes`")
    check_begun(place.wake, "fork")
    if place.spot.step and (wish.template or wish.notes or wish.verdicts):
        raise Refused(
            "invalid_value",
            because="what a wake is shown is fixed once it has begun",
            instead=f"use `wakelog fork {place.spot.run_key[:ID_SHOWN]}` without a step",
        )
    is_going_on = bool(wish.notes) and not wish.model
    return Wanted(
        home.settings.model if is_going_on else wish.model,
        _template(home, wish.template) if wish.template else None,
        tuple(_note(home, *one) for one in wish.notes),
        tuple(_verdict(home, one) for one in wish.verdicts),
        is_going_on,
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


def _note(home: "Home", task: str, text: str) -> NoteEdit:
    """A note of a task, or one more."""
    return _numbered(
        task, "unknown_task", lambda name, number: NoteEdit(pick_task(home, name), number, text)
    )


def _template(home: "Home", wanted: str) -> TemplateVersion:
    """A template by name or id, and its version, of two machines ``NAME.3@MACHINE``."""
    unknown, (base, _, of) = "unknown_template", wanted.rpartition("@")
    try:
        return _numbered(wanted, unknown, lambda name, number: _version(home, name, number))
    except Refused as refused:
        if not base or refused.code != unknown:
            raise
    return _numbered(base, unknown, lambda name, number: _version(home, name, number, of))


def _version(home: "Home", wanted: str, number: int, of: str = "") -> TemplateVersion:
    """A template's version, 0 for the active one; a built-in template that is not in use, too."""
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
    number, active = number or template.active, template.version
    machine = replica_named(home, of)
    found = [one for one in template.numbered(number) if not machine or one.is_of(machine)]
    _check_version(template.name, [one.version for one in found], number)
    version = active if active in found else found[0]
    with home.services.agents.reading() as world:
        texts = world.text(version.general), world.text(version.report)
    return TemplateVersion(template.id, template.name, number, *texts, of=whose(template, version))


def _check_version(name: str, known: Collection[int], number: int) -> None:
    if number not in known:
        because = f"the template {name!r} has no version {number}"
        instead = f"see `wakelog template show {shlex.quote(name)}`"
        raise Refused("unknown_template", because=because, instead=instead)


def _verdict(home: "Home", given: str) -> Verdict:
    read = _VERDICT.fullmatch(given)
    if read is None:
        because = f"{given!r} is no verdict"
        instead = "write SET.ITEM=confirm or SET.ITEM=reject, 3.1=reject for example"
        raise Refused("invalid_value", because=because, instead=instead)
    ref, verb = read.groups()
    changes, item = pick_item(home, ref, ranks_of(home))
    return Verdict(changes, item, "confirm" if verb == "confirm" else "reject")


def _document(
    place: Place,
    wanted: Wanted,
    folder: Path,
    forked: Forked,
    compared: WakesCompared,
    taken: int,
) -> ForkDetails:
    """The document of `fork`, which is also kept beside the fork."""
    assert place.wake is not None  # `look` has looked
    return ForkDetails(
        home=str(folder),
        of=str(place.home.path),
        run_key=place.spot.run_key,
        forked_run_key=forked.run_key,
        step=place.spot.step or None,
        journal=place.heads[0],
        agent=place.heads[1],
        model=wanted.model or None,
        template=_told(wanted.template) if wanted.template else None,
        notes=[ForkNote(one.task, one.number or None) for one in wanted.notes],
        verdicts=[ForkVerdict(one.changes, one.item, one.verb) for one in wanted.verdicts],
        answers=list(forked.answers),
        stopped=forked.stopped or None,
        left_out=forked.left_out,
        diff=compared,
        agent_id=place.wake.agent_id,
        made_at=place.home.services.clock.now(),
        tokens=taken,
    )


def _told(template: TemplateVersion) -> ForkTemplate:
    version = template.version or None
    return ForkTemplate(template.template or None, template.name, version)


def _keep(folder: Path, home: Path, document: ForkDetails) -> None:
    """What the fork is of and both sides, beside it, and the settings of the home it comes from."""
    told = {name: value for name, value in asdict(document).items() if name not in ("diff", "home")}
    text = msgspec.json.format(msgspec.json.encode(told), indent=2)
    (folder / ABOUT).write_bytes(text + b"\n")
    (folder / SIDES).write_bytes(msgspec.json.encode(document.diff) + b"\n")
    if (home / SETTINGS).exists():
        (folder / SETTINGS).write_bytes((home / SETTINGS).read_bytes())
