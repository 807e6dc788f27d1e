"""Policy as JSON: what was agreed to, what is ruled, and what waits for it."""

from msgspec import Struct

from domain.ports import Section, ToolSpec


class ReceiptDetails(Struct, frozen=True):
    """What was agreed to for one category. `current`: the notice that was shown is today's; an
    older one opens no gate any more. `sections` are the parts of a prompt that it named."""

    model: str
    category: str
    category_id: str
    notice: int
    current: bool
    sections: list[str]
    given_at: str


class RuleDetails(Struct, frozen=True):
    """Which models agents of a category may ask; null: agents of every category."""

    category: str | None
    category_id: str | None
    allowed: list[str]


class HeldWake(Struct, frozen=True):
    """A wake that waits for ``consent`` or a ``secret``, and the command that lets it go on; null
    where that is no command but a key to set."""

    run_key: str
    agent_id: str
    agent: str
    model: str
    waits_for: str
    since: str
    command: str | None


class RefusalDetails(Struct, frozen=True):
    """A wake that the gate skipped, by its code, or let wait: ``consent`` or ``secret``."""

    at: str
    run_key: str
    agent_id: str | None
    code: str


class PolicyDocument(Struct, frozen=True):
    """What `policy show` prints: receipts, rules, which wakes wait for consent or a key, and the
    newest 20 refusals, the newest first. `notice` is the version of today's notice."""

    notice: int
    receipts: list[ReceiptDetails]
    rules: list[RuleDetails]
    waiting: list[HeldWake]
    refusals: list[RefusalDetails]


class NeededReceipt(Struct, frozen=True):
    """A receipt that some agents cannot wake without: ask once for all of it.

    `model` is the pattern to agree to, `text` the notice to show, `command` what types the same.
    """

    model: str
    category_ids: list[str]
    categories: list[str]
    agent_ids: list[str]
    text: str
    command: str


class Allowed(Struct, frozen=True):
    """What `policy allow` and `policy withdraw` print: what the receipt is about, and whether
    anything changed. `resumed` counts the wakes that waited for it and are due again."""

    model: str
    category_ids: list[str]
    categories: list[str]
    notice: int
    changed: bool
    resumed: int = 0


class Ruled(Struct, frozen=True):
    """What `policy models` prints; null: agents of every category."""

    category: str | None
    category_id: str | None
    allowed: list[str]
    changed: bool


class Preview(Struct, frozen=True):
    """What `policy try` prints: the first question of an agent's next wake, as its model gets it.
    `leaves`: it would go to another machine; `refused`: the code of the gate that is closed."""

    agent_id: str
    agent: str
    model: str
    leaves: bool
    refused: str | None
    because: str | None
    secrets_replaced: int
    system: list[Section]
    user: list[Section]
    tools: list[ToolSpec]
