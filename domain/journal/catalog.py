"""Categories, labels and correction examples: the stream ``catalog:main`` (SPEC 1).

STORAGE FORMAT, see `domain.log.wire`. A correction names its texts by payloads of the task they
come from, so that they go when the task's unit is erased."""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from domain.errors import Refused, Remedy, invalid
from domain.log.keys import key
from domain.log.state import RecordedEvent, StreamType
from domain.log.wire import PayloadId, Stored
from domain.text import fold as folded
from domain.text import is_language

INBOX = "Inbox"
NAME_MAX = 100
CORRECTIONS_MAX = 50  # of a category, the newest (SPEC 4)


class CategoryAdded(Stored, frozen=True, tag="catalog.category_added.1"):
    category: str
    name: str
    language: str = ""


class CategoryRenamed(Stored, frozen=True, tag="catalog.category_renamed.1"):
    category: str
    name: str


class CategoryRemoved(Stored, frozen=True, tag="catalog.category_removed.1"):
    """An import that made it was taken back, and nothing is in it."""

    category: str


class CorrectionCaptured(Stored, frozen=True, tag="catalog.correction_captured.1"):
    category: str
    before: PayloadId
    after: PayloadId


class LabelAdded(Stored, frozen=True, tag="catalog.label_added.1"):
    label: str
    name: str
    categories: tuple[str, ...] = ()  # empty: all


class LabelScoped(Stored, frozen=True, tag="catalog.label_scoped.1"):
    """A label is used in these categories, too: a task of them carries it (ADR 83).

    `name`: it is made with it, or again where it was deleted. `narrows`: one that was everyone's is
    theirs from now on, else it stays so."""

    label: str
    categories: tuple[str, ...]
    name: str = ""
    narrows: bool = False


class LabelDeleted(Stored, frozen=True, tag="catalog.label_deleted.1"):
    label: str


CatalogFact = (
    CategoryAdded | CategoryRenamed | CategoryRemoved | CorrectionCaptured | LabelAdded
    | LabelScoped | LabelDeleted
)  # fmt: skip


class Correction(Struct, frozen=True):
    before: PayloadId
    after: PayloadId
    captured_at: str


class Category(Struct, frozen=True):
    id: str
    name: str
    language: str = ""
    corrections: tuple[Correction, ...] = ()  # oldest first


class Label(Struct, frozen=True):
    id: str
    name: str
    categories: tuple[str, ...] = ()
    is_deleted: bool = False


class Catalog(Struct, frozen=True):
    id: str
    categories: dict[str, Category] = {}
    labels: dict[str, Label] = {}
    removed: dict[str, Category] = {}  # what is deleted may still be in them


def category_id(name: str) -> str:
    """Two replicas make the same category of the same name (DESIGN 6)."""
    return key("category", folded(name))


def label_id(name: str) -> str:
    """As categories: a label is its folded name (ADR 0011)."""
    return key("label", folded(name))


def find_category(catalog: Catalog, wanted: str) -> Category | None:
    """By id, or by name (case and space folded); a renamed one is found by its new name."""
    if wanted in catalog.categories:
        return catalog.categories[wanted]
    name = folded(wanted)
    return next((one for one in catalog.categories.values() if folded(one.name) == name), None)


def with_inbox(catalog: Catalog) -> Catalog:
    """The catalog as a person sees it: with an Inbox, which no fact makes before something is in
    it: several machines would each make it."""
    inbox = Category(category_id(INBOX), INBOX)
    if inbox.id in catalog.categories or find_category(catalog, INBOX):
        return catalog  # under whatever name
    return replace(catalog, categories={**catalog.categories, inbox.id: inbox})


def category_of(catalog: Catalog, category: str) -> Category:
    """The category of that id, removed or not; one that is not known is called by its id."""
    known = catalog.categories.get(category) or catalog.removed.get(category)
    return known or Category(category, category)


def category_back(catalog: Catalog, category: str) -> list[CatalogFact]:
    """What brings a category back that was removed, if it was: something is in it again."""
    known = catalog.removed.get(category)
    return [CategoryAdded(known.id, known.name, known.language)] if known else []


def labels_back(catalog: Catalog, labels: Iterable[str]) -> list[CatalogFact]:
    """What puts labels to use again that are out of it: something carries them again."""
    gone = (catalog.labels[one] for one in labels if one in catalog.labels)
    return [LabelAdded(one.id, one.name, one.categories) for one in gone if one.is_deleted]


def category_meant(catalog: Catalog, name: str) -> str:
    """The id of the category that a file means by a name, there or not; one that was renamed is
    still what the file means. An empty name is the Inbox."""
    known = find_category(catalog, name or INBOX)
    return known.id if known else category_id(name or INBOX)


def find_label(catalog: Catalog, wanted: str) -> Label | None:
    """A living label by id, or by name (case and space folded)."""
    living = (label for label in catalog.labels.values() if not label.is_deleted)
    name = folded(wanted)
    return next((one for one in living if one.id == wanted or folded(one.name) == name), None)


