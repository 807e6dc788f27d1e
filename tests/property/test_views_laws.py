"""Views can be thrown away: whatever happened, and in whatever steps it was noticed."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.home.views import BATCH_APPENDS, Views
from adapters.store.log import Log
from domain.errors import Refused
from domain.journal import commands as do
from domain.journal.task import STATUSES
from domain.log.state import RecordedEvent
from projections.all_views import VIEWS
from projections.inbox import RANKS
from projections.inbox import VIEW as INBOX
from projections.view import fold
from tests.support.lives import CALLS, DEEDS, START, Life, attempt

Documents = Mapping[str, list[object]]

deeds = st.lists(
    st.tuples(st.sampled_from(DEEDS), st.lists(st.sampled_from(CALLS), max_size=3)), max_size=25
)
BUSY = [("begin", []), ("answer", list(CALLS)), ("return", []), ("answer", []), ("answer", [])]


def kept(views: Views) -> Documents:
    """Every document of every view."""
    return {view.name: views.all(view) for view in VIEWS}


def folded(log: Log) -> Documents:
    """The same by the pure fold alone, without a file, a cache or a position."""
    rows = [one for append in log.appends() for one in append]
    documents = {view: fold(view, rows) for view in VIEWS}
    return {view.name: [documents[view][key] for key in sorted(documents[view])] for view in VIEWS}


@given(deeds=deeds)
@example(deeds=[*BUSY, *BUSY, ("wake", []), *BUSY])
@example(deeds=[("change", []), ("ask", []), ("wake", []), *BUSY, ("pause", []), ("resume", [])])
def test_after_every_step_the_views_are_what_all_rows_make(deeds: list[tuple[str, Any]]) -> None:
    life = Life()
    life.create()
    views = Views.in_memory({"agent": life.log})
    for n, (deed, calls) in enumerate(deeds, start=1):
        attempt(life, deed, calls, n)
        views.catch_up()
        assert kept(views) == folded(life.log)
    views.rebuild()
    assert kept(views) == folded(life.log) == kept(fresh(life.log, batch_appends=2))


def fresh(log: Log, batch_appends: int = BATCH_APPENDS) -> Views:
    views = Views(None, {log.name: log}, batch_appends=batch_appends)
    views.catch_up()
    return views


edits = st.lists(
    st.one_of(
        st.builds(lambda title: do.EditTask("", title=title), st.sampled_from(["Roof", "Attic"])),
        st.builds(
            lambda status: do.EditTask("", status=status, reason="so"), st.sampled_from(STATUSES)
        ),
        st.builds(lambda title: do.AddItems("", (title,)), st.sampled_from(["Nails", "Paint"])),
        st.just(do.DeleteTask("")),
        st.just(do.RestoreTask("")),
        st.just(do.CreateTask("Another")),
    ),
    max_size=12,
)


@given(edits=edits)
def test_the_same_holds_over_the_journal(edits: list[Any]) -> None:
    log = Log.in_memory("journal")
    task = log.append(do.CreateTask("Roof"), START).result.ids[0]
    views = Views.in_memory({"journal": log})
    for edit in edits:
        told = edit if isinstance(edit, do.CreateTask) else msgspec.structs.replace(edit, task=task)
        append(log, told)
        views.catch_up()
        assert kept(views) == folded(log)
    views.catch_up()
    assert kept(views) == folded(log) == kept(fresh(log))


def append(log: Log, command: Any) -> None:
    with suppress(Refused):
        log.append(command, START)


@given(deeds=deeds)
@example(deeds=[*BUSY, ("wake", []), *BUSY])
def test_ranks_number_the_opened_sets_by_their_places(deeds: list[tuple[str, Any]]) -> None:
    life = Life()
    life.create()
    for n, (deed, calls) in enumerate(deeds, start=1):
        attempt(life, deed, calls, n)
    views = fresh(life.log)
    opened = [one for one in views.page(INBOX) if one.is_opened]
    ranks = views.get(RANKS, "r1")
    assert [one.id for one in opened] == list(ranks.sets if ranks else ())


@given(deeds=deeds)
@example(deeds=[*BUSY, ("wake", []), *BUSY])
def test_a_document_is_the_same_after_a_way_through_the_file(deeds: list[tuple[str, Any]]) -> None:
    life = Life()
    life.create()
    for n, (deed, calls) in enumerate(deeds, start=1):
        attempt(life, deed, calls, n)
    rows: list[RecordedEvent] = [one for append in life.log.appends() for one in append]
    for view in VIEWS:
        for document in fold(view, rows).values():
            data = msgspec.json.encode(document)
            assert msgspec.json.decode(data, type=view.document) == document
