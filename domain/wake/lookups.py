"""What a wake may look up in both logs, and how it is told (ADR 42).

Pure: the same logs at the same positions give the same bytes. So a read is recorded as what it
was asked and answered, and prove reads again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import mul
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from domain.agent.agent import AGENT, Agent, AgentObserved, AgentReported
from domain.changes.change_set import CHANGES
from domain.journal import task as t
from domain.journal.catalog import CATALOG
from domain.journal.task import TASK, Task
from domain.log import canonical
from domain.log.state import MAIN, LogState
from domain.log.wire import Words
from domain.policy.flow import may_enter, project
from domain.policy.gate import refusal
from domain.policy.policy import POLICY
from domain.policy.scrub import scrub, scrub_all
from domain.scaffold import features_of
from domain.text import search_words, tokens
from domain.tools import registry
from domain.tools.arguments import FOUND_MAX, RECALLED_MAX, FindTasks, ReadTask, Recall
from domain.wake.context import VERDICTS, label_names
from domain.wake.memory import may_read, readable_digests
from domain.wake.prompt_sections import line
from domain.wake.task_search import SearchableTask
from domain.wake.wake import ToolAsked, ToolReturned, ToolStatus, Wake, anyones
from domain.wake.wake_inputs import agent_of_task, report_of

RESULT_MAX_BYTES = 4_096
TITLE_MAX_BYTES = 300
NAME_MAX_BYTES = 80
TEXT_MAX_BYTES = 500  # of what is recalled
TLDR_MAX_BYTES = 800
LABELS_MAX = 6
ITEMS_MAX = 100
RARE_PART = 4  # a word is rare that is in one of so many entries, or in fewer
BEGINNING, WHOLE, BEGUN = 4, 4, 3  # letters of a beginning that counts; what a word counts
NOT_FOUND = "There is no such task that you may read."


class ItemLine(Struct, frozen=True, rename="camel", omit_defaults=True):
    id: str
    title: str
    is_checked: bool = False


class TaskFound(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A task as an agent of another one is told it. `category` and `labels` are names; of the
    items that are not archived, the open ones come first."""

    id: str
    title: str
    status: str
    category: str
    due: str = ""
    priority: str = ""
    labels: tuple[str, ...] = ()
    items: tuple[ItemLine, ...] = ()
    items_left_out: int = 0
    tldr: str = ""


class TasksFound(Struct, frozen=True, rename="camel", omit_defaults=True):
    tasks: tuple[TaskFound, ...]
    left_out: int = 0


class RecalledMemory(Struct, frozen=True):
    """What was written once: `what` is observation, report, memory (the beginnings of
    older observations), verdict, note, status or item."""

    at: str
    what: str
    text: str


class Recalled(Struct, frozen=True, rename="camel", omit_defaults=True):
    entries: tuple[RecalledMemory, ...]
    left_out: int = 0


class LookupAnswer(NamedTuple):
    """What a read is answered with; `code` is empty where it came to something."""

    text: str
    code: str = ""


class LookupLogs(NamedTuple):
    """Both logs as a wake looks at them. `reader`: its agent, allowed what it may read here."""

    journal: LogState
    agents: LogState
    reader: Agent
    scaffold: int


LookupLines = Callable[[LogState], Mapping[str, SearchableTask]]


def read(
    asked: ToolAsked, wake: Wake, journal: LogState, agents: LogState, lines: LookupLines
) -> LookupAnswer:
    """What a read of a wake is answered with; `lines` gives the living tasks of the journal."""
    given = canonical.read(agents.text(asked.arguments))
    arguments = registry.decode(asked.tool, given, wake.features)
    look = LookupLogs(journal, agents, _reader(wake, agents), wake.begun.scaffold)
    match arguments:
        case FindTasks():
            return _found(look, arguments, lines(journal).values())
        case ReadTask(task_id=task):
            return _task(look, task)
        case Recall():
            return _recalled(look, arguments)
        case _:  # pragma: no cover  # nothing else is asked for as a read
            return LookupAnswer(f"{asked.tool} cannot be read", "internal")


def returned(
    asked: ToolAsked, told: LookupAnswer, message: Words, position: int, agent_position: int
) -> ToolReturned:
    """The answer to a read as it is recorded."""
    status: ToolStatus = "error" if told.code else "success"
    return ToolReturned(
        asked.turn, asked.operation, asked.attempt, asked.action, asked.call_id, asked.tool,
        status, message, told.code, position=position, agent_position=agent_position,
    )  # fmt: skip


