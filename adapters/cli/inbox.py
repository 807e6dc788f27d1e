"""`wakelog inbox`: what agents propose."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, option
from adapters.documents.agents import has_agents
from adapters.documents.inbox import (
    deferred_only,
    inbox_sets,
    page_of_sets,
    place_told,
    set_documents,
)
from adapters.documents.lessons import rules_offered
from adapters.documents.policy import unheard
from adapters.text.agent_output import rule_hint
from adapters.text.common import local_time, safe, typed
from adapters.text.improving import rehearsed_text
from adapters.text.policy import in_vain
from adapters.usecases.resolve import pick_task
from domain.log.timestamps import seconds_between
from domain.text import squeeze

if TYPE_CHECKING:
    from adapters.documents.inbox import InboxItem, InboxSet
    from adapters.wiring import Home

COUNT = click.IntRange(min=1)
SETS_SHOWN = 20  # where nothing else is said; --json has all
REF_LENGTH = 12  # of an address that stands before its proposal
EMPTY = "Nothing to review."
OPEN = ("pending", "deferred", "confirming")
NO_AGENTS = (
    "Nothing to review: there are no agents yet. "
    "Make some with `wakelog agent create --all`, then run `wakelog wake`."
)


@command(
    "inbox",
    "[task]",
    epilog='Examples: wakelog inbox; wakelog inbox "Fix the sink"; then wakelog confirm 3.1',
)
@flag("--all is_all", "Deferred and decided proposals, too.")
@option("--limit=N", f"Sets at most; else {SETS_SHOWN}, with --json all.", COUNT)
def inbox_command(session: Session, task: str | None, limit: int | None, is_all: bool) -> None:
    """See what agents propose, by task. An item is named SET.ITEM, 3.1 for example."""
    home = session.reading()
    task_id = pick_task(home, task) if task is not None else None
    most = limit or (-1 if session.as_json else SETS_SHOWN)
    sets, left = page_of_sets(home, is_all=is_all, task=task_id, limit=most)
    found = set_documents(home, sets, is_all=is_all)
    if session.printed(found):
        return
    if found:
        _tell_sets(session, found, home, is_all=is_all)
        if left:
            session.note(f"{left} more sets; raise --limit to see them.")
        for line in rules_offered(home, found):
            session.note(safe(rule_hint(line)))
    elif not has_agents(home):
        session.say(NO_AGENTS)
    else:
        deferred = deferred_only(home, task_id)
        put_off = f" {deferred} put off: see `wakelog inbox --all`." if deferred else ""
        session.say(EMPTY + put_off)
    for needed in unheard(home):
        session.note(safe(in_vain(needed)))


def _tell_sets(session: Session, sets: "list[InboxSet]", home: "Home", *, is_all: bool) -> None:
    now, zone = home.services.clock.now(), home.settings.timezone
    by_task: dict[str, list[InboxSet]] = {}
    for one in sets:
        by_task.setdefault(one.subject.id, []).append(one)
    for group in by_task.values():
        session.say(safe(group[0].subject.title), style="cyan")
        for one in group:
            age = _age(one.created_at, now) + (f", by {one.by}" if one.by else "")
            for item in one.items:
                indent = "    " if item.needs else "  "  # below the item that it needs
                told = f"{_told(item, zone)}  {age}{_because(item, zone)}"
                session.say(safe(f"{indent}{_ref(item.ref)}{told}"))
                _tell_diff(session, item)
            if one.said:
                session.say(safe(f'         {said_by(one)}: "{squeeze(one.said)}"'))
        session.say()
    first = next((one for one in sets if _open_refs(one)), None)
    if first is not None:
        ref = _open_refs(first)[0]
        name = ref.rpartition(".")[0]
        session.note(
            f"Decide with `wakelog confirm {typed(safe(ref))}` (or reject, defer), "
            f"or a whole set with `wakelog confirm {typed(safe(name))} --all`."
        )
    if not is_all:
        return
    session.note("Shown are decided proposals, too; `wakelog inbox` shows what waits for you.")


NOT_REHEARSED = "not rehearsed: `wakelog rehearse {}` tries it on your past"


def _tell_diff(session: Session, item: "InboxItem") -> None:
    """Directives beside those in force, a line each."""
    for line in item.diff or ():
        session.say(safe(f"         {line.sign} {line.text}"))
    if item.diff is not None and item.status in OPEN:
        session.say(f"         {rehearsed_text(item.rehearsed) or NOT_REHEARSED.format(item.ref)}")


def tell_items(session: Session, home: "Home", refs: Sequence[str]) -> None:
    """Print proposals of the inbox as it shows them."""
    found = [item for one in inbox_sets(home) for item in one.items if item.ref in refs]
    for item in found:
        session.say(safe(f"{_ref(item.ref)}{_told(item, home.settings.timezone)}"))
        _tell_diff(session, item)
    if found:
        session.note(f"Decide with `wakelog confirm {typed(safe(found[0].ref))}` or reject it.")


def said_by(one: "InboxSet") -> str:
    """Whose words stand with a set: nobody's but the client's."""
    return f"{(one.by or '').partition(' ')[0]} said"


def _ref(ref: str) -> str:
    """An address, as wide as most are; a longer one, of another machine, has a line to itself."""
    shown = typed(ref)
    return f"{shown:6} " if len(shown) <= REF_LENGTH else f"{shown}\n         "


def _open_refs(one: "InboxSet") -> list[str]:
    return [item.ref for item in one.items if item.status in OPEN]


def _told(item: "InboxItem", zone: str) -> str:
    """An item in one line."""
    parts = [item.summary]
    if item.now is not None and item.status in OPEN:
        parts.append(f"(now: {item.now})")
    reason, quoted = squeeze(item.reason or ""), squeeze(item.because or "")
    is_repeated = reason in item.summary or (bool(quoted) and quoted in reason)
    if reason and not (is_repeated and item.status in OPEN):  # then it is the agent's own
        parts.append(f"- {reason}")
    if item.status != "pending":
        until = f" until {local_time(item.until, zone)}" if item.until else ""
        by = f" by {item.who}" if item.who else ""
        parts.append(f"[{item.status}{by}{until}]")
    if item.undone:
        parts.append("[undone]")
    if item.stale:
        parts.append("[stale]")
    if item.error:
        parts.append(f"[last try: {item.error}]")
    return " ".join(parts)


def _because(item: "InboxItem", zone: str) -> str:
    """The words that an item rests on, and where they stand, on a line of their own."""
    if item.because is None:
        return ""
    place, at = place_told(item.because_at)
    where = f"{place} of {local_time(at, zone)[:10]}" if at else place or "not in what it was shown"
    return f'\n         "{squeeze(item.because)}" ({where})'


def _age(at: str, now: str) -> str:
    """How long ago, in the coarsest unit that says something.

    >>> _age("2027-01-01T00:00:00.000000Z", "2027-01-01T02:30:00.000000Z")
    '2 h ago'
    """
    seconds = seconds_between(at, now)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"
