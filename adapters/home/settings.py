"""What a person sets: `settings.toml` in the home, then the environment, then the command line.

Keys and values are checked before anything runs; whoever mistypes one is told which it is and
what it may be. API keys are no settings: they come from the environment or the system's keyring,
so that a home can be copied without handing them on: of a model behind an address, `key` says where
it is kept, and whatever stands there instead is not repeated."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import fields, replace

from adapters.home import zones
from adapters.home.files import SETTINGS
from adapters.home.prices import Prices, by_full_names, read_micros, read_prices
from adapters.home.settings_toml import (
    NO_DEFAULTS,
    Defaults,
    check_locks,
    invalid_setting,
    read_defaults,
    read_toml,
    refuse_secrets,
    unknown_setting,
    with_defaults,
)
from domain.agent import deciders, endpoints
from domain.agent.agent import Mode
from domain.agent.wake_queue_rules import THROTTLE_SECONDS
from domain.errors import Refused
from domain.scaffold import PROMPT_MIN_BYTES

if TYPE_CHECKING:
    from adapters.store.postgres.homes import Homes

KEYRING = "keyring"
_KEY_PLACE = re.compile(rf"env:[A-Za-z_][A-Za-z0-9_]{{0,99}}|{KEYRING}")
_MODEL_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,59}")
_VALUE_KINDS = {str: "a text in quotes", bool: "true or false"}


class OpenAISettings(Struct, frozen=True):
    """Where ``openai:MODEL`` is asked; empty: nowhere. `allow_plain`: http also to other machines,
    which anybody on the way can read; `key`: ``env:NAME`` or ``keyring``, empty: OPENAI_API_KEY."""

    base_url: str = ""
    allow_plain: bool = False
    key: str = ""


class NamedModel(Struct, frozen=True):
    """A model behind an address that is asked as ``openai:NAME``; without `key` it is sent none."""

    base_url: str
    model: str
    key: str = ""
    allow_plain: bool = False

    @property
    def name(self) -> str:
        """As it is recorded on a wake."""
        return endpoints.EndpointModel(self.model, endpoints.address(self.base_url)).name


def checked_openai(given: OpenAISettings, source: str) -> OpenAISettings:
    """The table ``openai`` as it is kept; `source`: how errors name it. Raises `Refused`."""
    if given.key and not given.base_url:
        told = f"{source}.key is for one address, and {source}.base_url names none"
        raise invalid_setting(told, "set base_url, too, or delete the line")
    _check_key_place(given.key, source)
    return replace(given, base_url=endpoint_url(given.base_url, f"{source}.base_url"))


def full_model_name(name: str, openai: OpenAISettings, models: Mapping[str, NamedModel]) -> str:
    """A model's name with its address, see `adapters.home.endpoints.full_name`."""
    found = endpoints.named(name)
    if found is None:
        return name
    if found.address:
        return found.name
    if meant := models.get(found.model):
        return meant.name
    if not openai.base_url:
        return name
    return endpoints.EndpointModel(found.model, endpoints.address(openai.base_url)).name


def endpoint_url(given: str, source: str) -> str:
    """An address in its one way of writing, or empty. Raises `Refused`."""
    try:
        return endpoints.address(given).url if given else ""
    except Refused as refused:
        raise invalid_setting(f"{source}: {refused.because}", refused.instead) from None


def named_models(given: Any, path: str) -> dict[str, NamedModel]:
    """The models that the table ``models`` of settings names, each by a table of its own. Raises
    Refused, code ``unknown_setting`` or ``invalid_value``."""
    if not isinstance(given, dict):
        instead = "write [models.NAME] and lines below it"
        raise invalid_setting(f"{path}: models: expected a table", instead)
    found, known = dict[str, NamedModel](), dict[str, str]()
    for name, table in given.items():
        source = f"{path}: models.{name}"
        if _MODEL_NAME.fullmatch(name) is None:
            raise invalid_setting(f"{source}: {name!r} is no name", "use letters, digits, - and _")
        one = found[name] = _named_model(table, source)
        if other := known.get(one.name):
            told = f"{source} is the same model at the same address as models.{other}"
            raise invalid_setting(told, "keep one of both")
        known[one.name] = name
    return found


