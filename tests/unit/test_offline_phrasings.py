"""Ordinary ways to say a thing in English and German, and ways that only look like one."""

import pytest

from tests.support.rules import ask, one

DAYS = """
by Friday next week at the latest, the report|2026-11-27
The form needs to be in by 3 December|2026-12-03
This has to be done no later than Dec 4|2026-12-04
To be finished before the end of November|2026-11-30
Closing date: 7 December 2026|2026-12-07
Must be handed in on Monday|2026-11-23
She wants it back on Wednesday at the latest|2026-11-25
I promised to have it ready by Sunday night|2026-11-22
Pushed back a week, so it's the 8th of December now|2026-12-08
I have until the 5th|2026-12-05
We've got till next Wednesday to answer|2026-11-25
Deadline: mid-December|2026-12-15
Due at the beginning of January|2027-01-01
Due in three weeks' time|2026-12-11
Due a week from today|2026-11-27
Due a fortnight from now|2026-12-04
Hand it in by New Year's Eve|2026-12-31
by the end of next month|2026-12-31
It expires on 12 December|2026-12-12
Offer ends Dec 1|2026-12-01
Applications close on 9 December|2026-12-09
Needed for Thursday|2026-11-26
Last date for returns is 30 November|2026-11-30
It needs to be there by the 1st of December|2026-12-01
The landlord needs the form by Tuesday|2026-11-24
The deadline has been extended to 10 December|2026-12-10
due: tomorrow|2026-11-21
Spätestens am Mittwoch muss der Schlüssel zurück|2026-11-25
Abgabe ist am 7. Dezember|2026-12-07
Die Frist läuft am 3.12. ab|2026-12-03
Muss bis Freitag nächster Woche fertig sein|2026-11-27
Bis Freitag nächste Woche erledigen|2026-11-27
Fällig Anfang Januar|2027-01-01
Bis Mitte Dezember einreichen|2026-12-15
Bis KW 50 fertig|2026-12-11
Das muss übermorgen raus|2026-11-22
Bis Heiligabend muss es stehen|2026-12-24
In drei Wochen ist Abgabe|2026-12-11
Abgabetermin wurde auf den 9. Dezember verschoben|2026-12-09
Wir haben bis zum 5. Zeit|2026-12-05
Einsendeschluss: 30.11.|2026-11-30
Ich habe versprochen, dass es Sonntag fertig ist|2026-11-22
Die Anmeldung läuft noch bis 1. Dezember|2026-12-01
Letzter Tag ist der 2. Dezember|2026-12-02
Heute in zwei Wochen fällig|2026-12-04
Bis Monatsende bezahlen|2026-11-30
It was meant to be done by last Friday|-
The museum opens again on 5 December|-
Rob's exam is on Tuesday|-
If it is not done by Friday, we pay a fine|-
Is it due on Friday?|-
He will be back by Monday|-
It is not due on Friday|-
Maybe by Friday|-
I worked on it until Thursday|-
Back in three weeks|-
I saw her on the 5th of November by chance|-
The fair runs from 1 to 5 December|-
I'm away until Monday|-
Anna's birthday is on 3 December|-
We met at the end of the month|-
Sale starts Friday|-
Nice to have by Friday, but no must|-
Am Dienstag hat Rob Prüfung|-
Das Museum öffnet am 5. Dezember wieder|-
War bis letzten Freitag gedacht|-
Wenn es bis Freitag nicht da ist, rufe ich an|-
Ist das am Freitag fällig?|-
Er ist bis Montag verreist|-
Das muss nicht bis Freitag fertig sein|-
In drei Wochen ist Weihnachten|-
In KW 50 habe ich Urlaub|-
Anfang Januar wird es kalt|-
Das Fest war Mitte November|-
Bis Freitag war viel los|-
"""
MINUTES = """
figure on an hour for each side, so two hours altogether|120
should be done in 15 minutes|15
about an hour and a half|90
I reckon half a day|240
needs roughly a couple of hours|120
That's a 30-minute job|30
Will take me the whole morning|240
Three quarters of an hour should do|45
Probably 2 hrs of work|120
It's two hours' work|120
an afternoon should be enough|240
I'd allow 90 minutes|90
Estimated time: 1.5 hours|90
An hour at most|60
That will keep me busy for two hours|120
takes a good hour|60
Dauert etwa anderthalb Stunden|90
Ca. 1,5 Std|90
Ein Vormittag sollte reichen|240
Ich rechne mit einem halben Tag|240
Schätze mal zwei Stunden|120
Das ist in 15 Minuten erledigt|15
Aufwand: rund 3 Stunden|180
Gut eine Stunde Arbeit|60
Eine knappe Stunde wird es dauern|60
Dürfte eine Dreiviertelstunde dauern|45
Braucht einen ganzen Tag|480
Mehr als 20 Minuten brauche ich dafür nicht|20
Das kostet mich einen Abend|240
Zwei Stunden muss man rechnen|120
We sat in traffic for 2 hours|-
The course runs 90 minutes every Thursday|-
The flight takes 3 hours|-
We talked for an hour|-
It took two hours|-
Let it rest for 30 minutes|-
The shop is 20 minutes away|-
Does it take an hour?|-
The meeting lasts an hour|-
I slept half a day|-
If it takes 2 hours, I give up|-
Two hours late again|-
Wir standen 2 Stunden im Stau|-
Der Kurs geht 90 Minuten|-
Die Fahrt dauert eine Stunde|-
Zwei Stunden lang telefoniert|-
Dauert das eine Stunde?|-
Der Teig muss 30 Minuten ruhen|-
Hat zwei Stunden gedauert|-
Eine Stunde zu spät|-
"""
PRIORITIES = """
This really needs to happen straight away!|P1
There's plenty of time for this|P3
This is top priority|P1
Needs doing ASAP|P1
It's getting urgent|P1
We need this immediately|P1
This comes first|P1
That's the most important thing right now|P1
No hurry at all|P3
It can wait|P3
Low priority|P3
Whenever you get a chance|P3
Not urgent|-
This isn't urgent|-
Nothing urgent|-
Take your time with it|P3
Doesn't have to be soon|P3
Some day, when I get round to it|P3
Das ist wirklich dringend|P1
Das eilt|P1
Muss sofort passieren|P1
Das hat oberste Priorität|P1
Brennt!|P1
Jetzt aber schnell, es ist höchste Zeit|P1
Hat Zeit|P3
Eilt nicht|P3
Nicht dringend|-
Keine Eile damit|P3
Das kann warten|P3
Irgendwann mal, wenn Luft ist|P3
Dafür ist noch reichlich Zeit|P3
Das ist nachrangig|P3
Muss nicht gleich sein|P3
She asked whether it is urgent|-
Is it urgent?|-
There was no time for this|-
It was urgent last year|-
If it gets urgent, call me|-
Anna always says it is urgent|-
We had plenty of time|-
The urgent care clinic is closed|-
I can wait here|-
Sie fragt, ob es eilt|-
Ist das dringend?|-
Das war damals dringend|-
Falls es eilt, ruf an|-
Ich kann hier warten|-
Wir hatten viel Zeit|-
"""
STATUSES = """
Nothing happens until the surveyor has been|BLOCKED
waiting to hear from Kate about the venue|BLOCKED
Waiting on the bank|BLOCKED
Stuck until the part arrives|BLOCKED
Pending approval by the board|BLOCKED
No reply yet from the council|BLOCKED
Still no word from Tom|BLOCKED
We need Tom's signature before we can go on|BLOCKED
Can't continue without the key|BLOCKED
It all depends on the permit now|BLOCKED
Held up by the supplier|BLOCKED
Still waiting for a quote|BLOCKED
Awaiting confirmation from the hotel|BLOCKED
The ball is in their court now|BLOCKED
Tom hasn't got back to me yet|BLOCKED
Tom still hasn't sent the files|BLOCKED
On ice for now|ON HOLD
Shelved until spring|ON HOLD
Postponed until further notice|ON HOLD
Parked for the moment|ON HOLD
Not now, on hold|ON HOLD
Let's leave this until after the holidays|ON HOLD
I'll come back to this next year|ON HOLD
Taking a break from this until January|ON HOLD
Putting this on the back burner|ON HOLD
Warte auf den Klempner|BLOCKED
Warten noch auf die Rückmeldung vom Amt|BLOCKED
Hängt am Vermieter|BLOCKED
Ohne Schlüssel komme ich nicht weiter|BLOCKED
Solange die Genehmigung fehlt, geht nichts|BLOCKED
Noch keine Antwort vom Amt|BLOCKED
Bisher nichts von Tom gehört|BLOCKED
Erst muss der Gutachter kommen, vorher geht nichts|BLOCKED
Tom hat sich immer noch nicht gemeldet|BLOCKED
Es fehlt noch die Unterschrift von Tom|BLOCKED
Liegt auf Eis|ON HOLD
Das ruht erstmal|ON HOLD
Auf nächstes Jahr verschoben|ON HOLD
Vertagt|ON HOLD
Machen wir erst nach den Ferien weiter|ON HOLD
Wird bis Januar pausiert|ON HOLD
Vorerst zurückgestellt|ON HOLD
Lassen wir erstmal liegen|ON HOLD
Started on it this morning|IN PROGRESS
Made a start today|IN PROGRESS
Heute damit angefangen|IN PROGRESS
Bin gerade dabei|IN PROGRESS
Kate is waiting to hear from me|-
Nobody waits for this|-
I waited for the bus|-
We don't have to wait for Tom|-
Are we still waiting for Tom?|-
If Tom does not answer, we are stuck|-
I can't wait for Christmas|-
He is stuck in traffic|-
The meeting was postponed|-
Put the milk on ice|-
I shelved the books|-
The car is parked outside|-
Tom is on hold with the bank|-
Not waiting for anybody|-
Waiting was boring|-
Kate wartet auf meine Antwort|-
Habe auf den Bus gewartet|-
Müssen wir auf Tom warten?|-
Falls Tom nicht antwortet, hängen wir fest|-
Wir warten nicht auf Tom|-
Das Bild hängt an der Wand|-
Die Sitzung wurde vertagt|-
Sonntags ruht die Arbeit|-
"""
FREED = """
Surveyor came today, so we can get going again|IN PROGRESS
Back on it since Monday|IN PROGRESS
Resumed today|IN PROGRESS
We can carry on now|IN PROGRESS
Work continues|IN PROGRESS
No longer blocked|IN PROGRESS
Nothing in the way any more|IN PROGRESS
Got the go-ahead|IN PROGRESS
Good to go|IN PROGRESS
Es geht weiter|IN PROGRESS
Wieder aufgenommen|IN PROGRESS
Wir können weitermachen|IN PROGRESS
Jetzt steht dem nichts mehr im Weg|IN PROGRESS
Wir haben grünes Licht|IN PROGRESS
Nicht mehr blockiert|IN PROGRESS
Can we carry on?|-
We can't carry on|-
We could go on if Tom came|-
Hopefully we can go on soon|-
Geht es weiter?|-
Es geht noch nicht weiter|-
Wenn Tom kommt, geht es weiter|-
Hoffentlich geht es bald weiter|-
"""


