"""Upkeep: `wakelog recover`, `rebuild`, `doctor` and `completion`."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from adapters.cli.shared import NO_HOME, Session
from adapters.documents.deeds import (
    DoctorCheck,
    DoctorDetails,
    RebuiltViews,
    RecoveredStep,
    RecoveredSteps,
)
from adapters.documents.ranks import ranks_of
from adapters.text.common import ID_SHOWN, safe
from adapters.text.reading import counted
from adapters.text.remedies import in_words
from adapters.upkeep.doctor import examine
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.actions.recovering import Step
    from adapters.wiring import Home

PROGRESS_FROM = 20_000  # rows; fewer need no bar


# --------------------------------------------------------------------------- recover and rebuild


@click.command("recover", epilog="Example: wakelog recover")
@click.pass_obj
def recover_command(session: Session) -> None:
    """Finish what a crash left undone; doing it twice changes nothing more.

    Wakes that began and did not end go on, changes that were being applied are driven to their
    end, and proposals whose time has come expire. Exit status 1: something could not be
    finished.
    """
    from adapters.actions.recovering import recover_home

    home = session.reading()
    steps: Sequence[Step] = ()
    ranked: dict[str, int] = {}
    if home.exists:
        home = session.writing()
        ranked = ranks_of(home)
        steps = recover_home(
            home,
            lambda step: session.say(safe(_told(step, ranked)), style="red" * bool(step.error)),
        )
    if session.as_json:
        session.document(RecoveredSteps([_step_document(step, ranked) for step in steps]))
    elif not steps:
        session.say("Nothing to recover: every wake has its end, and every change its outcome.")
    raise SystemExit(1 if any(step.error for step in steps) else 0)


def _ref(step: "Step", ranked: dict[str, int]) -> str:
    if step.what == "wake":
        return step.about[:ID_SHOWN]
    name = str(ranked.get(step.about) or step.about[:ID_SHOWN])
    return f"{name}.{step.item}" if step.item else name


def _told(step: "Step", ranked: dict[str, int]) -> str:
    what = {
        "wake": "went on with the wake",
        "operation": "finished applying",
        "expiry": "expired what nobody decided of",
    }[step.what]
    return f"{what} {_ref(step, ranked)}: {in_words(step.error) or step.status}"


def _step_document(step: "Step", ranked: dict[str, int]) -> RecoveredStep:
    return RecoveredStep(
        what=step.what,
        ref=_ref(step, ranked),
        id=step.about,
        status=step.status or None,
        error=in_words(step.error) or None,
    )


@click.command("rebuild", epilog="Example: wakelog rebuild")
@click.pass_obj
def rebuild_command(session: Session) -> None:
    """Make the views anew from the logs.

    Views are what lists and pages are read from; nothing in them is truth, and they bring
    themselves up to date. This is for when you doubt them.
    """
    home = session.opened()
    with progress_bar(session, home, "Rebuilding") as progress:
        home.views.rebuild(progress)
    journal, agents = home.services.journal.tail().n, home.services.agents.tail().n
    if session.as_json:
        session.document(RebuiltViews(journal, agents))
    elif not home.exists:
        session.say(NO_HOME.format(home.place.name))
    else:
        where = " in memory: views.db cannot be written" * home.views.is_in_memory
        told = f"{counted(journal, 'append')} of the journal and {agents} of the agent log"
        session.say(f"Made all views anew{where} from {told}.")


# ------------------------------------------------------------------------- doctor and completion


@click.command("doctor", epilog="Example: wakelog doctor && wakelog prove")
@click.pass_obj
def doctor_command(session: Session) -> None:
    """Look for trouble in a home: its files, settings, agents and effects in doubt.

    It changes nothing. Exit status 1: there is something to see to.
    """
    session.check_named()
    findings = examine(session.place, os.environ, session.model)
    is_ok = all(one.is_ok for one in findings)
    if session.as_json:
        checks = [DoctorCheck(one.check, one.is_ok, one.told, one.do or None) for one in findings]
        session.document(DoctorDetails(is_ok, checks))
    for one in findings:
        mark = click.style("ok  ", fg="green") if one.is_ok else click.style("FIND", fg="red")
        do = f"; {one.do}" if one.do else ""
        session.say(f"{mark}  {one.check}: {safe(one.told + do)}")
    raise SystemExit(0 if is_ok else 1)


_FILES = {
    "bash": ("~/.bashrc", "wakelog completion bash"),
    "zsh": ("~/.zshrc", "wakelog completion zsh"),
    "fish": ("~/.config/fish/completions/wakelog.fish", "wakelog completion fish"),
}


@click.command("completion", epilog='Example: eval "$(wakelog completion bash)"')
@click.argument("shell", type=click.Choice(list(_FILES)))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print the shell's completion script; how to install it stands in its first lines."""
    made = get_completion_class(shell)
    if made is None:
        because = f"this version of click knows no completion for {shell}"
        raise Refused("invalid_value", because=because, instead=f"use {', '.join(_FILES)}")
    file, command = _FILES[shell]
    if shell == "fish":
        click.echo(f"# install: {command} > {file}")
    else:
        click.echo(f"# install: put this line into {file}:")
        click.echo(f'#   eval "$({command})"')
    group = ctx.find_root().command
    click.echo(made(group, {}, "wakelog", "_WAKELOG_COMPLETE").source())


# ------------------------------------------------------------------------------------- progress


@contextmanager
def progress_bar(
    session: Session, home: "Home", label: str
) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on stderr over both logs, where somebody looks at it and it takes a while."""
    count = home.services.journal.count() + home.services.agents.count()
    is_shown = count >= PROGRESS_FROM and sys.stderr.isatty()
    if not is_shown or session.is_quiet or session.as_json:
        yield None
        return
    reached: dict[str, float] = {}
    with click.progressbar(length=200, label=label, file=sys.stderr) as bar:

        def progress(log: str, nth: int, of: int) -> None:
            before = sum(reached.values())
            reached[log] = 100 * nth / of if of else 100
            bar.update(int(sum(reached.values())) - int(before))

        yield progress