def _named_model(given: Any, source: str) -> NamedModel:
    _check_model_table(given, source)
    _check_key_place(given.get("key", ""), source)
    where = endpoint_url(given["base_url"], f"{source}.base_url")
    one = NamedModel(**{**given, "base_url": where})
    found = endpoints.named(f"{endpoints.PREFIX}{one.model}")
    if not where or found is None or found.address or endpoints.named(one.name) is None:
        told = f"{source}: base_url and model name no model together"
        raise invalid_setting(told, "write them as the server does, in at most 180 characters")
    check_encrypted(endpoints.address(where), source, allow_plain=one.allow_plain)
    return one


def check_encrypted(where: endpoints.EndpointAddress, source: str, *, allow_plain: bool) -> None:
    """Look whether an address is one that what is sent may go to unencrypted, or encrypted. Raises
    Refused, code ``invalid_value``."""
    if where.scheme == "http" and not where.is_loopback and not allow_plain:
        raise invalid_setting(
            f"{source}: http to {where.host} can be read by anybody on the way",
            "use https, or set allow_plain = true below [openai] or [models.NAME] in settings.toml",
        )


def _check_model_table(given: Any, source: str) -> None:
    known = {one.name: one for one in fields(NamedModel)}
    if not isinstance(given, dict):
        raise invalid_setting(f"{source}: expected a table", "write base_url and model below it")
    for name, value in given.items():
        if name not in known:
            raise unknown_setting(f"{source}: the key {name}", name, known)
        if not isinstance(value, known[name].type):
            told = f"{source}.{name}: expected {_VALUE_KINDS[known[name].type]}"
            raise invalid_setting(told, "correct the value, or delete the line")
    if missing := [name for name in known if known[name].required and name not in given]:
        instead = 'give both, as in base_url = "https://host/v1" and model = "qwen3"'
        raise invalid_setting(f"{source}: {missing[0]} is missing", instead)


def _check_key_place(given: str, source: str) -> None:
    if given and _KEY_PLACE.fullmatch(given) is None:  # not repeated: it may be one
        told = f"{source}.key names no place where a key is kept, and keys are not read from files"
        raise invalid_setting(told, f'write "env:NAME" for a variable, or "{KEYRING}"')


# ----------------------------------------------------------------- who is told that something waits
# What a person sets of notices: who is told that something waits, and when (ADR 44).

_QUIET_HOURS = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]")
_SECRET_VARIABLE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]{0,99}")
LOOPBACK = re.compile(r"localhost|127(\.[0-9]{1,3}){3}|::1")


class NotifySettings(Struct, frozen=True):
    """Who is told. `command`: a program and its arguments; `webhook`: an address; `secret`:
    ``env:NAME``, what signs the webhook's body; `quiet`: ``22:00-07:00``, in the home's zone."""

    command: tuple[str, ...] = ()
    webhook: str = ""
    secret: str = ""
    quiet: str = ""
    every_minutes: Annotated[int, Meta(ge=0, le=1_440)] = 15


def _check_notify(notify: NotifySettings, source: str) -> None:
    """Refuse the first setting that cannot be used."""
    if notify.command and not notify.command[0].strip():
        instead = 'write it as in ["my-notifier", "--now"]'
        raise invalid_setting(f"{source}.command: it names no program", instead)
    if any("\0" in one for one in notify.command):
        raise invalid_setting(f"{source}.command: it holds a NUL character", "remove it")
    start, _, end = notify.quiet.partition("-")
    if notify.quiet and (_QUIET_HOURS.fullmatch(notify.quiet) is None or start == end):
        told = f"{source}.quiet: {notify.quiet!r} is no span of hours"
        raise invalid_setting(told, 'write two different times of day, as in "22:00-07:00"')
    if notify.secret and _SECRET_VARIABLE.fullmatch(notify.secret) is None:
        told = f"{source}.secret: it names no variable of the environment"  # it may be one itself
        instead = 'write "env:NAME", and set NAME where `wakelog run` is started'
        raise invalid_setting(told, instead)
    if notify.webhook:
        _check_webhook(notify.webhook, f"{source}.webhook")


