"""`wakelog policy`: what may leave this machine, and to whom."""

from collections.abc import Sequence

import click
import msgspec

from adapters.cli.consent import agrees, show_notice
from adapters.cli.lazy_groups import command, group, keyed
from adapters.cli.shared import Session, flag, option
from adapters.documents.policy import Preview
from adapters.documents.timetravel import prompt_text
from adapters.text.common import counted, safe
from adapters.text.policy import policy_lines, rule_line
from adapters.usecases import policy
from adapters.usecases.policy import preview
from adapters.usecases.resolve import pick_agent
from domain.errors import invalid

_categories = option(
    "--category categories=C",
    "Only for agents of this category; else for all there are.",
    multiple=True,
)


@group(
    "policy",
    epilog="MODEL is a model, as gemini:NAME, or a provider, as gemini, for all of its, or an "
    "address, as openai:*@http://localhost:11434.",
)
def policy_command() -> None:
    """See and say what may leave this machine, and to whom.

    Models that answer here (rules, demo, tape) need no consent. To any other one nothing is sent
    before you have agreed to what it is sent; a wake that needs it waits, and nothing is lost.
    """


@command("policy show")
def policy_show(session: Session) -> None:
    """Show what you agreed to, which models are ruled out, and what waits for you."""
    home = session.reading()
    document = policy.standing(home)
    session.tell(document, *policy_lines(document, home.settings.timezone))


@keyed("policy allow", "model", example=("gemini", "gemini --category Work"))
@_categories
@flag("--yes", "Do not ask once more on a terminal.")
def policy_allow(
    session: Session, model: str, categories: Sequence[str], key: str, *, yes: bool
) -> None:
    """Agree to what a model is sent; prints what that is. What waited for it goes on."""
    text = policy.notice_text(session.reading(), model, categories)
    if yes or not session.can_ask:
        show_notice(text)  # to type the command is to agree
    elif not agrees(text):
        session.say("Nothing was agreed to, and nothing is sent.")
        return
    given = policy.allow(session.writing(), model, categories, key)
    done = "Agreed to" if given.changed else "Agreed to already"
    session.tell(given, safe(f"{done}: {given.model} for {', '.join(given.categories)}"))
    if given.resumed:
        session.note(f"{counted(given.resumed, 'wake')} may go on; run them with `wakelog wake`.")


@keyed("policy withdraw", "model", example=("gemini", "gemini --category Work"))
@_categories
def policy_withdraw(session: Session, model: str, categories: Sequence[str], key: str) -> None:
    """Take back what you agreed to; from now on nothing more is sent."""
    given = policy.withdraw(session.writing(), model, categories, key)
    done = "Withdrawn" if given.changed else "There was nothing to withdraw"
    named = ", ".join(given.categories) or "every category"
    session.tell(given, safe(f"{done}: {given.model} for {named}"))


@keyed(
    "policy models", example=("Health rules", "Health", "Health --any", "--every rules 'gemini:*'")
)
@click.argument("words", nargs=-1, metavar="[CATEGORY] [PATTERN]...")
@flag("--every", "A rule for every category; name patterns only.")
@flag("--any is_any", "Lift the rule.")
def policy_models(
    session: Session, words: Sequence[str], key: str, *, every: bool, is_any: bool
) -> None:
    """Say which models agents of a category may ask; without patterns, show it.

    A wake of any other model is skipped. A pattern is a model, or PROVIDER:* for all of its.
    """
    category, patterns = ("", words) if every else (words[0] if words else "", words[1:])
    if not every and not category:
        raise invalid("no category is named", "name one, or use --every")
    if is_any and patterns:
        raise invalid("models are named, and --any lifts the rule", "do one of both")
    ruled = (
        policy.rule(session.writing(), category, patterns, key)
        if patterns or is_any
        else policy.ruling(session.reading(), category)
    )
    session.tell(ruled, safe(rule_line(ruled.category, ruled.allowed)))


@command("policy try", "agent=TASK", example='"Fix the sink"')
def policy_try(session: Session, agent: str) -> None:
    """Print byte for byte what the model of a task's agent would be sent now.

    The texts that it would read, and the tools that it would be offered. Nothing is sent and
    nothing is written; where it would go is told on stderr.
    """
    home = session.reading()
    found, request = preview(home, pick_agent(home, agent))
    if session.printed(found):
        return
    tools = msgspec.json.encode(request.tools).decode()
    session.exactly(f"{prompt_text(request)}\n\n{tools}")
    session.note(_where(found))


def _where(found: Preview) -> str:
    """Where a request would go, and what stands in its way."""
    told = f"This would go to {found.model}" if found.leaves else f"{found.model} answers here"
    held = f", but {found.because}: see `wakelog policy show`" if found.because else ""
    return f"{told}{held}. {counted(found.secrets_replaced, 'secret')} replaced."
