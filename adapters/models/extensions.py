"""Models of others: an installed package offers one by an entry point (ADR 115).

    [project.entry-points."wakelog.models"]
    echo = "echo_model:make"            # make(model, environ, settings) -> Model
    [project.entry-points."wakelog.decoders"]
    echo = "echo_model:DECODERS"        # {"echo.1": parse}, parse(raw: bytes) -> Reply

It is asked as ``echo:MODEL``; its settings stand below ``[extensions.echo]``. What it replies is
kept as bytes of a format of its own, ``echo.1``; a proof reads them only if it is told to."""

import asyncio
import re
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from adapters.home.extensions import BUILT_IN, GROUP, check_installed
from adapters.models import faults
from adapters.models.tape import OwnModel
from domain.errors import Refused
from domain.ports import Model, ModelFault, Reply, Request, Section, ToolSpec

DECODERS = "wakelog.decoders"
Make = Callable[[str, Mapping[str, str], Mapping[str, Any]], Model]
Parse = Callable[[bytes], Reply]


def model_of(name: str, environ: Mapping[str, str], settings: Mapping[str, Any]) -> Model:
    """The model of an extension. `settings`: of all extensions, by their names. Raises Refused,
    code ``model_unavailable``: it is not installed, or cannot be made."""
    check_installed(name)
    prefix, _, model = name.partition(":")
    (found,) = entry_points(group=GROUP, name=prefix)
    make: Make = _loaded(found)
    try:
        return ExtensionModel(name, make(model, environ, settings.get(prefix, {})))
    except Refused:
        raise
    except Exception as error:
        raise _unusable(found, error) from error


def decoders_of(prefix: str) -> Mapping[str, Parse]:
    """What reads the replies of an extension again, by format. Raises Refused: it is not there, or
    reads formats of another."""
    try:
        (found,) = entry_points(group=DECODERS, name=prefix)
    except ValueError:
        because = f"no installed package reads the replies of {prefix!r} again, or several do"
        raise Refused("model_unavailable", because=because, instead="leave it out") from None
    given: Mapping[str, Parse] = _loaded(found)
    wrong = [one for one in given if prefix in BUILT_IN or not _is_format(prefix, one)]
    if wrong or not given:
        because = f"{found.value} reads {', '.join(wrong) or 'nothing'}, and not {prefix}.1"
        raise Refused("model_unavailable", because=because, instead="leave it out")
    return given


def _loaded(found: EntryPoint) -> Any:
    try:
        return found.load()
    except Exception as error:
        raise _unusable(found, error) from error


def _unusable(found: EntryPoint, error: Exception) -> Refused:
    because = f"{found.value} cannot be used: {type(error).__name__}: {error}"
    return Refused("model_unavailable", because=because, instead="mend or reinstall its package")


def _is_format(prefix: str, given: str) -> bool:
    return re.fullmatch(rf"{re.escape(prefix)}\.[1-9][0-9]{{0,8}}", given) is not None


class ExtensionModel:
    """A model of an extension: whatever it raises or gives, a wake ends in order. Of its replies
    those without bytes get those of a tape."""

    def __init__(self, name: str, model: Model) -> None:
        self.name, self._model = name, OwnModel(model)

    async def reply(self, request: Request) -> Reply:
        """As the model itself. Raises ModelFault."""
        prefix = self.name.partition(":")[0]
        try:
            found = await self._model.reply(request)
        except (ModelFault, asyncio.CancelledError):
            raise
        except Exception as error:
            told = f"{prefix} failed: {type(error).__name__}: {error}"
            raise ModelFault("extension_failed", told, of_provider=False) from error
        if problem := problem_of(prefix, found):
            raise ModelFault("extension_failed", problem, of_provider=False)
        return found


def problem_of(prefix: str, reply: Any) -> str:
    """What is wrong with a reply of an extension; empty where nothing is."""
    if not isinstance(reply, Reply) or not isinstance(reply.raw, bytes):
        return f"{prefix} gave no Reply with bytes"
    if len(reply.raw) > faults.SENT_MAX_BYTES:
        return f"{prefix} gave {len(reply.raw):,} bytes of {faults.SENT_MAX_BYTES:,}"
    if reply.reply_format != "tape.1" and not _is_format(prefix, reply.reply_format):
        return f"{prefix} gave the format {reply.reply_format!r}, and not {prefix}.1"
    return ""


TRIED = Request(
    "", (Section("role", "Call note_word with the word tap."),), (Section("task", "tap"),),
    (ToolSpec("note_word", "Notes a word.", {"type": "object", "properties": {"word": {}}}),),
)  # fmt: skip


def check_model(
    make: Make, decoders: Mapping[str, Parse] | None = None, *, name: str, model: str = "",
    environ: Mapping[str, str] | None = None, settings: Mapping[str, Any] | None = None,
) -> list[str]:  # fmt: skip
    """What is wrong with an extension, by one question; nothing where all is well.

    `make` and `decoders` are what its entry points named `name` are."""
    asked = ExtensionModel(f"{name}:{model}", make(model, environ or {}, settings or {}))
    try:
        reply = asyncio.run(asked.reply(TRIED))
    except ModelFault as fault:
        return [f"{fault.code}: {fault}"]
    parse = (decoders or {}).get(reply.reply_format)
    if parse is None:
        return [f"nobody reads {reply.reply_format} again"] if decoders else []
    again = parse(reply.raw)
    pairs = [(one, getattr(again, one), getattr(reply, one)) for one in ("text", "calls")]
    return [f"{one} is {now!r} if read again, not {was!r}" for one, now, was in pairs if now != was]
