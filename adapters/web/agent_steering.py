"""Timers and subscriptions of an agent, set on its page: as `wakelog agent timer` and `watch`."""

from adapters.actions.inputs import status_named
from adapters.actions.naming import nth_key, pick_task
from adapters.documents.tasks import catalog_of, category_named
from adapters.runtime import retries
from adapters.runtime.timers import timer_command
from adapters.schedules import parse_in
from adapters.web.agents import known
from adapters.web.asking import Asked, Told
from adapters.web.site import Site
from adapters.web.words import exact
from domain.agent.commands import RemoveTimer, SetTimer, UnwatchTokens, WatchTokens
from domain.errors import Refused


def timer(site: Site, asked: Asked) -> Told:
    """Set a timer, or take one away."""
    agent = known(site, asked.names["id"])
    desk, key = site.home.desk, nth_key(asked.key, 1)
    if asked.form.get("verb") == "remove":
        desk.note(RemoveTimer(agent.id, asked.needed("timer")), key=key)
        return Told("Removed the timer.")
    given = asked.needed("schedule").strip()
    mine = asked.form.get("zone", "").strip() or site.zone
    schedule, zone = parse_in(given, mine)
    said = {"agent": agent.id, "schedule": schedule.text, "zone": zone}
    if retries.before(desk.agents, key, SetTimer, **said) is not None:
        return Told("The timer was set already.")
    command = timer_command(agent.id, given, mine, desk.clock.now())
    desk.note(command, key=key)
    first = exact(command.next_at, command.zone)
    return Told(f"Timer “{command.schedule}” ({command.zone}) is set, first on {first}.")


def watch(site: Site, asked: Asked) -> Told:
    """Let the agent hear of more than its own task, or of one thing less."""
    agent = known(site, asked.names["id"])
    desk, key = site.home.desk, nth_key(asked.key, 1)
    if asked.form.get("verb") == "remove":
        desk.note(UnwatchTokens(agent.id, asked.needed("subscription")), key=key)
        return Told("It does not hear of that any more.")
    command = WatchTokens(
        agent.id,
        _tokens(site, asked),
        _category(site, asked.form.get("category", "")),
        status_named(asked.form["status"]) if asked.form.get("status") else "",
        asked.form.get("hears_agents") == "yes",
        asked.form.get("defers_links") == "yes",
    )
    desk.note(command, key=key)
    return Told("It hears of that now.")


def _tokens(site: Site, asked: Asked) -> tuple[str, ...]:
    kind, task = asked.form.get("kind", ""), asked.form.get("task", "").strip()
    sub = asked.form.get("sub", "").strip()
    tokens = (
        *((f"key:{kind}",) if kind else ()),
        *((f"id:{pick_task(site.home, task)}",) if task else ()),
        *((f"sub:{sub.removeprefix('sub:').lower()}",) if sub else ()),
    )
    if not tokens:
        because = "nothing is named that it should hear of"
        raise Refused("invalid_value", because=because, instead="choose a kind, or name a task")
    return tokens


def _category(site: Site, given: str) -> str:
    return category_named(catalog_of(site.home), given).id if given else ""
