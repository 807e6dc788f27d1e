"""A home in memory whose texts are rewritten: for exports that others shall see."""

from adapters.proof.histories import taken
from adapters.proof.redact import Redactor
from adapters.runtime.services import Services
from adapters.wiring import Home

HOLDS = (
    "It holds what people and agents wrote, word for word: titles, notes, reasons, reports, "
    "prompts. To give it away, export with --redact."
)
REDACTED = (
    "Texts, names and ids were rewritten, each word as another of its length; times, statuses, "
    "tokens and codes are as they were."
)


def redacted_home(home: Home) -> Home:
    """The same causes recorded anew without their texts, as `adapters.proof.redact` does it.

    Raises:
        Refused: Several replicas wrote in it, or it comes out otherwise without its texts.
    """
    known = home.services
    made = Redactor(taken(known.journal, known.agents))
    made.record()
    logs = made.logs["journal"], made.logs["agent"]
    found = Home.in_memory(Services(*logs, known.clock, known.settings, known.model_for))
    found.views.catch_up()
    return found
