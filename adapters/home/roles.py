"""Who may do what in a home of a database (ADR 69). Roles of people hold on the page only."""

from collections.abc import Mapping
from typing import Literal, get_args

Role = Literal["viewer", "member", "owner", "operator"]
Permission = Literal["watch", "read", "decide", "prove", "rule"]
"""``watch``: how a home is, without its content; ``decide``: journal, agents, verdicts; ``rule``:
templates, what may leave the machine, and erasing."""

ROLES: tuple[Role, ...] = get_args(Role)
PERMISSIONS: Mapping[str, frozenset[Permission]] = {
    "viewer": frozenset({"watch", "read"}),
    "member": frozenset({"watch", "read", "decide", "prove"}),
    "owner": frozenset({"watch", "read", "decide", "prove", "rule"}),
    "operator": frozenset({"watch", "prove"}),
}


def permissions_of(role: str, own_role: str) -> frozenset[Permission]:
    """What a token may do: what its role may, as long as the person's own role may it, too.

    >>> sorted(permissions_of("owner", "viewer")), sorted(permissions_of("owner", "operator"))
    (['read', 'watch'], ['prove', 'watch'])
    """
    return PERMISSIONS.get(role, frozenset()) & PERMISSIONS.get(own_role, frozenset())