def _check_webhook(webhook: str, source: str) -> None:
    """An address is not repeated: its path may be a secret."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(webhook)
        host, _ = parts.hostname, parts.port
        is_good = parts.scheme in ("http", "https") and bool(host) and webhook.isascii()
    except ValueError:
        is_good = False
    if not is_good or not webhook.isprintable() or " " in webhook:
        instead = "write one like https://host/path"
        raise invalid_setting(f"{source}: it is no web address", instead)
    if "@" in parts.netloc or parts.fragment:
        told = f"{source}: it holds a name, a password or a fragment"
        raise invalid_setting(told, "give the address alone; `secret` signs what is sent")
    if parts.scheme == "http" and LOOPBACK.fullmatch(host or "") is None:
        told = f"{source}: http is for this machine alone"
        raise invalid_setting(told, "use https, or an address like http://127.0.0.1:8000/")


# --------------------------------------------------------------------------- all settings of a home

GRACE_SECONDS = 30  # behind the deadline of a wake
FILE_MAX_BYTES = 1_000_000
_VARIABLE_NAMES = (
    "HOME REPLICA NOW TIMEZONE MODEL GEMINI_BASE_URL OPENAI_BASE_URL SERVE_TOKEN DATABASE "
    "PAGE_PASSWORD WORKER_PASSWORD CLOCK_IS_RIGHT ADDRESS OIDC_ISSUER OIDC_CLIENT OIDC_SECRET "
    "OIDC_SUBJECT OIDC_GROUPS OPERATORS"
)
VARIABLES = tuple(f"WAKELOG_{name}" for name in _VARIABLE_NAMES.split())

FollowUpMode = Literal["inherit", "none"]
GoneMode = Literal["keep", "reject", "delete"]
TimerMode = Literal["changed", "always"]
TokenLimit = Annotated[int, Meta(ge=0, le=10**12)]  # 0: no limit


class AgentsSettings(Struct, frozen=True):
    """How agents run; `propagated_at` is a wall time in the person's time zone."""

    enabled: bool = True
    mode: Mode = "hybrid"  # of new agents
    parallel: Annotated[int, Meta(ge=1, le=64)] = 3
    propagated_at: str = "06:00"
    deadline_seconds: Annotated[int, Meta(ge=10, le=86_400)] = 600
    expire_after_days: Annotated[int, Meta(ge=0, le=3_650)] = 0  # of change sets; 0: never
    throttle_seconds: Annotated[int, Meta(ge=1, le=86_400)] = THROTTLE_SECONDS
    follow_up: FollowUpMode = "inherit"  # whether a follow-up task gets an agent like its source's
    timers: TimerMode = "changed"  # whether new ones ask where nothing moved since the last wake

    @property
    def throttle(self) -> int:
        """`throttle_seconds` as it travels in a cause: 0 for the default."""
        return 0 if self.throttle_seconds == THROTTLE_SECONDS else self.throttle_seconds

    @property
    def lost_seconds(self) -> int:
        """After which a wake that still runs must have lost its process."""
        return self.deadline_seconds + GRACE_SECONDS


class BudgetSettings(Struct, frozen=True):
    """Tokens, in and out, and millionths of the person's currency; 0: no limit."""

    tokens_per_wake: TokenLimit = 0
    tokens_per_agent_day: TokenLimit = 0
    tokens_per_day: TokenLimit = 0
    cost_per_day: int = 0


class ImportSettings(Struct, frozen=True):
    """What an import does. `gone`: with tasks that their file has no more; `--gone` is remembered
    for a source. `agents`: new tasks get an agent each, as with `agent create --all`.
    `write_back`: a file that `run --watch` follows is told what was decided here."""

    gone: GoneMode = "keep"
    agents: bool = False
    write_back: bool = False


