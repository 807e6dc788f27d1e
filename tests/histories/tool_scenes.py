"""Scenes of a model's calls: every argument at its limit and beyond it, in every spelling that is
forgiven, and every rule of a tool on both of its sides.
"""

import json

from adapters.runtime import review
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.agent.agent import CRITICAL_KEPT, JOURNAL_SHOWN
from domain.append.causes import Replied
from domain.changes.change_set import set_id
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.journal.imported import ImportedItem, ImportedTask
from domain.journal.task import TASK, Task
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import Words, payload
from domain.ports import Reply
from domain.tools import arguments as a
from domain.tools import local
from domain.tools.base import SHOWN_LENGTH_MAX
from domain.tools.decoding import OBSERVATION_LENGTH_MAX
from domain.tools.task_tools import REASON_MIN
from domain.wake.commands import RetakeWake
from domain.wake.machine import RETAKES_MAX
from domain.wake.tool_call import CALLS_MAX
from domain.wake.wake import ModelAnswered, ModelFailed, ToolCall
from tests.histories.acting import ESTIMATE, REPORT, Scene, answers, begun, told, woken
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply

ALIASES = """
    set_task_estimate set_task_due_date set_task_priority update_task_status update_task_title
    update_task_language
""".split()
SURE = "very_high"
Calls = list[tuple[str, str]]


def call(tool: str, **given: object) -> tuple[str, str]:
    return tool, canonical.text(given)


def wake(at: Services, agent: str, *turns: Calls) -> str:
    """A wake in which the model makes these calls, turn by turn, and ends with a report."""
    if not queued_key(at, agent):
        told(at, at.request(agent))
    replies: list[Reply] = [reply(*calls) for calls in turns]
    answers(at, [*replies, reply(REPORT), reply(text="Done.")])
    return woken(at, agent)


def task_of(at: Services, task: str) -> Task:
    with at.journal.reading() as world:
        return world.load(TASK, task)


def spellings() -> Services:
    """Numbers, lists, names and JSON in every form that a model may send them in."""
    at = services()
    task, agent = task_with_agent(at)
    item = told(at, do.AddItems(task, ("Old one",)))[0]
    number = "update_task_estimate"
    odd: list[object] = [" 45 ", "+46", "-1", "47.0", "47.5", "4_5", "1" * 9, "1" * 10, "٤٥", ""]
    odd += ["48.000000000", "48.0000000000", 48.0, 48.5, -0.0, 1e300, 10**15 - 1, 10**15, -(10**15)]
    odd += [2**63, False, True, None, [], {}, "null", [49], "  ", "\u00a050\u3000"]
    names = [{"Minutes": 1}, {"minutes": 1, "min_utes": 2}, {"is_checked": 1, "b": 2, "c_": 3}, {}]
    names += [{"a": 1, "b": 2, "c": 3, "d": 4}, {"_minutes": 5}, {"minutes": 6, "x" * 99: 7}]
    fields = [call("update_task_due_date", due_date=one) for one in (" 2028-02-29 ", "2027-02-29")]
    fields += [call("update_task_due_date", dueDate="2027-01-01", due_date="2027-01-01")]
    fields += [
        call("update_task_priority", priority=one) for one in (" p0 ", "P 0", "\uff501", "P3")
    ]
    for status in ("groomed", " In  Progress ", "done", "Rejected", "DONE ", "blocked", ""):
        fields += [call("update_task_status", status=status), call("set_task_status", reason="x")]
    for code in ("DE", " fr ", "zz", "e", "en-GB", "", "\u017ft"):
        fields.append(call("update_task_language", languageCode=code, confidence="LOW"))
    for code, how in (("D", "high"), (" DE ", "High"), ("fr", "medium"), ("de", "high")):
        fields.append(call("set_task_language", languageCode=code, confidence=how))
    for alias in (*ALIASES, *(one.upper() for one in ALIASES)):
        fields.append((alias, "{}"))
    fields += [("fly", "{}"), ("set_task_title", "[1]"), ("update_task_title", '{"title":null}')]
    spelled = [call("set_task_estimate", minutes=one) for one in odd]
    wake(at, agent, spelled, [(number, canonical.text(one)) for one in names], fields)
    items = "update_checklist_items"
    one = {"id": f" {item} ", "is_checked": True, "title": None, "reason": " ", "is_archived": None}
    lists: list[object] = [[one], one, json.dumps([one]), f" {json.dumps(one)} ", "[", "[]", "{}"]
    lists += [[json.dumps({**one, "isChecked": False})], [[one]], ["x"], [one, "x"], [{"id": 1}]]
    lists += [
        [{"id": item, "isChecked": "true"}],
        [{"id": item, "no": 1}],
        [{"id": item, "id_": 1}],
    ]
    lists += ['[{"id":1,"id":2}]', "[NaN]", "[Infinity]", "[1e999]", f"[{2**64}]", f"[{2**64 - 1}]"]
    lists += [
        f"[{-(2**63)}]",
        f"[{-(2**63) - 1}]",
        '[{"\\ud800":1}]',
        '["\\ud800\\u00e9"]',
        "[-0.0]",
    ]
    lists += ["[" * depth + "]" * depth for depth in (63, 64, 65, 66)] + ["[" * 3000, '{"a":[{}]}']
    wake(at, agent, [call(items, items=one) for one in lists[:28]])
    wake(
        at,
        agent,
        [call(items, items=one) for one in lists[28:]],
        [call("add_multiple_checklist_items", items=one) for one in lists[4:]],
    )
    return at


