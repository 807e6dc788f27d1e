"""The answer of `wakelog models`, in words."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from adapters.text.common import counted

if TYPE_CHECKING:
    from adapters.documents.models import ModelDetails, Trial

OFFERED_SHOWN = 10
NAMES_MORE: Final = (
    "Name others below [models.NAME] in settings.toml; `--ask` tries them, "
    "`wakelog eval --model M` judges one."
)
SENT: Final = "Each that was tried was sent a fixed question; no text of yours."
_BY: Final = {"home": "the home's model", "agent": "of an agent", "template": "of a template"}


def model_lines(document: "Sequence[ModelDetails]") -> Iterator[str]:
    """Each model: where it is asked, whether its key is there, for what it may be asked, and how a
    test went."""
    for one in document:
        named = ", ".join(_BY[by] for by in one.named_by if by in _BY)
        yield f"{one.name}  ({named})" if named else one.name
        yield from (f"  {line}" for line in _lines(one))


def _lines(one: "ModelDetails") -> Iterator[str]:
    if not one.leaves:
        yield "answers on this machine: needs no key and no receipt"
        return
    if one.recorded != one.name:
        yield f"asks {one.recorded}"
    yield one.problem or (f"key: {one.key_from}" if one.key == "set" else "needs no key")
    if one.problem and one.key == "none":  # it is nowhere, so nobody can agree to it
        return
    if one.lacking and one.agreed:
        yield f"agreed for {', '.join(one.agreed)}; not for {', '.join(one.lacking)}"
    elif one.lacking:
        yield f"agreed for no category: read what it is sent, `wakelog policy allow {one.name}`"
    elif one.agreed:
        yield f"agreed for {', '.join(one.agreed)}"
    if one.trial is not None:
        yield from _trial(one.trial)


def _trial(trial: "Trial") -> Iterator[str]:
    took = f"{trial.milliseconds / 1000:.1f} s"
    yield f"called the tool, {took}" if trial.called else f"failed after {took}: {trial.problem}"
    if trial.offers:
        more = len(trial.offers) - OFFERED_SHOWN
        shown = ", ".join(trial.offers[:OFFERED_SHOWN])
        behind = f" and {more} more" if more > 0 else ""
        yield f"its server has {counted(len(trial.offers), 'model')}: {shown}{behind}"
