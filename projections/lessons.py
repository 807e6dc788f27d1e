"""How proposals fared, by category and by template: the domain's own fold."""

from domain.lessons.lessons import LESSONS, Lessons
from domain.log.state import RecordedEvent
from projections.view import View, of_kinds


def apply(document: Lessons | None, row: RecordedEvent) -> Lessons | None:
    """The lessons of a scope after this row."""
    return LESSONS.evolve(document or LESSONS.initial(row.entity), row)


VIEW: View[Lessons] = View(
    "lessons", "agent", 1, Lessons, of_kinds("lessons"), apply, entities=("lessons",)
)
