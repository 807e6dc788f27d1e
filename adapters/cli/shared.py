"""What all commands share: the session, output as text or JSON, errors, and common options."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from adapters.home.origin import terminal_session
from adapters.text.common import one_line, safe
from adapters.text.remedies import WORDS
from adapters.usecases.resolve import retry_key
from domain.errors import Refused, WakelogError, cut, invalid

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from adapters.home.home_location import HomeLocation
    from adapters.home.settings import Settings
    from adapters.text.common import DiffLine
    from adapters.wiring import Home

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")
NO_HOME = "There is no home at {} yet. Begin with `wakelog demo` or `wakelog import TODO.md`."
PROGRESS_FROM = 20_000  # rows; fewer need no bar
BEGINS = frozenset(
    "demo|demo-data|init|import|serve|simulate|schema|add|log|task add|category add|label add"
    "|template create|sync|policy allow|policy models".split("|")
)
"""Commands that a home may begin with, or that need none."""
ZONE = "This machine's time zone is {}. Shall the home use it?"
UNASKED = (
    "Note: the agent log is older than the journal: {} of the journal's effects have no intent "
    "in it; see `wakelog doctor`."
)
SCOPED = (
    "Note: agents are told of labels from files only in the categories of their tasks now: {}; "
    "`wakelog label widen NAME` offers one in all."
)
SCOPED_MAX = 10  # that are named
TYPED_KEY = "wakelog.key"  # in what click's contexts share


class UserError(click.ClickException):
    """One line on stderr, exit status 2, and never a traceback for a user's mistake."""

    exit_code = 2


def complain(
    text: str, *, instead: str = "", cause: BaseException | None = None, as_json: bool = False
) -> None:
    """Say on stderr, in one line, what went wrong; what it repeats may be of anybody's making.

    Args:
        instead: What to do, where the text does not say that.
        cause: What was raised: a refusal knows its code, and what it says to do.
        as_json: As ``{"error": {"code", "because", "instead"}}``.
    """
    if not as_json:
        line = one_line(cut(f"Error: {text} {instead}".rstrip()))
        click.echo(_fitted(line, sys.stderr), err=True)
        return
    import json  # only who did something wrong waits for it

    code = "invalid_input"
    if isinstance(cause, WakelogError):
        code, text, instead = cause.code, cause.because, cause.instead_in(WORDS)
    error = {"code": code, "because": cut(text), "instead": instead}
    click.echo(json.dumps({"error": error}), err=True)


TYPED = re.compile(r"`wakelog (?!(?:--home|help|database|home create)\b|[^`]*--help)")
"""What is to be typed that is done in a home."""


