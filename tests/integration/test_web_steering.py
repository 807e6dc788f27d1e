"""Timers and subscriptions on an agent's page, and its activity by kind; without JavaScript."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, run, told
from tests.support.homes import Homes
from tests.support.pages import text_of, visiting
from tests.support.waking import proposing


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(proposing, tmp_path)


def shown(home: Path) -> Any:
    (agent,) = told(["agent", "list"], home)
    return told(["agent", "show", agent["id"]], home)


def test_a_timer_is_set_and_removed(home: Path) -> None:
    url = f"/agents/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/timer")
        for _ in range(2):
            answer = visitor.send(form, schedule="every day 7:00", zone="Europe/Berlin")
            assert answer.status_code == 200
        assert "every day 07:00" in text_of(visitor.page(url))
        (timer,) = shown(home)["timers"]
        assert (timer["schedule"], timer["zone"]) == ("every day 07:00", "Europe/Berlin")
        remove = visitor.form(url, f"{url}/timer", timer=timer["id"])
        visitor.send(remove, verb="remove")
    assert shown(home)["timers"] == []
    proved(home)


def test_a_timer_that_makes_no_sense_is_told(home: Path) -> None:
    url = f"/agents/{shown(home)['id']}"
    cases = (
        ("now and then", ""),
        ("once 2020-01-01 07:00", ""),
        ("every day 07:00", "Mars"),
        ("", ""),
    )
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/timer")
        for schedule, zone in cases:
            answer = visitor.send(form, schedule=schedule, zone=zone)
            assert answer.status_code == 422, schedule
            assert "[invalid_value]" in text_of(answer.text), schedule
        assert visitor.send(form, csrf="0" * 32, schedule="every day 07:00").status_code == 403
    assert shown(home)["timers"] == []


def test_it_hears_of_more_and_of_less(home: Path) -> None:
    done(["task", "add", "Budget"], home)
    url = f"/agents/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/watch")
        assert visitor.send(form).status_code == 422  # nothing is named
        assert visitor.send(form, task="No such task").status_code == 404
        answer = visitor.send(
            form,
            kind="NOTE",
            task="Budget",
            sub="note:transcript",
            status="OPEN",
            hears_agents="yes",
        )
        assert answer.status_code == 200
        added = next(one for one in shown(home)["subscriptions"] if not one["built_in"])
        assert {"key:NOTE", "sub:note:transcript"} < set(added["tokens"])
        assert (added["status"], added["hears_agents"]) == ("OPEN", True)
        remove = visitor.form(url, f"{url}/watch", subscription=added["id"])
        visitor.send(remove, verb="remove")
    assert [one["built_in"] for one in shown(home)["subscriptions"]] == [True]
    proved(home)


# ------------------------------------------------------------------------- sleep, and what waits


def test_an_agent_sleeps_until_a_day_and_is_let_up_again(home: Path) -> None:
    url = f"/agents/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/sleep")
        for wrong, why in (
            ("", "not said until when"),
            ("2026-12-31", "later"),
            ("soon", "no time"),
        ):
            answer = visitor.send(form, verb="sleep", until=wrong, nonce=f"wrong-one-{wrong}")
            assert (answer.status_code, why in text_of(answer.text)) == (422, True), answer.text
            assert not wrong or f'name="until" value="{wrong}"' in answer.text
        for _ in range(2):
            answer = visitor.send(form, verb="sleep", until="2027-02-01")
            assert answer.status_code == 200
        assert "It sleeps until 2027-02-01" in text_of(answer.text)
        assert shown(home)["asleep_until"] == "2027-02-01T00:00:00.000000Z"
        visitor.send(visitor.form(url, f"{url}/sleep"), verb="end")
    assert shown(home)["asleep_until"] is None
    proved(home)


def test_a_queued_wake_is_cancelled_once(home: Path) -> None:
    url = f"/agents/{shown(home)['id']}"
    done(["task", "note", "Fix the sink", "It drips again."], home)
    done(["agent", "pause", shown(home)["id"]], home)
    done(["agent", "resume", shown(home)["id"]], home)  # that queues one
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/cancel")
        for _ in range(2):
            assert visitor.send(form).status_code == 200
        assert f"{url}/cancel" not in visitor.page(url)
        late = visitor.send(form, nonce="another-one")
        assert (late.status_code, "nothing is queued" in text_of(late.text)) == (404, True)
    newest = told(["wakes"], home)[0]
    assert (newest["outcome"], newest["error_code"]) == ("skipped", "cancelled")


def test_open_loops_say_whose_they_are(home: Path) -> None:
    done(["agent", "set", shown(home)["id"], "--loop", "The plumber's invoice"], home)
    with visiting(home) as visitor:
        said = text_of(visitor.page(f"/agents/{shown(home)['id']}"))
    assert "Open loops The plumber&#39;s invoice yours" in said


@pytest.mark.slow  # three tries with their pauses
def test_health_names_who_is_told_nothing_and_why(home: Path) -> None:
    with visiting(home) as visitor:
        assert "Nobody: settings.toml names nobody" in text_of(visitor.page("/health"))
    (home / "settings.toml").write_text('[notify]\ncommand = ["no-such-program-here"]\n')
    with visiting(home) as visitor:
        said = text_of(visitor.page("/health"))
        assert "no-such-program-here is told nothing: not allowed on this machine yet" in said
    done(["notify", "allow"], home)
    done(["task", "note", "Fix the sink", "Need to buy a wrench. Due by 2027-03-01."], home)
    run(["run", "--until-idle"], home)
    with visiting(home) as visitor:
        said = text_of(visitor.page("/health"))
        (one,) = visitor.json("/health")["receivers"]
    assert one["failure"]
    assert "no-such-program-here could not be told" in said
