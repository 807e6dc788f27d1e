"""Effects on the journal: an operation applied once, and its outcome (DESIGN 2, law 7)."""

from typing import NamedTuple

from msgspec.structs import replace

from adapters.runtime.services import Services
from domain.append.causes import Result
from domain.journal.commands import ApplyOperation
from domain.log.wire import Words, payload, words


class JournalEffect(NamedTuple):
    """What came of an operation, and the journal's `n` that holds its receipt."""

    result: Result
    position: int


def apply(
    services: Services, command: ApplyOperation, text: str, attempt: int = 1, call_id: str = ""
) -> JournalEffect:
    """Apply an operation; a repeat is answered with the first outcome. The command's `arguments`
    are set here, in the journal's own unit, from `text`, canonical JSON. `attempt`: which one at it
    this is, from 1; `call_id`: the model's call that it answers; empty: a verdict's effect."""
    said, kept = words(command.task or f"agent:{command.agent}", text)
    if command.others and not kept:  # over several units a text stands in no row (DESIGN 4)
        kept = (payload(command.task, text.encode()),)
        said = Words(payload=kept[0].id)
    command = replace(command, arguments=said)
    with services.spans.tool(command, text, call_id, attempt) as tell:
        appended = services.append_journal(command, key=command.operation, payloads=kept)
        tell(appended.result)
    return JournalEffect(appended.result, appended.n)
