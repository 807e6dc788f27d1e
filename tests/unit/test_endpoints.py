"""Names with an address: one way to write each, no secret in them, and what a receipt covers."""

import pytest

from adapters.home.endpoints import endpoint_key, endpoint_of, full_name
from adapters.home.settings import OpenAISettings, Settings, parse
from adapters.wiring import Models
from domain.agent import deciders
from domain.errors import Refused
from domain.log.state import MAIN
from domain.policy import policy as p
from domain.policy.gate import is_leaving, pattern_of
from domain.policy.policy import POLICY, covers, give, matches, meets
from tests.support.openai_server import KEY

LOCAL = "openai:qwen3@http://localhost:11434/v1"
HOSTED = "openai:org/m-2:free@https://api.example.org/v1"
ENVIRON = {"OPENAI_API_KEY": KEY}
AT_HOME = Settings(openai=OpenAISettings("http://localhost:11434/v1"))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (LOCAL, LOCAL),
        (f"{LOCAL}/", LOCAL),
        ("openai:M@HTTPS://API.Example.org:443/v1//", "openai:M@https://api.example.org/v1"),
        ("openai:M@https://h:0080443/", None),
        ("openai:M@https://h:8443", "openai:M@https://h:8443"),
        ("openai:@cf/meta/m@https://h/v1", "openai:@cf/meta/m@https://h/v1"),
        ("openai:m@http://[::1]:8080/v1", "openai:m@http://[::1]:8080/v1"),
        ("openai:qwen3:8b-q4_K_M", "openai:qwen3:8b-q4_K_M"),
        ("openai:", None),
        ("openai:m@", None),
        ("openai:m*@https://h", None),
        ("openai:m@https://h*", None),
        ("openai:m@https://h x", None),
        ("openai:m@ftp://h", None),
        ("openai:m@https://h/" + "x" * 300, None),
        ("OpenAI:m@https://h", None),
    ],
)
def test_a_name_is_kept_in_one_way_of_writing(given: str, kept: str | None) -> None:
    if kept is not None:
        assert deciders.valid_model(given) == deciders.valid_model(kept) == kept
        return
    with pytest.raises(Refused):
        deciders.valid_model(given)


@pytest.mark.parametrize(
    "url",
    [
        "https://me:hunter2@h/v1",
        "https://hunter2@h",
        "https://h?hunter2",
        "https://h/v1#hunter2",
        "https:/u:hunter2@h",
        "ftp://u:hunter2@h",
    ],
)
def test_what_may_be_a_secret_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(Refused) as refused:
        deciders.valid_model(f"openai:m@{url}")
    assert "hunter2" not in str(refused.value)


# ------------------------------------------------------------------------------------ whom it asks


def test_http_goes_to_this_machine_alone_unless_a_setting_allows_it() -> None:
    plain = Settings(openai=OpenAISettings(allow_plain=True))
    for host in ("localhost", "127.0.0.1", "127.1.2.3", "[::1]"):
        assert not endpoint_of(f"openai:m@http://{host}:1/v1", Settings()).needs_key
    for host in (
        "example.org",
        "192.168.1.5",
        "localhost.example.org",
        "127.0.0.1.nip.io",
        "0x7f.1",
    ):
        with pytest.raises(Refused, match="allow_plain"):
            endpoint_of(f"openai:m@http://{host}/v1", Settings())
        assert endpoint_of(f"openai:m@http://{host}/v1", plain).key == ""


def test_a_name_without_an_address_asks_that_of_the_setting_and_is_recorded_with_it() -> None:
    given = AT_HOME
    assert full_name("openai:qwen3", given) == endpoint_of("openai:qwen3", given).name == LOCAL
    assert [full_name(one, given) for one in (HOSTED, "gemini", "rules")] == [
        HOSTED,
        "gemini",
        "rules",
    ]
    assert full_name(f"{LOCAL}/", Settings()) == LOCAL
    with pytest.raises(Refused, match="names no address"):
        endpoint_of("openai:qwen3", Settings())


def test_a_key_in_the_settings_is_refused_there_and_an_address_is_kept_in_one_way() -> None:
    for line in (f'base_url = "http://h/{KEY}"', f'api_key = "{KEY}"'):
        with pytest.raises(Refused, match="looks like an API key") as refused:
            parse(f"[openai]\n{line}")
        assert KEY not in str(refused.value)
    assert parse('[openai]\nbase_url = "HTTP://Localhost:80/v1/"').openai == OpenAISettings(
        "http://localhost/v1"
    )


