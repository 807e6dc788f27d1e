"""The house rules as functions over source text, so that each can be shown to bite.

Each returns its findings, one line of text for each: where it is, what is wrong there and what to
do instead. No finding means that the rule holds.
"""

import ast
import gc
import io
import re
import tokenize
from collections.abc import Collection, Iterator, Mapping
from functools import cache

LINE_WIDTH_MAX = 100
NESTING_MAX = 3

# Each package of the core, and which of ours it may import.
CORE: Mapping[str, frozenset[str]] = {
    "domain": frozenset({"domain"}),
    "projections": frozenset({"domain", "projections"}),
    "replay": frozenset({"domain", "replay"}),
}
# What else it may import: nothing with a clock, dice, files, threads or zones.
PURE = frozenset(
    """
    __future__ abc base64 bisect calendar collections contextlib copy dataclasses datetime decimal
    enum functools hashlib heapq itertools json math msgspec operator re string types typing
    """.split()
)

_IMPURE_BUILTINS = frozenset("__import__ compile eval exec hash id input open print".split())
_UNICODE_METHODS = frozenset(
    "isalnum isalpha isdecimal isdigit isidentifier isnumeric isprintable".split()
)
_UNICODE_CLASS = re.compile(r"\\[wWbBdD]")
_IGNORE = re.compile(
    r"noqa(:\s*[A-Z]+[0-9]+(\s*,\s*[A-Z]+[0-9]+)*)?|type:\s*ignore(\[[a-z, -]*\])?"
)
# What opens a file by hand, or a database, wherever it is called from.
_OPENING = frozenset(
    "open fdopen read_bytes read_text write_bytes write_text touch connect".split()
)
_COPYING = frozenset("copy copy2 copyfile copyfileobj copytree move".split())  # of `shutil`


def _calls(names: Collection[str]) -> re.Pattern[str]:
    """Calls of these names, as a text that `ruff format` has seen spells them."""
    return re.compile(rf"\b(?:{'|'.join(sorted(names))})\(")


# What a file says somewhere that has something to be found in: most are not read for all of it.
_SAYS_IMPURE = _calls(_IMPURE_BUILTINS)
_SAYS_OPENING = _calls(_OPENING | _COPYING)
_SAYS_TEXT = re.compile(rf"\\|unicodedata|casefold|{'|'.join(_UNICODE_METHODS)}")
_SAYS_DEEP = re.compile(r"^ {16,}(?:async |for |if |match |try:|while |with )", re.MULTILINE)
_BLOCKS = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree_of(source: str) -> ast.Module:
    """A file is read once for all that look at it, and no garbage is looked for meanwhile: that
    took three quarters of the time."""
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        gc.enable()


def foreign_imports(source: str, package: str) -> list[str]:
    """Find imports that a package of the core may not have, wherever in the file they stand."""
    allowed = PURE | CORE[package]
    return [
        f"{line}: {package} may not import {name!r}; an adapter does that and hands over values"
        for line, name in _imports(tree_of(source))
        if name.partition(".")[0] not in allowed
    ]


def imports_of(source: str, *unwanted: str) -> list[str]:
    """Find imports of modules, or of what is below them, that should not be there."""
    if not any(one in source for one in unwanted):
        return []
    return [
        f"{line}: {name} is imported here"
        for line, name in _imports(tree_of(source))
        if any(f"{name}.".startswith(f"{one}.") for one in unwanted)
    ]


def impure_calls(source: str) -> list[str]:
    """Find builtins that need no import and still reach outside, or differ between processes."""
    if not _SAYS_IMPURE.search(source):
        return []
    return [
        f"{node.lineno}: the core may not call {name}(); derive keys, and leave files to adapters"
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (name := node.func.id) in _IMPURE_BUILTINS
    ]


def unpinned_text(source: str, *, is_text_home: bool = False) -> list[str]:
    """Find what asks this Python's Unicode tables, whose answers differ between versions.

    Args:
        source: A module of the core.
        is_text_home: Whether it is `domain/text.py`, the one place that may speak of `casefold`.
    """
    if not _SAYS_TEXT.search(source):
        return []
    tree = tree_of(source)
    methods = _UNICODE_METHODS if is_text_home else _UNICODE_METHODS | {"casefold"}
    docstrings = set(map(id, _docstrings(tree)))
    findings = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if name in methods:
                findings.append(f"{node.lineno}: .{name} differs between Pythons; use domain.text")
            case ast.Attribute(value=ast.Name(id="unicodedata"), attr=name):
                findings.append(f"{node.lineno}: unicodedata.{name} does too; use domain.text")
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                findings += [
                    f"{node.lineno}: {found} differs between Pythons; write [0-9A-Za-z_] or so"
                    for found in _UNICODE_CLASS.findall(text)
                ]
    return findings


