"""`wakelog prove`: today's code on yesterday's causes, every byte compared."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.shared import NO_HOME, Session
from adapters.cli.upkeep import progress_bar
from adapters.proof import anchors
from adapters.proof.prove import prove_home
from adapters.proof.prove_views import with_views
from adapters.proof.since_last import forget, prove_remembering
from adapters.text.common import safe
from adapters.text.proof import divergence_lines
from adapters.text.reading import counted
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.proof.prove import Proved

_POSITION = re.compile(r"(journal|agent):(?:[a-z0-9]{1,32}:)?([0-9]{1,12})")


@click.command(
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
@click.pass_obj
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
    led there. Exit status 1: something differs, or a log's end is gone that --anchor knows of.

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
        because = "there is no anchor file to begin"
        raise Refused("invalid_value", because=because, instead="name it with --anchor FILE")
    home = session.opened()
    kept = anchors.read(anchor, is_new=new_anchor) if anchor else []
    is_last = "last" in since
    if is_last and (len(since) > 1 or all_rules):
        because = "--since last goes with no other --since, and not with --all-rules"
        raise Refused("invalid_value", because=because, instead="leave one of them out")
    positions = {} if is_last else dict(_position(one) for one in since)
    known = anchors.known(kept)
    with progress_bar(session, home, "Proving") as progress:
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
    is_new = bool(anchor and proved.ok and proved.rows) and anchors.add(
        anchor or Path(), proved.digest, proved.heads
    )
    if session.as_json:
        session.document(proved.document())
    elif not proved.rows and proved.ok:
        session.say(NO_HOME.format(home.place.name) if not home.exists else "Both logs are empty.")
    else:
        _tell(session, proved, is_last=is_last)
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
        because = f"{given!r} is no position"
        raise Refused("invalid_value", because=because, instead="write it like agent:r1:42")
    return found[1], int(found[2])


def _tell_memory(session: Session, proved: "Proved") -> None:
    """What was remembered, and what is from now on."""
    if proved.why:
        session.note(safe(f"All was executed: {proved.why}."))
    elif proved.remembered_at:
        session.note("Views were not folded anew: `wakelog prove` does that.")
    if proved.unkept:
        session.note(safe(f"This proof is not remembered: {proved.unkept}."))


def _tell(session: Session, proved: "Proved", *, is_last: bool) -> None:
    what = f"{counted(proved.rows, 'row')} of {counted(proved.causes, 'cause')} and "
    what += f"{counted(proved.wakes, 'wake')} in {proved.seconds:.2f} s"
    if proved.undecoded:
        what += f" ({proved.undecoded:,} of the replies of other models not read again)"
    if proved.ok and proved.remembered_at:
        session.say(f"Proved {what}: every byte is as it was, or what today's code writes.")
    elif proved.ok and not proved.folded:
        session.say(f"Proved {what}: every byte is what today's code writes.")
    elif proved.ok:
        done = f"{proved.causes - proved.folded:,} of them were executed again, to the same bytes"
        session.say(f"Read {what}: {done}; {proved.folded:,} were only folded.")
    else:
        found = counted(len(proved.divergences) + proved.left, "divergence")
        session.say(f"{found} in {what}:", style="red")
        session.lines(divergence_lines(proved.divergences, proved.left))
        wake = next((one.wake for one in proved.divergences if one.wake), "")
        if wake:
            session.note(f"See that wake step by step with `wakelog replay {wake[:8]}`.")
    if is_last and proved.ok:
        session.say(safe(proved.told))
    session.say(f"digest {proved.digest}")
