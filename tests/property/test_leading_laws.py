"""Three machines share a home of which one leads, meet by half and hand the lead over: no trigger
is lost (law 9 over all of them), and while one leads none is woken twice (ADR 76)."""

from collections import Counter
from functools import partial
from random import Random

import pytest

from adapters.proof.prove import prove_logs
from adapters.sync.sync_folder import MemorySyncFolder
from domain.agent.subscriptions import trigger_of
from domain.agent.wake_queue import (
    Trigger,
    TriggerMerged,
    TriggerSuppressed,
    WakeBegun,
    WakeDropped,
    WakeQueued,
    run_key_of,
)
from domain.append.notification_batch import batch
from domain.journal.links import LINKS
from domain.journal.task import TASK
from tests.support.fleet import Fleet, Machine

pytestmark = pytest.mark.slow
NAMES = ("desk", "laptop", "phone")
TASKS = 3


class Home:
    """A home on three machines, what happens there, and what every trigger came to."""

    def __init__(self, seed: int, *, hands_over: bool) -> None:
        self.chance, self.hands_over = Random(seed), hands_over
        self.fleet = Fleet(*NAMES)
        desk = self.fleet["desk"]
        self.tasks = [desk.task(f"task {nth}") for nth in range(TASKS)]
        self.agents = [desk.agent(task) for task in self.tasks[:-1]]
        self.known = tuple(self.agents)
        self.fleet.meet()

    def live(self, steps: int) -> None:
        for nth in range(steps):
            self.fleet.wait(self.chance.choice((1, 300)))
            one = self.fleet[self.chance.choice(NAMES)]
            match self.chance.randrange(12):
                case 0 | 1 | 2:
                    one.edit(self.chance.choice(self.tasks), f"title {nth}")
                case 3 if len(self.agents) < TASKS:
                    self.agents.append(one.agent(self.tasks[-1]))
                case 4 if self.hands_over:
                    one.lead(self.chance.choice(NAMES))
                case 5 | 6:
                    one.look()
                case 7:
                    one.look()
                    one.run()
                case 8 if self.chance.random() < 0.5:
                    one.ask(self.chance.choice(self.known))
                case _:
                    self.sync(one)

    def sync(self, one: Machine) -> None:
        """With the folder as it came so far: half of the files are missing."""
        seen, whole = MemorySyncFolder(), self.fleet.shelf
        held = dict(whole.held)
        seen.held = {name: data for name, data in held.items() if self.chance.random() < 0.6}
        seen.held |= {name: data for name, data in held.items() if name.startswith(one.name)}
        whole.held = seen.held
        one.sync()
        whole.held = {**held, **seen.held}

    def end(self) -> None:
        """All meet, and who leads does what is left."""
        for _ in range(3):
            self.fleet.meet()
            self.fleet.wait(86_400)
            for one in self.fleet.values():
                one.look()
                one.run()
        self.fleet.meet()


def outcomes(one: Machine, agent: str) -> tuple[set[str], list[str], set[str]]:
    """What was noticed of an agent on one machine, by run keys of triggers: what was suppressed by
    a rule, what wakes that began stood for, and all."""
    done, woken, every = set[str](), list[str](), set[str]()
    queued: dict[str, list[str]] = {}

    def named(trigger: Trigger) -> str:
        every.add(name := run_key_of(agent, trigger))
        return name

    for row in one.told(agent):
        match row.fact:
            case WakeQueued(run_key=run_key, trigger=trigger):
                queued[run_key] = [named(trigger)]
            case TriggerMerged(run_key=run_key, trigger=trigger):
                queued[run_key].append(named(trigger))
            case TriggerSuppressed(trigger=trigger, rule=rule):
                name = named(trigger)
                done |= {name} if rule != "led_elsewhere" else set()
            case WakeBegun(run_key=run_key):
                woken += queued.pop(run_key, [])
            case WakeDropped(run_key=run_key):
                queued.pop(run_key)
            case _:
                pass
    assert not queued
    return done, woken, every


def changes(one: Machine, agent: str) -> set[str]:
    """Run keys of all changes of the journal that an agent hears of, and was not made after."""
    known, found = one.services.agent(agent), set[str]()
    with one.services.journal.reading() as world:
        for rows in one.services.journal.appends():
            told = batch(rows, partial(world.load, LINKS), partial(world.load, TASK))
            if told is None or told.n <= (known.born_seen or {}).get(told.replica, 0):
                continue
            triggers = (trigger_of(subscription, told) for subscription in known.subscriptions)
            found |= {run_key_of(agent, trigger) for trigger in triggers if trigger}
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hands_over", [False, True], ids=["one leads", "the lead goes round"])
def test_no_trigger_is_lost_and_none_is_woken_twice_while_one_leads(
    seed: int, *, hands_over: bool
) -> None:
    home = Home(seed, hands_over=hands_over)
    home.live(80)
    home.end()
    lead = home.fleet["desk"].services.lead
    assert {one.services.lead for one in home.fleet.values()} == {lead}
    for agent in home.agents:
        found = [outcomes(one, agent) for one in home.fleet.values()]
        every = set[str]().union(*(all_ for _, _, all_ in found))
        done = set[str]().union(*(suppressed for suppressed, _, _ in found))
        woken = Counter(name for _, names, _ in found for name in names)
        assert every == done | woken.keys()
        if agent in home.known:  # others were made without knowing of each change
            assert changes(home.fleet[lead], agent) <= every
        if not hands_over:
            assert set(woken.values()) == {1}
    for one in home.fleet.values():
        proved = prove_logs(one.services.journal, one.services.agents)
        assert proved.divergences == ()