def lengths() -> Services:
    """Texts and lists as long as they may be, and one longer; calls as many as there may be."""
    at = services()
    task, agent = task_with_agent(at, "Fix " * 30)
    title, item, reason = ("x" * one for one in (a.TITLE_MAX, a.ITEM_TITLE_MAX, a.REASON_MAX))
    known = told(at, do.AddItems(task, tuple(f"Known {nth}" for nth in range(a.BATCH_MAX + 1))))
    fields = [call("set_task_title", title=one) for one in (title, title + "x", f" {title} ", " ")]
    fields += [call("update_task_estimate", minutes=one) for one in (0, 1, 2, 1440, 1441)]
    for one in (reason, reason + "r", f"{reason} ", ""):
        fields.append(call("set_task_status", status="BLOCKED", reason=one))
    fields.append(call("set_task_status", status="GROOMED", reason=""))
    many = [{"title": f"New {nth}"} for nth in range(a.BATCH_MAX + 1)]
    added = [many, many[:-1], [{"title": item}], [{"title": item + "x"}], [{"title": ""}], []]
    fields += [call("add_multiple_checklist_items", items=one) for one in added]
    changed = [{"id": one, "isChecked": True} for one in known]
    changes: list[object] = [changed, changed[:-1], [{"id": known[0], "title": item + "i"}]]
    changes += [[{"id": "i" * size, "isChecked": True}] for size in (0, 1, 8, 9, 100, 101)]
    changes += [
        [{"id": known[1], "isChecked": True, "reason": one}] for one in (reason, reason + "r")
    ]
    wake(at, agent, fields, [call("update_checklist_items", items=one) for one in changes])
    choice = {"id": "l" * 100, "confidence": SURE}
    labels = [[choice] * a.BATCH_MAX, [choice] * (a.BATCH_MAX + 1), [{**choice, "id": "l" * 101}]]
    own = [call("assign_task_labels", labels=one) for one in labels]
    sizes: tuple[int, ...] = (OBSERVATION_LENGTH_MAX, OBSERVATION_LENGTH_MAX + 1)
    own += [call("record_observations", observations=["o" * size]) for size in sizes]
    own += [call("record_observations", observations=["o"] * size) for size in (20, 21)]
    gone = {"fingerprint": "f" * 100, "reason": reason}
    wrong = {"fingerprint": "f" * 101}, {"reason": reason + "r"}, {"reason": " "}, {"no": 1}
    for other in ({}, *wrong):
        own.append(call("retract_suggestions", proposals=[{**gone, **other}]))
    own += [call("retract_suggestions", proposals=[gone] * size) for size in (20, 21)]
    own += [
        call(
            "retract_suggestions",
            proposals=[{"fingerprint": "f"}, gone, "f", 7, None, {**gone, "reason": "b"}],
        )
    ]
    sizes = local.CONTENT_LENGTH_MAX, local.TLDR_LENGTH_MAX, local.ONE_LINER_LENGTH_MAX
    content, tldr, line = ("c" * (size + 1) for size in sizes)
    own.append(call("update_report", content=content, tldr=tldr, oneLiner=line))
    for size in (SHOWN_LENGTH_MAX, SHOWN_LENGTH_MAX + 1):
        own += [call("set_task_language", languageCode="q" * size, confidence="high")]
        own += [("t" * size, "{}"), ("set_task_status", canonical.text({"s" * size: 1}))]
    wake(at, agent, own)
    wake(at, agent, [ESTIMATE] * (CALLS_MAX + 1))
    return at


