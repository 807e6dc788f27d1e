"""Scenes of what a prompt shows: more of everything than fits, all kinds of links, two replicas."""

from adapters.home.settings import PromptSettings, Settings
from adapters.runtime import review, watcher
from adapters.runtime.services import Services
from adapters.store.log import Log
from adapters.store.memory import MemoryLogRecorder
from domain.agent import commands as agents
from domain.agent.deciders import AgentSettings
from domain.changes.change_set import set_id
from domain.journal import commands as do
from domain.journal.catalog import label_id
from domain.journal.imported import ImportedItem, ImportedNote, ImportedTask
from domain.journal.links import INVERSE
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.keys import key
from domain.log.wire import SHARED, Words, payload, words
from domain.scaffold import PROMPT_MIN_BYTES
from domain.wake.context import DEFAULTS
from tests.histories.acting import (
    REPORT,
    Scene,
    answers,
    asked,
    changed,
    pass_time,
    told,
    twice,
    woken,
)
from tests.histories.tool_scenes import call, wake
from tests.support.services import TickingClock, services, task_with_agent
from wakelog.testing import calls as reply


def long_lists() -> Services:
    """One more of each than a prompt shows: items, links, open loops."""
    at = services()
    task, agent = task_with_agent(at, "Long lists")
    done = told(
        at, do.AddItems(task, tuple(f"d{n}" for n in range(DEFAULTS.finished_items_max + 1)))
    )
    for one in done[:2]:
        told(at, do.EditItem(task, one, is_archived=True))
    document = ImportedTask(
        task,
        "Long lists",
        items=tuple(ImportedItem(f"d{n}", is_checked=True) for n in range(len(done))),
    )
    kept = payload(task, canonical.encode(document))
    at.append_journal(do.ImportTasks("todo.md", (do.ImportedRef(task, kept.id),)), payloads=[kept])
    for nth in range(DEFAULTS.linked_max + 1):
        other = told(at, do.CreateTask(f"t{nth}"))[0]
        told(at, do.LinkTask(task, "relates_to", other))
    loops = tuple(f"l{nth}" for nth in range(50))
    told(at, agents.ConfigureAgent(agent, AgentSettings(goal="Be quick", open_loops=loops)))
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)
    return at


