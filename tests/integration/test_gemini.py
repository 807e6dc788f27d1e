"""The Gemini model over the wire, whole and streamed: what it sends, what it makes of what comes
back, and its key; what holds for every family stands in `test_model_families`."""

import importlib
import json
import subprocess
import sys
import types
from typing import Any

import pytest

from adapters.home import api_keys
from adapters.home.endpoints import endpoint_key, endpoint_of
from adapters.home.settings import parse
from adapters.models.gemini import decoding
from adapters.models.gemini.decoding import FINISH
from adapters.models.wording import NUDGES
from domain.errors import Refused
from domain.ports import Call, CallResult, Exchange, ModelFault, Usage
from domain.tools import registry
from tests.support.asking import TOOLS, Heard, Sleeps, request
from tests.support.gemini import ask, ask_aloud, fault
from tests.support.gemini_server import (
    KEY,
    PATH,
    SIGNATURE,
    STREAM_PATH,
    answer,
    call,
    document,
    serving,
    text,
    thought,
)
from tests.support.scripted_server import Answer

ESTIMATE, REPORT = "update_task_estimate", "update_report"


def said(*parts: dict[str, Any]) -> bytes:
    """A recorded answer with these parts."""
    return answer(*parts).body


# ------------------------------------------------------------------------------- what is sent


def test_a_first_request_holds_the_prompt_the_tools_and_the_key() -> None:
    with serving(answer(text("Nothing to do."))) as server:
        ask(server)
    (sent,) = server.sent
    assert sent.path == PATH
    assert sent.headers["x-goog-api-key"] == KEY
    assert sent.body == {
        "systemInstruction": {
            "role": "user",
            "parts": [{"text": "You are an agent.\n\nBe short."}],
        },
        "contents": [
            {"role": "user", "parts": [{"text": "# Task\n\nFix the sink\n\nBegin, ä."}]},
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters_json_schema": tool.schema,
                    }
                    for tool in TOOLS
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}},
        "generationConfig": {},
    }


def test_every_tool_of_a_task_agent_is_sent_as_it_is_specified() -> None:
    specs = registry.specs(tuple(registry.TOOLS))
    with serving(answer(text("Fine."))) as server:
        ask(server, request(tools=specs))
    (declared,) = server.sent[0].body["tools"]
    schemas = [one["parameters_json_schema"] for one in declared["functionDeclarations"]]
    assert schemas == [spec.schema for spec in specs]
    assert {schema["type"] for schema in schemas} == {"object"}
    assert "$ref" not in json.dumps(schemas)


def test_without_tools_nothing_is_said_about_functions() -> None:
    with serving(answer(text("Fine."))) as server:
        ask(server, request(tools=()))
    assert {"tools", "toolConfig"}.isdisjoint(server.sent[0].body)


def test_a_forced_tool_must_be_called() -> None:
    with serving(answer(call(REPORT, signature=SIGNATURE))) as server:
        ask(server, request(forced=REPORT, tools=TOOLS[1:]))
    assert server.sent[0].calling == {"mode": "ANY", "allowedFunctionNames": [REPORT]}


def test_an_earlier_turn_goes_back_verbatim_with_all_its_calls_answered_in_one_content() -> None:
    parts = [
        {**thought("Let me see."), "thoughtSignature": "+/+/"},
        text("I propose two things."),
        call(ESTIMATE, {"minutes": 60.0}, call_id="fc-1", signature=SIGNATURE),
        {**call(REPORT, {"snake_case": {"x": [1, None]}}, call_id="fc-2"), "newField": {"a_b": 1}},
    ]
    results = (
        CallResult("fc-1", ESTIMATE, "Queued."),
        CallResult("fc-2", REPORT, "content is missing", is_error=True),
    )
    with serving(answer(text("Done."))) as server:
        ask(server, request(Exchange(said(*parts), results)))
    assert server.sent[0].contents[1:] == [
        {"role": "model", "parts": parts},
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "fc-1",
                        "name": ESTIMATE,
                        "response": {"output": "Queued."},
                    }
                },
                {
                    "functionResponse": {
                        "id": "fc-2",
                        "name": REPORT,
                        "response": {"error": "content is missing"},
                    }
                },
            ],
        },
    ]


