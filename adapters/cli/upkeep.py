"""Upkeep: `wakelog recover`, `doctor`, `backup`, `restore`, `health` for example."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import get_completion_class

from adapters.cli.lazy_groups import command
from adapters.cli.shared import NO_HOME, Session, flag, option
from adapters.documents import results
from adapters.documents.ranks import ranks_of
from adapters.documents.status import health_document
from adapters.home import files
from adapters.text.common import counted, safe
from adapters.text.remedies import in_words
from adapters.upkeep.backup import back_up
from adapters.upkeep.doctor import examine
from domain.errors import Refused, invalid

if TYPE_CHECKING:
    from adapters.proof.prove import Proved
    from adapters.sync.restore import IsLost
    from adapters.usecases.run_home import RecoveryStep

DAYS = click.IntRange(1, 36_500)
NOTHING_LEFT = "Nothing to recover: every wake has its end, and every change its outcome."


@command("recover")
def recover_command(session: Session) -> None:
    """Finish what a crash left undone; doing it twice changes nothing more.

    Wakes that began and did not end go on, changes that were being applied are driven to their
    end, and proposals whose time has come expire. Exit status 1: something could not be
    finished.
    """
    from adapters.usecases.run_home import step_document

    steps, ranked = _recover(session)
    if session.as_json:
        session.document(results.RecoveredSteps([step_document(step, ranked) for step in steps]))
    elif not steps:
        session.say(NOTHING_LEFT)
    raise SystemExit(1 if any(step.error for step in steps) else 0)


def _recover(session: Session) -> "tuple[Sequence[RecoveryStep], dict[str, int]]":
    """Finish what a crash left, and tell of each step; the steps, and the numbers of sets."""
    from adapters.upkeep.erase import finish_erasure
    from adapters.usecases.run_home import recover_home

    if not session.reading().exists:
        return (), {}
    home = session.writing()
    if finish_erasure(home):
        session.say("Ended an erasure that was cut off.")
    ranked = ranks_of(home)

    def tell(step: "RecoveryStep") -> None:
        session.say(safe(_told(step, ranked)), style="red" * bool(step.error))

    return recover_home(home, tell), ranked


def _told(step: "RecoveryStep", ranked: dict[str, int]) -> str:
    from adapters.usecases.run_home import step_ref

    what = {
        "wake": "went on with the wake",
        "operation": "finished applying",
        "expiry": "expired what nobody decided of",
    }[step.what]
    return f"{what} {step_ref(step, ranked)}: {in_words(step.error) or step.status}"


@command("rebuild")
def rebuild_command(session: Session) -> None:
    """Make the views anew from the logs.

    Views are what lists and pages are read from; nothing in them is truth, and they bring
    themselves up to date. This is for when you doubt them.
    """
    session.printed(_rebuild(session))


def _rebuild(session: Session) -> results.RebuiltViews:
    """Make the views anew, and tell of it."""
    home = session.opened()
    with session.home_bar(home, "Rebuilding") as progress:
        home.views.rebuild(progress)
    journal, agents = home.services.journal.tail().n, home.services.agents.tail().n
    if not home.exists:
        session.say(NO_HOME.format(home.place.name))
    else:
        where = " in memory: views.db cannot be written" * home.views.is_in_memory
        told = f"{counted(journal, 'append')} of the journal and {agents} of the agent log"
        session.say(f"Made all views anew{where} from {told}.")
    return results.RebuiltViews(journal, agents)


@command("doctor", example=("&& wakelog prove", "--fix"))
@flag("--fix", "First `recover` and `rebuild`.")
def doctor_command(session: Session, *, fix: bool) -> None:
    """Look for trouble in a home: its files, settings, agents and effects in doubt.

    Without --fix it changes nothing; with it what a crash left is finished and the views are made
    anew first. Exit status 1: there is something to see to.
    """
    session.check_named()
    if fix:
        steps, _ = _recover(session)
        session.say(NOTHING_LEFT * (not steps))
        _rebuild(session)
    findings = examine(session.place, os.environ, session.model)
    is_ok = all(one.is_ok for one in findings)
    checks = [
        results.DoctorCheck(one.check, one.is_ok, one.told, one.do or None) for one in findings
    ]
    session.printed(results.DoctorDetails(is_ok, checks))
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


@command("completion", epilog='Example: eval "$(wakelog completion bash)"')
@click.argument("shell", type=click.Choice(list(_FILES)))
def completion_command(_: Session, shell: str) -> None:
    """Print the shell's completion script; how to install it stands in its first lines."""
    import adapters.cli.completion  # noqa: F401  which knows how bash lists values

    made = get_completion_class(shell)
    if made is None:
        because = f"this version of click knows no completion for {shell}"
        raise invalid(because, f"use {', '.join(_FILES)}")
    file, command = _FILES[shell]
    if shell == "fish":
        click.echo(f"# install: {command} > {file}")
    else:
        click.echo(f"# install: put this line into {file}:")
        click.echo(f'#   eval "$({command})"')
    group = click.get_current_context().find_root().command
    click.echo(made(group, {}, "wakelog", "_WAKELOG_COMPLETE").source())


