"""A home with a past: two agents, three wakes of the first, verdicts between them."""

from pathlib import Path
from typing import Any

from tests.support.cli import done, told
from tests.support.waking import reply, report, sink, tape

FIRST, SECOND = "Fix the sink", "Paint the door"
LAST = "2027-01-04T09:00:00Z"


def lived(home: Path, tapes: Path) -> list[str]:
    """Live it; the run keys of the first agent's wakes, the oldest first.

    The first wake proposes an estimate and an item, and changes the language at once; the person
    rejects the estimate and confirms the item; the second and third wakes report.
    """
    task = sink(home, FIRST)
    sink(home, SECOND, note="It is green.")
    done(["task", "link", SECOND, "blocks", FIRST], home)
    for title in (FIRST, SECOND):
        done(["agent", "create", "--task", title], home)
    first = tape(
        tapes / "first.jsonl",
        reply(
            ("set_task_language", {"languageCode": "en", "confidence": "high"}),
            ("update_task_estimate", {"minutes": 60}),
            ("add_multiple_checklist_items", {"items": [{"title": "Buy a seal"}]}),
            ("no_such_tool", {"a": 1}),
            ("record_observations", {"observations": ["The person likes lists."]}),
            report("Under way"),
            text="Let me see.",
            tokens=100,
        ),
        reply(text="Done.", tokens=50),
    )
    done(["--model", first, "wake", task], home)
    done(["reject", "1.1", "--reason", "no"], home, env=_at("2027-01-02T09:00:00Z"))
    done(["confirm", "1.2"], home, env=_at("2027-01-02T10:00:00Z"))
    second = tape(tapes / "second.jsonl", reply(report("Waiting")), reply(text="So be it."))
    done(["--model", second, "wake", task], home, env=_at("2027-01-03T09:00:00Z"))
    done(["task", "note", task, "The seal is here."], home, env=_at("2027-01-03T10:00:00Z"))
    third = tape(tapes / "third.jsonl", reply(report("Nearly done")), reply(text="Yes."))
    done(["--model", third, "wake", task], home, env=_at(LAST))
    return begun(home)


def begun(home: Path, title: str = FIRST) -> list[str]:
    """Run keys of an agent's wakes that began, the oldest first: a person's first wake takes the
    place of the one of the agent's creation, which never begins."""
    found: list[Any] = told(["wakes", title], home)
    return [one["run_key"] for one in reversed(found) if one["started_at"]]


def _at(time: str) -> dict[str, str]:
    return {"WAKELOG_NOW": time}
