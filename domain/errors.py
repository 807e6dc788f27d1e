"""Everything wakelog can say no with. A message says what happened, what was expected
and what to do; the same values are attributes, so nobody parses text.

    WakelogError
    ├── Refused      a person's command that the rules do not allow now: told, no row written
    ├── KeyReused    one idempotency key, two different commands
    ├── UnknownFact  the log holds a row that this version cannot read
    └── Damaged      a file is no log, is cut short, or is of a newer format

What an agent or a tool may not do is never raised: it is a recorded fact with a code,
``ToolReturned(status="denied", code="unknown_tool", ...)``, and the wake goes on (SPEC 5).
"""

from typing import Final

TOOL_CODES: Final = (
    "unknown_tool",
    "invalid_json",
    "invalid_arguments",
    "out_of_scope",
    "missing_category",
    "wake_reason_not_allowed",
    "not_found",
    "redundant",
    "sovereignty",
    "stale",
    "limit",
    "internal",
)
"""Codes of a refused tool call or operation; the model is told them (SPEC 5)."""

REFUSAL_CODES: Final = (
    "agent_dormant",
    "agent_exists",
    "agent_running",
    "ambiguous",
    "cycle",
    "decided",
    "invalid_input",
    "invalid_value",
    "key_reused",
    "missing_extra",
    "missing_key",
    "model_unavailable",
    "moved_home",
    "newer_format",
    "newer_rules",
    "not_a_log",
    "not_destroyed",
    "nothing_to_adopt",
    "other_past",
    "out_of_scope",
    "stale",
    "switched_off",
    "task_deleted",
    "template_in_use",
    "unknown_agent",
    "unknown_category",
    "unknown_fact",
    "unknown_item",
    "unknown_label",
    "unknown_payload",
    "unknown_set",
    "unknown_setting",
    "unknown_task",
    "unknown_template",
    "unknown_wake",
    "unreadable_file",
    "needs_all",
    "no_agent",
    "nothing_running",
    "read_only",
)
"""Codes of a refusal told to a person (SPEC 5, 9)."""


class WakelogError(Exception):
    """A refusal with a code, what happened, and what to do about it."""

    def __init__(self, code: str, *, because: str, instead: str) -> None:
        super().__init__(f"{because}; {instead}")
        self.code = code
        self.because = because
        self.instead = instead


class Refused(WakelogError):
    """A person's command that the rules do not allow now."""


class KeyReused(WakelogError):
    """One idempotency key, two different commands."""

    def __init__(self, key: str) -> None:
        super().__init__(
            "key_reused",
            because=f"the key {key!r} already stands for another command",
            instead="use a new key, or repeat the first command exactly",
        )


class UnknownFact(WakelogError):
    """The log holds a row that this version cannot read."""


class Damaged(WakelogError):
    """A file is no log, is cut short, or is of a newer format."""
