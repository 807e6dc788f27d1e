"""No agent is told what its categories do not allow: by no prompt, result, span or notice, and by
no way over other agents. Every text of a home has a marker of its own (agents.md, 1.6)."""

from collections.abc import Iterator
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import json

from adapters.notify.notices import found_in, message_of, without_texts
from adapters.runtime import watcher
from domain.policy.flow import ALLOWED
from domain.scaffold import SCAFFOLD
from tests.support.marked import MARKS, Marked, Told, prompt_of, results_of, text_of

HOME, WORK, HEALTH = range(3)
LINKED_FIELDS = ALLOWED[SCAFFOLD]["linked_task"]
READ_FIELDS = ALLOWED[SCAFFOLD]["category_task"] | {"item"}
SHARED_FIELDS = {"correction", "labels", "category"}
"""Of a category: whoever may read it may read them."""
TASKS = 4

World = tuple[list[int], list[tuple[int, int]], list[Any]]
"""The category of each task, what links to what, and what is done."""

indexes = st.integers(0, TASKS - 1)
scopes = st.sets(st.integers(0, 2), min_size=1)
steps = st.one_of(
    st.tuples(st.just("wake"), indexes),
    st.tuples(st.just("allow"), indexes, scopes.map(sorted)),
    st.tuples(st.just("reject"), indexes),
)
worlds = st.tuples(
    st.lists(st.integers(0, 2), min_size=TASKS, max_size=TASKS),
    st.lists(st.tuples(indexes, indexes), min_size=2, max_size=6),
    st.lists(steps, min_size=3, max_size=10),
)
LEAK: World = (
    [WORK, HEALTH, WORK, HOME],
    [(0, 1), (2, 0)],
    [("allow", 0, [WORK, HEALTH]), ("wake", 0), ("wake", 2)],
)
TWO_HOPS: World = (
    [WORK, HEALTH, WORK, WORK],
    [(0, 1), (2, 0), (3, 2)],
    [
        ("allow", 0, [WORK, HEALTH]),
        ("allow", 2, [WORK, HEALTH]),
        *(("wake", one) for one in (0, 2)),
        ("allow", 2, [WORK]),
        *(("wake", one) for one in (2, 3)),
    ],
)
NARROWED_SINCE: World = (
    [WORK, HEALTH, WORK, HOME],
    [(0, 1), (2, 0)],
    [("allow", 0, [WORK, HEALTH]), ("wake", 0), ("allow", 0, [WORK]), ("wake", 2)],
)


AFTER_A_VERDICT: World = (
    [WORK, HEALTH, WORK, HOME],
    [(0, 1)],
    [
        ("allow", 0, [WORK, HEALTH]),
        ("wake", 0),
        ("reject", 0),
        ("allow", 0, [WORK]),
        *(("wake", 0) for _ in range(2)),
    ],
)


def played(world: World) -> Marked:
    categories, edges, done = world
    home = Marked(categories, [edge for edge in edges if edge[0] != edge[1]])
    for step in done:
        getattr(home, step[0])(*step[1:])
    return home


def leaks(home: Marked, told: Told) -> Iterator[str]:
    """What one wake's model was shown of categories that its agent was not allowed."""
    for request in told.requests:
        for mark in set(MARKS.findall(text_of(request))):
            source = home.source(mark)
            if source.category not in told.allowed:
                yield f"{mark}: {source}"


def direct(home: Marked, told: Told) -> Iterator[str]:
    """What it was shown, at first hand, of a field that the table does not open."""
    for request in told.requests:
        found = (
            (home.source(mark), mark, fields | SHARED_FIELDS)
            for text, fields in (
                (prompt_of(request), LINKED_FIELDS),
                (results_of(request), READ_FIELDS),
            )
            for mark in set(MARKS.findall(text))
            if mark[0] == "m"
        )
        for source, mark, fields in found:
            if source.task != home.tasks[told.agent] and source.field not in fields:
                yield f"{mark}: {source}"