@pytest.mark.parametrize(
    ("name", "base_url", "is_sent"),
    [
        (HOSTED, "", True),
        (HOSTED, "https://api.example.org/other", True),
        (HOSTED, "https://api.example.com/v1", False),
        (HOSTED, "https://api.example.org:8443/v1", False),
        (LOCAL, "", False),
        (LOCAL, "https://api.example.org/v1", False),
        (LOCAL, "http://localhost:11434/v1", True),
    ],
)
def test_the_key_goes_to_the_address_that_it_was_set_for_and_to_no_other(
    name: str, base_url: str, is_sent: bool
) -> None:  # fmt: skip
    endpoint = endpoint_of(name, Settings(openai=OpenAISettings(base_url)))
    assert bool(endpoint.key) == is_sent
    if is_sent or not endpoint.needs_key:
        assert endpoint_key(endpoint, ENVIRON) == (KEY if is_sent else "")
        return
    with pytest.raises(Refused, match="is for another") as refused:
        endpoint_key(endpoint, ENVIRON)
    assert refused.value.code == "missing_key"


def test_without_a_key_a_local_server_is_asked_and_a_hosted_one_is_not() -> None:
    assert endpoint_key(endpoint_of(LOCAL, AT_HOME), {}) == ""
    with pytest.raises(Refused) as refused:
        endpoint_key(endpoint_of(HOSTED, Settings()), {})
    assert refused.value.code == "missing_key"
    with pytest.raises(Refused, match="what no key can hold") as refused:
        endpoint_key(endpoint_of(HOSTED, Settings()), {"OPENAI_API_KEY": "two words"})
    assert "two words" not in str(refused.value)


def test_the_model_of_a_name_says_so_and_holds_its_key_from_view() -> None:
    models = Models(ENVIRON, Settings(openai=OpenAISettings("https://api.example.org/v1")))
    assert models("openai:gpt").name == "openai:gpt@https://api.example.org/v1"
    assert models(LOCAL).name == LOCAL
    with pytest.raises(Refused) as refused:
        models("nonsense")
    assert "openai:MODEL@URL" in str(refused.value)


# ---------------------------------------------------------------------------------------- receipts

HERE, THERE = "openai:*@http://localhost:11434", "openai:*@https://api.example.org:443"


def test_a_receipt_of_one_address_covers_no_other_however_it_is_written() -> None:
    assert is_leaving(LOCAL)
    assert (pattern_of(LOCAL), pattern_of(HOSTED)) == (HERE, THERE)
    assert covers(HERE, LOCAL)
    assert covers(HERE, "openai:other@http://localhost:11434/v2")
    assert covers(LOCAL, LOCAL)
    others = (
        HOSTED,
        "openai:qwen3@https://localhost:11434/v1",
        "openai:qwen3@http://localhost:11435/v1",
        "openai:qwen3@http://localhost/v1",
        "openai:qwen3@http://127.0.0.1:11434/v1",
        "openai:qwen3",
    )
    assert not any(covers(HERE, other) for other in others)
    wide = ("*", "o*", "openai:*", "openai:qwen3*", "openai", "openai:qwen3", f"{HERE}*",
            "openai:qwen3@http://localhost*", "openai:qwen3@http://localhost:1143*")  # fmt: skip
    assert not any(covers(pattern, model) for pattern in wide for model in (LOCAL, HOSTED, *others))


def test_a_receipt_that_names_no_address_is_not_given() -> None:
    nobody = POLICY.initial(MAIN)
    for pattern in ("openai:*", "openai:qwen3", "openai:q*", "openai:qwen3@http://localhost*"):
        with pytest.raises(Refused, match=r"names no address|is no web address"):
            give(nobody, pattern, ("Work",), 1, ())
    (given,) = give(nobody, "openai:*@HTTPS://API.example.org/v1/", ("Work",), 1, ())
    assert given == p.ConsentGiven(THERE, ("Work",), 1, ())


def test_rules_and_withdrawals_may_mean_all_addresses() -> None:
    assert matches("openai:*", LOCAL)
    assert matches(HERE, LOCAL)
    assert not matches(HERE, HOSTED)
    for wide in ("openai:*", "openai:q*", "o*", HERE, LOCAL):
        assert meets(HERE, wide)
        assert meets(wide, HERE)
    assert not meets(HERE, THERE)
    assert not meets(HERE, "gemini:*")
    assert not meets(HERE, HOSTED)
