"""Who opens files, and why that is no database that the process may have open (ADR 20).

Each is ``module function: call``. A log, the views, the runtime's file and the analytics are opened
by SQLite or DuckDB alone, and never by hand.
"""

_DATABASES = {
    "adapters/analytics/database.py _connected: connect": "in memory; files are attached to it",
    "adapters/upkeep/backup.py _log: connect": "the log that is copied, and its copy",
    "adapters/actions/forks.py _is_open: connect": "whether somebody has a fork's log open",
    "adapters/timetravel/predicates.py sql: connect": "in memory",
    "adapters/proof/prove_views.py _compared: connect": "in memory; two copies are attached to it",
    "adapters/proof/prove_views.py _copied: connect": "the views, and a copy of them",
    "adapters/notify/progress.py ProgressFile._connected: connect": "how far receivers are",
    "adapters/runtime/leases.py _connected: connect": "who works at which agent",
    "adapters/store/changes.py FileProbe.__init__: connect": "whether a log was written",
    "adapters/store/opening.py connected: connect": "the logs",
    "adapters/home/view_file.py open_file: connect": "the views",
    "adapters/home/place.py _for_reading: open": "a log, by its own class",
    "adapters/store/postgres/database.py Database.connection: open": "a pool of connections",
    "adapters/store/postgres/database.py Database.look: connect": "a server",
}
_NAMED_BY_PERSONS = {  # each of them once `homefiles` has seen that it is no database
    "adapters/proof/anchors.py add: open": "--anchor",
    "adapters/proof/anchors.py _all: read_bytes": "--anchor",
    "adapters/cli/exporting.py _write: write_text": "--out",
    "adapters/cli/simulating.py _kept: write_text": "--keep",
    "adapters/home/given.py _read: open": "import, --watch, --file, --general-file, tape:FILE",
    "adapters/proof/histories.py read: read_text": "a history",
    "adapters/home/put_back.py put_back: read_bytes": "write-back",
    "adapters/home/put_back.py _alone: open": "a folder",
}
_NO_DATABASES = {
    "adapters/analytics/database.py _replacing: touch": "a new file",
    "adapters/actions/forks.py _one_at_a_time: open": "a folder",
    "adapters/actions/forks.py kept_fork: read_bytes": "what a fork is of",
    "adapters/actions/forks.py sides_of: read_bytes": "both sides of a fork",
    "adapters/runtime/fork_ledger.py ForkLedger.between: read_bytes": "what forks took",
    "adapters/runtime/fork_ledger.py ForkLedger.write: open": "what forks took",
    "adapters/actions/forking.py _keep: read_bytes": "settings",
    "adapters/actions/forking.py _keep: write_bytes": "settings and notes of a fork",
    "adapters/analytics/formats.py binary: read_bytes": "an answer, in a folder of its own",
    "adapters/analytics/parquet.py _prepare: read_text": "README of an export",
    "adapters/analytics/parquet.py _prepare: write_text": "README of an export",
    "adapters/analytics/parquet.py export: write_text": "README of an export",
    "adapters/analytics/rows.py _load: open": "pages of rows in a folder of their own",
    "adapters/analytics/rows.py documentation: read_text": "a file of this package",
    "adapters/analytics/rows.py statements: read_text": "a file of this package",
    "adapters/upkeep/backup.py _log: touch": "a new file",
    "adapters/upkeep/backup.py _settings: read_bytes": "settings",
    "adapters/upkeep/backup.py _settings: touch": "a new file",
    "adapters/upkeep/backup.py _settings: write_bytes": "settings of a copy",
    "adapters/timetravel/fork.py _prepare: write_text": "the replica's name of a fork",
    "adapters/cli/demo.py _import: read_bytes": "a file of this package",
    "adapters/cli/main.py Commands.main: open": "/dev/null",
    "adapters/home/files.py _stored: open": "the replica's name",
    "adapters/home/files.py write_beside: open": "a new file",
    "adapters/home/files.py write_beside: touch": "a new file",
    "adapters/home/installation.py kept: read_bytes": "where the home is",
    "adapters/demo/generator.py make: write_text": "settings of a new home",
    "adapters/demo/stories.py stories: read_text": "a file of this package",
    "adapters/runtime/leases.py place: read_text": "what the machine says of itself",
    "adapters/home/zones.py _names: read_text": "a file of a package",
    "adapters/home/zones.py machine_zone: read_text": "the machine's zone",
    "adapters/home/place.py FolderPlace.edit_settings: read_text": "settings",
    "adapters/home/settings.py _text: open": "settings",
    "adapters/web/machine.py _outgoing: connect": "a socket",
}
OPENERS = _DATABASES.keys() | _NAMED_BY_PERSONS.keys() | _NO_DATABASES.keys()
