"""What changed since a report stands beside it, at both doors, confirmed changes, too."""

from html import unescape
from pathlib import Path

from tests.support.cli import done, told
from tests.support.pages import text_of, visiting

TASK = """\
- [ ] Fix the tap
  - [ ] Turn off the water

  It takes about 2 hours. Due by 2027-03-04.
"""


def test_what_changed_since_a_report_stands_beside_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["import", "--source", "todo", "-"], home, input=TASK)
    done(["agent", "create", "--task", "Fix the tap"], home)
    done(["wake"], home)
    assert told(["task", "show", "Fix the tap"], home)["language"] == "en"  # by the wake, at once
    assert told(["report", "Fix the tap"], home)["changes"] == []
    assert "since" not in done(["report", "Fix the tap"], home)

    done(["confirm", "--all", "Fix the tap"], home)
    done(["task", "note", "Fix the tap", "Bought a washer."], home)
    done(["task", "note", "Fix the tap", "It is the wrong one."], home)
    done(["task", "check", "Fix the tap", "1"], home)
    changes = [
        "due: 2027-03-04, proposed and confirmed",
        "estimate: 120 min, proposed and confirmed",
        "note added (2 times), by you",
        'item ticked: "Turn off the water", by you',
    ]
    shown = done(["report", "Fix the tap"], home)
    assert "\n4 changes since:\n" + "".join(f"  {one}\n" for one in changes) in shown
    below = done(["task", "show", "Fix the tap"], home)
    assert below.endswith("4 changes since:\n" + "".join(f"  {one}\n" for one in changes))
    document = told(["report", "Fix the tap"], home)
    assert [one["by"] for one in document["changes"]] == ["confirmed", "confirmed", "you", "you"]
    with visiting(home) as visitor:
        for path in (f"/tasks/{document['task_id']}", f"/agents/{document['agent_id']}"):
            page = unescape(text_of(visitor.page(path)))
            assert "4 changes since:" in page
            assert [one for one in changes if one not in page] == []

    done(["wake", "Fix the tap"], home)
    assert told(["report", "Fix the tap"], home)["changes"] == []
