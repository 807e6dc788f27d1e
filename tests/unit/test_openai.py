"""OpenAI's protocol as pure functions: what is sent, and what odd answers of real servers mean."""

import json
from typing import Any

import pytest

from adapters.models.faults import Trouble
from adapters.models.openai import decoding, messages
from adapters.models.openai.decoding import StreamedWords, whole
from domain.errors import Refused
from domain.ports import Call, CallResult, Exchange, Usage
from tests.support.asking import request
from tests.support.openai_server import MODEL, answer, bare, call, document, error

ESTIMATE, REPORT = "update_task_estimate", "update_report"


def trouble_of(raw: bytes, tools: tuple[str, ...] = (REPORT,)) -> Trouble:
    """What an answer with status 200 ends in."""
    with pytest.raises(Trouble) as caught:
        decoding.judge(decoding.read(raw), tools)
    return caught.value


def streamed(*deltas: dict[str, Any], finish: str = "tool_calls") -> bytes:
    """A stream of these deltas, with the comments and the end that servers send."""
    said = [{"choices": [{"index": 0, "delta": one}]} for one in deltas]
    said.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    lines = [": PROCESSING", *(f"data: {json.dumps(one)}" for one in said), "data: [DONE]"]
    return "\n\n".join(lines).encode()


def calls_of(*deltas: dict[str, Any]) -> tuple[Call, ...]:
    """The calls that a stream comes to."""
    return decoding.parse(whole(streamed(*deltas), {}, "")).calls


def piece(name: str = "", arguments: Any = "", **more: Any) -> dict[str, Any]:
    """A piece of one call."""
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return {"tool_calls": [{**more, "function": function}]}


# ------------------------------------------------------------------------------------ what is sent


def test_a_first_request_holds_prompt_tools_and_nothing_that_a_server_could_refuse() -> None:
    sent = messages.body(MODEL, request())
    assert sent["messages"] == [
        {"role": "system", "content": "You are an agent.\n\nBe short."},
        {"role": "user", "content": "# Task\n\nFix the sink\n\nBegin, ä."},
    ]
    assert [one["function"]["name"] for one in sent["tools"]] == [ESTIMATE, REPORT]
    assert sent.keys() == {"model", "messages", "tools"}
    aloud = messages.body(MODEL, request(tools=()), is_streamed=True)
    assert aloud.keys() == {"model", "messages", "stream", "stream_options"}


