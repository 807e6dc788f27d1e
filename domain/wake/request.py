"""What the model is asked in a turn, rebuilt byte for byte from the log (DESIGN 4)."""

from functools import lru_cache

import msgspec

from domain.ports import CallResult, Exchange, Request, Section, ToolSpec
from domain.wake.events import ModelAsked, SectionRef
from domain.wake.state import ExchangeRef, Wake
from domain.world import World

SPECS_KEPT = 64  # sets of tools: what a kind of agent is offered, by reason and task

_specs = lru_cache(SPECS_KEPT)(msgspec.json.Decoder(tuple[ToolSpec, ...]).decode)


def request(world: World, wake: Wake, asked: ModelAsked, before: Request | None = None) -> Request:
    """The request that an intent stands for.

    Args:
        world: Holds the payloads.
        wake: The wake as it stands at that intent.
        asked: The intent.
        before: The request of an earlier intent of the same wake, where it is at hand: then only
            what is new since is read. The answer is the same without it.
    """
    begun = wake.begun
    specs = _specs(world.payload(begun.specs))
    tools = tuple(one for one in specs if asked.forced in ("", one.name))
    if before is None:
        system, user = _sections(world, begun.system), _sections(world, begun.user)
        before = Request(begun.model, system, user)
    known = before.exchanges
    added = (_exchange(world, one) for one in wake.exchanges[len(known) :])
    return Request(begun.model, before.system, before.user, tools, (*known, *added), asked.forced)


def _sections(world: World, refs: tuple[SectionRef, ...]) -> tuple[Section, ...]:
    return tuple(Section(ref.name, world.payload(ref.payload).decode()) for ref in refs)


def _exchange(world: World, one: ExchangeRef) -> Exchange:
    results = tuple(
        CallResult(ref.call_id, ref.tool, world.text(ref.message), ref.is_error)
        for ref in one.results
    )
    return Exchange(world.payload(one.reply), results)
