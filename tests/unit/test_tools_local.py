"""Reports without our ids, observations and retractions as far as they make sense."""

import pytest

from domain.log.keys import key
from domain.tools import arguments as a
from domain.tools import registry
from domain.tools.base import ToolRefusal
from domain.tools.local import (
    Observation,
    Report,
    observations,
    report,
    retractions,
    without_ids,
)

ID = key("item", "t1", "dig", "0")
OTHER = key("item", "t1", "rake", "0")


def reported(content: str, tldr: str = "short", one_liner: str = "line") -> Report | ToolRefusal:
    given = registry.decode(
        "update_report", {"content": content, "tldr": tldr, "oneLiner": one_liner}
    )
    assert isinstance(given, a.UpdateReport)
    return report(given)


def observed(*given: object) -> tuple[Observation, ...] | ToolRefusal:
    found = registry.decode("record_observations", {"observations": list(given)})
    assert isinstance(found, a.RecordObservations)
    return observations(found)


def retracted(*given: object) -> tuple[tuple[str, str], ...] | ToolRefusal:
    found = registry.decode("retract_suggestions", {"proposals": list(given)})
    assert isinstance(found, a.RetractSuggestions)
    return retractions(found)


def test_a_report_is_trimmed_and_its_one_liner_is_one_line() -> None:
    assert reported("\n# All well\n\n- dug \n", " ok ", " on\ntrack ") == Report(
        "# All well\n\n- dug", "ok", "on track"
    )


def test_a_report_that_is_too_long_is_cut() -> None:
    found = reported("word " * 10_000, "word " * 1_000, "word " * 100)
    assert isinstance(found, Report)
    assert [len(found.content), len(found.tldr), len(found.one_liner)] == [20_000, 2_000, 200]
    assert found.one_liner.endswith("word…")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Dig (id: {ID}) is done.", "Dig is done."),
        (f"Dig ({ID}), rake [{OTHER}].", "Dig, rake."),
        (f"Dig (ids: {ID}, {OTHER}) are done", "Dig are done"),
        (f"Dig (item id `{ID}`) is done", "Dig is done"),
        (f"Dig [Task ID: {ID}] is done", "Dig is done"),
        (f"- Dig, id: {ID}\n- Rake, ID {OTHER}", "- Dig,\n- Rake,"),
        (f"{ID} is done", "is done"),
        (f"see {ID} and {OTHER}!", "see!"),
        (f"  - {ID} dig", "- dig"),
        (f"a\n  - {ID} dig\n  {ID} b", "a\n  - dig\n  b"),
        (f"See [the task](/tasks/{ID}).", f"See [the task](/tasks/{ID})."),
        (f"See [{ID}](/tasks/{ID}).", f"See [task](/tasks/{ID})."),
        (f"See /tasks/{ID} ({ID})", f"See /tasks/{ID}"),
        (f"See https://a.example/x/{ID}?y={ID}", f"See https://a.example/x/{ID}?y={ID}"),
        ("- [ ] dig\n- [x] rake ()", "- [ ] dig\n- [x] rake ()"),
        ("two  spaces ,  kept", "two  spaces ,  kept"),
        (f"x{ID} and {ID}x and {ID}8", f"x{ID} and {ID}x and {ID}8"),
        (f"{ID.upper()}", f"{ID.upper()}"),
        ("an idea: keep it", "an idea: keep it"),
        (f"\0{ID}\0", ""),
        ("a\0b", "ab"),
    ],
)
def test_internal_ids_go_and_links_stay(text: str, expected: str) -> None:
    assert without_ids(text) == expected


def test_long_runs_of_spaces_do_no_harm() -> None:
    assert without_ids("a" + " " * 100_000 + ID) == "a"


def test_a_report_of_nothing_but_ids_is_refused() -> None:
    because = "tldr: nothing is left of it without its internal ids"
    assert reported("all well", f"({ID})") == ToolRefusal("invalid_arguments", because)


def test_an_observation_may_be_a_text_or_an_object() -> None:
    assert observed(
        " The soil is wet ",
        {"text": "Rain", "priority": "Critical", "category": "grievance", "target": "both"},
        {"text": "Sun", "priority": "huge", "category": 7, "target": "moon", "more": 1},
        {"text": "Wind", "category": "template_improvement", "priority": None},
    ) == (
        Observation("The soil is wet", "routine", "operational", ""),
        Observation("Rain", "critical", "grievance", "both"),
        Observation("Sun", "routine", "operational", ""),
        Observation("Wind", "routine", "template_improvement", ""),
    )


def test_blank_observations_are_dropped_and_long_ones_cut() -> None:
    found = observed(" ", {"text": ""}, 7, None, {}, "x" * 4_001)
    assert found == (Observation("x" * 3_999 + "…", "routine", "operational", ""),)


def test_no_observation_with_a_text_is_refused() -> None:
    because = "observations: none of them has a text"
    assert observed(" ", {"text": None}) == ToolRefusal("invalid_arguments", because)
    assert registry.decode("record_observations", {"observations": []}) == ToolRefusal(
        "invalid_arguments", "observations: expected at least 1, got none"
    )
    assert registry.decode("record_observations", {"observations": ["x"] * 21}) == ToolRefusal(
        "limit", "observations: at most 20 in one call, got 21"
    )


def test_an_observation_made_in_code_counts_too() -> None:
    given = a.RecordObservations(("wet", a.Observed("dry", priority="notable")))
    assert observations(given) == (
        Observation("wet", "routine", "operational", ""),
        Observation("dry", "notable", "operational", ""),
    )


def test_malformed_retractions_are_dropped_and_a_repeated_one_counts_once() -> None:
    found = retracted(
        {"fingerprint": " f1 ", "reason": " it \n rained "},
        {"fingerprint": "f2"},
        {"fingerprint": "f3", "reason": "x" * 501},
        {"fingerprint": "", "reason": "why"},
        {"fingerprint": 4, "reason": "why"},
        "f5",
        {"fingerprint": "f6", "reason": "x" * 500, "note": "more"},
        {"fingerprint": "f1", "reason": "again"},
    )
    assert found == (("f1", "it rained"), ("f6", "x" * 500))


def test_no_retraction_that_can_be_read_is_refused() -> None:
    because = "proposals: none of them has a fingerprint and a reason of 1 to 500 characters"
    assert retracted({"fingerprint": "f1"}) == ToolRefusal("invalid_arguments", because)
