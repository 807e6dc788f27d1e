"""The gate before a model that is not on this machine: what it holds, keeps and lets go on; what a
person sees of it in a whole home, and what left the machine."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.runtime import gate, on_demand
from adapters.runtime.on_demand import run_one
from adapters.runtime.services import Services
from adapters.runtime.wake_capture import capture
from domain.agent.agent import AGENT
from domain.agent.commands import DestroyAgent
from domain.agent.wake_queue import HELD_UNTIL, WAKE_QUEUE, WakeBackedOff, WakeQueue, next_wake
from domain.errors import Refused
from domain.log.timestamps import seconds_between
from domain.policy.commands import RuleModels, WithdrawConsent
from domain.ports import Model, Reply, Request
from domain.wake.commands import DeferWake
from domain.wake.wake import WakeFinished
from tests.support.cli import done, proved, run, told
from tests.support.consents import agree, agreed
from tests.support.gemini import environment
from tests.support.gemini_server import SIGNATURE, answer, call, serving, text
from tests.support.services import START, divergences, services, task_with_agent
from tests.support.virtual import VirtualHome
from tests.support.waking import agent
from tests.support.whole import rows_of
from wakelog.testing import calls as reply

FAR = "far:pro"
REPORT = ("update_report", '{"content":"All.","tldr":"Fine.","oneLiner":"On track"}')


class Far:
    """A model somewhere else: it keeps what it was sent. `meanwhile` is done before it answers."""

    name = FAR

    def __init__(self, *replies: Reply) -> None:
        self.sent: list[Request] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self._replies = list(replies)

    async def reply(self, request: Request) -> Reply:
        self.sent.append(request)
        self.meanwhile()
        return self._replies.pop(0)


class World:
    """Services with a model elsewhere, and one agent whose creation wake is queued."""

    def __init__(self) -> None:
        self.far = Far(reply(REPORT), reply(text="Done."))
        self.at: Services = services(model=self.far)
        _, self.agent = task_with_agent(self.at)
        with self.at.agents.reading() as world:
            self.categories = world.load(AGENT, self.agent).categories

    @property
    def queue(self) -> WakeQueue:
        with self.at.agents.reading() as world:
            return world.load(WAKE_QUEUE, self.agent)

    @property
    def run_key(self) -> str:
        wake = next_wake(self.queue)
        return wake.run_key if wake else ""

    def run(self) -> None:
        asyncio.run(run_one(self.at, self.agent, self.run_key))

    def withdraw(self) -> None:
        self.at.append_agent(WithdrawConsent("far:*", ()))

    def let_go(self) -> list[str]:
        return gate.let_go(self.at, [self.agent])

    def waits_for(self) -> str:
        wake = next_wake(self.queue)
        return wake.waits_for if wake else ""


@pytest.fixture
def world() -> World:
    return World()


def test_without_a_receipt_a_wake_waits_and_nothing_is_rendered_or_sent(world: World) -> None:
    run_key, before = world.run_key, len(list(world.at.agents.rows()))
    world.run()
    assert world.far.sent == []
    assert world.at.wake(run_key).phase == "absent"
    wake = next_wake(world.queue)
    assert wake is not None
    assert (wake.run_key, wake.waits_for, wake.until) == (run_key, "consent", HELD_UNTIL)
    assert [one.reason for one in wake.triggers] == ["creation"]
    assert len(list(world.at.agents.rows())) == before + 2
    assert on_demand.ready(world.at, [world.agent]) == [], "it is not tried again and again"
    assert world.let_go() == []
    assert divergences(world.at) == []


def test_a_receipt_lets_go_on_what_waited_with_all_its_triggers(world: World) -> None:
    run_key = world.run_key
    world.run()
    agree(world.at, world.agent, "far:*")
    assert world.let_go() == [run_key]
    assert world.let_go() == []
    (turn,) = on_demand.ready(world.at, [world.agent])
    assert turn.run_key == run_key
    world.run()
    assert world.at.wake(run_key).outcome == "completed"
    assert len(world.far.sent) == 2
    assert divergences(world.at) == []


def test_a_receipt_withdrawn_in_the_middle_keeps_the_reply_and_sends_nothing_more(
    world: World,
) -> None:
    run_key = world.run_key
    agree(world.at, world.agent, "far:*")
    world.far.meanwhile = world.withdraw
    world.run()
    wake = world.at.wake(run_key)
    assert (len(world.far.sent), wake.phase, wake.deferred_until) == (1, "deferred", HELD_UNTIL)
    assert wake.report is not None, "what came was kept, and did what it does"
    assert world.waits_for() == "consent"
    world.far.meanwhile = lambda: None
    agree(world.at, world.agent, FAR)
    assert world.let_go() == [run_key]
    world.run()
    assert (world.at.wake(run_key).outcome, len(world.far.sent)) == ("completed", 2)
    assert world.queue.failures == 0
    assert divergences(world.at) == []


def test_a_wake_that_is_taken_over_asks_nothing_without_a_receipt(world: World) -> None:
    run_key = world.run_key
    agree(world.at, world.agent, "far:*")
    captured = capture(world.at, world.agent, run_key, is_now=True)
    world.at.append_agent(captured.command, payloads=captured.payloads)
    world.withdraw()
    asyncio.run(run_one(world.at, world.agent, run_key, is_left=True))
    assert (world.far.sent, world.at.wake(run_key).phase) == ([], "deferred")
    assert world.waits_for() == "consent"
    assert divergences(world.at) == []


def test_a_model_ruled_out_in_the_middle_ends_the_wake_as_skipped(world: World) -> None:
    agree(world.at, world.agent, "far:*")
    rule = RuleModels("", ("rules",))
    world.far.meanwhile = lambda: world.at.append_agent(rule)
    world.run()
    facts = [row.fact for row in rows_of(world.at.agents)]
    (ended,) = [one for one in facts if isinstance(one, WakeFinished)]
    assert ended == WakeFinished("skipped", code="disallowed_provider_model")
    assert (len(world.far.sent), world.queue.failures) == (1, 0)
    assert divergences(world.at) == []


def test_a_wake_whose_model_cannot_be_had_goes_on_waiting(world: World) -> None:
    def refuse(_: str) -> Model:
        raise Refused("invalid_value", because="that is no key", instead="copy it again")

    world.run()
    agree(world.at, world.agent, "far:*")
    world.at.model_for = refuse
    assert (world.let_go(), world.waits_for()) == ([], "consent")


def test_who_comes_late_lets_nothing_wait_that_runs(world: World) -> None:
    run_key = world.run_key
    agree(world.at, world.agent, "far:*")
    captured = capture(world.at, world.agent, run_key, is_now=True)
    world.at.append_agent(captured.command, payloads=captured.payloads)
    for until, reason in ((HELD_UNTIL, "consent"), (world.at.clock.now(), "requested")):
        world.at.append_agent(DeferWake(world.agent, run_key, until, reason))
    assert (world.at.wake(run_key).phase, world.queue.running) == ("waiting", run_key)


def test_what_waits_for_a_receipt_ends_with_its_agent(world: World) -> None:
    world.run()
    world.at.append_agent(DestroyAgent(world.agent))
    assert (world.run_key, world.let_go()) == ("", [])
    assert divergences(world.at) == []


def test_an_engine_goes_on_at_once_when_the_receipt_is_given_and_never_in_vain() -> None:
    far = Far(reply(REPORT), reply(text="Done."))
    made = VirtualHome(START, far)
    _, agent = task_with_agent(made.services)
    made.agents.append(agent)
    begun = made.clock.now()
    made.run(86_400, (3_600, lambda: agree(made.services, agent, "far:*")))
    assert len(far.sent) == 2
    rows = list(rows_of(made.services.agents))
    held = [row.fact.reason for row in rows if isinstance(row.fact, WakeBackedOff)]
    assert held == ["consent", "requested"]
    (ended,) = (row for row in rows if isinstance(row.fact, WakeFinished))
    assert ended.fact == WakeFinished("completed", stop="answered")
    assert seconds_between(begun, ended.at) == 3_600
    assert divergences(made.services) == []


def test_an_engine_that_is_idle_ends_though_a_wake_waits_for_a_person() -> None:
    made = VirtualHome(START, Far())
    _, agent = task_with_agent(made.services)
    made.agents.append(agent)
    made.run()
    assert made.events("trouble") == []
    (told,) = made.events("held")
    assert told["waits_for"] == "consent"


SINK = "Fix the sink"
GEMINI = ["--model", "gemini"]
WORDS = {"content": "All.", "tldr": "It is fine.", "oneLiner": "On track"}
SAID = (answer(call("update_report", WORDS, signature=SIGNATURE)), answer(text("Done.")))
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    agent(tmp_path / "home", note=f"Log in with {TOKEN}, due by 2027-02-12.")
    return agreed(tmp_path / "home")


def test_a_secret_in_a_note_stays_here(home: Path) -> None:
    with serving(*SAID) as server:
        env = environment(server)
        tried = run([*GEMINI, "policy", "try", SINK], home, env=env)
        assert "1 secret replaced" in tried.stderr
        assert TOKEN not in tried.output
        done([*GEMINI, "wake"], home, env=env)
        sent = [str(one.body) for one in server.sent]
    assert len(sent) == 2
    for body in sent:
        assert (TOKEN in body, "Log in with [secret: GitHub token], due by" in body) == (
            False,
            True,
        )
    run_key = told(["wakes"], home)[0]["run_key"]
    shown = done(["show", run_key, "--prompt"], home)
    assert (TOKEN in shown, "[secret: GitHub token]" in shown) == (False, True)
    (note,) = told(["task", "show", SINK], home)["notes"]
    assert TOKEN in note["text"], "the journal keeps what the person wrote"
    places = {path.name for path in home.glob("*.db*") if TOKEN.encode() in path.read_bytes()}
    assert not [one for one in places if one.startswith("agent.db")]
    assert proved(home)
