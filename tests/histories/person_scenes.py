"""Scenes of a person at her tasks: what is so already, how much there may be, and odd texts.

Each command is tried on both sides of its rule: done and done again, just allowed and just not.
"""

from adapters.runtime.services import Services
from domain.journal import catalog as c
from domain.journal import commands as do
from domain.journal import edits
from domain.journal.links import INVERSE
from domain.journal.task import MINUTES_MAX, PRIORITIES, STATUSES
from domain.log.timestamps import later
from domain.log.wire import INLINE_MAX_BYTES, SHARED, Words, payload, words
from tests.histories.acting import (
    NOBODY,
    REPORT,
    Scene,
    answers,
    changed,
    pass_time,
    refused,
    told,
    twice,
)
from tests.support.services import services, task_with_agent
from wakelog.testing import calls as reply

SPACES = "\t \x1c\x1f\x85\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
CASES = "Straße İstanbul ΣΊΣΥΦΟΣ ǅungla ﬁne Ωmega Ⅷ \uff21 \u13a0 𐐀 ẞ ŉ ΐ ﬗ \u0345"
ENDS = (
    "one\r\n## two\v# three\f#four\x1c## five\x1d\x1e ## six\x85# seven\u2028## eight\u2029# nine"
)


def already_so() -> Services:
    """A person does everything twice: the second time only the receipt is written."""
    at = services()
    task, agent = task_with_agent(at)
    made = do.CreateTask("Paint", "inbox", "on hold", "rain", "p0", 1440, "2028-02-29", "EN ")
    other = told(at, made)[0]
    _catalog_again(at)
    for status in STATUSES:
        twice(at, do.EditTask(task, status=f" {status.lower()} ", reason=f"as  {status}"))
        if status not in edits.NEEDS_REASON:
            told(at, do.EditTask(task, status=status), key=f"still {status}")
    for priority in PRIORITIES:
        twice(at, do.EditTask(task, priority=f"{priority.lower()} "))
    for minutes in (1440, 1, 0):
        twice(at, do.EditTask(task, estimate=minutes))
    for due in ("2027-12-31", ""):
        twice(at, do.EditTask(task, due=due))
    for language in ("AA", "zz ", ""):
        twice(at, do.EditTask(task, language=language))
    twice(at, do.EditTask(task, title=" Mend  the sink "), do.EditTask(task, category="THE garden"))
    twice(at, do.EditTask(task, description=Words("It drips.")))
    twice(at, do.EditTask(task, category=c.category_id("inbox"), title="Mend it", priority="P3"))
    _parts_again(at, task)
    _links_again(at, task, other)
    twice(at, do.StartTimer(task))
    pass_time(at, 59)
    twice(at, do.StartTimer(other))
    pass_time(at, 3600)
    twice(at, do.DeleteTask(other))
    refused(at, "nothing_running", do.StopTimer())
    refused(at, "task_deleted", do.StartTimer(other), do.EditTask(other, title="x"))
    twice(at, do.RestoreTask(other))
    twice(at, do.RestoreTask(task))
    answers(at, [reply(REPORT), reply()])
    changed(at, agent)
    return at


def _catalog_again(at: Services) -> None:
    twice(at, do.AddCategory(" The  shed ", "de"), do.AddCategory("THE SHED", "en"))
    told(at, do.RenameCategory("the shed", "The garden"))
    twice(at, do.RenameCategory("The garden", "THE garden"))
    taken = do.AddCategory("The shed"), do.AddCategory("One", "eng"), do.AddCategory("One", "e1")
    refused(at, "invalid_value", *taken, do.RenameCategory("the garden", " inbox "))
    refused(at, "unknown_category", do.RenameCategory("The shed", "x"), do.AddLabel("x", ("no",)))
    for name, scope in (("Garden", ()), ("garden", ("Inbox",)), ("old", ("the garden", "inbox"))):
        twice(at, do.AddLabel(name, scope))
    twice(at, do.AddLabel("GARDEN"), do.AddLabel("free"))
    told(at, do.DeleteLabel(" OLD "))
    refused(at, "unknown_label", do.DeleteLabel("old"))
    told(at, do.AddLabel("Old"))


