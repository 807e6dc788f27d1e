"""What a sync did, in words."""

import re
from collections.abc import Iterator, Mapping

from adapters.documents import sync as s
from adapters.documents.results import RestoredDetails
from adapters.home.settings import Settings
from adapters.text.common import ID_SHOWN, counted, local_time, safe
from domain.scaffold import made_by

NAMED = re.compile("[a-z2-7]{32}")  # by an id
REASONS: Mapping[s.WaitsFor, str] = {
    "gap": "waits for rows that are not here yet",
    "cut short": "waits for a file that is not whole yet",
    "newer": "was written by a newer wakelog: upgrade this one",
    "held": "is held back by the settings",
    "fork": "has two branches: two homes wrote under that name",
    "erasure": "erased a task that was written to here since: keep what you want of it (`export "
    "--markdown`), then say `wakelog sync --accept-erasures`",
}


def sync_lines(did: s.SyncReport, zone: str) -> Iterator[str]:
    """What was done; who has no label is called by its own name."""

    def called(replica: str) -> str:
        return safe(did.labels.get(replica, replica))

    took = [f"{counted(rows, 'row')} of {called(one)}" for one, rows in did.took.items()]
    gave = counted(did.gave, "row") if did.gave else "nothing"
    yield f"Took {_joined(took) or 'nothing'}; gave {gave}."
    for one in did.new:
        yield f"{called(one)} was not known here before."
    if did.leads:
        who = "This machine" if did.leads == did.replica else called(did.leads)
        silent = f": {_silent(did.lead_away, ' ')}" if did.lead_away else ""
        yield f"{who} leads now{silent}."
    if did.equal:
        equal = _joined([called(one) for one in did.equal])
        digest = f" (digest {did.digest[:ID_SHOWN]})" if did.digest else ""
        yield f"Equal with {equal}{digest}."
    for other in did.behind:
        yield _behind(other, called(other.replica), zone)
    if did.lead_away and not did.leads:
        yield f"{away_text(did.lead_away)}."
    for waits in did.waiting:
        newer = f"was {made_by(waits.scaffold)}: upgrade this one" if waits.scaffold else ""
        reason = newer or REASONS[waits.for_]
        yield f"{called(waits.replica)} {reason} (behind append {waits.n})."
    if did.conflicts:
        yield f"{counted(did.conflicts, 'conflict')}: see `wakelog conflicts`."
    if did.skipped:
        yield f"{counted(did.skipped, 'file')} of the folder could not be read."
    for file in did.ignored:
        name = safe(f"{file.writer}/have.json")
        if file.why == "broken":
            whose = "this machine" if file.writer == did.replica else called(file.writer)
            yield f"{name} is not as it was written and was left out: a sync of {whose} mends it."
        else:
            told = f"{name} tells another append {file.n} of {called(file.replica)} than is here"
            yield f"{told}, and nothing else does: it was left out."


def away_text(lead: s.LeadAway) -> str:
    """That the machine that leads is silent.

    >>> away_text(s.LeadAway("d", "desk", "", 9))
    'desk leads and was last heard of 9 days ago; its agents sleep: `wakelog replicas lead`'
    >>> away_text(s.LeadAway("d", "desk", "", 9, 8))
    'desk leads and was last heard of 9 days ago; nobody was met for 8 days: `wakelog sync`'
    """
    heard = _silent(lead, " leads and ")
    if lead.met_days:
        return f"{heard}; nobody was met for {counted(lead.met_days, 'day')}: `wakelog sync`"
    return f"{heard}; its agents sleep: `wakelog replicas lead`"


def _silent(lead: s.LeadAway, and_: str) -> str:
    return f"{safe(lead.label)}{and_}was last heard of {counted(lead.days, 'day')} ago"


def first_lines(did: s.SyncReport, settings: Settings) -> Iterator[str]:
    """What who syncs a home for the first time would like to know."""
    name = safe(did.labels.get(did.replica, did.replica))
    yield f"The others see this machine as {name}: `wakelog replicas name NAME` names it."
    if did.new:
        here = f"time zone {safe(settings.timezone)}, model {safe(settings.model)}"
        yield f"Settings do not travel: here it is {here} (settings.toml)."


def rescue_lines(did: s.RescueReport, zone: str) -> Iterator[str]:
    """What a rescue did, or would do."""
    given_up = sum(one.appends for one in did.void)
    if not did.replica:
        yield f"This machine wrote as {did.was}, and so did another one. It would get a new name;"
        again = counted(did.causes, "command")
        yield f"{counted(given_up, 'append')} would be given up, {again} handed in again."
        return
    yield f"This machine wrote as {did.was}, and is {did.replica} now."
    if did.copy:
        yield f"As it was, it is in {safe(did.copy)}."
        there = f"; {did.answered} were there already" if did.answered else ""
        left = f"; {did.left_out} of agents are not repeated" if did.left_out else ""
        yield f"Of {counted(did.causes, 'command')}, {did.redone} were done again{there}{left}."
        took = [f"{counted(rows, 'row')} of {one}" for one, rows in did.took.items()]
        yield f"Took {_joined(took) or 'nothing'} instead."
    yield from _afterwards(did, zone)
    if did.leads:
        run = f"run `wakelog replicas retire {did.leads}`"
        yield f"{did.leads} leads, as before. If nobody writes under that name any more, {run}."


