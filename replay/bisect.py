"""Since when does something hold? Halving finds it in at most log2(n) + 1 looks."""

from collections.abc import Callable

from msgspec import Struct


class BisectLook(Struct, frozen=True):
    """One look: at the nth of all, counted from 1, and whether it held there."""

    nth: int
    holds: bool


class BisectResult(Struct, frozen=True):
    """`since`: the first of all, from 1, at which it holds; 0 if it holds at none."""

    since: int
    of: int
    probes: tuple[BisectLook, ...] = ()


def bisect(count: int, holds: Callable[[int], bool]) -> BisectResult:
    """Find where something begins to hold that, once it holds, goes on holding.

    Where it comes and goes, one of its beginnings is found, not always the first; what was looked
    at is told, so that a person can judge it. `holds` is asked of the nth of `count`, from 1, at
    most ``log2(count) + 1`` times.

    >>> bisect(1000, lambda nth: nth >= 700).since
    700
    >>> len(bisect(1000, lambda nth: nth >= 2).probes)
    10
    """
    low, high = 1, count + 1
    probes: list[BisectLook] = []
    while low < high:  # bounded: halves what is left
        middle = (low + high) // 2
        probe = BisectLook(middle, holds(middle))
        probes.append(probe)
        if probe.holds:
            high = middle
        else:
            low = middle + 1
    return BisectResult(low if low <= count else 0, count, tuple(probes))
