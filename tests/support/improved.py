"""Templates that an agent improves: in memory, with scripted models, and at the command line, of a
house whose agents live on Laura."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.runtime import review
from domain.agent.commands import CreateAgent
from domain.agent.deciders import TEMPLATE_IMPROVER
from domain.log.wire import Words
from domain.templates import commands as t
from domain.templates.template import TEMPLATE, Template
from domain.wake.template_context import is_held_out
from domain.wake.wake import Wake
from tests.support.house import FENCE, REPORT, TAP, did, house, seen
from tests.support.lone import HOME, WORK, Lone, lone_agent, with_tasks
from tests.support.scripted_wakes import call
from tests.support.waking import reply, report, tape

# ---------------------------------------------------------------------------------------- in memory

KIND, BRIEF = "Be kind.\n- Read the whole log.", "Be brief."
RULE = "- Propose a due date only where a text names a day."
REASON = "Doctor Mayer moved it to the clinic in Altona again"
FEW = 3  # tasks


@dataclass(frozen=True)
class Taught(Lone):
    """One whose agent improves Calm; `template` is that one's id."""

    template: str = ""

    def of_template(self) -> Template:
        with self.at.agents.reading() as world:
            return world.load(TEMPLATE, self.template)

    def said(self, wake: Wake, name: str) -> str:
        with self.at.agents.reading() as world:
            refs = [one for one in wake.begun.user if one.name == name]
            return "".join(world.payload(one.payload).decode() for one in refs)

    def codes(self, wake: Wake) -> list[str]:
        return [one.code for one in wake.results if one.tool == "propose_directives"]


def taught(
    *titles: str,
    reason: str = REASON,
    reads: tuple[str, ...] = (HOME, WORK),
    items: int = 4,
    edit: str = "",
) -> Taught:
    """Agents of these tasks live on Calm; of each one's proposals the date is declined with the
    reason, and the items are confirmed, with other arguments where there is an `edit`. A wake that
    is of the half for trying is woken again."""
    at, tasks = with_tasks(*titles)
    command = t.CreateTemplate("Calm", Words(KIND), Words(BRIEF))
    template = at.append_agent(command).result.ids[0]
    for title in tasks:
        decided(Taught(at, "", tasks, template), title, reason, items, edit)
    improver = lone_agent(at, TEMPLATE_IMPROVER, f"template:{template}", reads, "Calm wording")
    return Taught(at, improver, tasks, template)


def decided(of: Taught, title: str, reason: str, items: int, edit: str) -> None:
    task = of.tasks[title]
    category = of.task(task).category
    command = CreateAgent(
        task, title, category, of.at.journal.tail().n, "hybrid", is_enabled=True,
        template=of.template,
    )  # fmt: skip
    agent = of.at.append_agent(command).result.ids[0]
    made = [{"title": f"Step {one}"} for one in range(items)]
    for turn in range(8):  # bounded: a wake is shown with probability one half
        due = call("update_task_due_date", dueDate=f"2027-02-{turn + 10}", because=title)
        extra = [call("add_multiple_checklist_items", items=made, because=title)] * (turn == 0)
        if turn:
            of.at.append_agent(of.at.request(agent))
        wake = of.runs(agent, due, *extra)
        sets = of.at.agent(agent).sets[-1]
        for item in review.changes_of(of.at, sets).items:
            if item.tool == "update_task_due_date":
                review.reject(of.at, sets, item.number, reason)
            else:
                review.confirm(of.at, sets, item.number, edit=edit)
        if not is_held_out(wake.run_key):
            return


def proposing(general: str = f"{KIND}\n{RULE}", report: str = BRIEF) -> tuple[str, str]:
    return call("propose_directives", general=general, report=report, rationale="Two were.")


# -------------------------------------------------------------------------------- at a command line

NEW_RULE = "- Propose a due date only where a text names a day for the whole task."
WEATHER = "depends on the weather"
TITLES = ("Buy oil", "Ask Bob", "Sweep", "Wait for sun")


def lived_on(home: Path) -> None:
    """Three tasks on Laura; of each agent's five proposals all but the date are confirmed."""
    house(home)
    folder = home.parent
    for nth, task in enumerate((TAP, FENCE, REPORT)):
        did(home, "agent", "create", task)
        did(home, "template", "assign", task, "laura")
        did(home, "task", "note", task, "Some day in February, if it does not rain.")
        items = [{"title": f"{one} {nth}"} for one in TITLES]
        said = reply(
            ("update_task_due_date", {"dueDate": f"2027-02-1{nth}", "because": "Some day"}),
            ("add_multiple_checklist_items", {"items": items, "because": "if it does not rain"}),
            report(),
        )
        model = tape(folder / "agents.jsonl", said, reply(text="Done."))
        did(home, "--model", model, "wake", task)
        name = f"{nth + 1}"
        did(home, "reject", f"{name}.1", "--reason", WEATHER)
        did(home, "confirm", name, "--all")


def directives(home: Path) -> dict[str, Any]:
    """The active directives of Laura."""
    found = seen(home, "template", "show", "Laura")["versions"]
    return next(one for one in found if one["active"])


def proposal(home: Path, general: str = "", **given: str) -> tuple[str, dict[str, str]]:
    """A call that proposes one more rule, or these directives."""
    now = directives(home)
    made = {
        "general": general or f"{now['general']}\n{NEW_RULE}",
        "report": now["report"],
        "rationale": "Three dates were declined.",
    }
    return "propose_directives", made | given


def improving(home: Path, *calls: tuple[str, Any], words: str = "Leave dates alone") -> str:
    """A session whose model makes these calls, or proposes one more rule; what is printed."""
    model = proposing_tape(home, *calls)
    return did(home, "--model", model, "template", "improve", "laura", *([words] if words else []))


def proposing_tape(home: Path, *calls: tuple[str, Any]) -> str:
    """The model of such a session."""
    made = calls or (proposal(home),)
    said = reply(*made, report("Dates are declined")), reply(text="I propose one more rule.")
    return tape(home.parent / "improver.jsonl", *said)
