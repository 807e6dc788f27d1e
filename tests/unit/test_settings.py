"""Settings: defaults, the file, the environment, and what is said about a slip."""

import os
import re
from pathlib import Path

import pytest

from adapters.home.prices import Price, price_at
from adapters.home.settings import AgentsSettings, BudgetSettings, NamedModel, Settings, load, parse
from adapters.home.settings_toml import DEFAULT_TOML
from domain.errors import Refused


def home_with(path: Path, text: str) -> Path:
    """A home whose settings are these."""
    (path / "settings.toml").write_text(text, encoding="utf-8")
    return path


def refusal(text: str) -> Refused:
    """What is said about a file, which is one line whatever the file holds."""
    with pytest.raises(Refused) as refused:
        parse(text)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 800
    return refused.value


def test_without_a_file_the_defaults_hold_whatever_the_process_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "WAKELOG_MODEL", "gemini")
    monkeypatch.setitem(os.environ, "TZ", "Asia/Tokyo")
    known = {"WAKELOG_HOME": "x", "WAKELOG_REPLICA": "r1", "WAKELOG_NOW": "soon"}
    settings = load(tmp_path, {})
    assert settings == load(tmp_path, {"PATH": "/bin"} | known) == Settings()
    assert (settings.timezone, settings.model) == ("UTC", "rules")
    assert settings.agents == AgentsSettings(True, "hybrid", 3, "06:00", 600, 0)
    assert settings.budget == BudgetSettings(0, 0, 0, 0)
    assert (settings.prompt.max_bytes, settings.gemini.base_url) == (120_000, "")
    assert settings.prices == {}


NAMED = ("prices", "models", "lists", "extensions")  # tables whose keys the person names


def test_a_new_homes_file_says_the_defaults() -> None:
    assert parse(DEFAULT_TOML) == Settings()
    shown = re.sub(r"^# (?=\[|[a-z_]+ = )", "", DEFAULT_TOML, flags=re.MULTILINE)
    told = parse(shown)
    assert told.prices == {"gemini:MODEL": (Price(1_250_000, 10_000_000, 310_000, "2027-01-01"),)}
    assert told.models == {"NAME": NamedModel("https://host/v1", "MODEL")}
    assert told.lists == {"work": "--category Work --not-label someday"}
    known = [name for name in Settings.__struct_fields__ if name not in NAMED]
    assert all(getattr(told, name) == getattr(Settings(), name) for name in known)
    tables = [getattr(Settings(), name) for name in known]
    inner = [name for table in tables[3:] for name in table.__struct_fields__]
    lines = shown.splitlines()
    for name in (*known[:3], *inner):
        assert any(line.startswith(f"{name} = ") for line in lines)


def test_a_file_is_read(tmp_path: Path) -> None:
    text = """\ufefftimezone = "Europe/Berlin"\r
        model = "gemini:gemini-3.1-pro"
        [agents]
        enabled = false
        mode = "interactive"
        propagated_at = "23:59"
        [budget]
        tokens_per_day = 1_000_000
        [prompt]
        max_bytes = 16384
        [gemini]
        base_url = "http://127.0.0.1:8080/v1/"
        """
    settings = load(home_with(tmp_path, text), {})
    assert (settings.timezone, settings.model) == ("Europe/Berlin", "gemini:gemini-3.1-pro")
    assert settings.agents == AgentsSettings(
        enabled=False, mode="interactive", propagated_at="23:59"
    )
    assert settings.budget == BudgetSettings(tokens_per_day=1_000_000)
    assert settings.prompt.max_bytes == 16_384
    assert settings.gemini.base_url == "http://127.0.0.1:8080/v1"


def test_the_environment_wins_over_the_file_and_the_option_over_both(tmp_path: Path) -> None:
    text = 'timezone = "Asia/Tokyo"\nmodel = "tape:a.jsonl"\n[gemini]\nbase_url = "https://a"'
    environ = {
        "WAKELOG_TIMEZONE": "America/New_York",
        "WAKELOG_MODEL": "gemini",
        "WAKELOG_GEMINI_BASE_URL": "https://b/",
    }
    home = home_with(tmp_path, text)
    settings = load(home, environ)
    assert (settings.timezone, settings.model) == ("America/New_York", "gemini")
    assert settings.gemini.base_url == "https://b"
    assert load(home, environ, model="rules").model == "rules"
    assert load(home, dict.fromkeys(environ, "")) == load(home, {})


