"""Proof: today's code on yesterday's causes, every byte compared. `wakelog prove`, and
`wakelog export-history`.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command
from adapters.cli.shared import NO_HOME, Session, flag, option
from adapters.proof.histories import history_lines
from adapters.proof.prove import Proved
from adapters.text.common import counted, safe
from adapters.text.proof import divergence_lines, erased_text, newer_text
from adapters.usecases.proving import history_asked, prove_asked, save_history
from domain.errors import invalid

if TYPE_CHECKING:
    pass


@command(
    "prove",
    epilog="Examples: wakelog prove; wakelog prove --anchor /mnt/other/anchors.jsonl, "
    "the first time with --new-anchor; "
    "wakelog prove --since agent:r1:5000; wakelog --json prove > proof.json",
)
@option(
    "--since=POSITION|last",
    "Only fold what came before: agent:r1:42. `last`: execute only what is new since the "
    "last proof of this home; all bytes are hashed again.", multiple=True,
)  # fmt: skip
@flag("--all-rules", "Execute epochs of older rules, too.")
@option(
    "--anchor=FILE", "Check the digests kept in FILE, then add today's.",
    click.Path(dir_okay=False, path_type=Path),
)  # fmt: skip
@option(
    "--decoder decoders=NAME", "Read the replies of this installed package's models again, by its "
    "code.", multiple=True,
)  # fmt: skip
@flag("--new-anchor", "Begin FILE: it is not there yet.")
@flag("--no-views", "Do not fold the views anew.")
def prove_command(
    session: Session, since: tuple[str, ...], anchor: Path | None, decoders: tuple[str, ...], *,
    all_rules: bool, new_anchor: bool, no_views: bool,
) -> None:  # fmt: skip
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
    home, is_last = session.opened(), "last" in since
    with session.home_bar(home, "Proving") as progress:
        proved, checked, is_new = prove_asked(
            home, os.environ, progress, since=since, anchor=anchor, is_new_anchor=new_anchor,
            is_every_epoch=all_rules, has_views=not no_views, decoders=decoders,
        )  # fmt: skip
    if session.as_json:
        session.document(proved.document())
    elif not proved.rows and proved.ok:
        session.say(NO_HOME.format(home.place.name) if not home.exists else "Both logs are empty.")
    else:
        tell_proof(session, proved, is_last=is_last)
        if anchor:
            session.say(f"anchors: {checked} checked" + f", one more in {anchor}" * is_new)
    if proved.ok and proved.folded and not all_rules:
        why = "those up to --since" if since else "those of older rules"
        session.note(f"Only folded: {why}, see `wakelog prove --help`.")
    if is_last or proved.unkept:
        _tell_memory(session, proved)
    raise SystemExit(0 if proved.ok else 1)


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
    if others := proved.undecoded - sum(proved.of_extensions.values()):
        what += f" ({others:,} of the replies of other models not read again)"
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
    for name, count in proved.of_extensions.items():
        session.say(safe(f"NOT PROVED: replies of `{name}`, {count:,}; see --decoder."))
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
@flag("--all is_all", "The whole home, instead of one wake.")
@option(
    "--out=FILE", "Where to; else to the standard output.",
    click.Path(dir_okay=False, path_type=Path),
)  # fmt: skip
@flag("--redact", "Rewrite every text, and record it all anew.")
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
    if session.as_json and out is None:
        raise invalid("--json tells what was written", "name a file with --out")
    history = history_asked(session.reading(), run, is_whole=is_all, is_redacted=redact)
    if out is None:
        click.echo("".join(history_lines(history)), nl=False)
        return
    document = save_history(history, out)
    told = f"Wrote {counted(document.rows, 'row')} to {out}; digest {history.digest}"
    session.tell(document, told)
    if not redact:
        session.keep_copy("history", out)
