"""Who may do what in a home of a database (ADR 69). Roles of people hold on the page only."""

from collections.abc import Mapping
from typing import Literal, get_args

Role = Literal["viewer", "member", "owner", "operator"]
Deed = Literal["watch", "read", "decide", "prove", "rule"]
"""``watch``: how a home is, without its content; ``decide``: journal, agents, verdicts; ``rule``:
templates and what may leave the machine."""

ROLES: tuple[Role, ...] = get_args(Role)
DEEDS: Mapping[str, frozenset[Deed]] = {
    "viewer": frozenset({"watch", "read"}),
    "member": frozenset({"watch", "read", "decide", "prove"}),
    "owner": frozenset({"watch", "read", "decide", "prove", "rule"}),
    "operator": frozenset({"watch", "prove"}),
}


def deeds_of(role: str, own_role: str) -> frozenset[Deed]:
    """What a token may do: what its role may, as long as the person's own role may it, too.

    >>> sorted(deeds_of("owner", "viewer")), sorted(deeds_of("owner", "operator"))
    (['read', 'watch'], ['prove', 'watch'])
    """
    return DEEDS.get(role, frozenset()) & DEEDS.get(own_role, frozenset())
