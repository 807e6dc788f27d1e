"""Reads of any home: bounded, ranked, of allowed categories, and the same for whoever kept what."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.runtime.services import Services
from domain.agent.agent import AGENT
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import AgentSettings
from domain.journal import commands as j
from domain.journal.task import TASK
from domain.log import canonical
from domain.log.wire import Words
from domain.text import squeeze, tokens
from domain.wake import lookups
from domain.wake.lookups import RESULT_MAX_BYTES, LookupLines
from domain.wake.task_search import TaskSearchIndex
from domain.wake.wake import WAKE, ToolAsked
from tests.support.scripted_wakes import call, ended, woken
from tests.support.services import services, task_with_agent

WORDS = st.sampled_from(["sink", "Tap", "STRASSE", "Straße", "漢字", "don't", "a\x01b", '"\\"'])
TITLES = st.lists(WORDS, min_size=1, max_size=20).map(" ".join).map(lambda one: one[:200])
EDITS = st.sampled_from(["title", "move", "delete", "restore", "item", "note"])
HOMES = st.lists(st.tuples(TITLES, st.booleans()), min_size=1, max_size=14)


def asked(tool: str, **arguments: object) -> ToolAsked:
    return ToolAsked(1, "o", 1, "a", "read", "c1", tool, Words(canonical.text(arguments)))


def answer(at: Services, run_key: str, one: ToolAsked, lines: LookupLines) -> str:
    with at.journal.reading() as journal, at.agents.reading() as agents:
        return lookups.read(one, agents.load(WAKE, run_key), journal, agents, lines).text


def edited(at: Services, task: str, how: str, text: str, category: str) -> None:
    commands: dict[str, j.JournalCommand] = {
        "title": j.EditTask(task, title=text),
        "move": j.EditTask(task, category=category),
        "delete": j.DeleteTask(task),
        "restore": j.RestoreTask(task),
        "item": j.AddItems(task, tuple(f"{nth} {text}" for nth in range(60))),
        "note": j.AddNote(task, "note", Words(text)),
    }
    at.append_journal(commands[how])


def ranks(at: Services, words: str, found: Any) -> list[tuple[int, str]]:
    """Overlap and time of what was found, as they are folded by hand."""
    with at.journal.reading() as world:
        tasks = [world.load(TASK, one["id"]) for one in found["tasks"]]
    wanted = set(tokens(words))
    return [(len(wanted & set(tokens(one.title))), one.updated_at) for one in tasks]


@settings(max_examples=25)
@given(
    home=HOMES,
    edits=st.lists(st.tuples(st.integers(0, 13), EDITS, TITLES), max_size=8),
    words=TITLES.filter(lambda one: bool(tokens(one))),
)
@example(home=[("sink", True)], edits=[(0, "delete", "Tap")], words="sink")
def test_a_read_is_bounded_ranked_and_of_allowed_categories_whoever_makes_it(
    home: list[tuple[str, bool]], edits: list[tuple[int, str, str]], words: str
) -> None:
    at = services()
    task, agent = task_with_agent(at, "Own sink")
    (inbox,) = at.agent(agent).categories
    health = at.append_journal(j.AddCategory("Health")).result.ids[0]
    made = [
        at.append_journal(j.CreateTask(title, inbox if is_open else health)).result.ids[0]
        for title, is_open in home
    ]
    woken(at, agent, *ended())
    with at.agents.reading() as world:
        run_key = world.load(AGENT, agent).last_run
    kept = TaskSearchIndex()
    changed: list[str] = []

    def incremental(journal: Any) -> Any:
        return kept.of(journal, changed if kept.n else None)

    find = asked("find_tasks", words=squeeze(words))
    answer(at, run_key, find, incremental)
    for nth, how, text in edits:
        one = made[nth % len(made)]
        with at.journal.reading() as journal:
            is_gone = journal.load(TASK, one).is_deleted
        if is_gone == (how == "restore"):
            edited(at, one, how, text, health if nth % 2 else inbox)
            changed.append(one)
    text = answer(at, run_key, find, incremental)
    assert text == answer(at, run_key, find, lambda world: TaskSearchIndex().of(world))
    found = canonical.read(text)
    assert len(text.encode()) <= RESULT_MAX_BYTES
    order = ranks(at, words, found)
    assert order == sorted(order, reverse=True)
    assert all(count for count, _ in order)
    with at.journal.reading() as journal:
        tasks = {one: journal.load(TASK, one) for one in [task, *made]}
    told = {one["id"] for one in found["tasks"]}
    open_to = {one for one in made if tasks[one].category == inbox and not tasks[one].is_deleted}
    wanted = set(tokens(words))
    matching = {one for one in open_to if wanted & set(tokens(tasks[one].title))}
    assert told <= matching
    assert len(told) + found.get("leftOut", 0) == len(matching)
    for one in (task, *made):
        text = answer(at, run_key, asked("read_task", taskId=one), incremental)
        assert len(text.encode()) <= RESULT_MAX_BYTES
        assert (text == lookups.NOT_FOUND) == (one not in open_to)


@settings(max_examples=25)
@given(notes=st.lists(TITLES, max_size=14), words=TITLES.filter(lambda one: bool(tokens(one))))
def test_every_word_is_in_what_is_recalled_and_the_newest_comes_first(
    notes: list[str], words: str
) -> None:
    at = services()
    task, agent = task_with_agent(at, "Own sink")
    for text in notes:
        at.append_journal(j.AddNote(task, "note", Words(text)))
    woken(at, agent, *ended())
    with at.agents.reading() as world:
        run_key = world.load(AGENT, agent).last_run
    text = answer(at, run_key, asked("recall", words=squeeze(words)), lambda _: {})
    found = canonical.read(text)
    assert len(text.encode()) <= RESULT_MAX_BYTES
    wanted = set(tokens(words))
    matching = [one for one in notes if wanted <= set(tokens(one))]
    assert len(found["entries"]) + found.get("leftOut", 0) == len(matching)
    times = [one["at"] for one in found["entries"]]
    assert times == sorted(times, reverse=True)


def recalled_beside(hidden: list[str], open_to: list[str], words: str) -> str:
    """What is recalled where these texts were noted under a category that is gone since."""
    at = services()
    _, agent = task_with_agent(at, "Own sink")
    own = at.agent(agent).categories
    for texts, categories in ((hidden, (*own, "health")), (open_to, own)):
        at.append_agent(ConfigureAgent(agent, AgentSettings(categories=categories)))
        for text in texts:
            noted = call("record_observations", observations=[text] * 9)
            woken(at, agent, *ended(noted), scaffold=3)
    with at.agents.reading() as world:
        run_key = world.load(AGENT, agent).last_run
    return answer(at, run_key, asked("recall", words=words), lambda _: {})


@settings(max_examples=25)
@given(hidden=st.lists(TITLES, max_size=4), open_to=st.lists(TITLES, min_size=1, max_size=4))
@example(hidden=["sink"] * 3, open_to=["sink Tap", "Tap"])  # by a count of all, sink says less
@example(hidden=["Tap 漢字"] * 3, open_to=["sink"] * 4)  # digests of both
def test_what_may_not_be_read_changes_nothing_that_is_recalled(
    hidden: list[str], open_to: list[str]
) -> None:
    beside = recalled_beside(["nothing"] * len(hidden), open_to, "sink tap strasse")
    assert recalled_beside(hidden, open_to, "sink tap strasse") == beside
