"""A recorded read, made in logs that say something else in other words."""

from collections.abc import Mapping

from msgspec.structs import replace

from adapters.store.log import Log
from adapters.timetravel.logs_at import History
from domain.causes import Replied
from domain.wake.task_lines import TaskLines
from domain.wire import Payload, words
from replay.reads import is_read, read_again


def read_anew(cause: Replied, logs: Mapping[str, Log]) -> tuple[Replied, list[Payload]]:
    """A reply with what these logs answer at its positions, and the payload that this needs; any
    other reply as it is."""
    fact = cause.fact
    if not is_read(fact):
        return cause, []
    journal = History(logs["journal"]).world(fact.position)
    agents = History(logs["agent"]).world(fact.agent_position)
    again = read_again(cause.entity, fact, journal, agents, TaskLines().of)
    if again is None:  # nobody asked for it
        return cause, []
    message, kept = words(again.unit, again.today.text)
    return replace(cause, fact=replace(fact, message=message)), list(kept)
