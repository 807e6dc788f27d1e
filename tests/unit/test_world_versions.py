"""How many rows a stream has, where whoever holds the rows has counted them."""

from collections.abc import Sequence

from domain.log.state import LogState, RecordedEvent


def test_the_version_of_a_counted_stream_is_known_without_reading_it() -> None:
    def read(stream: str, after: int) -> Sequence[RecordedEvent]:
        raise AssertionError(f"{stream} was read above {after}")

    world = LogState("journal", "desk", 9, read, lambda _: None, counts={"log:main@desk": 7})
    assert world.version("log:main@desk") == 7
    assert world.version("log:main@laptop") == 0