def available(catalog: Catalog, category: str) -> list[Label]:
    """The living labels whose scope covers a category, by name then id."""
    living = (label for label in catalog.labels.values() if not label.is_deleted)
    found = (label for label in living if covers(label, category))
    return sorted(found, key=lambda label: (folded(label.name), label.id))


def covers(label: Label, category: str) -> bool:
    """Whether a label may be used in a category."""
    return not label.categories or category in label.categories


def add_category(catalog: Catalog, name: str, language: str) -> list[CatalogFact]:
    """A new category; nothing if one of that name is there. Raises Refused if a category had that
    name before: ids are made of names, so it is that one."""
    if find_category(catalog, name):
        return []
    if language and not is_language(language):
        raise invalid(f"{language!r} is no language code", "use two letters, `en` for example")
    if (renamed := catalog.categories.get(category_id(name))) is not None:
        because = f"{name!r} is the former name of the category {renamed.name!r}"
        raise invalid(because, "rename that one back, or choose another name")
    return [CategoryAdded(category_id(name), name, language)]


def rename_category(catalog: Catalog, known: Category, name: str) -> list[CatalogFact]:
    """Another name for a category. Raises Refused if a different one has that name."""
    if known.name == name:
        return []
    other = find_category(catalog, name)
    if other is not None and other.id != known.id:
        raise invalid(f"there is a category {other.name!r} already", "choose another name")
    return [CategoryRenamed(known.id, name)]


def add_label(catalog: Catalog, name: str, categories: tuple[str, ...]) -> list[CatalogFact]:
    """A new label, or a deleted one again; nothing if it is there with that scope."""
    known = find_label(catalog, name)
    if known is not None and known.categories == categories:
        return []
    return [LabelAdded(known.id if known else label_id(name), name, categories)]


def scope_labels(catalog: Catalog, used: Mapping[str, Collection[str]]) -> list[CatalogFact]:
    """What lets labels be used where tasks carry them; `used`: categories by label."""
    found: list[CatalogFact] = []
    for one, categories in used.items():
        label = catalog.labels.get(one)
        new = [each for each in sorted(categories) if label and not covers(label, each)]
        if new and label and not label.is_deleted:
            found.append(LabelScoped(one, tuple(new)))
    return found


def delete_label(catalog: Catalog, label: str) -> list[CatalogFact]:
    """Take a label out of use; tasks that carry it keep it. Raises Refused if unknown."""
    if (known := find_label(catalog, label)) is None:
        raise unknown_label(label)
    return [LabelDeleted(known.id)]


def unknown_category(wanted: str) -> Refused:
    because = f"there is no category {wanted!r}"
    return Refused("unknown_category", because=because, instead=Remedy("see_categories"))


def unknown_label(wanted: str) -> Refused:
    because = f"there is no label {wanted!r}"
    return Refused("unknown_label", because=because, instead=Remedy("see_labels"))


def evolve(catalog: Catalog, recorded: RecordedEvent) -> Catalog:
    """The catalog after one more fact."""
    match recorded.fact:
        case CategoryAdded(category=category, name=name, language=language):
            if category in catalog.categories:
                return catalog
            return _put(catalog, Category(category, name, language))
        case CategoryRenamed(category=category, name=name):
            return _put(catalog, replace(_category(catalog, category), name=name))
        case CategoryRemoved(category=category) if category in catalog.categories:
            left = {one: known for one, known in catalog.categories.items() if one != category}
            removed = {**catalog.removed, category: catalog.categories[category]}
            return replace(catalog, categories=left, removed=removed)
        case CorrectionCaptured(category=category, before=before, after=after):
            known = _category(catalog, category)
            corrections = (*known.corrections, Correction(before, after, recorded.at))
            return _put(catalog, replace(known, corrections=corrections[-CORRECTIONS_MAX:]))
        case LabelAdded(label=label, name=name, categories=categories):
            labels = {**catalog.labels, label: Label(label, name, categories)}
            return replace(catalog, labels=labels)
        case LabelScoped() as fact:
            scoped = _scoped(catalog.labels.get(fact.label), fact)
            labels = {**catalog.labels, **({fact.label: scoped} if scoped else {})}
            return replace(catalog, labels=labels)
        case LabelDeleted(label=label) if label in catalog.labels:
            gone = replace(catalog.labels[label], is_deleted=True)
            return replace(catalog, labels={**catalog.labels, label: gone})
        case _:
            return catalog


def _scoped(known: Label | None, fact: LabelScoped) -> Label | None:
    if known is None or known.is_deleted:
        return Label(fact.label, fact.name, fact.categories) if fact.name else known
    if not known.categories and not fact.narrows:
        return known
    return replace(known, categories=tuple(sorted({*known.categories, *fact.categories})))


def _category(catalog: Catalog, category: str) -> Category:
    return catalog.categories.get(category, Category(category, category))


def _put(catalog: Catalog, category: Category) -> Catalog:
    removed = {one: known for one, known in catalog.removed.items() if one != category.id}
    categories = {**catalog.categories, category.id: category}
    return replace(catalog, categories=categories, removed=removed)


CATALOG: StreamType[Catalog] = StreamType("catalog", Catalog, evolve)