def test_of_one_tool_a_call_is_demanded_in_the_word_that_all_servers_know() -> None:
    """LM Studio refuses the object; the tool that is forced is the only one on offer."""
    (report,) = (one for one in request().tools if one.name == REPORT)
    alone = messages.body(MODEL, request(forced=REPORT, tools=(report,)))
    among = messages.body(MODEL, request(forced=REPORT))
    hinted = messages.body(MODEL, request(), nudges=1)
    assert (alone["tool_choice"], hinted["tool_choice"]) == ("required", "required")
    other = messages.in_other_words(alone, request(forced=REPORT, tools=(report,)))
    assert other == {**alone, "tool_choice": among["tool_choice"]}
    assert messages.in_other_words(hinted, request()) is None
    assert messages.in_other_words(among, request(forced=REPORT)) is None
    assert among["tool_choice"] == {"type": "function", "function": {"name": REPORT}}
    assert "could not be read" in hinted["messages"][-1]["content"]
    assert [one["role"] for one in hinted["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    "thoughts",
    [
        {"reasoning_content": "Let me see."},
        {"reasoning_content": ""},  # DeepSeek refuses the next request where it is left out
        {"reasoning": "Hm.", "reasoning_details": [{"type": "x", "signature": "+/w=="}]},
    ],
)
def test_an_earlier_turn_goes_back_with_its_thoughts_as_they_came(thoughts: Any) -> None:
    said = answer("Two things.", call(ESTIMATE, {"minutes": 60}, call_id="a"),
                  call(REPORT, call_id="b"), refusal=None, annotations=[], **thoughts)  # fmt: skip
    results = (CallResult("a", ESTIMATE, "Queued."), CallResult("b", REPORT, "no", is_error=True))
    _, _, turn, *answers = messages.messages(request(Exchange(said.body, results)))
    assert turn == {
        "role": "assistant",
        "content": "Two things.",
        **thoughts,
        "tool_calls": json.loads(said.body)["choices"][0]["message"]["tool_calls"],
    }
    assert answers == [
        {"role": "tool", "tool_call_id": "a", "content": "Queued."},
        {"role": "tool", "tool_call_id": "b", "content": "error: no"},
    ]


@pytest.mark.parametrize("given", ['{"minutes": ', "[1]", "", None, 5])
def test_arguments_that_are_no_object_go_back_as_an_empty_one(given: Any) -> None:
    """A server puts them into the model's own form, and fails at what it cannot read."""
    wish = {"id": "", "function": {"name": ESTIMATE, "arguments": given}}
    said = answer(None, wish).body
    *_, turn, told = messages.messages(request(Exchange(said)))
    assert turn["tool_calls"][0]["function"]["arguments"] == "{}"
    assert turn["tool_calls"][0]["type"] == "function"
    assert (turn["tool_calls"][0]["id"], told["tool_call_id"]) == ("c1", "c1")
    assert told["content"] == "error: this call was not carried out"


def test_no_two_turns_of_the_person_follow_each_other() -> None:
    """Some models' own forms refuse that."""
    silent, foreign = Exchange(answer().body), Exchange(b"\xff")
    roles = [one["role"] for one in messages.messages(request(silent, foreign, silent), nudges=2)]
    assert roles == ["system", "user"]


# ---------------------------------------------------------------------------------- what comes back


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 5}, Usage(9, 5)),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14,
             "prompt_tokens_details": {"cached_tokens": 8},
             "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(9, 2, 3, 8),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 17,
             "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(9, 5, 3),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 4},
         Usage(9, 5, None, 4)),
        ({"prompt_tokens_details": None}, Usage()),
    ],
    ids=["counted", "thoughts among it", "thoughts apart", "DeepSeek", "not told"],
)  # fmt: skip
def test_thoughts_are_counted_once(usage: Any, counts: Usage) -> None:
    said = json.loads(answer("x").body) | {"usage": usage}
    assert decoding.read(json.dumps(said).encode()).usage() == counts


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>\nHm.\n</think>\n\nFine.", "Fine."),
        ("<think>never ends", ""),
        ("I <think> so.", "I <think> so."),
        ([{"type": "thinking", "thinking": []}, {"type": "text", "text": "Fine."}], "Fine."),
        (None, ""),
        (7, ""),
    ],
)
def test_thoughts_among_the_words_are_no_words(content: Any, text: str) -> None:
    said = answer(content)
    assert decoding.read(said.body).message.text == text
    if isinstance(content, str):
        heard = StreamedWords()
        pieces = [{"choices": [{"delta": {"content": char}}]} for char in content]
        assert "".join(word for one in pieces for word in heard(one)) == text


def test_calls_are_read_however_a_server_writes_them() -> None:
    wish = {"function": {"name": ESTIMATE, "arguments": {"minutes": 5}}}
    none = {"id": "x", "function": {"name": REPORT, "arguments": ""}}
    reply = decoding.parse(answer(None, wish, none, {"id": "y"}, finish="stop").body)
    assert reply.calls == (
        Call("c1", ESTIMATE, '{"minutes": 5}'),
        Call("x", REPORT, "{}"),
        Call("y", "", "{}"),
    )
    assert (reply.reply_format, reply.model, reply.finish) == ("openai.1", MODEL, "stop")


@pytest.mark.parametrize(
    "deltas",
    [
        (
            piece(ESTIMATE, "", index=0, id="a"),
            piece(arguments='{"m', index=0),
            piece(arguments='": 5}', index=0),
            piece(REPORT, "{}", index=1, id="b"),
        ),
        (piece(ESTIMATE, '{"m": 5}', index=0, id="a"), piece(REPORT, "{}", index=0, id="b")),
        (piece(ESTIMATE, '{"m": 5}', id="a"), piece(REPORT, "{}", id="b")),
        (
            piece(ESTIMATE, '{"m"', index=0, id="a"),
            piece(ESTIMATE, ": 5}", index=0, id="a"),
            piece(REPORT, "{}", index=1, id="b"),
        ),
        (piece(ESTIMATE, {"m": 5}, index=0, id="a"), piece(REPORT, {}, index=1, id="b")),
        (
            {"tool_calls": [*piece(ESTIMATE, '{"m": 5}', index=0, id="a")["tool_calls"],
                            *piece(REPORT, "{}", index=1, id="b")["tool_calls"]]},
        ),
    ],
    ids=["cut", "all at one place", "no place", "all named again", "as objects", "at once"],
)  # fmt: skip
def test_streamed_calls_are_put_together_however_they_are_cut(deltas: Any) -> None:
    first, second = calls_of(*deltas)
    assert (first.call_id, first.tool, json.loads(first.arguments)) == ("a", ESTIMATE, {"m": 5})
    assert (second.call_id, second.tool, second.arguments) == ("b", REPORT, "{}")


