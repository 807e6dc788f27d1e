"""The agents: a list, a page for each, and what a person does to them on it."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, astuple

from adapters.documents.agent_output import (
    MessageLine,
    journal_documents,
    message_document,
    why_document,
)
from adapters.documents.agents import (
    AgentLine,
    MemoryShort,
    agent_line,
    agent_page,
    memory_short,
    sources_document,
)
from adapters.documents.inbox import place_told
from adapters.documents.models import model_names
from adapters.documents.status import lead_elsewhere
from adapters.documents.tasks import catalog_of, category_named
from adapters.documents.templates import templates_of
from adapters.documents.wakes import set_of, wake_lines
from adapters.text.agent import memory_summary as memory_words
from adapters.text.common import counted
from adapters.timetravel.why import trigger_fates
from adapters.usecases import agents as use_cases
from adapters.usecases import day_agent, improving, kinds, policy, wake_agents
from adapters.usecases.inputs import status_named
from adapters.usecases.resolve import pick_task
from adapters.usecases.templates import unused_seeds
from adapters.web.filters import exact
from adapters.web.http_types import (
    AtField,
    Form,
    FormChanges,
    FormRequest,
    Notice,
    Page,
    in_lines,
    missing,
    whole,
)
from adapters.web.inbox import OPEN_SHOWN, agent_cards
from adapters.web.plain_text import compared
from adapters.web.policy import consents_of, is_held
from adapters.web.reports import ReportBefore, report_of
from adapters.web.site import SCAN_MAX, Site, check_sure, page_size
from adapters.web.tasks import task_by_id
from adapters.web.text_diff import LazyDiff, differences
from adapters.wiring import Home
from domain.agent.agent import TURN_MAX_LIMIT, Agent
from domain.agent.deciders import AgentSettings
from domain.errors import Refused, invalid
from domain.journal.task import STATUSES
from domain.log.state import LogState
from domain.text import squeeze
from projections import agents as agents_view
from projections import messages, observations, operations, reports, tasks, templates, wakes
from projections.agents import AgentDocument
from projections.messages import WakeMessages
from projections.reports import ReportDocument
from projections.wakes import WakeDocument

THREADS_SHOWN = 10  # wakes of a page of conversations
OBSERVATIONS_SHOWN = 50
CHAT_SHOWN = 8  # messages beside the report
CRITICAL_SHOWN = 20
WHY_SHOWN = 10
USAGE_WAKES = 200  # the newest that tokens are added up of
CHOICES_SHOWN = 200
WATCH_KEYS = (
    "TASK", "CHECKLIST", "CHECKLIST_ITEM", "NOTE", "TIME_ENTRY", "LINK", "CATEGORY", "LABEL",
    "RATING",
)  # fmt: skip
LIVES_SHOWN = ("active", "running", "failing", "dormant", "destroyed")
FILTERS = ("q", "lifecycle", "kind", "sort")
SORTS = {
    "": "newest first",
    "next": "next wake first",
    "failing": "most failures first",
    "spend": "most tokens first",
}


class AgentRow(AgentLine, frozen=True):
    """An agent of the page `/agents`; `tokens` where the order is by what was spent."""

    task_title: str
    template: str | None
    tokens: int | None


class MessageThread(Struct):
    """The messages of a thread, those of a kind or all; `tool_calls` counts all of its calls."""

    thread: str
    messages: list[MessageLine] = []
    run_keys: list[str] = []
    tool_calls: int = 0


class EffectLine(Struct, frozen=True):
    """An effect that left the process. `position` is the journal's append that it made."""

    run_key: str
    tool: str
    asked_at: str
    settled_at: str | None
    outcome: str
    code: str | None
    attempt: int
    position: int | None
    task_id: str


class ModelUsage(Struct):
    """Tokens of the wakes of a model; unknown stays unknown."""

    model: str
    wakes: int = 0
    turns: int = 0
    input: int | None = 0
    output: int | None = 0
    thought: int | None = 0


