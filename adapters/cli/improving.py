"""`wakelog template improve` and `wakelog template sessions`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from adapters.cli.lazy_groups import command, keyed
from adapters.cli.param_types import TEXT
from adapters.cli.shared import Session, option
from adapters.documents.improving import session_document
from adapters.documents.tasks import catalog_of, category_named
from adapters.text.common import local_time, run_shown, safe
from adapters.usecases import improving, templates
from adapters.usecases.agents import AgentOptions

if TYPE_CHECKING:
    from adapters.usecases.agents import TimerResult
    from adapters.usecases.wake_agents import Requested
    from adapters.wiring import Home

PROMPT = "you> "
NO_SESSIONS = "No session yet. `wakelog template improve {}` begins one."


@keyed("template improve", "template", "[words]=[WORDS]", example=("Laura", 'Laura "Fewer dates."'))
@option("--category categories=C", "Whose texts it may read; else the template's.", multiple=True)
@option("--model=M", "What it asks; else the home's.", default="")
@option("--weekly=WHEN", 'It looks by itself, "monday 09:00"; or none.', default="")
def template_improve(
    session: Session, template: str, words: str | None, categories: Sequence[str], model: str,
    weekly: str, key: str,
) -> None:  # fmt: skip
    """Let an agent improve a template's wording: it reads how its proposals fared, and proposes.

    It is told facts: figures by version, your reasons and edits, stars, of half of the wakes; and
    what you say now. What it proposes waits in the inbox, beside what is in force; nothing changes
    until you confirm it. It is made where there is none; --category and --model are of a new one.
    With --weekly it looks by itself; a week with fewer than five new facts asks nobody.
    """
    from adapters.cli.wake import tell_made, tell_woken, woken
    from adapters.usecases.wake_agents import answer_of, check_words

    if words:
        check_words(words)
    home = session.writing()
    wanted = templates.pick_used(home, template)
    catalog = catalog_of(home)
    ids = [category_named(catalog, name).id for name in categories]
    made = improving.improver(home, wanted, AgentOptions(model=model), ids)
    timer = improving.set_weekly(home, made.agent, weekly, key) if weekly else None
    tell_made(session, home, made)
    if not session.as_json:
        session.say(safe(improving.figures_told(home, wanted)))
    if weekly:
        session.say(safe(_weekly(timer, home.settings.timezone)))
        if words is None:
            session.printed(session_document(home, wanted, made.agent, "", ""))
            return
    said = _asked(session) if words is None else words
    asked: list[Requested] = []

    def queue() -> "Requested":
        asked.append(improving.ask(home, made.agent, said, key))
        return asked[0]

    document, error = woken(session, home, made.agent, queue)
    answer = "" if error else answer_of(home, asked[0], document).answer or ""
    told = session_document(home, wanted, made.agent, document.run_key, answer)
    if error or document.outcome != "completed":
        raise SystemExit(tell_woken(session, home, document, error))
    if session.printed(told):
        return
    session.say(safe(answer))
    _tell_proposals(session, home, told.proposals)


def _weekly(timer: "TimerResult | None", zone: str) -> str:
    if timer is None:
        return "It looks only when you ask."
    return f"It looks {timer.schedule}, {timer.zone}; next {local_time(timer.next_at, zone)}."


def _asked(session: Session) -> str:
    """What the person says to it; nothing where nobody is there, or nothing is typed."""
    if not session.can_ask:
        return ""
    return TEXT(click.prompt(PROMPT, default="", show_default=False, prompt_suffix="", err=True))


def _tell_proposals(session: Session, home: "Home", refs: Sequence[str]) -> None:
    from adapters.cli.inbox import tell_items

    if not refs:
        session.say("It proposes nothing.")
        return
    tell_items(session, home, refs)
    if session.can_ask:
        from adapters.cli.rehearse import offer

        offer(session, refs[-1])


@command("template sessions", "template", example="Laura")
def template_sessions(session: Session, template: str) -> None:
    """See the sessions about a template, and what became of what they proposed.

    Rate one with `wakelog rate RUN STARS`.
    """
    home = session.reading()
    wanted = templates.pick_used(home, template)
    found, zone = improving.sessions(home, wanted), home.settings.timezone
    rows = (
        (
            run_shown(one.run_key),
            local_time(one.at, zone),
            one.outcome or "",
            one.proposal or "",
            one.status or "",
            one.stars or "",
            one.summary or "",
        )
        for one in found
    )
    headings = ("Run", "When", "Ended", "Proposal", "Became", "Stars", "What")
    session.listing(found, headings, rows, NO_SESSIONS.format(safe(template)))
