"""What a person sets: `settings.toml` in the home, then the environment, then the command line.

Keys and values are checked before anything runs; whoever mistypes one is told which it is and
what it may be. API keys are no settings: they come from the environment or the system's keyring,
so that a home can be copied without handing them on.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import fields, replace

from adapters.home import endpoint_settings, zones
from adapters.home.endpoint_settings import NamedModel, OpenAI
from adapters.home.files import SETTINGS
from adapters.home.notify_settings import Notify, wrong_with
from adapters.home.prices import Prices, micros, priced, renamed
from adapters.home.settings_layers import NOTHING, Defaults, over, read
from adapters.home.settings_refusals import invalid as _invalid
from adapters.home.settings_refusals import near as _near
from adapters.home.settings_refusals import refuse_secrets
from adapters.home.settings_refusals import unknown as _unknown
from domain import endpoints
from domain.agent import limits
from domain.agent.events import Mode
from domain.agent.wake_queue_rules import THROTTLE_SECONDS
from domain.errors import Refused
from domain.wake.reading import PROMPT_MIN_BYTES

GRACE_SECONDS = 30  # behind the deadline of a wake
FILE_MAX_BYTES = 1_000_000
_NAMES = (
    "HOME REPLICA NOW TIMEZONE MODEL GEMINI_BASE_URL OPENAI_BASE_URL SERVE_TOKEN DATABASE "
    "CLOCK_IS_RIGHT"
)
VARIABLES = tuple(f"WAKELOG_{name}" for name in _NAMES.split())

FollowUp = Literal["inherit", "none"]
Gone = Literal["keep", "reject", "delete"]
Tokens = Annotated[int, Meta(ge=0, le=10**12)]  # 0: no limit


class Agents(Struct, frozen=True):
    """How agents run; `propagated_at` is a wall time in the person's time zone."""

    enabled: bool = True
    mode: Mode = "hybrid"  # of new agents
    parallel: Annotated[int, Meta(ge=1, le=64)] = 3
    propagated_at: str = "06:00"
    deadline_seconds: Annotated[int, Meta(ge=10, le=86_400)] = 600
    expire_after_days: Annotated[int, Meta(ge=0, le=3_650)] = 0  # of change sets; 0: never
    throttle_seconds: Annotated[int, Meta(ge=1, le=86_400)] = THROTTLE_SECONDS
    follow_up: FollowUp = "inherit"  # whether a follow-up task gets an agent like its source's

    @property
    def throttle(self) -> int:
        """`throttle_seconds` as it travels in a cause: 0 for the default."""
        return 0 if self.throttle_seconds == THROTTLE_SECONDS else self.throttle_seconds

    @property
    def lost_seconds(self) -> int:
        """After which a wake that still runs must have lost its process."""
        return self.deadline_seconds + GRACE_SECONDS


class Budget(Struct, frozen=True):
    """Tokens, in and out, and millionths of the person's currency; 0: no limit."""

    tokens_per_wake: Tokens = 0
    tokens_per_agent_day: Tokens = 0
    tokens_per_day: Tokens = 0
    cost_per_day: int = 0


class Import(Struct, frozen=True):
    """What an import does. `gone`: with tasks that their file has no more; `--gone` is remembered
    for a source. `agents`: new tasks get an agent each, as with `agent create --all`.
    `write_back`: a file that `run --watch` follows is told what was decided here."""

    gone: Gone = "keep"
    agents: bool = False
    write_back: bool = False


class Policy(Struct, frozen=True):
    """What is kept. `scrub_entry`: of what comes in, secrets of known kinds are left out; else
    the journal keeps them as they were written, and agents see none either way."""

    scrub_entry: bool = False


class Prompt(Struct, frozen=True):
    """The size of a prompt."""

    max_bytes: Annotated[int, Meta(ge=PROMPT_MIN_BYTES, le=10_000_000)] = 120_000


class Gemini(Struct, frozen=True):
    """Where Gemini is asked; empty: Google's endpoint."""

    base_url: str = ""


class Otel(Struct, frozen=True):
    """OpenTelemetry spans of wakes; `texts`: with prompts, replies and names in them."""

    enabled: bool = False
    texts: bool = False


class Analytics(Struct, frozen=True):
    """What `sql`, `metrics`, exports and pages may use of DuckDB."""

    memory_mb: Annotated[int, Meta(ge=256, le=1_000_000)] = 1_024


class Sync(Struct, frozen=True):
    """Where machines of this home meet; `hold`: replicas of which nothing more is taken; `agents`:
    whether agents travel, too, or stay on the machine where they are."""

    folder: str = ""
    hold: tuple[str, ...] = ()
    agents: Literal["shared", "local"] = "shared"


