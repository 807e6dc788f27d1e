"""A tape answers with what it was given, in order, and says when it has ended."""

import asyncio

import pytest

from adapters.models.tape import TapeModel, parse
from domain.errors import Refused
from domain.ports import Call, ModelFault, Reply, Request, Usage

REQUEST = Request("tape", (), ())
TAPE = b"""{"text": "hi", "calls": [{"id": "a", "tool": "t", "arguments": {"b":1, "a":"\xc3\xa4"}}]}

{"calls": [{"tool": "t", "arguments": "{broken"}, {"tool": "u"}], "usage": {"tokensIn": 5}}
{"fault": {"code": "rate_limited", "message": "slow down", "ofProvider": true, "retrySeconds": 7}}
"""


def next_of(tape: TapeModel) -> Reply:
    return asyncio.run(tape.reply(REQUEST))


def test_a_tape_file_is_played_in_order() -> None:
    tape = TapeModel.load(TAPE)
    first, second = next_of(tape), next_of(tape)
    assert (first.text, first.calls) == ("hi", (Call("a", "t", '{"a":"ä","b":1}'),))
    assert second.calls == (Call("c1", "t", "{broken"), Call("c2", "u", ""))
    assert second.usage == Usage(tokens_in=5)
    with pytest.raises(ModelFault, match="slow down") as fault:
        next_of(tape)
    told = fault.value
    assert (told.code, told.of_provider, told.retry_seconds) == ("rate_limited", True, 7)


def test_a_tape_keeps_what_it_was_asked_and_says_that_it_has_ended() -> None:
    tape = TapeModel("tape:x", [Reply(b"", "only")])
    next_of(tape)
    assert (tape.name, tape.requests) == ("tape:x", [REQUEST])
    for _ in range(2):
        with pytest.raises(ModelFault, match="the tape ended after 1 replies") as fault:
            next_of(tape)
        assert (fault.value.code, fault.value.of_provider) == ("tape_ended", False)
    with pytest.raises(ModelFault, match="after 0 replies"):
        next_of(TapeModel.load(b"\n\n"))


def test_the_bytes_of_a_line_are_canonical_and_read_back() -> None:
    tape = TapeModel.load(TAPE)
    for told in (next_of(tape), next_of(tape)):
        assert parse(told.raw) == told
    again = TapeModel.load(b'{"usage":{}, "calls" : [], "text":"x"}')
    assert next_of(again).raw == b'{"calls":[],"text":"x","usage":{}}'


def test_replies_made_in_a_test_get_bytes_of_their_own() -> None:
    given = Reply(b"", "hi", (Call("c9", "t", "{not json"),), Usage(1, 2, None, 4))
    told = next_of(TapeModel("tape", [given]))
    assert (told.text, told.calls, told.usage) == (given.text, given.calls, given.usage)
    assert parse(told.raw) == told


def test_bytes_of_a_provider_are_given_on_verbatim() -> None:
    given = Reply(b"provider's own", "hi")
    assert next_of(TapeModel("tape", [given])) == given


def test_faults_and_lines_may_be_mixed_with_replies() -> None:
    fault = ModelFault("down", "no network", of_provider=True)
    tape = TapeModel("tape", [fault, b'{"text": "up"}'])
    with pytest.raises(ModelFault) as first:
        next_of(tape)
    assert first.value is not fault
    assert next_of(tape).text == "up"


@pytest.mark.parametrize(
    ("line", "because"),
    [
        (b"nonsense", "this is not JSON"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"txt": "x"}', "unknown field `txt`"),
        (b'{"text": 3}', "Expected `str`, got `int`"),
        (b'{"calls": [{"id": "c1"}]}', "missing required field `tool`"),
        (b'{"calls": [{"tool": "t", "arguments": [1]}]}', "arguments"),
        (b'{"fault": {"message": "x"}}', "missing required field `code`"),
        (b'{"text": "a", "text": "b"}', "twice"),
    ],
)
def test_a_bad_line_is_named(line: bytes, because: str) -> None:
    with pytest.raises(Refused) as refused:
        TapeModel.load(b'{"text": "fine"}\n\n' + line)
    assert refused.value.code == "invalid_input"
    assert refused.value.because.startswith("line 3 of the tape")
    assert because in refused.value.because


def test_a_separator_inside_a_text_ends_no_line() -> None:
    tape = TapeModel.load('{"text": "a\u2028b"}\r\n'.encode())
    assert next_of(tape).text == "a\u2028b"
