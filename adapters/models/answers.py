"""What the rules model says to a person's words: a question about the task is answered from it.

Nothing is understood but what a question is about, by its words; all that fits is told.
"""

from collections.abc import Iterator, Sequence

from adapters.models import standing
from adapters.models.findings import HELD_UP
from adapters.models.found import Findings
from adapters.models.offline.wording import DUE, Texts, bulleted, status_in, summary_in
from adapters.models.reading import PromptTask
from domain.text import fold, tokens

_ABOUT = {
    "due": "due deadline overdue when late fällig faellig frist termin wann überfällig spät",
    "open": "open left remains remaining todo missing offen übrig uebrig fehlt tun aussteht",
    "done": "done finished complete completed ready achieved erledigt fertig geschafft getan",
    "long": "long estimate effort hours minutes duration spent lange dauer dauert aufwand "
    "schätzung stunden minuten gedauert",
    "waits": "wait waits waiting blocked blocks stuck wartet warten warte worauf blockiert hängt",
    "proposed": "propose proposed proposal proposals suggest suggested inbox vorgeschlagen "
    "vorschlag vorschläge vorschlagen eingang entscheiden decide",
    "changed": "changed changes change new happened geändert änderungen verändert neu neues "
    "passiert",
    "state": "status state priority urgent important stand priorität wichtig dringend eilig",
    "next": "next now start nächstes nächste naechstes jetzt anfangen",
}
"""What a question is about, by words that stand in it."""


def answer(seen: PromptTask, found: Findings, wishes: Sequence[str], texts: Texts) -> str:
    """What is known of what the person asks; of any other words what the task is like.

    Args:
        seen: The task and the words.
        found: What the texts ask for.
        wishes: What of it is proposed now, in words.
        texts: Those of the task's language.
    """
    told = dict(_known(seen, found, wishes, texts))
    asked = [name for name in _about(seen.words) if name in told]
    shown = [told[name] for name in asked or ("state", "due", "next", "open")]
    if wishes and "proposed" not in asked:
        shown.append(texts["proposed"].format("; ".join(wishes)))
    return "\n\n".join([*shown, texts["cannot"]])


def _about(words: str) -> list[str]:
    """What a question is about; nothing where the words are none."""
    if "?" not in words and not fold(words).startswith(_ASKING):
        return []
    known = set(tokens(words))
    return [name for name, keys in _ABOUT.items() if not known.isdisjoint(keys.split())]


_ASKING = ("what ", "when ", "who ", "how ", "which ", "was ", "wann ", "wer ", "wie ", "worauf ")


def _known(
    seen: PromptTask, found: Findings, wishes: Sequence[str], texts: Texts
) -> Iterator[tuple[str, str]]:
    minutes = texts["minutes"]
    yield "due", _due(seen, found, texts)
    todo = standing.listed(standing.open_items(seen), texts)
    yield "open", _rows(texts, "open", todo)
    done = standing.listed(standing.finished(seen), texts)
    yield (
        "done",
        texts["a.done"].format(standing.progress(seen, texts), bulleted(done)).rstrip(":\n"),
    )
    estimate = minutes.format(seen.estimate) if seen.estimate else texts["none"]
    yield "long", texts["a.long"].format(estimate, minutes.format(seen.minutes_spent))
    waits = [f"{texts['blocked by']}: {one}" for one in standing.blockers(seen, texts)]
    if seen.status in HELD_UP:
        waits.insert(0, standing.status(seen, texts).rstrip("."))
    free = texts["a.free"].format(status_in(seen.status, texts) or texts["none"])
    yield "waits", texts["a.waits"].format("; ".join(waits)) if waits else free
    yield "proposed", _rows(texts, "proposed", [*wishes, *standing.waiting(seen, found, texts)])
    yield "changed", _rows(texts, "changed", standing.changed(seen, texts))
    status = standing.status(seen, texts)
    yield "state", texts["a.state"].format(status, seen.priority or texts["none"])
    if step := standing.next_step(seen, found, texts):
        yield "next", texts["a.next"].format(step.rstrip("."))


def _due(seen: PromptTask, found: Findings, texts: Texts) -> str:
    """The due date, and another one that waits in the inbox."""
    due = standing.due(seen, texts)
    told = texts["a.due"].format(due) if due else texts["a.no due"]
    lines = standing.waiting(seen, found, texts)
    other = [one for one in lines if one.startswith(summary_in(DUE, texts))]
    return f"{told} {_rows(texts, 'proposed', other)}" if other else told


def _rows(texts: Texts, name: str, rows: Sequence[str]) -> str:
    return texts[f"a.{name}"].format(bulleted(rows)) if rows else texts[f"a.none {name}"]
