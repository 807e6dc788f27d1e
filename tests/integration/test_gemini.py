"""The Gemini model over the wire: what it sends, and what it makes of what comes back."""

import json
import logging
from typing import Any

import pytest

from adapters.models.gemini import decoding
from adapters.models.gemini.model import GeminiModel
from adapters.models.wording import NUDGES
from domain.errors import Refused
from domain.ports import Call, CallResult, Exchange, Usage
from domain.tools import registry
from tests.support.asking import TOOLS, Sleeps, request
from tests.support.gemini import NAME, ask, fault
from tests.support.gemini_server import (
    KEY,
    PATH,
    SIGNATURE,
    answer,
    call,
    document,
    serving,
    text,
    thought,
)
from tests.support.scripted_server import Answer

ESTIMATE, REPORT = "update_task_estimate", "update_report"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's proxy, if there is one, is not asked for what runs here."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


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


def test_the_base_url_may_have_a_path_and_name_the_version() -> None:
    with serving(answer(text("x"))) as server:
        ask(server, base_url=f"{server.url}/v1beta/")
    assert server.sent[0].path == PATH


def test_the_environment_of_the_sdk_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "another")
    monkeypatch.setenv("GEMINI_API_KEY", "a third")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v7")
    with serving(answer(text("x"))) as server:
        assert ask(server).text == "x"
    assert server.sent[0].headers["x-goog-api-key"] == KEY


# --------------------------------------------------------------------------- what comes back


def test_a_reply_is_the_bytes_as_sent_and_what_they_mean() -> None:
    sent = answer(
        thought("hidden"),
        text("One. "),
        call(ESTIMATE, {"minutes": 60, "why": "größer"}, call_id="fc-1", signature=SIGNATURE),
        text("Two."),
        call(REPORT),
        tokens=(1000, 50, 300),
    )
    with serving(sent) as server:
        reply = ask(server)
    assert reply.raw == sent.body
    assert reply.text == "One. Two."
    assert reply.calls == (
        Call("fc-1", ESTIMATE, '{"minutes": 60, "why": "größer"}'),
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


def test_usage_that_was_not_told_stays_unknown() -> None:
    candidate = {"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}
    with serving(document(candidates=[candidate])) as server:
        assert ask(server).usage == Usage()


def test_counts_that_are_left_out_beside_the_prompts_are_zero_but_in_older_formats() -> None:
    sent = answer(text("x"), tokens=(100, 20)).body
    assert decoding.parse(sent, "gemini.3").usage == Usage(100, 20, 0, 0)
    for older in ("", "gemini.2"):
        assert decoding.parse(sent, older).usage == Usage(100, 20)
        assert decoding.parse(sent, older).reply_format == older


def test_recorded_bytes_are_read_without_the_sdk_as_they_were_when_they_came() -> None:
    sent = answer(text("x"), call(ESTIMATE, {"minutes": 5}, signature=SIGNATURE))
    with serving(sent) as server:
        assert decoding.parse(sent.body, "gemini.3") == ask(server)
    for other in (b'{"calls":[],"text":"x"}', b"\xff", answer(finish="SAFETY").body):
        with pytest.raises(Refused, match="a recorded answer of Gemini"):
            decoding.parse(other, "gemini.3")


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


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_after_two_hints_the_wake_fails(reason: str) -> None:
    with serving(*[answer(finish=reason, tokens=(100, 3))] * 3) as server:
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


def test_an_answer_after_an_empty_one_is_the_answer() -> None:
    with serving(answer(), answer(text("Here."))) as server:
        assert ask(server).text == "Here."


# ---------------------------------------------------------------------------------- the model


def test_the_name_says_provider_and_model() -> None:
    assert GeminiModel("gemini", KEY).name == NAME
    assert GeminiModel("gemini:gemini-3-flash", KEY).name == "gemini:gemini-3-flash"
    assert KEY not in repr(vars(type(GeminiModel("gemini", KEY))))


def test_no_line_of_any_log_holds_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(answer(text("x")), answer(finish="SAFETY")) as server:
        ask(server)
        fault(server)
    assert caplog.records
    assert KEY not in caplog.text
