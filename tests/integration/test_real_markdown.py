"""Two real plans of another project, as their authors wrote them."""

import re
from pathlib import Path

import pytest

from adapters.importers.markdown import read
from domain.journal.imported import ImportedFile

DATA = Path(__file__).parents[2].parent / "shared/data/markdown"
PLANS = ("agent-sync-plan.md", "daily-os-plan.md")

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the sample plans are not in {DATA}")


def read_plan(name: str, *, headings_are_tasks: bool = False) -> ImportedFile:
    return read((DATA / name).read_bytes(), source=name, headings_are_tasks=headings_are_tasks)


def boxes_by_section(name: str) -> list[tuple[str, list[tuple[str, bool, str]]]]:
    """Headings with their boxes (indent, ticked, title), found line by line, without a parser."""
    found: list[tuple[str, list[tuple[str, bool, str]]]] = [("", [])]
    in_fence = False
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        in_fence ^= line.lstrip().startswith("```")
        if not in_fence and (heading := re.match(r"#{1,6} (.*)", line)):
            found.append((heading[1], []))
        elif not in_fence and (box := re.match(r"( *)- \[([ x])\] (.*)", line)):
            found[-1][1].append((box[1], box[2] == "x", box[3]))
    return [(heading, boxes) for heading, boxes in found if boxes]


@pytest.mark.parametrize(("name", "tasks", "items"), [(PLANS[0], 30, 0), (PLANS[1], 95, 6)])
def test_every_box_is_a_task_or_an_item_under_its_heading(
    name: str, tasks: int, items: int
) -> None:
    file = read_plan(name)
    boxes = [(heading, *box) for heading, found in boxes_by_section(name) for box in found]
    top = [box for box in boxes if not box[1]]
    assert [(task.category, task.status == "DONE") for task in file.tasks] == [
        (heading.replace("**", ""), ticked) for heading, _, ticked, _ in top
    ]
    assert (len(top), len(boxes) - len(top)) == (tasks, items)
    assert sum(len(task.items) for task in file.tasks) == items
    assert len({task.task_id for task in file.tasks}) == tasks
    assert file.unreadable == ()


@pytest.mark.parametrize(("name", "tasks", "items"), [(PLANS[0], 8, 30), (PLANS[1], 18, 101)])
def test_with_headings_as_tasks_every_box_is_an_item(name: str, tasks: int, items: int) -> None:
    file = read_plan(name, headings_are_tasks=True)
    found = boxes_by_section(name)
    assert [(task.title, [item.is_checked for item in task.items]) for task in file.tasks] == [
        (heading, [ticked for _, ticked, _ in boxes]) for heading, boxes in found
    ]
    assert (len(file.tasks), sum(len(task.items) for task in file.tasks)) == (tasks, items)
    assert file.unreadable == ()


def test_code_in_a_title_keeps_its_backticks() -> None:
    titles = [task.title for task in read_plan(PLANS[0]).tasks]
    assert titles[0] == "Add `SyncAgentEntity` and `SyncAgentLink` variants to `SyncMessage`"
    assert "`make l10n` + `make sort_arb_files`" in titles


def test_the_nested_boxes_of_the_plan_are_one_checklist() -> None:
    (task,) = [task for task in read_plan(PLANS[1]).tasks if task.items]
    assert task.title == "Create `lib/classes/day_plan.dart` with all Freezed classes:"
    assert [item.title for item in task.items] == [
        "`DayPlanData`",
        "`DayPlanStatus` (sealed class with draft/agreed/needsReview)",
        "`TimeBudget` (embedded)",
        "`PlannedBlock` (embedded)",
        "`PinnedTaskRef` (embedded reference)",
        "`dayPlanId()` helper function",
    ]
