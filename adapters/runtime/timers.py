"""Fires agents' timers: one catch-up for all ticks that have come (SPEC 3)."""

from collections.abc import Iterable

from adapters.home.schedules import next_after, parse, parse_in, ticks_between
from adapters.runtime.services import Services
from domain.agent.commands import SetTimer, TickTimer
from domain.errors import Refused, WakelogError


def timer_command(
    agent_id: str, text: str, zone: str, at: str, *, heeds_moves: bool = False
) -> SetTimer:
    """The command that sets a timer, its schedule in its normal form. `text`: ``every day 07:00``
    for example; a zone at its end wins over `zone`, the person's. The first tick comes after `at`.
    `heeds_moves`: it asks only where something moved; one that rings once always asks. Raises
    Refused, code ``invalid_value``: no schedule, no zone, or it would never fire."""
    schedule, named = parse_in(text, zone)
    first = next_after(schedule, named, at)
    if not first:
        because = f"{schedule.text!r} never comes again"
        raise Refused("invalid_value", because=because, instead="name a time that is to come")
    return SetTimer(agent_id, schedule.text, named, first, heeds_moves and not schedule.at)


def fire(services: Services, agent_ids: Iterable[str], now: str = "") -> list[str]:
    """Note the ticks that have come of these agents' timers; none where another machine does. Gives
    what went wrong, one text a timer; one timer in trouble never stops the others. `now`: the
    present, if the caller has asked the clock."""
    troubles: list[str] = []
    if not services.leads:
        return troubles
    now = now or services.clock.now()
    for agent_id in agent_ids:
        agent = services.agent(agent_id)
        for timer in agent.timers:
            if agent.lifecycle == "destroyed" or timer.next_at > now:
                continue
            try:
                ticks, at = ticks_between(parse(timer.schedule), timer.zone, timer.next_at, now)
                tick = TickTimer(agent_id, timer.id, ticks, at, services.is_enabled)
                services.append_agent(tick)
            except WakelogError as error:
                troubles.append(f"the timer {timer.schedule!r} of {agent.name!r}: {error}")
    return troubles
