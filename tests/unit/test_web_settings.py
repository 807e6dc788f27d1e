"""What the form of an agent's settings asks for, of what it was made from."""

from collections.abc import Mapping

import pytest

from adapters.web.agents import wanted_of
from adapters.web.http_types import FormRequest, form_changes
from domain.agent.deciders import AgentSettings
from domain.errors import Refused

NOW = {"turns": "5", "loops": "The invoice\nThe seal", "preferences": "tone=brief\nunit=metre"}


def wanted(given: Mapping[str, str]) -> AgentSettings:
    was = {f"was.{name}": value for name, value in NOW.items()}
    return wanted_of(form_changes(FormRequest("/", form=was), {**NOW, **given}, NOW))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, AgentSettings()),
        ({"turns": "7"}, AgentSettings(turn_max=7)),
        (
            {"loops": "The seal\nA bill"},
            AgentSettings(open_loops=("A bill",), close_loops=("The invoice",)),
        ),
        ({"loops": ""}, AgentSettings(close_loops=("The invoice", "The seal"))),
        ({"preferences": "tone=long\nunit=metre"}, AgentSettings(preferences=(("tone", "long"),))),
        ({"preferences": "tone=brief"}, AgentSettings(preferences=(("unit", ""),))),
        (
            {"preferences": "tone=brief\nunit=metre\nwho=me"},
            AgentSettings(preferences=(("who", "me"),)),
        ),
    ],
)  # fmt: skip
def test_only_what_was_changed_is_asked_for(given: Mapping[str, str], meant: AgentSettings) -> None:
    assert wanted(given) == meant


@pytest.mark.parametrize("given", [{"turns": "many"}, {"turns": "-1"}, {"preferences": "brief"}])
def test_what_makes_no_sense_is_refused(given: Mapping[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        wanted(given)
    assert refused.value.code == "invalid_value"
