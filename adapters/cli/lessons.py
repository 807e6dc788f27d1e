"""`wakelog lessons` and `wakelog rate`: how proposals fare, and what wakes were worth."""

from itertools import groupby
from operator import attrgetter

import click

from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, key_option
from adapters.documents.lessons import LessonLine, lesson_lines, ran_of
from adapters.text.common import ID_SHOWN, safe
from adapters.text.lessons import REASONS_SHOWN, heading, ran_words
from adapters.text.reading import counted
from domain.lessons.lessons import STARS_MAX, TEMPLATE

EMPTY = (
    "No lessons yet. They come of what you confirm, reject and defer; "
    "`wakelog lessons --from-history` learns of what you decided before."
)
HEADINGS = ("Change", "Yes", "No", "Later", "Edited", "Declined because")


@click.command("lessons", epilog="Examples: wakelog lessons Work; wakelog lessons --from-history")
@click.argument("scope", type=TEXT, default="", metavar="[CATEGORY|TEMPLATE]")
@click.option("--from-history", is_flag=True, help="First learn what you decided earlier.")
@click.pass_obj
def lessons_command(session: Session, scope: str, *, from_history: bool) -> None:
    """See how proposals fare, by kind of change: what agents of a category are told.

    Of each kind the newest 50 verdicts count. Lessons stay in the category that the task had when
    you decided; those of a template are for you to see.
    """
    from adapters.actions.lessons import learn_history, pick_scope

    home = session.writing() if from_history else session.reading()
    wanted = pick_scope(home, scope) if scope else ""
    if from_history:
        session.note(f"{counted(learn_history(home), 'lesson')} learnt from earlier verdicts.")
    found = lesson_lines(home, wanted)
    if session.as_json:
        session.document(found)
    elif not found:
        session.say((wanted and ran_words(ran_of(home, wanted))) or EMPTY)
    for nth, (one, lines) in enumerate(groupby(found, key=attrgetter("scope"))):
        of_one = list(lines)
        if nth:
            session.say()
        session.say(safe(heading(one, of_one[0].name)))
        session.table(HEADINGS, [_row(line) for line in of_one])
        if one.startswith(TEMPLATE) and (told := ran_words(ran_of(home, one))):
            session.say(told)


def _row(line: LessonLine) -> tuple[object, ...]:
    told = [f'"{one.text}" ({one.count})' for one in line.reasons[:REASONS_SHOWN]]
    return line.tool, line.confirmed, line.rejected, line.deferred, line.edited, ", ".join(told)


@click.command("rate", epilog="Example: wakelog rate 4hx2 5")
@click.argument("run", type=TEXT)
@click.argument("stars", type=click.IntRange(1, STARS_MAX))
@key_option
@click.pass_obj
def rate_command(session: Session, run: str, stars: int, key: str) -> None:
    """Rate a wake of an agent that lives on a template: 1 to 5, the best.

    RUN is the beginning of a wake's id, or names a task whose agent has run once. See
    `wakelog wakes`.
    """
    from adapters.actions.lessons import rate_run

    rated = rate_run(session.writing(), run, stars, key)
    if session.as_json:
        session.document(rated)
        return
    done = "Rated so already" if rated.unchanged else "Rated"
    session.say(f"{done}: {rated.run_key[:ID_SHOWN]}  {rated.stars} of {STARS_MAX}")
