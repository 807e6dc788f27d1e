"""Plants changes in a copy of the code, one at a time, and asks which ones prove reports.

    .venv/bin/python tests/bench/mutate_code.py [--count 50] [--seed 1] [--tests]

Only `tests/histories/*.jsonl` are proved: no test of behaviour runs. A change is planted in a
decider, a tool, a fold, the prompt, the keys, a view or in what proves: a comparison turned round,
`and` for `or`, a number one higher, a text with another letter, a branch never taken, a sort or a
`not` left out. A survivor is a change that no history notices. At the end each is named with why:
what was found where somebody has looked, else whether any history runs that line at all. Those
that somebody has found to do the same whatever stands there count for the first share, and not for
the second.

With `--tests`, what no history notices is asked of the fast tests in `tests/unit` and
`tests/property` that name the changed module, or its package where none does; of what proves, of
all that prove.
"""

import argparse
import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from adapters.simulation.plan import Dice

ROOT = Path(__file__).parents[2]
FILES = (
    "domain/text.py domain/log/keys.py domain/log/canonical.py domain/append/envelope.py"
    " domain/append/notification_batch.py"
    " domain/agent/*.py domain/changes/*.py domain/handlers/*.py"
    " domain/journal/*.py domain/templates/*.py domain/tools/*.py domain/wake/*.py"
    " replay/*.py projections/*.py"
).split()
COPIED_NOT = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "histories-*")
TESTS = ("unit", "property")
SECONDS = 120  # of the processor, for one change; what does not end is reported, too
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
RAN = f"""
import coverage, json
folders = ["domain/*", "replay/*", "projections/*"]
seen = coverage.Coverage(data_file=None, config_file=False, include=folders)
seen.start()
{PROVE}
seen.stop()
data = seen.get_data()
print(json.dumps({{name: data.lines(name) for name in data.measured_files()}}))
"""
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
    """One change: the file, the line, what it does, and the file's new text."""

    file: str
    line: int
    what: str
    text: str


