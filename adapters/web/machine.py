"""What the page needs to know of the machine: where it can be reached, and who else is on it."""

import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

ANY = ("0.0.0.0", "::")
UID_FIRST = 1_000  # of people; below are services
UID_LAST = 59_999
ELSEWHERE = "192.0.2.1"  # an address of nobody (RFC 5737): nothing is sent there
_NO_LOGIN = ("", "nologin", "false", "sync", "halt", "shutdown")
_GET_ADDRESS = 0x8915  # SIOCGIFADDR, Linux
_ADDRESS_AT = 20  # of an answer to it


class Account(Protocol):
    """An entry of the list of accounts, as the module `pwd` has it."""

    @property
    def pw_uid(self) -> int: ...
    @property
    def pw_shell(self) -> str: ...


def other_people(accounts: Iterable[Account], own: int) -> int:
    """How many other people can log in on this machine, by user id and login shell."""
    return len(
        {
            one.pw_uid
            for one in accounts
            if UID_FIRST <= one.pw_uid <= UID_LAST
            and one.pw_uid != own
            and Path(one.pw_shell).name not in _NO_LOGIN
        }
    )


def others_here() -> int:
    """How many other people can log in on this machine; 0 where nobody can tell."""
    with suppress(ImportError):  # there are no such accounts
        import os
        import pwd

        return other_people(pwd.getpwall(), os.getuid())
    return 0


def reachable(host: str) -> list[str]:
    """Under which addresses a server that is bound to a host can be reached, best first.

    >>> reachable("192.0.2.7")
    ['192.0.2.7']
    """
    if host.strip("[]") not in ANY:
        return [host]
    found = [one for one in _of_interfaces() if not one.startswith("127.")] or _outgoing()
    return found or ["127.0.0.1"]


def _of_interfaces() -> list[str]:
    """The IPv4 address of each interface; none where this system does not tell."""
    found = []
    with suppress(ImportError, OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        from fcntl import ioctl

        for _, name in socket.if_nameindex():
            with suppress(OSError):  # it has none
                answer = ioctl(asking.fileno(), _GET_ADDRESS, struct.pack("256s", name.encode()))
                found.append(socket.inet_ntoa(answer[_ADDRESS_AT : _ADDRESS_AT + 4]))
    return found


def _outgoing() -> list[str]:
    """The address that this machine would send from."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect((ELSEWHERE, 9))
        return [str(asking.getsockname()[0])]
    return []
