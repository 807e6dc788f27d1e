"""The runbook is typed as it stands, against a server and a database that an older wakelog left."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.support import postgres
from tests.support.cli import done
from tests.support.documented import COMMAND, STATUS, blocks
from tests.support.postgres import server
from tests.support.process import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PAGE = ROOT / "docs" / "guide" / "operating.md"
COMMENT = re.compile(r"  +# .*$")
SECONDS = 240
AS_BEFORE = """
DROP FUNCTION wakelog.hold;
ALTER TABLE runtime.homes DROP COLUMN limited_until;
UPDATE wakelog.meta SET format = 9"""
"""The database as the version before scripts 10 and 11 had it."""


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Of a shell on a machine with the programs of PostgreSQL and wakelog."""
    pytest.importorskip("psycopg_pool", reason="the extra `cluster` is not installed")
    if postgres.binaries() is None or not all(map(shutil.which, ("pg_dump", "psql"))):
        pytest.skip("PostgreSQL is not installed: `make debian`")
    programs = tmp_path / "bin"
    programs.mkdir()
    program = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m adapters.cli.main "$@"\n'
    (programs / "wakelog").write_text(program, "utf-8")
    (programs / "wakelog").chmod(0o755)
    with server() as address:
        where = urlsplit(address)
        with psycopg.connect(f"{address}postgres", autocommit=True) as line:
            line.execute("CREATE DATABASE team")
        yield {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(tmp_path),
            "LC_ALL": "C.UTF-8",
            "PGHOST": str(where.hostname),
            "PGPORT": str(where.port),
            "PGUSER": "owner",
            "WAKELOG_DATABASE": "postgresql:///team",
        }


def script() -> tuple[str, int]:
    """The blocks of the page as one script, which ends where a command has another status than it
    says; and how many commands these are."""
    lines, count = ["set -u"], 0
    for one in blocks(PAGE.read_text("utf-8")):
        if one.language != "bash":
            continue
        for typed in COMMAND.finditer(one.text):
            wanted = STATUS.search(typed[1])
            command = COMMENT.sub("", typed[1])
            assert typed[2] == "", typed[2]  # nothing is shown that is not checked
            told = shlex.quote(f"$ {command}")
            lines += [f"printf '%s\\n' {told}", command, "status=$?"]
            lines.append(f"[ $status = {wanted[1] if wanted else 0} ] || exit 99")
            count += 1
    return "\n".join(lines), count


def test_every_step_of_the_runbook_does_what_the_page_says(
    environ: dict[str, str], tmp_path: Path
) -> None:
    there = {one: environ[one] for one in ("PGHOST", "PGPORT")}
    url = f"postgresql://owner@{there['PGHOST']}:{there['PGPORT']}/team"
    env = {"WAKELOG_DATABASE": url, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done(["database", "init"], "-", env=env)
    for name in ("anna", "ben"):
        done(["home", "create", name], "-", env=env)
        done(["task", "add", "Mend the fence"], f"pg:{name}", env=env)
    with psycopg.connect(url, autocommit=True) as line:
        line.execute(AS_BEFORE.encode())
    text, count = script()
    assert count > 30
    ran = subprocess.run(
        ["bash", "--norc", "-c", text], env=environ, cwd=tmp_path, capture_output=True,
        text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said[-3_000:]
    assert ran.stdout.count("Brought the database rehearsal") == 1
    assert ran.stdout.count("up to date: limited, operator") == 2  # rehearsed, then done
    assert said.count("moved_database") == 1
    assert said.count("[frozen]") == 2
    assert '"event":"draining"' in (tmp_path / "worker.log").read_text("utf-8")
    assert "DELETE" in ran.stdout
    restored = {**env, "WAKELOG_DATABASE": url.replace("/team", "/restored")}
    listed = done(["task", "list"], "pg:anna", env=restored)
    assert "It goes on" in listed
    assert "In the rehearsal alone" not in listed
