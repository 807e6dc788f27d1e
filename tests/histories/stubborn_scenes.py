"""Scenes of a model that gets every argument wrong, and of replies and take-overs too late.

Each was added for changes of the code that no other history noticed; `tests/bench/mutate_code.py`
tells which those are.
"""

from adapters.runtime.services import Services
from domain.append.causes import Replied
from domain.journal import commands as do
from domain.log import canonical
from domain.wake.commands import RetakeWake
from domain.wake.wake import ModelFailed
from tests.histories.acting import ESTIMATE, REPORT, Scene, answers, changed, woken
from tests.support.services import services, task_with_agent
from wakelog.testing import calls as reply

DEEP, DEEPER = ('{"minutes":' + "[" * depth + "]" * depth + "}" for depth in (64, 65))
PHRASES = "blocks fixes duplicates is_blocked_by is_duplicated_by is_superseded_by has_follow_up"
LONG_LINE = "The plumber comes on Monday, and then on Tuesday, too. " * 6


def wrong_calls() -> Services:
    """Every tool with arguments that are wrong in one way, nearly wrong, or of no effect."""
    at = services()
    task, agent = task_with_agent(at)
    first, second = at.append_journal(do.AddItems(task, ("Old one", "Older one"))).result.ids
    label = at.append_journal(do.AddLabel("garden")).result.ids[0]
    at.append_journal(
        do.EditTask(task, estimate=30, due="2027-02-02", language="de", priority="P2")
    )
    at.append_journal(do.EditItem(task, second, is_checked=True))
    for phrase in PHRASES.split():
        at.append_journal(
            do.LinkTask(
                task, phrase, at.append_journal(do.CreateTask(f"It {phrase}")).result.ids[0]
            )
        )
    title = {"title": at.agent(agent).name}
    wrong = [reply(*calls) for calls in (_fields(title), _items(first, second), _rest(label))]
    answers(at, [*wrong, reply(REPORT), reply(text="I give up.")])
    changed(at, agent)
    at.append_agent(at.request(agent))
    at.append_journal(do.ChangeLabels(task, ("garden",)))
    answers(at, [reply(*_rest(label)), reply(*_items(first, second)), reply(REPORT), reply()])
    woken(at, agent)
    return at


def _call(tool: str, **given: object) -> tuple[str, str]:
    return tool, canonical.text(given)


def _fields(title: dict[str, str]) -> list[tuple[str, str]]:
    return [
        _call("set_task_title", **title),
        _call("set_task_title", title="  "),
        _call("set_task_title", title=" Mend  the   sink "),
        _call("set_task_title", title=7),
        _call("set_task_title", title="sink " * 60),
        _call("set_task_title", title="Fix the sink", why="it drips"),
        *(_call("update_task_estimate", minutes=one) for one in (0, 1, 30, 1440, 1441, "60", 1.5)),
        *(_call("update_task_estimate", minutes=one) for one in (True, None, [45], "soon")),
        ("update_task_estimate", DEEP),
        ("update_task_estimate", DEEPER),
        ("update_task_estimate", "null"),
        ("update_task_estimate", '"{\\"minutes\\":50}"'),
        *(_call("update_task_due_date", dueDate=one) for one in ("2027-02-02", "2027-02-30", "")),
        *(_call("update_task_due_date", dueDate=one) for one in ("2027-2-3", "soon", 20270203)),
        *(_call("update_task_priority", priority=one) for one in ("P2", "p1", "P4", "high", 1)),
        _call("set_task_status", status="BLOCKED"),
        _call("set_task_status", status="on hold", reason="no tools"),
        _call("set_task_status", status="OPEN"),
        _call("set_task_status", status="REJECTED", reason="no"),
        _call("set_task_status", status="IN_PROGRESS", reason="r" * 600),
        _call("set_task_language", languageCode="de", confidence="high"),
        _call("set_task_language", languageCode="fr", confidence="low"),
        _call("set_task_language", languageCode="deu", confidence="high"),
        _call("set_task_language", languageCode="x1", confidence="sure"),
    ]


