"""The agents: a list, and a page for each with all that it said and did."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.agents import AgentLine, agent_line, agent_page
from adapters.documents.memory import MemoryShort, memory_short, sources_document
from adapters.documents.models import model_names
from adapters.documents.reading import (
    MessageLine,
    journal_documents,
    message_document,
    why_document,
)
from adapters.documents.tasks import catalog_of
from adapters.documents.templates import templates_of
from adapters.documents.wakes import wake_document
from adapters.text.memory import summary as memory_words
from adapters.timetravel.why import why
from adapters.web.asking import FormRequest, Page, missing
from adapters.web.inbox import OPEN_SHOWN, open_cards
from adapters.web.policy import consents_of, is_held
from adapters.web.reports import report_of
from adapters.web.site import SCAN_MAX, Site, page_size
from domain.agent.agent import TURN_MAX_LIMIT, Agent
from domain.journal.task import STATUSES
from domain.templates.seeds import SEEDS, seed_id
from domain.world import World
from projections import agents, memory, messages, operations, tasks, templates, wakes
from projections.agents import AgentDocument
from projections.messages import WakeMessages
from projections.operations import Operation
from projections.wakes import WakeDocument

CHUNK = 250
THREADS_SHOWN = 10  # wakes of a page of conversations
OBSERVATIONS_SHOWN = 50
CHAT_SHOWN = 8  # messages beside the report
CRITICAL_SHOWN = 20
WHY_SHOWN = 10
USAGE_WAKES = 200  # the newest that tokens are added up of
CHOICES_SHOWN = 200
WATCH_KEYS = (
    "TASK", "CHECKLIST", "CHECKLIST_ITEM", "NOTE", "TIME_ENTRY", "LINK", "CATEGORY", "LABEL",
)  # fmt: skip
LIVES = ("active", "dormant", "destroyed")


class AgentRow(AgentLine, frozen=True):
    """An agent of the page `/agents`."""

    task_title: str
    template: str | None


class Conversation(Struct):
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
    """The page `/agents`, newest first."""
    life, kind = asked.query.get("lifecycle", ""), asked.query.get("kind", "")
    size, now = page_size(asked), site.now
    rows: list[AgentRow] = []
    kinds: set[str] = set()
    older, scanned = "", 0
    for one in _newest_first(site, asked.query.get("before", "")):
        if len(rows) == size or scanned == SCAN_MAX:
            break
        older, scanned = one.place, scanned + 1
        if one.exists:
            kinds.add(one.agent_kind)
        is_life = life in ("", one.lifecycle) and (life or one.lifecycle != "destroyed")
        if one.exists and is_life and kind in ("", one.agent_kind):
            rows.append(_row(site, one, now))
    else:
        older = ""
    return Page(
        "agents.html",
        "Agents",
        {"agents": rows, "next": asked.with_query(before=older) if older else None},
        {
            "lives": LIVES,
            "kinds": sorted(kinds),
            "filters": {"lifecycle": life, "kind": kind},
            "older": asked.with_query(before=older) if older else "",
            "newest": asked.with_query(before="") if asked.query.get("before") else "",
            "troubles": _troubles(site, ""),
            "enabled": site.home.services.is_enabled,
        },
    )


def _newest_first(site: Site, before: str) -> Iterator[AgentDocument]:
    while True:  # bounded by who takes them
        chunk = site.home.views.page(agents.VIEW, before=before, newest_first=True, limit=CHUNK)
        yield from chunk
        if len(chunk) < CHUNK:
            return
        before = chunk[-1].place


def _row(site: Site, one: AgentDocument, now: str) -> AgentRow:
    task = site.home.views.get(tasks.VIEW, one.task_id)
    lives_on = site.home.views.get(templates.VIEW, one.template_id) if one.template_id else None
    return AgentRow(
        **asdict(agent_line(one, now)),
        task_title=task.title if task else "",
        template=lives_on.template.name if lives_on else None,
    )


def _troubles(site: Site, agent_id: str) -> list[str]:
    """What went wrong in this server's own threads: about an agent, or about none."""
    return [text for about, text in site.jobs.troubles if about in (agent_id, "")]


# ------------------------------------------------------------------------------------------ one


