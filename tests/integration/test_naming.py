"""A word names what it named when every document was read for it, and is refused as it was."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pytest

from adapters.usecases.resolve import pick, pick_agent, pick_task
from adapters.wiring import Home, open_home
from domain.errors import Refused, Remedy
from projections import agents, tasks
from projections.agents import AgentDocument
from tests.support.cli import FIXED, done, told

pytestmark = pytest.mark.slow

TITLES = ["Fix tap", "Fix tap", "Buy milk", "Buy milk", "Gone", "Twice\\_", "a", "Ärger", "Plain"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Titles that are alike, deleted tasks, an agent that has a successor, one of another name."""
    path = tmp_path_factory.mktemp("named")
    ids = [told(["task", "add", f"{nth} {one}"], path)["id"] for nth, one in enumerate(TITLES)]
    (path / "more.md").write_text("".join(f"- [ ] More {nth}\n" for nth in range(40)))
    done(["import", str(path / "more.md")], path)
    done(["agent", "create", "--all"], path)
    for one, title in zip(ids, TITLES, strict=True):
        done(["task", "set", one, "--title", title], path)
    done(["task", "delete", ids[3]], path)
    done(["task", "delete", ids[4]], path)
    done(["agent", "destroy", ids[6]], path)
    done(["agent", "create", ids[6]], path)
    done(["agent", "destroy", ids[8]], path)
    done(["agent", "delete", ids[8]], path)
    opened = open_home(path, {**FIXED, "WAKELOG_HOME": str(path)})
    opened.views.catch_up()
    yield opened
    opened.close()


def words(home: Home) -> list[str]:
    ids = [one.id for one in home.views.all(tasks.VIEW)]
    ids += [one.id for one in home.views.all(agents.VIEW)]
    begun = [one[:length] for one in ids for length in (1, 2, 8)]
    named = [one.name for one in home.views.all(agents.VIEW)]
    other = ["", "-", "fix tap", "Fix", "no such", "%", "\U0010ffff", "'"]
    some = [*ids, *begun, *named, *TITLES, *other]
    return list(dict.fromkeys([*some, *(one.upper() for one in some)]))


def answer(pick_it: Callable[[], str]) -> str:
    try:
        return pick_it()
    except Refused as refused:
        return f"{refused.code}: {refused}"


def by_words(wanted: str, titles: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Those with the words as a title in any case, else as a part, else begun word by word."""
    told = " ".join(wanted.lower().split())
    low = {one: [title.lower() for title in names] for one, names in titles.items()}
    parts = told.replace("-", " ").replace("%", " % ").replace("'", " ").split()
    ranks: list[Callable[[str], bool]] = [
        lambda title: title == told,
        lambda title: told in title,
        lambda title: (
            bool(parts)
            and all(any(word.startswith(part) for word in title.split()) for part in parts)
        ),
    ]
    for fits in ranks if told else []:
        if found := [one for one, names in low.items() if any(map(fits, names))]:
            return found
    return []


def task_by_reading_all(home: Home, wanted: str, *, is_deleted: bool) -> str:
    found = home.views.all(tasks.VIEW)
    if wanted in [one.id for one in found]:
        return wanted
    groups = [
        [one for one in found if one.is_deleted == is_it] for is_it in (is_deleted, not is_deleted)
    ]
    for group in groups:
        pairs = [(one.id, one.title) for one in group]
        try:
            return pick(wanted, pairs, "task", "unknown_task", Remedy("see_tasks"), is_whole=True)
        except Refused as refused:
            if refused.code == "ambiguous":
                raise
    for group in groups:
        if meant := by_words(wanted, {one.id: (one.title,) for one in group}):
            return (
                meant[0] if len(meant) == 1 else f"ambiguous: {wanted!r} names {len(meant)} tasks"
            )
    return f"unknown_task: there is no task {wanted!r}"


def agents_by_reading_all(home: Home, wanted: str) -> tuple[str, ...]:
    """All that a word names alike."""
    titles = {one.id: one.title for one in home.views.all(tasks.VIEW)}

    def ranks(one: AgentDocument) -> list[bool]:
        ids, names = (one.id, one.task_id), (one.name, titles.get(one.task_id, ""))
        start = bool(wanted) and any(part.startswith(wanted.lower()) for part in ids)
        return [wanted in ids, bool(wanted) and wanted in names, start]

    known = [one for one in home.views.page(agents.VIEW) if one.exists]
    for is_living in (True, False):
        for rank in range(3):
            fits = [one.id for one in known if one.is_living == is_living and ranks(one)[rank]]
            if fits:
                return tuple(fits)
    if wanted in titles or wanted in titles.values():
        return ()  # a task without one
    for is_living in (True, False):
        names = {
            one.id: (one.name, titles.get(one.task_id, ""))
            for one in known
            if one.is_living == is_living
        }
        if meant := by_words(wanted, names):
            return tuple(meant)
    return ()


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_task_is_named_as_if_all_were_read(home: Home, *, is_deleted: bool) -> None:
    for word in words(home):
        found = answer(partial(pick_task, home, word, is_deleted=is_deleted))
        read = answer(partial(task_by_reading_all, home, word, is_deleted=is_deleted))
        assert found == read or (found.startswith(read) and ": " in read), word


def test_an_agent_is_named_as_if_all_were_read(home: Home) -> None:
    seen = set()
    for word in words(home):
        found = answer(partial(pick_agent, home, word))
        fits = agents_by_reading_all(home, word)
        if len(fits) == 1:
            assert found == fits[0], word
            seen.add("one")
        elif fits:
            assert f"{word!r} names {len(fits)} agents" in found
            assert all(one[:8] in found for one in fits[:5])
            seen.add("many")
        else:
            every = {one.id: (one.title,) for one in home.views.all(tasks.VIEW)}
            has_task = word in every or by_words(word, every)
            code = "no_agent" if has_task else "unknown_agent"
            assert found.startswith(code), word
            seen.add(code)
    assert seen == {"one", "many", "no_agent", "unknown_agent"}


def test_who_names_none_is_told_the_nearest_and_who_names_several_which(home: Home) -> None:
    told = answer(partial(pick_task, home, "Plian"))
    assert "the nearest: " in told
    assert '"Plain"' in told
    told = answer(partial(pick_task, home, "fix TAP"))
    assert told.count('"Fix tap"') == 2
    assert told.endswith("; use more words, or the id")
    several = answer(partial(pick_task, home, "more"))
    assert several.count('"More ') == 5
    assert ", ...;" in several


def test_a_retry_means_the_task_that_it_meant_before_a_part_of_another(home: Home) -> None:
    path = home.path
    first = told(["task", "add", "Call Ann"], path)["id"]
    retry = ["task", "set", "Call Ann", "--title", "Phone Ann", "--key", "call"]
    assert told(retry, path)["id"] == first
    told(["task", "add", "Call Ann again"], path)
    assert told(retry, path)["id"] == first
    assert told(["task", "show", "call ann"], path)["title"] == "Call Ann again"


def test_a_word_that_no_text_can_be_names_no_agent(home: Home) -> None:
    assert answer(partial(pick_agent, home, "\ud800")).startswith("unknown_agent")