# ---------------------------------------------------------- for the machine that looks after a home

NO_HOME_HERE = "there is no home at {}"
ASKED_LOST = "Is the home that this is a backup of gone for good?"


@command("backup", "folder=DIR", example="~/backups/2027-01-01")
def backup_command(session: Session, folder: str) -> None:
    """Copy the home into a new folder, while it is worked in.

    Both logs are copied whole and looked at; views and leases are left out, they are made anew.
    A backup that fails or is stopped leaves nothing behind. One of a home in a database is a
    folder, too. `wakelog restore DIR` makes a home of it again; to look into it, name it with
    --home.
    """
    if not session.place.exists():
        raise invalid(NO_HOME_HERE.format(session.path), "name one with --home")
    target = Path(folder).expanduser().absolute()
    is_copied = not session.place.is_folder
    with _heeding_sigterm(), session.log_bar("Copying", is_wanted=is_copied) as told:
        made = back_up(session.place, target, told or (lambda *_: None))
    session.keep_copy("backup", target)
    size = sum(one.stat().st_size for one in made)
    session.tell(
        results.BackupDetails(True, str(target), [one.name for one in made], size),
        safe(f"{target}: {counted(len(made), 'file')}, {size:,} bytes"),
    )
    session.note(safe(f"Prove it with `wakelog --home {target} prove`."))


@command("restore", example=("~/backups/2027-01-01", "/mnt/b --lost"))
@click.argument("backup", type=click.Path(), metavar="BACKUP")  # read before there is a home
@option(
    "--lost/--beside is_lost",
    "The home that it is of is gone for good; or goes on, and this is one more machine.",
    default=None,
)
@option("--was=NAME", "Who wrote it, if the backup does not say.", default="")
def restore_command(session: Session, backup: str, was: str, *, is_lost: bool | None) -> None:
    """Make a home of a backup again, in the place of what is there, which is moved aside.

    It is written under a new name from then on: others may have what the old one wrote since. Of a
    home that machines share you are asked whether the old one is gone for good: then this one has
    its label, leads where that led, and goes on with what it had in hand; else it is one more
    machine, in a folder of its own. Nothing is lost that other machines have: `wakelog sync`.

    With --home pg:NAME it is made in a database, where nothing may be of that name; machines share
    none there.

    A backup that was changed since it was made is refused. Cut off, it is ended by saying it again.
    The home is proved at the end; exit status 1: it is back, and something in it differs.
    """
    source = Path(backup).expanduser().absolute()

    def told_lost(note: files.BackupNote) -> bool:
        if is_lost is not None or not note.is_shared:
            return is_lost is not False
        if not session.can_ask:
            because = "machines share this home, and its old one may still write"
            raise invalid(because, "say --lost if it is gone for good, else --beside")
        return click.confirm(ASKED_LOST, err=True)

    details, proved = restore_home(session, source, told_lost, was)
    session.printed(details)
    tell_restored(session, details, proved)


