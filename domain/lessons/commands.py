"""What a person can ask of lessons.

STORAGE FORMAT: receipts keep commands, see `domain.log.wire`."""

from typing import ClassVar

from domain.lessons.lessons import LessonVerdict
from domain.log.wire import Part, Stored

LEARNT_MAX = 200  # verdicts of one command


class PastVerdict(Part, frozen=True):
    """What stands in a change set."""

    changes: str
    item: int
    verdict: LessonVerdict


class LearnVerdicts(Stored, frozen=True, tag="command.learn_verdicts.1"):
    """Bring in verdicts of before lessons were kept; of a category's scope those on tasks that
    were in it when they were given."""

    scope: str
    verdicts: tuple[PastVerdict, ...]


class RateRun(Stored, frozen=True, tag="command.rate_run.1"):
    """Say from 1 to 5 how good a wake was."""

    said: ClassVar = ("run_key", "stars")
    run_key: str
    stars: int
    by: str


class RuleTool(Stored, frozen=True, tag="command.rule_tool.1"):
    """Have no more items of a tool proposed in a category, or have them again."""

    category: str
    tool: str
    is_off: bool


LessonsCommand = LearnVerdicts | RateRun | RuleTool
