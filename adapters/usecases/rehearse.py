"""A wording or a model is tried on one's own past (`wakelog rehearse`): wakes on whose proposals a
person decided run again, each in a branch in memory, and what they propose now is compared with
what was decided then. The home is only read, but for the ledger of its forks (ADR 95)."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from adapters.documents.evaluations import RehearsalArm, RehearsalDetails, RehearsedItem
from adapters.documents.ranks import ranks_of
from adapters.documents.templates import templates_of
from adapters.home.endpoints import full_name
from adapters.home.prices import BYTES_PER_TOKEN, MICRO, price_at
from adapters.home.schedules import first_shown
from adapters.runtime import gate, review
from adapters.runtime.budgets import LedgerEntry
from adapters.timetravel import fork
from adapters.timetravel.fork import ForkSpending, TemplateVersion
from adapters.timetravel.logs_at import past_of
from adapters.usecases.evaluate import Told, in_turn, share
from adapters.usecases.forks import one_at_a_time, template_version
from adapters.usecases.templates import BUILT_IN, Directives
from domain.agent.agent import AGENT, Agent
from domain.agent.deciders import TEMPLATE_IMPROVER
from domain.changes.change_set import CHANGES, ChangeItem, find, is_open, own_set_id
from domain.errors import WakelogError, invalid
from domain.journal.catalog import CATALOG
from domain.journal.task import TASK
from domain.judging import DECIDED_LEAST, TELLING, Decided, Proposed, fared, proposed, sign_test
from domain.log import canonical
from domain.log.keys import key
from domain.log.state import MAIN, LogState
from domain.log.timestamps import is_date
from domain.policy.gate import is_far, is_leaving, refusal
from domain.policy.policy import POLICY
from domain.templates.commands import RecordRehearsal
from domain.templates.template import ArmFared, Rehearsed
from domain.tools import registry
from domain.tools.base import CLIENT, ToolRefusal
from domain.tools.improving import NewDirectives
from domain.tools.snapshot import snapshot
from domain.wake.template_context import is_held_out
from domain.wake.wake import WAKE
from projections import inbox, wakes
from projections.wakes import WakeDocument

if TYPE_CHECKING:
    from adapters.wiring import Home

PAGE = 200  # wakes that are looked at together
IN_FORCE = "in force"
UNANSWERED = "not_answered"  # by no model, or beyond its limit or a budget of the home
FATES, GOOD = ("kept", "lost", "avoided", "repeated"), ("kept", "avoided")
NO_WORDS = TemplateVersion("", BUILT_IN, 0, "", "")


class RehearsalRequest(NamedTuple):
    """What is tried, and on which wakes. `template` is T or T.N, or SET.ITEM, a proposal of
    directives; `directives` those of files that are called `files`; `model` answers instead of the
    one in force; `without`: a section that it is not shown. `wakes`: so many with something
    decided; `since`: a day, ``2027-01-31``; `is_all`: also of the half that is kept for who
    improves a template."""

    template: str = ""
    directives: Directives = Directives()
    files: str = ""
    model: str = ""
    without: str | None = None
    wakes: int = 40
    since: str = ""
    is_all: bool = False
    scaffold: int = 0


class Side(NamedTuple):
    """What an agent lives on in one arm."""

    words: TemplateVersion
    model: str
    hides: tuple[str, ...] = ()
    scaffold: int = 0


class PastWake(NamedTuple):
    """A wake to run again. `items`: what was decided of it, to which each arm adds what becomes of
    them, and then what is new; `sides`: what is in force, and what is tried."""

    wake: WakeDocument
    decided: Sequence[Decided]
    items: list[RehearsedItem]
    sides: Sequence[Side]


class Rehearsal:
    """Wakes of a home, oldest first, and the arms in which they run again."""

    def __init__(self, home: "Home", wish: RehearsalRequest) -> None:
        """Choose the wakes; nothing is run yet. Raises Refused: what is to be tried is not
        there."""
        wish, self._item = _with_item(home, wish)
        self._home, self._wish, self._past = home, wish, past_of(home)
        named = full_name(wish.model, home.settings)
        self._model = home.services.model_for(named).name if wish.model else ""
        self._of = template_version(home, wish.template) if wish.template else None
        self._version = cache(partial(template_version, home))
        self.left_out = Counter[str]()
        with home.services.agents.reading() as world:
            chosen = self._chosen(world)  # in order, what one has folded of a log serves the next
            self.wakes = sorted(chosen, key=lambda one: one.wake.place)
        is_tried = any(one.sides[0] != one.sides[1] for one in self.wakes)
        self.arms = (IN_FORCE, self._tried())[: 1 + is_tried]
        self._done: dict[int, PastWake] = {}
        self._spent = list[ForkSpending]()
        self._is_spent = False  # what the model may take, or the home's day
        self._answers = 0

    @property
    def _runs(self) -> Iterator[tuple[WakeDocument, Side]]:
        return ((one.wake, side) for one in self.wakes for side in one.sides[: len(self.arms)])

    def _tried(self) -> str:
        """What is tried, in words."""
        of, without = self._of, self._wish.without
        words = f"{of.name}.{of.version}" if of and of.version else BUILT_IN if of else ""
        scaffold = f"scaffold {self._wish.scaffold}" if self._wish.scaffold else ""
        without = f"without {without}" if without else ""
        told = words, self._wish.files, self._model, scaffold, without
        return ", ".join(filter(None, told))

    # ----------------------------------------------------------------------------------- to choose

    def _chosen(self, world: LogState) -> list[PastWake]:
        policy, decided, quiet = world.load(POLICY, MAIN), list[PastWake](), list[PastWake]()
        for wake in self._completed():
            found = (self._home.views.get(inbox.VIEW, one) for one in wake.set_ids)
            items = next((one.items for one in found if one), ())
            meant = [one for one in items if one.status in ("confirmed", "rejected")]
            if items and not meant:
                continue
            agent = world.load(AGENT, wake.agent_id)
            if agent.agent_kind == TEMPLATE_IMPROVER:
                self.left_out["improves_a_template"] += 1
                continue
            sides = self._sides(agent)
            closed = (refusal(policy, agent, one.model, has_secret=True) for one in sides)
            code = next((one.code for one in closed if one), "")
            try:
                read = [_decided(world, one) for one in meant]
            except WakelogError as error:  # a text that was erased, for example
                code = error.code
            if code:
                self.left_out[code] += 1
                continue
            rows = [_row(wake, *each) for each in zip(meant, read, strict=True)]
            (decided if meant else quiet).append(PastWake(wake, read, rows, sides))
            if len(decided) == self._wish.wakes:
                break
        return [*decided, *quiet[: len(decided) // 2]]

    def _completed(self) -> Iterator[WakeDocument]:
        """The completed wakes that are meant, newest first: of the template's agents, or of all
        where nobody lives on it."""
        wish, home, before = self._wish, self._home, ""
        if wish.since and not is_date(wish.since):
            raise invalid(f"{wish.since!r} is no day", "write it like 2027-01-31")
        since = first_shown(f"{wish.since}T00:00", home.settings.timezone) if wish.since else ""
        of = self._of.template if self._of else ""
        agents = {agent for one in templates_of(home) if one.id == of for agent in one.instances}
        while page := home.views.page(wakes.VIEW, before=before, limit=PAGE, newest_first=True):
            before = page[-1].place
            for one in page:
                is_half = wish.is_all or is_held_out(one.key)
                is_of = (not agents or one.agent_id in agents) and one.reason != CLIENT
                if one.outcome == "completed" and one.ended_at >= since and is_half and is_of:
                    yield one

    def _sides(self, agent: Agent) -> tuple[Side, Side]:
        """What is in force for an agent, and what is tried."""
        now = self._version(agent.template) if agent.template else NO_WORDS
        services, tried = self._home.services, self._of or now
        model = gate.full_name(services, services.model_name(agent))
        if files := self._wish.files:
            general, report, _ = self._wish.directives
            general = tried.general if general is None else general
            report = tried.report if report is None else report
            tried = TemplateVersion(key("rehearsal", files), files, 1, general, report)
        hides = (self._wish.without,) if self._wish.without else ()
        return Side(now, model), Side(tried, self._model or model, hides, self._wish.scaffold)

    # -------------------------------------------------------------------------------------- to run

    def estimated(self) -> Mapping[str, int]:
        """About how many tokens each model that is far away is sent, if wakes ask as they did."""
        about = Counter[str]()
        for wake, side in self._runs:
            if is_far(side.model):
                pairs = fork.asked_and_answered(self._past, wake.key, wake.replica)
                size = sum(fork.request_size(asked) for asked, _ in pairs)
                about[side.model] += size // BYTES_PER_TOKEN
        return about

    def run(self, progress: Told, tokens_max: int, at_once: int) -> str:
        """Run all, and why it stopped before the end, see `in_turn`. Raises Refused: a model cannot
        be had; ``stale``: another fork of the home is being paid."""
        paid = {side.model for _, side in self._runs if is_leaving(side.model)}
        services, limit = self._home.services, tokens_max or sys.maxsize
        for one in sorted(paid):
            services.budgets.check_priced(services.model_for(one).name, services.clock.now())
        order = [*range(len(self.wakes))]
        if paid:  # it may be stopped: what tells most comes first
            order.sort(key=lambda nth: (not self.wakes[nth].decided, -nth))
        jobs = [partial(self._again, nth, limit) for nth in order]
        with one_at_a_time(self._home.path) if paid else nullcontext():
            at_once = at_once if paid else 1
            return in_turn(jobs, progress, lambda: self._is_spent or self.tokens >= limit, at_once)

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self._spent)

    async def _again(self, nth: int, limit: int) -> None:
        """Run a wake in all arms. One that does not come to its end in each is left out of all."""
        one, new = self.wakes[nth], list[RehearsedItem]()
        for number, side in enumerate(one.sides[: len(self.arms)]):
            try:
                forked = await self._forked(one.wake, side, f"{one.wake.key}-{number}", limit)
                with forked.agents.reading() as world:
                    outcome = world.load(WAKE, one.wake.key).outcome
                    code = UNANSWERED if forked.stopped else outcome or "not_run"
                    new += self._fared(world, one, number)
            except WakelogError as error:  # the same
                code = error.code
            if code != "completed":
                self.left_out[code] += 1
                return
        one.items.extend(new)
        self._done[nth] = one

    async def _forked(self, wake: WakeDocument, side: Side, name: str, limit: int) -> fork.Forked:
        services, spending = self._home.services, None
        is_tape = side.model.startswith("tape") and not self._model  # it cannot be asked anew
        model = None if is_tape else services.model_for(side.model)
        is_paid = is_leaving(side.model)
        if is_paid:
            about = LedgerEntry(f"rehearsal-{name}", wake.agent_id, side.model)
            ledger, left = services.ledger, limit - self.tokens
            spending = ForkSpending(services.budgets, services.clock, ledger, about, left)
            self._spent.append(spending)
        changes = fork.ForkChanges(
            side.model, side.words, is_anew=is_paid, hides=side.hides, scaffold=side.scaffold
        )
        spot = self._past.run(wake.key, wake.replica, wake.queued_n)
        branch = fork.Branch(self._past, wake.key, wake.replica, self._home.settings)
        forked = await branch.make(None, spot, changes, model, spending=spending)
        self._answers += sum(one.how != "recorded" for one in forked.answers)
        self._is_spent |= bool(forked.stopped and is_paid)
        return forked

    def _fared(self, world: LogState, one: PastWake, number: int) -> Iterator[RehearsedItem]:
        """Add what became of a wake's proposals in the world of its branch; what is new there."""
        changes = world.load(CHANGES, own_set_id(world, one.wake.key))
        made = [(item, world.text(item.arguments)) for item in changes.items if is_open(item)]
        read = [_read(*each) for each in made]
        fates, new = fared(one.decided, read)
        for row, fate in zip(one.items, fates, strict=True):
            row.fates.append(fate)
        for nth in new:
            row = _row(one.wake, made[nth][0], Decided(read[nth], ()))
            row.fates.extend([""] * len(self.arms))
            row.fates[number] = self._fate(one.wake, *made[nth])
            yield row

    def _fate(self, wake: WakeDocument, item: ChangeItem, text: str) -> str:
        """What a proposal is that nobody decided on: ``foreseen`` where the task is so today."""
        services = self._home.services
        with services.journal.reading() as world:
            task = world.load(TASK, wake.task_id)
            now = snapshot(task, world.load(CATALOG, MAIN), world.n, services.clock.now())
        answer = registry.apply(item.tool, now, text, f"agent:{wake.agent_id}")
        is_so = isinstance(answer, ToolRefusal) and answer.code == "redundant"
        return "foreseen" if is_so else "new"

    # ------------------------------------------------------------------------------------- to tell

    def record(self, writing: "Callable[[], Home]", told: RehearsalDetails) -> bool:
        """Keep with a proposal, or a version, what came of trying it; whether there was anything to
        keep: of files nothing is, nor of what was stopped. `writing` opens it to write."""
        wish, of = self._wish, self._of
        is_named = bool(self._item) or _is_numbered(wish, of)
        if told.stopped or len(told.arms) == 1 or not told.wakes or wish.without or not is_named:
            return False
        control, tried = (
            ArmFared(one.kept, one.lost, one.avoided, one.repeated, one.new) for one in told.arms
        )
        home, version = writing(), 0 if self._item or of is None else of.version
        fact = Rehearsed(
            self._item, version, of.of if of and version else "", self._model,
            wish.scaffold or home.services.scaffold, told.wakes, told.agents, tried, control,
            told.tokens, told.better, told.worse,
        )  # fmt: skip
        home.services.append_agent(RecordRehearsal(of.template if of else "", fact))
        home.views.catch_up()
        return True

    def details(self, stopped: str, *, is_showing: bool) -> RehearsalDetails:
        done = [one for _, one in sorted(self._done.items())]
        decided = [(one, row) for one in done for row in one.items if row.verdict]
        gains, kinds = Counter[str](), defaultdict[str, Counter[str]](Counter)
        for one, row in decided:
            was, now = row.fates[0], row.fates[-1]
            gains[one.wake.agent_id] += (now in GOOD) - (was in GOOD)
            if was != now:
                kinds[row.kind][now] += 1
        better, worse = (sum(sign * one > 0 for one in gains.values()) for sign in (1, -1))
        models = sorted({side.model for _, side in self._runs if is_leaving(side.model)})
        prices, today = self._home.settings.prices, self._home.services.clock.now()
        is_priced = models and all(price_at(prices, one, today) for one in models)
        p = sign_test(better, worse)
        return RehearsalDetails(
            arms=[self._arm(nth, done) for nth in range(len(self.arms))],
            wakes=sum(bool(one.decided) for one in done),
            quiet=sum(not one.decided for one in done),
            agents=len({one.wake.agent_id for one in done}),
            decided=len(decided),
            left_out=dict(sorted(self.left_out.items())),
            stopped=stopped or None,
            models=models,
            answers=self._answers,
            tokens=self.tokens,
            cost=sum(one.cost for one in self._spent) / MICRO if is_priced else None,
            better=better,
            worse=worse,
            p=p,
            told_apart=p < TELLING and len(decided) >= DECIDED_LEAST,
            too_few=len(decided) < DECIDED_LEAST,
            kinds={kind: dict(sorted(kinds[kind].items())) for kind in sorted(kinds)},
            items=[row for one in done for row in one.items] if is_showing else None,
        )

    def _arm(self, nth: int, done: Sequence[PastWake]) -> RehearsalArm:
        count = Counter(row.fates[nth] for one in done for row in one.items)
        score = share(sum(count[one] for one in GOOD), sum(count[one] for one in FATES))
        counts = {one: count[one] for one in (*FATES, "foreseen")}
        new = count["new"] + count["foreseen"]
        return RehearsalArm(name=self.arms[nth], new=new, score=score, **counts)


