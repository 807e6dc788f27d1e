"""`wakelog confirm`, `reject` and `defer`: a person's say about what agents propose."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from adapters.actions.deciding import Verdict, put_off
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, json_option, key_option
from adapters.cli.verdicts import decide, read_edit
from domain.errors import Refused


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for add in (
        click.pass_obj,
        json_option,  # before the options that are not of all verdicts
        key_option,
        click.option("--all", "is_all", is_flag=True, help="A whole set; alone: all in the inbox."),
        click.argument("refs", type=TEXT, nargs=-1, metavar="SET[.ITEM]..."),
    ):
        command = add(command)
    return command


def _reason_option(command: Callable[..., Any]) -> Callable[..., Any]:
    help_text = "Why; the agent is told."
    return click.option("--reason", type=TEXT, default="", metavar="R", help=help_text)(command)


def _yes_option(command: Callable[..., Any]) -> Callable[..., Any]:
    def keep(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.ensure_object(Session).is_agreed = value

    option = click.option(
        "--yes", is_flag=True, expose_value=False, callback=keep, help="Do not ask before all."
    )
    return option(command)


@click.command(
    "confirm",
    epilog="Examples: wakelog confirm 3.1; wakelog confirm 3 --all; "
    "wakelog confirm 3.1 --edit minutes=45 due=monday",
)
@_options
@click.option("--edit", type=TEXT, default="", metavar="A=V", help="What to change first; or JSON.")
@_yes_option
@click.option("--anyway", "is_anyway", is_flag=True, help="Apply it though it is stale.")
@click.option("--conclude", "concludes", is_flag=True, help="Then set the task done.")
def confirm_command(
    session: Session,
    *,
    refs: Sequence[str],
    is_all: bool,
    edit: str,
    is_anyway: bool,
    concludes: bool,
    key: str,
) -> None:
    """Apply proposed changes to the task, one after the other.

    A stale one, whose values have changed since it was proposed, is refused without --anyway.
    Exit status 1: some were not applied.
    """
    # a shell hands what stands behind the first of `--edit a=1 b=2` over as names
    edit = " ".join([edit, *(one for one in refs if edit and "=" in one)]).strip()
    refs = [one for one in refs if not (edit and "=" in one)]
    is_one = len(refs) == 1 and "." in refs[0] and not is_all
    if (edit or concludes) and not is_one:
        because = "--edit changes one item" if edit else "--conclude goes with one item"
        raise Refused("invalid_value", because=because, instead="name it, 3.1 for example")

    if edit:
        read_edit(edit)
    verdict = Verdict("confirm", edit=edit, is_anyway=is_anyway, concludes=concludes)
    raise SystemExit(decide(session, verdict, refs, key, is_all=is_all))


@click.command("reject", epilog='Example: wakelog reject 3.2 --reason "We have one already"')
@_options
@_reason_option
@_yes_option
def reject_command(
    session: Session, *, refs: Sequence[str], is_all: bool, reason: str, key: str
) -> None:
    """Decline proposed changes; a declined label is not proposed for the task again."""
    raise SystemExit(decide(session, Verdict("reject", reason), refs, key, is_all=is_all))


@click.command("defer", epilog="Example: wakelog defer 3 --all --until monday")
@_options
@_reason_option
@click.option(
    "--until", type=TEXT, default="", metavar="DAY", help="monday, +3d: the inbox shows them then."
)
def defer_command(
    session: Session, *, refs: Sequence[str], is_all: bool, reason: str, until: str, key: str
) -> None:
    """Put proposed changes off: they leave the inbox, and can still be decided."""
    verdict = put_off(session.reading(), reason, until) if until else Verdict("defer", reason)
    raise SystemExit(decide(session, verdict, refs, key, is_all=is_all))