class Settings(Struct, frozen=True):
    """All settings of a home. `currency`: of all amounts, ISO 4217, or empty. `prices` are by
    model, as it is named on a wake, oldest first; `models` by the names that the person gave."""

    timezone: str = "UTC"
    model: str = "rules"
    currency: str = ""
    agents: Agents = Agents()
    budget: Budget = Budget()
    prompt: Prompt = Prompt()
    policy: Policy = Policy()
    gemini: Gemini = Gemini()
    openai: OpenAI = OpenAI()
    models: Mapping[str, NamedModel] = {}
    otel: Otel = Otel()
    analytics: Analytics = Analytics()
    prices: Prices = {}
    notify: Notify = Notify()
    sync: Sync = Sync()
    import_: Import = field(default=Import(), name="import")

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables of the environment that hold keys, as far as these settings name them."""
        places = (self.openai.key, *(one.key for one in self.models.values()))
        return tuple(one.removeprefix("env:") for one in places if one.startswith("env:"))


def load(home: Path, environ: Mapping[str, str], model: str = "") -> Settings:
    """The settings of a home; the defaults where it has none.

    Args:
        home: Its folder, which need not be there.
        environ: An empty variable counts as not set.
        model: The option `--model`; empty if it was not given.

    Raises:
        Refused: Code ``unknown_setting``, ``invalid_value`` or ``unreadable_file``.
    """
    path = home / SETTINGS
    return with_environment(partial(_text, path), str(path), environ, model)


def with_environment(
    text: Callable[[], str],
    source: str,
    environ: Mapping[str, str],
    model: str = "",
    below: Defaults = NOTHING,
) -> Settings:
    """The settings that a text holds, under what the environment and `--model` say instead.

    Args:
        text: Gives the TOML.
        source: How errors name it.
        environ: See `load`.
        model: See `load`.
        below: What counts where the text says nothing.

    Raises:
        Refused: See `load`.
    """
    for name in sorted(environ):
        if name.startswith("WAKELOG_") and name not in VARIABLES:
            raise _unknown(f"the variable {name}", _near(name, VARIABLES), ", ".join(VARIABLES))
    settings = parse(text(), source, below)
    if zone := environ.get("WAKELOG_TIMEZONE", ""):
        settings = replace(settings, timezone=_zone(zone, "WAKELOG_TIMEZONE"))
    if url := environ.get("WAKELOG_GEMINI_BASE_URL", ""):
        gemini = Gemini(_base_url(url, "WAKELOG_GEMINI_BASE_URL"))
        settings = replace(settings, gemini=gemini)
    if url := environ.get("WAKELOG_OPENAI_BASE_URL", ""):
        settings = replace(settings, openai=_elsewhere(settings.openai, url))
    whole = partial(endpoint_settings.whole, openai=settings.openai, models=settings.models)
    settings = replace(settings, prices=renamed(settings.prices, whole, f"{source}: prices"))
    for given, by in ((model, "--model"), (environ.get("WAKELOG_MODEL", ""), "WAKELOG_MODEL")):
        if given:
            return replace(settings, model=_model(given, by, settings.models))
    return settings


def parse(text: str, path: str = SETTINGS, below: Defaults = NOTHING) -> Settings:
    """The settings that a file holds.

    Args:
        text: TOML.
        path: How errors name the file.
        below: See `with_environment`.

    Raises:
        Refused: Code ``unknown_setting`` or ``invalid_value``.
    """
    table = read(text, path)
    check_keys(table, path)
    return settled(over(table, below), path)


def check_keys(table: Mapping[str, Any], path: str) -> None:
    """See that a table holds keys that are known, and none of a provider. Raises Refused."""
    refuse_secrets(table, path)
    _refuse_unknown(table, Settings, path, "")


def settled(table: dict[str, Any], path: str) -> Settings:
    """The settings that a table makes. Raises Refused: a value cannot be used."""
    prices, models = table.pop("prices", {}), table.pop("models", {})
    _in_micros(table.get("budget"), path)
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise _wrong(str(error), path) from None
    named = endpoint_settings.named_models(models, path)
    return _checked(replace(settings, prices=priced(prices, path), models=named), path)


def _in_micros(budget: Any, path: str) -> None:
    if isinstance(budget, dict) and "cost_per_day" in budget:
        given = budget["cost_per_day"]
        budget["cost_per_day"] = micros(given, f"{path}: budget.cost_per_day", "no amount")


_CHOICES = {
    "agents.mode": get_args(Mode),
    "agents.follow_up": get_args(FollowUp),
    "import.gone": get_args(Gone),
}
_WORDS = (
    ("`object`", "a table"),
    ("`int`", "a whole number"),
    ("`bool`", "true or false"),
    ("`str`", "a text in quotes"),
    ("`decimal`", "a fraction"),
    ("enum value", "value"),
    ("`", ""),
)


def _wrong(told: str, path: str) -> Refused:
    """msgspec's words for a wrong value as ours."""
    what, _, where = told.partition(" - at `$.")
    because = f"{path}: {where.rstrip('`')}: {what[0].lower()}{what[1:]}"
    for theirs, ours in _WORDS:
        because = because.replace(theirs, ours)
    instead = "correct the value, or delete the line"
    if choices := _CHOICES.get(where.rstrip("`")):
        instead = f"use one of {', '.join(choices)}"
    return _invalid(because, instead)


