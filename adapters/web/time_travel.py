"""Looking back from a wake: the world just before it, how it differs, and what if."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents.inbox import set_name
from adapters.documents.models import model_names
from adapters.documents.ranks import Ranks, ranks_of
from adapters.documents.templates import templates_of, version_name, version_owner
from adapters.documents.timetravel import (
    KeptFork,
    WakesDiff,
    around,
    at_document,
    wake_seen,
    wakes_diff,
)
from adapters.home import files
from adapters.text.common import run_shown
from adapters.text.timetravel import tokens_line
from adapters.timetravel.fork import TOKENS_MAX
from adapters.timetravel.logs_at import NamedMoment, past_of
from adapters.usecases import forks
from adapters.usecases.forks import ForkRequest, Sides
from adapters.usecases.templates import BUILT_IN
from adapters.usecases.time_travel import check_begun, find_moment
from adapters.web.http_types import FormRequest, Notice, Page, in_lines, missent, missing, whole
from adapters.web.jobs import Job
from adapters.web.plain_text import compared
from adapters.web.site import Site, check_sure, page_size
from adapters.web.text_diff import LazyDiff, near, near_later
from domain.agent import deciders
from domain.errors import Refused
from domain.policy.gate import is_leaving
from projections import inbox, wakes
from projections.wakes import WakeDocument

EARLIER_MAX = 50  # wakes that are looked through for one that ran


def show_at(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/at`: the document of `at`, of the wake's task and its links."""
    place, wake = _place(site, asked.names["run"])
    own = wake.task_id or site.home.services.agent(wake.agent_id).task
    values = {"wake": wake, "command": f"at {run_shown(wake.run_key, 12)}"}
    document = at_document(place, around(place, own, wake.agent_id))
    return Page("before.html", f"The world before wake {run_shown(wake.run_key)}", document, values)


