"""No line that looks like a box vanishes: it is read, or it is named."""

import re
from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from adapters.importers.markdown import read

BOX = re.compile(r"[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])?[ \t]*\[[ xX]?\][ \t]*(\w+)")
"""The test's own idea of a box: brackets after a bullet, with or without blanks, and a word."""

MARKED = re.compile(r"[ \t>]*(?:[-+]|[0-9]{1,9}[.)])[ \t]*\[[^\[\]\s]\][ \t]+(\w+)")

starts = st.sampled_from(["", "", "  ", "    ", "      ", "\t", "> ", "> > ", ">   ", "  > "])
bullets = st.sampled_from(["- ", "- ", "* ", "+ ", "1. ", "2) ", "-", "*", "1.", "-    ", ""])
marks = st.sampled_from(["[ ]", "[x]", "[X]", "[/]", "[>]", "[!]", "[i]", "[1]", "[é]", "[✅]"])
boxes = st.tuples(starts, bullets, marks, st.just(" ")).map("".join)
others = st.sampled_from(
    ["", "", "text", "- plain", "  more", "# Heading", "> quoted", "---", "==="]
)


@given(
    found=st.lists(st.tuples(boxes, st.booleans()) | st.tuples(others, st.none()), max_size=14),
    by_heading=st.booleans(),
)
@example(found=[("-[ ] ", True), ("> - [x] ", True), ("[ ] ", True)], by_heading=False)
@example(found=[("- [ ] ", True), ("-[ ] ", True), ("  -[i] ", False)], by_heading=True)
def test_every_line_that_looks_like_a_box_is_read_or_named(
    found: list[tuple[str, bool | None]], by_heading: bool
) -> None:
    lines = [
        f"{text}w{n}" if is_box is not None else text for n, (text, is_box) in enumerate(found)
    ]
    file = read("\n".join(lines).encode(), source="s", headings_are_tasks=by_heading)
    titles = Counter(t.title for t in file.tasks)
    titles.update(item.title for task in file.tasks for item in task.items)
    left_out = Counter(one.line for one in file.unreadable)
    for number, line in enumerate(lines, 1):
        looks = BOX.match(line) or MARKED.match(line)
        if looks and line.strip(" \t>*") and not line.rstrip().endswith("*"):
            assert (titles[looks[1]] > 0) != (left_out[number] > 0), (line, number)
            assert titles[looks[1]] <= 1
    assert len(file.remarks) == file.boxes_as_open
    assert file.boxes_left_out <= len(file.unreadable)
