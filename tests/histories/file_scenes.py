"""Scenes of files that are edited between imports."""

from adapters.models.rules.model import RulesModel
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.journal import commands as do
from domain.journal.edits import item_id
from domain.journal.imported import ImportedItem, ImportedTask
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import payload
from tests.histories.acting import Scene, changed, told
from tests.support.services import services

ROOF = key("task", "histories", "items_renamed")
FILES, NAILS = (item_id(ROOF, one, 0) for one in ("find files", "buy nails"))
FOUND, BOUGHT = ImportedItem("Find the files", id=FILES), ImportedItem("Buy nails")


def items_renamed() -> Services:
    """Items are renamed in their file: one that was ticked here, one and back again, one that was
    renamed here, too, and one whose old title another one has; and a file that says no ids."""
    at = services(model=RulesModel())
    _imported(at, ImportedItem("Find files"), BOUGHT, renames=False)
    told(at, do.EditItem(ROOF, FILES, is_checked=True))
    with at.journal.reading() as world:
        category = world.load(TASK, ROOF).category
    n = at.journal.tail().n
    command = agents.CreateAgent(ROOF, "Roof", category, n, "hybrid", is_enabled=True)
    agent = at.append_agent(command).result.ids[0]
    changed(at, agent)
    _imported(at, FOUND, ImportedItem("Buy long nails", id=NAILS))
    _imported(at, ImportedItem("Find files"), FOUND, ImportedItem("Buy nails", is_checked=True))
    told(at, do.EditItem(ROOF, FILES, title="Find all files"))
    _imported(at, ImportedItem("Find some files", id=FILES), BOUGHT)
    _imported(at, ImportedItem("Find files", id=FILES), ImportedItem("buy NAILS"), renames=False)
    changed(at, agent)
    return at


def _imported(at: Services, *items: ImportedItem, renames: bool = True) -> None:
    said = ImportedTask(ROOF, "Mend the roof", category="House", items=items)
    kept = payload(ROOF, canonical.encode(said))
    refs = (do.ImportedRef(ROOF, kept.id),)
    command = do.ImportTasks("todo.md", refs, is_three_way=True, renames_items=renames)
    at.append_journal(command, payloads=[kept])


SCENES: tuple[Scene, ...] = (items_renamed,)
