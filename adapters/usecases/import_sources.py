"""Files of tasks: what each is called in the log, its *source*, which path of this machine that
stands for, and what it says.

A source is stored as a name: the file's own, and where another file here has it already, with as
many of its folders as tell them apart. Which path a name stands for here is remembered beside the
views, by this machine alone: it may be lost, and then a file is known by what it says."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from adapters.home.api_keys import without_keys
from adapters.home.read_input import STDIN, UnreadableInput, read_input_bytes, text_as_utf8
from adapters.home.sanitise_input import sanitised, sanitised_by, sanitised_json
from adapters.importers import formats
from adapters.importers.formats import FORMATS, FORMATS_TOLD
from adapters.usecases.match_imported import seen_last
from domain.errors import Refused, invalid
from domain.journal.imported import ID_KEPT, ImportedFile
from domain.journal.task import CLOSED
from domain.text import fold
from projections.tasks import VIEW, TaskDocument

if TYPE_CHECKING:
    from adapters.wiring import Home

FILE_BYTES_MAX = 64_000_000
_NAME = "paths of sources"

IsIt = Callable[[str, str], bool]
"""``is_it(file, source)``: whether a person says that the file is the one of that name."""


class FileSource(Struct, frozen=True):
    """A file's name in the log. `path`: which file it is, links followed; empty: none of this
    machine. `archive`: where its client moves what is done. `was`: the path that it had before."""

    name: str
    path: str = ""
    archive: str = ""
    was: str = ""


class Paths(dict[str, FileSource]):
    """The files of this machine by the names of their sources."""

    @classmethod
    def of(cls, home: "Home") -> "Paths":
        """Those that are remembered."""
        try:
            kept = msgspec.json.decode(home.views.remembered(_NAME) or b"[]", type=list[FileSource])
        except msgspec.MsgspecError:  # what another version kept
            kept = []
        return cls({one.name: one for one in kept})

    def at(self, path: str) -> FileSource | None:
        """The source of a file, or of an archive."""
        return next((one for one in self.values() if path in (one.path, one.archive)), None)


def remember_path(home: "Home", source: FileSource) -> None:
    """Keep which file a source is here, once it was imported."""
    paths = Paths.of(home)
    kept = msgspec.structs.replace(source, was="")
    if source.path and paths.get(source.name) != kept:
        paths[source.name] = kept
        home.views.remember(_NAME, msgspec.json.encode(list(paths.values())))


def uploaded(name: str, environ: Mapping[str, str]) -> FileSource:
    """What comes without a path goes by its name."""
    return FileSource(without_keys(Path(name).name, environ)[0])


def nobody(file: str, source: str) -> bool:
    """Where nobody can be asked whether a file is the one of a name. Raises Refused, code
    ``ambiguous``, with what says it."""
    other = "/".join(Path(_real(file)).parts[-2:])
    because = f"tasks of another file named {source!r} are here, and {file} says other things"
    instead = f"`--source {source}` if it is that file, `--source {other}` if it is one of its own"
    raise Refused("ambiguous", because=because, instead=instead)


def sources_of(
    home: "Home",
    files: Sequence[str],
    source: str,
    environ: Mapping[str, str],
    archive: str = "",
    is_it: IsIt = nobody,
) -> list[FileSource]:
    """The source of each file; ids are made of its name, so no two files share it.

    Args:
        home: Whose tasks are looked at, and where paths are remembered.
        files: Their paths, or `STDIN`.
        source: The name that was said; empty: as the file is called.
        environ: Environment variables: no value of a key becomes a name.
        archive: Another file of the same source, which what is done is moved to.
        is_it: Asks a person, where a name is known here without a path, and the file says more.

    Raises:
        Refused: Code ``invalid_value`` or ``ambiguous``.
        Unreadable: One that had to be looked at cannot be read.
    """
    if source and len(files) > 1:
        because = f"--source names one source, and {len(files)} files are given"
        raise invalid(because, "import them one by one")
    if archive and len(files) > 1:
        because = f"--archive belongs to one file, and {len(files)} are given"
        raise invalid(because, "import them one by one")
    if source and not source.strip():
        raise invalid("--source is blank", "give it a name")
    if STDIN in files and not source:
        raise invalid("what comes from stdin has no name", "give it one with --source NAME")
    naming = _Naming(home, environ, is_it)
    found: list[FileSource] = []
    for file in files:
        one = naming.said(file, source) if source else naming.named(file)
        if archive:
            one = msgspec.structs.replace(one, archive=_real(archive))
        if any(other.name == one.name for other in found):
            raise invalid(f"{file} is given twice, perhaps under two names", "name it once")
        found.append(one)
    return found


# -------------------------------------------------------------------------------- what they say


class FileInput(NamedTuple):
    """A file's bytes, and how they are to be read: see `given_file`."""

    file: str
    source: str
    form: str
    by_heading: bool
    data: bytes
    is_utf16: bool = False  # it was, before it was read as `data`
    place: FileSource = FileSource("")
    archive: bytes = b""  # of the file to which its client moves what is done


