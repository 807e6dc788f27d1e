"""`wakelog template improve`: from figures to a version, at the command line, on two machines, and
through a process that is killed."""

import json
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

import pytest

from adapters.runtime import review
from adapters.simulation.fault_injection import Crashed, FaultyLog
from adapters.wiring import open_home
from domain.agent.agent import TimerRemoved
from domain.append import envelope
from tests.support import checker
from tests.support.cli import proved, refused, run
from tests.support.homes import Homes
from tests.support.house import ENV, FENCE, REPORT, TAP, agents, did, seen
from tests.support.improved import (
    NEW_RULE,
    WEATHER,
    directives,
    improving,
    lived_on,
    proposal,
    proposing,
    proposing_tape,
    taught,
)
from tests.support.pages import visiting
from tests.support.terminal import on_terminal
from tests.support.waking import reply, report, tape


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(lived_on, tmp_path / "home")


FIGURES = (
    f'Laura.1: 15 proposals decided, 12 accepted. Most rejected: due date, 3 of 3, "{WEATHER}" (3).'
)
ITEM = f"New directives for Laura: + {NEW_RULE.removeprefix('- ')}"


def test_a_session_tells_figures_and_proposes_one_wording(home: Path) -> None:
    said = improving(home)
    assert said == (
        'Made the agent "Laura wording": it reads House, Work; when you ask '
        f"[tape:{home.parent}/improver.jsonl].\n"
        f"{FIGURES}\nI propose one more rule.\n"
        f"4.1    {ITEM} (now: version 1) - Three dates were declined.\n"
        f"         + {NEW_RULE}\n"
        "         not rehearsed: `wakelog rehearse 4.1` tries it on your past\n"
    )
    (found,) = seen(home, "inbox")
    template = seen(home, "template", "show", "Laura")["id"]
    assert found["subject"] == {"kind": "template", "id": template, "title": "Laura"}
    (item,) = found["items"]
    assert item["diff"] == [{"of": "general", "sign": "+", "text": NEW_RULE}]
    assert (item["now"], item["reason"], item["stale"]) == (
        "version 1",
        "Three dates were declined.",
        False,
    )
    assert f"         + {NEW_RULE}\n" in did(home, "inbox")
    assert directives(home)["version"] == 1, "nothing changes by itself"
    assert "  Improves:   Laura\n" in did(home, "agent", "show", "Laura wording")
    assert [*checker.findings(home)] == []
    assert proved(home)


def test_confirmed_undone_and_confirmed_it_is_one_version(home: Path) -> None:
    improving(home)
    assert did(home, "confirm", "4.1") == f"4.1    confirmed: {ITEM}\n"
    now = directives(home)
    assert (now["version"], now["author"]) == (2, "evolution")
    assert NEW_RULE in now["general"]
    assert "Put 4.1 before you again." in did(home, "undo")
    assert (directives(home)["version"], seen(home, "inbox")[0]["items"][0]["undone"]) == (1, True)
    did(home, "confirm", "4.1")
    assert [one["version"] for one in seen(home, "template", "show", "Laura")["versions"]] == [1, 2]
    assert directives(home)["version"] == 2
    assert "(it was already)" in did(home, "confirm", "4.1")
    (session,) = seen(home, "template", "sessions", "Laura")
    assert (session["proposal"], session["status"]) == ("4.1", "confirmed")
    did(home, "rate", session["run_key"], "4")
    assert seen(home, "template", "sessions", "laura")[0]["stars"] == 4
    assert [*checker.findings(home)] == []
    assert proved(home)


def test_it_is_rejected_put_off_and_edited_from_a_file(home: Path, tmp_path: Path) -> None:
    improving(home)
    assert "4.1    deferred: " in did(home, "defer", "4.1")
    assert "4.1    rejected: " in did(home, "reject", "4.1", "--reason", "Not yet")
    did(home, "undo")
    file = tmp_path / "mine.md"
    file.write_text("Be calm.\n", encoding="utf-8")
    did(home, "confirm", "4.1", "--edit", f"general=@{file}")
    assert directives(home)["general"].strip() == "Be calm."
    assert "cannot be read" in refused(["confirm", "4.1", "--edit", "general=@nowhere"], home)
    assert proved(home)