def _checked(settings: Settings, path: str) -> Settings:
    time = settings.agents.propagated_at
    if re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", time) is None:
        told = f"{path}: agents.propagated_at: {time!r} is no time of day"
        raise _invalid(told, 'write hours and minutes, as in "06:00"')
    if wrong := wrong_with(settings.notify):
        raise _invalid(f"{path}: notify.{wrong.because}", wrong.instead)
    if re.fullmatch(r"([A-Z]{3})?", settings.currency) is None:
        told = f"{path}: currency: {settings.currency[:20]!r} is no code of a currency"
        raise _invalid(told, 'write three capital letters, as in "EUR"')
    url = settings.gemini.base_url
    return replace(
        settings,
        timezone=_zone(settings.timezone, f"{path}: timezone"),
        model=_model(settings.model, f"{path}: model", settings.models),
        gemini=Gemini(_base_url(url, f"{path}: gemini.base_url") if url else ""),
        openai=endpoint_settings.checked(settings.openai, f"{path}: openai"),
    )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(FILE_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):  # a home that is a file is refused elsewhere
        return ""
    except OSError as error:
        because = f"{path} cannot be read: {error.strerror or error}"
        instead = "make it a file that you may read, or remove it"
        raise Refused("unreadable_file", because=because, instead=instead) from None
    if len(data) > FILE_MAX_BYTES:
        raise _invalid(f"{path} has more than {FILE_MAX_BYTES} bytes", "keep settings only in it")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise _invalid(f"{path} is not UTF-8", "save it as UTF-8") from None


# ------------------------------------------------------------------------------ keys


def _known(struct: type[Struct], prefix: str = "") -> dict[str, type[Struct] | None]:
    """Each key with its table's Struct, or None where it is a value."""
    return {
        f"{prefix}{one.encode_name}": one.type if _is_table(one.type) else None
        for one in fields(struct)
    }


def _is_table(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Struct)


def _refuse_unknown(table: Mapping[str, Any], struct: type[Struct], path: str, prefix: str) -> None:
    known = _known(struct, prefix)
    for name, value in table.items():
        whole = f"{prefix}{name}"
        if whole not in known:
            near = _near(whole, list(known)) or _near(whole, every_key())
            raise _unknown(f"{path}: the key {whole}", near, ", ".join(known))
        inner = known[whole]
        if inner is not None and isinstance(value, dict):
            _refuse_unknown(value, inner, path, f"{whole}.")


def every_key() -> list[str]:
    """All keys, with their tables before them."""
    top = _known(Settings)
    inner = [
        name for table, struct in top.items() if struct for name in _known(struct, f"{table}.")
    ]
    return [*top, *inner]


# ---------------------------------------------------------------------------------------- values


def _zone(given: str, source: str) -> str:
    try:
        return zones.checked(given)
    except Refused as refused:
        raise _invalid(f"{source}: {refused.because}", refused.instead) from None


def _model(given: str, source: str, named: Mapping[str, NamedModel]) -> str:
    try:
        if kept := limits.model(given):
            return kept
    except Refused as refused:
        instead = f"did you mean openai:{given}?" if given in named else refused.instead
        raise _invalid(f"{source}: {refused.because}", instead) from None
    raise _invalid(f"{source}: {given!r} is no model", f"use {endpoints.MODELS}")


def _elsewhere(openai: OpenAI, url: str) -> OpenAI:
    """The setting with the address of the variable, which another one's key is not for."""
    where = endpoint_settings.base_url(url, "WAKELOG_OPENAI_BASE_URL")
    before, after = (endpoints.origin(f"openai:*@{one}") for one in (openai.base_url, where))
    return replace(openai, base_url=where, key=openai.key if before == after else "")


def _base_url(given: str, source: str) -> str:
    try:
        from urllib.parse import urlsplit

        parts = urlsplit(given)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_good = is_good and parts.port != 0 and given.isascii() and given.isprintable()
        has_more = "@" in parts.netloc or bool(parts.query or parts.fragment)
    except ValueError:
        is_good = has_more = False
    if has_more:  # not repeated: it may be a secret
        told = f"{source} holds a name, password, query or fragment"
        raise _invalid(told, "give the endpoint alone, like https://host/path")
    if not is_good or " " in given:
        raise _invalid(f"{source}: {given!r} is no web address", "write one like https://host/path")
    return given.rstrip("/")
