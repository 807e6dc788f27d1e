"""When receivers of notices are told, and which settings of them can be used."""

import asyncio
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from adapters.home.schedules import local_time
from adapters.home.settings import NotifySettings, parse
from adapters.notify.delivery_progress import DeliveryProgress, DeliveryStore
from adapters.notify.notices import found_in, message_of, without_texts
from adapters.notify.notifier import Notifier, NotifierOptions, held_until, quiet_until
from adapters.runtime.effect_executor import perform
from adapters.runtime.wake_capture import capture
from adapters.store.leases import place
from adapters.store.notice_rows import SqliteNoticeRows
from domain.agent.wake_queue import HELD_UNTIL, WAKE_QUEUE
from domain.errors import Refused
from domain.log.timestamps import later
from domain.scaffold import SCAFFOLD
from domain.wake.commands import DeferWake
from domain.wake.reading import PromptOptions
from tests.support.lone import ZONE, Lone, reviewer
from tests.support.receivers import Kept, delivered, tells_nobody
from tests.support.scripted_wakes import GONE, call
from tests.support.services import START, queued_key, services, task_with_agent

BERLIN = "Europe/Berlin"
NOBODY_PID = 2**22 + 1  # above the greatest id that Linux gives


@pytest.mark.parametrize(
    ("quiet", "now", "until"),
    [
        ("22:00-07:00", "2027-01-01T20:59:59.000000Z", ""),
        ("22:00-07:00", "2027-01-01T21:00:00.000000Z", "2027-01-02T06:00:00.000000Z"),
        ("22:00-07:00", "2027-01-02T05:59:59.000000Z", "2027-01-02T06:00:00.000000Z"),
        ("12:00-13:30", "2027-01-02T11:00:00.000000Z", "2027-01-02T12:30:00.000000Z"),
        ("12:00-13:30", "2027-01-02T12:30:00.000000Z", ""),
        # clocks go forward at 02:00 of March 28 and back at 03:00 of October 31
        ("22:00-07:00", "2027-03-27T21:30:00.000000Z", "2027-03-28T05:00:00.000000Z"),
        ("22:00-07:00", "2027-10-30T20:30:00.000000Z", "2027-10-31T06:00:00.000000Z"),
        ("", "2027-01-01T23:00:00.000000Z", ""),
    ],
)
def test_quiet_hours_go_over_midnight_and_over_days_of_other_lengths(
    quiet: str, now: str, until: str
) -> None:
    assert quiet_until(quiet, BERLIN, now) == until


