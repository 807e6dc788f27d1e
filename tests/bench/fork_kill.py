"""A server is killed with -9 while a fork is made from its page, and begun again.

    .venv/bin/python tests/bench/fork_kill.py [--kills 20] [--seed 1]

After each kill the next server lists whole forks only, each of which proves, and nothing half is
left in the folder; the home proves at the end, and nothing came of it.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.common import machine
from tests.bench.serve_soak import Soak
from tests.support.serving import Browser, free_port

KILLS, NOTES = 20, 30
SECONDS_MAX = 0.6  # in which a fork of this home is done
BEGUN = 0.7  # how often it is waited for that the fork has begun
BEGIN_SECONDS, LOOK_SECONDS = 10.0, 0.005


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        soak = Soak(Path(sys.executable).with_name("wakelog"), Path(temporary), 0)
        soak.write("Fix the sink", "task", "add", "Fix the sink")
        soak.command("agent", "create", "--all")
        for nth in range(NOTES):
            soak.command("task", "note", "Fix the sink", f"Due on 2027-03-{nth % 28 + 1:02}.")
        soak.command("wake")
        dice, faults, halves = random.Random(given.seed), list[str](), 0
        for _ in range(given.kills):
            halves += _killed(soak, dice)
            faults += _looked(soak)
        proved = soak.command("prove").returncode
        faults += soak.troubles
        whole = len(_names(soak))
    print(machine())
    print(f"{given.kills} kills, {halves} in the middle, {whole} forks, {len(faults)} faults")
    print("\n".join(faults))
    return 1 if faults or proved else 0


def _killed(soak: Soak, dice: random.Random) -> bool:
    """Ask for a fork, and kill the server; whether one was left half."""
    process, browser = _served(soak)
    run = browser.json("/wakes")["wakes"][0]["run_key"]
    url = f"/wakes/{run}/what-if"
    browser.send(url, url, text="Be quick.", model="rules")
    if dice.random() < BEGUN:
        until = time.monotonic() + BEGIN_SECONDS
        while not _halves(soak) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
    time.sleep(dice.uniform(0, SECONDS_MAX))
    process.kill()
    process.wait()
    soak.living.remove(process)
    return bool(_halves(soak))


def _looked(soak: Soak) -> list[str]:
    """Begin a server again, and look at what it lists and keeps; what is wrong with that."""
    process, browser = _served(soak)
    listed = {one["name"] for one in browser.json("/forks")["forks"]}
    faults = [f"left: {sorted(_names(soak) ^ listed)}"] if _names(soak) != listed else []
    for name in listed:
        browser.page(f"/forks/{name}")
        if soak.command("--home", str(soak.home / "forks" / name), "prove").returncode:
            faults.append(f"{name} does not prove")
    soak.ended(process)
    return faults


def _names(soak: Soak) -> set[str]:
    return {one.name for one in (soak.home / "forks").glob("*")}


def _halves(soak: Soak) -> list[str]:
    return [one for one in _names(soak) if one.startswith(".")]


def _served(soak: Soak) -> "tuple[subprocess.Popen[bytes], Browser]":
    port = free_port()
    process = soak.begun("serve", "--port", str(port))
    return process, soak.page(port)


if __name__ == "__main__":
    raise SystemExit(main())
