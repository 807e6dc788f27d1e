"""Verdicts from the page: what was decided elsewhere meanwhile is told, never overwritten."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from adapters.actions import deciding
from adapters.actions.deciding import Kind, Verdict
from adapters.actions.hearing import heard
from adapters.documents.inbox import by_name, ranks_of, set_name, summary_of
from adapters.web import remedies
from adapters.web.asking import Clash, FormRequest, Notice, Undo, missing
from adapters.web.editing import edited, fields_of
from adapters.web.inbox import version_of
from adapters.web.site import Site
from adapters.web.undoing import offer
from domain import canonical
from domain.changes.change_set import Item
from domain.errors import Refused, WakelogError

VERDICTS: dict[str, Kind] = {
    "confirm": "confirm",
    "anyway": "confirm",
    "conclude": "confirm",
    "reject": "reject",
    "defer": "defer",
}
"""What a button of a form says, and the verdict it stands for."""
SAID = {"confirmed": "Applied", "rejected": "Rejected", "deferred": "Put off"}
ALL_MAX = 500  # items of one "confirm all"
REASON_MAX = 500


class Ref(NamedTuple):
    """An item as a form names it, and as it stood when the form was made."""

    set_id: str
    number: int
    version: str


class Decided(NamedTuple):
    """What came of one verdict."""

    text: str
    kind: str
    undo: Undo | None = None
    lines: Sequence[str] = ()


def decide(site: Site, asked: FormRequest) -> Notice:
    """One item: confirm, confirm anyway, confirm and set the task done, reject or defer."""
    verdict = asked.needed("verdict")
    if verdict not in VERDICTS:
        raise missing("invalid_input", "verdict", verdict)
    ref = _ref(asked.needed("ref"))
    one = _decided(site, ref, verdict, asked)
    clashes = _typed(site, ref, asked) if one.kind == "conflict" else ()
    return Notice(one.text, one.kind, one.undo, one.lines, kept=_kept([ref]), clashes=clashes)


def decide_all(site: Site, asked: FormRequest) -> Notice:
    """All items that a page showed together, one after the other."""
    refs = [_ref(one) for one in asked.lists.get("ref", [])[:ALL_MAX]]
    if not refs:
        raise missing("unknown_item", "item", "")
    with heard(site.home):
        outcomes = [_decided(site, one, "confirm", asked, n) for n, one in enumerate(refs, start=1)]
    failed = [one for one in outcomes if one.kind != "done"]
    text = f"{len(outcomes) - len(failed)} of {len(outcomes)} applied."
    is_conflict = failed and len(failed) == len(outcomes)
    lines = [one.text for one in outcomes]
    return Notice(text, "conflict" if is_conflict else "done", lines=lines, kept=_kept(refs))


def _kept(refs: Sequence[Ref]) -> list[tuple[str, int]]:
    return [(one.set_id, one.number) for one in refs]


def _typed(site: Site, ref: Ref, asked: FormRequest) -> list[Clash]:
    """What a form said that came too late: the reason, and the fields that were edited."""
    item = _item(site, ref)
    reason = asked.form.get("reason", "").strip()
    found = [Clash("Why", item.reason, reason)] if reason else []
    arguments = msgspec.json.decode(deciding.arguments_of(site.home, item))
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


def _decided(site: Site, ref: Ref, button: str, asked: FormRequest, nth: int = 1) -> Decided:
    home = site.home
    named = ref.set_id, ref.number
    item = _item(site, ref)
    is_known = deciding.is_known(home, asked.key, nth)
    if not is_known and ref.version != version_of(item):
        return Decided(_meanwhile(site, ref, item), "conflict")
    try:
        verdict = _verdict(site, item, button, asked)
    except Refused as error:
        return Decided(_refused(site, ref, item, error), "problem")
    decided = deciding.decide(home, *named, verdict, asked.key, nth)
    after = decided.item
    if decided.refused is not None:
        return Decided(_refused(site, ref, item, decided.refused), "problem")
    if not decided.is_done:
        how = "conflict" if decided.code == "stale" else "problem"
        return Decided(_told(site, ref, after, decided.error), how)
    undo = None if asked.lists.get("ref", [])[1:] else offer(site, asked.key)
    said = f"{SAID.get(after.status, after.status)}: {summary_of(home, ref.set_id, after)}"
    done = ". The task is DONE." if verdict.concludes else ""
    return Decided(said + done, "done", undo, _lapsed(site, ref))


def _lapsed(site: Site, ref: Ref) -> list[str]:
    """What ended with an item, as it needs that one."""
    found = deciding.lapsed_with(site.home, ref.set_id, ref.number)
    return [f"With it goes: {summary_of(site.home, ref.set_id, one)}" for one in found]


def _verdict(site: Site, item: Item, button: str, asked: FormRequest) -> Verdict:
    """What a form says; no other arguments where it says those that are in force."""
    kind = VERDICTS[button]
    reason = asked.form.get("reason", "").strip()[:REASON_MAX]
    if kind == "defer":
        return deciding.put_off(site.home, reason, asked.form.get("until", ""))
    if kind == "reject":
        return Verdict(kind, reason)
    arguments = msgspec.json.decode(deciding.arguments_of(site.home, item))
    changed = edited(item.tool, arguments, asked.form)
    edit = None if changed is None else canonical.text(changed)
    return Verdict(kind, edit=edit, is_anyway=button == "anyway", concludes=button == "conclude")


def _item(site: Site, ref: Ref) -> Item:
    return deciding.item_of(site.home, ref.set_id, ref.number)


def _meanwhile(site: Site, ref: Ref, item: Item) -> str:
    summary = summary_of(site.home, ref.set_id, item)
    how = "it was tried, and failed" if item.status == "pending" else f"it is {item.status}"
    because = f" ({item.reason})" if item.reason else ""
    return f"Somebody else was faster with “{summary}”: {how}{because}. Nothing was changed."


def _told(site: Site, ref: Ref, item: Item, why: str) -> str:
    return f"Not done: {summary_of(site.home, ref.set_id, item)}. {why}".rstrip()


def _refused(site: Site, ref: Ref, item: Item, error: WakelogError) -> str:
    name = set_name(ranks_of(site.home), ref.set_id)
    return _told(site, ref, item, by_name(remedies.in_words(error), ref.set_id, name))
