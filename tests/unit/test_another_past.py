"""What an agent log says of a past of the journal that was given up is no difference (DESIGN 2)."""

from pathlib import Path

import pytest

from adapters.proof import histories
from adapters.proof.histories import History
from domain.append.causes import GivenUp
from replay.cross_log_check import CrossLogCheck
from replay.log_pair import PairedLog
from replay.prove import LogProof
from tests.support.broken import Broken
from tests.support.forging import rows

HISTORIES = Path(__file__).parents[1] / "histories"


def found(history: History, *given_up: GivenUp) -> list[str]:
    """Where a walk finds something else, with nothing but what it keeps."""
    journal, agents = (
        PairedLog(
            LogProof(name, history.payloads.get),
            history.rows[name],
            payload=history.payloads.get,
            given_up=given_up,
        )
        for name in ("journal", "agent")
    )
    return [one.path for one in CrossLogCheck(journal, agents).walk()]


@pytest.mark.parametrize("name", ["verdicts", "lessons", "looked_up"])
def test_a_whole_history_holds_whatever_was_given_up(name: str) -> None:
    whole = histories.read_history(HISTORIES / f"{name}.jsonl")
    n = len(whole.rows["journal"])
    assert found(whole) == []
    assert found(whole, GivenUp("r1", 0, n)) == []
    assert found(whole, GivenUp("r2", 0, n), GivenUp("r1", n, n + 1)) == []


def test_what_came_of_an_operation_is_compared_in_this_past_alone() -> None:
    home = Broken(HISTORIES / "edited.jsonl")
    home.data("changes.item_confirmed.1")["position"] += 1
    forged = History(rows(home), home.payloads, "")
    n = len(forged.rows["journal"])
    assert "data.position" in found(forged)
    assert "data.position" in found(forged, GivenUp("r1", n, n + 1))
    assert "data.position" not in found(forged, GivenUp("r1", 0, n))
