"""What a person names that is to be erased, as `adapters.upkeep.erase` takes it."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.usecases.day import block_named
from adapters.usecases.inputs import day
from adapters.usecases.resolve import pick_again, pick_agent, pick_note, pick_task
from domain.erasure import KINDS, ONLY
from domain.errors import Refused, invalid
from domain.journal.catalog import CATALOG, find_category, unknown_category
from domain.journal.day import DAY
from domain.journal.task import TASK
from domain.log.state import MAIN, StreamType
from domain.text import fold

if TYPE_CHECKING:
    from adapters.wiring import Home

UNITS = "erase task TASK, agent AGENT, note TASK NOTE, block DATE START or category CATEGORY"


def kind_named(what: str, name: str, part: str = "", *, keeps_agent: bool = False) -> str:
    """The kind of an erasure. Raises Refused, code ``invalid_value``: it is not clear."""
    has_part = what in ("note", "block")
    if what not in KINDS or not name or bool(part) != has_part:
        said = " ".join(one for one in (what, name, part) if one)
        because = f"{said!r} is not what can be erased"
        raise invalid(because if what else "it is not said what to erase", f"write {UNITS}")
    if keeps_agent and not has_part:
        raise invalid(f"--keep-agent says nothing of {what}", "use it with a note or a block")
    return what + ONLY * keeps_agent


def check_whole(title: str, what: str, entity: str, name: str) -> None:
    """Look whether a name means nothing else, where nobody is asked. Raises Refused, ``not_sure``:
    it is a part of the title."""
    if what == "block" or entity.startswith(name.lower()) or fold(name) == fold(title):
        return
    because = f"{name!r} is a part of {title!r}, and may be one of another"
    raise Refused("not_sure", because=because, instead="with --sure say all of it, or the id")


def unit_named(home: "Home", what: str, name: str, part: str = "") -> str:
    """The id of what is to be erased. Raises Refused: there is no such thing."""
    match what:
        case "task":
            return pick_task(home, name)
        case "agent":
            return pick_agent(home, name)
        case "note":
            task = pick_again(home, name)
            named = partial(pick_note, home, task, part)
            return f"{task.id}/{_part_named(home, TASK, task.id, part, named)}"
        case "block":
            date = day(name, home)
            named = partial(block_named, home, date, part)
            return f"{date}/{_part_named(home, DAY, date, part, named)}"
    with home.services.journal.reading() as journal:
        if found := find_category(journal.load(CATALOG, MAIN), name):
            return found.id
    raise unknown_category(name)


def _part_named(
    home: "Home", of: StreamType[Any], entity: str, part: str, living: Callable[[], str]
) -> str:
    """The id of a note or a block; of one that was removed, too, by its id: its words are there."""
    try:
        return living()
    except Refused:
        with home.services.journal.reading() as journal:
            rows = journal.rows(of, entity)
        name = "note" if of is TASK else "block"
        every = {getattr(row.fact, name, "") for row in rows}
        found = [one for one in every if one and one.startswith(part.lower())]
        if len(found) != 1:
            raise
        return found[0]
