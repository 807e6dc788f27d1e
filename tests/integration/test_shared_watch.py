"""A watcher of a journal that machines share takes each append in the world of then."""

from adapters.runtime import watcher
from adapters.store.log import Log
from adapters.store.remote_appends import RemoteAppend
from domain.journal.commands import CreateTask, EditTask, LinkTask
from tests.support.services import START, services
from tests.support.sharing import Machine


def all_of(log: Log) -> list[RemoteAppend]:
    return [RemoteAppend(tuple(rows), ()) for rows in log.appends_of(log.replica, 0)]


def test_what_others_did_is_known_from_their_marker_on() -> None:
    at, laptop = services(), Machine("laptop")
    first = at.journal.append(CreateTask("First"), START).result.ids[0]
    second = at.journal.append(CreateTask("Second"), START).result.ids[0]
    for one in at.journal, laptop:
        one.share(START)
    laptop.bring(all_of(at.journal), START)
    laptop.append(LinkTask(second, "blocks", first), START)
    at.journal.append(EditTask(first, priority="P1"), START)
    at.journal.bring(all_of(laptop), START)
    at.journal.append(EditTask(first, priority="P0"), START)
    command = watcher.following(at)
    assert command is not None
    assert {one.replica for one in command.batches} == {"r1"}
    assert command.last == at.journal.tail().n
    assert command.journal_digest == at.journal.tail().digest
    *_, apart, theirs, together = command.batches
    assert (apart.of, theirs.of, together.of) == ("", "laptop", "")
    assert (apart.propagated, together.propagated) == ((), (f"id:{second}",))
    watcher.catch_up(at)
    laptop.bring(all_of(at.journal), START)
    at.journal.bring(all_of(laptop), START)
    assert (watcher.following(at), watcher.lag(at)) == (None, 0)