def _parts_again(at: Services, task: str) -> None:
    for names in (("garden", " Garden", c.label_id("garden")), ("old",)):
        twice(at, do.ChangeLabels(task, assign=names), do.ChangeLabels(task, remove=names))
        twice(at, do.ChangeLabels(task, suppress=names), do.ChangeLabels(task, allow=names))
    told(at, do.ChangeLabels(task, ("garden", "old"), suppress=("garden", "old")))
    told(at, do.ChangeLabels(task, (), ("garden",), ("free",), ("old",)))
    refused(at, "unknown_label", do.ChangeLabels(task, ("no",)))
    told(at, do.AddItems(task, (), "Empty"), key="nothing to add")
    told(at, do.AddItems(task, ("Saw", " saw ", "Nail"), "My  tools"))
    told(at, do.AddItems(task, ("Saw", "Glue"), "MY TOOLS"))
    first, second = told(at, do.AddItems(task, ("Rope", "Rope")))
    told(at, do.AddItems(task, ("Tape",), "Another list"))
    for title, checked, archived in (("Tow rope", None, None), ("", True, None), ("", None, True)):
        twice(at, do.EditItem(task, first, title, checked, archived))
    told(at, do.EditItem(task, first, "Rope ", is_checked=False, is_archived=False))
    told(at, do.AddItems(task, ("Tow rope", "rope")))
    twice(at, do.EditItem(task, second, " Cord "), do.EditItem(task, second, "", False, False))
    refused(at, "unknown_item", do.EditItem(task, NOBODY, "x"), do.RemoveNote(task, NOBODY))
    refused(at, "unknown_item", do.EditNote(task, NOBODY, Words("x")))
    for kind in ("note", "transcript", "image_analysis"):
        note = told(at, do.AddNote(task, kind, Words(f"A {kind}")))[0]
        twice(at, do.EditNote(task, note, Words(f"The {kind}")))
    told(at, do.RemoveNote(task, note))
    refused(at, "unknown_item", do.RemoveNote(task, note))


def _links_again(at: Services, task: str, other: str) -> None:
    third = told(at, do.CreateTask("Scaffold", labels=("garden", "GARDEN", "old")))[0]
    for phrase, relation in INVERSE.items():
        twice(at, do.LinkTask(task, phrase, other), do.LinkTask(other, relation, task))
        twice(at, do.LinkTask(task, relation, third))
    refused(at, "cycle", do.LinkTask(third, "blocks", other), do.LinkTask(third, "blocks", task))
    refused(at, "cycle", do.LinkTask(other, "is_blocked_by", task))
    refused(at, "invalid_value", do.LinkTask(task, "likes", other))
    refused(at, "invalid_value", do.LinkTask(task, "blocks", task))
    refused(at, "unknown_task", do.LinkTask(task, "blocks", NOBODY))
    twice(at, do.LinkTask(task, "relates_to", other), do.LinkTask(other, "relates_to", task))
    twice(at, do.UnlinkTask(other, "relates_to", task), do.UnlinkTask(other, "blocks", third))
    twice(at, do.UnlinkTask(task, "is_blocked_by", other), do.UnlinkTask(task, "fixes", third))
    twice(at, do.LinkTask(third, "follows_up_on", other), do.LinkTask(other, "blocks", third))


def as_much_as_allowed() -> Services:
    """Every length and number of a person's own at its limit, and one beyond it."""
    at = services([reply(REPORT), reply()])
    task, agent = task_with_agent(at)
    long, reason = "t" * edits.TITLE_MAX, "r" * edits.REASON_MAX
    told(at, do.CreateTask(f" {long} ", status="BLOCKED", reason=reason, estimate=1))
    made = do.CreateTask, do.AddCategory, do.AddLabel
    refused(at, "invalid_value", *(one("") for one in made), *(one(" \t") for one in made))
    refused(at, "invalid_value", do.CreateTask(long + "t"), do.EditTask(task, title=long + "t"))
    refused(at, "unknown_category", do.CreateTask("x", "no"), do.EditTask(task, category="no"))
    refused(at, "unknown_label", do.CreateTask("x", labels=("no",)))
    unknown = do.EditTask(NOBODY, title="x"), do.DeleteTask(NOBODY), do.RestoreTask(NOBODY)
    refused(at, "unknown_task", *unknown, do.AddItems(NOBODY, ("x",)), do.StartTimer(NOBODY))
    for status in ("BLOCKED", "ON HOLD"):
        refused(at, "invalid_value", do.EditTask(task, status=status, reason=" "))
    for wrong in (
        do.EditTask(task, status="ASLEEP"),
        do.EditTask(task, status="OPEN", reason=reason + "r"),
        do.EditTask(task, priority="P4"),
        do.EditTask(task, estimate=MINUTES_MAX + 1),
        do.EditTask(task, estimate=-1),
        *(do.EditTask(task, due=due) for due in ("2027-02-29", "2027-2-1", "20270201", "soon")),
        *(do.EditTask(task, language=code) for code in ("e", "eng", "e1", "1e", "é", "{a", "a`")),
    ):
        refused(at, "invalid_value", wrong)
    told(at, do.EditTask(task, status="ON HOLD", reason=reason, estimate=MINUTES_MAX))
    name, item = "n" * c.NAME_MAX, "i" * edits.ITEM_TITLE_MAX
    told(at, do.AddCategory(name)), told(at, do.AddLabel(name)), told(at, do.AddCategory("short"))
    longer = do.AddCategory(name + "n"), do.AddLabel(name + "n")
    refused(at, "invalid_value", *longer, do.RenameCategory("short", name + "n"))
    refused(at, "invalid_value", do.AddItems(task, ("x", "")), do.AddItems(task, (item + "i",)))
    refused(at, "invalid_value", do.AddItems(task, ("x",), long + "t"))
    first = told(at, do.AddItems(task, (item, "one"), long))[0]
    refused(at, "invalid_value", do.EditItem(task, first, item + "i"))
    refused(at, "invalid_value", do.AddItems(task, ("x",) * (edits.ITEMS_MAX + 1)))
    _times(at, task)
    _notes(at, task)
    changed(at, agent)
    return at


