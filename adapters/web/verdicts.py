"""Verdicts from the page, and the button that takes back what was done."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from adapters.documents.inbox import by_name, set_name, summary_of
from adapters.documents.ranks import ranks_of
from adapters.usecases import proposals, undoing
from adapters.usecases.proposals import ItemVerdict, NamedItem, VerdictKind
from adapters.usecases.tasks import dispatch_after_commit
from adapters.usecases.undoing import passed_over, undo_document
from adapters.usecases.undoing import undo_question as asked_of
from adapters.web import remedies
from adapters.web.cards import edit_fields_of, edited
from adapters.web.http_types import Clash, FormRequest, Notice, UndoOffer, missent, missing, whole
from adapters.web.inbox import version_of
from adapters.web.site import Site
from domain.changes.change_set import ChangeItem
from domain.errors import Refused, WakelogError
from domain.log import canonical


def offer(site: Site, key: str) -> UndoOffer | None:
    """What takes back what was done under a key; None where nothing does."""
    deed = undoing.deed_under(site.home, key)
    if deed is None:
        return None
    return UndoOffer("; ".join(undo_document(site.home, deed).does), deed.ref)


def undo(site: Site, asked: FormRequest) -> Notice:
    """Take back one verdict, or what an earlier answer offered to; where none is named, the newest
    deed of this visit of a tab. Anything else is asked for."""
    if "item" in asked.form:
        one = _ref(asked.form["item"])
        undoing.undo_verdict(site.home, (one.set_id, one.number), asked.key)
        what = summary_of(site.home, one.set_id, _item(site, one))
        return Notice(f"Taken back: {what}. It waits for you again.", kept=_kept([one]))
    if asked.needed("of"):
        return _offered(site, asked)
    ref = ""
    if not undoing.is_done(site.home, asked.key):
        deed, has_done = undoing.newest_here(site.home)
        if deed is None or deed.state != "open":
            return _question(site, is_over=has_done and deed is None)
        ref = deed.ref
    undone = undoing.undo(site.home, ref, asked.key)
    told = undo_document(site.home, undone.deed)
    about = f" in “{told.tasks[0]}”" if told.task_count == 1 else ""
    is_alone = bool(undone.redo) and not undone.deed.items  # a verdict is given again in the inbox
    again = UndoOffer("Do it again", undone.redo) if is_alone else None
    first, *more = told.does or [told.what or "it was done before"]
    lines = [f"{one}." for one in [*more, *told.stays]]
    return Notice(f"Taken back{about}: {first}.", "done", again, lines, kept=undone.deed.items)


def _question(site: Site, *, is_over: bool) -> Notice:
    """What could be taken back that this visit did not do, by its name, time and size; a button
    does it. `is_over`: all that it did is taken back."""
    over = "Nothing more to take back."
    try:
        choice = undoing.newest(site.home)
    except Refused:
        return Notice(over)
    what = asked_of(site.home, choice)
    newer = [f"{one}." for one in passed_over(site.home, choice)]
    return Notice(
        over if is_over else f"Undo {what}?", undo=UndoOffer(what, choice.deed.ref), lines=newer
    )


def _offered(site: Site, asked: FormRequest) -> Notice:
    told = site.told(asked.needed("of"))
    if told is None or told.undo is None:
        raise missent("what was to be undone is not known any more", "change the task by hand")
    undoing.undo(site.home, told.undo.deed, asked.key)
    return Notice(f"Done: {told.undo.what}.", kept=told.kept)


# ----------------------------------------------------------------------------------------- verdicts
# Verdicts from the page: what was decided elsewhere meanwhile is told, never overwritten.

VERDICTS: dict[str, VerdictKind] = {
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
UNTIL = {"tomorrow": "tomorrow", "monday": "monday", "undated": "", "defer": ""}
SAID = {"confirmed": "Applied", "rejected": "Rejected", "deferred": "Put off"}
SEVERAL_MAX = 500  # items of one form
DONE_SHOWN = 5  # of several, in words
REASON_MAX = 500


class FormItem(NamedTuple):
    """An item as a form names it, and as it stood when the form was made."""

    set_id: str
    number: int
    version: str


class VerdictOutcome(NamedTuple):
    """What came of one verdict."""

    text: str
    kind: str
    undo: UndoOffer | None = None
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
    given = asked.form.get("all", "").split() or asked.lists.get("ref", [])
    refs = [_ref(one) for one in dict.fromkeys(given)]
    if not 0 < len(refs) <= SEVERAL_MAX:
        because = "too many proposals are chosen" if refs else "no proposal is chosen"
        raise Refused("invalid_input", because=because, instead=f"choose 1 to {SEVERAL_MAX}")
    home, verdict = site.home, _verdict(site, None, button, asked)
    moved, named = [], []
    for nth, ref in enumerate(refs, start=1):
        item = _item(site, ref)
        is_same = ref.version == version_of(item)
        if not is_same and not proposals.is_known(home, asked.key, nth):
            moved.append(_meanwhile(site, ref, item))
        named.append(NamedItem(ref.set_id, ref.number, "", nth, is_meant=is_same))
    with dispatch_after_commit(home):
        found = proposals.decide_all(home, named, verdict, asked.key)
        outcomes = [_outcome(site, refs[one.nth - 1], decided) for one, decided in found]
    failed = [*moved, *(one.text for one in outcomes if one.kind != "done")]
    done = [one.text for one in outcomes if one.kind == "done"]
    said = SAID[proposals.LEADS_TO[verdict.kind]].lower()
    more = [f"And {len(done) - DONE_SHOWN} more."] if len(done) > DONE_SHOWN else []
    deed = undoing.deed_under(home, asked.key) if done else None
    those = "this one" if len(done) == 1 else f"these {len(done)}"
    return Notice(
        f"{len(done)} of {len(refs)} {said}.",
        "done" if done else "conflict",
        UndoOffer(f"Take back {those}", deed.ref) if deed else None,
        [*failed, *done[:DONE_SHOWN], *more],
        kept=_kept(refs),
    )


def _kept(refs: Sequence[FormItem]) -> list[tuple[str, int]]:
    return [(one.set_id, one.number) for one in refs]


def _typed(site: Site, ref: FormItem, asked: FormRequest) -> list[Clash]:
    """What a form said that came too late: the reason, and the fields that were edited."""
    item = _item(site, ref)
    reason = asked.form.get("reason", "").strip()
    found = [Clash("Why", item.reason, reason)] if reason else []
    arguments = msgspec.json.decode(proposals.arguments_of(site.home, item))
    for field in edit_fields_of(item.tool, arguments):
        now, yours = str(field["value"]), asked.form.get(field["name"])
        if yours is not None and yours.strip() != now:
            found.append(Clash(field["label"], now, yours))
    return found


def _ref(given: str) -> FormItem:
    set_id, _, rest = given.partition(".")
    named, _, version = rest.partition(".")
    if (number := whole(named, 5)) is None:
        raise missing("unknown_item", "item", given)
    return FormItem(set_id, number, version)


def _decided(site: Site, ref: FormItem, button: str, asked: FormRequest) -> VerdictOutcome:
    home = site.home
    named = ref.set_id, ref.number
    item = _item(site, ref)
    is_known = proposals.is_known(home, asked.key)
    if not is_known and ref.version != version_of(item):
        return VerdictOutcome(_meanwhile(site, ref, item), "conflict")
    try:
        verdict = _verdict(site, item, button, asked)
    except Refused as error:
        return VerdictOutcome(_refused(site, ref, item, error), "problem")
    decided = proposals.decide(home, *named, verdict, asked.key)
    outcome = _outcome(site, ref, decided)
    if outcome.kind != "done":
        return outcome
    done = ". The task is DONE." if verdict.concludes else ""
    lapsed = proposals.lapsed_with(home, ref.set_id, ref.number)
    told = [f"With it goes: {summary_of(home, ref.set_id, one)}" for one in lapsed]
    return VerdictOutcome(outcome.text + done, "done", offer(site, asked.key), told)


def _outcome(site: Site, ref: FormItem, decided: proposals.VerdictResult) -> VerdictOutcome:
    """What came of a verdict, in words."""
    after = decided.item
    if decided.refused is not None:
        return VerdictOutcome(_refused(site, ref, decided.before, decided.refused), "problem")
    if not decided.is_done:
        how = "conflict" if decided.code == "stale" else "problem"
        return VerdictOutcome(_told(site, ref, after, decided.error), how)
    said = SAID.get(after.status, after.status)
    return VerdictOutcome(f"{said}: {summary_of(site.home, ref.set_id, after)}", "done")


def _verdict(site: Site, item: ChangeItem | None, button: str, asked: FormRequest) -> ItemVerdict:
    """What a form says; no other arguments where it says those that are in force, or means several
    items."""
    kind = VERDICTS[button]
    reason = asked.form.get("reason", "").strip()[:REASON_MAX]
    if kind == "defer":
        day = asked.form.get("until", "").strip()
        if button == "day" and not day:
            raise Refused("invalid_value", because="no day is given", instead="choose a day")
        return proposals.deferral(site.home, reason, UNTIL.get(button, day))
    if kind == "reject":
        return ItemVerdict(kind, reason)
    if item is None:
        return ItemVerdict(kind, edit=None)
    arguments = msgspec.json.decode(proposals.arguments_of(site.home, item))
    changed = edited(item.tool, arguments, asked.form)
    edit = None if changed is None else canonical.text(changed)
    return ItemVerdict(
        kind, edit=edit, is_anyway=button == "anyway", concludes=button == "conclude"
    )


def _item(site: Site, ref: FormItem) -> ChangeItem:
    return proposals.item_of(site.home, ref.set_id, ref.number)


def _meanwhile(site: Site, ref: FormItem, item: ChangeItem) -> str:
    summary = summary_of(site.home, ref.set_id, item)
    how = "it was tried, and failed" if item.status == "pending" else f"it is {item.status}"
    because = f" ({item.reason})" if item.reason else ""
    return f"Somebody else was faster with “{summary}”: {how}{because}. Nothing was changed."


def _told(site: Site, ref: FormItem, item: ChangeItem, why: str) -> str:
    return f"Not done: {summary_of(site.home, ref.set_id, item)}. {why}".rstrip()


def _refused(site: Site, ref: FormItem, item: ChangeItem, error: WakelogError) -> str:
    name = set_name(ranks_of(site.home), ref.set_id)
    return _told(site, ref, item, by_name(remedies.in_words(error), ref.set_id, name))
