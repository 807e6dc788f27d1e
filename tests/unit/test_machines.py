"""What is said of the machines of a home: labels, who leads, who is gone for good (ADR 76)."""

import pytest
from msgspec.structs import replace

from adapters.documents.ranks import Ranks
from domain.agent.agent import AGENT
from domain.agent.subscriptions import Batch
from domain.agent.wake_queue import WAKE_QUEUE
from domain.append.notification_batch import is_covered
from domain.errors import Refused
from domain.handlers.execute import handle
from domain.log.state import MAIN, LogState, RecordedEvent
from domain.log.wire import Imported
from domain.machines import commands as do
from domain.machines import machines as m
from domain.machines.machines import HOME, LABEL_MAX, Machines
from tests.support.fleet import Fleet

Told = tuple[int, str, m.MachinesFact]


def given(*told: Told) -> Machines:
    """The machines that facts make: each with the `n` and the replica of its append."""
    machines = HOME.initial(MAIN)
    for n, replica, fact in sorted(told, key=lambda one: one[:2]):
        row = RecordedEvent(f"home:main@{replica}", 1, replica, n, 1, "at", fact)
        machines = HOME.evolve(machines, row)
    return machines


NOBODY = given()
TWO = given((5, "desk", m.ReplicaLabelled("desk", "the desk")))


# ------------------------------------------------------------------------------------------- lead


def test_where_nobody_was_named_the_home_s_first_machine_leads() -> None:
    assert m.leads(NOBODY, "desk") == "desk"
    assert m.lead(NOBODY, "desk", "desk") == []


def test_who_is_named_leads_until_a_later_term() -> None:
    (led,) = m.lead(NOBODY, "laptop", "desk")
    assert led == m.ReplicaLed("laptop", 1)
    named = given((7, "desk", led))
    assert m.leads(named, "desk") == "laptop"
    assert m.lead(named, "laptop", "desk") == []
    assert m.lead(named, "phone", "desk") == [m.ReplicaLed("phone", 2)]


def test_of_two_that_were_named_at_once_the_canonical_first_leads_and_the_later_term_wins() -> None:
    at_once = given((7, "phone", m.ReplicaLed("phone", 1)), (7, "desk", m.ReplicaLed("desk", 1)))
    assert at_once.leader == "desk"
    later = given((9, "desk", m.ReplicaLed("desk", 1)), (7, "phone", m.ReplicaLed("phone", 2)))
    assert (later.leader, later.term) == ("phone", 2)


# ----------------------------------------------------------------------------------------- labels


def test_a_machine_is_called_something_once() -> None:
    assert m.label(NOBODY, "desk", "the desk") == [m.ReplicaLabelled("desk", "the desk")]
    assert m.label(TWO, "desk", "the desk") == []
    assert m.label(TWO, "desk", "tower") == [m.ReplicaLabelled("desk", "tower")]


@pytest.mark.parametrize("wanted", ["", "  ", "a\nb", "\x7f", "x" * (LABEL_MAX + 1)])
def test_what_is_no_label_is_refused(wanted: str) -> None:
    with pytest.raises(Refused) as refused:
        m.label(NOBODY, "desk", wanted)
    assert refused.value.code == "invalid_value"


def test_another_machine_s_label_is_refused_until_that_one_is_gone() -> None:
    with pytest.raises(Refused, match="another machine is called"):
        m.label(TWO, "laptop", "the desk")
    gone = HOME.evolve(TWO, RecordedEvent("", 1, "laptop", 9, 1, "", m.ReplicaRetired("desk")))
    assert m.label(gone, "laptop", "the desk") == [m.ReplicaLabelled("laptop", "the desk")]


# ----------------------------------------------------------------------------------------- retire


def test_who_retires_the_lead_leads() -> None:
    facts = m.retire(NOBODY, "desk", "laptop", "desk")
    assert facts == [m.ReplicaRetired("desk"), m.ReplicaLed("laptop", 1)]
    gone = given(*((7, "laptop", fact) for fact in facts))
    assert (gone.leader, gone.retired) == ("laptop", ("desk",))
    assert m.retire(gone, "desk", "phone", "desk") == []


def test_another_machine_is_retired_alone_and_is_there_again_once_it_is_named() -> None:
    assert m.retire(NOBODY, "phone", "laptop", "desk") == [m.ReplicaRetired("phone")]
    gone = given((7, "laptop", m.ReplicaRetired("phone")), (8, "desk", m.ReplicaLed("phone", 1)))
    assert (gone.leader, gone.retired) == ("phone", ())