def show_list(site: Site, asked: FormRequest) -> Page:
    """The page `/agents`: the newest first, or by another order those that were looked through."""
    filters = {name: asked.query.get(name, "") for name in FILTERS}
    size, now, words = page_size(asked), site.now, filters["q"].casefold().split()
    spent = _spent(site) if filters["sort"] == "spend" else None
    order = {
        "next": lambda one: one.next_wake_at or "~",
        "failing": lambda one: -one.failures,
        "spend": lambda one: -(spent or {}).get(one.id, 0),
    }.get(filters["sort"])
    found: list[AgentDocument] = []
    kinds: set[str] = set()
    older, scanned = "", 0
    marks = agents_view.marks(filters["lifecycle"]) or ("",)
    for one in site.newest_first(agents_view.VIEW, marks, before=asked.query.get("before", "")):
        if scanned == SCAN_MAX or (order is None and len(found) == size):
            break
        older, scanned = one.place, scanned + 1
        if not one.is_living and marks == ("",):
            continue
        kinds.add(one.agent_kind)
        is_wanted = filters["kind"] in ("", one.agent_kind)
        if is_wanted and (not words or all(word in called(site, one) for word in words)):
            found.append(one)
    else:
        older = ""
    if order:
        found = sorted(found, key=order)[:size]
    rows = [_row(site, one, now, spent) for one in found]
    return Page(
        "agents.html",
        "Agents",
        {"agents": rows, "next": None if order else asked.after(older)},
        {
            "lives": LIVES_SHOWN,
            "kinds": sorted(kinds),
            "sorts": SORTS,
            "filters": filters,
            "is_cut": scanned == SCAN_MAX and bool(older),
            "scanned": scanned,
            "is_spent": spent is not None,
            "troubles": _troubles(site, ""),
            "enabled": site.home.services.is_enabled,
        },
    )


def called(site: Site, agent: AgentDocument) -> str:
    """What an agent and its task are called, for words to be found in."""
    task = site.home.views.get(tasks.VIEW, agent.task_id)
    return f"{agent.name}\n{task.title if task else ''}".casefold()


def _spent(site: Site) -> Counter[str]:
    """The tokens of each agent's wakes, of the newest of all."""
    found = Counter[str]()
    for wake in site.home.views.page(wakes.VIEW, newest_first=True, limit=SCAN_MAX):
        for one in wake.every:
            found[one.agent_id] += sum(filter(None, astuple(one.usage)))
    return found


def _row(site: Site, one: AgentDocument, now: str, spent: Counter[str] | None) -> AgentRow:
    task = site.home.views.get(tasks.VIEW, one.task_id)
    lives_on = site.home.views.get(templates.VIEW, one.template_id) if one.template_id else None
    return AgentRow(
        **asdict(agent_line(one, now)),
        task_title=task.title if task else "",
        template=lives_on.template.name if lives_on else None,
        tokens=spent[one.id] if spent is not None else None,
    )


def _troubles(site: Site, agent_id: str) -> list[str]:
    """What went wrong in this server's own threads: about an agent, or about none."""
    return [text for about, text in site.jobs.troubles if about in (agent_id, "")]


# ------------------------------------------------------------------------------------------ one


def agent_by_id(site: Site, agent_id: str) -> AgentDocument:
    """An agent by its whole id, or Refused."""
    found = site.home.views.get(agents_view.VIEW, agent_id)
    if found is None or not found.exists:
        raise missing("unknown_agent", "agent", agent_id)
    return found


