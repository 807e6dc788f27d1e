"""What the offline model reads of a clause: for each act and language a table of notes."""

from typing import Any

import pytest

from tests.support.rules import FRIDAY, SATURDAY, ask, calls, item, note, one, titles

ITEMS = ("Brake pads", "The chain", "Call the plumber", "Buy wood glue", "Paint the door")
DINGE = (
    "Bremsbeläge wechseln",
    "Kette ölen",
    "Klempner anrufen",
    "Holzleim kaufen",
    "Tür streichen",
)


def told(text: str, *, status: str = "OPEN", items: tuple[str, ...] = ()) -> dict[str, Any]:
    return calls(ask(text, status=status, checklist=[item(title) for title in items]))


def ticked(text: str, items: tuple[str, ...]) -> list[str]:
    found = told(text, items=items).get("update_checklist_items", {"items": []})
    return [one["id"].removeprefix("item-") for one in found["items"]]


DEADLINES_EN = [
    ("Moved to Dec 5th", "2026-12-05"),
    ("The deadline is now Dec 9", "2026-12-09"),
    ("Deliver on Monday the 7th", "2026-12-07"),
    ("Due in two weeks", "2026-12-04"),
    ("Has to be done before Christmas", "2026-12-24"),
    ("Deadline was Dec 1st, now it is Dec 5th.", "2026-12-05"),
    ("I don't have to finish it by Friday, Monday 30 November is fine.", "2026-11-30"),
    ("They gave us until the end of January", "2027-01-31"),
    ('Anna: "I need the figures by Thursday"', "2026-11-26"),
    ("Essay due 30 Nov, 2000 words", "2026-11-30"),
    ("She gave me two weeks to sort this out.", "2026-12-04"),
    ("First thing Tuesday this has to be on her desk.", "2026-11-24"),
    ("Books are due back Tuesday week.", "2026-12-01"),
    ("We agreed I'd hand it over on the 1st.", "2026-12-01"),
    ("My sister has to renew her passport by Friday.", None),
    ("Steve has got to get his done by Friday.", None),
    ("Deadline was 2026-12-01, we missed it", None),
    ("By Monday nothing was done", None),
    ("The shop is closed until 2027-03-01", None),
    ("Anna will bring the keys by Friday", None),
    ("The Smiths have to hand in theirs by Tuesday", None),
    ("I hoped to be done by 1 December", None),
    ("Meeting moved to Friday", None),
    ("Best before 2026-12-01 is printed on it", None),
]
DEADLINES_DE = [
    ("Bis Ende nächster Woche fertig", "2026-11-27"),
    ("Muss vor Weihnachten fertig sein", "2026-12-24"),
    ("Die Frist wurde auf den 15. Januar verlängert", "2027-01-15"),
    ("Bis zum 7. haben wir Zeit", "2026-12-07"),
    ("In zwei Wochen muss das fertig sein", "2026-12-04"),
    ("Muss Montag raus", "2026-11-23"),
    ("Abgabe nicht am Freitag, sondern erst am Montag", "2026-11-23"),
    ("Montag in einer Woche muss alles stehen.", "2026-11-30"),
    ("Abgabe Hausarbeit: 11.12., 12 Uhr", "2026-12-11"),
    ("Uns bleiben noch zwei Wochen, dann ist Schluss.", "2026-12-04"),
    ("Der Verlag möchte den Text am Montag in einer Woche haben.", "2026-11-30"),
    ("Meine Tochter muss bis Montag ein Referat schreiben.", None),
    ("bis 2027-03-01 geschlossen", None),
    ("Bis Montag war nichts fertig", None),
    ("Bin bis Freitag im Urlaub", None),
    ("Eigentlich wollte ich bis 1. Dezember durch sein", None),
    ("Wäre das am Freitag fällig gewesen, hätten wir ein Problem.", None),
]


