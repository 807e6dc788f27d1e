"""Sixty marked words, thirty of them in each of two tasks, wherever a person or a model may put
words: those of the one that is erased stand in no byte of three machines and their folder, those of
the other one in all of them (ADR 107). Counted by a process that shares no code with ours."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.integration.test_cli_erase import holding
from tests.support.checking.sharing import check
from tests.support.machines import Machine, pair

pytestmark = pytest.mark.slow
GONE, STAYS = (
    tuple(f"{begin}{n:02d}{'薬' if n % 3 else 'ökür'}" for n in range(30))
    for begin in ("Zwiebel", "Fahrrad")
)
TITLES = {GONE: f"{GONE[0]} with {GONE[1]}", STAYS: f"{STAYS[0]} with {STAYS[1]}"}


def told_of(desk: Machine, laptop: Machine, words: Sequence[str], title: str) -> None:
    """All that a person can say of a task, at both machines, and what its agent makes of it."""
    desk.said("edit", title, "--description", f"{words[2]} and {words[3]}")
    for word in words[4:8]:
        desk.said("task", "item", "add", title, f"Buy {word}")
    for word in words[8:14]:
        desk.said("note", title, f"{word} says hello. It takes {words.index(word)} minutes.")
    desk.said("day", "put", title, "14-15" if words == GONE else "16-17", "--on", "2027-01-04")
    desk.said("agent", "create", title)
    desk.said("wake", title)
    desk.said("agent", "ask", title, f"What of {words[14]} and {words[15]}?")
    desk.said("wake", title)
    (waits, *_) = [one for one in desk.told("inbox") if title in str(one)]
    desk.said("reject", waits["id"], "--all", "--reason", f"{words[16]}, not {words[17]}")
    desk.said("note", title, "--edit", "1", f"{words[8]} says {words[18]}")
    desk.sync()
    laptop.sync()
    for word in words[19:28]:
        laptop.said("note", title, f"{word} at home")
    laptop.said("wake", title)
    laptop.said("note", title, f"{words[28]} and {words[29]}")
    laptop.sync()
    desk.sync()


def counted(place: Path, words: tuple[str, ...]) -> int:
    """How many of them stand in any file."""
    return sum(map(bool, holding(place, words).values()))


def test_no_byte_of_any_machine_holds_a_word_of_what_was_erased_and_all_of_the_rest(
    tmp_path: Path,
) -> None:
    desk, laptop = pair(tmp_path)
    away = Machine(tmp_path / "away", desk.folder)
    file = tmp_path / "todo.md"
    file.write_text("".join(f"- [ ] {one}\n" for one in TITLES.values()), encoding="utf-8")
    desk.said("import", str(file))
    desk.sync()
    laptop.sync()
    away.sync()
    for words, title in TITLES.items():
        told_of(desk, laptop, words, title)
    away.sync()
    anchors = tmp_path / "anchors"
    machines = (desk, laptop, away)
    for one in machines:
        one.said("prove", "--anchor", f"{anchors}{one.home.name}", "--new-anchor")
        one.said("sql", "SELECT count(*) FROM wakes")
        one.said("search", TITLES[GONE])
    places = [desk.folder, *(one.home for one in machines)]
    assert [counted(one, GONE + STAYS) for one in places] == [60] * 4
    assert desk.told("erase", "task", TITLES[GONE], "--sure")["ok"]
    assert counted(desk.home, GONE) == 0
    for one in (desk, laptop, desk, away, laptop):  # `away` heard of nothing for long
        one.sync()
    assert [counted(one, GONE) for one in places] == [0] * 4
    assert [counted(one, STAYS) for one in places] == [30] * 4
    assert len({one.told("prove")["shared"] for one in machines}) == 1
    for one in machines:
        assert one.titles() == {TITLES[STAYS]}
        one.said("prove", "--anchor", f"{anchors}{one.home.name}")
        assert [*check(one.home)] == []
