"""What differs between two moments is told by what a person had, not by places of a document."""

from adapters.web.life import groups
from replay.wake_comparison import world_differences

ITEM = {"id": "i", "title": "Buy a seal", "checked": False}
TASK = {"id": "t", "title": "Fix the sink", "status": "OPEN", "items": [ITEM], "notes": []}
AGENT = {"id": "a", "name": "Sink", "report": {"tldr": "All is well."}, "journal": []}
BEFORE = {"tasks": [TASK, {"id": "u", "title": "Roof", "priority": "P2"}], "agents": [AGENT]}
NOTE = {"id": "n", "text": "{seal_came}"}
AFTER = {
    "tasks": [
        {**TASK, "status": "DONE", "items": [{**ITEM, "checked": True}], "notes": [NOTE]},
        {"id": "u", "title": "Roof", "priority": "P1"},
    ],
    "agents": [{**AGENT, "report": {"tldr": "All is done."}, "journal": [{"text": "Noted."}]}],
}


def test_each_change_stands_with_what_it_is_of_and_no_path_or_id_is_told() -> None:
    found = groups(world_differences(BEFORE, AFTER), BEFORE, AFTER, "t")
    told = {
        name: [(one.what, [tuple(part) for part in one.parts], one.after) for one in changes]
        for name, changes in found
    }
    assert told == {
        "Its task": [
            ("Status", [("removed", "OPEN"), ("added", "DONE")], ""),
            ("Checklist", [("both", "Buy a seal")], "ticked"),
            ("Note", [("added", "{seal_came}")], ""),
        ],
        "The task “Roof”": [("Priority", [("removed", "P2"), ("added", "P1")], "")],
        "Its report": [
            (
                "In short",
                [("both", "All is "), ("removed", "well"), ("added", "done"), ("both", ".")],
                "",
            )
        ],
        "What it noted": [("Noted", [("added", "Noted.")], "")],
    }
