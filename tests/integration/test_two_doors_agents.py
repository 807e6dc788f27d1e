"""What is done to agents through both doors: the page's own form and the command line, given the
same key, write the same rows and answer alike."""

import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.cli import done, proved, run, told
from tests.support.homes import Homes, Make
from tests.support.lessons import declining, reject_as_before
from tests.support.pages import visiting
from tests.support.waking import agent, at, proposing, sink

pytestmark = pytest.mark.slow  # each of them is quick, all together take seven seconds

FRACTION = re.compile(r"(?<=T[0-9]{2}:[0-9]{2}:[0-9]{2})\.[0-9]{6}(?=Z)")


class Deed(NamedTuple):
    """One deed as both doors know it. `{task}`, `{agent}` and `{template}` stand for the ids of
    the first ones of the home, `{timer}` and `{heard}` for those of the agent's page."""

    name: str
    make: Make
    page: str
    action: str
    command: str  # words, separated by |
    fields: Mapping[str, str] = {}
    holding: Mapping[str, str] = {}  # what the page's form is known by
    at: str = "2027-01-01T09:00:00Z"
    key: str = "--key"  # the option of the caller's key; empty: the deed has its own


def category_with_template(home: Path) -> None:
    done(["category", "add", "Plumbing"], home)
    done(["template", "create", "Calm", "--general", "Be calm.", "--category", "Plumbing"], home)
    task = sink(home)
    done(["task", "set", task, "--category", "Plumbing"], home)


def queued(home: Path) -> None:
    """A wake is to come of a change."""
    proposing(home)
    done(["task", "note", "Fix the sink", "Thank you."], home)


def template_without_key(home: Path) -> None:
    """The template's model cannot be had, the home's can."""
    proposing(home)
    done(["template", "create", "Far", "--general", "Be.", "--model", "gemini"], home)
    done(["template", "assign", "Fix the sink", "Far"], home)


def template_with_rules(home: Path) -> None:
    """The agent's own model cannot be had, its template's can."""
    proposing(home)
    done(["agent", "set", "Fix the sink", "--model", "gemini"], home)
    done(["template", "create", "Near", "--general", "Be.", "--model", "rules"], home)
    done(["template", "assign", "Fix the sink", "Near"], home)


def expiring(home: Path) -> None:
    (home / "settings.toml").write_text("[agents]\nexpire_after_days = 2\n", encoding="utf-8")
    proposing(home)


def timed(home: Path) -> None:
    proposing(home)
    done(["agent", "timer", "Fix the sink", "set", "every day 07:00"], home)


def paints(home: Path) -> None:
    proposing(home)
    done(["task", "add", "Paint"], home)


def listening(home: Path) -> None:
    paints(home)
    done(["agent", "watch", "Fix the sink", "--task", "Paint"], home)


def paused(home: Path) -> None:
    proposing(home)
    done(["agent", "pause", "Fix the sink"], home)


def destroyed(home: Path) -> None:
    proposing(home)
    done(["agent", "destroy", "Fix the sink"], home)


def template(home: Path) -> None:
    proposing(home)
    done(["template", "create", "Calm", "--general", "Be calm.", "--report", "Be brief."], home)
    done(["task", "note", "Fix the sink", "Thank you."], home)  # which no agent has heard of


def versions(home: Path) -> None:
    template(home)
    done(["template", "version", "Calm", "--general", "Be calmer."], home)


def living(home: Path) -> None:
    template(home)
    done(["template", "assign", "Fix the sink", "Calm"], home)


def allowed(home: Path) -> None:
    proposing(home)
    done(["policy", "allow", "gemini"], home)


def ruled(home: Path) -> None:
    allowed(home)
    done(["policy", "models", "Inbox", "rules"], home)


def templated(home: Path) -> None:
    """An agent on a template whose wake has ended."""
    agent(home, "Fix the sink", "--template", "laura")
    done(["wake"], home)


def decided_before(home: Path) -> None:
    """Verdicts of which nothing was learnt."""
    templated(home)
    reject_as_before(home, 1, 2)


def life(verb: str, make: Make) -> Deed:
    fields = {"verb": verb, "sure": "yes"}
    command = f"agent|{verb}|{{agent}}"
    return Deed(verb, make, AGENT, f"{AGENT}/life", command, fields, {"verb": verb})