def _reader(wake: Wake, agents: LogState) -> Agent:
    """The agent with the categories that it had when its wake began, has still, and of which the
    wake's model may be told."""
    begun, policy = wake.begun, agents.load(POLICY, MAIN)
    agent = agents.load(AGENT, begun.agent)

    def is_open(category: str) -> bool:
        of = replace(agent, categories=(category,))
        return refusal(policy, of, begun.model, has_secret=True) is None

    kept = set(begun.categories).intersection(agent.categories)
    return replace(agent, categories=tuple(sorted(filter(is_open, kept))))


# ------------------------------------------------------------------------------------- tasks


def _found(look: LookupLogs, asked: FindTasks, tasks: Iterable[SearchableTask]) -> LookupAnswer:
    wanted, allowed = set(tokens(asked.words)), set(look.reader.categories)
    matches: list[tuple[int, SearchableTask]] = []
    for one in tasks:
        count = len(wanted & one.words)
        if count and one.category in allowed and asked.status in (None, one.status):
            matches.append((count, one))
    others = [one for one in matches if one[1].id != look.reader.task]
    others.sort(key=lambda one: one[1].id)
    others.sort(key=lambda one: (one[0], one[1].at), reverse=True)
    shown = [
        _brief(look, look.journal.load(TASK, one.id))
        for _, one in others[: asked.limit or FOUND_MAX]
    ]
    return _fitted(shown, lambda kept: TasksFound(tuple(kept), len(others) - len(kept)))


def _task(look: LookupLogs, wanted: str) -> LookupAnswer:
    task = look.journal.load(TASK, wanted)
    may = task.id != look.reader.task and may_enter((task.category,), look.reader)
    if not task.exists or task.is_deleted or not may:
        return LookupAnswer(NOT_FOUND, "not_found")
    living = [one for one in task.items if not one.is_archived]
    living.sort(key=lambda one: one.is_checked)
    items = [
        ItemLine(one.id, _line(one.title, TITLE_MAX_BYTES), one.is_checked)
        for one in living[:ITEMS_MAX]
    ]
    names = label_names(look.journal.load(CATALOG, MAIN), task, look.reader)[:LABELS_MAX]
    labels = tuple(_line(one, NAME_MAX_BYTES) for one in names)
    whole = replace(_brief(look, task), labels=labels, tldr=_tldr(look, task))

    def made(kept: Sequence[ItemLine]) -> TasksFound:
        seen = replace(whole, items=tuple(kept), items_left_out=len(living) - len(kept))
        return TasksFound((project("category_task", seen, look.scaffold),))

    return _fitted(items, made)


def _brief(look: LookupLogs, task: Task) -> TaskFound:
    category = look.journal.load(CATALOG, MAIN).categories.get(task.category)
    seen = TaskFound(
        task.id,
        _line(task.title, TITLE_MAX_BYTES),
        task.status,
        _line(category.name if category else task.category, NAME_MAX_BYTES),
        task.due,
        task.priority,
    )
    return project("category_task", seen, look.scaffold)


def _tldr(look: LookupLogs, task: Task) -> str:
    """What the task's agent reports, if all that it ever was allowed is allowed here."""
    other = agent_of_task(look.agents, task.id)
    if other is None or not may_enter(other.categories_ever or (), look.reader):
        return ""
    report = report_of(look.agents, other)
    return _line(report.tldr, TLDR_MAX_BYTES) if report else ""


# ------------------------------------------------------------------------------------- the past


def _recalled(look: LookupLogs, asked: Recall) -> LookupAnswer:
    find = _ranked if features_of(look.scaffold).ranks_reads else _holding_all
    matches = find(asked.words, [*_own(look), *_log(look)])
    shown = [
        replace(one, text=_line(one.text, TEXT_MAX_BYTES))
        for one in matches[: asked.limit or RECALLED_MAX]
    ]
    return _fitted(shown, lambda kept: Recalled(tuple(kept), len(matches) - len(kept)))


