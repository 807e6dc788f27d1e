"""An agent as `agent show` prints it for a person."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from adapters.documents.agents import AgentDetails, SubscriptionDetails, TimerDetails
from adapters.documents.wakes import WakeLine
from adapters.text.agent_output import outcome_text
from adapters.text.common import ID_SHOWN, counted, local_time, run_shown, safe
from domain.agent.deciders import DAY_AGENT, TEMPLATE_IMPROVER

if TYPE_CHECKING:
    from adapters.documents.agents import DigestDetails, DigestSources, MemoryDetails, NoteDetails

INDENT = "  "


def agent_text(page: AgentDetails, titles: Mapping[str, str], zone: str) -> str:
    """The page of an agent, `titles`: of tasks, by id."""
    parts = [
        _head(page, titles, zone),
        _slots(page),
        _section("Hears of", [_subscription(one, titles) for one in page.subscriptions]),
        _section("Timers", [_timer(one, zone) for one in page.timers]),
        _section("Last wakes", [_wake(one, zone) for one in page.last_wakes]),
    ]
    return safe("\n".join(part for part in parts if part))


def _head(page: AgentDetails, titles: Mapping[str, str], zone: str) -> str:
    config = page.config
    life = page.lifecycle + (f" ({page.pause_reason})" if page.pause_reason else "")
    status = page.run_status + (", its report is stale" if page.stale else "")
    if page.failures:
        status += f", {page.failures} failed in a row"
    whose = {"template": " (its template's)", "agent": "", "home": " (the home's)"}
    own = whose[config.model_of]
    lines = {
        "Id": page.id,
        "Task": titles.get(page.task_id, page.task_id),
        "Plans": "your days" if page.kind == DAY_AGENT else "",
        "Improves" if page.kind == TEMPLATE_IMPROVER else "Looks over": page.subject_title or "",
        "Life": f"{life}, {page.mode}",
        "Status": status,
        "Next wake": local_time(page.next_wake_at or "", zone),
        "Held until": local_time(page.sleep_until or "", zone),
        "Asleep": f"until {local_time(page.asleep_until, zone)}" if page.asleep_until else "",
        "Wakes": page.wakes,
        "Model": f"{config.model_in_force}{own}, {config.turns} turns",
        "Updates": "automatic" if config.automatic else "off",
        "Categories": ", ".join(page.allowed_categories),
    }
    told = [f"{INDENT}{name + ':':12}{value}" for name, value in lines.items() if value != ""]
    return "\n".join([page.name, *told])


def _slots(page: AgentDetails) -> str:
    slots = page.slots
    goal = slots.primary_goal.value
    return _section(
        "Goal and preferences",
        [
            *([goal] if goal else []),
            *(
                f"open loop{' of its own' if loop in slots.open_loops.own else ''}: {loop}"
                for loop in slots.open_loops.values
            ),
            *(f"{name}: {one.value}" for name, one in slots.preferences.items()),
        ],
    )


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, *(f"{INDENT}{line}" for line in lines)]) if lines else ""


def _subscription(one: SubscriptionDetails, titles: Mapping[str, str]) -> str:
    tokens = ", ".join(_token(token, titles) for token in one.tokens)
    return f"{one.id[:ID_SHOWN]}  {tokens}{''.join(_conditions(one))}"


def _conditions(one: SubscriptionDetails) -> Iterator[str]:
    if one.category:
        yield f", in {one.category}"
    if one.status:
        yield f", that is {one.status}"
    if one.hears_agents:
        yield ", agents' writes too"
    if one.defers_links:
        yield ", through a link only in the morning"
    if one.built_in:
        yield " (built in)"


def _token(token: str, titles: Mapping[str, str]) -> str:
    title = titles.get(token.removeprefix("id:"))
    return f"the task {title!r}" if title else token


def _timer(one: TimerDetails, zone: str) -> str:
    next_at = local_time(one.next_at, zone)
    asks = "always asks" if one.always else "asks where something moved"
    return f"{one.id[:ID_SHOWN]}  {one.schedule} ({one.zone}), next {next_at}, {asks}"


def _wake(one: WakeLine, zone: str) -> str:
    said = one.report.one_liner if one.report else one.error or ""
    state = outcome_text(one)
    head = f"{local_time(one.queued_at, zone)}  {run_shown(one.run_key)}"
    return f"{head}  {one.reason}: {state}. {said}".rstrip(" .")


# ------------------------------------------------------------------------------------------- memory
# What an agent remembers, for a person: the lines of `memory`.

MEMORY_WIDTH = 78


def memory_lines(document: "MemoryDetails", zone: str) -> Iterator[str]:
    """The lines of `memory`: the digests at the top, then what none covers, then what is open."""
    if not document.noted:
        yield safe(f"{document.agent}: nothing noted yet. Agents note things when they wake.")
        return
    top = [one for one in document.digests if one.parent is None]
    yield safe(document.agent)
    yield memory_summary(document.noted, sum(one.notes for one in top), len(top))
    for one in top:
        yield ""
        yield from _digest(one, zone)
    yield from _memory_part("Not in a digest", document.uncovered, zone)
    yield from _memory_part("Critical and not settled", document.critical, zone)
    if top:
        yield ""
        yield "`--sources ID` shows what a digest was made of."


def memory_summary(noted: int, covered: int, digests: int) -> str:
    """How many notes there are, and where.

    >>> memory_summary(60, 20, 1), memory_summary(2, 0, 0)
    ('60 notes: 20 in 1 digest, 40 newer ones in none.', '2 notes, none of them in a digest yet.')
    """
    if not digests:
        return f"{counted(noted, 'note')}, none of them in a digest yet."
    told = f"{covered} in {counted(digests, 'digest')}, {noted - covered} newer ones in none."
    return f"{counted(noted, 'note')}: {told}"


def sources_lines(document: "DigestSources", zone: str) -> Iterator[str]:
    """The lines of `memory --sources`."""
    yield from _digest(document.digest, zone)
    yield ""
    yield "It was made of"
    for one in document.digests:
        yield from _digest(one, zone)
    yield from _notes(document.observations, zone)


def _digest(one: "DigestDetails", zone: str) -> Iterator[str]:
    since, until = (local_time(at, zone)[:10] for at in (one.since, one.until))
    of = f" of {counted(len(one.sources), 'digest')}" if one.depth > 1 else ""
    yield f"{one.id[:ID_SHOWN]}  {since} to {until}  {counted(one.notes, 'note')}{of}"
    for line in one.text.split("\n"):
        yield from _wrapped(line)


def _memory_part(heading: str, notes: "Sequence[NoteDetails]", zone: str) -> Iterator[str]:
    if notes:
        yield ""
        yield heading
        yield from _notes(notes, zone)


def _notes(notes: "Sequence[NoteDetails]", zone: str) -> Iterator[str]:
    for one in notes:
        yield from _wrapped(f"{local_time(one.at, zone)}  {one.priority}  {one.text}")


def _wrapped(line: str) -> list[str]:
    return wrap(safe(line), MEMORY_WIDTH, initial_indent="  ", subsequent_indent="      ")
