"""What README tells is done in a home in PostgreSQL as in a folder: the same words and bytes."""

from pathlib import Path

import pytest

from adapters.store.postgres.homes import Homes
from tests.integration.test_pg_copy import contents
from tests.support import tour
from tests.support.cli import done, told

ELSEWHERE = {
    "agent chat": "asks on a terminal: test_cli_agents",
    "database adopt": "of the database: test_pg_backup",
    "agent unwatch": "names what is watched by its id: test_two_doors_agents",
    "home list": "of the database: test_pg_home",
    "home rename": "of the database: test_pg_home_end",
    "home thaw": "of the database: test_pg_home_end",
    "settings edit": "opens an editor: docs/guide/settings.md, which is run",
    "task": "a group of commands",
    "restore": "makes a home where none is in a database: test_pg_backup",
    "erase": "its own file: test_pg_erase",
    "category": "asks an agent, as `wake` does",
    "template improve": "asks an agent, as `wake` does",
    "template sessions": "reads what `template improve` left",
    "backup": "makes a folder, whose files differ though rows do not: test_pg_backup",
    "cluster": "is of the database, and no folder has it: test_home_leases",
    "database check": "of the database: test_home_leases",
    "database init": "of the database: test_compose",
    "database scrub": "of the database: test_pg_erase",
    "demo": "makes a folder of its own",
    "demo-data": "makes a folder of its own; test_pg_copy copies one into a database",
    "eval": "in memory: neither folder nor database",
    "home access": "of the database: test_pg_page",
    "home adopt": "settles what became of files: that were copied, moved, put back one by one",
    "home delete": "of the database: test_pg_home_end",
    "home freeze": "of the database: test_pg_home_end",
    "mcp": "a server over stdio: tests/e2e/test_mcp.py",
    "move": "its own file: test_pg_copy",
    "home create": "a folder is made by the first write; here the home is begun with it",
    "label": "offers one of a file everywhere: tests/integration/test_labels_of_before",
    "retain": "refused of a home in a database: test_cli_retain",
    "replicas": "a home in a database does not sync: tests/e2e/test_sync",
    "settings --defaults": "of the database: test_pg_home",
    "serve": "a page that stays: test_pg_page",
    "sync": "a home in a database does not sync: tests/e2e/test_sync",
    "simulate": "in memory: neither folder nor database",
    "token create": "of the database: test_pg_page",
    "token revoke": "of the database: test_pg_page",
    "worker": "of the database: test_worker; `run --until-idle` does its work here",
}
"""What README or the guide names and the tour does not run, and why."""

SAID_OTHERWISE = {
    "home show": "a folder has an installation, which tells a copy from its original",
    "health": "a folder is kept awake by `run`, a database by workers",
    "doctor": "a folder has files, which are looked at as such",
}
"""What is told in other words, and why."""

SAYS_SO = ("diff", "health")
"""What says by its status that there is a difference, or that no runtime is alive."""


def test_every_command_that_docs_name_is_in_the_tour_or_has_a_reason() -> None:
    assert tour.named() == (tour.run_here() & tour.named()) | ELSEWHERE.keys()
    assert tour.run_here().isdisjoint(ELSEWHERE)


@pytest.mark.slow
def test_the_tour_of_readme_has_one_digest_in_a_folder_and_in_a_database(
    postgres_homes: Homes, tmp_path: Path
) -> None:
    folder, there, typed = tmp_path / "home", "pg:anna", tmp_path / "typed"
    caches = ({"XDG_CACHE_HOME": str(tmp_path / one)} for one in ("one", "two"))
    plain, cluster = ({"HOME": str(tmp_path), **one} for one in caches)
    cluster["WAKELOG_DATABASE"] = postgres_homes.database.url
    done(["home", "create", "anna"], "-", env=cluster)
    here = tour.toured(folder, plain, typed)
    assert [one for one in here if one[1] and tour.deed(one[0]) not in SAYS_SO] == []
    for one, other in zip(here, tour.toured(there, cluster, typed), strict=True):
        if tour.deed(one[0]) in SAID_OTHERWISE:
            assert one[:2] == other[:2]
            assert one != other
        else:
            assert one == other
    assert contents(there, cluster) == contents(folder, plain)
    proofs = told(["prove"], there, env=cluster), told(["prove"], folder, env=plain)
    assert [one["ok"] for one in proofs] == [True, True]
    assert proofs[0]["digest"] == proofs[1]["digest"]