@pytest.mark.parametrize(("text", "day"), DEADLINES_EN + DEADLINES_DE)
def test_a_deadline_is_a_day_by_which_the_person_must_be_done(text: str, day: str | None) -> None:
    assert one(ask(text), "update_task_due_date", "dueDate") == day


DURATIONS_EN = [
    ("Should not take more than 20 min", 20),
    ("Budget two and a half hours", 150),
    ("Can be done in an hour", 60),
    ("A two-hour job", 120),
    ("45 minutes should be enough", 45),
    ("Couple of hours' work at most.", 120),
    ("Probably an afternoon's work.", 240),
    ("It is 2 hours to get there", None),
    ("The drive takes 2 hours", None),
    ("The paint needs 4 hours to dry", None),
]
DURATIONS_DE = [
    ("30 Min. sollten reichen", 30),
    ("Länger als eine halbe Stunde sollte das nicht dauern", 30),
    ("Eine Sache von 20 Minuten", 20),
    ("Wird wohl zwei Stunden brauchen", 120),
    ("Anderthalb Stunden werde ich wohl brauchen.", 90),
    ("Dafür geht bestimmt der ganze Vormittag drauf.", 240),
    ("Viel ist es nicht, 15 Minuten vielleicht.", 15),
    ("Der Teig muss eine Stunde gehen.", None),
    ("Eine Stunde reicht nicht", None),
    ("Die Fahrt dauert 2 Stunden", None),
    ("Habe drei Stunden gebraucht", None),
]


@pytest.mark.parametrize(("text", "minutes"), DURATIONS_EN + DURATIONS_DE)
def test_a_duration_is_of_the_work_to_do(text: str, minutes: int | None) -> None:
    assert one(ask(text), "update_task_estimate", "minutes") == minutes


STATES_EN = [
    ("I'm waiting for Bob to sign", "OPEN", "BLOCKED"),
    ("Until they decide I can't do anything", "OPEN", "BLOCKED"),
    ("Haven't heard back from Anna", "OPEN", "BLOCKED"),
    ("The supplier hasn't shipped the pump yet", "OPEN", "BLOCKED"),
    ("Parts are on back order, nothing I can do", "OPEN", "BLOCKED"),
    ("Everything's with the accountant now.", "OPEN", "BLOCKED"),
    ("The neighbours haven't come back yet", "OPEN", None),
    ("If they don't answer we'll be stuck.", "OPEN", None),
    ("We'll pick it up again in March.", "OPEN", "ON HOLD"),
    ("Shelving the podcast for now.", "OPEN", "ON HOLD"),
    ("They kept me on hold for an hour", "OPEN", None),
    ("Floor's down, so the doors can go up now.", "BLOCKED", "IN PROGRESS"),
    ("Tom is waiting for my answer", "OPEN", None),
    ("Waiting for the train, I thought about it", "OPEN", None),
    ("We are no longer waiting for Bob", "OPEN", None),
    ("On hold until the new year", "OPEN", "ON HOLD"),
    ("Let's leave this until January", "OPEN", "ON HOLD"),
    ("I put the phone on hold", "OPEN", None),
    ("The part is here, we can go on", "BLOCKED", "IN PROGRESS"),
    ("Off hold since today.", "ON HOLD", "IN PROGRESS"),
    ("We can go on once the part is here", "BLOCKED", None),
    ("Received an invoice", "BLOCKED", None),
]
STATES_DE = [
    ("Ohne die Genehmigung können wir nicht anfangen", "OPEN", "BLOCKED"),
    ("Der Vermieter hat sich noch nicht gemeldet", "OPEN", "BLOCKED"),
    ("Die Fliesen sind immer noch nicht da", "OPEN", "BLOCKED"),
    ("Dichtung ist bestellt, jetzt heißt es warten.", "OPEN", "BLOCKED"),
    ("Das verschieben wir ins nächste Jahr.", "OPEN", "ON HOLD"),
    ("Die Ferien fangen morgen an", "OPEN", None),
    ("Unterschrift ist da, mache jetzt damit weiter.", "BLOCKED", "IN PROGRESS"),
    ("Tom wartet auf mich", "OPEN", None),
    ("Auf Greg brauchen wir nicht zu warten.", "OPEN", None),
    ("Auf Eis gelegt", "OPEN", "ON HOLD"),
    ("Bis Januar zurückgestellt", "OPEN", "ON HOLD"),
    ("Habe die Uhr eine Stunde zurückgestellt", "OPEN", None),
    ("Teile sind gekommen, es kann weitergehen.", "BLOCKED", "IN PROGRESS"),
    ("Ich warte nicht mehr auf Sam, er hat geantwortet.", "BLOCKED", "IN PROGRESS"),
    ("Kann erst weitermachen, wenn die Fliesen da sind", "BLOCKED", None),
]


