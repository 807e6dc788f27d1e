"""Laws 4, 5, 9 and 10 on wakes: one thing waited for at a time, asked for before it is done, and
every call of the model and of a tool with one end."""

from collections import Counter
from collections.abc import Iterator

from tests.support.checking.logs import Append, Doc, Finding, Home, Log, Row, key

TURNS_MAX = 20
CALLS_MAX = 64
RETAKES_MAX = 3
PROMPT_MAX_BYTES = 120_000  # where the cause names no other
SEPARATOR_BYTES = 2
ASKED = {"wake.model_asked.1": "model", "wake.tool_asked.1": "tool"}
REPLIED = {
    "wake.model_answered.1": "model",
    "wake.model_failed.1": "model",
    "wake.tool_returned.1": "tool",
}
UNSTARTED = {"superseded", "skipped"}


class _Wake:
    """A wake as its rows tell it. `asked`: the intent that is open; `intents`: all there were."""

    def __init__(self) -> None:
        self.started: Doc | None = None
        self.ended = ""
        self.is_deferred = False
        self.asked: tuple[str, int, str, int] | None = None
        self.intents: set[tuple[str, int, str, int]] = set()
        self.turn = 0
        self.retakes = 0
        self.calls: list[Doc] = []
        self.executed: Counter[int] = Counter()
        self.is_forced = False


def check(home: Home) -> Iterator[Finding]:
    """All wakes of the agent log."""
    wakes: dict[str, _Wake] = {}
    for one in home.agents.appends:
        for row in one.rows:
            if row.kind == "wake":
                wake = wakes.setdefault(row.stream, _Wake())
                yield from (Finding(law, one.where, told) for law, told in _row(one, row, wake))
        if one.does in BEGINS:
            yield from _prompt(home.agents, one)
        if one.does == UNASKED:
            yield from (Finding(9, one.where, told) for told in _unasked(one))
    for stream, wake in wakes.items():
        yield from _left(home, stream, wake)


BEGINS = ("begin_wake", "propose")
UNASKED = "propose"  # a client, without being asked: its wake is one append


def _unasked(one: Append) -> Iterator[str]:
    """It moves nothing of the agent but what it proposes, and its wake begins and ends there."""
    moved = [row.topic for row in one.rows if row.kind == "alert"]
    moved += [row.topic for row in one.rows if row.topic.startswith("agent.")]
    if {*moved} - {"agent.proposed.1"}:
        yield f"a client's proposal moves {moved}"
    if [len([*one.of(topic)]) for topic in ("wake.started.1", "wake.finished.1")] != [1, 1]:
        yield "a client's wake does not begin and end in its append"
    begun = one.command["begin"]
    run = key("run/client", begun["agent"], one.command["session"], "1")
    if begun["runKey"] != run:
        yield f"the run {begun['runKey']} is not that of its session"


Told = Iterator[tuple[int, str]]


def ticket(kind: str, data: Doc) -> tuple[str, int, str, int]:
    """What pairs a reply with its intent."""
    operation = data["operation"] if kind == "tool" else ""
    return kind, data["turn"], operation, data["attempt"]


def _row(one: Append, row: Row, wake: _Wake) -> Told:
    if wake.ended and row.topic != "wake.late_reply.1":
        yield 9, f"{row.topic} of {row.entity}, which has ended"
    if wake.started is None and row.topic not in ("wake.started.1", "wake.finished.1"):
        yield 4, f"{row.topic} of {row.entity}, which has not begun"
    match row.topic:
        case "wake.started.1":
            yield from _started(row, wake)
        case "wake.finished.1":
            yield from _finished(row, wake)
        case "wake.deferred.1":
            wake.is_deferred = True
        case "wake.late_reply.1":
            yield from _late(row, wake)
        case topic if topic in ASKED:
            yield from _asked(ASKED[topic], row, wake)
        case topic if topic in REPLIED:
            yield from _replied(REPLIED[topic], one, row, wake)


def _started(row: Row, wake: _Wake) -> Told:
    if wake.started is not None:
        yield 9, f"the wake {row.entity} starts twice"
    wake.started = row.data
    if row.data["turnMax"] > TURNS_MAX:
        yield 10, f"the wake {row.entity} may have {row.data['turnMax']} turns"


def _finished(row: Row, wake: _Wake) -> Told:
    outcome = row.data["outcome"]
    if wake.started is None and outcome not in UNSTARTED:
        yield 9, f"the wake {row.entity} is {outcome} and has not begun"
    if outcome == "completed" and (wake.asked or wake.calls):
        yield 4, f"the wake {row.entity} completes while something is left to do"
    wake.ended, wake.asked, wake.calls = outcome, None, []


