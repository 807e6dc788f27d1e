"""``[models.NAME]`` and ``[openai]``: what a name means, which key goes where, what is refused."""

import sys
from pathlib import Path

import pytest

from adapters.home.endpoints import endpoint_key, endpoint_of, full_name
from adapters.home.prices import Price
from adapters.home.settings import Settings, load, parse
from domain.errors import Refused
from domain.policy.gate import pattern_of
from domain.policy.policy import covers
from tests.support.openai_server import KEY

LOCAL = "openai:qwen3:8b@http://localhost:11434/v1"
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
ENVIRON = {"EXAMPLE_KEY": f"e{KEY}", "GROQ_KEY": f"g{KEY}", "OPENAI_API_KEY": f"o{KEY}"}


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
    assert full_name("openai:local", SETTINGS) == LOCAL
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
    assert endpoint_key(endpoint_of("openai:fast", SETTINGS), ENVIRON) == f"g{KEY}"
    assert endpoint_key(endpoint_of("openai:local", SETTINGS), ENVIRON) == ""
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
    assert endpoint_key(endpoint_of("openai:lan", plain), ENVIRON) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11435/v1",
        "https://localhost:11434/v1",
        "http://127.0.0.1:11434/v1",
        "http://[::1]:11434/v1",
        "https://localhost.:11434/v1",
        "https://xn--lcalhost-n4a:11434/v1",
    ],
)
def test_a_named_model_whose_address_changes_needs_another_receipt(url: str) -> None:
    given = pattern_of(full_name("openai:local", SETTINGS))
    assert covers(given, full_name("openai:local", SETTINGS))
    moved = parse(TEXT.replace("http://LOCALHOST:11434/v1/", url))
    assert not covers(given, full_name("openai:local", moved))
    assert not covers(LOCAL, full_name("openai:local", moved))


def test_a_named_model_that_is_renamed_or_moves_on_its_server_keeps_its_receipt() -> None:
    given = pattern_of(full_name("openai:local", SETTINGS))
    assert given == "openai:*@http://localhost:11434"
    for was, is_now in (("models.local", "models.mine"), ("11434/v1/", "11434/v2")):
        moved = parse(TEXT.replace(was, is_now))
        assert any(covers(given, one.name) for one in moved.models.values())


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


def test_the_endpoint_that_the_readme_names_is_one() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    text = readme.read_text(encoding="utf-8").partition("[models.fast]")[2]
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
        f'[prices."openai:m@https://me:{KEY}@h"]\ninput = 1\noutput = 1',
    ],
)
def test_a_key_in_a_file_is_refused_and_not_repeated(text: str, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    with pytest.raises(Refused) as found:
        load(tmp_path, {})
    assert KEY not in str(found.value)
