"""Fires agents' timers: one catch-up for all ticks that have come (SPEC 3)."""

from collections.abc import Iterable

from adapters.runtime.desk import Desk
from adapters.schedules import next_after, parse, parse_in, ticks_between
from domain.agent.agent import AgentTimer
from domain.agent.commands import SetTimer, TickTimer
from domain.errors import Refused, WakelogError


def timer_command(agent_id: str, text: str, zone: str, at: str) -> SetTimer:
    """The command that sets a timer, its schedule in its normal form.

    Args:
        agent_id: Whose timer.
        text: ``every day 07:00`` for example; a zone at its end wins over `zone`.
        zone: The person's, an IANA name.
        at: The present: the first tick comes after it.

    Raises:
        Refused: Code ``invalid_value``: no schedule, no zone, or it would never fire.
    """
    schedule, named = parse_in(text, zone)
    first = next_after(schedule, named, at)
    if not first:
        because = f"{schedule.text!r} never comes again"
        raise Refused("invalid_value", because=because, instead="name a time that is to come")
    return SetTimer(agent_id, schedule.text, named, first)


def fire(desk: Desk, agent_ids: Iterable[str]) -> list[str]:
    """Note the ticks that have come of every agent's timers.

    Returns:
        What went wrong, one text a timer; one timer in trouble never stops the others.
    """
    troubles: list[str] = []
    now = desk.clock.now()
    for agent_id in agent_ids:
        agent = desk.agent(agent_id)
        for timer in agent.timers:
            if agent.lifecycle == "destroyed" or timer.next_at > now:
                continue
            try:
                _tick(desk, agent_id, timer, now)
            except WakelogError as error:
                troubles.append(f"the timer {timer.schedule!r} of {agent.name!r}: {error}")
    return troubles


def _tick(desk: Desk, agent_id: str, timer: AgentTimer, now: str) -> None:
    ticks, next_at = ticks_between(parse(timer.schedule), timer.zone, timer.next_at, now)
    desk.note(TickTimer(agent_id, timer.id, ticks, next_at, desk.is_enabled))
