"""What an agent may not see does not leave the journal: not a byte of it (SPEC 4, 5; law 8)."""

from pathlib import Path

from tests.support.cli import done, proved, run

HIDDEN = ("Zebra-Secret-Title", "Quagga secret note", "Okapi secret item", "Kudu-Label")


def _sqlite_bytes(home: Path, name: str) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(home.glob(f"{name}*")))


def test_a_linked_task_in_a_foreign_category_leaves_no_byte_in_the_agents_log(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    done(["category", "add", "Work"], home)
    done(["category", "add", "Private"], home)
    done(["label", "add", HIDDEN[3]], home)
    done(["task", "add", "Mine", "--category", "Work"], home)
    done(["task", "add", HIDDEN[0], "--category", "Private", "--label", HIDDEN[3]], home)
    done(["task", "note", HIDDEN[0], HIDDEN[1]], home)
    done(["task", "item", "add", HIDDEN[0], HIDDEN[2]], home)
    done(["task", "link", "Mine", "is_blocked_by", HIDDEN[0]], home)
    done(["agent", "create", "--task", "Mine"], home)
    done(["wake"], home)
    done(["task", "note", HIDDEN[0], HIDDEN[1]], home)
    done(["wake", "Mine"], home)
    journal, agents = _sqlite_bytes(home, "journal.db"), _sqlite_bytes(home, "agent.db")
    for text in HIDDEN[:3]:
        assert text.encode() in journal
        assert text.encode() not in agents
    assert b"is_blocked_by" in agents, "the relation itself is shown"
    proved(home)


def test_moving_a_task_out_of_scope_skips_its_wake_and_renders_no_prompt(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["category", "add", "Private"], home)
    done(["task", "add", "Mine"], home)
    done(["agent", "create", "--task", "Mine"], home)
    done(["task", "set", "Mine", "--category", "Private", "--title", HIDDEN[0]], home)
    run(["wake"], home)
    assert HIDDEN[0].encode() not in _sqlite_bytes(home, "agent.db")
    proved(home)
