"""What a model proposed, judged beside what a careful person wants of a text: right, neutral, wrong
or missed; how sure shares of them are; and whether two runs can be told apart."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Self

from msgspec import Struct, field

from domain.text import fold, tokens

KINDS: Final = (
    *("due", "estimate", "priority", "status", "title", "tick", "untick", "archive", "add"),
    *("label", "follow_up", "link", "time", "retract", "rename", "move"),
)
"""Of proposals; ``retract``: an earlier one is taken back, its value is that one's kind."""
TITLED: Final = frozenset(("title", "tick", "untick", "archive", "add", "follow_up", "rename"))
"""Kinds whose values are compared as titles."""
SMALL: Final = frozenset(
    "a an the my our your some of to for also still yet as well please on up "
    "der die das den dem des ein eine einen einem einer mein meine meinen unser unsere unseren "
    "noch auch bitte zu".split()
)
"""Words by which two titles of one thing may differ; so may case, marks, order and umlauts."""
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_PLAIN: Final = {
    "update_task_due_date": ("due", "dueDate"),
    "update_task_estimate": ("estimate", "minutes"),
    "update_task_priority": ("priority", "priority"),
    "set_task_status": ("status", "status"),
    "set_task_title": ("title", "title"),
    "add_checklist_item": ("add", "title"),
    "assign_task_label": ("label", "id"),
    "create_follow_up_task": ("follow_up", "title"),
    "migrate_checklist_item": ("move", "id"),
}
"""Changes that are of one kind: with it, the argument that is its value."""
TELLING: Final = 0.05
"""Below this probability two runs are told apart."""
DECIDED_LEAST: Final = 20
"""Below this nothing is told apart."""
_Z: Final = 1.959963984540054  # of 95 %


class Proposed(NamedTuple):
    """A change that was proposed; `value` as cases write it."""

    kind: str
    value: str


class Wish(Struct, frozen=True, forbid_unknown_fields=True):
    """A change that is wanted, or allowed: one of `values`; none: whatever it is."""

    kind: str
    values: tuple[str | int, ...] = field(name="is", default=())


class Marks(NamedTuple):
    """What came of one case. `neutral`: allowed, and not wanted."""

    right: tuple[Proposed, ...] = ()
    neutral: tuple[Proposed, ...] = ()
    wrong: tuple[Proposed, ...] = ()
    missed: tuple[Wish, ...] = ()


class Tally(NamedTuple):
    """Marks, counted."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @classmethod
    def of(cls, every: Sequence[Marks], kind: str = "") -> Self:
        """Those of a kind; empty: of all."""
        parts = ([each for one in every for each in getattr(one, part)] for part in cls._fields)
        return cls(*(sum(kind in ("", one.kind) for one in part) for part in parts))

    @property
    def wanted(self) -> int:
        return self.right + self.missed

    @property
    def precision(self) -> float:
        """Of what was proposed; where that is nothing, nothing was wrong."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Of what was wanted."""
        return self.right / self.wanted if self.wanted else 1.0


def title_key(title: str) -> frozenset[str]:
    """What two titles of the same thing have in common.

    >>> title_key("Still buy the Äpfel!") == title_key("Buy aepfel")
    True
    """
    words = frozenset(one.translate(_UMLAUTS) for one in tokens(title))
    return words - SMALL or words


def proposed(
    tool: str, arguments: Mapping[str, Any], names: Mapping[str, str]
) -> Sequence[Proposed]:
    """An item of the inbox, as cases write it; of an item of a checklist several, where it changes
    in several ways; of times, when they began and ended by the person's clock.

    `tool`: the change's name. `arguments`: those in force. `names`: titles of checklist items and
    tasks, names of labels, by their ids."""

    def named(field: str) -> str:
        given = str(arguments.get(field, ""))
        return names.get(given, given)

    if tool in _PLAIN:
        kind, field = _PLAIN[tool]
        return [Proposed(kind, named(field))]
    if tool == "update_checklist_item":
        is_checked, title = arguments.get("isChecked"), arguments.get("title")
        ticked = "" if is_checked is None else "tick" if is_checked else "untick"
        put_away = "archive" if arguments.get("isArchived") else ""
        done = [Proposed(one, named("id")) for one in (ticked, put_away) if one]
        return [*done, Proposed("rename", title)] if title else done
    if tool == "link_task":
        return [Proposed("link", f"{arguments['relation']} {named('targetTaskId')}")]
    times = [arguments[one] for one in ("startedAt", "endedAt") if one in arguments]
    return [Proposed("time" if times else tool, " ".join(times))]


