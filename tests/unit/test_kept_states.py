"""Who decides goes on from a folded state that was kept, where its log still holds the row at which
it ends; else all is folded again."""

from adapters.store.kept_states import LONG, KeptStates
from adapters.store.recorder import TimedRow
from domain.append.envelope import Row
from domain.lessons.lessons import Lesson, Lessons
from domain.log.state import CachedState
from tests.support.sharing import TwoLogs

STREAM, OTHER, MAIN = "lessons:category:home@r1", "task:t@r1", "log:main@r1"
LESSONS = Lessons(
    "category:home", {"set": (Lesson("2027", "c", 1, "confirmed"),)}, 3, 1, (("w", 4),)
)


class Rows:
    """A log of one stream; `word` is what its rows say."""

    def __init__(self, count: int, word: str = "row") -> None:
        self.rows = [
            TimedRow(Row(STREAM, nth, "lessons.decided.1", f"{word} {nth}".encode()), "2027")
            for nth in range(1, count + 1)
        ]

    def read(self, stream: str, after: int) -> list[TimedRow]:
        return self.rows[after:] if stream in (STREAM, MAIN) else []

    def states(self, data: bytes | None, main: int = 0, others: int = 0) -> KeptStates:
        """`main`: of the last marker; `others`: rows that other machines have of the entity."""
        return KeptStates(self.read, lambda _: len(self.rows) + others, data, (MAIN, main))


def kept(version: int = LONG, main: int = 0) -> bytes:
    cache = Rows(version).states(None)
    cache[STREAM] = CachedState(version, LESSONS)
    cache[OTHER] = CachedState(LONG, object())  # of a kind that is not kept
    found = cache.grown(main)
    assert found is not None
    return found


def test_it_goes_on_from_what_was_kept_and_keeps_it_again_when_it_has_grown() -> None:
    again = Rows(LONG + 9).states(kept())
    assert again.get(STREAM) == CachedState(LONG, LESSONS)
    assert again.get(OTHER) is None
    assert again.grown(0) is None
    again = Rows(2 * LONG).states(kept())
    again[STREAM] = CachedState(2 * LONG, LESSONS)
    assert again.grown(0) == kept(2 * LONG)


def test_it_counts_only_where_the_log_holds_the_row_at_which_it_ends() -> None:
    good = kept()
    for rows, data in (
        (Rows(LONG - 1), good),  # an older log was put back
        (Rows(1000, word="forged"), good),
        (Rows(1000), good.replace(b'"runs":3', b'"runs":4')),
        (Rows(1000), good.replace(b"%d" % LONG, b"%d" % (LONG + 1))),
        (Rows(1000), good[:-9]),
        (Rows(1000), b'{"a": 1}'),
        (Rows(1000), None),
    ):
        assert rows.states(data).get(STREAM) is None


def test_it_is_let_go_where_rows_of_other_machines_come_in() -> None:
    cache = Rows(1000).states(kept(main=5), 5)
    assert cache.get(STREAM) == CachedState(LONG, LESSONS)
    cache.clear()  # as a log does that takes in rows of others
    assert cache.get(STREAM) is None
    assert Rows(1000).states(kept(main=5), 6).get(STREAM) is None
    assert Rows(1000, word="another marker").states(kept(main=5), 5).get(STREAM) is None


def test_of_an_entity_that_others_alone_wrote_it_is_the_marker_that_tells_them() -> None:
    cache = Rows(5).states(None, others=LONG)
    cache[STREAM] = CachedState(0, LESSONS)
    assert cache.grown(0) is not None, "one that nothing stands for is never taken"
    assert Rows(5).states(cache.grown(0)).get(STREAM) is None
    assert Rows(5).states(cache.grown(5), 5).get(STREAM) == CachedState(0, LESSONS)
    assert Rows(5, word="forged").states(cache.grown(5), 5).get(STREAM) is None


def test_a_log_that_machines_share_goes_on_until_something_of_others_comes_in() -> None:
    both = TwoLogs()
    desk, stream = both.desk, "lessons:category:home@desk"
    both.laptop.add("first")
    both.meet()
    with desk.recorder.reading():
        main = desk._look().main.let_go
    assert main
    made = KeptStates(desk.recorder.stream, lambda _: LONG, None, ("log:main@desk", main))
    made[stream] = CachedState(0, LESSONS)
    data = made.grown(main)

    def found() -> CachedState | None:
        desk.resume(data)
        return desk._states.get(stream)

    assert found() == CachedState(0, LESSONS)
    desk.add("own")
    assert found() == CachedState(0, LESSONS)
    both.laptop.add("theirs")
    both.meet()
    assert desk._states.get(stream) is None
    assert found() is None
