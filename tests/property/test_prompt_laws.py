"""What holds for every prompt, whatever people and programs wrote into the task."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from domain.agent.wake_queue import Trigger
from domain.journal import task as t
from domain.scaffold import FEATURES, PROMPT_MIN_BYTES
from domain.wake import reading as r
from domain.wake.commands import LocalTime
from domain.wake.prompt import Prompt, render, size_of
from domain.wake.prompt_sections import block, clip, dump, line, size
from tests.support.readings import (
    AGENT,
    AT,
    ROOF,
    WORK,
    add_link,
    add_task,
    body,
    household,
    ids,
    read,
    readings,
    texts,
)

LEAST = r.PromptLimits(prompt_max_bytes=PROMPT_MIN_BYTES)
_NAMES = (
    "now suppressed_labels available_labels corrections task time linked report memory critical "
    "journal proposals changed thread words first_wake instruction"
).split()
_NAMES_3 = (
    "task suppressed_labels available_labels corrections memory linked time report critical "
    "journal proposals thread changed words first_wake now instruction"
).split()
_NAMES_5 = " ".join(_NAMES_3).replace("changed words", "changed requests words").split()
_NAMES_6 = " ".join(_NAMES_5).replace(" words", " words client").split()
NAMES = {1: _NAMES, 2: _NAMES, 3: _NAMES_3, 4: _NAMES_3, 5: _NAMES_5, 6: _NAMES_6, 7: _NAMES_6}
limits = st.builds(r.PromptLimits, prompt_max_bytes=st.integers(PROMPT_MIN_BYTES, 150_000))


def headings(text: str) -> list[str]:
    """Lines like a heading, by the widest meaning of a line that Python knows."""
    return [one for one in text.splitlines() if one.startswith("## ")]


def bytes_of(prompt: Prompt) -> bytes:
    return "\n\n".join(one.text for one in (*prompt.system, *prompt.user)).encode()


@given(reading=readings, bounds=limits)
def test_no_text_can_pass_for_a_heading(reading: r.Reading, bounds: r.PromptLimits) -> None:
    prompt = render(reading, bounds)
    for section in (*prompt.system, *prompt.user):
        assert headings(section.text) == section.text.splitlines()[:1], section.name
        assert section.text.startswith("## ")


@given(reading=readings, bounds=limits)
def test_a_prompt_never_exceeds_its_limit(reading: r.Reading, bounds: r.PromptLimits) -> None:
    prompt = render(reading, bounds)
    assert len(bytes_of(prompt)) <= size_of(prompt) <= bounds.prompt_max_bytes


@given(reading=readings)
def test_the_same_reading_gives_the_same_bytes(reading: r.Reading) -> None:
    assert bytes_of(render(reading, LEAST)) == bytes_of(render(reading, LEAST))


@given(reading=readings, bounds=limits)
def test_sections_are_known_once_and_in_order(reading: r.Reading, bounds: r.PromptLimits) -> None:
    names = [section.name for section in render(reading, bounds).user]
    assert names == [name for name in NAMES[reading.scaffold] if name in names]
    assert {"task", "instruction"} <= set(names)
    assert ("first_wake" in names) == (reading.report is None)
    if reading.scaffold == 1:
        assert not {"now", "time", "memory", "thread"} & set(names)


@given(reading=readings, bounds=limits)
def test_the_task_is_json_and_counts_all_that_is_cut(
    reading: r.Reading, bounds: r.PromptLimits
) -> None:
    task = reading.task
    document = json.loads(body(next(s for s in render(reading, bounds).user if s.name == "task")))
    assert len(document["log"]) + document.get("logCut", 0) == len(task.log) + task.log_unread
    for name, count in (("checklist", len(task.items)), ("labels", len(task.labels))):
        assert len(document.get(name, ())) + document.get(f"{name}Cut", 0) == count
    assert document["id"] == task.id


@given(text=texts)
def test_a_text_as_json_stands_on_one_line_and_reads_back(text: str) -> None:
    dumped = dump(text)
    assert json.loads(dumped) == text
    assert len(dumped.splitlines()) == 1


@given(text=texts, bound=st.integers(0, 50))
@example(text="ä", bound=1)
def test_a_clipped_text_is_its_beginning_and_says_how_much_is_missing(
    text: str, bound: int
) -> None:
    clipped = clip(text, bound)
    if size(text) <= bound:
        assert clipped == text
        return
    kept, _, note = clipped.rpartition(" … [cut: ")
    assert text.startswith(kept)
    missing = size(text) - int(note.partition(" ")[0])
    assert size(kept) <= missing <= bound


@given(text=texts)
def test_a_line_is_one_line_and_a_block_keeps_its_words(text: str) -> None:
    assert len(line(text, 10_000).splitlines()) <= 1
    kept = block(text, 10**9).replace("#", "")
    assert kept.splitlines() == text.replace("#", "").splitlines()


secrets = st.text("QXZ", min_size=12, max_size=20)


@pytest.mark.parametrize("scaffold", FEATURES)
@given(title=secrets, name=ids.map("task-secret-".__add__), note=secrets)
def test_no_byte_of_a_task_out_of_scope_reaches_a_prompt(
    title: str, name: str, note: str, scaffold: int
) -> None:
    book = household()
    add_task(book, name, title, WORK)
    book.tell("task", name, t.NoteAdded("person", "note-1", "note", book.words(note)))
    agent = replace(AGENT, position=book.n)
    add_link(book, ROOF, "blocks", name)
    add_link(book, name, "fixes", ROOF)
    tokens = (f"id:{name}", "id:note-1")
    trigger = Trigger("subscription", "s1", tokens=tokens, is_propagated=True)
    agents = {name: r.LinkedAgent(f"About {title}")}
    asked = r.WakeReason("subscription", (trigger,))
    reading = read(book, agent, asked=asked, linked_agents=agents, given=r.PromptOptions(scaffold))
    prompt = bytes_of(render(reading, r.PromptLimits()))
    for secret in (title, name, note, "note-1", WORK):
        assert secret.encode() not in prompt
    ways = ("outgoing", "incoming") if scaffold >= 2 else ("", "")
    for phrase, way in zip(("blocks", "is_fixed_by"), ways, strict=True):
        told = {"relation": phrase} | ({"direction": way} if way else {})
        assert dump(told).encode() in prompt


# -------------------------------------------------------------------------------- large ones


def large(count: int, text: str, scaffold: int) -> r.Reading:
    """A reading with so many of everything."""
    fields = "title description status_reason priority estimate due language category".split()
    known = dict.fromkeys(fields, r.OriginSeen("person", AT.format(1)))
    label = tuple(r.LabelSeen(f"label-{index}", text) for index in range(count))
    seen = (r.ObservationSeen(AT.format(1), "critical", "grievance", text),) * count
    log = tuple(r.EntrySeen(AT.format(1), "note", "person", text) for _ in range(count))
    items = tuple(r.ItemSeen(f"item-{n}", text, is_checked=n % 3 == 0) for n in range(count))
    return r.Reading(
        r.TaskSeen(
            "task-1",
            text,
            text,
            labels=label,
            items=items,
            log=log,
            status_reason=text,
            origins=known,
            time=(r.TimeSeen(AT.format(1), 9, text),) * count,
        ),
        slots=r.SlotsSeen(text, (text,) * count, ((text, text),) * count),
        suppressed=label,
        available=label,
        corrections=(r.CorrectionSeen(text, text),) * count,
        linked=(r.LinkSeen("blocks", "t", text, "OPEN", "P1", text),) * count,
        report=r.ReportShown(AT.format(1), text, text, text),
        critical=seen,
        journal=seen,
        proposals=(r.ProposalSeen("fp", text),) * count,
        verdicts=(r.VerdictSeen("rejected", text, text),) * count,
        changes=(r.ChangeSeen(text, "changed"),) * count,
        timers=(r.TimerSeen("timer", text, (AT.format(1),) * count),) * count,
        words=text,
        language=text,
        scaffold=scaffold,
        local=LocalTime("Saturday", "2026-11-21T14:05", "Europe/Berlin", "+01:00"),
        thread=r.ThreadSeen((r.ExchangeSeen(AT.format(1), text, text),) * count),
        memory=(r.DigestSeen(AT.format(1), AT.format(2), 20, text),) * count,
    )


@pytest.mark.parametrize("scaffold", FEATURES)
@pytest.mark.parametrize("text", ["\x01" * 3_000, "#\n" * 3_000, "𝄞" * 3_000, '"\\' * 3_000, ""])
def test_the_worst_texts_fit_into_the_smallest_prompt(text: str, scaffold: int) -> None:
    assert size_of(render(large(150, text, scaffold), LEAST)) <= LEAST.prompt_max_bytes


@pytest.mark.parametrize(
    ("scaffold", "count"), [*((one, 1_000) for one in FEATURES), (max(FEATURES), 10_000)]
)
@pytest.mark.parametrize("bound", [PROMPT_MIN_BYTES, 120_000, 1_000_000])
def test_thousands_of_everything_fit(bound: int, scaffold: int, count: int) -> None:
    """Much more than fits, by either bound."""
    reading = large(count, "some words " * 20, scaffold)
    prompt = render(reading, r.PromptLimits(prompt_max_bytes=bound))
    assert bound // 2 < size_of(prompt) <= bound


def test_a_task_with_ten_thousand_notes_and_items_is_read_within_bounds() -> None:
    book = household()
    facts: list[Any] = []
    for number in range(5_000):
        words = book.words(f"{number} " + "x" * 1_100)
        facts.append(t.NoteAdded("person", f"note-{number}", "note", words))
        facts.append(t.ItemAdded("person", "list-1", f"item-{number}", f"Step {number}"))
    book.tell("task", ROOF, *facts)
    reading = read(book)
    assert len(book.payloads_read) == len(reading.task.log) < 110
    assert reading.task.log[-1].text.startswith("4999 ")