class ParsedFile(NamedTuple):
    """A file, read, and the names of keys whose values stood in it, one for each time."""

    file: ImportedFile
    replaced: tuple[str, ...] = ()


def format_named(form: str) -> str:
    """A format as the importers know it; empty stays empty. Raises Refused, code
    ``invalid_value``."""
    form = formats.ALIASES.get(form.lower(), form.lower())
    if form and form not in FORMATS:
        raise invalid(f"the format {form!r} is not known to this version", f"use {FORMATS_TOLD}")
    return form


def given_file(
    file: str, source: FileSource | str, *, form: str = "", by_heading: bool = False
) -> FileInput:
    """The bytes of a file, or of standard input (`STDIN`), and how they are to be read; of a source
    with an archive, the bytes of both. `form`: empty: by its name and content; `by_heading`: in
    Markdown a heading is a task. Raises Unreadable."""
    place = FileSource(source) if isinstance(source, str) else source
    if place.archive and file != STDIN and _real(file) == place.archive:
        file = place.path  # the archive was named: it is a part of the other one
    found = text_as_utf8(read_input_bytes(file, FILE_BYTES_MAX))
    archive = b""
    if place.archive and Path(place.archive).exists():
        archive, _ = text_as_utf8(read_input_bytes(place.archive, FILE_BYTES_MAX))
    return FileInput(file, place.name, form, by_heading, *found, place, archive)


def read_file(home: "Home", given: FileInput, environ: Mapping[str, str]) -> ParsedFile:
    """The tasks that a file holds. The home's time zone says which day a moment is, and a setting
    whether secrets are kept; values of keys never are. Raises Unreadable: its format is not known.
    """
    found = _read(home, given, given.data, given.file, environ)
    if not given.archive:
        return found
    other = _read(home, given, given.archive, given.place.archive, environ)
    file = formats.joined(found.file, other.file, Path(given.place.archive).name)
    return ParsedFile(file, found.replaced + other.replaced)


def _read(
    home: "Home", given: FileInput, data: bytes, name: str, environ: Mapping[str, str]
) -> ParsedFile:
    from zoneinfo import ZoneInfo

    zone = ZoneInfo(home.settings.timezone)
    is_scrubbed, keys = home.settings.policy.scrub_entry, home.settings.key_variables
    form = given.form or formats.guess(data, name)
    enter = sanitised_json if form in formats.JSON else sanitised
    text, replaced = enter(
        data.decode("utf-8", "surrogateescape"), environ, is_scrubbed=is_scrubbed, keys=keys
    )
    data = text.encode("utf-8", "surrogateescape") if replaced else data
    read = formats.read(
        data, name, form, given.source, headings_are_tasks=given.by_heading, zone=zone
    )
    if read is None:
        raise UnreadableInput("its format is not known", f"name it with --format: {FORMATS_TOLD}")
    # once more: what only its format had hidden, as escaped characters; ids are as they are
    formulas, read = read.formulas, msgspec.structs.replace(read, formulas=())
    plain, more = sanitised_by(home.settings, msgspec.to_builtins(read), environ)
    read = msgspec.convert(plain, ImportedFile) if more else read
    return ParsedFile(msgspec.structs.replace(read, formulas=formulas), replaced + more)


# ---------------------------------------------------------------------------- what they are called


