"""The JSON documents of what agents said and did, as SPEC 10 fixes them.

What is not there (yet) is null; texts of the log are resolved.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from adapters.documents.agents import Document
from adapters.documents.wakes import wake_document
from adapters.settings import Price
from adapters.why import Why
from adapters.wiring import Home
from domain.agent.agent import JOURNAL_SHOWN
from domain.agent.events import AgentObserved
from domain.ports import Section
from domain.wake.events import SectionRef
from domain.wake.state import WAKE, Wake
from domain.wire import Words, tag_of
from domain.world import Recorded, World
from projections import agents, journal, messages, reports, wakes
from projections.messages import Message
from projections.reports import ReportDocument
from projections.wakes import CauseLine, Usage, WakeDocument

MICRO = 1_000_000
OBSERVATIONS_SHOWN = JOURNAL_SHOWN

# --------------------------------------------------------------------------------------- reports


def reports_of(home: Home, agent_id: str) -> list[ReportDocument]:
    """An agent's reports, the current one first."""
    return home.views.page(reports.VIEW, shelf=agent_id, newest_first=True)


def report_document(home: Home, agent_id: str) -> Document:
    """The document of `report`; where there is none yet, all but the ids is null."""
    agent = home.views.get(agents.VIEW, agent_id)
    found = reports_of(home, agent_id)
    with home.desk.agents.reading() as world:
        history = [
            {"run_key": one.run_key, "at": one.at, "tldr": world.text(one.tldr)} for one in found
        ]
        current = found[0] if found else None
        content = world.text(current.content) if current else None
        begun = world.load(WAKE, current.run_key).started if current else None
    return {
        "task_id": agent.task_id if agent else "",
        "agent_id": agent_id,
        "run_key": current.run_key if current else None,
        "at": current.at if current else None,
        "tldr": history[0]["tldr"] if history else None,
        "one_liner": current.one_liner if current else None,
        "content": content,
        "history": history,
        "model": begun.model if begun else None,
        "template_version": (begun.template_version or None) if begun else None,
        "sections": [one.name for one in begun.user] if begun else [],
        "stale": agent.is_stale if agent else False,
    }


# ------------------------------------------------------------------------- journal and messages


def journal_documents(home: Home, agent_id: str, limit: int) -> list[Document]:
    """The documents of `journal`, the newest first."""
    found = home.views.page(journal.VIEW, shelf=agent_id, newest_first=True, limit=limit)
    with home.desk.agents.reading() as world:
        return [
            {
                "at": one.at,
                "run_key": one.run_key,
                "text": world.text(one.words),
                "priority": one.priority,
                "category": one.category,
                "target": one.target or None,
            }
            for one in found
        ]


def thread_documents(home: Home, agent_id: str, thread: str, limit: int) -> list[Document]:
    """The documents of `messages`: threads with their newest messages, in order.

    Args:
        home: Open, its views caught up.
        agent_id: Whose.
        thread: The only one that is wanted, its name or what stands behind its last colon, or a
            beginning of that; empty: all.
        limit: How many messages at most.
    """
    found = home.views.page(messages.VIEW, shelf=agent_id, newest_first=True)
    left = limit
    threads: dict[str, list[Document]] = {}
    with home.desk.agents.reading() as world:
        for one in found:
            if thread and not _is_named(one.thread, thread):
                continue
            recent = one.messages[-left:] if left else ()
            newest = [message_document(world, one.run_key, message) for message in recent]
            left -= len(newest)
            if newest:
                threads[one.thread] = newest + threads.get(one.thread, [])
    return [
        {"thread": name, "agent_id": agent_id, "messages": told}
        for name, told in reversed(threads.items())
    ]


def _is_named(thread: str, wanted: str) -> bool:
    return thread == wanted or thread.rpartition(":")[2].startswith(wanted)


def message_document(world: World, run_key: str, message: Message) -> Document:
    """One of the `messages` of a thread."""
    return {
        "at": message.at,
        "run_key": run_key,
        "kind": message.kind,
        "text": world.text(message.text),
        "tool": message.tool or None,
        "status": message.status or None,
        "code": message.code or None,
        "turn": message.turn or None,
    }


# ----------------------------------------------------------------------------------------- wakes