def show_diff(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/diff`: the document of `diff` with ``?with=``, else the wake before."""
    place, wake = _place(site, asked.names["run"])
    other = asked.query.get("with", "") or before(site, wake)
    if not other:
        because = "no wake of this agent ran before it"
        raise Refused("no_page", because=because, instead="compare later ones")
    earlier, was = _place(site, other)
    sides = (wake_seen(one.past, one.spot.run_key, one.replica) for one in (earlier, place))
    document = wakes_diff(*sides)
    values = {
        **_told(document, site.zone),
        "wake": wake,
        "was": was,
        "is_next": not asked.query.get("with", ""),
        "command": f"diff {run_shown(was.run_key, 12)} {run_shown(wake.run_key, 12)}",
    }
    return Page(
        "wakes_diff.html", f"What differs in wake {run_shown(wake.run_key)}", document, values
    )


def _told(document: WakesDiff, zone: str) -> dict[str, Any]:
    """What differs, with the words that came and went."""
    both = (document.report.a, document.report.b)
    pairs = zip(*((one.tldr, one.content) if one else ("", "") for one in both), strict=True)
    names = ("model", "reason", "outcome")
    told = document.tokens
    is_unknown = told.a.input_tokens is told.b.input_tokens is None
    return {
        "named": [(name.capitalize(), getattr(document, name)) for name in names],
        "report": [near_later(*compared(one, other, zone)) for one, other in pairs if one != other],
        "sections": [
            (one.section, len(one.b or ""), near_later(*compared(one.a or "", one.b or "", zone)))
            for one in document.prompt
            if not one.same
        ],
        "same": [one.section for one in document.prompt if one.same],
        "replies": [
            (one, near_later(*compared(one.a or "", one.b or "", zone)) if one.a != one.b else [])
            for one in document.replies
        ],
        "near": lambda one, other: near(*compared(one, other, zone)),
        "tokens": "" if is_unknown else tokens_line(document.tokens).replace("->", "→"),
    }


def before(site: Site, wake: WakeDocument) -> str:
    """The run key of the same agent's wake that ran before; empty where none did."""
    earlier = site.home.views.page(
        wakes.VIEW, shelf=wake.agent_id, before=wake.place, newest_first=True, limit=EARLIER_MAX
    )
    return next((one.run_key for one in earlier if one.started_at), "")


def _place(site: Site, run_key: str) -> tuple[NamedMoment, WakeDocument]:
    wake = site.wake(run_key)
    past = past_of(site.home)
    spot = past.run(wake.key, wake.replica, wake.queued_n, 0)
    return NamedMoment(site.home, past, spot, run_key, wake), wake


# ------------------------------------------------------------------------------------------ what if
# What if? A wake is forked from the page; its forks are listed, shown on both sides, deleted.

NOTES_SHOWN = 10  # the newest, as they were then
NOTE_MAX = 4_000  # characters of one that can be changed here
VERDICTS_SHOWN = 20  # the newest before the wake
FORKS_SHOWN = 10  # of one wake, below its form
VERBS = {"confirmed": "reject", "rejected": "confirm"}
NOTE, VERDICT = "edit.note.", "verdict."


class NoteThen(Struct, frozen=True):
    """A note of the task as it was; `number` counts from 1."""

    number: int
    kind: str
    text: str
    at: str


class VerdictThen(Struct, frozen=True):
    """An item that was decided before the wake, and what it could have been instead."""

    ref: str
    summary: str
    status: str
    decided_at: str
    instead: str


class ForkRow(KeptFork, frozen=True, kw_only=True):
    """A fork in a list; `changed` says what was otherwise."""

    agent_name: str
    changed: list[str]


# ---------------------------------------------------------------------------------------- asking


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/what-if`: what a fork of it may change."""
    place, wake = _wake(site, asked)
    task = wake.task_id
    then = at_document(place, [task]).tasks if task else []
    notes = [
        NoteThen(nth, one.kind, one.text, one.at)
        for nth, one in enumerate(then[0].notes if then else (), start=1)
    ]
    usage = wake.usage
    known = None if usage.tokens_in is None else usage.tokens_in + (usage.written or 0)
    document = {
        "run_key": wake.run_key,
        "task_id": task,
        "notes": notes[-NOTES_SHOWN:],
        "verdicts": _verdicts(site, wake),
        "templates": _templates(site),
        "model": wake.model,
        "tokens": known,
        "forks": _rows(site, forks.kept_forks(site.home.path, wake.key)[:FORKS_SHOWN]),
    }
    return Page(
        "what_if.html",
        f"What if, in wake {run_shown(wake.run_key)}",
        document,
        {
            "models": model_names(site.home),
            "home_model": site.home.settings.model,
            "tokens_max": TOKENS_MAX,
            "note_max": NOTE_MAX,
            "making": _making(site, wake.run_key),
            "is_shared": not site.home.place.is_folder,
        },
    )


def _wake(site: Site, asked: FormRequest) -> tuple[NamedMoment, WakeDocument]:
    place = find_moment(site.home, asked.names["run"])
    if place.wake is None:
        raise missing("unknown_wake", "wake", asked.names["run"])
    check_begun(place.wake, "fork")
    return place, place.wake


def _verdicts(site: Site, wake: WakeDocument) -> list[VerdictThen]:
    """What was decided for the wake's task before it began, the newest first."""
    ranks = ranks_of(site.home)
    known = {*ranks, *ranks.others}
    found = [
        VerdictThen(
            f"{set_name(ranks, one.id)}.{item.number}",
            item.summary,
            item.status,
            item.decided_at,
            VERBS[item.status],
        )
        for one in site.home.views.page(inbox.VIEW, shelf=wake.task_id or None)
        for item in one.items
        if one.id in known and item.status in VERBS and item.decided_at < wake.started_at
    ]
    return sorted(found, key=lambda one: one.decided_at, reverse=True)[:VERDICTS_SHOWN]


def _templates(site: Site) -> list[tuple[str, str]]:
    """What an agent may live on: as `fork` takes it, and as a person reads it."""
    found = [
        (f"{one.id}.{name}", f"{one.name}, version {name}")
        for one in templates_of(site.home)
        for name in [
            version_name(each.version, version_owner(one, each)) for each in reversed(one.versions)
        ]
    ]
    return [(BUILT_IN, "none: the built-in directives"), *found]


def _making(site: Site, run_key: str) -> Job:
    """How far the server is with a fork of this wake, or why there is none."""
    made = site.jobs.forking
    return made if made.run_key == run_key else Job()


def fork(site: Site, asked: FormRequest) -> Notice:
    """Fork a wake in a thread; the page that follows shows it when it is there."""
    _, wake = _wake(site, asked)
    wish = _wish(asked)
    _, wanted = forks.resolve_fork(site.home, wake.run_key, wish)
    if wanted.model and is_leaving(wanted.model) and asked.form.get("paid") != "yes":
        because = f"{wanted.model} may cost money, and you did not agree to that"
        raise missent(because, "tick the box, and send it again")
    site.jobs.fork(asked.key, wake.run_key, wish)
    return Notice("The fork is being made: both sides appear here.")


def _wish(asked: FormRequest) -> ForkRequest:
    """What shall be otherwise, as a form says it."""
    task = asked.needed("task")
    notes = [
        (f"{task}.{name.removeprefix(NOTE)}", text)
        for name, given in asked.form.items()
        if name.startswith(NOTE)
        and (text := in_lines(given)) != in_lines(asked.needed(f"was.{name}"))
    ]
    if more := in_lines(asked.form.get("text", "")).strip():
        notes.append((task, more))
    verdicts = [
        f"{name.removeprefix(VERDICT)}={verb}"
        for name, verb in asked.form.items()
        if name.startswith(VERDICT) and verb
    ]
    template, before = asked.form.get("template", ""), asked.form.get("was.model", "")
    model = asked.form.get("model", "").strip()
    if model != before:  # that of the demo is kept, and nobody can name it
        model = deciders.valid_model(model)
    if not (notes or verdicts or template) and model in ("", before):
        because = "nothing is otherwise"
        instead = "change a note, a verdict, the template or the model"
        raise Refused("invalid_input", because=because, instead=instead)
    given = asked.form.get("tokens", "") or str(TOKENS_MAX)
    if not (tokens := whole(given)):
        raise missent(f"{given[:20]!r} is no number of tokens", "write 50000 for example")
    return ForkRequest(model, template, notes, verdicts, tokens_max=tokens)


# --------------------------------------------------------------------------------------- showing


def show_newest(site: Site, asked: FormRequest) -> Page:
    """The page `/wakes/RUN/forked`: the fork of it that is being made, else its newest one."""
    _, wake = _wake(site, asked)
    making = _making(site, wake.run_key)
    kept = forks.kept_forks(site.home.path, wake.key)
    if making.state in ("none", "done") and kept:
        return _sides(site, kept[0])
    values = {
        "fork": None,
        "sides": None,
        "making": making,
        "run_key": wake.run_key,
        "is_shared": not site.home.place.is_folder,
    }
    document = {"run_key": wake.run_key, "state": making.state, "error": making.error}
    return Page("fork.html", f"What if, in wake {run_shown(wake.run_key)}", document, values)


def show_one(site: Site, asked: FormRequest) -> Page:
    """The page `/forks/NAME`: both sides, turn by turn."""
    return _sides(site, _kept(site, asked.names["fork"]))


def _kept(site: Site, name: str) -> KeptFork:
    """A fork that this machine has. Raises Refused, code ``unknown_fork``."""
    try:
        return forks.kept_fork(site.home.path, name)
    except Refused as refused:
        if site.home.place.is_folder:
            raise
        because = f"{refused.because} on this machine"
        instead = "it may have been deleted; each machine that serves the page keeps its own forks"
        raise Refused(refused.code, because=because, instead=instead) from None


def _sides(site: Site, kept: KeptFork) -> Page:
    (row,) = _rows(site, [kept])
    sides = forks.sides_of(site.home.path, kept)
    return Page(
        "fork.html",
        f"What if, in wake {kept.run_key[:8]}",
        {**asdict(row), "diff": sides},
        {
            "fork": row,
            "sides": sides,
            "making": Job(),
            "run_key": kept.run_key,
            "first": first_difference(sides) if sides else "",
            "sections": _sections(sides, site.zone) if sides else [],
            "folder": str(site.home.path / files.FORKS / kept.name),
        },
    )


def first_difference(sides: Sides) -> str:
    """What of two wakes differs first of what it did: a turn, or what it left. That it was shown
    something else is what was wished for."""
    turned = next((f"turn-{one.turn}" for one in sides.replies if not one.same), "")
    return turned or ("" if sides.report.same and sides.proposals.same else "left")


def _sections(sides: Sides, zone: str) -> list[tuple[str, LazyDiff]]:
    """The sections of the prompt that differ, with the words that came and went."""
    return [
        (one.section, near_later(*compared(one.a or "", one.b or "", zone)))
        for one in sides.prompt
        if not one.same
    ]


# ---------------------------------------------------------------------------------------- listing


def show_list(site: Site, asked: FormRequest) -> Page:
    """The page `/forks`, newest first; ``?agent=ID``: one agent's."""
    agent, size = asked.query.get("agent", ""), page_size(asked)
    kept = forks.kept_forks(site.home.path)
    found = [one for one in kept if agent in ("", one.agent_id)]
    names = {one.agent_id: site.agent_name(one.agent_id) for one in kept if one.agent_id}
    return Page(
        "forks.html",
        "Forks",
        {"forks": _rows(site, found[:size]), "all": len(found)},
        {
            "agents": sorted(names.items(), key=lambda one: one[1]),
            "agent": agent,
            "is_shared": not site.home.place.is_folder,
        },
    )


def delete(site: Site, asked: FormRequest) -> Notice:
    """Delete a fork."""
    name = asked.names["fork"]
    asked.needed("nonce")
    check_sure(asked, "to delete the fork")
    _kept(site, name)
    forks.delete_fork(site.home.path, name)
    return Notice(f"Deleted the fork {name}.")


def _rows(site: Site, kept: Sequence[KeptFork]) -> list[ForkRow]:
    ranks = ranks_of(site.home)
    return [
        ForkRow(
            **{name: getattr(one, name) for name in one.__struct_fields__},
            agent_name=site.agent_name(one.agent_id),
            changed=list(_changed(one, ranks)),
        )
        for one in kept
    ]


def _changed(one: KeptFork, ranks: Ranks) -> Iterator[str]:
    """What was otherwise, in words."""
    for note in one.notes:
        yield f"note {note.number} says something else" if note.number else "one more note"
    for verdict in one.verdicts:
        ref = f"{set_name(ranks, verdict.set)}.{verdict.item}"
        yield f"{ref} was {verdict.verdict}ed"
    if one.template:
        version = f", version {one.template.version}" if one.template.version else ""
        yield f"template {one.template.name}{version}"
    if one.model:
        yield f"model {one.model}"
    if one.step:
        yield f"from step {one.step} on"
