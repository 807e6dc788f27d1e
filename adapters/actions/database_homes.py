"""A PostgreSQL database and the homes in it: prepare, look, make, list (ADR 66)."""

from collections.abc import Mapping

from adapters.documents.databases import CheckedDatabase, ListedHome, PreparedDatabase
from adapters.home import files
from adapters.home.place import DatabasePlace, database_of, homes_of
from adapters.home.settings_text import DEFAULT_TOML


def init_database(environ: Mapping[str, str]) -> PreparedDatabase:
    """Make the tables and roles that homes need, where they are not there yet.

    Raises:
        Refused: Code ``invalid_value``: no database is named; ``missing_extra``; ``read_only``.
        Damaged: Code ``newer_format``.
    """
    database = database_of(environ)
    is_new = database.make()
    database.look()
    return PreparedDatabase(database.name, is_new)


def check_database(environ: Mapping[str, str], *, makes_runtime: bool = False) -> CheckedDatabase:
    """Look whether homes can be kept in a database by this login. Raises as `init_database`.

    Args:
        environ: `WAKELOG_DATABASE`.
        makes_runtime: Make anew what workers go by; nothing of a home is in it.
    """
    homes = homes_of(environ)
    if makes_runtime:
        homes.database.make_runtime()
    findings, notes = homes.database.trouble()
    return CheckedDatabase(homes.database.name, len(homes.all()), findings, notes)


def create_home(name: str, environ: Mapping[str, str]) -> DatabasePlace:
    """Make a home in a database.

    Args:
        name: Small letters, digits and hyphens.
        environ: `WAKELOG_DATABASE`; `WAKELOG_REPLICA` names its writer, else a name is drawn.

    Raises:
        Refused: Code ``invalid_value``: the name is none or taken; or as `init_database`.
    """
    homes = homes_of(environ)
    homes.create(name, files.replica_given(environ) or files.drawn(), DEFAULT_TOML)
    return DatabasePlace(homes, name, environ)


def list_homes(environ: Mapping[str, str]) -> list[ListedHome]:
    """All homes of a database, by name. Raises as `init_database`."""
    homes = homes_of(environ)
    ends = homes.all_ends()
    return [ListedHome(one.name, one.state, one.replica, *ends[one.number]) for one in homes.all()]
