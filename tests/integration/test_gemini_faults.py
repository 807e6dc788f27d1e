"""What can go wrong between wakelog and Gemini, and how each of it ends.

Each case runs twice: the model alone, and a whole wake in a home whose every byte is then searched
for the key.
"""

import asyncio
import logging
from pathlib import Path
from typing import NamedTuple

import pytest

from adapters.models import rounds
from adapters.models.gemini_reply import FINISH
from domain.ports import ModelFault
from tests.support.cli import proved
from tests.support.consents import agreed
from tests.support.gemini import Sleeps, ask, fault, model, places_of_key, request, wake
from tests.support.gemini_server import (
    KEY,
    answer,
    call,
    document,
    error,
    limited,
    quota,
    retry_info,
    serving,
    text,
)
from tests.support.scripted_server import Answer, page
from tests.support.waking import agent

UNAVAILABLE = error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
INTERNAL = error(500, "INTERNAL", "An internal error has occurred.")
DROPPED = Answer(is_dropped=True)
DAILY = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
LEAKY = error(401, "UNAUTHENTICATED", f"The key {KEY} is revoked.")
FINE = answer(text("Fine."))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's proxy, if there is one, is not asked for what runs here."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Case(NamedTuple):
    """Answers, and the fault they end in: code, whether it is the provider's, and its delay."""

    name: str
    script: tuple[Answer, ...]
    code: str
    of_provider: bool
    retry_seconds: int | None = None
    slept: tuple[float, ...] = ()