def test_another_version_since_makes_it_stale(home: Path) -> None:
    improving(home)
    did(home, "template", "version", "laura", "--general", "Mine.")
    assert seen(home, "inbox")[0]["items"][0]["stale"]
    no = run(["confirm", "4.1"], home, env=ENV)
    assert no.exit_code == 1
    assert "another version of the template is active since" in no.output
    assert "--anyway" in no.output
    did(home, "confirm", "4.1", "--anyway")
    assert directives(home)["version"] == 3
    did(home, "template", "version", "laura", "--general", "More.")
    no = run(["undo", "--yes"], home, env=ENV)
    assert directives(home)["general"] in ("More.", no.output) or "changed since" in no.output
    assert proved(home)


def test_without_a_key_figures_are_told_and_nothing_is_proposed(home: Path) -> None:
    said = did(home, "template", "improve", "laura", "Fewer dates")
    assert FIGURES in said
    assert "It proposes nothing.\n" in said
    assert "Version 1: 15 decided, 12 accepted, in 3 wakes." in said
    assert "- update_task_due_date: 0 of 3 accepted" in did(home, "report", "Laura wording")
    assert seen(home, "inbox") == []
    assert proved(home)


def test_a_retry_under_its_key_asks_once(home: Path) -> None:
    line = ("template", "improve", "laura", "Fewer dates", "--key", "k")
    first = did(home, *line)
    assert did(home, *line) in first
    assert agents(home)["Laura wording"]["wakes"] == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["nobody"], "there is no template"),
        (["tom"], "nobody has lived on the built-in template"),
        (["laura", "--category", "Nowhere"], "Nowhere"),
        (["laura", "x" * 40_000], "longer than"),
    ],
)
def test_bad_input_is_told_in_a_line(home: Path, line: list[str], told: str) -> None:
    rows = proved(home)
    assert told in refused(["template", "improve", *line], home, env=ENV)
    assert proved(home) == rows


def test_no_session_yet_is_said(home: Path) -> None:
    assert did(home, "template", "sessions", "laura") == (
        "No session yet. `wakelog template improve laura` begins one.\n"
    )


def test_what_a_model_elsewhere_is_sent_is_agreed_to_first(home: Path) -> None:
    key = {**ENV, "GEMINI_API_KEY": "a-key"}
    did(home, "agent", "create", "Call Ann")
    did(home, "policy", "allow", "gemini:*", "--category", "House", "--category", "Work")
    shown = seen(home, "policy", "show")
    assert all(one["notice"] == 4 for one in shown["receipts"])
    did(home, "policy", "withdraw", "gemini:*")
    line = ["template", "improve", "laura", "Fewer dates", "--model", "gemini"]
    no = run(line, home, env=key)
    assert no.exit_code == 3, no.output
    assert "wakelog policy allow" in no.output
    assert proved(home)


def test_on_a_terminal_it_asks_what_you_say(home: Path) -> None:
    with on_terminal(home, "template", "improve", "laura", env=ENV) as terminal:
        terminal.until("you> ")
        terminal.press("Fewer dates\r")
        status, shown = terminal.ended()
    assert status == 0
    assert "It proposes nothing." in shown
    assert '"Fewer dates"' in did(home, "show", seen(home, "wakes")[0]["run_key"])


def test_the_page_tells_asks_shows_the_diff_and_takes_the_verdict(home: Path) -> None:
    template = seen(home, "template", "show", "Laura")["id"]
    path = f"/templates/{template}"
    with visiting(home, env=ENV) as visitor:
        assert FIGURES.replace('"', "&#34;") in visitor.page(path)
        form = visitor.form(path, f"{path}/improve")
        assert visitor.send(form, words="Fewer dates").is_success
    assert agents(home)["Laura wording"]["wakes"] == 1
    improving(home)
    with visiting(home, env=ENV) as visitor:
        page = visitor.page(path)
        assert "Not rehearsed on your past yet." in page
        assert NEW_RULE in page
        told = visitor.json(path)
        assert told["proposals"][0]["items"][0]["diff"][0]["text"] == NEW_RULE
        assert [one["status"] for one in told["wording"]["sessions"]] == ["pending", None]
        shown = visitor.page("/inbox?at=4.1")
        assert NEW_RULE in shown
        assert "Not rehearsed on your past yet." in shown
        agent = agents(home)["Laura wording"]["id"]
        assert "It improves" in visitor.page(f"/agents/{agent}")
        assert visitor.send(visitor.form(path, "/inbox/decide"), verdict="confirm").is_success
    assert directives(home)["version"] == 2
    did(home, "template", "rollback", "laura", "1")
    assert proved(home)


