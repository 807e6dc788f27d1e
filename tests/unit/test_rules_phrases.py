"""Each fixed phrase of the rules model is found, and what only looks like one is not."""

import pytest

from tests.support.rules import REPORT, SATURDAY, ask, calls, item, note, one, proposed, titles


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Due 2026-12-04.", "2026-12-04"),
        ("(due:2026-12-04)", "2026-12-04"),
        ("The deadline is Dec 4, 2026", "2026-12-04"),
        ("Send it no later than 4 December 2026!", "2026-12-04"),
        ("by Friday, December 4th", "2026-12-04"),
        ("Should be done by Friday.", "2026-11-27"),
        ("Needed by this Friday", "2026-11-20"),
        ("by next Friday", "2026-11-27"),
        ("by Monday evening", "2026-11-23"),
        ("Don't forget the form, due tomorrow", "2026-11-21"),
        ("due today", "2026-11-20"),
        ("due in two weeks", "2026-12-04"),
        ("within 3 days", "2026-11-23"),
        ("due by end of month", "2026-11-30"),
        ("by May 5", "2027-05-05"),
        ("spätestens am 4.12.2026 abgeben", "2026-12-04"),
        ("bis 4. Dezember 2026", "2026-12-04"),
        ("Bis 4.12. muss es weg", "2026-12-04"),
        ("bis zum 4.12.26", "2026-12-04"),
        ("Abgabe: 4. Dez. 2026", "2026-12-04"),
        ("bis Freitag", "2026-11-27"),
        ("bis morgen früh", "2026-11-21"),
        ("BIS SPÄTESTENS ÜBERMORGEN", "2026-11-22"),
        ("bis nächsten Montag", "2026-11-23"),
        ("bis kommenden Freitag", "2026-11-27"),
        ("Die Miete ist am Dienstag fällig.", "2026-11-24"),
        ("Die Miete ist am 1. März fällig.", "2027-03-01"),
        ("bis 29.2. bitte", "2028-02-29"),
        ("FÄLLIG AM 4.12.2026", "2026-12-04"),
        ("Frist bis Monatsende", "2026-11-30"),
    ],
)
def test_a_due_date_is_read_beside_a_word_that_makes_it_one(text: str, day: str) -> None:
    assert one(ask(text), "update_task_due_date", "dueDate") == day


@pytest.mark.parametrize(
    "text",
    [
        "By the way, the shop has a nice garden.",
        "May is a nice month; written by May.",
        "We met on 2026-12-04.",
        "I saw Bob on Friday.",
        "Is it due by Friday?",
        "It is not due by Friday.",
        "We are on vacation until Friday.",
        "Im Urlaub bis Freitag.",
        "Geöffnet von Montag bis Freitag",
        "Montag bis Freitag",
        "1.12. bis 4.12.2026 in Rom",
        "due 2026-02-30",
        "bis 31.11.2026",
        "due 12/04/2026",
        "bis dann, bis bald",
        "> due 2026-12-04",
        "```\ndue 2026-12-04\n```",
        "Bis zu 4 Personen",
        "stand by me",
    ],
)
def test_other_dates_are_no_due_dates(text: str) -> None:
    assert one(ask(text), "update_task_due_date", "dueDate") is None


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("It takes about 2 hours.", 120),
        ("This will take me around 1.5 hours", 90),
        ("Should take 30 min", 30),
        ("~90 min", 90),
        ("~2h", 120),
        ("Estimate: half a day", 240),
        ("half a day", 240),
        ("About half an hour of work", 30),
        ("Takes an hour", 60),
        ("takes 2-3 hours", 180),
        ("takes 1h30", 90),
        ("Effort: 2 days", 960),
        ("Dauert ca. 45 Minuten.", 45),
        ("Aufwand: 1,5 Stunden", 90),
        ("Dauert etwa eine halbe Stunde", 30),
        ("Ich schätze, zwei Stunden", 120),
        ("geschätzt 3 Std.", 180),
        ("braucht anderthalb Stunden", 90),
        ("einen halben Tag Arbeit", 240),
    ],
)
def test_effort_is_read_in_minutes(text: str, minutes: int) -> None:
    assert one(ask(text), "update_task_estimate", "minutes") == minutes


