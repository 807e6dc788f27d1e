"""`wakelog export-history`: a wake and all that led to it, as a file that proves itself."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.actions.naming import pick
from adapters.cli.shared import Session
from adapters.documents.deeds import ExportedHistory
from adapters.home.files import check_no_database, close_to_others
from adapters.proof import histories
from adapters.proof.redact import redacted
from adapters.text.common import safe
from adapters.text.reading import counted
from domain.errors import Refused
from projections.wakes import VIEW

if TYPE_CHECKING:
    from adapters.proof.histories import History


@click.command(
    "export-history",
    epilog="Examples: wakelog export-history 3fk2 --out histories/sink.jsonl; "
    "wakelog export-history --all --redact --out histories/home.jsonl",
)
@click.argument("run", required=False, default="")
@click.option("--all", "is_all", is_flag=True, help="The whole home, instead of one wake.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to; else to the standard output.",
)
@click.option("--redact", is_flag=True, help="Rewrite every text, and record it all anew.")
@click.pass_obj
def export_history_command(
    session: Session, run: str, out: Path | None, *, is_all: bool, redact: bool
) -> None:
    """Write a wake's history: a JSON Lines file that proves itself.

    RUN is a run key or the beginning of one. In it is all that came before the end of the wake,
    of both logs, because the wake may rest on any of it. With --redact the same word becomes the
    same other word of that length, ids and digests follow, and what comes out has a digest of
    its own; numbers, dates and statuses of fields stay. Keep such files in a folder, and prove
    them in CI with `pytest --wakelog-histories FOLDER`.
    """
    if bool(run) == is_all:
        instead = "say `wakelog export-history RUN`, or --all"
        raise Refused(
            "invalid_value", because="it is not said whether one wake or all of it", instead=instead
        )
    if session.as_json and out is None:
        instead = "name a file with --out"
        raise Refused("invalid_value", because="--json tells what was written", instead=instead)
    services = session.reading().services
    if is_all and not services.journal.tail().n:
        because = f"there is nothing in {session.path} yet"
        raise Refused("not_a_log", because=because, instead="name a home with --home")
    history = histories.taken(
        services.journal, services.agents, _run_key(session, run) if run else ""
    )
    _check(history)
    if redact:
        history = redacted(history)
        _check(history)
    _write(session, history, out)


def _run_key(session: Session, run: str) -> str:
    found = [(one.run_key, "") for one in session.reading().views.all(VIEW)]
    return pick(run, found, "wake", "unknown_wake", see="see `wakelog wakes`")


def _check(history: "History") -> None:
    """A history that does not prove would fail in CI for ever."""
    proved = histories.prove(history)
    if not proved.ok:
        because = f"this history does not prove: {len(proved.divergences)} divergences"
        raise Refused("not_a_log", because=because, instead="see `wakelog prove`")


def _write(session: Session, history: "History", out: Path | None) -> None:
    told = "".join(histories.lines(history))
    rows = sum(map(len, history.rows.values()))
    if out is None:
        click.echo(told, nl=False)
        return
    check_no_database(out)
    try:
        out.write_text(told, encoding="utf-8")
        close_to_others([out])
    except OSError as error:
        because = f"{out} cannot be written: {error.strerror}"
        raise Refused("read_only", because=because, instead="name another file") from None
    if session.as_json:
        size = len(told.encode())
        session.document(
            ExportedHistory(
                file=safe(str(out)),
                run_key=history.run or None,
                rows=rows,
                payloads=len(history.payloads),
                bytes=size,
                digest=history.digest,
                redacted=history.is_redacted,
            )
        )
    else:
        session.say(f"Wrote {counted(rows, 'row')} to {out}; digest {history.digest}")