def show_one(site: Site, asked: FormRequest) -> Page:
    """The page of an agent."""
    agent = agent_by_id(site, asked.names["id"])
    home = site.home
    before = asked.query.get("before", "")
    shown = home.views.page(
        messages.VIEW, shelf=agent.id, before=before, newest_first=True, limit=THREADS_SHOWN + 1
    )
    older = shown[THREADS_SHOWN - 1].place if len(shown) > THREADS_SHOWN else ""
    newest = home.views.page(wakes.VIEW, shelf=agent.id, newest_first=True, limit=USAGE_WAKES)
    recent = [each for one in newest for each in one.every]
    task = home.views.get(tasks.VIEW, agent.task_id)
    kind = asked.query.get("kind", "")
    with home.services.agents.reading() as world:
        threads = _threads(world, shown[:THREADS_SHOWN], kind)
        chat = _chat(_threads(world, shown[:THREADS_SHOWN], ""))
    remembered = memory_short(home, agent.id)
    kinds = Counter(m.kind for one in shown[:THREADS_SHOWN] for m in one.messages)
    document = {
        **asdict(agent_page(home, agent, site.now)),
        "task_title": task.title if task else "",
        "running_run_key": agent.running_run_key or None,
        "next_run_key": agent.next_run_key or None,
        "report": report_of(site, agent.id),
        "proposals": agent_cards(site, asked, agent),
        "needed": consents_of(site, agent),
        "threads": threads,
        "memory": remembered,
        "observations": journal_documents(home, agent.id, OBSERVATIONS_SHOWN),
        "tool_calls": _calls(site, recent[:THREADS_SHOWN]),
        "usage": _usage(recent),
        "why": [
            why_document(home, one) for one in trigger_fates(home.services, agent.id, WHY_SHOWN)
        ],
        "wakes_shown": wake_lines(home, recent[:THREADS_SHOWN]),
        "next": asked.after(older),
    }
    return Page(
        "agent.html",
        agent.name,
        document,
        {
            "is_held": is_held(agent),
            "labels": site.labels(),
            "critical_shown": CRITICAL_SHOWN,
            "memory_words": words_of(remembered),
            "sets_shown": OPEN_SHOWN,
            "troubles": _troubles(site, agent.id),
            "usage_wakes": min(len(recent), USAGE_WAKES),
            "enabled": home.services.is_enabled,
            "is_living": agent.is_living,
            "is_queued": agent.wake_queue.queued is not None,
            "kind": kind,
            "kinds": [(name, count, asked.with_query(kind=name)) for name, count in kinds.items()],
            "all_kinds": asked.with_query(kind=""),
            **_choices(site, agent),
            "settings": settings_of(agent.agent),
            "chat": chat,
            "models": model_names(home),
            "turns_limit": TURN_MAX_LIMIT,
        },
    )


def words_of(remembered: MemoryShort) -> str:
    """How much an agent remembers."""
    covered = remembered.noted - remembered.uncovered
    told = memory_words(remembered.noted, covered, len(remembered.digests))
    return told.replace("digests", "summaries").replace("digest", "summary")


def show_digest(site: Site, asked: FormRequest) -> Page:
    """The page of a digest: what it was made of."""
    agent, wanted = agent_by_id(site, asked.names["id"]), asked.names["digest"]
    if site.home.views.get(observations.DIGESTS, wanted) is None:  # no beginning of an id
        raise missing("unknown_digest", "digest", wanted)
    told = sources_document(site.home, agent.id, wanted)
    return Page("digest.html", f"Digest of {agent.name}", told, {"agent": agent})


def settings_of(agent: Agent) -> dict[str, str]:
    """An agent's settings as a form holds them: lists have a line for each of their things."""
    kept = sorted(agent.preferences.items())
    return {
        "name": agent.name,
        "goal": agent.goal.value,
        "model": agent.model,
        "turns": str(agent.turn_max),
        "mode": agent.mode,
        "automatic": "yes" if agent.is_automatic else "no",
        "loops": "\n".join(agent.loops),
        "preferences": "\n".join(f"{name}={slot.value}" for name, slot in kept if slot.value),
    }


def _choices(site: Site, agent: AgentDocument) -> dict[str, Any]:
    """What its forms offer."""
    used = templates_of(site.home)
    return {
        "template": next((one for one in used if one.id == agent.template_id), None),
        "templates": [(one.id, one.name) for one in used[:CHOICES_SHOWN]],
        "seeds": [(one.seed, one.name) for one in unused_seeds(used)],
        "watch_keys": WATCH_KEYS,
        "asks_always": site.home.settings.agents.timers == "always",
        "titles": _titles(site, agent),
        "statuses": STATUSES,
        "categories": [(one.id, one.name) for one in catalog_of(site.home).categories.values()],
    }


def _titles(site: Site, agent: AgentDocument) -> dict[str, str]:
    """The titles of the tasks that it hears of, by their tokens."""
    named = [token for one in agent.agent.subscriptions for token in one.tokens]
    found = {
        token: site.home.views.get(tasks.VIEW, token.removeprefix("id:"))
        for token in named[:CHOICES_SHOWN]
        if token.startswith("id:")
    }
    return {token: task.title for token, task in found.items() if task is not None}


