"""From a reading to the sections a model sees, never larger than the limit (SPEC 4).

The same reading gives the same bytes. What is cut says so. Where the whole is too large, the
oldest log entries go first; once only the newest few are left, the other parts give way in the
order of `LADDER`, step by step, until all fits."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from domain.log.state import LogState
from domain.policy.scrub import scrub_all
from domain.ports import CallResult, Exchange, Request, Section, ToolSpec
from domain.tools.snapshot import SnapshotPlace
from domain.wake import prompt_sections as parts
from domain.wake.prompt_sections import document, newest, section, size
from domain.wake.reading import DaySeen, PromptLimits, Reading, WeekSeen
from domain.wake.wake import ExchangeRef, ModelAsked, SectionRef, Wake

SEPARATOR_BYTES = 2
"""Reserved behind each section: a model is given them with an empty line between."""

LADDER: tuple[tuple[str, ...], ...] = (
    ("entry_max_bytes", "text_max_bytes"),
    ("finished_items_max",),
    ("journal_max", "memory_max_bytes"),
    ("corrections_max",),
    (
        "linked_max", "day_tasks_max", "week_tasks_max", "week_done_max", "feedback_max",
        "versions_max",
    ),
    (
        "line_max_bytes", "critical_max", "proposals_max", "verdicts_max", "changes_max",
        "time_max", "thread_max", "thread_max_bytes", "lessons_max_bytes",
    ),
    ("items_max", "labels_max", "slots_max", "words_max_bytes", "directives_max_bytes"),
)  # fmt: skip
"""What gives way after the oldest log entries. A rung halves its bounds; after the last rung it
begins again with the first, at most `ROUNDS` times; then the least of everything is shown.

