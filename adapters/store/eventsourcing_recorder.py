"""The `eventsourcing` library's recorder, with a table for payloads: what a log file is made by."""

from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore


class LibraryRecorder(SQLiteApplicationRecorder):
    """Its statements make the tables; its connections are never opened."""

    def __init__(self) -> None:
        super().__init__(SQLiteDatastore(":memory:", originator_id_type="text"))

    def construct_create_table_statements(self) -> list[str]:
        payloads = "CREATE TABLE IF NOT EXISTS payloads (id TEXT PRIMARY KEY, bytes BLOB NOT NULL)"
        return [*super().construct_create_table_statements(), payloads]