class _Naming:
    """What files of one command are called."""

    def __init__(self, home: "Home", environ: Mapping[str, str], is_it: IsIt) -> None:
        self._home, self._environ, self._is_it = home, environ, is_it
        self._paths = Paths.of(home)
        self._tasks: dict[str, list[TaskDocument]] | None = None

    def said(self, file: str, name: str) -> FileSource:
        """A file under the name that somebody said. One of done lines beside the todo.txt of that
        name is where its client moves them; both are one source."""
        path = "" if file == STDIN else _real(file)
        known = self._paths.get(name)
        main = known.path if known and Path(known.path).name == name else ""
        if not main and path and Path(path).name != name and "/" not in name:
            main = str(Path(path).parent / name)
        if path and main and main != path and _is_readable(main) and self._is_done(path, name):
            return FileSource(name, _real(main), path)
        archive = known.archive if known and known.path == path else ""
        return FileSource(name, path if _is_readable(path) else "", archive)

    def _is_done(self, path: str, name: str) -> bool:
        """Whether a file is a todo.txt of done lines alone."""
        if not _is_readable(path):
            return False
        found = read_file(self._home, given_file(path, name), self._environ).file
        return found.format == "todotxt" and all(one.status in CLOSED for one in found.tasks)

    def named(self, file: str) -> FileSource:
        """A file under its own name."""
        path = _real(file)
        if known := self._paths.at(path):
            return known
        parts = [without_keys(one, self._environ)[0] for one in Path(path).parts[1:]]
        base = without_keys(Path(file).name, self._environ)[0]
        if not _is_readable(path):  # a pipe, or nothing: it is known by its name
            return FileSource(base)
        for name in [base, *("/".join(parts[-n:]) for n in range(2, len(parts) + 1))]:
            if found := self._may_be(name, file, path, is_first=name == base):
                self._paths[found.name] = found
                return found
        raise Refused("ambiguous", because=f"{file} has no name of its own", instead="use --source")

    def _may_be(self, name: str, file: str, path: str, *, is_first: bool) -> FileSource | None:
        """The file under a name, if it may have that."""
        known = self._paths.get(name)
        if known and Path(known.path).exists():
            return None
        if known:
            is_it = self._says_the_same(file, name)
            return FileSource(name, path, known.archive, was=known.path) if is_it else None
        if name not in self._by_source():
            return self._moved(file, path) or FileSource(name, path)
        if self._says_the_same(file, name, empty=True):
            return FileSource(name, path)
        return FileSource(name, path) if is_first and self._is_it(file, name) else None

    def _moved(self, file: str, path: str) -> FileSource | None:
        """The source whose file is gone from its place, and is this one by what it says."""
        gone = [one for one in self._paths.values() if not Path(one.path).exists()]
        same = [one for one in gone if self._says_the_same(file, one.name)]
        if len(same) != 1:
            return None
        return FileSource(same[0].name, path, same[0].archive, was=same[0].path)

    def _says_the_same(self, file: str, name: str, *, empty: bool = False) -> bool:
        """Whether a file most likely is the one of a name: all that is open of it is in the file,
        or half of that, and half of its lines were in it. `empty`: what is said of one without
        tasks."""
        found = read_file(self._home, given_file(file, name), self._environ).file
        if not found.tasks:
            return empty
        tasks = self._by_source().get(name, [])
        if (had := seen_last(self._home, name)) is not None:  # not of what left it before
            stood = {line.partition(" ")[0] for line in had.lines}
            tasks = [one for one in tasks if one.id[:ID_KEPT] in stood]
        there, lines = {one.id for one in tasks}, {one.task_id for one in found.tasks}
        titles, said = ({fold(one.title) for one in some} for some in (tasks, found.tasks))
        same = sum(one.task_id in there or fold(one.title) in titles for one in found.tasks)
        open_ones = [one for one in tasks if one.is_open]
        still = sum(one.id in lines or fold(one.title) in said for one in open_ones)
        is_all = 0 < still == len(open_ones)
        return is_all or (2 * same >= len(found.tasks) and 2 * still >= len(open_ones))

    def _by_source(self) -> dict[str, list[TaskDocument]]:
        if self._tasks is None:
            self._tasks = {}
            self._home.views.catch_up()
            kept = [one for one in self._home.views.all(VIEW) if not one.is_deleted]
            for name, task in ((name, one) for one in kept for name in one.sources):
                self._tasks.setdefault(name, []).append(task)
        return self._tasks


def _real(file: str) -> str:
    """Where a file lies, links followed; empty: nowhere that could be."""
    try:
        return str(Path(file).resolve())
    except (OSError, ValueError):
        return ""


def _is_readable(path: str) -> bool:
    try:
        return bool(path) and Path(path).is_file()
    except (OSError, ValueError):
        return False