def test_a_loop_of_three_turns_keeps_signatures_ids_and_order() -> None:
    """What comes back is fed in again as the performer does it, turn by turn."""
    script = [
        answer(
            call(ESTIMATE, {"minutes": 60}, call_id="a", signature=SIGNATURE),
            call(ESTIMATE, {"minutes": 90}, call_id="b"),
        ),
        answer(call(REPORT, {}, signature="AA==")),
        answer(text("Done.")),
    ]
    exchanges: list[Exchange] = []
    with serving(*script) as server:
        for _ in script:
            reply = ask(server, request(*exchanges))
            results = [CallResult(one.call_id, one.tool, "ok") for one in reply.calls]
            exchanges.append(Exchange(reply.raw, tuple(results)))
    assert [one.reply for one in exchanges] == [one.body for one in script]
    last = server.sent[2].contents
    assert [content["role"] for content in last] == ["user", "model", "user", "model", "user"]
    assert last[1]["parts"][0]["thoughtSignature"] == SIGNATURE
    assert [part["functionResponse"]["id"] for part in last[2]["parts"]] == ["a", "b"]
    assert "id" not in last[4]["parts"][0]["functionResponse"]  # it was given none


def test_a_turn_in_words_is_followed_by_what_to_do_next() -> None:
    spoken, silent = Exchange(said(text("All is well."))), Exchange(said())
    with serving(answer(call(REPORT, signature=SIGNATURE)), answer(text("x"))) as server:
        ask(server, request(spoken, forced=REPORT, tools=TOOLS[1:]))
        ask(server, request(silent))
    assert server.sent[0].contents[1:] == [
        {"role": "model", "parts": [{"text": "All is well."}]},
        {"role": "user", "parts": [{"text": "Now call update_report."}]},
    ]
    assert server.sent[1].contents[1:] == [{"role": "user", "parts": [{"text": "Go on."}]}]


def test_a_turn_of_another_model_is_told_in_words() -> None:
    results = (
        CallResult("c1", ESTIMATE, "Queued."),
        CallResult("c2", REPORT, "is missing", is_error=True),
    )
    foreign = Exchange(b'{"calls":[{"id":"c1","tool":"update_task_estimate"}]}', results)
    with serving(answer(text("Done."))) as server:
        ask(server, request(foreign, Exchange(b"\xff not JSON")))
    first, second = server.sent[0].contents[1:]
    assert first["parts"][0]["text"].splitlines()[1:] == [
        "- update_task_estimate: Queued.",
        "- update_report: refused: is missing",
    ]
    assert "without calling" in second["parts"][0]["text"]


def test_a_call_that_nobody_answered_is_answered_as_not_carried_out() -> None:
    parts = [call(ESTIMATE, call_id="a", signature=SIGNATURE), call(REPORT, call_id="b")]
    known = (CallResult("a", ESTIMATE, "Queued."),)
    with serving(answer(text("Done."))) as server:
        ask(server, request(Exchange(said(*parts), known)))
    responses = [part["functionResponse"] for part in server.sent[0].contents[2]["parts"]]
    assert responses[1]["response"] == {"error": "this call was not carried out"}


def test_the_environment_of_the_sdk_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "another")
    monkeypatch.setenv("GEMINI_API_KEY", "a third")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v7")
    with serving(*[answer(text("x"))] * 2) as server:
        assert ask(server).text == "x"
        ask(server, base_url=f"{server.url}/v1beta/")  # it may have a path and name the version
    assert [one.headers["x-goog-api-key"] for one in server.sent] == [KEY] * 2
    assert server.sent[1].path == PATH


# --------------------------------------------------------------------------- what comes back


def test_a_reply_is_the_bytes_as_sent_and_what_they_mean() -> None:
    sent = answer(
        thought("hidden"),
        text("One. "),
        call(ESTIMATE, {"minutes": 60, "because": "größer"}, call_id="fc-1", signature=SIGNATURE),
        text("Two."),
        call(REPORT),
        tokens=(1000, 50, 300),
    )
    with serving(sent) as server:
        reply = ask(server)
    assert reply.raw == sent.body
    assert reply.text == "One. Two."
    assert reply.calls == (
        Call("fc-1", ESTIMATE, '{"minutes": 60, "because": "größer"}'),
        Call("c2", REPORT, "{}"),
    )
    assert reply.usage == Usage(1000, 50, 300, 0)


def test_fields_nobody_knows_are_kept_in_the_bytes_and_do_no_harm() -> None:
    """The SDK's own types would refuse them. Whatever the charset is called, JSON is UTF-8."""
    fields = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "ä", "newThing": 1}]},
                "finishReason": "STOP",
                "newField": 2,
            }
        ],
        "usageMetadata": {"promptTokenCount": "5", "newCount": 3},
        "serviceTier": "new",
    }
    body = json.dumps(fields, ensure_ascii=False).encode()
    with serving(Answer(body, content_type="application/json; charset=latin-1")) as server:
        reply = ask(server)
    assert (reply.raw, reply.text, reply.usage) == (body, "ä", Usage(5, 0, 0, 0))