@pytest.mark.parametrize(
    "text",
    [
        "It took 2 hours.",
        "I spent half a day on this",
        "We met 2 hours ago",
        "Waited ~2 h for the bus",
        "The bus was ~10 min late",
        "Vor ca. 2 Stunden angerufen",
        "Gestern 3 Stunden gewartet",
        "It does not take 2 hours.",
        "takes 9 days",
        "The room has 4 hours",
        "takes 0 minutes",
        "Does it take 2 hours?",
    ],
)
def test_other_lengths_are_no_effort(text: str) -> None:
    assert one(ask(text), "update_task_estimate", "minutes") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I need to call the bank.", ["Call the bank"]),
        ("We still need to call the bank, but not today.", ["Call the bank"]),
        ("Also, I have to renew the passport", ["Renew the passport"]),
        ("I've got to buy stamps", ["Buy stamps"]),
        ("We will need to book flights", ["Book flights"]),
        ("need to buy milk, eggs and bread", ["Buy milk, eggs and bread"]),
        ("I need to call Bob and I need to email Ann", ["Call Bob", "Email Ann"]),
        ("The invoice needs to be paid.", ["Pay the invoice"]),
        ("Don't forget to water the plants!", ["Water the plants"]),
        ("Don’t forget to water the plants", ["Water the plants"]),
        ("Remember to lock up", ["Lock up"]),
        ("todo: call Bob", ["Call Bob"]),
        ("TODO call Bob", ["Call Bob"]),
        ("Done: ask Bob. Still to do: pay Bob, thank him", ["Pay Bob", "Thank him"]),
        ("// TODO(ann): fix the parser", ["Fix the parser"]),
        ("**To do:** a form, two stamps and glue", ["A form", "Two stamps", "Glue"]),
        (
            "Next steps:\n- Sketch the page\n- ask Ann.\n\nOther\n- no",
            ["Sketch the page", "Ask Ann"],
        ),
        ("## Next steps\n\n1. Sketch it\n2) [ ] Ask Ann\n3. [x] Rest", ["Sketch it", "Ask Ann"]),
        ("- [ ] iPhone laden", ["iPhone laden"]),
        ("Ich muss noch die Bank anrufen.", ["Die Bank anrufen"]),
        ("Muss noch Milch kaufen", ["Milch kaufen"]),
        ("Morgen müssen wir noch packen und putzen", ["Packen und putzen"]),
        ("Ich muss die Rechnung noch bezahlen", ["Die Rechnung noch bezahlen"]),
        ("Der Antrag muss noch gestellt werden.", ["Antrag stellen"]),
        (
            "Noch zu erledigen: Flug buchen, Hotel suchen und Visum beantragen",
            ["Flug buchen", "Hotel suchen", "Visum beantragen"],
        ),
        ("Nächste Schritte:\n* Skizze machen\n* Anna fragen", ["Skizze machen", "Anna fragen"]),
        ("Milch kaufen nicht vergessen!", ["Milch kaufen"]),
        ("Nicht vergessen: Müll rausbringen", ["Müll rausbringen"]),
    ],
)
def test_checklist_items_are_spans_of_the_text(text: str, expected: list[str]) -> None:
    assert titles(ask(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I need to",
        "I need to.",
        "I have to ",
        "I need to do it",
        "There is no need to hurry up.",
        "You don't need to call the bank",
        "If we need to call the bank, tell me.",
        "We might have to call the bank",
        "I have to admit that it went well.",
        "Do I need to call the bank?",
        "All I need to know about it is here",
        "What we need to find is a room",
        "Bob needs to send the contract",
        "Customers have to log in twice",
        "I had to call the bank",
        "The TODO list is long",
        "TODO list is long",
        "My todo app is nice",
        "Das muss noch nicht bezahlt werden",
        "Ich muss nicht zur Bank gehen",
        "Bob muss noch unterschreiben kommen",
        "Das hat mir noch gefehlt, es war schön.",
        "> I need to call the bank",
        "```\nTODO call the bank\n```",
        "- a bullet\n- another one",
        "The next steps were discussed at length.",
        "We talked about the weather. It was a fine day, and everyone went home happy.",
        "Gestern haben wir lange über das Wetter gesprochen; alle gingen zufrieden heim.",
    ],
)
def test_ordinary_prose_asks_for_nothing(text: str) -> None:
    assert proposed(ask(text, sections=REPORT)) == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Waiting for the contract from Bob.", "Waiting for the contract from Bob"),
        ("We're still waiting on legal, so no hurry", "waiting on legal"),
        ("Blocked by #12", "Blocked by #12"),
        ("Warte auf Rückmeldung vom Amt", "Warte auf Rückmeldung vom Amt"),
        ("Wir warten noch auf den Vertrag.", "warten noch auf den Vertrag"),
        ("Das hängt an der Freigabe", "hängt an der Freigabe"),
        ("Received the draft. Now waiting for approval", "waiting for approval"),
    ],
)
def test_a_blocker_is_proposed_with_its_reason(text: str, reason: str) -> None:
    assert calls(ask(text))["set_task_status"] == {"status": "BLOCKED", "reason": reason}


