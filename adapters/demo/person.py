"""The scripted person of demo data: writes notes, ticks, logs time, asks, and decides.

What they wrote into a note they hold for true; a proposal that says the same is mostly confirmed,
one that was guessed mostly rejected, with a reason. Dates in the garden depend on the weather."""

import json
from collections import defaultdict
from datetime import date, timedelta
from typing import Any

from adapters.demo.stories import Stories, Story
from adapters.models.demo import FILLERS
from adapters.simulation.plan import Dice
from adapters.usecases import proposals, tasks
from adapters.usecases.agents import configure_agent
from adapters.usecases.lessons import rate_run
from adapters.usecases.proposals import ItemVerdict
from adapters.wiring import Home
from domain.agent.agent import AGENT
from domain.agent.deciders import AgentSettings
from domain.changes.change_set import CHANGES, ChangeItem, ChangeSet
from domain.journal.task import TASK, Task
from domain.log.keys import sha
from domain.log.timestamps import instant, later
from domain.log.wire import payload

ACTION_WEIGHTS: dict[str, int] = {
    "chat": 20, "due": 9, "estimate": 8, "step": 11, "done": 9, "waiting": 5, "moving": 4,
    "urgent": 3, "tick": 8, "spend": 12, "label": 5, "field": 4, "ask": 5, "nudge": 2, "worked": 5,
    "rest": 6, "blocked": 4, "correct": 3, "rate": 3, "loop": 3,
}  # fmt: skip
HOURS = (1, 2, 3, 4, 6)
OVERLOOKED = 4  # of a hundred
RATED = 30  # of a hundred wakes whose proposals are decided
MOODS, COMPLAINS, RELENTS = 12, 7, 9
"""Of so many evenings, on which the person is annoyed, and on which content again."""
WEATHER = "Garten"
WEEK_DAYS = 7
WAVERS_MAX = 9


class TendedTask:
    """A task in the person's care, and what they hold for true about it. `truths`: values of
    proposals by tool. `is_undecided`: they change their mind about the date each time one is
    proposed, until they are tired of it."""

    def __init__(self, story: Story, task: str, agent: str, until: int) -> None:
        self.story = story
        self.task = task
        self.agent = agent
        self.until = until  # the day on which it is done
        self.truths: defaultdict[str, set[str]] = defaultdict(set)
        self.is_undecided = False
        self.wavered = 0

    @property
    def language(self) -> str:
        return self.story.category.language


