"""The golden files: what was said, written down and compared. `make golden` writes them anew.

- ``help.txt``: the help of every command and group;
- ``outputs.txt``: what the demo home says to commands, word for word where it is not long;
- ``pages/``: one page of each kind, whole;
- ``digests.txt``: all else, and all pages, a line each with the beginning of its SHA-256.

`python -m tests.golden.files FOLDER` writes every output whole, a file each: two revisions differ
in what `diff -r` of their folders says.
"""

import difflib
import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

from tests.golden.homes import HOMES, READABLE
from tests.golden.outputs import Asker, Output, fixed, helped

FOLDER = Path(__file__).parent
HELP, OUTPUTS, DIGESTS, PAGES = "help.txt", "outputs.txt", "digests.txt", "pages"
MARK = "######## "
LONG = 5_000  # characters of an output; of a longer one the digest is kept
DIGITS = 16  # of a digest: 64 bits
SHOWN_LINES = 25
SHOWN_WIDTH = 160
ADVICE = "If that is what you want: `make golden` writes them anew, and its diff is the review."

Ask = Callable[[Path], Iterable[Output]]


def parts() -> dict[str, Ask]:
    """All that is asked, in parts that tests can share; each is given an empty folder."""
    found: dict[str, Ask] = {"help": lambda _: helped()}
    for name in HOMES:
        found[f"{name} commands"] = partial(_asked, name, Asker.commands)
        found[f"{name} pages"] = partial(_asked, name, Asker.pages)
    found[f"{READABLE} others"] = partial(_asked, READABLE, Asker.others)
    return found


def _asked(name: str, ask: Callable[[Asker], Iterator[Output]], folder: Path) -> Iterator[Output]:
    return ask(Asker(name, folder))


def said(part: str, folder: Path) -> list[Output]:
    """All outputs of a part; no two are asked by the same words."""
    home = HOMES.get(part.partition(" ")[0])
    with fixed(folder, home.now if home else ""):
        outputs = list(parts()[part](folder))
    seen: dict[str, int] = {}
    for nth, one in enumerate(outputs):  # what is asked again, later on
        seen[one.asked] = seen.get(one.asked, 0) + 1
        if seen[one.asked] > 1:
            outputs[nth] = one._replace(asked=f"{one.asked} (time {seen[one.asked]})")
    return outputs


# ------------------------------------------------------------------------------------- as files


def texts(part: str, outputs: Iterable[Output]) -> dict[str, str]:
    """What is kept of a part, by file; of `DIGESTS` and `OUTPUTS` only what is the part's."""
    home, _, what = part.partition(" ")
    found: dict[str, str] = {}
    for one in outputs:
        assert f"\n{MARK}" not in one.text
        if part == "help":
            found[HELP] = found.get(HELP, "") + f"{MARK}{one.asked}\n{one.text}"
        elif home == READABLE and what != "pages":
            text = one.text if len(one.text) <= LONG else f"({_digest(one.text)})\n"
            found[OUTPUTS] = found.get(OUTPUTS, "") + f"{MARK}{one.asked}\n{text}"
        else:
            found[DIGESTS] = found.get(DIGESTS, "") + f"{_digest(one.text)}  {one.asked}\n"
        if home == READABLE and one.page:
            found[f"{PAGES}/{one.page}.html"] = one.text.partition("\n")[2]
    return found


def _digest(text: str) -> str:
    data = text.encode()
    return f"{hashlib.sha256(data).hexdigest()[:DIGITS]} {len(data):7} bytes"


def write() -> Iterator[str]:
    """Write all files anew; says what each part took."""
    kept: dict[str, str] = {}
    for part in parts():
        with tempfile.TemporaryDirectory() as folder:
            outputs = said(part, Path(folder))
        for file, text in texts(part, outputs).items():
            kept[file] = kept.get(file, "") + (_section(part, text) if _is_shared(file) else text)
        yield f"{part}: {len(outputs)} outputs"
    shutil.rmtree(FOLDER / PAGES, ignore_errors=True)
    (FOLDER / PAGES).mkdir()
    for file, text in kept.items():
        (FOLDER / file).write_text(text, encoding="utf-8", newline="\n")
    yield f"{sum(len(text.encode()) for text in kept.values()):,} bytes in {len(kept)} files"


