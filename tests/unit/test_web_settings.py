"""What the form of an agent's settings asks for, of what it was made from."""

from collections.abc import Mapping

import pytest

from adapters.web.agent_settings import wanted_of
from adapters.web.asking import FormRequest, compared
from domain.agent.identity import Wanted
from domain.errors import Refused

NOW = {"turns": "5", "loops": "The invoice\nThe seal", "preferences": "tone=brief\nunit=metre"}


def wanted(given: Mapping[str, str]) -> Wanted:
    was = {f"was.{name}": value for name, value in NOW.items()}
    return wanted_of(compared(FormRequest("/", form=was), {**NOW, **given}, NOW))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, Wanted()),
        ({"turns": "7"}, Wanted(turn_max=7)),
        (
            {"loops": "The seal\nA bill"},
            Wanted(open_loops=("A bill",), close_loops=("The invoice",)),
        ),
        ({"loops": ""}, Wanted(close_loops=("The invoice", "The seal"))),
        ({"preferences": "tone=long\nunit=metre"}, Wanted(preferences=(("tone", "long"),))),
        ({"preferences": "tone=brief"}, Wanted(preferences=(("unit", ""),))),
        ({"preferences": "tone=brief\nunit=metre\nwho=me"}, Wanted(preferences=(("who", "me"),))),
    ],
)  # fmt: skip
def test_only_what_was_changed_is_asked_for(given: Mapping[str, str], meant: Wanted) -> None:
    assert wanted(given) == meant


@pytest.mark.parametrize("given", [{"turns": "many"}, {"turns": "-1"}, {"preferences": "brief"}])
def test_what_makes_no_sense_is_refused(given: Mapping[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        wanted(given)
    assert refused.value.code == "invalid_value"
