"""The sections of a prompt that was rendered again, beside those that were recorded."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from domain.keys import payload_id
from domain.wake.events import SectionRef
from domain.wire import PayloadId
from replay.divergence import PROMPT, Difference

Bytes = Callable[[PayloadId], bytes | None]


def sections(
    part: str, task: str, today: Mapping[str, bytes], was: Iterable[SectionRef], payload: Bytes
) -> Iterator[Difference]:
    """What differs in a part of a prompt, and in the order of its sections."""
    known = {ref.name: ref.payload for ref in was}
    for name in (*today, *(name for name in known if name not in today)):
        data = today.get(name)
        named = known.get(name, "")
        if data is None or payload_id(task, data) != named:
            yield from differs(f"{part}.{name}", PROMPT, data or b"", named, payload)
    if list(today) != list(known) and set(today) == set(known):
        yield Difference(0, PROMPT, part, " ".join(today), " ".join(known))


def differs(
    path: str, kind_of: str, today: bytes, named: PayloadId, payload: Bytes
) -> Iterator[Difference]:
    """Bytes of today, and those under a name, where they differ."""
    was = payload(named) if named else b""
    if was is None or was == today:
        return  # a payload that is gone, or was altered: told where it is named
    expected, actual = (text.decode("utf-8", "replace") for text in (today, was))
    yield Difference(0, kind_of, path, expected, actual)
