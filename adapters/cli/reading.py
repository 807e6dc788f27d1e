"""Read: `wakelog report`, `journal`, `messages`, `wakes` and `why`."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, option
from adapters.documents import agent_output
from adapters.documents.agents import agent_names
from adapters.documents.policy import waiting
from adapters.documents.wakes import (
    WakeLine,
    run_document,
    run_named,
    wake_lines,
    wake_of,
    wakes_found,
)
from adapters.text import agent_output as words
from adapters.text.common import ID_SHOWN, local_time, run_shown, safe, typed
from adapters.text.policy import held
from adapters.usecases.resolve import pick_agent, pick_task
from domain.agent.wake_queue import QUIET
from domain.errors import Refused
from projections.wakes import VIEW

if TYPE_CHECKING:
    from adapters.wiring import Home

OUTCOMES = ("completed", "failed", "skipped", "superseded")
STATES = ("queued", "running", "waiting")
COUNT = click.IntRange(min=1)
_CHANGE = re.compile(r"journal:(?:(.{1,40}):)?([0-9]{1,12})")
WHO = "TASK or AGENT is an id, the beginning of one, or words of a title or name."


@command("report", "task=TASK|AGENT", example=f'"Fix the sink". {WHO}')
@flag("--history", "Its earlier reports, too.")
def report_command(session: Session, task: str, *, history: bool) -> None:
    """Read what an agent says about its task."""
    home = session.reading()
    agent_id = pick_agent(home, task)
    document = agent_output.report_document(home, agent_id)
    if session.printed(document):
        return
    name, zone = home.services.agent(agent_id).name, home.settings.timezone
    if document.run_key is None:
        hint = session.hint(f'Write one with `wakelog wake "{safe(name)}"`.')
        session.say(f"{safe(name)}: no report yet. {hint}")
        session.say_each(words.last_wake(document))
        return
    session.say_each(words.report_head(document, name, zone))
    session.say()
    session.markdown(document.content or "")
    told = words.report_history(document, zone)
    if history:
        session.say("\n".join(["", "Earlier reports:", *(told or ["  none"])]))
    elif told:
        session.note(f"\n{len(told)} earlier; see them with --history.")


@command("journal", "task=TASK|AGENT", example=f'"Fix the sink" --limit 5. {WHO}')
@option("--limit=N", "At most.", COUNT, shown=50)
def journal_command(session: Session, task: str, limit: int) -> None:
    """Read an agent's private observations, the newest first."""
    home = session.reading()
    agent_id = pick_agent(home, task)
    found = agent_output.journal_documents(home, agent_id, limit)
    name, zone = safe(home.services.agent(agent_id).name), home.settings.timezone
    none = f"{name}: no observations yet. Agents make them when they wake."
    rows = (
        (local_time(one.at, zone), one.run_key[:ID_SHOWN], one.priority, one.category, one.text)
        for one in found
    )
    session.listing(found, ("When", "Wake", "Priority", "Category", "Observation"), rows, none)


@command("messages", "agent=AGENT|TASK", example='"Fix the sink" --thread nb5evlz4 --limit 20')
@option("--thread=T", "Only this run key or session; 8 letters do.", default="")
@option("--limit=N", "The newest N.", COUNT, shown=100)
def messages_command(session: Session, agent: str, thread: str, limit: int) -> None:
    """Read an agent's messages, thread by thread, the newest thread last.

    A thread is a wake, headed by its run key, or a session of questions and answers, headed by
    its name as `agent ask` prints it. With --json they are `agent:run:` and `agent:session:`.
    """
    home = session.reading()
    agent_id = pick_agent(home, agent)
    found = agent_output.thread_documents(home, agent_id, thread, limit)
    if session.printed(found):
        return
    if not found:
        what = f"no thread {thread!r}" if thread else "no messages yet"
        instead = "Leave --thread out to see all." if thread else "They come when it wakes."
        session.say(f"{safe(home.services.agent(agent_id).name)}: {what}. {instead}")
        return
    for nth, one in enumerate(found):
        session.say(("\n" if nth else "") + words.thread_heading(one), style="cyan")
        session.say_each(words.thread_lines(one, home.settings.timezone))


@command("wakes", "[task]=[TASK|AGENT]", example=("", f'"Fix the sink". {WHO}'))
@option("--limit=N", "At most.", COUNT, shown=20)
@option(
    "--outcome", "Ended so, or, without an end, standing so.", click.Choice([*OUTCOMES, *STATES])
)
@flag("--all is_all", "Each timer wake that met nothing new, too.")
def wakes_command(
    session: Session, task: str | None, limit: int, outcome: str | None, *, is_all: bool
) -> None:
    """List wakes, the newest first."""
    home = session.reading()
    shelf = pick_agent(home, task) if task is not None else None
    found = wakes_found(home, shelf, outcome or "", limit)
    documents = wake_lines(home, found[:limit])
    if session.as_json:
        session.document(documents)
    elif found:
        _table(session, home, documents, is_all=is_all)
        shown_keys = {one.run_key.partition("@")[0] for one in documents}
        count = len({one.key for one in found}) if outcome else home.views.count(VIEW, shelf=shelf)
        if (more := count - len(shown_keys)) > 0:
            session.note(f"{more} older; raise --limit to see them.")
        session.note("See one step by step with `wakelog show RUN`.")
    else:
        none = f"No wake is {outcome}." if outcome else "No wakes yet."
        session.say(session.hint(f"{none} Wake all that are queued with `wakelog wake`."))


