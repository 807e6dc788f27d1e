"""What `wakelog import` says of each file, and what to do next."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from adapters.cli.shared import Session
from adapters.home.entering import entered_line
from adapters.text import conflicts
from adapters.text.common import ID_SHOWN, safe

if TYPE_CHECKING:
    from adapters.documents.tasks import ImportReport
    from domain.journal.imported import Unreadable

SHOWN_MAX = 20  # problems, and titles of what is gone, of one file; --json has them all


def tell(
    session: Session,
    report: "ImportReport",
    titles: Mapping[str, str],
    news: Sequence[str],
    *,
    is_dry_run: bool,
) -> None:
    """What an import did with a file; `titles` are those of all tasks, by id, `news` the tasks and
    items that are gone and were not told of before."""
    for name, count in report.keys_replaced.items():
        times = "" if count == 1 else f" ({count} times)"
        click.echo(f"Note: {report.file}: {entered_line(name)}{times}", err=True)
    if report.failure or session.as_json:
        return
    counts = {
        "created": report.created,
        "given an agent": report.agents,
        "changed": max(report.changed - len(report.restored), 0),
        "unchanged": report.unchanged,
        "in conflict": len(report.conflicts),
        "settled": report.settled,
        "back again": len(report.restored),
        "gone": len(report.gone) + len(report.gone_held),
        f"item{'s' * (len(report.gone_items) != 1)} gone": len(report.gone_items),
        "rejected or deleted": len(report.gone_settled),
        "read as open": report.boxes_as_open,
        "unreadable": len(report.unreadable),
    }
    would = "would be " if is_dry_run else ""
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    named = report.file if report.format == "markdown" else f"{report.file} ({report.format})"
    session.say(f"{named}: {would}{told}" if told else f"{named}: no tasks found")
    if report.left_out:
        session.say(f"  Left out: {', '.join(report.left_out)}")
    for problem in report.unreadable[:SHOWN_MAX]:
        session.say(f"  {_place(report.file, problem)}: {safe(problem.reason)}", style="yellow")
    _more(session, len(report.unreadable))
    for remark in report.remarks[:SHOWN_MAX]:
        session.say(f"  {_place(report.file, remark)}: {safe(remark.reason)}")
    _more(session, len(report.remarks))
    if report.moved_from:
        session.say(f"  Known by what it says: it was {safe(report.moved_from)}")
    for one in report.told[:SHOWN_MAX]:
        session.say(f"  {_place(report.file, one)}: {safe(one.reason)}", style="yellow")
    _more(session, len(report.told))
    for one in report.named[:SHOWN_MAX]:
        session.say(f"  {_place(report.file, one)}: {safe(one.reason)}")
    _more(session, len(report.named))
    titled = (
        f"{one.task_id[:ID_SHOWN]} {safe(one.was)} -> {safe(one.title)}" for one in report.retitled
    )
    _list(session, "Taken for tasks that were there before, retitled or moved:", [*titled])
    both = (f"{safe(one.title)}: {conflicts.told(one)}" for one in report.conflicts)
    _list(session, "Changed in the file and here, left as it is here:", [*both])

    _tell_gone(session, report, titles, news)
    here = {
        "deleted here, open in the file (`--restore` brings back)": report.deleted_here,
        f"done here, not in the file yet (`wakelog write-back {report.file}`)": report.done_here,
        f"added here, in no file (`wakelog write-back {report.file} --add`)": report.added_here,
    }
    for told, tasks in here.items():
        if tasks:
            session.say(f"  {len(tasks)} {told}")


def _tell_gone(
    session: Session, report: "ImportReport", titles: Mapping[str, str], news: Sequence[str]
) -> None:
    def named(tasks: Sequence[str]) -> list[str]:
        return [f"{task[:ID_SHOWN]} {safe(titles[task])}" for task in tasks]

    alone = "No longer in the file, left alone here (told once; see `--gone`):"
    _list(session, alone, named([one for one in report.gone if one in news]))
    _list(session, "No longer in the file, rejected or deleted here:", named(report.gone_settled))
    _list(session, "Back in the file, and here:", named(report.restored))
    held = "No longer in the file, and not closed unasked, for it is much (`--gone HOW --yes`):"
    _list(session, held, named(report.gone_held))
    items = (one for one in report.gone_items if one.item in news)
    told = [f"{safe(titles[one.task])}: {safe(one.title)}" for one in items]
    _list(session, "Items no longer in the file, left alone here (told once):", told)


def _list(session: Session, heading: str, lines: Sequence[str]) -> None:
    """Some lines below a heading; nothing, if there are none."""
    if lines:
        session.say(f"  {heading}")
    for line in lines[:SHOWN_MAX]:
        session.say(f"    {line}")
    _more(session, len(lines))


def _more(session: Session, count: int) -> None:
    if count > SHOWN_MAX:
        session.say(f"    and {count - SHOWN_MAX} more; --json lists them all")


def _place(file: str, problem: "Unreadable") -> str:
    return f"{file}:{problem.line}" if problem.line else file


def tell_next(session: Session, reports: Sequence["ImportReport"], *, is_dry_run: bool) -> None:
    """A hint on stderr what to do now."""
    read = [report for report in reports if not report.failure]
    if read and not any(report.created + report.changed + report.unchanged for report in read):
        if all(report.format != "markdown" for report in read):
            return
        session.note("A task is a line with a box, like `- [ ] Paint the door ~2h due:2027-02-12`.")
    elif is_dry_run:
        session.note("Nothing was written; leave --dry-run out to do it.")
    elif any(report.conflicts for report in read):
        session.note("Settle each with `wakelog settle TASK FIELD --keep file|mine`.")
    elif any(report.agents for report in read):
        session.note("Their first wakes are queued; run them with `wakelog wake`.")
    elif any(report.created for report in read):
        session.note(
            "See them with `wakelog task list`; `wakelog agent create --all` gives agents, "
            "`import --agents` to new ones at once."
        )
