"""What was done can be taken back with one button or key: the same deed as `wakelog undo`."""

from adapters.actions import undoing
from adapters.actions.telling_deeds import asked as asked_of
from adapters.actions.telling_deeds import before, deed_document
from adapters.web.asking import FormRequest, Notice, Undo
from adapters.web.site import Site
from domain.errors import Refused


def offer(site: Site, key: str) -> Undo | None:
    """What takes back what was done under a key; None where nothing does."""
    deed = undoing.deed_under(site.home, key)
    if deed is None:
        return None
    return Undo("; ".join(deed_document(site.home, deed).does), deed.ref)


def offer_all(site: Site, key: str, number: int) -> Undo | None:
    """What takes back so many verdicts that were given under one key."""
    deed = undoing.deed_under(site.home, key) if number else None
    told = "this one" if number == 1 else f"these {number}"
    return Undo(f"Take back {told}", deed.ref) if deed else None


def undo(site: Site, asked: FormRequest) -> Notice:
    """Take back what an earlier answer offered to; where none is named, the newest deed of this
    visit of a tab. Anything else is asked for."""
    if asked.needed("of"):
        return _offered(site, asked)
    ref = ""
    if not undoing.is_done(site.home, asked.key):
        deed, has_done = undoing.newest_here(site.home)
        if deed is None or deed.state != "open":
            return _question(site, is_over=has_done and deed is None)
        ref = deed.ref
    undone = undoing.undo(site.home, ref, asked.key)
    told = deed_document(site.home, undone.deed)
    about = f" in “{told.tasks[0]}”" if told.task_count == 1 else ""
    is_alone = bool(undone.redo) and not undone.deed.items  # a verdict is given again in the inbox
    again = Undo("Do it again", undone.redo) if is_alone else None
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
    newer = [f"{one}." for one in before(site.home, choice)]
    return Notice(
        over if is_over else f"Undo {what}?", undo=Undo(what, choice.deed.ref), lines=newer
    )


def _offered(site: Site, asked: FormRequest) -> Notice:
    told = site.told(asked.needed("of"))
    if told is None or told.undo is None:
        because = "what was to be undone is not known any more"
        raise Refused("invalid_input", because=because, instead="change the task by hand")
    undoing.undo(site.home, told.undo.deed, asked.key)
    return Notice(f"Done: {told.undo.what}.", kept=told.kept)