def _is_shared(file: str) -> bool:
    return file in {DIGESTS, OUTPUTS}


def _section(part: str, text: str) -> str:
    return f"{MARK}part: {part}\n{text}"


def kept(part: str) -> dict[str, str]:
    """What the files hold of a part."""
    home, _, what = part.partition(" ")
    files = [HELP] if part == "help" else [OUTPUTS, DIGESTS]
    found: dict[str, str] = {}
    for file in files:
        text = (FOLDER / file).read_bytes().decode()
        if _is_shared(file):
            pieces = re.split(rf"^{MARK}part: (.+)\n", text, flags=re.MULTILINE)
            text = dict(zip(pieces[1::2], pieces[2::2], strict=True)).get(part, "")
        if text:
            found[file] = text
    if home == READABLE and what == "pages":
        for page in sorted((FOLDER / PAGES).glob("*.html")):
            found[f"{PAGES}/{page.name}"] = page.read_bytes().decode()
    return found


# ------------------------------------------------------------------------------------ comparing


def differences(part: str, folder: Path) -> Iterator[str]:
    """Each output of a part that the files hold otherwise, with a diff where its text is kept."""
    now, then = texts(part, said(part, folder)), kept(part)
    for file in sorted({*now, *then}):
        was, new = _outputs(file, then.get(file, "")), _outputs(file, now.get(file, ""))
        for one in [*was, *(one for one in new if one not in was)]:
            if was.get(one) != new.get(one):
                yield _told(file, one, was.get(one), new.get(one))


def _outputs(file: str, text: str) -> dict[str, str]:
    """The outputs in a file's text, by what was asked."""
    if file == DIGESTS:
        lines = [line.partition(" bytes  ") for line in text.splitlines()]
        return {what: digest for digest, _, what in lines}
    if file.startswith(PAGES):
        return {"": text} if text else {}
    pieces = text.split(f"\n{MARK}") if text else []
    heads = [piece.removeprefix(MARK).partition("\n") for piece in pieces]
    return {what: rest for what, _, rest in heads}


def _told(file: str, asked: str, was: str | None, new: str | None) -> str:
    head = f"{file}: {asked}".removesuffix(": ")
    if was is None or new is None:
        return f"{head} is {'new' if was is None else 'no longer said'}"
    if file == DIGESTS:
        return f"{head}: {was} bytes was, {new} bytes is"
    lines = difflib.unified_diff(was.splitlines(), new.splitlines(), "was", "is", "", "", 1, "")
    shown = [line[:SHOWN_WIDTH] for line in lines]
    more = [f"... and {len(shown) - SHOWN_LINES} more lines"] if len(shown) > SHOWN_LINES else []
    return "\n    ".join([head, *shown[:SHOWN_LINES], *more])


def whole(into: Path) -> Iterator[str]:
    """Write every output whole, a file each."""
    for part in parts():
        with tempfile.TemporaryDirectory() as folder:
            for one in said(part, Path(folder)):
                name = re.sub(r"[^\w.=-]+", "_", one.asked).strip("_")[:150]
                file = into / part / f"{name}.{hashlib.sha256(one.asked.encode()).hexdigest()[:6]}"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"{one.asked}\n{one.text}", encoding="utf-8", newline="\n")
        yield part


def main() -> None:
    """Write the golden files, or with a folder every output into it."""
    told = whole(Path(sys.argv[1])) if len(sys.argv) > 1 else write()
    with patch.dict(sys.modules, {"keyring": None}):  # no key of the person's is looked for
        for line in told:
            sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
