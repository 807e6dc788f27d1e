"""A scene of clients: what they propose without being asked, and what is refused them."""

import json
from typing import Any

from msgspec.structs import replace

from adapters.models import replies
from adapters.runtime import effect_executor, review, wake_capture
from adapters.runtime.effect_executor import Answering, answered
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.agent.agent import AGENT
from domain.journal import commands as do
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import Words
from domain.policy.commands import GiveConsent, RuleModels, WithdrawConsent
from domain.policy.gate import NOTICE_VERSION, sections_of
from domain.wake.commands import ProposeChanges
from domain.wake.wake import ModelAsked
from tests.histories.acting import REPORT, Scene, begun, changed, refused, told
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply

CLAUDE, CODEX = "mcp:claude", "mcp:codex"
HOURS = "It takes about 2 hours, says Ann. 東京"
Change = tuple[str, dict[str, Any]]
ESTIMATE: Change = ("update_task_estimate", {"minutes": 120, "because": "about 2 hours"})
DONE: Change = ("set_task_status", {"status": "DONE", "because": "It takes about 2 hours"})
URGENT: Change = ("update_task_priority", {"priority": "P0", "because": "the person wants Friday"})
WATCH: Change = (
    "create_follow_up_task",
    {"title": "Watch the tap", "because": "about 2 hours, says Ann"},
)


def said(words: str, *changes: Change) -> bytes:
    """What a client says, as it is kept."""
    calls = [{"tool": tool, "arguments": arguments} for tool, arguments in changes]
    return canonical.encode(canonical.read(json.dumps({"text": words, "calls": calls})))


def proposed(at: Services, agent: str, model: str, words: str, *changes: Change) -> str:
    """The run of what a client proposes."""
    raw = said(words, *changes)

    def session_of(seen: str) -> str:
        return f"{model}:{key('client', seen, raw.decode())}"

    return effect_executor.propose(at, at.agent(agent), model, raw, session_of)


def proposal(at: Services, agent: str, model: str, *changes: Change) -> ProposeChanges:
    """A command of a client that nobody appends."""
    given = replace(wake_capture.given_now(at), model=model, client="Hm.")
    found = wake_capture.capture_for_client(at, agent, given, lambda _: f"{model}:none")
    of = Answering(at.agent(agent).unit, given.scaffold, "UTC")
    answer = answered(of, ModelAsked(1, 1), replies.parse(said("Hm.", *changes)), [])
    return ProposeChanges(found.session, found.command, answer)


def agree(at: Services, agent: str, model: str) -> GiveConsent:
    with at.agents.reading() as world:
        categories = world.load(AGENT, agent).categories
    return GiveConsent(model, categories, NOTICE_VERSION, sections_of(model=model))


def proposed_by_clients() -> Services:
    """Two clients propose; nothing of the queue moves, and the person decides as ever."""
    at = services([reply(REPORT), reply(), reply(REPORT), reply(), reply(REPORT), reply()])
    task, agent = task_with_agent(at)
    at.append_journal(do.AddNote(task, "note", Words(HOURS)))
    refused(at, "privacy_confirmation_required", proposal(at, agent, CLAUDE, ESTIMATE))
    refused(at, "invalid_value", agree(at, agent, "mcp:Claude!"))
    told(at, agree(at, agent, "m*"))  # which is no client's
    refused(at, "privacy_confirmation_required", proposal(at, agent, CLAUDE, ESTIMATE))
    told(at, agree(at, agent, CLAUDE))
    unknown: Change = ("fly", {"x": 1})
    proposed(at, agent, CLAUDE, "The person wants Friday.", ESTIMATE, DONE, URGENT, unknown, WATCH)
    (first,) = at.agent(agent).sets
    refused(at, "privacy_confirmation_required", proposal(at, agent, CODEX, ESTIMATE))
    told(at, agree(at, agent, "mcp:*"))
    less: Change = ("update_task_estimate", {"minutes": 90, "because": "2 hours, says Ann"})
    proposed(at, agent, CODEX, "", less)  # in the place of the other
    proposed(at, agent, CODEX, "Again.", less)  # there is such a proposal
    proposed(at, agent, CLAUDE, "None of it.", DONE)
    review.reject(at, first, 2, "not urgent")
    review.confirm(at, at.agent(agent).sets[1], 1)
    changed(at, agent)
    proposed(at, agent, CLAUDE, "Once more.", URGENT, ESTIMATE)
    return _barred(at, agent)


def _barred(at: Services, agent: str) -> Services:
    """No client proposes to an agent that runs, rests or may not be read."""
    one = proposal(at, agent, CLAUDE, ESTIMATE)
    refused(at, "invalid_value", replace(one, session="mcp:claude:other"))
    refused(at, "invalid_value", replace(one, reply=replace(one.reply, turn=2)))
    refused(at, "invalid_value", replace(one, begin=replace(one.begin, scaffold=5)))
    told(at, RuleModels("", ("rules", "tape")))
    refused(at, "disallowed_provider_model", one)
    told(at, RuleModels())
    told(at, WithdrawConsent("mcp:*"))
    refused(at, "privacy_confirmation_required", one)
    told(at, agree(at, agent, CLAUDE))
    told(at, at.request(agent))
    begun(at, agent, queued_key(at, agent))
    refused(at, "agent_running", one)
    told(at, agents.PauseAgent(agent))
    refused(at, "agent_dormant", one)
    return at


SCENES: tuple[Scene, ...] = (proposed_by_clients,)