def test_what_is_erased_of_a_task_goes_from_what_the_agent_was_told(home: Path) -> None:
    improving(home)
    run_key = seen(home, "wakes")[0]["run_key"]
    shown = did(home, "show", run_key, "--prompt").count(WEATHER)
    assert shown > 0
    for task in (TAP, FENCE, REPORT):
        did(home, "erase", "task", task, "--sure")
    files = [one.read_bytes() for one in home.glob("*.db*")]
    assert not any(WEATHER.encode() in one for one in files)
    did(home, "confirm", "4.1")
    did(home, "template", "improve", "laura", "And now?")
    assert [*checker.findings(home)] == []
    assert proved(home)


# ------------------------------------------------------------------------------------- rehearsed


NEVER = "         not rehearsed: `wakelog rehearse 4.1` tries it on your past\n"


def counted(home: Path) -> int:
    """Rows of both logs."""
    (row,) = seen(home, "sql", "SELECT count(*) AS n FROM events")
    return int(row["n"])


def test_a_rehearsal_is_kept_with_its_proposal(home: Path) -> None:
    improving(home)
    assert "         not rehearsed: `wakelog rehearse 4.1` tries it on your past\n" in did(
        home, "inbox"
    )
    assert seen(home, "inbox")[0]["items"][0]["rehearsed"] is None
    before = directives(home)
    did(home, "rehearse", "4.1", "--all")
    (item,) = seen(home, "inbox")[0]["items"]
    told = item["rehearsed"]
    assert (told["wakes"], told["agents"], told["too_few"], told["told_apart"]) == (
        3,
        3,
        True,
        False,
    )
    assert told["tried"] == told["in_force"]
    assert told["tried"]["kept"] + told["tried"]["lost"] == 12
    kept, avoided = told["tried"]["kept"], told["tried"]["avoided"]
    line = (
        f"keeps {kept} of 12, avoids {avoided} of 3; in force {kept} and {avoided}; too few to tell"
    )
    assert line in did(home, "inbox")
    assert directives(home) == before, "nothing changes by itself"
    improving(home, proposal(home, general="Else."))
    shown = did(home, "show", seen(home, "wakes")[0]["run_key"], "--prompt")
    assert '"proposed":"New directives for Laura' in shown
    assert [*checker.findings(home)] == []
    assert proved(home)


def test_one_fact_is_added_of_a_version_and_none_of_a_file(home: Path, tmp_path: Path) -> None:
    did(home, "template", "version", "laura", "--general", "More.")
    did(home, "template", "rollback", "laura", "1")
    before = counted(home)
    did(home, "rehearse", "laura.2", "--all")
    found = seen(home, "sql", "SELECT version, item, wakes, kept, lost FROM rehearsals")
    assert [(one["version"], one["item"], one["wakes"]) for one in found] == [(2, None, 3)]
    assert counted(home) == before + 2, "the command, and one fact"
    file = tmp_path / "calm.md"
    file.write_text("Be calm.", encoding="utf-8")
    did(home, "rehearse", "laura", "--general-file", str(file), "--all")
    did(home, "rehearse", "laura", "--all")
    assert counted(home) == before + 2
    assert proved(home)


def test_what_cannot_be_rehearsed_is_said(home: Path) -> None:
    improving(home)
    assert "proposes no directives" in refused(["rehearse", "1.1"], home, env=ENV)
    for task in (TAP, FENCE, REPORT):
        did(home, "template", "assign", task, "built-in")
    did(home, "template", "delete", "laura")
    assert "there is no template" in refused(["rehearse", "4.1"], home, env=ENV)
    assert "there is no template" in run(["confirm", "4.1"], home, env=ENV).output
    assert did(home, "inbox")


def test_nothing_is_sent_to_a_model_elsewhere_that_nobody_agreed_to(home: Path) -> None:
    key = {**ENV, "GEMINI_API_KEY": "a-key"}
    improving(home)
    closed = did(home, "rehearse", "4.1", "--all", "--model", "gemini", "--yes", env=key)
    assert "left out: privacy_confirmation_required 3" in closed
    did(home, "policy", "allow", "gemini:*", "--category", "House", "--category", "Work", env=key)
    no = refused(["rehearse", "4.1", "--all", "--model", "gemini"], home, env=key)
    assert "agree with --yes" in no
    assert seen(home, "inbox")[0]["items"][0]["rehearsed"] is None


