"""Scenes of templates and of what the runtime asks for more than once."""

from msgspec.structs import replace

from adapters.runtime import review, watcher
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.agent.agent import AgentCreated
from domain.agent.deciders import AgentSettings
from domain.append.causes import Receipt, Replied
from domain.changes.commands import ConfirmItem, RejectItem
from domain.journal import commands as do
from domain.journal.catalog import category_id
from domain.journal.task import PERSON
from domain.lessons.commands import RateRun
from domain.log.timestamps import later
from domain.log.wire import SHARED, Words, words
from domain.templates import commands as templates
from domain.templates.template import NAME_MAX, ArmFared, Rehearsed
from domain.wake.wake import ModelFailed
from tests.histories.acting import (
    NOBODY,
    REPORT,
    Scene,
    answers,
    begun,
    changed,
    refused,
    set_clock,
    told,
    twice,
    woken,
)
from tests.support.improved import BRIEF, KIND, proposing, taught
from tests.support.improved import REASON as CLINIC
from tests.support.lone import MORNING
from tests.support.scripted_wakes import call
from tests.support.services import TickingClock, queued_key, services, task_with_agent
from wakelog.testing import calls as reply

GENERAL, REPORTS = Words("Be kind."), Words("In one line.")


def templates_again() -> Services:
    """Templates made, named, versioned, assigned and deleted: twice, at limits, and refused."""
    at = services()
    task, agent = task_with_agent(at)
    name = "n" * NAME_MAX
    for wrong in ("", " ", name + "n"):
        refused(at, "invalid_value", templates.CreateTemplate(wrong, GENERAL, REPORTS))
    made = told(
        at, templates.CreateTemplate(f" {name} ", GENERAL, REPORTS, "rules", ("b", "a", "b"))
    )[0]
    seed = twice(at, templates.CreateTemplate("Laconic", GENERAL, Words(), seed="laconic"))
    for change in (
        templates.ChangeTemplate(made, " Kind  one "),
        templates.ChangeTemplate(made, model="gemini", categories=("c", "a", "c")),
        templates.ChangeTemplate(made, model="", categories=()),
        templates.ChangeTemplate(made),
    ):
        twice(at, change)
    refused(at, "invalid_value", templates.ChangeTemplate(made, name + "n"))
    unknown = templates.ChangeTemplate(NOBODY, "x"), templates.RollBackTemplate(made, 9)
    refused(at, "unknown_template", *unknown, templates.DeleteTemplate(NOBODY))
    refused(at, "unknown_template", templates.AssignTemplate(agent, NOBODY))
    refused(at, "unknown_template", templates.AddVersion(NOBODY, GENERAL, REPORTS, "user"))
    refused(at, "unknown_agent", templates.AssignTemplate(NOBODY, made))
    said, kept = words(SHARED, "Be brief. " * 200)
    at.append_agent(templates.AddVersion(made, said, REPORTS, "user"), payloads=kept)
    for version in ((GENERAL, REPORTS, "user", ""), (GENERAL, REPORTS, "evolution", "rules")):
        twice(at, templates.AddVersion(made, *version))
    twice(at, templates.RollBackTemplate(made, 2), templates.RollBackTemplate(made, 1))
    twice(at, templates.AssignTemplate(agent, made))
    refused(at, "template_in_use", templates.DeleteTemplate(made))
    told(at, templates.RollBackTemplate(made, 2))
    answers(at, [reply(REPORT), reply(), reply(text="Seen.")])
    changed(at, agent)
    twice(at, templates.AssignTemplate(agent, seed))
    told(at, do.EditTask(task, title="Another title"))
    changed(at, agent)
    _lives_on(at, made, seed)
    twice(at, templates.AssignTemplate(agent, ""), templates.DeleteTemplate(seed))
    twice(at, templates.AssignTemplate(agent, made))
    told(at, agents.DestroyAgent(agent))
    twice(at, templates.DeleteTemplate(made))
    refused(at, "unknown_template", templates.ChangeTemplate(made, "x"))
    told(at, templates.CreateTemplate("Laconic", GENERAL, Words(), seed="laconic"), key="once more")
    return at


def _lives_on(at: Services, made: str, seed: str) -> None:
    """More agents of templates: one that is made with one, and is destroyed."""
    for template in (made, seed):
        other = told(at, do.CreateTask("Other"))[0]
        n = at.journal.tail().n
        create = agents.CreateAgent(other, "Other", "c", n, "hybrid", template=template)
        agent = told(at, create)[0]
        twice(at, agents.DestroyAgent(agent))


def taken_again() -> Services:
    """What was taken is taken again, in part or whole; what was begun and waits, begins again."""
    at, ahead = _heard(), _heard()
    first = _taken_last(at)
    told(at, first, key="taken by another")
    task = at.agent(_agents(at)[0]).task
    for one in (at, ahead):
        for title in ("Once", "Twice"):
            told(one, do.EditTask(task, title=title))
    watcher.take(ahead)
    digest = at.journal.digest_at(at.journal.tail().n)  # their clocks went on differently
    second = replace(_taken_last(ahead), journal_digest=digest)
    both = (*first.batches, *second.batches)
    told(at, replace(second, first=first.first, batches=both), key="a slow watcher's")
    told(at, second, key="all of it was taken")
    agent, other = _agents(at)
    told(at, agents.DestroyAgent(other))
    told(at, do.EditTask(task, title="Nobody else hears"))
    watcher.catch_up(at)
    told(at, agents.DeleteAgent(other))
    told(at, do.EditTask(task, title="Nobody else"))
    watcher.catch_up(at)
    _begins_again(at, agent)
    told(at, agents.ConfigureAgent(agent, AgentSettings(goal="Done")))
    return at


