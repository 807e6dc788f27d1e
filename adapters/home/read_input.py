"""Files that a person names, read whole: within a limit, and never waited for without end."""

import codecs
import os
import select
import stat
import sys
from pathlib import Path

from adapters.home.files import is_database
from domain.errors import Refused

STDIN = "-"
PIPE_SECONDS = 5.0
"""How long a pipe is waited for that nobody has opened to write to."""

SILENCE_SECONDS = 60.0
"""How long somebody is waited for who has a pipe open and writes nothing: `<(command)`."""

_CHUNK_BYTES = 1 << 20


class UnreadableInput(Exception):
    """Why a file cannot be read, and what to do."""

    def __init__(self, because: str, instead: str) -> None:
        super().__init__(f"{because}; {instead}")
        self.because = because
        self.instead = instead


def read_input(file: str, bytes_max: int) -> bytes:
    """The bytes of a file, or of standard input (``-``). Raises Refused, code ``unreadable_file``,
    see `read_input_bytes`."""
    try:
        return read_input_bytes(file, bytes_max)
    except UnreadableInput as error:
        because = f"{file} cannot be read: {error.because}"
        raise Refused("unreadable_file", because=because, instead=error.instead) from None


def read_input_bytes(file: str, bytes_max: int) -> bytes:
    """The bytes of a file, or of standard input (``-``); the message does not name it. Raises
    Unreadable: it is not there, is a folder, a device, a socket or a pipe that nobody writes to, or
    is larger than `bytes_max`."""
    try:
        data = sys.stdin.buffer.read(bytes_max + 1) if file == STDIN else _read(file, bytes_max)
    except FileNotFoundError:
        raise UnreadableInput("there is no such file", "check its name") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in its name
        told = error.strerror if isinstance(error, OSError) else "its name is none"
        raise UnreadableInput(f"it cannot be read ({told})", "check its permissions") from None
    if len(data) > bytes_max:
        raise UnreadableInput(f"it is larger than {bytes_max:,} bytes", "part it into several")
    return data


def as_utf8(data: bytes) -> tuple[bytes, bool]:
    """The bytes of a text as UTF-8, and whether they were UTF-16, which its first two bytes say.
    Raises Unreadable: it is broken UTF-16."""
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data, False
    try:
        return data.decode("utf-16").encode(), True
    except UnicodeError:
        raise UnreadableInput("it is broken UTF-16", "save it as UTF-8 text") from None


def text_as_utf8(data: bytes) -> tuple[bytes, bool]:
    """The same as `as_utf8`, of what must be a text. Raises Unreadable: it is none."""
    data, is_utf16 = as_utf8(data)
    if b"\0" in data[:8192]:
        raise UnreadableInput("it is no text", "save it as UTF-8 text")
    return data, is_utf16


def _read(file: str, bytes_max: int) -> bytes:
    if is_database(file):
        raise UnreadableInput("it is a database of a home, and nothing else", "name another file")
    mode = Path(file).stat().st_mode
    if stat.S_ISDIR(mode):
        raise UnreadableInput("it is a folder", "name the files in it")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        what = "socket" if stat.S_ISSOCK(mode) else "device"
        raise UnreadableInput(f"it is a {what}", "name a file, or `-` for standard input")
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        parts, left = [], bytes_max + 1
        while part := _next_chunk(descriptor, min(left, _CHUNK_BYTES), is_pipe=stat.S_ISFIFO(mode)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _next_chunk(descriptor: int, size: int, *, is_pipe: bool) -> bytes:
    """The next bytes; none at the end, or if none are wanted."""
    if not is_pipe or not size:
        return os.read(descriptor, size)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    is_ready = poll.poll(PIPE_SECONDS * 1000)
    try:
        part = os.read(descriptor, size)
    except BlockingIOError:  # somebody has it open
        if not poll.poll(SILENCE_SECONDS * 1000):
            because = f"nothing was written to it for {SILENCE_SECONDS:.0f} seconds"
            raise UnreadableInput(because, "write to a file first, and name that") from None
        return os.read(descriptor, size)
    if not part and not is_ready:
        raise UnreadableInput("it is a pipe that nobody writes to", "name a file, or write to it")
    return part
