"""A refusal names a remedy, and each screen has words of its own for it."""

import re
from pathlib import Path
from typing import get_args

import pytest

from adapters.text import remedies
from adapters.web import remedies as of_the_page
from domain.errors import Refused, Remedy, RemedyName
from tests.support.process import ROOT

NOT_ON_THE_PAGE = {
    "allow_category",
    "await_wake_or_recover",
    "recover_wake",
    "see_categories",
    "see_labels",
}
"""Deeds that only the command line has: the page names the command."""

NAMES: tuple[RemedyName, ...] = get_args(RemedyName)


@pytest.mark.parametrize("words", [remedies.WORDS, of_the_page.WORDS])
def test_each_screen_has_words_for_every_remedy(words: dict[RemedyName, str]) -> None:
    assert list(words) == sorted(NAMES) == list(NAMES)
    for said in words.values():
        told = said.format("1234abcd")
        assert told
        assert "{" not in told


def test_the_page_names_a_command_only_where_it_has_no_such_deed() -> None:
    named = {name for name, said in of_the_page.WORDS.items() if "`wakelog " in said}
    assert named == NOT_ON_THE_PAGE


def test_what_the_page_tells_to_press_or_to_open_stands_on_the_page() -> None:
    folder = ROOT / "adapters" / "web" / "templates"
    pages = "".join(page.read_text(encoding="utf-8") for page in folder.glob("*.html"))
    for said in of_the_page.WORDS.values():
        for name in re.findall("“(.+?)”", said):
            assert re.search(rf'(>|"){name}(<|")', pages), name


@pytest.mark.parametrize("folder", ["domain", "projections", "replay"])
def test_the_core_knows_no_command_line(folder: str) -> None:
    found = [
        path.relative_to(ROOT)
        for path in sorted(Path(ROOT / folder).rglob("*.py"))
        if "`wakelog " in path.read_text(encoding="utf-8")
    ]
    assert found == [], "a refusal there names a remedy: domain/errors.py"


def test_a_refusal_is_told_in_the_words_of_each_screen_and_a_program_has_the_name() -> None:
    remedy = Remedy("restore_task", "1234abcd")
    refused = Refused("task_deleted", because="the task 'A' is deleted", instead=remedy)
    assert refused.remedy == ("restore_task", "1234abcd")
    typed = "the task 'A' is deleted; bring it back with `wakelog task restore 1234abcd`"
    assert remedies.in_words(refused) == typed
    clicked = "the task 'A' is deleted; “Restore the task” on its page brings it back"
    assert of_the_page.in_words(refused) == clicked
    assert str(refused) == "the task 'A' is deleted; restore task 1234abcd"


def test_a_remedy_in_words_is_told_as_it_is() -> None:
    refused = Refused("invalid_value", because="it is too long", instead="use less {words}")
    for screen in (remedies, of_the_page):
        assert screen.in_words(refused) == str(refused) == "it is too long; use less {words}"
        assert screen.in_words("a text") == "a text"
        assert screen.in_words(OSError("no disk")) == "no disk"