@pytest.mark.parametrize(
    "text",
    [
        "No longer waiting for Bob",
        "We are not blocked by this",
        "We were waiting for the bus",
        "Bob is waiting for me",
        "If we are blocked by legal, call me",
        "Das Bild hängt an der Wand",
        "Are we waiting for Bob?",
        "Waiting for Bob. He is no longer blocked.",
    ],
)
def test_no_blocker_where_there_is_none(text: str) -> None:
    assert "set_task_status" not in calls(ask(text))


@pytest.mark.parametrize(
    "newer",
    [
        "Received the contract",
        "No longer blocked",
        "Not blocked by Bob any more",
        "Der Vertrag ist da.",
        "Der Vertrag ist eingetroffen",
        "Nicht mehr blockiert",
    ],
)
def test_a_newer_note_frees_what_was_blocked(newer: str) -> None:
    older = note("Waiting for the contract")
    assert "set_task_status" not in calls(ask(note(newer, SATURDAY), older))
    told = calls(ask(older, note(newer, SATURDAY), status="BLOCKED", sections=REPORT))
    assert newer in told["record_observations"]["observations"][0]["text"]


def test_what_is_blocked_again_is_not_called_free() -> None:
    told = ask("Received the contract", "Waiting for Bob", status="BLOCKED", sections=REPORT)
    assert told.calls == ()


@pytest.mark.parametrize(
    "newer",
    ["Have not received it", "Noch nicht da", "Received?", "Der Vertrag ist noch nicht da."],
)
def test_what_has_not_come_frees_nothing(newer: str) -> None:
    told = ask(note("Waiting for the contract"), note(newer, SATURDAY))
    assert one(told, "set_task_status", "status") == "BLOCKED"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Started the draft", "IN PROGRESS"),
        ("Today we started on it", "IN PROGRESS"),
        ("Is in progress now", "IN PROGRESS"),
        ("Habe mit dem Entwurf angefangen", "IN PROGRESS"),
        ("In Arbeit", "IN PROGRESS"),
        ("Not started yet", None),
        ("Noch nicht angefangen", None),
        ("The meeting started at 9", None),
        ("Es hat angefangen zu regnen", None),
        ("When I started, it was dark", None),
    ],
)
def test_progress(text: str, status: str | None) -> None:
    assert one(ask(text), "set_task_status", "status") == status
    assert "set_task_status" not in calls(ask(text, status="IN PROGRESS"))