def _times(at: Services, task: str) -> None:
    start, summary = later(at.clock.now(), seconds=-9000), "s" * edits.SUMMARY_MAX
    end = later(start, seconds=61)
    told(at, do.LogTime(task, start, end, summary))
    told(at, do.LogTime(task, end, later(end, seconds=59)))
    wrong = ((start, start, ""), (end, start, ""), (start, "soon", ""), ("2027-01-01", end, ""))
    for one in (*wrong, (start, end, summary + "s")):
        refused(at, "invalid_value", do.LogTime(task, *one))
    told(at, do.StartTimer(task))
    refused(at, "invalid_value", do.StopTimer(summary + "s"))
    pass_time(at, 60)
    told(at, do.StopTimer(summary))


def _notes(at: Services, task: str) -> None:
    for size in (1, INLINE_MAX_BYTES, INLINE_MAX_BYTES + 1):
        said, kept = words(task, "w" * size)
        note = at.append_journal(do.AddNote(task, "note", said), payloads=kept).result.ids[0]
    refused(at, "invalid_value", do.AddNote(task, "note", Words()))
    refused(at, "invalid_value", do.EditNote(task, note, Words(" \n")))
    said, kept = words(task, "ä" * (INLINE_MAX_BYTES // 2 + 1))
    at.append_journal(do.EditTask(task, description=said), payloads=kept)
    at.append_journal(do.EditNote(task, note, said))
    for nth in range(c.CORRECTIONS_MAX + 1):
        texts = [payload(SHARED, f"{one}{nth}".encode()) for one in ("wrong", "right")]
        at.append_journal(do.AddCorrection("Inbox", texts[0].id, texts[1].id), payloads=texts)


def odd_texts() -> Services:
    """Spaces, cases and line ends of all of Unicode: what is the same, and what no heading."""
    at = services()
    task, agent = task_with_agent(at, f"{SPACES}Fix{SPACES}it{SPACES}")
    for word in CASES.split(" "):
        told(at, do.AddLabel(word))
        twice(at, do.AddItems(task, (word, word.lower(), word.upper()), f"{word}{SPACES}"))
        told(at, do.AddCategory(word.upper()), key=f"category {word}")
        told(at, do.AddCategory(word.lower()), key=f"again {word}")
    twice(at, do.EditTask(task, title=f"Ünïcödé 🧵{SPACES}\u200b\u0301"))
    told(at, do.EditTask(task, description=Words(ENDS), status="BLOCKED", reason=ENDS))
    told(at, do.AddNote(task, "note", Words(ENDS)))
    told(at, do.AddNote(task, "note", Words("\u3000\u00a0x")))
    refused(at, "invalid_value", do.AddNote(task, "note", Words(SPACES)))
    refused(at, "invalid_value", do.EditTask(task, title=SPACES))
    texts = [payload(SHARED, one.encode()) for one in (ENDS, "\u2028#\u2029")]
    at.append_journal(do.AddCorrection("Inbox", texts[0].id, texts[1].id), payloads=texts)
    escaped = '{"title":"Fix \\ud800 it \\udc00\\ud83e\\uddf5 \\u2028## x"}'
    report = (
        '{"content":"# A\\n\\u2028## B\\r\\n#C","oneLiner":"x\\u0085# y","tldr":"## Z\\u2029# é"}'
    )
    answers(
        at,
        [
            reply(("set_task_title", escaped), ("set_task_title", '{"\\ud800":1}')),
            reply(("set_task_status", '{"status":"GROOMED","reason":"ab \\u3000 cd"}')),
            reply(("update_report", report), text="\u2028done"),
            reply(),
        ],
    )
    changed(at, agent)
    told(at, do.EditTask(task, priority="P0"))
    answers(at, [reply(text="Nothing.")])
    changed(at, agent)
    return at


SCENES: tuple[Scene, ...] = (already_so, as_much_as_allowed, odd_texts)
