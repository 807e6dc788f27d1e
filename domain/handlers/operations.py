"""Operations: a tool's effect on the journal, exactly once (DESIGN 5).

`ApplyOperation` and `VoidOperation` share the operation's key: whichever is recorded first
decides, and the other is answered with its stored outcome (the one exception to law 2).
"""

from collections.abc import Sequence

from domain.causes import Result
from domain.handlers.decided import Decided, Event, on
from domain.handlers.journal import Handler
from domain.handlers.rollover import Both, over_both
from domain.journal import commands as do
from domain.journal.catalog import CATALOG
from domain.journal.fold import TASK
from domain.journal.task import Task
from domain.journal.tokens import tokens_of
from domain.tools import registry
from domain.tools.base import Refusal
from domain.tools.snapshot import Snapshot, snapshot
from domain.world import MAIN, World


def apply_operation(cause: do.ApplyOperation, key: str, at: str, world: World) -> Decided:
    """Run the tool's pure handler on the task as it is now; a refusal is an outcome too."""
    task = world.load(TASK, cause.task)
    now = snapshot(task, world.load(CATALOG, MAIN), world.n, at)
    arguments = world.text(cause.arguments)
    refusal = _forbidden(now, cause, exists=task.exists)
    if refusal is None and cause.base and registry.base(cause.tool, now, arguments) != cause.base:
        refusal = Refusal("stale", "what it would change is no longer what it was proposed on")
    if refusal is None:
        answer = _applied(cause, now, task, arguments, world)
        if not isinstance(answer, Refusal):
            result = Result((task.id, *cause.others), "applied", tokens=_tokens(answer.events))
            return Decided(answer.events, result, answer.payloads)
        refusal = answer
    return Decided(result=Result((task.id,), "refused", refusal.code, refusal.message))


def _applied(
    cause: do.ApplyOperation, now: Snapshot, task: Task, arguments: str, world: World
) -> Both | Refusal:
    """What is written to the task, or to both that it is about."""
    facts = registry.apply(cause.tool, now, arguments, f"agent:{cause.agent}")
    if isinstance(facts, Refusal):
        return facts
    if registry.is_over_two(cause.tool):
        return over_both(world, cause, task, arguments)
    return Both(on(world, "task", task.id, facts))


def _tokens(events: Sequence[Event]) -> tuple[str, ...]:
    """What changed, of each task."""
    touched: set[str] = set()
    for stream, fact in events:
        of_kind, _, entity = stream.partition("@")[0].partition(":")
        touched.update(tokens_of(entity, fact) if of_kind == "task" else ())
    return tuple(sorted(touched))


def _forbidden(now: Snapshot, cause: do.ApplyOperation, *, exists: bool) -> Refusal | None:
    """The journal's side of the scope check, fail closed (SPEC 5)."""
    if not exists or now.is_deleted:
        return Refusal("not_found", "the task does not exist any more")
    if not now.category:
        return Refusal("missing_category", "the task has no category")
    if now.category not in cause.categories:
        return Refusal("out_of_scope", "the task's category is not one the agent may touch")
    return None


def void_operation(cause: do.VoidOperation, key: str, at: str, world: World) -> Decided:
    return Decided(result=Result((cause.task,), "voided", message=cause.reason))


HANDLERS: dict[type, Handler] = {
    do.ApplyOperation: apply_operation,
    do.VoidOperation: void_operation,
}
