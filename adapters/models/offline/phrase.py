"""What a sentence says, with the words that say so."""

from msgspec import Struct


class Phrase(Struct, frozen=True):
    """A value, and the words it was read from."""

    value: str
    quote: str