@settings(max_examples=40)
@given(world=worlds)
@example(world=LEAK)
@example(world=TWO_HOPS)
@example(world=NARROWED_SINCE)
@example(world=AFTER_A_VERDICT)
def test_no_agent_is_told_what_its_categories_do_not_allow(world: World) -> None:
    home = played(world)
    for told in home.told:
        assert list(leaks(home, told)) == []
        assert list(direct(home, told)) == []


def test_a_linked_agents_one_liner_brings_no_title_of_a_category_that_is_not_allowed() -> None:
    """The leak of scaffold 1, whose prompts stay as they are: agent 0 may read Work and Health and
    speaks of a linked task in Health; agent 2, who may read Work alone, looks at agent 0's task."""
    categories, edges, done = LEAK
    home = played((categories, edges, done[:-1]))
    title = next(
        mark
        for mark, source in home.sources.items()
        if source.field == "title" and source.task == home.tasks[1]
    )
    repeated = title.replace("m", "e")
    assert repeated in home.prompt(2, 1)
    assert repeated not in home.prompt(2, 2)


def test_reads_find_what_the_categories_allow_and_nothing_else() -> None:
    """That the law above is not true for want of results."""
    home = played(
        ([WORK, WORK, HEALTH, HOME], [(0, 1), (2, 3)], [("wake", 1), ("wake", 2), ("wake", 0)])
    )
    found = "\n".join(map(results_of, home.told[-1].requests))
    fields = {
        (home.source(mark).field, mark[0], home.tasks.index(home.source(mark).task))
        for mark in MARKS.findall(found)
        if home.source(mark).task
    }
    assert {("title", "m", 1), ("item", "m", 1), ("title", "e", 1), ("reason", "m", 0)} <= fields
    assert {task for _, _, task in fields} == {0, 1}


def test_lessons_digests_and_what_recall_finds_in_them_keep_to_the_categories_of_now() -> None:
    """Agent 0 notes what it reads in Work and Health until that is digested, and is then allowed
    Work alone; agents 2 and 3, of Work and of Health, are told of verdicts of their own alone."""
    home = Marked([WORK, HEALTH, WORK, HEALTH], [(0, 1), (2, 0)])
    home.model.notes = 15
    home.allow(0, [WORK, HEALTH])
    for _ in range(5):
        home.wake(0)
        home.reject(0)
    home.allow(0, [WORK])
    for agent in (0, 2, 3, 0, 2, 3):
        home.wake(agent)
        home.reject(agent)
    names = [one.name for told in home.told for asked in told.requests for one in asked.user]
    assert {"memory", "lessons"} <= set(names)
    for told in home.told:
        assert list(leaks(home, told)) == []


def notices(home: Marked) -> list[bytes]:
    """The rows of the agent log that say what became of the journal, and who wakes for it."""
    rows = home.services.agents.rows()
    kinds = (b"alert:", b"watch:", b"subs:")
    return [one.state for one in rows if one.stream.encode().startswith(kinds)]


def waiting(home: Marked) -> str:
    """What an address would be sent of all that waits."""
    rows = (row for append in home.services.agents.appends() for row in append)
    message = message_of(home.services, found_in(rows), "m")
    assert message is None or MARKS.findall(message.text), "a program here is told titles"
    return json.encode(without_texts(message)).decode() if message else ""


@settings(max_examples=10)
@given(world=worlds)
@example(world=TWO_HOPS)
def test_no_text_stands_in_a_span_or_a_notice(world: World) -> None:
    home = played(world)
    watcher.catch_up(home.services)
    told = notices(home)
    posted = waiting(home)
    home.services.close()
    spans = home.exporter.get_finished_spans()
    assert told
    assert len(spans) >= len(home.told)
    said = [*(span.to_json() for span in spans), *(one.decode() for one in told), posted]
    assert MARKS.findall("\n".join(said)) == []
