"""When agents hear of what a deed changed in the journal: at the next wake, as after a command, or
at once, in a home whose pages say what is queued."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adapters.runtime import watcher

if TYPE_CHECKING:
    from adapters.wiring import Home


@contextmanager
def heard(home: "Home") -> Iterator[None]:
    """Do a deed, or several that are one to who asked for them.

    What came before it is taken from the journal first, then what it wrote, if the home is one
    where agents hear at once; a deed within a deed is heard of with it.
    """
    if not home.hears_at_once:
        yield
        return
    watcher.catch_up(home.services)
    home.hears_at_once = False
    try:
        yield
    finally:
        home.hears_at_once = True
    watcher.catch_up(home.services)
