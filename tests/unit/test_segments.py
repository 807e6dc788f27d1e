"""A file of appends that a machine leaves for others is whole or not there."""

import gzip
import random

import pytest

from adapters.store.remote_appends import RemoteAppend
from adapters.sync import segments
from adapters.sync.segments import (
    ChainId,
    IncompleteSegment,
    SegmentHeader,
    decode_segment,
    encode_segments,
)
from domain.append import envelope
from domain.journal.catalog import LabelAdded
from domain.log.wire import SHARED, payload
from tests.support.sharing import rows_of

TEXTS = payload(SHARED, b"words of a task"), payload("task-1", b"\xff\x00")


def chain(count: int = 3) -> list[RemoteAppend]:
    """Appends of a label each; two of them with another that is named as a payload."""
    found: list[RemoteAppend] = []
    version, prev = 1, ""
    for nth in range(count):
        kept = (TEXTS[:1], (), TEXTS[1:])[nth] if nth < 3 else ()
        names = ["work" if nth == 1 else f"label {nth}", *(one.id for one in kept)]
        facts = [("catalog:main", version + n, LabelAdded(one, one)) for n, one in enumerate(names)]
        rows = rows_of("r1", nth + 1, prev, facts)
        version, prev = version + len(facts), envelope.digest(rows)
        found.append(RemoteAppend(rows, kept))
    return found


def whole() -> tuple[SegmentHeader, bytes]:
    ((header, data),) = encode_segments(ChainId("journal", "r1"), 0, chain())
    return header, data


def test_what_a_segment_holds_comes_back_as_it_was() -> None:
    header, data = whole()
    found = decode_segment(data, f"r9/{header.name}")
    assert found.header == header
    assert list(found.appends) == chain()
    assert (header.first, header.last) == (1, 3)
    assert header.head == envelope.digest(chain()[-1].rows)


def test_the_same_appends_make_the_same_bytes() -> None:
    assert whole() == whole()


def test_a_file_that_is_cut_short_is_not_there() -> None:
    _, data = whole()
    for end in {*range(0, len(data), 7), *range(len(data) - 30, len(data))}:
        with pytest.raises(IncompleteSegment):
            decode_segment(data[:end])


def test_a_line_that_is_cut_off_is_not_there() -> None:
    lines = gzip.decompress(whole()[1]).splitlines(keepends=True)
    for count in range(len(lines)):
        with pytest.raises(IncompleteSegment):
            decode_segment(gzip.compress(b"".join(lines[:count])))


def test_a_flipped_bit_is_noticed() -> None:
    _, data = whole()
    chance = random.Random(1)
    for _ in range(200):
        altered = bytearray(data)
        altered[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            found = decode_segment(bytes(altered))
        except IncompleteSegment:
            continue
        assert found == decode_segment(data)  # a flag of gzip's that says nothing of what is in it


def test_no_row_can_be_dropped_doubled_swapped_or_altered_though_the_sum_fits() -> None:
    ((header, data),) = encode_segments(ChainId("journal", "r1"), 0, chain(9))
    lines = gzip.decompress(data).split(b"\n")[1:-2]
    rows = [nth for nth, one in enumerate(lines) if one.startswith(b'{"stream"')]
    other = [one.replace(b"words", b"WORDS") for one in lines]
    forged = [[*lines, lines[rows[0]]], lines[rows[2] :], other]
    for at, following in zip(rows, [*rows[1:], rows[0]], strict=True):
        forged += [
            lines[:at] + lines[at + 1 :],
            [*lines[:at], lines[at], *lines[at:]],
            [*lines[:at], lines[at].replace(b'"version":', b'"version":1'), *lines[at + 1 :]],
            [*lines[:at], lines[at].replace(b"label_added", b"label_added "), *lines[at + 1 :]],
        ]
        swapped = list(lines)
        swapped[at], swapped[following] = lines[following], lines[at]
        forged.append(swapped)
    for one in forged:
        with pytest.raises(IncompleteSegment):
            decode_segment(segments._file(header, one)[1])


def test_a_name_like_ours_must_say_what_is_in_it_and_a_strange_one_is_welcome() -> None:
    header, data = whole()
    assert decode_segment(data, "r1/journal (conflicted copy 2026-03-01).gz").header == header
    with pytest.raises(IncompleteSegment):
        decode_segment(data, f"r1/journal-r1-1-4-{header.head}.jsonl.gz")


@pytest.mark.parametrize("name", ["../../x", "R1", "", "a" * 17])
def test_a_file_of_a_name_that_no_home_has_is_not_taken(name: str) -> None:
    rows = rows_of(name, 1, "", [("catalog:main", 1, LabelAdded("one", "one"))])
    ((_, data),) = encode_segments(ChainId("journal", name), 0, [RemoteAppend(rows, ())])
    with pytest.raises(IncompleteSegment, match="of no replica"):
        decode_segment(data)


def test_a_newer_segment_is_known_as_such_and_not_read() -> None:
    header, data = whole()
    body = gzip.decompress(data).replace(b'"rules":1', b'"rules":9').split(b"\n")
    newer = SegmentHeader(1, *header.place, 0, "", 1, 3, 9, 2, header.head)
    found = decode_segment(segments._file(newer, body[1:-2])[1])
    assert found.header.is_newer
    assert found.appends == ()


def test_many_appends_make_several_files_that_follow_each_other() -> None:
    appends = chain(23)[3:]
    files = list(encode_segments(ChainId("journal", "r1"), 3, appends, 700))
    assert len(files) > 3
    assert [one.after for one, _ in files] == [3, *(one.last for one, _ in files[:-1])]
    assert [one for _, data in files for one in decode_segment(data).appends] == appends
