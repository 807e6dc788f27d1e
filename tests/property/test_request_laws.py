"""What a model is asked does not depend on whether the question before is still at hand."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from adapters.models.tape import TapeModel
from adapters.runtime.effect_executor import run_wake
from domain.ports import Reply
from domain.wake.prompt import request
from domain.wake.wake import WAKE, ModelAsked
from tests.support.services import queued_key, services, task_with_agent
from wakelog.testing import calls as reply

CALLS = st.sampled_from(
    [
        ("record_observations", '{"observations":["It drips."]}'),
        ("record_observations", '{"observations":["%s"]}' % ("long " * 300)),
        ("update_task_estimate", '{"minutes":40}'),
        ("update_task_due_date", '{"dueDate":"never"}'),
        ("set_task_language", '{"languageCode":"de","confidence":"high"}'),
        ("no_such_tool", "{}"),
        ("update_report", '{"content":"All.","oneLiner":"One.","tldr":"Short."}'),
    ]
)
TURNS = st.lists(
    st.lists(CALLS, min_size=1, max_size=4).map(lambda calls: reply(*calls)), max_size=5
)


@given(turns=TURNS)
def test_a_question_that_continues_the_last_one_is_the_one_in_the_log(turns: list[Reply]) -> None:
    tape = TapeModel("tape", [*turns, *[reply(text="Done.")] * 2])
    at = services(model=tape)
    _, agent = task_with_agent(at)
    run_key = queued_key(at, agent)
    asyncio.run(run_wake(at, agent, run_key, is_now=True))
    rows = at.agents.facts(f"wake:{run_key}@r1")
    intents = [row for row in rows if isinstance(row.fact, ModelAsked)]
    assert len(intents) == len(tape.requests) > 0
    with at.agents.reading() as world:
        wake = WAKE.initial(run_key)
        for row in rows:
            wake = WAKE.evolve(wake, row)
            if isinstance(row.fact, ModelAsked):
                nth = intents.index(row)
                assert request(world, wake, row.fact) == tape.requests[nth]
                assert len(tape.requests[nth].exchanges) == nth
