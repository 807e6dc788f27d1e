"""Deeds on agents, their templates, what they propose, what they may send, and what they said."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from adapters.documents import agent_output
from adapters.documents.agents import (
    AgentDetails,
    AgentLine,
    AgentsMade,
    DigestSources,
    MemoryDetails,
    TimerDetails,
    agent_lines,
    agent_of,
    agent_page,
    all_agents,
    memory_document,
    sources_document,
)
from adapters.documents.clients import Proposed, WantedChange
from adapters.documents.improving import ImprovingSession, SessionLine, session_document
from adapters.documents.inbox import InboxItem, InboxSet, page_of_sets, set_documents, set_of
from adapters.documents.lessons import LessonLine, RatedRun, lesson_lines
from adapters.documents.models import ModelDetails, models_document
from adapters.documents.policy import Allowed, PolicyDocument, Preview, Ruled
from adapters.documents.results import Deleted, UndoableDeeds, UndoneDeed
from adapters.documents.tasks import FieldWhy, catalog_of, category_named
from adapters.documents.templates import (
    SeedDetails,
    TemplateDetails,
    TemplateGiven,
    TemplateMetrics,
    seed_document,
    template_document,
    templates_of,
)
from adapters.documents.wakes import (
    WakeAnswer,
    WakeDetails,
    WakeLine,
    own_wake_of,
    run_document,
    wake_document,
    wake_lines,
    wake_of,
    wakes_found,
)
from adapters.usecases import agents as do
from adapters.usecases import clients, improving
from adapters.usecases import policy as rules
from adapters.usecases import templates as directives
from adapters.usecases.inputs import status_named
from adapters.usecases.proposals import (
    ItemVerdict,
    NamedItem,
    VerdictKind,
    VerdictResult,
    decide,
    deferral,
    edited,
    named_items,
)
from adapters.usecases.proposals import decide_all as decide_each
from adapters.usecases.resolve import nth_key, pick_agent, pick_run, pick_task
from adapters.usecases.wake_agents import (
    answer_of,
    ask_agent,
    cancel_wake,
    prepare_wakes,
    request_wake,
    wake_all,
)
from domain.agent.deciders import AgentSettings
from domain.errors import Refused, invalid
from domain.log import canonical
from domain.templates.template import Template
from wakelog._room import Room, apart, told

_CHANGE = re.compile(r"journal:(?:(.{1,40}):)?([0-9]{1,12})")
Hears = Callable[[str], object]


class _Listener(Struct):
    """Hands on what a model says as it comes (a `domain.ports.Listener`)."""

    hears: Hears

    def said(self, text: str) -> None:
        self.hears(text)

    def again(self) -> None:
        """What was said in this turn does not count."""

    def ended(self) -> None:
        """What was said in it counts."""


class Agents(Room):
    """Agents, and all that a person decides of them and reads of them."""

    # ----------------------------------------------------------------------------------- their life

    def agents(self, *, lifecycle: str = "", limit: int = 0) -> list[AgentLine]:
        """All agents that were not deleted, the oldest first, as `wakelog agent list`; or those
        that are ``active``, ``dormant`` or ``destroyed``."""
        home = self._reading()
        return agent_lines(home, all_agents(home, lifecycle, limit or -1))

    def show_agent(self, agent: str) -> AgentDetails:
        """All about an agent: life, settings, slots, subscriptions, timers, last wakes."""
        return self._agent(pick_agent(self._reading(), agent))

    def _agent(self, agent_id: str) -> AgentDetails:
        home = self._reading()
        return agent_page(home, agent_of(home, agent_id), home.services.clock.now())

    def create_agent(
        self, task: str, *, name: str = "", mode: str = "", model: str = "", template: str = "",
        turns: int = 0, key: str = "",
    ) -> AgentDetails:  # fmt: skip
        """Make an agent for a task, as `wakelog agent create`, for a model (empty: the home's) and
        on a template (empty: its category's); its first wake is queued."""
        wish = do.AgentOptions(mode, name, model, turns, template)
        do.check_options(wish)
        task_id = pick_task(self._reading(), task)
        return self._agent(do.assign_agent(self._writing(), task_id, wish, key).agent)

    def create_agents(
        self, *, mode: str = "", model: str = "", template: str = "", turns: int = 0, key: str = ""
    ) -> AgentsMade:
        """Make an agent for every open task that has none."""
        wish = do.AgentOptions(mode, "", model, turns, template)
        do.check_options(wish)
        made, tasks = do.assign_all(self._writing(), wish, key)
        home = self._reading()
        lines = agent_lines(home, [one for one in all_agents(home) if one.id in made])
        return AgentsMade(len(made), tasks - len(made), lines)

    def set_agent(  # noqa: PLR0913  one for each option
        self, agent: str, *, name: str | None = None, mode: str | None = None,
        categories: Sequence[str] = (), model: str | None = None, turns: int | None = None,
        is_automatic: bool | None = None, goal: str | None = None, open_loops: Sequence[str] = (),
        close_loops: Sequence[str] = (), preferences: Mapping[str, str] | None = None,
        key: str = "",
    ) -> AgentDetails:  # fmt: skip
        """Change an agent's settings, goal, open loops and preferences; what is left out stays. An
        empty preference is forgotten."""
        home = self._reading()
        agent_id, catalog = pick_agent(home, agent), catalog_of(home)
        ids = sorted(category_named(catalog, one).id for one in categories)
        wanted = AgentSettings(
            name=name, mode=mode, categories=tuple(ids) or None, model=model, turn_max=turns,
            is_automatic=is_automatic, goal=goal, open_loops=tuple(open_loops),
            close_loops=tuple(close_loops), preferences=tuple((preferences or {}).items()),
        )  # fmt: skip
        if wanted == AgentSettings():
            raise invalid("there is nothing to set", "see `wakelog agent set --help`")
        do.configure_agent(self._writing(), agent_id, wanted, key)
        return self._agent(agent_id)

    def pause_agent(self, agent: str, *, key: str = "") -> AgentDetails:
        """Let an agent sleep: what waits is dropped."""
        return self._on_agent(agent, key, do.pause_agent)

    def resume_agent(self, agent: str, *, key: str = "") -> AgentDetails:
        """Let a sleeping agent wake again; a wake is queued that sees what changed meanwhile."""
        return self._on_agent(agent, key, do.resume_agent)

    def destroy_agent(self, agent: str, *, key: str = "") -> AgentDetails:
        """End an agent for good; its task may get a new one."""
        return self._on_agent(agent, key, do.destroy_agent)

    def delete_agent(self, agent: str, *, key: str = "") -> AgentDetails:
        """Take a destroyed agent off the list."""
        return self._on_agent(agent, key, do.delete_agent)

    def sleep_agent(
        self, agent: str, until: str | date | datetime = "", *, is_end: bool = False, key: str = ""
    ) -> AgentDetails:
        """Let only you wake an agent before a day or a time; `is_end`: it sleeps no longer."""
        at = (told(until) or "").strip()
        if bool(at) == is_end:
            instead = "give --until DATE, or --end"
            raise invalid("it is not clear until when the agent sleeps", instead)
        return self._on_agent(agent, key, lambda h, one, key: do.sleep_agent(h, one, at, key))

    def _on_agent(
        self, agent: str, key: str, work: Callable[[Any, str, str], object]
    ) -> AgentDetails:
        agent_id = pick_agent(self._reading(), agent)
        work(self._writing(), agent_id, key)
        return self._agent(agent_id)

    def watch(  # noqa: PLR0913  one for each option
        self, agent: str, *, kinds: Sequence[str] = (), tasks: Sequence[str] = (),
        subs: Sequence[str] = (), category: str = "", status: str = "",
        hears_agents: bool = False, defer_links: bool = False, key: str = "",
    ) -> AgentDetails:  # fmt: skip
        """Let an agent hear of more than its own task: of kinds of things (``NOTE``), other tasks,
        subtypes (``note:transcript``); only of a category, or what has a status."""
        home = self._reading()
        tokens = (
            *(f"key:{one.removeprefix('key:').upper()}" for one in kinds),
            *(f"id:{pick_task(home, one)}" for one in tasks),
            *(f"sub:{one.removeprefix('sub:').lower()}" for one in subs),
        )
        within = category_named(catalog_of(home), category).id if category else ""
        so = status_named(status) if status else ""
        heard = do.NewSubscription(tokens, within, so, hears_agents, defer_links)
        return self._on_agent(agent, key, lambda h, one, key: do.watch_tokens(h, one, heard, key))

    def unwatch(self, agent: str, subscription: str, *, key: str = "") -> AgentDetails:
        """Take a subscription back, by its id."""
        take = partial(do.unwatch_tokens, subscription=subscription)
        return self._on_agent(agent, key, lambda home, one, key: take(home, one, key=key))

    def timers(self, agent: str) -> list[TimerDetails]:
        """An agent's timers."""
        return self._agent(pick_agent(self._reading(), agent)).timers

    def set_timer(
        self, agent: str, schedule: str, *, zone: str = "", is_always: bool | None = None,
        key: str = "",
    ) -> AgentDetails:  # fmt: skip
        """Set a timer: ``every day 07:00``, ``cron 0 7 * * 1-5``, ``once 2027-01-01 07:00``.
        `is_always`: it asks where nothing moved, too; None: as the settings say."""
        put = partial(do.set_timer, given=schedule, zone=zone, is_always=is_always)
        return self._on_agent(agent, key, lambda home, one, key: put(home, one, key=key))

    def remove_timer(self, agent: str, schedule: str, *, key: str = "") -> AgentDetails:
        """Remove a timer, named by its schedule or id."""
        take = partial(do.remove_timer, wanted=schedule)
        return self._on_agent(agent, key, lambda home, one, key: take(home, one, key=key))

    # ---------------------------------------------------------------------------------- their wakes

    def wakes(self, task: str = "", *, outcome: str = "", limit: int = 0) -> list[WakeLine]:
        """All wakes, the newest first; of a task's agent, or that ended so (``completed``,
        ``failed``, ``skipped``, ``superseded``) or stand so (``queued``, ``running``, ``waiting``).
        """
        home = self._reading()
        shelf = pick_agent(home, task) if task else None
        found = wakes_found(home, shelf, outcome, limit or -1)
        return wake_lines(home, found[: limit or None])

    def wake(self, task: str, *, key: str = "") -> WakeLine:
        """Wake a task's agent and wait for it, as `wakelog wake TASK`; `outcome` says how it went.
        Where the wake cannot run now, that is refused, and it stays queued. Where its model is
        elsewhere and nobody agreed to that, `waits_for` is ``consent``: see `allow_sending`."""
        agent_id = pick_agent(self._reading(), task)
        return self._wake(agent_id, request_wake(self._writing(), agent_id, key))

    def wake_all(self) -> list[WakeLine]:
        """Wake every agent with a wake that is queued, in queue order, and wait for them; those
        that could not run are left out, and stay queued."""
        home = self._writing()
        prepared = prepare_wakes(home)
        for trouble in prepared.troubles:
            warnings.warn(trouble, stacklevel=3)
        ran = apart(lambda: wake_all(home, prepared.agents, lambda *_: None)).ran
        found = [own_wake_of(home, one.run_key) for one in ran if not one.error]
        return [wake_document(home, one) for one in found if one is not None]

    def cancel_wake(self, task: str, *, key: str = "") -> WakeLine:
        """Drop the wake that is queued for an agent."""
        agent_id = pick_agent(self._reading(), task)
        home = self._writing()
        found = own_wake_of(home, cancel_wake(home, agent_id, key).run_key)
        assert found is not None, agent_id
        return wake_document(home, found)

    def ask(
        self, task: str, words: str, *, session: str = "", said: Hears | None = None, key: str = ""
    ) -> WakeAnswer:
        """Ask a task's agent something, and wait. `session`: of an earlier answer, to go on with;
        `said`: is told the words as they come, where the model streams."""
        agent_id = pick_agent(self._reading(), task)
        home = self._writing()
        queued = ask_agent(home, agent_id, words, session, key)
        if said is not None:
            home.services.listeners[queued.run_key] = _Listener(said)
        return answer_of(home, queued, self._wake(agent_id, queued))

    def show_wake(self, run: str) -> WakeDetails:
        """A wake step by step: why, what was asked, answered, done, and how it ended."""
        home = self._reading()
        return run_document(home, pick_run(home, run))

    def prompt(self, run: str) -> agent_output.PromptDetails:
        """What the model of a wake was shown, byte for byte."""
        home = self._reading()
        wake = wake_of(home, pick_run(home, run))
        found = agent_output.shown(home, wake) if wake else None
        if found is None:
            because = f"the wake {run} has not begun, so no model was shown anything"
            raise Refused("unknown_wake", because=because, instead="run it with wake()")
        return found

    def report(self, task: str) -> agent_output.ReportDetails:
        """What an agent says about its task, with its earlier reports."""
        home = self._reading()
        return agent_output.report_document(home, pick_agent(home, task))

    def journal(self, task: str, *, limit: int = 50) -> list[agent_output.JournalLine]:
        """An agent's private observations, the newest first."""
        home = self._reading()
        return agent_output.journal_documents(home, pick_agent(home, task), limit)

    def messages(
        self, task: str, *, thread: str = "", limit: int = 100
    ) -> list[agent_output.MessageThread]:
        """An agent's messages, thread by thread, the newest last."""
        home = self._reading()
        return agent_output.thread_documents(home, pick_agent(home, task), thread, limit)

    def memory(self, task: str, *, where: str = "") -> MemoryDetails:
        """What an agent remembers, now or in a moment as of `at`."""
        from adapters.usecases.time_travel import find_moment

        home = self._reading()
        place = find_moment(home, where) if where else None
        return memory_document(home, pick_agent(home, task), place)

    def memory_sources(self, task: str, digest: str) -> DigestSources:
        """What a digest of an agent was made of."""
        home = self._reading()
        return sources_document(home, pick_agent(home, task), digest)

    def why(self, task: str, *, limit: int = 20) -> list[agent_output.WhyLine]:
        """Why an agent woke, or did not: its last triggers, the newest first."""
        from adapters.timetravel import why

        home = self._reading()
        fates = why.trigger_fates(home.services, pick_agent(home, task), limit)
        return [agent_output.why_document(home, one) for one in fates]

    def why_field(self, task: str, field: str) -> FieldWhy:
        """Why a field of a task is as it is: who set it, by which proposal, wake and words."""
        from adapters.usecases.task_history import why_field

        home = self._reading()
        return why_field(home, pick_task(home, task), field)

    def why_change(self, change: str) -> list[agent_output.WhyAgent]:
        """What became of a change, ``journal:42``, at all agents that it concerns."""
        from adapters.timetravel import why
        from adapters.usecases.time_travel import replica_called

        home, found = self._reading(), _CHANGE.fullmatch(change)
        if found is None:
            raise invalid(f"{change!r} is no change of the journal", "write journal:42")
        is_shared, machine = home.services.journal.is_shared, found[1] or ""
        replica = replica_called(home, "journal", machine) if is_shared else ""
        fates = why.fates_of_change(home, int(found[2]), replica)
        told = ((agent, agent_output.why_document(home, one)) for agent, one in fates)
        return [agent_output.WhyAgent(one.id, one.name, **asdict(line)) for one, line in told]

    # ---------------------------------------------------------------------------- what they propose

    def inbox(self, task: str = "", *, is_all: bool = False, limit: int = 0) -> list[InboxSet]:
        """What agents propose, the oldest first, as `wakelog inbox`; `is_all`: deferred and decided
        proposals, too."""
        home = self._reading()
        task_id = pick_task(home, task) if task else None
        sets, _ = page_of_sets(home, is_all=is_all, task=task_id, limit=limit or -1)
        return set_documents(home, sets, is_all=is_all)

    def confirm(
        self, ref: str, *, edit: str | Mapping[str, Any] = "", is_anyway: bool = False,
        concludes: bool = False, key: str = "",
    ) -> InboxItem:  # fmt: skip
        """Apply a proposed change, as `wakelog confirm 3.1`. What cannot be applied is refused.

        Args:
            ref: SET.ITEM.
            edit: What is to differ, ``"estimate=45"`` or values by name; None takes one away.
            is_anyway: Though the task has changed since in what it would change.
            concludes: Then set the task done.
            key: Makes a retry safe.
        """
        verdict = ItemVerdict("confirm", is_anyway=is_anyway, concludes=concludes)
        said = edit if isinstance(edit, str) else canonical.text(dict(edit))
        return self._decide(ref, verdict, key, said)

    def reject(self, ref: str, reason: str = "", *, key: str = "") -> InboxItem:
        """Decline a proposed change, as `wakelog reject 3.1`; the agent is told the reason."""
        return self._decide(ref, ItemVerdict("reject", reason), key)

    def defer(
        self, ref: str, reason: str = "", *, until: str | date = "", key: str = ""
    ) -> InboxItem:
        """Put a proposed change off, until a day or until it is decided."""
        return self._decide(ref, self._deferral(reason, until), key)

    def decide_all(
        self, verdict: VerdictKind, *refs: str, reason: str = "", until: str | date = "",
        is_anyway: bool = False, key: str = "",
    ) -> list[InboxItem]:  # fmt: skip
        """Decide whole sets, or without one all that waits, as `wakelog confirm --all`; what cannot
        be applied keeps its status, with an `error`."""
        wanted = ItemVerdict(verdict, reason, is_anyway=is_anyway)
        wanted = self._deferral(reason, until) if verdict == "defer" else wanted
        named = named_items(self._reading(), verdict, refs, is_all=True)
        home = self._writing() if named else self._reading()
        decided = [one for one, _ in decide_each(home, named, wanted, key)]
        return [self._item(one) for one in decided]

    def _deferral(self, reason: str, until: str | date) -> ItemVerdict:
        return deferral(self._reading(), reason, told(until) or "")

    def _decide(self, ref: str, verdict: ItemVerdict, key: str, edit: str = "") -> InboxItem:
        (named,) = named_items(self._reading(), verdict.kind, [ref], is_all=False)
        home = self._writing()
        verdict = verdict._replace(edit=edited(home, named, edit)) if edit else verdict
        _check(named, decide(home, named.set_id, named.number, verdict, key))
        return self._item(named)

    def _item(self, named: NamedItem) -> InboxItem:
        home = self._reading()
        items = set_documents(home, [set_of(home, named.set_id)], is_all=True)[0].items
        return next(one for one in items if one.ref == named.ref)

    def deeds(self) -> UndoableDeeds:
        """What can be undone, the newest first, as `wakelog undo --list`."""
        from adapters.usecases import undoing

        home = self._reading()
        return UndoableDeeds(undoing.undo_documents(home, undoing.listed(home)))

    def undo(self, deed: str = "", *, is_agreed: bool = False, key: str = "") -> UndoneDeed:
        """Take your newest deed back, or one that `deeds` names. `is_agreed`: also where the newest
        was done elsewhere, is older than an hour, changed more than ten tasks, or something came
        after it here that nothing takes back, else refused."""
        from adapters.usecases import undoing

        home = self._reading()
        home = self._writing() if home.exists or self._is_in_memory else home
        if home.exists:
            home.tell_doer()
        agree = None if is_agreed else partial(undoing.refuse_undo, home)
        return undoing.undo_asked(home, deed, key, agree)

    def lessons(self, scope: str = "") -> list[LessonLine]:
        """How proposals of each kind fare: of a category or a template, or of all."""
        from adapters.usecases.lessons import pick_scope

        home = self._reading()
        return lesson_lines(home, pick_scope(home, scope) if scope else "")

    def learn_from_history(self, scope: str = "") -> list[LessonLine]:
        """Learn what you decided before lessons were kept; then as `lessons`."""
        from adapters.usecases.lessons import learn_history, pick_scope

        home = self._writing()
        wanted = pick_scope(home, scope) if scope else ""
        learn_history(home)
        return lesson_lines(home, wanted)

    def rule_tool(
        self, category: str, tool: str, *, again: bool = False, key: str = ""
    ) -> list[LessonLine]:
        """Have no more of a tool proposed in a category; `again`: take that back."""
        from adapters.usecases.lessons import pick_scope, rule_tool

        home = self._writing()
        rule_tool(home, category, tool, is_off=not again, key=key)
        return lesson_lines(home, pick_scope(home, category))

    def rate_wake(self, run: str, stars: int, *, key: str = "") -> RatedRun:
        """Rate a wake of an agent that lives on a template: 1 to 5, the best."""
        from adapters.usecases.lessons import rate_run

        self._reading()
        return rate_run(self._writing(), run, stars, key)

    # ------------------------------------------------------------------------------------ templates

    def templates(self) -> list[TemplateDetails]:
        """The templates in use."""
        home = self._reading()
        return [template_document(home, one) for one in templates_of(home)]

    def show_template(self, template: str) -> TemplateDetails | SeedDetails:
        """A template with its versions; one of wakelog's own that is not in use as that."""
        home = self._reading()
        found = directives.pick_shown(home, template)
        if isinstance(found, Template):
            return template_document(home, found)
        return seed_document(found)

    def _template(self, template_id: str) -> TemplateDetails:
        home = self._reading()
        known = next(one for one in templates_of(home) if one.id == template_id)
        return template_document(home, known)

    def create_template(
        self, name: str, *, general: str = "", report: str = "", model: str = "",
        categories: Sequence[str] = (), key: str = "",
    ) -> TemplateDetails:  # fmt: skip
        """Make a template with its first version: how to work, how to report, and the model of its
        agents; new agents of these categories take it."""
        given = directives.Directives(general or None, report or None, model)
        directives.check_directives(given)
        ids = self._category_ids(categories)
        made = directives.create_template(self._writing(), name, given, ids, key)
        return self._template(made)

    def set_template(
        self, template: str, *, name: str = "", model: str | None = None,
        categories: Sequence[str] | None = None, key: str = "",
    ) -> TemplateDetails:  # fmt: skip
        """Change a template's name, model (empty: none) or categories; what is left out stays."""
        ids = None if categories is None else self._category_ids(categories)
        return self._on_template(
            template,
            key,
            lambda home, one: directives.change_template(home, one, name, model, ids, key),
        )

    def add_version(
        self, template: str, *, general: str = "", report: str = "", model: str = "", key: str = ""
    ) -> TemplateDetails:
        """Add a version, active at once; what is not given stays as it is."""
        given = directives.Directives(general or None, report or None, model or None)
        return self._on_template(
            template, key, lambda home, one: directives.add_version(home, one, given, key)
        )

    def roll_back_template(self, template: str, version: str, *, key: str = "") -> TemplateDetails:
        """Make an old version the active one again: ``3``, or ``3@laptop``."""
        return self._on_template(
            template, key, lambda home, one: directives.roll_back(home, one, version, key)
        )

    def _on_template(
        self, template: str, key: str, work: Callable[[Any, str], object]
    ) -> TemplateDetails:
        self._reading()
        home = self._writing()
        template_id = directives.pick_template(home, template, nth_key(key, 1))
        work(home, template_id)
        return self._template(template_id)

    def _category_ids(self, names: Sequence[str]) -> tuple[str, ...]:
        catalog = catalog_of(self._reading())
        return tuple(category_named(catalog, name).id for name in names)

    def assign_template(self, agent: str, template: str, *, key: str = "") -> TemplateGiven:
        """Let an agent live on a template; ``built-in``: on the directives of wakelog."""
        agent_id, home = pick_agent(self._reading(), agent), self._writing()
        is_back = template == directives.BUILT_IN
        wanted = "" if is_back else directives.pick_template(home, template, nth_key(key, 1))
        directives.assign_template(home, agent_id, wanted, key)
        return TemplateGiven(agent_id, wanted or None)

    def improve_template(
        self,
        template: str,
        words: str = "",
        *,
        categories: Sequence[str] = (),
        model: str = "",
        weekly: str = "",
        key: str = "",
    ) -> ImprovingSession:
        """Let an agent improve a template's wording, on what you say or on its figures alone. It is
        made where there is none; what it proposes waits in the inbox. `weekly`: it looks by itself
        at ``monday 09:00``, or no more, ``none``; then it runs now only with `words`."""
        home = self._writing()
        wanted = directives.pick_used(home, template)
        ids = [category_named(catalog_of(home), one).id for one in categories]
        made = improving.improver(home, wanted, do.AgentOptions(model=model), ids)
        if weekly:
            improving.set_weekly(home, made.agent, weekly, key)
            if not words:
                return session_document(home, wanted, made.agent, "", "")
        asked = improving.ask(home, made.agent, words, key)
        document = self._wake(made.agent, asked)
        answer = answer_of(home, asked, document).answer or ""
        return session_document(home, wanted, made.agent, document.run_key, answer)

    def template_sessions(self, template: str) -> list[SessionLine]:
        """The sessions about a template, and what became of what they proposed."""
        home = self._reading()
        return improving.sessions(home, directives.pick_used(home, template))

    def delete_template(self, template: str, *, key: str = "") -> Deleted:
        """Take a template out of use; refused while an agent lives on it."""
        wanted = directives.pick_used(self._reading(), template)
        directives.delete_template(self._writing(), wanted, key)
        return Deleted(wanted)

    def metrics(self, template: str = "", *, seconds: float = 60) -> list[TemplateMetrics]:
        """How each template does: wakes, success, acceptance, tokens."""
        from adapters.analytics.database import asking
        from adapters.analytics.template_performance import performance, performance_of

        with asking(self._open(), seconds) as connection:
            found = performance(connection)
        return performance_of(found, template) if template else found

    # ---------------------------------------------------------------------------- models and policy

    def models(self, *names: str, ask: bool = False, seconds: int = 60) -> list[ModelDetails]:
        """The models that could be asked, and what each needs; `ask`: try each that is elsewhere
        with one call, which sends no text of yours."""
        from adapters.usecases.probe_models import probed_models

        home = self._reading()
        if not ask:
            return models_document(home, names, self._environ)
        return apart(lambda: probed_models(home, names, seconds, self._environ))

    def policy(self) -> PolicyDocument:
        """What you agreed to, which models are ruled out, and what waits for you."""
        return rules.standing(self._reading())

    def allow_sending(
        self, model: str, categories: Sequence[str] = (), *, key: str = ""
    ) -> Allowed:
        """Agree to what a model is sent, as `wakelog policy allow`, for agents of these categories
        (none: all there are). What waited for that goes on with the next `wake`."""
        self._reading()
        return rules.allow(self._writing(), model, categories, key)

    def withdraw_sending(
        self, model: str, categories: Sequence[str] = (), *, key: str = ""
    ) -> Allowed:
        """Take back what you agreed to; from now on nothing more is sent."""
        self._reading()
        return rules.withdraw(self._writing(), model, categories, key)

    def rule_models(
        self, category: str, patterns: Sequence[str] | None = None, *, key: str = ""
    ) -> Ruled:
        """Say which models agents of a category may ask (empty: of every one): models, or
        ``gemini:*``; no pattern lifts the rule, None only tells it."""
        if patterns is None:
            return rules.ruling(self._reading(), category)
        self._reading()
        return rules.rule(self._writing(), category, patterns, key)

    def propose(
        self, task: str, changes: Sequence[tuple[str, Mapping[str, Any]]], *, by: str,
        words: str = "", seen: str = "",
    ) -> Proposed:  # fmt: skip
        """Propose changes of a task in the name of its agent, as a client does by `wakelog mcp
        serve`. `changes`: tools that propose with their arguments; `by`: who proposes, to whom
        `allow_sending` of ``mcp:NAME`` was said; `words`: what it says to them; `seen`: see
        `ReadTask`."""
        task_id = pick_task(self._reading(), task)
        wanted = [WantedChange(tool, dict(arguments)) for tool, arguments in changes]
        return clients.propose(self._writing(), by, task_id, wanted, words=words, seen=seen)

    def preview(self, task: str) -> Preview:
        """What the model of a task's agent would be sent now; nothing is sent."""
        home = self._reading()
        return rules.preview(home, pick_agent(home, task))[0]


def _check(named: NamedItem, decided: VerdictResult) -> None:
    """Raises Refused: a verdict is not as it was wanted."""
    if decided.refused:
        raise decided.refused
    if decided.error:
        because = f"{named.ref} is {decided.item.status}: {decided.error.rstrip('.')}"
        instead = "look at its task; confirm what is stale with is_anyway=True"
        raise Refused(decided.code or "decided", because=because, instead=instead)