def _is_numbered(wish: RehearsalRequest, of: TemplateVersion | None) -> bool:
    """Whether a version is tried that somebody named by its number, in words of its own."""
    has_number = bool(of and of.version and not of.seed) and wish.template.endswith(
        (f".{of.version}", f"@{of.of}") if of else ()
    )
    return has_number and not wish.files


def _with_item(home: "Home", wish: RehearsalRequest) -> tuple[RehearsalRequest, str]:
    """A proposal, SET.N, as the words that it proposes, and its name; else as it is."""
    name, dot, digits = (wish.template or "").rpartition(".")
    found = ranks_of(home).meant(name) if dot and digits.isdigit() else []
    if len(found) != 1 or wish.files:
        return wish, ""
    changes = review.changes_of(home.services, found[0])
    item = find(changes, int(digits))
    given = registry.read(item.tool, review.arguments_of(home.services, item)) if item else None
    if not isinstance(given, NewDirectives):
        because = f"{wish.template} proposes no directives"
        raise invalid(because, "name one that does, see `wakelog inbox`")
    words = Directives(given.general, given.report)
    wish = wish._replace(template=given.template, directives=words, files=wish.template)
    return wish, f"{changes.id}.{digits}"


def _row(wake: WakeDocument, item: ChangeItem, read: Decided) -> RehearsedItem:
    is_edited = read.accepted and read.accepted != read.first
    verdict = "" if is_open(item) else "edited" if is_edited else item.status
    kind = read.first[0].kind if read.first else item.tool
    return RehearsedItem(wake.key, wake.task_id, kind, item.summary, verdict, [])


def _decided(world: LogState, item: ChangeItem) -> Decided:
    first, now = item.arguments, inbox.arguments_of(item)
    accepted = _read(item, world.text(now)) if item.status == "confirmed" else ()
    return Decided(_read(item, world.text(first)), accepted)


def _read(item: ChangeItem, text: str) -> Sequence[Proposed]:
    return proposed(item.tool, canonical.read(text), {})
