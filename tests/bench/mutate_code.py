"""Plants changes in a copy of the code, one at a time, and asks which ones anything reports.

    .venv/bin/python tests/bench/mutate_code.py [--count 400] [--seed 1] [--since REV] [--keep FILE]
    .venv/bin/python tests/bench/mutate_code.py --again FILE

A change is planted in the core or, every second one, in `adapters/`: a comparison turned round,
`and` for `or`, a number one higher, a text with another letter, a branch never taken, a sort or a
`not` left out. First `tests/histories/*.jsonl` are proved with it. What no history notices is asked
of the fast tests that run the changed line, those first that run few lines, `MOST` at most: a map
of who runs what is made once, with `coverage`; what runs only as its file is loaded is asked of who
runs anything there. A survivor is a change that nobody notices. At the
end each is named with why: what was found where somebody has looked, else whether anything runs
that line at all. Those that do the same whatever stands there count for the first share, and not
for the second.

`--since` draws only in lines that are not as they were at a revision. `--keep` writes each change
(file, function, text of the line, what) and who found it. `--again` plants what was found of such a
file in the code of today, asks who found each first, and everybody else if that one is gone;
`planted.jsonl` is one. It ends with 1 where a change that was found is found no more.
"""

import argparse
import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import coverage

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.simulation.plan import Dice

ROOT = Path(__file__).parents[2]
CORE = ("domain/**/*.py", "replay/*.py", "projections/*.py")
AROUND = ("adapters/**/*.py",)
COPIED_NOT = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "histories-*")
SECONDS = 300  # of the processor, for one change; what does not end is reported, too
AT_ONCE = 2
FIRST = 40  # tests that are asked before others that run the line
MOST = 300  # that are asked: a line that more tests run is asked of those that run the fewest lines
HISTORIES = "histories"
ANY = 0  # any line of a file
PROVE = """
import sys
from pathlib import Path
from adapters.proof import histories
folder = Path(sys.argv[1])
for file in sorted([*folder.glob("*.jsonl"), *folder.glob("recorded/*.jsonl")]):
    proved = histories.prove_history(histories.read_history(file))
    if not proved.ok:
        one = proved.divergences[0]
        print(f"{file.stem}: {one.kind_of}: {one.path}")
        sys.exit(1)
"""
WATCH = """
import os
from pathlib import Path
import coverage
seen = coverage.Coverage(
    data_file=f"{os.environ['WHO_RUNS']}.{os.getpid()}", config_file=False,
    include=["domain/*", "replay/*", "projections/*", "adapters/*", "wakelog/*"],
)
seen.start()
def pytest_runtest_setup(item):
    seen.switch_context(item.nodeid.partition("[")[0])
def pytest_unconfigure():
    seen.stop()
    seen.save()
"""
"""A plugin of pytest: which test runs which lines, those of its fixtures included."""
SHOWN = ("now", "form", "remedies")
REFUSING = ("invalid(", "_too_long(", "Refused(", "limits.once(", "limits.text(", "at_most(")
REFUSED = "what a refused person is told: a history keeps the code only"
SAME = "the same"
"""So begins the reason of a change that does nothing: no row, view or message could differ."""
LOOKED_AT = {  # file, and a piece of the line: why no history can tell, or none does
    ("domain/tools/task_tools.py", "idempotency="): f"{SAME}: words of the contract, for readers",
    ("domain/tools/local.py", "idempotency="): f"{SAME}: words of the contract, for readers",
    ("domain/tools/arguments.py", "The label's id."): f"{SAME}: no model is sent that schema",
    ("domain/journal/task.py", ": Literal["): f"{SAME}: a type that is not read as code runs",
    ("domain/journal/undo.py", "in task.links"): (
        f"{SAME}: three such values are compared with one another, and nothing else"
    ),
    ("domain/wake/task_search.py", "self._n = 0"): f"{SAME}: the first look takes all tasks anyway",
    ("domain/tools/registry.py", 'return "immediate"'): (
        f"{SAME}: what is not local or deferred is carried out at once"
    ),
    ("domain/wake/tool_call.py", "the task's category "): (
        f"{SAME}: a second look, as a wake begins in an allowed category only"
    ),
    ("domain/wake/reading.py", "hidden: int = 0"): f"{SAME}: whoever makes one gives it",
    ("domain/wake/wake.py", "ToolStatus = Literal"): f"{SAME}: a status that nothing writes",
    ("domain/wake/wake.py", 'phase: Phase = "absent"'): (
        f"{SAME}: nothing asks for that phase by its name"
    ),
    ("domain/wake/reading.py", 'status: str = "OPEN"'): f"{SAME}: whoever makes one gives it",
    ("domain/tools/local.py", "if isinstance(given, str)"): (
        f"{SAME}: texts are made objects before, when arguments are decoded"
    ),
    ("domain/agent/wake_queue.py", "alert.last_outcome"): (
        "what a person is told: views and commands, no row"
    ),
    ("domain/agent/wake_queue.py", "alert.waiting or alert.queued"): (
        "what a person is told: views and commands, no row"
    ),
    ("domain/agent/deciders.py", "TOKEN_FORMS ="): REFUSED,
    (
        "domain/append/notification_batch.py",
        "n=rows[0].n",
    ): f"{SAME}: all rows of an append have its number",
    ("domain/wake/context.py", "if room <= 0"): f"{SAME}: the prompt cuts what is read too much",
    ("domain/tools/base.py", ": Literal["): f"{SAME}: a type that is not read as code runs",
    ("domain/changes/change_set.py", "position: int = 0  # the journal's n that"): (
        f"{SAME}: no effect stands in a journal's first append, which begins the epoch"
    ),
    ("domain/journal/catalog.py", "if category in catalog.categories:"): (
        "two replicas that never saw each other's rows: nothing merges such logs yet"
    ),
    ("domain/journal/document.py", ""): "what a person is told: the document of a task, no row",
    ("domain/wake/prompt.py", ""): "what the model is sent: put together from rows, and in none",
}
TOLD = ("Refused", "Damaged", "KeyReused", "UnknownFact")
TURNED = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
          ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
          ast.IsNot: ast.Is}  # fmt: skip


