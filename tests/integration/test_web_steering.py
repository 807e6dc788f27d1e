"""Timers and subscriptions on an agent's page, and its activity by kind; without JavaScript."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, told
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


@pytest.mark.parametrize(
    ("schedule", "zone"),
    [
        ("now and then", ""),
        ("once 2020-01-01 07:00", ""),
        ("every day 07:00", "Mars"),
        ("", ""),
    ],
)
def test_a_timer_that_makes_no_sense_is_told(home: Path, schedule: str, zone: str) -> None:
    url = f"/agents/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/timer")
        answer = visitor.send(form, schedule=schedule, zone=zone)
        assert answer.status_code == 422
        assert "[invalid_value]" in text_of(answer.text)
        assert visitor.send(form, csrf="0" * 32, schedule=schedule).status_code == 403
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