def _holding_all(words: str, entries: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    wanted = set(tokens(words))
    matches = [one for one in entries if wanted and wanted.issubset(tokens(one.text))]
    return sorted(matches, key=lambda one: one.at, reverse=True)


def _ranked(words: str, entries: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    """What holds all words, then what holds a rare one; of these what holds the rarer ones, then
    the newest. How rare a word is follows from what the reader may read and nothing else: a count
    over more would tell of it (ADR 99)."""
    wanted = search_words(words)
    held = [_held(wanted, one.text) for one in entries]
    counts = [sum(map(bool, of_word)) for of_word in zip(*held, strict=True)]
    weights = [(len(entries) // count).bit_length() if count else 0 for count in counts]
    is_rare = [count * RARE_PART <= len(entries) for count in counts]
    found = [
        (all(how), sum(map(mul, how, weights)), one)
        for how, one in zip(held, entries, strict=True)
        if wanted and (all(how) or any(map(mul, how, is_rare)))
    ]
    found.sort(key=lambda one: one[2].at, reverse=True)
    found.sort(key=lambda one: one[:2], reverse=True)
    return [one for _, _, one in found]


def _held(wanted: Sequence[str], text: str) -> list[int]:
    """How well a text holds each word: whole, by a beginning that both have, or not at all."""
    known = set(search_words(text))
    beginnings = {one[:BEGINNING] for one in known if len(one) >= BEGINNING}
    return [WHOLE if one in known else BEGUN * (one[:BEGINNING] in beginnings) for one in wanted]


def _memory(look: LookupLogs, at: str, what: str, text: str) -> RecalledMemory:
    return project("own_past", RecalledMemory(at, what, scrub(text).text), look.scaffold)


def _own(look: LookupLogs) -> Iterator[RecalledMemory]:
    """What the agent wrote, as far as it may read it now, and what became of its proposals."""
    agents, reader = look.agents, look.reader
    may = may_read(agents, reader)
    for row in agents.history("agent", reader.id):
        match row.fact:
            case AgentObserved(run_key=run_key, words=words) if may(run_key):
                yield _memory(look, row.at, "observation", agents.text(words))
            case AgentReported(run_key=run_key) if may(run_key) and (
                drafted := anyones(agents, run_key).report
            ):
                told = f"{drafted.one_liner} {agents.text(drafted.tldr)}"
                yield _memory(look, row.at, "report", told)
            case _:
                pass
    for one in readable_digests(agents, reader):
        yield _memory(look, one.until, "memory", agents.text(one.words))
    for changes in agents.load_each(CHANGES, reader.sets):
        if not may(changes.run_key):
            continue
        for item in changes.items:
            if item.status in VERDICTS:
                told = _with_reason(f"{item.status} {item.summary}", item.reason)
                yield _memory(look, item.decided_at, "verdict", told)


def _log(look: LookupLogs) -> Iterator[RecalledMemory]:
    """The log of the agent's own task."""
    journal = look.journal
    task = journal.load(TASK, look.reader.task)
    if task.is_deleted or not may_enter((task.category,), look.reader):
        return
    for note in task.notes:
        yield _memory(look, note.at, "note", journal.text(note.words))
    for one in task.history:
        yield _memory(look, one.at, "status", _with_reason(one.status, one.reason))
    titles = {item.id: item.title for item in task.items}
    for row in journal.history("task", task.id):
        did = _DONE.get(type(row.fact), "")
        title = titles.get(getattr(row.fact, "item", ""), "")
        if did and title:
            told = _with_reason(f"{did} {title}", getattr(row.fact, "reason", ""))
            yield _memory(look, row.at, "item", told)


def _with_reason(told: str, reason: str) -> str:
    return f"{told}: {reason}" if reason else told


_DONE: Mapping[type[Struct], str] = {
    t.ItemAdded: "added",
    t.ItemChecked: "checked",
    t.ItemUnchecked: "unchecked",
    t.ItemArchived: "archived",
    t.ItemRestored: "restored",
}


# ------------------------------------------------------------------------------------- the result


def _line(text: str, bytes_max: int) -> str:
    """A text as it is told: without secrets, which could be cut in two else, and without control
    characters, of which JSON makes six bytes."""
    return line(scrub(text).text.translate(_TO_SPACE), bytes_max)


_TO_SPACE = dict.fromkeys(range(32), " ")


def _fitted(entries: Sequence[Any], made: Callable[[Sequence[Any]], Struct]) -> LookupAnswer:
    """The document of as many of the first entries as there is room for."""
    for count in range(len(entries), -1, -1):  # pragma: no branch  # none at all do fit
        data = canonical.encode(scrub_all(made(entries[:count]))[0])
        if len(data) <= RESULT_MAX_BYTES:
            break
    return LookupAnswer(data.decode())