@pytest.mark.parametrize("model", ["rules", "gemini", "gemini:gemini-3.1-pro", "tape:a b/c.jsonl"])
def test_models_that_may_be_named(tmp_path: Path, model: str) -> None:
    assert load(tmp_path, {}, model).model == model


@pytest.mark.parametrize("model", ["gpt", "Rules", "gemini:", "tape:", "rules ", "gemini:a\nb"])
def test_a_model_that_is_none_names_its_source(tmp_path: Path, model: str) -> None:
    with pytest.raises(Refused, match=r"^--model: .* is no model; use rules, gemini, gemini:MODEL"):
        load(tmp_path, {}, model)
    with pytest.raises(Refused, match=r"^WAKELOG_MODEL: .* is no model"):
        load(tmp_path, {"WAKELOG_MODEL": model})


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("WAKELOG_TIMEZON", "did you mean WAKELOG_TIMEZONE?"),
        ("WAKELOG_GEMINI_URL", "did you mean WAKELOG_GEMINI_BASE_URL?"),
        ("WAKELOG_X", "known are WAKELOG_HOME, WAKELOG_REPLICA, WAKELOG_NOW, WAKELOG_TIMEZONE, "),
    ],
)
def test_an_unknown_variable_is_named(tmp_path: Path, name: str, instead: str) -> None:
    with pytest.raises(Refused) as refused:
        load(tmp_path, {name: "", "WAKELOG_HOME": "/x"})
    assert refused.value.code == "unknown_setting"
    assert str(refused.value).startswith(f"the variable {name} is not known; {instead}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('timezne = "UTC"', "the key timezne is not known; did you mean timezone?"),
        ("[agent]", "the key agent is not known; did you mean agents?"),
        ("[agents]\nparalel = 3", "agents.paralel is not known; did you mean agents.parallel?"),
        ("parallel = 3", "the key parallel is not known; did you mean agents.parallel?"),
        ("[budget]\nmax = 1", "budget.max is not known; known are budget.tokens_per_wake, "),
        ("zzz = 1", "zzz is not known; known are timezone, model, currency, agents, budget, "),
        ("agents.deadline.seconds = 3", "the key agents.deadline is not known"),
        ('[prices.x]\ninput = 1\noutpt = "2"', "prices.x: the key outpt is not known"),
        ('"a\\nb" = 1', "the key a?b is not known"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_one(text: str, told: str) -> None:
    refused = refusal(text)
    assert refused.code == "unknown_setting"
    assert told in str(refused)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = ", "settings.toml is not TOML: Invalid value (at"),
        ("model = 1\nmodel = 2", "is not TOML"),
        ("a = " + "[" * 5_000, "is not TOML"),
        ("timezone = 1", "timezone: expected a text in quotes, got a whole number"),
        ("timezone = ''", "timezone: '' is no time zone"),
        ("timezone = 'Berlin'", "did you mean Europe/Berlin?"),
        ("timezone = 'localtime'", "timezone: 'localtime' is no time zone"),
        (f"model = '{'x' * 9_000}'", "model: 'xxx"),
        ("model = ''", "model: '' is no model"),
        ("agents = 3", "agents: expected a table, got a whole number"),
        ("[[agents]]", "agents: expected a table, got array"),
        ("[agents]\nenabled = 1", "agents.enabled: expected true or false"),
        ("[agents]\nmode = 'x'", "agents.mode: invalid value 'x'; use one of autonomous, "),
        ("[agents]\nfollow_up = 'x'", "agents.follow_up: invalid value 'x'; use one of inherit, "),
        ("[agents]\nparallel = 0", "agents.parallel: expected a whole number >= 1"),
        ("[agents]\nparallel = 65", "agents.parallel: expected a whole number <= 64"),
        ("[agents]\nparallel = true", "expected a whole number, got true or false"),
        ("[agents]\nparallel = 3.0", "expected a whole number, got a fraction"),
        ("[agents]\npropagated_at = 06:00:00", "expected a text in quotes, got time"),
        ("[agents]\npropagated_at = '6:00'", "agents.propagated_at: '6:00' is no time of day"),
        ("currency = 'euro'", "currency: 'euro' is no code of a currency"),
        ("[agents]\npropagated_at = '24:00'", "'24:00' is no time of day"),
        ("[budget]\ntokens_per_day = -1", "expected a whole number >= 0"),
        ("[prompt]\nmax_bytes = 100", "prompt.max_bytes: expected a whole number >= 16384"),
        ("[gemini]\nbase_url = 'host'", "gemini.base_url: 'host' is no web address"),
        ("[gemini]\nbase_url = 'ftp://host'", "is no web address"),
        ("[gemini]\nbase_url = 'https://ho st'", "is no web address"),
        ("[gemini]\nbase_url = 'https://host:x'", "is no web address"),
        ("prices = 3", "prices: expected a table of models"),
        ("[prices]\nx = 3", "prices.x: expected a table"),
        ("[prices.x]\ninput = 1\noutput = 1\nsince = 'soon'", "prices.x.since: 'soon' is no day"),
        ("[prices]\nx = [{input=1, output=1}, {input=2, output=2}]", "hold since the same day"),
        ("[budget]\ncost_per_day = -1", "budget.cost_per_day: '-1' is no amount"),
        ("[prices.x]\ninput = 1", "prices.x: output is missing"),
        ("[prices.x]\ninput = -1\noutput = 1", "prices.x.input: '-1' is no price"),
        ("[prices.x]\ninput = 'free'\noutput = 1", "prices.x.input: 'free' is no price"),
        ("[prices.x]\ninput = 1\noutput = 0.0000001", "prices.x.output: '1E-7' is no price"),
        ("[prices.x]\ninput = 1\noutput = inf", "is no price"),
        ("[prices.x]\ninput = true\noutput = 1", "prices.x.input: 'True' is no price"),
    ],
)
def test_a_wrong_value_is_named(text: str, told: str) -> None:
    refused = refusal(text)
    assert refused.code == "invalid_value"
    assert told in str(refused)


def test_prices_are_kept_in_millionths() -> None:
    text = (
        "[prices.'gemini:a']\ninput = 1.25\noutput = '10'\n[prices.b]\ninput = 0\noutput = 0.000001"
    )
    assert parse(text).prices == {
        "gemini:a": (Price(1_250_000, 10_000_000),),
        "b": (Price(0, 1),),
    }


def test_prices_hold_from_their_days_on_and_cached_input_may_cost_less() -> None:
    text = """[[prices.a]]\nsince = 2027-02-01\ninput = 3\noutput = 4\ncached = 0.5
        [[prices.a]]\ninput = 1\noutput = 2\n[budget]\ncost_per_day = 2.5"""
    told = parse(text)
    old = Price(1_000_000, 2_000_000)
    new = Price(3_000_000, 4_000_000, 500_000, "2027-02-01")
    assert told.prices == {"a": (old, new)}
    assert told.budget.cost_per_day == 2_500_000
    assert price_at(told.prices, "a", "2027-01-31T23:59:59.999999Z") == old
    assert price_at(told.prices, "a", "2027-02-01T00:00:00.000000Z") == new
    assert price_at(told.prices, "b", "2027-02-01T00:00:00.000000Z") is None


SECRET = "AIza" + "x" * 35


@pytest.mark.parametrize(
    "text",
    [
        f"api_key = '{SECRET}'",
        "GEMINI_API_KEY = 'abc'",
        "[gemini]\napi-key = 'abc'",
        "[gemini]\nkey = 'abc'",
        "[new]\npassword = 'abc'",
        f"model = '{SECRET}'",
        f"[gemini]\nbase_url = 'https://host/{SECRET}'",
    ],
)
def test_an_api_key_in_the_file_is_refused_and_not_repeated(text: str) -> None:
    refused = refusal(text)
    assert refused.code == "invalid_value"
    assert "keys are not read from files; remove it, and set GEMINI_API_KEY" in str(refused)
    assert SECRET not in str(refused)


@pytest.mark.parametrize("url", ["https://ann:pw@host", "https://host/?key=pw", "https://host#pw"])
def test_an_address_with_a_secret_is_refused_and_not_repeated(tmp_path: Path, url: str) -> None:
    with pytest.raises(Refused, match="give the endpoint alone") as refused:
        load(tmp_path, {"WAKELOG_GEMINI_BASE_URL": url})
    assert "pw" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_bytes(b"model = '\xff'")
    with pytest.raises(Refused, match="is not UTF-8"):
        load(tmp_path, {})
    (tmp_path / "settings.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(Refused, match="more than 1000000 bytes"):
        load(tmp_path, {})
    (tmp_path / "settings.toml").unlink()
    (tmp_path / "settings.toml").mkdir()
    with pytest.raises(Refused, match="cannot be read") as refused:
        load(tmp_path, {})
    assert refused.value.code == "unreadable_file"
