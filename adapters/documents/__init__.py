"""The JSON documents that the command line, the page and exports tell of a home (SPEC 10)."""