class PolicySettings(Struct, frozen=True):
    """What is kept. `scrub_entry`: of what comes in, secrets of known kinds are left out; else
    the journal keeps them as they were written, and agents see none either way."""

    scrub_entry: bool = False


class PromptSettings(Struct, frozen=True):
    """The size of a prompt."""

    max_bytes: Annotated[int, Meta(ge=PROMPT_MIN_BYTES, le=10_000_000)] = 120_000


class GeminiSettings(Struct, frozen=True):
    """Where Gemini is asked; empty: Google's endpoint."""

    base_url: str = ""


class OtelSettings(Struct, frozen=True):
    """OpenTelemetry spans of wakes; `texts`: with prompts, replies and names in them."""

    enabled: bool = False
    texts: bool = False


class AnalyticsSettings(Struct, frozen=True):
    """What `sql`, `metrics`, exports and pages may use of DuckDB."""

    memory_mb: Annotated[int, Meta(ge=256, le=1_000_000)] = 1_024


class RetainSettings(Struct, frozen=True):
    """What `wakelog run` drops once a day, see `adapters.upkeep.retain`; 0: nothing."""

    prompts_days: Annotated[int, Meta(ge=0, le=36_500)] = 0
    replies_days: Annotated[int, Meta(ge=0, le=36_500)] = 0


class SyncSettings(Struct, frozen=True):
    """Where machines of this home meet; `hold`: replicas of which nothing more is taken; `agents`:
    whether agents travel, too, or stay on the machine where they are. `take_lead_after_days`: how
    long the machine that leads may be silent before this one leads; 0: for ever."""

    folder: str = ""
    hold: tuple[str, ...] = ()
    agents: Literal["shared", "local"] = "shared"
    take_lead_after_days: Annotated[int, Meta(ge=0, le=3_650)] = 0


