"""A watcher that goes forward row by row notices what one that looks each append up anew does."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.runtime import watcher
from adapters.runtime.services import Services
from domain.agent.commands import TakeJournal
from domain.agent.subscriptions import Batch
from domain.append.causes import Receipt
from domain.append.notification_batch import batch
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.commands import JournalCommand
from domain.journal.links import LINKS
from domain.journal.task import TASK
from domain.log.wire import Words
from tests.support.services import services

TITLES = ("one", "two", "three")
Made = Callable[[list[str]], JournalCommand]
places = st.integers(0, len(TITLES) - 1)
commands: st.SearchStrategy[Made] = st.one_of(
    st.builds(lambda n: lambda ids: do.AddNote(ids[n], "note", Words("a")), places),
    st.builds(lambda n: lambda ids: do.EditTask(ids[n], status="DONE"), places),
    st.builds(lambda n: lambda ids: do.EditTask(ids[n], category="Home"), places),
    st.builds(lambda n, m: lambda ids: do.LinkTask(ids[n], "relates_to", ids[m]), places, places),
    st.builds(lambda n, m: lambda ids: do.UnlinkTask(ids[n], "relates_to", ids[m]), places, places),
    st.builds(lambda n: lambda ids: do.DeleteTask(ids[n]), places),
)


def taken(at: Services) -> list[Batch]:
    """All batches that a watcher has handed over."""
    rows = (row.fact for rows in at.agents.appends() for row in rows)
    causes = [one.command for one in rows if isinstance(one, Receipt)]
    return [one for cause in causes if isinstance(cause, TakeJournal) for one in cause.batches]


def looked_up(at: Services) -> list[Batch]:
    """The same, each append read in a world of its own."""
    found = []
    for rows in at.journal.appends():
        world = at.journal.world_at(rows[0].n)
        found.append(batch(rows, partial(world.load, LINKS), partial(world.load, TASK)))
    return [one for one in found if one is not None]


@given(steps=st.lists(commands | st.none(), max_size=25))
@settings(max_examples=60)
def test_notices_are_the_same_however_often_a_watcher_comes(steps: list[Made | None]) -> None:
    at, another = services(), services()
    another.journal, another.agents = at.journal, at.agents
    ids = [at.append_journal(do.CreateTask(title)).result.ids[0] for title in TITLES]
    at.append_journal(do.AddCategory("Home"))
    for nth, made in enumerate(steps):
        if made is None:
            watcher.catch_up(another if nth % 5 == 0 else at)
            continue
        with suppress(Refused):
            at.append_journal(made(ids))
    watcher.catch_up(at)
    assert taken(at) == looked_up(at)
