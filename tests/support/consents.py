"""Receipts for tests whose models are no fakes: what a person would agree to first."""

from collections.abc import Mapping
from pathlib import Path

from adapters.runtime.services import Services
from adapters.usecases.policy import allow
from adapters.wiring import open_home
from domain.agent.agent import AGENT
from domain.policy.commands import GiveConsent
from domain.policy.gate import NOTICE_VERSION, sections_of
from tests.support.cli import FIXED

GEMINI = "gemini"


def agreed(home: Path, model: str = GEMINI, environ: Mapping[str, str] = FIXED) -> Path:
    """Agree to what a provider is sent, for every category that a home has; the home."""
    with open_home(home, environ, is_writing=True) as opened:
        allow(opened, model)
    return home


def agree(at: Services, agent: str, model: str) -> None:
    """Agree to what a model is sent, for all categories of an agent."""
    with at.agents.reading() as world:
        categories = world.load(AGENT, agent).categories
    at.append_agent(GiveConsent(model, categories, NOTICE_VERSION, sections_of()))