def mutants(file: Path) -> Iterator[Mutant]:
    """Every change that can be planted in a file."""
    source = file.read_text(encoding="utf-8")
    tree = ast.parse(source)
    unread = {id(found) for node in ast.walk(tree) for found in _unread(node)}
    for node in list(ast.walk(tree)):
        if id(node) in unread:
            continue
        for what, undo in _changes(node):
            text = ast.unparse(tree)
            undo()
            yield Mutant(str(file.relative_to(ROOT)), getattr(node, "lineno", 0), what, text)


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
    environ = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    limited = ["prlimit", f"--cpu={seconds}:", sys.executable, *arguments]
    done = subprocess.run(
        limited, cwd=copy, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode == -signal.SIGXCPU:
        return False, "it never ends"
    return not done.returncode, done.stdout.strip() or done.stderr.strip()


def proves(copy: Path) -> str:
    """What prove says of the histories with this copy of the code; empty where it proves."""
    is_well, told = run(copy, "-c", PROVE, str(ROOT / "tests" / "histories"))
    return "" if is_well else told.splitlines()[-1]


def ran(copy: Path) -> dict[str, set[int]]:
    """The lines of each file that the histories run."""
    is_well, told = run(copy, "-c", RAN, str(ROOT / "tests" / "histories"), seconds=600)
    assert is_well, told
    found: dict[str, list[int]] = json.loads(told)
    return {str(Path(name).relative_to(copy)): set(lines) for name, lines in found.items()}


def failed(copy: Path, files: Sequence[str], *options: str, seconds: int = SECONDS) -> list[str]:
    """The tests of these files that fail with this copy of the code."""
    command = ("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *options)
    chosen = ("-m", "not slow and not e2e", *files)
    is_well, told = run(copy, *command, *chosen, seconds=seconds)
    lines = [line.split(" ") for line in told.splitlines()]
    named = [line[1] for line in lines if line[0] in ("FAILED", "ERROR")]
    return [] if is_well else named or [told[-90:]]


def concerned(copy: Path, file: str) -> list[str]:
    """The files of tests that name a module; where none does, those that name its package."""
    module = file.removesuffix(".py").replace("/", ".")
    package = module.rpartition(".")[0]
    wanted = [f"{module} import", f"from {package} import {module.removeprefix(package + '.')}"]
    if package == "replay":
        wanted += ["adapters.proof", "support.forging"]
    found = [one for name in TESTS for one in sorted((copy / "tests" / name).glob("test_*.py"))]
    texts = {str(one.relative_to(copy)): one.read_text(encoding="utf-8") for one in found}
    asked = [one for one in texts if any(name in texts[one] for name in wanted)]
    return asked or [one for one in texts if package in texts[one]]


def unparsed(file: Path) -> None:
    """Write a file without comments, as a changed one is: some tests look at the text of files."""
    file.write_text(ast.unparse(ast.parse(file.read_text(encoding="utf-8"))), encoding="utf-8")


def why(one: Mutant, lines: dict[str, set[int]]) -> str:
    """Why no history notices a change, as far as it is known."""
    line = (ROOT / one.file).read_text(encoding="utf-8").splitlines()[one.line - 1]
    for (file, piece), reason in LOOKED_AT.items():
        if file == one.file and piece in line:
            return reason
    if "gets a letter" in one.what and any(name in line for name in REFUSING):
        return REFUSED
    if one.line not in lines.get(one.file, set()):
        return "no history runs this line"
    return "histories run this line, and nothing that they write differs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--tests", action="store_true", help="ask the fast tests, too")
    given = parser.parse_args()
    files = [file for name in FILES for file in sorted(ROOT.glob(name))]
    dice = Dice(given.seed)
    found: list[Mutant] = []
    known = {file: list(mutants(file)) for file in files}
    print(f"{sum(map(len, known.values())):,} changes could be planted in {len(files)} files")
    while len(found) < given.count:
        one = dice.pick([mutant for file in known.values() for mutant in file])
        if one not in found:
            found.append(one)
    with tempfile.TemporaryDirectory(prefix="wakelog-mutants-") as folder:
        copy = Path(folder) / "code"
        shutil.copytree(ROOT, copy, ignore=COPIED_NOT)
        lines = ran(copy)
        for file in files:
            unparsed(copy / file.relative_to(ROOT))
        assert not proves(copy), "the histories do not prove as it is"
        survivors = planted(copy, found, lambda one: proves(copy))
        report("prove", found, survivors, lines)
        if given.tests:
            known_red = failed(copy, [f"tests/{name}" for name in TESTS], seconds=1_000)
            left_out = [f"--deselect={one}" for one in known_red]
            print(f"{len(known_red)} tests look at the text of files, and are left out")
            asked = survivors
            survivors = planted(
                copy,
                asked,
                lambda one: "".join(failed(copy, concerned(copy, one.file), "-x", *left_out)),
            )
            report("the fast tests", asked, survivors, lines)


def planted(copy: Path, found: list[Mutant], told: Callable[[Mutant], str]) -> list[Mutant]:
    """Plant each change; those of which nothing is told."""
    survivors = []
    for one in found:
        kept = (copy / one.file).read_text(encoding="utf-8")
        (copy / one.file).write_text(one.text, encoding="utf-8")
        said = told(one)
        (copy / one.file).write_text(kept, encoding="utf-8")
        print(f"{one.file}:{one.line}: {one.what}: {said[:90] or 'SURVIVES'}", flush=True)
        if not said:
            survivors.append(one)
    return survivors


def report(
    who: str, found: list[Mutant], survivors: list[Mutant], lines: dict[str, set[int]]
) -> None:
    """Name what survives, and count."""
    reported, same = len(found) - len(survivors), 0
    for one in survivors:
        reason = why(one, lines)
        same += reason.startswith(SAME)
        print(f"survives: {one.file}:{one.line}: {one.what}: {reason}")
    doing = len(found) - same
    print(f"{who}: {reported} of {len(found)} reported: {100 * reported / len(found):.0f} %")
    print(f"and of {doing} that do something else: {100 * reported / doing:.0f} %", flush=True)


if __name__ == "__main__":
    main()