def judge(wanted: Sequence[Wish], allowed: Sequence[Wish], found: Iterable[Proposed]) -> Marks:
    """What was proposed beside what was wanted: each wish is met once, what is proposed once more
    is wrong.

    >>> due = Proposed("due", "2027-01-08")
    >>> judge([Wish("due", ("2027-01-08",))], [], [due, due]).wrong
    (Proposed(kind='due', value='2027-01-08'),)
    """
    left, may = list(wanted), list(allowed)
    right, neutral, wrong = list[Proposed](), list[Proposed](), list[Proposed]()
    for one in found:
        part = right if _met(one, left) else neutral if _met(one, may) else wrong
        part.append(one)
    return Marks(tuple(right), tuple(neutral), tuple(wrong), tuple(left))


def _met(one: Proposed, wishes: list[Wish]) -> bool:
    """Whether a proposal meets one of these wishes, which then is none any more."""
    wish = next((wish for wish in wishes if _meets(one, wish)), None)
    if wish and wish.values:
        wishes.remove(wish)
    return wish is not None


def _meets(one: Proposed, wish: Wish) -> bool:
    key = title_key if one.kind in TITLED else fold
    return one.kind == wish.kind and (
        not wish.values or key(one.value) in [key(str(value)) for value in wish.values]
    )


Fate = Literal["kept", "lost", "avoided", "repeated"]


class Decided(NamedTuple):
    """A proposal on which a person decided: as it was made, and as it was accepted, which an edit
    may have changed; empty: it was rejected."""

    first: Sequence[Proposed]
    accepted: Sequence[Proposed]


def fared(
    decided: Sequence[Decided], again: Sequence[Sequence[Proposed]]
) -> tuple[list[Fate], list[int]]:
    """What became of proposals where an agent was asked again, and which of those that it makes now
    are none of them, by their places.

    >>> day = [Proposed("due", "2027-01-08")]
    >>> fared([Decided(day, day), Decided(day, ())], [day, [Proposed("priority", "P1")]])
    (['kept', 'avoided'], [1])
    """
    left = dict(enumerate(again))

    def came(wanted: Sequence[Proposed]) -> bool:
        wishes = [Wish(one.kind, (one.value,)) for one in wanted]
        nth = next((nth for nth, one in left.items() if _are(one, wishes)), None)
        return nth is not None and left.pop(nth) is not None

    def fate(first: Sequence[Proposed], accepted: Sequence[Proposed]) -> Fate:
        if accepted and came(accepted):
            return "kept"
        return "repeated" if came(first) else "lost" if accepted else "avoided"

    return [fate(*one) for one in decided], list(left)


def _are(found: Sequence[Proposed], wishes: Sequence[Wish]) -> bool:
    return len(found) == len(wishes) and all(map(_meets, found, wishes))


def wilson(count: int, of: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share; without anything to share, all there is.

    >>> [round(one, 4) for one in wilson(5, 10)]
    [0.2366, 0.7634]
    """
    if not of:
        return 0.0, 1.0
    share, square = count / of, _Z * _Z
    middle = share + square / (2 * of)
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    low, high = ((middle + sign * half) / (1 + square / of) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def sign_test(better: int, worse: int) -> float:
    """How probable so uneven a split of changed cases is where neither of two is better: exact,
    two-sided.

    >>> sign_test(0, 0), sign_test(7, 1)
    (1.0, 0.0703125)
    """
    of, ways, tail = better + worse, 1, 0  # `ways`: to fall so that `count` are of one side
    for count in range(min(better, worse) + 1):
        tail += ways
        ways = ways * (of - count) // (count + 1)
    return min(1.0, 2 * tail / (1 << of))


def is_worse(fixed: int, broken: int, *, is_repeatable: bool) -> bool:
    """Whether a run is worse than another one: of a model that always answers the same by any case,
    else where chance does not explain it."""
    return broken > fixed and (is_repeatable or sign_test(fixed, broken) < TELLING)
