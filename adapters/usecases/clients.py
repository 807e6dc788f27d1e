"""Clients read what a person allowed them, and propose: a coding agent for example (ADR 114).

A client is who it is said to be by who set it up (`domain.agent.clients`). It reads tasks of
categories with a consent for it, each as the task's agent would be shown it, and proposes in the
name of that agent. What it proposes is one append and waits for the person as all does."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from adapters.documents.clients import (
    ClientSets,
    ClientTask,
    ClientTasks,
    Proposed,
    ReadSection,
    ReadTask,
    RefusedChange,
    WantedChange,
)
from adapters.documents.inbox import InboxSet, page_of_sets, set_documents
from adapters.documents.policy import allow_command
from adapters.documents.tasks import catalog_of, categories_named, task_lines
from adapters.documents.wakes import own_wake_of, wake_of
from adapters.documents.wakes import set_of as wake_set
from adapters.runtime import effect_executor
from adapters.runtime.wake_capture import capture_for_client, given_now
from adapters.usecases.inputs import day
from adapters.usecases.resolve import pick
from adapters.usecases.task_lists import filter_of, fits_filter
from domain.agent.agent import Agent
from domain.agent.clients import client_model
from domain.changes.change_set import is_open
from domain.errors import Refused, Remedy, invalid
from domain.handlers.proposing import refused_to
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import MAIN
from domain.policy.gate import notice_of
from domain.policy.policy import POLICY, Policy
from domain.policy.scrub import scrub
from domain.tools import registry
from domain.tools.base import CLIENT
from domain.tools.snapshot import Snapshot
from domain.wake.tool_call import NOT_PROPOSED
from domain.wake.wake import WAKE, ToolReturned
from domain.wake.wake_inputs import agent_of_task, client_wake, tools_of
from projections import inbox
from projections.tasks import MARKS, VIEW, TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home

S = TypeVar("S", bound=Struct)
TASKS_MAX, TASKS_SHOWN = 200, 50
SETS_MAX = 50
WORDS_MAX = 500  # characters; they stand in the row
WORDS_MAX_BYTES = 1_024
CHANGES_MAX = 20
CHANGES_MAX_BYTES = 65_536
OPEN_MAX = 50  # items of one client that nobody has decided


class _Reach(NamedTuple):
    """Who a client is, as a model is named, and what it may read: categories, by their ids."""

    model: str
    categories: frozenset[str]
    policy: Policy

    @property
    def hint(self) -> str | None:
        """How the person agrees, where nothing is agreed to."""
        return None if self.categories else allow_command(self.model, ())


def _reach(home: "Home", by: str) -> _Reach:
    model = client_model(by)
    with home.services.agents.reading() as world:
        policy = world.load(POLICY, MAIN)
    least, every = notice_of(""), catalog_of(home).categories
    given = (one for one in every if policy.consented(model, one, least))
    return _Reach(model, frozenset(one for one in given if policy.allows(model, one)), policy)


def _told(document: S) -> S:
    """A document without secrets, as a prompt is."""
    return msgspec.convert(_scrubbed(msgspec.to_builtins(document)), type(document))


def _scrubbed(value: Any) -> Any:
    match value:
        case str():
            return scrub(value).text
        case dict():
            return {name: _scrubbed(one) for name, one in value.items()}
        case list() | tuple():
            return [_scrubbed(one) for one in value]
        case _:
            return value


def _tasks(home: "Home", reach: _Reach) -> list[TaskDocument]:
    """The tasks that it may know of."""
    every = home.views.marked(VIEW, MARKS["kept"]) if reach.categories else ()
    return [one for one in every if one.category in reach.categories]


def list_tasks(
    home: "Home", by: str, *, text: str = "", status: str = "", category: str = "",
    due_before: str = "", limit: int = TASKS_SHOWN,
) -> ClientTasks:  # fmt: skip
    """The tasks that a client may read, in the order they came in. Raises Refused, code
    ``invalid_value`` or ``unknown_category``: one that it may not know of is none."""
    reach = _reach(home, by)
    if not 1 <= limit <= TASKS_MAX:
        raise invalid(f"the limit is {limit}", f"use 1 to {TASKS_MAX}")
    catalog = catalog_of(home)
    known = {one: catalog.categories[one] for one in reach.categories}
    wanted = filter_of(
        home, statuses=[status] if status else (), due_before=due_before, text=text
    )._replace(categories=categories_named(replace(catalog, categories=known), category))
    today = day("today", home)
    found = [one for one in _tasks(home, reach) if fits_filter(one, wanted, today)]
    labels = {
        one.name
        for one in catalog.labels.values()
        if not one.categories or reach.categories.intersection(one.categories)
    }
    lines = [
        ClientTask(
            **asdict(one) | {"labels": [name for name in one.labels if name in labels]},
            has_agent=one.agent_id is not None,
        )
        for one in task_lines(home, found[:limit])
    ]
    return _told(ClientTasks(tuple(lines), len(found) - len(lines), reach.hint))


def list_proposals(home: "Home", by: str, task: str = "") -> ClientSets:
    """What waits for the person, of all tasks that a client may read or of one. What agents say
    that knew of other categories is left out, and what names a task of one."""
    reach = _reach(home, by)
    own = _tasks(home, reach)
    wanted, known = _picked(reach, own, task) if task else None, {one.id for one in own}
    sets, _ = page_of_sets(home, task=wanted)
    found = [one for one in sets if one.task_id in known and _may_hear(home, reach, one.task_id)]
    shown = set_documents(home, found[:SETS_MAX], is_all=False)
    return _told(ClientSets(_named(home, reach, shown), len(found) - len(shown), reach.hint))


def _named(home: "Home", reach: _Reach, sets: Sequence[InboxSet]) -> list[InboxSet]:
    """The sets with the items that name no task of elsewhere."""

    def may_know(target: str | None) -> bool:
        found = home.views.get(VIEW, target) if target else None
        return found is None or found.category in reach.categories

    parted = [
        replace(one, items=tuple(item for item in one.items if may_know(item.target)))
        for one in sets
    ]
    return [one for one in parted if one.items]


def _may_hear(home: "Home", reach: _Reach, task: str) -> bool:
    agent = _agent_of(home, task)
    return agent is not None and refused_to(reach.policy, agent, reach.model) is None


def _agent_of(home: "Home", task: str) -> Agent | None:
    """The living agent of a task."""
    with home.services.agents.reading() as world:
        agent = agent_of_task(world, task)
    return agent if agent and agent.lifecycle != "destroyed" else None


def _picked(reach: _Reach, own: Sequence[TaskDocument], task: str) -> str:
    """The task that a client names, by its id or its title. Raises Refused: there is none that it
    may know of, whether there is one or not."""
    if not reach.categories:
        raise _not_agreed(reach)
    named = [(one.id, one.title) for one in own]
    return pick(task, named, "task", "not_found", "list_tasks tells what you may read")


def _not_agreed(reach: _Reach) -> Refused:
    because = f"the person has not agreed yet to what {reach.model} is given"
    instead = Remedy("allow_sending", reach.model)
    return Refused("privacy_confirmation_required", because=because, instead=instead)


def _opened(home: "Home", by: str, task: str) -> tuple[_Reach, Agent]:
    """The agent of a task that a client may read. Raises Refused, code ``not_found``, ``no_agent``,
    ``privacy_confirmation_required`` or ``disallowed_provider_model``."""
    reach = _reach(home, by)
    wanted = _picked(reach, _tasks(home, reach), task)
    if (agent := _agent_of(home, wanted)) is None:
        because, instead = "the task has no agent", f"`wakelog agent create {wanted}` makes one"
        raise Refused("no_agent", because=because, instead=instead)
    if refused := refused_to(reach.policy, agent, reach.model):
        if refused.waits_for:
            raise _not_agreed(reach)
        raise Refused(refused.code, because=refused.because, instead=Remedy("see_agent", agent.id))
    return reach, agent


def read_task(home: "Home", by: str, task: str) -> ReadTask:
    """A task as its agent would be shown it, and the tools that propose. Nothing is written. Raises
    Refused as `_opened` does, and as `domain.wake.wake_inputs.shown`."""
    reach, agent = _opened(home, by, task)
    given = replace(given_now(home.services), model=reach.model)
    found = capture_for_client(home.services, agent.id, given, lambda _: "")
    texts = {one.id: one.data for one in found.payloads}
    snapshot = msgspec.json.decode(texts[found.command.snapshot], type=Snapshot)
    with home.services.agents.reading() as world:
        names = tools_of(world, agent, CLIENT, given.scaffold, snapshot)
    sections = [ReadSection(one.name, texts[one.payload].decode()) for one in found.command.user]
    return ReadTask(agent.task, found.seen, sections, registry.specs(names, given.features))


def propose(
    home: "Home", by: str, task: str, changes: Sequence[WantedChange], *, words: str = "",
    seen: str = "",
) -> Proposed:  # fmt: skip
    """Propose changes of a task in the name of its agent; the same once more is answered as it was.

    Args:
        by: The name of the client.
        changes: Calls of the tools that `read_task` gives.
        words: What the client says to them; nobody takes it for the person's.
        seen: What `read_task` called its sections; empty: whatever they are now.

    Raises:
        Refused: As `read_task`; code ``stale``: the sections are others now; ``too_many``,
            ``invalid_value``; ``agent_dormant``, ``agent_running``. Nothing is written.
    """
    raw = _checked(words, changes)
    reach, agent = _opened(home, by, task)

    def session_of(seen: str) -> str:
        return f"{reach.model}:{key('client', seen, raw.decode())}"

    run = client_wake(agent.id, session_of(seen)).run_key
    with home.services.agents.reading() as world:
        is_known = bool(seen) and world.load(WAKE, run).started is not None
    if is_known:
        return _outcome(home, reach, run)
    _check_room(home, reach)

    def session(now: str) -> str:
        if seen not in ("", now):
            because = "the task is not what you read any more"
            raise Refused("stale", because=because, instead="read it with read_task, and say again")
        return session_of(now)

    run = effect_executor.propose(home.services, agent, reach.model, raw, session)
    home.views.catch_up()
    return _outcome(home, reach, run)


def _checked(words: str, changes: Sequence[WantedChange]) -> bytes:
    """What a client says as it is kept. Raises Refused: it is none, or too much."""
    if not 1 <= len(changes) <= CHANGES_MAX:
        raise invalid(f"{len(changes)} changes are proposed", f"propose 1 to {CHANGES_MAX} at once")
    said = {"text": words, "calls": [asdict(one) for one in changes]}
    try:
        kept = canonical.read(json.dumps(said))
    except RecursionError:
        raise invalid("the arguments are nested too deep", "use flat ones") from None
    if len(kept["text"]) > WORDS_MAX or len(kept["text"].encode()) > WORDS_MAX_BYTES:
        most = f"{WORDS_MAX} characters and {WORDS_MAX_BYTES:,} bytes"
        raise invalid("the words are too long", f"say it in {most}")
    raw = canonical.encode(kept)
    if len(raw) > CHANGES_MAX_BYTES:
        because = f"the changes are longer than {CHANGES_MAX_BYTES:,} bytes"
        raise Refused("too_many", because=because, instead="propose fewer at once")
    return raw


def _check_room(home: "Home", reach: _Reach) -> None:
    """Look whether the client has not proposed more than anybody decides."""
    found = home.views.marked(inbox.VIEW, inbox.marks("waiting", "deferred"))
    own = (one for one in found if one.is_opened and _model_of(home, one.run_key) == reach.model)
    if sum(is_open(item) for one in own for item in one.items) >= OPEN_MAX:
        because = f"{OPEN_MAX} items of yours wait for the person"
        raise Refused("too_many", because=because, instead="wait until some are decided")


def _model_of(home: "Home", run_key: str) -> str:
    found = wake_of(home, run_key)
    return found.model if found else ""


def _outcome(home: "Home", reach: _Reach, run: str) -> Proposed:
    """What became of a proposal, as its wake says."""
    wake = own_wake_of(home, run)
    assert wake is not None, run
    made, refused, skipped = wake_set(home, wake), list[RefusedChange](), list[str]()
    rows = home.services.agents.facts(f"wake:{wake.key}@{wake.replica}")
    with home.services.agents.reading() as world:
        results = [row.fact for row in rows if isinstance(row.fact, ToolReturned)]
        told = [(one, world.text(one.message)) for one in results]
    for one, text in told:
        if one.status == "queued":
            lines = (line for line in text.split("\n") if line.startswith(NOT_PROPOSED))
            skipped += [line.removeprefix(NOT_PROPOSED) for line in lines]
        else:
            refused.append(RefusedChange(one.tool, one.code, text))
    sets = set_documents(home, [made] if made else [], is_all=True)
    items = tuple(item for one in _named(home, reach, sets) for item in one.items)
    return _told(Proposed(run, items, tuple(refused), tuple(skipped)))