@pytest.mark.parametrize(("text", "status", "wanted"), STATES_EN + STATES_DE)
def test_who_waits_is_the_person_and_what_came_frees(
    text: str, status: str, wanted: str | None
) -> None:
    assert one(ask(text, status=status), "set_task_status", "status") == wanted


def test_what_came_frees_a_task_that_waited_for_it() -> None:
    waiting: dict[str, Any] = {"status": "BLOCKED", "statusReason": "waiting for the tiles"}
    assert one(ask("Tiles arrived", **waiting), "set_task_status", "status") == "IN PROGRESS"
    assert "set_task_status" not in calls(ask("The invoice arrived", **waiting))


URGENCY = [
    ("This can't wait any longer", "P1"),
    ("Bitte schnellstmöglich", "P1"),
    ("No rush with this one.", "P3"),
    ("Hat keine Eile", "P3"),
    ("Please drop everything else and do this one first.", "P0"),
    ("Das muss jetzt wirklich als Erstes gemacht werden.", "P1"),
    ("Not important, just a nice thing to have one day.", "P3"),
    ("Läuft uns nicht weg.", "P3"),
    ("Can't wait to see it finished!", None),
    ("The other thing was urgent, so I did that first.", None),
    ("Er schreibt immer so, als wäre alles dringend.", None),
]


@pytest.mark.parametrize(("text", "priority"), URGENCY)
def test_urgency_is_of_this_task_and_now(text: str, priority: str | None) -> None:
    assert one(ask(text), "update_task_priority", "priority") == priority


DONE_EN = [
    ("Rob painted his door", []),
    ("Done with the brake pads, door tomorrow", ["Brake pads"]),
    ("Finished the brake pads today, the chain is still to do", ["Brake pads"]),
    ("Called the plumber", ["Call the plumber"]),
    ("The plumber has been called, and I bought the wood glue.", [ITEMS[2], ITEMS[3]]),
    ("Cleaned, sanded and painted the door", ["Paint the door"]),
    ("Everything is done except the chain", [ITEMS[0], *ITEMS[2:]]),
    ("The plumber called", []),
    ("Will call the plumber tomorrow", []),
    ("Called the plumber, no answer", []),
    ("Half of the door is painted", []),
    ("Harry said he'd paint the door", []),
    ("I forgot to call the plumber", []),
    ("Painted the door. The door has to be painted again.", []),
]
DONE_DE = [
    ("Klempner angerufen", ["Klempner anrufen"]),
    ("Erledigt: Klempner, Kette", ["Klempner anrufen", "Kette ölen"]),
    ("Rief den Klempner an", ["Klempner anrufen"]),
    ("Holzleim besorgt, aber die Kette ist noch offen", ["Holzleim kaufen"]),
    ("Tür geschliffen und gestrichen", ["Tür streichen"]),
    ("Der Klempner hat angerufen", []),
    ("Den Klempner rufe ich morgen an", []),
    ("Die halbe Tür ist gestrichen", []),
    ("Hab vergessen, den Klempner anzurufen", []),
]


