"""Tries the models that a home could ask: a person wants to see whether they work."""

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from adapters.documents.models import ModelDetails, Trial, models_document
from adapters.models.trial import all_tried
from domain.errors import Refused
from domain.ports import Model

if TYPE_CHECKING:
    from adapters.wiring import Home


def models_tried(
    home: "Home", seconds: float, environ: Mapping[str, str] = os.environ
) -> list[ModelDetails]:
    """The models of `models_document`; each that is asked elsewhere was asked for one call.

    Nothing of the person is sent, so no receipt is needed, and nothing is written.

    Args:
        home: Open, to read at least.
        seconds: That each answer may take; all are asked at once.
        environ: Where keys are.
    """
    found = models_document(home, environ)
    asked: dict[str, Model] = {}
    for one in found:
        if one.leaves and one.problem is None:
            try:
                asked[one.name] = home.services.model_for(one.name)
            except Refused:  # what it says stands in the document
                continue
    outcomes = asyncio.run(all_tried(list(asked.values()), seconds))
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
