"""What a person can ask of templates (SPEC 8).

STORAGE FORMAT: receipts keep commands, see `domain.log.wire`. Directives travel as payloads of the
shared unit where they are long."""

from domain.log.wire import Stored, Words
from domain.templates.template import Author, Rehearsed


class CreateTemplate(Stored, frozen=True, tag="command.create_template.1"):
    """A template with its first version. `seed`: name of a built-in one that is put in use."""

    name: str
    general: Words
    report: Words
    model: str = ""
    categories: tuple[str, ...] = ()
    seed: str = ""


class ChangeTemplate(Stored, frozen=True, tag="command.change_template.1"):
    """Empty and None leave a thing as it is. Reserved: no door sends it yet (ADR 38)."""

    template: str
    name: str = ""
    model: str | None = None
    categories: tuple[str, ...] | None = None


class AddVersion(Stored, frozen=True, tag="command.add_version.1"):
    template: str
    general: Words
    report: Words
    author: Author
    model: str = ""


class RollBackTemplate(Stored, frozen=True, tag="command.roll_back_template.1"):
    """`of`: whose version of that number, where machines gave it apart from each other."""

    template: str
    version: int
    of: str = ""


class AssignTemplate(Stored, frozen=True, tag="command.assign_template.1"):
    """`template` empty: the agent lives on the built-in directives again."""

    agent: str
    template: str


class DeleteTemplate(Stored, frozen=True, tag="command.delete_template.1"):
    template: str


class RecordRehearsal(Stored, frozen=True, tag="command.record_rehearsal.1"):
    """What a wording came to on past wakes."""

    template: str
    told: Rehearsed


TemplateCommand = (
    CreateTemplate | ChangeTemplate | AddVersion | RollBackTemplate | AssignTemplate
    | DeleteTemplate | RecordRehearsal
)  # fmt: skip