def test_on_a_terminal_it_is_offered_after_a_session(home: Path) -> None:
    did(home, "rehearse", "laura", "--all")
    said = proposing_tape(home)
    line = ("template", "improve", "laura", "Fewer dates", "--model", said)
    with on_terminal(home, *line, env=ENV) as terminal:
        terminal.until("Rehearse it on 1 wake?")
        terminal.press("y\r")
        status, shown = terminal.ended()
    assert status == 0
    assert "Too few to tell anything apart" in shown
    assert seen(home, "inbox")[0]["items"][0]["rehearsed"]["wakes"] == 1


# --------------------------------------------------------------------------------------- the ritual


def deciding(home: Path, nth: int, count: int, env: dict[str, str]) -> None:
    """So many proposals of one more task on Laura are confirmed that week."""
    title = f"Task {nth}"
    did(home, "add", title, "--category", "House", env=env)
    did(home, "agent", "create", title, env=env)
    did(home, "template", "assign", title, "laura", env=env)
    made = [{"title": f"Step {one} of {nth}"} for one in range(count)]
    items = ("add_multiple_checklist_items", {"items": made, "because": title})
    model = tape(home.parent / "agents.jsonl", reply(items, report()), reply(text="Done."))
    did(home, "--model", model, "wake", title, env=env)
    did(home, "confirm", title, "--all", env=env)


NEW_FACTS = (0, 5, 2, 2, 2, 0, 6, 4)
ASKS = (False, True, False, False, True, False, True, False)


def test_in_eight_weeks_those_with_fewer_than_five_new_facts_ask_nobody(home: Path) -> None:
    did(home, "template", "improve", "laura", "How is it?")
    said = did(home, "template", "improve", "laura", "--weekly", "monday 09:00")
    assert "It looks every monday 09:00, Europe/Berlin; next 2027-01-04 09:00.\n" in said
    mine, asked = agents(home)["Laura wording"]["id"], []
    for week, count in enumerate(NEW_FACTS):
        day = date(2027, 1, 4) + timedelta(weeks=week)
        before = {**ENV, "WAKELOG_NOW": f"{day - timedelta(days=1)}T10:00:00Z"}
        if count:
            deciding(home, week, count, before)
        did(home, "wake", env={**ENV, "WAKELOG_NOW": f"{day}T09:00:00Z"})
        last = next(one for one in seen(home, "wakes") if one["agent_id"] == mine)
        assert last["reason"] == "timer"
        asked.append(last["turns"] > 0)
        if not asked[-1]:
            assert (last["outcome"], last["error_code"]) == ("skipped", "too_few_facts")
    assert tuple(asked) == ASKS
    assert "fewer than 5 new facts since the wake before" in did(home, "why", "Laura wording")
    off = did(home, "template", "improve", "laura", "--weekly", "none")
    assert "It looks only when you ask." in off
    assert seen(home, "agent", "timer", mine, "list") == []
    assert [*checker.findings(home)] == []
    assert proved(home)


def test_the_ritual_is_off_until_it_is_asked_for_and_is_one(home: Path) -> None:
    improving(home)
    mine = agents(home)["Laura wording"]["id"]
    assert seen(home, "agent", "timer", mine, "list") == []
    for hour in range(5, 12):
        did(home, "agent", "timer", mine, "set", f"every day {hour:02}:00")
    before = [one["id"] for one in seen(home, "agent", "timer", mine, "list")]
    did(home, "template", "improve", "laura", "--weekly", "monday 09:00")
    with open_home(home, {}) as found:
        rows = [envelope.read(one).data for one in found.services.agents.rows()]
    assert [one.timer for one in rows if isinstance(one, TimerRemoved)][-7:] == before
    did(home, "template", "improve", "laura", "--weekly", "friday 17:00")
    (timer,) = seen(home, "agent", "timer", mine, "list")
    assert timer["schedule"] == "every friday 17:00"
    no = refused(["template", "improve", "laura", "--weekly", "someday"], home, env=ENV)
    assert "every someday" in no


# ---------------------------------------------------------------------------------- two machines

LAPTOP = {**ENV, "WAKELOG_REPLICA": "r2"}


def meet(home: Path, other: Path, shared: Path) -> None:
    for _ in range(2):
        did(home, "sync", str(shared))
        did(other, "sync", str(shared), env=LAPTOP)


