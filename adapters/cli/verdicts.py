"""A person's say about what agents propose: `wakelog confirm`, `reject` and `defer`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.lazy_groups import command
from adapters.cli.param_types import TEXT
from adapters.cli.shared import Session, flag, json_option, key_option, option, yes_option
from adapters.documents.inbox import by_name, summary_of
from adapters.documents.results import DecidedItem, DecidedItems
from adapters.home.read_input import read_input
from adapters.text.common import counted, safe
from adapters.text.remedies import in_words
from adapters.usecases.inputs import TEXT_BYTES_MAX
from adapters.usecases.proposals import (
    ItemVerdict,
    decide_all,
    deferral,
    edited,
    item_of,
    named_items,
    read_edit,
)
from domain.errors import invalid
from domain.log import canonical
from domain.tools import registry

if TYPE_CHECKING:
    from adapters.usecases.proposals import NamedItem, VerdictResult
    from adapters.wiring import Home
    from domain.tools.base import Remedy

DIRECTIVES = ("general", "report")
"""Arguments that are whole texts: an edit may name a file instead."""
REMEDIES: dict["Remedy", str] = {
    "make_room": "make room with `wakelog label remove`, or reject {ref}",
    "allow_label": "`wakelog label allow` takes that back; else reject {ref}",
    "other_times": "see `wakelog day`, then `wakelog confirm {ref} --edit start=14:00 end=15:00`",
    "give_reason": '`wakelog confirm {ref} --edit \'{{"reason": "..."}}\'` gives one',
}


def decide(
    session: Session, verdict: "ItemVerdict", refs: Sequence[str], key: str, *, is_all: bool
) -> int:
    """Decide what is named, or all, and tell what came of each; the exit status. The edit of a
    verdict is a JSON object of what differs; `is_all`: whole sets are meant."""
    home = session.reading()
    named = named_items(home, verdict.kind, refs, is_all=is_all)
    is_asked = not refs and verdict.kind != "defer" and not session.is_agreed
    if is_asked and not _agreed(session, home, verdict, named):
        return 0
    if any(one.is_meant for one in named) or key:
        home = session.writing()
    if has_edit := bool(verdict.edit):
        verdict = verdict._replace(edit=edited(home, named[0], verdict.edit or ""))
    results = []
    for one, decided in decide_all(home, named, verdict, key):
        results.append(_result(home, one, decided, verdict, has_edit=has_edit))
        if decided.is_unchanged and verdict.reason not in ("", decided.item.reason):
            why = (
                f"with the reason {decided.item.reason!r}" if decided.item.reason else "without one"
            )
            session.note(f"{one.ref} was {decided.item.status} before {why}; that stays.")
    if not session.printed(DecidedItems(results)):
        for result in results:
            session.say(safe(_line(result)))
        if not results:
            session.say(f"Nothing to {verdict.kind}.")
    return 1 if any(one.error for one in results) else 0


def _agreed(
    session: Session, home: "Home", verdict: "ItemVerdict", named: "Sequence[NamedItem]"
) -> bool:
    """Show what is about to be done to all, and ask; without a terminal nobody is asked."""
    meant = [one for one in named if one.is_meant]
    if not meant or not session.can_ask:
        return True
    for one in meant:
        summary = summary_of(home, one.set_id, item_of(home, one.set_id, one.number))
        click.echo(safe(f"{one.ref:6} {summary}"), err=True)
    question = f"{verdict.kind.capitalize()} {counted(len(meant), 'proposal')}?"
    if click.confirm(question, default=False, err=True):
        return True
    session.say(session.hint("Nothing was decided. Name what is meant, `wakelog inbox` shows it."))
    return False


def _result(
    home: "Home", one: "NamedItem", decided: "VerdictResult", verdict: "ItemVerdict", *,
    has_edit: bool,
) -> DecidedItem:  # fmt: skip
    """What came of one item; a refusal ends it where its arguments may be wrong."""
    if refused := decided.refused:
        if has_edit and refused.code in ("invalid_value", "invalid_input"):
            raise refused
        error = by_name(in_words(refused), one.set_id, one.ref.partition(".")[0])
    else:
        error = _why_not(decided, one.ref, has_edit=has_edit)
    return DecidedItem(
        ref=one.ref,
        status=decided.item.status,
        error=error or None,
        summary=summary_of(home, one.set_id, decided.item),
        unchanged=decided.is_unchanged,
        concluded=decided.is_done and verdict.concludes,
    )


def _why_not(decided: "VerdictResult", ref: str, *, has_edit: bool) -> str:
    """Why an item is not as the person wanted it; empty if it is."""
    told = decided.error
    if told and (instead := _instead(decided, ref, has_edit=has_edit)):
        told = f"{told.rstrip('.')}; {instead}"
    return f"{told} [{decided.code}]" if decided.code else told


def _instead(decided: "VerdictResult", ref: str, *, has_edit: bool) -> str:
    """What the person can do about a failure that they alone can mend."""
    change = registry.CHANGES.get(decided.item.tool)
    remedy = change.effect.remedies.get(decided.code) if change else None
    match decided.code:
        case _ if remedy:
            return REMEDIES[remedy].format(ref=ref)
        case "stale":
            again = " and the same --edit" if has_edit else ""
            return f"look at the task, then `wakelog confirm {ref} --anyway`{again}"
        case "out_of_scope":
            return "move the task back, or `wakelog agent set AGENT --category C`"
        case _:
            return ""


def _line(result: DecidedItem) -> str:
    head = f"{result.ref:6} {result.status}: {result.summary}"
    if result.error:
        return f"{head}\n       not done: {result.error}"
    told = f"{head} (it was already)" if result.unchanged else head
    return f"{told}\n       the task is DONE" if result.concluded else told


# ------------------------------------------------------------------------------------- the commands


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for add in (
        json_option,  # before the options that are not of all verdicts
        key_option,
        flag("--all is_all", "A whole set; alone: all in the inbox."),
        click.argument("refs", nargs=-1, metavar="SET[.ITEM]..."),
    ):
        command = add(command)
    return command


_reason_option = option("--reason=R", "Why; the agent is told.", default="")


def _with_files(given: dict[str, Any], edit: str) -> str:
    """An edit with the texts of the files that it names: ``general=@calmer.md``."""
    named = {one: at for one in DIRECTIVES if str(at := given.get(one, "")).startswith("@")}
    if not named:
        return edit
    texts = {
        name: TEXT(read_input(at[1:], TEXT_BYTES_MAX).decode("utf-8", "replace"))
        for name, at in named.items()
    }
    return canonical.text({**given, **texts})


@command("confirm", example=("3.1", "3 --all", "3.1 --edit estimate=45"))
@_options
@option("--edit=A=V", "What to change first; JSON; general=@FILE.", default="")
@yes_option("Do not ask before all.")
@flag("--anyway is_anyway", "Apply it though it is stale.")
@flag("--conclude concludes", "Then set the task done.")
def confirm_command(
    session: Session, *, refs: Sequence[str], is_all: bool, edit: str, is_anyway: bool,
    concludes: bool, key: str,
) -> None:  # fmt: skip
    """Apply proposed changes to the task, one after the other.

    A stale one, whose values have changed since it was proposed, is refused without --anyway.
    Exit status 1: some were not applied.
    """
    # a shell hands what stands behind the first of `--edit a=1 b=2` over as names
    edit = " ".join([edit, *(one for one in refs if edit and "=" in one)]).strip()
    refs = [one for one in refs if not (edit and "=" in one)]
    is_one = len(refs) == 1 and "." in refs[0] and not is_all
    if (edit or concludes) and not is_one:
        because = "--edit changes one item" if edit else "--conclude goes with one item"
        raise invalid(because, "name it, 3.1 for example")

    if edit:
        edit = _with_files(read_edit(edit), edit)
    verdict = ItemVerdict("confirm", edit=edit, is_anyway=is_anyway, concludes=concludes)
    raise SystemExit(decide(session, verdict, refs, key, is_all=is_all))


@command("reject", example='3.2 --reason "We have one already"')
@_options
@_reason_option
@yes_option("Do not ask before all.")
def reject_command(
    session: Session, *, refs: Sequence[str], is_all: bool, reason: str, key: str
) -> None:
    """Decline proposed changes; a declined label is not proposed for the task again."""
    raise SystemExit(decide(session, ItemVerdict("reject", reason), refs, key, is_all=is_all))


@command("defer", example="3 --all --until monday")
@_options
@_reason_option
@option("--until=DAY", "monday, +3d: the inbox shows them then.", default="")
def defer_command(
    session: Session, *, refs: Sequence[str], is_all: bool, reason: str, until: str, key: str
) -> None:
    """Put proposed changes off: they leave the inbox, and can still be decided."""
    verdict = deferral(session.reading(), reason, until) if until else ItemVerdict("defer", reason)
    raise SystemExit(decide(session, verdict, refs, key, is_all=is_all))
