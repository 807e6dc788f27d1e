"""Proof: today's code on yesterday's causes, every byte compared. `wakelog prove`, and
`wakelog export-history`.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import NO_HOME, Session
from adapters.documents.results import ExportedHistory
from adapters.home.files import check_no_database, close_to_others
from adapters.proof import anchors, histories
from adapters.proof.incremental import forget, prove_remembering
from adapters.proof.prove import Proved, prove_home
from adapters.proof.prove_views import with_views
from adapters.proof.redact import redacted
from adapters.text.agent_output import counted
from adapters.text.common import safe
from adapters.text.proof import divergence_lines, erased_text, newer_text
from adapters.usecases.resolve import pick
from domain.errors import Refused, invalid
from projections.wakes import VIEW

if TYPE_CHECKING:
    from adapters.proof.histories import History

_POSITION = re.compile(r"(journal|agent):(?:[a-z0-9]{1,32}:)?([0-9]{1,12})")


@command(
    "prove",
    epilog="Examples: wakelog prove; wakelog prove --anchor /mnt/other/anchors.jsonl, "
    "the first time with --new-anchor; "
    "wakelog prove --since agent:r1:5000; wakelog --json prove > proof.json",
)
@click.option(
    "--since",
    multiple=True,
    metavar="POSITION|last",
    help="Only fold what came before: agent:r1:42. `last`: execute only what is new since the "
    "last proof of this home; all bytes are hashed again.",
)
@click.option("--all-rules", is_flag=True, help="Execute epochs of older rules, too.")
@click.option(
    "--anchor",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Check the digests kept in FILE, then add today's.",
)
@click.option("--new-anchor", is_flag=True, help="Begin FILE: it is not there yet.")
@click.option("--no-views", is_flag=True, help="Do not fold the views anew.")
def prove_command(
    session: Session,
    since: tuple[str, ...],
    anchor: Path | None,
    *,
    all_rules: bool,
    new_anchor: bool,
    no_views: bool,
) -> None:
    """Re-execute both logs with today's code and compare every byte.

    Every cause meets the world as it stood: rows, keys, digests, payloads, prompts and views are
    made again. What differs is told with both sides, its class, the wake it belongs to and what
    led there. Exit status 1: something differs, a log's end is gone that --anchor knows of,
    or a newer wakelog made a wake: that is read, and not proved.

    \b
    data altered          the chain of digests is broken, or rows are gone
    rule changed          today's code decides something else
    prompt changed        today's code shows the model something else
    event format changed  a fact cannot be read, or is written otherwise
    payload missing       a text is gone
    nondeterminism        today's code differs from itself
    view differs          a stored view is not what the log makes
    """
    if new_anchor and anchor is None:
        raise invalid("there is no anchor file to begin", "name it with --anchor FILE")
    home = session.opened()
    kept = anchors.read_anchors(anchor, is_new=new_anchor) if anchor else []
    is_last = "last" in since
    if is_last and (len(since) > 1 or all_rules):
        because = "--since last goes with no other --since, and not with --all-rules"
        raise invalid(because, "leave one of them out")
    positions = {} if is_last else dict(_position(one) for one in since)
    known = anchors.known_digests(kept)
    with session.home_bar(home, "Proving") as progress:
        if positions or all_rules:
            proved = prove_home(
                home, progress, since=positions, anchors=known, is_every_epoch=all_rules
            )
            if not proved.ok:
                forget(home, os.environ)
        else:
            proved = prove_remembering(
                home, os.environ, progress, is_since_last=is_last, anchors=known
            )
    if proved.ok and not (no_views or is_last):
        proved = with_views(home, proved)
    is_new = bool(anchor and proved.ok and proved.rows) and anchors.add_anchor(
        anchor or Path(), proved.digest, proved.heads
    )
    if session.as_json:
        session.document(proved.document())
    elif not proved.rows and proved.ok:
        session.say(NO_HOME.format(home.place.name) if not home.exists else "Both logs are empty.")
    else:
        tell_proof(session, proved, is_last=is_last)
        if anchor:
            session.say(f"anchors: {len(kept)} checked" + f", one more in {anchor}" * is_new)
    if proved.ok and proved.folded and not all_rules:
        why = "those up to --since" if since else "those of older rules"
        session.note(f"Only folded: {why}, see `wakelog prove --help`.")
    if is_last or proved.unkept:
        _tell_memory(session, proved)
    raise SystemExit(0 if proved.ok else 1)


def _position(given: str) -> tuple[str, int]:
    found = _POSITION.fullmatch(given)
    if found is None:
        raise invalid(f"{given!r} is no position", "write it like agent:r1:42")
    return found[1], int(found[2])


def _tell_memory(session: Session, proved: "Proved") -> None:
    """What was remembered, and what is from now on."""
    if proved.why:
        session.note(safe(f"All was executed: {proved.why}."))
    elif proved.remembered_at:
        session.note("Views were not folded anew: `wakelog prove` does that.")
    if proved.unkept:
        session.note(safe(f"This proof is not remembered: {proved.unkept}."))


def tell_proof(session: Session, proved: "Proved", *, is_last: bool = False) -> None:
    """What a proof found, in words."""
    what = f"{counted(proved.rows, 'row')} of {counted(proved.causes, 'cause')} and "
    what += f"{counted(proved.wakes, 'wake')} in {proved.seconds:.2f} s"
    if proved.undecoded:
        what += f" ({proved.undecoded:,} of the replies of other models not read again)"
    if proved.ok and proved.remembered_at:
        session.say(f"Proved {what}: every byte is as it was, or what today's code writes.")
    elif proved.ok and not proved.folded:
        session.say(f"Proved {what}: every byte is what today's code writes.")
    elif not proved.divergences:
        done = f"{proved.causes - proved.folded:,} of them were executed again, to the same bytes"
        session.say(f"Read {what}: {done}; {proved.folded:,} were only folded.")
    else:
        found = counted(len(proved.divergences) + proved.left, "divergence")
        session.say(f"{found} in {what}:", style="red")
        session.lines(divergence_lines(proved.divergences, proved.left))
        wake = next((one.wake for one in proved.divergences if one.wake), "")
        if wake:
            session.note(f"See that wake step by step with `wakelog replay {wake[:8]}`.")
    if proved.erased:
        session.say(f"{erased_text(proved.erased)}.")
    if proved.dropped_replies:
        kept = "text, calls and tokens are there"
        session.say(f"Of {proved.dropped_replies:,} of the replies the bytes were dropped; {kept}.")
    if proved.newer:
        session.say(f"{newer_text(proved.newer).capitalize()}; prove them with that one.")
    if is_last and proved.ok:
        session.say(safe(proved.told))
    session.say(f"digest {proved.digest}")


# --------------------------------------------------------------------- a history that proves itself


@command(
    "export-history",
    example=("3fk2 --out histories/sink.jsonl", "--all --redact --out histories/home.jsonl"),
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
        raise invalid("it is not said whether one wake or all of it", instead)
    if session.as_json and out is None:
        raise invalid("--json tells what was written", "name a file with --out")
    services = session.reading().services
    if is_all and not services.journal.tail().n:
        because = f"there is nothing in {session.path} yet"
        raise Refused("not_a_log", because=because, instead="name a home with --home")
    history = histories.take_history(
        services.journal, services.agents, _run_key(session, run) if run else ""
    )
    _check(history)
    if redact:
        history = redacted(history)
        _check(history)
    _write(session, history, out)
    if out is not None and not redact:
        session.keep_copy("history", out)


def _run_key(session: Session, run: str) -> str:
    found = [(one.run_key, "") for one in session.reading().views.all(VIEW)]
    return pick(run, found, "wake", "unknown_wake", see="see `wakelog wakes`")


def _check(history: "History") -> None:
    """A history that does not prove would fail in CI for ever."""
    proved = histories.prove_history(history)
    if not proved.ok:
        differs = f"{len(proved.divergences)} divergences"
        told = differs if proved.divergences else newer_text(proved.newer)
        because = f"this history does not prove: {told}"
        raise Refused("not_a_log", because=because, instead="see `wakelog prove`")


def _write(session: Session, history: "History", out: Path | None) -> None:
    told = "".join(histories.history_lines(history))
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
