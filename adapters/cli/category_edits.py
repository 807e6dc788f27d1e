"""`wakelog category add`, `rename`, `correct` and `review`."""

from typing import TYPE_CHECKING

import click

from adapters.cli.catalog import all_categories
from adapters.cli.editing import Editing
from adapters.cli.lazy_groups import keyed
from adapters.cli.shared import Session
from adapters.documents.tasks import catalog_of, category_named
from adapters.text.common import safe
from adapters.usecases.catalog import (
    add_category,
    check_correction,
    correct_category,
    rename_category,
)
from adapters.usecases.inputs import language_named
from domain.journal.catalog import NAME_MAX
from domain.journal.edits import titled

if TYPE_CHECKING:
    from adapters.usecases.tasks import UseCaseResult


def _tell_category(editing: Editing, done: str, kept: "UseCaseResult") -> None:
    """Say what became of a category."""
    (category_id,) = editing.did(kept).ids
    category = category_named(catalog_of(editing.session.reading()), category_id)
    if editing.session.as_json:
        found = [one for one in all_categories(editing.session) if one.id == category.id]
        editing.session.document(found[0])
    editing.session.say(f'{editing.outcome(done)}: category "{safe(category.name)}"')


@keyed("category add", "name", example='"Garden" --language en')
@click.option("--language", default="none", metavar="L", help="Its default language.")
def category_add(session: Session, name: str, language: str, key: str) -> None:
    """Add a category."""
    said = titled(name, NAME_MAX, "name"), language_named(language)
    editing = Editing(session, key)
    _tell_category(editing, "Added", add_category(editing.home, *said, key))


@keyed("category rename", "category", "name", example='"Garden" "Outdoors"')
def category_rename(session: Session, category: str, name: str, key: str) -> None:
    """Give a category another name; its tasks stay in it."""
    editing = Editing(session, key)
    _tell_category(editing, "Renamed", rename_category(editing.home, category, name, key))


@keyed("category correct", "category", "before", "after", example='Work "mtg" "meeting"')
def category_correct(session: Session, category: str, before: str, after: str, key: str) -> None:
    """Teach agents by example: what was written, and what it should have been."""
    check_correction(before, after)
    editing = Editing(session, key)
    kept = correct_category(editing.home, category, before, after, key)
    _tell_category(editing, "Noted the correction", kept)


@keyed("category review", "category", example=("House", "Work --model gemini --no-timer"))
@click.option("--model", default="", metavar="M", help="What it asks; else the home's.")
@click.option("--no-timer", is_flag=True, help="It wakes only when you ask.")
def category_review(
    session: Session, category: str, model: str, key: str, *, no_timer: bool
) -> None:
    """Let an agent look over a category: what was done in two weeks, what lies untouched.

    It is made where there is none, and wakes every Monday; the options are of a new one. What it
    asks of the agents of tasks, and tasks that it proposes, come to you as ever.
    """
    from adapters.cli.wake import tell_made, tell_woken, woken
    from adapters.documents.agent_output import report_document
    from adapters.usecases import kinds
    from adapters.usecases.agents import AgentOptions
    from adapters.usecases.wake_agents import request_wake

    home = session.writing()
    found = category_named(catalog_of(home), category)
    made = kinds.of_category(home, found, AgentOptions(model=model), has_timer=not no_timer)
    tell_made(session, home, made)
    document, error = woken(session, home, made.agent, lambda: request_wake(home, made.agent, key))
    said = report_document(home, made.agent).content
    if session.as_json or error or not said or document.outcome != "completed":
        raise SystemExit(tell_woken(session, home, document, error))
    if document.report is None:
        session.note("It wrote no new report; this is the one from before.")
    session.markdown(said)
    if document.proposals:
        session.note("See what it proposes with `wakelog inbox`.")
