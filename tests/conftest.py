"""What every test runs under: no settings of the developer's shell, and the same examples twice.

`HYPOTHESIS_PROFILE=explore make test` looks for new examples instead of repeating the known ones.
"""

import gc
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

SLOW = (
    "tests/integration/test_analytics.py",
    "tests/integration/test_backup.py",
    "tests/integration/test_boundaries.py",
    "tests/integration/test_cli_analysing.py",
    "tests/integration/test_cli_erase.py",
    "tests/integration/test_cli_fork.py",
    "tests/integration/test_cli_improving.py",
    "tests/integration/test_cli_inspect.py",
    "tests/integration/test_cli_otel.py",
    "tests/integration/test_cli_restore.py",
    "tests/integration/test_cli_retain.py",
    "tests/integration/test_engine.py",
    "tests/integration/test_erase_parts.py",
    "tests/integration/test_erasing_together.py",
    "tests/integration/test_eval.py::test_the_offline_model_understands_no_less_than_it_did",
    "tests/integration/test_files_by_hand.py",
    "tests/integration/test_followup_by_gemini.py",
    "tests/integration/test_followups.py",
    "tests/integration/test_forks.py",
    "tests/integration/test_handed_over.py",
    "tests/integration/test_installation.py::test_on_a_terminal_it_is_asked_once",
    "tests/integration/test_join.py",
    "tests/integration/test_keys_replaced.py",
    "tests/integration/test_leading.py",
    "tests/integration/test_other_past.py",
    "tests/integration/test_policy_deeds.py::test_sql_tells_when_what_was_agreed_to",
    "tests/integration/test_races.py",
    "tests/integration/test_rehearse.py",
    "tests/integration/test_remembered_proof.py",
    "tests/integration/test_rescue.py",
    "tests/integration/test_scaffolds_side_by_side.py",
    "tests/integration/test_sessions.py",
    "tests/integration/test_shared_verdicts.py",
    "tests/integration/test_timers_in_tiers.py",
    "tests/integration/test_triggers_kept.py",
    "tests/integration/test_undo.py::test_what_another_terminal_did_is_named_and_asked_for",
    "tests/integration/test_web_clashes.py",
    "tests/integration/test_web_deeds.py",
    "tests/integration/test_web_entry.py",
    "tests/integration/test_web_first.py",
    "tests/integration/test_web_followups.py",
    "tests/integration/test_web_inbox.py",
    "tests/integration/test_web_pages.py",
    "tests/integration/test_web_wakes.py",
    "tests/integration/test_web_why.py",
    "tests/integration/test_what_is_told.py",
    "tests/property/test_alertness_laws.py",
    "tests/property/test_analytics_laws.py",
    "tests/property/test_change_set_laws.py",
    "tests/property/test_import_undo_laws.py",
    "tests/property/test_importer_laws.py",
    "tests/property/test_lessons_laws.py",
    "tests/property/test_markdown_export.py",
    "tests/property/test_markdown_roundtrip.py",
    "tests/property/test_marker_laws.py",
    "tests/property/test_memory_laws.py",
    "tests/property/test_other_past_laws.py",
    "tests/property/test_prompt_laws.py",
    "tests/property/test_queue_order.py",
    "tests/property/test_read_laws.py",
    "tests/property/test_remembered_proofs.py",
    "tests/property/test_remembered_shared_proofs.py",
    "tests/property/test_request_laws.py",
    "tests/property/test_rollover_laws.py",
    "tests/property/test_scheduler_laws.py",
    "tests/property/test_schedules_laws.py",
    "tests/property/test_scrub_laws.py",
    "tests/property/test_testing_kit.py",
    "tests/property/test_tools_laws.py",
    "tests/property/test_two_tasks_laws.py",
    "tests/property/test_views_laws.py",
    "tests/property/test_write_back.py",
    "tests/stateful/",
    "tests/unit/test_keys_and_text.py::test_the_table_agrees_with_the_character_database",
    "tests/unit/test_proposals.py::test_whatever_is_quoted_the_same_is_proposed",
    "tests/unit/test_prove.py::test_every_scene",
    "tests/unit/test_rules_model.py::test_any_text_gets_the_same_reply_twice",
)
"""Names that begin so are run after the fast part, which is to take a minute."""

FAST = "not slow and not e2e"
WHOLLY_SLOW = re.compile(r"^pytestmark = (pytest\.mark\.|\[.*mark\.)(slow|e2e)\b", re.MULTILINE)

KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY")
MEMORY = Path("/dev/shm")
MEMORY_FREE_MIN = 2 * 1024**3
"""Bytes: many times of what a run needs, and far above the 64 MiB that a container has there."""

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # tests that run in the background of a shell start programs that a test interrupts
    signal.signal(signal.SIGINT, signal.default_int_handler)


def has_memory() -> bool:
    """Whether files can be kept in memory: there is room, and programs may start from there."""
    return (
        os.access(MEMORY, os.W_OK)
        and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
        and shutil.disk_usage(MEMORY).free >= MEMORY_FREE_MIN
    )


if "TMPDIR" not in os.environ and has_memory():
    # SQLite waits for the disk at each commit, which is most of what a test of a home would take
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


gc.disable()  # what is loaded from here on stays to the end: to look through it again and again
# took a sixth of the fast part


def pytest_collection_finish() -> None:
    """Look for garbage again, but not among what was loaded, and not every 700 objects."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave alone a file of which the fast part takes nothing: most of them load much."""
    if config.option.markexpr != FAST or collection_path.suffix != ".py":
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    is_slow = name.startswith(tuple(one for one in SLOW if "::" not in one))
    return is_slow or bool(WHOLLY_SLOW.search(collection_path.read_text(encoding="utf-8"))) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what stands in `SLOW`."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def no_settings_from_outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the person's own home, settings and keys: no test may read, write or spend them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("WAKELOG_") or name in KEYS]:
            patch.delenv(name)
        patch.setitem(sys.modules, "keyring", None)
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setenv("WAKELOG_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL server of this process's own: see `tests.support.postgres`."""
    pytest.importorskip("psycopg_pool", reason="the extra `cluster` is not installed")
    from tests.support import postgres as support

    if support.binaries() is None:
        pytest.skip("PostgreSQL is not installed: `make debian`")
    with support.server() as address:
        yield address


@pytest.fixture
def postgres_homes(postgres: str) -> Iterator[Any]:
    """The homes of an empty database: `adapters.store.postgres.homes.Homes`."""
    yield from _homes(postgres)


@pytest.fixture(scope="session")
def homes_of_all(postgres: str) -> Iterator[Any]:
    """The same of a database that tests share which look at no home but their own."""
    yield from _homes(postgres)


def _homes(server: str) -> Iterator[Any]:
    from adapters.store.postgres.database import Database
    from adapters.store.postgres.homes import Homes
    from tests.support.postgres import database

    with database(server) as url:
        opened = Database(url)
        yield Homes(opened)
        opened.close()


def pytest_sessionfinish() -> None:
    """Let garbage be looked for everywhere again: bindings of DuckDB tell what is left of them."""
    gc.unfreeze()
    if "coverage" in sys.modules:
        _keep_what_was_measured()


def _keep_what_was_measured() -> None:
    """Of a worker, before it says that it is done: 10 s later it is killed, and what it would write
    as it ends takes longer than that on a busy machine."""
    from coverage import Coverage

    measured = Coverage.current()
    if measured is not None:
        measured.save()
