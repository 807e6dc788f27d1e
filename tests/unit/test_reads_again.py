"""What a read made once more is answered with otherwise, wherever its text is kept."""

import pytest
from msgspec.structs import replace

from domain.errors import Refused
from domain.log.keys import payload_id
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Words
from domain.wake.lookups import LookupAnswer
from domain.wake.scaffolds import SCAFFOLD, scaffold_of
from domain.wake.wake import ModelAsked, ToolReturned
from replay.reads import ReadAgain, read_differences
from replay.rerun import reading
from tests.support.services import START

UNIT, LONG = "u1", b'{"tasks":["Mend the roof"]}'


def returned(message: Words) -> ToolReturned:
    return ToolReturned(1, "o", 1, "read", "c1", "find_tasks", "success", message)


def told(
    message: Words, today: LookupAnswer, payloads: dict[str, bytes]
) -> list[tuple[str, str, str]]:
    again = ReadAgain(returned(message), today, UNIT)
    return [(one.path, one.expected, one.actual) for one in read_differences(again, payloads.get)]


def test_another_code_is_named() -> None:
    assert told(Words("x"), LookupAnswer("x", "not_found"), {}) == [
        ("turn 1.find_tasks.code", "not_found", "")
    ]


def test_a_text_that_is_kept_as_a_payload_is_compared_with_its_bytes() -> None:
    named = payload_id(UNIT, LONG)
    assert told(Words(payload=named), LookupAnswer(LONG.decode()), {}) == []
    other = Words(payload="another")
    assert told(other, LookupAnswer(LONG.decode()), {}) == [], (
        "what is gone is told where it is named"
    )
    assert told(other, LookupAnswer(LONG.decode()), {"another": LONG}) == []
    assert told(other, LookupAnswer(LONG.decode()), {"another": b"{}"}) == [
        ("turn 1.find_tasks", LONG.decode(), "{}")
    ]


def test_a_wake_of_a_scaffold_of_tomorrow_is_refused() -> None:
    with pytest.raises(Refused, match=f"knows up to {SCAFFOLD}"):
        scaffold_of(SCAFFOLD + 1)


def test_what_is_no_answer_is_not_read_again() -> None:
    world = LogState("agent", "r1", 2, lambda *_: (), lambda _: None)
    row = RecordedEvent("wake:run@r1", 1, "r1", 1, 0, START, ModelAsked(1, 1))
    assert reading(world, world, "run", row) == ()
    answer = replace(row, fact=returned(Words("x")))
    assert reading(world, world, "run", answer) == (), "nobody asked for it"
