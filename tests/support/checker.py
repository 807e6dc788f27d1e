"""Looks through homes for what the laws of DESIGN 2 forbid, as a stranger to the code.

    python -m tests.support.checker [--settled] [--backup] [--prove] HOME|HISTORY...

Each finding is one line: the law, where, what. Exit status 1 if there is any. ``--settled``:
nothing is under way in the home any more, so nothing may be left undone; ``--backup``: it is a
copy that was made while others wrote; ``--prove``: ask `wakelog prove` for its digest, too.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.support.checking import (
    attention,
    crossing,
    erasing,
    items,
    keys,
    learning,
    payloads,
    shape,
    two_tasks,
    waking,
    watching,
)
from tests.support.checking.logs import Finding, Home, opened

CHECKS: tuple[Callable[[Home], Iterator[Finding]], ...] = (
    shape.check,
    payloads.check,
    payloads.check_secrets,
    keys.check,
    waking.check,
    attention.check,
    watching.check,
    items.check,
    crossing.check,
    crossing.check_days,
    two_tasks.check,
    learning.check,
)
CHECKS_ERASED = (shape.check, erasing.check, payloads.check, payloads.check_secrets)
"""Of a home in which rows were erased: what others say of these cannot be counted any more."""
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError)
SHOWN_MAX = 40


def findings(home: Path, *, is_settled: bool = False, is_backup: bool = False) -> list[Finding]:
    """All that is wrong with a home."""
    return found_in(opened(home, is_settled=is_settled, is_backup=is_backup))


def found_in(home: Home) -> list[Finding]:
    """All that is wrong with a home that was read."""
    found: list[Finding] = []
    for check in CHECKS_ERASED if erasing.is_erased(home) else CHECKS:
        try:
            found += check(home)
        except UNREADABLE as error:  # a row lacks what its tag promises
            told = f"{check.__module__.rpartition('.')[2]} stops at {error!r}"
            found.append(Finding(0, home.folder.name, told))
    return list(dict.fromkeys(found))


def proved(home: Path) -> str:
    """The digest that `wakelog prove` prints for a home."""
    ran = [sys.executable, "-m", "adapters.cli.main", "--home", str(home), "--json", "prove"]
    done = subprocess.run(
        ran, cwd=Path(__file__).parents[2], capture_output=True, encoding="utf-8", check=False
    )
    try:
        return str(json.loads(done.stdout)["digest"])
    except (ValueError, KeyError):
        return f"none: {done.stderr.strip() or done.stdout.strip()}"


def told(folder: Path, given: argparse.Namespace) -> int:
    """Print what is wrong with one home; how much that is."""
    home = opened(folder, is_settled=given.settled, is_backup=given.backup)
    found = found_in(home)
    digest = shape.log_digest(home)
    if given.prove and (of_prove := proved(folder)) != digest:
        found.append(Finding(6, folder.name, f"the digest is {digest}, that of prove {of_prove}"))
    counts = " and ".join(f"{len(log.raw)} rows in {len(log.appends)} appends" for log in home.logs)
    say(f"{folder}: {counts}: {len(found)} findings; digest {digest}")
    for one in found[:SHOWN_MAX]:
        say(f"    {one}")
    if len(found) > SHOWN_MAX:
        say(f"    and {len(found) - SHOWN_MAX} more")
    return len(found)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.support.checker")
    parser.add_argument("homes", nargs="+", type=Path, metavar="HOME")
    parser.add_argument("--settled", action="store_true", help="nothing is under way any more")
    parser.add_argument("--backup", action="store_true", help="copied while others wrote")
    parser.add_argument("--prove", action="store_true", help="compare `wakelog prove`'s digest")
    given = parser.parse_args(arguments)
    return 1 if sum([told(home, given) for home in given.homes]) else 0


if __name__ == "__main__":
    raise SystemExit(main())
