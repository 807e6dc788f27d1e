"""Operations: a tool's effect on the journal, exactly once (DESIGN 5).

`ApplyOperation` and `VoidOperation` share the operation's key: whichever is recorded first
decides, and the other is answered with its stored outcome (the one exception to law 2).
"""

from domain.causes import Result
from domain.handlers.decided import Decided, on
from domain.handlers.journal import Handler
from domain.journal import commands as do
from domain.journal.catalog import CATALOG
from domain.journal.fold import TASK
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
        applied = registry.apply(cause.tool, now, arguments, f"agent:{cause.agent}")
        if not isinstance(applied, Refusal):
            tokens = tuple(sorted({one for fact in applied for one in tokens_of(task.id, fact)}))
            result = Result((task.id,), "applied", tokens=tokens)
            return Decided(on(world, "task", task.id, applied), result)
        refusal = applied
    return Decided(result=Result((task.id,), "refused", refusal.code, refusal.message))


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
