"""Agents, templates, categories and labels are edited on the page; without JavaScript."""

import re
from pathlib import Path

from tests.support.cli import done, proved, told
from tests.support.homes import Homes
from tests.support.pages import text_of, visiting
from tests.support.waking import proposing


def test_all_of_an_agent_a_template_and_the_catalog_is_edited(tmp_path: Path, homes: Homes) -> None:
    home = homes.copy(proposing, tmp_path)
    done(["template", "create", "Brief", "--general", "Be brief", "--report", "One"], home)
    done(["category", "add", "Garden"], home)
    done(["label", "add", "rain"], home)
    ((agent,), (template,)) = told(["agent", "list"], home), told(["template", "list"], home)
    done(["template", "assign", agent["id"], "Brief"], home)
    url, of = f"/agents/{agent['id']}", f"/templates/{template['id']}"
    with visiting(home) as visitor:
        assert 'href="' + of in visitor.page("/agents")  # the list says who lives on what
        form = visitor.form(url, f"{url}/set")
        slots = {"loops": "The seal", "preferences": "tone = brief\nunit=metre"}
        answer = visitor.send(form, None, name="Sink", turns="7", model="rules", **slots)
        assert answer.status_code == 200, text_of(answer.text)
        shown = told(["agent", "show", agent["id"]], home)
        assert (shown["name"], shown["config"]["turns"]) == ("Sink", 7)
        assert (shown["config"]["model"], shown["slots"]["open_loops"]["values"]) == (
            "rules",
            ["The seal"],
        )
        assert sorted(shown["slots"]["preferences"]) == ["tone", "unit"]
        again = visitor.form(url, f"{url}/set")
        wrong = visitor.send(again, turns="99", nonce="too-many-turns")
        assert (wrong.status_code, "use 1 to 20" in text_of(wrong.text)) == (422, True)
        wrong = visitor.send(again, preferences="brief", nonce="no-preference")
        assert (wrong.status_code, 'id="wrong-preferences"' in wrong.text) == (422, True)
        done(["agent", "set", agent["id"], "--name", "Basin"], home)
        clash = visitor.send(again, name="Tap", nonce="two-names")
        assert clash.status_code == 409
        assert "Basin" in clash.text
        assert 'value="Tap"' in clash.text
        (garden,) = [one for one in told(["category", "list"], home) if one["name"] == "Garden"]
        form = visitor.form(of, f"{of}/set")
        assert visitor.send(form, name="Short", category=garden["id"]).status_code == 200
        (template,) = told(["template", "list"], home)
        assert (template["name"], template["category_ids"]) == ("Short", [garden["id"]])
        late = visitor.send(form, name="Long", nonce="another-name")
        assert (late.status_code, "Short" in late.text) == (409, True)
        named = visitor.form("/catalog", f"/catalog/categories/{garden['id']}")
        assert visitor.send(named, name="Outdoors").status_code == 200
        assert visitor.send(named, name="Yard", nonce="name-it-again").status_code == 409
        correct = visitor.form("/catalog", f"/catalog/categories/{garden['id']}/correct")
        assert visitor.send(correct, before="mtg", after="meeting").status_code == 200
        (label,) = told(["label", "list"], home)
        delete = visitor.form("/catalog", f"/catalog/labels/{label['id']}/delete")
        assert visitor.send(delete).status_code == 422  # the box was not ticked
        assert visitor.send(delete, sure="yes").status_code == 200
        added = visitor.form("/catalog", "/catalog/labels")
        assert visitor.send(added, name="#sun", category=garden["id"]).status_code == 200
        (sun,) = visitor.json("/catalog")["labels"]
        assert sun["categories"] == ["Outdoors"]
        widen = visitor.form("/catalog", f"/catalog/labels/{sun['id']}/widen")
        assert visitor.send(widen).status_code == 200
        assert visitor.json("/catalog")["labels"][0]["categories"] == []
        assert "Offer in all" not in text_of(visitor.page("/catalog"))
        visitor.send(visitor.form(of, f"{of}/set"), model="gemini", nonce="another-model")
        assert "1 agent needs your consent" in text_of(visitor.page(url))  # before a wake waits
        assert visitor.form(url, "/policy/allow").has("model", "gemini:*")
        shown = text_of(visitor.page(f"{of}/preview?agent={agent['id']}"))
        assert "It would not be asked now: nobody has agreed yet" in shown
    assert [one["name"] for one in told(["label", "list"], home)] == ["sun"]
    proved(home)


def test_a_template_is_set_by_command_and_its_model_and_categories_are_emptied(
    tmp_path: Path, homes: Homes
) -> None:
    home = homes.copy(proposing, tmp_path)
    done(["template", "create", "Brief", "--general", "Be brief", "--report", "One"], home)
    done(["category", "add", "Garden"], home)
    change = ["template", "set", "Brief", "--name", "Calm", "--model", "rules"]
    done([*change, "--category", "Garden"], home)
    (template,) = told(["template", "list"], home)
    assert (template["name"], template["model"]) == ("Calm", "rules")
    assert len(template["category_ids"]) == 1
    done(["template", "set", "Calm", "--model", "none", "--category", "none"], home)
    (template,) = told(["template", "list"], home)
    assert (template["model"], template["category_ids"]) == (None, [])
    proved(home)