def long_texts() -> Services:
    """One byte more of each text than a prompt shows, with letters of several bytes at the edge."""
    at = services()
    task, agent = task_with_agent(at, "Long texts")
    for size in (DEFAULTS.entry_max_bytes, DEFAULTS.text_max_bytes):
        for more in (0, 1):
            said, kept = words(task, "ab  " * (size // 4) + "c" * more)
            at.append_journal(do.AddNote(task, "note", said), payloads=kept)
    said, kept = words(task, "äö  " * (DEFAULTS.text_max_bytes // 6) + "ü" * 3)
    at.append_journal(do.EditTask(task, description=said), payloads=kept)
    for before, after in (("w" * DEFAULTS.line_max_bytes, "r" * (DEFAULTS.line_max_bytes + 1)),):
        texts = [payload(SHARED, one.encode()) for one in (before, after)]
        at.append_journal(do.AddCorrection("Inbox", texts[0].id, texts[1].id), payloads=texts)
    answers(at, [reply(REPORT), reply()])
    asked(at, agent, "q" * (DEFAULTS.words_max_bytes + 1), "s", 1)
    report = call("update_report", content="c" * 8001, tldr="t" * 1201, oneLiner="o" * 201)
    wake(at, agent, [report])
    answers(at, [reply(text="Nothing new.")])
    told(at, do.EditTask(task, priority="P0"))
    changed(at, agent)
    return at


def less_and_less_room() -> Services:
    """The same task in smaller and smaller prompts: what gives way first, second, and at last."""
    at = services()
    task, agent = task_with_agent(at, "Less room")
    told(at, do.AddItems(task, tuple(f"Item {nth} {'i' * 60}" for nth in range(40))))
    for nth in range(12):
        told(at, do.AddNote(task, "note", Words(f"{nth} {'n' * 500}")))
        told(at, do.AddLabel(f"label {nth}"))
        texts = [payload(SHARED, f"{one}{nth} {'x' * 90}".encode()) for one in ("wrong", "right")]
        at.append_journal(do.AddCorrection("Inbox", texts[0].id, texts[1].id), payloads=texts)
        other = told(at, do.CreateTask(f"Other {nth} {'o' * 90}"))[0]
        told(at, do.LinkTask(task, "blocks", other))
    seen = [{"text": f"{nth} {'s' * 90}", "priority": "critical"} for nth in range(12)]
    adds = [{"title": f"New {nth} {'a' * 90}"} for nth in range(12)]
    report = call("update_report", content="c" * 1500, tldr="t" * 300, oneLiner="o")
    observed = call("record_observations", observations=seen)
    made = set_id(
        wake(at, agent, [observed, call("add_multiple_checklist_items", items=adds), report])
    )
    for number in range(1, 7):
        review.reject(at, made, number, "r" * 200)
    loops, tastes = (tuple(f"{one}{nth}" for nth in range(50)) for one in ("loop", "taste"))
    wanted = AgentSettings(
        goal="g" * 900, open_loops=loops, preferences=tuple(zip(tastes, loops, strict=True))
    )
    told(at, agents.ConfigureAgent(agent, wanted))
    bare, another = task_with_agent(at, "No notes")
    told(at, do.AddItems(bare, tuple(f"Step {nth} {'s' * 90}" for nth in range(50))))
    for nth, size in enumerate((28_000, 21_000, PROMPT_MIN_BYTES)):
        at.settings = Settings(prompt=PromptSettings(max_bytes=size))
        told(at, do.EditTask(task, priority=f"P{nth % 4}"))
        answers(at, [reply(text="Nothing new.")])
        changed(at, agent)
    answers(at, [reply(REPORT), reply()])
    woken(at, another)
    return at


def neighbours() -> Services:
    """Links of every kind, in and out, seen and not; what changes there waits for the morning."""
    at = services()
    task, agent = task_with_agent(at, "In the middle")
    told(at, do.AddCategory("Secret"))
    told(at, agents.WatchTokens(agent, (f"id:{task}", "key:LINK"), defers_propagated=True))
    for nth, phrase in enumerate((*INVERSE, *INVERSE.values(), "relates_to")):
        other, theirs = task_with_agent(at, f"Next door {nth}")
        told(at, do.LinkTask(task, phrase, other))
        if nth % 3 == 0:
            answers(at, [reply(REPORT), reply()])
            woken(at, theirs)
        if nth % 4 == 1:
            told(at, do.EditTask(other, category="Secret"))
        if nth % 5 == 2:
            told(at, do.DeleteTask(other))
    changed(at, agent)
    told(at, do.EditTask(other, title="Changed next door"))
    watcher.catch_up(at)
    told(at, do.EditTask(other, status="GROOMED"))
    watcher.catch_up(at)
    told(at, do.UnlinkTask(task, "relates_to", other))
    pass_time(at, 90_000)
    answers(at, [reply(text="Seen."), reply(text="Seen again.")])
    changed(at, agent)
    told(at, do.EditTask(other, title="Not my neighbour"))
    watcher.catch_up(at)
    told(at, do.LinkTask(task, "relates_to", other))
    changed(at, agent)
    for title in ("Near", "Nearer"):
        told(at, do.EditTask(other, title=title))
        watcher.catch_up(at)
        pass_time(at, 9)
        told(at, do.EditTask(task, title=title))
        watcher.catch_up(at)
    return at


def files_again() -> Services:
    """A file changes each thing of a task that it can; the person and a second file do, too."""
    at = services()
    task, other = (key("task", "histories", one) for one in ("files", "more files"))
    note, long = ImportedNote("Call Kim", key="n1"), ImportedNote("It is long. " * 120)
    bare = ImportedTask(task, "Mend the roof")
    full = ImportedTask(
        task, "Mend the roof", "House", "blocked", "it rains", "p1", 60, "2027-05-01",
        ("A", "b", "a"), "It leaks. " * 150, "Steps",
        (ImportedItem("One"), ImportedItem("one ", is_checked=True)),
        (note, long, long, ImportedNote("Old", at="2020-01-01T00:00:00.000000Z")),
    )  # fmt: skip
    less = ImportedTask(
        task, "Mend  the whole roof", "House", "done", "", "", 0, "", ("b", "c"), "It leaks.",
        "Steps",
        (ImportedItem("one", is_checked=True), ImportedItem("ONE"), ImportedItem("Two")),
        (ImportedNote("Call Kim now", key="n1"), long, ImportedNote("old")),
    )  # fmt: skip
    for source in ("todo.md", "other.md"):
        for nth, document in enumerate((bare, full, full, less, bare, full)):
            second = ImportedTask(other, f"Second {nth}", "Shed" if nth else "", labels=("c",))
            kept = [payload(one.task_id, canonical.encode(one)) for one in (document, second)]
            refs = tuple(
                do.ImportedRef(one, known.id)
                for one, known in zip((task, other), kept, strict=True)
            )
            at.append_journal(do.ImportTasks(source, refs), payloads=kept, key=f"{source} {nth}")
            if nth == 1 and source == "todo.md":
                _edit_between(at, task)
            if nth > 3 and source == "other.md":  # the first file says what it said
                at.append_journal(do.ImportTasks("todo.md", refs), payloads=kept, key=f"both {nth}")
    told(at, do.DeleteTask(other))
    kept = [payload(other, canonical.encode(ImportedTask(other, "Gone")))]
    at.append_journal(
        do.ImportTasks("todo.md", (do.ImportedRef(other, kept[0].id),)), payloads=kept, key="gone"
    )
    with at.journal.reading() as world:
        category = world.load(TASK, task).category
    n = at.journal.tail().n
    agent = told(at, agents.CreateAgent(task, "Roof", category, n, "hybrid", is_enabled=True))[0]
    answers(at, [reply(REPORT), reply()])
    woken(at, agent)
    return at


def _edit_between(at: Services, task: str) -> None:
    with at.journal.reading() as world:
        known = world.load(TASK, task)
    twice(at, do.EditItem(task, known.items[0].id, title="First"))
    told(at, do.EditItem(task, known.items[1].id, is_checked=False))
    told(at, do.EditNote(task, known.notes[0].id, Words("Call Ann")))
    told(at, do.RemoveNote(task, known.notes[1].id))
    told(at, do.ChangeLabels(task, remove=(label_id("a"),)))
    told(at, do.EditTask(task, title="My roof", priority="P0", estimate=5))
    told(at, do.RenameCategory("House", "Home"))


def two_replicas() -> Services:
    """Two replicas write in one home, one after the other; each goes on where the other ended."""
    recorders = {name: MemoryLogRecorder() for name in ("journal", "agent")}
    clock = TickingClock()

    def on(replica: str) -> Services:
        journal, kept = (Log(name, one, replica) for name, one in recorders.items())
        return Services(journal, kept, clock, Settings(), lambda _: services().model_for(""))

    at = on("r1")
    task, agent = task_with_agent(at, "On two machines")
    _here(at, task, agent, "first")
    _here(on("r2"), task, agent, "second")
    _here(at, task, agent, "third")
    _here(on("r2"), task, agent, "fourth")
    return on("r1")


def _here(at: Services, task: str, agent: str, name: str) -> None:
    """The same at each replica: it edits, its agent wakes and proposes, and that is confirmed."""
    told(at, do.EditTask(task, title=f"The {name} title"))
    told(at, do.AddLabel(name)), told(at, do.ChangeLabels(task, (name,)))
    told(at, agents.ConfigureAgent(agent, AgentSettings(goal=name, preferences=(("tone", name),))))
    twice(at, agents.WatchTokens(agent, ("key:LABEL",)), do.StartTimer(task))
    made = set_id(wake(at, agent, [call("set_task_title", title=f"Proposed {name}")]))
    review.confirm(at, made, 1)
    told(at, do.EditTask(task, estimate=len(name)))
    watcher.catch_up(at)


SCENES: tuple[Scene, ...] = (
    long_lists,
    long_texts,
    less_and_less_room,
    neighbours,
    files_again,
    two_replicas,
)
