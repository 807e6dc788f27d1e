"""The settings of a home as text: what a new one is given, and how one key is changed."""

import json
import re
import tomllib

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

# [prices."gemini:MODEL"]        # of a million tokens, in your currency; without it no cost is told
# input = 1.25
# output = 10                    # thoughts too
# cached = 0.31                  # of input from a cache; without it, it costs as other input
# since = "2027-01-01"           # from this day on, UTC; of several: [[prices."gemini:MODEL"]] each
"""
"""What a new home is given; with every # gone before a key, it says the same."""


def with_setting(text: str, key: str, value: str) -> str:
    """The text with one key set, all else of which stays; whether that is allowed is not looked at.

    Args:
        text: TOML.
        key: With its table before it, ``agents.parallel``.
        value: As TOML has it; what is none is taken as a text.

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