def _table(
    session: Session, home: "Home", documents: "Sequence[WakeLine]", *, is_all: bool
) -> None:
    names = agent_names(home, {one.agent_id for one in documents})
    zone = home.settings.timezone
    rows: list[tuple[object, ...]] = []
    for is_idle, group in groupby(documents, lambda one: one.error_code in QUIET):
        ones = [*group]
        if is_idle and len(ones) > 1 and not is_all:
            when = local_time(ones[0].queued_at, zone)
            told = f"{len(ones)} timer wakes met nothing new"
            rows.append(("", told, "timer", when, "skipped", 0, 0, ""))
            continue
        rows += [
            (
                run_named(home, one.run_key, ID_SHOWN),
                names.get(one.agent_id, one.agent_id[:ID_SHOWN]),
                words.reason_told(one),
                local_time(one.started_at or one.queued_at, zone),
                words.outcome_text(one) + f" ({one.error_code})" * bool(one.error_code),
                one.tool_calls,
                one.proposals,
                one.model,
            )
            for one in ones
        ]
    headings = "Run Agent Reason When Outcome Calls Items Model"
    session.table(headings.split(), rows)
    if len(rows) < len(documents):
        session.note("--all lists each timer wake.")


def show_wake(session: Session, home: "Home", run_key: str, *, is_prompt: bool) -> None:
    """Tell of a wake step by step, or only what the model was shown."""
    if is_prompt:
        _prompt(session, home, run_key)
        return
    document = run_document(home, run_key)
    if session.printed(document):
        return
    name = home.services.agent(document.agent_id).name
    session.say_each(
        words.run_lines(document, name, home.settings.timezone, run_named(home, run_key))
    )
    if document.started_at:
        run = run_named(home, run_key, ID_SHOWN)
        session.note(f"What the model was shown: `wakelog show {typed(run)} --prompt`.")


def _prompt(session: Session, home: "Home", run_key: str) -> None:
    """The sections, an empty line between them, and nothing else."""
    wake = wake_of(home, run_key)
    found = agent_output.shown(home, wake) if wake else None
    if found is None:
        run = run_named(home, run_key, ID_SHOWN)
        because = f"the wake {run} has not begun, so no model was shown anything"
        raise Refused("unknown_wake", because=because, instead="run it with `wakelog wake`")
    if session.printed(found):
        return
    text = "\n\n".join(one.text for one in (*found.system, *found.user))
    session.exactly(text)
    if found.rendered_anew:
        session.note("Rendered anew, to the same bytes: `wakelog retain` dropped what was stored.")


@command(
    "why",
    "agent=AGENT|TASK|journal:N",
    "[field]",
    example=('"Fix the sink" --limit 5', "journal:42", '"Fix the sink" due'),
)
@option("--limit=N", "The last N.", COUNT, shown=20)
def why_command(session: Session, agent: str, field: str | None, limit: int) -> None:
    """Why an agent woke, or did not: its last triggers, the newest first.

    A trigger woke it, was merged into a wake that was queued already, is queued, or was
    suppressed by a rule; a change that touched nothing it hears of is unmatched.
    The last N of either are looked at.

    With journal:N, a change as the column Where names it, all agents that it concerns.

    With FIELD, why that field of a task is as it is: who set it, which proposal and wake it came
    from, and the words that woke it. FIELD is title, status, priority, due, estimate, language,
    category, description, rating, or the words of an item or label of the task.
    """
    home = session.reading()
    if field is not None:
        from adapters.usecases.task_history import why_field

        why_it = why_field(home, pick_task(home, agent), field)
        session.tell(why_it, *words.field_lines(why_it, home.settings.timezone))
        return
    if change := _CHANGE.fullmatch(agent):
        _why_change(session, home, int(change[2]), change[1] or "")
        return
    agent_id = pick_agent(home, agent)
    from adapters.timetravel import why

    found = [
        agent_output.why_document(home, one)
        for one in why.trigger_fates(home.services, agent_id, limit)
    ]
    if session.printed(found):
        return
    own = home.services.journal.replica if home.services.journal.is_shared else ""
    session.table(
        ("When", "Where", "What", "Outcome", "Wake", "Why not"),
        words.why_rows(found, home.settings.timezone, own),
    )
    if all(one.outcome == "unmatched" for one in found):
        session.note("Nothing has woken it yet; wake it with `wakelog wake`.")
    for one in waiting(home):
        if one.agent_id == agent_id:
            session.note(safe(f"{held(one)}."))


def _why_change(session: Session, home: "Home", n: int, machine: str) -> None:
    from adapters.timetravel import why
    from adapters.usecases.time_travel import replica_called

    replica = replica_called(home, "journal", machine) if home.services.journal.is_shared else ""

    found = [
        agent_output.WhyAgent(agent.id, agent.name, **asdict(agent_output.why_document(home, one)))
        for agent, one in why.fates_of_change(home, n, replica)
    ]
    none = f"No agent subscribes to what the journal's append {n} touched."
    rows = (
        (one.agent, one.what, one.outcome,
         run_shown(one.run_key or "") + words.WITHOUT_REPORT * one.report_missing,
         words.rule_text(one.rule or ""))
        for one in found
    )  # fmt: skip
    session.listing(found, ("Agent", "What", "Outcome", "Wake", "Why not"), rows, none)