def test_two_that_retire_each_other_at_once_leave_one_that_leads_and_is_not_gone() -> None:
    """Desk leads, as the first; each says that the other one is gone."""
    of_desk = (7, "desk", m.ReplicaRetired("laptop"))
    for n in 6, 8:
        of_laptop = ((n, "laptop", one) for one in m.retire(NOBODY, "desk", "laptop", "desk"))
        met = given(of_desk, *of_laptop)
        assert met.leader not in met.retired
        assert (met.leader, met.retired) == (
            ("desk", ("laptop",)) if n == 6 else ("laptop", ("desk",))
        )


def test_who_retires_one_that_was_named_elsewhere_meanwhile_leads_in_its_place() -> None:
    named = (6, "phone", m.ReplicaLed("phone", 1))
    gone = given(named, (7, "desk", m.ReplicaRetired("phone")))
    assert (gone.leader, gone.retired) == ("desk", ("phone",))


def test_this_machine_is_not_retired_here() -> None:
    with pytest.raises(Refused, match="is this machine"):
        m.retire(NOBODY, "desk", "desk", "desk")


def test_a_fact_of_another_kind_changes_nothing() -> None:
    row = RecordedEvent("", 1, "desk", 1, 1, "", m.ReplicaRetired("phone"))
    stale = RecordedEvent("", 1, "desk", 1, 1, "", m.ReplicaLed("phone", 0))
    assert HOME.evolve(NOBODY, stale) == NOBODY != HOME.evolve(NOBODY, row)


# ----------------------------------------------------------------------------------------- a home


@pytest.mark.parametrize(
    "asked", [do.LabelReplica("r1", "desk"), do.Lead("r1"), do.RetireReplica("r2")]
)
def test_a_home_that_is_alone_has_no_machines(asked: do.MachinesCommand) -> None:
    alone = LogState("agent", "r1", 1, lambda *_: (), lambda _: None)
    with pytest.raises(Refused) as refused:
        handle(asked, "", "", alone)
    assert refused.value.code == "not_shared"


def test_all_machines_say_the_same_of_who_leads_and_what_they_are_called() -> None:
    fleet = Fleet("desk", "laptop")
    for one in fleet.values():
        one.services.append_agent(do.LabelReplica(one.name, f"the {one.name}"))
        assert one.services.lead == "desk"
    fleet["laptop"].lead()
    fleet.meet()
    for one in fleet.values():
        assert one.machines.labels == {"desk": "the desk", "laptop": "the laptop"}
        assert (one.services.lead, one.services.leads) == ("laptop", one.name == "laptop")


def test_the_attention_of_an_agent_on_another_machine_is_read_by_itself() -> None:
    fleet = Fleet("desk", "laptop")
    desk, laptop = fleet.values()
    agent = desk.agent(desk.task("Boat"))
    fleet.meet()
    with laptop.services.agents.reading() as world:
        assert world.load_of(WAKE_QUEUE, agent, "desk").queued is not None
        assert world.load_of(WAKE_QUEUE, agent, "laptop").queued is None
        assert world.load_of(AGENT, agent, "desk") == world.load(AGENT, agent)


def test_an_append_is_covered_that_was_taken_by_whose_replica_wrote_it() -> None:
    own = Batch(7, "laptop", "person", 0, ())
    theirs = replace(own, n=9, of="desk", of_n=5)
    taken = (Imported("desk", 5), Imported("laptop", 6))
    assert [is_covered(one, taken) for one in (own, theirs)] == [False, True]
    assert not is_covered(replace(theirs, of_n=6), taken)


def test_a_word_means_a_set_by_rank_label_or_name() -> None:
    ranks = Ranks(
        ["a", "b"], {"c": "My Desk/1"}, {"my desk": [["c"]], "desk": [["c"]], "r1": [["a"]]}
    )
    means = {word: ranks.meant(word) for word in ("2", "MY desk/1", "desk/1", "r1/1")}
    assert means == {"2": ["b"], "MY desk/1": ["c"], "desk/1": ["c"], "r1/1": ["a"]}
    for none in "3", "desk/2", "desk/0", "desk/x", "phone/1", "24/7", "/", "desk/" + "9" * 20:
        assert ranks.meant(none) == []
    two = Ranks([], {}, {"desk": [["a"], ["b"]]})
    assert two.meant("desk/1") == ["a", "b"]
