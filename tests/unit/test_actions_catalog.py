"""What tasks are sorted by, changed under a caller's key: once, however often it is asked for."""

from collections.abc import Callable, Iterator

import pytest

from adapters.usecases import catalog
from adapters.usecases.tasks import UseCaseResult
from adapters.wiring import Home
from domain.errors import KeyReused, Refused
from domain.journal.catalog import CATALOG
from domain.log.state import MAIN
from tests.support.services import services

Deed = Callable[[Home, str, str], UseCaseResult]
"""Does a deed that a word is part of, under a key."""

DEEDS: dict[str, Deed] = {
    "add a category": lambda home, word, key: catalog.add_category(home, word, "en", key),
    "rename a category": lambda home, word, key: catalog.rename_category(home, "Home", word, key),
    "correct a category": lambda home, word, key: catalog.correct_category(
        home, "Home", "mtg", word, key
    ),
    "add a label": lambda home, word, key: catalog.add_label(home, word, ["Home"], key),
    "delete a label": catalog.delete_label,
}


@pytest.fixture
def home() -> Iterator[Home]:
    with Home.in_memory(services()) as home:
        catalog.add_category(home, "Home")
        for word in ("meeting", "garden"):
            catalog.add_label(home, word)
        yield home


@pytest.mark.parametrize("deed", DEEDS.values(), ids=list(DEEDS))
def test_the_same_key_twice_writes_nothing(home: Home, deed: Deed) -> None:
    word = "meeting" if deed is DEEDS["delete a label"] else "errands"
    first = deed(home, word, "monday")
    rows = home.services.journal.tail().n
    again = deed(home, word, "monday")
    assert (first.has_changed, first.is_repeated) == (True, False)
    assert (again.has_changed, again.is_repeated) == (False, True)
    assert again.ids == first.ids
    assert home.services.journal.tail().n == rows


@pytest.mark.parametrize("deed", DEEDS.values(), ids=list(DEEDS))
def test_a_key_that_stands_for_something_else_is_refused(home: Home, deed: Deed) -> None:
    deed(home, "meeting", "monday")
    rows = home.services.journal.tail().n
    with pytest.raises(KeyReused):
        deed(home, "garden", "monday")
    assert home.services.journal.tail().n == rows


def test_what_shows_no_correction_is_refused(home: Home) -> None:
    for before, after in (("", "meeting"), ("mtg", " "), ("mtg", "mtg")):
        with pytest.raises(Refused, match="shows no correction"):
            catalog.correct_category(home, "Home", before, after)


def test_a_deed_answers_with_the_id_of_what_it_was_about(home: Home) -> None:
    added = catalog.add_category(home, "Errands")
    renamed = catalog.rename_category(home, "errands", "Shopping")
    assert renamed.ids == added.ids
    with home.services.journal.reading() as world:
        assert world.load(CATALOG, MAIN).categories[added.ids[0]].name == "Shopping"
