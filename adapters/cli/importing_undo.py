"""`wakelog import --undo`: what the newest import of a file changed, changed back."""

from collections.abc import Sequence

from adapters.actions.naming import nth_key
from adapters.actions.undoing_import import undo_import
from adapters.cli.shared import Session
from adapters.documents.deeds import ImportsUndone, ImportUndone
from adapters.documents.tasks import titles_among
from adapters.text.common import ID_SHOWN, safe
from domain.errors import Refused


def undo_imports(session: Session, sources: Sequence[str], key: str, *, is_dry_run: bool) -> None:
    """Take back the newest import of each source.

    Raises:
        Refused: Code ``invalid_value``: with ``--dry-run``, or there is none.
    """
    if is_dry_run:
        because = "--undo is done, not tried"
        raise Refused("invalid_value", because=because, instead="leave --dry-run out")
    documents: list[ImportUndone] = []
    for nth, source in enumerate(sources, start=1):
        done = undo_import(session.writing(), source, nth_key(key, nth))
        documents.append(ImportUndone(source, [*done.tasks], [*done.kept]))
        titles = titles_among(session.reading(), done.kept)
        if not session.as_json:
            session.say(f"{safe(source)}: {len(done.tasks)} brought back, {len(done.kept)} kept")
            for one in done.kept:
                session.say(f"  {one[:ID_SHOWN]} {safe(titles[one])}: changed since, left alone")
    if session.as_json:
        session.document(ImportsUndone(documents))
