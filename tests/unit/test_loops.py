"""An agent keeps open loops of its own, beside the person's and never in their place."""

from adapters.runtime.services import Services
from domain.agent.agent import AGENT, Agent, LoopClosed, LoopOpened
from domain.agent.commands import ConfigureAgent
from domain.agent.deciders import LOOPS_MAX, OWN_LOOPS_MAX, AgentSettings, update_loops
from domain.wake.wake import WAKE, ToolReturned
from tests.support.scripted_wakes import call, ended, woken
from tests.support.services import divergences, queued_key, reply, services, task_with_agent


def told(at: Services, agent: str, **wish: object) -> tuple[str, str]:
    """What a wish is answered with, and its code."""
    if not queued_key(at, agent):
        at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    woken(at, agent, reply(call("update_loops", **wish)), *ended())
    facts = (row.fact for row in at.agents.facts(f"wake:{run_key}@r1"))
    one = next(fact for fact in facts if isinstance(fact, ToolReturned))
    return one.code, one.message.text


def agent_of(at: Services, agent: str) -> Agent:
    with at.agents.reading() as world:
        return world.load(AGENT, agent)


def test_an_agent_opens_loops_and_closes_its_own() -> None:
    at = services()
    _, agent = task_with_agent(at)
    assert told(at, agent, add=["Ask  Kim", "Await the seal"]) == ("", "2 loop(s) updated.")
    assert told(at, agent, close=["Ask Kim"], add=["Await the seal"]) == (
        "",
        '1 loop(s) updated.\nThe loop "Await the seal" is open already.',
    )
    known = agent_of(at, agent)
    assert (known.loops, known.own_loops) == (("Await the seal",), ("Await the seal",))
    made = [row.fact for row in at.agents.facts(f"agent:{agent}@r1")]
    by = {one.by for one in made if isinstance(one, LoopOpened | LoopClosed)}
    assert by == {f"agent:{agent}"}
    assert divergences(at) == []


def test_an_agent_never_closes_what_the_person_keeps_open() -> None:
    at = services()
    _, agent = task_with_agent(at)
    at.append_agent(ConfigureAgent(agent, AgentSettings(open_loops=("Ask Kim",))))
    code, message = told(at, agent, close=["Ask Kim"])
    assert (code, message) == ("sovereignty", 'The person keeps the loop "Ask Kim" open.')
    assert agent_of(at, agent).loops == ("Ask Kim",)
    assert told(at, agent, close=["Ask Ann"])[0] == "not_found"
    assert told(at, agent)[0] == "invalid_arguments"
    assert divergences(at) == []


def test_a_second_wish_of_one_turn_knows_of_the_first() -> None:
    at = services()
    _, agent = task_with_agent(at)
    wish = call("update_loops", add=["Ask Kim"])
    woken(at, agent, reply(wish, wish), *ended())
    assert agent_of(at, agent).loops == ("Ask Kim",)


def test_a_person_closes_what_the_agent_opened() -> None:
    at = services()
    _, agent = task_with_agent(at)
    told(at, agent, add=["Ask Kim"])
    at.append_agent(ConfigureAgent(agent, AgentSettings(close_loops=("Ask Kim",))))
    known = agent_of(at, agent)
    assert (known.loops, known.own_loops) == ((), ())


def test_an_agent_has_ten_loops_and_both_together_fifty() -> None:
    many = tuple(map(str, range(LOOPS_MAX - 1)))
    own = tuple(f"own {nth}" for nth in range(OWN_LOOPS_MAX))
    assert update_loops(Agent("a", loops=own, own_loops=own), ["more"], []).refused[0][0] == "limit"
    swapped = update_loops(Agent("a", loops=own, own_loops=own), ["more"], [own[0]])
    assert [type(one) for one in swapped.facts] == [LoopClosed, LoopOpened]
    assert [one.version for one in swapped.facts] == [1, 2]
    full = update_loops(Agent("a", loops=many), ["one", "two"], [])
    assert ([one.loop for one in full.facts], full.refused[0][0]) == (["one"], "limit")


def test_a_wake_is_shown_which_loops_are_its_own() -> None:
    at = services()
    _, agent = task_with_agent(at)
    at.append_agent(ConfigureAgent(agent, AgentSettings(open_loops=("Ask Kim",))))
    told(at, agent, add=["Await the seal"])
    at.append_agent(at.request(agent))
    run_key = queued_key(at, agent)
    woken(at, agent, *ended())
    with at.agents.reading() as world:
        begun = world.load(WAKE, run_key).begun
        (goal,) = (one for one in begun.system if one.name == "goal")
        shown = world.payload(goal.payload).decode()
    assert shown.endswith("Open loops:\n- Ask Kim\n- Await the seal (yours)")
