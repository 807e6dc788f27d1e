"""Everything wakelog can say no with. A message says what happened, what was expected
and what to do; the same values are attributes, so nobody parses text.

    WakelogError
    ├── Refused      a person's command that the rules do not allow now: told, no row written
    ├── KeyReused    one idempotency key, two different commands
    ├── UnknownFact  the log holds a row that this version cannot read
    └── Damaged      a file is no log, is cut short, or is of a newer format

What an agent or a tool may not do is never raised: it is a recorded fact with a code,
``ToolReturned(status="denied", code="unknown_tool", ...)``, and the wake goes on (SPEC 5)."""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

TOOL_CODES: Final = (
    "unknown_tool", "invalid_json", "invalid_arguments", "out_of_scope", "missing_category",
    "wake_reason_not_allowed", "not_found", "redundant", "sovereignty", "stale", "limit", "cycle",
    "internal", "copied", "too_soon",
)  # fmt: skip
"""Codes of a refused tool call or operation; the model is told them (SPEC 5)."""

REFUSAL_CODES: Final = (
    "agent_dormant", "agent_exists", "agent_running", "ambiguous", "another_home", "cycle",
    "decided", "disallowed_provider_model", "forked_replica", "frozen", "home_open",
    "invalid_input", "invalid_value", "key_reused", "missing_extra", "missing_key",
    "model_unavailable", "moved", "moved_database", "moved_home", "newer_format", "newer_rules",
    "not_a_log", "not_destroyed", "not_found", "not_shared", "nothing_to_adopt", "doubtful_clock",
    "other_past", "out_of_memory", "out_of_scope", "overshared_payload_blocked",
    "privacy_confirmation_required", "put_back", "secret_unavailable", "stale", "switched_off",
    "task_deleted", "template_in_use", "timed_out", "too_many", "unknown_agent", "unknown_block",
    "unknown_category", "unknown_fact", "unknown_home", "unknown_item", "unknown_label",
    "unknown_payload", "unknown_replica", "unknown_set", "unknown_setting", "unknown_task",
    "unknown_template", "unknown_wake", "unreadable_file", "needs_all", "needs_first", "no_agent",
    "nothing_running", "read_only", "replaced",
)  # fmt: skip
"""Codes of a refusal told to a person (SPEC 5, 9)."""

RemedyName = Literal[
    "allow_category", "allow_sending", "assign_other_template", "assign_template", "await_wake",
    "await_wake_or_recover", "create_agent", "destroy_agent", "give_task_agent", "pause_agent",
    "recover_wake", "rename_category", "restore_task", "restore_task_and_resume", "resume_agent",
    "see_agent", "see_agents", "see_agents_one_a_task", "see_all_items", "see_all_proposals",
    "see_categories", "see_labels", "see_open_proposals", "see_status", "see_task_items",
    "see_task_notes", "see_task_time", "see_tasks", "see_template", "see_templates", "see_wakes",
    "start_timer", "wait_until_free", "wake_or_set_hybrid",
]  # fmt: skip
"""What a refusal says to do, where that is done differently on each screen."""

REPEATED_MAX = 200  # characters of a title, a path or a key that a message repeats
TOLD_MAX = 1_000  # characters of a message
_LONG = re.compile(
    rf"""'[^']{{{REPEATED_MAX},}}'|"[^"]{{{REPEATED_MAX},}}"|\S{{{REPEATED_MAX},}}"""
)


def cut(text: str) -> str:
    """A message without the middle of what is too long in it, be it quoted or one long word.

    >>> cut(f"there is no task {'x' * 10_000!r}").replace("x" * 90, "...")
    "there is no task '...xxxxxxxxx…...xxxxxxxx'"
    """
    return _LONG.sub(lambda found: _shortened(found[0], REPEATED_MAX), _shortened(text, TOLD_MAX))


def _shortened(text: str, most: int) -> str:
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}…{text[half + 1 - most :]}"


class Remedy(NamedTuple):
    """A deed that would help: its name, and the start of the id of what it is done to, if any."""

    name: RemedyName
    about: str = ""


class WakelogError(Exception):
    """A refusal with a code, what happened, and what to do about it: in words, or a remedy that
    each screen words.

    `whole` is what happened with nothing cut: for what is recorded, whose bytes never change."""

    def __init__(self, code: str, *, because: str, instead: str | Remedy) -> None:
        self.code = code
        self.whole = because
        self.because = cut(because)
        self.remedy = instead if isinstance(instead, Remedy) else None
        self.instead = "" if isinstance(instead, Remedy) else cut(instead)
        super().__init__(f"{self.because}; {self.instead or self._remedy()}".removesuffix("; "))

    def _remedy(self) -> str:
        """The remedy's own name, where no screen words it: in a program's traceback."""
        remedy = self.remedy
        return cut(f"{remedy.name.replace('_', ' ')} {remedy.about}".strip()) if remedy else ""

    def instead_in(self, words: Mapping[RemedyName, str]) -> str:
        """What to do, in the words of one screen."""
        remedy = self.remedy
        return cut(words[remedy.name].format(remedy.about)) if remedy else self.instead


class Refused(WakelogError):
    """A person's command that the rules do not allow now."""


def invalid(because: str, instead: str | Remedy) -> Refused:
    """What a person gave is no value of its kind."""
    return Refused("invalid_value", because=because, instead=instead)


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
