"""Templates: given a history, when a command, then these facts (SPEC 8)."""

import pytest

from domain.errors import Refused
from domain.log.state import RecordedEvent
from domain.log.wire import Words
from domain.templates import template as t
from domain.templates.seeds import SEEDS, seed_id
from domain.templates.template import TEMPLATE, Template

MADE = t.TemplateCreated("task_agent", "Calm", "rules", ("home",))
ONE = t.VersionAdded(1, "user", Words("a"), Words("b"))
TWO = t.VersionAdded(2, "user", Words("c"), Words("d"), "gemini")


def given(*facts: t.TemplateFact) -> Template:
    template = TEMPLATE.initial("template-1")
    for n, fact in enumerate(facts, start=1):
        row = RecordedEvent("template:template-1@r1", n, "r1", n, 0, f"at {n}", fact)
        template = TEMPLATE.evolve(template, row)
    return template


def code_of(refused: pytest.ExceptionInfo[Refused]) -> str:
    return refused.value.code


def test_a_template_is_made_once() -> None:
    assert t.create(given(), "task_agent", " Calm  one ", "", ("b", "a", "b")) == [
        t.TemplateCreated("task_agent", "Calm one", "", ("a", "b"))
    ]
    assert t.create(given(MADE), "task_agent", "Other", "", ()) == []


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_a_name_has_bounds(name: str) -> None:
    with pytest.raises(Refused) as refused:
        t.create(given(), "task_agent", name, "", ())
    assert code_of(refused) == "invalid_value"


def test_a_version_is_active_at_once_and_says_something_new() -> None:
    assert t.add_version(given(MADE), Words("a"), Words("b"), "user", "") == [ONE]
    assert t.add_version(given(MADE, ONE), Words("a"), Words("b"), "user", "") == []
    assert t.add_version(given(MADE, ONE), Words("c"), Words("d"), "user", "gemini") == [TWO]


def test_the_seeds_have_names_of_their_own_and_something_to_say() -> None:
    assert len({seed_id(one.seed) for one in SEEDS}) == len(SEEDS) == 2
    assert all(one.general and one.report and one.summary for one in SEEDS)
