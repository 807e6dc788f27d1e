"""A home is proved, as far as a person asks, and histories are taken that prove themselves."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from adapters.documents.results import ExportedHistory
from adapters.home.files import check_no_database, close_to_others
from adapters.proof import anchors, histories
from adapters.proof.incremental import forget, prove_remembering
from adapters.proof.prove import Proved, prove_home, with_decoders
from adapters.proof.prove_views import with_views
from adapters.proof.redact import redacted
from adapters.runtime.watcher import lag
from adapters.text.common import safe
from adapters.text.proof import newer_text
from adapters.usecases.resolve import pick
from domain.errors import Refused, invalid
from projections.wakes import VIEW
from replay.appends import appends
from replay.invariants import Invariants

if TYPE_CHECKING:
    from adapters.runtime.services import Services
    from adapters.store.log import LogProgress
    from adapters.wiring import Home

_POSITION = re.compile(r"(journal|agent):(?:[a-z0-9]{1,32}:)?([0-9]{1,12})")


class AskedProof(NamedTuple):
    """What a proof found, how many anchors were checked, and whether there is one more."""

    proved: Proved
    anchors: int
    is_new_anchor: bool


def prove_asked(  # noqa: PLR0913  one for each option
    home: "Home",
    environ: Mapping[str, str],
    progress: "LogProgress | None" = None,
    *,
    since: Sequence[str] = (),
    anchor: Path | None = None,
    is_new_anchor: bool = False,
    is_every_epoch: bool = False,
    has_views: bool = True,
    decoders: Sequence[str] = (),
) -> AskedProof:
    """Re-execute both logs and compare every byte.

    Args:
        home: Its views as they are.
        environ: Says where it is remembered that it proves.
        progress: Is told how far it has come.
        since: Positions before which all is only folded; ``last``: what is new is executed.
        anchor: A file of digests that are checked, to which today's is added.
        is_new_anchor: It is not there yet.
        is_every_epoch: Epochs of older rules are executed, too.
        has_views: Stored views are compared with what the logs make.
        decoders: Extensions whose code reads the replies of their models again.

    Raises:
        Refused: Code ``invalid_value``, or the file of anchors cannot be used.
    """
    if is_new_anchor and anchor is None:
        raise invalid("there is no anchor file to begin", "name it with --anchor FILE")
    kept = anchors.read_anchors(anchor, is_new=is_new_anchor) if anchor else []
    is_last = "last" in since
    if is_last and (len(since) > 1 or is_every_epoch or decoders):
        because = "--since last goes with no other --since, --all-rules or --decoder"
        raise invalid(because, "leave one of them out")
    positions = {} if is_last else dict(_position(one) for one in since)
    known = anchors.known_digests(kept)
    if positions or is_every_epoch or decoders:
        proved = prove_home(
            home, progress, since=positions, anchors=known, is_every_epoch=is_every_epoch,
            decoders=with_decoders(decoders),
        )  # fmt: skip
        if not proved.ok:
            forget(home, environ)
    else:
        proved = prove_remembering(home, environ, progress, is_since_last=is_last, anchors=known)
    if proved.ok and has_views and not is_last:
        proved = with_views(home, proved)
    is_new = bool(anchor and proved.ok and proved.rows) and anchors.add_anchor(
        anchor or Path(), proved.digest, proved.heads
    )
    return AskedProof(proved, len(kept), is_new)


def _position(given: str) -> tuple[str, int]:
    found = _POSITION.fullmatch(given)
    if found is None:
        raise invalid(f"{given!r} is no position", "write it like agent:r1:42")
    return found[1], int(found[2])


def broken_laws(services: "Services") -> list[str]:
    """What the rows of both logs of one machine say against the laws of DESIGN 2, where nothing is
    under way: after a recovery."""
    laws, journal = Invariants(), services.journal
    found = [
        told
        for log in (services.agents, journal)  # an intent is there before its effect
        for one in appends(log.rows())
        for told in laws.take(log.name, one)
    ]
    return [*found, *laws.ended(journal.tail().n - lag(services))]


def history_asked(
    home: "Home", run: str = "", *, is_whole: bool = False, is_redacted: bool = False
) -> histories.History:
    """What proves itself of a wake, or of the whole home. Raises Refused: it is not said which of
    both, there is no such wake, nothing is there, or it does not prove."""
    if bool(run) == is_whole:
        instead = "say `wakelog export-history RUN`, or --all"
        raise invalid("it is not said whether one wake or all of it", instead)
    services = home.services
    if is_whole and not services.journal.tail().n:
        because = f"there is nothing in {home.path} yet"
        raise Refused("not_a_log", because=because, instead="name a home with --home")
    if run:
        found = [(one.run_key, "") for one in home.views.all(VIEW)]
        run = pick(run, found, "wake", "unknown_wake", see="see `wakelog wakes`")
    history = histories.take_history(services.journal, services.agents, run)
    _check(history)
    if is_redacted:
        history = redacted(history)
        _check(history)
    return history


def _check(history: histories.History) -> None:
    """A history that does not prove would fail in CI for ever."""
    proved = histories.prove_history(history)
    if not proved.ok:
        differs = f"{len(proved.divergences)} divergences"
        told = differs if proved.divergences else newer_text(proved.newer)
        because = f"this history does not prove: {told}"
        raise Refused("not_a_log", because=because, instead="see `wakelog prove`")


def save_history(history: histories.History, out: Path) -> ExportedHistory:
    """Write a history to a file. Raises Refused, code ``read_only``."""
    told = "".join(histories.history_lines(history))
    check_no_database(out)
    try:
        out.write_text(told, encoding="utf-8")
        close_to_others([out])
    except OSError as error:
        because = f"{out} cannot be written: {error.strerror}"
        raise Refused("read_only", because=because, instead="name another file") from None
    return ExportedHistory(
        file=safe(str(out)),
        run_key=history.run or None,
        rows=sum(map(len, history.rows.values())),
        payloads=len(history.payloads),
        bytes=len(told.encode()),
        digest=history.digest,
        redacted=history.is_redacted,
    )
