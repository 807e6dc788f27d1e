"""What holds for every model that is asked over the wire, whichever protocol it speaks.

Each case of what goes wrong runs twice, whole and streamed, and one of each kind of end as a whole
wake, too, in a home whose every byte is then searched for the key.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from adapters.models import faults, retry_loop
from domain.ports import CallResult, Exchange, Usage
from tests.support.asking import Heard, Sleeps, places_of_key, request
from tests.support.cli import proved, run, told, waits
from tests.support.consents import agreed
from tests.support.families import (
    EACH_CASE,
    ESTIMATE,
    FAMILIES,
    REPORT,
    Call,
    Family,
    Told,
    ask,
    consent,
    fault,
    home_of,
    woken,
)
from tests.support.fault_cases import BACKOFF, DROPPED, GEMINI, OPENAI, Case
from tests.support.homes import Homes
from tests.support.scripted_server import Answer, page
from tests.support.waking import agent, at, inbox

pytestmark = pytest.mark.slow

FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=str)
BOTH = pytest.mark.parametrize("is_aloud", [False, True], ids=["whole", "streamed"])
EACH = pytest.mark.parametrize(
    ("family", "case"), EACH_CASE, ids=[f"{family}, {case.name}" for family, case in EACH_CASE]
)
EACH_END = list({(family, case.code): (family, case) for family, case in EACH_CASE[::-1]}.values())
LONG = "It takes an hour – and größere Mühe, \U0001f527 too.\nThen it is done."


# -------------------------------------------------------------------------------- what goes wrong


def test_both_families_know_the_same_kinds_of_faults() -> None:
    """Signatures are Google's alone; the rest of what differs is said by servers people run."""
    of_gemini, of_openai = ({case.name for case in cases} for cases in (GEMINI, OPENAI))
    assert len(of_gemini) == 36
    assert of_gemini - of_openai == {"no signature"}
    assert len(of_openai) > len(of_gemini)


@BOTH
@EACH
def test_it_ends_in_its_fault(family: Family, case: Case, is_aloud: bool) -> None:
    with family.serving(*case.script) as server:
        found = fault(family, server, sleep=(sleeps := Sleeps()), is_aloud=is_aloud)
    assert (found.code, found.of_provider) == (case.code, case.of_provider), str(found)
    assert found.retry_seconds == case.retry_seconds
    assert tuple(sleeps.seconds) == case.slept
    assert len(server.sent) == len(case.script)
    assert str(found).isprintable()
    assert len(str(found)) < 600


