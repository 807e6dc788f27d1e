"""Scenes at the edges of what is counted and bounded.

As the stubborn ones they were added for changes of the code that no other history noticed:
`tests/bench/mutate_code.py` tells which.
"""

from adapters.home.settings import PromptSettings, Settings
from adapters.runtime.services import Services
from domain.agent import commands as agents
from domain.journal import commands as do
from domain.journal.imported import ImportedNote, ImportedTask
from domain.journal.task import TASK, NoteKind
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import SHARED, Words, payload, words
from domain.scaffold import PROMPT_MIN_BYTES
from domain.tools.snapshot import OPEN_ITEMS_KEPT
from tests.histories.acting import REPORT, Scene, answers, changed
from tests.support.services import services, task_with_agent
from wakelog.testing import calls as reply


def counted() -> Services:
    """A file says a note three times and a status no more; two corrections; one label is free."""
    task = key("task", "histories", "counted")
    note = ImportedNote("Call Kim")
    before = ImportedTask(task, "Mend the roof", status="BLOCKED", status_reason="it rains")
    after = ImportedTask(task, "Mend the roof", notes=(note, note, note, ImportedNote("call KIM")))
    at = services()
    for document in (before, after):
        kept = payload(task, canonical.encode(document))
        at.append_journal(
            do.ImportTasks("todo.md", (do.ImportedRef(task, kept.id),)), payloads=[kept]
        )
    for spoken, meant in ((b"nales", b"nails"), (b"rufe", b"roof"), (b"latter", b"ladder")):
        texts = [payload(SHARED, one) for one in (spoken, meant)]
        at.append_journal(do.AddCorrection("Inbox", texts[0].id, texts[1].id), payloads=texts)
    names = ("garden", "house", "outside", "urgent")
    labels = [at.append_journal(do.AddLabel(name)).result.ids[0] for name in names]
    at.append_journal(do.ChangeLabels(task, names[:2]))
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    n = at.journal.tail().n
    command = agents.CreateAgent(task, "Roof", category, n, "hybrid", is_enabled=True)
    agent = at.append_agent(command).result.ids[0]
    choices = [{"id": one, "confidence": "high"} for one in labels[2:]]
    call = ("assign_task_labels", canonical.text({"labels": choices}))
    answers(at, [reply(call), reply(REPORT), reply(), reply(call), reply()])
    changed(at, agent)
    at.append_journal(do.ChangeLabels(task, names[2:3]))
    changed(at, agent)
    return at


def little_room() -> Services:
    """More open items than a wake keeps, and a prompt too small for them: parts give way."""
    at = services([reply(REPORT), reply()])
    at.settings = Settings(prompt=PromptSettings(max_bytes=PROMPT_MIN_BYTES))
    task, agent = task_with_agent(at, "Pack")
    first, *_ = at.append_journal(do.AddItems(task, ("Tent", "Rope"))).result.ids
    at.append_journal(do.EditItem(task, first, is_checked=True))
    at.append_journal(do.AddItems(task, tuple(f"{nth}" for nth in range(OPEN_ITEMS_KEPT))))
    at.append_journal(do.AddNote(task, "note", Words("For a month. " * 50)))
    changed(at, agent)
    return at


def transcripts() -> Services:
    """The person mends transcripts of their own, short and long, and each is a correction."""
    at = services([reply(REPORT), reply()] * 3)
    task, agent = task_with_agent(at, "Pack")
    kinds: tuple[NoteKind, ...] = ("transcript", "transcript", "note")
    for kind, size in zip(kinds, (1, 90, 1), strict=True):
        said, kept = words(task, "Bring the tend. " * size)
        note = at.append_journal(do.AddNote(task, kind, said), payloads=kept).result.ids[0]
        said, kept = words(task, "Bring the tent. " * size)
        edit = do.EditNote(task, note, said, corrects=True)
        for again in ("", f"again {note}"):
            at.append_journal(edit, payloads=kept, key=again)
        changed(at, agent)
    return at


SCENES: tuple[Scene, ...] = (counted, little_room, transcripts)
