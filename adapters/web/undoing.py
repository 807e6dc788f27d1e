"""What was just decided can be taken back with one button: the same deed as `wakelog undo`."""

from adapters.actions import undoing
from adapters.actions.telling_deeds import deed_document
from adapters.web.asking import FormRequest, Notice, Undo
from adapters.web.site import Site
from domain.errors import Refused


def offer(site: Site, key: str) -> Undo | None:
    """What takes back what was done under a key; None where nothing does."""
    deed = undoing.deed_under(site.home, key)
    if deed is None:
        return None
    return Undo("; ".join(deed_document(site.home, deed).does), deed.ref)


def undo(site: Site, asked: FormRequest) -> Notice:
    """Take back what an earlier answer offered to."""
    told = site.told(asked.needed("of"))
    if told is None or told.undo is None:
        because = "what was to be undone is not known any more"
        raise Refused("invalid_input", because=because, instead="change the task by hand")
    undoing.undo(site.home, told.undo.deed, asked.key)
    return Notice(f"Done: {told.undo.what}.", kept=told.kept)