def oversized(source: str) -> list[str]:
    """Find what is too wide or too deep."""
    findings = [
        f"{number}: {len(line)} columns, {LINE_WIDTH_MAX} allowed; break the line"
        for number, line in enumerate(source.splitlines(), start=1)
        if len(line) > LINE_WIDTH_MAX
    ]
    if not _SAYS_DEEP.search(source):
        return findings
    findings += [
        f"{function.lineno}: {function.name} has {depth} nested blocks, {NESTING_MAX} allowed; "
        "branch in the parent only"
        for function in _functions(tree_of(source))
        if (depth := _nesting(function)) > NESTING_MAX
    ]
    return findings


def compared_scaffolds(source: str) -> list[str]:
    """Find comparisons of the number of a scaffold: what is done otherwise has a name."""
    if "scaffold" not in source.lower():
        return []
    return [
        f"{node.lineno}: ask for a feature of domain.scaffold, and not for a number"
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.Compare)
        and any(_name_of(one).lower().endswith("scaffold") for one in _compared(node))
    ]


def openings(source: str) -> list[tuple[int, str]]:
    """Where files and databases are opened: the line, and ``function: call``, the function being
    the outermost one, or a method of a class."""
    if not _SAYS_OPENING.search(source):
        return []
    return [
        (call.lineno, f"{where}: {name}")
        for where, scope in _scopes(tree_of(source))
        for call in ast.walk(scope)
        if isinstance(call, ast.Call) and (name := _opening(call.func))
    ]


def unnamed_openings(path: str, source: str, named: Collection[str]) -> list[str]:
    """Find openings that nobody has named: closing a database by hand drops the locks that SQLite
    holds on it for the whole process, and another one deletes its ``-wal`` (ADR 20).

    Args:
        path: Of the module, from the top of the repository.
        named: ``path function: call`` of each that is allowed.
    """
    return [
        f"{line}: {what} opens a file; of a database ask SQLite, else name it in openers.py"
        for line, what in openings(source)
        if f"{path} {what}" not in named
    ]


def silent_ignores(source: str) -> list[str]:
    """Find comments that switch a check off and do not say why."""
    if not _IGNORE.search(source):
        return []
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [
        f"{token.start[0]}: {token.string!r} has no reason; write it behind, on the same line"
        for token in tokens
        if token.type == tokenize.COMMENT
        and _IGNORE.search(token.string)
        and not re.search("[A-Za-z]{2}", _IGNORE.sub("", token.string))
    ]


def strangers(installed: Mapping[str, Collection[str]], ours: Collection[str]) -> list[str]:
    """Find other distributions that bring a top-level package of one of our names.

    Args:
        installed: As of `importlib.metadata.packages_distributions`.
        ours: The names of our packages.
    """
    return [
        f"{name!r} is also brought by {other!r}; uninstall that, or imports are a matter of luck"
        for name in ours
        for other in sorted(set(installed.get(name, ())) - {"wakelog"})
    ]


def _imports(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Import(names=names):
            yield from ((node.lineno, alias.name) for alias in names)
        case ast.ImportFrom(module=module, level=level):
            yield node.lineno, "." * level + (module or "")
        case _:
            for child in _inside(node):
                yield from _imports(child)


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    """Every docstring; a bare string elsewhere is none, though it does nothing either."""
    for node in ast.walk(tree):
        if isinstance(node, _Documented) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            yield first.value


def _compared(node: ast.Compare) -> Iterator[ast.expr]:
    """What is compared by value: not what is looked up in a table."""
    sides = [node.left, *node.comparators]
    for index, how in enumerate(node.ops):
        if not isinstance(how, ast.In | ast.NotIn):
            yield from sides[index : index + 2]


def _name_of(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _opening(called: ast.expr) -> str:
    """What a call opens a file with; empty if with nothing."""
    match called:
        case ast.Attribute(value=ast.Name(id="shutil"), attr=name) if name in _COPYING:
            return f"shutil.{name}"
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _OPENING:
            return name
        case _:
            return ""


def _scopes(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The statements of a module, by the name of the function or method that they are."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            yield getattr(node, "name", ""), node
            continue
        for inner in node.body:
            yield f"{node.name}.{getattr(inner, 'name', '')}", inner


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What may hold blocks and functions: expressions, most of a tree, hold none."""
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


def _functions(node: ast.AST) -> Iterator[_Function]:
    """All functions, those inside of others included."""
    for child in _inside(node):
        if isinstance(child, _Function):
            yield child
        yield from _functions(child)


def _nesting(node: ast.AST) -> int:
    """How many blocks stand inside one another; a function inside is measured by itself."""
    return max(
        (
            _nesting(child) + (isinstance(child, _BLOCKS) and not _is_elif(node, child))
            for child in _inside(node)
            if not isinstance(child, _Function)
        ),
        default=0,
    )


def _is_elif(parent: ast.AST, child: ast.AST) -> bool:
    return (
        isinstance(parent, ast.If)
        and isinstance(child, ast.If)
        and parent.orelse == [child]
        and parent.col_offset == child.col_offset
    )