def _threads(world: LogState, found: Sequence[WakeMessages], kind: str) -> list[MessageThread]:
    """Conversations, the newest first; the messages of one in order, all or those of a kind."""
    threads: dict[str, MessageThread] = {}
    for one in found:
        thread = threads.setdefault(one.thread, MessageThread(one.thread))
        told = [
            message_document(world, one.run_key, message)
            for message in one.messages
            if kind in ("", message.kind)
        ]
        thread.messages = told + thread.messages
        thread.run_keys.insert(0, one.run_key)
        thread.tool_calls += sum(m.kind == "tool_result" for m in one.messages)
    return [one for one in threads.values() if one.messages or not kind]


def _chat(threads: Sequence[MessageThread]) -> list[MessageLine]:
    """The newest questions of a person and what came of them, the oldest first."""
    asked = [one for one in threads if any(said.kind == "user" for said in one.messages)]
    told = [
        said
        for thread in reversed(asked)
        for said in thread.messages
        if said.kind in ("user", "thought", "summary") and said.text
    ]
    return told[-CHAT_SHOWN:]


def _calls(site: Site, recent: Sequence[WakeDocument]) -> list[EffectLine]:
    """The effects that left the process: of the agent's newest wakes and of their change sets."""
    return [
        EffectLine(
            run_key=wake.run_key,
            tool=one.tool,
            asked_at=one.asked_at,
            settled_at=one.settled_at or None,
            outcome=one.outcome or "in flight",
            code=one.code or None,
            attempt=one.attempt,
            position=one.position or None,
            task_id=document.task_id,
        )
        for wake in recent
        for owner in (wake.key, *wake.set_ids)
        if (document := site.home.views.get(operations.VIEW, owner)) is not None
        for one in document.operations
    ]


def _usage(recent: Sequence[WakeDocument]) -> list[ModelUsage]:
    """Tokens by model, of the newest wakes; unknown stays unknown."""
    by_model: dict[str, ModelUsage] = {}
    for wake in recent:
        if not wake.model or not wake.paid:
            continue
        row = by_model.setdefault(wake.model, ModelUsage(wake.model))
        row.wakes += 1
        row.turns += wake.turns
        row.input = _sum(row.input, wake.usage.tokens_in)
        row.output = _sum(row.output, wake.usage.tokens_out)
        row.thought = _sum(row.thought, wake.usage.tokens_thought)
    return list(by_model.values())


def _sum(known: int | None, more: int | None) -> int | None:
    return None if known is None or more is None else known + more


# ----------------------------------------------------------------------------------------- controls
# What a person does to agents from the page. A wake runs in a thread; the page follows it.

LET_IT_BEGIN = partial(time.sleep, 0.6)  # a quick wake is over when its page is shown
LIVES: dict[str, tuple[Callable[[Home, str, str], use_cases.AgentUpdate], str]] = {
    "pause": (use_cases.pause_agent, "Paused: nothing wakes it until it is resumed."),
    "resume": (use_cases.resume_agent, "Resumed: a wake is queued that looks at what changed."),
    "destroy": (use_cases.destroy_agent, "Ended for good: its task may get a new agent."),
    "delete": (use_cases.delete_agent, "Taken off the list; its facts stay in the log."),
}


def assign(site: Site, asked: FormRequest) -> Notice:
    """Make an agent for a task."""
    task = task_by_id(site, asked.names["id"])
    use_cases.assign_agent(site.home, task.id, use_cases.AgentOptions(), asked.key)
    return Notice("It has an agent now; its first wake is queued.")


def wake(site: Site, asked: FormRequest) -> Notice:
    """Wake an agent now."""
    agent = agent_by_id(site, asked.names["id"])
    _check_room(site)
    _run(site, agent.id, wake_agents.request_wake(site.home, agent.id, asked.key))
    return Notice("Woken: what comes of it appears here.")


def ask(site: Site, asked: FormRequest) -> Notice:
    """Ask an agent something; the answer appears among its conversations."""
    agent = agent_by_id(site, asked.names["id"])
    words = asked.needed("words").strip()
    _check_room(site)
    _run(site, agent.id, wake_agents.ask_agent(site.home, agent.id, words, key=asked.key))
    return Notice("Asked: the answer appears below.")


def plan_day(site: Site, asked: FormRequest) -> Notice:
    """Ask the agent that plans days for one; it is made where there is none."""
    _check_room(site)
    agent = day_agent.ready(site.home)
    _run(site, agent.agent, day_agent.ask(site.home, agent.agent, asked.names["date"], asked.key))
    reads = ", ".join(agent.categories)
    made = f"Made an agent for it: it reads {reads}, and wakes {agent.schedule}."
    told = "Asked for a plan: what it proposes appears here."
    return Notice(told, lines=[made] if agent.is_new else [])