def restore_home(
    session: Session, source: Path, is_lost: "IsLost", was: str = ""
) -> "tuple[results.RestoredDetails, Proved]":
    """Make a home of a backup, and prove it."""
    from adapters.proof.incremental import prove_remembering
    from adapters.sync.restore import restore

    place, environ, is_copied = session.place, os.environ, not session.place.is_folder
    with _heeding_sigterm(), session.log_bar("Copying", is_wanted=is_copied) as bar:
        told = bar or (lambda *_: None)
        did = restore(source, place, environ, was=was, is_lost=is_lost, told=told)
    home = session.opened()
    with session.home_bar(home, "Proving") as progress:
        proved = prove_remembering(home, os.environ, progress)
    details = results.RestoredDetails(
        True,
        session.place.name,
        did.replica,
        did.was or None,
        did.at,
        did.aside or None,
        did.label or None,
        did.leads,
        did.meets or None,
        did.recovered,
        proved.ok,
        did.erased,
    )
    return details, proved


def tell_restored(session: Session, did: results.RestoredDetails, proved: "Proved") -> NoReturn:
    """Say what a restore made, and end with the exit status."""
    from adapters.cli.proof import tell_proof
    from adapters.text.sync import restored_lines

    if not session.as_json:
        tell_proof(session, proved)
        session.say_each(restored_lines(did, session.opened().settings.timezone))
    raise SystemExit(0 if proved.ok else 1)


@command(
    "erase",
    "[what]",
    "[name]",
    "[part]",
    example=('task "Call the clinic"', 'note "Call the clinic" 2 --dry-run', "--list"),
)
@flag("--derived", "Also notes and agents of others that speak of it.")
@flag("--keep-agent", "Of a note or block: leave agents that read it.")
@flag("--dry-run", "Say what would go, and change nothing.")
@flag("--sure", "Do not ask for the title.")
@flag("--list is_list", "List what was erased.")
def erase_command(
    session: Session, what: str, name: str, part: str | None, *, dry_run: bool, sure: bool,
    **of: bool,
) -> None:  # fmt: skip
    """Take a person's words out of the home for good.

    `erase task TASK` takes the task with its agents and all they wrote, `erase agent AGENT` the
    agent and leaves what it changed. `erase note TASK NOTE` and `erase block DATE START` take the
    agents along that were told of it in each prompt since; what is kept of a file that brought a
    note goes with its task alone. `erase category CATEGORY` takes its tasks, its name and labels.

    Rows become marks that keep their digests, so that `prove` still proves the rest and says what
    is gone. What other tasks say of it stays, and is named; --derived takes notes and agents that
    do. Other machines of the home erase it when they sync. It cannot be undone: you are asked to
    type its title. Backups, exports, files that were imported and what a provider was sent are not
    in reach.

    Exit status 1: a file still holds a text; it is named.
    """
    from adapters.text.erasure import erased_lines, erasure_lines, plan_lines
    from adapters.upkeep.erase import erase as erase_for_good
    from adapters.upkeep.erase import erasures, pick_erased, plan_erasure
    from adapters.usecases.erasing import check_whole, kind_named, unit_named

    if of["is_list"]:
        listed = erasures(session.reading())
        if not session.printed(listed):
            session.say_each(erasure_lines(listed, session.reading().settings.timezone))
        return
    part = part or ""
    kind = kind_named(what, name, part, keeps_agent=of["keep_agent"])
    session.check_named()
    home = session.reading() if dry_run else session.writing(is_asking=False)
    if not dry_run:
        home.place.check_erasing()
    try:
        entity, again = unit_named(home, what, name, part), False
    except Refused:
        if not (entity := pick_erased(home, what, part or name)):
            raise
        again = True
    is_asking = not (dry_run or sure or again)
    if is_asking and not session.can_ask:
        because = "what is erased cannot be brought back"
        raise Refused("not_sure", because=because, instead="say --sure, or first --dry-run")
    plan = plan_erasure(home, kind, entity)
    if sure:
        check_whole(plan.title, what, entity, name)
    if not (session.as_json or again):
        is_database = not home.place.is_folder
        told = plan_lines(plan.document(), is_derived=of["derived"], is_database=is_database)
        session.say_each(told)
    if dry_run:
        session.printed(plan.document())
        return
    if is_asking:
        typed = click.prompt(f"It cannot be undone. Type {ASKED.get(what, 'its title')}", err=True)
        if typed.strip() != plan.title.strip():
            because = f"that is not {ASKED.get(what, 'its title')}, {plan.title!r}"
            raise Refused("not_sure", because=because, instead="nothing was erased")
    did = erase_for_good(home, kind, entity, derived=of["derived"])
    if not session.printed(details := plan.document(did)):
        session.say_each(erased_lines(details))
        if home.services.journal.is_shared:
            session.note("The other machines erase it when they sync: `wakelog sync` here first.")
    raise SystemExit(1 if did.left else 0)


