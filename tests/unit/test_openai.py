"""OpenAI's protocol, names with an address, and models that settings name: what is sent, what odd
answers mean, which key goes where, what a receipt covers."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapters.home.endpoints import endpoint_key, endpoint_of, full_name
from adapters.home.prices import Price
from adapters.home.settings import OpenAISettings, Settings, load, parse
from adapters.models.faults import Trouble
from adapters.models.openai import decoding, messages
from adapters.models.openai.decoding import StreamedWords, whole
from adapters.wiring import Models
from domain.agent import deciders
from domain.errors import Refused
from domain.log.state import MAIN
from domain.policy import policy as p
from domain.policy.gate import is_leaving, pattern_of
from domain.policy.policy import POLICY, covers, give, matches, meets
from domain.ports import Call, CallResult, Exchange, Usage
from tests.support.asking import request
from tests.support.openai_server import KEY, MODEL, answer, bare, call, document, error

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
    assert (reply.reply_format, reply.model, reply.finish) == ("openai.2", MODEL, "stop")


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
    with pytest.raises(Trouble, match="broke off") as caught:
        whole(b'data: {"choices": [{"delta": {"content": "Fi"}}]}\n\n', {}, "")
    assert caught.value.again


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


def test_recorded_bytes_are_read_again_as_they_were_when_they_came() -> None:
    raw = answer("x", call(ESTIMATE, {"minutes": 5}, call_id="a")).body
    older = decoding.parse(raw, "openai.1")
    assert decoding.parse(raw) == replace(older, reply_format="openai.2")
    for other in (b'{"calls":[],"text":"x"}', b"\xff", document(candidates=[]).body):
        with pytest.raises(Refused, match="a recorded answer of an endpoint"):
            decoding.parse(other)


# ---------------------------------------------------------------------------- names with an address

LOCAL = "openai:qwen3@http://localhost:11434/v1"
HOSTED = "openai:org/m-2:free@https://api.example.org/v1"
ENVIRON = {"OPENAI_API_KEY": KEY}
AT_HOME = Settings(openai=OpenAISettings("http://localhost:11434/v1"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (LOCAL, LOCAL),
        (f"{LOCAL}/", LOCAL),
        ("openai:M@HTTPS://API.Example.org:443/v1//", "openai:M@https://api.example.org/v1"),
        ("openai:M@https://h:0080443/", None),
        ("openai:M@https://h:8443", "openai:M@https://h:8443"),
        ("openai:@cf/meta/m@https://h/v1", "openai:@cf/meta/m@https://h/v1"),
        ("openai:m@http://[::1]:8080/v1", "openai:m@http://[::1]:8080/v1"),
        ("openai:qwen3:8b-q4_K_M", "openai:qwen3:8b-q4_K_M"),
        ("openai:", None),
        ("openai:m@", None),
        ("openai:m*@https://h", None),
        ("openai:m@https://h*", None),
        ("openai:m@https://h x", None),
        ("openai:m@ftp://h", None),
        ("openai:m@https://h/" + "x" * 300, None),
        ("OpenAI:m@https://h", None),
    ],
)
def test_a_name_is_kept_in_one_way_of_writing(given: str, kept: str | None) -> None:
    if kept is not None:
        assert deciders.valid_model(given) == deciders.valid_model(kept) == kept
        return
    with pytest.raises(Refused):
        deciders.valid_model(given)


@pytest.mark.parametrize(
    "url",
    [
        "https://me:hunter2@h/v1",
        "https://hunter2@h",
        "https://h?hunter2",
        "https://h/v1#hunter2",
        "https:/u:hunter2@h",
        "ftp://u:hunter2@h",
    ],
)
def test_what_may_be_a_secret_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(Refused) as refused:
        deciders.valid_model(f"openai:m@{url}")
    assert "hunter2" not in str(refused.value)


# ------------------------------------------------------------------------------------ whom it asks


def test_http_goes_to_this_machine_alone_unless_a_setting_allows_it() -> None:
    plain = Settings(openai=OpenAISettings(allow_plain=True))
    for host in ("localhost", "127.0.0.1", "127.1.2.3", "[::1]"):
        assert not endpoint_of(f"openai:m@http://{host}:1/v1", Settings()).needs_key
    for host in (
        "example.org",
        "192.168.1.5",
        "localhost.example.org",
        "127.0.0.1.nip.io",
        "0x7f.1",
    ):
        with pytest.raises(Refused, match="allow_plain"):
            endpoint_of(f"openai:m@http://{host}/v1", Settings())
        assert endpoint_of(f"openai:m@http://{host}/v1", plain).key == ""


def test_a_name_without_an_address_asks_that_of_the_setting_and_is_recorded_with_it() -> None:
    given = AT_HOME
    assert full_name("openai:qwen3", given) == endpoint_of("openai:qwen3", given).name == LOCAL
    assert [full_name(one, given) for one in (HOSTED, "gemini", "rules")] == [
        HOSTED,
        "gemini",
        "rules",
    ]
    assert full_name(f"{LOCAL}/", Settings()) == LOCAL
    with pytest.raises(Refused, match="names no address"):
        endpoint_of("openai:qwen3", Settings())


def test_an_address_of_the_settings_is_kept_in_one_way_of_writing() -> None:
    assert parse('[openai]\nbase_url = "HTTP://Localhost:80/v1/"').openai == OpenAISettings(
        "http://localhost/v1"
    )


@pytest.mark.parametrize(
    ("name", "base_url", "is_sent"),
    [
        (HOSTED, "", True),
        (HOSTED, "https://api.example.org/other", True),
        (HOSTED, "https://api.example.com/v1", False),
        (HOSTED, "https://api.example.org:8443/v1", False),
        (LOCAL, "", False),
        (LOCAL, "https://api.example.org/v1", False),
        (LOCAL, "http://localhost:11434/v1", True),
    ],
)
def test_the_key_goes_to_the_address_that_it_was_set_for_and_to_no_other(
    name: str, base_url: str, is_sent: bool
) -> None:  # fmt: skip
    endpoint = endpoint_of(name, Settings(openai=OpenAISettings(base_url)))
    assert bool(endpoint.key) == is_sent
    if is_sent or not endpoint.needs_key:
        assert endpoint_key(endpoint, ENVIRON) == (KEY if is_sent else "")
        return
    with pytest.raises(Refused, match="is for another") as refused:
        endpoint_key(endpoint, ENVIRON)
    assert refused.value.code == "missing_key"


def test_without_a_key_a_local_server_is_asked_and_a_hosted_one_is_not() -> None:
    assert endpoint_key(endpoint_of(LOCAL, AT_HOME), {}) == ""
    with pytest.raises(Refused) as refused:
        endpoint_key(endpoint_of(HOSTED, Settings()), {})
    assert refused.value.code == "missing_key"
    with pytest.raises(Refused, match="what no key can hold") as refused:
        endpoint_key(endpoint_of(HOSTED, Settings()), {"OPENAI_API_KEY": "two words"})
    assert "two words" not in str(refused.value)


def test_the_model_of_a_name_says_so_and_holds_its_key_from_view() -> None:
    models = Models(ENVIRON, Settings(openai=OpenAISettings("https://api.example.org/v1")))
    assert models("openai:gpt").name == "openai:gpt@https://api.example.org/v1"
    assert models(LOCAL).name == LOCAL
    with pytest.raises(Refused) as refused:
        models("nonsense")
    assert "openai:MODEL@URL" in str(refused.value)


# ---------------------------------------------------------------------------------------- receipts

HERE, THERE = "openai:*@http://localhost:11434", "openai:*@https://api.example.org:443"


def test_a_receipt_of_one_address_covers_no_other_however_it_is_written() -> None:
    assert is_leaving(LOCAL)
    assert (pattern_of(LOCAL), pattern_of(HOSTED)) == (HERE, THERE)
    assert covers(HERE, LOCAL)
    assert covers(HERE, "openai:other@http://localhost:11434/v2")
    assert covers(LOCAL, LOCAL)
    others = (
        HOSTED,
        "openai:qwen3@https://localhost:11434/v1",
        "openai:qwen3@http://localhost:11435/v1",
        "openai:qwen3@http://localhost/v1",
        "openai:qwen3@http://127.0.0.1:11434/v1",
        "openai:qwen3",
    )
    assert not any(covers(HERE, other) for other in others)
    wide = ("*", "o*", "openai:*", "openai:qwen3*", "openai", "openai:qwen3", f"{HERE}*",
            "openai:qwen3@http://localhost*", "openai:qwen3@http://localhost:1143*")  # fmt: skip
    assert not any(covers(pattern, model) for pattern in wide for model in (LOCAL, HOSTED, *others))


def test_a_receipt_that_names_no_address_is_not_given() -> None:
    nobody = POLICY.initial(MAIN)
    for pattern in ("openai:*", "openai:qwen3", "openai:q*", "openai:qwen3@http://localhost*"):
        with pytest.raises(Refused, match=r"names no address|is no web address"):
            give(nobody, pattern, ("Work",), 1, ())
    (given,) = give(nobody, "openai:*@HTTPS://API.example.org/v1/", ("Work",), 1, ())
    assert given == p.ConsentGiven(THERE, ("Work",), 1, ())


def test_rules_and_withdrawals_may_mean_all_addresses() -> None:
    assert matches("openai:*", LOCAL)
    assert matches(HERE, LOCAL)
    assert not matches(HERE, HOSTED)
    for wide in ("openai:*", "openai:q*", "o*", HERE, LOCAL):
        assert meets(HERE, wide)
        assert meets(wide, HERE)
    assert not meets(HERE, THERE)
    assert not meets(HERE, "gemini:*")
    assert not meets(HERE, HOSTED)


# ------------------------------------------------------------------------ models that settings name

OLLAMA = "openai:qwen3:8b@http://localhost:11434/v1"
FAST = "openai:llama-4@https://api.groq.example/openai/v1"
TEXT = """
[openai]
base_url = "https://api.example.org/v1"
key = "env:EXAMPLE_KEY"
[models.local]
base_url = "http://LOCALHOST:11434/v1/"
model = "qwen3:8b"
[models.fast]
base_url = "https://api.groq.example/openai/v1"
model = "llama-4"
key = "env:GROQ_KEY"
[models.other-account]
base_url = "https://api.groq.example/openai/v1"
model = "llama-3"
key = "keyring"
[prices."openai:fast"]
input = 1
output = 2
[prices."openai:gpt"]
input = 3
output = 4
"""
SETTINGS = parse(TEXT)
KEYS = {"EXAMPLE_KEY": f"e{KEY}", "GROQ_KEY": f"g{KEY}", "OPENAI_API_KEY": f"o{KEY}"}


def key_of(name: str, settings: Settings = SETTINGS) -> str:
    """Where the key of a model comes from."""
    return endpoint_of(name, settings).key


def refused(text: str) -> str:
    """What is said about a file, in one line."""
    with pytest.raises(Refused) as found:
        parse(text)
    told = str(found.value)
    assert told.isprintable()
    assert len(told) < 700
    return told


def test_a_name_stands_for_its_model_at_its_address_and_wins_over_that_of_the_home() -> None:
    assert full_name("openai:local", SETTINGS) == endpoint_of("openai:local", SETTINGS).name
    assert full_name("openai:local", SETTINGS) == OLLAMA
    assert full_name("openai:fast", SETTINGS) == FAST
    assert full_name("openai:gpt", SETTINGS) == "openai:gpt@https://api.example.org/v1"
    assert (
        full_name("openai:local@http://localhost:1", SETTINGS) == "openai:local@http://localhost:1"
    )
    assert [full_name(one, SETTINGS) for one in ("local", "rules", "")] == ["local", "rules", ""]


def test_who_mistypes_a_name_is_told_which_is_meant(tmp_path: Path) -> None:
    alone = TEXT.partition("[models.local]")
    text = f"{alone[1]}{alone[2]}"
    with pytest.raises(Refused, match=r"did you mean openai:local\?"):
        endpoint_of("openai:lokal", parse(text))
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    with pytest.raises(Refused, match=r"--model: 'local' is no model; did you mean openai:local\?"):
        load(tmp_path, {}, "local")
    with pytest.raises(Refused, match=r"'locale' is no model; use rules, gemini"):
        load(tmp_path, {}, "locale")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("openai:local", ""),
        ("openai:fast", "env:GROQ_KEY"),
        (FAST, "env:GROQ_KEY"),  # as a wake that goes on asks it
        ("openai:llama-4@HTTPS://api.groq.example:443/openai/v1/", "env:GROQ_KEY"),
        ("openai:other-account", "keyring:openai:other-account"),
        ("openai:any@https://api.groq.example/x", "env:GROQ_KEY"),
        ("openai:gpt", "env:EXAMPLE_KEY"),
        ("openai:llama-4@https://api.groq.example:8443/openai/v1", ""),
        ("openai:llama-4@https://api.groq.example./openai/v1", ""),
        ("openai:llama-4@https://api.groq.example.org/openai/v1", ""),
        ("openai:qwen3:8b@http://127.0.0.1:11434/v1", ""),
    ],
)
def test_a_key_goes_to_the_scheme_host_and_port_that_it_was_set_for(name: str, key: str) -> None:
    assert key_of(name) == key


def test_a_key_that_is_named_is_needed_and_one_that_is_not_is_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)  # whoever runs this may have one
    assert endpoint_key(endpoint_of("openai:fast", SETTINGS), KEYS) == f"g{KEY}"
    assert endpoint_key(endpoint_of("openai:local", SETTINGS), KEYS) == ""
    for name, told in (
        ("openai:fast", "GROQ_KEY is not set"),
        ("openai:gpt", "EXAMPLE_KEY is not set"),
        ("openai:other-account", "keyring set wakelog openai:other-account"),
        ("openai:x@https://elsewhere.example", "OPENAI_API_KEY is for another"),
    ):
        with pytest.raises(Refused, match=told) as found:
            endpoint_key(endpoint_of(name, SETTINGS), {"OPENAI_API_KEY": KEY})
        assert found.value.code == "missing_key"
    plain = parse('[models.lan]\nbase_url = "https://lan.example/v1"\nmodel = "m"')
    assert endpoint_key(endpoint_of("openai:lan", plain), KEYS) == ""


def test_a_named_model_keeps_its_receipt_until_its_address_changes() -> None:
    given = pattern_of(full_name("openai:local", SETTINGS))
    assert given == "openai:*@http://localhost:11434"
    for was, is_now in (("models.local", "models.mine"), ("11434/v1/", "11434/v2")):
        moved = parse(TEXT.replace(was, is_now))
        assert any(covers(given, one.name) for one in moved.models.values())
    elsewhere = full_name("openai:local", parse(TEXT.replace("11434", "11435")))
    assert not covers(given, elsewhere)
    assert not covers(OLLAMA, elsewhere)


def test_prices_are_by_the_names_that_a_person_gave(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(TEXT, encoding="utf-8")
    found = load(tmp_path, {}).prices
    assert found[FAST] == (Price(1_000_000, 2_000_000),)
    assert found["openai:gpt@https://api.example.org/v1"] == (Price(3_000_000, 4_000_000),)
    moved = load(tmp_path, {"WAKELOG_OPENAI_BASE_URL": "http://localhost:1/v1"})
    assert "openai:gpt@http://localhost:1/v1" in moved.prices
    twice = f'{TEXT}[prices."{FAST}"]\ninput = 1\noutput = 2\n'
    (tmp_path / "settings.toml").write_text(twice, encoding="utf-8")
    with pytest.raises(Refused, match="two tables are of openai:llama-4@"):
        load(tmp_path, {})


def test_the_key_of_a_file_does_not_go_to_the_address_of_a_variable(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(TEXT, encoding="utf-8")
    for url, key in (
        ("https://api.example.org/v2", "env:EXAMPLE_KEY"),
        ("https://evil.example/v1", "env:OPENAI_API_KEY"),
    ):
        settings = load(tmp_path, {"WAKELOG_OPENAI_BASE_URL": url})
        assert key_of("openai:gpt", settings) == key


def test_the_endpoint_that_the_docs_name_is_one() -> None:
    page = Path(__file__).parents[2] / "docs/guide/models.md"
    text = page.read_text(encoding="utf-8").partition("[models.fast]")[2]
    settings = parse(f"[models.fast]{text.partition('```')[0]}")
    found = endpoint_of("openai:fast", settings)
    assert found.name == "openai:openai/gpt-oss-120b@https://api.groq.com/openai/v1"
    assert (found.key, found.needs_key) == ("env:GROQ_API_KEY", True)
    assert endpoint_of("openai:fast", parse(f"[models.fast]{text.partition('key =')[0]}")).key == ""


WHERE = 'base_url = "https://h/v1"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("models = 3", "models: expected a table"),
        ("[models]\nlocal = 3", "models.local: expected a table"),
        ('[models."a b"]\nmodel = "x"', "'a b' is no name"),
        ('[models."a@b"]\nmodel = "x"', "'a@b' is no name"),
        ("[models.a]\n" + WHERE, "model is missing"),
        ('[models.a]\nmodel = "x"', "base_url is missing"),
        (f'[models.a]\n{WHERE}model = "x"\nurl = "y"', "models.a: the key url is not known"),
        (f'[models.a]\n{WHERE}model = "x"\nallow_plan = true', "did you mean allow_plain?"),
        (f"[models.a]\n{WHERE}model = 3", "models.a.model: expected a text in quotes"),
        (f'[models.a]\n{WHERE}model = "x"\nallow_plain = 1', "expected true or false"),
        (f'[models.a]\n{WHERE}model = "x y"', "name no model together"),
        (f'[models.a]\n{WHERE}model = "x@https://h"', "name no model together"),
        (f'[models.a]\n{WHERE}model = ""', "name no model together"),
        ('[models.a]\nbase_url = ""\nmodel = "x"', "name no model together"),
        ('[models.a]\nbase_url = "ftp://h"\nmodel = "x"', "models.a.base_url: 'ftp://h' is no web"),
        ('[models.a]\nbase_url = "http://192.168.1.5/v1"\nmodel = "x"', "allow_plain = true"),
        ('[models.a]\nbase_url = "http://localhost./v1"\nmodel = "x"', "allow_plain = true"),
        ('[models.a]\nbase_url = "https://hö/v1"\nmodel = "x"', "is no web address"),
        (f'[models.a]\n{WHERE}model = "x"\n[models.b]\n{WHERE}model = "x"', "the same model"),
        ('[openai]\nkey = "env:A"', "openai.base_url names none"),
        (f'[openai]\n{WHERE}keys = "env:A"', "openai.keys is not known"),
    ],
)
def test_a_slip_is_told_in_one_line(text: str, told: str) -> None:
    assert told in refused(text)


@pytest.mark.parametrize(
    "text",
    [
        f'[models.a]\n{WHERE}model = "x"\nkey = "{KEY}"',
        f'[models.a]\n{WHERE}model = "x"\nkey = "env:{KEY}"',
        f'[models.a]\n{WHERE}model = "x"\napi_key = "{KEY}"',
        f'[models.a]\nbase_url = "https://me:{KEY}@h/v1"\nmodel = "x"',
        f'[models.a]\nbase_url = "https://h/v1?key={KEY}"\nmodel = "x"',
        f'[openai]\n{WHERE}key = "{KEY}"',
        f'[openai]\n{WHERE}api_key = "{KEY}"',
        f'[openai]\nbase_url = "http://h/{KEY}"',
        f'[prices."openai:m@https://me:{KEY}@h"]\ninput = 1\noutput = 1',
    ],
)
def test_a_key_in_a_file_is_refused_and_not_repeated(text: str, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    with pytest.raises(Refused) as found:
        load(tmp_path, {})
    assert KEY not in str(found.value)
