"""The door for coding agents, over the Model Context Protocol (ADR 114)."""