def known(site: Site, agent_id: str) -> AgentDocument:
    """An agent by its whole id, or Refused."""
    found = site.home.views.get(agents.VIEW, agent_id)
    if found is None or not found.exists:
        raise missing("unknown_agent", "agent", agent_id)
    return found


def show_one(site: Site, asked: FormRequest) -> Page:
    """The page of an agent."""
    agent = known(site, asked.names["id"])
    home = site.home
    before = asked.query.get("before", "")
    shown = home.views.page(
        messages.VIEW, shelf=agent.id, before=before, newest_first=True, limit=THREADS_SHOWN + 1
    )
    older = shown[THREADS_SHOWN - 1].place if len(shown) > THREADS_SHOWN else ""
    recent = _newest(site, agent.id)
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
        "proposals": open_cards(site, asked, agent.task_id),
        "needed": consents_of(site, agent),
        "threads": threads,
        "memory": remembered,
        "observations": journal_documents(home, agent.id, OBSERVATIONS_SHOWN),
        "tool_calls": _calls(site, recent[:THREADS_SHOWN]),
        "usage": _usage(recent),
        "why": [why_document(home, one) for one in why(home.services, agent.id, WHY_SHOWN)],
        "wakes_shown": [wake_document(home, one) for one in recent[:THREADS_SHOWN]],
        "next": asked.with_query(before=older) if older else None,
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
            "older": asked.with_query(before=older) if older else "",
            "newest": asked.with_query(before="") if before else "",
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
    agent, wanted = known(site, asked.names["id"]), asked.names["digest"]
    if site.home.views.get(memory.VIEW, wanted) is None:  # a beginning of an id names none here
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
    used = templates_of(site.home)[:CHOICES_SHOWN]
    ids = {one.id for one in used}
    return {
        "template": next((one for one in used if one.id == agent.template_id), None),
        "templates": [(one.id, one.name) for one in used],
        "seeds": [(one.seed, one.name) for one in SEEDS if seed_id(one.seed) not in ids],
        "watch_keys": WATCH_KEYS,
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


def _threads(world: World, found: Sequence[WakeMessages], kind: str) -> list[Conversation]:
    """Conversations, the newest first; the messages of one in order, all or those of a kind."""
    threads: dict[str, Conversation] = {}
    for one in found:
        thread = threads.setdefault(one.thread, Conversation(one.thread))
        told = [
            message_document(world, one.run_key, message)
            for message in one.messages
            if kind in ("", message.kind)
        ]
        thread.messages = told + thread.messages
        thread.run_keys.insert(0, one.run_key)
        thread.tool_calls += sum(m.kind == "tool_result" for m in one.messages)
    return [one for one in threads.values() if one.messages or not kind]


def _chat(threads: Sequence[Conversation]) -> list[MessageLine]:
    """The newest questions of a person and what came of them, the oldest first."""
    asked = [one for one in threads if any(said.kind == "user" for said in one.messages)]
    told = [
        said
        for thread in reversed(asked)
        for said in thread.messages
        if said.kind in ("user", "thought", "summary") and said.text
    ]
    return told[-CHAT_SHOWN:]


def _newest(site: Site, agent_id: str) -> list[WakeDocument]:
    found = site.home.views.page(wakes.VIEW, shelf=agent_id, newest_first=True, limit=USAGE_WAKES)
    return [each for one in found for each in one.every]


def _calls(site: Site, recent: Sequence[WakeDocument]) -> list[EffectLine]:
    """The effects that left the process: of the agent's newest wakes and of their change sets."""
    found: list[EffectLine] = []
    for wake in recent:
        for owner in (wake.key, *wake.set_ids):
            document = site.home.views.get(operations.VIEW, owner)
            if document is not None:
                found += [_call(wake, document.task_id, one) for one in document.operations]
    return found


def _call(wake: WakeDocument, task_id: str, one: Operation) -> EffectLine:
    return EffectLine(
        run_key=wake.run_key,
        tool=one.tool,
        asked_at=one.asked_at,
        settled_at=one.settled_at or None,
        outcome=one.outcome or "in flight",
        code=one.code or None,
        attempt=one.attempt,
        position=one.position or None,
        task_id=task_id,
    )


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
