"""Wakes as Inspect logs: one `.eval` file for each template version and model (ADR 0019).

Inspect compares runs of one task with several models. Here the task is what an agent was told, a
template at a version; its samples are the wakes that ran on it. Who compares two files compares
two versions, or two models.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from math import sqrt
from pathlib import Path

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import ModelUsage
from msgspec import Struct

from adapters.analytics.inspect_samples import ACCEPTED, COMPLETED, WakeRecord, sample
from adapters.documents.tasks import titles_of
from adapters.documents.wakes import rows_of
from adapters.home.files import close_to_others
from adapters.wiring import Home
from domain.errors import Refused
from domain.keys import key
from projections import agents, templates, wakes
from projections.wakes import WakeDocument

NO_TEMPLATE = "no-template"
WakesProgress = Callable[[int, int], None]


class Written(Struct, frozen=True):
    """A file that was written, by its name, and how many wakes stand in it."""

    file: str
    template: str
    template_version: int
    model: str
    wakes: int


class _Group(Struct, frozen=True, order=True):
    template_id: str
    template_version: int
    model: str


class _Counted(Struct, frozen=True):
    """The score of a wake, and whose wake it is."""

    agent: str
    yes: float
    items: int


class _Names(Struct, frozen=True):
    """What agents and tasks are called now, by their ids."""

    agents: dict[str, str]
    tasks: dict[str, str]


def export(home: Home, folder: Path, progress: WakesProgress | None = None) -> list[Written]:
    """Write every wake that started as a sample.

    Args:
        home: Open, its views caught up.
        folder: Made if it is not there. Files of an earlier export are replaced by name.
        progress: Told how many wakes of all are done.

    Returns:
        What was written, ordered by template, version and model.

    Raises:
        Refused: Code ``read_only``: the folder cannot be written.
    """
    grouped: dict[_Group, list[WakeDocument]] = {}
    for wake in home.views.page(wakes.VIEW):
        if wake.started_at:
            group = _Group(wake.template_id, wake.template_version, wake.model)
            grouped.setdefault(group, []).append(wake)
    names = _Names({one.id: one.name for one in home.views.page(agents.VIEW)}, titles_of(home))
    count = sum(map(len, grouped.values()))
    done = 0
    written: list[Written] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for group in sorted(grouped):
            log = _log(home, group, grouped[group], names)
            name = _file_name(log)
            write_eval_log(log, str(folder / name), format="eval")
            close_to_others([folder / name])
            found = len(grouped[group])
            written.append(Written(name, log.eval.task, group.template_version, group.model, found))
            done += found
            if progress is not None:
                progress(done, count)
    except OSError as error:
        because = f"{folder} cannot be written: {error.strerror or error}"
        instead = "free space, give yourself permission, or name another folder"
        raise Refused("read_only", because=because, instead=instead) from None
    return written


def _log(home: Home, group: _Group, found: Sequence[WakeDocument], names: _Names) -> EvalLog:
    template = home.views.get(templates.VIEW, group.template_id) if group.template_id else None
    name = template.template.name if template else group.template_id
    samples = list(_samples(home, found, name, names))
    named = key("inspect", group.template_id, str(group.template_version), group.model)
    spec = EvalSpec(
        eval_id=named,
        run_id=named,
        task_id=named,
        created=found[0].started_at,
        task=name or NO_TEMPLATE,
        task_version=group.template_version,
        model=group.model,
        dataset=EvalDataset(
            name="wakes", samples=len(samples), sample_ids=[str(one.id) for one in samples]
        ),
        config=EvalConfig(),
        packages={"wakelog": version("wakelog")},
        metadata={
            "template_id": group.template_id or None,
            "template": name or None,
            "template_version": group.template_version or None,
        },
    )
    ended = [one.ended_at for one in found if one.ended_at]
    return EvalLog(
        status="success",
        eval=spec,
        samples=samples,
        results=_results(samples),
        stats=EvalStats(
            started_at=found[0].started_at,
            completed_at=max(ended, default=""),
            model_usage=_usage(samples),
        ),
    )


def _samples(
    home: Home, found: Iterable[WakeDocument], template: str, names: _Names
) -> Iterator[EvalSample]:
    with home.services.agents.reading() as world:
        for wake in found:
            agent, task = names.agents.get(wake.agent_id, ""), names.tasks.get(wake.task_id, "")
            rows, prices = rows_of(home, wake), home.settings.prices
            yield sample(world, WakeRecord(wake, rows, agent, task, template, prices))


def _results(samples: Sequence[EvalSample]) -> EvalResults:
    scores = []
    for name in (ACCEPTED, COMPLETED):
        scored = [one for one in samples if name in (one.scores or {})]
        if not scored:
            continue
        found = _metrics([_counted(one, name) for one in scored])
        scores.append(
            EvalScore(
                name=name,
                scorer=name,
                scored_samples=len(scored),
                unscored_samples=len(samples) - len(scored),
                metrics={one: EvalMetric(name=one, value=value) for one, value in found.items()},
            )
        )
    done = sum(one.completed_at is not None for one in samples)
    return EvalResults(total_samples=len(samples), completed_samples=done, scores=scores)


def _counted(one: EvalSample, name: str) -> _Counted:
    """A sample's score as what was said yes to, of how many."""
    score = (one.scores or {})[name]
    counts = score.metadata or {"confirmed": score.as_float(), "decided": 1}
    return _Counted((one.metadata or {})["agent_id"], counts["confirmed"], counts["decided"])


def _metrics(counted: Sequence[_Counted]) -> dict[str, float]:
    """The share of all items, its standard error with an agent's items as one cluster (none for
    one agent), and how many items there are."""
    items = sum(one.items for one in counted)
    share = sum(one.yes for one in counted) / items
    clusters: dict[str, float] = {}
    for one in counted:
        residual = one.yes - share * one.items
        clusters[one.agent] = clusters.get(one.agent, 0.0) + residual
    metrics = {"mean": share, "items": items}
    if len(clusters) > 1:
        squares = sum(one * one for one in clusters.values())
        error = sqrt(squares * len(clusters) / (len(clusters) - 1)) / items
        metrics |= {"stderr": error}
    return metrics


def _usage(samples: Iterable[EvalSample]) -> dict[str, ModelUsage]:
    total: dict[str, ModelUsage] = {}
    for one in samples:
        for model, used in one.model_usage.items():
            total[model] = _plus(total[model], used) if model in total else used
    return total


def _plus(one: ModelUsage, other: ModelUsage) -> ModelUsage:
    """As Inspect adds, but a cost with a part that is not known is not known."""
    both = one + other
    if None in (one.total_cost, other.total_cost):
        both.total_cost = None
    return both


def _file_name(log: EvalLog) -> str:
    """As Inspect names its files, so that its viewer lists them: time, task, id."""
    time = re.sub(r"[:+.]", "-", str(log.eval.created))
    task, model = (re.sub(r"[^\w-]+", "-", one) for one in (log.eval.task, log.eval.model))
    return f"{time}_{task}-v{log.eval.task_version}-{model}_{log.eval.eval_id[:12]}.eval"
