"""What a proof remembers, in the cache folder of the person: what was proved, when, by which code.

The file is a convenience and no truth (ADR 60): whoever can write it can say anything in it. So
it is for its owner alone, and without it everything is executed again.
"""

import hashlib
import os
import stat
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import adapters
import domain
import replay
from adapters.home import installation
from adapters.home.files import cache_folder, replace_file
from domain.errors import Refused
from domain.keys import key
from domain.rules import RULES
from replay.sides import Left

FORMAT = 1
OTHERS_MAY_WRITE = 0o022
CODE = ("home", "models", "proof", "store", "timetravel")  # of the adapters: what a proof runs


class LogProved(Struct, frozen=True):
    """A log as far as it was proved: rows and its last append's `n`, the digest of its rows in
    their order, and the payloads that were kept then, with theirs."""

    n: int
    rows: int
    order: str
    payloads: int
    payloads_digest: str


class Remembered(Struct, frozen=True):
    """A proof that found nothing. `check` is made of all the rest: a file that was damaged or
    edited by hand is none."""

    format: int
    home: str
    installation: str
    code: str
    rules: int
    at: str
    journal: LogProved
    agents: LogProved
    left: Left
    digest: str
    folded: int
    undecoded: int
    check: str = ""


class Void(Exception):
    """Why nothing is remembered, or what is remembered does not count."""


def path_of(home: Path, environ: Mapping[str, str]) -> Path:
    """Where the proof of a home is remembered: a file for each folder and installation.

    Raises:
        Void: There is no place for it.
    """
    try:
        folder = cache_folder(environ)
    except Refused as refused:
        raise Void(refused.because) from None
    name = key("remembered proof", *_whose(home))
    return folder / "proofs" / f"{name}.json"


def _whose(home: Path) -> tuple[str, str]:
    known = installation.kept(home)
    return os.path.realpath(home), known.id if known else ""


def read(path: Path, home: Path) -> Remembered:
    """What was remembered of a home.

    Raises:
        Void: Nothing, or not of this home or this code; with what there is to tell.
    """
    try:
        found = path.stat()
        is_own = found.st_uid == os.geteuid() and not found.st_mode & OTHERS_MAY_WRITE
        if not stat.S_ISREG(found.st_mode) or not is_own:
            raise Void(f"{path} is not a file that you alone can write")
        known = msgspec.json.decode(path.read_bytes(), type=Remembered)
    except FileNotFoundError:
        raise Void("nothing is remembered of this home yet") from None
    except OSError as error:
        raise Void(f"{path} cannot be read ({error.strerror or error})") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Void(f"{path} is damaged") from None
    if known.format != FORMAT or _checked(known).check != known.check:
        raise Void(f"{path} is damaged")
    if (known.home, known.installation) != _whose(home):
        raise Void(f"{path} is of another home")
    if (known.rules, known.code) != (RULES, code()):
        raise Void("what is remembered was proved by other code")
    return known


def write(path: Path, made: Remembered) -> None:
    """Keep a proof, whole or not at all.

    Raises:
        Void: It cannot be kept.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, msgspec.json.encode(_checked(made)).decode())
    except OSError as error:
        raise Void(f"{path} cannot be written ({error.strerror or error})") from None


def forget(path: Path) -> None:
    """Keep nothing of a home that did not prove."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def made(home: Path, proof: Remembered) -> Remembered:
    """A proof of a home, to be kept."""
    whose, installed = _whose(home)
    return replace(proof, home=whose, installation=installed, code=code())


def _checked(known: Remembered) -> Remembered:
    bare = msgspec.json.encode(replace(known, check=""))
    return replace(known, check=hashlib.sha256(bare).hexdigest())


@cache
def code() -> str:
    """A digest of the code that a proof runs, and of what it runs on: as it was when this process
    asked first, for files may be replaced under it."""
    digest = hashlib.sha256()
    digest.update(f"{sys.version} {msgspec.__version__} {unicodedata.unidata_version}".encode())
    for path in _files():
        digest.update(f"\n{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    roots = [Path(str(one.__file__)).parent for one in (domain, replay)]
    roots += [Path(str(adapters.__file__)).parent / name for name in CODE]
    for root in roots:
        yield from sorted(one for one in root.rglob("*") if _is_code(one))


def _is_code(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts
