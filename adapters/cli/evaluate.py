"""`wakelog eval`: a model, or a wording, judged on cases."""

import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.consent import agreed_tokens
from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, option, yes_option
from adapters.documents.evaluations import EvalAgainst, EvalDetails, EvalRow, Share
from adapters.home.prices import costs_at
from adapters.text.common import counted, safe
from domain.errors import invalid
from domain.judging import is_worse
from domain.policy.gate import is_far
from domain.scaffold import SCAFFOLD

if TYPE_CHECKING:
    from adapters.usecases.templates import Directives

HEADINGS = (
    *("What", "Wanted", "Right", "Wrong", "Missed", "Precision", "Recall"),
    *("Kept", "Precision", "Recall"),
)
_FILE = click.Path(exists=True, dir_okay=False)


@command(
    "eval",
    example=(
        "--model openai:fast",
        "evals/notes.jsonl --model openai:fast --out fast.json",
        "evals/own-*.jsonl --general-file calmer.md --against before.json --no-worse",
    ),
)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@option("--model=M", "Who is judged; else the home's model.", default="")
@option("--template=T[.N]", "Of the home: agents live on it.", default="")
@option("--general-file", "Or on these directives, how to work,", _FILE)
@option("--report-file", "and how to report.", _FILE)
@option(
    "--repeat=K", "Run each case so often; all count, and how many varied is told.",
    click.IntRange(1, 100), default=1,
)  # fmt: skip
@flag("--show", "Tell each case that went wrong, but no kept one.")
@option(
    "--out=RUN", "Keep the counts of each case in this file.",
    click.Path(dir_okay=False, path_type=Path),
)  # fmt: skip
@option("--against=RUN", "Compare with a run that was kept.", _FILE)
@flag(
    "--no-worse",
    "With --against: exit status 1 if it is worse; of a model that varies, beyond chance.",
)
@option(
    "--min-precision=X",
    "Exit status 1 if less of what was proposed is right; of all cases, kept ones too.",
    click.FloatRange(0, 1),
)
@option(
    "--tokens=N", "Begin no other case after so many; else what you agreed to, with --yes 200,000.",
    click.IntRange(min=1),
)  # fmt: skip
@option(
    "--at-once=N", "Cases beside each other, of a model that is far away.", click.IntRange(1, 64),
    shown=4,
)  # fmt: skip
@option("--scaffold", kind=click.IntRange(1, SCAFFOLD), default=SCAFFOLD, hidden=True)
@yes_option("Send the cases to the model unasked.")
def eval_command(session: Session, /, files: Sequence[str], **options: Any) -> None:
    """Judge a model, or a wording, on cases: a task, its notes, and what is wanted of them.

    Each line of a file is a case, see evals/README.md; without a file 24 scenes are taken of what
    no model may do, as to obey a note. A case becomes a home in memory, an agent wakes there, and
    what then stands in its inbox is right, neutral, wrong or missed. Nothing of your
    home is read but settings, prices and the template, and nothing is written. Kept cases are
    counted and never shown, so that nobody tunes on them. Shares stand with their 95 % Wilson
    interval.

    --against tells how many cases were fixed and how many broken since, and by an exact sign test
    whether the two runs can be told apart. Exit status 1: a minimum was missed, --no-worse, or it
    was stopped by --tokens or Ctrl-C, and what was done is told; 2: a line is no case.
    """
    wish = SimpleNamespace(**options)
    if wish.no_worse and not wish.against:
        raise invalid("--no-worse compares with nothing", "name a run with --against")
    from adapters.home.clock import clock_from
    from adapters.usecases import evaluate as found
    from adapters.wiring import Models

    cases = found.read_cases(files or [found.SCENES])
    then = found.earlier_run(wish.against, cases) if wish.against else None
    settings = session.place.settings(os.environ, wish.model or session.model)
    models, now = Models(os.environ, settings), clock_from(os.environ, "").now()
    given = directives_of(wish.general_file, wish.report_file)
    words = found.words_judged(session.reading, wish.template, given)
    judge = found.Evaluation(settings, models, cases, wish.repeat, words, wish.scaffold)
    tokens_max = wish.tokens or 0
    if is_far(judge.name):
        told = (
            f"{counted(len(cases), 'case')}, and of your home only the words that "
            f"are judged, would go to {judge.name}, at {found.TURNS_ESTIMATED} turns each"
        )
        about = {judge.name: judge.estimated()}
        costs = costs_at(judge.settings.prices, lambda: now)
        tokens_max = agreed_tokens(session, told, about, costs, wish.tokens)
    with session.steps("Judging") as progress:
        judge.run(progress, tokens_max, wish.at_once)
    kept = judge.kept
    against = found.compared(str(wish.against), then, kept) if then and kept.cases else None
    details = judge.details(now, against, is_showing=wish.show)
    if not session.printed(details):
        _tell(session, details)
    if wish.out:
        found.keep_run(kept, wish.out)
    missed = list[str]()
    if details.precision < (wish.min_precision or 0):
        missed.append(f"Precision {details.precision:.4f} is below {wish.min_precision}.")
    if against and wish.no_worse:
        changed = against.fixed, against.broken
        if is_worse(*changed, is_repeatable=judge.is_repeatable):
            missed.append("It is worse than the run before.")
    for one in missed:
        session.note(one)
    raise SystemExit(1 if details.stopped or missed else 0)


