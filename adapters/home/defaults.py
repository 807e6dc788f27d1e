"""What whoever runs a database sets for all homes in it: looked at before it is kept."""

from typing import TYPE_CHECKING

from adapters.home import settings
from adapters.home.settings_layers import Defaults, check_locks, defaults_in
from adapters.home.settings_refusals import near, unknown

if TYPE_CHECKING:
    from adapters.store.postgres.homes import Homes


def where(homes: "Homes") -> str:
    """How messages call the defaults of a database."""
    return f"the defaults of {homes.database.name}"


def defaults_of(homes: "Homes") -> Defaults:
    """What counts below the settings of a database's homes. Raises Refused."""
    text = homes.defaults()
    return defaults_in(text, where(homes)) if text else Defaults()


def checked(text: str, path: str) -> str:
    """The text, if it may be the defaults of homes. Raises Refused."""
    found = defaults_in(text, path)
    known = settings.every_key()
    for name in found.locked:
        if name not in known:
            told = f"{path}: the locked key {name}"
            raise unknown(told, near(name, known), ", ".join(known))
    settings.check_keys(found.table, path)
    settings.settled(dict(found.table), path)
    return text


def unlocked(homes: "Homes", before: str, after: str) -> str:
    """A home's text as it shall be, if it sets no locked key anew. Raises Refused."""
    check_locks(before, after, defaults_of(homes), where(homes))
    return after
