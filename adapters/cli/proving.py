"""`wakelog prove`: today's code on yesterday's causes, every byte compared."""

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.reading_text import counted
from adapters.cli.shared import Session, json_option, safe
from adapters.cli.upkeep import NO_HOME, progress_bar
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.proving import Proved
    from adapters.wiring import Home
    from replay.divergence import Divergence

SHOWN_MAX = 20  # divergences; --json has all
DIFF_SHOWN = 12  # lines of a difference
WIDTH_MAX = 160
_POSITION = re.compile(r"(journal|agent):(?:[a-z0-9]{1,32}:)?([0-9]{1,12})")


@click.command(
    "prove",
    epilog="Examples: wakelog prove; wakelog prove --anchor /mnt/other/anchors.jsonl; "
    "wakelog prove --since agent:r1:5000; wakelog --json prove > proof.json",
)
@click.option(
    "--since", multiple=True, metavar="POSITION", help="Only fold what came before: agent:r1:42."
)
@click.option("--all-rules", is_flag=True, help="Execute epochs of older rules, too.")
@click.option(
    "--anchor",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Check the digests kept in FILE, then add today's.",
)
@click.option("--no-views", is_flag=True, help="Do not fold the views anew.")
@json_option
@click.pass_obj
def prove_command(
    session: Session,
    since: tuple[str, ...],
    anchor: Path | None,
    *,
    all_rules: bool,
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
    from adapters import anchors
    from adapters.proving import prove_home

    home = session.opened()
    kept = anchors.read(anchor) if anchor else []
    positions = dict(_position(one) for one in since)
    with progress_bar(session, home, "Proving") as progress:
        proved = prove_home(
            home,
            progress,
            since=positions,
            anchors=anchors.known(kept),
            is_every_epoch=all_rules,
        )
    if proved.ok and not no_views:
        proved = _with_views(home, proved)
    is_new = bool(anchor and proved.ok and proved.rows) and anchors.add(
        anchor or Path(), proved.digest, proved.heads
    )
    if session.as_json:
        session.document(proved.document())
    elif not proved.rows and proved.ok:
        session.say(NO_HOME.format(home.path) if not home.exists else "Both logs are empty.")
    else:
        _tell(session, proved)
        if anchor:
            session.say(f"anchors: {len(kept)} checked" + f", one more in {anchor}" * is_new)
    raise SystemExit(0 if proved.ok else 1)


def _with_views(home: "Home", proved: "Proved") -> "Proved":
    from msgspec.structs import replace

    from adapters.proving_views import differing_views

    return replace(proved, divergences=tuple(differing_views(home)))


def _position(given: str) -> tuple[str, int]:
    found = _POSITION.fullmatch(given)
    if found is None:
        because = f"{given!r} is no position"
        raise Refused("invalid_value", because=because, instead="write it like agent:r1:42")
    return found[1], int(found[2])


def _tell(session: Session, proved: "Proved") -> None:
    what = f"{counted(proved.rows, 'row')} of {counted(proved.causes, 'cause')} and "
    what += f"{counted(proved.wakes, 'wake')} in {proved.seconds:.2f} s"
    if proved.ok:
        session.say(f"Proved {what}: every byte is what today's code writes.")
    else:
        from adapters.proving import by_class

        found = counted(len(proved.divergences) + proved.left, "divergence")
        session.say(f"{found} in {what}:", style="red")
        for one in proved.divergences[:SHOWN_MAX]:
            for line in report(one):
                session.say(safe(line))
        left = len(proved.divergences) - SHOWN_MAX
        if left > 0:
            session.say(f"and {left + proved.left} more; --json has {len(proved.divergences)}")
        counts = by_class(proved.divergences)
        session.say(", ".join(f"{kind_of}: {count}" for kind_of, count in counts.items()))
    session.say(f"digest {proved.digest}")


def report(one: "Divergence") -> list[str]:
    """A divergence as a person reads it: where, of which class, what led there, what differs."""
    from adapters.proving import diff

    row = f" of {one.stream}, version {one.version}" if one.version else f" of {one.stream}"
    lines = [f"{one.position}  {one.kind_of}: {one.path}{row if one.stream else ''}"]
    about = [f"wake {one.wake[:8]}" + f" row {one.step}" * bool(one.step)] if one.wake else []
    about += [f"caused by {one.cause}"] if one.cause else []
    about += [f"led there by {one.upstream}"] if one.upstream not in ("", one.position) else []
    lines += [f"    {', '.join(about)}"] if about else []
    changed = diff(one)
    lines += [f"    {line}" for line in _narrow(changed[:DIFF_SHOWN])]
    if len(changed) > DIFF_SHOWN:
        lines.append(f"    ... {len(changed) - DIFF_SHOWN} more lines; --json has them all")
    if not changed:
        expected, actual = differing(one.expected, one.actual)
        lines += [f"    expected  {expected or 'nothing'}", f"    actual    {actual or 'nothing'}"]
    return lines


def _narrow(lines: list[str]) -> list[str]:
    """Long lines cut to where a removed one and its successor differ."""
    narrow = [_cut(line, WIDTH_MAX) for line in lines]
    for nth, (one, other) in enumerate(pairwise(lines)):
        if one[:1] == "-" and other[:1] == "+" and max(len(one), len(other)) > WIDTH_MAX:
            left, right = differing(one[1:], other[1:], width=WIDTH_MAX - 1)
            narrow[nth : nth + 2] = [f"-{left}", f"+{right}"]
    return narrow


def differing(expected: str, actual: str, *, around: int = 40, width: int = 160) -> tuple[str, str]:
    """The parts in which two texts differ, with a little of what stands around them.

    >>> differing("a" * 90 + "1" + "b" * 90, "a" * 90 + "2" + "b" * 90, around=3)
    ('…aaa1bbb…', '…aaa2bbb…')
    """
    if not expected or not actual:
        return _cut(expected, width), _cut(actual, width)
    shorter = min(len(expected), len(actual))
    begin = next((at for at in range(shorter) if expected[at] != actual[at]), shorter)
    end = 0
    while end < shorter - begin and expected[-1 - end] == actual[-1 - end]:  # bounded by them
        end += 1
    first, last = max(0, begin - around), max(0, end - around)
    parts = (text[first : len(text) - last] for text in (expected, actual))
    head, tail = ("…" if first else ""), ("…" if last else "")
    one, other = (f"{head}{_cut(part, width)}{tail}" for part in parts)
    return one, other


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
