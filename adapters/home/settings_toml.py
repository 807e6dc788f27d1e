"""Settings as TOML: what a new home is given, how one key is changed, how a wrong one is refused,
and what counts of a home's text and of the defaults of its database."""

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from domain.errors import Refused

DEFAULT_TOML = """\
# Settings of this home. A line counts once the # before it is gone; shown are the defaults.
# API keys do not belong here: set GEMINI_API_KEY or OPENAI_API_KEY, or use the system's keyring.

# timezone = "UTC"               # your time zone, like "Europe/Berlin"   (WAKELOG_TIMEZONE)
# model = "rules"                # gemini, gemini:MODEL, openai:MODEL, openai:MODEL@URL, tape:FILE
# currency = ""                  # of all prices and costs, like "EUR"; empty: not said

# [agents]
# enabled = true                 # false: no agent wakes
# mode = "hybrid"                # of new agents: autonomous, interactive, hybrid
# parallel = 3                   # how many run at once
# propagated_at = "06:00"        # when agents look at changes of linked tasks
# deadline_seconds = 600         # of one wake
# expire_after_days = 0          # when undecided proposals expire; 0: never
# throttle_seconds = 120         # how long a changed task is left alone before its agent wakes
# follow_up = "inherit"          # a follow-up task gets an agent like its source's; "none": none
# timers = "changed"             # new timers ask only where something moved; or "always"

# [budget]                       # tokens, in and out, failed answers too; 0: no limit
# tokens_per_wake = 0
# tokens_per_agent_day = 0
# tokens_per_day = 0
# cost_per_day = 0               # in your currency; a model without a price is not asked then

# [prompt]
# max_bytes = 120000

# [import]
# gone = "keep"                  # tasks that left their file: keep, reject or delete  (--gone)
# write_back = false             # true: `run --watch FILE` writes into FILE what you decide here
# agents = false                 # new tasks get an agent each  (--agents)

# [lists]                        # `wakelog list @work` is `wakelog list` with these options
# work = "--category Work --not-label someday"

# [policy]
# scrub_entry = false            # true: secrets of known kinds are not kept; agents never see any

# [gemini]
# base_url = ""                  # another endpoint of the same API (WAKELOG_GEMINI_BASE_URL)

# [openai]                       # a protocol that Ollama, vLLM, LM Studio and others speak
# base_url = ""                  # "http://localhost:11434/v1", say (WAKELOG_OPENAI_BASE_URL)
# allow_plain = false            # true: http to other machines, too; all on the way can read it
# key = ""                       # "env:NAME" or "keyring"; empty: OPENAI_API_KEY

# [models.NAME]                  # one more endpoint, asked as openai:NAME; as many as you like
# base_url = "https://host/v1"   # allow_plain may stand here, too
# model = "MODEL"                # as that server calls it
# key = ""                       # "env:NAME" or "keyring"; empty: it is sent none

# [otel]                         # OpenTelemetry spans of wakes (needs wakelog[otel])
# enabled = false                # true: send them to OTEL_EXPORTER_OTLP_ENDPOINT
# texts = false                  # true: with prompts, replies and names in them

# [analytics]
# memory_mb = 1024               # that `wakelog sql` and the like may use

# [notify]                       # what `wakelog run` tells you; see `wakelog notify`
# command = []                   # a program that is given JSON, as ["my-notifier", "--now"]
# webhook = ""                   # an https address that is sent ids and counts
# secret = ""                    # "env:NAME": the variable whose value signs the webhook
# quiet = ""                     # "22:00-07:00": hours in which nothing is told
# every_minutes = 15             # what comes within so many is told together

# [sync]                         # one home on several machines; see `wakelog sync`
# folder = ""                    # where they meet; any tool may carry it between them
# agents = "shared"              # "local": agents stay here, and each machine wakes its own
# hold = []                      # replicas of which nothing more is taken, as ["r4k2"]
# take_lead_after_days = 0       # this one leads if the machine that does is silent so long

# [retain]                       # what `wakelog run` drops once a day; see `wakelog retain`
# prompts_days = 0               # prompts that are older and render again; 0: none
# replies_days = 0               # the bytes of replies that are older

# [prices."gemini:MODEL"]        # of a million tokens, in your currency; without it no cost is told
# input = 1.25
# output = 10                    # thoughts too
# cached = 0.31                  # of input from a cache; without it, it costs as other input
# since = "2027-01-01"           # from this day on, UTC; of several: [[prices."gemini:MODEL"]] each
"""
"""What a new home is given; with every # gone before a key, it says the same."""