AGENT = "/agents/{agent}"
TEMPLATE = "/templates/{template}"
SAID = {"general": "Be bold.", "report": "Two lines."}
ASK = {"words": "What is left?"}
LATER = "2027-01-05T09:00:00Z"
DEEDS = (
    Deed("make an agent", sink, "/tasks/{task}", "/tasks/{task}/assign",
         "agent|create|{task}"),
    Deed("make an agent of a category with a template", category_with_template, "/tasks/{task}",
         "/tasks/{task}/assign", "agent|create|{task}"),
    Deed("wake", proposing, AGENT, f"{AGENT}/wake", "wake|{agent}"),
    Deed("wake where a proposal is old", expiring, AGENT, f"{AGENT}/wake", "wake|{agent}",
         at=LATER),
    Deed("wake where the template's model cannot be had", template_without_key, AGENT,
         f"{AGENT}/wake", "wake|{agent}"),
    Deed("wake where the template's model can be had", template_with_rules, AGENT,
         f"{AGENT}/wake", "wake|{agent}"),
    Deed("ask", proposing, AGENT, f"{AGENT}/ask", "agent|ask|{agent}|What is left?", ASK),
    Deed("ask nothing", proposing, AGENT, f"{AGENT}/ask", "agent|ask|{agent}| ", {"words": " "}),
    Deed("wake all", queued, "/agents", "/wake", "wake"),
    life("pause", proposing),
    life("resume", paused),
    life("resume", proposing)._replace(name="resume what does not sleep", page="/agents/{agent}",
         holding={}),
    life("destroy", proposing),
    life("delete", destroyed),
    Deed("set", proposing, AGENT, f"{AGENT}/set", "agent|set|{agent}|--goal|By Friday",
         {"goal": "By Friday", "automatic": "yes"}),
    Deed("set a timer", proposing, AGENT, f"{AGENT}/timer",
         "agent|timer|{agent}|set|every day 7:00|--zone|Europe/Berlin",
         {"schedule": "every day 7:00", "zone": "Europe/Berlin"}),
    Deed("remove a timer", timed, AGENT, f"{AGENT}/timer", "agent|timer|{agent}|remove|{timer}",
         {"verb": "remove"}, {"timer": "{timer}"}),
    Deed("hear of more", paints, AGENT, f"{AGENT}/watch",
         "agent|watch|{agent}|--what|NOTE|--task|Paint|--status|open|--hears-agents",
         {"kind": "NOTE", "task": "Paint", "status": "OPEN", "hears_agents": "yes"},
         key="--idempotency-key"),
    Deed("hear no more", listening, AGENT, f"{AGENT}/watch", "agent|unwatch|{agent}|{heard}",
         {"verb": "remove"}, {"subscription": "{heard}"}),
    Deed("make a template", proposing, "/templates", "/templates",
         "template|create|Bold|--general|Be bold.|--report|Two lines.|--model|rules",
         {"name": "Bold", **SAID, "model": "rules"}),
    Deed("make a template of no known model", proposing, "/templates", "/templates",
         "template|create|Bold|--general|Be bold.|--report|Two lines.|--model|x y",
         {"name": "Bold", **SAID, "model": "x y"}),
    Deed("add a version", template, TEMPLATE, f"{TEMPLATE}/version",
         "template|version|{template}|--general|Be bold.|--report|Two lines.", SAID),
    Deed("roll back", versions, TEMPLATE, f"{TEMPLATE}/rollback", "template|rollback|{template}|1",
         {"version": "1", "sure": "yes"}),
    Deed("assign a template", template, TEMPLATE, f"{TEMPLATE}/assign",
         "template|assign|{agent}|{template}", {"agent": "Fix the sink"}),
    Deed("take a template off", living, TEMPLATE, f"{TEMPLATE}/assign",
         "template|assign|{agent}|built-in", {"verb": "remove"}, {"agent": "{agent}"}),
    Deed("assign a built-in template", proposing, AGENT, f"{AGENT}/template",
         "template|assign|{agent}|laura", {"template": "laura"}),
    Deed("delete a template", template, TEMPLATE, f"{TEMPLATE}/delete",
         "template|delete|{template}", {"sure": "yes"}),
    Deed("rate a wake", templated, "/wakes/{wake}", "/wakes/{wake}/rate", "rate|{wake}|4",
         {"score": "4"}),
    Deed("learn from earlier verdicts", decided_before, "/lessons", "/lessons/learn",
         "lessons|--from-history", key=""),
    Deed("rule out a kind of change", declining, "/lessons", "/lessons/rule",
         "lessons|Garden|--never|update_task_estimate", {"is_off": "yes"}),
    Deed("allow", proposing, "/policy", "/policy/allow", "policy|allow|gemini",
         {"model": "gemini"}),
    Deed("allow a model for a category", proposing, "/policy", "/policy/allow",
         "policy|allow|gemini:pro|--category|{category}",
         {"model": "gemini:pro", "category": "{category}"}),
    Deed("withdraw", allowed, "/policy", "/policy/withdraw",
         "policy|withdraw|gemini:*|--category|{category}", {},
         {"model": "gemini:*", "category": "{category}"}),
    Deed("rule models", allowed, "/policy", "/policy/models",
         "policy|models|{category}|rules|gemini:*",
         {"category": "{category}", "allowed": "rules gemini:*"}),
    Deed("rule models of every category", ruled, "/policy", "/policy/models",
         "policy|models|--every|gemini", {"category": "", "allowed": "gemini"},
         {"was.allowed": ""}),
    Deed("lift a rule", ruled, "/policy", "/policy/models", "policy|models|{category}|--any",
         {"allowed": ""}, {"category": "{category}"}),
)  # fmt: skip


