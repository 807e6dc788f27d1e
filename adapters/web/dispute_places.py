"""Which page shows what machines said differently of what belongs to no task."""

from adapters.documents.conflicts import ConflictDetails

POLICY = ("models", "consent", "receipt")  # the beginnings of its fields
PLACES = {
    "/catalog": "categories and labels",
    "/policy": "models and receipts",
    "/templates": "templates and ratings",
}
"""Which page shows what belongs to no task, and what that is called."""


def place_of(one: ConflictDetails) -> str:
    """The page that shows a conflict of no task."""
    if not one.about:
        return "/catalog"
    return "/policy" if one.field.partition(":")[0] in POLICY else "/templates"