def run_document(home: Home, run_key: str) -> Document:
    """The document of `show`."""
    wake = home.views.get(wakes.VIEW, run_key)
    assert wake is not None, run_key
    rows = rows_of(home, wake)
    with home.desk.agents.reading() as world:
        causes = [_cause(world, one) for one in wake.causes]
        steps = [_step(world, row) for row in rows]
    return {
        **msgspec.to_builtins(wake_document(home, wake)),
        "superseded_by": wake.superseded_by or None,
        "report_missing": wake.is_report_missing,
        "cause_count": wake.cause_count,
        "causes": causes,
        "steps": steps,
        "usage": _usage(wake, home.settings.prices.get(wake.model)),
    }


def rows_of(home: Home, wake: WakeDocument) -> list[Recorded]:
    """All rows of a wake, of its change set, and of what it observed, in order."""
    log = home.desk.agents
    replica = wake.place.split(" ")[1]
    rows = log.facts(f"wake:{wake.run_key}@{replica}")
    rows += log.facts(f"changes:{wake.set_id}@{replica}")
    rows += [
        row
        for row in log.facts(f"agent:{wake.agent_id}@{replica}")
        if isinstance(row.fact, AgentObserved) and row.fact.run_key == wake.run_key
    ]
    return sorted(rows, key=lambda row: (row.n, row.row))


def _cause(world: World, line: CauseLine) -> Document:
    trigger = line.trigger
    position = f"journal:{trigger.replica}:{trigger.position}" if trigger.position else None
    return {
        "how": line.how,
        "at": line.at,
        "reason": trigger.reason,
        "reason_id": trigger.reason_id,
        "position": position,
        "tokens": list(trigger.tokens),
        "propagated": trigger.is_propagated,
        "hop": trigger.hop,
        "ticks": list(trigger.ticks),
        "words": world.payload(trigger.words).decode() if trigger.words else None,
    }


def _step(world: World, row: Recorded) -> Document:
    data = plain(world, row.fact)
    return {"n": row.n, "kind": tag_of(row.fact), "at": row.at, "data": data}


def plain(world: World, value: Any) -> Any:
    """A value for JSON: texts in the place of `Words`, arguments decoded."""
    match value:
        case Words():
            return world.text(value)
        case Struct():
            names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            found = {encoded: plain(world, getattr(value, name)) for name, encoded in names}
            if isinstance(found.get("arguments"), str):
                found["arguments"] = decoded_or_text(found["arguments"])
            return found
        case tuple():
            return [plain(world, one) for one in value]
        case _:
            return value


def decoded_or_text(text: str) -> Any:
    """Arguments as values; as they came where they are no JSON."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _usage(wake: WakeDocument, price: Price | None) -> Document:
    used: Usage = wake.usage if wake.turns else Usage(None, None, None, None)
    return {
        "input_tokens": used.tokens_in,
        "output_tokens": used.tokens_out,
        "thought_tokens": used.tokens_thought,
        "cached_tokens": used.tokens_cached,
        "cost": _cost(used, price),
    }


def _cost(used: Usage, price: Price | None) -> float | None:
    """In the person's currency; unknown stays unknown."""
    if price is None or used.tokens_in is None or used.tokens_out is None:
        return None
    written = used.tokens_out + (used.tokens_thought or 0)  # thoughts are paid as output
    millionths = (used.tokens_in * price.input + written * price.output) // MICRO
    return millionths / MICRO


# ---------------------------------------------------------------------------------- what was shown


def shown(home: Home, run_key: str) -> tuple[list[Section], list[Section]] | None:
    """The sections that the model was shown, system and user, byte for byte; None where the
    wake never began."""
    with home.desk.agents.reading() as world:
        wake: Wake = world.load(WAKE, run_key)
        if wake.started is None:
            return None
        return _sections(world, wake.started.system), _sections(world, wake.started.user)


def _sections(world: World, refs: Sequence[SectionRef]) -> list[Section]:
    return [Section(ref.name, world.payload(ref.payload).decode()) for ref in refs]


def prompt_document(run_key: str, prompt: tuple[list[Section], list[Section]]) -> Document:
    """The document of `show --prompt`."""
    system, user = (
        [{"name": one.name, "text": one.text} for one in sections] for sections in prompt
    )
    return {"run_key": run_key, "system": system, "user": user}


def why_document(one: Why) -> Document:
    """One of the documents of `why`."""
    return {
        "position": one.position,
        "at": one.at,
        "tokens": list(one.tokens),
        "outcome": one.outcome,
        "run_key": one.run_key or None,
        "rule": one.rule or None,
        "reason": one.reason,
        "what": one.what,
    }
