"""Odd answers that a provider may send, over the wire, and what each comes to; words that only
speak of tools; what is sent to do harm.

A call is told as its tool and arguments, words as they are, a fault as its code.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.models.calls import is_call
from domain.ports import ModelFault
from tests.support import gemini_server as g
from tests.support import openai_server as o
from tests.support.asking import request
from tests.support.cli import proved, run, told
from tests.support.families import GEMINI, OPENAI, REPORT, Family, ask, consent, home_of
from tests.support.scripted_server import Answer, ScriptedServer
from tests.support.waking import inbox

Json = dict[str, Any]
Odd = dict[tuple[str, str], list[Answer]]
"""By what it came to with `openai.1` and `gemini.3`, and what it comes to now: what is sent."""
E, R = "update_task_estimate", "update_report"
FIVE = '{"minutes": 5, "because": "So it was said."}'
CALL, BARE = f"{E}{FIVE}", f"{E}{{}}"
BOTH, AGAIN = f"{CALL}; {R}{{}}", f"{CALL}{FIVE}"
AS_TEXT, BAD, UNKNOWN, CUT = "!call_as_text", "!bad_reply", "!unknown_finish", "!max_tokens"
REFUSED, FULL, LATER, LARGE = "!bad_request", "!context_full", "!rate_limited", "!malformed"
TRIES = 4
DATA = Path(__file__).parents[1] / "data" / "tools"


# ------------------------------------------------------------------------------------- what is sent


def wish(name: Any = E, arguments: Any = FIVE, **more: Any) -> Json:
    return {"id": "x", "function": {"name": name, "arguments": arguments}, **more}


def calls(*wishes: Any, **more: Any) -> Answer:
    """An answer with these calls; `more`: of the whole document."""
    said = json.loads(o.answer(None, wish()).body)
    said["choices"][0]["message"]["tool_calls"] = wishes
    return Answer(json.dumps(said | more).encode())


def stops(reason: Any, words: str | None = "Fine.", *wishes: Json) -> Answer:
    """An answer with this finish reason; an ellipsis: without any."""
    said = json.loads(o.answer(words, *wishes).body)
    said["choices"][0]["finish_reason"] = reason
    if reason is ...:
        del said["choices"][0]["finish_reason"]
    return Answer(json.dumps(said).encode())


def events(*pieces: Any, end: str = "data: [DONE]\n\n") -> Answer:
    """A stream, whether it was asked for or not."""
    lines = "".join(f"data: {json.dumps(one)}\n\n" for one in pieces)
    return Answer(f": PROCESSING\n\n{lines}{end}".encode(), is_whole=True)


def piece(finish: Any = None, **said: Any) -> Json:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": finish}]}


def google(*parts: Any, **more: Any) -> Answer:
    """Gemini's answer; `more`: of its candidate, where that has such a field, or of the whole."""
    said = json.loads(g.answer(*parts).body)
    for name, value in more.items():
        (said["candidates"][0] if name == "finishReason" else said)[name] = value
    return Answer(json.dumps(said).encode())


def part(args: Any, name: str = E, **more: Any) -> Json:
    return {"functionCall": {"name": name, "args": args, **more}}


def full(message: str, status: int = 400) -> Answer:
    return o.error(status, message, "BadRequestError", status)


BEGUN = [{"index": 0, **wish(arguments='{"min')}]
GOES_ON = [{"index": 0, "function": {"arguments": 'utes": 5, "because": "So it was said."}'}}]
FINE = g.text("Fine.")
TOO_LONG = (
    "This model's maximum context length is 9 tokens.",
    "The decoder prompt (length 9) is longer than the maximum model length of 8.",
    "the request exceeds the available context size, try increasing it",
    "This model's maximum prompt length is 9 but the request has 10 tokens.",
    "prompt is too long: 208310 tokens > 200000 maximum",
    "Trying to keep the first 9 tokens when context the overflows",
)
GONE = {"error": {"message": "Slow down.", "code": 429}}
ROOM = "The input token count (9) exceeds the maximum number of tokens allowed (8)."

