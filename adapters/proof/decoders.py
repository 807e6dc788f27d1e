"""Who reads the kept bytes of a reply again: by `reply_format`, one for each that is known.

Replies of 0.1.0 have no format: what reads them goes by their model. Nothing is loaded before it
is needed, least of all a provider's SDK.
"""

from functools import partial

from domain.ports import Reply
from replay.replies import Decoder, Decoders


def _gemini(reply_format: str, raw: bytes) -> Reply:
    from adapters.models.gemini_reply import parse

    return parse(raw, reply_format)


def _openai(raw: bytes) -> Reply:
    from adapters.models.openai.decoding import parse

    return parse(raw)


def _rules(raw: bytes) -> Reply:
    from adapters.models.rules import parse

    return parse(raw)


def _tape(raw: bytes) -> Reply:
    from adapters.models.tape import parse

    return parse(raw)


def _demo(raw: bytes) -> Reply:
    from adapters.models.demo import parse

    return parse(raw)


DECODERS: Decoders = {
    "gemini:": Decoder(partial(_gemini, ""), is_whole=False),
    "gemini.2": Decoder(partial(_gemini, "gemini.2"), is_whole=False),
    "gemini.3": Decoder(partial(_gemini, "gemini.3"), is_whole=False),
    "openai.1": Decoder(_openai, is_whole=False),
    "rules:": Decoder(_rules),
    "rules.1": Decoder(_rules),
    "tape:": Decoder(_tape, is_whole=False),
    "tape.1": Decoder(_tape),
    "demo:": Decoder(_demo),
}
"""The format of Gemini's first version was never written down; `gemini.1` is none."""
