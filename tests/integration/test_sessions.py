"""An interactive session is recorded as autonomous runs are: the same replies, told in a talk of
three turns and in three wakes that a timer began, leave the same facts and the same effects.

Only what says who asked, and when, may differ: the constants below name it, and nothing else.
"""

import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from adapters.store.log import Log
from domain.append.causes import Receipt
from domain.log.state import RecordedEvent
from domain.log.wire import tag_of
from tests.support.cli import done, proved, run, told
from tests.support.waking import agent, at, reply, report, tape

CREATED = 6  # appends of the agent log up to the end of the creation wake
TAPE = Path("tape.jsonl")
SINK = "Fix the sink"
LINES = ("How long does it take?", "Who can do it?", "What else is there?")
TURNS: tuple[tuple[Any, ...], ...] = (
    (  # an effect, a proposal, a refusal of the tool and one of the machine, then words
        reply(
            ("set_task_language", {"languageCode": "en", "confidence": "high"}),
            ("update_task_estimate", {"minutes": 45}),
            ("update_task_due_date", {"dueDate": "next week"}),
            ("no_such_tool", {}),
            report("First"),
            text="I look at it.",
            tokens=120,
        ),
        reply(text="It takes 45 minutes."),
    ),
    (  # the same proposal again, a batch, a private note, and a report in an extra turn
        reply(
            ("update_task_estimate", {"minutes": 45}),
            (
                "add_multiple_checklist_items",
                {"items": [{"title": "Buy a seal"}, {"title": "Saw"}]},
            ),
        ),
        reply(("record_observations", {"observations": ["The person asks a lot."]}), text="Noted."),
        reply(text="A plumber can."),
        reply(report("Second")),
    ),
    (reply(text="Nothing else."),),
)
ASKING = {
    "command.request_wake.1",
    "command.set_timer.1",
    "command.tick_timer.1",
    "agent.timer_set.1",
    "agent.timer_ticked.1",
}
"""What begins a wake of the one kind or of the other, and is left out."""
DIFFERENT = set("trigger reason thread agentPosition dueAt isNow sections local snapshot".split())
"""Fields that say who asked, when, on which sections, and how many appends there were before. A
snapshot says when the earlier turns were."""
SECTIONS = {"now", "words", "changed", "instruction", "thread", "report"}
"""Sections of a prompt that tell when and why the agent was woken, and when it was before."""
KEY = re.compile(r"\b[a-z2-7]{32}\b")
TIME = re.compile(r"\w{3} \d{4}-\d\d-\d\d \d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A home after the talk, and one after the wakes. All tapes have one name, as a model has:
    it is recorded."""
    folder = tmp_path_factory.mktemp("homes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield _talked(folder), _alone(folder)


def _talked(folder: Path) -> Path:
    """A home after a talk of three turns."""
    home = _begun(folder, "talked")
    model = tape(TAPE, *(line for turn in TURNS for line in turn))
    typed = "".join(f"{line}\n" for line in LINES)
    result = run(["--model", model, "agent", "chat", SINK], home, input=typed)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "It takes 45 minutes.",
        "A plumber can.",
        "Nothing else.",
    ]
    return home


def _alone(folder: Path) -> Path:
    """A home after three wakes that a timer began."""
    home = _begun(folder, "alone")
    done(["agent", "timer", SINK, "set", "every day 07:00", "--always"], home)
    for nth, turn in enumerate(TURNS, start=2):
        model = tape(TAPE, *turn)
        ran = run(["--model", model, "run", "--until-idle"], home, at(f"2027-01-0{nth}T07:00:00Z"))
        assert ran.exit_code == 0, ran.output
    return home


def _begun(folder: Path, name: str) -> Path:
    """A home with an agent, whose creation wake is over."""
    agent(folder / name)
    model = tape(TAPE, reply(report("Begun")), reply(text="Done."))
    done(["--model", model, "wake"], folder / name)
    return folder / name


def rows(home: Path, name: str) -> Iterator[RecordedEvent]:
    log = Log.open(name, home / f"{name}.db", "r1")
    for appended in log.appends():
        yield from appended
    log.close()


class Told(NamedTuple):
    """Facts in order, each as ``(log, kind of stream, fact)``, and the payloads they name."""

    facts: list[tuple[str, str, Any]]
    payloads: dict[str, str]
    keys: list[str]  # in the order in which they come


def recorded(home: Path) -> Told:
    """Everything after the creation wake, without who asked and when."""
    found = [("journal", *_told(row)) for row in rows(home, "journal")]
    after = [row for row in rows(home, "agent") if row.n > CREATED]
    found += [("agent", *_told(row)) for row in after if not _tags(row) & ASKING]
    keys = list(dict.fromkeys(KEY.findall(json.dumps(found))))
    log = Log.open("agent", home / "agent.db", "r1")
    payloads = {key: data.decode() for key in keys if (data := log.payload(key)) is not None}
    log.close()
    return Told(found, payloads, keys)


def _tags(row: RecordedEvent) -> set[str]:
    facts = [row.fact, *([row.fact.command] if isinstance(row.fact, Receipt) else [])]
    return {tag_of(fact) for fact in facts}


def _told(row: RecordedEvent) -> tuple[str, Any]:
    return row.stream.partition(":")[0], _plain(msgspec.to_builtins(row.fact))


def _plain(value: Any) -> Any:
    """Without what may differ; times masked."""
    match value:
        case dict():
            return {name: _plain(one) for name, one in value.items() if name not in DIFFERENT}
        case list() | tuple():
            return [_plain(one) for one in value if not _is_why(one)]
        case str():
            return TIME.sub("TIME", value)
        case _:
            return value


def _is_why(value: Any) -> bool:
    return isinstance(value, dict) and value.get("name") in SECTIONS and "payload" in value


def test_a_talk_of_three_turns_is_recorded_as_three_autonomous_wakes(
    homes: tuple[Path, Path],
) -> None:
    talked, alone = homes
    one, other = recorded(talked), recorded(alone)
    kinds = [(log, stream, fact["kind"]) for log, stream, fact in one.facts]
    assert kinds == [(log, stream, fact["kind"]) for log, stream, fact in other.facts]
    assert {"wake.tool_asked.1", "changes.item_proposed.1", "agent.observed.1"} <= {
        kind for _, _, kind in kinds
    }

    derived = set(one.keys) ^ set(other.keys)  # run keys and what is made of them
    derived |= one.payloads.keys() | other.payloads.keys()  # clocks may show one minute in both
    names = [
        dict(zip((key for key in told.keys if key in derived), count())) for told in (one, other)
    ]
    mine, theirs = (_named(*both) for both in zip((one, other), names, strict=True))
    for left, right in zip(mine, theirs, strict=True):
        assert left == right
    for left, right in zip(*names, strict=True):  # payloads, where a time stands in the text
        assert (left in one.payloads) == (right in other.payloads)
        texts = one.payloads.get(left, ""), other.payloads.get(right, "")
        assert TIME.sub("TIME", texts[0]) == TIME.sub("TIME", texts[1])


def _named(told: Told, names: dict[str, int]) -> Any:
    """The facts with derived keys as numbers."""
    named = KEY.sub(lambda key: str(names.get(key[0], key[0])), json.dumps(told.facts))
    return json.loads(named)


def test_both_have_the_same_effects_and_prove(homes: tuple[Path, Path]) -> None:
    talked, alone = homes
    assert told(["task", "show", SINK], talked)["language"] == "en"
    tools = [item["tool"] for one in told(["inbox"], alone) for item in one["items"]]
    assert tools == ["update_task_estimate", "add_checklist_item", "add_checklist_item"]
    assert proved(talked)
    assert proved(alone)


def test_a_talk_has_one_thread_and_autonomous_wakes_have_one_each(
    homes: tuple[Path, Path],
) -> None:
    talked, alone = homes
    wakes, others = told(["wakes"], talked)[:3], told(["wakes"], alone)[:3]
    assert {one["reason"] for one in wakes} == {"user"}
    assert len({one["thread"] for one in wakes}) == 1
    assert {one["reason"] for one in others} == {"timer"}
    assert len({one["thread"] for one in others}) == 3
    said = json.dumps(told(["messages", SINK, "--thread", wakes[0]["thread"]], talked))
    assert [said.count(json.dumps(line)) for line in LINES] == [1, 1, 1]