class Session:
    """One run of the command line: where the home is, and how to print."""

    def __init__(
        self, where: "HomeLocation | Path", *, model: str, as_json: bool, is_quiet: bool,
        named: str = "",
    ) -> None:  # fmt: skip
        self.where = where
        self.path = where if isinstance(where, Path) else where.folder
        self.named = named  # with --home
        self.model = model
        self.as_json = as_json
        self.is_quiet = is_quiet
        self._home: Home | None = None
        self._is_writing = False
        self.is_agreed = False  # to what would be asked, with --yes
        self.has_declined = False  # to agree to what a model is sent

    def reading(self) -> "Home":
        """The home, its views caught up; an empty one in memory if there is none."""
        home = self._open(is_writing=False)
        home.views.catch_up()
        return home

    def opened(self) -> "Home":
        """The home as it is, its views left alone: for looking at logs that may be damaged."""
        return self._open(is_writing=False)

    def writing(self, *, is_asking: bool = True) -> "Home":
        """The home, made if it is not there, its views caught up; `is_asking`: whose time zone a
        new one has, where somebody can answer."""
        is_first = self._home is None or not self._is_writing
        if is_first and is_asking:
            self.check_named()
            if self.can_ask and not self.place.exists():
                self.offer_zone()
        home = self._open(is_writing=True)
        if is_first:
            self._is_writing = True
            self._tell_unasked(home)
        home.views.catch_up()
        if is_first and home.exists:
            self._tell_scoped(home)
        return home

    def settings(self) -> "Settings":
        """The settings, without opening the home."""
        return self.place.settings(os.environ, self.model)

    @property
    def place(self) -> "HomeLocation":
        """Where the home is."""
        from adapters.home.home_location import FolderLocation

        return FolderLocation(self.where) if isinstance(self.where, Path) else self.where

    @property
    def can_ask(self) -> bool:
        """Whether somebody reads what is asked and can answer."""
        return not self.as_json and sys.stdin.isatty() and sys.stderr.isatty()

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks at how far something is."""
        return not (self.as_json or self.is_quiet) and sys.stderr.isatty()

    def settle(self) -> None:
        """Ask whether a folder that is not where it was has been moved, copied or put back, where
        somebody can answer. Raises Refused: nobody can, or it may not be written at all."""
        try:
            self.place.check_writing(os.environ)
        except Refused as refused:
            if refused.code != "moved_home" or not self.can_ask:
                raise
            from adapters.sync.restore import restore
            from adapters.upkeep import adopt

            question = f"{safe(str(self.path))} is in another place. Was it moved, is it a copy, or"
            answers = click.Choice(["moved", "copy", "restored"])
            how = click.prompt(f"{question} was it restored?", type=answers, err=True)
            self.close()
            if how == "restored":
                did = restore(self.path, self.place, os.environ)
                self.note(safe(f"It writes as {did.replica} now; as it was it is in {did.aside}."))
            else:
                adopt.adopt_folder(self.path, os.environ, is_copy=how == "copy")

    def check_named(self) -> None:
        """Refuse a home that was named with --home and is not there, where a command needs one."""
        if self.named and _command() not in BEGINS and not self.place.exists():
            instead = "check the name; `wakelog demo`, `import` and `task add` make a home"
            raise invalid(f"there is no home at {self.place.name}", instead)

    def offer_zone(self) -> None:
        """Ask whether a home takes the machine's time zone, where its own is another one."""
        from adapters.home import zones
        from adapters.home.home_location import keep_zone

        found = zones.other_zone(self.settings().timezone, os.environ)
        if found and click.confirm(ZONE.format(found), default=True, err=True):
            keep_zone(self.place, found, os.environ)

    def _tell_unasked(self, home: "Home") -> None:
        """Say once if the agent log is older than the journal."""
        from adapters.home.log_pairing import new_unrequested_effects

        if count := new_unrequested_effects(home.services.journal, home.services.agents):
            self.note(UNASKED.format(count))

    def _tell_scoped(self, home: "Home") -> None:
        """Say once which labels belong to the categories of their tasks from now on."""
        from adapters.usecases.catalog import scope_labels

        if names := scope_labels(home):
            told = ", ".join(f"#{safe(name)}" for name in names[:SCOPED_MAX])
            left = len(names) - SCOPED_MAX
            self.note(SCOPED.format(told + (f" and {left} more" if left > 0 else "")))

    def _open(self, *, is_writing: bool) -> "Home":
        from adapters.wiring import open_home

        self.check_named()
        if is_writing:
            self.settle()
        if self._home is not None and is_writing:
            has_writer = self._home.exists and self._home.services.journal.replica
            if not has_writer:  # a home to be made, or a backup that has no name of its own yet
                self.close()
        if self._home is None:
            opening = partial(open_home, self.place, os.environ, model=self.model)
            self._home = self._asking(partial(opening, is_writing=is_writing))
            self._home.doer, self._home.doing = terminal_session(), _command()
        elif is_writing and self._home.other is not None:
            refused = self._home.other.refused()
            self._home.other = None  # it is told
            raise refused
        elif is_writing:  # it was opened to be read
            self._asking(partial(self._home.check_clock, os.environ))
            self.place.begin(os.environ)
        return self._home

    def _asking(self, what: Callable[[], T]) -> T:
        """Do what the machine's clock may keep from being done; where it is doubted and somebody
        can answer, ask once whether it is right."""
        try:
            return what()
        except Refused as refused:
            if refused.code != "doubtful_clock" or not self.can_ask:
                raise
            question = f"{refused.because.capitalize()}. Is the clock right?"
        click.confirm(safe(question), abort=True, err=True)
        self.trust_clock()
        return what()

    def trust_clock(self) -> None:
        """Do not doubt the machine's clock in this command."""
        from adapters.home.clock import RIGHT_VARIABLE

        os.environ[RIGHT_VARIABLE] = "1"
        click.get_current_context().find_root().call_on_close(
            lambda: os.environ.pop(RIGHT_VARIABLE, None)
        )

    def close(self) -> None:
        if self._home is not None:
            other = self._home.other
            if other is not None and not self.is_quiet:
                click.echo(safe(f"Note: {other.because}; {other.instead}."), err=True)
            self._home.close()
            self._home = None

    def document(self, value: object) -> None:
        """Print one JSON document, keys as given, UTF-8."""
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())

    def printed(self, document: object) -> bool:
        """Print a document where --json asks for one; whether it does."""
        if self.as_json:
            self.document(document)
        return self.as_json

    def tell(self, document: object, *lines: str) -> None:
        """Print a document where --json asks for one, else lines for a person."""
        if not self.printed(document):
            self.say_each(lines)

    def listing(
        self, documents: Sequence[object], headings: Sequence[str],
        rows: "Iterable[Sequence[object]]", none: str,
    ) -> None:  # fmt: skip
        """Print documents, for a person as a table, or `none` where there are none."""
        if self.as_json or not documents:
            self.tell(documents, self.hint(none))
        else:
            self.table(headings, [*rows])

    def say(self, text: str = "", *, style: str = "") -> None:
        """Print a line for a person, in a colour where it is shown; nothing with --json."""
        if not self.as_json:
            click.echo(_styled(_fitted(text, sys.stdout), style))

    def lines(self, lines: "Iterable[DiffLine]") -> None:
        """Print the lines of a difference: its two sides in colours of their own."""
        from adapters.text.common import DIFF_STYLES

        for one in lines:
            self.say(one.text, style=DIFF_STYLES.get(one.mark, ""))

    def note(self, text: str) -> None:
        """Print progress or a hint on stderr; nothing with --quiet or --json."""
        if not (self.is_quiet or self.as_json):
            click.echo(_fitted(safe(self.hint(text)), sys.stderr), err=True)

    def hint(self, text: str) -> str:
        """What a text says to type, in the home that was named: else it would be done in another
        one."""
        here = f"`wakelog --home {shlex.quote(self.named)} "
        return TYPED.sub(lambda _: here, text) if self.named else text

    def say_each(self, lines: "Iterable[str]") -> None:
        """Print lines for a person."""
        for line in lines:
            self.say(line)

    def markdown(self, text: str) -> None:
        """Print a text rendered on a terminal, as it is in a pipe."""
        if not sys.stdout.isatty():
            click.echo(safe(text))
            return
        from rich.console import Console
        from rich.markdown import Markdown

        Console(color_system=None if os.environ.get("NO_COLOR") else "auto").print(
            Markdown(safe(text))
        )

    def exactly(self, text: str) -> None:
        """Print a text byte for byte; on a terminal its last line ends."""
        click.echo(text.encode() + b"\n" * sys.stdout.isatty(), nl=False)

    def bar(self, label: str, length: int, *, is_wanted: bool = True) -> "ProgressBar[int]":
        """A bar on stderr, hidden unless somebody looks."""
        is_hidden = not (is_wanted and self.is_watched)
        return click.progressbar(length=length, label=label, file=sys.stderr, hidden=is_hidden)

    @contextmanager
    def steps(self, label: str) -> Iterator[Callable[[int, int], None]]:
        """A bar of how many were done, of how many; shown once it is told."""
        with ExitStack() as shown:
            bars: list[ProgressBar[int]] = []

            def progress(nth: int, of: int) -> None:
                if not bars:
                    bars.append(shown.enter_context(self.bar(label, of)))
                bars[0].update(nth - bars[0].pos)

            yield progress

    @contextmanager
    def log_bar(
        self, label: str, *, is_wanted: bool = True
    ) -> Iterator[Callable[[str, int, int], None] | None]:
        """A bar over both logs, where somebody looks."""
        if not (is_wanted and self.is_watched):
            yield None
            return
        reached: dict[str, float] = {}
        with self.bar(label, 200) as bar:

            def progress(log: str, nth: int, of: int) -> None:
                before = sum(reached.values())
                reached[log] = 100 * nth / of if of else 100
                bar.update(int(sum(reached.values())) - int(before))

            yield progress

    def keep_copy(self, what: str, path: Path | str) -> None:
        """Keep where texts of the home went, for who erases some of them."""
        from adapters.home.copies import Copied, keep_copy
        from domain.log.canonical import clean

        where = clean(str(Path(path).expanduser().absolute()))
        keep_copy(self.path, Copied(what, where, self.opened().services.clock.now()))

    def home_bar(
        self, home: "Home", label: str
    ) -> AbstractContextManager[Callable[[str, int, int], None] | None]:
        """A bar over both logs of a home, where somebody looks and it takes a while."""
        count = home.services.journal.count() + home.services.agents.count()
        return self.log_bar(label, is_wanted=count >= PROGRESS_FROM)

    def table(
        self, headings: Sequence[str], rows: Sequence[Sequence[object]], styles: Sequence[str] = ()
    ) -> None:
        """Print a table: drawn on a terminal, tab-separated with its headings in a pipe. `styles`:
        of each row on a terminal: ``bold``, or a colour; empty: none has one."""
        if self.as_json:
            return
        if not sys.stdout.isatty():
            for row in (headings, *rows):
                click.echo("\t".join(_plain(cell) for cell in row))
            return
        from adapters.text.columns import table_lines

        cells = [[_plain(cell) for cell in row] for row in rows]
        for nth, line in table_lines(headings, cells, _width()):
            click.echo(_styled(line, styles[nth] if styles and nth >= 0 else ""))


