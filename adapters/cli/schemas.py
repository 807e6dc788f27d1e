"""`wakelog schema`: the JSON Schema of what commands print with --json."""

from adapters.cli.lazy_groups import command
from adapters.cli.shared import Session
from adapters.documents.schemas import schema_lines, schema_of
from domain.errors import invalid


@command("schema", "[name]=[NAME]", example=("", "task > task.json", '"task list"'))
def schema_command(session: Session, name: str | None) -> None:
    """The JSON Schema of what a command prints with --json.

    NAME is a document's name, or a command that prints it. Without it: all documents, and the
    commands that print them.
    """
    if name is not None:
        schema = schema_of(name)
        if schema is None:
            raise invalid(f"there is no document {name!r}", "see `wakelog schema`")
        session.document(schema)
    elif session.as_json:
        session.document(schema_lines())
    else:
        rows = [(one.name, ", ".join(one.commands)) for one in schema_lines()]
        session.table(("Document", "Printed by"), rows)
