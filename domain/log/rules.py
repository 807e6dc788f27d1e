"""The epoch of the rules (DESIGN 4).

Raised, with an ADR, whenever recorded causes may decide differently than before. The first
append under a new value is ``log.epoch.1``; prove re-executes epochs of its own value and
folds older ones."""

RULES = 1
FORMAT, SHARED_FORMAT, FORMAT_MAX = 1, 2, 3
"""Format of a log file, its ``PRAGMA user_version``: of one that is new, of one that several
machines share, and of one in which rows were erased. A file of a newer one is refused."""
