"""The pure parts of a simulation: its dice, its plan, and how a failing plan is made shorter.

A plan is a list of steps, each a deed and two numbers that say who and how. What a number means
depends on what there is when the step is done, so a step still means something when others were
taken out; and a plan is a function of its seed alone."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from domain.log.keys import sha

V = TypeVar("V")

STEPS_MAX = 100_000  # of one plan
TRIES_MAX = 150  # of plans while one is made shorter

WEIGHTS: dict[str, int] = {
    "write": 14, "pass": 12, "run": 16, "wake": 22, "ask": 5, "decide": 12, "task": 2, "link": 2,
    "import": 2, "agent": 3, "configure": 3, "life": 3, "timer": 2, "catalog": 2, "catch_up": 3,
    "recover": 3, "expire": 1, "crash": 6, "delete": 1, "policy": 2, "undo": 4, "learn": 2,
}  # fmt: skip
"""Deeds, and how often each is done beside the others."""


class PlannedStep(Struct, frozen=True):
    """One deed of a plan; `who` and `how` are read modulo what there is."""

    deed: str
    who: int
    how: int


class Dice:
    """Numbers that a seed stands for: the same on every machine, in every process."""

    def __init__(self, seed: str) -> None:
        self._state = int(sha(seed.encode())[:16], 16)

    def number(self, below: int) -> int:
        """From 0 up to `below`, which is left out (splitmix64)."""
        self._state = (self._state + 0x9E3779B97F4A7C15) % 2**64
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        return (mixed ^ (mixed >> 31)) % below

    def pick(self, values: Sequence[V]) -> V:
        """One of the values."""
        return values[self.number(len(values))]

    def weighed(self, weights: dict[str, int]) -> str:
        """One of the names, by their weights."""
        at = self.number(sum(weights.values()))
        for name, weight in weights.items():
            at -= weight
            if at < 0:
                return name
        raise AssertionError(weights)  # pragma: no cover  # they add up to what was asked


def plan(seed: str, steps: int) -> list[PlannedStep]:
    """The steps that a seed stands for; a longer plan begins as a shorter one."""
    dice = Dice(seed)
    made = [PlannedStep("task", dice.number(2**32), 0), PlannedStep("agent", 0, dice.number(2**32))]
    made.extend(
        PlannedStep(dice.weighed(WEIGHTS), dice.number(2**32), dice.number(2**32))
        for _ in range(min(steps, STEPS_MAX))
    )
    return made


def shrink_plan(
    steps: Sequence[PlannedStep], fails: Callable[[Sequence[PlannedStep]], bool]
) -> list[PlannedStep]:
    """A shorter plan that still `fails`: parts are taken out, smaller and smaller ones. It is asked
    at most `TRIES_MAX` times."""
    left = list(steps)
    tries = 0
    size = max(1, len(left) // 2)
    while size and tries < TRIES_MAX:
        at = 0
        while at < len(left) and tries < TRIES_MAX:
            without = left[:at] + left[at + size :]
            tries += 1
            if without and fails(without):
                left = without
            else:
                at += size
        size //= 2
    return left
