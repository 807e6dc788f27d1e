"""A deed and what undoing it does, as its document: for command line and page."""

from typing import TYPE_CHECKING

from adapters.actions.undoing import Deed
from adapters.documents.deeds import UndoableDeed
from adapters.documents.inbox import set_name
from adapters.documents.ranks import ranks_of
from adapters.text.undone import back, stays
from domain.journal.fold import TASK

if TYPE_CHECKING:
    from adapters.wiring import Home

SAID_MAX = 20  # sentences of one deed


def deed_document(home: "Home", deed: Deed) -> UndoableDeed:
    """A deed with what undoing it does, in words."""
    with home.services.journal.reading() as world:
        titles = {one: world.load(TASK, one).title for one in deed.tasks}
        facts = deed.facts[:SAID_MAX]
        said = [back(fact, world.load(TASK, task)) for task, fact in facts]
    if more := len(deed.facts) - len(facts):
        said.append(f"And {more} more")
    ranked = ranks_of(home)
    refs = [f"{set_name(ranked, one)}.{number}" for one, number in deed.items]
    said += [f"Put {one} before you again" for one in refs]
    staying = list(dict.fromkeys(map(stays, deed.staying)))
    return UndoableDeed(
        deed.ref,
        deed.at,
        deed.what,
        deed.state,
        list(titles.values()),
        refs,
        list(dict.fromkeys(said)),
        staying,
    )