def checklists() -> Services:
    """Items that the person, a file and an agent ticked, archived and renamed."""
    at = services()
    task = key("task", "histories", "checklists")
    document = ImportedTask(task, "", items=(ImportedItem("From a file", is_checked=True),))
    kept = payload(task, canonical.encode(document))
    at.append_journal(do.ImportTasks("todo.md", (do.ImportedRef(task, kept.id),)), payloads=[kept])
    category, n = task_of(at, task).category, at.journal.tail().n
    create = agents.CreateAgent(task, "", category, n, "hybrid", name="Ann", is_enabled=True)
    agent = told(at, create)[0]
    wake(
        at, agent, [call("set_task_title", title=" Tidy "), call("set_task_title", title="Tidier")]
    )
    names = ("Sand", "Paint", "Dry", "Sell", "Old")
    sand, paint, dry, sell, old = told(at, do.AddItems(task, names))
    (filed, *_) = (item.id for item in task_of(at, task).items)
    (
        told(at, do.EditItem(task, sand, is_checked=True)),
        told(at, do.EditItem(task, paint, is_checked=True)),
    )
    (
        told(at, do.EditItem(task, paint, is_checked=False)),
        told(at, do.EditItem(task, old, is_archived=True)),
    )
    told(at, do.EditItem(task, sell, title="Give away"))
    short, long = "r" * (REASON_MIN - 1), "r" * REASON_MIN
    changes: list[dict[str, object]] = [
        *({"id": sand, "isChecked": False, "reason": reason} for reason in ("", short, long)),
        *({"id": paint, "isChecked": True, "reason": reason} for reason in (short, long)),
        *({"id": filed, "isChecked": False, "reason": reason} for reason in (short, long)),
        {"id": sand, "isChecked": False, "title": "Sand it", "reason": short},
        {"id": sand, "isChecked": True, "title": " Sand ", "isArchived": False},
        {"id": sand, "isChecked": True, "isArchived": True, "reason": "away with it"},
        {"id": dry, "isChecked": True, "title": "Dry it", "isArchived": True},
        {"id": dry, "isChecked": False, "title": "Dry"},
        {"id": old, "isArchived": False},
        {"id": old, "isArchived": True},
        {"id": "n" * 9, "isChecked": True},
        {"id": "n" * 8, "title": "x"},
        {"id": sell},
    ]
    updates = [call("update_checklist_items", items=[one]) for one in changes]
    updates.append(
        call("update_checklist_items", items=[*changes[2:5], changes[7], *changes[10:15]])
    )
    updates.append(call("update_checklist_items", items=[changes[8], changes[14]]))
    added = (["sand", "Dust"], ["Dust", "dust "], ["Sell", "Give  away"], ["Old"], ["Sand", "DRY"])
    adds = [
        call("add_multiple_checklist_items", items=[{"title": one} for one in some])
        for some in added
    ]
    run_key = wake(at, agent, updates, adds)
    _decide_all(at, run_key)
    told(at, do.EditItem(task, dry, is_checked=False))
    _decide_all(at, wake(at, agent, updates, adds))
    return at


