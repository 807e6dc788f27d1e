"""What the record of a tool holds: all that anybody knows of it by its name (SPEC 5).

The records stand in `fields`, `labels`, `checklist`, `times`, `followups`, `local` and `reads`;
`registry` joins them.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from domain.tools.arguments import Arguments
from domain.tools.base import Effect, Exploded, Refusal
from domain.tools.snapshot import Snapshot

Mode = Literal["immediate", "deferred", "local", "read"]

REASONS = ("subscription", "timer", "user", "creation", "manual", "recovery")
CAPABILITIES: Mapping[str, tuple[str, ...]] = {
    "task_agent": (
        "task.propose",
        "task.write_language",
        "labels.propose",
        "checklist.propose",
        "report.write",
        "journal.write",
        "proposals.retract",
        "category.read",
        "journal.read",
        "time.propose",
        "link.propose",
        "task.create",
        "loop.write",
    ),
}
"""What each kind of agent may do; a kind that is not here may do nothing."""


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as it is offered, and what a call of it comes to.

    `hint`: when to call it, for the role text; empty where that speaks of it elsewhere. `since`:
    the scaffold that first had it. `first`: its arguments in a wake of scaffold 1, where they
    were others. `aliases`: other names that models use. `applies`: whether it
    could change a task as it was captured; None: always. `immediate_if`: what makes a deferred
    call an immediate one. `effect`: of a call, or of each element of a batch; local tools and
    reads have none. `array`, `singular`, `element`, `explode`: of a batch, the argument that
    explodes, the name and arguments of each element's change, what chooses among them; `element`
    alone: the arguments of the change, where they hold more than those of the call. `output`:
    the Struct or fact that a call comes to. `entities`, `tokens`: what it changes. `scope`: how
    far it reaches. `idempotency`: what makes a repeat harmless.
    """

    name: str
    description: str
    arguments: type[Arguments]
    capabilities: tuple[str, ...]
    hint: str = ""
    effect: Effect | None = None
    mode: Mode = "deferred"
    since: int = 1
    first: type[Arguments] | None = None
    aliases: tuple[str, ...] = ()
    applies: Callable[[Snapshot], bool] | None = None
    output: str = "domain.tools.base:Plan"
    reasons: tuple[str, ...] = REASONS
    version: int = 1
    immediate_if: Literal["", "title_is_empty"] = ""
    array: str = ""
    singular: str = ""
    element: type[Arguments] | None = None
    explode: Callable[[Snapshot, Any], Exploded | Refusal] | None = None
    idempotency: Literal[
        "operation_id", "fingerprint", "last_call_wins", "wake", "changes_nothing"
    ] = "fingerprint"
    scope: Literal[
        "own_task", "own_wake", "own_proposals", "two_tasks", "own_past", "allowed_categories"
    ] = "own_task"
    entities: tuple[str, ...] = ("task",)
    tokens: tuple[str, ...] = ("TASK",)
    risk: Literal["low", "medium", "high"] = "low"

    def asked(self, scaffold: int) -> type[Arguments]:
        """The arguments of a call in a wake of a scaffold."""
        return self.first if self.first and scaffold == 1 else self.arguments
