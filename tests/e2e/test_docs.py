"""What README and docs show is what is said today; `make figures` writes it anew.

Each page is walked as it stands, by a shell, in a fresh folder; the site is built, strictly.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.support import reference
from tests.support.documented import PAGES, ROOT, RUN, blocks, redone
from tests.support.gallery import FRONT, front_data

pytestmark = pytest.mark.e2e

WALKED = [page for page in PAGES if any(one.language in RUN for one in blocks(page.read_text()))]
ADVICE = "`make figures` writes it anew; its diff is the review"


@pytest.mark.parametrize("page", WALKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_what_is_said_today(page: Path) -> None:
    text = page.read_text("utf-8")
    assert redone(text) == text, ADVICE


def test_the_picture_shows_the_inbox_of_today(tmp_path: Path) -> None:
    with Image.open(FRONT) as image:
        assert image.info["data"] == front_data(tmp_path / "home"), ADVICE


def test_the_site_is_built_and_a_dead_link_fails_it(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("reference")
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=ignored)
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    reference.write(tmp_path / "docs/reference")
    assert built(tmp_path).returncode == 0
    found = (tmp_path / "site/search.json").read_text("utf-8")
    assert all(one in found for one in ("wakelog retain", "throttle_seconds", "rejection_reasons"))
    page = (tmp_path / "site/index.html").read_text("utf-8")
    assert re.findall(r'(?:src|href)="https?://[^"]+\.(?:css|js|png|svg|woff2?)', page) == []
    with (tmp_path / "docs/ideas.md").open("a") as ideas:
        ideas.write("\n[nowhere](guide/tasks.md#nowhere)\n")
    assert "anchor does not exist" in built(tmp_path).stderr


def built(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--strict"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
