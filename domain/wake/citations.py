"""Where the words stand that a proposal rests on, among the texts that its wake was shown."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from string import punctuation
from typing import Any, NamedTuple

from msgspec.structs import replace

from domain.errors import Refused
from domain.log import canonical
from domain.log.wire import INLINE_MAX_BYTES, Words
from domain.policy.scrub import scrubbed_text
from domain.scaffold import Features
from domain.text import cut, fold, squeeze
from domain.tools import registry
from domain.tools.base import Proposal, ToolRefusal
from domain.tools.decoding import BECAUSE_MAX
from domain.tools.snapshot import Snapshot
from domain.wake import short_ids
from domain.wake.wake import Wake

_CONTROLS = [code for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in b"\t\n\r\x85"]
_UNSEEN = dict.fromkeys([*_CONTROLS, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_QUOTES = "\u201c\u201d\u201e\u2018\u2019\u201a\xab\xbb\u2026\u2013\u2014\u2022"
_MARKS = {ord(mark): " " for mark in punctuation + _QUOTES}
_READ = _UNSEEN | _MARKS


class ShownText(NamedTuple):
    """A text that a wake was shown. `at` is its place: ``words``, ``title``, ``description``,
    ``note:<when>``, ``item:<id>``, ``thread:<when>``, ``task:<id>`` of another one,
    ``time:<start>`` of a time entry since scaffold 3, ``result:<tool>``. Times are instants and ids
    are whole, also where the prompt tells them otherwise."""

    at: str
    text: str


MISSING = ToolRefusal(
    "invalid_arguments", "because: is missing; quote the words that the proposal rests on"
)


def with_citations(
    proposals: Iterable[Proposal],
    quotes: Iterable[str],
    wake: Wake,
    seen: Snapshot,
    text: Callable[[Words], str],
) -> list[Proposal]:
    """The proposals of a call with the words that they rest on, and where those stand in what was
    shown. `quotes`: one for each, empty where the agent gave none; `text` reads a long text."""
    kept = [tidied(one, wake.features) for one in quotes]
    shown = tuple(texts_shown(wake, seen, text)) if any(kept) else ()
    return [
        replace(one, because=said, because_at=place_of(said, shown)) if said else one
        for one, said in zip(proposals, kept, strict=True)
    ]


def tidied(quote: str, features: Features) -> str:
    """A quote as it is kept: in one line, no secrets, no control characters, inline in a fact."""
    text = cut(squeeze(scrubbed_text(quote, features).translate(_UNSEEN)), length_max=BECAUSE_MAX)
    is_short = len(text.encode()) <= INLINE_MAX_BYTES
    return text if is_short else cut(text, length_max=INLINE_MAX_BYTES // 4)


def place_of(quote: str, texts: Iterable[ShownText]) -> str:
    """Where a quote stands first, whatever its case, white space and punctuation; empty where it
    does not.

    >>> said = ShownText("words", "please *call*  ann")
    >>> place_of("Call Ann!", [ShownText("title", "Roof"), said])
    'words'
    """
    wanted = _plain(quote)
    return next((one.at for one in texts if wanted and wanted in _plain(one.text)), "")


def _plain(text: str) -> str:
    return fold(text.translate(_READ))


def texts_shown(wake: Wake, seen: Snapshot, text: Callable[[Words], str]) -> Iterator[ShownText]:
    """What a wake was shown and its agent did not write: the person's last words first, then the
    notes, newest first. Never raises for the content of a section."""
    sections = {ref.name: ref for ref in wake.begun.user}
    short = short_ids.shortened(short_ids.of_snapshot(seen)) if wake.features.short_ids else {}
    whole = {told: id_ for id_, told in short.items()}
    places = {one.section: one for one in seen.places}

    def timed(name: str, entries: list[dict[str, Any]]) -> list[tuple[Any, dict[str, Any]]]:
        """Entries of a section with their instants, newest first; by place where the prompt tells
        others' times."""
        at = places[name].at if name in places else [one.get("at") for one in entries]
        return list(zip(at, entries, strict=False))[::-1]

    def body(name: str) -> str:
        ref = sections.get(name)
        return text(Words(payload=ref.payload)).partition("\n\n")[2] if ref else ""

    yield ShownText("words", body("words"))
    if isinstance(task := _json(body("task"), "{"), dict):
        for at, note in timed("log", _objects(task.get("log"))):
            yield ShownText(f"note:{at}", _text(note.get("text")))
        for name in ("description", "title"):
            yield ShownText(name, _text(task.get(name)))
        for item in _objects(task.get("checklist")):
            named = item.get("id")
            yield ShownText(f"item:{whole.get(str(named), named)}", _text(item.get("title")))
    for at, turn in timed("thread", _objects(_json(body("thread"), "[\n"))):
        yield ShownText(f"thread:{at}", _text(turn.get("person")))
    if wake.features.tells_days:
        lines = body("time").splitlines()
        for entry in seen.time:
            begins = f"- {short.get(entry.id, entry.id)} "
            told = next((one for one in lines if one.startswith(begins)), "")
            yield ShownText(f"time:{entry.start}", told.removeprefix(begins))
    week = _json(body("week"), "{")
    looked_over = week.get("tasks") if isinstance(week, dict) else None
    for link in (*_objects(_json(body("linked"), "[\n")), *_objects(looked_over)):
        for name in ("title", "oneLiner", "tldr"):
            named = link.get("id")
            yield ShownText(f"task:{whole.get(str(named), named)}", _text(link.get(name)))
    for result in wake.results:
        if not result.is_error and not registry.proposes(result.tool):
            yield ShownText(f"result:{result.tool}", text(result.message))


def is_since(place: str, decided_at: str, position: int, seen: Snapshot) -> bool:
    """Whether the text at a place is newer than a verdict, which was given at an instant and a
    position of the journal. Of what is nowhere, of another task or of a result nobody knows: it
    is not."""
    kind, _, named = place.partition(":")
    touched = {one.field: one.n for one in seen.touched}
    match kind:
        case "words":
            return True
        case "note" | "thread":
            log = next((one for one in seen.places if one.section == "log"), None)
            edited = dict(zip(log.at, log.edited, strict=False)) if log and kind == "note" else {}
            return max(named, edited.get(named, "")) > decided_at
        case "title" | "description":
            return touched.get(kind, 0) > position
        case "item":
            return any(one.touched > position for one in seen.items if one.id == named)
        case "time":
            return any(one.touched > position for one in seen.time if one.start == named)
        case _:
            return False


def _json(body: str, begins: str) -> object:
    """The JSON that a section ends with; None where there is none."""
    at = body.find(begins)
    with suppress(Refused):
        return canonical.read(body[at:]) if at >= 0 else None
    return None


def _objects(value: object) -> list[dict[str, Any]]:
    elements = value if isinstance(value, list) else []
    return [one for one in elements if isinstance(one, dict)]


def _text(value: object) -> str:
    """A text, with who set it or bare."""
    found = value.get("value") if isinstance(value, dict) else value
    return found if isinstance(found, str) else ""
