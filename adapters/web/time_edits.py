"""What a person changes on a task's page about its end and its time: a follow-up for the rest,
entries, and how it went."""

from adapters.actions import tasks as deeds
from adapters.actions.inputs import first_instant
from adapters.text.task import stopped
from adapters.web.asking import FormRequest, Notice, clashing, compared, missing
from adapters.web.site import Site
from adapters.web.task_edits import task_of
from adapters.web.words import wall
from domain.errors import Refused
from domain.journal.task import RATING_MAX

LABELS = {"began": "when it began", "ended": "when it ended", "summary": "what was done"}


def conclude(site: Site, asked: FormRequest) -> Notice:
    """Set the task done and let a new one follow it, with its open items or without."""
    task = task_of(site, asked)
    title = asked.needed("title").strip()
    keeps_items = asked.form.get("keep") == "yes"
    made = deeds.conclude_task(site.home, task.id, title, asked.key, keeps_items=keeps_items)
    timer = stopped(task_of(site, asked), made.stopped)
    return Notice(f"The task is DONE{timer}; what follows it:", leads=(made.ids[0], title))


def log(site: Site, asked: FormRequest) -> Notice:
    """Enter time that the task took."""
    task = task_of(site, asked)
    began, ended = (_instant(site, asked.needed(name)) for name in ("began", "ended"))
    summary = asked.form.get("summary", "").strip()
    deeds.log_time(site.home, task.id, began, ended, asked.key, summary=summary)
    return Notice("Entered the time.")


def retime(site: Site, asked: FormRequest) -> Notice:
    """Correct a time entry: what of it the form says otherwise than it was made with."""
    task, wanted = task_of(site, asked), asked.needed("entry")
    entry = next((one for one in task.time if one.id == wanted), None)
    if entry is None:
        raise missing("unknown_item", "time entry", wanted)
    now = {
        "began": wall(entry.start, site.zone),
        "ended": wall(entry.end, site.zone),
        "summary": entry.summary,
    }
    given = {name: asked.form.get(name, asked.needed(f"was.{name}")).strip() for name in now}
    found = compared(asked, given, now)
    if not found.changed:
        return Notice("Nothing was changed.")
    if found.moved and not deeds.is_done(site.home, asked.key):
        return clashing(asked, found, LABELS, {})
    times = {name: _instant(site, given[name]) for name in found.changed if name != "summary"}
    summary = given["summary"] if "summary" in found.changed else None
    deeds.retime(site.home, task.id, entry.id, asked.key, summary=summary, **times)
    return Notice("Corrected the time.")


def _instant(site: Site, given: str) -> str:
    return first_instant(given, site.zone, site.home.services.clock.now)


def stars_of(asked: FormRequest, most: int) -> int:
    """How many stars a form gives."""
    score = asked.form.get("score", "")
    if score not in map(str, range(1, most + 1)):
        because = "no stars are chosen"
        raise Refused("invalid_value", because=because, instead=f"choose 1 to {most}")
    return int(score)


def rate(site: Site, asked: FormRequest) -> Notice:
    """Say how well the task, or an entry of it, went."""
    task, score = task_of(site, asked), stars_of(asked, RATING_MAX)
    comment, entry = asked.form.get("comment", ""), asked.form.get("entry", "")
    deeds.rate(site.home, task.id, score, asked.key, entry_id=entry, comment=comment)
    return Notice(f"Rated {score} of {RATING_MAX}.")
