"""What is forged of a model's reply is named: its kept bytes are decoded once more.

Each forgery redoes the chain of digests. Up to revision 35825a8 prove found none of them.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.models import tape
from adapters.models.gemini import decoding as gemini_decoding
from adapters.models.openai import decoding as openai_decoding
from adapters.models.rules import model as rules_model
from adapters.proof import histories
from adapters.proof.histories import History
from adapters.proof.prove import DECODERS
from domain.errors import Refused
from replay.divergence import ALTERED, FORMAT
from replay.replies import ReplyDecoding
from tests.support.broken import Broken
from tests.support.checking.logs import Doc
from tests.support.forging import differing, rows

HISTORIES = Path(__file__).parents[1] / "histories"
PAST = HISTORIES / "recorded" / "0.1.0"


def answers(home: Broken) -> list[Doc]:
    return [one.facts[place].data for one, place in home.all("wake.model_answered.1")]


def other_words(home: Broken) -> None:
    told = [one for one in answers(home) if "text" in one.get("text", {})]
    told[-1]["text"]["text"] += " And all is well."


def other_bytes(home: Broken) -> None:
    first, *_, last = answers(home)
    assert first["reply"] != last["reply"]
    last["reply"] = first["reply"]


def more_tokens(home: Broken) -> None:
    told = answers(home)[-1]
    told |= {"tokensIn": 7, "replyFormat": told.pop("replyFormat")}


def bytes_of_another_decoder(home: Broken) -> None:
    answers(home)[-1]["replyFormat"] = "gemini.3"


def a_format_that_no_release_wrote(home: Broken) -> None:
    answers(home)[-1]["replyFormat"] = "tape.0"


def another_name_of_a_call(home: Broken) -> None:
    told = next(one for one in answers(home) if one.get("calls"))
    call = told["calls"][-1]
    for appends in home.logs["agent"]:
        for fact in appends.facts:
            if fact.data.get("callId") == call["callId"]:
                fact.data["callId"] = "c9"
    call["callId"] = "c9"


CASES = [
    ("refused_calls", other_words, "reply.text"),
    ("verdicts", other_bytes, "reply.calls"),
    ("verdicts", more_tokens, "reply.usage"),
    ("verdicts", bytes_of_another_decoder, "reply_format"),
    ("verdicts", a_format_that_no_release_wrote, "reply_format"),
    ("refused_calls", another_name_of_a_call, "reply.calls"),
]


@pytest.mark.parametrize(("name", "forge", "path"), CASES, ids=[one[1].__name__ for one in CASES])
def test_what_is_forged_is_named(name: str, forge: Callable[[Broken], None], path: str) -> None:
    home = Broken(HISTORIES / f"{name}.jsonl")
    forge(home)
    assert ("data altered", path) in differing(home)


def test_a_format_of_a_later_release_is_told_as_newer() -> None:
    home = Broken(HISTORIES / "verdicts.jsonl")
    for told in answers(home):
        told["replyFormat"] = "tape.99"
    assert set(differing(home)) == {("event format changed", "reply_format")}


def test_a_reply_of_a_model_of_others_is_counted_where_nobody_can_read_it() -> None:
    home = Broken(HISTORIES / "recorded" / "simulated_1.jsonl")
    for told in answers(home):
        told["replyFormat"] = "unruly.1"
    assert differing(home) == []
    undecoded = histories.prove_history(History(rows(home), home.payloads, "")).undecoded
    assert undecoded == len(answers(home)) > 0


@pytest.mark.parametrize(
    ("word", "name", "found"),
    [
        ("openai", "", ALTERED),  # it never wrote without one
        ("openai", "openai.1", ""),
        ("openai", "openai.2", ""),
        ("openai", "openai.3", FORMAT),
        ("openai", "gemini.3", ALTERED),
        ("gemini", "", ""),
        ("gemini", "gemini.1", ALTERED),
        ("rules", "tape.1", ""),  # of a redacted history
        ("demo", "demo.1", FORMAT),
        ("llama", "llama.7", ""),
    ],
)
def test_what_a_reply_may_be_written_in(word: str, name: str, found: str) -> None:
    wrong = ReplyDecoding(DECODERS, lambda _: None).misnamed(name, word)
    assert (wrong.kind_of if wrong else "") == found


def test_replies_of_the_first_version_are_decoded_by_their_model() -> None:
    for name in ("verdicts", "sessions"):
        proved = histories.prove_history(histories.read_history(PAST / f"{name}.jsonl"))
        assert (proved.ok, proved.undecoded) == (True, 0)


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_refuses_bytes_that_are_not_its_own(name: str) -> None:
    with pytest.raises(Refused, match="recorded"):
        DECODERS[name].read(b'{"nothing": "of the kind"}')


def test_every_format_that_is_written_has_its_decoder() -> None:
    for module in (gemini_decoding, rules_model, tape, openai_decoding):
        assert module.FORMAT in DECODERS
