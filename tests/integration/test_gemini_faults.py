"""What can go wrong with Gemini alone; the rest stands in `test_model_families`."""

import pytest

from adapters.models.gemini.decoding import FINISH
from tests.support.asking import Sleeps
from tests.support.gemini import ask, fault
from tests.support.gemini_server import (
    answer,
    call,
    error,
    limited,
    retry_info,
    serving,
    text,
)
from tests.support.scripted_server import Answer, page

UNAVAILABLE = error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
INTERNAL = error(500, "INTERNAL", "An internal error has occurred.")
DROPPED = Answer(is_dropped=True)
FINE = answer(text("Fine."))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's proxy, if there is one, is not asked for what runs here."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


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


@pytest.mark.parametrize("name", ["gemini:../../etc", "gemini:a/../b"])
def test_a_name_that_the_client_refuses_is_a_bad_request(name: str) -> None:
    with serving() as server:
        found = fault(server, name=name)
    assert (found.code, found.of_provider) == ("bad_request", False)


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