OPENAI_ODD: Odd = {
    (BAD, CALL): [
        *(calls(wish(), usage=one) for one in ("many", [1], 5, {"prompt_tokens": {"n": 1}})),
        calls(wish(), usage={"prompt_tokens_details": "-"}),
        *(calls(wish(), usage={"prompt_tokens": one}) for one in (1.5, "9 or 10", True, [9])),
        *(calls(wish(), model=one) for one in (4, {"a": 1}, False)),
        *(calls(wish(id=one)) for one in (5, {"a": 1}, ["x"], True)),
        calls("x", wish()),
        *(stops(one, None, wish()) for one in (None, ..., "", 7)),
        events(piece(tool_calls=BEGUN), piece("tool_calls", tool_calls=GOES_ON)),
    ],
    (CALL, CALL): [
        *(calls(wish(), usage=one) for one in (None, {"prompt_tokens": -5})),
        calls(wish(arguments=json.loads(FIVE), id=None), model=None),
    ],
    (BAD, "Fine."): [
        o.answer("Fine.", tool_calls={}),
        *(o.answer("Fine.", refusal=one) for one in (False, {"a": 1}, 0)),
        *(stops(one) for one in (None, ..., "", 7, {"type": "stop"})),
        events(piece(content="Fi"), piece("stop", content="ne.")),
        events(piece(content="Fine.")),
        *(events(piece("stop", content="Fine."), end=one) for one in ("", "data:\n\n")),
    ],
    (BAD, BAD): [
        stops(None, None),
        stops(None, None, wish(arguments='{"min')),
        *(events(piece(content="Fi"), end=one) for one in ("", 'data: {"choi')),
    ],
    (UNKNOWN, "Fine."): [stops(one) for one in ("STOP", "end_turn", " Stop\n")],
    (UNKNOWN, CALL): [stops(one, None, wish()) for one in ("Tool_Calls", "tool_use")],
    (UNKNOWN, CUT): [stops(one) for one in ("LENGTH", "max_tokens")],
    ("as sent", CALL): [
        *(calls(wish(f"{one}{E}\n")) for one in ("functions.", " default_api:", "default_api.")),
        *(calls(wish(arguments=FIVE + one)) for one in ("}", "<|im_end|>", "\n```\n", ' "}')),
    ],
    (BAD, FIVE): [calls(wish(5))],
    (BOTH, BOTH): [calls(wish(), wish(R, "{}"))],
    (AGAIN, AGAIN): [calls(wish(arguments=FIVE + FIVE))],
    (BARE, BARE): [calls(wish(arguments=one)) for one in (None, " ")],
    (f"{E}[5]", f"{E}[5]"): [calls(wish(arguments=one)) for one in ([5], "[5]")],
    (BAD, LATER): [events(piece(content="Fi"), GONE)],
    (LATER, LATER): [full(TOO_LONG[0], 429)],
    (REFUSED, FULL): [full(one) for one in TOO_LONG],
}
GEMINI_ODD: Odd = {
    (BAD, BARE): [
        *(google(part({}), usageMetadata=one) for one in ("many", {"promptTokenCount": "x"})),
        *(google(part({}, id=5), **one) for one in ({"modelVersion": 4}, {"finishReason": None})),
    ],
    (BAD, "Fine."): [
        google(FINE, finishReason=None),
        *(google(one, FINE) for one in ("x", {"functionCall": "x"}, {"text": 5})),
        events(json.loads(google(FINE).body), end=""),
    ],
    (BAD, BAD): [events(json.loads(google(FINE, finishReason=None).body), end="")],
    (UNKNOWN, "Fine."): [google(FINE, finishReason=one) for one in ("stop", "END_TURN")],
    (UNKNOWN, CUT): [google(FINE, finishReason="max_tokens")],
    (BAD, f"{E}[5]"): [google(part([5]))],
    (BAD, CALL): [google(part(FIVE))],
    ("as sent", BARE): [google(part({}, one)) for one in (f"default_api.{E}", f"default_api:{E} ")],
    (REFUSED, FULL): [g.error(400, "INVALID_ARGUMENT", ROOM)],
}
EACH = [
    pytest.param(family, sent, now, id=f"{family}, {before[:40]}, {nth}")
    for family, table in ((OPENAI, OPENAI_ODD), (GEMINI, GEMINI_ODD))
    for (before, now), odd in table.items()
    for nth, sent in enumerate(odd)
]


def came_to(family: Family, sent: Answer, **more: Any) -> str:
    """What an answer that comes again and again comes to."""
    with family.serving(*[sent] * TRIES) as server:
        try:
            reply = ask(family, server, **more)
        except ModelFault as fault:
            return f"!{fault.code}"
    return "; ".join(f"{one.tool}{one.arguments}" for one in reply.calls) or reply.text


@pytest.mark.parametrize(("family", "sent", "now"), EACH)
def test_what_is_odd_comes_to_what_it_means(family: Family, sent: Answer, now: str) -> None:
    assert came_to(family, sent) == now


# ---------------------------------------------------------------------------- words that are words

HONEST, WRITTEN = (
    [
        line.replace("\u00b6", "\n")
        for line in (DATA / f"{name}.txt").read_text("utf-8").splitlines()
    ]
    for name in ("no_calls", "written_calls")
)


@pytest.mark.parametrize("words", HONEST)
def test_words_that_speak_of_tools_are_no_calls(words: str) -> None:
    report = f"# Report\n\nAll is well.\n{words}\n"
    assert [came_to(OPENAI, o.answer(one)) for one in (words, report)] == [words, report]


@pytest.mark.parametrize("words", WRITTEN)
def test_words_that_are_a_call_are_none(words: str) -> None:
    """Before, the first seven were known, and the rest were words; Gemini's all."""
    assert came_to(OPENAI, o.answer(words)) == came_to(GEMINI, google(g.text(words))) == AS_TEXT
    assert came_to(OPENAI, o.answer(words), asked=request(tools=())) == words


# ------------------------------------------------------------------------------------ whole wakes


def woken(home: Path, server: ScriptedServer, *args: str, status: int = 0) -> str:
    """What a command that wakes prints."""
    asked = ["--model", OPENAI.named(server), *(args or ("wake",))]
    result = run(asked, home, OPENAI.variables(server))
    assert result.exit_code == status, result.output
    return result.stdout