def with_setting(text: str, key: str, value: str) -> str:
    """The TOML with one key set, all else of which stays; whether that is allowed is not looked at.
    A value that is none of TOML's is taken as a text.

    >>> with_setting("[agents]\\nparallel = 3", "agents.parallel", "6")
    '[agents]\\nparallel = 6\\n'
    """
    table, _, name = key.rpartition(".")
    line, lines = f"{name} = {_as_toml(value)}", text.splitlines()
    heads = [nth for nth, one in enumerate(lines) if one.startswith("[")]
    begin = next((nth for nth in heads if lines[nth].split("#")[0].strip() == f"[{table}]"), None)
    if table and begin is None:
        return "\n".join([*lines, "", f"[{table}]", line, ""])
    first = 0 if begin is None else begin + 1
    last = next((nth for nth in heads if nth >= first), len(lines))
    is_there = re.compile(rf"{re.escape(name)}\s*=")
    at = next((nth for nth in range(first, last) if is_there.match(lines[nth])), None)
    after = first if at is None else at + 1
    return "\n".join([*lines[: first if at is None else at], line, *lines[after:], ""])


def _as_toml(value: str) -> str:
    try:
        tomllib.loads(f"key = {value}")
    except tomllib.TOMLDecodeError:
        return json.dumps(value, ensure_ascii=False)
    return value


# ------------------------------------------------------------------- how a wrong setting is refused
# How a wrong setting is refused: in one line, with the name that is meant, where one is near.

MESSAGE_MAX = 500  # of a message that repeats what was given
_SECRET_NAME = re.compile(r"api.?key|^key$|secret|password|credential")
_NAMES_A_PLACE = re.compile(r"notify\.secret|openai\.key|models\.[^.]+\.key")
_SECRET_VALUE = re.compile(r"AIza[0-9A-Za-z_-]{30,}|\bsk-[0-9A-Za-z_-]{20,}")


def nearest_name(name: str, known: Sequence[str]) -> str:
    """The known name that is meant, by what stands behind table or prefix; else empty."""
    by_end = {_last_part(one): one for one in reversed(known)}
    from difflib import get_close_matches  # only who mistyped a name waits for it

    found = get_close_matches(_last_part(name[:100]), by_end, 1, 0.65)
    return by_end[found[0]] if found else ""


def _last_part(name: str) -> str:
    return name.rpartition(".")[2].removeprefix("WAKELOG_")


def unknown_setting(
    what: str, name: str, known: Collection[str], more: Sequence[str] = ()
) -> Refused:
    """A key or variable that there is not; a near one is told, of `known` or else of `more`."""
    meant = nearest_name(name, list(known)) or nearest_name(name, more)
    instead = f"did you mean {meant}?" if meant else f"known are {', '.join(known)}"
    return Refused("unknown_setting", because=f"{_one_line(what)} is not known", instead=instead)


def invalid_setting(because: str, instead: str) -> Refused:
    return Refused("invalid_value", because=_one_line(because), instead=instead)


def _one_line(text: str) -> str:
    """One line, whatever a quoted key or a path may hold."""
    return "".join(char if char.isprintable() else "?" for char in text[:MESSAGE_MAX])


def refuse_secrets(table: Mapping[str, Any], path: str) -> None:
    """See that a table holds no key of a provider. Raises Refused."""
    for name, value in _leaf_values(table):
        last = name.rpartition(".")[2].lower()
        if _NAMES_A_PLACE.fullmatch(name):
            continue  # where a secret is kept, and nothing else is taken
        if _SECRET_NAME.search(last) or (
            isinstance(value, str) and _SECRET_VALUE.search(value) is not None
        ):
            raise invalid_setting(
                f"{path}: {name} looks like an API key, and keys are not read from files",
                "remove it, and set GEMINI_API_KEY or OPENAI_API_KEY, or use the system's keyring",
            )


