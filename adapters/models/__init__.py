"""Shipped models: what answers a wake's question (DESIGN 8)."""
