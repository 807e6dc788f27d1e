"""Homes in PostgreSQL: their two logs, one order for each home (ADR 66, `pg:` homes)."""
