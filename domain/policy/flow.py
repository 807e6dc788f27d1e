"""Which texts may enter whose prompt: one rule, and it fails closed (ADR 37)."""

from collections.abc import Iterable

from domain.agent.agent import Agent


def may_enter(written_under: Iterable[str], reader: Agent) -> bool:
    """Whether a text may enter a prompt of an agent as it is now.

    Args:
        written_under: Every category that whoever wrote the text may have read: of an agent's text
            all it was ever allowed, of a person's text its task's category.
        reader: Whose prompt it is. A text without a category is nobody's.
    """
    categories = set(written_under)
    return bool(categories) and "" not in categories and categories <= set(reader.categories)
