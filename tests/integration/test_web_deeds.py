"""How a task ends and what it took, on its page without JavaScript; nothing typed is lost."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import done, proved, run, told
from tests.support.homes import Homes
from tests.support.pages import text_of, visiting
from tests.support.waking import proposing

BERLIN = 'timezone = "Europe/Berlin"\n'


TASK = "Fix the sink"


@pytest.fixture
def home(tmp_path: Path, homes: Homes) -> Path:
    return homes.copy(proposing, tmp_path)


def task(home: Path) -> Any:
    return told(["task", "show", TASK], home)


def url_of(home: Path) -> str:
    return f"/tasks/{task(home)['id']}"


def entered(home: Path, began: str = "09:00", ended: str = "10:30") -> str:
    """The page of the task, which has an entry of yesterday."""
    day = "2026-12-31"
    start, end = f"{day} {began}", f"{day} {ended}"
    done(["task", "time", TASK, "--start", start, "--end", end, "--summary", "Looked"], home)
    return url_of(home)


def test_a_task_is_concluded_with_what_follows(home: Path) -> None:
    done(["task", "item", "add", TASK, "Paint the wall"], home)
    url = url_of(home)
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/conclude")
        for _ in range(2):  # a double click is one
            answer = visitor.send(form, title="壁を塗る")
            assert answer.status_code == 200
        made = told(["task", "show", "壁を塗る"], home)
        assert f'<a href="/tasks/{made["id"]}">' in answer.text
        assert f"{url}/conclude" not in answer.text  # it is done
        late = visitor.send(form, title="Another", nonce="another-one")
        assert (late.status_code, "is DONE already" in text_of(late.text)) == (422, True)
        assert 'value="Another"' in late.text
    assert [one["title"] for one in made["items"]] == ["Paint the wall"]
    assert (task(home)["status"], made["agent_id"] is None) == ("DONE", False)
    proved(home)


def test_how_a_task_repeats_is_shown_and_typed_in_words(home: Path) -> None:
    done(["edit", TASK, "--repeat", "every 2 weeks on mon"], home)
    url = url_of(home)
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/edit", repeat="every 2 weeks on Mon")
        assert visitor.send(form, estimate="30").status_code == 200
        assert task(home)["repeat"] == "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"
        visitor.send(visitor.form(url, f"{url}/edit"), repeat="monthly when done")
    assert task(home)["repeat"] == "FREQ=MONTHLY;FROM=DONE"


def test_time_is_entered_as_the_clock_at_home_shows_it(home: Path) -> None:
    (home / "settings.toml").write_text(BERLIN)
    url = url_of(home)
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/time")
        answer = visitor.send(
            form, began="2026-12-31T16:00", ended="2026-12-31T18:00", summary="Soldered"
        )
        assert "Thu 31 Dec 2026 16:00-18:00 (2h) Soldered" in text_of(answer.text)
        bad = visitor.send(form, nonce="another-one", began="", ended="2027-01-01T09:00")
        assert (bad.status_code, "is no time" in text_of(bad.text)) == (422, True)
        assert 'name="ended" value="2027-01-01T09:00"' in bad.text
        before = visitor.send(
            form, nonce="another-two", began="2026-12-30T09:00", ended="2026-12-30T08:00"
        )
        assert before.status_code == 422
    (entry,) = task(home)["time"]
    assert entry["start"] == "2026-12-31T15:00:00.000000Z"


def test_an_entry_is_corrected_and_what_stays_is_not_touched(home: Path) -> None:
    url = entered(home, "09:00:30", "10:30:40")
    (entry,) = task(home)["time"]
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/retime", entry=entry["id"])
        assert "Nothing was changed" in text_of(visitor.send(form).text)
        for _ in range(2):
            answer = visitor.send(form, nonce="another-one", ended="2026-12-31T11:00")
            assert answer.status_code == 200
    (after,) = task(home)["time"]
    assert (after["start"], after["end"]) == (entry["start"], "2026-12-31T11:00:00.000000Z")
    proved(home)


def test_an_entry_that_moved_meanwhile_is_not_overwritten(home: Path) -> None:
    url = entered(home)
    (entry,) = task(home)["time"]
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/retime", entry=entry["id"])
        done(["task", "retime", TASK, "1", "--end", "2026-12-31 10:45"], home)
        answer = visitor.send(form, ended="2026-12-31T11:00", summary="Looked twice")
        assert answer.status_code == 409
        said = text_of(answer.text)
        assert "When it ended was changed elsewhere" in said
        assert 'value="2026-12-31T11:00"' in answer.text
        assert 'value="Looked twice"' in answer.text
    assert task(home)["time"][0]["end"] == "2026-12-31T10:45:00.000000Z"


def test_a_wrong_time_is_told_and_what_was_typed_stays(home: Path) -> None:
    url = entered(home)
    (entry,) = task(home)["time"]
    cases = {
        "2026-12-31T08:00": "ends before it starts",
        "2027-12-31T08:00": "in the future",
        "soon": "is no time",
        "": "is no time",
    }
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/retime", entry=entry["id"])
        for ended, why in cases.items():
            answer = visitor.send(form, ended=ended, summary="Looked twice")
            assert (answer.status_code, why in text_of(answer.text)) == (422, True), answer.text
            assert 'name="summary" value="Looked twice"' in answer.text
        gone = visitor.send(form, nonce="another-one", entry="nothing")
        assert gone.status_code == 404
    assert task(home)["time"] == [entry]


def test_a_timer_that_stops_asks_how_it_went(home: Path) -> None:
    url = url_of(home)
    with visiting(home) as visitor:
        visitor.send(visitor.form(url, f"{url}/timer"), verb="start")
        stopped = visitor.send(visitor.form(url, f"{url}/timer"), verb="stop", summary="Looked")
        assert stopped.text.count("How did it go?") == 2  # in the notice, and at the entry
        (entry,) = task(home)["time"]
        form = visitor.form(url, f"{url}/rate", entry=entry["id"])
        none = visitor.send(form, score="", comment="Went well")
        assert (none.status_code, "no stars are chosen" in text_of(none.text)) == (422, True)
        assert 'name="comment" value="Went well"' in none.text
        for _ in range(2):
            answer = visitor.send(form, score="4", comment="Went well")
            assert answer.status_code == 200
        assert 'aria-label="rated 4 of 5"' in answer.text
    rating = task(home)["time"][0]["rating"]
    assert (rating["score"], rating["comment"]) == (4, "Went well")
    proved(home)


def shown(home: Path) -> Any:
    (agent,) = told(["agent", "list"], home)
    return told(["agent", "show", agent["id"]], home)


def test_a_timer_is_set_and_removed(home: Path) -> None:
    url = f"/agents/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/timer")
        for _ in range(2):
            answer = visitor.send(form, schedule="every day 7:00", zone="Europe/Berlin")
            assert answer.status_code == 200
        assert "every day 07:00" in text_of(visitor.page(url))
        (timer,) = shown(home)["timers"]
        assert (timer["schedule"], timer["zone"]) == ("every day 07:00", "Europe/Berlin")
        remove = visitor.form(url, f"{url}/timer", timer=timer["id"])
        visitor.send(remove, verb="remove")
    assert shown(home)["timers"] == []
    proved(home)


def test_a_timer_that_makes_no_sense_is_told(home: Path) -> None:
    url = f"/agents/{shown(home)['id']}"
    cases = (
        ("now and then", ""),
        ("once 2020-01-01 07:00", ""),
        ("every day 07:00", "Mars"),
        ("", ""),
    )
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/timer")
        for schedule, zone in cases:
            answer = visitor.send(form, schedule=schedule, zone=zone)
            assert answer.status_code == 422, schedule
            assert "[invalid_value]" in text_of(answer.text), schedule
        assert visitor.send(form, csrf="0" * 32, schedule="every day 07:00").status_code == 403
    assert shown(home)["timers"] == []


def test_it_hears_of_more_and_of_less(home: Path) -> None:
    done(["task", "add", "Budget"], home)
    url = f"/agents/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/watch")
        assert visitor.send(form).status_code == 422  # nothing is named
        assert visitor.send(form, task="No such task").status_code == 404
        answer = visitor.send(
            form,
            kind="NOTE",
            task="Budget",
            sub="note:transcript",
            status="OPEN",
            hears_agents="yes",
        )
        assert answer.status_code == 200
        added = next(one for one in shown(home)["subscriptions"] if not one["built_in"])
        assert {"key:NOTE", "sub:note:transcript"} < set(added["tokens"])
        assert (added["status"], added["hears_agents"]) == ("OPEN", True)
        remove = visitor.form(url, f"{url}/watch", subscription=added["id"])
        visitor.send(remove, verb="remove")
    assert [one["built_in"] for one in shown(home)["subscriptions"]] == [True]
    proved(home)


def test_an_agent_sleeps_until_a_day_and_is_let_up_again(home: Path) -> None:
    url = f"/agents/{shown(home)['id']}"
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/sleep")
        for wrong, why in (
            ("", "not said until when"),
            ("2026-12-31", "later"),
            ("soon", "no time"),
        ):
            answer = visitor.send(form, verb="sleep", until=wrong, nonce=f"wrong-one-{wrong}")
            assert (answer.status_code, why in text_of(answer.text)) == (422, True), answer.text
            assert not wrong or f'name="until" value="{wrong}"' in answer.text
        for _ in range(2):
            answer = visitor.send(form, verb="sleep", until="2027-02-01")
            assert answer.status_code == 200
        assert "It sleeps until 2027-02-01" in text_of(answer.text)
        assert shown(home)["asleep_until"] == "2027-02-01T00:00:00.000000Z"
        visitor.send(visitor.form(url, f"{url}/sleep"), verb="end")
    assert shown(home)["asleep_until"] is None
    proved(home)


def test_a_queued_wake_is_cancelled_once(home: Path) -> None:
    url = f"/agents/{shown(home)['id']}"
    done(["task", "note", "Fix the sink", "It drips again."], home)
    done(["agent", "pause", shown(home)["id"]], home)
    done(["agent", "resume", shown(home)["id"]], home)  # that queues one
    with visiting(home) as visitor:
        form = visitor.form(url, f"{url}/cancel")
        for _ in range(2):
            assert visitor.send(form).status_code == 200
        assert f"{url}/cancel" not in visitor.page(url)
        late = visitor.send(form, nonce="another-one")
        assert (late.status_code, "nothing is queued" in text_of(late.text)) == (404, True)
    newest = told(["wakes"], home)[0]
    assert (newest["outcome"], newest["error_code"]) == ("skipped", "cancelled")


def test_open_loops_say_whose_they_are(home: Path) -> None:
    done(["agent", "set", shown(home)["id"], "--loop", "The plumber's invoice"], home)
    with visiting(home) as visitor:
        said = text_of(visitor.page(f"/agents/{shown(home)['id']}"))
    assert "Open loops The plumber&#39;s invoice yours" in said


def test_health_names_who_is_told_nothing_and_why(home: Path) -> None:
    with visiting(home) as visitor:
        assert "Nobody: settings.toml names nobody" in text_of(visitor.page("/health"))
    (home / "settings.toml").write_text('[notify]\ncommand = ["no-such-program-here"]\n')
    with visiting(home) as visitor:
        said = text_of(visitor.page("/health"))
        assert "no-such-program-here is told nothing: not allowed on this machine yet" in said
    done(["notify", "allow"], home)
    done(["task", "note", "Fix the sink", "Need to buy a wrench. Due by 2027-03-01."], home)
    run(["run", "--until-idle"], home)
    with visiting(home) as visitor:
        said = text_of(visitor.page("/health"))
        (one,) = visitor.json("/health")["receivers"]
    assert one["failure"]
    assert "no-such-program-here could not be told" in said
