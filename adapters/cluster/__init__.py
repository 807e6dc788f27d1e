"""Many homes on many machines: workers that tend those that are due (ADR 68)."""
