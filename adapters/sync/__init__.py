"""One home on several machines, by a folder that any tool carries between them (ADR 72)."""
