"""Templates of agents, and how they fare: `wakelog template` (SPEC 8), `lessons` and `rate`."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.lazy_groups import command, group, keyed
from adapters.cli.param_types import TEXT
from adapters.cli.shared import Session, flag, option
from adapters.documents.lessons import LessonLine, lesson_lines, ran_of
from adapters.documents.results import Deleted
from adapters.documents.tasks import catalog_of, category_named
from adapters.documents.templates import (
    TemplateGiven,
    seed_document,
    template_document,
    templates_of,
    version_name,
)
from adapters.home.files import machine_names
from adapters.home.read_input import read_input
from adapters.text.agent_output import REASONS_SHOWN, ratings_text, rule_hint, scope_heading
from adapters.text.common import ID_SHOWN, counted, local_time, safe
from adapters.usecases import templates
from adapters.usecases.inputs import NONE, TEXT_BYTES_MAX
from adapters.usecases.resolve import nth_key, pick_agent
from adapters.usecases.templates import BUILT_IN
from domain.errors import invalid
from domain.lessons.lessons import STARS_MAX, TEMPLATE
from domain.templates.seeds import Seed
from domain.text import squeeze

if TYPE_CHECKING:
    from adapters.wiring import Home


@group(
    "template",
    epilog="TEMPLATE is a template's id, the beginning of it, its name, laura or tom.",
    later={"improving": ()},
)
def template_command() -> None:
    """List, make, version, assign and improve templates of agents.

    A template tells its agents how to work and how to report. It has versions, one of them
    active; each wake records which one it ran on. Laura and Tom come with wakelog.
    """


@command("template list")
def template_list(session: Session) -> None:
    """List templates in use, and those that come with wakelog."""
    home = session.reading()
    found = templates_of(home)
    if session.as_json:
        session.document([template_document(home, one) for one in found])
        return
    rows: list[Sequence[object]] = [
        (one.id[:ID_SHOWN], safe(one.name), one.active, one.model_in_force, len(one.instances), "")
        for one in found
    ]
    seeds = templates.unused_seeds(found)
    rows += [("", seed.seed, BUILT_IN, "", 0, seed.summary) for seed in seeds]
    session.table(("ID", "Name", "Version", "Model", "Agents", "What"), rows)
    session.note("Give one to an agent with `wakelog template assign TASK laura`.")


@command("template show", "template", example="laura")
def template_show(session: Session, template: str) -> None:
    """Show a template, its active directives and its versions."""
    home = session.reading()
    known = templates.pick_shown(home, template)
    if isinstance(known, Seed):
        session.tell(
            seed_document(known),
            f"{known.name}, {BUILT_IN}, not in use yet: {known.summary}",
            f"\nHow to work\n{known.general}\n\nHow to report\n{known.report}",
        )
        return
    told = template_document(home, known)
    head = f"{safe(known.name)} ({known.id[:ID_SHOWN]}), {len(known.instances)} agent(s)"
    session.tell(told, head)
    labels = machine_names(home.path, home.services.agents.replica)
    for one in told.versions:
        mark = "*" if one.active else " "
        at = local_time(one.created_at, home.settings.timezone)
        model = f", model {one.model_in_force}" if one.model_in_force else ""
        name = version_name(one.version, labels.get(one.of or "", one.of or ""))
        session.say(f"{mark} version {safe(name)}, {at}, by {one.author}{model}")
    active = next((one for one in told.versions if one.active), None)
    if active is not None:
        session.say(f"\nHow to work\n{safe(active.general)}")
        session.say(f"\nHow to report\n{safe(active.report)}")


# ----------------------------------------------------------------------------------------- changing


def _tell(session: Session, template: str, done: str) -> None:
    home = session.reading()
    known = next((one for one in templates_of(home) if one.id == template), None)
    if session.as_json:
        session.document(template_document(home, known) if known else Deleted(template))
    elif known is not None:
        version = f", version {known.active}" if known.active else ""
        session.say(f"{done}: template {safe(known.name)} ({known.id[:ID_SHOWN]}{version})")
    else:
        session.say(f"{done}: template {template[:ID_SHOWN]}")


def _consent(session: Session, template: str) -> None:
    """Ask for what the agents of a template lack, now that it may have another model."""
    known = next(one for one in templates_of(session.reading()) if one.id == template)
    _ask_for(session, known.instances)


def _ask_for(session: Session, agent_ids: Sequence[str]) -> None:
    from adapters.cli.consent import consent  # `template list` asks nobody

    consent(session, agent_ids)


def _text(given: str, file: Path | None) -> str | None:
    """A directive from its option or its file; None where it is not given."""
    if file is not None:
        given = TEXT(read_input(str(file), TEXT_BYTES_MAX).decode("utf-8", "replace"))
    return given or None


def _texts(
    general: str, general_file: Path | None, report: str, report_file: Path | None
) -> tuple[str | None, str | None]:
    """How to work, and how to report."""
    return _text(general, general_file), _text(report, report_file)


def _categories(home: "Home", names: Sequence[str]) -> tuple[str, ...]:
    catalog = catalog_of(home) if names else None
    return tuple(category_named(catalog, name).id for name in names) if catalog else ()


_FILE = click.Path(path_type=Path, dir_okay=False)


@keyed("template create", "name", example='"Calm" --general-file calm.md')
@option("--general", "How to work, as text.", default="")
@option("--general-file", "The same, from a file.", _FILE)
@option("--report", "How to report, as text.", default="")
@option("--report-file", "The same, from a file.", _FILE)
@option("--model=M", "The model of its agents.", default="")
@option("--category categories", "New agents there take it.", multiple=True)
def template_create(
    session: Session, name: str, model: str, categories: Sequence[str], key: str, **words: Any
) -> None:
    """Make a template with its first version."""
    given = templates.Directives(*_texts(**words), model)
    templates.check_directives(given)
    allowed = _categories(session.reading(), categories)
    made = templates.create_template(session.writing(), name, given, allowed, key)
    _tell(session, made, "Made")


@keyed("template set", "template", example="Calm --model gemini")
@option("--name=N", "What it is called.", default="")
@option("--model=M", "The model of its agents, or none.")
@option(
    "--category categories=C", "New agents there take it; give all of them, or none.", multiple=True
)
def template_set(
    session: Session, template: str, name: str, model: str | None, categories: Sequence[str],
    key: str,
) -> None:  # fmt: skip
    """Change a template's name, model or categories; no version comes of it."""
    home = session.writing()
    wanted = templates.pick_template(home, template, nth_key(key, 1))
    is_emptied = [squeeze(one).lower() for one in categories] == [NONE]
    there = () if is_emptied else _categories(home, categories) or None
    named = "" if model is not None and squeeze(model).lower() == NONE else model
    templates.change_template(home, wanted, name, named, there, key)
    _tell(session, wanted, "Changed")
    _consent(session, wanted)


