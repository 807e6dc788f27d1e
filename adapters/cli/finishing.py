"""`wakelog done`: the deed of every day, for one task or several."""

from collections.abc import Sequence

import click

from adapters.actions.naming import nth_key
from adapters.actions.tasks import edit_task
from adapters.cli.editing import Editing, named
from adapters.cli.entering import TEXT
from adapters.cli.shared import Session, key_option
from adapters.documents.tasks import task_page
from adapters.text.task import stopped


@click.command("done", epilog='Example: wakelog done "Book the flight" "Call Ann"')
@click.argument("tasks", type=TEXT, nargs=-1, required=True, metavar="TASK...")
@key_option
@click.pass_obj
def done_command(session: Session, tasks: Sequence[str], key: str) -> None:
    """Set tasks done; all are looked up before the first is. TASK as in `wakelog task`."""
    runs = [
        Editing(session, nth_key(key, nth) if nth > 1 else key) for nth in range(1, len(tasks) + 1)
    ]
    found = {one.task(wanted).id: one for one, wanted in zip(runs, tasks, strict=True)}
    name = ""
    for nth, (task_id, one) in enumerate(found.items(), start=1):
        own = one.key or (nth_key(name, nth) if name else "")
        kept = edit_task(one.home, task_id, {"status": "DONE"}, own)
        name = name or kept.name
        one.did(kept)
    home = session.reading()
    pages = [task_page(home, task_id) for task_id in found]
    if session.as_json:
        session.document([page.document() for page in pages])
    for page in pages:
        one = found[page.task.id]
        timer = stopped(page.task, one.stopped)
        session.say(f"{one.outcome('Done')}: {named(page.task)}{timer}")
