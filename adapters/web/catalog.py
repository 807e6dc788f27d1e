"""What tasks are sorted by, and what a person changes of it: as `wakelog category` and `label`."""

from adapters.documents.tasks import catalog_of, category_documents, label_documents
from adapters.usecases import catalog as actions
from adapters.usecases.inputs import language_named
from adapters.web import replica_conflicts
from adapters.web.http_types import FormRequest, Notice, Page, at_field, missing
from adapters.web.site import SCAN_MAX, Site, check_sure
from domain.journal.catalog import NAME_MAX, Label, with_inbox
from domain.journal.edits import titled
from projections import tasks

CORRECTIONS_SHOWN = 20


def show(site: Site, asked: FormRequest) -> Page:
    """The page `/catalog`."""
    found = site.home.views.page(tasks.VIEW, newest_first=True, limit=SCAN_MAX)
    living = [one for one in found if not one.is_deleted]
    with site.home.services.journal.reading() as world:
        categories = category_documents(world, [one.task for one in found])
    labels = label_documents(
        catalog_of(site.home), lambda label: sum(label in one.labels for one in living)
    )
    return Page(
        "catalog.html",
        "Categories and labels",
        {"categories": categories, "labels": labels},
        {
            "most": SCAN_MAX if len(found) == SCAN_MAX else 0,
            "corrections_shown": CORRECTIONS_SHOWN,
            "name_max": NAME_MAX,
            "conflicts": replica_conflicts.of_none(site, "/catalog"),
        },
    )


def add_category(site: Site, asked: FormRequest) -> Notice:
    """Add a category."""
    with at_field("language"):
        language = language_named(asked.form.get("language", "").strip() or "none")
    with at_field("name"):
        name = titled(asked.needed("name"), NAME_MAX, "name")
        actions.add_category(site.home, name, language, asked.key)
    return Notice(f"The category “{name}” is there.")


def rename_category(site: Site, asked: FormRequest) -> Notice:
    """Give a category another name; its tasks stay in it."""
    category = _category(site, asked)
    now = {"name": with_inbox(catalog_of(site.home)).categories[category].name}
    found = site.changes(asked, {"name": asked.needed("name").strip()}, now)
    with at_field("name"):
        actions.rename_category(site.home, category, found.given["name"], asked.key)
    return Notice(f"Renamed: “{found.given['name']}”.")


def correct_category(site: Site, asked: FormRequest) -> Notice:
    """Teach agents by example: what was written, and what it should have been."""
    before, after = asked.needed("before"), asked.needed("after")
    category = _category(site, asked)
    with at_field("after"):
        actions.correct_category(site.home, category, before, after, asked.key)
    return Notice("Noted: agents of this category are shown it.")


def add_label(site: Site, asked: FormRequest) -> Notice:
    """Add a label, of some categories or of all."""
    among = [one for one in asked.lists.get("category", []) if one]
    with at_field("name"):
        name = titled(asked.needed("name").strip().removeprefix("#"), NAME_MAX, "name")
        actions.add_label(site.home, name, among, asked.key)
    return Notice(f"The label #{name} is there.")


def widen_label(site: Site, asked: FormRequest) -> Notice:
    """Let a label be used in all categories."""
    known = _label(site, asked)
    actions.widen_label(site.home, known.id, asked.key)
    return Notice(f"#{known.name} is offered in all categories.")


def delete_label(site: Site, asked: FormRequest) -> Notice:
    """Take a label out of use; tasks that carry it keep it."""
    known = _label(site, asked)
    check_sure(asked, f"deleting the label #{known.name}")
    actions.delete_label(site.home, known.id, asked.key)
    return Notice(f"Deleted #{known.name}; tasks that carry it keep it.")


def _label(site: Site, asked: FormRequest) -> Label:
    known = catalog_of(site.home).labels.get(asked.names["id"])
    if known is None:
        raise missing("unknown_label", "label", asked.names["id"])
    return known


def _category(site: Site, asked: FormRequest) -> str:
    wanted = asked.names["id"]
    if wanted not in with_inbox(catalog_of(site.home)).categories:
        raise missing("unknown_category", "category", wanted)
    return wanted