def _leaf_values(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaf_values(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


# ------------------------------------------ what counts: a home's text over its database's defaults
# What counts of a home's settings and of the defaults of its database, which stand below them.
#
# A key of the home's counts before the same key of the defaults, unless these lock it. The table of
# an endpoint (`[openai]`, `[models.NAME]`) counts whole: a key of the one goes to no address of the
# other.

LOCKED = "locked"
_WHOLE_TABLES = ("openai",)


class Defaults(NamedTuple):
    """What all homes of a database have. `locked`: keys that no home may set."""

    table: Mapping[str, Any] = {}
    locked: Collection[str] = ()


NO_DEFAULTS = Defaults()


def read_toml(text: str, path: str) -> dict[str, Any]:
    """The tables of a text. Raises Refused, code ``invalid_value``: it is not TOML."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, InvalidOperation) as error:
        instead = "correct it, or delete the line"
        raise invalid_setting(f"{path} is not TOML: {error}", instead) from None


def read_defaults(text: str, path: str) -> Defaults:
    """What a text says for all homes. Raises Refused, code ``invalid_value``."""
    table = read_toml(text, path)
    return Defaults(table, _locked_keys(table.pop(LOCKED, {}), path))


def with_defaults(table: Mapping[str, Any], below: Defaults) -> dict[str, Any]:
    """What counts.

    >>> below = Defaults({"model": "gemini", "agents": {"parallel": 2}}, ["model"])
    >>> with_defaults({"model": "rules", "agents": {"mode": "hybrid"}}, below)
    {'model': 'gemini', 'agents': {'parallel': 2, 'mode': 'hybrid'}}
    """
    found = dict(below.table)
    for name, value in table.items():
        under = found.get(name)
        is_mixed = isinstance(under, dict) and isinstance(value, dict) and name not in _WHOLE_TABLES
        found[name] = {**under, **value} if is_mixed and under else value
    for name in below.locked:
        _set_value(found, name, value_at(below.table, name))
    return found


def check_locks(before: str, after: str, below: Defaults, where: str) -> None:
    """See that a home's text sets no key anew that the defaults lock. Raises Refused, code
    ``invalid_value``; `where` says which defaults."""
    was, now = read_toml(before, where), read_toml(after, where)
    for name in below.locked:
        if value_at(now, name) not in (None, value_at(was, name)):
            instead = "ask who runs it; `wakelog settings --defaults show` tells what counts"
            raise invalid_setting(f"{name} is locked by {where}", instead)


def value_at(table: Mapping[str, Any], name: str) -> Any:
    """The value of a key, like ``agents.parallel``; None where there is none."""
    first, _, rest = name.partition(".")
    found = table.get(first)
    return value_at(found, rest) if rest and isinstance(found, dict) else None if rest else found


def _set_value(table: dict[str, Any], name: str, value: Any) -> None:
    """Put the value of a key; None takes it away."""
    first, _, rest = name.partition(".")
    if rest:
        inner = dict(table[first]) if isinstance(table.get(first), dict) else {}
        _set_value(inner, rest, value)
        value = inner
    if value is None:
        table.pop(first, None)
    else:
        table[first] = value


def _locked_keys(given: Any, path: str) -> list[str]:
    """The keys that are said to be locked, in whichever way TOML may write them."""
    if not isinstance(given, dict):
        instead = "write [locked], and below it KEY = true"
        raise invalid_setting(f"{path}: {LOCKED} is no table", instead)
    found = []
    for name, value in given.items():
        if isinstance(value, dict):
            found += [f"{name}.{one}" for one in _locked_keys(value, path)]
        elif value is True:
            found.append(name)
        elif value is not False:
            told = f"{path}: {LOCKED}.{name} is {value!r}"
            raise invalid_setting(told, "write true, or delete the line")
    return found