One for all scaffolds: a bound of something new may join a rung, but one rung more would change
older prompts."""
ROUNDS = 8
TEXT_LEAST_BYTES = 40
"""No text is bounded below this: it would say nothing."""


class Prompt(Struct, frozen=True):
    """What a model is given in a wake's first turn. `secrets`: how many were replaced, also in
    what did not fit in. `places`: of the entries that it shows, see `Snapshot`. `day`: of an agent
    that plans one, with the tasks that it shows, and `week` of one that looks over a category."""

    system: tuple[Section, ...]
    user: tuple[Section, ...]
    secrets: int = 0
    places: tuple[SnapshotPlace, ...] = ()
    day: DaySeen | None = None
    week: WeekSeen | None = None


def render(reading: Reading, limits: PromptLimits) -> Prompt:
    """The prompt of a wake, of at most `limits.prompt_max_bytes` (see `size_of`): the sections in
    the order of SPEC 4; empty ones are left out. Raises ValueError if ids or other fixed fields,
    which are never cut, are too long to fit."""
    if reading.features.scrubs:  # before anything is cut: half a secret is one, and unknown
        reading, secrets = scrub_all(reading)
        return replace(_rendered(reading, limits), secrets=secrets)
    return _rendered(reading, limits)


def _rendered(reading: Reading, limits: PromptLimits) -> Prompt:
    if fitting := _fitted(reading, limits):
        return fitting
    rungs = [limits, *_rungs(limits)]
    low, high = 1, len(rungs) - 1
    while low <= high:  # bounded: halves the rungs that are left; less is shown on each
        middle = (low + high) // 2
        if prompt := _fitted(reading, rungs[middle]):
            fitting, high = prompt, middle - 1
        else:
            low = middle + 1
    if fitting is None:
        raise ValueError(f"the fixed part of the prompt exceeds {limits.prompt_max_bytes} bytes")
    return fitting


def size_of(prompt: Prompt) -> int:
    """UTF-8 bytes of all sections with what separates them."""
    return _bytes_of((*prompt.system, *prompt.user))


def _bytes_of(sections: Iterable[Section]) -> int:
    return sum(size(one.text) + SEPARATOR_BYTES for one in sections)


def _rungs(limits: PromptLimits) -> Iterator[PromptLimits]:
    """Smaller and smaller bounds, then the least."""
    bounds: dict[str, int] = asdict(limits)
    for _ in range(ROUNDS):
        for rung in LADDER:
            bounds |= {name: max(_least(name, bounds[name]), bounds[name] // 2) for name in rung}
            yield PromptLimits(**bounds)
    yield PromptLimits(**{name: _least(name, value) for name, value in bounds.items()})


def _least(name: str, value: int) -> int:
    if name == "prompt_max_bytes":
        return value
    return min(value, TEXT_LEAST_BYTES) if name.endswith("_bytes") else 0


def _fitted(reading: Reading, limits: PromptLimits) -> Prompt | None:
    """The prompt under these bounds, its log cut to what fits; None if too much would go."""
    order = reading.order
    system = _made(order.system, reading, limits)
    before = _made(order.before_task, reading, limits)
    after = _made(order.after_task, reading, limits)
    if not reading.has_task:
        day = parts.bounded_day(reading.day, limits) if reading.day else None
        week = parts.bounded_week(reading.week, limits) if reading.week else None
        shown = [parts.day(reading, day)] if day else []
        shown += [parts.week(reading, week)] if week else []
        shown += [*parts.of_template(reading, limits)]
        places = _places(reading, limits, 0)
        prompt = Prompt(system, (*before, *shown, *after), places=places, day=day, week=week)
        return prompt if size_of(prompt) <= limits.prompt_max_bytes else None
    task = document(reading, limits)
    log, left_out = reading.task.log, reading.task.log_unread

    empty = section("task", "Task", task.with_log((), len(log) + left_out))
    room = limits.prompt_max_bytes - _bytes_of((*system, *before, empty, *after))
    if room < 0:
        return None
    entries = newest(reading, limits, room - len("[\n\n]"))
    if len(entries) < min(limits.log_entries_min, limits.log_entries_max, len(log)):
        return None
    whole = section("task", "Task", task.with_log(entries, len(log) + left_out - len(entries)))
    places = _places(reading, limits, len(entries)) if reading.features.tells_days else ()
    return Prompt(system, (*before, whole, *after), places=places)


def _places(reading: Reading, limits: PromptLimits, entries: int) -> tuple[SnapshotPlace, ...]:
    log, turns = reading.task.log, reading.thread.turns
    shown = parts.newest_of(log, entries)
    edited = tuple(one.edited_at for one in shown)
    spoken = parts.newest_of(turns, len(parts.turns(reading, limits)))
    found = (
        SnapshotPlace("log", tuple(one.at for one in shown), edited if any(edited) else ()),
        SnapshotPlace("thread", tuple(one.at for one in spoken)),
    )
    return tuple(one for one in found if one.at)


def _made(names: Iterable[str], reading: Reading, limits: PromptLimits) -> tuple[Section, ...]:
    return tuple(made for one in names if (made := parts.PARTS[one](reading, limits)))


# ---------------------------------------------------------------------------- the request of a turn
# What the model is asked in a turn, rebuilt byte for byte from the log (DESIGN 4).

SPECS_KEPT = 64  # sets of tools: what a kind of agent is offered, by reason and task

_specs = lru_cache(SPECS_KEPT)(msgspec.json.Decoder(tuple[ToolSpec, ...]).decode)


def request(
    world: LogState, wake: Wake, asked: ModelAsked, before: Request | None = None
) -> Request:
    """The request that an intent stands for, at which the wake stands. `before`: that of an earlier
    intent of the same wake, where it is at hand: then only what is new since is read. The answer
    is the same without it."""
    begun = wake.begun
    specs = _specs(world.payload(begun.specs))
    tools = tuple(one for one in specs if asked.forced in ("", one.name))
    if before is None:
        system, user = _sections(world, begun.system), _sections(world, begun.user)
        before = Request(begun.model, system, user)
    known = before.exchanges
    added = (_exchange(world, one) for one in wake.exchanges[len(known) :])
    return Request(begun.model, before.system, before.user, tools, (*known, *added), asked.forced)


def _sections(world: LogState, refs: tuple[SectionRef, ...]) -> tuple[Section, ...]:
    return tuple(Section(ref.name, world.payload(ref.payload).decode()) for ref in refs)


def _exchange(world: LogState, one: ExchangeRef) -> Exchange:
    results = tuple(
        CallResult(ref.call_id, ref.tool, world.text(ref.message), ref.is_error)
        for ref in one.results
    )
    return Exchange(world.payload(one.reply), results)