@keyed("template version", "template", example='Calm --report "Two sentences."')
@option("--general", "How to work; else as in the active version.", default="")
@option("--general-file", "The same, from a file.", _FILE)
@option("--report", "How to report; else as in the active version.", default="")
@option("--report-file", "The same, from a file.", _FILE)
@option("--model=M", "Goes before the template's.", default="")
def template_version(session: Session, template: str, model: str, key: str, **words: Any) -> None:
    """Add a version, active at once; what is not given stays as it is."""
    home = session.writing()
    wanted = templates.pick_template(home, template, nth_key(key, 1))
    given = templates.Directives(*_texts(**words), model or None)
    templates.add_version(home, wanted, given, key)
    _tell(session, wanted, "Active now")
    _consent(session, wanted)


@keyed("template rollback", "template", "version", example="Calm 1")
def template_rollback(session: Session, template: str, version: str, key: str) -> None:
    """Make an old version the active one again.

    Where two machines gave one number, VERSION names the machine, too: 3@laptop.
    """
    home = session.writing()
    wanted = templates.pick_template(home, template, nth_key(key, 1))
    templates.roll_back(home, wanted, version, key)
    _tell(session, wanted, "Active now")
    _consent(session, wanted)


@keyed("template assign", "agent", "template", example='"Fix the tap" tom')
def template_assign(session: Session, agent: str, template: str, key: str) -> None:
    """Let an agent live on a template; `built-in` takes it back to the built-in directives."""
    home = session.writing()
    agent_id = pick_agent(home, agent)
    is_back = template == BUILT_IN
    wanted = "" if is_back else templates.pick_template(home, template, nth_key(key, 1))
    templates.assign_template(home, agent_id, wanted, key)
    told = f"{safe(home.services.agent(agent_id).name)} lives on"
    told += f" {BUILT_IN if is_back else template} now"
    session.tell(TemplateGiven(agent_id, wanted or None), told)
    _ask_for(session, [agent_id])


