"""Tries the models that a home could ask: a person wants to see whether they work."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from adapters.documents.models import ModelDetails, Trial, models_document
from adapters.models.probe import probe_models
from domain.errors import Refused
from domain.ports import Model

if TYPE_CHECKING:
    from adapters.wiring import Home


def probed_models(
    home: "Home", names: Sequence[str], seconds: float, environ: Mapping[str, str] = os.environ
) -> list[ModelDetails]:
    """The models of `models_document`; each that is asked elsewhere was asked for one call.

    Nothing of the person is sent, so no receipt is needed, and nothing is written. But a key is
    sent only where the person agreed to something, or named the model: settings travel with
    copies of a home, and may send anybody any variable of this machine. `names`: only these; empty:
    all; `seconds`: that each answer may take; all are asked at once. Raises as `models_document`.
    """
    found = [_unprobed(one, names) for one in models_document(home, names, environ)]
    asked: dict[str, Model] = {}
    for one in found:
        if one.leaves and one.problem is None:
            try:
                asked[one.name] = home.services.model_for(one.name)
            except Refused:  # what it says stands in the document
                continue
    outcomes = asyncio.run(probe_models(list(asked.values()), seconds))
    trials = {
        name: Trial(
            called=not one.problem,
            milliseconds=round(one.seconds * 1000),
            offers=list(one.offers) or None,
            problem=one.problem or None,
        )
        for name, one in zip(asked, outcomes, strict=True)
    }
    return [replace(one, trial=trials.get(one.name)) for one in found]


def _unprobed(one: ModelDetails, names: Sequence[str]) -> ModelDetails:
    """A model, with a problem where it is not to be sent its key unasked."""
    if names or one.key != "set" or one.agreed:
        return one
    told = f"not tried: it would be sent its key; name it, `wakelog models {one.name} --ask`"
    return replace(one, problem=told)