def directives_of(*files: str | None) -> "tuple[Directives, str]":
    """What files of general and report directives say, and what they are called."""
    from adapters.home.read_input import read_input
    from adapters.usecases.inputs import TEXT_BYTES_MAX
    from adapters.usecases.templates import Directives, check_directives

    texts = (
        read_input(one, TEXT_BYTES_MAX).decode("utf-8", "replace") if one else None for one in files
    )
    given = Directives(*texts)
    check_directives(given)
    return given, " and ".join(Path(one).name for one in files if one)


# --------------------------------------------------------------------------------------- in words


def _tell(session: Session, found: EvalDetails) -> None:
    words = f" on {found.words}" if found.words else ""
    told = [f"{found.model}{words}: {counted(found.cases, 'case')}, {found.kept} kept"]
    if found.repeat > 1:
        told.append(f"{found.repeat} times each, {found.varied} varied")
    if found.tokens:
        paid = "" if found.cost is None else f", {found.cost:.2f} by your prices"
        told.append(f"{found.tokens:,} tokens{paid}")
    if found.failed:
        told.append("failed: " + ", ".join(f"{code} {n}" for code, n in found.failed.items()))
    if found.unplaced:
        told.append(f"quotes that stand nowhere: {found.unplaced}")
    session.say(safe(" · ".join(told)), style="bold")
    if found.stopped:
        why = "it was interrupted" if found.stopped == "interrupted" else "its tokens were used"
        session.say(f"Only {found.done} of them were judged: {why}.", style="yellow")
    if found.against:
        session.say(safe(_against(found.against)))
    session.say()
    rows = {(one.by, one.name, one.kept): one for one in found.rows}
    pairs = [(one, rows[one.by, one.name, True]) for one in found.rows if not one.kept]
    pairs = [one for one in pairs if any(each.wanted or each.wrong for each in one)]
    session.table(HEADINGS, [_cells(*one) for one in pairs])
    session.say()
    session.say(
        f"{counted(found.quiet, 'case')} want nothing: {found.loud} times something was proposed."
    )
    for one in found.mistakes or ():
        session.say()
        session.say(safe(f"{one.id}: {' '.join(one.text.split())}"))
        session.say_each(safe(f"    wrong {told}") for told in one.wrong)
        session.say_each(safe(f"    missed {told}") for told in one.missed)
        if one.failed:
            session.say(safe(f"    failed: {one.failed}"))


def _against(one: EvalAgainst) -> str:
    apart = "they are told apart" if one.told_apart else "they cannot be told apart"
    p = chance(one.p)
    left = f"; left out as new, gone or changed: {one.left_out}" if one.left_out else ""
    return (
        f"against {one.run}: {one.fixed} fixed, {one.broken} broken of {one.compared} (p {p}): "
        f"{apart}{left}"
    )


def chance(p: float) -> str:
    """A probability, ``= .130``."""
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".")


def _cells(shown: EvalRow, kept: EvalRow) -> list[object]:
    counts = shown.wanted, shown.right, shown.wrong, shown.missed
    name = f"{shown.by} {shown.name}".rstrip()
    return [name, *counts, *_shares(shown), kept.wanted, *_shares(kept)]


def _shares(one: EvalRow) -> list[str]:
    """Precision and recall; of nothing there is none."""
    return [
        share_text(one.precision) if one.right + one.wrong else "-",
        share_text(one.recall) if one.wanted else "-",
    ]


def share_text(one: Share) -> str:
    """A share with its bounds, ``.93 (.90-.95)``."""
    parts = (f"{part:.2f}" for part in (one.value, one.low, one.high))
    value, low, high = (part.removeprefix("0") for part in parts)
    return f"{value} ({low}-{high})"
