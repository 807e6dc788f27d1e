"""New tasks of an import get agents where that is wanted; a file in UTF-16 is read, too."""

from pathlib import Path

import pytest

from tests.support.cli import done, proved, refused, run, told


def test_new_tasks_of_a_file_get_agents_as_the_option_or_the_settings_say(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Paint\n- [x] Plan\n")
    first = run(["import", str(file)], home)
    assert "`import --agents` to new ones" in first.stderr
    assert told(["agent", "list"], home) == []
    file.write_text("- [ ] Paint\n- [x] Plan\n- [ ] Buy\n- [x] Sell\n")
    report = told(["import", str(file), "--agents"], home)["files"][0]
    assert (report["created"], report["agents"]) == (2, 1)
    assert [one["name"] for one in told(["agent", "list"], home)] == ["Buy"]
    (home / "settings.toml").write_text("[import]\nagents = true\n")
    file.write_text(f"{file.read_text()}- [ ] Call\n")
    assert "0 created" not in done(["import", str(file), "--no-agents"], home)
    file.write_text(f"{file.read_text()}- [ ] Write\n")
    assert "1 created, 1 given an agent, 5 unchanged" in done(["import", str(file)], home)
    assert {one["name"] for one in told(["agent", "list"], home)} == {"Buy", "Write"}
    proved(home)


def test_a_watched_file_gives_agents_to_new_tasks_or_says_how(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text("- [ ] Paint\n")
    watch = ["run", "--watch", str(file), "--until-idle"]
    assert "new tasks have no agents; add --agents" in run(watch, home).stderr
    file.write_text("- [ ] Paint\n- [ ] Buy\n")
    assert "1 given an agent" in run([*watch, "--agents"], home).stderr
    assert [(one["name"], one["wakes"]) for one in told(["agent", "list"], home)] == [("Buy", 1)]
    assert "add --watch FILE" in refused(["run", "--agents", "--until-idle"], home)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_read_and_not_written_back(
    home: Path, tmp_path: Path, encoding: str
) -> None:
    file = tmp_path / "TODO.md"
    data = "\ufeff- [ ] Größe prüfen\r\n- [ ] Paint\r\n".encode(encoding)
    file.write_bytes(data)
    assert told(["import", str(file)], home)["files"][0]["created"] == 2
    assert {one["title"] for one in told(["task", "list"], home)} == {"Größe prüfen", "Paint"}
    done(["done", "Paint"], home)
    assert "is UTF-16" in refused(["write-back", str(file)], home)
    assert file.read_bytes() == data
    file.write_bytes(data[:-1])
    assert "broken UTF-16" in refused(["import", str(file)], home)


def test_what_is_written_back_stands_where_obsidian_reads_it(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "TODO.md"
    file.write_text(
        "- [ ] Paint 🔼 🔁 every week 📅 2027-02-01 ^p1\n- [ ] Plan ⏳ 2027-02-01\n- [ ] Go ^g1\n"
    )
    done(["import", str(file)], home)
    fields = ("--due", "2027-02-03", "--priority", "P0", "--estimate", "2h")
    for task in ("Paint 🔁 every week", "Plan", "Go"):
        done(["task", "set", task, *fields], home)
    assert "0 left out" in done(["write-back", str(file)], home)
    assert file.read_text() == (
        "- [ ] Paint ~2h 🔺 🔁 every week 📅 2027-02-03 ^p1\n"
        "- [ ] Plan ~2h 🔺 📅 2027-02-03 ⏳ 2027-02-01\n"
        "- [ ] Go due:2027-02-03 !p0 ~2h ^g1\n"
    )
    assert told(["import", str(file)], home)["events"] == 0