def review_category(site: Site, asked: FormRequest) -> Notice:
    """Ask the agent that looks over a category; it is made where there is none."""
    if (found := catalog_of(site.home).categories.get(asked.names["id"])) is None:
        raise missing("unknown_category", "category", asked.names["id"])
    _check_room(site)
    agent = kinds.of_category(site.home, found)
    _run(site, agent.agent, wake_agents.request_wake(site.home, agent.agent, asked.key))
    made = f"Made an agent for it, which wakes {agent.schedule}."
    told = f"Asked for a look at “{found.name}”: its report appears here."
    return Notice(told, lines=[made] if agent.is_new else [], to=f"/agents/{agent.agent}")


def improve_template(site: Site, asked: FormRequest) -> Notice:
    """Ask the agent that improves a template; it is made where there is none."""
    _check_room(site)
    wanted = asked.names["id"]
    agent = improving.improver(site.home, wanted)
    words = asked.form.get("words", "")
    if words.strip():
        wake_agents.check_words(words)
    _run(site, agent.agent, improving.ask(site.home, agent.agent, words, asked.key))
    told = "Asked for a wording: what it proposes appears here, and in your inbox."
    reads = ", ".join(agent.categories)
    return Notice(told, lines=[f"Made an agent for it: it reads {reads}."] if agent.is_new else [])


def _check_room(site: Site) -> None:
    if site.jobs.is_full:
        because = "too many wakes wait already"
        raise Refused("agent_running", because=because, instead="wait until some have ended")


def _run(site: Site, agent_id: str, queued: wake_agents.Requested) -> None:
    """Have a wake run; the same form sent twice runs one."""
    if not queued.is_known:
        site.jobs.wake(agent_id, queued.run_key)
        site.give_way(LET_IT_BEGIN)


def wake_all(site: Site, asked: FormRequest) -> Notice:
    """Run all that is queued."""
    prepared = wake_agents.prepare_wakes(site.home)
    if not prepared.ready:
        lead = lead_elsewhere(site.home)
        there = f" {lead} leads: agents wake by themselves there, and here if you ask one."
        return Notice("Nothing is queued that may run now." + (there if lead else ""))
    _check_room(site)
    if not site.jobs.wake_all(prepared.agents, asked.key):
        return Notice("Wakes run already: how far they are stands here.")
    site.give_way(LET_IT_BEGIN)
    told = counted(len(prepared.ready), "wake")
    return Notice(f"Running {told}: what comes of them appears here.")


def live(site: Site, asked: FormRequest) -> Notice:
    """Pause, resume, destroy or delete."""
    agent = agent_by_id(site, asked.names["id"])
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
    agent = agent_by_id(site, asked.names["id"])
    if asked.needed("verb") == "end":
        use_cases.sleep_agent(site.home, agent.id, "", asked.key)
        return Notice("It sleeps no longer.")
    until = asked.needed("until").strip()
    if not until:
        raise invalid("it is not said until when it sleeps", "choose a day")
    use_cases.sleep_agent(site.home, agent.id, until, asked.key)
    return Notice(f"It sleeps until {until}; only you wake it before.")


def cancel(site: Site, asked: FormRequest) -> Notice:
    """Drop the wake that is queued for an agent."""
    wake_agents.cancel_wake(site.home, agent_by_id(site, asked.names["id"]).id, asked.key)
    return Notice("Cancelled: what had asked for the wake stays in the log.")


# ----------------------------------------------------------------------------------------- settings
# What an agent is like, set on its page: as `wakelog agent set` does.

LABELS = {
    "automatic": "whether changes and timers wake it",
    "loops": "open loops",
    "turns": "turns at most",
}
FORMS: dict[str, Form] = {
    "goal": "text",
    "loops": "text",
    "preferences": "text",
    "mode": "hidden",
    "automatic": "hidden",
}


