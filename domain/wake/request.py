"""What the model is asked in a turn, rebuilt byte for byte from the log (DESIGN 4)."""

import msgspec

from domain.ports import CallResult, Exchange, Request, Section, ToolSpec
from domain.wake.events import ModelAsked, SectionRef
from domain.wake.state import Wake
from domain.world import World

_specs = msgspec.json.Decoder(tuple[ToolSpec, ...])


def request(world: World, wake: Wake, asked: ModelAsked) -> Request:
    """The request that an intent stands for.

    Args:
        world: Holds the payloads.
        wake: The wake as it stands at that intent.
        asked: The intent.
    """
    begun = wake.begun
    specs = _specs.decode(world.payload(begun.specs))
    tools = tuple(one for one in specs if asked.forced in ("", one.name))

    def section(ref: SectionRef) -> Section:
        return Section(ref.name, world.payload(ref.payload).decode())

    exchanges = tuple(
        Exchange(
            world.payload(one.reply),
            tuple(
                CallResult(ref.call_id, ref.tool, world.text(ref.message), ref.is_error)
                for ref in one.results
            ),
        )
        for one in wake.exchanges
    )
    return Request(
        begun.model,
        tuple(section(ref) for ref in begun.system),
        tuple(section(ref) for ref in begun.user),
        tools,
        exchanges,
        asked.forced,
    )
