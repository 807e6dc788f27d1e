"""The fixtures `wakelog_home` and `wakelog_model`."""

pytest_plugins = ["wakelog.testing"]
