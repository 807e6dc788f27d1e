"""Verdicts from the page: what was decided elsewhere meanwhile is told, never overwritten."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from adapters.documents.agents import summary_of
from adapters.runtime import retries, review
from adapters.web.asking import Asked, Clash, Told, Undo, missing
from adapters.web.editing import edited, fields_of
from adapters.web.inbox import version_of
from adapters.web.site import Site
from adapters.web.undoing import inverse
from domain import canonical
from domain.changes.change_set import Item, find
from domain.changes.commands import ConfirmItem, DeferItem, RejectItem
from domain.errors import WakelogError
from domain.journal.fold import TASK
from domain.journal.task import Task
from domain.wire import Stored

DONE = {"confirm": "confirmed", "anyway": "confirmed", "reject": "rejected", "defer": "deferred"}
SAID = {"confirmed": "Applied", "rejected": "Rejected", "deferred": "Put off"}
COMMANDS: dict[str, type[Stored]] = {
    "confirm": ConfirmItem,
    "anyway": ConfirmItem,
    "reject": RejectItem,
    "defer": DeferItem,
}
ALL_MAX = 500  # items of one "confirm all"
REASON_MAX = 500


class Ref(NamedTuple):
    """An item as a form names it, and as it stood when the form was made."""

    set_id: str
    number: int
    version: str


class Outcome(NamedTuple):
    """What came of one verdict."""

    text: str
    kind: str
    undo: Undo | None = None


def decide(site: Site, asked: Asked) -> Told:
    """One item: confirm, confirm anyway, reject or defer."""
    verdict = asked.needed("verdict")
    if verdict not in DONE:
        raise missing("invalid_input", "verdict", verdict)
    ref = _ref(asked.needed("ref"))
    one = _decided(site, ref, verdict, asked, asked.key)
    clashes = _typed(site, ref, asked) if one.kind == "conflict" else ()
    return Told(one.text, one.kind, one.undo, kept=_kept([ref]), clashes=clashes)


def decide_all(site: Site, asked: Asked) -> Told:
    """All items that a page showed together, one after the other."""
    refs = [_ref(one) for one in asked.lists.get("ref", [])[:ALL_MAX]]
    if not refs:
        raise missing("unknown_item", "item", "")
    outcomes = [
        _decided(site, ref, "confirm", asked, f"{asked.key}-{nth}")
        for nth, ref in enumerate(refs, start=1)
    ]
    failed = [one for one in outcomes if one.kind != "done"]
    text = f"{len(outcomes) - len(failed)} of {len(outcomes)} applied."
    is_conflict = failed and len(failed) == len(outcomes)
    lines = [one.text for one in outcomes]
    return Told(text, "conflict" if is_conflict else "done", lines=lines, kept=_kept(refs))


def _kept(refs: Sequence[Ref]) -> list[tuple[str, int]]:
    return [(one.set_id, one.number) for one in refs]


def _typed(site: Site, ref: Ref, asked: Asked) -> list[Clash]:
    """What a form said that came too late: the reason, and the fields that were edited."""
    item = _item(site, ref)
    reason = asked.form.get("reason", "").strip()
    found = [Clash("Why", item.reason, reason)] if reason else []
    arguments = msgspec.json.decode(review.arguments_of(site.home.desk, item))
    for field in fields_of(item.tool, arguments):
        now, yours = str(field["value"]), asked.form.get(field["name"])
        if yours is not None and yours.strip() != now:
            found.append(Clash(field["label"], now, yours))
    return found


def _ref(given: str) -> Ref:
    set_id, _, rest = given.partition(".")
    number, _, version = rest.partition(".")
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        raise missing("unknown_item", "item", given)
    return Ref(set_id, int(number), version)


def _decided(site: Site, ref: Ref, verdict: str, asked: Asked, key: str) -> Outcome:
    desk = site.home.desk
    item = _item(site, ref)
    wanted, reason = DONE[verdict], asked.form.get("reason", "").strip()[:REASON_MAX]
    said: dict[str, object] = {"changes": ref.set_id, "item": ref.number}
    known = retries.before(desk.agents, key, COMMANDS[verdict], **said)
    if known is None and ref.version != version_of(item):
        return Outcome(_meanwhile(site, ref, item), "conflict")
    before = _task(site, ref)
    try:
        if item.asked is not None:  # a process that is gone left it in doubt
            review.recover(desk, ref.set_id)
        if known is None:
            _carry_out(site, ref, verdict, reason, asked, key)
    except WakelogError as error:
        return Outcome(_told(site, ref, item, f"{error.because}; {error.instead}"), "problem")
    after = _item(site, ref)
    if after.status != wanted:
        kind = "conflict" if after.error_code == "stale" else "problem"
        return Outcome(_told(site, ref, after, after.error or f"it is {after.status}"), kind)
    undo = inverse(before, _task(site, ref)) if wanted == "confirmed" else None
    return Outcome(f"{SAID[wanted]}: {summary_of(site.home, ref.set_id, after)}", "done", undo)


def _carry_out(
    site: Site, ref: Ref, verdict: str, reason: str, asked: Asked, key: str
) -> Item | None:
    desk = site.home.desk
    if verdict == "reject":
        return review.reject(desk, ref.set_id, ref.number, reason, key)
    if verdict == "defer":
        return review.defer(desk, ref.set_id, ref.number, reason, key)
    item = _item(site, ref)
    arguments = msgspec.json.decode(review.arguments_of(desk, item))
    changed = edited(item.tool, arguments, asked.form)
    text = canonical.text(changed) if changed is not None else ""
    return review.confirm(
        desk, ref.set_id, ref.number, edit=text, is_anyway=verdict == "anyway", key=key
    )


def _item(site: Site, ref: Ref) -> Item:
    item = find(review.changes_of(site.home.desk, ref.set_id), ref.number)
    if item is None:
        raise missing("unknown_item", "proposal", f"{ref.set_id}.{ref.number}")
    return item


def _task(site: Site, ref: Ref) -> Task:
    task_id = review.changes_of(site.home.desk, ref.set_id).task
    with site.home.desk.journal.reading() as world:
        return world.load(TASK, task_id)


def _meanwhile(site: Site, ref: Ref, item: Item) -> str:
    summary = summary_of(site.home, ref.set_id, item)
    how = "it was tried, and failed" if item.status == "pending" else f"it is {item.status}"
    because = f" ({item.reason})" if item.reason else ""
    return f"Somebody else was faster with “{summary}”: {how}{because}. Nothing was changed."


def _told(site: Site, ref: Ref, item: Item, why: str) -> str:
    return f"Not done: {summary_of(site.home, ref.set_id, item)}. {why}".rstrip()