NOTHING_TO_JOIN = "Nothing to join: this home has no tasks of its own that are not there."
SAME_TOLD = 3


def join_question(folder: str, tasks: int, there: int, agents: int) -> str:
    """What a join would do.

    >>> join_question("~/Sync", 12, 340, 0)
    '12 tasks of this home come in as new ones into the home in ~/Sync, which has 340.'
    """
    come = "comes in as a new one" if tasks == 1 else "come in as new ones"
    told = f"{counted(tasks, 'task')} of this home {come} into the home in {folder}, "
    stay = (
        f" {counted(agents, 'agent')} will stay behind, in a copy of this home." if agents else ""
    )
    return f"{told}which has {there}.{stay}"


def join_lines(did: s.JoinReport, zone: str) -> Iterator[str]:
    """What a join did."""
    yield f"{counted(did.tasks, 'task')} came in as new, into the home that has {did.there}."
    stays = "stays" if did.agents == 1 else "stay"
    stay = f"; its {counted(did.agents, 'agent')} {stays} there" if did.agents else ""
    yield f"As it was, this home is in {safe(did.copy)}{stay}."
    if did.met:
        yield f"{counted(len(did.met), 'task')} of here are in both: what differs is a conflict."
    if did.same:
        named = [
            f'"{safe(one.title)}" ({one.task[:ID_SHOWN]}, there {one.there[:ID_SHOWN]})'
            for one in did.same[:SAME_TOLD]
        ]
        more = len(did.same) - len(named)
        named += [f"{more} more"] if more else []
        has = "has" if len(did.same) == 1 else "have"
        yield f"{len(did.same)} {has} the title of one that was there: {_joined(named)}."
        yield "Delete what is there twice: `wakelog task delete TASK`."
    yield from _afterwards(did, zone)


def _afterwards(did: s.RescueReport | s.JoinReport, zone: str) -> Iterator[str]:
    """What was not done again, and what the sync did that came after."""
    for one in did.refused:
        yield _refused(one, zone)
    if did.synced:
        yield from sync_lines(did.synced, zone)
    else:
        yield f"The others do not know of it yet: {did.sync_refused}. Run `wakelog sync`."


def _refused(one: s.RefusedCause, zone: str) -> str:
    is_id = NAMED.fullmatch(one.about) is not None
    about = f" of {safe(one.about[:ID_SHOWN] if is_id else one.about)}" if one.about else ""
    when = local_time(one.at, zone)
    return f"Not possible any more: {one.what}{about}, {when}: {safe(one.because)}."


def replica_cells(one: s.ReplicaLine, zone: str) -> tuple[str, ...]:
    """A line of the table of `replicas`."""
    state = "here" if one.own else REASONS[one.for_] if one.for_ else one.state
    if one.retired:
        state = "gone for good"
    state += ", leads" if one.leads else ""
    seen = local_time(one.last_seen, zone)
    return safe(one.label), one.replica, str(one.last_append), seen, state


def _behind(one: s.Behind, name: str, zone: str) -> str:
    lacks = f"lacked {counted(one.appends, 'append')}" if one.appends else "held something else"
    seen = local_time(one.seen_at, zone)
    clock = f"; its clock is {one.clock_minutes} min ahead" if one.clock_minutes else ""
    return f"{name} {lacks} when it was seen, {seen}{clock}."


def _joined(words: list[str]) -> str:
    *most, last = words or [""]
    return f"{', '.join(most)} and {last}" if most else last


# ----------------------------------------------------------------------------- a home that is back


def restored_lines(did: RestoredDetails, zone: str) -> Iterator[str]:
    """What a restore made, and what is to be done now."""
    if did.aside:
        yield safe(f"What stood there is in {did.aside}.")
    yield safe(f"{did.folder} is as of {local_time(did.at, zone)}, and writes as {did.replica}.")
    if did.leads:
        yield safe(f"It leads now, as {did.label or did.was} did, which is gone for good.")
    elif did.label:
        yield safe(f"It is {did.label} now; who wrote as {did.was} is gone for good.")
    if did.erased:
        yield f"{did.erased} of what the backup holds was erased there; now it is erased here, too."
    if did.recovered:
        yield f"{did.recovered} wakes that had begun there are asked for once more."
    if did.meets:
        yield safe(f"What came since is with the others: `wakelog sync {did.meets}`.")
