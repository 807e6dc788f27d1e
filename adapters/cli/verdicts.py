"""Tells what came of a person's verdicts, one item after the other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from adapters.actions.deciding import arguments_of, decide_all, item_of
from adapters.actions.proposals import named_items
from adapters.cli.shared import Session
from adapters.documents.deeds import DecidedItem, DecidedItems
from adapters.documents.inbox import by_name, summary_of
from adapters.text.common import safe
from adapters.text.remedies import in_words
from domain import canonical
from domain.errors import Refused, WakelogError
from domain.tools import registry

if TYPE_CHECKING:
    from adapters.actions.deciding import Decided, Verdict
    from adapters.actions.proposals import Named
    from adapters.wiring import Home
    from domain.tools.base import Remedy

REMEDIES: dict["Remedy", str] = {
    "make_room": "make room with `wakelog label remove`, or reject {ref}",
    "allow_label": "`wakelog label allow` takes that back; else reject {ref}",
    "give_reason": '`wakelog confirm {ref} --edit \'{{"reason": "..."}}\'` gives one',
}


def decide(
    session: Session, verdict: "Verdict", refs: Sequence[str], key: str, *, is_all: bool
) -> int:
    """Decide what is named, and tell what came of each; the exit status.

    Args:
        session: Where.
        verdict: What is to become of them; its edit is a JSON object of what differs.
        refs: What was typed: items, sets, or nothing for all.
        key: The caller's idempotency key.
        is_all: Whole sets are meant.
    """
    home = session.reading()
    named = named_items(home, verdict.kind, refs, is_all=is_all)
    if any(one.is_meant for one in named) or key:
        home = session.writing()
    if has_edit := bool(verdict.edit):
        verdict = verdict._replace(edit=_edited(home, named[0], verdict.edit or ""))
    results = [
        _result(home, one, decided, verdict, has_edit=has_edit)
        for one, decided in decide_all(home, named, verdict, key)
    ]
    if session.as_json:
        session.document(DecidedItems(results))
    else:
        for one in results:
            session.say(safe(_line(one)))
        if not results:
            session.say(f"Nothing to {verdict.kind}.")
    return 1 if any(one.error for one in results) else 0


def _result(
    home: "Home", one: "Named", decided: "Decided", verdict: "Verdict", *, has_edit: bool
) -> DecidedItem:
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


def _why_not(decided: "Decided", ref: str, *, has_edit: bool) -> str:
    """Why an item is not as the person wanted it; empty if it is."""
    told = decided.error
    if told and (instead := _instead(decided, ref, has_edit=has_edit)):
        told = f"{told.rstrip('.')}; {instead}"
    return f"{told} [{decided.code}]" if decided.code else told


def _instead(decided: "Decided", ref: str, *, has_edit: bool) -> str:
    """What the person can do about a failure that they alone can mend."""
    match decided.code:
        case "stale":
            again = " and the same --edit" if has_edit else ""
            return f"look at the task, then `wakelog confirm {ref} --anyway`{again}"
        case "out_of_scope":
            return "move the task back, or `wakelog agent set AGENT --category C`"
        case code:
            change = registry.CHANGES.get(decided.item.tool)
            remedy = change.effect.remedies.get(code) if change else None
            return REMEDIES[remedy].format(ref=ref) if remedy else ""


def read_edit(edit: str) -> dict[str, Any]:
    """What `--edit` says.

    Raises:
        Refused: Code ``invalid_value``.
    """
    try:
        given = canonical.read(edit)
    except WakelogError as error:
        given = error.because
    if isinstance(given, dict):
        return given
    because = f"--edit is no JSON object: {given}"[:200]
    instead = "give what differs, '{\"minutes\": 45}' for example"
    raise Refused("invalid_value", because=because, instead=instead)


def _edited(home: "Home", one: "Named", edit: str) -> str:
    """The item's arguments with the edited ones in their place; null takes one away."""
    known = msgspec.json.decode(arguments_of(home, item_of(home, one.set_id, one.number)))
    merged = {**known, **read_edit(edit)}
    return canonical.text({name: value for name, value in merged.items() if value is not None})


def _line(result: DecidedItem) -> str:
    head = f"{result.ref:6} {result.status}: {result.summary}"
    if result.error:
        return f"{head}\n       not done: {result.error}"
    told = f"{head} (it was already)" if result.unchanged else head
    return f"{told}\n       the task is DONE" if result.concluded else told
