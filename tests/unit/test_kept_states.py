"""Who decides goes on from a folded state that was kept, where its log still holds the row at which
it ends; else all is folded again."""

from adapters.store.kept_states import LONG, KeptStates
from adapters.store.recorder import TimedRow
from domain.append.envelope import Row
from domain.lessons.lessons import Lesson, Lessons
from domain.log.state import CachedState

STREAM, OTHER = "lessons:category:home@r1", "task:t@r1"
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
        return self.rows[after:] if stream == STREAM else []


def kept(version: int = LONG) -> bytes:
    cache = KeptStates(Rows(1000).read, None)
    cache[STREAM] = CachedState(version, LESSONS)
    cache[OTHER] = CachedState(LONG, object())  # of a kind that is not kept
    found = cache.grown()
    assert found is not None
    return found


def test_it_goes_on_from_what_was_kept_and_keeps_it_again_when_it_has_grown() -> None:
    again = KeptStates(Rows(1000).read, kept())
    assert again.get(STREAM) == CachedState(LONG, LESSONS)
    assert again.get(OTHER) is None
    assert again.grown() is None
    again[STREAM] = CachedState(2 * LONG, LESSONS)
    assert again.grown() == kept(2 * LONG)


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
        assert KeptStates(rows.read, data).get(STREAM) is None


def test_it_is_let_go_where_other_machines_write_too() -> None:
    cache = KeptStates(Rows(1000).read, kept())
    cache.clear()  # as a log does that takes in rows of others
    assert cache.get(STREAM) is None
