"""The offline model over whole wakes: what a note asks for, confirmed, is there, and once."""

from pathlib import Path

from tests.support.cli import done, proved, told

NOTE = (
    "Worked on it yesterday from 2pm to 4pm. Blocked by the tax task. "
    "The rest is a new task: paint the door, varnish."
)


def test_a_note_makes_a_follow_up_a_time_entry_and_a_link_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["task", "add", "Tax return 2025"], home)
    done(["task", "add", "Kitchen", "--item", "Buy paint", "--item", "Paint the door"], home)
    done(["agent", "create", "Kitchen", "--model", "rules"], home)
    done(["task", "note", "Kitchen", NOTE], home)
    done(["wake", "Kitchen"], home)
    (made,) = told(["inbox"], home)
    tools = {one["tool"]: one for one in made["items"]}
    assert set(tools) == {"set_task_status", "create_follow_up_task", "log_time", "link_task"}
    done(["confirm", "--all"], home)
    kitchen, rest = told(["task", "show", "Kitchen"], home), told(["task", "list"], home)
    assert [one["summary"] for one in kitchen["time"]] == [NOTE.partition(".")[0]]
    assert "Kitchen: the rest" in {one["title"] for one in rest}
    done(["task", "note", "Kitchen", "Nothing new."], home)
    done(["wake", "Kitchen"], home)
    assert told(["inbox"], home) == []
    proved(home)
