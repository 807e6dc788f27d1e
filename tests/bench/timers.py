"""What timers in two tiers spare (ADR 101): the demo home, lived through with timers that always
ask, and with such that ask where something moved.

    .venv/bin/python -m tests.bench.timers [AGENTS] [MONTHS]
"""

import sys
from collections import Counter

from adapters.demo import generator
from adapters.home.settings import parse
from adapters.store.log import Log
from domain.agent.agent import AgentObserved, AgentSettled
from domain.agent.wake_queue import UNCHANGED, TriggerMerged, WakeQueued
from domain.changes import change_set as c
from domain.wake import wake as w
from domain.wake.unchanged import is_same


class Lived:
    """A home's wakes, by run key. `unmoved`: those that asked and would not need to."""

    def __init__(self, timers: str, agents: int, months: float) -> None:
        text = generator.SETTINGS.replace("[agents]", f'[agents]\ntimers = "{timers}"')
        journal, self.log = (Log.in_memory(name, "demo") for name in ("journal", "agent"))
        days = round(months * generator.DAYS_A_MONTH)
        generator.Scenario(journal, self.log, parse(text), "wakelog").live(agents, days, None)
        self.reasons: dict[str, set[str]] = {}
        self.code: dict[str, str] = {}
        self.tokens: Counter[str] = Counter()
        self.did: dict[str, Counter[str]] = {}
        self.unmoved: list[str] = []
        self._started: dict[str, w.WakeStarted] = {}
        self._last: dict[str, w.WakeStarted | None] = {}
        for append in self.log.appends():
            for row in append:
                self._take(row.entity, row.fact)

    def _take(self, entity: str, fact: object) -> None:
        match fact:
            case WakeQueued() | TriggerMerged():
                self.reasons.setdefault(fact.run_key, set()).add(fact.trigger.reason)
            case w.WakeStarted(agent=agent):
                self._started[entity] = fact
                self.did[entity] = self.did[c.set_id(entity)] = Counter()
                last = self._last.get(agent)
                if self.reasons[entity] == {"timer"} and last and is_same(last, fact):
                    self.unmoved.append(entity)
            case w.WakeFinished(code=code):
                self.code[entity] = code
            case AgentSettled(run_key=run_key, outcome=outcome):
                self._last[entity] = self._started[run_key] if outcome == "completed" else None
            case w.ModelAnswered() | w.ModelFailed() if used := w.used(fact):
                self.tokens[entity] += (used.tokens_in or 0) + (used.tokens_out or 0)
            case w.ReportDrafted():
                self.did[entity]["reports"] += 1
            case AgentObserved(run_key=run_key):
                self.did[run_key]["observations"] += 1
            case c.ItemProposed() | c.ItemConfirmed() | c.ItemRejected() | c.ItemDeferred():
                self.did[entity][type(fact).__name__] += 1

    def tell(self) -> None:
        timers = [one for one, why in self.reasons.items() if why == {"timer"}]
        asked = [one for one in timers if one in self._started]
        unchanged = sum(self.code.get(one) == UNCHANGED for one in timers)
        of_timers = sum(self.tokens[one] for one in asked)
        print(f"  {len(timers)} timer wakes: {len(asked)} asked, {unchanged} met nothing new")
        print(f"  {self.log.count():,} rows; {self.tokens.total():,} tokens, {of_timers:,} theirs")
        did = sum((self.did[one] for one in self.unmoved), Counter[str]())
        idle = sum(not self.did[one] for one in self.unmoved)
        spent = sum(self.tokens[one] for one in self.unmoved)
        print(f"  {len(self.unmoved)} asked where nothing had moved ({spent:,} tokens): "
              f"{idle} did nothing, the others {dict(did)}")  # fmt: skip


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    for timers in ("always", "changed"):
        print(timers, flush=True)
        Lived(timers, int(given.get(1, 50)), float(given.get(2, 6))).tell()
