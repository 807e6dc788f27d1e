"""The home: where it is, who writes there, and what is said when it cannot be one."""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.home import files, settings, settings_toml
from domain.errors import Damaged, Refused

is_root = hasattr(os, "geteuid") and os.geteuid() == 0
not_for_root = pytest.mark.skipif(is_root, reason="nothing is forbidden to root")
has_proc = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="needs a folder nobody may write to"
)


@pytest.mark.parametrize(
    ("option", "environ", "path"),
    [
        ("/a/b", {"WAKELOG_HOME": "/c"}, "/a/b"),
        (None, {"WAKELOG_HOME": "/c"}, "/c"),
        (None, {"HOME": "/home/ann"}, "/home/ann/.wakelog"),
        (None, {"HOME": "/home/ann", "WAKELOG_HOME": ""}, "/home/ann/.wakelog"),
        ("~/log", {"HOME": "/home/ann"}, "/home/ann/log"),
        ("~", {"HOME": "/home/ann"}, "/home/ann"),
    ],
)
def test_where_the_home_is(option: str | None, environ: Mapping[str, str], path: str) -> None:
    assert files.home_path(option, environ) == Path(path)


def test_a_relative_home_is_found_from_here() -> None:
    assert files.home_path("log", {}) == Path.cwd() / "log"


@pytest.mark.parametrize("option", ["", "  ", "a\0b", "~nobody-of-this-name/log"])
def test_what_cannot_be_a_path_is_refused(option: str) -> None:
    with pytest.raises(Refused) as refused:
        files.home_path(option, {})
    assert refused.value.code == "invalid_value"


def test_a_home_is_made_once_and_keeps_its_name(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert not files.exists(home)
    name = files.ensure(home, {})
    assert files.ensure(home, {}) == files.replica(home, {}) == name
    assert files._REPLICA_NAME.fullmatch(name)
    assert (len(name), name[0]) == (9, "r")
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "replica").read_text(encoding="ascii") == name
    assert (home / "replica").stat().st_mode & 0o777 == 0o600
    assert (home / "settings.toml").read_text(encoding="utf-8") == settings_toml.DEFAULT_TOML
    assert sorted(path.name for path in home.iterdir()) == ["replica", "settings.toml"]


def test_a_home_exists_once_it_holds_a_log(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").touch()
    assert not files.exists(tmp_path)
    (tmp_path / "agent.db").touch()
    assert files.exists(tmp_path)


def test_reading_makes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert files.replica(home, {}) == ""
    assert not files.exists(home)
    assert settings.load(home, {}) == settings.Settings()
    assert list(tmp_path.iterdir()) == []


def test_a_persons_own_settings_and_folder_are_left_as_they_are(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "settings.toml").write_text('model = "gemini"', encoding="utf-8")
    files.ensure(tmp_path, {})
    assert (tmp_path / "settings.toml").read_text(encoding="utf-8") == 'model = "gemini"'
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_restored_home_gets_a_new_name_and_no_settings(tmp_path: Path) -> None:
    (tmp_path / "journal.db").touch()
    names = {files.ensure(tmp_path, {})}
    (tmp_path / "replica").unlink()
    names.add(files.ensure(tmp_path, {}))
    assert len(names) == 2
    assert not (tmp_path / "settings.toml").exists()


def test_a_given_name_is_stored_where_there_is_none(tmp_path: Path) -> None:
    assert files.ensure(tmp_path, {"WAKELOG_REPLICA": "laptop"}) == "laptop"
    assert files.replica(tmp_path, {}) == "laptop"


def test_a_given_name_wins_and_leaves_the_stored_one(tmp_path: Path) -> None:
    stored = files.ensure(tmp_path, {"WAKELOG_REPLICA": ""})
    assert files.ensure(tmp_path, {"WAKELOG_REPLICA": "r2"}) == "r2"
    assert files.replica(tmp_path, {"WAKELOG_REPLICA": "r2"}) == "r2"
    assert files.replica(tmp_path, {}) == stored


@pytest.mark.parametrize("name", ["R1", "1r", "r_1", "r@1", "r" * 17, " r1", "r1\n", "é"])
def test_a_name_that_no_stream_could_carry_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused, match="which is no name of a replica") as refused:
        files.ensure(tmp_path / "home", {"WAKELOG_REPLICA": name})
    assert refused.value.code == "invalid_value"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"R1\n", b"\xff\xfe", b"r" * 10_000])
def test_a_spoilt_name_is_told_and_not_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "replica").write_bytes(content)
    with pytest.raises(Damaged, match="delete the file") as damaged:
        files.ensure(tmp_path, {})
    assert damaged.value.code == "not_a_log"
    assert "\n" not in str(damaged.value)
    assert (tmp_path / "replica").read_bytes() == content


def test_a_name_written_by_hand_may_end_in_a_newline(tmp_path: Path) -> None:
    (tmp_path / "replica").write_text("desk\n", encoding="ascii")
    assert files.ensure(tmp_path, {}) == "desk"


def test_of_several_first_commands_one_draws_the_name(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with ThreadPoolExecutor(16) as pool:
        names = set(pool.map(lambda _: files.ensure(home, {}), range(64)))
    assert names == {files.replica(home, {})}
    assert sorted(path.name for path in home.iterdir()) == ["replica", "settings.toml"]


def test_without_hard_links_the_name_is_stored_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)  # the system's, as FAT has it
    name = files.ensure(tmp_path, {})
    assert files.ensure(tmp_path, {}) == name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["replica", "settings.toml"]


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("x", encoding="ascii")
    for ask in (
        files.exists,
        lambda home: files.ensure(home, {}),
        lambda home: files.replica(home, {}),
    ):
        with pytest.raises(Refused, match="is no folder") as refused:
            ask(home)
        assert refused.value.code == "not_a_log"
    assert settings.load(home, {}) == settings.Settings()


PROC = "the home /proc/wakelog cannot be used"
case = pytest.param


@pytest.mark.parametrize(
    ("home", "because", "code"),
    [
        case("file/home", "is no folder", "not_a_log", id="below a file"),
        case("link", "is no folder", "not_a_log", id="a dangling link"),
        case("a/b/home", "the folder .*/a/b for the home is missing", "invalid_value", id="around"),
        case("x" * 300, "too long", "invalid_value", id="too long a path"),
        case("named", "cannot be used", "read_only", id="its name is a folder"),
        case("closed/home", "Permission denied", "read_only", marks=not_for_root, id="closed"),
        case("/proc/wakelog", PROC, "read_only", marks=has_proc, id="no place to write"),
    ],
)
def test_a_home_that_cannot_be_made_is_refused(
    tmp_path: Path, home: str, because: str, code: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    (tmp_path / "named" / "replica").mkdir(parents=True)
    (tmp_path / "closed").mkdir(mode=0o500)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Refused, match=because) as refused:
        files.ensure(tmp_path / home, {})
    assert refused.value.code == code
    assert sorted(tmp_path.rglob("*")) == before


def test_a_path_that_is_too_long_cannot_be_looked_for(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="too long"):
        files.exists(tmp_path / ("x" * 300))
