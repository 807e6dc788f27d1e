"""Readers of other programs' files: bytes in, `ImportedFile` out (SPEC 1, Importers)."""
