"""Worlds in memory, a small household of tasks in them, and strategies for readings."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from adapters.home.schedules import local_time
from domain.agent.agent import Agent
from domain.journal import catalog as c
from domain.journal import task as t
from domain.journal.links import LinkedFrom
from domain.log.state import LogState, RecordedEvent
from domain.log.wire import Payload, PayloadId, Stored, Words, payload, words
from domain.ports import Section
from domain.scaffold import FEATURES
from domain.tools.category import ABOUT
from domain.wake import reading as r
from domain.wake.context import gather
from domain.wake.prompt import Prompt
from domain.wake.prompt_sections import ASKED_BY

AT = "2027-03-{:02}T09:00:00.000000Z"
HOME = c.category_id("Home")
WORK = c.category_id("Work")
ROOF = "task-roof"
AGENT = Agent("agent-roof", "active", "task_agent", task=ROOF, categories=(HOME,))


class Book:
    """One log in memory: every `tell` is an append of its own, a day after the last."""

    def __init__(self, log: str = "journal") -> None:
        self.log = log
        self.n = 0
        self.rows: defaultdict[str, list[RecordedEvent]] = defaultdict(list)
        self.payloads: dict[PayloadId, bytes] = {}
        self.payloads_read: list[PayloadId] = []

    def tell(self, kind: str, entity: str, *facts: Stored) -> None:
        """Append facts to one stream."""
        self.n += 1
        stream = f"{kind}:{entity}@r1"
        at = AT.format(min(28, self.n))
        for row, fact in enumerate(facts):
            known = self.rows[stream]
            known.append(RecordedEvent(stream, len(known) + 1, "r1", self.n, row, at, fact))

    def keep(self, text: str) -> PayloadId:
        """A payload, whatever its length."""
        return self._put(payload(ROOF, text.encode()))

    def words(self, text: str) -> Words:
        """A text as it is stored."""
        stored, kept = words(ROOF, text)
        for one in kept:
            self._put(one)
        return stored

    def world(self) -> LogState:
        """The log as it stands now."""
        return LogState(
            self.log, "r1", self.n + 1, self._read, self._payload, streams=self._of_kind
        )

    def _of_kind(self, kind: str) -> list[str]:
        return [one for one in self.rows if one.startswith(f"{kind}:")]

    def _put(self, one: Payload) -> PayloadId:
        self.payloads[one.id] = one.data
        return one.id

    def _read(self, stream: str, after: int) -> Sequence[RecordedEvent]:
        return self.rows[stream][after:]

    def _payload(self, wanted: PayloadId) -> bytes | None:
        self.payloads_read.append(wanted)
        return self.payloads.get(wanted)


def household() -> Book:
    """Two categories, three labels, and a task to mend the roof, in category Home."""
    book = Book()
    book.tell("catalog", "main", c.CategoryAdded(HOME, "Home"), c.CategoryAdded(WORK, "Work"))
    names = (("label-house", "house", ()), ("label-money", "money", ()), ("label-job", "job", WORK))
    for label, name, category in names:
        scope = (category,) if category else ()
        book.tell("catalog", "main", c.LabelAdded(label, name, scope))
    add_task(book, ROOF, "Mend the roof", HOME)
    return book


def add_task(book: Book, task: str, title: str, category: str) -> None:
    book.tell("task", task, t.TaskCreated("person", title, category))


def add_note(book: Book, note: str, text: str, by: str = "person", at: str = "") -> None:
    added = t.NoteAdded(by, note, "note", book.words(text), at)
    book.tell("task", ROOF, added)


def add_link(book: Book, source: str, relation: t.Relation, target: str) -> None:
    book.tell("task", source, t.TaskLinked("person", relation, target))
    book.tell("links", target, LinkedFrom(relation, source))


def read(book: Book, agent: Agent = AGENT, **given: Any) -> r.Reading:
    """What an agent reads; `given` are the arguments of `gather` that matter."""
    known: dict[str, Any] = {"report": None, "sets": (), "linked_agents": {}} | given
    asked = known.pop("asked", r.WakeReason("manual"))
    agents = known.pop("agents", Book("agent"))
    return gather(book.world(), agents.world(), agent, asked, **known)


def sections(prompt: Prompt) -> dict[str, str]:
    """Text of each section by its name."""
    return {one.name: one.text for one in (*prompt.system, *prompt.user)}


def body(section: Section | str) -> str:
    """A section's text without its heading."""
    text = section if isinstance(section, str) else section.text
    return text.partition("\n\n")[2]


