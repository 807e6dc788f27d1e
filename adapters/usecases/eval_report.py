"""What is told of an evaluation, and what is kept of it to compare another one with."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from adapters.documents.evaluations import (
    FORMAT,
    EvalAgainst,
    EvalDetails,
    EvalMistake,
    EvalRow,
    KeptCase,
    KeptEvaluation,
    KeptRun,
    Share,
    read_evaluation,
)
from adapters.home.prices import WHOLE, cost, price_at
from adapters.usecases.eval_cases import Case, PlacedCase
from adapters.usecases.evaluate import CaseRun, Evaluation, Judge, tokens_of
from domain.errors import Refused
from domain.judging import KINDS, TELLING, Marks, Tally, sign_test, wilson

SHOWN_MAX = 160  # characters of a case's newest text


def kept_evaluation(judge: Judge, came: Evaluation) -> KeptEvaluation:
    """What is kept of a run."""
    cases = [
        KeptCase(case.id, case.digest, [_kept_run(one) for one in runs])
        for case, runs in came.judged()
    ]
    return KeptEvaluation(FORMAT, judge.name, judge.words.name if judge.words else None, cases)


def _kept_run(run: CaseRun) -> KeptRun:
    right, neutral, wrong, missed = map(len, run.marks)
    return KeptRun(right, neutral, wrong, missed, run.failed)


def eval_details(
    judge: Judge,
    came: Evaluation,
    *,
    repeat: int,
    at: str,
    against: EvalAgainst | None = None,
    is_showing: bool = False,
) -> EvalDetails:
    """The document of `eval`; `at`: when it was asked, for prices."""
    judged = list(came.judged())
    runs = [run for _, of_case in judged for run in of_case]
    price = price_at(judge.settings.prices, judge.name, at)
    costs = [cost(one.usage, price) for one in runs]
    quiet = [of_case for case, of_case in judged if not case.wanted]
    total = _tally(run.marks for run in runs)
    known = [one for one in costs if one is not None]
    return EvalDetails(
        model=judge.name,
        words=judge.words.name if judge.words else None,
        cases=len(came.cases),
        kept=sum(one.case.kept for one in came.cases),
        done=len(judged),
        repeat=repeat,
        stopped=came.stopped or None,
        tokens=sum(tokens_of(one.usage) for one in runs),
        cost=sum(known) / WHOLE if known and len(known) == len(costs) else None,
        failed=dict(sorted(Counter(one.failed for one in runs if one.failed).items())),
        unplaced=sum(one.unplaced for one in runs),
        quiet=len(quiet),
        loud=sum(bool(run.marks.wrong) for of_case in quiet for run in of_case),
        varied=sum(len(set(map(_outcome, runs))) > 1 for _, runs in judged),
        precision=total.precision,
        recall=total.recall,
        rows=list(_rows(judged)),
        against=against,
        mistakes=list(_mistakes(judged)) if is_showing else None,
    )


def _outcome(run: CaseRun) -> tuple[object, ...]:
    """What came of a run, in whatever order it was proposed."""
    return (*map(frozenset, run.marks), run.failed)


def _tally(marks: Iterable[Marks], kind: str = "") -> Tally:
    found = Tally()
    for one in marks:
        found = found.plus(Tally.of(one, kind))
    return found


Judged = Sequence[tuple[Case, Sequence[CaseRun]]]


def _rows(judged: Judged) -> Iterator[EvalRow]:
    for is_kept in (False, True):
        part = [one for one in judged if one[0].kept == is_kept]
        yield _row("all", "", is_kept, part)
        for kind in KINDS:
            yield _row("kind", kind, is_kept, part, kind)
        for name in sorted({name for case, _ in judged for name in case.classes.split()}):
            yield _row("class", name, is_kept, [x for x in part if name in x[0].classes.split()])
        for name in sorted({case.language for case, _ in judged if case.language}):
            yield _row("language", name, is_kept, [x for x in part if x[0].language == name])


def _row(by: str, name: str, is_kept: bool, part: Judged, kind: str = "") -> EvalRow:
    found = _tally((run.marks for _, runs in part for run in runs), kind)
    of_proposed = wilson(found.right, found.right + found.wrong)
    of_wanted = wilson(found.right, found.wanted)
    return EvalRow(
        by, name, is_kept, found.wanted, *found,
        Share(found.precision, *of_proposed), Share(found.recall, *of_wanted),
    )  # fmt: skip


def _mistakes(judged: Judged) -> Iterator[EvalMistake]:
    for case, runs in judged:
        if case.kept or not case.shown or all(_kept_run(one).is_right for one in runs):
            continue
        wrong = {f"{one.kind}: {one.value}": None for run in runs for one in run.marks.wrong}
        missed = {
            f"{one.kind}: {' | '.join(one.values)}": None
            for run in runs
            for one in run.marks.missed
        }
        failed = next((one.failed for one in runs if one.failed), None)
        text = case.words or (case.notes[-1].text if case.notes else case.task.title)
        yield EvalMistake(case.id, text[:SHOWN_MAX], list(wrong), list(missed), failed)


def earlier_run(file: str, cases: Sequence[PlacedCase]) -> KeptEvaluation:
    """A run that was kept, to be compared with one of these cases.

    Raises:
        Refused: Code ``unreadable_file``; ``invalid_input``: it is none, or of other cases.
    """
    found = read_evaluation(file)
    if {(one.id, one.digest) for one in found.cases}.isdisjoint(
        (one.case.id, one.case.digest) for one in cases
    ):
        because = f"no case of {file} is among these as it was then"
        raise Refused("invalid_input", because=because, instead="name a run of the same cases")
    return found


def compared(run: str, then: KeptEvaluation, now: KeptEvaluation) -> EvalAgainst:
    """A run beside an earlier one."""
    before = {(one.id, one.digest): one for one in then.cases if one.runs}
    both = [(before[key], one) for one in now.cases if (key := (one.id, one.digest)) in before]
    fixed = sum(_is_right(new) > _is_right(old) for old, new in both)
    broken = sum(_is_right(new) < _is_right(old) for old, new in both)
    p, left_out = sign_test(fixed, broken), len(before) + len(now.cases) - 2 * len(both)
    return EvalAgainst(run, len(both), fixed, broken, p, p < TELLING, left_out)


def _is_right(case: KeptCase) -> bool:
    """Whether most of its runs were right."""
    return 2 * sum(one.is_right for one in case.runs) > len(case.runs)
