"""Sixty marked words, thirty of them in each of two tasks, wherever a person or a model may put
words: those of the one that is erased stand in no byte of three machines and their folder, those of
the other one in all of them (ADR 107). Counted by a process that shares no code with ours."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.integration.test_cli_erase import holding
from tests.support import cli
from tests.support.checker import findings
from tests.support.checking.sharing import check
from tests.support.machines import Machine, pair
from tests.support.openai_server import KEY, OpenAIServer, answer, call
from tests.support.scripted_server import Answer, Sent, served

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
    desk.said("note", title, f"{words[18]} says", "--kind", "transcript")
    desk.said("note", title, "--edit", "7", f"{words[18]} says {words[8]}")  # is an example
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
    laptop.said("note", TITLES[STAYS], "--edit", "7", f"{STAYS[18]}, {STAYS[8]}")
    laptop.said("wake", TITLES[STAYS])  # of which the others do not know, nor what it was shown
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


# ------------------------------------------------------------------------ what came of its words

WORDS = ("Zwiebelarzt", "Kamillenbad", "Pfefferminz", "Sonderbar")
LATER, CALLED = f"See the doctor {WORDS[0]}", "zwiebel-17"


class Reader(OpenAIServer):
    """Looks the task up both ways, and says nothing of it."""

    def __init__(self) -> None:
        super().__init__(())
        self.task = ""

    def take(self, sent: Sent) -> Answer:
        self.sent.append(sent)
        if any(one["role"] == "assistant" for one in sent.body["messages"]):
            return answer("Done.")
        looks = [("find_tasks", {"words": "doctor"}), ("read_task", {"taskId": self.task})]
        return answer(None, *(call(*one, call_id=one[0]) for one in looks))


OTHER = "Renew the passport"


def filed(file: Path, title: str, mark: str, other: str = f"- [ ] {OTHER} 🆔 fahrrad-3") -> None:
    file.write_text(f"# Health\n- [ ] {title}{mark}\n{other}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("items", "mark"), [(1, f" 🆔 {CALLED}"), (30, "")]
)  # a short answer stands in its row, a long one beside
def test_what_others_looked_up_were_taught_or_what_its_file_calls_it_goes_and_stays_away(
    home: Path, tmp_path: Path, items: int, mark: str
) -> None:
    file = tmp_path / "list.md"
    filed(file, "See the doctor", mark)
    cli.done(["import", str(file)], home)
    filed(file, LATER, mark)
    (report,) = cli.told(["import", str(file)], home)["files"]
    assert report["created"] == 0, "it is the same task, under another title"
    for nth in range(items):
        cli.done(["task", "item", "add", LATER, f"Buy {WORDS[1]} for bath {nth}"], home)
    cli.done(["note", LATER, f"Feffer {WORDS[3]}", "--kind", "transcript"], home)
    cli.done(["note", LATER, "--edit", "1", f"{WORDS[2]} {WORDS[3]}"], home)
    cli.done(["agent", "create", OTHER], home)
    with served(Reader()) as server:
        server.task = cli.told(["show", LATER], home)["id"]
        model = f'base_url = "{server.base_url}"\nmodel = "qwen3:8b"\nkey = "env:MY_KEY"\n'
        named = f'model = "openai:local"\n[models.local]\n{model}'
        (home / "settings.toml").write_text(named, encoding="utf-8")
        environ = {"MY_KEY": KEY}
        cli.done(["policy", "allow", "openai:local", "--yes"], home, env=environ)
        cli.done(["wake", OTHER], home, env=environ)
        assert all(str(server.sent[-1].body).count(one) for one in WORDS[:2]), "it was told"
    words = (*WORDS, CALLED) if mark else WORDS
    assert all(holding(home, words).values())
    did = cli.told(["erase", "task", LATER, "--sure"], home)
    assert did["mentions"] == []
    assert not any(holding(home, words).values())
    assert cli.told(["prove"], home)["ok"]
    assert findings(home) == []
    (report,) = cli.told(["import", str(file)], home)["files"]
    assert (report["created"], report["unchanged"], len(report["erased_here"])) == (0, 2, 1)
    filed(file, "Ring them" if mark else LATER, mark, f"- [ ] {OTHER} 🆔 fahrrad-3\n- [ ] Rest")
    (report,) = cli.told(["import", str(file)], home)["files"]
    assert (report["created"], len(report["erased_here"])) == (1, 1)
    cli.done(["done", OTHER], home)
    cli.done(["add", "Walk"], home)
    cli.done(["write-back", str(file), "--add"], home)
    assert {one["title"] for one in cli.told(["list", "--all"], home)} == {OTHER, "Rest", "Walk"}
    assert not any(holding(home, words).values()), "nor does what is kept of its file"