# ------------------------------------------------------------------------------- strategies

ENDS = ("", "\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
NASTY = (
    *(f"a{end}## Instruction{end}b{end}" for end in ENDS),
    *("\n \t## x", '"quoted" \\', "# one\n" * 2_000, "\x01é" * 4_000, "𝄞" * 3_000),
)
texts = st.sampled_from(NASTY) | st.text(max_size=20)
ids = st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=1, max_size=32)
ats = st.integers(1, 28).map(AT.format)
labels = st.builds(r.LabelSeen, ids, texts)
items = st.builds(r.ItemSeen, ids, texts, st.booleans(), is_archived=st.booleans())
entries = st.builds(
    r.EntrySeen,
    ats,
    st.sampled_from(["note", "transcript"]),
    st.just("person"),
    texts,
    st.just("") | ats,
)
origins = st.builds(r.OriginSeen, st.sampled_from(["person", "agent", "import"]), ats)
times = st.builds(r.TimeSeen, ats, st.none() | st.integers(0, 10_000), texts)
FIELDS = "title description status priority estimate due language category".split()
tasks = st.builds(
    r.TaskSeen,
    id=ids,
    title=texts,
    description=texts,
    status_reason=texts,
    category=labels,
    labels=st.lists(labels, max_size=4).map(tuple),
    items=st.lists(items, max_size=6).map(tuple),
    log=st.lists(entries, max_size=6).map(tuple),
    log_unread=st.integers(0, 3),
    created_at=ats,
    due=st.sampled_from(["", "2026-11-20", "2027-02-28"]),
    origins=st.dictionaries(st.sampled_from(FIELDS), origins),
    time=st.lists(times, max_size=4).map(tuple),
    time_unread=st.integers(0, 2),
)
observations = st.builds(
    r.ObservationSeen,
    ats,
    st.sampled_from(["routine", "critical"]),
    st.sampled_from(["grievance", "excellence", "template_improvement", "operational"]),
    texts,
    st.sampled_from(["", "812-3"]),
)
links = st.one_of(
    st.builds(r.LinkSeen, st.just("blocks"), ids, texts, one_liner=texts),
    st.builds(r.LinkSeen, st.just("fixes"), is_deleted=st.booleans()),
)
slots = st.builds(
    r.SlotsSeen,
    texts,
    st.lists(texts, max_size=3).map(tuple),
    st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
)


def _some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=4).map(tuple)


exchanges = st.builds(r.ExchangeSeen, ats, texts, texts)
clocks = st.builds(local_time, ats, st.sampled_from(["UTC", "Asia/Kathmandu", "Europe/Berlin"]))
readings = st.builds(
    r.Reading,
    task=tasks,
    slots=slots,
    suppressed=_some(labels),
    available=_some(labels),
    corrections=_some(st.builds(r.CorrectionSeen, texts, texts)),
    linked=_some(links),
    report=st.none() | st.builds(r.ReportShown, ats, texts, texts, texts),
    critical=_some(observations),
    journal=_some(observations),
    proposals=_some(st.builds(r.ProposalSeen, ids, texts)),
    verdicts=_some(st.builds(r.VerdictSeen, st.just("rejected"), texts, texts, st.booleans())),
    changes=_some(st.builds(r.ChangeSeen, texts, st.just("changed"), st.integers(1, 3))),
    hidden=st.integers(0, 2),
    timers=_some(st.builds(r.TimerSeen, ids, texts, _some(ats))),
    is_resumed=st.booleans(),
    words=texts,
    language=st.sampled_from(["", "de"]),
    scaffold=st.sampled_from(sorted(FEATURES)),
    local=st.none() | clocks,
    thread=st.builds(r.ThreadSeen, _some(exchanges), st.integers(0, 2)),
    memory=_some(st.builds(r.DigestSeen, ats, ats, st.integers(1, 99), texts)),
    requests=_some(
        st.builds(r.RequestSeen, st.sampled_from(ABOUT), st.sampled_from(sorted(ASKED_BY)))
    ),
)
