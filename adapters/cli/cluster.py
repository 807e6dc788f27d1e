"""`wakelog worker` and `wakelog cluster`: homes of a database that are tended on many machines."""

import os
from contextlib import ExitStack
from typing import Any

import click

from adapters.cli.event_lines import EventLines, warned
from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session, flag, option
from adapters.launch import HOST, bound
from adapters.text.common import counted, local_time
from adapters.text.homes import standing
from domain.errors import invalid


@command("cluster", example=("--json", "--homes"))
@flag("--homes is_every", "Each home, too: how it stands, and who tends it.")
def cluster_command(session: Session, *, is_every: bool) -> None:
    """See the workers of a PostgreSQL database, and which homes wait; WAKELOG_DATABASE says which.

    A home is due where its time has come or something new stands in its logs, and nobody tends it
    or is about to. One in trouble is held off for a while, up to five minutes.
    """
    from adapters.cluster.status import cluster_details

    found = cluster_details(os.environ, is_every=is_every)
    if session.printed(found):
        return
    for one in found.workers:
        since, beat = (local_time(at, "UTC") for at in (one.since, one.beat))
        machine = one.place.partition(" ")[0]
        tended = counted(one.homes, "home")
        session.say(f"{one.id}  on {machine}: tends {tended}, since {since}, heard of {beat}")
    if not found.workers:
        session.say("Nobody works here: start `wakelog worker`.")
    homes = found.homes
    session.say(f"homes      {homes.open} open, {homes.due} due, {homes.frozen} frozen")
    if found.oldest_due_seconds is not None:
        session.say(f"waiting    {found.oldest_due_seconds:.0f} s, the longest")
    if found.stalled:
        session.say(f"stalled    {counted(found.stalled, 'home')}, until a worker frees them")
    for name in found.held_off:
        session.say(f"held off   pg:{name}: see what its worker says, and `wakelog doctor`")
    for name in found.limited:
        session.say(f"limited    pg:{name}: waits for what models may be asked")
    for currency, cost in found.cost.items():
        session.say(f"today      {cost:.2f} {currency}")
    for home in found.every or ():
        by = f", tended by {home.worker}" if home.worker else ""
        session.say(f"home       pg:{home.name}: {standing(home)}{by}")


@command("worker", example="--homes 16 --grace 60")
@option("--homes", "At most so many homes are tended at once.", click.IntRange(1, 1_000), shown=32)
@option(
    "--wakes", "At most so many wakes run at once, over all homes.", click.IntRange(1, 10_000),
    shown=64,
)  # fmt: skip
@option(
    "--lease=SECONDS",
    "How long others wait for a worker that is silent, until they take its homes.",
    click.IntRange(2, 3_600), shown=30,
)  # fmt: skip
@option(
    "--slice=SECONDS", "How long a home is tended while others wait.",
    click.FloatRange(0.1, 86_400), shown=60.0,
)  # fmt: skip
@option(
    "--grace=SECONDS", "How long wakes may take to end when it is stopped.",
    click.FloatRange(0, 3_600), shown=25.0,
)  # fmt: skip
@option("--only=NAME", "Tend this home only; may be repeated.", multiple=True)
@option("--requests=N", "Questions to models a minute, over all homes.", click.IntRange(1))
@option("--home-requests=N", "The same of each home.", click.IntRange(1))
@option(
    "--cost=X", "What answers may cost in a UTC day, over all homes.", click.FloatRange(0.000_001)
)
@option("--health=PORT", "Tell over HTTP how it is; see above.", click.IntRange(0, 65_535))
@option("--host=H", "Of --health; else this machine alone.", default=HOST)
@flag("--metrics-names has_names", "Numbers of /metrics by home, with its name.")
def worker_command(
    session: Session, *, health: int | None, host: str, has_names: bool, **options: Any
) -> None:
    """Tend the homes of a PostgreSQL database that are due; WAKELOG_DATABASE says which.

    Any number may run, on any machines. Each home that is due is given to one of them; it watches
    the home, wakes its agents, and gives it back once nothing is due. Where a worker is killed or
    cut off, others go on with its homes after a lease.

    Its log goes to stderr, with --json one JSON object a line. SIGTERM or Ctrl-C ends it once what
    runs has ended or is handed back; a second one leaves that to others, with exit status 130.

    With --requests, --home-requests or --cost a wake waits before its next question; a home that is
    at its limit holds up no other. All workers share these limits: give each the same.

    With --health it answers GET /ready with status 200 while it takes homes, renews its leases and
    reaches its database, else with 503; /live with 200 as long as it answers at all. Both are one
    JSON document, without a word of any home. /metrics has numbers for Prometheus: due homes, who
    tends them, wakes by outcome, seconds, tokens and money by model.
    """
    if health is None and host != HOST:
        raise invalid("there is no health to tell to other machines", "add --health PORT")
    if health is None and has_names:
        raise invalid("there are no numbers to name homes in", "add --health PORT")
    from adapters.cluster.limits import Limits
    from adapters.cluster.worker import IN_DOUBT, WorkerOptions, work

    limits = Limits(*(options.pop(one) or 0 for one in Limits._fields))
    wanted = WorkerOptions(**options, limits=limits)  # click gives them by these names
    lines = EventLines(session, "UTC")
    with ExitStack() as stack:
        stack.enter_context(warned(lines))
        listening = None
        if health is not None:
            listening = stack.enter_context(bound(host, health, "--health"))
            lines.tell("healthy", address=f"http://{host}:{listening.getsockname()[1]}/ready")
        done, is_in_doubt = work(
            os.environ, wanted, lines.tell, session.model, listening, has_names=has_names
        )
    lines.tell("stopped", wakes=done.wakes, failed=done.failed)
    session.printed(done)
    raise SystemExit(IN_DOUBT if is_in_doubt else 0)
