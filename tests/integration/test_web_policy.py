"""The page of policy, and the card on a page whose agent waits for consent; without JavaScript."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, run, told
from tests.support.gemini_server import KEY
from tests.support.homes import Homes
from tests.support.pages import text_of, visiting
from tests.support.waking import proposing

HAS_KEY: Mapping[str, str] = {"GEMINI_API_KEY": KEY}


def held(home: Path) -> None:
    """An agent whose wake waits for consent: its model answers elsewhere."""
    proposing(home)
    done(["agent", "set", "Fix the sink", "--model", "gemini"], home)
    run(["wake", "Fix the sink"], home, env=HAS_KEY)


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(held, tmp_path)


def standing(home: Path) -> Any:
    return told(["policy", "show"], home)


def test_one_button_agrees_to_the_notice_that_is_shown_and_the_wake_may_go_on(home: Path) -> None:
    (agent,) = told(["agent", "list"], home)
    urls = ("/policy", f"/agents/{agent['id']}", f"/tasks/{agent['task_id']}")
    with visiting(home, env=HAS_KEY) as visitor:
        for url in urls:
            text = text_of(visitor.page(url))
            assert "1 agent waits for your consent" in text
            assert "the agent's own notes" in text.replace("&#39;", "'")
        assert "1 wake waits for your consent or for a key" in text_of(visitor.page("/inbox"))
        form = [visitor.form(url, "/policy/allow", model="gemini:*") for url in urls][-1]
        assert "1 wake that waited may go on" in text_of(visitor.send(form).text)
        visitor.send(form)
        for url in urls:
            assert "waits for your consent" not in text_of(visitor.page(url))
    assert [one["model"] for one in standing(home)["receipts"]] == ["gemini:*"]
    assert standing(home)["waiting"] == []
    proved(home)


def test_a_form_that_told_of_less_than_is_sent_now_is_no_consent(home: Path) -> None:
    with visiting(home) as visitor:
        form = visitor.form("/policy", "/policy/allow", model="gemini:*")
        assert visitor.send(form, notice="0").status_code == 422
        assert visitor.send(form, csrf="0" * 32).status_code == 403
    assert standing(home)["receipts"] == []


def test_a_rule_that_was_changed_elsewhere_is_not_overwritten(home: Path) -> None:
    done(["policy", "models", "Inbox", "rules"], home)
    (ruled,) = standing(home)["rules"]
    with visiting(home) as visitor:
        form = visitor.form("/policy", "/policy/models", category=ruled["category_id"])
        done(["policy", "models", "Inbox", "rules", "gemini:*"], home)
        answer = visitor.send(form, allowed="tape:*")
        assert answer.status_code == 409
        assert "gemini:* rules" in text_of(answer.text)
        form = visitor.form("/policy", "/policy/models", category=ruled["category_id"])
        for _ in range(2):
            assert visitor.send(form, allowed="gemini rules").status_code == 200
    assert standing(home)["rules"][0]["allowed"] == ["gemini:*", "rules"]
