"""Replies beyond all bounds: refused as a whole, soon, and without keeping what they hold; and
keys that a call's arguments have twice."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.models import faults
from adapters.models.faults import Trouble
from adapters.models.gemini import decoding
from adapters.models.http_body import PIECE_BYTES, Unpacker
from adapters.models.sse import LINES_MAX
from adapters.wiring import open_home
from domain.ports import Call, ModelFault, Reply
from domain.wake.wake import ModelAnswered
from tests.support.asking import Heard
from tests.support.cli import FIXED, proved, run, told
from tests.support.consents import agreed
from tests.support.gemini import ask, ask_aloud, environment, fault
from tests.support.gemini_server import (
    SIGNATURE,
    GeminiServer,
    answer,
    call,
    pieces,
    serving,
    text,
)
from tests.support.homes import Homes
from tests.support.scripted_server import Answer
from tests.support.waking import agent

pytestmark = pytest.mark.slow

MEBI = 1024 * 1024
GZIP = (("content-encoding", "gzip"),)
GIANT = 10**12  # bytes that are announced
REPORT = {"content": "All is well.", "tldr": "Well.", "oneLiner": "Fine"}

Asking = Callable[[GeminiServer], Reply]


def aloud(server: GeminiServer) -> Reply:
    return ask_aloud(server, Heard())


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    """A home whose agent waits for its first wake, and may ask Gemini."""
    return homes.copy(asking_home, tmp_path / "home")


def asking_home(home: Path) -> None:
    agent(home)
    agreed(home)


BOTH = pytest.mark.parametrize("asking", [ask, aloud], ids=["whole", "streamed"])


def packed(data: bytes, times: int = 1) -> bytes:
    deflate = zlib.compressobj(1, wbits=zlib.MAX_WBITS + 16)
    return b"".join([*(deflate.compress(data) for _ in range(times)), deflate.flush()])


def malformed(asking: Asking, said: Answer) -> ModelFault:
    """The fault that an answer ends in, asked for once."""
    with serving(said) as server, pytest.raises(ModelFault) as caught:
        asking(server)
    found = caught.value
    assert (found.code, found.of_provider) == ("malformed", False), str(found)
    return found


def failed(args: list[str], home: Path, environ: dict[str, str]) -> None:
    """A command that ends with status 1, as its wake has failed."""
    result = run(args, home, environ)
    assert result.exit_code == 1, result.output


# ----------------------------------------------------------------------------------------- bytes


@BOTH
def test_what_a_packed_answer_comes_to_is_bounded(asking: Asking) -> None:
    bomb = packed(b" " * MEBI, 256)
    assert len(bomb) < 2 * MEBI
    found = malformed(asking, Answer(bomb, headers=GZIP, cut_bytes=GIANT))
    assert str(found) == "the reply has more than 33554432 bytes, unpacked"


def test_nothing_is_unpacked_beyond_the_bound() -> None:
    unpacked = Unpacker().take(packed(b" " * MEBI, 64))
    sizes = [len(next(unpacked)) for _ in range(faults.UNPACKED_MAX_BYTES // PIECE_BYTES)]
    assert sum(sizes) <= faults.UNPACKED_MAX_BYTES
    with pytest.raises(Trouble, match="more than"):
        next(unpacked)


@BOTH
def test_an_answer_that_is_packed_unasked_is_read(asking: Asking) -> None:
    said = answer(text("An hour, I think."), call("update_report", signature=SIGNATURE))
    whole = packed(said.body)
    for body in (whole, packed(said.body[:99]) + packed(said.body[99:])):
        with serving(Answer(body, headers=GZIP)) as server:
            assert asking(server).raw == said.body
    streamed = b"".join(b"data: " + one + b"\r\n\r\n" for one in pieces(said.body))
    with serving(Answer(packed(streamed), headers=GZIP)) as server:
        assert aloud(server).raw == said.body


@pytest.mark.parametrize(
    ("said", "tries"),
    [
        (Answer(b"nothing packed", headers=GZIP), 4),
        (Answer(b"{}", headers=(("content-encoding", "br"),)), 1),
    ],
    ids=["not packed", "another packing"],
)
def test_what_cannot_be_unpacked_is_the_providers_fault(said: Answer, tries: int) -> None:
    with serving(*[said] * tries) as server:
        found = fault(server)
    assert (found.code, found.of_provider, len(server.sent)) == ("bad_reply", True, tries)


def test_a_stream_of_very_many_pieces_ends() -> None:
    many = b"data: {}\n" * (LINES_MAX + 1)
    assert "lines" in str(malformed(aloud, Answer(packed(many), headers=GZIP)))


def test_a_long_stream_is_put_together_in_time_that_grows_with_it() -> None:
    """As many pieces as fit: each was copied anew for every one behind it."""
    piece = pieces(answer(text("a")).body)[0]
    count = faults.SENT_MAX_BYTES // (len(piece) + 10)
    body = b"".join([b"data: " + piece + b"\r\n\r\n"] * count)
    with serving(Answer(body)) as server:
        assert aloud(server).text == "a" * count


# ----------------------------------------------------------------------------------------- calls


def many(count: int) -> Answer:
    first = call("update_report", REPORT, signature=SIGNATURE)
    return answer(first, *[call("update_task_estimate", {"minutes": 5})] * (count - 1))


@pytest.mark.parametrize("asked", [["wake"], ["agent", "ask", "Fix the sink", "Why?"]])
def test_a_reply_of_too_many_calls_fails_the_wake_in_a_few_rows(
    asked: list[str], home: Path
) -> None:
    before = proved(home)
    with serving(many(10_000)) as server:
        failed(["--model", "gemini", *asked], home, environment(server))
    (page, *_) = told(["wakes"], home)
    assert (page["outcome"], page["error_code"]) == ("failed", "malformed")
    assert "10000 calls" in told(["show", page["run_key"]], home)["error"]
    assert proved(home) - before < 20
    assert (home / "agent.db").stat().st_size < MEBI


def test_calls_up_to_the_bound_are_answered_one_by_one(home: Path) -> None:
    with serving(many(faults.CALLS_MAX), answer(text("Done."))) as server:
        (page,) = told(["--model", "gemini", "wake"], home, env=environment(server))
    assert page["outcome"] == "completed"
    assert told(["show", page["run_key"]], home)["tool_calls"] == faults.CALLS_MAX


def test_the_same_bounds_hold_for_a_tape(home: Path, tmp_path: Path) -> None:
    calls = [{"tool": "update_task_estimate", "arguments": {"minutes": 5}}]
    for nth, line in enumerate(
        ({"calls": calls * (faults.CALLS_MAX + 1)}, {"text": "x" * faults.SENT_MAX_BYTES})
    ):
        file = tmp_path / f"{nth}.jsonl"
        file.write_text(json.dumps(line))
        failed(["--model", f"tape:{file}", "wake", "Fix the sink"], home, {})
        assert told(["wakes"], home)[0]["error_code"] == "malformed"
    assert proved(home)


def test_a_reply_in_bounds_is_as_it_was() -> None:
    reply = Reply(b"x" * faults.UNPACKED_MAX_BYTES, calls=(Call("c", "t", "{}"),) * 1_024)
    assert faults.check_reply_size(reply) is reply
    with pytest.raises(ModelFault, match="bytes"):
        faults.check_reply_size(Reply(b"x" * (faults.UNPACKED_MAX_BYTES + 1)))


# ------------------------------------------------------------------------------- keys given twice


def twice(arguments: str) -> Answer:
    """Two calls, the first one with these arguments to the byte."""
    given = {"here": 1, "because": "so"}
    first = call("update_task_estimate", given, call_id="e1", signature=SIGNATURE)
    said = answer(first, call("update_report", REPORT, call_id="r1"))
    body = json.dumps(json.loads(said.body), indent=2)
    plain = json.dumps(given, indent=2).replace("\n", "\n" + " " * 14)
    assert plain in body
    return Answer(body.replace(plain, arguments).encode())


def sent(asking: Asking, said: Answer) -> Answer:
    """An answer as that call is answered; the server's own pieces have no key twice."""
    if asking is ask:
        return said
    return Answer(b"data: " + said.body.replace(b"\n", b"") + b"\r\n\r\n")