@pytest.mark.parametrize(
    ("text", "items", "wanted"),
    [(text, ITEMS, wanted) for text, wanted in DONE_EN]
    + [(text, DINGE, wanted) for text, wanted in DONE_DE],
)
def test_a_tick_takes_a_clause_in_the_past(
    text: str, items: tuple[str, ...], wanted: list[str]
) -> None:
    assert sorted(ticked(text, items)) == sorted(wanted)


TODO_EN = [
    ("Still need to get the wood glue", []),
    ("We still need to call Bob, book the room and order the cake", 3),
    ("Missing: ink, stamps and rope", ["Ink", "Stamps", "Rope"]),
    ("Fixed the tap, but the drain needs to be cleaned as well.", ["Clean the drain"]),
    ("The fence needs painting", ["Paint the fence"]),
    ("Need to order the wine. Ordered the wine.", []),
    ("Need to hire a band. We don't need a band after all.", []),
    ('Anna: "I need to call the bank"', []),
    ("On 20 November 2026 Anna Lee wrote:\nI need to call the bank", []),
    ("If it rains, we need to call the bank", []),
]
TODO_DE = [
    ("Holzleim muss ich noch kaufen", []),
    ("Muss noch Bob anrufen, den Raum buchen und Kuchen bestellen", 3),
    ("Denk dran, das Ladekabel einzupacken", ["Ladekabel einpacken"]),
    ("Hahn repariert, aber der Abfluss muss auch noch gereinigt werden.", ["Abfluss reinigen"]),
    ("Die Rechnung ist noch zu bezahlen", ["Rechnung bezahlen"]),
    ("Noch schnell gegessen", []),
    ("Jetzt können wir loslegen", []),
    ("Wenn es regnet, müssen wir das Zelt holen", []),
]


@pytest.mark.parametrize(
    ("text", "items", "wanted"),
    [(text, ITEMS, wanted) for text, wanted in TODO_EN]
    + [(text, DINGE, wanted) for text, wanted in TODO_DE],
)
def test_what_is_asked_for_and_not_there_is_added(
    text: str, items: tuple[str, ...], wanted: list[str] | int
) -> None:
    found = titles(ask(text, checklist=[item(title) for title in items]))
    assert (len(found) if isinstance(wanted, int) else found) == wanted


# ----------------------------------------------------------------------- taking back

OFFERED = ("set_task_status", "update_task_due_date", "retract_suggestions", "update_report")
FOUND = "## Journal\n\n- [2026-11-20T09:00:00Z] (routine) Found by rule: due 2026-12-04, item Ink"


def taken_back(*notes: Any, line: str, journal: str = "", **task: Any) -> list[str]:
    sections = {"proposals": f"## Open\n\n- fp=abc {line}", "journal": journal}
    reply = ask(*notes, sections=sections, tools=OFFERED, **task)
    told = calls(reply).get("retract_suggestions", {"proposals": []})
    return [one["fingerprint"] for one in told["proposals"]]


def test_a_later_text_takes_an_open_proposal_back() -> None:
    blocked = 'Set status to BLOCKED: "Waiting for Bob"'
    waiting = note("Waiting for Bob", FRIDAY)
    answered = note("Bob answered, we can go on", SATURDAY)
    assert taken_back(waiting, line=blocked) == []
    assert taken_back(waiting, answered, line=blocked) == ["abc"]
    due = "Set due date to 2026-12-04"
    assert taken_back("Due 2026-12-04", line=due) == []
    assert taken_back("Due 2026-12-04", "There is no deadline any more", line=due) == ["abc"]


def test_what_was_found_in_a_text_that_was_edited_is_taken_back() -> None:
    due = "Set due date to 2026-12-04"
    assert taken_back("It was fine.", line=due, journal=FOUND) == ["abc"]
    assert taken_back("It was fine.", line='Add: "Ink"', journal=FOUND) == ["abc"]
    assert taken_back("Due 2026-12-04", line=due, journal=FOUND) == []
    assert taken_back("Due 2026-12-05", line=due, journal=FOUND) == [], "the new one replaces it"
    assert taken_back("It was fine.", line=due) == [], "another model may have read more"
