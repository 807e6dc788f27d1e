"""What a person names to be read is read, or refused with one line: `/dev/zero` has no end."""

import socket
from pathlib import Path

import pytest

from adapters.home.read_input import UnreadableInput, read_input_bytes
from tests.support.cli import done, refused, run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    return Path()


def special(folder: Path) -> list[tuple[str, str]]:
    """Files that cannot be read, and what is said of them."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket"))
    return [
        ("/dev/zero", "it is a device"),
        ("/dev/random", "it is a device"),
        (str(folder / "socket"), "it is a socket"),
        (str(folder), "it is a folder"),
        (str(folder / "missing"), "there is no such file"),
    ]


def test_every_command_refuses_devices_sockets_and_folders(home: Path, folder: Path) -> None:
    done(["task", "add", "Paint"], home)
    done(["agent", "create", "Paint"], home)
    for file, because in special(folder):
        result = run(["import", file], home)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"Error: {file}: {because}; ")
        for args in (
            ["task", "note", "Paint", "--file", file],
            ["template", "create", "T", "--general", "g", "--report-file", file],
            ["--model", f"tape:{file}", "wake", "Paint"],
            ["run", "--until-idle", "--watch", file],
        ):
            line = refused(args, home)
            assert because in line or "is a directory" in line, (args, line)


def test_a_file_that_is_too_large_is_refused_and_one_that_just_fits_is_read(
    tmp_path: Path,
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 10)
    assert read_input_bytes(str(file), 10) == b"x" * 10
    with pytest.raises(UnreadableInput, match="larger than 9 bytes"):
        read_input_bytes(str(file), 9)
    assert read_input_bytes("/proc/self/cmdline", 100_000)  # a file that says it is empty
    with pytest.raises(UnreadableInput, match="its name is none"):
        read_input_bytes("a\0b", 9)