TWICE = '{"minutes": 60, "minutes": 5}'


@BOTH
@pytest.mark.parametrize(
    "arguments", [TWICE, '{"a": [{"b": 1, "b": 1}]}', '{"a": 1, "c": {}, "a": {"c": 2}}']
)
def test_arguments_with_a_key_twice_come_as_they_were_sent(asking: Asking, arguments: str) -> None:
    with serving(sent(asking, twice(arguments))) as server:
        reply = asking(server)
    first, second = reply.calls
    assert first.arguments == arguments
    assert json.loads(second.arguments) == REPORT
    assert reply.reply_format == "gemini.4"
    assert decoding.parse(reply.raw, "gemini.4") == reply


def test_that_call_is_refused_and_the_other_one_done(home: Path) -> None:
    with serving(twice(TWICE), answer(text("Done."))) as server:
        (page,) = told(["--model", "gemini", "wake"], home, env=environment(server))
    assert (page["outcome"], page["proposals"]) == ("completed", 0)
    denied, done = server.sent[1].contents[-1]["parts"]
    assert "the key 'minutes' twice" in denied["functionResponse"]["response"]["error"]
    assert "output" in done["functionResponse"]["response"]
    assert proved(home)


@BOTH
@pytest.mark.parametrize("key", ["name", "args", "id"])
def test_a_call_that_is_two_calls_is_none(asking: Asking, key: str) -> None:
    doubled = f'{{}}, "{key}": {{}}' if key == "args" else f'{{}}, "{key}": "x", "{key}": "y"'
    with serving(*[sent(asking, twice(doubled))] * 4) as server:  # noqa: SIM117  two things
        with pytest.raises(ModelFault, match=f"'{key}' twice") as caught:
            asking(server)
    assert caught.value.code == "bad_reply"


def test_what_was_recorded_before_is_read_as_it_was_then() -> None:
    """The last one of two equal keys counted, as a recorded wake says it did."""
    raw = twice(TWICE).body
    (first, _) = decoding.parse(raw, "").calls
    assert first.arguments == '{"minutes": 5}'
    assert decoding.parse(raw, "").reply_format == ""


def test_each_reply_is_recorded_with_what_read_it(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "tape.jsonl"
    report: dict[str, Any] = {"calls": [{"tool": "update_report", "arguments": REPORT}]}
    file.write_text("\n".join(map(json.dumps, (report, {"text": "Done."}))))
    for model in ("rules", f"tape:{file}"):
        told(["--model", model, "wake", "Fix the sink"], home)
    with serving(answer(text("Fine."))) as server:
        told(["--model", "gemini", "wake", "Fix the sink"], home, env=environment(server))
    with open_home(home, FIXED) as opened:
        facts = [row.fact for append in opened.services.agents.appends() for row in append]
    read = [fact.reply_format for fact in facts if isinstance(fact, ModelAnswered)]
    assert list(dict.fromkeys(read)) == ["rules.1", "tape.1", "gemini.4"]