def _asked(kind: str, row: Row, wake: _Wake) -> Told:
    data = row.data
    mine = ticket(kind, data)
    before = wake.asked
    if before is None:
        if mine[3] != 1:
            yield 5, f"{row.topic} of {row.entity} begins with attempt {mine[3]}"
        yield from _in_turn(kind, row, wake)
    elif mine != (*before[:3], before[3] + 1):
        yield 4, f"{row.topic} of {row.entity} while it waits for {before}"
    if before is not None and not wake.is_deferred:
        wake.retakes += 1
    if wake.retakes > RETAKES_MAX:
        yield 10, f"the wake {row.entity} is taken over {wake.retakes} times"
    if mine in wake.intents:
        yield 5, f"{mine} is asked for twice"
    wake.intents.add(mine)
    wake.asked, wake.is_deferred = mine, False


def _in_turn(kind: str, row: Row, wake: _Wake) -> Told:
    """A turn is asked for once the calls of the last one are answered; a call in its order."""
    data, begun = row.data, wake.started or {}
    if kind == "tool":
        wake.executed[wake.turn] += 1
        if wake.executed[wake.turn] > CALLS_MAX:
            yield 10, f"the wake {row.entity} executes {wake.executed[wake.turn]} calls in a turn"
        if data["turn"] != wake.turn or not wake.calls:
            yield 4, f"{data['operation']} is asked for, and no call of turn {wake.turn}"
        elif wake.calls[0]["callId"] != data["callId"]:
            yield 4, f"the call {data['callId']} is done out of its turn"
        return
    if wake.calls:
        yield 4, f"turn {data['turn']} is asked for while {len(wake.calls)} calls are open"
    if data["turn"] != wake.turn + 1:
        yield 4, f"turn {data['turn']} follows turn {wake.turn}"
    most = begun.get("turnMax", 0) + bool(data.get("forced"))
    if data["turn"] > most or wake.is_forced:
        yield 10, f"the wake {row.entity} asks for turn {data['turn']} of {most}"
    wake.turn, wake.is_forced = data["turn"], bool(data.get("forced"))


def _replied(kind: str, one: Append, row: Row, wake: _Wake) -> Told:
    data = row.data
    if kind == "tool" and data["attempt"] == 0:
        if wake.asked is not None:
            yield 4, f"a call of {row.entity} is answered while it waits for {wake.asked}"
        is_refused = data.get("code") == "limit"
        wake.executed[wake.turn] += not is_refused
        if wake.executed[wake.turn] > CALLS_MAX:
            yield 10, f"the wake {row.entity} answers {wake.executed[wake.turn]} calls in a turn"
        yield from _called(row, wake)
        return
    mine = ticket(kind, data)
    if row is not one.first and one.does != UNASKED:
        yield 2, f"{row.topic} of {row.entity} is no cause of its own"
    if mine not in wake.intents:
        yield 5, f"{row.topic} {mine} was never asked for"
    elif mine != wake.asked or wake.is_deferred:
        yield 5, f"{row.topic} {mine} is taken though the wake waits for {wake.asked}"
    wake.retakes = 0
    if kind == "tool":
        wake.asked = None
        yield from _called(row, wake)
    elif row.topic == "wake.model_answered.1":
        wake.asked, wake.calls = None, list(data.get("calls", []))
    elif not data.get("ofProvider"):
        wake.asked = None


def _called(row: Row, wake: _Wake) -> Told:
    call = wake.calls.pop(0) if wake.calls else {}
    if call.get("callId") != row.data["callId"]:
        yield 4, f"the call {row.data['callId']} of {row.entity} is answered and was not its turn"


def _late(row: Row, wake: _Wake) -> Told:
    """A late reply answers an intent, too: an older one, or one of a wake that has ended."""
    reply = row.data["reply"]
    mine = ticket(REPLIED.get(reply["kind"], "model"), reply)
    if mine not in wake.intents:
        yield 5, f"a late {reply['kind']} {mine} was never asked for"
    if mine == wake.asked and not wake.is_deferred:
        yield 5, f"{mine} is called late, and the wake waits for it"


def _left(home: Home, stream: str, wake: _Wake) -> Iterator[Finding]:
    """A wake that has not ended waits for something."""
    if wake.ended or wake.started is None:
        return
    if wake.asked is None:
        yield Finding(4, stream, "it waits for nothing and has no end")
    elif home.is_settled and not wake.is_deferred:
        yield Finding(9, stream, f"{wake.asked} is neither answered nor taken over")


def _prompt(log: Log, one: Append) -> Iterator[Finding]:
    """What a wake is shown fits in what the cause allows, and is what it was begun with."""
    command = one.command.get("begin", one.command)
    refs = [*command["system"], *command["user"]]
    size = sum(len(log.payloads.get(ref["payload"], b"")) + SEPARATOR_BYTES for ref in refs)
    most = command.get("promptMaxBytes", 0) or PROMPT_MAX_BYTES
    if size > most:
        yield Finding(10, one.where, f"its prompt has {size} bytes of {most}")
    for row in one.of("wake.started.1"):
        if [*row.data["system"], *row.data["user"]] != refs:
            yield Finding(6, one.where, "the wake was begun on another prompt than its cause has")
