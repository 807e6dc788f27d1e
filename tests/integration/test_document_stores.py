"""Views are the same in a file, in memory and in PostgreSQL: one contract over all stores."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.home.views import Views
from adapters.store.document_store import DocumentRow, DocumentStore
from adapters.store.sqlite_documents import SqliteDocumentStore
from domain.log.state import RecordedEvent
from projections import agents, observations, wakes
from projections.all_views import VIEWS
from tests.support.lives import ADD, OBSERVE, PROPOSE, REPORT, Life


@pytest.fixture
def life() -> Life:
    life = Life()
    life.create()
    life.run(PROPOSE, ADD, OBSERVE, REPORT)
    life.ask(reason="manual")
    life.run(OBSERVE)
    return life


class Opener:
    """Opens one store as often as asked, as several processes do."""

    def __init__(self, path: Path | None, homes: Any) -> None:
        self.path = path
        self.homes = homes
        self.home = homes.create(f"home-{len(homes.all())}", "r1") if homes else None

    def __call__(self) -> DocumentStore:
        if self.homes:
            opened: DocumentStore = self.homes.documents(self.home)
            return opened
        return SqliteDocumentStore(self.path, VIEWS)


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.slow)])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    if request.param == "file":
        yield Opener(tmp_path / "views.db", None)
    else:
        yield Opener(None, request.getfixturevalue("homes_of_all"))


def kept(views: Views) -> dict[str, list[object]]:
    views.catch_up()
    return {view.name: views.all(view) for view in VIEWS}


def plain(life: Life) -> dict[str, list[object]]:
    return kept(Views.in_memory({"agent": life.log}))


def test_each_store_gives_the_same_pages(opener: Opener, life: Life) -> None:
    views, memory = Views(opener(), {"agent": life.log}), Views.in_memory({"agent": life.log})
    assert kept(views) == kept(memory)
    name = memory.all(agents.VIEW)[0].name
    first, second = memory.page(wakes.VIEW)
    asked: list[Any] = [
        lambda one: one.page(wakes.VIEW, newest_first=True, limit=1),
        lambda one: one.page(wakes.VIEW, prefix=first.run_key[:8]),
        lambda one: one.page(wakes.VIEW, before=second.place),
        lambda one: one.page(observations.VIEW, shelf=life.agent),
        lambda one: one.page(observations.VIEW, shelf="nobody"),
        lambda one: one.titled(agents.VIEW, name),
        lambda one: one.titled(agents.VIEW, "none"),
        lambda one: one.shelved(wakes.VIEW, life.agent[:3]),
        lambda one: one.queued(agents.VIEW, 3),
        lambda one: one.due(agents.VIEW, "9999"),
        lambda one: [one.get(wakes.VIEW, key) for key in (first.run_key, "unknown")],
        lambda one: one.reached(wakes.VIEW),
    ]
    for view in VIEWS:
        marks = sorted({view.mark(found) for found in memory.all(view)} | {"x"})
        asked += [
            lambda one, v=view, m=mark: (one.count(v, m), one.page(v, mark=m)) for mark in marks
        ]
        asked.append(lambda one, v=view, m=marks: (one.tallied(v, m), one.next_due(v, m)))
        asked.append(lambda one, v=view, m=marks: one.marked(v, m, limit=2, newest_first=True))
        asked.append(lambda one, v=view: (one.count(v, shelf=life.agent), one.count_queued(v)))
        asked += [
            lambda one, v=view, m=marks: one.count_without(agents.VIEW, "active", v, m),
            lambda one, v=view, m=marks: one.count_without(agents.VIEW, m[0], v, ("nothing",)),
        ]
    for nth, question in enumerate(asked):
        assert question(views) == question(memory), nth
    assert views.remembered("x") is None
    views.remember("x", b"1")
    views.remember("x", b"2")
    assert Views(opener(), {}).remembered("x") == b"2"
    seen: list[int] = []
    again = Views(opener(), {"agent": life.log})
    again.catch_up(lambda *told: seen.append(told[1]))
    assert seen == []  # a second opening finds the work done
    again.rebuild()
    assert kept(again) == plain(life)


def test_a_batch_that_is_killed_leaves_nothing_behind(opener: Opener, life: Life) -> None:
    unplugged: set[int] = set()

    def fails(document: Any, row: RecordedEvent) -> Any:
        if row.n in unplugged:
            raise RuntimeError("pulled the plug")
        return wakes.VIEW.apply(document, row)

    fragile = msgspec.structs.replace(wakes.VIEW, apply=fails)
    views = Views(opener(), {"agent": life.log}, (fragile,))
    views.catch_up()
    before = views.all(fragile)
    life.ask(reason="manual")
    life.run(OBSERVE)
    unplugged.add(life.log.tail().n)
    with pytest.raises(RuntimeError):
        views.catch_up()
    assert views.all(fragile) == before
    assert Views(opener(), {"agent": life.log}, (fragile,)).all(fragile) == before
    unplugged.clear()
    views.catch_up()
    assert views.all(fragile) == plain(life)["wakes"]


def test_two_at_once_make_what_one_makes(opener: Opener, life: Life) -> None:
    both = [Views(opener(), {"agent": life.log}, batch_appends=2) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(one.rebuild) for _ in range(4) for one in both]
    assert [one.result() for one in done] == [None] * 8
    assert kept(both[0]) == kept(both[1]) == plain(life)


def test_another_version_of_a_view_is_made_anew_and_another_log_is_noticed(
    opener: Opener, life: Life
) -> None:
    Views(opener(), {"agent": life.log}).catch_up()
    newer = msgspec.structs.replace(wakes.VIEW, version=wakes.VIEW.version + 1)
    views = tuple(newer if view is wakes.VIEW else view for view in VIEWS)
    seen: list[str] = []
    opened = Views(opener(), {"agent": life.log}, views)
    opened.catch_up(lambda log, *_: seen.append(log))
    assert seen
    assert opened.all(newer) == plain(life)["wakes"]
    other = Life(task="another task")
    other.create()
    assert kept(Views(opener(), {"agent": other.log})) == plain(other)


def test_a_document_that_cannot_be_read_is_made_anew(opener: Opener, life: Life) -> None:
    Views(opener(), {"agent": life.log}).catch_up()
    store = opener()
    with store.transaction("agent"):
        store.write(agents.VIEW, [DocumentRow(life.agent, "", "", "", "", 0, "", "", b"{}")], [])
    store.close()
    opened = Views(opener(), {"agent": life.log})
    assert opened.get(agents.VIEW, life.agent) is not None
    assert kept(opened) == plain(life)


@pytest.mark.slow
def test_programs_of_two_versions_keep_their_views_beside_each_other(
    postgres_homes: Any, life: Life
) -> None:
    opener, logs = Opener(None, postgres_homes), {"agent": life.log}
    ours = tuple(one for one in VIEWS if one.log == "agent")
    theirs = tuple(msgspec.structs.replace(one, version=one.version + 1) for one in ours)
    older, newer = Views(opener(), logs, ours), Views(opener(), logs, theirs)

    def shown(views: Views, of: tuple[Any, ...]) -> list[list[object]]:
        views.catch_up()
        return [views.all(one) for one in of]

    assert shown(older, ours) == shown(newer, theirs)
    batches: list[str] = []
    Views(opener(), logs, ours).catch_up(lambda name, *_: batches.append(name))
    assert batches == []  # nothing of the older ones was lost
    life.ask(reason="manual")
    life.run(OBSERVE)
    expected = shown(Views.in_memory(logs), ours)
    assert shown(older, ours) == shown(newer, theirs) == expected
    store = postgres_homes.documents(opener.home)
    assert not store.outlived(theirs, 3_600)
    assert store.has_others(theirs)
    assert store.outlived(theirs, 0)
    assert not store.has_others(theirs)
    assert [newer.all(one) for one in theirs] == expected
    assert older.all(ours[0]) == []
    assert shown(older, ours) == expected  # whoever still needs it makes it anew
