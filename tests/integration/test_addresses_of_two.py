"""Change sets of one agent on two machines: whatever address either prints, both take (ADR 75)."""

import re
import shlex
from pathlib import Path

import pytest

from adapters.documents.ranks import Ranks
from tests.support.machines import NAMES, Machine

TASK = "\u30ea\u30b9\u30dc\u30f3\u884c\u304d by Friday"
LABELS = "Schreibtisch im Arbeitszimmer.", "Laptop in der K\u00fcche von Oma 2.0"


@pytest.fixture
def both(tmp_path: Path) -> list[Machine]:
    """Each woke the same agent, and has a first change set."""
    (tmp_path / "folder").mkdir()
    desk, laptop = (Machine(tmp_path / one, tmp_path / "folder") for one in NAMES)
    desk.said("task", "add", TASK)
    desk.said("agent", "create", "--task", TASK, "--mode", "autonomous")
    for one, label in zip((desk, laptop), LABELS, strict=True):
        one.sync()
        one.said("replicas", "name", label)
        one.said("wake", TASK)
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


@pytest.mark.slow
def test_what_either_prints_can_be_typed_on_both(both: list[Machine]) -> None:
    known = {one: one.told("inbox") for one in both}
    printed = {item["ref"]: found["id"] for sets in known.values() for found in sets
               for item in found["items"] if "/" in item["ref"]}  # fmt: skip
    assert set(printed) == {f"{label}/1.1" for label in LABELS}
    for one in both:
        for ref, made in printed.items():
            for name in (
                ref,
                ref.lower(),
                ref.replace(LABELS[0], "desk").replace(LABELS[1], "laptop"),
            ):
                one.said("defer", name)
                (found,) = (each for each in one.told("inbox", "--all") if each["id"] == made)
                assert [each["status"] for each in found["items"]] == ["deferred"]
                one.said("undo")
        own = next(each for each in known[one] if each["set"] == 1)
        assert own["items"][0]["ref"] == "1.1"
        assert "no set 'phone/1'" in one.refused("confirm", "phone/1.1")
        told = one.refused("reject", f"{LABELS[0]}/1")
        hint = re.findall(r"`wakelog (.*?)`", told)[0]
        assert shlex.split(hint)[0] == "reject"
        one.said(*shlex.split(hint), "--key", "k")  # what it says can be typed as it stands


@pytest.mark.slow
def test_lines_fit_and_begin_with_the_address(both: list[Machine]) -> None:
    lines = both[0].said("inbox").splitlines()
    at = lines.index(f"  '{LABELS[1]}/1.1'")
    assert lines[at + 1].startswith("         Set due date to")
    assert any(line.startswith("  1.1    Set due date to") for line in lines)


def test_a_word_means_a_set_by_rank_label_or_name() -> None:
    ranks = Ranks(
        ["a", "b"], {"c": "My Desk/1"}, {"my desk": [["c"]], "desk": [["c"]], "r1": [["a"]]}
    )
    means = {word: ranks.meant(word) for word in ("2", "MY desk/1", "desk/1", "r1/1")}
    assert means == {"2": ["b"], "MY desk/1": ["c"], "desk/1": ["c"], "r1/1": ["a"]}
    for none in "3", "desk/2", "desk/0", "desk/x", "phone/1", "24/7", "/", "desk/" + "9" * 20:
        assert ranks.meant(none) == []
    two = Ranks([], {}, {"desk": [["a"], ["b"]]})
    assert two.meant("desk/1") == ["a", "b"]
