"""Spans of wakes for OpenTelemetry, off unless switched on."""