def _decide_all(at: Services, run_key: str) -> None:
    """Confirm every item, one after the other; what is stale once more, anyway."""
    made = set_id(run_key)
    for item in review.changes_of(at, made).items:
        if review.changes_of(at, made).items[item.number - 1].status != "pending":
            continue
        done = review.confirm(at, made, item.number)
        if done is not None and done.error_code == "stale":
            review.confirm(at, made, item.number, is_anyway=True)


def label_rules() -> Services:
    """Labels: sure and less sure, too many, scoped, suppressed, deleted, assigned meanwhile."""
    at = services()
    task, agent = task_with_agent(at)
    told(at, do.AddCategory("Shed"))
    names = ("red", "Blue", "green", "Alpha", "zeta", "gone", "mine")
    for name in names:
        told(at, do.AddLabel(name))
    told(at, do.AddLabel("Scoped", ("Inbox",))), told(at, do.AddLabel("elsewhere", ("Shed",)))
    told(at, do.ChangeLabels(task, suppress=("zeta", "gone", "Alpha")))
    told(at, do.DeleteLabel("gone"))

    def choices(*named: str) -> tuple[str, str]:
        pairs = (one.split("=") for one in named)
        labels = [{"id": label_id(name), "confidence": how} for name, how in pairs]
        return call("assign_task_labels", labels=labels)

    first = [
        choices("red=low", "blue=medium", "green=high", "scoped=very_high", "mine=medium"),
        choices("elsewhere=high", "zeta=high", "gone=high", "nothing=high"),
        choices("red=medium", "red=high", "green=high"),
        choices("mine=high"),
    ]
    run_key = wake(at, agent, first)
    told(at, do.ChangeLabels(task, ("mine",), suppress=("blue",)))
    _decide_all(at, run_key)
    told(at, do.AddLabel("short-lived"))
    run_key = wake(at, agent, [choices("short-lived=high"), *_unknown_labels()])
    told(at, do.DeleteLabel("short-lived"))
    _decide_all(at, run_key)
    second = [
        choices("mine=high", "red=low"),
        choices("red=high", "alpha=high"),
        choices("red=high", "zeta=low"),
    ]
    run_key = wake(at, agent, second)
    told(at, do.ChangeLabels(task, ("elsewhere",)))
    wake(at, agent, [choices("red=high"), choices("mine=high")])
    _decide_all(at, run_key)
    told(at, do.ChangeLabels(task, ("zeta", "Alpha"), remove=("mine",), allow=("zeta",)))
    told(at, do.EditTask(task, category="Shed"))
    told(at, do.EditTask(task, category="Inbox"))
    wake(at, agent, [choices("red=high")])
    return at


def _unknown_labels() -> Calls:
    """Ids that are no label's, as short as is shown whole, and longer."""
    given = ({"id": "u" * size, "confidence": "high"} for size in (8, 9))
    return [call("assign_task_labels", labels=[one]) for one in given]


def reports_due() -> Services:
    """A wake owes a report, or does not: after what was denied, queued, kept, or done at once."""
    at = services()
    task, agent = task_with_agent(at)
    wake(at, agent, [])
    language = call("set_task_language", languageCode="de", confidence="high")
    note = call("record_observations", observations=["So."])
    wrong = call("update_task_estimate", minutes=0)
    gone = call("retract_suggestions", proposals=[{"fingerprint": "f", "reason": "r"}])
    for nth, calls in enumerate(
        ([], [wrong], [note], [gone], [ESTIMATE], [ESTIMATE], [language], [language], [REPORT])
    ):
        told(at, at.request(agent, "user", "s", nth + 1))
        answers(at, [reply(*calls, text=f"{nth}"), reply(text="So."), reply(text="No report.")])
        woken(at, agent)
    told(at, do.EditTask(task, title="Another"))
    return at


