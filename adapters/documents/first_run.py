"""The JSON document of `init`."""

from msgspec import Struct

from adapters.documents.tasks import ImportDetails


class BegunHome(Struct, frozen=True):
    """What `init` prints; `imported` is what `import` prints, `agents` how many were made."""

    home: str
    timezone: str
    imported: ImportDetails | None
    agents: int
