"""A reply decoded once more, where a part of what was kept of it is gone."""

from domain.errors import Refused
from domain.log.wire import Words
from domain.ports import Call, Reply
from domain.wake.wake import ModelAnswered, ToolCall
from replay.divergence import RowDifference
from replay.replies import Decoder, ReplyDecoding

REPLY = Reply(b"raw", "Done.", (Call("c1", "find_tasks", "{}"),))


def found(fact: ModelAnswered, payloads: dict[str, bytes]) -> tuple[list[RowDifference], int]:
    """What differs, and how many replies nobody could decode."""

    def read(raw: bytes) -> Reply:
        if raw != b"raw":
            raise Refused("odd", because="it is odd", instead="nothing")
        return REPLY

    replies = ReplyDecoding({"old.1": Decoder(read), "old:": Decoder(read)}, payloads.get)
    return list(replies.differs(fact, "old:model")), replies.undecoded


def answered(arguments: Words, reply_format: str = "old.1") -> ModelAnswered:
    calls = (ToolCall("c1", "find_tasks", arguments),)
    return ModelAnswered(1, 1, "p", calls=calls, text=Words("Done."), reply_format=reply_format)


def test_what_is_gone_is_told_where_it_is_named_and_nowhere_else() -> None:
    whole, gone = answered(Words("{}")), answered(Words(payload="q"))
    assert found(whole, {"p": b"raw"}) == ([], 0)
    assert found(whole, {}) == ([], 0)
    assert found(gone, {"p": b"raw"}) == ([], 0)
    (known,), _ = found(gone, {"p": b"raw", "q": b'{"words":"roof"}'})
    assert known.path == "reply.calls"


def test_bytes_of_a_model_of_old_that_no_decoder_reads_are_counted() -> None:
    old = answered(Words("{}"), reply_format="")
    assert found(old, {"p": b"other"}) == ([], 1)
    assert [one.path for one in found(answered(Words("{}")), {"p": b"other"})[0]] == ["reply"]
