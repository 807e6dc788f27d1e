"""Lessons and memory on the page: what became of proposals, and what digests were made of."""

import re
from pathlib import Path
from typing import Any

import pytest

from adapters.documents.lessons import lesson_items, lesson_lines, reason_id
from adapters.runtime import review
from adapters.wiring import Home
from domain.text import fold
from tests.support.cli import done, proved, told
from tests.support.lessons import WORK, declining, proposed, reject_as_before, with_categories
from tests.support.pages import Visitor, text_of, visiting
from tests.support.remembering import remembering
from tests.support.waking import agent

TASK = "Fix the sink"
BECAUSE = "<b>a guess</b> & more"
NUMBER = re.compile(r'href="(/lessons[?][^"]*)">([0-9]+)<')


def numbers(page: str) -> list[tuple[str, int]]:
    """Where the numbers of a page lead, and what they are."""
    return [(to.replace("&amp;", "&"), int(number)) for to, number in NUMBER.findall(page)]


def behind(visitor: Visitor, address: str) -> list[Any]:
    path, _, query = address.partition("?")
    found: list[Any] = visitor.get(f"{path}.json?{query}").json()["items"]
    return found


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


@pytest.mark.slow
def test_lessons_are_learnt_and_each_number_leads_to_its_items(tmp_path: Path) -> None:
    agent(tmp_path, TASK, "--template", "laura")
    done(["wake"], tmp_path)
    (template,) = told(["template", "list"], tmp_path)
    (wake,) = told(["wakes"], tmp_path)
    (made,) = told(["inbox"], tmp_path)
    refs = {one["tool"]: one["ref"] for one in made["items"]}
    numbered = {tool: int(ref.partition(".")[2]) for tool, ref in refs.items()}
    first, second, third = sorted(numbered)[:3]
    reject_as_before(tmp_path, numbered[first], reason=BECAUSE)
    with visiting(tmp_path) as visitor:
        page = visitor.page("/lessons")
        assert "No lessons yet" not in page
        assert "1 wake ended" in text_of(page)
        learn = visitor.form("/lessons", "/lessons/learn")
        assert "2 lessons learnt" in text_of(visitor.send(learn).text)
        assert "0 lessons learnt" in text_of(visitor.send(learn).text)
        done(["reject", refs[second], "--reason", "No"], tmp_path)
        done(["defer", refs[third]], tmp_path)
        page, lines = visitor.page("/lessons"), visitor.json("/lessons")["lessons"]
        assert lines == told(["lessons"], tmp_path)
        assert BECAUSE not in page
        assert "&lt;b&gt;a guess" in page
        leading = numbers(page)
        assert len(leading) == 2 * (3 + 2)  # verdicts and reasons, of a category and a template
        for address, number in leading:
            assert len(behind(visitor, address)) == number
            assert f'href="/wakes/{wake["run_key"]}"' in visitor.page(address)
        whole = f"/lessons?scope={lines[0]['scope']}&tool={first}"
        (one,) = behind(visitor, whole)
        assert (one["verdict"], one["reason"], one["task_title"]) == ("rejected", BECAUSE, TASK)
        assert behind(visitor, f"{whole}&verdict=confirmed") == []
        assert visitor.get("/lessons?scope=category:none").status_code == 404
        for skipped in ("9999", "9" * 5_000, "-1"):
            assert visitor.get(f"/lessons?skip={skipped}").status_code == 200

        url = f"/templates/{template['id']}"
        assert numbers(visitor.page(url)) == leading[len(leading) // 2 :]
        rate = visitor.form(f"/wakes/{wake['run_key']}", f"/wakes/{wake['run_key']}/rate")
        assert visitor.send(rate, score="6").status_code == 422
        assert "Rated 4 of 5" in text_of(visitor.send(rate, score="4").text)
        assert 'aria-label="rated 4 of 5"' in visitor.page(f"/wakes/{wake['run_key']}")
        assert "1 rated, 4.0 of 5 on average" in text_of(visitor.page(url))
        shown = visitor.json(url)
        assert shown["ran"]["ratings"] == [{"run_key": wake["run_key"], "stars": 4}]
        assert shown["lessons"] == told(["lessons", "laura"], tmp_path)
        assert wake["run_key"] in visitor.page(f"/wakes?template={template['id']}")
        assert visitor.json("/wakes")["wakes"]
        assert visitor.get("/wakes.json?template=none").json()["wakes"] == []
    assert proved(tmp_path) > 0


@pytest.mark.slow
def test_a_rule_is_offered_in_the_inbox_made_on_the_page_and_taken_back_there(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    declining(home)
    with visiting(home) as visitor:
        inbox = visitor.page("/inbox")
        assert "Of 8 proposals to update task estimate in Garden you accepted 0" in text_of(inbox)
        assert "have none proposed" not in visitor.page("/inbox?show=decided")
        (page,) = re.findall('<a href="([^"]*)">have none proposed', inbox)
        form = visitor.form(page, "/lessons/rule")
        assert visitor.send(form, is_off="yes", csrf="no").status_code == 403
        for said in "Garden", "Garden already":  # sent twice it is one deed
            answer = visitor.send(form, is_off="yes").text
            assert f"Ruled out in {said}: update_task_estimate." in answer
        assert visitor.json("/lessons")["lessons"][0]["ruled_out"]
        assert "have none proposed" not in visitor.page("/inbox")
        again = visitor.form(page, "/lessons/rule")
        assert "you want none" in text_of(visitor.page(page))
        assert "No longer ruled out in Garden" in visitor.send(again, is_off="").text
        assert visitor.send(form, tool="x", is_off="", nonce="n" * 9).status_code == 422
        assert "Have none proposed" in visitor.page(page)
    assert proved(home) > 0


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
