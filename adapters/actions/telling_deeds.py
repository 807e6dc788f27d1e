"""A deed and what undoing it does, as its document: for command line and page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapters.actions.undoing import JUDGED_MAX, Choice, Deed
from adapters.documents.deeds import UndoableDeed
from adapters.documents.inbox import set_name
from adapters.documents.ranks import ranks_of
from adapters.text.common import ago
from adapters.text.undone import back, made, named, stays
from domain.journal.fold import TASK
from domain.journal.task import DeedUndone

if TYPE_CHECKING:
    from adapters.wiring import Home

SAID_MAX = 20  # sentences of one deed


def deed_document(home: "Home", deed: Deed) -> UndoableDeed:
    """A deed with what undoing it does, in words."""
    now = home.services.clock.now()
    with home.services.journal.reading() as world:
        titles = [world.load(TASK, one).title for one in deed.tasks[:JUDGED_MAX]]
        facts = [(fact, world.load(TASK, task)) for task, fact in deed.facts[:SAID_MAX]]
    if deed.source:  # that nothing it said counts is no conflict
        facts = [one for one in facts if not isinstance(one[0], DeedUndone) or one[0].source]
    said = [back(fact, task, now) for fact, task in facts]
    if more := len(deed.facts) - len(facts):
        said.append(f"And {more} more")
    if left := deed.left + deed.more:
        said.append(f"And what it did to {left:,} more tasks")
    ranked = ranks_of(home)
    refs = [f"{set_name(ranked, one)}.{number}" for one, number in deed.items]
    if deed.state != "undone":
        said += [f"Put {one} before you again" for one in refs]
    name = f"the import of {deed.source}" if deed.source else made(facts, deed.what)
    return UndoableDeed(
        deed.ref,
        deed.at,
        deed.what,
        deed.state,
        titles,
        refs,
        list(dict.fromkeys(said)),
        list(dict.fromkeys(map(stays, deed.staying))),
        name,
        deed.size,
        again(deed.again, deed.what, refs) if deed.state == "undone" else "",
    )


def again(ref: str, what: str, refs: list[str]) -> str:
    """The commands that do again what was undone: its verdicts, then its edits."""
    verb = next((one for one in ("confirm", "defer") if what.startswith(one)), "reject")
    verdicts = [" ".join(["wakelog", verb, *refs])] if refs else []
    return " && ".join([*verdicts, *([f"wakelog undo {ref}"] if ref else [])])


def asked(home: "Home", choice: Choice) -> str:
    """What an undo without a name would take back, as a question names it."""
    deed, now = choice.deed, home.services.clock.now()
    place = f", done {choice.where}" if choice.where else ""
    return f"{named(deed_document(home, deed))}, {ago(deed.at, now)}{place}"


def before(home: "Home", choice: Choice) -> list[str]:
    """What came after it, and is not taken back, each with why."""
    found = [f"Not undone: {named(one)}: {why(one)}" for one in told_of(home, choice.passed)]
    what, task = choice.nothing
    if what:
        with home.services.journal.reading() as world:
            title = world.load(TASK, task).title
        found.insert(0, f"Nothing to take back in `{what}` of “{title}”")
    return found


def told_of(home: "Home", deeds: Sequence[Deed]) -> list[UndoableDeed]:
    return [deed_document(home, one) for one in deeds]


def why(one: UndoableDeed) -> str:
    """Why a deed is not taken back."""
    if one.state == "moved" or (one.what == "import tasks" and not one.stays):
        return "changed since"
    return "; ".join(one.stays) or "nothing takes it back"