@pytest.mark.parametrize(
    ("family", "case"), EACH_END, ids=[f"{family}, {case.name}" for family, case in EACH_END]
)
def test_a_wake_defers_or_fails_and_its_home_never_holds_the_key(
    family: Family, case: Case, homes: Homes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with family.serving(*case.script) as server:
        home = agreed(homes.copy(agent, tmp_path / "home"), consent(family, server))
        shown = woken(family, home, server)
    if case.of_provider:
        assert (shown["outcome"], shown["waits_for"]) == (None, "provider")
    else:
        assert (shown["outcome"], shown["error_code"]) == ("failed", case.code)
    assert proved(home)
    assert places_of_key(home, family.key) == []
    assert family.key not in caplog.text


@FAMILY
def test_the_search_for_the_key_finds_it(family: Family, tmp_path: Path) -> None:
    home = tmp_path / "home"
    agent(home, note=f"My key is {family.key}.")
    assert places_of_key(home, family.key)


# ------------------------------------------------------------------------------------- what passes


@pytest.mark.parametrize("trouble", [DROPPED, page(), page(502)], ids=["dropped", "page", "502"])
@FAMILY
def test_what_passes_is_asked_again_as_it_was(family: Family, trouble: Answer) -> None:
    once_more = family.answer("x", finish=family.again)
    fine = family.answer("Fine.")
    with family.serving(trouble, once_more, fine) as server:
        reply = ask(family, server, sleep=(sleeps := Sleeps()))
    assert (reply.text, reply.raw) == ("Fine.", fine.body)
    assert sleeps.seconds == [1.0, 2.0]
    first, *others = [sent.body for sent in server.sent]
    assert others == [first, first]


@FAMILY
def test_tries_hints_and_empty_answers_are_counted_apart_and_all_bounded(family: Family) -> None:
    """The longest possible reply: whatever comes, it ends."""
    (malformed, *_) = next(one.script for one in family.cases if one.name == "malformed")
    empty = family.answer()
    script = (page(502), malformed, DROPPED, empty, page(), malformed, empty)
    with family.serving(*script) as server:
        reply = ask(family, server)
    assert (reply.text, len(server.sent)) == ("", 7)
    assert [family.demands(sent) for sent in server.sent] == [False, False, *[True] * 5]


@FAMILY
def test_no_server_at_all_is_the_providers_fault(family: Family) -> None:
    with family.serving() as server:
        pass
    found = fault(family, server)
    assert (found.code, found.of_provider) == ("unavailable", True)
    assert "127.0.0.1" in str(found)


@FAMILY
def test_a_wrong_key_is_told_as_such(family: Family) -> None:
    with family.serving(family.answer("Fine.")) as server:
        found = fault(family, server, api_key="AIzaWrong-and-long")
    assert (found.code, found.of_provider) == ("bad_key", False)
    assert "AIzaWrong" not in str(found)


@BOTH
@FAMILY
def test_a_reply_that_repeats_the_key_is_recorded_without_it(
    family: Family, is_aloud: bool
) -> None:
    with family.serving(family.answer(f"x{family.key}, isn't it?")) as server:
        reply = ask(family, server, is_aloud=is_aloud)
    assert reply.text == "x[key], isn't it?"
    assert family.key.encode() not in reply.raw


@FAMILY
def test_no_more_is_read_of_an_answer_than_the_bound(family: Family) -> None:
    """The server breaks off behind it: who read on would see that."""
    long = Answer(b"x" * (faults.SENT_MAX_BYTES + 1024), cut_bytes=10**12)
    with family.serving(long) as server:
        found = fault(family, server)
    assert (found.code, str(found)) == ("malformed", "the reply has more than 4194304 bytes")


# ------------------------------------------------------------------------------------------- time


@FAMILY
def test_a_slow_try_is_given_up_and_made_again(family: Family) -> None:
    fine = family.answer("Fine.")
    with family.serving(fine._replace(seconds=30), fine) as server:
        assert ask(family, server, timeout_seconds=1).text == "Fine."
    assert len(server.sent) == 2


@BOTH
@FAMILY
def test_a_try_is_bounded_as_a_whole_even_where_bytes_keep_coming(
    family: Family, is_aloud: bool
) -> None:
    slow = family.answer(LONG)._replace(drip_seconds=0.1)
    with family.serving(*[slow] * 4) as server:
        found = fault(family, server, timeout_seconds=0.3, is_aloud=is_aloud)
    assert (found.code, found.of_provider) == ("timeout", True)
    assert len(server.sent) == retry_loop.TRIES_MAX


@FAMILY
def test_all_tries_together_end_within_the_patience_of_a_reply(family: Family) -> None:
    slow = family.answer("Fine.")._replace(seconds=0.2, status=500)
    with family.serving(*[slow] * 4) as server:
        found = fault(family, server, patience_seconds=0.3)
    assert (found.code, found.of_provider) == ("timeout", True)
    assert len(server.sent) < retry_loop.TRIES_MAX


@FAMILY
def test_a_reply_after_the_deadline_leaves_nothing_behind(family: Family) -> None:
    """Whoever waits gives up; the connection is closed before that returns, the late bytes go
    nowhere, and the same model answers the next request with its own answer."""

    async def late_and_next() -> str:
        asked = family.model(server)
        waiting = asyncio.ensure_future(asked.reply(request()))
        while not server.sent:  # noqa: ASYNC110  given up sooner, nobody waits for the late answer
            await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(waiting, 0.3)
        assert len(asyncio.all_tasks()) == 1
        server.closing.set()  # now the late answer is sent
        await asyncio.sleep(0.1)
        return (await asked.reply(request())).text

    late = family.answer("Late.")._replace(seconds=30)
    with family.serving(late, family.answer("Fine.")) as server:
        assert asyncio.run(late_and_next()) == "Fine."


@FAMILY
def test_cancelling_while_it_waits_for_the_next_try_ends_it(family: Family) -> None:
    async def cancelled() -> None:
        waits = asyncio.Event()

        async def long(seconds: float) -> None:
            waits.set()
            await asyncio.sleep(seconds * 3_600)

        task = asyncio.create_task(family.model(server, sleep=long).reply(request()))
        await waits.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    with family.serving(page(502)) as server:
        asyncio.run(cancelled())


@FAMILY
def test_one_model_answers_in_many_loops_and_many_wakes_at_once(family: Family) -> None:
    async def many(asked: retry_loop.RetryingModel[Any]) -> list[str]:
        replies = await asyncio.gather(*(asked.reply(request()) for _ in range(8)))
        return [reply.text for reply in replies]

    with family.serving(*[family.answer("x")] * 16) as server:
        one = family.model(server)
        assert [asyncio.run(many(one)) for _ in range(2)] == [["x"] * 8] * 2


# ----------------------------------------------------------------------------------------- answers


@FAMILY
def test_whole_or_streamed_the_reply_is_the_same_and_its_words_are_heard(family: Family) -> None:
    says = [
        family.answer(LONG),
        family.answer("I propose it.", ESTIMATE, REPORT, tokens=(1000, 50, 300)),
        family.answer("", REPORT),
        family.answer("Ä"),
    ]
    with family.serving(*says) as server:
        wholes = [ask(family, server) for _ in says]
    with family.serving(*says) as server:
        model = family.model(server)
        for said, whole in zip(says, wholes, strict=True):
            streamed = asyncio.run(model.reply_aloud(request(), heard := Heard()))
            assert streamed == whole
            assert streamed.raw == said.body
            assert (heard.text, heard.void) == (whole.text, [])
            assert len(heard.pieces) > 5 or whole.text != LONG
    assert wholes[1].usage == Usage(1000, 50, 300, wholes[1].usage.tokens_cached)
    assert [(one.call_id, one.tool) for one in wholes[1].calls] == [
        ("e1", "update_task_estimate"),
        ("r1", "update_report"),
    ]


@pytest.mark.parametrize("then", [b"", b'{"error": {"message": "Busy.", "code": 503}}', b"[]"],
                         ids=["cut", "an error", "no piece"])  # fmt: skip
@FAMILY
def test_what_broke_off_is_said_to_be_void_and_asked_again(family: Family, then: bytes) -> None:
    whole = family.answer(LONG)
    with family.serving(whole._replace(breaks_after=3, then=then), whole) as server:
        model = family.model(server, sleep=(sleeps := Sleeps()))
        streamed = asyncio.run(model.reply_aloud(request(), heard := Heard()))
    assert streamed.raw == whole.body
    assert heard.text == LONG
    assert [LONG.startswith(one) and bool(one) for one in heard.void] == [True]
    assert tuple(sleeps.seconds) == BACKOFF[:1]


@FAMILY
def test_an_endpoint_that_does_not_stream_is_understood(family: Family) -> None:
    with family.serving(family.answer("Fine.")._replace(is_whole=True)) as server:
        assert ask(family, server, is_aloud=True).text == "Fine."


@FAMILY
def test_a_turn_in_words_is_followed_by_what_to_do_next(family: Family) -> None:
    spoken, silent = family.answer("All is well.").body, family.answer().body
    foreign = Exchange(b'{"calls":[]}', (CallResult("c1", "update_report", "Queued."),))
    with family.serving(*[family.answer("", REPORT)] * 3) as server:
        ask(family, server, request(Exchange(spoken), forced="update_report"))
        ask(family, server, request(Exchange(silent)))
        ask(family, server, request(foreign))
    roles = [[one.role for one in family.told(sent)] for sent in server.sent]
    assert roles[0] == ["user", "model", "user"]
    assert set(roles[1]) == set(roles[2]) == {"user"}
    assert "Now call update_report." in str(server.sent[0].body)
    assert "another model called" in str(server.sent[2].body)


# ------------------------------------------------------------------------------------------- wakes


@FAMILY
def test_five_turns_with_two_parallel_calls_and_a_report_end_in_a_proposal(
    family: Family, tmp_path: Path
) -> None:
    language = Call("set_task_language", {"languageCode": "en", "confidence": "high"}, "l1")
    noted = Call("record_observations", {"observations": ["Turn two."]}, "o1")
    script = [
        family.answer("", ESTIMATE, language, tokens=(1000, 20, 300)),
        family.answer("", noted, tokens=(1100, 10, 0)),
        family.answer("", Call("no_such_tool", {"x": 1}, "n1"), noted._replace(call_id="o2")),
        family.answer("I write it down.", REPORT),
        family.answer("All is said."),
    ]
    with family.serving(*script) as server:
        home = home_of(tmp_path, consent(family, server))
        asked = ["--model", family.named(server), "wake", "Fix the sink"]
        shown = told(asked, home, env=family.variables(server))
    assert (shown["outcome"], shown["turns"]) == ("completed", 5)
    assert shown["model"].startswith(f"{family.name}:")
    assert shown["report"]["one_liner"] == "On track"
    (item,) = inbox(home)
    assert (item["tool"], item["arguments"]) == ("update_task_estimate", {"minutes": 60})
    assert family.told(server.sent[4]) == [
        Told("user"),
        *(Told(role, ids) for ids in (("e1", "l1"), ("o1",), ("n1", "o2"), ("r1",))
          for role in ("model", "tool")),
    ]  # fmt: skip
    assert "no_such_tool" in str(server.sent[4].body)
    usage = told(["show", shown["run_key"]], home)["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (2400, 90)
    assert proved(home)
    assert places_of_key(home, family.key) == []


@FAMILY
def test_a_first_wake_without_a_report_is_asked_for_one(family: Family, tmp_path: Path) -> None:
    with family.serving(family.answer("Nothing to do."), family.answer("", REPORT)) as server:
        home = home_of(tmp_path, consent(family, server))
        (shown,) = told(["--model", family.named(server), "wake"], home,
                        env=family.variables(server))  # fmt: skip
    assert (shown["outcome"], shown["turns"]) == ("completed", 2)
    assert [family.demands(sent) for sent in server.sent] == [False, True]
    assert "record_observations" in str(server.sent[0].body["tools"])
    assert "record_observations" not in str(server.sent[1].body["tools"])
    assert proved(home)


@pytest.mark.parametrize(
    ("kind", "until"),
    [("503, Retry-After", "2027-01-01T09:02:00"), ("429, daily", "2027-01-01T10:00:00")],
)
@FAMILY
def test_a_long_delay_defers_the_wake_and_it_goes_on_under_its_run_key(
    family: Family, kind: str, until: str, tmp_path: Path
) -> None:
    (wait,) = next(one.script for one in family.cases if one.name == kind)
    script = [family.answer("", ESTIMATE), wait, family.answer("", REPORT), family.answer("Done.")]
    with family.serving(*script) as server:
        home = home_of(tmp_path, consent(family, server))
        environ, asked = family.variables(server), ["--model", family.named(server), "wake"]
        (first,) = waits(asked, home, env=environ)
        assert (first["outcome"], first["waits_for"], first["turns"]) == (None, "provider", 1)
        assert first["waits_until"].startswith(until)
        assert waits(asked, home, env=environ) == []
        (shown,) = told(["wake"], home, env={**environ, **at("2027-01-01T10:01:00Z")})
    assert (shown["run_key"], shown["outcome"]) == (first["run_key"], "completed")
    assert server.sent[2].body == server.sent[1].body
    assert told(["agent", "list"], home)[0]["failures"] == 0
    assert proved(home)
    assert places_of_key(home, family.key) == []


@FAMILY
def test_a_refused_key_fails_the_wake_and_says_so_without_it(
    family: Family, tmp_path: Path
) -> None:
    (leaky,) = next(one.script for one in family.cases if one.name.startswith("401"))
    with family.serving(leaky) as server:
        home = home_of(tmp_path, consent(family, server))
        asked = ["--model", family.named(server), "wake", "Fix the sink"]
        result = run(asked, home, env=family.variables(server))
    assert result.exit_code == 1
    assert "failed (bad_key)" in result.stdout
    assert "[key]" in result.stdout
    assert family.key not in result.output
    assert places_of_key(home, family.key) == []