def test_the_reports_are_kept_compared_and_told_what_they_rest_on(
    tmp_path: Path, homes: Homes
) -> None:
    home = homes.copy(proposing, tmp_path)
    (agent,) = told(["agent", "list"], home)
    url = f"/agents/{agent['id']}"
    with visiting(home) as visitor:
        visitor.send(visitor.form(url, f"{url}/ask"), words="What is left?")
        done(["task", "note", "Fix the sink", "Due on 2027-03-01. Need to buy a seal."], home)
        done(["wake", agent["id"]], home)
        page = visitor.json(f"{url}/reports")
        assert len(page["reports"]) >= 2
        assert {"added", "removed"} & {kind for kind, _ in page["differences"]}
        html = visitor.page(f"{url}/reports")
        assert "<ins>" in html or "<del>" in html
        assert page["sources"][0]["quote"] in text_of(html)
        assert "A report quotes nothing by itself" in text_of(html)
        assert "What is left?" in visitor.page(url).split('id="chat"')[1].split("</section>")[0]
        oldest = page["reports"][-1]["run_key"]
        assert (
            visitor.json(f"{url}/reports") != visitor.get(f"{url}/reports.json?of={oldest}").json()
        )
        assert visitor.get(f"{url}/reports?of=none").status_code == 404


def test_versions_are_compared_and_a_question_is_seen_before_it_is_asked(
    tmp_path: Path, homes: Homes
) -> None:
    home = homes.copy(proposing, tmp_path)
    done(["template", "create", "Brief", "--general", "Be brief", "--report", "One"], home)
    done(["template", "version", "Brief", "--general", "Be kind"], home)
    ((agent,), (one,)) = told(["agent", "list"], home), told(["template", "list"], home)
    url = f"/templates/{one['id']}"
    with visiting(home) as visitor:
        found = visitor.json(f"{url}/diff")
        assert (found["with"], found["of"]) == (1, 2)
        assert found["general"] == [["both", "Be "], ["removed", "brief"], ["added", "kind"]]
        assert "Both say the same" in visitor.page(f"{url}/diff")
        assert visitor.get(f"{url}/diff?of=9").status_code == 404
        before = re.findall(r'data-tail="\w+-(\d+-\d+)', visitor.page(url))
        page = visitor.page(f"{url}/preview?agent={agent['id']}")
        assert "Be kind" in page
        assert visitor.get(f"{url}/preview").status_code == 422
        assert visitor.get(f"{url}/preview?agent=nobody-at-all").status_code == 404
        assert (
            re.findall(r'data-tail="\w+-(\d+-\d+)', visitor.page(url)) == before
        )  # nothing was written
    assert told(["agent", "show", agent["id"]], home)["template_id"] is None
    proved(home)


def test_what_a_form_of_templates_and_the_catalog_got_wrong_stands_at_its_field(
    tmp_path: Path, homes: Homes
) -> None:
    home = homes.copy(proposing, tmp_path)
    done(["template", "create", "Brief"], home)
    done(["category", "add", "Garden"], home)
    done(["category", "add", "House"], home)
    (template,) = told(["template", "list"], home)
    of, long = f"/templates/{template['id']}", "x" * 200_000
    (garden,) = [one["id"] for one in told(["category", "list"], home) if one["name"] == "Garden"]
    at = f"/catalog/categories/{garden}"
    texts = {"general": "", "report": ""}
    cases = [  # page, form, the field that is wrong, what is typed
        ("/catalog", "/catalog/categories", "name", {"name": " "}),
        ("/catalog", "/catalog/categories", "language", {"name": "Hall", "language": "klingon!"}),
        ("/catalog", at, "name", {"name": "n" * 999}),
        ("/catalog", at, "name", {"name": "House"}),
        ("/catalog", f"{at}/correct", "after", {"before": "same", "after": "same"}),
        ("/catalog", "/catalog/labels", "name", {"name": "#"}),
        ("/templates", "/templates", "name", {"name": "n" * 999}),
        ("/templates", "/templates", "report", {"name": "Long", "report": long}),
        ("/templates", "/templates", "model", {"name": "Odd", "model": "m" * 999}),
        (of, f"{of}/set", "name", {"name": "n" * 999}),
        (of, f"{of}/set", "model", {"model": "m" * 999}),
        (of, f"{of}/version", "general", {"general": long}),
        (of, f"{of}/assign", "agent", {"agent": "nobody of that name"}),
    ]
    with visiting(home) as visitor:
        for page, action, field, typed in cases:
            answer = visitor.send(visitor.form(page, action), None, **{**texts, **typed})
            where = (action, field, text_of(answer.text.partition("told is-")[2])[:200])
            assert answer.status_code in (404, 422), where
            assert answer.text.count(f'aria-describedby="wrong-{field}"') == 1, where
            assert answer.text.count("aria-invalid") == 1, where
            marked = answer.text.split('aria-invalid="true"')[0]
            assert marked.rpartition("<form ")[2].partition(f'action="{action}"')[1], where
            assert typed[field].strip() in answer.text, where  # it is given back
            folded = marked.rpartition("<details")
            if "</details>" not in folded[2]:
                assert " open>" in folded[2].partition("<summary")[0], where
    proved(home)
