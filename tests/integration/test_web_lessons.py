"""Lessons and memory on the page: what became of proposals, and what digests were made of."""

from pathlib import Path

from adapters.documents.lessons import lesson_items, lesson_lines, reason_id
from adapters.runtime import review
from adapters.wiring import Home
from domain.text import fold
from tests.support.cli import told
from tests.support.lessons import WORK, proposed, with_categories
from tests.support.pages import text_of, visiting
from tests.support.remembering import remembering
from tests.support.waking import agent

TASK = "Fix the sink"


def test_the_number_of_a_reason_counts_those_that_were_declined_for_it() -> None:
    at = with_categories()
    sets = [proposed(at, WORK, f"Call {nth}") for nth in range(4)]
    for made, reason in zip(sets, ("a guess", "A  guess", "not now", ""), strict=True):
        review.reject(at, made, 1, reason)
    home = Home.in_memory(at)
    home.views.catch_up()
    (line,) = lesson_lines(home)
    assert (line.rejected, sum(one.count for one in line.reasons)) == (4, 3)
    for one in line.reasons:
        known = lesson_items(home, line.scope, line.tool, "rejected", reason_id(one.text))
        assert len(known) == one.count
        assert {fold(item.reason or "") for item in known} == {fold(one.text)}
    assert len(lesson_items(home, line.scope, line.tool)) == 4


def test_what_an_agent_remembers_is_shown_and_each_digest_opens_its_sources(
    tmp_path: Path,
) -> None:
    made = remembering(tmp_path, TASK, more=" <i>twice</i>")
    other = agent(tmp_path, "Paint the door")
    document = told(["memory", made], tmp_path)
    (digest,) = document["digests"]
    url = f"/agents/{made}/memory/{digest['id']}"
    with visiting(tmp_path) as visitor:
        page, shown = visitor.page(f"/agents/{made}"), visitor.json(f"/agents/{made}")["memory"]
        assert shown == {
            "noted": 60,
            "uncovered": len(document["uncovered"]),
            "digests": [digest],
            "critical": document["critical"][::-1],
        }
        assert "60 notes: 20 in 1 summary, 40 newer ones in none." in text_of(page)
        assert f'href="{url}"' in page
        assert visitor.json(url) == told(["memory", made, "--sources", digest["id"]], tmp_path)
        page = visitor.page(url)
        assert "&lt;i&gt;twice" in page
        assert "<i>" not in page
        assert page.split("What it was made of")[1].count("<li>") == 20
        assert page.count("/wakes/") == 1, "one wake noted all of them: it is named once"
        assert "What it remembers" not in visitor.page(f"/agents/{other}")
        for path in (url.replace(made, other), url[:-20], f"/agents/{made}/memory/none"):
            assert visitor.get(path).status_code == 404
