"""What was settled between machines is kept: a command of the one that leads does not look through
all agents of all machines again, until something of others came."""

from pathlib import Path

import pytest

from adapters.runtime import leadership
from adapters.runtime.services import Settled
from adapters.wiring import SETTLED, Home, open_home
from tests.support.machines import Machine, pair

pytestmark = pytest.mark.slow

SHED = "Paint the shed"


@pytest.fixture
def machines(tmp_path: Path) -> list[Machine]:
    desk, laptop = pair(tmp_path)
    desk.said("add", SHED)
    desk.said("agent", "create", SHED)
    for one in desk, laptop, desk:
        one.sync()
    return [desk, laptop]


def opened(machine: Machine) -> Home:
    return open_home(machine.home, machine.more, is_writing=True)


def resumed(machine: Machine) -> Settled | None:
    with opened(machine) as home:
        home.resume_states()
        return home.services.settled


def looked(machine: Machine) -> Settled | None:
    """What a look anew comes to, as nothing is to be done."""
    with opened(machine) as home:
        assert leadership.settle(home.services) == 0
        return home.services.settled


def test_the_machine_that_leads_knows_what_a_sync_settled(machines: list[Machine]) -> None:
    desk, laptop = machines
    assert resumed(desk) == looked(desk) is not None
    assert resumed(laptop) is None


def test_what_came_from_another_machine_is_settled_once_more(machines: list[Machine]) -> None:
    desk, laptop = machines
    before = resumed(desk)
    laptop.said("add", "Mow")
    laptop.said("agent", "create", "Mow")
    laptop.sync()
    desk.sync()
    assert resumed(desk) == looked(desk) != before
    assert "completed" in desk.said("wake", "Mow")


def test_another_lead_counts_on_nothing_of_before(machines: list[Machine]) -> None:
    desk, laptop = machines
    laptop.said("replicas", "lead", "laptop")
    assert resumed(laptop) == looked(laptop) is not None
    laptop.sync()
    desk.sync()
    assert resumed(desk) is None


def test_where_it_is_lost_or_garbled_all_is_looked_at(machines: list[Machine]) -> None:
    desk, _ = machines
    with opened(desk) as home:
        home.views.remember(SETTLED, b'["desk"')
    assert resumed(desk) is None
    assert looked(desk) == resumed(desk) is not None
