"""Timers and subscriptions of an agent, set on its page: as `wakelog agent timer` and `watch`."""

from adapters.actions import agents
from adapters.actions.inputs import status_named
from adapters.actions.naming import pick_task
from adapters.documents.tasks import catalog_of, category_named
from adapters.web.agents import known
from adapters.web.asking import FormRequest, Notice
from adapters.web.site import Site
from adapters.web.words import exact
from domain.errors import Refused


def timer(site: Site, asked: FormRequest) -> Notice:
    """Set a timer, or take one away."""
    agent = known(site, asked.names["id"])
    if asked.form.get("verb") == "remove":
        agents.remove_timer(site.home, agent.id, asked.needed("timer"), asked.key)
        return Notice("Removed the timer.")
    given, zone = asked.needed("schedule").strip(), asked.form.get("zone", "").strip()
    made = agents.set_timer(site.home, agent.id, given, zone, asked.key)
    if not made.next_at:
        return Notice("The timer was set already.")
    first = exact(made.next_at, made.zone)
    return Notice(f"Timer “{made.schedule}” ({made.zone}) is set, first on {first}.")


def watch(site: Site, asked: FormRequest) -> Notice:
    """Let the agent hear of more than its own task, or of one thing less."""
    agent = known(site, asked.names["id"])
    if asked.form.get("verb") == "remove":
        agents.unwatch_tokens(site.home, agent.id, asked.needed("subscription"), asked.key)
        return Notice("It does not hear of that any more.")
    heard = agents.Heard(
        _tokens(site, asked),
        _category(site, asked.form.get("category", "")),
        status_named(asked.form["status"]) if asked.form.get("status") else "",
        asked.form.get("hears_agents") == "yes",
        asked.form.get("defers_links") == "yes",
    )
    agents.watch_tokens(site.home, agent.id, heard, asked.key)
    return Notice("It hears of that now.")


def _tokens(site: Site, asked: FormRequest) -> tuple[str, ...]:
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