def taken_over() -> Services:
    """A question and a tool's effect are taken over until that is too often; a failure between."""
    at = services()
    task, agent = task_with_agent(at)
    language = Words('{"languageCode":"de","confidence":"high"}')
    for nth, name in enumerate(("model", "tool", "failed")):
        run_key = queued_key(at, agent)
        begun(at, agent, run_key)
        if name == "tool":
            raw = payload(task, b"in German")
            calls = (ToolCall("c1", "set_task_language", language),)
            at.append_reply(
                Replied("wake", run_key, ModelAnswered(1, 1, raw.id, None, calls)), [raw]
            )
        for time in range(1, RETAKES_MAX + 2):
            told(at, RetakeWake(run_key), key=f"{name} {time}")
            if name == "failed" and time == RETAKES_MAX - 1:
                away = ModelFailed(1, time + 1, "overloaded", "503", of_provider=True)
                at.append_reply(Replied("wake", run_key, away))
        if name == "failed":
            told(at, RetakeWake(run_key), key=f"{name} once more")
            told(at, RetakeWake(run_key), key=f"{name} twice more")
        told(at, at.request(agent)) if nth < 2 else None
    return at


def private_notes() -> Services:
    """Observations in every form, more critical ones than are kept, and reports full of ids."""
    at = services()
    task, agent = task_with_agent(at)
    seen: list[object] = [
        {"text": "a", "priority": "NOTABLE", "category": "template_Improvement", "target": "Both"},
        {"text": "b", "priority": "loud", "category": "", "target": "soul"},
        {"text": "c", "Text": "d", "priority": None, "category": ["x"], "target": "template"},
        {"text": " ", "priority": "critical"}, {"text": 7}, {}, 7, None, [], "  e \U0001f9f5 ",
        {"text": "f", "priority": "critical", "category": "grievance", "why": 1},
        {"text": "g", "priority": "critical", "category": "excellence"},
        {"text": "h", "priority": "critical", "category": "template_improvement"},
    ]  # fmt: skip
    ids = "\n".join(
        (
            task,
            f"- ({task}) x",
            f"[{task}, x",
            f"`{agent}`",
            f"(id: {task})",
            f"[task {task}]",
            f"Item ID={task},",
            "x",
        )
    )
    more = f"[{task}](x) /tasks/{task} https://a.b/{task} ids: {task}, {agent} and {task}; a{task}"
    wake(at, agent, [call("record_observations", observations=seen),
                     call("record_observations", observations=seen[3:9]),
                     call("update_report", content=f"# {ids}\n{more}.", tldr=more, oneLiner=ids),
                     call("update_report", content=task, tldr="x", oneLiner="y"),
                     call("update_report", content="x", tldr=task, oneLiner="y"),
                     call("update_report", content="x", tldr="y", oneLiner=task)])  # fmt: skip
    wake(at, agent, [])
    critical = [{"text": f"n{nth}", "priority": "critical"} for nth in range(CRITICAL_KEPT)]
    told_all = (critical[first : first + 20] for first in range(0, CRITICAL_KEPT, 20))
    routine = call("record_observations", observations=["r"] * (JOURNAL_SHOWN - 1))
    wake(at, agent, [*(call("record_observations", observations=one) for one in told_all), routine])
    wake(at, agent, [])
    return at


SCENES: tuple[Scene, ...] = (
    spellings,
    lengths,
    checklists,
    label_rules,
    private_notes,
    reports_due,
    taken_over,
)
