"""Which wakelog this is."""

from functools import cache


@cache
def package_version() -> str:
    """The version of the installed package; empty where it is not installed."""
    from importlib import metadata  # which takes long to load

    try:
        return metadata.version("wakelog")
    except metadata.PackageNotFoundError:
        return ""
