"""The JSON documents of `wakelog rehearse` and of `wakelog eval`, and what `eval` keeps of a run to
compare another one with.

What is not there is null. Of cases that are kept, or not to be shown, only counts stand here.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from adapters.home.read_input import read_input
from domain.errors import Refused

FORMAT: Literal["wakelog.eval.1"] = "wakelog.eval.1"
RUN_BYTES_MAX = 64_000_000
Count = Annotated[int, Meta(ge=0)]


class Share(Struct, frozen=True):
    """A share, and the ends of its 95 % Wilson interval."""

    value: float
    low: float
    high: float


class EvalRow(Struct, frozen=True):
    """What came of some cases together. `by`: ``all``, ``kind``, ``class`` or ``language``, and
    `name` which one; `kept`: of those that nobody who tunes has seen."""

    by: str
    name: str
    kept: bool
    wanted: int
    right: int
    wrong: int
    missed: int
    precision: Share
    recall: Share


class EvalMistake(Struct, frozen=True):
    """A case that went wrong, of those that may be shown: what was proposed and not wanted, and
    what was wanted and not proposed, as ``KIND: VALUE``."""

    id: str
    text: str
    wrong: list[str]
    missed: list[str]
    failed: str | None


class EvalAgainst(Struct, frozen=True):
    """Two runs by the cases of both: `fixed` are right now and were not, `broken` the other way;
    `p`: how probable so uneven a split is if neither is better. `told_apart` says whether it is
    below 0.05, `left_out` counts the cases that are not in both, or were changed."""

    run: str
    compared: int
    fixed: int
    broken: int
    p: float
    told_apart: bool
    left_out: int


class EvalDetails(Struct, frozen=True):
    """What `eval` prints. `done` of `cases` were judged, `repeat` times each where it was not
    `stopped` (``tokens``, ``interrupted``); `quiet` want nothing, and `loud` of their runs
    proposed something wrong. `failed`: runs by code; `unplaced`: quotes that stand nowhere;
    `varied`: cases whose runs differ. `cost` is in the person's currency; `mistakes`: with
    --show."""

    model: str
    words: str | None
    cases: int
    kept: int
    done: int
    repeat: int
    stopped: str | None
    tokens: int
    cost: float | None
    failed: dict[str, int]
    unplaced: int
    quiet: int
    loud: int
    varied: int
    precision: float
    recall: float
    rows: list[EvalRow]
    against: EvalAgainst | None
    mistakes: list[EvalMistake] | None


class KeptRun(Struct, frozen=True, forbid_unknown_fields=True):
    """A run of a case, by counts."""

    right: Count
    neutral: Count
    wrong: Count
    missed: Count
    failed: str = ""

    @property
    def is_right(self) -> bool:
        return not (self.wrong or self.missed or self.failed)


class KeptCase(Struct, frozen=True, forbid_unknown_fields=True):
    """A case of a run; `digest` tells whether it is still the same."""

    id: str
    digest: str
    runs: list[KeptRun]


class KeptEvaluation(Struct, frozen=True, forbid_unknown_fields=True):
    """What `--out` writes and `--against` reads."""

    format: Literal["wakelog.eval.1"]
    model: str
    words: str | None
    cases: list[KeptCase]


def read_evaluation(file: str) -> KeptEvaluation:
    """A run that was kept; Refused where the file holds none."""
    try:
        return msgspec.json.decode(read_input(file, RUN_BYTES_MAX), type=KeptEvaluation)
    except msgspec.MsgspecError as error:
        because = f"{file} is no run that was kept: {error}"
        instead = "name a file that `wakelog eval --out` wrote"
        raise Refused("invalid_input", because=because, instead=instead) from None


class RehearsalArm(Struct, frozen=True):
    """What came of the wakes as they are in force, or as they were tried. `kept` and `lost`: what
    was confirmed and is proposed again, or is not; `repeated` and `avoided`: the same of what was
    rejected, or confirmed with an edit only. `foreseen` of the `new` proposals somebody made so
    since. `score`: kept and avoided, of all that was decided."""

    name: str
    kept: int
    lost: int
    avoided: int
    repeated: int
    new: int
    foreseen: int
    score: Share


class RehearsedItem(Struct, frozen=True):
    """A proposal of a wake, and what became of it in each arm, empty where it was not made.
    `verdict`: ``confirmed``, ``edited``, ``rejected``; empty: it is new."""

    run_key: str
    task_id: str
    kind: str
    summary: str
    verdict: str
    fates: list[str]


class RehearsalDetails(Struct, frozen=True):
    """What `rehearse` prints. `arms`: what is in force, and what is tried, if anything is. `wakes`
    with something decided of `agents`, and `quiet` ones besides. `left_out`: wakes by why they
    were not run, or not to their end. `stopped`: ``tokens`` or ``interrupted``. `models` are those
    far away, which gave `answers`. What is tried is `better` for so many agents and `worse` for so
    many; `p`: how probable so uneven a split is if neither is. `kinds`: what became of what fared
    otherwise than in force; `items`: with --show."""

    arms: list[RehearsalArm]
    wakes: int
    quiet: int
    agents: int
    decided: int
    left_out: dict[str, int]
    stopped: str | None
    models: list[str]
    answers: int
    tokens: int
    cost: float | None
    better: int
    worse: int
    p: float
    told_apart: bool
    too_few: bool
    kinds: dict[str, dict[str, int]]
    items: list[RehearsedItem] | None