def _heard() -> Services:
    """A task with its agent, another's that listens to it, and edits that were taken."""
    at = services()
    task, _ = task_with_agent(at)
    _, other = task_with_agent(at, "Another")
    told(at, agents.WatchTokens(other, (f"id:{task}",)))
    for nth in range(3):
        told(at, do.EditTask(task, title=f"Title {nth}"))
    watcher.catch_up(at)
    return at


def _agents(at: Services) -> list[str]:
    """The agents, in the order of their making."""
    facts = (row for rows in at.agents.appends() for row in rows)
    return [row.entity for row in facts if isinstance(row.fact, AgentCreated)]


def _taken_last(at: Services) -> agents.TakeJournal:
    """What the watcher took last."""
    (rows,) = at.agents.appends(at.agents.tail().n - 1)
    assert isinstance(rows[0].fact, Receipt)
    assert isinstance(rows[0].fact.command, agents.TakeJournal)
    return rows[0].fact.command


def _begins_again(at: Services, agent: str) -> None:
    """A wake waits for its provider; it is asked to begin before its time, and at it."""
    run_key = queued_key(at, agent)
    command = begun(at, agent, run_key)
    away = ModelFailed(1, 1, "overloaded", "503", of_provider=True, retry_seconds=60)
    at.append_reply(Replied("wake", run_key, away))
    told(at, replace(command, is_now=False), key="before its time")
    set_clock(at, later(at.clock.now(), seconds=60))
    refused(at, "agent_running", replace(command, is_now=False), command)
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)


def predicates() -> Services:
    """Subscriptions to tasks of a category, of a status, of both: matched by both, one, or none."""
    at = services()
    task, agent = task_with_agent(at)
    told(at, do.AddCategory("Shed"))
    here, there = category_id("Inbox"), category_id("Shed")
    wanted = [(c, s) for c in ("", here, there) for s in ("", "OPEN", "BLOCKED")]
    for nth, (category, status) in enumerate(wanted):
        _, listener = task_with_agent(at, f"Listener {nth}")
        told(at, agents.WatchTokens(listener, (f"id:{task}",), category, status))
        told(at, agents.WatchTokens(listener, ("key:LABEL", "key:NOTE"), status="GROOMED"))
    for change in (
        do.EditTask(task, title="Open, here"),
        do.EditTask(task, status="BLOCKED", reason="it rains"),
        do.EditTask(task, category="Shed"),
        do.EditTask(task, status="OPEN"),
        do.AddLabel("garden"),
        do.ChangeLabels(task, ("garden",)),
    ):
        told(at, change)
        watcher.catch_up(at)
    answers(at, [reply(REPORT), reply()])
    told(at, do.EditTask(task, category="Inbox"))
    changed(at, agent)
    return at


def template_improved() -> Services:
    """An agent that improves a template: what it proposes, what is refused, and what becomes of
    it: confirmed, undone, edited, stale, replaced, rejected."""
    of = taught("Tap", "Bill @Work")
    of.at.clock = TickingClock(MORNING)
    of.wakes(
        call("propose_directives", general=KIND, report=BRIEF, rationale="None."),
        proposing(f"{KIND}\n- {CLINIC}"),
        proposing(),
        words="Fewer dates, please.",
    )
    tried = Rehearsed(
        f"{of.sets[-1]}.1", 0, "", "", 7, 3, 2, ArmFared(4, 1, 2, 0, 3), ArmFared(5, 0, 1), 900, 1
    )
    told(of.at, templates.RecordRehearsal(of.template, tried))
    told(of.at, templates.RecordRehearsal(of.template, replace(tried, item="", version=1)))
    refused(
        of.at,
        "unknown_template",
        templates.RecordRehearsal(of.template, replace(tried, item="x.1")),
    )
    refused(
        of.at, "unknown_template", templates.RecordRehearsal(of.template, replace(tried, item=""))
    )
    of.confirm(1)
    review.undo(of.at, of.sets[-1], 1, "")
    edit = review.arguments_of(of.at, of.items()[0]).replace("names a day", "names one")
    of.confirm(1, edit=edit)
    of.wakes(proposing())
    of.wakes(proposing(f"{KIND}\n- No dates at all."), words="None at all.")
    of.at.append_agent(templates.AddVersion(of.template, Words("Mine."), Words(BRIEF), "user"))
    name = of.sets[-1]
    refused(of.at, "stale", ConfirmItem(name, 1, PERSON, 0))
    of.wakes(proposing("Short."), words="Shorter.")
    of.confirm(1)
    refused(of.at, "decided", RejectItem(name, 1, PERSON, 0))
    of.at.append_agent(RateRun(of.at.agent(of.agent).last_run, 4, PERSON))
    of.wakes(proposing("Shorter still."), words="And shorter.")
    review.reject(of.at, of.sets[-1], 1, "No more")
    return of.at


SCENES: tuple[Scene, ...] = (template_improved, templates_again, taken_again, predicates)