def test_what_comes_soon_after_a_message_or_a_failure_is_told_together_later() -> None:
    notify = NotifySettings(every_minutes=15)
    told = DeliveryProgress("", 1, "", delivered_at=START)
    assert held_until(notify, BERLIN, told, START) == later(START, seconds=900)
    failed = DeliveryProgress("", 1, "", failed_at=START)
    assert held_until(NotifySettings(every_minutes=0), BERLIN, failed, START) == later(
        START, seconds=60
    )
    assert held_until(notify, BERLIN, DeliveryProgress("", 1, ""), START) == ""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('quiet = "22-7"', "quiet"),
        ('quiet = "07:00-07:00"', "quiet"),
        ('command = [""]', "command"),
        ('command = "notify"', "command"),
        ('webhook = "http://example.org/"', "https"),
        ('webhook = "https://me:pw@example.org/"', "name, a password"),
        ('webhook = "ftp://example.org/"', "web address"),
        ('webhook = "https://[broken/"', "web address"),
        ('secret = "my very own secret"', "env:NAME"),
        ("every_minutes = -1", "every_minutes"),
        ("texts = true", "notify.texts"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_in_one_line(line: str, told: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(f"[notify]\n{line}\n")
    told_line = str(refused.value)
    assert told in told_line
    assert "pw" not in told_line
    assert "very own" not in told_line


def test_an_address_on_this_machine_may_be_without_encryption() -> None:
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000"):
        assert parse(f'[notify]\nwebhook = "http://{host}/a"\n').notify.webhook.endswith("/a")


@pytest.fixture
def world(tmp_path: Path) -> "World":
    return World(tmp_path)


class World:
    """Services with a wake that waits for a consent, and a receiver."""

    def __init__(self, folder: Path) -> None:
        self.at = services()
        self.file = DeliveryStore(SqliteNoticeRows(folder / "runtime.db"))
        self.receiver = Kept()
        self.allow()
        self.notifier = Notifier(
            self.at,
            self.receiver,
            NotifierOptions(SqliteNoticeRows(folder / "runtime.db"), (0.0,)),
            tells_nobody,
        )

    def allow(self) -> None:
        tail = self.at.agents.tail()
        self.file.save("command", DeliveryProgress(self.receiver.identity, tail.n, tail.digest))

    def taken_by(self, pid: int) -> None:
        """A process begins a delivery of all that there is."""
        tail, known = self.at.agents.tail(), self.file.load("command")
        assert known is not None
        span = replace(known, until=tail.n, until_digest=tail.digest, id="theirs")
        expires = later(START, seconds=3_600)
        self.file.save("command", replace(span, pid=pid, place=place(), expires=expires))

    def wait(self, title: str = "Fix the sink") -> None:
        _, agent = task_with_agent(self.at, title)
        with self.at.agents.reading() as world:
            queued = world.load(WAKE_QUEUE, agent).queued
        assert queued is not None
        self.at.append_agent(DeferWake(agent, queued.run_key, HELD_UNTIL, "consent"))


def test_a_title_has_no_control_characters_when_it_is_told(world: World) -> None:
    world.wait("Fix\x1b[2J the sink")
    delivered(world.notifier)
    (message,) = world.receiver.heard
    assert message.text == "Fix [2J the sink: a wake needs your consent"


def test_several_tasks_are_told_together_a_line_for_each(world: World) -> None:
    for nth in range(3):
        world.wait(f"Task {nth}")
    delivered(world.notifier)
    (message,) = world.receiver.heard
    assert message.title == "wakelog: 3 tasks wait for you"
    assert len(message.text.splitlines()) == 3


def test_a_log_that_is_another_one_begins_at_its_end(world: World) -> None:
    world.file.save("command", DeliveryProgress(world.receiver.identity, 3, "of another log"))
    world.wait()
    delivered(world.notifier)
    assert world.receiver.heard == []
    world.wait("A newer one")
    delivered(world.notifier)
    assert [one.count for one in world.receiver.heard] == [1]


def test_what_another_living_process_delivers_is_left_to_it(world: World) -> None:
    world.wait()
    world.taken_by(os.getppid())
    delivered(world.notifier)
    assert world.receiver.heard == []
    world.taken_by(NOBODY_PID)
    delivered(world.notifier)
    assert [one.id for one in world.receiver.heard] == ["theirs"]


def test_a_file_that_cannot_be_used_is_told_of_once_and_may_be_deleted(tmp_path: Path) -> None:
    world, said = World(tmp_path), list[str]()

    def tell(event: str, level: str = "info", **fields: object) -> None:
        said.append(event)

    file = tmp_path / "runtime.db"
    notifier = Notifier(
        world.at, world.receiver, NotifierOptions(SqliteNoticeRows(file), (0.0,)), tell
    )
    file.unlink()
    file.mkdir()
    for title in ("One", "Two"):
        world.wait(title)
        delivered(notifier)
    assert said == ["trouble"]
    file.rmdir()
    world.allow()
    world.wait("Three")
    delivered(notifier)
    assert said == ["trouble", "told"]
    assert [one.count for one in world.receiver.heard] == [1]


@pytest.mark.parametrize("what", [b"no database " * 100, b"SQLite format 3\x00" + b"x" * 999])
def test_a_file_that_is_broken_is_made_anew(tmp_path: Path, what: bytes) -> None:
    file = tmp_path / "runtime.db"
    file.write_bytes(what)
    rows = SqliteNoticeRows(file)
    with rows.transaction() as now:
        now.put("command", b"state")
    with rows.transaction(is_writing=False) as later_on:
        assert later_on.get("command") == b"state"


def test_who_was_withdrawn_is_told_nothing_more(world: World) -> None:
    world.wait()
    assert world.file.forget("command")
    assert not world.file.forget("command")
    delivered(world.notifier)
    assert world.receiver.heard == []


def test_who_ends_meanwhile_is_told_when_a_notice_may_be_given(world: World) -> None:
    assert world.notifier.next_at() == ""
    world.wait()
    delivered(world.notifier)
    assert world.notifier.next_at() == ""
    world.wait("Paint the door")
    world.notifier.look()  # a quarter of an hour has not passed
    assert world.notifier.next_at().startswith(later(START, seconds=900)[:16])


# ------------------------------------------------------------------------- agents without a task


def failing(of: Lone, times: int = 5) -> None:
    """Wakes of the agent whose model answers nothing."""
    given = PromptOptions(SCAFFOLD, local=local_time(of.at.clock.now(), ZONE))
    for _ in range(times):
        of.at.append_agent(of.at.request(of.agent))
        silent = services([GONE]).model_for("")
        of.at.model_for = lambda _, silent=silent: silent  # type: ignore[misc]  # bound now
        run_key = queued_key(of.at, of.agent)
        captured = capture(of.at, of.agent, run_key, is_now=True, given=given)
        of.at.append_agent(captured.command, payloads=captured.payloads)
        asyncio.run(perform(of.at, run_key))


def test_what_waits_of_an_agent_that_looks_over_a_category_is_told_by_its_name() -> None:
    of = reviewer("Tap")
    of.wakes(*(call("create_task", title=f"Call {who}", because="Tap") for who in ("Ann", "Bob")))
    failing(of)
    assert of.at.agent(of.agent).pause_reason == "failures"
    found = found_in(row for rows in of.at.agents.appends() for row in rows)
    assert [one.what for one in found] == ["proposals", "paused"]
    message = message_of(of.at, found, "m1")
    assert message
    assert message.text == "Home week: 2 proposals, the agent is paused after failures"
    (waits,) = message.waits
    assert (waits.task_id, waits.agent_id, waits.proposals) == ("", of.agent, 2)
    bare = without_texts(message)
    assert (bare.title, bare.text, bare.waits[0].title) == ("", "", "")
    of.confirm(1)
    assert "Home week: 1 proposal, the agent" in str(message_of(of.at, found, "m1"))


def test_one_that_waits_for_a_consent_is_told_by_its_name() -> None:
    of = reviewer("Tap")
    of.at.append_agent(of.at.request(of.agent))
    of.at.append_agent(DeferWake(of.agent, queued_key(of.at, of.agent), HELD_UNTIL, "consent"))
    found = found_in(row for rows in of.at.agents.appends() for row in rows)
    message = message_of(of.at, found, "m1")
    assert message
    assert message.text == "Home week: a wake needs your consent"


def test_no_task_is_told_to_wait_where_none_does() -> None:
    of = reviewer("Tap")
    of.wakes(call("create_task", title="Call Ann", because="Tap"))
    found = found_in(row for rows in of.at.agents.appends() for row in rows)
    message = message_of(of.at, found, "m1")
    assert message
    assert "task" not in message.title, "an agent that looks over a category is no task"
