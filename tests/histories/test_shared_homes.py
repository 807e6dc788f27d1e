"""Homes that machines shared before today prove, agree and go on (DESIGN 4, ADR 70)."""

from pathlib import Path

import pytest

from adapters.proof.prove import prove_logs
from adapters.store.log import Log
from adapters.sync.sync_folder import MemorySyncFolder
from adapters.sync.sync_home import sync_logs
from adapters.sync.sync_state import SyncState
from domain.journal.commands import CreateTask
from tests.histories.sharing import restored

SHARED = "pkkvl54dbcstvrnxarv5rvi5ts3brrrr"
LATER = "2099-01-01T00:00:00.000000Z"
Both = tuple[Log, Log]


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Both, Both]:
    """Two machines that edited, decided and settled apart from each other, one of six that the home
    knew: others were restored from backups, or left."""
    return restored("desk", tmp_path / "desk"), restored("laptop", tmp_path / "laptop")


def test_what_each_machine_wrote_is_proved_on_both(homes: tuple[Both, Both]) -> None:
    proofs = [prove_logs(*logs) for logs in homes]
    assert [proof.divergences for proof in proofs] == [(), ()]
    assert {proof.shared for proof in proofs} == {SHARED}
    assert [len(proof.replicas or ()) for proof in proofs] == [6, 6]


def test_they_go_on_and_meet(homes: tuple[Both, Both]) -> None:
    shelf = MemorySyncFolder()
    homes[0][0].append(CreateTask("Written by today's code"), LATER)
    for logs in (*homes, homes[0]):
        sync_logs(logs, shelf, LATER, SyncState())
    proofs = [prove_logs(*logs) for logs in homes]
    assert [proof.divergences for proof in proofs] == [(), ()]
    assert len({proof.shared for proof in proofs}) == 1
    assert SHARED not in {proof.shared for proof in proofs}
