"""What a model replied, decoded once more from the bytes that were kept of it (ADR 59)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import astuple

from domain.errors import WakelogError
from domain.log import canonical
from domain.log.wire import PayloadId
from domain.ports import Call, Reply
from domain.wake.tool_call import arguments_of, tool_named
from domain.wake.wake import ModelAnswered
from replay.divergence import ALTERED, FORMAT, RowDifference
from replay.payloads import text_of

_NUMBER = re.compile("[0-9]{1,9}")
COUNTS = ("tokens_in", "tokens_out", "tokens_thought", "tokens_cached")


class Decoder(NamedTuple):
    """Reads kept bytes. `is_whole`: they tell all tokens that were spent; else those of bytes that
    could not be used come on top."""

    read: Callable[[bytes], Reply]
    is_whole: bool = True


Decoders = Mapping[str, Decoder]
"""By `reply_format`; of replies without one by their model's first word and a colon."""


class ReplyDecoding:
    """Decodes replies again. `undecoded`: how many could not be, as nobody here knows how;
    `of_extensions`: those of them that models of others gave in a format of their own, by name."""

    def __init__(self, decoders: Decoders, payload: Callable[[PayloadId], bytes | None]) -> None:
        self.undecoded = 0
        self.of_extensions: Counter[str] = Counter()
        self._decoders, self._payload = decoders, payload

    def differs(self, fact: ModelAnswered, model: str) -> Iterator[RowDifference]:
        """What the kept bytes say otherwise."""
        name = fact.reply_format or f"{model.partition(':')[0]}:"
        decoder, raw = self._decoders.get(name), self._payload(fact.reply)
        if raw is None:  # told where it is named
            return
        if wrong := self.misnamed(fact.reply_format, model.partition(":")[0]):
            yield wrong
            return
        if decoder is None:
            self.undecoded += 1
            if fact.reply_format:
                self.of_extensions[model.partition(":")[0]] += 1
            return
        try:
            reply = decoder.read(raw)
        except WakelogError as error:
            if fact.reply_format:
                yield RowDifference(0, ALTERED, "reply", f"a reply that {name} reads", str(error))
            else:  # of a model of that time that nobody knows any more
                self.undecoded += 1
            return
        told, calls = canonical.clean(reply.text), tuple(map(_call, reply.calls))
        kept = text_of(fact.text, self._payload) if fact.text else ""
        kept_calls = self._calls(fact)
        if kept is not None and told != kept:
            yield RowDifference(0, ALTERED, "reply.text", told, kept)
        if kept_calls is not None and calls != kept_calls:
            yield RowDifference(0, ALTERED, "reply.calls", _lines(calls), _lines(kept_calls))
        known = astuple(reply.usage)
        spent = tuple(getattr(fact, count) for count in COUNTS)
        if spent != known if decoder.is_whole else _is_less(spent, known):
            yield RowDifference(0, ALTERED, "reply.usage", str(known), str(spent))

    def misnamed(self, name: str, word: str) -> RowDifference | None:
        """What is wrong with the format of a reply of a model, by its first word: what no release
        of it wrote, and of a model of others, what is not its own. One of a tape stands where a
        history was redacted, or where a model gives no bytes."""
        formats = [one.partition(".") for one in self._decoders if "." in one]
        if f"{word}:" not in self._decoders and word not in {one for one, _, _ in formats}:
            of, dot, number = name.partition(".")
            is_own = not dot or of == word or (name in self._decoders and of == "tape")
            is_own = is_own and not (dot and of == word and not _NUMBER.fullmatch(number))
            expected = f"a format of {word}"
            return None if is_own else RowDifference(0, ALTERED, "reply_format", expected, name)
        expected = f"a format of {word}"
        if not name:
            is_known = f"{word}:" in self._decoders
            return None if is_known else RowDifference(0, ALTERED, "reply_format", expected, "")
        of, _, number = name.partition(".")
        if name in self._decoders and of in (word, "tape"):
            return None
        newest = max((int(nth) for one, _, nth in formats if one == of), default=0)
        is_newer = of == word and bool(_NUMBER.fullmatch(number)) and int(number) > newest
        return RowDifference(0, FORMAT if is_newer else ALTERED, "reply_format", expected, name)

    def _calls(self, fact: ModelAnswered) -> tuple[tuple[str, ...], ...] | None:
        found: list[tuple[str, ...]] = []
        for call in fact.calls:
            arguments = text_of(call.arguments, self._payload)
            if arguments is None:
                return None
            found.append((call.call_id, call.tool, arguments, "unread" * bool(call.problem)))
        return tuple(found)


def _call(call: Call) -> tuple[str, ...]:
    arguments, problem = arguments_of(call)
    name = canonical.clean(call.call_id)
    return name, tool_named(call.tool), arguments, "unread" * bool(problem)


def _lines(calls: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(" ".join(call) for call in calls)


def _is_less(spent: Iterable[int | None], known: Iterable[int | None]) -> bool:
    """Whether fewer tokens are said to be spent than the bytes tell of."""
    pairs = zip(spent, known, strict=True)
    return any(one is not None and other is not None and one < other for one, other in pairs)
