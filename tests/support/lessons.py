"""Homes in memory whose person decides on proposals in several categories."""

from contextlib import closing
from pathlib import Path

from adapters.proof.prove import prove_logs
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from adapters.wiring import open_home
from domain.agent.commands import CreateAgent
from domain.changes.commands import RejectItem
from domain.journal import commands as j
from domain.journal.catalog import category_id
from domain.lessons.lessons import LESSONS, Lessons
from domain.log.wire import Words
from domain.templates.commands import CreateTemplate
from domain.wake.reading import PromptOptions
from replay.divergence import Divergence
from tests.support.cli import FIXED, done, told
from tests.support.scripted_wakes import call, ended, woken
from tests.support.services import queued_key, services

WORK, HEALTH = category_id("Work"), category_id("Health")


BEFORE = "it depends on the weather"


def reject_as_before(home: Path, *numbers: int, reason: str = BEFORE) -> None:
    """Reject items of the first set as it was done before verdicts named a category."""
    (made,) = told(["inbox"], home)
    with closing(open_home(home, FIXED, is_writing=True)) as at:
        for number in numbers:
            position = at.services.journal.tail().n
            command = RejectItem(made["id"], number, "person", position, reason)
            at.services.append_agent(command)


def declining(home: Path) -> None:
    """In the category Garden eight of nine estimates were declined; the ninth waits."""
    file = home.parent / f"{home.name}.md"
    beds = (f"- [ ] Bed {nth}\n\n  Takes about 2 hours.\n" for nth in range(1, 10))
    file.write_text("# Garden\n\n" + "\n".join(beds), encoding="utf-8")
    done(["category", "add", "Garden"], home)
    done(["import", str(file), "--agents"], home)
    done(["wake"], home)
    done(["reject", *(f"{nth}.1" for nth in range(1, 9))], home)


def with_categories() -> Services:
    at = services()
    for name in ("Work", "Health"):
        at.append_journal(j.AddCategory(name))
    return at


def template(at: Services, name: str = "Calm") -> str:
    made = CreateTemplate(name, Words("Be calm."), Words("Be short."))
    return at.append_agent(made).result.ids[0]


def agent_in(at: Services, category: str, title: str, kept: str = "") -> tuple[str, str]:
    """A task in a category and its agent, on a template if one is named."""
    task = at.append_journal(j.CreateTask(title, category)).result.ids[0]
    made = CreateAgent(
        task, title, category, at.journal.tail().n, "hybrid", is_enabled=True, template=kept
    )
    return task, at.append_agent(made).result.ids[0]


def proposed(
    at: Services, category: str, title: str, *calls: tuple[str, str], kept: str = ""
) -> str:
    """The set of a new task's agent that proposes this; a due date, if nothing is said."""
    offers = calls or (call("update_task_due_date", dueDate="2027-02-01"),)
    return woken(at, agent_in(at, category, title, kept)[1], *ended(*offers))


def lessons_in(at: Services, scope: str) -> Lessons:
    with at.agents.reading() as world:
        return world.load(LESSONS, scope)


def decided_in(at: Services, scope: str, tool: str = "update_task_due_date") -> list[str]:
    """The verdicts of a tool, oldest first."""
    return [one.verdict for one in reversed(lessons_in(at, scope).tools.get(tool, ()))]


def section(at: Services, agent: str, scaffold: int = 2) -> str:
    """The section on lessons of the wake that the agent would begin now."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    seen = capture(at, agent, queued_key(at, agent), is_now=True, given=PromptOptions(scaffold))
    known = {one.id: one.data for one in seen.payloads}
    named = [one for one in seen.command.user if one.name == "lessons"]
    return known[named[0].payload].decode() if named else ""


def proved(at: Services) -> tuple[Divergence, ...]:
    return prove_logs(at.journal, at.agents).divergences