def test_a_stream_comes_to_what_the_whole_answer_would_be() -> None:
    raw = whole(streamed({"role": "assistant", "content": ""}, {"reasoning": "H"},
                         {"reasoning": "m"}, {"content": "Fi"}, {"content": "ne"},
                         finish="stop"), {}, "")  # fmt: skip
    message = {"role": "assistant", "content": "Fine", "reasoning": "Hm"}
    assert json.loads(raw)["choices"] == [{"index": 0, "message": message, "finish_reason": "stop"}]


def test_a_stream_that_breaks_off_without_a_reason_is_no_answer() -> None:
    raw = whole(b'data: {"choices": [{"delta": {"content": "Fi"}}]}\n\n', {}, "")
    assert trouble_of(raw).again


@pytest.mark.parametrize(
    "body",
    [
        b'error: {"message": "Slow down.", "code": 429}',
        b'data: {"error": {"message": "Slow down.", "code": 429}}',
        b'data: {"x": 1}\n\nerror: {"error": {"message": "m", "code": 429}}',
    ],
    ids=["llama.cpp", "OpenRouter", "later"],
)
def test_an_error_in_a_stream_is_one(body: bytes) -> None:
    with pytest.raises(Trouble) as caught:
        whole(body, {}, "")
    assert (caught.value.fault.code, caught.value.again) == ("rate_limited", True)


# ------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (404, b'{"error":"model \'x\' not found"}', "unknown_model"),
        (400, b'{"object":"error","message":"too long","type":"BadRequestError","code":400}',
         "bad_request"),
        (422, b'{"detail":[{"loc":["body","messages"],"msg":"field required","type":"m"}]}',
         "bad_request"),
        (401, b'{"detail":"Unauthorized"}', "bad_key"),
        (400, b'[{"error":{"code":400,"message":"API key not valid.","status":"X"}}]', "bad_key"),
        (404, b'{"error":{"message":"No endpoints found that support tool use.","code":404}}',
         "no_tools"),
        (400, b'{"error":{"message":"x","code":"tool_use_failed"}}', "malformed_call"),
        (500, b'{"error":{"message":"Failed to parse input at pos 5: {","code":500}}',
         "malformed_call"),
    ],
)  # fmt: skip
def test_errors_are_understood_in_the_words_of_each_server(
    status: int, body: bytes, code: str
) -> None:
    found = decoding.trouble_of_status(status, body, {}).fault
    assert (found.code, found.of_provider) == (code, False)
    assert str(found).isprintable()


def test_a_key_that_an_error_repeats_is_not_told_whosever_it_is() -> None:
    """The own one is replaced where the answer comes in; a gateway repeats that of its own."""
    key = "sk-proj-0123456789abcdefghij"
    said = error(401, f"Incorrect API key provided: {key}. See https://x", "invalid_request_error")
    told = str(decoding.trouble_of_status(401, said.body, {}).fault)
    assert key not in told
    assert "provided: [secret: OpenAI key]. See" in told


@pytest.mark.parametrize(
    "said",
    [bare(200, "Unexpected endpoint or method."), error(200, "x", "invalid_request_error")],
)
def test_an_error_with_status_200_is_one(said: Any) -> None:
    assert trouble_of(said.body).fault.code == "bad_request"


@pytest.mark.parametrize(
    "words",
    [
        '<tool_call>{"name": "update_report", "arguments": {}}</tool_call>',
        "I write it.\n<function=update_report>{}</function>",
        '[TOOL_CALLS][{"name": "update_report"}]',
        '```json\n{"name": "update_report", "parameters": {}}\n```',
        '[{"name": "update_report", "arguments": {}}]',
    ],
)
def test_a_call_that_is_written_as_words_is_asked_for_again_and_never_guessed(words: str) -> None:
    found = trouble_of(answer(words).body)
    assert (found.fault.code, found.is_hinted) == ("call_as_text", True)
    assert decoding.judge(decoding.read(answer(words).body), ()) == "ok"  # no tool was offered


@pytest.mark.parametrize(
    "words", ['{"name": "Bo", "arguments": {}}', "I call update_report.", "[]"]
)
def test_other_words_are_words(words: str) -> None:
    assert decoding.judge(decoding.read(answer(words).body), (REPORT,)) == "ok"


def test_recorded_bytes_are_read_again_as_they_were_when_they_came() -> None:
    raw = answer("x", call(ESTIMATE, {"minutes": 5}, call_id="a")).body
    assert decoding.parse(raw) == decoding.parse(raw, "openai.1")
    for other in (b'{"calls":[],"text":"x"}', b"\xff", document(candidates=[]).body):
        with pytest.raises(Refused, match="a recorded answer of an endpoint"):
            decoding.parse(other)