class Person:
    """Acts in a home; `stories` has their sentences."""

    def __init__(self, home: Home, stories: Stories, dice: Dice) -> None:
        self._home = home
        self._services = home.services
        self._stories = stories
        self._dice = dice
        self._met: defaultdict[str, dict[str, None]] = defaultdict(dict)  # titles by category
        self._decided: set[str] = set()  # change sets with nothing left to decide

    # ------------------------------------------------------------------------------ on the task

    def go_on(self, care: TendedTask) -> None:
        """Do one of the things that people do to a task."""
        self._met[care.story.category.name][care.story.title] = None
        deed = self._dice.weighed(ACTION_WEIGHTS)
        match deed:
            case "tick":
                self._tick(care)
            case "spend":
                self._spend(care)
            case "label":
                label = self._dice.pick(("Anruf", "Einkauf", "call", "purchase"))
                tasks.assign_labels(self._home, care.task, [label])
            case "field":
                self._field(care)
            case "ask":
                self._tell(care, self.say(care.language, "asks"))
            case "correct":
                self._correct(care)
            case "rate":
                tasks.rate(self._home, care.task, 2 + self._dice.number(4))
            case "loop":
                loop = self._told(care, "loop")
                configure_agent(self._home, care.agent, AgentSettings(open_loops=(loop,)))
            case "nudge":
                self._services.append_agent(self._services.request(care.agent))
            case "due" if care.is_undecided:
                self._field(care)
            case _:
                self.note(care, self._told(care, deed))

    def note(self, care: TendedTask, text: str) -> str:
        """Write a note; its id."""
        return tasks.add_note(self._home, care.task, text).ids[0]

    def say(self, language: str, use: str) -> str:
        """One of the sentences for a use."""
        return self._dice.pick(self._stories.texts[language][use])

    def _told(self, care: TendedTask, use: str) -> str:
        """A sentence with its blanks filled in; what it says is true from now on."""
        story, dice = care.story, self._dice
        day = self._today() + timedelta(days=5 + dice.number(40))
        hours = dice.pick(HOURS)
        step = dice.pick(story.steps)
        began = 13 + dice.number(4)
        others = [one for one in self._met[story.category.name] if one != story.title]
        if use == "due":
            care.truths["update_task_due_date"] = {day.isoformat()}
        if use == "estimate":
            care.truths["update_task_estimate"] = {str(hours * 60)}
        return self.say(care.language, use).format(
            who=dice.pick(story.category.people), date=day.isoformat(), hours=hours, step=step,
            other=dice.pick(others or [story.category.name]), began=began,
            ended=began + 1 + hours // 3,
        )  # fmt: skip

    def _tick(self, care: TendedTask) -> None:
        left = [one for one in self._task(care).items if not one.is_checked]
        if left:
            item = self._dice.pick(left).id
            tasks.mark_items(self._home, care.task, [item], is_checked=True)

    def _spend(self, care: TendedTask) -> None:
        end = self._services.clock.now()
        start = later(end, seconds=-60 * self._dice.pick((15, 25, 40, 75)))
        summary = self.say(care.language, "spent")
        tasks.log_time(self._home, care.task, start, end, summary=summary)

    def _correct(self, care: TendedTask) -> None:
        """An entry of theirs began somewhat earlier than they said."""
        entries = [one for one in self._task(care).time if one.end and one.start]
        if entries:
            began = later(entries[-1].start, seconds=-60 * self._dice.pick((5, 10, 20)))
            tasks.retime(self._home, care.task, entries[-1].id, began=began)

    def _field(self, care: TendedTask) -> None:
        """Set by hand what an agent might have proposed."""
        match self._dice.number(3):
            case 0:
                field: tasks.Fields = {"priority": f"P{1 + self._dice.number(3)}"}
            case 1:
                field = {"estimate": 30 * (1 + self._dice.number(8))}
            case _:
                day = self._today() + timedelta(days=7 + self._dice.number(30))
                field = {"due": day.isoformat()}
        tasks.edit_task(self._home, care.task, field)

    def confide(self, care: TendedTask, nth: int) -> None:
        """Tell the agent of the day: now and then it is to blame, and soon forgiven."""
        use = {COMPLAINS: "complains", RELENTS: "relents"}.get(nth % MOODS, "evenings")
        texts = self._stories.texts[care.language][use]
        people, steps = care.story.category.people, care.story.steps
        told = texts[nth % len(texts)]
        who, step = people[nth % len(people)], steps[nth % len(steps)]
        self._tell(care, told.format(who=who, step=step))

    def _tell(self, care: TendedTask, text: str) -> None:
        said = payload(care.task, text.encode())
        request = self._services.request(care.agent, "user", words=said.id)
        self._services.append_agent(request, payloads=[said])

    def _task(self, care: TendedTask) -> Task:
        with self._services.journal.reading() as world:
            return world.load(TASK, care.task)

    def _today(self) -> date:
        return instant(self._services.clock.now()).date()

    # ------------------------------------------------------------------------------ on proposals

    def review(self, care: TendedTask, *, thorough: int) -> None:
        """Look at what is proposed, and decide it: `thorough` of a hundred."""
        with self._services.agents.reading() as world:
            known = world.load(AGENT, care.agent).sets
            sets = [world.load(CHANGES, one) for one in known if one not in self._decided]
        for changes in sets:
            waiting = [one for one in changes.items if one.status == "pending"]
            if changes.is_opened and not waiting:
                self._decided.add(changes.id)
                self._rate(changes)
            for item in waiting if changes.is_opened else ():
                if self._dice.number(100) < thorough and not _is_overlooked(item):
                    self._decide(care, changes, item)

    def _decide(self, care: TendedTask, changes: ChangeSet, item: ChangeItem) -> None:
        arguments = json.loads(proposals.arguments_of(self._home, item))
        why = self._why_not(care, item.tool, arguments)
        if self._dice.number(100) < 3:
            verdict = ItemVerdict("defer", self.say(care.language, "later"))
        elif why:
            verdict = ItemVerdict("reject", self.say(care.language, why))
        else:
            verdict = ItemVerdict("confirm", edit=self._edit(item, arguments))
        decided = proposals.decide(self._home, changes.id, item.number, verdict)
        if decided.refused:  # stale: somebody has changed it meanwhile, and the person looks again
            verdict = ItemVerdict("reject", self.say(care.language, "other"))
            proposals.decide(self._home, changes.id, item.number, verdict)
        elif verdict.kind == "reject":
            self._waver(care, item.tool, arguments)

    def _rate(self, changes: ChangeSet) -> None:
        """Say of some wakes how good they were: the more was confirmed, the better."""
        is_told = int(sha(changes.id.encode())[:8], 16) % 100 < RATED
        if is_told and self._services.wake(changes.run_key).begun.template:
            confirmed = sum(one.status == "confirmed" for one in changes.items)
            rate_run(self._home, changes.run_key, 1 + 4 * confirmed // len(changes.items))

    def _waver(self, care: TendedTask, tool: str, arguments: dict[str, Any]) -> None:
        """Set the date to another day: so the one that was rejected may be proposed again."""
        if care.is_undecided and tool == "update_task_due_date":
            care.wavered += 1
            care.is_undecided = care.wavered < WAVERS_MAX
            days = 1 + self._dice.number(WEEK_DAYS)
            moved = date.fromisoformat(arguments["dueDate"]) + timedelta(days=days)
            tasks.edit_task(self._home, care.task, {"due": moved.isoformat()})

    def _edit(self, item: ChangeItem, arguments: dict[str, Any]) -> str:
        """The other arguments that an item is confirmed with; empty: as proposed."""
        if item.tool == "update_task_estimate" and self._dice.number(100) < 25:
            return json.dumps({"minutes": min(1440, arguments["minutes"] + 30)})
        return ""

    def _why_not(self, care: TendedTask, tool: str, arguments: dict[str, Any]) -> str:
        """The use of the sentence to reject with; empty: it is confirmed."""
        luck = self._dice.number(100)
        match tool:
            case "update_task_due_date":
                return self._why_no_date(care, str(arguments.get("dueDate")), luck)
            case "update_task_estimate":
                is_true = str(arguments.get("minutes")) in care.truths[tool]
                bound, why = (85, "other") if is_true else (25, "guess")
                return "" if luck < bound else why
            case "add_checklist_item":
                is_filler = arguments.get("title") in FILLERS[care.language]
                return "" if luck < (12 if is_filler else 88) else "no_step"
            case "set_task_status":
                return "" if luck < 70 else "not_blocked"
            case "update_task_priority":
                return "" if luck < 55 else "calm"
            case "create_follow_up_task":
                return "" if luck < 55 else "same_task"
            case "log_time" | "link_task":
                return "" if luck < 85 else "other"
            case _:
                return "" if luck < 92 else "other"

    def _why_no_date(self, care: TendedTask, day: str, luck: int) -> str:
        if care.is_undecided:
            return "moved"
        if care.story.category.name == WEATHER:
            return "" if luck < 15 else "weather"
        if day in care.truths["update_task_due_date"]:
            return "" if luck < 92 else "moved"
        return "" if luck < 12 else "no_date"


def _is_overlooked(item: ChangeItem) -> bool:
    """Some proposals are never decided, and expire."""
    return int(sha(item.fingerprint.encode())[:8], 16) % 100 < OVERLOOKED
