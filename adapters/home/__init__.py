"""The folder of a home: its files, settings, keys, clock, schedules and views."""
