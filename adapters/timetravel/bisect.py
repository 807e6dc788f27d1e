"""Questions about a world: SQL, a text in the report, or a Python expression (`wakelog bisect`).

The world is the document of `wakelog at`. SQL sees it as tables of a DuckDB in memory that can
read no file. An expression is code that the person who asks has typed, and it runs as such: the
few names that it has keep accidents away, and nothing else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from adapters.timetravel.logs_at import Past
from domain.errors import Refused, invalid
from domain.journal.task import FIELDS
from domain.text import fold
from projections.wakes import WakeDocument
from replay import bisect, world_at
from replay.world_at import WorldThen

Document = dict[str, Any]
Predicate = Callable[[Document], bool]

_KINDS = {"choice": "", "minutes": ":BIGINT", "day": ":DATE", "language": "", "rule": ""}
_FIELDS = " ".join(one.key + _KINDS[one.kind] for one in FIELDS)
_COLUMNS = {
    "tasks": f"id title status {_FIELDS} category labels:VARCHAR[] description deleted:BOOLEAN",
    "items": "task_id id title checked:BOOLEAN checked_by archived:BOOLEAN",
    "notes": "task_id id kind text at:TIMESTAMP",
    "links": "task_id relation direction other_id",
    "agents": "id name task_id mode lifecycle run_status failures:BIGINT wakes:BIGINT stale:BOOLEAN"
    " last_outcome goal",
    "reports": "agent_id run_key tldr one_liner content",
    "observations": "agent_id run_key at:TIMESTAMP text priority category",
    "proposals": "ref task_id agent_id run_key tool summary status created_at:TIMESTAMP",
    "wakes": "run_key agent_id task_id state reason queued_at:TIMESTAMP due_at:TIMESTAMP",
}
TABLES: dict[str, dict[str, str]] = {
    table: {
        name: kind or "VARCHAR" for name, _, kind in (one.partition(":") for one in row.split())
    }
    for table, row in _COLUMNS.items()
}
"""Tables of a world and their columns."""

_BUILTINS = {
    one.__name__: one
    for one in (
        abs, all, any, bool, dict, enumerate, float, int, len, list, max, min, range, repr,
        reversed, round, set, sorted, str, sum, tuple, zip,
    )
}  # fmt: skip


def text_in_report(wanted: str) -> Predicate:
    """Whether the agent's report holds a text; case and the width of spaces do not matter."""
    needle = fold(wanted)
    if not needle:
        raise invalid("the text to look for is empty", "write a word of the report")

    def holds(document: Document) -> bool:
        reports = [agent["report"] for agent in document["agents"] if agent["report"]]
        fields = product(reports, ("one_liner", "tldr", "content"))
        return any(needle in fold(str(report[field])) for report, field in fields)

    return holds


# ------------------------------------------------------------------------------------------- SQL


def sql(query: str) -> Predicate:
    """Whether the first value of a query's first row is true; no row, NULL and 0 are false. Raises
    Refused, code ``invalid_value``: the query is empty or, when it is asked, fails."""
    import duckdb

    if not query.strip():
        raise invalid("the query is empty", "write SELECT ... FROM tasks")
    database: Any = duckdb.connect(":memory:", config={"enable_external_access": "false"})
    for name, columns in TABLES.items():
        defined = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
        database.execute(f'CREATE TABLE "{name}" ({defined})')  # names and types stand above

    def holds(document: Document) -> bool:
        try:
            for name in TABLES:
                _fill(database, name, list(table_rows(document, name)))
            asked = database.execute(query)  # None where it is but a comment
            found = asked.fetchone() if asked else None
        except duckdb.Error as error:
            because = f"the query fails: {str(error).strip().splitlines()[0]}"
            raise invalid(because, _tables(query)) from None
        return bool(found and found[0])

    return holds


def _tables(query: str) -> str:
    """What can be asked: the columns of the tables that a query names, else the tables."""
    named = [name for name in TABLES if name in query.lower().replace(",", " ").split()]
    if not named:
        return f"the tables are {', '.join(TABLES)}"
    return "; ".join(f"{name} has {', '.join(TABLES[name])}" for name in named)


