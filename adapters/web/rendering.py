"""Pages from templates: everything is escaped, and nothing a template prints is left raw."""

import json
import secrets
from datetime import timedelta
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from adapters.documents.inbox import place_told
from adapters.text.agent_output import rule_text, since_line
from adapters.text.common import ago, counted, lasting, run_shown
from adapters.text.improving import rehearsed_text
from adapters.text.policy import kinds_told
from adapters.text.task import duration
from adapters.web import charts, markdown
from adapters.web.filters import (
    absolute,
    by_whom,
    clip,
    exact,
    local,
    one_line,
    percent,
    plainly,
    revealed,
    shown,
    span,
    took,
    wall,
    weekday,
)
from adapters.web.plain_text import bare
from adapters.web.prompts import read, section_purpose, section_title
from domain.policy.gate import NOTICE_VERSION

NONCE_BYTES = 9
_CLOCK = Markup('<time datetime="{}" title="{}">{}</time>')  # below its day
_SINCE = Markup('<time datetime="{}" title="{}"><span class="ago">{}</span></time>')  # of a row
_WHEN = Markup('<time datetime="{}" title="{}">{} (<span class="ago"{}>{}</span>)</time>')


def render(template: str, values: dict[str, Any]) -> str:
    """A page; `now` and `zone` of its values tell its times."""
    now, zone = str(values["now"]), str(values["zone"])

    def when(at: str | None, *, is_countdown: bool = False, is_told: bool = False) -> Markup:
        """A time, with how far it is from now beside it; to the second on hover.

        `is_told`: the time itself stands there already.
        """
        if not at:
            return Markup("")
        kind = Markup(" data-countdown") if is_countdown else ""
        told = "" if is_told else absolute(at, now, zone)
        return _WHEN.format(at, exact(at, zone), told, kind, ago(at, now))

    return (
        environment()
        .get_template(template)
        .render(
            **values,
            when=when,
            tomorrow=(local(now, zone).date() + timedelta(days=1)).isoformat(),
            since=lambda at: _SINCE.format(at, exact(at, zone), ago(at, now)) if at else "",
            clock=lambda at: _CLOCK.format(at, exact(at, zone), f"{local(at, zone):%H:%M}"),
            day=lambda at: weekday(local(at, zone).date(), local(now, zone).date()),
            wall=lambda at: wall(at, zone),
            span=lambda one: span(one["start"], one["end"], now, zone),
        )
    )


@cache
def environment() -> Environment:
    """The templates of this package, with our filters."""
    made = Environment(
        loader=PackageLoader("adapters.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    named = (
        bare, called_with, clip, counted, duration, kinds_told, lasting, percent, plainly, pretty,
        read, rehearsed_text, said, section_purpose, section_title,
    )  # fmt: skip
    made.filters |= {one.__name__: one for one in named} | {
        "line": one_line,
        "markdown": markdown.html,
        "run": run_shown,
        "whom": by_whom,
        "place": place_told,
        "rule": rule_text,
        "share": charts.share,
        "since": since_line,
    }
    made.globals["took"] = took
    made.globals["notice_version"] = NOTICE_VERSION
    made.globals["nonce"] = lambda: secrets.token_urlsafe(NONCE_BYTES)
    return made


def _printed(value: Any) -> Any:
    """What a template prints: no control characters, no ``None``."""
    if value is None:
        return ""
    return shown(value) if type(value) is str else value


def said(text: object) -> Markup:
    """Words that somebody wrote: their direction stays theirs, and none of them is invisible."""
    return Markup('<bdi dir="auto">{}</bdi>').format(escape(revealed(str(text or ""))))


def called_with(arguments: str) -> str:
    """The arguments of a call, one a line; texts with their own line ends.

    >>> called_with('{"title":"a\\\\nb","minutes":90}')
    'title: a\\nb\\nminutes: 90'
    """
    try:
        told = json.loads(arguments)
    except ValueError:
        return arguments
    if not isinstance(told, dict):
        return arguments
    words = (
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in told.items()
    )
    return "\n".join(f"{name}: {value}" for name, value in words)


def pretty(value: Any) -> str:
    """A value of the log as text that a person can read."""
    if isinstance(value, str):
        return clip(value)
    return clip(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=False))
