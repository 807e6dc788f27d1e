"""What few need: `wakelog server`, of homes in a database, and `wakelog dev`, for developers."""

from adapters.cli.lazy_groups import group


@group(
    "server",
    later={"database": ("database", "token"), "cluster": ("cluster", "worker"), "home": ("home",)},
)
def server_command() -> None:
    """Homes of a database: who may enter, and who works for them."""


@group(
    "dev",
    later={
        "simulate": ("simulate",),
        "demo": ("demo-data",),
        "schemas": ("schema",),
        "proof": ("export-history",),
    },
)
def dev_command() -> None:
    """For who builds on it: made-up homes, sample data, schemas, histories."""
