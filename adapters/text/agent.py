"""An agent as `agent show` prints it for a person."""

from collections.abc import Iterator, Mapping

from adapters.documents.agents import AgentDetails, SubscriptionDetails, TimerDetails
from adapters.documents.wakes import WakeLine
from adapters.text.common import ID_SHOWN, local_time, run_shown, safe

INDENT = "  "


def told(page: AgentDetails, titles: Mapping[str, str], zone: str) -> str:
    """The page of an agent.

    Args:
        page: The document of `agent show`.
        titles: Of tasks, by id.
        zone: Whose clock the times are told by.
    """
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
    return f"{one.id[:ID_SHOWN]}  {one.schedule} ({one.zone}), next {next_at}"


def _wake(one: WakeLine, zone: str) -> str:
    said = one.report.one_liner if one.report else one.error or ""
    state = one.outcome or one.state
    head = f"{local_time(one.queued_at, zone)}  {run_shown(one.run_key)}"
    return f"{head}  {one.reason}: {state}. {said}".rstrip(" .")
