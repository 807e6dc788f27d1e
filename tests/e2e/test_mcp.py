"""`wakelog mcp serve` and the SDK's own client over stdio: a transcript, two at once, kill -9."""

import asyncio
import json
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from tests.support.killing import REPLICA, ROOT, environ, wakelog
from tests.support.mcp_clients import DONE, ESTIMATE, HOURS, TAP
from tests.support.process import did, read

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KILLS = 6
SECONDS_MAX = 0.4


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A task of House with its agent; `claude` and `codex` may read House."""
    where = tmp_path / "home"
    for words in (
        ["category", "add", "House"],
        ["add", TAP, "--category", "House"],
        ["note", TAP, HOURS],
        ["agent", "create", TAP],
        ["policy", "allow", "mcp:claude", "--category", "House", "--yes"],
        ["policy", "allow", "mcp:codex", "--category", "House", "--yes"],
    ):
        did(where, *words, more=REPLICA)
    return where


def served(home: Path, by: str = "claude") -> StdioServerParameters:
    args = ["-m", "adapters.cli.main", "mcp", "serve", "--as", by]
    return StdioServerParameters(command=sys.executable, args=args, env=environ(home), cwd=ROOT)


async def call(client: Client, name: str, **given: Any) -> dict[str, Any]:
    answer = await client.call_tool(name, given)
    found: dict[str, Any] = answer.structured_content
    (text,) = answer.content
    assert isinstance(text, TextContent)
    assert json.loads(text.text) == found
    assert ("error" in found) == bool(answer.is_error)
    return found


def runs(home: Path) -> int:
    """How many wakes of clients there are; the home proves."""
    assert did(home, "prove").startswith("Proved")
    return [one["reason"] for one in read(home, "wakes")].count("client")


def test_a_client_lists_reads_and_proposes(home: Path) -> None:
    async def talk() -> None:
        async with Client(served(home)) as client:
            assert "who decides on all that is proposed" in str(client.instructions)
            tools = (await client.list_tools()).tools
            assert [one.name for one in tools] == [
                "list_tasks", "list_proposals", "read_task", "propose",
            ]  # fmt: skip
            assert [one.annotations.read_only_hint for one in tools if one.annotations] == (
                [True, True, True, False]
            )
            (task,) = (await call(client, "list_tasks"))["tasks"]
            read = await call(client, "read_task", task=task["id"])
            given = {"task": task["id"], "seen": read["seen"], "words": "So Ann said."}
            made = await call(client, "propose", **given, changes=[ESTIMATE, DONE])
            assert made["items"][0]["because_at"].startswith("note:")
            assert [one["code"] for one in made["refused"]] == ["sovereignty"]
            assert await call(client, "propose", **given, changes=[ESTIMATE, DONE]) == made
            stale = await call(client, "propose", **given, changes=[ESTIMATE])
            assert stale["error"]["code"] == "stale"
            (waits,) = (await call(client, "list_proposals"))["sets"]
            assert waits["by"] == "claude (mcp)"
            assert (await call(client, "read_task", task="zzz"))["error"]["code"] == "not_found"
            assert (await call(client, "fly"))["error"]["code"] == "invalid_value"
            odd = await call(client, "propose", **given, changes=[{"tool": "x"}])
            assert odd["error"]["code"] == "invalid_value"

    asyncio.run(talk())
    assert "by claude (mcp)" in did(home, "inbox")
    assert runs(home) == 1


async def placed(client: Client, change: dict[str, Any]) -> dict[str, Any]:
    """What comes of a change, read and said again as long as another one was quicker."""
    while True:  # bounded: of two that read the same one comes first
        seen = (await call(client, "read_task", task=TAP))["seen"]
        made = await call(client, "propose", task=TAP, seen=seen, words="", changes=[change])
        if made.get("error", {}).get("code") != "stale":
            return made


def test_two_clients_at_once_each_have_their_own_proposals(home: Path) -> None:
    async def one(by: str, made: list[str]) -> None:
        async with Client(served(home, by)) as client:
            for nth in range(6):
                item = {"title": f"{by} {nth}", "because": "about 2 hours"}
                change = {"tool": "add_multiple_checklist_items", "arguments": {"items": [item]}}
                made += [one["summary"] for one in (await placed(client, change))["items"]]

    async def both() -> tuple[list[str], list[str]]:
        first, second = list[str](), list[str]()
        await asyncio.gather(one("claude", first), one("codex", second))
        return first, second

    first, second = asyncio.run(both())
    assert [len(one) for one in (first, second)] == [6, 6]
    assert runs(home) == 12
    sets = read(home, "inbox")
    assert sorted({one["by"] for one in sets}) == ["claude (mcp)", "codex (mcp)"]


class Killed:
    """A client that talks by hand, so that its server can be killed in the middle."""

    def __init__(self, home: Path) -> None:
        args = served(home)
        self.process = subprocess.Popen(
            [args.command, *args.args], cwd=ROOT, env=environ(home), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        about = {"protocolVersion": "2025-06-18", "capabilities": {}}
        self.send("initialize", {**about, "clientInfo": {"name": "test", "version": "1"}})
        self.hear()
        self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any], share: float = 1.0) -> None:
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        line = json.dumps(asked) + "\n"
        self.write(line[: int(len(line) * share)])

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def call(self, name: str, share: float = 1.0, **given: Any) -> None:
        self.send("tools/call", {"name": name, "arguments": given}, share)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_kill_at_any_moment_leaves_one_proposal_or_none(home: Path) -> None:
    dice, client = random.Random(2027), Killed(home)
    for nth in range(KILLS):
        client.call("read_task", task=TAP)
        seen = client.hear()["result"]["structuredContent"]["seen"]
        item = {"title": f"Part {nth}", "because": "about 2 hours"}
        change = {"tool": "add_multiple_checklist_items", "arguments": {"items": [item]}}
        given = {"task": TAP, "seen": seen, "words": "", "changes": [change]}
        is_cut = nth % 4 == 3
        client.call("propose", dice.random() if is_cut else 1.0, **given)
        threading.Event().wait(dice.uniform(0.0, SECONDS_MAX))
        client.end()
        assert runs(home) - nth in ((0,) if is_cut else (0, 1))
        client = Killed(home)  # which is the next one to be killed
        client.call("propose", **given)
        made = client.hear()["result"]["structuredContent"]
        assert [one["status"] for one in made["items"]] == ["pending"]
        assert runs(home) == nth + 1
    client.end()


def test_what_is_no_client_or_no_home_is_told_in_a_line(home: Path, tmp_path: Path) -> None:
    wrong = wakelog(home, "mcp", "serve", "--as", "Claude!")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "'Claude!' is no name of a client" in wrong.stderr
    nowhere = wakelog(tmp_path / "nowhere", "mcp", "serve", "--as", "claude")
    assert nowhere.stderr.startswith("Error: there is no home at ")
    assert not (tmp_path / "nowhere").exists()