BACKOFF = (1.0, 2.0, 4.0)
CASES = (
    Case("400", (error(400, "INVALID_ARGUMENT", "Bad schema."),), "bad_request", False),
    Case("400 in words", (Answer(b"Bad Request", 400, "text/plain"),), "bad_request", False),
    Case("401 that repeats the key", (LEAKY,), "bad_key", False),
    Case("403", (error(403, "PERMISSION_DENIED", "Not yours."),), "bad_key", False),
    Case("404", (error(404, "NOT_FOUND", "No such model."),), "unknown_model", False),
    Case("413", (page(413, "Too large"),), "bad_request", False),
    Case("302", (Answer(status=302, headers=(("location", "/x"),)),), "bad_reply", True),
    Case("204", (Answer(status=204),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("500", (INTERNAL,) * 4, "unavailable", True, slept=BACKOFF),
    Case("503", (UNAVAILABLE,) * 4, "unavailable", True, slept=BACKOFF),
    Case("502 as a page", (page(502, "Bad Gateway"),) * 4, "unavailable", True, slept=BACKOFF),
    Case("500 in latin-1", (Answer(b"\xe4", 500),) * 4, "unavailable", True, slept=BACKOFF),
    Case("a page with 200", (page(),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("no JSON", (Answer(b'{"candidates": ['),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("broken UTF-8", (Answer(b'{"a": "\xc3\x28"}'),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("too deep", (Answer(b"[" * 100_000),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("no object", (Answer(b"[]"),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("another form", (document(candidates="x"),) * 4, "bad_reply", False, slept=BACKOFF),
    Case("an empty body", (Answer(),) * 4, "bad_reply", True, slept=BACKOFF),
    Case("dropped", (DROPPED,) * 4, "unavailable", True, slept=BACKOFF),
    Case("cut off", (FINE._replace(cut_bytes=9),) * 4, "unavailable", True, slept=BACKOFF),
    Case("429 without a delay", (limited(),) * 4, "rate_limited", True, slept=BACKOFF),
    Case("429, 17.2 s", (limited(retry_info("17.2s")),), "rate_limited", True, 18),
    Case("429, 9.5 s", (limited(retry_info("9.5s")),) * 4, "rate_limited", True, 10, (9.5,) * 3),
    Case("429, daily", (limited(DAILY, retry_info("2s")),), "rate_limited", True, 3_600),
    Case("429, long daily", (limited(DAILY, retry_info("7200s")),), "rate_limited", True, 7_200),
    Case(
        "503, Retry-After",
        (UNAVAILABLE._replace(headers=(("Retry-After", "120"),)),),
        "unavailable",
        True,
        120,
    ),
    Case("blocked prompt", (document(promptFeedback={"blockReason": "SAFETY"}),), "blocked", False),
    Case("blocked answer", (answer(finish="SAFETY"),), "blocked", False),
    Case("cut answer", (answer(text("It is"), finish="MAX_TOKENS"),), "max_tokens", False),
    Case("new reason", (answer(text("x"), finish="BORED"),), "unknown_finish", False),
    Case("no signature", (answer(finish="MISSING_THOUGHT_SIGNATURE"),), "bad_reply", False),
    Case("OTHER", (answer(finish="OTHER"),) * 4, "bad_reply", False, slept=BACKOFF),
    Case("no candidates", (document(candidates=[]),) * 4, "empty_reply", False, slept=BACKOFF),
    Case("nothing", (document(),) * 4, "empty_reply", False, slept=BACKOFF),
    Case("malformed", (answer(finish="MALFORMED_FUNCTION_CALL"),) * 3, "malformed_call", False),
)
EACH = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@EACH
def test_it_ends_in_its_fault(case: Case) -> None:
    with serving(*case.script) as server:
        found = fault(server, sleeps=(sleeps := Sleeps()))
    assert (found.code, found.of_provider) == (case.code, case.of_provider), str(found)
    assert found.retry_seconds == case.retry_seconds
    assert tuple(sleeps.seconds) == case.slept
    assert len(server.sent) == len(case.script)
    assert str(found).isprintable()
    assert len(str(found)) < 500


@EACH
def test_a_wake_defers_or_fails_and_its_home_never_holds_the_key(
    case: Case, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    home = tmp_path / "home"
    agent(home)
    agreed(home)
    with serving(*case.script) as server:
        page = wake(home, server)
    if case.of_provider:
        assert (page["outcome"], page["waits_for"]) == (None, "provider")
    else:
        assert (page["outcome"], page["error_code"]) == ("failed", case.code)
    assert proved(home)
    assert places_of_key(home) == []
    assert KEY not in caplog.text


def test_the_search_for_the_key_finds_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home, note=f"My key is {KEY}.")
    assert places_of_key(home)


# ------------------------------------------------------------------------------ what passes by


@pytest.mark.parametrize(
    "trouble",
    [INTERNAL, UNAVAILABLE, DROPPED, page(), page(502), limited(), answer(finish="OTHER")],
    ids=["500", "503", "dropped", "page", "502", "429", "OTHER"],
)
def test_what_passes_is_asked_again_as_it_was(trouble: Answer) -> None:
    with serving(trouble, trouble, FINE) as server:
        reply = ask(server, sleeps=(sleeps := Sleeps()))
    assert (reply.text, reply.raw) == ("Fine.", FINE.body)
    assert sleeps.seconds == [1.0, 2.0]
    first, *others = [sent.body for sent in server.sent]
    assert others == [first, first]


def test_a_short_delay_is_waited_for() -> None:
    with serving(limited(retry_info("3s")), FINE) as server:
        assert ask(server, sleeps=(sleeps := Sleeps())).text == "Fine."
    assert sleeps.seconds == [3.0]


def test_tries_hints_and_empty_answers_are_counted_apart_and_all_bounded() -> None:
    """The longest possible reply: whatever comes, it ends."""
    malformed = answer(finish="MALFORMED_FUNCTION_CALL")
    script = (INTERNAL, malformed, DROPPED, answer(), page(), malformed, answer())
    with serving(*script) as server:
        reply = ask(server)
    assert (reply.text, len(server.sent)) == ("", 7)
    assert reply.usage.tokens_in == 400  # of the four answers that told it


def test_no_server_at_all_is_the_providers_fault() -> None:
    with serving() as server:
        pass
    found = fault(server)
    assert (found.code, found.of_provider) == ("unavailable", True)
    assert "127.0.0.1" in str(found)


@pytest.mark.parametrize("name", ["gemini:../../etc", "gemini:a/../b"])
def test_a_name_that_the_client_refuses_is_a_bad_request(name: str) -> None:
    with serving() as server:
        found = fault(server, name=name)
    assert (found.code, found.of_provider) == ("bad_request", False)


def test_a_wrong_key_is_told_as_such() -> None:
    with serving(FINE) as server:
        found = fault(server, api_key="AIzaWrong")
    assert (found.code, found.of_provider) == ("bad_key", False)
    assert "AIzaWrong" not in str(found)


def test_a_reply_that_repeats_the_key_is_recorded_without_it() -> None:
    with serving(answer(text(f"Your key is {KEY}, isn't it?"))) as server:
        reply = ask(server)
    assert reply.text == "Your key is [key], isn't it?"
    assert KEY.encode() not in reply.raw


# ---------------------------------------------------------------------------------------- time


def test_a_slow_answer_in_time_is_an_answer() -> None:
    with serving(FINE._replace(seconds=0.2)) as server:
        assert ask(server).text == "Fine."


def test_a_slow_try_is_given_up_and_made_again() -> None:
    with serving(FINE._replace(seconds=30), FINE) as server:
        assert ask(server, timeout_seconds=0.3).text == "Fine."
    assert len(server.sent) == 2


def test_a_provider_that_hangs_is_the_providers_fault() -> None:
    with serving(*[FINE._replace(seconds=30)] * 4) as server:
        found = fault(server, timeout_seconds=0.4)
    assert (found.code, found.of_provider) == ("timeout", True)
    assert len(server.sent) == rounds.TRIES_MAX


def test_a_try_is_bounded_as_a_whole_even_where_bytes_keep_coming() -> None:
    with serving(*[FINE._replace(drip_seconds=0.05)] * 4) as server:
        found = fault(server, timeout_seconds=0.3)
    assert (found.code, len(server.sent)) == ("timeout", rounds.TRIES_MAX)


def test_all_tries_together_end_within_the_patience_of_a_reply() -> None:
    with serving(*[FINE._replace(seconds=0.2, status=500)] * 4) as server:
        found = fault(server, patience_seconds=0.3)
    assert (found.code, found.of_provider) == ("timeout", True)
    assert len(server.sent) < rounds.TRIES_MAX


def test_a_reply_after_the_deadline_leaves_nothing_behind() -> None:
    """Whoever waits gives up; the connection is closed before that returns, the late bytes go
    nowhere, and the same model answers the next request with its own answer."""

    async def late_and_next() -> str:
        asked = model(server)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asked.reply(request()), 0.3)
        assert len(asyncio.all_tasks()) == 1
        server.closing.set()  # now the late answer is sent
        await asyncio.sleep(0.1)
        return (await asked.reply(request())).text

    with serving(answer(text("Late."))._replace(seconds=30), FINE) as server:
        assert asyncio.run(late_and_next()) == "Fine."


def test_cancelling_while_it_waits_for_the_next_try_ends_it() -> None:
    async def cancelled() -> None:
        waits = asyncio.Event()

        async def long(seconds: float) -> None:
            waits.set()
            await asyncio.sleep(seconds * 3_600)

        task = asyncio.create_task(model(server, sleep=long).reply(request()))
        await waits.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    with serving(INTERNAL) as server:
        asyncio.run(cancelled())


# ---------------------------------------------------------------------------------- the table


def test_every_finish_reason_of_the_sdk_is_in_the_table() -> None:
    from google.genai.types import FinishReason

    assert {reason.value for reason in FinishReason} <= set(FINISH)


@pytest.mark.parametrize("reason", [*FINISH, ""])
def test_only_stop_is_an_answer(reason: str) -> None:
    said = answer(text("x"), call("update_report"), finish=reason)
    with serving(*[said] * 4) as server:
        if reason == "STOP":
            assert ask(server).text == "x"
            return
        found = fault(server)
    assert not found.of_provider
    asked = {"retry": 4, "nudge": 3}.get(FINISH.get(reason, "retry"), 1)
    assert len(server.sent) == asked


def test_faults_are_raised_without_what_caused_them() -> None:
    """A chained exception of the client could hold headers; the fault stands alone."""
    with serving(LEAKY) as server, pytest.raises(ModelFault) as caught:
        ask(server)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
