"""The command line, for `python -m wakelog`."""

from importlib.metadata import entry_points

next(iter(entry_points(group="console_scripts", name="wakelog"))).load()()
