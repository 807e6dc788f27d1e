"""Of a journal that machines share, a verdict holds until somebody touches what it did not know."""

from domain.changes import decisions
from domain.changes.deduplication import deduplicate
from domain.log.wire import Imported
from domain.tools import registry
from domain.tools.snapshot import Snapshot, Touched
from tests.support.proposals import add, after, shown

SEEN = (Imported("desk", 20), Imported("laptop", 4))


def skipped(n: int, replica: str) -> int:
    """How many proposals are kept back, where a machine touched the items in its append n."""
    verdict = decisions.reject(shown(add("milk")), 1, "person", "no", 20, SEEN)
    declined = after(shown(add("milk")), verdict)
    now = Snapshot(
        "task",
        30,
        "OPEN",
        "P2",
        touched=(Touched("items", n),),
        wrote=(Imported(replica, n),),
    )

    def touched(fields: tuple[str, ...]) -> int:
        return registry.last_touched(now, fields)

    def is_news(seen: tuple[Imported, ...], fields: tuple[str, ...]) -> bool:
        return registry.is_news(now, seen, fields)

    return len(deduplicate([add("milk")], [declined], touched, None, is_news).skipped)


def test_what_the_verdict_did_not_know_lifts_it_though_its_number_is_lower() -> None:
    assert skipped(5, "laptop") == 0


def test_what_the_verdict_knew_does_not_lift_it() -> None:
    assert skipped(4, "laptop") == skipped(20, "desk") == 1


def test_what_came_later_on_the_same_machine_lifts_it() -> None:
    assert skipped(21, "desk") == 0
