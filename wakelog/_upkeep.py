"""Looking back, asking the log, what other tools read, other machines, and upkeep."""

import os
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from adapters.documents import sync as machines
from adapters.documents.evaluations import EvalDetails, RehearsalDetails
from adapters.documents.ranks import ranks_of
from adapters.documents.results import (
    BackupDetails,
    DoctorCheck,
    DoctorDetails,
    ErasedDetails,
    ErasureLine,
    ExportedFile,
    ExportedHistory,
    ExportedTables,
    ExportedTasks,
    ExportedWakes,
    RebuiltViews,
    RecoveredSteps,
    RetainDetails,
)
from adapters.documents.status import (
    HealthDetails,
    StatusDetails,
    health_document,
    status_document,
)
from adapters.documents.tasks import catalog_of, categories_named
from adapters.documents.timetravel import (
    BisectDetails,
    ForkDetails,
    HomesDiff,
    MomentDetails,
    RequestDetails,
    WakesDiff,
    WorldsDiff,
    at_document,
    prompt_document,
    prompt_of,
)
from adapters.home.clock import ManualClock
from adapters.home.copies import Copied, keep_copy
from adapters.proof.prove import Proved
from adapters.text.timetravel import step_lines, wakes_lines, worlds_lines
from adapters.timetravel.fork import TOKENS_MAX
from adapters.usecases.forks import ForkRequest, fork_wake
from adapters.usecases.inputs import beginning
from adapters.usecases.proving import history_asked, prove_asked, save_history
from adapters.usecases.resolve import pick_agent
from adapters.usecases.task_lists import TaskFilter, export_text, save_text
from adapters.usecases.templates import Directives, check_directives
from adapters.usecases.time_travel import (
    bisect_wakes,
    compare,
    find_moment,
    question_of,
    run_again,
    scope_of,
)
from adapters.wiring import Home as Opened
from domain.errors import Refused, invalid
from domain.log import canonical
from domain.log.timestamps import instant
from domain.policy.gate import is_far
from wakelog._room import Room, apart, told

if TYPE_CHECKING:
    import duckdb

Path_ = str | os.PathLike[str]


class Rows(Struct, frozen=True):
    """The answer to a query. As a frame: ``pandas.DataFrame(found.rows, columns=found.columns)``,
    or ``polars.DataFrame(found.rows, schema=found.columns, orient="row")``."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<{len(self.rows):,} rows of {', '.join(self.columns)}>"

    def dicts(self) -> list[dict[str, Any]]:
        """Each row by the names of its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Replay(Struct, frozen=True):
    """A wake run again. `is_same`: every byte is what was recorded; `sections` of its prompt and
    `steps` are counted; `lines` tell the steps."""

    run_key: str
    is_same: bool
    sections: int
    steps: int
    lines: list[str]


class Difference(Struct, frozen=True):
    """What differs between two wakes, moments or homes: the document of `diff`, and in lines."""

    is_same: bool
    document: WakesDiff | WorldsDiff | HomesDiff
    lines: list[str]


