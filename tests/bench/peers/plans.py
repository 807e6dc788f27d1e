"""The wake that peers record, and how its code changes afterwards: one plan for each mutation.

A step is what it is called, its input, and how often it may be tried. Its result is made of
name and input, so it is told from outside, as a model's answer is.
"""

from typing import NamedTuple


class Step(NamedTuple):
    name: str
    said: str
    attempts: int = 3


NAMES = ("look", "ask", "estimate", "guess", "report", "thank")
_LOOK, _ESTIMATE = Step("look", "task 1"), Step("estimate", "45 minutes")
_REPORT = Step("report", "all is well")
RECORDED: tuple[Step, ...] = (_LOOK, _ESTIMATE, _REPORT)
CHANGED: dict[
    str, tuple[Step, ...]
] = {  # what the code does instead when the recorded run meets it again
    "unchanged": RECORDED,
    "insert a step": (_LOOK, Step("ask", "the plumber"), _ESTIMATE, _REPORT),
    "remove a step": (_LOOK, _REPORT),
    "rename a step": (_LOOK, Step("guess", _ESTIMATE.said), _REPORT),
    "add a step after the end": (*RECORDED, Step("thank", "the plumber")),
    "change an input": (_LOOK, Step("estimate", "450 minutes"), _REPORT),
    "change an option": (_LOOK, Step("estimate", _ESTIMATE.said, attempts=9), _REPORT),
    "change a result": RECORDED,  # the recorded result of the second step is another one
}


def result(name: str, said: str) -> str:
    return f"{name}: {said}, done"


ANOTHER_RESULT = result("estimate", "450 minutes")
