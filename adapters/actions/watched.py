"""A file that several machines watch, each a copy that some tool carries, or one and the same.

What another machine imported of it, or wrote into it, comes with the journal, perhaps before this
copy does. Then the file is behind what is known here, and its old words are no change of anybody.
So a machine of a shared home remembers what its copy said last, and takes it again only where that
is another text by now. It is a cache: without it, what a task's file said at some earlier import is
taken for old once. In a home that is alone nothing is kept.
"""

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.actions.identifying import identified, known_tasks
from adapters.actions.importing import differing
from adapters.actions.sources import Given, read_file
from domain.journal.fold import TASK
from domain.journal.task import TaskImported

if TYPE_CHECKING:
    from adapters.wiring import Home


def is_known(home: "Home", given: Given, environ: Mapping[str, str]) -> bool:
    """Whether what a watched file says was taken here before, or is behind what is known here.

    Raises:
        Unreadable: Its format is not known.
    """
    if not home.services.journal.is_shared:
        return False
    kept = home.views.remembered(_name(given.file))
    return kept == _digest(given.data) if kept else _is_old(home, given, environ)


def keep(home: "Home", file: str, data: bytes) -> None:
    """What a watched file says here now."""
    if home.services.journal.is_shared:
        home.views.remember(_name(file), _digest(data))


def _is_old(home: "Home", given: Given, environ: Mapping[str, str]) -> bool:
    """Whether all that a file says otherwise was imported from one like it before."""
    home.views.catch_up()
    known = known_tasks(home)
    found = identified(home, read_file(home, given, environ).file, known)
    other, documents = differing(found, known), found.documents_by_id
    with home.services.journal.reading() as world:
        return bool(other) and all(
            documents[one.task_id].id
            in {row.fact.document for row in rows if isinstance(row.fact, TaskImported)}
            for one in other
            for rows in [world.rows(TASK, one.task_id)]
        )


def _name(file: str) -> str:
    return f"watched {Path(file).absolute()}"


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).hexdigest().encode()
