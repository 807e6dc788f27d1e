"""Templates are named, made, changed and assigned; a built-in one is put in use when it is first
named."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.documents.templates import named_version, templates_of
from adapters.home.extensions import check_installed
from adapters.home.files import machine_names
from adapters.usecases.resolve import nth_key, pick
from domain.agent import deciders
from domain.errors import Refused, Remedy, invalid
from domain.templates import commands as do
from domain.templates.template import DIRECTIVE_MAX_BYTES, TEMPLATE, Template

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.append.causes import Result
    from domain.log.wire import Payload, Words
    from domain.templates.seeds import Seed


BUILT_IN = "built-in"
AFTER_NAMING = 2  # the append of a deed that may have put its template in use by the first one


def unused_seeds(used: Iterable[Template]) -> "list[Seed]":
    """The built-in templates that are not in use, and whose name no other has."""
    from domain.templates.seeds import SEEDS, seed_id

    taken = {word for one in used for word in (one.id, one.name)}
    return [one for one in SEEDS if taken.isdisjoint((seed_id(one.seed), one.name))]


def pick_shown(home: "Home", wanted: str) -> "Template | Seed":
    """The template that is meant; a built-in one that is not in use as its seed. `laura` is Laura
    also where she has another name now. Raises Refused."""
    from domain.templates.seeds import seed_id

    used = {one.id: one for one in templates_of(home)}
    for seed in unused_seeds(used.values()):
        if seed.seed == wanted.lower():
            return seed
    built_in = seed_id(wanted.lower())
    named = built_in if built_in in used else wanted
    found = [(one.id, one.name) for one in used.values()]
    return used[pick(named, found, "template", "unknown_template", Remedy("see_templates"))]


def pick_template(home: "Home", wanted: str, key: str = "") -> str:
    """The id of a template; a built-in one is put in use when it is first named, and made anew
    where it was deleted since."""
    found = pick_shown(home, wanted)
    if isinstance(found, Template):
        return found.id
    from domain.templates.seeds import seed_id

    with home.services.agents.reading() as world:
        seed = "" if world.load(TEMPLATE, seed_id(found.seed)).is_deleted else found.seed
    general, report = shared_words(found.general), shared_words(found.report)
    command = do.CreateTemplate(found.name, general[0], report[0], seed=seed)
    return _append(home, command, key, [*general[1], *report[1]]).ids[0]


def pick_used(home: "Home", wanted: str) -> str:
    """The id of a template that is in use. Raises Refused, ``unknown_template``, ``ambiguous``."""
    found = pick_shown(home, wanted)
    if isinstance(found, Template):
        return found.id
    because = f"nobody has lived on the built-in template {found.name!r} yet"
    raise Refused(
        "unknown_template", because=because, instead=Remedy("assign_template", found.seed)
    )


# ------------------------------------------------------------------------------------------ change


class Directives(NamedTuple):
    """What a version says. None: as the active one; of a new template: nothing."""

    general: str | None = None
    report: str | None = None
    model: str | None = None


def check_directives(given: Directives) -> None:
    """Look whether a version can say this. Raises Refused, code ``invalid_value``."""
    for what, text in (("general", given.general), ("report", given.report)):
        if (size := len((text or "").encode())) > DIRECTIVE_MAX_BYTES:
            raise invalid(f"the {what} directive has {size} bytes", f"use {DIRECTIVE_MAX_BYTES}")
    if given.model:
        check_installed(deciders.valid_model(given.model))


def create_template(
    home: "Home", name: str, given: Directives, categories: tuple[str, ...] = (), key: str = ""
) -> str:
    """Make a template with its first version; its id. Raises Refused."""
    check_directives(given)
    work, told = shared_words(given.general or ""), shared_words(given.report or "")
    command = do.CreateTemplate(name, work[0], told[0], given.model or "", categories)
    return _append(home, command, nth_key(key, 1), [*work[1], *told[1]]).ids[0]


def change_template(
    home: "Home",
    template_id: str,
    name: str = "",
    model: str | None = None,
    categories: tuple[str, ...] | None = None,
    key: str = "",
) -> None:
    """Give a template another name, model or categories; what is left out stays. Raises Refused."""
    if model:
        check_installed(deciders.valid_model(model))
    command = do.ChangeTemplate(template_id, name, model, categories)
    _append(home, command, nth_key(key, AFTER_NAMING))


def add_version(home: "Home", template_id: str, given: Directives, key: str = "") -> None:
    """Add a version of a template, active at once. Raises Refused."""
    check_directives(given)
    active = next(one for one in templates_of(home) if one.id == template_id).version
    was = Directives("", "", "")
    if active is not None:
        with home.services.agents.reading() as world:
            was = Directives(world.text(active.general), world.text(active.report), active.model)
    full = [old if new is None else new for old, new in zip(was, given, strict=True)]
    work, told = shared_words(full[0] or ""), shared_words(full[1] or "")
    command = do.AddVersion(template_id, work[0], told[0], "user", full[2] or "")
    _append(home, command, nth_key(key, AFTER_NAMING), [*work[1], *told[1]])


def roll_back(home: "Home", template_id: str, version: str, key: str = "") -> None:
    """Make an old version of a template the active one again: ``3``, or ``3@MACHINE`` where two
    machines have the number. Raises Refused."""
    number, of = named_version(version)
    whose = replica_named(home, of)
    _append(home, do.RollBackTemplate(template_id, number, whose), nth_key(key, AFTER_NAMING))


def replica_named(home: "Home", machine: str) -> str:
    """The replica of what a machine is called, or of itself."""
    if not machine:
        return ""
    names = machine_names(home.path, home.services.agents.replica)
    return next((one for one, label in names.items() if label == machine), machine)


def assign_template(home: "Home", agent_id: str, template_id: str, key: str = "") -> None:
    """Let an agent live on a template; empty: on the built-in directives. Raises Refused."""
    _append(home, do.AssignTemplate(agent_id, template_id), nth_key(key, AFTER_NAMING))


def delete_template(home: "Home", template_id: str, key: str = "") -> None:
    """Take a template out of use; refused while an agent lives on it. Raises Refused."""
    _append(home, do.DeleteTemplate(template_id), nth_key(key, 1))


def _append(
    home: "Home", command: do.TemplateCommand, key: str, payloads: "Sequence[Payload]" = ()
) -> "Result":
    result = home.services.append_agent(command, key=key, payloads=payloads).result
    home.views.catch_up()
    return result


def shared_words(text: str) -> "tuple[Words, tuple[Payload, ...]]":
    from domain.log.wire import SHARED, words

    return words(SHARED, text)
