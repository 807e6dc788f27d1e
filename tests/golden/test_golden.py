"""Nothing that a command or a page says has changed: see README.md in this folder."""

import re
from pathlib import Path

import pytest

from tests.golden import files
from tests.golden.asked import LEFT_OUT
from tests.support.gallery import unseen

PARTS = sorted(files.parts(), key=lambda part: "demo " not in part)  # the longest first
SHOWN_MAX = 12


@pytest.mark.parametrize("part", PARTS)
def test_every_output_is_what_it_was(part: str, tmp_path: Path) -> None:
    found = list(files.differences(part, tmp_path))
    more = f"\n\n... and {len(found) - SHOWN_MAX} more" if len(found) > SHOWN_MAX else ""
    told = "\n\n".join(found[:SHOWN_MAX])
    assert not found, f"{len(found)} outputs differ.\n\n{told}{more}\n\n{files.ADVICE}"


def test_every_kind_of_page_is_among_them() -> None:
    addresses = re.findall(r"  GET (.+)$", _text(files.DIGESTS), re.MULTILINE)
    assert unseen(addresses) == []


def test_every_command_is_among_them() -> None:
    helped = re.findall(r"\$ wakelog (.+) --help$", _text(files.HELP), re.MULTILINE)
    groups = {one.rpartition(" ")[0] for one in helped}
    text = _text(files.OUTPUTS) + _text(files.DIGESTS)
    lines = re.findall(r"\$ wakelog (?:--json )?(.+)$", text, re.MULTILINE)
    asked = {one for one in helped for line in lines if f"{line} ".startswith(f"{one} ")}
    assert set(helped) - groups - asked == LEFT_OUT.keys()


def _text(file: str) -> str:
    return (files.FOLDER / file).read_text(encoding="utf-8")
