"""`wakelog rehearse`: a model, or a wording, tried on one's own past."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.consent import agreed_tokens
from adapters.cli.evaluate import chance, directives_of, share_text
from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, option, yes_option
from adapters.documents.evaluations import RehearsalArm, RehearsalDetails
from adapters.home.prices import costs_at
from adapters.text.common import ID_SHOWN, counted, safe
from domain.scaffold import SCAFFOLD

if TYPE_CHECKING:
    from adapters.usecases.rehearse import Rehearsal

HEADINGS = ("What", "Kept", "Lost", "Avoided", "Repeated", "New (foreseen)", "Score")
EMPTY = "Nothing was decided in these wakes yet; see `wakelog inbox`"
CLOSED = "Nothing is left to compare; `wakelog policy show` tells what may be sent."
_FILE = click.Path(exists=True, dir_okay=False)


@command(
    "rehearse",
    "[template]=[T[.N] or SET.ITEM]",
    example=(
        "Laura.2",
        "9.1",
        "Laura --general-file calmer.md",
        "--model openai:fast --wakes 20",
    ),
)
@option("--general-file", "These directives, how to work,", _FILE)
@option("--report-file", "and how to report; else those of T, or in force.", _FILE)
@option("--model=M", "Who answers; else the model in force.", default="")
@option("--without", "Do not show how earlier proposals fared.", click.Choice(["lessons"]))
@option(
    "--wakes=N",
    "So many with something decided, the newest, and half as many that proposed nothing.",
    click.IntRange(1, 10_000), shown=40,
)  # fmt: skip
@option("--since=DATE", "None that ended before this day.", default="")
@flag("--all is_all", "Not only the half that is kept for this.")
@option(
    "--tokens=N", "Begin no other wake after so many; else what you agreed to, with --yes 200,000.",
    click.IntRange(min=1),
)  # fmt: skip
@option(
    "--at-once=N", "Wakes beside each other, of a model that is far away.", click.IntRange(1, 64),
    shown=4,
)  # fmt: skip
@option("--scaffold", kind=click.IntRange(0, SCAFFOLD), default=0, hidden=True)
@flag("--show", "Tell each proposal that fared otherwise.")
@yes_option("Send what the wakes were shown to the model unasked.")
def rehearse_command(session: Session, /, template: str, **options: Any) -> None:
    """Try a model, or a wording, on your own past.

    Wakes on whose proposals you decided run again in memory, as they were but for what is tried:
    those of the agents that live on template T; of all without T, or where nobody lives on it. Your
    home is only read; but what came of a version T.N, or of proposed directives SET.ITEM, is kept
    with it. What you confirmed is kept or lost, what you rejected avoided or repeated; of
    what you confirmed with an edit the edited value is kept, the first one repeated. What is new is
    foreseen if its task is so by now.

    Beside it stands what is in force, run again on the same wakes: a model far away is asked anew,
    since it varies; for `rules`, `demo` and a tape the record answers what it can. A sign test over
    agents says whether the two can be told apart. Only what you agreed to is sent, and what it
    takes counts into the budgets of today. Exit status 1: it was stopped by --tokens or Ctrl-C.
    """
    from adapters.usecases.rehearse import Rehearsal, RehearsalRequest

    wish = SimpleNamespace(**options)
    directives, files = directives_of(wish.general_file, wish.report_file)
    others = (wish.without, wish.wakes, wish.since, wish.is_all, wish.scaffold)
    request = RehearsalRequest(template, directives, files, wish.model, *others)
    rehearsal = Rehearsal(session.reading(), request)
    tokens_max = _agreed(session, rehearsal, wish.tokens)
    found = _run(session, rehearsal, tokens_max, wish.at_once, is_showing=wish.show)
    if not session.printed(found):
        _tell(session, found, is_all=wish.is_all)
    raise SystemExit(1 if found.stopped else 0)


def _run(
    session: Session, rehearsal: "Rehearsal", tokens_max: int, at_once: int, *, is_showing: bool
) -> RehearsalDetails:
    """Run all, and keep with a proposal or a version what came of it."""
    with session.steps("Rehearsing") as progress:
        stopped = rehearsal.run(progress, tokens_max, at_once)
    found = rehearsal.details(stopped, is_showing=is_showing)
    rehearsal.record(session.writing, found)
    return found


def offer(session: Session, ref: str) -> None:
    """Ask whether a proposal shall be rehearsed, with what that takes, and do it."""
    from adapters.usecases.rehearse import Rehearsal, RehearsalRequest

    rehearsal = Rehearsal(session.reading(), RehearsalRequest(ref))
    if not rehearsal.wakes:
        return
    wakes = counted(len(rehearsal.wakes), "wake")
    about = rehearsal.estimated()
    if not about and not click.confirm(f"Rehearse it on {wakes}?", default=False, err=True):
        return
    try:
        tokens_max = _agreed(session, rehearsal, None)
    except click.Abort:
        return
    _tell(session, _run(session, rehearsal, tokens_max, 4, is_showing=False), is_all=False)


def _agreed(session: Session, rehearsal: "Rehearsal", tokens: int | None) -> int:
    """Ask before anything leaves this machine; how many tokens it may take, 0: any number."""
    about = rehearsal.estimated()
    if not about:
        return tokens or 0
    home = session.reading()
    wakes = counted(len(rehearsal.wakes), "wake")
    told = f"What {wakes} of your home were shown would go to {' and '.join(sorted(about))} again"
    costs = costs_at(home.settings.prices, home.services.clock.now)
    return agreed_tokens(session, told, about, costs, tokens)


# --------------------------------------------------------------------------------------- in words


def _tell(session: Session, found: RehearsalDetails, *, is_all: bool) -> None:
    quiet = f", {found.quiet} more quiet ones" if found.quiet else ""
    told = [f"{counted(found.wakes, 'wake')} of {counted(found.agents, 'agent')}{quiet}"]
    if found.models:
        answers = counted(found.answers, "answer")
        paid = "" if found.cost is None else f", {found.cost:.2f} by your prices"
        told.append(f"{answers} of {', '.join(found.models)}, {found.tokens:,} tokens{paid}")
    if found.left_out:
        left = ", ".join(f"{code} {count}" for code, count in found.left_out.items())
        told.append(f"left out: {left}")
    if found.wakes or found.left_out:
        session.say(safe(" · ".join(told)), style="bold")
    if found.stopped:
        why = "it was interrupted" if found.stopped == "interrupted" else "its tokens were used"
        session.say(f"These are not all of them: {why}.", style="yellow")
    if not found.decided:
        other = "." if is_all else "; `--all` takes the other half."
        session.say(CLOSED if found.left_out or found.stopped else f"{EMPTY}{other}")
        return
    session.table(HEADINGS, [_cells(one) for one in found.arms])
    session.say(_verdict(found))
    for one in found.items or ():
        fates = [fate or "-" for fate in one.fates]
        if len(set(fates)) > 1 or (len(fates) == 1 and fates[0] not in ("kept", "repeated")):
            what = f"{one.verdict or 'new'}: {one.summary}"
            session.say(safe(f"{one.run_key[:ID_SHOWN]}  {' -> '.join(fates)}  {what}"))


def _cells(one: RehearsalArm) -> list[object]:
    new = f"{one.new} ({one.foreseen})"
    return [one.name, one.kept, one.lost, one.avoided, one.repeated, new, share_text(one.score)]


def _verdict(found: RehearsalDetails) -> str:
    """Whether what is tried is better, in words."""
    if found.too_few:
        return f"Too few to tell anything apart: {counted(found.decided, 'decision')}."
    if len(found.arms) == 1:
        return "Nothing is tried: this is how far what is in force says the same again."
    apart = "they are told apart" if found.told_apart else "they cannot be told apart yet"
    kinds = "; ".join(
        f"{kind}: " + ", ".join(f"{count} {fate}" for fate, count in fates.items())
        for kind, fates in found.kinds.items()
    )
    told = f"better for {counted(found.better, 'agent')}, worse for {found.worse}"
    told += f", p {chance(found.p)}: {apart}"
    return f"{told}. {kinds}".rstrip()
