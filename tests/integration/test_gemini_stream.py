"""Gemini's streaming call: what is heard, and what is recorded; what goes wrong in the middle of it
stands in `test_model_families`, too.

Each answer is asked for twice, whole and streamed: what is recorded must be the same bytes.
"""

import json
from typing import Any

import pytest

from domain.ports import ModelFault
from tests.support.asking import Heard
from tests.support.gemini import ask, ask_aloud
from tests.support.gemini_server import (
    KEY,
    SIGNATURE,
    STREAM_PATH,
    answer,
    call,
    serving,
    text,
    thought,
)
from tests.support.scripted_server import Answer

FINE = answer(text("Fine."))
LONG = answer(text("It takes an hour – and größere Mühe, \U0001f527 too.\nThen it is done."))
ESTIMATE = call("update_task_estimate", {"minutes": 60.0}, call_id="e1", signature=SIGNATURE)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's proxy, if there is one, is not asked for what runs here."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize(
    "said",
    [
        LONG,
        answer(text("Ä")),
        answer(thought("Let me see what there is."), text("An hour, I think.")),
        answer(text("I propose it."), ESTIMATE, call("update_report", {"a": {"b": [1, None]}})),
        answer(ESTIMATE, text("That is what I propose.")),
        answer(call("update_report", signature=SIGNATURE)),
        answer({**call("update_report"), "newField": {"a_b": 1}}, text("Done with it all.")),
        answer(text("Fine, and said."), avgLogprobs=-0.25, finishMessage="All is said."),
        answer(text("Nobody told how many tokens."), tokens=(7,)),
    ],
)
def test_what_is_recorded_is_what_the_whole_answer_would_be(said: Answer) -> None:
    with serving(said) as server:
        whole = ask(server)
    with serving(said) as server:
        streamed = ask_aloud(server, heard := Heard())
    assert streamed == whole
    assert streamed.raw == said.body
    assert heard.text == whole.text
    assert heard.void == []
    assert server.sent[0].path == STREAM_PATH


def test_the_same_is_asked_as_without_streaming() -> None:
    with serving(FINE) as server:
        ask(server)
    with serving(FINE) as other:
        ask_aloud(other, Heard())
    assert other.sent[0].body == server.sent[0].body
    assert other.sent[0].headers["x-goog-api-key"] == KEY


def test_words_come_piece_by_piece() -> None:
    with serving(LONG) as server:
        ask_aloud(server, heard := Heard())
    assert len(heard.pieces) > 5
    assert heard.pieces[:2] == ["It take", "s an ho"]


def test_a_signature_never_moves_to_other_words() -> None:
    """Gemini signs a streamed text in a last piece without words; it is kept, and sent back."""
    signed = {**text("An hour, I think."), "thoughtSignature": SIGNATURE}
    with serving(answer(signed)) as server:
        whole = ask(server)
    with serving(answer(signed)) as server:
        streamed = ask_aloud(server, Heard())
    assert (streamed.text, streamed.usage) == (whole.text, whole.usage)
    assert _parts(streamed.raw) == [
        {"text": "An hour, I think."},
        {"text": "", "thoughtSignature": SIGNATURE},
    ]


def _parts(raw: bytes) -> Any:
    return json.loads(raw)["candidates"][0]["content"]["parts"]


# ------------------------------------------------------------------------------ what goes wrong


def test_a_call_that_cannot_be_read_is_asked_for_with_a_hint() -> None:
    malformed = answer(text("I call it now."), finish="MALFORMED_FUNCTION_CALL")
    with serving(malformed, answer(ESTIMATE)) as server:
        streamed = ask_aloud(server, heard := Heard())
    assert heard.void == ["I call it now."]
    assert heard.text == ""
    assert streamed.usage.tokens_in == 200
    assert "could not be read" in server.sent[1].contents[-1]["parts"][0]["text"]


def test_an_error_that_is_not_asked_again_ends_it_after_the_first_words() -> None:
    refused = json.dumps({"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}})
    broken = LONG._replace(breaks_after=1, then=refused.encode())
    with serving(broken) as server, pytest.raises(ModelFault, match="refused: 400 INVALID"):
        ask_aloud(server, heard := Heard())
    assert heard.text == "It take"
