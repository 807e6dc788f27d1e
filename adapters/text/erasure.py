"""What `wakelog erase` says for a person."""

from collections import Counter
from collections.abc import Iterator, Sequence

from adapters.documents.results import ErasedDetails, ErasureLine
from adapters.text.common import counted, local_time, safe
from domain.erasure import part_of
from domain.text import cut

IN_DATABASE = (
    "Not in reach: what the files of tables still hold, until `wakelog database scrub`; write-ahead"
    " logs, standbys and dumps; what other machines keep to answer questions, until they are asked."
)
MENTIONS_TOLD = 10
TEXT_TOLD = 60  # characters


def plan_lines(
    plan: ErasedDetails, *, is_derived: bool = False, is_database: bool = False
) -> Iterator[str]:
    """What an erasure takes, what stays all the same, and what is not in reach. `is_derived`: what
    speaks of it is to go, too; `is_database`: the home is in one."""
    kind, _, _ = plan.unit.partition(":")
    what = {"note": "note of", "block": "block of"}.get(kind, kind)
    told = f"{counted(plan.rows, 'row')} of the logs with {counted(plan.wakes, 'wake')}"
    yield safe(f'The {what} "{plan.title}": {told}, {counted(plan.payloads, "longer text")}.')
    for one in plan.mentions[:MENTIONS_TOLD]:
        said = cut(one.text, length_max=TEXT_TOLD)
        whose = f'"{one.about}"' if one.about else one.stream.partition(":")[0]
        yield safe(f'Stays, as {whose} says it ({one.log} {one.n}): "{said}"')
    if plan.derived:
        counts = Counter(one.partition(":")[0] for one in plan.derived)
        which = " and ".join(counted(count, kind) for kind, count in sorted(counts.items()))
        yield f"Of these {which} go, too." if is_derived else f"--derived takes {which} of these."
    if len(plan.mentions) > MENTIONS_TOLD:
        yield f"and in {len(plan.mentions) - MENTIONS_TOLD} more places; --json has all."
    if plan.forks:
        yield safe(f"Forks that hold it go, too: {', '.join(plan.forks)}.")
    for model, count in sorted(plan.sent.items()):
        yield safe(f"Not in reach: {model} was sent {counted(count, 'prompt')}.")
    for copy in plan.copies:
        yield safe(f"Not in reach: {copy.path}, a {copy.what} of {copy.at[:10]}.")
    yield "Not in reach: other backups and exports, and files that tasks were imported from."
    if is_database:
        yield IN_DATABASE


def erased_lines(did: ErasedDetails) -> Iterator[str]:
    """What an erasure did, and what was found when it was done."""
    rows = f"{counted(did.rows, 'row')} became marks, {counted(did.payloads, 'longer text')} went"
    yield f"Erased: {rows}."
    where, texts = searched_text(did.files, did.tables), counted(did.texts, "text")
    found = f"still there in {', '.join(did.left)}" if did.left else "none found"
    yield safe(f"Searched {where} for {texts}: {found}.")
    if did.tables:
        yield IN_DATABASE


def searched_text(files: int, tables: int) -> str:
    """Where it was looked for texts that were erased.

    >>> searched_text(9, 0), searched_text(1, 8)
    ('9 files', '8 tables and 1 file')
    """
    told = counted(files, "file")
    return f"{counted(tables, 'table')} and {told}" if tables else told


def erasure_lines(listed: Sequence[ErasureLine], zone: str) -> Iterator[str]:
    """What was erased, a line each."""
    if not listed:
        yield "Nothing was erased here."
    for one in listed:
        name = part_of(one.unit.partition(":")[2])[:8]
        took = f"{counted(one.rows, 'row')}, {counted(one.payloads, 'longer text')}"
        yield f"{local_time(one.at, zone)}  {one.what} {name}: {took}"
