"""What a person does to agents from the page. A wake runs in a thread; the page follows it."""

import time
from collections.abc import Callable

from adapters.actions import agents, waking
from adapters.documents.status import lead_elsewhere
from adapters.text.reading import counted
from adapters.web.agents import known
from adapters.web.asking import FormRequest, Notice
from adapters.web.site import Site, check_sure
from adapters.web.tasks import known as known_task
from adapters.wiring import Home
from domain.errors import Refused

WAIT_SECONDS = 0.6  # a quick wake is over when its page is shown
LIVES: dict[str, tuple[Callable[[Home, str, str], agents.Steered], str]] = {
    "pause": (agents.pause_agent, "Paused: nothing wakes it until it is resumed."),
    "resume": (agents.resume_agent, "Resumed: a wake is queued that looks at what changed."),
    "destroy": (agents.destroy_agent, "Ended for good: its task may get a new agent."),
    "delete": (agents.delete_agent, "Taken off the list; its facts stay in the log."),
}


def assign(site: Site, asked: FormRequest) -> Notice:
    """Make an agent for a task."""
    task = known_task(site, asked.names["id"])
    agents.assign_agent(site.home, task.id, agents.Wish(), asked.key)
    return Notice("It has an agent now; its first wake is queued.")


def wake(site: Site, asked: FormRequest) -> Notice:
    """Wake an agent now."""
    agent = known(site, asked.names["id"])
    _check_room(site)
    _run(site, agent.id, waking.request_wake(site.home, agent.id, asked.key))
    return Notice("Woken: what comes of it appears here.")


def ask(site: Site, asked: FormRequest) -> Notice:
    """Ask an agent something; the answer appears among its conversations."""
    agent = known(site, asked.names["id"])
    words = asked.needed("words").strip()
    _check_room(site)
    _run(site, agent.id, waking.ask_agent(site.home, agent.id, words, key=asked.key))
    return Notice("Asked: the answer appears below.")


def _check_room(site: Site) -> None:
    if site.jobs.is_full:
        because = "too many wakes wait already"
        raise Refused("agent_running", because=because, instead="wait until some have ended")


def _run(site: Site, agent_id: str, queued: waking.Requested) -> None:
    """Have a wake run; the same form sent twice runs one."""
    if not queued.is_known:
        site.jobs.wake(agent_id, queued.run_key)
        site.give_way(_let_it_begin)


def wake_all(site: Site, asked: FormRequest) -> Notice:
    """Run all that is queued."""
    asked.needed("nonce")
    prepared = waking.prepare_wakes(site.home)
    if not prepared.ready:
        lead = lead_elsewhere(site.home)
        there = f" {lead} leads: agents wake by themselves there, and here if you ask one."
        return Notice("Nothing is queued that may run now." + (there if lead else ""))
    _check_room(site)
    site.jobs.wake_all(prepared.agents)
    site.give_way(_let_it_begin)
    told = counted(len(prepared.ready), "wake")
    return Notice(f"Running {told}: what comes of them appears here.")


def _let_it_begin() -> None:
    """Give a quick model its moment, so that the page shows the end and not the beginning."""
    time.sleep(WAIT_SECONDS)


def live(site: Site, asked: FormRequest) -> Notice:
    """Pause, resume, destroy or delete."""
    agent = known(site, asked.names["id"])
    verb = asked.needed("verb")
    if verb not in LIVES:
        because = f"{verb[:20]!r} is nothing that can be done to an agent"
        raise Refused("invalid_input", because=because, instead="send the form of the page")
    deed, done = LIVES[verb]
    if verb in ("destroy", "delete"):
        check_sure(asked, f"to {verb} the agent")
    deed(site.home, agent.id, asked.key)
    return Notice(done)


def sleep(site: Site, asked: FormRequest) -> Notice:
    """Let only a person wake an agent before a day, or any time again."""
    agent = known(site, asked.names["id"])
    if asked.needed("verb") == "end":
        agents.sleep_agent(site.home, agent.id, "", asked.key)
        return Notice("It sleeps no longer.")
    until = asked.needed("until").strip()
    if not until:
        because = "it is not said until when it sleeps"
        raise Refused("invalid_value", because=because, instead="choose a day")
    agents.sleep_agent(site.home, agent.id, until, asked.key)
    return Notice(f"It sleeps until {until}; only you wake it before.")


def cancel(site: Site, asked: FormRequest) -> Notice:
    """Drop the wake that is queued for an agent."""
    waking.cancel_wake(site.home, known(site, asked.names["id"]).id, asked.key)
    return Notice("Cancelled: what had asked for the wake stays in the log.")