def _items(first: str, second: str) -> list[tuple[str, str]]:
    many = [{"title": f"Nail {nth}"} for nth in range(60)]
    long = "I have seen with my own eyes that it is not done."
    changes: list[object] = [
        {"id": first},
        {"id": first, "isChecked": False},
        {"id": first, "title": "Old one"},
        {"id": first, "isArchived": True},
        {"id": first, "isArchived": False},
        {"id": first, "isChecked": "yes"},
        {"id": first, "title": "Older one"},
        {"id": second, "isChecked": False},
        {"id": second, "isChecked": False, "reason": "because"},
        {"id": second, "isChecked": False, "reason": long},
        {"id": second, "isArchived": True, "title": "Oldest one"},
        {"id": "0" * 32, "isChecked": True},
        {"isChecked": True},
    ]
    return [
        *(_call("update_checklist_items", items=[one]) for one in changes),
        _call("update_checklist_items", items=changes[1:5]),
        _call("update_checklist_items", items={"id": first, "isChecked": True}),
        _call("update_checklist_items", items=[]),
        _call("update_checklist_items", items="all"),
        _call("add_multiple_checklist_items", items=many),
        _call("add_multiple_checklist_items", items=[{"title": "Old ONE"}, {"title": "Tape"}]),
        _call("add_multiple_checklist_items", items=[{"title": "Tape"}, {"title": "tape "}]),
        _call("add_multiple_checklist_items", items=["Glue", {"title": "Rope"}]),
        _call("add_multiple_checklist_items", items=[{"title": "t" * 600}]),
        _call("add_checklist_item", title="Alone"),
    ]


def _rest(label: str) -> list[tuple[str, str]]:
    sure = {"id": label, "confidence": "high"}
    seen: list[object] = [{"text": "Slow.", "priority": "critical", "category": "grievance"}]
    return [
        _call("assign_task_labels", labels=[sure, sure]),
        _call("assign_task_labels", labels=[{"id": label, "confidence": "low"}]),
        _call("assign_task_labels", labels=[{"id": "0" * 32, "confidence": "medium"}]),
        _call("assign_task_labels", labels=[{**sure, "id": f"{nth:032}"} for nth in range(5)]),
        _call("assign_task_labels", labels=[{"id": label}]),
        _call("record_observations", observations=seen),
        _call("record_observations", observations=[{"text": "So.", "priority": "loud"}]),
        _call("record_observations", observations=[{"text": "For all.", "target": "both"}, 7]),
        _call("record_observations", observations=[]),
        _call("record_observations", observations=["  ", "o" * 3000]),
        _call("retract_suggestions", proposals=[{"fingerprint": "f" * 32, "reason": "gone"}]),
        _call("retract_suggestions", proposals=[{"fingerprint": "f" * 32}]),
        _call("retract_suggestions", proposals=[]),
        _call("update_report", content="c" * 20_100, tldr="t" * 2_100, oneLiner=LONG_LINE),
        _call("update_report", content="Well.", tldr="All.", oneLiner="o" * 300),
        _call("update_report", content="Well.", tldr=" ", oneLiner="Well"),
        _call("update_report", content=f"See {label}.", tldr="All well.", oneLiner=label),
        ESTIMATE,
    ]


def too_late() -> Services:
    """A failure and take-overs come when the wake has ended, or waits for something else."""
    at = services([reply(ESTIMATE), reply(REPORT), reply(text="Done.")])
    _, agent = task_with_agent(at)
    run_key = changed(at, agent)
    at.append_reply(
        Replied("wake", run_key, ModelFailed(1, 1, "provider", "gone", of_provider=True))
    )
    at.append_reply(Replied("wake", run_key, ModelFailed(9, 9, "invalid", "what?")))
    at.append_agent(RetakeWake(run_key), key="taken over too late")
    at.append_agent(RetakeWake(run_key, 1, 1), key="taken over too late, once more")
    return at


SCENES: tuple[Scene, ...] = (wrong_calls, too_late)
