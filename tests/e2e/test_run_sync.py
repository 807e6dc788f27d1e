"""A machine that is left running meets the others by itself, beside commands and the page."""

import gzip
from pathlib import Path

import pytest

from tests.support import process
from tests.support.machines import Machine
from tests.support.serving import Browser, free_port

pytestmark = pytest.mark.slow

SECRETS = {
    "GEMINI_API_KEY": "gemini-secret-4711",
    "OPENAI_API_KEY": "openai-secret-4712",
    "WAKELOG_SERVE_TOKEN": "token-secret-4713-long-enough",
}
SETTINGS = """
# a remark of settings 4715
timezone = "Pacific/Chatham"
[sync]
folder = "{folder}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def met(tmp_path: Path, folder: Path) -> tuple[Machine, Machine]:
    """Two machines that have synced, whose settings name the folder."""
    now = {**SECRETS, "WAKELOG_NOW": ""}
    desk, laptop = (Machine(tmp_path / one, folder, **now) for one in ("desk", "laptop"))
    desk.said("task", "add", "Begin")
    for one in desk, laptop:
        one.said("sync", str(folder))
        (one.home / "settings.toml").write_text(SETTINGS.format(folder=folder))
    return desk, laptop


def texts(folder: Path) -> bytes:
    """All that a stranger who has the folder reads: names and contents."""
    files = [one for one in folder.rglob("*") if one.is_file()]
    plain = [one.read_bytes() for one in files]
    packed = [gzip.decompress(one) for one in plain if one.startswith(b"\x1f\x8b")]
    return b"\n".join([*(str(one).encode() for one in files), *plain, *packed])


def test_a_machine_that_runs_meets_others_beside_commands(tmp_path: Path, folder: Path) -> None:
    desk, laptop = met(tmp_path, folder)
    with desk.running("run", "--sync") as log:
        process.until(lambda: any(one["event"] == "started" for one in log()))
        for nth in range(3):
            desk.said("task", "add", f"Of the desk {nth}")
            desk.told("sync")
            laptop.said("task", "add", f"Of the laptop {nth}")
            laptop.told("sync")
        process.until(lambda: len(desk.titles()) == 7, 60)
        desk.said("task", "add", "At the end")
    synced = [one for one in log() if one["event"] == "synced"]
    assert not [one for one in log() if one["level"] != "info"]
    assert sum(one["took"].get("laptop", 0) for one in synced) > 0
    assert synced[-1]["gave"] > 0
    assert "of laptop" in " ".join(one["message"] for one in synced)
    laptop.told("sync")
    assert laptop.titles() == desk.titles()
    assert len(desk.titles()) == 8
    for one in desk, laptop, desk:
        one.told("sync")
    reports = [one.told("sync") for one in (desk, laptop)]
    assert not any(one["took"] or one["gave"] or one["waiting"] for one in reports)
    assert reports[0]["digest"] == reports[1]["digest"]
    for one in desk, laptop:
        assert one.told("prove")["ok"]
    found = texts(folder)
    assert b"Of the laptop 2" in found
    for secret in [*SECRETS.values(), "remark of settings 4715", "Chatham"]:
        assert secret.encode() not in found, secret
    assert {one.name for one in folder.iterdir()} == {"README.txt", "desk", "laptop"}
    assert {one.name.rpartition(".")[2] for one in folder.glob("*/*")} == {"json", "gz"}


def test_what_runs_until_it_is_idle_takes_first_and_gives_last(
    tmp_path: Path, folder: Path
) -> None:
    desk, laptop = met(tmp_path, folder)
    desk.said("task", "add", "More")
    desk.told("sync")
    laptop.said("agent", "create", "Begin")
    ended = process.ended(laptop.home, "run", "--until-idle", "--sync", more=laptop.more)
    assert ended.returncode == 0, ended.stderr
    assert "Took" in ended.stderr
    assert "More" in laptop.titles()
    assert laptop.told("sync")["gave"] == 0


def test_a_page_goes_on_and_shows_what_came(tmp_path: Path, folder: Path) -> None:
    desk, laptop = met(tmp_path, folder)
    port = str(free_port())
    with laptop.running("serve", "--port", port):
        browser = Browser(f"http://127.0.0.1:{port}")
        process.until(browser.is_answered)
        for nth in range(3):
            desk.said("task", "add", f"Seen on the page {nth}")
            desk.told("sync")
            laptop.told("sync")
            assert f"Seen on the page {nth}" in browser.page("/tasks")
    with laptop.running("run", "--serve", "--port", port, "--sync"):
        process.until(browser.is_answered)
        desk.said("task", "add", "Seen beside the engine")
        desk.told("sync")
        assert browser.send("/tasks", "/tasks", title="Its own")  # soon after that it syncs
        process.until(lambda: "Seen beside the engine" in browser.page("/tasks"), 40)
    assert laptop.told("prove")["ok"]
