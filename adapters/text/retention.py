"""What `wakelog retain` says for a person."""

from collections.abc import Iterator

from adapters.documents.results import RetainDetails
from adapters.text.common import counted

MEGA = 1_000_000


def size(count: int) -> str:
    """Bytes for a person.

    >>> size(9_712_345), size(812)
    ('9.7 MB', '812 bytes')
    """
    return f"{count / MEGA:.1f} MB" if count >= MEGA / 10 else f"{count:,} bytes"


def retained_lines(did: RetainDetails, *, is_prompts: bool, is_replies: bool) -> Iterator[str]:
    """What was dropped, or would be."""
    done = "dropped" if did.done else "would be dropped"
    if did.prompts:
        what = f"{counted(did.prompts, 'prompt text')} ({size(did.prompt_bytes)})"
        yield f"{what} render again: {done}."
    elif is_prompts:
        yield "No prompt that old renders again and stands nowhere else: none is dropped."
    if did.replies:
        what = f"{did.replies:,} {'reply' if did.replies == 1 else 'replies'}"
        yield f"The bytes of {what} ({size(did.reply_bytes)}): {done}; text, calls, tokens stay."
    elif is_replies:
        yield "No reply is that old, or their bytes are dropped already."
    if did.after < did.before:
        yield f"agent.db {did.before / MEGA:.1f} -> {did.after / MEGA:.1f} MB."
    elif did.before and did.done and (did.prompts or did.replies):
        yield f"agent.db keeps its {size(did.before)}, and uses what is free; --compact shrinks it."
    elif did.done and (did.prompts or did.replies):
        yield "The database uses what is free; `wakelog database scrub` gives it back."
