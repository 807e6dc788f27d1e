"""What two machines decided at once, on homes on a disk: a sync, and after one that was cut off
`recover` and `run`, ask the journal whether it was done (ADR 73)."""

from pathlib import Path

import pytest

from adapters.runtime import effects, review
from adapters.sync.sync_folder import LocalSyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from adapters.wiring import open_home
from domain.agent.agent import AGENT
from domain.changes.change_set import ItemConfirming
from domain.changes.commands import ConfirmItem
from domain.journal.commands import ApplyOperation
from domain.log.wire import Words
from tests.support import cli
from tests.support.rescuing import Machine, met


def env_of(one: Machine) -> dict[str, str]:
    return {**one.environ, "WAKELOG_NOW": cli.NOW}


def done_unsaid(one: Machine, set_id: str, number: int) -> None:
    """A confirmation whose process was gone once it was done."""
    with open_home(one.home, one.environ, is_writing=True) as home:
        at = home.services
        position, category = review.seen_at(at, review.changes_of(at, set_id))
        at.append_agent(ConfirmItem(set_id, number, "person", position, category=category))
        changes = review.changes_of(at, set_id)
        item = changes.items[number - 1]
        assert isinstance(item.asked, ItemConfirming)
        with at.agents.reading() as world:
            categories = world.load(AGENT, changes.agent).categories
        command = ApplyOperation(
            item.asked.operation,
            changes.agent,
            changes.task,
            item.tool,
            Words(),
            item.base,
            categories,
        )
        assert effects.apply(at, command, review.arguments_of(at, item)).result.status == "applied"


def cut_off(one: Machine, folder: Path) -> None:
    """A sync that took all, and was gone before it looked at it."""
    with open_home(one.home, one.environ, is_writing=True) as home:
        logs = home.services.journal, home.services.agents
        sync_logs(logs, LocalSyncFolder(folder), home.services.clock.now(), SyncState())


@pytest.mark.parametrize("words", [["recover"], ["run", "--until-idle"], ["sync"]])
def test_an_item_in_doubt_is_confirmed_by_itself(tmp_path: Path, words: list[str]) -> None:
    home = met(tmp_path)
    desk, phone = home.desk, home.phone
    title = "Fix the sink"
    for line in (
        ["task", "add", title],
        ["task", "note", title, "Takes about 2 hours. Due on 2027-02-03."],
        ["agent", "create", title],
        ["wake"],
    ):
        cli.done(line, desk.home, env=env_of(desk))
    home.sync()
    (proposed,) = cli.told(["inbox"], desk.home, env=env_of(desk))
    ref = proposed["items"][0]["ref"]
    done_unsaid(phone, proposed["id"], 1)
    cli.done(["reject", ref], desk.home, env=env_of(desk))
    cut_off(phone, home.folder)
    if words == ["sync"]:
        words = ["sync", str(home.folder)]
    else:
        cut_off(desk, home.folder)
    before = cli.told(["status"], desk.home, env=env_of(desk))
    assert before["in_doubt"] == []
    cli.done(words, desk.home, env=env_of(desk))
    with open_home(desk.home, desk.environ) as opened:
        assert review.changes_of(opened.services, proposed["id"]).items[0].status == "confirmed"
    assert desk.proves()