def test_the_newest_word_about_the_state_wins() -> None:
    waiting, started = note("Waiting for Bob"), note("Started the draft", SATURDAY)
    assert one(ask(started, waiting), "set_task_status", "status") == "IN PROGRESS"
    for both in ("Started the draft. Waiting for Bob", "Waiting for Bob. Started the draft"):
        assert one(ask(both), "set_task_status", "status") == "BLOCKED"
    for held in ("BLOCKED", "ON HOLD"):
        assert "set_task_status" not in calls(ask("Waiting for Bob", status=held))


@pytest.mark.parametrize(
    ("text", "priority"),
    [
        ("This is urgent!", "P1"),
        ("asap please", "P1"),
        ("Das ist dringend.", "P1"),
        ("Eilt sehr", "P1"),
        ("Production is down", "P0"),
        ("Priority: P0", "P0"),
        ("Not urgent", None),
        ("Ist nicht dringend", None),
        ("non-urgent", None),
        ("The urgent care unit", None),
        ("Emergency exit", None),
    ],
)
def test_urgent_words_raise_the_priority(text: str, priority: str | None) -> None:
    assert one(ask(text), "update_task_priority", "priority") == priority
    assert "update_task_priority" not in calls(ask(text, priority="P0"))


def test_a_newer_note_takes_urgency_back() -> None:
    told = ask(note("Urgent"), note("No longer urgent", SATURDAY))
    assert "update_task_priority" not in calls(told)


@pytest.mark.parametrize(
    "text",
    [
        "Done: design mockup",
        "done: the mockup",
        "Finished the design mockup today",
        "Design  MOCKUP is done.",
        "erledigt: Design Mockup",
        "Design Mockup erledigt",
        "Habe Design Mockup fertig",
        "- [x] Design mockup",
        "✓ Design mockup",
    ],
)
def test_what_is_done_is_ticked_with_the_words_that_say_so(text: str) -> None:
    told = calls(ask(text, checklist=[item("Design mockup"), item("Ship")]))
    (ticked,) = told["update_checklist_items"]["items"]
    assert (ticked["id"], ticked["isChecked"]) == ("item-Design mockup", True)
    assert len(ticked["reason"]) >= 20
    assert text.lower().removeprefix("- [x] ").removeprefix("✓ ")[:6] in ticked["reason"].lower()


@pytest.mark.parametrize(
    "text",
    [
        "Design mockup is not done",
        "Design mockup noch nicht fertig",
        "Design mockup is almost done",
        "When design mockup is done, call me",
        "Design mockup needs to be done",
        "Is the design mockup done?",
        "Done: it",
        "Done: de",
        "Done: something else",
        "- [ ] Design mockup",
    ],
)
def test_what_is_not_done_is_not_ticked(text: str) -> None:
    assert "update_checklist_items" not in calls(ask(text, checklist=[item("Design mockup")]))


def test_a_word_that_two_items_share_ticks_neither() -> None:
    told = ask("done: call", checklist=[item("Call Bob"), item("Call Ann")])
    assert "update_checklist_items" not in calls(told)


def test_a_tick_taken_off_after_the_note_stays_off() -> None:
    opened = item("Call Bob", checkedBy="person", checkedAt=SATURDAY)
    assert "update_checklist_items" not in calls(ask("done: call Bob", checklist=[opened]))


def test_what_is_done_already_is_not_added() -> None:
    told = ask(note("I need to call the bank"), note("done: call the bank", SATURDAY))
    assert proposed(told) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Please call the bank, it is for the house and we have to do it", ("en", "high")),
        ("The bank is closed", ("en", "medium")),
        ("Bitte die Bank anrufen, es ist für das Haus und wir müssen noch", ("de", "high")),
        ("Bitte prüfen und bezahlen", ("de", "medium")),
        ("Call Bob", None),
        ("We moeten de factuur betalen, het is voor een auto", None),
        ("Il faut payer la facture et les taxes", None),
    ],
)
def test_the_language_is_told_by_stop_words(text: str, expected: tuple[str, str] | None) -> None:
    told = calls(ask(text, languageCode=None)).get("set_task_language")
    assert told == (expected and {"languageCode": expected[0], "confidence": expected[1]})
    assert "set_task_language" not in calls(ask(text, languageCode="fr"))
