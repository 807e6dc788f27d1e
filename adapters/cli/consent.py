"""A person is asked before something leaves the machine: once, and only where somebody can answer.

Every command that would send calls `ask_consent` first. Who says no, or cannot be asked, loses
nothing: the wake waits, and `tell_held` names the command that opens the gate.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from adapters.cli.shared import Session
from adapters.text.common import safe
from domain.errors import Refused

if TYPE_CHECKING:
    from adapters.home.prices import CostOf
    from adapters.wiring import Home

QUESTION = "Do you agree?"
WIDTH = 80


def agrees(text: str) -> bool:
    """Show a notice and ask once."""
    show_notice(text)
    return click.confirm(QUESTION, default=False, err=True)


def show_notice(text: str) -> None:
    """Print a notice, its long lines broken."""
    for line in safe(text).splitlines():
        click.echo(textwrap.fill(line, WIDTH, subsequent_indent="  "), err=True)


def consent(session: Session, agent_ids: Sequence[str]) -> None:
    """After agents were given another model: ask, or say what opens the gate."""
    home = session.writing()
    ask_consent(session, home, agent_ids)
    tell_held(session, home, agent_ids)


def ask_consent(session: Session, home: "Home", agent_ids: Iterable[str]) -> None:
    """Ask for the receipts that agents lack, on a terminal; give those that are agreed to."""
    from adapters.usecases import policy

    if session.has_declined or not session.can_ask:
        return
    for one in policy.needed(home, agent_ids):
        if agrees(one.text):
            policy.allow(home, one.model, one.category_ids)
            session.note("Agreed; take it back at any time with `wakelog policy withdraw`.")
        else:
            session.has_declined = True
            click.echo(safe(f"Nothing is sent. To agree later: `{one.command}`"), err=True)


def tell_held(session: Session, home: "Home", agent_ids: Iterable[str]) -> None:
    """Say what opens the gate before some agents, unless that was said already."""
    from adapters.usecases import policy

    if session.has_declined:
        return
    for one in policy.needed(home, agent_ids):
        told = f"Nothing goes to {one.model} before you agree to it: `{one.command}`"
        click.echo(safe(told), err=True)


TOKENS_UNASKED = 200_000
"""That a model far away may take where nobody was asked."""


def agreed_tokens(
    session: Session, told: str, about: Mapping[str, int], costs: "CostOf", wanted: int | None
) -> int:
    """Ask before something is sent that takes tokens; how many it may take. `told`: what goes
    where; `about`: how many of each model it takes, as far as can be told; `wanted`: the limit that
    was given. Raises Refused: nobody can be asked."""
    from adapters.home.prices import WHOLE
    from domain.ports import Usage

    about = {model: -(-tokens // 1000) * 1000 for model, tokens in about.items()}
    tokens = sum(about.values())
    limit = min(wanted, tokens) if wanted else tokens
    prices = [costs(model, Usage(size, 0)) for model, size in about.items()]
    known = [one for one in prices if one is not None]
    paid = f", {sum(known) / WHOLE:.2f} by your prices" if len(known) == len(prices) else ""
    told = f"{told}: up to about {tokens:,} tokens{paid}"
    if session.is_agreed:
        session.note(f"{told}.")
        return wanted or (limit if session.can_ask else TOKENS_UNASKED)
    if not session.can_ask:
        raise Refused("privacy_confirmation_required", because=told, instead="agree with --yes")
    click.confirm(safe(f"{told}. Go on?"), abort=True, err=True)
    return limit
