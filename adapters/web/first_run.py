"""A first run on the page: a file of tasks, agents for them, and what their model is sent.

A file is looked at before anything is written, as with `import --dry-run`. It waits in memory
under the nonce of its form until it is brought in; the oldest gives way.
"""

from typing import Any

from msgspec import to_builtins

from adapters.documents.agents import count_agents, newest_living
from adapters.documents.models import model_names
from adapters.documents.tasks import ImportReport, titles_among
from adapters.home.read_input import UnreadableInput, text_as_utf8
from adapters.text import conflicts
from adapters.text.common import counted, safe
from adapters.usecases import agents, policy
from adapters.usecases.import_sources import FileInput, ParsedFile, read_file, uploaded
from adapters.usecases.import_tasks import Importing, dry_run, keep_report, made_of
from adapters.usecases.resolve import nth_key
from adapters.web.http_types import AtField, FormRequest, Notice, Page, made_from, missent
from adapters.web.jobs import HowFar, Job, JobName, Work
from adapters.web.site import Site
from adapters.wiring import Home
from domain.errors import Refused, invalid
from domain.log import canonical
from domain.policy.gate import is_leaving

FILES_KEPT = 4
AT_ONCE = 50  # tasks or agents that are made while one waits; of more it is told how far that is
LINES_SHOWN = 20  # of each list
AGENTS_MAX = 200  # the newest, whose models are looked at


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/first`, with `?file=` what a file would bring in."""
    given = site.brought.get(asked.query.get("file", ""))
    told: dict[str, Any] = {}
    if given:
        found, report = _foreseen(site, given)
        titles = {one.task_id: one.title for one in found.file.tasks}
        named = {*report.gone, *report.gone_settled, *(one.task for one in report.gone_items)}
        known = titles_among(site.home, named)
        told = {
            **to_builtins(report.document()),
            "made_from": _made_from(report),
            "new": [titles[one] for one in report.new],
            "both_changed": [f"{one.title}: {conflicts.as_text(one)}" for one in report.conflicts],
            "gone_titles": [known[one] for one in report.gone],
            "gone_item_titles": [f"{known[one.task]}: {one.title}" for one in report.gone_items],
            "left_out": list(report.left_out),
        }
    living = sum(count_agents(site.home, one) for one in ("active", "dormant"))
    newest = [one.id for one in newest_living(site.home, AGENTS_MAX)]
    model = site.home.settings.model
    document = {
        "file": told or None,
        "tasks_without_agent": agents.tasks_alone(site.home),
        "agents": living,
        "model": model,
        "leaves": is_leaving(model),
        "needed": policy.needed(site.home, newest),
    }
    more = {
        "key": asked.query.get("file", ""),
        "is_gone": bool(asked.query.get("file")) and given is None,
        "models": [(one, is_leaving(one)) for one in model_names(site.home)],
        "shown": LINES_SHOWN,
        "making": site.jobs.making,
        "bringing": site.jobs.bringing,
    }
    return Page("first.html", "Bring tasks in", document, more)


def look(site: Site, asked: FormRequest) -> Notice:
    """Say what a file would bring in, and write nothing."""
    if asked.file is None:
        raise AtField("file", invalid("no file was chosen", "choose one, or drop it here"))
    try:
        source = uploaded(asked.file.name, site.environ)
        given = FileInput(asked.file.name, source.name, "", False, *text_as_utf8(asked.file.data))
        _foreseen(site, given)
    except UnreadableInput as error:
        because = f"{safe(asked.file.name)} cannot be read: {error.because}"
        instead = "bring in Markdown with boxes, todo.txt, or JSON of a tracker"
        known = {"its format is not known": instead}
        raise AtField(
            "file",
            Refused(
                "unreadable_file",
                because=because,
                instead=known.get(error.because, error.instead),
            ),
        ) from None
    site.brought[asked.key] = given
    while len(site.brought) > FILES_KEPT:
        site.brought.popitem(last=False)
    return Notice("Nothing is written yet: see what would come in.", to=f"/first?file={asked.key}")


def bring(site: Site, asked: FormRequest) -> Notice:
    """Bring in what the page showed, as `wakelog import` does."""
    home, given = site.home, site.brought.get(asked.needed("file"))
    if given is None:
        raise missent("the file is not kept here any more", "choose it once more")
    if home.services.journal.receipts(nth_key(asked.key, 1)):
        return Notice(f"{safe(given.file)} was brought in already.", to="/first")
    seen = made_of(home, given, site.environ)
    found, report = _foreseen(site, given)
    if asked.needed("was.plan") != _made_from(report):
        because = "something changed here since the file was looked at"
        raise Refused("stale", because=because, instead="look once more what would come in")
    of = len(found.file.tasks)

    def work(home: Home, come_to: HowFar) -> Job:
        done = 0

        def told(count: int) -> None:
            nonlocal done
            done += count
            come_to("", done, of)

        report = Importing(asked.key).take(home, safe(given.file), found, told)
        keep_report(home, given, seen, report)
        counts = {
            "created": report.created, "changed": report.changed, "given an agent": report.agents,
        }  # fmt: skip
        said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        return Job("done", said=f"Brought in from {safe(given.file)}: {said or 'nothing new'}.")

    said = _begun(site, asked, "bringing", work, of)
    return Notice(said or "The file comes in: how far that is stands here.", to="/first")


def assign(site: Site, asked: FormRequest) -> Notice:
    """Make an agent for each open task that has none, as `wakelog agent create --all` does."""
    wish = agents.AgentOptions(model=asked.needed("model").strip())
    alone = agents.tasks_alone(site.home)

    def work(home: Home, come_to: HowFar) -> Job:
        def told(count: int) -> None:
            come_to("", count, alone)

        made = agents.assign_all(home, wish, asked.key, told=told).made
        return Job(
            "done", said=f"Made {counted(len(made), 'agent')}; their first wakes are queued."
        )

    try:
        agents.check_options(wish)
        said = _begun(site, asked, "making", work, alone)
    except Refused as error:
        raise AtField("model", error) from None
    return Notice(said or "Agents are made: how far that is stands here.")


def _begun(site: Site, asked: FormRequest, name: JobName, work: Work, of: int) -> str:
    """Do it, and say what came of it; a long one goes on beside the pages, which say how far."""
    if of <= AT_ONCE:
        return work(site.home, lambda *_: None).said
    site.jobs.begin(name, work, asked.key, doer=site.home.doer, of=of)
    return ""


def _foreseen(site: Site, given: FileInput) -> tuple[ParsedFile, ImportReport]:
    """What was read in a file, and what would be done with it now."""
    found = read_file(site.home, given, site.environ)
    return found, dry_run(site.home, safe(given.file), found)


def _made_from(report: ImportReport) -> str:
    """What a form carries of what it showed: it is refused where something else would be done."""
    return made_from(canonical.text(report.document()), *report.new)
