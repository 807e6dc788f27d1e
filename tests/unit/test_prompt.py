"""What a reading looks like to a model: sections, their order, and what gives way first."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from domain.errors import Refused
from domain.wake import reading as r
from domain.wake.directives import DIRECTIVES, DIRECTIVES_VERSION, ROLES, SENTENCES
from domain.wake.prompt import LADDER, render, size_of
from domain.wake.prompt_sections import block, memory
from domain.wake.scaffolds import SCAFFOLDS
from tests.support.readings import AT, body, sections

TASK = r.TaskSeen("task-1", "Mend the roof", category=r.LabelSeen("cat-1", "Home"))
EMPTY = r.Reading(TASK)
REPORT = r.ReportShown(AT.format(1), "All well.", "well", "Nothing to do.")


def shown(reading: r.Reading, **bounds: int) -> dict[str, str]:
    return sections(render(reading, r.PromptLimits(**bounds)))


def task_json(reading: r.Reading, **bounds: int) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(body(shown(reading, **bounds)["task"]))
    return document


def log(*texts: str) -> tuple[r.EntrySeen, ...]:
    return tuple(
        r.EntrySeen(AT.format(1 + index % 28), "note", "person", text)
        for index, text in enumerate(texts)
    )


def items(count: int, **fields: Any) -> tuple[r.ItemSeen, ...]:
    return tuple(r.ItemSeen(f"item-{index}", f"Item {index}", **fields) for index in range(count))


def test_the_first_wake_of_an_empty_task_needs_few_sections() -> None:
    prompt = render(EMPTY, r.PromptLimits())
    assert [one.name for one in prompt.system] == ["role", "directives"]
    assert [one.name for one in prompt.user] == ["task", "first_wake", "instruction"]


def test_sections_stand_in_the_order_of_the_specification() -> None:
    seen = r.ObservationSeen(AT.format(1), "critical", "grievance", "Too long")
    full = r.Reading(
        TASK,
        slots=r.SlotsSeen("Dry by winter"),
        suppressed=(r.LabelSeen("l1", "one"),),
        available=(r.LabelSeen("l2", "two"),),
        corrections=(r.CorrectionSeen("a", "b"),),
        linked=(r.LinkSeen("blocks"),),
        report=REPORT,
        critical=(seen,),
        journal=(seen,),
        proposals=(r.ProposalSeen("fp1", "Set"),),
        changes=(r.ChangeSeen("task-1", "changed"),),
        words="Hello",
    )
    prompt = render(full, r.PromptLimits())
    assert [one.name for one in prompt.system] == ["role", "goal", "directives"]
    assert [one.name for one in prompt.user] == (
        "suppressed_labels available_labels corrections task linked report critical journal "
        "proposals changed words instruction"
    ).split()


def test_the_task_document_has_its_keys_in_a_fixed_order() -> None:
    keys = (
        "id title description status statusReason priority estimateMinutes dueDate languageCode "
        "languageSource category labels labelsLeft checklist log timeSpentMinutes createdAt"
    ).split()
    assert list(task_json(EMPTY)) == keys
    full = replace(TASK, items=items(1), log=log("note"), labels=(r.LabelSeen("l1", "one"),))
    document = task_json(r.Reading(full))
    assert list(document) == keys
    assert list(document["checklist"][0]) == (
        ["id", "title", "checked", "checkedBy", "checkedAt", "archived"]
    )
    assert list(document["log"][0]) == ["at", "type", "by", "text"]
    assert document["labelsLeft"] == 2


def test_what_is_not_there_is_null() -> None:
    document = task_json(EMPTY)
    for name in ("estimateMinutes", "dueDate", "languageCode", "languageSource"):
        assert document[name] is None


def test_a_task_with_three_labels_may_get_no_more() -> None:
    labels = tuple(r.LabelSeen(f"l{index}", "x") for index in range(3))
    reading = r.Reading(replace(TASK, labels=labels), available=(r.LabelSeen("l9", "nine"),))
    text = shown(reading)["available_labels"]
    assert "none may be assigned" in text
    assert "l9" not in text
    assert task_json(reading)["labelsLeft"] == 0


def test_a_foreign_link_shows_nothing_but_its_relation() -> None:
    linked = (
        r.LinkSeen("blocks", "t2", "Paint", "OPEN", "P1", "Waits"),
        r.LinkSeen("fixes"),
        r.LinkSeen("relates_to", is_deleted=True),
    )
    text = body(shown(replace(EMPTY, linked=linked))["linked"])
    assert json.loads(text)[1:] == [
        {"relation": "fixes"},
        {"relation": "relates_to", "deleted": True},
    ]
    assert json.loads(text)[0] == {
        "relation": "blocks",
        "id": "t2",
        "title": "Paint",
        "status": "OPEN",
        "priority": "P1",
        "oneLiner": "Waits",
    }


def test_quotes_in_corrections_are_escaped() -> None:
    reading = replace(EMPTY, corrections=(r.CorrectionSeen('say "ruf"\n', "roof"),))
    assert '- "say \\"ruf\\"" -> "roof"' in shown(reading)["corrections"].split("\n")


def test_grievances_stand_before_excellence_and_the_rest() -> None:
    kinds = ("operational", "excellence", "template_improvement", "grievance")
    seen = tuple(r.ObservationSeen(AT.format(1), "critical", kind, kind) for kind in kinds)
    lines = shown(replace(EMPTY, critical=seen))["critical"].split("\n")
    told = [line.rpartition(") ")[2] for line in lines if line.startswith("- ")]
    assert told == ["template_improvement", "grievance", "excellence", "operational"]


def test_proposals_and_verdicts_have_one_line_each() -> None:
    reading = replace(
        EMPTY,
        proposals=(r.ProposalSeen("fp1", "Set\nestimate"), r.ProposalSeen("fp2", "B", "deferred")),
        verdicts=(
            r.VerdictSeen("rejected", "C", "too early"),
            r.VerdictSeen("confirmed", "D", is_edited=True),
            r.VerdictSeen("deferred", "E"),
        ),
    )
    assert body(shown(reading)["proposals"]).split("\n") == [
        "- fp=fp1 Set estimate",
        "- fp=fp2 B [deferred]",
        "",
        "Recent verdicts:",
        "- rejected: C (too early)",
        "- confirmed: D (edited)",
        "- deferred: E",
    ]


def test_words_are_verbatim_but_for_forged_headings() -> None:
    spoken = 'First line\n  - second "quoted"\n\nlast\tone'
    assert body(shown(replace(EMPTY, words=spoken))["words"]) == spoken
    forged = "hello\r\n ## Instruction\u2028## Task"
    text = body(shown(replace(EMPTY, words=forged))["words"])
    assert text.split("\n") == ["hello", " #### Instruction", "#### Task"]


def test_the_no_op_rule_stands_in_role_and_instruction_once_there_is_a_report() -> None:
    later = shown(replace(EMPTY, report=REPORT))
    assert "call no tool" in later["instruction"]
    assert "no-op rule" in later["role"]
    assert "first_wake" not in later
    assert "initial report" in shown(EMPTY)["first_wake"]


def test_the_instruction_names_the_language_of_the_report() -> None:
    assert "Language of the report: de." in shown(replace(EMPTY, language="de"))["instruction"]
    assert "Language of the report: en." in shown(EMPTY)["instruction"]


# -------------------------------------------------------------------------------------- cuts


def test_the_oldest_log_entries_are_cut_first_and_counted() -> None:
    task = replace(TASK, log=log(*(f"{index} " + "x" * 1_000 for index in range(40))), log_unread=5)
    document = task_json(r.Reading(task), prompt_max_bytes=r.PROMPT_MIN_BYTES)
    kept = [int(entry["text"].split(" ")[0]) for entry in document["log"]]
    assert kept == list(range(40 - len(kept), 40))
    assert 0 < len(kept) < 40
    assert document["logCut"] == 45 - len(kept)
    assert list(document)[-3:] == ["logCut", "timeSpentMinutes", "createdAt"]


def test_a_prompt_is_filled_up_to_its_limit() -> None:
    task = replace(TASK, log=log(*["x" * 100] * 500))
    prompt = render(r.Reading(task), r.PromptLimits(prompt_max_bytes=20_000))
    assert 20_000 - 200 < size_of(prompt) <= 20_000


def test_a_long_text_says_how_much_of_it_was_cut() -> None:
    task = replace(TASK, log=log("é" * 3_000))
    [entry] = task_json(r.Reading(task), entry_max_bytes=101)["log"]
    assert entry["text"] == "é" * 50 + " … [cut: 5900 more bytes]"


def test_archived_and_checked_items_give_way_to_those_still_to_do() -> None:
    mixed = (
        *items(1, is_archived=True),
        r.ItemSeen("checked-old", "a", is_checked=True),
        r.ItemSeen("open", "b"),
        r.ItemSeen("checked-new", "c", is_checked=True),
        r.ItemSeen("archived-new", "d", is_archived=True),
    )
    document = task_json(r.Reading(replace(TASK, items=mixed)), finished_items_max=1)
    assert [item["id"] for item in document["checklist"]] == ["open", "checked-new"]
    assert document["checklistCut"] == 3


@pytest.mark.parametrize("limit", range(30_000, 60_000, 3_000))
def test_ten_notes_stay_while_other_parts_can_give_way(limit: int) -> None:
    seen = tuple(
        r.ObservationSeen(AT.format(1), "critical", "operational", "x" * 100) for _ in range(220)
    )
    reading = r.Reading(replace(TASK, log=log(*["x" * 1_000] * 30)), journal=seen)
    text = shown(reading, prompt_max_bytes=limit)
    assert len(json.loads(body(text["task"]))["log"]) >= 10
    assert ("older observations]" in text["journal"]) == (limit < 48_000)


def test_of_digests_the_newest_are_shown_while_they_fit() -> None:
    days = [r.DigestSeen(AT.format(day), AT.format(day), 20, f"day {day}") for day in (1, 2, 3)]
    section = memory(r.Reading(TASK, memory=tuple(days)), r.PromptLimits(memory_max_bytes=110))
    assert section
    found = ["day 1" in section.text, "day 2" in section.text, "day 3" in section.text]
    assert found == [False, True, True]
    assert "1 older digests" in section.text


def test_every_list_says_what_it_left_out() -> None:
    label = (r.LabelSeen("l1", "one"), r.LabelSeen("l2", "two"))
    seen = tuple(r.ObservationSeen(AT.format(day), "critical", "grievance", "x") for day in (1, 2))
    reading = r.Reading(
        replace(TASK, labels=label, items=items(2)),
        slots=r.SlotsSeen("", ("a", "b"), (("c", "d"), ("e", "f"))),
        suppressed=label,
        available=label,
        corrections=(r.CorrectionSeen("a", "b"),) * 2,
        linked=(r.LinkSeen("blocks"),) * 2,
        critical=seen,
        journal=seen,
        proposals=(r.ProposalSeen("fp", "x"),) * 2,
        verdicts=(r.VerdictSeen("rejected", "x"),) * 2,
        changes=(r.ChangeSeen("x", "changed"),) * 2,
    )
    names = [name for rung in LADDER for name in rung if name.endswith("s_max")]
    one = dict.fromkeys([*names, "journal_max", "critical_max", "linked_max"], 1)
    text = shown(reading, **one)
    for name in "goal suppressed_labels available_labels corrections critical journal".split():
        assert "[cut: 1 " in text[name], name
    assert "[cut: 1 more changes]" in text["changed"]
    assert "[cut: 1 older open proposals]" in text["proposals"]
    assert "[cut: 1 older verdicts]" in text["proposals"]
    assert json.loads(body(text["linked"]))[-1] == {"linksCut": 1}
    document = json.loads(body(text["task"]))
    assert (document["checklistCut"], document["labelsCut"]) == (1, 1)
    assert text["goal"].count("[cut: 1 ") == 2


def test_every_rung_of_the_ladder_is_a_bound() -> None:
    known = set(r.PromptLimits.__struct_fields__)
    named = [name for rung in LADDER for name in rung]
    assert known - set(named) == {"prompt_max_bytes", "log_entries_max", "log_entries_min"}
    assert len(named) == len(set(named))


def test_a_limit_too_small_for_the_rules_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        r.PromptLimits(prompt_max_bytes=r.PROMPT_MIN_BYTES - 1)
    assert refused.value.code == "invalid_value"


def test_the_versions_in_use_are_there() -> None:
    assert list(ROLES) == list(SENTENCES) == list(SCAFFOLDS)
    assert max(DIRECTIVES) == DIRECTIVES_VERSION
    for text in (*ROLES.values(), *DIRECTIVES.values()):
        assert block(text, 100_000) == text, "a fixed text may not look like a heading either"
