"""The settings that a new home is given, as text."""

DEFAULT_TOML = """\
# Settings of this home. A line counts once the # before it is gone; shown are the defaults.
# API keys do not belong here: set GEMINI_API_KEY, or keep the key in the system's keyring.

# timezone = "UTC"               # your time zone, like "Europe/Berlin"   (WAKELOG_TIMEZONE)
# model = "rules"                # rules, gemini, gemini:MODEL, tape:FILE  (WAKELOG_MODEL, --model)

# [agents]
# enabled = true                 # false: no agent wakes
# mode = "hybrid"                # of new agents: autonomous, interactive, hybrid
# parallel = 3                   # how many run at once
# propagated_at = "06:00"        # when agents look at changes of linked tasks
# deadline_seconds = 600         # of one wake
# expire_after_days = 0          # when undecided proposals expire; 0: never
# throttle_seconds = 120         # how long a changed task is left alone before its agent wakes

# [budget]                       # tokens, in and out; 0: no limit
# tokens_per_wake = 0
# tokens_per_agent_day = 0
# tokens_per_day = 0

# [prompt]
# max_bytes = 120000

# [import]
# gone = "keep"                  # tasks that left their file: keep, reject or delete  (--gone)

# [policy]
# scrub_entry = false            # true: secrets of known kinds are not kept; agents never see any

# [gemini]
# base_url = ""                  # another endpoint of the same API (WAKELOG_GEMINI_BASE_URL)

# [otel]                         # OpenTelemetry spans of wakes (needs wakelog[otel])
# enabled = false                # true: send them to OTEL_EXPORTER_OTLP_ENDPOINT
# texts = false                  # true: with prompts, replies and names in them

# [analytics]
# memory_mb = 1024               # that `wakelog sql` and the like may use

# [prices."gemini:MODEL"]        # of a million tokens, in your currency; without it no cost is told
# input = 1.25
# output = 10
"""
"""What a new home is given; with every # gone before a key, it says the same."""