@keyed("template delete", "template", example="Calm")
def template_delete(session: Session, template: str, key: str) -> None:
    """Take a template out of use; refused while an agent lives on it."""
    wanted = templates.pick_used(session.reading(), template)
    templates.delete_template(session.writing(), wanted, key)
    _tell(session, wanted, "Deleted")


EMPTY = (
    "No lessons yet. They come of what you confirm, reject and defer; "
    "`wakelog lessons --from-history` learns of what you decided before."
)
HEADINGS = ("Change", "Yes", "No", "Later", "Edited", "Declined because")


@keyed("lessons", example=("Work", "--from-history", "Work --never update_task_due_date"))
@click.argument("scope", default="", metavar="[CATEGORY|TEMPLATE]")
@flag("--from-history", "First learn what you decided earlier.")
@option("--never=TOOL", "Have no more of it proposed in the category.")
@option("--again=TOOL", "Take that back.")
def lessons_command(
    session: Session, scope: str, never: str | None, again: str | None, key: str, *,
    from_history: bool,
) -> None:  # fmt: skip
    """See how proposals fare, by kind of change: what agents of a category are told.

    Of each kind the newest 50 verdicts count. Lessons stay in the category that the task had when
    you decided; those of a template are for you to see. What you rule out in a category no agent
    proposes there any more.
    """
    from adapters.usecases.lessons import learn_history, pick_scope, rule_tool

    if never and again:
        raise invalid("--never and --again together", "name one of them")
    tool = never or again
    home = session.writing() if from_history or tool else session.reading()
    if tool:
        session.note(safe(rule_tool(home, scope, tool, is_off=bool(never), key=key)))
    wanted = pick_scope(home, scope) if scope else ""
    if from_history:
        session.note(f"{counted(learn_history(home), 'lesson')} learnt from earlier verdicts.")
    found = lesson_lines(home, wanted)
    if session.as_json:
        session.document(found)
    elif not found:
        session.say((wanted and ratings_text(ran_of(home, wanted))) or EMPTY)
    for nth, (one, lines) in enumerate(groupby(found, key=attrgetter("scope"))):
        of_one = list(lines)
        if nth:
            session.say()
        session.say(safe(scope_heading(one, of_one[0].name)))
        session.table(HEADINGS, [_row(line) for line in of_one])
        for told in filter(None, map(rule_hint, of_one)):
            session.say(safe(told))
        if one.startswith(TEMPLATE) and (told := ratings_text(ran_of(home, one))):
            session.say(told)


def _row(line: LessonLine) -> tuple[object, ...]:
    told = [f'"{one.text}" ({one.count})' for one in line.reasons[:REASONS_SHOWN]]
    return line.tool, line.confirmed, line.rejected, line.deferred, line.edited, ", ".join(told)


@keyed("rate", "run", example="4hx2 5")
@click.argument("stars", type=click.IntRange(1, STARS_MAX))
def rate_command(session: Session, run: str, stars: int, key: str) -> None:
    """Rate a wake of an agent that lives on a template: 1 to 5, the best.

    RUN is the beginning of a wake's id, or names a task whose agent has run once. See
    `wakelog wakes`.
    """
    from adapters.usecases.lessons import rate_run

    rated = rate_run(session.writing(), run, stars, key)
    done = "Rated so already" if rated.unchanged else "Rated"
    told = f"{done}: {rated.run_key[:ID_SHOWN]}  {rated.stars} of {STARS_MAX}"
    session.tell(rated, told)