class Mutant(NamedTuple):
    """One change, so told that it is found again in another revision of the file."""

    file: str
    function: str  # the names of classes and functions around it; empty at the top
    text: str  # of its line
    what: str
    nth: int  # of those that are alike in all this
    line: int


class Verdict(NamedTuple):
    """A change and who reported it: a test, `HISTORIES`, or nobody."""

    mutant: Mutant
    found_by: str


def mutants(file: Path) -> Iterator[tuple[Mutant, ast.AST]]:
    """Every change that can be planted in a file, and the file's tree while it is planted."""
    source = file.read_text(encoding="utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    unread = {id(found) for node in ast.walk(tree) for found in _unread(node)}
    within = dict(_within(tree, ""))
    alike: Counter[tuple[str, ...]] = Counter()
    for node in list(ast.walk(tree)):
        if id(node) in unread:
            continue
        for what, undo in _changes(node):
            line = getattr(node, "lineno", 0)
            told = (within[id(node)], lines[line - 1].strip(), what)
            yield Mutant(str(file.relative_to(ROOT)), *told, alike[told], line), tree
            alike[told] += 1
            undo()


def _within(node: ast.AST, name: str) -> Iterator[tuple[int, str]]:
    """Each node's id, and the names of the classes and functions that it stands in."""
    yield id(node), name
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        name = f"{name}.{node.name}".strip(".")
    for child in ast.iter_child_nodes(node):
        yield from _within(child, name)


def changed(one: Mutant) -> str:
    """The file's text with this change; empty where today's file has no such place."""
    for mutant, tree in mutants(ROOT / one.file):
        if mutant[:-1] == one[:-1]:
            return ast.unparse(tree)
    return ""


def _unread(node: ast.AST) -> Iterator[ast.AST]:
    """Docstrings, lists of names, what a refused person is told, what is shown beside a proposal:
    no row holds any."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    if isinstance(node, ast.keyword) and node.arg in ("because", "instead", *SHOWN):
        yield from ast.walk(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TOLD:
        for given in (*node.args, *node.keywords):
            yield from ast.walk(given)
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("because", "instead", "__all__")
    ):
        yield from ast.walk(node.value)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """Change a node in place; the caller reads the tree and undoes it."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in TURNED:
            node.ops = [TURNED[type(op)]()]
            yield f"turn {type(op).__name__} round", lambda: setattr(node, "ops", [op])
        case ast.BoolOp(op=op):
            node.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "and for or", lambda: setattr(node, "op", op)
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            node.value = value + 1
            yield f"{value} becomes {value + 1}", lambda: setattr(node, "value", value)
        case ast.Constant(value=str(value)) if value.strip():
            node.value = value + "x"
            yield f"{value[:20]!r} gets a letter", lambda: setattr(node, "value", value)
        case ast.If(test=test):
            node.test = ast.Constant(False)
            yield "a branch is never taken", lambda: setattr(node, "test", test)
        case ast.UnaryOp(op=ast.Not(), operand=operand) as known:
            known.op = ast.UAdd()
            known.operand = ast.Call(ast.Name("bool", ast.Load()), [operand], [])
            yield "not is left out", lambda: _again(known, operand)
        case ast.Call(func=ast.Name(id="sorted") as name):
            name.id = "list"
            yield "a sort is left out", lambda: setattr(name, "id", "sorted")
        case _:
            return


def _again(node: ast.UnaryOp, operand: ast.expr) -> None:
    node.op, node.operand = ast.Not(), operand


def run(copy: Path, *arguments: str, seconds: int = SECONDS) -> tuple[bool, str]:
    """Whether Python with this copy of the code comes to a good end, and what it says."""
    # a change of the same length in the same second would leave its compiled file behind
    lines = {"PYTHONDONTWRITEBYTECODE": "1", "WHO_RUNS": str(copy.parent / "ran")}
    environ = {**os.environ, **lines, "PYTHONPATH": str(copy)}
    limited = ["prlimit", f"--cpu={seconds}:", sys.executable, *arguments]
    done = subprocess.run(
        limited, cwd=copy, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode == -signal.SIGXCPU:
        return False, "it never ends"
    return not done.returncode, done.stdout.strip() or done.stderr.strip()


def unproved(copy: Path) -> str:
    """The first history that does not prove with this copy of the code, and how; else empty."""
    is_well, told = run(copy, "-c", PROVE, str(ROOT / "tests" / "histories"))
    return "" if is_well else f"{HISTORIES}: {told.splitlines()[-1][:90]}"


def who_runs(copy: Path) -> dict[tuple[str, int], list[str]]:
    """The fast tests that run each line, those first that run the fewest lines."""
    (copy / "who_runs.py").write_text(WATCH, encoding="utf-8")
    red = fast_tests(copy, "-p", "who_runs")
    ran: dict[tuple[str, int], set[str]] = {}
    for part in copy.parent.glob("ran.*"):
        data = coverage.CoverageData(str(part))
        data.read()
        for name in data.measured_files():
            file = str(Path(name).relative_to(copy))
            for line, tests in data.contexts_by_lineno(name).items():
                ran.setdefault((file, line), set()).update(tests)
                ran.setdefault((file, ANY), set()).update(tests)
        part.unlink()
    lines = Counter(test for tests in ran.values() for test in tests)
    return {
        at: sorted(tests - {"", *red}, key=lambda one: (lines[one], one))
        for at, tests in ran.items()
    }


def fast_tests(copy: Path, *options: str) -> set[str]:
    """Run all fast tests; those that fail without any change, as some look at the text of files."""
    command = ("-m", "pytest", "-q", "-n", str(AT_ONCE), "-p", "no:cacheprovider", *options)
    _, told = run(copy, *command, "-m", "not slow and not e2e", "tests", seconds=7_200)
    print(told.splitlines()[-1], flush=True)
    return set(failures(told))


def failures(told: str) -> list[str]:
    """The tests that pytest says have failed, without their parameters."""
    lines = [line.split(" ") for line in told.splitlines()]
    return [line[1].partition("[")[0] for line in lines if line[0] in ("FAILED", "ERROR")]


def failed(copy: Path, tests: Sequence[str]) -> str:
    """The first of these tests that fails with this copy of the code; empty where none does."""
    command = ("-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider")
    is_well, told = run(copy, *command, *tests)
    return "" if is_well else next(iter(failures(told)), told[-90:])


def why(one: Mutant, is_run: bool) -> str:
    """Why nobody notices a change, as far as it is known."""
    for (file, piece), reason in LOOKED_AT.items():
        if file == one.file and piece in one.text:
            return reason
    if "gets a letter" in one.what and any(name in one.text for name in REFUSING):
        return REFUSED
    return "tests run this line, and none differs" if is_run else "no fast test runs this line"


def touched(revision: str) -> set[tuple[str, int]]:
    """File and number of each line that `git` says is not as it was at a revision."""
    command = ("git", "diff", "-U0", revision, "--", "*.py")
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found, name = set[tuple[str, int]](), ""
    for file, at, more in re.findall(r"(?m)^\+\+\+ b/(.+)|^@@ \S+ \+(\d+)(?:,(\d+))?", told):
        name = file or name
        found.update((name, int(at) + n) for n in range(int(more or 1)) if at)
    return found


def drawn(count: int, seed: str, since: str | None) -> list[Mutant]:
    """Changes of the core and of what is around it, in turn."""
    at = touched(since) if since else None
    found: list[Mutant] = []
    parts = []
    for names in (CORE, AROUND):
        files = sorted({file for name in names for file in ROOT.glob(name)})
        all_of_them = (one for file in files for one, _ in mutants(file))
        parts.append([one for one in all_of_them if at is None or (one.file, one.line) in at])
        print(f"{len(parts[-1]):,} changes could be planted in {len(files)} files, {names[-1]}")
    dice = Dice(seed)
    while len(found) < count:
        one = dice.pick(parts[len(found) % len(parts)])
        if one not in found:
            found.append(one)
    return found


def kept(file: Path) -> list[Verdict]:
    """The changes of a file that `--keep` wrote."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [Verdict(Mutant._make([*row["change"], 0]), row["found_by"]) for row in rows]


def written(verdicts: Sequence[Verdict]) -> str:
    """A line for each change: where it is, and who found it."""
    rows = ({"change": one.mutant[:-1], "found_by": one.found_by} for one in verdicts)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def ask(copy: Path, one: Verdict, ran: dict[tuple[str, int], list[str]]) -> str:
    """Who reports this change: who did before, histories, or the first test that runs the line."""
    mutant = one.mutant
    (copy / mutant.file).write_text(changed(mutant), encoding="utf-8")
    tests = ran.get((mutant.file, mutant.line)) or ran.get((mutant.file, ANY), [])
    before = [one.found_by] if is_there(one.found_by) else []
    try:
        if before and (found := failed(copy, before)):
            return found
        if found := unproved(copy):
            return found
        asked = (tests[:FIRST], tests[FIRST:MOST])
        return next((found for some in asked if some and (found := failed(copy, some))), "")
    finally:
        (copy / mutant.file).write_text(unparsed(ROOT / mutant.file), encoding="utf-8")


def is_there(test: str) -> bool:
    """Whether there is a test of that id."""
    file, _, name = test.partition("::")
    path = ROOT / file
    return bool(name) and path.is_file() and f"def {name}(" in path.read_text(encoding="utf-8")


def unparsed(file: Path) -> str:
    """A file without comments, as a changed one is: some tests look at the text of files."""
    return ast.unparse(ast.parse(file.read_text(encoding="utf-8")))


def planted(
    copies: Sequence[Path], found: Sequence[Verdict], ran: dict[tuple[str, int], list[str]]
) -> Iterator[Verdict]:
    """Plant each change in one of the copies, and tell who reports it."""
    free: Queue[Path] = Queue()
    for copy in copies:
        free.put(copy)

    def one_of(one: Verdict) -> Verdict:
        copy = free.get()
        try:
            return Verdict(one.mutant, ask(copy, one, ran))
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for told in pool.map(one_of, found):
            place = f"{told.mutant.file}:{told.mutant.line}: {told.mutant.what}"
            print(f"{place}: {told.found_by or 'SURVIVES'}", flush=True)
            yield told


def report(verdicts: Sequence[Verdict], ran: dict[tuple[str, int], list[str]]) -> None:
    """Name what survives, and count: for the core, and for what is around it."""
    for part in ("core", "adapters"):
        of_part = [
            one for one in verdicts if one.mutant.file.startswith("adapters/") == (part != "core")
        ]
        survivors = [one.mutant for one in of_part if not one.found_by]
        reasons = [why(one, (one.file, one.line) in ran) for one in survivors]
        for one, reason in zip(survivors, reasons, strict=True):
            print(f"survives: {one.file}:{one.line}: {one.what}: {reason}")
        found, doing = len(of_part) - len(survivors), len(of_part)
        print(f"{part}: {found} of {doing} reported: {100 * found / (doing or 1):.0f} %")
        doing -= sum(reason.startswith(SAME) for reason in reasons)
        print(f"and of {doing} that do something else: {100 * found / (doing or 1):.0f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--since", help="a revision: draw in what changed after it only")
    parser.add_argument("--keep", type=Path, help="write each change and who found it")
    parser.add_argument("--again", type=Path, help="plant the changes of such a file")
    given = parser.parse_args()
    if given.again:
        found = [one for one in kept(given.again) if one.found_by]
    else:
        found = [Verdict(one, "") for one in drawn(given.count, given.seed, given.since)]
    files = {ROOT / one.mutant.file for one in found}
    places = {one[:-1]: one for file in files if file.exists() for one, _ in mutants(file)}
    gone = [one for one in found if one.mutant[:-1] not in places]
    for one in gone:
        print(
            f"not planted, {one.mutant.file} has it no more: {one.mutant.text}: {one.mutant.what}"
        )
    asked = [Verdict(places[one.mutant[:-1]], one.found_by) for one in found if one not in gone]
    with tempfile.TemporaryDirectory(prefix="wakelog-mutants-") as folder:
        copies = [Path(folder) / str(n) / "code" for n in range(AT_ONCE)]
        for copy in copies:
            shutil.copytree(ROOT, copy, ignore=COPIED_NOT)
        ran = who_runs(copies[0])
        for copy in copies:
            for name in {one.mutant.file for one in asked}:
                (copy / name).write_text(unparsed(ROOT / name), encoding="utf-8")
        red = fast_tests(copies[0])
        ran = {at: [one for one in tests if one not in red] for at, tests in ran.items()}
        assert not unproved(copies[0]), "the histories do not prove as it is"
        verdicts = []
        for told in planted(copies, asked, ran):
            verdicts.append(told)
            if given.keep:
                given.keep.write_text(written(verdicts), encoding="utf-8")
        report(verdicts, ran)
    both = zip(asked, verdicts, strict=True)
    lost = [new.mutant for old, new in both if old.found_by and not new.found_by]
    for lost_one in lost:
        print(f"was found, and is no more: {lost_one.file}:{lost_one.line}: {lost_one.what}")
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