ASKED = {"note": "its task's title", "block": "its date and start", "category": "its name"}


@command("retain", example=("--prompts 90 --compact", "--replies 365 --dry-run"))
@option("--prompts=DAYS", "Drop prompts that are older.", DAYS)
@option("--replies=DAYS", "Drop replies' bytes that are older.", DAYS)
@flag("--compact", "Write the file anew, so that it gets smaller.")
@flag("--dry-run", "Say what would go, and change nothing.")
def retain_command(
    session: Session, *, prompts: int | None, replies: int | None, compact: bool, dry_run: bool
) -> None:
    """Drop what the agents' log keeps of wakes of long ago and need not.

    A prompt goes only if today's code renders it again to the same bytes and nothing newer has it;
    `prove`, `show RUN --prompt` and `replay` then render it. Of a reply the provider's bytes go;
    its text, calls and tokens stay. So this is no way to erase anything: see `wakelog erase`. The
    other machines of a shared home keep theirs.

    Days that are not named are those of the settings, `[retain] prompts_days` and `replies_days`,
    which `wakelog run` goes by once a day. A file of which a third is free then is written anew.
    """
    from adapters.text.retention import retained_lines
    from adapters.upkeep.retain import retain

    session.check_named()
    home = session.opened() if dry_run else session.writing(is_asking=False)
    if compact and not home.place.is_folder:
        raise invalid("a database keeps no file of a home", "say `wakelog database scrub`")
    if not (prompts or replies):
        prompts, replies = home.settings.retain.prompts_days, home.settings.retain.replies_days
    if not (prompts or replies):
        raise invalid("it is not said what to drop", "say --prompts DAYS, --replies DAYS, or both")
    with session.steps("Rendering") as progress:
        did = retain(
            home, prompts or 0, replies or 0, is_dry=dry_run, is_compact=compact, progress=progress
        )
    if not session.printed(did):
        session.say_each(retained_lines(did, is_prompts=bool(prompts), is_replies=bool(replies)))


@contextmanager
def _heeding_sigterm() -> Iterator[None]:
    """A shutdown stops it as Ctrl-C does: what is half done is taken away first."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@command("health", example="|| systemctl --user restart wakelog")
def health_command(session: Session) -> None:
    """Say whether agents are awake: a runtime lives, and nothing waits that should not.

    For a home in a database any worker that lives will do; that of one worker is `worker --health`.

    Exit status 1: something is wrong.
    """
    check_health(session)


def check_health(session: Session) -> None:
    """Tell whether agents are awake, and end with the exit status."""
    home = session.reading()
    if not home.exists:
        raise invalid(NO_HOME_HERE.format(session.path), "begin with `wakelog demo`")
    health = health_document(home)
    session.printed(health)
    for one in health.checks:
        mark = click.style("ok  ", fg="green") if one.ok else click.style("FIND", fg="red")
        session.say(f"{mark}  {one.check}: {safe(one.message)}")
    raise SystemExit(0 if health.ok else 1)