class Settings(Struct, frozen=True):
    """All settings of a home. `currency`: of all amounts, ISO 4217, or empty. `prices` are by
    model, as it is named on a wake, oldest first; `models` by the names that the person gave, as
    `lists` are: options of `wakelog list`; `extensions`: what models of others are given."""

    timezone: str = "UTC"
    model: str = "rules"
    currency: str = ""
    agents: AgentsSettings = AgentsSettings()
    budget: BudgetSettings = BudgetSettings()
    prompt: PromptSettings = PromptSettings()
    policy: PolicySettings = PolicySettings()
    gemini: GeminiSettings = GeminiSettings()
    openai: OpenAISettings = OpenAISettings()
    models: Mapping[str, NamedModel] = {}
    otel: OtelSettings = OtelSettings()
    analytics: AnalyticsSettings = AnalyticsSettings()
    prices: Prices = {}
    notify: NotifySettings = NotifySettings()
    sync: SyncSettings = SyncSettings()
    retain: RetainSettings = RetainSettings()
    import_: ImportSettings = field(default=ImportSettings(), name="import")
    lists: Mapping[str, str] = {}
    extensions: Mapping[str, Mapping[str, Any]] = {}

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables of the environment that hold keys, as far as these settings name them."""
        places = (self.openai.key, *(one.key for one in self.models.values()))
        return tuple(one.removeprefix("env:") for one in places if one.startswith("env:"))


def load(home: Path, environ: Mapping[str, str], model: str = "") -> Settings:
    """The settings of a home, whose folder need not be there; the defaults where it has none. An
    empty variable counts as not set; `model`: the option `--model`. Raises Refused, code
    ``unknown_setting``, ``invalid_value`` or ``unreadable_file``."""
    path = home / SETTINGS
    return with_environment(partial(_file_text, path), str(path), environ, model)


def with_environment(
    text: Callable[[], str],
    source: str,
    environ: Mapping[str, str],
    model: str = "",
    below: Defaults = NO_DEFAULTS,
) -> Settings:
    """The settings that a text of TOML holds, under what the environment and `--model` say instead.
    `source`: how errors name it; `below`: what counts where the text says nothing. As `load`."""
    for name in sorted(environ):
        if name.startswith("WAKELOG_") and name not in VARIABLES:
            raise unknown_setting(f"the variable {name}", name, VARIABLES)
    settings = parse(text(), source, below)
    if zone := environ.get("WAKELOG_TIMEZONE", ""):
        settings = replace(settings, timezone=_checked_zone(zone, "WAKELOG_TIMEZONE"))
    if url := environ.get("WAKELOG_GEMINI_BASE_URL", ""):
        gemini = GeminiSettings(_gemini_url(url, "WAKELOG_GEMINI_BASE_URL"))
        settings = replace(settings, gemini=gemini)
    if url := environ.get("WAKELOG_OPENAI_BASE_URL", ""):
        settings = replace(settings, openai=_at_address(settings.openai, url))
    whole = partial(full_model_name, openai=settings.openai, models=settings.models)
    settings = replace(settings, prices=by_full_names(settings.prices, whole, f"{source}: prices"))
    for given, by in ((model, "--model"), (environ.get("WAKELOG_MODEL", ""), "WAKELOG_MODEL")):
        if given:
            return replace(settings, model=_checked_model(given, by, settings.models))
    return settings


def parse(text: str, path: str = SETTINGS, below: Defaults = NO_DEFAULTS) -> Settings:
    """The settings that a file holds. `text`: TOML; `below`: see `with_environment`. Raises
    Refused, code ``unknown_setting`` or ``invalid_value``."""
    table = read_toml(text, path)
    check_keys(table, path)
    return settled(with_defaults(table, below), path)


def check_keys(table: Mapping[str, Any], path: str) -> None:
    """See that a table holds keys that are known, and none of a provider. Raises Refused."""
    refuse_secrets(table, path)
    _refuse_unknown(table, Settings, path, "")


def settled(table: dict[str, Any], path: str) -> Settings:
    """The settings that a table makes. Raises Refused: a value cannot be used."""
    prices, models = table.pop("prices", {}), table.pop("models", {})
    budget, name = table.get("budget"), "cost_per_day"
    if isinstance(budget, dict) and name in budget:
        budget[name] = read_micros(budget[name], f"{path}: budget.{name}", "no amount")
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise _wrong_value(str(error), path) from None
    named = named_models(models, path)
    settings = replace(settings, prices=read_prices(prices, path), models=named)
    return _checked_settings(settings, path)


_CHOICES = {
    "agents.mode": get_args(Mode),
    "agents.follow_up": get_args(FollowUpMode),
    "agents.timers": get_args(TimerMode),
    "import.gone": get_args(GoneMode),
}
_WORDS = (
    ("`object`", "a table"), ("`int`", "a whole number"), ("`bool`", "true or false"),
    ("`str`", "a text in quotes"), ("`decimal`", "a fraction"), ("enum value", "value"), ("`", ""),
)  # fmt: skip


def _wrong_value(told: str, path: str) -> Refused:
    """msgspec's words for a wrong value as ours."""
    what, _, where = told.partition(" - at `$.")
    because = f"{path}: {where.rstrip('`')}: {what[0].lower()}{what[1:]}"
    for theirs, ours in _WORDS:
        because = because.replace(theirs, ours)
    instead = "correct the value, or delete the line"
    if choices := _CHOICES.get(where.rstrip("`")):
        instead = f"use one of {', '.join(choices)}"
    return invalid_setting(because, instead)


def _checked_settings(settings: Settings, path: str) -> Settings:
    time = settings.agents.propagated_at
    if re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", time) is None:
        told = f"{path}: agents.propagated_at: {time!r} is no time of day"
        raise invalid_setting(told, 'write hours and minutes, as in "06:00"')
    _check_notify(settings.notify, f"{path}: notify")
    if re.fullmatch(r"([A-Z]{3})?", settings.currency) is None:
        told = f"{path}: currency: {settings.currency[:20]!r} is no code of a currency"
        raise invalid_setting(told, 'write three capital letters, as in "EUR"')
    url = settings.gemini.base_url
    return replace(
        settings,
        timezone=_checked_zone(settings.timezone, f"{path}: timezone"),
        model=_checked_model(settings.model, f"{path}: model", settings.models),
        gemini=GeminiSettings(_gemini_url(url, f"{path}: gemini.base_url") if url else ""),
        openai=checked_openai(settings.openai, f"{path}: openai"),
    )


