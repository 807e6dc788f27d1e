"""How well the offline model understands notes: precision and recall over `tests/data/notes`.

    .venv/bin/python tests/bench/rules_quality.py [--show KIND | --show all]

By kind of proposal and by language. Three cases in ten, by the hash of their text, stand apart:
they are counted and never shown, so no rule is written for one of them. So are sixty that were
kept back until the rules were done: nobody who wrote a rule had seen one. Sixty fresh ones were
written after that by somebody who had seen no rule.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.notes import KINDS, Case, Marks, cases, marks, precision_and_recall, proposed

Scored = tuple[Case, dict[str, Marks]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", choices=[*KINDS, "all"], help="print the open cases not right")
    asked = parser.parse_args()
    known = list(cases())
    begun = process_time()
    scored = [(case, marks(case, proposed(case))) for case in known]
    spent = process_time() - begun
    for name in ("open", "counted only", "kept back", "fresh"):
        if part := [one for one in scored if _part_of(one[0]) == name]:
            _print_part(name, part)
    print(f"{len(scored)} notes, {1000 * spent / len(scored):.1f} ms of processor time each")
    if asked.show:
        _show(scored, KINDS if asked.show == "all" else (asked.show,))


def _part_of(case: Case) -> str:
    if case.is_fresh:
        return "fresh"
    if case.is_kept_back:
        return "kept back"
    return "counted only" if case.is_counted_only else "open"


def _print_part(name: str, scored: Sequence[Scored]) -> None:
    print(f"{name}: {len(scored)} notes")
    in_one = {tag: [one for one in scored if one[0].language == tag] for tag in ("en", "de")}
    columns = [("all", scored), *in_one.items()]
    print(f"  {'':10}" + "".join(f"{told:>7}   P    R " for told, _ in columns))
    for kind in (*KINDS, "all"):
        cells = [_cell(of_column, kind) for _, of_column in columns]
        print(f"  {kind:10}" + "".join(cells))
    quiet = [told for case, told in scored if not case.want]
    loud = sum(any(one.wrong for one in told.values()) for told in quiet)
    print(f"  of {len(quiet)} notes that lead to nothing, {loud} led to something\n")


def _cell(scored: Sequence[Scored], kind: str) -> str:
    kinds = KINDS if kind == "all" else (kind,)
    of_kinds = [told[one] for _, told in scored for one in kinds]
    precision, recall, wanted = precision_and_recall(of_kinds)
    return f"{wanted:7}  {precision:.2f} {recall:.2f}"


def _show(scored: Sequence[Scored], kinds: Sequence[str]) -> None:
    by_text: defaultdict[str, list[str]] = defaultdict(list)
    for case, told in scored:
        for kind in kinds if _part_of(case) == "open" else ():
            by_text[case.text] += [f"wrong {kind}: {one}" for one in told[kind].wrong]
            by_text[case.text] += [f"missed {kind}: {one}" for one in told[kind].missed]
    for text, lines in by_text.items():
        if lines:
            print(f"{text.strip()!r}\n    " + "\n    ".join(lines))


if __name__ == "__main__":
    main()
