"""Templates that a person names; a built-in one is put in use when it is first named."""

from typing import TYPE_CHECKING

from adapters.actions.naming import pick
from adapters.documents.templates import templates_of

if TYPE_CHECKING:
    from adapters.wiring import Home
    from domain.templates.seeds import Seed
    from domain.wire import Payload, Words


BUILT_IN = "built-in"


def seed_named(wanted: str) -> "Seed | None":
    """The built-in template of that name, in use or not."""
    from domain.templates.seeds import SEEDS

    return next((one for one in SEEDS if one.seed == wanted.lower()), None)


def pick_template(home: "Home", wanted: str, key: str = "") -> str:
    """The id of a template; a built-in one is put in use when it is first named."""
    from domain.templates.commands import CreateTemplate
    from domain.templates.seeds import seed_id

    found = [(one.id, one.name) for one in templates_of(home)]
    seed = seed_named(wanted)
    if seed is None or seed_id(seed.seed) in dict(found):
        return pick(seed_id(seed.seed) if seed else wanted, found, "template", "unknown_template")
    general, report = shared_words(seed.general), shared_words(seed.report)
    command = CreateTemplate(seed.name, general[0], report[0], seed=seed.seed)
    home.desk.note(command, key=key, payloads=[*general[1], *report[1]])
    home.views.catch_up()
    return seed_id(seed.seed)


def shared_words(text: str) -> "tuple[Words, tuple[Payload, ...]]":
    from domain.wire import SHARED, words

    return words(SHARED, text)
