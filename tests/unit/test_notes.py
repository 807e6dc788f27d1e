"""The notes that the offline model is measured by are well formed, and it does not fall behind."""

from collections import Counter

from domain.log.timestamps import is_date
from tests.support.notes import (
    KINDS,
    MANY,
    TAGS,
    Case,
    cases,
    marks,
    precision_and_recall,
    proposed,
    same,
)

NOTES_MIN = 400
PRECISION_FLOOR = 0.96
RECALL_FLOOR = 0.92


def _problems(case: Case) -> list[str]:
    days = [case.today, *(one.at for one in case.written)]
    dues = [case.want.get("due", []), case.may.get("due", [])]
    days += [day for told in dues for day in (told if isinstance(told, list) else [told])]
    items = {same(title.removeprefix("[x] ")) for title in case.task.get("items", ())}
    checks = {
        "an unknown kind of proposal": {*case.want, *case.may} <= {*KINDS},
        "an unknown tag": {*case.kind} <= TAGS,
        "no tag": bool(case.kind),
        "nothing wanted, or the tag nothing, but not both": (
            ("nothing" in case.kind) == (not case.want)
        ),
        "no day": all(is_date(day) for day in days),
        "a note and notes": bool(case.note) != bool(case.notes),
        "a note of tomorrow": all(one.at <= case.today for one in case.written),
        "notes not oldest first": case.written == sorted(case.written, key=lambda one: one.at),
        "a list wanted as a text": all(isinstance(case.want.get(kind, []), list) for kind in MANY),
        "a tick of no item": {same(title) for title in case.want.get("tick", ())} <= items,
        "an item that is there": items.isdisjoint(same(one) for one in case.want.get("add", ())),
    }
    return [f"{told}: {case.text!r}" for told, is_fine in checks.items() if not is_fine]


def test_every_note_is_well_formed_and_there_once() -> None:
    known = list(cases())
    assert [told for case in known for told in _problems(case)] == []
    texts = Counter((case.text, str(case.task)) for case in known)
    assert [text for text, times in texts.items() if times > 1] == []


def test_there_are_enough_notes_of_each_language_and_enough_that_lead_to_nothing() -> None:
    known = list(cases())
    german = [case for case in known if case.language == "de"]
    quiet = [case for case in known if not case.want]
    ours = [case for case in known if not case.is_kept_back and not case.is_seen]
    counted = [case for case in ours if case.is_counted_only]
    assert len(known) >= NOTES_MIN
    assert 0.4 < len(german) / len(known) < 0.6
    assert len(quiet) / len(known) >= 0.3
    assert 0.25 < len(counted) / len(ours) < 0.35
    assert {tag for case in known for tag in case.kind} == TAGS


def test_the_offline_model_understands_no_less_than_it_did() -> None:
    known = [case for case in cases() if not case.is_kept_back]
    told = [one for case in known for one in marks(case, proposed(case)).values()]
    precision, recall, _ = precision_and_recall(told)
    assert precision >= PRECISION_FLOOR
    assert recall >= RECALL_FLOOR