def configure(site: Site, asked: FormRequest) -> Notice:
    """Change an agent's settings, goal, loops and preferences: what of it the form changes."""
    agent = agent_by_id(site, asked.names["id"])
    now = settings_of(agent.agent)
    given = {name: in_lines(asked.form.get(name, asked.needed(f"was.{name}"))) for name in now}
    given |= {name: given[name].strip() for name in ("name", "goal", "model", "turns")}
    given["loops"] = "\n".join(lines_of(given["loops"]))
    said = sorted(map(preference_of, lines_of(given["preferences"])))
    given["preferences"] = "\n".join(f"{name}={value}" for name, value in said if value)
    given["automatic"] = "yes" if asked.form.get("automatic") == "yes" else "no"
    found = site.changes(asked, given, now, LABELS, FORMS)
    use_cases.configure_agent(site.home, agent.id, wanted_of(found), asked.key)
    lacking = policy.needed(site.home, [agent.id]) if "model" in found.changed else []
    told = "Nothing goes to {} before you agree to it, on this page."
    return Notice("Set.", lines=[told.format(one.model) for one in lacking])


def wanted_of(found: FormChanges) -> AgentSettings:
    """What a form asks to be changed, of what it was made from. Raises Refused: a number or a
    preference is none."""
    given = {name: found.given[name] for name in found.changed}
    opened, closed = _apart(found, "loops")
    said, forgotten = _apart(found, "preferences")
    kept = [preference_of(one) for one in said]  # one that is named twice is refused
    gone = dict.fromkeys(preference_of(one)[0] for one in forgotten)
    cleared = [(name, "") for name in gone if name not in dict(kept)]
    return AgentSettings(
        name=given.get("name"),
        mode=given.get("mode"),
        model=given.get("model"),
        turn_max=number_of(given["turns"]) if "turns" in given else None,
        is_automatic=given["automatic"] == "yes" if "automatic" in given else None,
        goal=given.get("goal"),
        open_loops=tuple(opened),
        close_loops=tuple(closed),
        preferences=(*cleared, *kept),
    )


def number_of(given: str) -> int:
    """A number of turns, or Refused; how many there may be the agent says."""
    if (number := whole(given, 3)) is not None:
        return number
    wrong = invalid(f"{given[:20]!r} is no number of turns", "write a number from 1 to 20")
    raise AtField("turns", wrong)


def preference_of(line: str) -> tuple[str, str]:
    """A preference as it is typed, or Refused.

    >>> preference_of("tone = brief"), preference_of("ratio=1=2")
    (('tone', 'brief'), ('ratio', '1=2'))
    """
    name, sign, value = line.partition("=")
    if not sign or not name.strip():
        because = f"{line[:60]!r} is no preference"
        wrong = invalid(because, "write name=value on a line, as in tone=brief")
        raise AtField("preferences", wrong)
    return squeeze(name), squeeze(value)


def lines_of(text: str) -> list[str]:
    """The things of a list that is typed one a line, each once.

    >>> lines_of(" b \\n\\na\\nb")
    ['b', 'a']
    """
    return list(dict.fromkeys(one for line in text.split("\n") if (one := squeeze(line))))


def _apart(found: FormChanges, name: str) -> tuple[Sequence[str], Sequence[str]]:
    """What a list has more and less than now, where the form changes it."""
    given, now = (
        lines_of(side[name]) if name in found.changed else [] for side in (found.given, found.now)
    )
    return [one for one in given if one not in now], [one for one in now if one not in given]


# ------------------------------------------------------------------------- timers and subscriptions
# Timers and subscriptions of an agent, set on its page: as `wakelog agent timer` and `watch`.


def timer(site: Site, asked: FormRequest) -> Notice:
    """Set a timer, or take one away."""
    agent = agent_by_id(site, asked.names["id"])
    if asked.form.get("verb") == "remove":
        use_cases.remove_timer(site.home, agent.id, asked.needed("timer"), asked.key)
        return Notice("Removed the timer.")
    given, zone = asked.needed("schedule").strip(), asked.form.get("zone", "").strip()
    is_always = asked.form.get("always") == "yes"
    made = use_cases.set_timer(site.home, agent.id, given, zone, asked.key, is_always=is_always)
    if not made.next_at:
        return Notice("The timer was set already.")
    first = exact(made.next_at, made.zone)
    return Notice(f"Timer “{made.schedule}” ({made.zone}) is set, first on {first}.")


