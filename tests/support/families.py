"""Both families of models that leave this machine, in words that one suite can be written in."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adapters.models.gemini.model import GeminiModel
from adapters.models.openai.model import OpenAIModel
from adapters.models.retry_loop import RetryingModel
from adapters.runtime import on_demand
from adapters.wiring import open_home
from domain.ports import ModelFault, Reply, Request
from tests.support import fault_cases, gemini_server, openai_server
from tests.support.asking import Heard, Sleeps, request
from tests.support.cli import FIXED
from tests.support.cli import told as shown
from tests.support.consents import agreed
from tests.support.fault_cases import Case
from tests.support.scripted_server import Answer, ScriptedServer, Sent, served
from tests.support.waking import agent


class Call(NamedTuple):
    """A call that a script makes."""

    tool: str
    arguments: Mapping[str, Any]
    call_id: str = ""


ESTIMATE = Call("update_task_estimate", {"minutes": 60.0}, "e1")
REPORT = Call(
    "update_report", {"content": "60 minutes.", "tldr": "On its way.", "oneLiner": "On track"}, "r1"
)


class Told(NamedTuple):
    """A turn as a server was sent it: who says it, and the ids of its calls or answers."""

    role: str
    ids: tuple[str, ...] = ()


class Family(NamedTuple):
    """How a family is served and asked; `cases`: what goes wrong, see `fault_cases`."""

    name: str
    key: str
    variable: str
    server: type[ScriptedServer]
    says: Callable[[str, Sequence[Call], str, Sequence[int]], Answer]
    made: Callable[..., RetryingModel[Any]]
    named: Callable[[ScriptedServer], str]
    environ: Callable[[ScriptedServer], dict[str, str]]
    told: Callable[[Sent], list[Told]]
    demands: Callable[[Sent], object]
    again: str
    cases: tuple[Case, ...]

    def answer(
        self, words: str = "", *calls: Call, finish: str = "", tokens: Sequence[int] = (100, 20, 7)
    ) -> Answer:
        """An answer; `tokens`: of the prompt, of what is said, of thoughts."""
        return self.says(words, calls, finish, tokens)

    @contextmanager
    def serving(self, *script: Answer) -> Iterator[ScriptedServer]:
        """A server with a script."""
        with served(self.server(script)) as server:
            yield server

    def model(self, server: ScriptedServer, **more: Any) -> RetryingModel[Any]:
        """The model that a server stands for; `more` as its own arguments."""
        return self.made(server, **more)

    def variables(self, server: ScriptedServer) -> dict[str, str]:
        """The variables of a command that asks the server."""
        return {self.variable: self.key, **self.environ(server)}

    def __str__(self) -> str:
        return self.name


# ---------------------------------------------------------------------------------------- Gemini


def _gemini_says(words: str, calls: Sequence[Call], finish: str, tokens: Sequence[int]) -> Answer:
    parts = [gemini_server.text(words)] if words else []
    for nth, one in enumerate(calls):
        signature = "" if nth else gemini_server.SIGNATURE
        parts.append(
            gemini_server.call(
                one.tool, dict(one.arguments), call_id=one.call_id, signature=signature
            )
        )
    return gemini_server.answer(*parts, finish=finish or "STOP", tokens=tokens)


def _gemini(server: ScriptedServer, **more: Any) -> GeminiModel:
    return GeminiModel(
        **{"name": "gemini", "api_key": gemini_server.KEY, "base_url": server.url, **more}
    )


def _gemini_told(sent: Sent) -> list[Told]:
    found = []
    for content in sent.body["contents"]:
        inner = [
            part.get("functionCall", part.get("functionResponse")) for part in content["parts"]
        ]
        ids = tuple(one.get("id", "") for one in inner if one)
        role = "tool" if ids and content["role"] == "user" else content["role"]
        found.append(Told("model" if role == "model" else role, ids))
    return found


GEMINI = Family(
    "gemini",
    gemini_server.KEY,
    "GEMINI_API_KEY",
    gemini_server.GeminiServer,
    _gemini_says,
    _gemini,
    lambda _: "gemini",
    lambda server: {"WAKELOG_GEMINI_BASE_URL": server.url},
    _gemini_told,
    lambda sent: sent.calling["mode"] == "ANY",
    "OTHER",
    fault_cases.GEMINI,
)


# ---------------------------------------------------------------------------------------- OpenAI


def _openai_says(words: str, calls: Sequence[Call], finish: str, tokens: Sequence[int]) -> Answer:
    read, *rest = tokens
    written = [sum(rest), *rest[1:]] if rest else []  # thoughts are among what is written
    made = [openai_server.call(one.tool, one.arguments, call_id=one.call_id) for one in calls]
    return openai_server.answer(words or None, *made, finish=finish, tokens=(read, *written))


def _openai(server: ScriptedServer, **more: Any) -> OpenAIModel:
    given = {
        "name": _openai_named(server),
        "model": openai_server.MODEL,
        "base_url": f"{server.url}/v1",
        "api_key": openai_server.KEY,
    }
    return OpenAIModel(**{**given, **more})


def _openai_named(server: ScriptedServer) -> str:
    return f"openai:{openai_server.MODEL}@{server.url}/v1"


def _openai_told(sent: Sent) -> list[Told]:
    found: list[Told] = []
    for message in sent.body["messages"]:
        ids = tuple(one["id"] for one in message.get("tool_calls", ()))
        match message["role"]:
            case "system":
                continue
            case "tool" if found[-1].role == "tool":
                found[-1] = Told("tool", (*found[-1].ids, message["tool_call_id"]))
            case "tool":
                found.append(Told("tool", (message["tool_call_id"],)))
            case role:
                found.append(Told("model" if role == "assistant" else role, ids))
    return found


OPENAI = Family(
    "openai",
    openai_server.KEY,
    "OPENAI_API_KEY",
    openai_server.OpenAIServer,
    _openai_says,
    _openai,
    _openai_named,
    lambda server: {"WAKELOG_OPENAI_BASE_URL": f"{server.url}/v1"},
    _openai_told,
    lambda sent: sent.body.get("tool_choice") == "required",
    "error",
    fault_cases.OPENAI,
)

FAMILIES = (GEMINI, OPENAI)
EACH_CASE = [(family, case) for family in FAMILIES for case in family.cases]


# ------------------------------------------------------------------------------------ asking them


def ask(
    family: Family,
    server: ScriptedServer,
    asked: Request | None = None,
    *,
    is_aloud: bool = False,
    **more: Any,
) -> Reply:
    """One reply. Raises `ModelFault`."""
    model = family.model(server, **{"sleep": Sleeps(), **more})
    if is_aloud:
        return asyncio.run(model.reply_aloud(asked or request(), Heard()))
    return asyncio.run(model.reply(asked or request()))


def fault(family: Family, server: ScriptedServer, **more: Any) -> ModelFault:
    """The fault that a reply ends with; it stands alone, and tells no key."""
    with pytest.raises(ModelFault) as caught:
        ask(family, server, **more)
    found = caught.value
    assert family.key not in f"{found!r} {found}"
    assert (found.__cause__, found.__suppress_context__) == (None, True)
    return found


def woken(family: Family, home: Path, server: ScriptedServer) -> Any:
    """Run the queued wake without sleeping; as `wakes` shows it."""
    variables = {**FIXED, **family.variables(server)}
    name = family.named(server)
    with open_home(home, variables, model=name, is_writing=True) as opened:
        opened.services.model_for = lambda _: family.model(server, sleep=Sleeps())
        opened.views.catch_up()
        ids = [one["id"] for one in shown(["agent", "list"], home)]
        (ran,) = on_demand.run_ready(opened.services, ids, lambda *_: None)
        assert ran.error == ""
    return shown(["wakes"], home)[0]


def home_of(tmp_path: Path, model: str) -> Path:
    """A home with an agent that may ask a model."""
    home = tmp_path / "home"
    agent(home)
    return agreed(home, model)


def consent(family: Family, server: ScriptedServer) -> str:
    """What a person agrees to before the server is asked."""
    return f"openai:*@{server.url}" if family.name == "openai" else family.name