def _styled(text: str, style: str) -> str:
    """A text in bold or a colour."""
    if not style:
        return text
    return click.style(text, bold=True) if style == "bold" else click.style(text, fg=style)


def _command() -> str:
    """The command that runs, without the program's name."""
    context = click.get_current_context(silent=True)
    words = context.command_path.split()[1:] if context else []
    return " ".join(words[words[:1] in (["server"], ["dev"]) :])


def _width() -> int:
    """Of the terminal, in cells; the variable COLUMNS first."""
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _fitted(text: str, stream: TextIO) -> str:
    """A text whose lines no terminal breaks at its edge; in a pipe as it is."""
    if not stream.isatty():
        return text
    from adapters.text.columns import wrapped

    return "\n".join(line for one in text.split("\n") for line in wrapped(one, _width()))


def _plain(cell: object) -> str:
    """A cell in one line, without control characters that a terminal would obey."""
    return "" if cell is None else one_line(str(cell))


def option(
    named: str, told: str = "", kind: Any = None, shown: object = None, **settings: Any
) -> Callable[[F], F]:
    """An option with a value, as `--limit`, or `--label labels=L`: `labels` for the function, L in
    the help. `kind`: the type of its value; else a text. `shown`: a default that the help tells."""
    names, _, metavar = named.partition("=")
    if shown is not None:
        settings |= {"default": shown, "show_default": True}
    settings |= {"metavar": metavar or None, "help": told or None, "type": kind}
    return click.option(*names.split(), **settings)


def flag(named: str, told: str, **settings: Any) -> Callable[[F], F]:
    """An option that is given or not."""
    return option(named, told, is_flag=True, **settings)


def key_option(command: F) -> F:
    """``--key K``: makes a writing command safe to retry."""
    return named_key_option("--key")(command)


def named_key_option(name: str) -> Callable[[F], F]:
    """The same by another name, where ``--key`` means something else."""

    def keep(ctx: click.Context, _: click.Parameter, key: str) -> str:
        ctx.meta[TYPED_KEY] = key
        return key

    return option(f"{name} key=K", "Make a retry safe.", retry_key, default="", callback=keep)


def json_option(command: F) -> F:
    """``--json`` after the command's name, too."""

    def keep(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        session = ctx.find_object(Session)
        if value and session is not None:
            session.as_json = True

    printing = flag("--json", "Print one JSON document.", expose_value=False, callback=keep)
    return printing(command)


def yes_option(help_text: str) -> Callable[[F], F]:
    """``--yes``: agree to what would be asked."""

    def keep(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.ensure_object(Session).is_agreed = value

    return flag("--yes", help_text, expose_value=False, callback=keep)