def table(text: str) -> list[tuple[str, str | None]]:
    rows = (line.rsplit("|", 1) for line in text.strip().splitlines())
    return [(said, None if wanted == "-" else wanted) for said, wanted in rows]


@pytest.mark.parametrize(("text", "day"), table(DAYS))
def test_a_deadline_is_known_by_any_ordinary_phrase(text: str, day: str | None) -> None:
    assert one(ask(text), "update_task_due_date", "dueDate") == day


@pytest.mark.parametrize(("text", "minutes"), table(MINUTES))
def test_a_duration_is_known_by_any_ordinary_phrase(text: str, minutes: str | None) -> None:
    told = one(ask(text), "update_task_estimate", "minutes")
    assert (None if told is None else str(told)) == minutes


@pytest.mark.parametrize(("text", "priority"), table(PRIORITIES))
def test_urgency_is_known_by_any_ordinary_phrase(text: str, priority: str | None) -> None:
    assert one(ask(text), "update_task_priority", "priority") == priority


@pytest.mark.parametrize(("text", "status"), table(STATUSES))
def test_a_wait_or_a_rest_is_known_by_any_ordinary_phrase(text: str, status: str | None) -> None:
    assert one(ask(text), "set_task_status", "status") == status


@pytest.mark.parametrize(("text", "status"), table(FREED))
def test_what_goes_on_is_known_by_any_ordinary_phrase(text: str, status: str | None) -> None:
    assert one(ask(text, status="BLOCKED"), "set_task_status", "status") == status
