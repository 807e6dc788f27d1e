"""What a person does to agents from the page. A wake runs in a thread; the page follows it."""

import time
from typing import Any

from adapters.actions.inputs import WORDS_MAX_BYTES
from adapters.actions.naming import nth_key
from adapters.documents.agents import all_agents
from adapters.runtime import retries, rounds
from adapters.web.agents import known
from adapters.web.asking import Asked, Form, Told, clashing, compared, in_lines
from adapters.web.site import Site, check_sure
from adapters.web.tasks import known as known_task
from domain.agent.commands import (
    ConfigureAgent,
    CreateAgent,
    DeleteAgent,
    DestroyAgent,
    PauseAgent,
    RequestWake,
    ResumeAgent,
)
from domain.agent.identity import Wanted
from domain.errors import Refused
from domain.wire import payload

WAIT_SECONDS = 0.6  # a quick wake is over when its page is shown
LIVES: dict[str, tuple[type, str]] = {
    "pause": (PauseAgent, "Paused: nothing wakes it until it is resumed."),
    "resume": (ResumeAgent, "Resumed: a wake is queued that looks at what changed."),
    "destroy": (DestroyAgent, "Destroyed: its task may get a new agent."),
    "delete": (DeleteAgent, "Taken off the list; its facts stay in the log."),
}


def assign(site: Site, asked: Asked) -> Told:
    """Make an agent for a task."""
    task = known_task(site, asked.names["id"])
    desk = site.home.desk
    key = nth_key(asked.key, 1)
    if task.is_deleted:
        because = "the task is deleted"
        raise Refused("task_deleted", because=because, instead="restore it first")
    if retries.before(desk.agents, key, CreateAgent, task=task.id) is None:
        command = CreateAgent(
            task.id,
            task.title,
            task.category,
            desk.journal.tail().n,
            desk.settings.agents.mode,
            is_enabled=desk.is_enabled,
        )
        desk.note(command, key=key)
    return Told("It has an agent now; its first wake is queued.")


def wake(site: Site, asked: Asked) -> Told:
    """Wake an agent now."""
    agent = known(site, asked.names["id"])
    _request(site, asked, site.home.desk.request(agent.id))
    return Told("Woken: what comes of it appears here.")


def ask(site: Site, asked: Asked) -> Told:
    """Ask an agent something; the answer appears among its conversations."""
    agent = known(site, asked.names["id"])
    said = asked.needed("words").strip()
    if not said or len(said.encode()) > WORDS_MAX_BYTES:
        because = "the question is empty" if not said else "the question is too long"
        raise Refused("invalid_value", because=because, instead="say what you want to know")
    kept = payload(agent.task_id, said.encode())
    command = site.home.desk.request(agent.id, "user", words=kept.id)
    _request(site, asked, command, [kept])
    return Told("Asked: the answer appears below.")


def _request(site: Site, asked: Asked, command: RequestWake, payloads: Any = ()) -> None:
    """Queue a wake and have it run; the same form sent twice queues one."""
    desk = site.home.desk
    key = nth_key(asked.key, 1)
    said = {"agent": command.agent, "reason": command.reason, "words": command.words}
    if retries.before(desk.agents, key, RequestWake, **said) is not None:
        return
    if site.jobs.is_full:
        because = "too many wakes wait already"
        raise Refused("agent_running", because=because, instead="wait until some have ended")
    desk.model_for(desk.agent(command.agent).model or desk.settings.model)  # or Refused
    rounds.prepare(desk, [command.agent])
    result = desk.note(command, key=key, payloads=payloads).result
    site.jobs.wake(command.agent, result.ids[1])
    site.give_way(_let_it_begin)


def wake_all(site: Site, asked: Asked) -> Told:
    """Run all that is queued."""
    asked.needed("nonce")
    living = [one.id for one in all_agents(site.home) if one.is_living]
    rounds.prepare(site.home.desk, living)
    ready = rounds.ready(site.home.desk, living)
    if not ready:
        return Told("Nothing is queued that may run now.")
    if site.jobs.is_full:
        because = "too many wakes wait already"
        raise Refused("agent_running", because=because, instead="wait until some have ended")
    site.jobs.wake_all(living)
    site.give_way(_let_it_begin)
    plural = "" if len(ready) == 1 else "s"
    return Told(f"Running {len(ready)} wake{plural}: what comes of them appears here.")


def _let_it_begin() -> None:
    """Give a quick model its moment, so that the page shows the end and not the beginning."""
    time.sleep(WAIT_SECONDS)


def live(site: Site, asked: Asked) -> Told:
    """Pause, resume, destroy or delete."""
    agent = known(site, asked.names["id"])
    verb = asked.needed("verb")
    if verb not in LIVES:
        because = f"{verb[:20]!r} is nothing that can be done to an agent"
        raise Refused("invalid_input", because=because, instead="send the form of the page")
    command, done = LIVES[verb]
    if verb in ("destroy", "delete"):
        check_sure(asked, f"to {verb} the agent")
    desk = site.home.desk
    made = ResumeAgent(agent.id, desk.is_enabled) if command is ResumeAgent else command(agent.id)
    desk.note(made, key=nth_key(asked.key, 1))
    return Told(done)


def configure(site: Site, asked: Asked) -> Told:
    """Set the goal, the mode and whether changes wake it: what of it the form changes."""
    agent = known(site, asked.names["id"])
    now = {
        "goal": agent.agent.goal.value,
        "mode": agent.mode,
        "automatic": "yes" if agent.agent.is_automatic else "no",
    }
    given = {
        "goal": in_lines(asked.form.get("goal", "")).strip(),
        "mode": asked.form.get("mode") or asked.needed("was.mode"),
        "automatic": "yes" if asked.form.get("automatic") == "yes" else "no",
    }
    found, key = compared(asked, given, now), nth_key(asked.key, 1)
    if not found.changed:
        return Told("Nothing was changed.")
    desk = site.home.desk
    if found.moved and not desk.agents.receipts(key):
        forms: dict[str, Form] = {"goal": "text", "mode": "hidden", "automatic": "hidden"}
        return clashing(asked, found, {"automatic": "whether changes and timers wake it"}, forms)
    wanted = Wanted(
        mode=given["mode"] if "mode" in found.changed else None,
        is_automatic=given["automatic"] == "yes" if "automatic" in found.changed else None,
        goal=given["goal"] if "goal" in found.changed else None,
    )
    desk.note(ConfigureAgent(agent.id, wanted), key=key)
    return Told("Set.")