def test_counts_that_are_left_out_beside_the_prompts_are_zero_but_in_older_formats() -> None:
    candidate = {"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}
    assert decoding.parse(document(candidates=[candidate]).body, "gemini.4").usage == Usage()
    sent = answer(text("x"), tokens=(100, 20)).body
    for newer in ("gemini.3", "gemini.4"):
        assert decoding.parse(sent, newer).usage == Usage(100, 20, 0, 0)
    for older in ("", "gemini.2"):
        assert decoding.parse(sent, older).usage == Usage(100, 20)
        assert decoding.parse(sent, older).reply_format == older


def test_recorded_bytes_are_read_without_the_sdk_as_they_were_when_they_came() -> None:
    sent = answer(text("x"), call(ESTIMATE, {"minutes": 5}, signature=SIGNATURE))
    with serving(sent) as server:
        assert decoding.parse(sent.body, "gemini.4") == ask(server)
    for other in (b'{"calls":[],"text":"x"}', b"\xff", answer(finish="SAFETY").body):
        with pytest.raises(Refused, match="a recorded answer of Gemini"):
            decoding.parse(other, "gemini.4")


# ------------------------------------------------------------------------ calls nobody can read


def test_a_call_that_cannot_be_read_is_asked_for_again_and_its_tokens_count() -> None:
    broken = answer(finish="MALFORMED_FUNCTION_CALL", tokens=(100,), finishMessage="print(x")
    fine = answer(call(ESTIMATE, {"minutes": 5}, signature=SIGNATURE), tokens=(110, 20))
    with serving(broken, broken, fine) as server:
        reply = ask(server, sleeps=(sleeps := Sleeps()))
    assert reply.raw == fine.body
    assert reply.usage == Usage(310, 20, 0, 0)
    assert sleeps.seconds == []
    assert [sent.calling["mode"] for sent in server.sent] == ["VALIDATED", "ANY", "ANY"]
    hints = [sent.contents[1:] for sent in server.sent]
    assert hints == [[], *([{"role": "user", "parts": [{"text": hint}]}] for hint in NUDGES)]


def test_after_two_hints_the_wake_fails() -> None:
    with serving(*[answer(finish="UNEXPECTED_TOOL_CALL", tokens=(100, 3))] * 3) as server:
        found = fault(server)
    assert (found.code, found.of_provider) == ("malformed_call", False)
    assert "309 tokens" in str(found)


# ------------------------------------------------------------------------------ empty answers


@pytest.mark.parametrize("parts", [(), (text(""),), (thought("I say nothing."),)])
def test_an_empty_stop_is_asked_again_once_and_then_is_an_empty_reply(
    parts: tuple[dict[str, Any], ...],
) -> None:
    empty = answer(*parts, tokens=(100, 0))
    with serving(empty, empty) as server:
        reply = ask(server)
    assert (reply.raw, reply.text, reply.calls) == (empty.body, "", ())
    assert reply.usage == Usage(200, 0, 0, 0)


# ---------------------------------------------------------------- what goes wrong with Gemini alone


@pytest.mark.parametrize("name", ["gemini:../../etc", "gemini:a/../b"])
def test_a_name_that_the_client_refuses_is_a_bad_request(name: str) -> None:
    with serving() as server:
        found = fault(server, name=name)
    assert (found.code, found.of_provider) == ("bad_request", False)


def test_every_finish_reason_of_the_sdk_is_in_the_table() -> None:
    from google.genai.types import FinishReason

    assert {reason.value for reason in FinishReason} <= set(FINISH)


@pytest.mark.slow
@pytest.mark.parametrize("reason", FINISH)
def test_only_a_good_reason_or_none_is_an_answer(reason: str) -> None:
    said = answer(text("x"), call("update_report"), finish=reason)
    with serving(*[said] * 4) as server:
        if FINISH[reason] == "ok" or not reason:
            assert ask(server).text == "x"
            return
        found = fault(server)
    assert not found.of_provider
    asked = {"retry": 4, "nudge": 3}.get(FINISH[reason], 1)
    assert len(server.sent) == asked


# ------------------------------------------------------------------------------- the streaming call


HOUR = answer(text("It takes an hour – and größere Mühe, \U0001f527 too.\nThen it is done."))
PROPOSED = call("update_task_estimate", {"minutes": 60.0}, call_id="e1", signature=SIGNATURE)


@pytest.mark.parametrize(
    "said",
    [
        HOUR,
        answer(text("Ä")),
        answer(thought("Let me see what there is."), text("An hour, I think.")),
        answer(text("I propose it."), PROPOSED, call("update_report", {"a": {"b": [1, None]}})),
        answer(PROPOSED, text("That is what I propose.")),
        answer(call("update_report", signature=SIGNATURE)),
        answer({**call("update_report"), "newField": {"a_b": 1}}, text("Done with it all.")),
        answer(text("Fine, and said."), avgLogprobs=-0.25, finishMessage="All is said."),
        answer(text("Nobody told how many tokens."), tokens=(7,)),
    ],
)
def test_what_is_recorded_is_what_the_whole_answer_would_be(said: Answer) -> None:
    with serving(said, said) as server:
        whole = ask(server)
        streamed = ask_aloud(server, heard := Heard())
    assert streamed == whole
    assert streamed.raw == said.body
    assert heard.text == whole.text
    assert heard.void == []
    plain, aloud = server.sent
    assert (aloud.path, aloud.body) == (STREAM_PATH, plain.body)
    assert aloud.headers["x-goog-api-key"] == KEY


def test_a_signature_never_moves_to_other_words() -> None:
    """Gemini signs a streamed text in a last piece without words; it is kept, and sent back."""
    signed = {**text("An hour, I think."), "thoughtSignature": SIGNATURE}
    with serving(*[answer(signed)] * 2) as server:
        whole = ask(server)
        streamed = ask_aloud(server, Heard())
    assert (streamed.text, streamed.usage) == (whole.text, whole.usage)
    assert json.loads(streamed.raw)["candidates"][0]["content"]["parts"] == [
        {"text": "An hour, I think."},
        {"text": "", "thoughtSignature": SIGNATURE},
    ]


def test_a_call_that_cannot_be_read_is_asked_for_with_a_hint() -> None:
    malformed = answer(text("I call it now."), finish="MALFORMED_FUNCTION_CALL")
    with serving(malformed, answer(PROPOSED)) as server:
        streamed = ask_aloud(server, heard := Heard())
    assert heard.void == ["I call it now."]
    assert heard.text == ""
    assert streamed.usage.tokens_in == 200
    assert "could not be read" in server.sent[1].contents[-1]["parts"][0]["text"]


def test_an_error_that_is_not_asked_again_ends_it_after_the_first_words() -> None:
    refused = json.dumps({"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}})
    broken = HOUR._replace(breaks_after=1, then=refused.encode())
    with serving(broken) as server, pytest.raises(ModelFault, match="refused: 400 INVALID"):
        ask_aloud(server, heard := Heard())
    assert heard.text == "It take"


# ------------------------------------------------------------------------------------------ the key


def test_the_entry_of_a_named_endpoint_is_its_own_in_the_keyring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = {("wakelog", "openai:fast"): f"f{KEY}", ("wakelog", "openai"): f"o{KEY}"}
    _keyring(monkeypatch, lambda service, user: entries.get((service, user)))
    url = 'base_url = "https://{}.example/v1"\nkey = "keyring"\n'
    text = f'[openai]\n{url.format("a")}[models.fast]\n{url.format("b")}model = "m"\n'
    settings = parse(f'{text}[models.gemini]\n{url.format("c")}model = "m"\n')
    for name, key in (("openai:fast", f"f{KEY}"), ("openai:m", f"o{KEY}")):
        assert endpoint_key(endpoint_of(name, settings), {}) == key
    with pytest.raises(Refused, match="keyring set wakelog openai:gemini"):
        endpoint_key(endpoint_of("openai:gemini", settings), {})


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("", "missing_key"),
        *((one, "invalid_value") for one in ("two words", "line\nbreak", "schlüssel", "x" * 600)),
    ],
)
def test_what_can_be_no_key_is_refused_unrepeated(key: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        api_keys.gemini_key({"GEMINI_API_KEY": key})
    assert refused.value.code == code
    assert not key or key not in str(refused.value)


def test_the_keyring_is_asked_where_the_environment_has_no_key_and_opened_or_holds_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def locked(service: str, user: str) -> str:
        raise importlib.import_module("keyring.errors").KeyringError("locked")

    _keyring(monkeypatch, lambda service, user: {("wakelog", "gemini"): KEY}.get((service, user)))
    assert api_keys.gemini_key({"GEMINI_API_KEY": ""}) == KEY
    _keyring(monkeypatch, locked)
    with pytest.raises(Refused, match="GEMINI_API_KEY is not set"):
        api_keys.gemini_key({})


def _keyring(monkeypatch: pytest.MonkeyPatch, get_password: Any) -> None:
    """A keyring in place of the person's; the package itself is optional."""
    package, errors = types.ModuleType("keyring"), types.ModuleType("keyring.errors")
    vars(package)["get_password"] = get_password
    vars(errors)["KeyringError"] = type("KeyringError", (Exception,), {})
    monkeypatch.setitem(sys.modules, "keyring", package)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)


def test_the_sdk_is_loaded_when_gemini_is_asked_and_not_before() -> None:
    """It takes most of a second, and who uses another model does not pay for it."""
    code = (
        "import sys; from adapters.models.gemini.model import GeminiModel; import adapters.wiring;"
        "GeminiModel('gemini', 'k'); assert not {'google.genai', 'httpx2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
