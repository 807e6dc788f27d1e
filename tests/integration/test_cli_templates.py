"""Templates on the command line: versions, rollback, assignment, provenance on wakes (SPEC 8)."""

from pathlib import Path

from tests.support.cli import done, proved, refused, told


def home_with_agent(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    done(["task", "add", "Fix the tap"], home)
    done(["agent", "create", "--task", "Fix the tap"], home)
    return home


def test_the_built_in_templates_are_listed_before_they_are_used(tmp_path: Path) -> None:
    home = tmp_path / "home"
    text = done(["template", "list"], home)
    assert "laura" in text
    assert "tom" in text
    assert told(["template", "list"], home) == []
    assert "How to report" in done(["template", "show", "tom"], home)
    assert not home.exists()


def test_a_wake_runs_on_the_active_version_and_records_it(tmp_path: Path) -> None:
    home = home_with_agent(tmp_path)
    done(["wake"], home)
    done(["template", "assign", "Fix the tap", "tom"], home)
    wake = told(["wake", "Fix the tap"], home)
    assert wake["template_version"] == 1
    shown = done(["show", wake["run_key"], "--prompt"], home)
    assert "terse project lead" in shown
    done(["template", "version", "tom", "--general", "Be brief."], home)
    second = told(["wake", "Fix the tap"], home)
    assert second["template_version"] == 2
    prompt = done(["show", second["run_key"], "--prompt"], home)
    assert "Be brief." in prompt
    assert "ten seconds" in prompt, "the report directive stays as it was"
    done(["template", "rollback", "tom", "1"], home)
    assert told(["wake", "Fix the tap"], home)["template_version"] == 1
    done(["template", "assign", "Fix the tap", "built-in"], home)
    assert told(["wake", "Fix the tap"], home)["template_version"] in (0, None)
    proved(home)


def test_a_version_counts_on_after_a_rollback(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["template", "create", "Calm", "--general", "one"], home)
    done(["template", "version", "Calm", "--general", "two"], home)
    done(["template", "rollback", "Calm", "1"], home)
    shown = told(["template", "version", "Calm", "--general", "three"], home)
    assert [(one["version"], one["active"]) for one in shown["versions"]] == [
        (1, False),
        (2, False),
        (3, True),
    ]
    line = refused(["template", "rollback", "Calm", "9"], home)
    assert "no version 9" in line
    proved(home)


def test_a_template_is_not_deleted_under_a_living_agent(tmp_path: Path) -> None:
    home = home_with_agent(tmp_path)
    done(["template", "assign", "Fix the tap", "laura"], home)
    assert "1 agent(s) live on" in refused(["template", "delete", "Laura"], home)
    done(["agent", "destroy", "Fix the tap"], home)
    done(["template", "delete", "Laura"], home)
    assert told(["template", "list"], home) == []
    proved(home)


def test_new_agents_of_a_category_take_its_template(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done(["category", "add", "Work"], home)
    done(["template", "create", "Calm", "--report", "Two lines.", "--category", "Work"], home)
    done(["task", "add", "Write", "--category", "Work"], home)
    done(["task", "add", "Rest"], home)
    done(["agent", "create", "--all"], home)
    (template,) = told(["template", "list"], home)
    found = {one["name"]: one["template_id"] for one in told(["agent", "list"], home)}
    assert found["Write"] == template["id"]
    assert not found["Rest"]
    assert len(template["agents"]) == 1
    proved(home)


def test_the_versions_model_goes_before_the_templates_and_the_agents(tmp_path: Path) -> None:
    home = home_with_agent(tmp_path)
    tape = tmp_path / "replies.jsonl"
    tape.write_text('{"text":"nothing","calls":[]}\n' * 4)
    done(["template", "create", "Played", "--model", f"tape:{tape}"], home)
    done(["template", "assign", "Fix the tap", "Played"], home)
    assert told(["wake", "Fix the tap"], home)["model"] == f"tape:{tape}"
    done(["template", "version", "Played", "--general", "x", "--model", "rules"], home)
    assert told(["wake", "Fix the tap"], home)["model"] == "rules"
    proved(home)


def test_a_key_protects_what_is_made(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = told(["template", "create", "Calm", "--key", "k"], home)
    rows = proved(home)
    assert told(["template", "create", "Calm", "--key", "k"], home)["id"] == first["id"]
    assert proved(home) == rows
