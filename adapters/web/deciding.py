"""Verdicts from the page: what was decided elsewhere meanwhile is told, never overwritten."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from adapters.actions import deciding
from adapters.actions.deciding import Kind, Verdict
from adapters.actions.hearing import heard
from adapters.actions.proposals import Named
from adapters.documents.inbox import by_name, set_name, summary_of
from adapters.documents.ranks import ranks_of
from adapters.web import remedies
from adapters.web.asking import Clash, FormRequest, Notice, Undo, missing
from adapters.web.editing import edited, fields_of
from adapters.web.inbox import version_of
from adapters.web.site import Site
from adapters.web.undoing import offer, offer_all
from domain import canonical
from domain.changes.change_set import Item
from domain.errors import Refused, WakelogError

VERDICTS: dict[str, Kind] = {
    "confirm": "confirm",
    "anyway": "confirm",
    "conclude": "confirm",
    "reject": "reject",
    "defer": "defer",
    "day": "defer",
    "tomorrow": "defer",
    "monday": "defer",
    "undated": "defer",
}
"""What a button of a form says, and the verdict it stands for."""
OF_MANY = ("confirm", "reject", "defer", "day", "tomorrow", "monday", "undated")
"""Those that several proposals are given at once: a stale one is confirmed alone."""
UNTIL = {"tomorrow": "tomorrow", "monday": "monday", "undated": ""}
SAID = {"confirmed": "Applied", "rejected": "Rejected", "deferred": "Put off"}
SEVERAL_MAX = 500  # items of one form
DONE_SHOWN = 5  # of several, in words
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


def decide_several(site: Site, asked: FormRequest) -> Notice:
    """What was chosen, or all that a page showed together: as the command line decides on several.

    What was changed since the form was made is left alone, and each that could not be done is
    named with why.
    """
    button = asked.form.get("verdict", "confirm")
    if button not in OF_MANY:
        raise missing("invalid_input", "verdict", button)
    refs = [_ref(one) for one in dict.fromkeys(asked.lists.get("ref", []))]
    if not 0 < len(refs) <= SEVERAL_MAX:
        because = "too many proposals are chosen" if refs else "no proposal is chosen"
        raise Refused("invalid_input", because=because, instead=f"choose 1 to {SEVERAL_MAX}")
    home, verdict = site.home, _verdict(site, None, button, asked)
    moved, named = [], []
    for nth, ref in enumerate(refs, start=1):
        item = _item(site, ref)
        is_same = ref.version == version_of(item)
        if not is_same and not deciding.is_known(home, asked.key, nth):
            moved.append(_meanwhile(site, ref, item))
        named.append(Named(ref.set_id, ref.number, "", nth, is_meant=is_same))
    with heard(home):
        found = deciding.decide_all(home, named, verdict, asked.key)
        outcomes = [_outcome(site, refs[one.nth - 1], decided) for one, decided in found]
    failed = [*moved, *(one.text for one in outcomes if one.kind != "done")]
    done = [one.text for one in outcomes if one.kind == "done"]
    said = SAID[deciding.LEADS_TO[verdict.kind]].lower()
    more = [f"And {len(done) - DONE_SHOWN} more."] if len(done) > DONE_SHOWN else []
    return Notice(
        f"{len(done)} of {len(refs)} {said}.",
        "done" if done else "conflict",
        offer_all(site, asked.key, len(done)),
        [*failed, *done[:DONE_SHOWN], *more],
        kept=_kept(refs),
    )


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


def _decided(site: Site, ref: Ref, button: str, asked: FormRequest) -> Decided:
    home = site.home
    named = ref.set_id, ref.number
    item = _item(site, ref)
    is_known = deciding.is_known(home, asked.key)
    if not is_known and ref.version != version_of(item):
        return Decided(_meanwhile(site, ref, item), "conflict")
    try:
        verdict = _verdict(site, item, button, asked)
    except Refused as error:
        return Decided(_refused(site, ref, item, error), "problem")
    decided = deciding.decide(home, *named, verdict, asked.key)
    outcome = _outcome(site, ref, decided)
    if outcome.kind != "done":
        return outcome
    done = ". The task is DONE." if verdict.concludes else ""
    undo = offer(site, asked.key)
    return Decided(outcome.text + done, "done", undo, _lapsed(site, ref))


def _outcome(site: Site, ref: Ref, decided: deciding.Decided) -> Decided:
    """What came of a verdict, in words."""
    after = decided.item
    if decided.refused is not None:
        return Decided(_refused(site, ref, decided.before, decided.refused), "problem")
    if not decided.is_done:
        how = "conflict" if decided.code == "stale" else "problem"
        return Decided(_told(site, ref, after, decided.error), how)
    said = SAID.get(after.status, after.status)
    return Decided(f"{said}: {summary_of(site.home, ref.set_id, after)}", "done")


def _lapsed(site: Site, ref: Ref) -> list[str]:
    """What ended with an item, as it needs that one."""
    found = deciding.lapsed_with(site.home, ref.set_id, ref.number)
    return [f"With it goes: {summary_of(site.home, ref.set_id, one)}" for one in found]


def _verdict(site: Site, item: Item | None, button: str, asked: FormRequest) -> Verdict:
    """What a form says; no other arguments where it says those that are in force, or means several
    items."""
    kind = VERDICTS[button]
    reason = asked.form.get("reason", "").strip()[:REASON_MAX]
    if kind == "defer":
        day = asked.form.get("until", "").strip()
        if button == "day" and not day:
            raise Refused("invalid_value", because="no day is given", instead="choose a day")
        return deciding.put_off(site.home, reason, UNTIL.get(button, day))
    if kind == "reject":
        return Verdict(kind, reason)
    if item is None:
        return Verdict(kind, edit=None)
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