WORDS = f"I do it now.\n\n{R}(content='x')"


def test_a_wake_of_calls_in_words_fails_after_two_hints_and_does_none(tmp_path: Path) -> None:
    with OPENAI.serving(*[o.answer(WORDS)] * 3) as server:
        home = home_of(tmp_path, consent(OPENAI, server))
        told = woken(home, server, status=1)
        assert "failed (call_as_text)" in told
        assert "start the server with the tool parser of this model, or take another model" in told
    assert len(server.sent) == 3
    assert inbox(home) == []
    assert proved(home)


def test_who_asked_in_words_is_answered_in_words_after_two_hints(tmp_path: Path) -> None:
    script = (OPENAI.answer("", REPORT), o.answer("Done."), *[o.answer(WORDS)] * 3)
    with OPENAI.serving(*script) as server:
        home = home_of(tmp_path, consent(OPENAI, server))
        woken(home, server)
        assert WORDS in woken(home, server, "agent", "ask", "Fix the sink", "How do you call?")
    assert len(server.sent) == 5
    assert proved(home)


@pytest.mark.parametrize("family", [OPENAI, GEMINI], ids=str)
def test_where_a_call_came_through_words_are_words(family: Family, tmp_path: Path) -> None:
    with family.serving(family.answer("", REPORT), family.answer(WORDS)) as server:
        home = home_of(tmp_path, consent(family, server))
        asked = ["--model", family.named(server), "wake"]
        (shown,) = told(asked, home, env=family.variables(server))
    assert (shown["outcome"], shown["turns"]) == ("completed", 2)
    assert proved(home)


def test_a_prompt_without_room_names_the_setting(tmp_path: Path) -> None:
    with OPENAI.serving(full(TOO_LONG[0])) as server:
        said = woken(home_of(tmp_path, consent(OPENAI, server)), server, status=1)
    assert "failed (context_full). the prompt is too long; lower max_bytes below [prompt]" in said


# ---------------------------------------------------------------------------- what is sent to harm


def test_calls_of_one_id_and_of_any_arguments_are_answered_one_by_one(tmp_path: Path) -> None:
    """The server refuses a turn whose calls have no answer, or arguments that are no object."""
    harm = (FIVE, [5], None, 5, "[" * 10_000, '{"a":' * 10_000, '{"min', "\ud83d")
    others = wish("n" * 1_000_000), wish(5), wish("\ud83d"), wish(id="c2"), wish(id=7)
    many = calls(*(wish(arguments=one) for one in harm), *others, {"id": "x"}, {"function": []})
    said = o.answer("So X it is.", wish(R, json.dumps(REPORT.arguments))).body
    half = Answer(said.replace(b"X", rb"\ud83d"))
    with OPENAI.serving(many, half, o.answer("Done.")) as server:
        home = home_of(tmp_path, consent(OPENAI, server))
        assert "completed" in woken(home, server)
    ids = [one["tool_call_id"] for one in server.sent[1].body["messages"] if one["role"] == "tool"]
    assert len(ids) == len(set(ids)) == len(harm) + len(others) + 2
    (item,) = inbox(home)
    assert item["arguments"] == {"minutes": 5}
    assert proved(home)


DEEP = json.loads("[" * 130 + "]" * 130)
CUTS = [piece(tool_calls=[{"index": 0, "function": {"arguments": " " * 90}}])] * 20_000
NO_PLACE = [{"index": [1], **wish()}, {"index": {}, "id": [], "function": {"arguments": {}}}]
HARM = [
    (Answer(b" " * 10_000_000), False, LARGE),
    (events(piece("stop", content="x" * 40_000_000)), True, LARGE),
    (Answer(b'{"choices":' * 10_000), False, BAD),
    (calls(wish(arguments=DEEP)), False, BAD),
    (Answer(o.answer("Fine.").body.replace(b"Fine", b"\xc3\x28")), False, BAD),
    (events(piece(content="Fi"), end='data: {"choices": [{"del'), True, BAD),
    (events(piece(content={}), piece("stop", content={})), True, ""),
    (events(piece("stop", tool_calls=NO_PLACE)), True, CALL),
    (events({"error": {"message": "x", "code": "9" * 5_000}}), True, "!unavailable"),
    (events(piece(tool_calls=BEGUN), *CUTS, piece("stop")), True, f'{E}{{"min{" " * 1_800_000}'),
]


@pytest.mark.parametrize(("sent", "is_aloud", "now"), HARM, ids=range(len(HARM)))
def test_harm_ends_in_its_fault(sent: Answer, is_aloud: bool, now: str) -> None:
    assert came_to(OPENAI, sent, is_aloud=is_aloud) == now


@pytest.mark.parametrize(
    "one", ["\n", " ", "```", "<tool_call", f"{R}(", f"{R}('", "[", "to=functions.a "]
)
def test_long_words_are_looked_at_once(one: str) -> None:
    assert not is_call(f"{one * (1_000_000 // len(one))}.", (R,))