def _fill(database: Any, name: str, found: list[Sequence[Any]]) -> None:
    """Give a table the rows of one world, in the place of another one's."""
    database.execute(f'DELETE FROM "{name}"')
    if found:
        marks = ", ".join("?" for _ in TABLES[name])
        database.executemany(f'INSERT INTO "{name}" VALUES ({marks})', found)


def table_rows(document: Document, table: str) -> Iterator[Sequence[Any]]:
    """A world's rows of one of the `TABLES`."""
    for one in _elements(document, table):
        yield [one.get(column) for column in TABLES[table]]


def _elements(document: Document, table: str) -> Iterator[Document]:
    match table:
        case "tasks" | "agents" | "proposals" | "wakes":
            yield from document[table]
        case "items" | "notes":
            for task in document["tasks"]:
                yield from ({**one, "task_id": task["id"]} for one in task[table])
        case "links":
            for task in document["tasks"]:
                for one in task["links"]:
                    yield {**one, "task_id": task["id"], "other_id": one["task_id"]}
        case "reports":
            for agent in document["agents"]:
                if agent["report"]:
                    yield {**agent["report"], "agent_id": agent["id"]}
        case _:
            for agent in document["agents"]:
                yield from ({**one, "agent_id": agent["id"]} for one in agent["journal"])


# ---------------------------------------------------------------------------------------- Python


class AttributeDict(dict[str, Any]):
    """An object of JSON whose members are attributes too: ``task.status``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no {name!r} here; there are {', '.join(self)}") from None


def python(expression: str) -> Predicate:
    """Whether an expression is true of the world. It sees ``task``, ``agent``, ``report`` and
    ``journal`` of the first task, the lists ``tasks``, ``agents``, ``proposals`` and ``wakes``, and
    the builtins that compute. What is missing is None. It is the code of whoever typed it: no
    sandbox. Raises Refused, code ``invalid_value``: it is no expression, or it fails when it is
    asked."""
    try:
        code = compile(expression.strip(), "<predicate>", "eval")
    except (SyntaxError, ValueError) as error:
        raise _no_answer(expression, error) from None

    def holds(document: Document) -> bool:
        known = {"__builtins__": _BUILTINS, **names(document)}
        try:
            return bool(eval(code, known))
        except Exception as error:  # noqa: BLE001  it is somebody's own code: it may raise anything
            raise _no_answer(expression, error) from None

    return holds


def names(document: Document) -> dict[str, Any]:
    """What an expression sees of a world."""
    world = _named(document)
    task = next(iter(world["tasks"]), None)
    own = [one for one in world["agents"] if task and one["id"] == task["agent_id"]]
    agent = next(iter(own or world["agents"]), None)
    return {
        **{name: world[name] for name in ("tasks", "agents", "proposals", "wakes")},
        "world": world,
        "task": task,
        "agent": agent,
        "report": agent["report"] if agent else None,
        "journal": agent["journal"] if agent else [],
    }


def _named(value: Any) -> Any:
    match value:
        case dict():
            return AttributeDict({name: _named(one) for name, one in value.items()})
        case list():
            return [_named(one) for one in value]
        case _:
            return value


def _no_answer(expression: str, error: Exception) -> Refused:
    because = f"the expression {expression!r} fails: {type(error).__name__}: {error}"
    return invalid(because, """write one such as report is not None and "urgent" in report.tldr""")


# ---------------------------------------------------------------------------------------- bisection


def world_after(past: Past, wake: WakeDocument, names: Mapping[str, str]) -> WorldThen:
    """The world of a wake's task right after the wake; `names` are those of `at`."""
    last = past.agents.rows_of(f"wake:{wake.key}@{wake.replica}")[-1].n
    where = past.run(wake.key, wake.replica, 0, last).where
    about = wake.task_id or f"{world_at.UNIT}{wake.agent_id}"
    return world_at.world_document(*past.worlds(where, wake.replica), [about], names)


def first_since(count: int, holds: Callable[[int], bool]) -> int:
    """The first of so many wakes since which it holds; 0: not after the last one."""
    return bisect.bisect(count, holds).since
