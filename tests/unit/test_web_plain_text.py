"""What a model read or wrote, told without marks of Markdown and without JSON."""

import json

from adapters.web.plain_text import bare, compared, told
from adapters.web.prompts import sections
from domain.ports import Section

TASK = """## Task

{
"id": "2nxz",
"title": {"value":"Fix the tap","by":"import","at":"2026-11-16T21:45:04.498631Z"},
"description": {"value":""},
"dueDate": null,
"category": {"value":{"id":"tr3l","name":"Home"},"by":"person","at":"2026-11-16T21:45:04.498631Z"},
"checklist": [
{"id":"7q","title":"Turn off the water","checked":true,"checkedBy":"import","archived":false},
{"id":"vq","title":"Call the plumber","checked":false,"checkedBy":null,"archived":true}
],
"log": [
{"at":"2026-11-17T21:45:04.509631Z","type":"note","by":"person","text":"Takes **90** minutes."}
],
"createdAt": "2026-11-16T21:45:04.498631Z"
}"""
LINES = [
    "Title: Fix the tap (the file, 2026-11-16 22:45)",
    "Category: Home (you, 2026-11-16 22:45)",
    "Checklist:",
    "  ☑ Turn off the water",
    "  ☐ Call the plumber (archived: yes)",
    "Log:",
    "  2026-11-17 22:45, you: Takes **90** minutes.",
    "Created at: 2026-11-16 22:45",
]


def test_the_task_of_a_prompt_is_told_in_lines_and_stands_below_as_it_was_sent() -> None:
    assert told(TASK, "Europe/Berlin").splitlines() == LINES
    before = Section("task", TASK.replace("Fix", "Mend"))
    (one,) = sections([("user", Section("task", TASK))], [("user", before)], zone="Europe/Berlin")
    assert ["".join(text for text, _ in line.pieces) for line in one.lines] == LINES
    assert [line.is_new for line in one.lines] == [True] + [False] * 7
    assert (one.new, one.sent, one.size) == (1, TASK, len(TASK))


def test_what_only_the_sent_words_have_is_found_in_them() -> None:
    def found(words: str) -> list[str]:
        (one,) = sections([("user", Section("task", TASK))], None, words)
        assert one.hits == 1
        return ["".join(text for text, _ in line.pieces) for line in one.lines]

    assert "  ☐ Call the plumber (archived: yes)" in found("plumber")
    assert '"id": "2nxz",' in found("2nxz")


def test_what_is_no_json_after_all_is_told_as_it_stands() -> None:
    for text in ("{\nbroken", "[\n" * 9_000, "{}", "a {\n b"):
        assert told(text, "UTC") == text
    rows = '## Rows\n[\n{"ref":"1.1","status":"open","note":""},\n{"linksCut":2}\n]'
    assert told(rows, "UTC") == "ref: 1.1; status: open\nlinks cut: 2"


def test_words_of_a_person_are_no_time_and_no_line_of_their_own() -> None:
    note = {"by": "person", "text": "2027-99-99T99:99Z"}
    task = {"title": "0001-01-01T00:00:00.000000Z", "log": [note, {"text": "a\nStatus: DONE"}]}
    assert told(json.dumps(task, indent=0), "America/Lima").splitlines() == [
        "Title: 0001-01-01T00:00:00.000000Z",
        "Log:",
        "  you: 2027-99-99T99:99Z",
        "  : a",
        "    Status: DONE",
    ]


def test_two_texts_that_differ_in_marks_alone_are_compared_with_them() -> None:
    assert compared("# A\n**b**", "# A\nc") == ("A\nb", "A\nc")
    assert compared("# A", "A") == ("# A", "A")
    assert bare("a * b ** c, 2_000_000 and `` ` ``") == "a * b ** c, 2_000_000 and `` ` ``"