def _file_text(path: Path) -> str:
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
        told = f"{path} has more than {FILE_MAX_BYTES} bytes"
        raise invalid_setting(told, "keep settings only in it")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise invalid_setting(f"{path} is not UTF-8", "save it as UTF-8") from None


# ------------------------------------------------------------------------------ keys


def _known_keys(struct: type[Struct], prefix: str = "") -> dict[str, type[Struct] | None]:
    """Each key with its table's Struct, or None where it is a value."""
    return {
        f"{prefix}{one.encode_name}": one.type if _is_table(one.type) else None
        for one in fields(struct)
    }


def _is_table(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Struct)


def _refuse_unknown(table: Mapping[str, Any], struct: type[Struct], path: str, prefix: str) -> None:
    known = _known_keys(struct, prefix)
    for name, value in table.items():
        whole = f"{prefix}{name}"
        if whole not in known:
            raise unknown_setting(f"{path}: the key {whole}", whole, known, every_key())
        inner = known[whole]
        if inner is not None and isinstance(value, dict):
            _refuse_unknown(value, inner, path, f"{whole}.")


def every_key() -> list[str]:
    """All keys, with their tables before them."""
    top = _known_keys(Settings)
    tables = [_known_keys(struct, f"{table}.") for table, struct in top.items() if struct]
    return [*top, *(name for table in tables for name in table)]


# ---------------------------------------------------------------------------------------- values


def _checked_zone(given: str, source: str) -> str:
    try:
        return zones.checked_zone(given)
    except Refused as refused:
        raise invalid_setting(f"{source}: {refused.because}", refused.instead) from None


def _checked_model(given: str, source: str, named: Mapping[str, NamedModel]) -> str:
    try:
        if kept := deciders.valid_model(given):
            return kept
    except Refused as refused:
        instead = f"did you mean openai:{given}?" if given in named else refused.instead
        raise invalid_setting(f"{source}: {refused.because}", instead) from None
    raise invalid_setting(f"{source}: {given!r} is no model", f"use {endpoints.MODELS}")


def _at_address(openai: OpenAISettings, url: str) -> OpenAISettings:
    """The setting with the address of the variable, which another one's key is not for."""
    where = endpoint_url(url, "WAKELOG_OPENAI_BASE_URL")
    before, after = (endpoints.origin(f"openai:*@{one}") for one in (openai.base_url, where))
    return replace(openai, base_url=where, key=openai.key if before == after else "")


def _gemini_url(given: str, source: str) -> str:
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
        raise invalid_setting(told, "give the endpoint alone, like https://host/path")
    if not is_good or " " in given:
        told = f"{source}: {given!r} is no web address"
        raise invalid_setting(told, "write one like https://host/path")
    return given.rstrip("/")


# ----------------------------------------------------------------------- the defaults of a database


def defaults_source(homes: "Homes") -> str:
    """How messages call the defaults of a database."""
    return f"the defaults of {homes.database.name}"


def database_defaults(homes: "Homes") -> Defaults:
    """What counts below the settings of a database's homes. Raises Refused."""
    text = homes.defaults()
    return read_defaults(text, defaults_source(homes)) if text else Defaults()


def checked_defaults(text: str, path: str) -> str:
    """The text, if it may be the defaults of homes. Raises Refused."""
    found = read_defaults(text, path)
    known = every_key()
    for name in found.locked:
        if name not in known:
            raise unknown_setting(f"{path}: the locked key {name}", name, known)
    check_keys(found.table, path)
    settled(dict(found.table), path)
    return text


def unless_locked(homes: "Homes", before: str, after: str) -> str:
    """A home's text as it shall be, if it sets no locked key anew. Raises Refused."""
    check_locks(before, after, database_defaults(homes), defaults_source(homes))
    return after