def versions(home: Path, env: dict[str, str] = ENV) -> list[tuple[int, bool]]:
    found = seen(home, "template", "show", "Laura", env=env)["versions"]
    return [(one["version"], one["active"]) for one in found]


def shared_pair(home: Path, tmp_path: Path) -> tuple[Path, Path]:
    other, shared = tmp_path / "other", tmp_path / "shared"
    improving(home)
    meet(home, other, shared)
    return other, shared


def of_other(other: Path) -> str:
    return str(seen(other, "inbox", env=LAPTOP)[-1]["items"][0]["ref"])


def test_two_machines_that_confirm_apart_make_one_version(home: Path, tmp_path: Path) -> None:
    other, shared = shared_pair(home, tmp_path)
    ref = of_other(other)
    did(other, "template", "version", "laura", "--report", "Short.", env=LAPTOP)
    did(other, "template", "rollback", "laura", "1", env=LAPTOP)
    did(home, "confirm", "4.1")
    did(other, "confirm", ref, env=LAPTOP)
    assert versions(other, LAPTOP) == [(1, False), (2, False), (3, True)]
    meet(home, other, shared)
    assert versions(home) == versions(other, LAPTOP)
    active = directives(home)
    assert NEW_RULE in active["general"]
    texts = [one["general"] for one in seen(home, "template", "show", "Laura")["versions"]]
    assert sum(NEW_RULE in one for one in texts) == 1, "one item is one version"
    assert "template" not in json.dumps(seen(home, "conflicts"))
    for machine, env in ((home, ENV), (other, LAPTOP)):
        assert seen(machine, "prove", env=env)["ok"]


def test_confirmed_here_undone_there_and_confirmed_again_it_is_one_version(
    home: Path, tmp_path: Path
) -> None:
    other, shared = shared_pair(home, tmp_path)
    did(home, "confirm", "4.1")
    meet(home, other, shared)
    assert versions(other, LAPTOP) == [(1, False), (2, True)]
    undo_there(other)
    meet(home, other, shared)
    assert versions(home) == versions(other, LAPTOP) == [(1, True), (2, False)]
    did(home, "confirm", "4.1")
    meet(home, other, shared)
    assert versions(home) == versions(other, LAPTOP) == [(1, False), (2, True)]
    for machine, env in ((home, ENV), (other, LAPTOP)):
        assert seen(machine, "prove", env=env)["ok"]


def undo_there(other: Path) -> None:
    """As the page does: one verdict, by its set and number."""
    found = seen(other, "inbox", "--all", env=LAPTOP)[-1]
    with visiting(other, env=LAPTOP) as visitor:
        form = visitor.form("/inbox?show=decided", "/undo")
        assert visitor.send(form, item=f"{found['id']}.1").is_success


def test_of_other_edits_both_stand_and_settle_asks(home: Path, tmp_path: Path) -> None:
    other, shared = shared_pair(home, tmp_path)
    ref = of_other(other)
    did(home, "confirm", "4.1", "--edit", "general=Be calm.")
    did(other, "confirm", ref, "--edit", "general=Be brisk.", env=LAPTOP)
    meet(home, other, shared)
    assert len(versions(home)) == 3
    assert versions(home) == versions(other, LAPTOP)
    conflicts = seen(home, "conflicts")
    assert "template" in json.dumps(conflicts)
    for machine, env in ((home, ENV), (other, LAPTOP)):
        assert seen(machine, "prove", env=env)["ok"]


# ------------------------------------------------------------------------------- who is killed


@pytest.mark.parametrize("is_after", [False, True])
def test_killed_in_a_confirmation_it_is_one_version(*, is_after: bool) -> None:
    """It is one append: it stands whole, or not at all."""
    of = taught("Tap")
    of.wakes(proposing(), words="Fewer dates")
    dying = FaultyLog("agent", of.at.agents.recorder, "r1")
    of.at.agents = dying
    dying.fuse, dying.is_after = 1, is_after
    with suppress(Crashed):
        of.confirm(1)
    dying.fuse = 0
    assert of.items()[0].status == ("confirmed" if is_after else "pending")
    review.recover(of.at, of.sets[-1])
    assert of.confirm(1) == "confirmed"
    assert [one.version for one in of.of_template().versions] == [1, 2]
    assert of.proved() == []