def watch(site: Site, asked: FormRequest) -> Notice:
    """Let the agent hear of more than its own task, or of one thing less."""
    agent = agent_by_id(site, asked.names["id"])
    if asked.form.get("verb") == "remove":
        use_cases.unwatch_tokens(site.home, agent.id, asked.needed("subscription"), asked.key)
        return Notice("It does not hear of that any more.")
    category = asked.form.get("category", "")
    heard = use_cases.NewSubscription(
        _tokens(site, asked),
        category_named(catalog_of(site.home), category).id if category else "",
        status_named(asked.form["status"]) if asked.form.get("status") else "",
        asked.form.get("hears_agents") == "yes",
        asked.form.get("defers_links") == "yes",
    )
    use_cases.watch_tokens(site.home, agent.id, heard, asked.key)
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
        raise invalid("nothing is named that it should hear of", "choose a kind, or name a task")
    return tokens


# ------------------------------------------------------------------------------------------ reports
# What an agent reported over time: each report, what of two differs, and what one rests on.

SOURCES_SHOWN = 50


class ReportSource(Struct, frozen=True):
    """A quote that a proposal of the report's wake rests on, and where it stands."""

    what: str
    quote: str
    place: str
    at: str
    note: str


def show_reports(site: Site, asked: FormRequest) -> Page:
    """The page `/agents/ID/reports`; `?of=RUN` shows one, `&with=RUN` what differs from another."""
    agent = agent_by_id(site, asked.names["id"])
    size = page_size(asked, 30)
    before = asked.query.get("before", "")
    found = site.home.views.page(
        reports.VIEW, shelf=agent.id, before=before, newest_first=True, limit=size + 1
    )
    older = found[size - 1].place if len(found) > size else ""
    found = found[:size]
    of = _report(site, agent.id, asked.query.get("of", "")) or (found[0] if found else None)
    earlier = _report(site, agent.id, asked.query.get("with", "")) or _report_before(site, of)
    with site.home.services.agents.reading() as world:
        listed = [_in_short(world, one) for one in found]
        now, content = (_in_short(world, of), world.text(of.content)) if of else (None, "")
        was, gone = (
            (_in_short(world, earlier), world.text(earlier.content)) if earlier else (None, "")
        )
    pairs = (  # each by itself: what the short form says is often a line of the long one
        [(was.tldr, now.tldr), ("\n\n", "\n\n"), (gone, content)] if was and now else []
    )
    return Page(
        "reports.html",
        f"Reports of {agent.name}",
        {
            "agent_id": agent.id,
            "name": agent.name,
            "reports": listed,
            "of": of.run_key if of else None,
            "with": earlier.run_key if earlier else None,
            "differences": LazyDiff(
                lambda: [part for pair in pairs for part in differences(*pair)]
            ),
            "sources": _sources(site, of) if of else [],
            "next": asked.after(older),
        },
        {
            "of": now,
            "earlier": was,
            "marked": [LazyDiff(partial(differences, *compared(*pair))) for pair in pairs],
            "content": content,
            "task_id": agent.task_id,
        },
    )


def _report(site: Site, agent_id: str, run_key: str) -> ReportDocument | None:
    """A report of the agent by its wake; none where none is named."""
    if not run_key:
        return None
    found = site.home.views.get(reports.VIEW, run_key)
    if found is None or found.agent_id != agent_id:
        raise missing("unknown_wake", "report of this agent from the wake", run_key)
    return found


def _report_before(site: Site, one: ReportDocument | None) -> ReportDocument | None:
    """The report that one took the place of."""
    if one is None:
        return None
    found = site.home.views.page(
        reports.VIEW, shelf=one.agent_id, before=one.place, newest_first=True, limit=1
    )
    return found[0] if found else None


def _in_short(world: LogState, one: ReportDocument) -> ReportBefore:
    return ReportBefore(one.run_key, one.at, world.text(one.tldr), one.one_liner)


def _sources(site: Site, of: ReportDocument) -> list[ReportSource]:
    """The quotes of what the report's wake proposed: a report itself records none."""
    wake = site.home.views.get(wakes.VIEW, of.run_key)
    found = set_of(site.home, wake) if wake else None
    items = found.changes.items if found else ()
    told = [one for one in items if one.because]
    return [
        ReportSource(
            one.summary,
            one.because,
            *place_told(one.because_at or None),
            one.because_at if one.because_at.startswith("note:") else "",
        )
        for one in told[:SOURCES_SHOWN]
    ]