class Upkeep(Room):
    """What was, what is known of the home as a whole, and what keeps it well."""

    # --------------------------------------------------------------------------------- looking back

    def prove(
        self, *, since: Sequence[str] = (), all_rules: bool = False, no_views: bool = False,
        anchor: Path_ = "", new_anchor: bool = False, decoders: Sequence[str] = (),
    ) -> Proved:  # fmt: skip
        """Run both logs again with today's code and compare every byte, as `wakelog prove`.

        Args:
            since: Positions, ``agent:r1:42``, before which all is only folded, or ``last``.
            all_rules: Epochs of older rules are executed, too.
            no_views: Views are not compared.
            anchor: A file of digests to check, to which today's is added.
            new_anchor: It is not there yet.
            decoders: Installed packages whose code reads their models' replies again.
        """
        return prove_asked(
            self._open(), self._environ, since=since, anchor=Path(anchor) if anchor else None,
            is_new_anchor=new_anchor, is_every_epoch=all_rules, has_views=not no_views,
            decoders=decoders,
        ).proved  # fmt: skip

    def at(self, position: str, *, task: str = "", is_all: bool = False) -> MomentDetails:
        """The world as it was, as `wakelog --json at`: before a RUN, after RUN.STEP, at
        ``journal:r1:42``, or at a time. `task`: only it and what it links to; `is_all`: every task,
        not only those of the wake."""
        place = find_moment(self._reading(), position)
        return at_document(place, scope_of(place, task, is_all=is_all))

    def request_at(self, position: str, *, task: str = "") -> RequestDetails:
        """What a model was shown last in a moment as of `at`, with the turns before."""
        place = find_moment(self._reading(), position)
        return prompt_document(*prompt_of(place, scope_of(place, task, is_all=False)))

    def replay(self, run: str) -> Replay:
        """Run a wake again on its recorded replies, as `wakelog replay RUN`; nothing is written."""
        home = self._reading()
        wake, sections, again = run_again(home, run)
        steps = list(again)
        is_same = all(one.is_same for one in sections) and all(one.is_same for one in steps)
        lines = [line for one in steps for line in step_lines(one, home.settings.timezone)]
        return Replay(wake.run_key, is_same, len(sections), len(steps), lines)

    def diff(self, a: str, b: str, *, task: str = "") -> Difference:
        """Compare two wakes, moments or homes, as `wakelog diff A B`."""
        document = compare(self._reading(), a, b, task).document
        lines = wakes_lines(document) if isinstance(document, WakesDiff) else worlds_lines(document)
        return Difference(document.same, document, [one.text for one in lines])

    def bisect(
        self, task: str, *, sql: str = "", text: str = "", python: str = ""
    ) -> BisectDetails:
        """Find the wake of an agent since which something holds: a query whose first value is true,
        a text in its report, or an expression, which is run."""
        asked = {"sql": sql, "text": text, "python": python}
        question = question_of(**{kind: [one] if one else [] for kind, one in asked.items()})
        home = self._reading()
        return bisect_wakes(home, pick_agent(home, task), question, lambda *_: None)

    def fork(
        self, run: str, *, model: str = "", template: str = "",
        notes: Sequence[tuple[str, str]] = (), verdicts: Sequence[str] = (), out: Path_ = "",
        tokens: int = TOKENS_MAX,
    ) -> ForkDetails:  # fmt: skip
        """Run a wake with something else in its world; ``open_home(forked.home)`` opens the fork.

        Args:
            run: RUN, or RUN.STEP to go on from that step.
            model: Who answers what is new; empty: the model that the home was opened with, else
                after other notes the home's, else nobody, and the fork may stop.
            template: T or T.N, or ``built-in``.
            notes: Pairs of TASK, or TASK.N, and what that note says.
            verdicts: Each SET.ITEM=confirm or SET.ITEM=reject.
            out: A new folder; empty: one in the home.
            tokens: A model that is paid may take so many.
        """
        self._on_disk("a fork")
        home, there = self._reading(), canonical.clean(os.fspath(out))
        model = model or (self._model if isinstance(self._model, str) else self._model.name)
        wish = ForkRequest(model, template, [*notes], [*verdicts], there, tokens)
        return apart(lambda: fork_wake(home, run, wish))

    # --------------------------------------------------------------------- judging models and words

    def evaluate(  # noqa: PLR0913  one for each option
        self, *files: Path_, model: str = "", template: str = "", general: str = "",
        report: str = "", repeat: int = 1, show: bool = False, out: Path_ = "",
        against: Path_ = "", tokens: int = 0, at_once: int = 4,
    ) -> EvalDetails:  # fmt: skip
        """Judge a model, or words of templates, on cases, as `wakelog eval`; of the home only the
        settings and a template are read.

        Args:
            files: Of cases; none: scenes of what no model may do.
            model: Who is judged; empty: the home's.
            template: T or T.N, on which agents live; or
            general: words how to work, and
            report: how to report.
            repeat: Each case is run so often.
            show: Each case that went wrong is told.
            out: A file for the counts of each case.
            against: Such a file, to be compared with.
            tokens: No other case begins after so many; a model far away is sent nothing without.
            at_once: Cases beside each other, of a model far away.
        """
        from adapters.usecases import evaluate as found

        home = self._open()
        cases = found.read_cases([os.fspath(one) for one in files] or [found.SCENES])
        then = found.earlier_run(os.fspath(against), cases) if against else None
        settings, model_for = home.settings, home.services.model_for
        settings = replace(settings, model=model) if model else settings
        words = found.words_judged(self._reading, template, _given(general, report))
        judge = found.Evaluation(settings, model_for, cases, repeat, words)
        _check_sent([judge.name] if is_far(judge.name) else [], tokens)
        apart(lambda: judge.run(_untold, tokens, at_once))
        kept = judge.kept
        compared = found.compared(os.fspath(against), then, kept) if then and kept.cases else None
        if out:
            found.keep_run(kept, Path(out))
        return judge.details(home.services.clock.now(), compared, is_showing=show)

    def rehearse(  # noqa: PLR0913  one for each option
        self, template: str = "", *, general: str = "", report: str = "", model: str = "",
        without: Literal["", "lessons"] = "", wakes: int = 40, since: str | date = "",
        is_all: bool = False, show: bool = False, tokens: int = 0, at_once: int = 4,
    ) -> RehearsalDetails:  # fmt: skip
        """Try a model, or words, on your own past, as `wakelog rehearse`: wakes on whose proposals
        you decided run again in memory.

        Args:
            template: T or T.N, whose agents and words are meant; or SET.ITEM, a proposal of
                directives.
            general: Other words how to work, and
            report: how to report.
            model: Who answers; empty: the model in force.
            without: What it is not shown.
            wakes: So many with something decided, the newest.
            since: None that ended before this day.
            is_all: Not only the half that is kept for this.
            show: Each proposal that fared otherwise is told.
            tokens: No other wake begins after so many; a model far away is sent nothing without.
            at_once: Wakes beside each other, of a model far away.
        """
        from adapters.usecases.rehearse import Rehearsal, RehearsalRequest

        words, name = _given(general, report)
        request = RehearsalRequest(
            template, words, name, model, without or None, wakes, told(since) or "", is_all
        )
        rehearsal = Rehearsal(self._reading(), request)
        _check_sent(sorted(rehearsal.estimated()), tokens)
        stopped = apart(lambda: rehearsal.run(_untold, tokens, at_once))
        found = rehearsal.details(stopped, is_showing=show)
        rehearsal.record(self._writing, found)
        return found

    # ------------------------------------------------------------------------------- asking the log

    def sql(self, query: str, *, seconds: float = 60) -> Rows:
        """Ask both logs as tables, in DuckDB's SQL, as `wakelog sql`; ``SHOW TABLES`` lists them.
        Times are UTC. A query that takes longer than so many seconds is refused. Each starts a
        process, but of a home in memory; who asks often takes `connect`."""
        from adapters.analytics import database, queries
        from adapters.analytics.query_process import query_apart

        home = self._open()
        if not self._is_in_memory:
            found = query_apart(home, self._environ, query, seconds)
            return Rows(list(found.columns), list(found.rows))
        with database.asking(home, seconds) as connection:
            database.lock(connection)
            found = queries.run_query(connection, query)
            return Rows(list(found.columns), list(found.rows))

    def connect(self, *, may_reach_files: bool = False) -> "duckdb.DuckDBPyConnection":
        """A read-only connection to those tables as they are now, for frames and plots. Later
        changes are seen by connecting again. It is locked as `sql` is: `may_reach_files` lets its
        queries read and write other files, and name frames of the program."""
        from adapters.analytics.database import connection_of

        return connection_of(self._open(), may_reach_files=may_reach_files)

    def export_tasks(
        self, path: Path_, *, form: Literal["markdown", "tasks"] = "markdown",
        is_open: bool = False, category: str = "", redact: bool = False, replace: bool = False,
    ) -> ExportedTasks:  # fmt: skip
        """Write tasks as Markdown that imports to the same state, or as JSON records (``tasks``).
        `redact`: every word becomes another one; `replace`: a file that is there."""
        home = self._exported(redact=redact)
        wanted = TaskFilter(categories=categories_named(catalog_of(home), category))
        found = export_text(home, "open" if is_open else "kept", wanted, form)
        save_text(Path(path), found.text, is_replacing=replace)
        self._keep_copy("export", path, is_kept=not redact)
        return ExportedTasks(os.fspath(path), found.tasks, len(found.text.encode()))

    def export_tables(
        self, folder: Path_, *, redact: bool = False, seconds: float = 600
    ) -> ExportedTables:
        """Write the tables of `sql` as Parquet files."""
        from adapters.analytics.database import asking
        from adapters.analytics.parquet import export_parquet
        from adapters.proof.redact import HOLDS_TEXTS, TEXTS_REWRITTEN

        with asking(self._exported(redact=redact), seconds) as connection:
            held = TEXTS_REWRITTEN if redact else HOLDS_TEXTS
            counts = export_parquet(connection, Path(folder), held)
        self._keep_copy("export", folder, is_kept=not redact)
        return ExportedTables(os.fspath(folder), counts, redact)

    def export_wakes(self, folder: Path_, *, redact: bool = False) -> ExportedWakes:
        """Write wakes as Inspect logs; it needs ``wakelog[inspect]``."""
        try:
            from adapters.analytics.inspect_export import export_inspect
        except ModuleNotFoundError as error:
            because = f"Inspect logs need {error.name}, which is not installed"
            instead = "run pip install 'wakelog[inspect]'"
            raise Refused("missing_extra", because=because, instead=instead) from None
        written = export_inspect(self._exported(redact=redact), Path(folder), None)
        self._keep_copy("export", folder, is_kept=not redact)
        return ExportedWakes(
            os.fspath(folder), [ExportedFile(**asdict(one)) for one in written], redact
        )

    def export_history(
        self, path: Path_, run: str = "", *, is_all: bool = False, redact: bool = False
    ) -> ExportedHistory:
        """Write the history of a wake, or of the whole home, as a file that proves itself."""
        history = history_asked(self._reading(), run, is_whole=is_all, is_redacted=redact)
        document = save_history(history, Path(path))
        self._keep_copy("history", path, is_kept=not redact)
        return document

    def _exported(self, *, redact: bool) -> Opened:
        from adapters.proof.redact import redacted_home

        home = self._reading()
        return redacted_home(home) if redact else home

    def _keep_copy(self, what: str, path: Path_, *, is_kept: bool = True) -> None:
        """Keep where texts of the home went, for who erases some of them."""
        home = self._open()
        if is_kept and home.exists:
            where = canonical.clean(str(Path(path).expanduser().absolute()))
            keep_copy(home.path, Copied(what, where, home.services.clock.now()))

    # --------------------------------------------------------------------------------------- upkeep

    def status(self) -> StatusDetails:
        """What is queued, running, waiting, due or in doubt."""
        return status_document(self._reading())

    def health(self) -> HealthDetails:
        """Whether agents are awake: a runtime lives, and nothing waits that should not."""
        return health_document(self._reading())

    def recover(self) -> RecoveredSteps:
        """Finish what a crash left undone; doing it twice changes nothing more."""
        from adapters.upkeep.erase import finish_erasure
        from adapters.usecases.run_home import recover_home, step_document

        if not (self._reading().exists or self._is_in_memory):
            return RecoveredSteps([])
        home = self._writing()
        finish_erasure(home)
        ranked = ranks_of(home)
        steps = apart(lambda: recover_home(home, lambda _: None))
        return RecoveredSteps([step_document(one, ranked) for one in steps])

    def rebuild(self) -> RebuiltViews:
        """Make the views anew from the logs."""
        home = self._open()
        home.views.rebuild(None)
        return RebuiltViews(home.services.journal.tail().n, home.services.agents.tail().n)

    def doctor(self, *, fix: bool = False) -> DoctorDetails:
        """Look for trouble: files, settings, agents, effects in doubt; `fix`: first `recover` and
        `rebuild`."""
        from adapters.upkeep.doctor import examine

        self._on_disk("a look at its files")
        if fix:
            self.recover()
            self.rebuild()
        model = self._model if isinstance(self._model, str) else self._model.name
        found = examine(self._open().place, self._environ, model)
        checks = [DoctorCheck(one.check, one.is_ok, one.told, one.do or None) for one in found]
        return DoctorDetails(all(one.is_ok for one in found), checks)

    def backup(self, folder: Path_) -> BackupDetails:
        """Copy the home into a new folder, while it is worked in."""
        from adapters.upkeep.backup import back_up

        self._on_disk("a backup")
        place, target = self._open().place, Path(folder).expanduser().absolute()
        made = back_up(place, target)
        self._keep_copy("backup", target)
        size = sum(one.stat().st_size for one in made)
        return BackupDetails(True, str(target), [one.name for one in made], size)

    def erase(
        self, what: Literal["task", "agent", "note", "block", "category"], name: str,
        part: str = "", *, sure: str = "", derived: bool = False, keep_agent: bool = False,
    ) -> ErasedDetails:  # fmt: skip
        """Take a person's words out of the home for good, as `wakelog erase WHAT NAME PART`. It
        cannot be undone: `sure` is its title, as the answer without `sure` has it, with which
        nothing is changed. `derived`: also notes and agents of others that speak of it;
        `keep_agent`: leave agents that read a note or block."""
        from adapters.upkeep.erase import erase, pick_erased, plan_erasure
        from adapters.usecases.erasing import kind_named, unit_named

        kind, home = kind_named(what, name, part, keeps_agent=keep_agent), self._reading()
        if sure:
            home = self._writing()
            home.place.check_erasing()
        try:
            entity = unit_named(home, what, name, part)
        except Refused:
            if not (entity := pick_erased(home, what, part or name)):
                raise
        plan = plan_erasure(home, kind, entity)
        if not sure:
            return plan.document()
        if sure.strip() != plan.title.strip():
            because = f"{sure!r} is not the title, {plan.title!r}"
            raise Refused("not_sure", because=because, instead="nothing was erased")
        return plan.document(erase(home, kind, entity, derived=derived))

    def erasures(self) -> list[ErasureLine]:
        """What was erased."""
        from adapters.upkeep.erase import erasures

        return erasures(self._reading())

    def retain(
        self, *, prompts: int = 0, replies: int = 0, compact: bool = False, dry_run: bool = False
    ) -> RetainDetails:
        """Drop prompts that render again, and bytes of replies, that are older than so many days;
        without them as the settings say."""
        from adapters.upkeep.retain import retain

        self._on_disk("a log that keeps all")
        home = self._open() if dry_run else self._writing()
        if compact and not home.place.is_folder:
            raise invalid("a database keeps no file of a home", "say `wakelog database scrub`")
        given = home.settings.retain
        days = (
            (prompts, replies) if prompts or replies else (given.prompts_days, given.replies_days)
        )
        if not any(days):
            raise invalid("it is not said what to drop", "name prompts, replies, or both")
        return retain(home, *days, is_dry=dry_run, is_compact=compact)

    # ------------------------------------------------------------------------------- other machines

    def sync(
        self, folder: str = "", *, dry_run: bool = False, accept_erasures: bool = False
    ) -> machines.SyncReport:
        """Meet the other machines of the home in a folder: take what is new, then give."""
        from adapters.sync.machines import host_name
        from adapters.sync.sync_home import sync_folder_of, sync_home

        self._on_disk("a meeting with other machines")
        read = self._open()
        shelf = sync_folder_of(read.place, read.settings, folder, is_made=not dry_run)
        home, host = self._reading() if dry_run else self._writing(), host_name(self._environ)
        return sync_home(home, shelf, is_dry=dry_run, host=host, accepts=accept_erasures)

    def join(self, folder: str = "", *, dry_run: bool = False) -> machines.JoinReport:
        """Bring this home's own tasks into that in a folder, and be one of its machines; agents
        stay behind, in a copy of the home as it was."""
        from adapters.sync.join import join, join_plan
        from adapters.sync.machines import host_name

        self._on_disk("a meeting with other machines")
        plan = join_plan(self._open().place, self._environ, folder)
        if plan is None:
            did = self.sync(folder, dry_run=dry_run)
            return machines.JoinReport(did.replica, "", "", 0, 0, 0, synced=did)
        if dry_run:
            return machines.JoinReport("", "", "", plan.tasks, plan.there, plan.agents)
        host = host_name(self._environ)
        return self._anew(lambda was: join(was.place, self._environ, plan, host=host))

    def replicas(self) -> list[machines.ReplicaLine]:
        """The machines of this home, and what is known of each."""
        from adapters.sync.sync_home import replicas_of_home

        self._on_disk("a meeting with other machines")
        return replicas_of_home(self._reading())

    def name_replica(self, label: str) -> machines.NamedReplica:
        """Call this machine something; the others hear of it with the next sync."""
        from adapters.sync.machines import name_replica

        home = self._on_machines()
        name_replica(home, label)
        return machines.NamedReplica(home.services.journal.replica, label)

    def lead(self, name: str = "") -> machines.LeadReplica:
        """Let one machine wake agents by itself; this one, if none is named."""
        from adapters.sync.machines import let_lead

        return let_lead(self._on_machines(), name)

    def retire(self, name: str) -> machines.RetiredReplica:
        """Say that a machine never comes back."""
        from adapters.sync.machines import retire

        return retire(self._on_machines(), name)

    def rescue(self, folder: str = "", *, dry_run: bool = False) -> machines.RescueReport:
        """Go on under a new name, where another home wrote under the name of this one."""
        from adapters.sync.rescue import rescue

        self._on_disk("a meeting with other machines")
        return self._anew(lambda was: rescue(was.place, self._environ, folder, is_dry=dry_run))

    def _on_machines(self) -> Opened:
        self._on_disk("a meeting with other machines")
        return self._writing()

    # ----------------------------------------------------------------------------------------- time

    def advance(self, *, seconds: float = 0, until: str | date | datetime = "") -> str:
        """Let time pass, or be as late as `until`, in a home whose clock `WAKELOG_NOW` sets; what
        time it is then."""
        home = self._open()
        clock = home.services.clock
        if not isinstance(clock, ManualClock):
            instead = "open the home with WAKELOG_NOW in its environ"
            raise invalid("time is the machine's here", instead)
        if until:
            at = instant(beginning(told(until) or "", home))
            seconds = (at - instant(clock.now())).total_seconds()
            if seconds < 0:
                raise invalid(f"{until} is over", "name a time to come")
        clock.advance(seconds=seconds)
        self._is_clock_moved = True
        return clock.now()

    def _on_disk(self, what: str) -> None:
        """Raises Refused, code ``not_here``: the home is in memory, where this cannot be."""
        if self._is_in_memory:
            because = f"a home in memory has no file, and so not {what}"
            raise Refused("not_here", because=because, instead="open one in a folder")


def _given(general: str, report: str) -> tuple[Directives, str]:
    """Words that a program gives, and what they are called."""
    given = Directives(general or None, report or None)
    check_directives(given)
    return given, "words of a program" if general or report else ""


def _check_sent(models: Sequence[str], tokens: int) -> None:
    """Raises Refused: something would go to models far away, and nobody said how much may."""
    if models and not tokens:
        because = f"this would go to {' and '.join(models)}"
        instead = "say how many tokens it may take, with tokens="
        raise Refused("privacy_confirmation_required", because=because, instead=instead)


def _untold(done: int, of: int) -> None:
    """A program is not told how far it has come."""
