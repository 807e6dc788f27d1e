"""What an import would do, without writing: `import --dry-run`. The rules that decide an import are
asked, so that both count alike."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from adapters.actions import gone
from adapters.actions.differing import Side
from adapters.actions.halving import in_halves
from adapters.actions.identifying import Identified, Known, identified, known_tasks
from adapters.actions.importing import TASKS_MAX, command_of, differing, open_conflicts, report_of
from adapters.actions.sources import Found
from adapters.documents.conflicts import ConflictDetails, conflicts_after
from adapters.documents.tasks import ImportReport
from adapters.home.settings import Gone
from domain import handlers
from domain.journal.imported import ImportedTask
from domain.world import entity_of

if TYPE_CHECKING:
    from adapters.wiring import Home

Foreseen = dict[str, list[ConflictDetails]]


def plan_import(
    home: "Home", file: str, found: Found, prefer: Side | None = None, how: Gone | None = None
) -> ImportReport:
    """What `Importing.take` would report; `events` stays 0, for nothing is written."""
    known = known_tasks(home)
    one = identified(home, found.file, known)
    read, report = one.file, report_of(file, found, one, known)
    new = differing(one, known, one.restores)
    report.unchanged = len(read.tasks) - len(new)
    foreseen: Foreseen = {}

    def decide(tasks: Sequence[ImportedTask]) -> None:
        changed = _decided(home, one, tasks, known)
        foreseen.update(changed)
        report.unchanged += len(tasks) - len(changed)

    for first in range(0, len(new), TASKS_MAX):
        in_halves(new[first : first + TASKS_MAX], decide, report)
    report.new = tuple(one for one in foreseen if one not in known)
    report.created = len(report.new)
    report.changed = len(foreseen) - report.created
    now = [one for one in open_conflicts(home, read, known) if one.task not in foreseen]
    places = {one.task_id: nth for nth, one in enumerate(read.tasks)}
    both = [*now, *(one for found in foreseen.values() for one in found)]
    report.conflicts = tuple(sorted(both, key=lambda one: places[one.task]))
    if prefer is not None:
        report.settled, report.conflicts = len(report.conflicts), ()
    closing, held = gone.planned(home, one, report.gone, how, lambda _: False)
    report.gone_settled, report.gone_held = tuple(each.task for each in closing), held
    left = {*report.gone_settled, *held}
    report.gone = tuple(each for each in report.gone if each not in left)
    report.restored = one.restores
    return report


def _decided(
    home: "Home", one: Identified, tasks: Sequence[ImportedTask], known: Known
) -> Foreseen:
    """The tasks that an append would change, each with what would be open of it then."""
    documents = one.documents_by_id
    payloads = [documents[task.task_id] for task in tasks]
    command = command_of(one.file.source, tasks, payloads, known)
    here = {task.task_id for task in tasks}
    command = replace(command, restores=tuple(id_ for id_ in one.restores if id_ in here))
    at = home.services.clock.now()
    with home.services.journal.reading() as world:
        world.bring(payloads)
        decided = handlers.handle(command, "", at, world)
        world.bring(decided.payloads)
        facts: dict[str, list[Any]] = {task_id: [] for task_id in decided.result.ids}
        for stream, fact in decided.events:
            if entity_of(stream) in facts:
                facts[entity_of(stream)].append(fact)
        return {one: conflicts_after(world, one, said, at) for one, said in facts.items()}
