"""A query in a process of its own, which ends when its time is over and gets no more memory.

DuckDB looks between its steps whether it was told to stop, and counts what it keeps itself. All of
`repeat('x', 2000000000)` is one step, and its text is not counted. So what a person asks runs in a
child, `adapters.analytics.queries`, whose time and memory the system bounds."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, NamedTuple

from adapters.analytics.answers import QueryAnswer
from adapters.wiring import Home
from domain.errors import Remedy, WakelogError

CHILD = "adapters.analytics.queries"
PIECE = 1024 * 1024  # bytes of a file


class QueryAsked(NamedTuple):
    """What a child is to answer. `form`: one of `BINARY`, written to `path`; empty: rows."""

    home: str
    environ: dict[str, str]
    query: str
    seconds: float
    form: str = ""
    path: str = ""


class QueryError(NamedTuple):
    """Why a child has no answer."""

    kind: type[WakelogError]
    code: str
    because: str
    instead: str | Remedy


def query_apart(home: Home, environ: Mapping[str, str], query: str, seconds: float) -> QueryAnswer:
    """Ask a home's analytics in one statement of SQL; as `queries.run_query`, locked. Raises
    Refused as that does, or with code ``timed_out`` or ``out_of_memory``."""
    parts = _answered(QueryAsked(home.place.name, dict(environ), query, seconds))
    return QueryAnswer(next(parts), parts)


def file_apart(
    home: Home, environ: Mapping[str, str], query: str, seconds: float, form: str
) -> Iterator[bytes]:
    """The same as a file, as `queries.write_answer`, piece by piece."""
    with TemporaryDirectory(prefix="wakelog-") as folder:
        path = Path(folder) / "answer"
        asked = QueryAsked(home.place.name, dict(environ), query, seconds, form, str(path))
        for _ in _answered(asked):
            pass  # it says nothing: the answer is the file
        with path.open("rb") as file:
            yield from iter(partial(file.read, PIECE), b"")


def _answered(asked: QueryAsked) -> Iterator[Any]:
    """What the child says, until it ends; it is ended where nobody listens any more."""
    with TemporaryFile() as errors:
        child = _begun(errors)
        try:
            yield from _heard(child, asked)
            if status := child.wait():
                errors.seek(0)
                raise _ended(status, asked.seconds, errors.read().decode(errors="replace"))
        finally:
            child.kill()
            child.communicate()


def _heard(child: "subprocess.Popen[bytes]", asked: QueryAsked) -> Iterator[Any]:
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(BrokenPipeError):  # it has ended already, which its status tells
        child.stdin.write(pickle.dumps(tuple(asked)))
        child.stdin.flush()  # and it stays open: the child ends where this process does
    while (part := _part(child.stdout)) is not None:
        if isinstance(part, QueryError):
            raise part.kind(part.code, because=part.because, instead=part.instead)
        yield part


def _begun(errors: IO[bytes]) -> "subprocess.Popen[bytes]":
    """The child: it sees the modules that this process sees, but none of the working folder."""
    paths, root = list(filter(None, sys.path)), str(Path(__file__).parents[2])
    if root not in paths:
        paths.insert(0, root)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,  # Ctrl-C is for the parent, which ends it
    )


def _part(said: IO[bytes]) -> Any:
    """The next thing that it says; None where it has ended."""
    try:
        return pickle.load(said)
    except (EOFError, pickle.UnpicklingError):
        return None


def _ended(status: int, seconds: float, errors: str) -> Exception:
    """Why a child ended without a word of its own."""
    from adapters.analytics.query_limits import out_of_memory, timed_out

    if status == -signal.SIGALRM:
        return timed_out(seconds)
    if status in (-signal.SIGKILL, -signal.SIGABRT):  # by the system, or for want of what it wants
        return out_of_memory()
    return RuntimeError(f"the process of a query ended with status {status}: {errors}")