KNOWN: dict[Make, dict[str, str]] = {}
"""What deeds name in a home: the same in every copy."""


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name.replace(" ", "-"))
def test_both_doors_write_the_same_rows(deed: Deed, homes: Homes, tmp_path: Path) -> None:
    page, line = tmp_path / "page", tmp_path / "line"
    before = rows(homes.copy(deed.make, page))
    homes.copy(deed.make, line)
    names = KNOWN.get(deed.make) or KNOWN.setdefault(deed.make, named(page))
    nonce, status = sent(deed, page, names)
    key = [deed.key, f"web-{nonce}"] if deed.key else []
    result = run([*(one.format(**names) for one in deed.command.split("|")), *key], line,
                 env=at(deed.at))  # fmt: skip
    assert rows(page) == rows(line), result.output
    assert (status < 400) == (result.exit_code == 0), result.output
    assert (rows(page) == before) == (result.exit_code == 2)
    proved(page)


def sent(deed: Deed, home: Path, names: Mapping[str, str]) -> tuple[str, int]:
    """Send the page's form, and wait for what it began; its nonce, and how it was answered."""
    with visiting(home, env=at(deed.at)) as visitor:
        page, action = deed.page.format(**names), deed.action.format(**names)
        form = visitor.form(page, action, **_filled(deed.holding, names))
        answer = visitor.send(form, None, **_filled(deed.fields, names))
    return dict(form.fields)["nonce"], answer.status_code


def _filled(words: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {name: value.format(**names) for name, value in words.items()}


def named(home: Path) -> dict[str, str]:
    """The ids that a deed's words may name."""
    tasks, agents = told(["task", "list"], home), told(["agent", "list"], home)
    templates = told(["template", "list"], home)
    categories = told(["category", "list"], home)
    found = {"task": tasks, "agent": agents, "template": templates, "category": categories}
    if agents:
        shown = told(["agent", "show", agents[0]["id"]], home)
        heard = [one for one in shown["subscriptions"] if not one["built_in"]]
        found |= {"timer": shown["timers"], "heard": heard}
    ids = {name: str(ones[0]["id"]) for name, ones in found.items() if ones}
    ran = told(["wakes"], home)
    return {**ids, "wake": ran[0]["run_key"]} if ran else ids


def rows(home: Path) -> list[Any]:
    """All rows of both logs, times to the second: one door reads the clock more often, which goes
    on a little each time. Left out is the digest of the row before, which holds its time."""
    found: list[Any] = []
    for name in ("journal", "agent"):
        with closing(sqlite3.connect(home / f"{name}.db")) as file:
            sql = "SELECT originator_id, originator_version, topic, state FROM stored_events"
            for *place, state in file.execute(f"{sql} ORDER BY rowid"):
                fact = json.loads(FRACTION.sub("", bytes(state).decode()))
                fact.pop("prev", None)
                found.append([name, *place, fact])
    return found
