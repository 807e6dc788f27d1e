"""`wakelog schema`: the JSON Schema of what commands print with --json."""

import click

from adapters.cli.param_types import TEXT
from adapters.cli.shared import Session
from adapters.documents.schemas import schema_lines, schema_of
from domain.errors import Refused


@click.command(
    "schema",
    epilog='Examples: wakelog schema; wakelog schema task > task.json; wakelog schema "task list"',
)
@click.argument("name", type=TEXT, required=False, metavar="[NAME]")
@click.pass_obj
def schema_command(session: Session, name: str | None) -> None:
    """The JSON Schema of what a command prints with --json.

    NAME is a document's name, or a command that prints it. Without it: all documents, and the
    commands that print them.
    """
    if name is not None:
        schema = schema_of(name)
        if schema is None:
            because = f"there is no document {name!r}"
            raise Refused("invalid_value", because=because, instead="see `wakelog schema`")
        session.document(schema)
    elif session.as_json:
        session.document(schema_lines())
    else:
        rows = [(one.name, ", ".join(one.commands)) for one in schema_lines()]
        session.table(("Document", "Printed by"), rows)
