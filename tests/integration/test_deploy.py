"""What `deploy/` holds, read as its programs read it: the image, the compose file, the units."""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from adapters.cli.main import cli
from tests.support.process import ROOT

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
GRACE = 25  # seconds of a worker where nothing else is said
_PUBLIC = ("proxy",)


def parsed(words: Sequence[str]) -> click.Context:
    """The command that words are, with its options, as the command line takes them."""
    program, *rest = words
    assert Path(program).name == "wakelog"
    command: click.Command = cli
    context: click.Context | None = None
    while True:  # bounded by the words
        name = command.name or program
        context = command.make_context(name, list(rest), parent=context)
        if not isinstance(command, click.Group):
            return context
        left = [*context._protected_args, *context.args]
        _, found, rest = command.resolve_command(context, left)
        assert found is not None, left
        command = found


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    return found


def ours() -> dict[str, Any]:
    return {name: one for name, one in services().items() if "build" in one}


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's, a line each."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def unit(path: Path) -> ConfigParser:
    found = ConfigParser(interpolation=None, strict=True)
    found.read_string(path.read_text("utf-8"))
    return found


def test_processes_of_the_compose_file_are_nobodys_root_and_write_in_few_places() -> None:
    assert set(ours()) == {"init", "worker", "serve"}
    for name, one in ours().items():
        uid = str(one["user"]).partition(":")[0]
        assert int(uid) > 0, name
        assert (one["read_only"], one["cap_drop"]) == (True, ["ALL"]), name
        assert "no-new-privileges:true" in one["security_opt"], name
        written = {each.partition(":")[0] for each in one["tmpfs"]}
        kept = {each.split(":")[1] for each in one.get("volumes", ())}
        assert written | kept == {"/tmp", "/cache"}, name
        assert one["environment"]["XDG_CACHE_HOME"] == "/cache", name
        for each in one["tmpfs"]:
            assert f"uid={uid}," in each or ":" not in each, name


def test_every_command_that_deploy_names_is_one() -> None:
    for name, one in ours().items():
        assert parsed(one["command"]).command.name, name
    _, last = instructions()[-1]
    assert yaml.safe_load(last)[0] == "wakelog"
    for path in UNITS:
        parsed(unit(path)["Service"]["ExecStart"].split())
    with pytest.raises(click.UsageError):
        parsed(["wakelog", "worker", "--healthy", "8766"])


def test_what_runs_for_long_is_looked_at_and_given_time_to_end() -> None:
    every = services()
    assert all("healthcheck" in one for name, one in every.items() if name != "init")
    for name in ("worker", "serve"):
        port = parsed(every[name]["command"]).params["health"]
        assert f":{port}/ready" in every[name]["healthcheck"]["test"][-1]
    grace = parsed(every["worker"]["command"]).params.get("grace") or GRACE
    assert int(every["worker"]["stop_grace_period"].removesuffix("s")) > grace


def test_the_page_is_reached_by_the_proxy_alone_and_knows_that_it_encrypts() -> None:
    every = services()
    published = {name for name, one in every.items() if one.get("ports")}
    assert published == {*_PUBLIC}
    page = parsed(every["serve"]["command"]).params
    assert page["is_secure"] is True
    proxy = (DEPLOY / "Caddyfile").read_text("utf-8")
    assert f"reverse_proxy serve:{page['port']} " in proxy
    assert "flush_interval -1" in proxy  # else a page would hear of news late
    variables = set(re.findall(r"\{\$(\w+)", proxy))
    assert variables <= set(every["proxy"]["environment"])


def test_files_that_deploy_names_are_there() -> None:
    for name, one in services().items():
        for each in one.get("volumes", ()):
            if (source := each.partition(":")[0]).startswith("./"):
                assert (DEPLOY / source).is_file(), (name, source)
    for one in ours().values():
        build = one["build"]
        assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
    told = (DEPLOY / "README.md").read_text("utf-8")
    for named in re.findall(r"`(?:deploy/)?((?:systemd/)?[\w-]+\.(?:service|yaml|json|sh))`", told):
        assert (DEPLOY / named).is_file(), named


def test_the_image_is_made_of_the_packages_and_ends_as_who_the_compose_file_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    brought = {one[1:] for one in allowed if one.startswith("!")}
    packages = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"])
    assert brought == packages | {"pyproject.toml", "README.md", "LICENSE"}
    assert "*" in allowed
    assert all((ROOT / one).exists() for one in brought)
    steps = instructions()
    users = [rest for word, rest in steps if word == "USER"]
    assert {str(one["user"]) for one in ours().values()} == {users[-1]}
    ran = " ".join(rest for word, rest in steps if word == "RUN")
    assert f"--uid {users[-1].partition(':')[0]} " in ran
    extras = {one for found in re.findall(r"\[([\w,]+)\]", ran) for one in found.split(",")}
    assert extras <= set(project["project"]["optional-dependencies"])
    bases = {rest.partition(" ")[0] for word, rest in steps if word == "FROM"}
    least = project["project"]["requires-python"].removeprefix(">=")
    assert bases == {f"python:{least}-slim"}


@pytest.mark.parametrize("path", UNITS, ids=lambda one: one.stem)
def test_a_unit_ends_its_process_later_than_that_ends_by_itself(path: Path) -> None:
    of = unit(path)["Service"]
    assert int(of["TimeoutStopSec"]) > parsed(of["ExecStart"].split()).params["grace"]
    assert of["NoNewPrivileges"] == "yes"
    assert of["Restart"] in ("always", "on-failure")


@pytest.mark.parametrize("path", UNITS, ids=lambda one: one.stem)
def test_systemd_takes_a_unit(path: Path, tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    program = unit(path)["Service"]["ExecStart"].split()[0]
    text = path.read_text("utf-8").replace(program, "/bin/true")
    (tmp_path / path.name).write_text(text, "utf-8")
    of_a_person = [] if "multi-user.target" in text else ["--user"]
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *of_a_person, str(tmp_path / path.name)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
