"""What an agent of a kind is told and offered: a row for each scaffold and kind (ADR 103).

A kind is data, but for what its prompt is gathered from (`context`). What code does otherwise from
one scaffold to the next is a feature (`domain.scaffold`); nothing stands in both. What the kind may
do is told by `domain.tools.base.CAPABILITIES`."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.deciders import AGENT_KIND, CATEGORY_AGENT, DAY_AGENT, TEMPLATE_IMPROVER
from domain.errors import Refused
from domain.scaffold import FEATURES, features_of
from domain.wake import directives
from domain.wake.directives import Sentences


class SectionOrder(Struct, frozen=True):
    """The sections of a prompt, by name: those of the system part, and the user part's around what
    the agent is about."""

    system: tuple[str, ...]
    before_task: tuple[str, ...]
    after_task: tuple[str, ...]


class Manifest(Struct, frozen=True, kw_only=True):
    """`subject`: what an agent is about, a task of its own, a category, a
    template, or the ``home``. `guiding`:
    the directives of one without a template. `timer`: the schedule that it is made with.
    `for_clients`: the sections of who proposes without being asked; None: nobody may."""

    subject: Literal["task", "home", "category", "template"] = "task"
    role: str
    guiding: str = directives.DIRECTIVES[directives.DIRECTIVES_VERSION]
    sentences: Sentences = directives.SENTENCES_1
    order: SectionOrder
    timer: str = ""
    for_clients: SectionOrder | None = None


def _order(system: str, before_task: str, after_task: str) -> SectionOrder:
    return SectionOrder(*(tuple(one.split()) for one in (system, before_task, after_task)))


_1: Final = Manifest(
    role=directives.ROLE_1,
    order=_order(
        "role goal guiding",
        "suppressed_labels available_labels corrections",
        "linked report critical journal proposals changed words first_wake instruction",
    ),
)
_2: Final = Manifest(
    role=directives.ROLE_2,
    order=_order(
        "role goal guiding",
        "now suppressed_labels available_labels corrections lessons",
        "time linked report memory critical journal proposals changed thread words first_wake "
        "instruction",
    ),
)
_3: Final = Manifest(
    role=directives.ROLE_3,
    order=_order(
        "role guiding goal",
        "",
        "suppressed_labels available_labels corrections memory linked time report critical journal "
        "proposals thread lessons changed words first_wake now instruction",
    ),
)
_DAY_4: Final = Manifest(
    subject="home",
    role=directives.DAY_ROLE_4,
    guiding=directives.DAY_DIRECTIVES_4,
    sentences=directives.DAY_SENTENCES_4,
    order=_order(
        "role guiding goal",
        "",
        "memory report critical journal proposals thread changed words first_wake now instruction",
    ),
    timer="every day 07:00",
)
_5: Final = replace(
    _3,
    order=_order(
        "role guiding goal",
        "",
        "suppressed_labels available_labels corrections memory linked time report critical journal "
        "proposals thread lessons changed requests words first_wake now instruction",
    ),
)
_DAY_5: Final = replace(_DAY_4, role=directives.DAY_ROLE_5)
_CATEGORY_5: Final = Manifest(
    subject="category",
    role=directives.CATEGORY_ROLE_5,
    guiding=directives.CATEGORY_DIRECTIVES_5,
    sentences=directives.CATEGORY_SENTENCES_5,
    order=_DAY_4.order,
    timer="every monday 08:00",
)
_6: Final = replace(
    _5,
    for_clients=_order(
        "",
        "",
        "suppressed_labels available_labels corrections memory linked time report critical journal "
        "proposals lessons client",
    ),
)
_IMPROVER_7: Final = Manifest(
    subject="template",
    role=directives.IMPROVER_ROLE_7,
    guiding=directives.IMPROVER_DIRECTIVES_7,
    sentences=directives.IMPROVER_SENTENCES_7,
    order=_DAY_4.order,
)
MANIFESTS: Final[dict[int, Mapping[str, Manifest]]] = {
    1: {AGENT_KIND: _1},
    2: {AGENT_KIND: _2},
    3: {AGENT_KIND: _3},
    4: {AGENT_KIND: _3, DAY_AGENT: _DAY_4},
    5: {AGENT_KIND: _5, DAY_AGENT: _DAY_5, CATEGORY_AGENT: _CATEGORY_5},
    6: {AGENT_KIND: _6, DAY_AGENT: _DAY_5, CATEGORY_AGENT: _CATEGORY_5},
    7: {
        AGENT_KIND: _6,
        DAY_AGENT: _DAY_5,
        CATEGORY_AGENT: _CATEGORY_5,
        TEMPLATE_IMPROVER: _IMPROVER_7,
    },
}
assert MANIFESTS.keys() == FEATURES.keys()


def manifest_of(scaffold: int, kind: str) -> Manifest:
    """What wakes of a scaffold are told that are of agents of a kind; older ones name none. Raises
    Refused, code ``newer_rules``: no scaffold, or no kind in it, that this code knows."""
    features_of(scaffold)
    if (found := MANIFESTS[scaffold].get(kind or AGENT_KIND)) is None:
        because = f"wakes of scaffold {scaffold} know no agents of the kind {kind!r}"
        raise Refused("newer_rules", because=because, instead="use the wakelog that made it")
    return found
