"""What of a model's call is kept: its name in ASCII, its arguments as canonical JSON."""

from domain import canonical
from domain.errors import Refused
from domain.ports import Call
from domain.wire import INLINE_MAX_BYTES


def tool_named(name: str) -> str:
    """A tool's name as it is recorded: short, and in ASCII, as every tool's is. An unknown one is
    repeated to the model in quotes, and how Python writes other characters there depends on its
    version; the provider's own bytes are kept beside it."""
    return name.encode("ascii", "replace").decode("ascii")[: INLINE_MAX_BYTES // 8]


def arguments_of(call: Call) -> tuple[str, str]:
    """The arguments of a call, and why they cannot be decoded; empty where they can."""
    try:
        return canonical.text(canonical.read(call.arguments)), ""
    except Refused as refused:
        return "{}", str(refused)
