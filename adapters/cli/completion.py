"""What the shell offers for a value: names of what there is in the home; loaded only for that."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from adapters.text.common import ID_SHOWN, one_line
from adapters.usecases.resolve import Titles, is_fuzzy_match
from domain.errors import WakelogError
from domain.text import cut

if TYPE_CHECKING:
    from adapters.wiring import Home

VARIABLE = "_WAKELOG_COMPLETE"  # as click names it: set by the shell's script
OFFERED_MAX = 50
LISTING = ("33", "63", "64")  # COMP_TYPE where bash shows several, and inserts none of them
TITLE_MAX = 60
Offered = tuple[str, Sequence[str]]  # what is inserted, what it is called


def _tasks(home: "Home") -> Iterable[Offered]:
    from projections.tasks import VIEW

    return ((one.id[:ID_SHOWN], [one.title]) for one in home.views.page(VIEW, mark="open"))


def _agents(home: "Home") -> Iterable[Offered]:
    from projections.agents import VIEW

    known = home.views.page(VIEW)
    return ((one.id[:ID_SHOWN], [one.name]) for one in known if one.is_living)


def _wakes(home: "Home") -> Iterable[Offered]:
    from adapters.documents.agents import agent_names
    from projections.wakes import VIEW

    found = home.views.page(VIEW, newest_first=True, limit=OFFERED_MAX)
    names = agent_names(home, {one.agent_id for one in found})
    return ((one.run_key[:ID_SHOWN], [names.get(one.agent_id, "")]) for one in found)


def _proposals(home: "Home") -> Iterable[Offered]:
    from adapters.documents.inbox import inbox_sets

    return (
        (item.ref, [item.summary, one.subject.title])
        for one in inbox_sets(home)
        for item in one.items
    )


def _templates(home: "Home") -> Iterable[Offered]:
    from adapters.documents.templates import templates_of
    from domain.templates.seeds import SEEDS

    names = [*(one.name for one in SEEDS), *(one.name for one in templates_of(home))]
    return ((name, [name]) for name in dict.fromkeys(names))


def _categories(home: "Home", kind: str = "categories") -> Iterable[Offered]:
    from adapters.documents.tasks import catalog_of

    return ((one.name, [one.name]) for one in getattr(catalog_of(home), kind).values())


_labels = partial(_categories, kind="labels")


def _blocks(home: "Home") -> Iterable[Offered]:
    from adapters.documents.day import blocks_of
    from adapters.usecases.inputs import day

    found = blocks_of(home, day("today", home))
    return ((one.start.replace(":", ""), [one.title]) for one in found)  # a colon parts words


def _statuses(home: "Home") -> Iterable[Offered]:
    from domain.journal.task import STATUSES

    return ((one.lower().replace(" ", "-"), [one]) for one in STATUSES)


def _models(home: "Home") -> Iterable[Offered]:
    from adapters.documents.models import model_names

    return ((one, [one]) for one in model_names(home))


KINDS: dict[str, Callable[["Home"], Iterable[Offered]]] = {
    "task": _tasks,
    "tasks": _tasks,
    "agent": _agents,
    "run": _wakes,
    "what": lambda home: chain(_tasks(home), _wakes(home)),
    "refs": _proposals,
    "template": _templates,
    "category": _categories,
    "categories": _categories,
    "label": _labels,
    "labels": _labels,
    "model": _models,
    "models": _models,
    "block": _blocks,
    "status": _statuses,
    "statuses": _statuses,
}
"""By the name of a command's parameter."""
FILES = ("PATH", "FILE", "DIR")


def give_values(param: click.Parameter) -> None:
    """Let a parameter offer values, if it is of a kind that has some."""
    if isinstance(param, click.Option) and (param.is_flag or param.name in ("task", "agent")):
        return
    kind = "agent" if "AGENT" in (param.metavar or "") else param.name or ""
    if param.metavar in FILES:
        param.type = click.Path()
    elif kind in KINDS:
        param.type = _Value(KINDS[kind])


class _Value(click.types.StringParamType):
    """A value that is only completed: what it says is not read then."""

    def __init__(self, offers: Callable[["Home"], Iterable[Offered]]) -> None:
        self._offers = offers

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Those whose id begins so, or whose title has these words; none where that fails."""
        from adapters.cli.shared import Session
        from adapters.home.home_location import location_of

        try:
            place = location_of(ctx.find_root().params.get("home"), os.environ)
            with closing(Session(place, model="", as_json=False, is_quiet=True)) as session:
                offered = list(self._offers(session.reading()))
        except (WakelogError, OSError):  # a prompt is no place for it
            return []
        fits = [
            (value, names)
            for value, names in offered
            if not incomplete or is_fuzzy_match(incomplete, Titles(value.lower(), tuple(names)))
        ]
        found = [(value, one_line(names[0])) for value, names in fits[:OFFERED_MAX]]
        return [
            CompletionItem(_quoted(value), help=name, title=name if name != value else "")
            for value, name in found
        ]


@add_completion_class
class _Bash(BashComplete):
    """Where bash lists several values, each has its title behind it. Click's script would take the
    backslashes off a value."""

    source_template = (
        BashComplete.source_template.replace("=$COMP_CWORD", "=$COMP_CWORD COMP_TYPE=$COMP_TYPE")
        .replace("read type", "read -r type")
        .replace("+=($value)", '+=("$value")')
    )

    def complete(self) -> str:
        """What is offered, a line for each."""
        found = self.get_completions(*self.get_completion_args())
        is_listed = len(found) > 1 and os.environ.get("COMP_TYPE") in LISTING
        return "\n".join(
            f"{one.type},{one.value}  {cut(one.title, length_max=TITLE_MAX)}"
            if is_listed and one.title
            else self.format_completion(one)
            for one in found
        )


def _quoted(value: str) -> str:
    """As bash takes it; the scripts of other shells quote themselves."""
    if not os.environ.get(VARIABLE, "").startswith("bash"):
        return value
    return re.sub(r"([^\w@%+=:,./-])", r"\\\1", value)
