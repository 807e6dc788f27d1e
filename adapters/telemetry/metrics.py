"""Numbers for Prometheus: what a worker does, how its database stands, what a page answers.

Names of homes are in them where that is wanted alone; titles, people and agents never are."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from adapters.home.prices import WHOLE, CostOf
from adapters.telemetry.spans import Spans, TellAppended, TellReply
from domain.ports import ModelFault, Reply, Request, Usage
from domain.wake.wake import ModelAsked, Wake

SECONDS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 600)
PAGE_SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)
Gauges = Callable[[], Mapping[tuple[str, str, str], Mapping[str, float]]]
"""``gauges()``: by a number's name, its help and its label, the values by the label's; a number
without a label has one of ''."""


class Numbers:
    """The numbers of one process. `gauges`: those that are asked for when somebody looks."""

    type = CONTENT_TYPE_LATEST

    def __init__(self, gauges: Gauges) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(_Asked(gauges))

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def counter(self, name: str, told: str, *labels: str) -> Counter:
        return Counter(f"wakelog_{name}", told, labels, registry=self.registry)

    def histogram(self, name: str, told: str, buckets: Iterable[float], *labels: str) -> Histogram:
        made = tuple(buckets)
        return Histogram(f"wakelog_{name}", told, labels, buckets=made, registry=self.registry)


class _Asked(Collector):
    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def describe(self) -> Iterable[Metric]:
        return ()  # what there is, is known when somebody asks

    def collect(self) -> Iterator[Metric]:
        for (name, told, label), values in self._gauges().items():
            family = GaugeMetricFamily(f"wakelog_{name}", told, labels=[label] if label else [])
            for of, value in values.items():
                family.add_metric([of] if label else [], value)
            yield family


# ---------------------------------------------------------------------------------------- a worker


class WakeNumbers:
    """What wakes of a worker come to."""

    def __init__(
        self,
        numbers: Numbers,
        *,
        has_names: bool,
        spend: Callable[[str, int], None] = lambda _currency, _cost: None,
    ) -> None:
        """`has_names`: also by home; `spend`: is told what each answer costs, see `CostOf`."""
        self._spend = spend
        self._home = ("home",) if has_names else ()
        self._wakes = numbers.counter("wakes", "Wakes that ended.", "outcome", *self._home)
        self._seconds = numbers.histogram("wake_seconds", "Stretches of wakes.", SECONDS)
        self._model = numbers.histogram("model_seconds", "Answers of models.", SECONDS, "model")
        self._faults = numbers.counter("model_faults", "Models that failed.", "model", "code")
        spent = "model", *self._home
        self._tokens = numbers.counter("tokens", "Tokens of models.", "direction", *spent)
        self._cost = numbers.counter("cost", "Money, in the home's currency.", "currency", *spent)
        self._troubles = numbers.counter("troubles", "Lines of the log that tell of trouble.")

    def told(self, event: str, fields: Mapping[str, object]) -> None:
        """A line of the worker's log."""
        if event == "ended":
            self._wakes.labels(str(fields["outcome"]), *self._of(str(fields.get("home")))).inc()
        elif event == "trouble":
            self._troubles.inc()

    def around(self, spans: Spans, home: str, currency: str, cost_of: CostOf) -> Spans:
        """Spans of a home that are counted, too."""
        return _CountedSpans(spans, self, home, currency, cost_of)

    @contextmanager
    def timed(self, model: str = "") -> Iterator[None]:
        """A stretch of a wake, or an answer of a model."""
        begun = perf_counter()
        try:
            yield
        except ModelFault as fault:
            self._faults.labels(model, fault.code).inc()
            raise
        finally:
            seconds = self._model.labels(model) if model else self._seconds
            seconds.observe(perf_counter() - begun)

    def spent(self, model: str, home: str, usage: Usage, currency: str, cost: int | None) -> None:
        for direction, count in (("in", usage.tokens_in), ("out", usage.written)):
            self._tokens.labels(direction, model, *self._of(home)).inc(count or 0)
        if cost is not None:
            self._spend(currency, cost)
            self._cost.labels(currency, model, *self._of(home)).inc(cost / WHOLE)

    def _of(self, home: str) -> tuple[str, ...]:
        return (home,) if self._home else ()


class _CountedSpans:
    """What another one traces, counted."""

    def __init__(
        self, spans: Spans, numbers: WakeNumbers, home: str, currency: str, cost_of: CostOf
    ) -> None:
        self._spans, self._numbers, self._home = spans, numbers, home
        self._currency, self._cost_of = currency, cost_of
        self.tool, self.verdict, self.close = spans.tool, spans.verdict, spans.close

    @contextmanager
    def wake(self, wake: Wake, name: str, *, is_resumed: bool) -> Iterator[TellAppended]:
        with self._numbers.timed(), self._spans.wake(wake, name, is_resumed=is_resumed) as tell:
            yield tell

    @contextmanager
    def chat(self, wake: Wake, asked: ModelAsked, request: Request) -> Iterator[TellReply]:
        def counted(reply: Reply) -> None:
            self._spent(request.model, reply.usage)
            tell(reply)

        try:
            with (
                self._numbers.timed(request.model),
                self._spans.chat(wake, asked, request) as tell,
            ):
                yield counted
        except ModelFault as fault:
            self._spent(request.model, fault.usage)
            raise

    def _spent(self, model: str, usage: Usage) -> None:
        cost = self._cost_of(model, usage)
        self._numbers.spent(model, self._home, usage, self._currency, cost)


# ------------------------------------------------------------------------------------------ a page

App = Callable[[Any, Any, Any], Awaitable[None]]


class PageNumbers:
    """What a page answers."""

    def __init__(self, numbers: Numbers) -> None:
        asked = "Requests that were answered."
        self._requests = numbers.counter("requests", asked, "method", "status")
        self._seconds = numbers.histogram("request_seconds", asked, PAGE_SECONDS)
        refused = "Requests that were refused."
        self._refusals = numbers.counter("refusals", refused, "status")

    def around(self, app: App) -> App:
        """The application, counted. A stream counts when it ends."""

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            begun = perf_counter()

            async def told(message: Any) -> None:
                if message["type"] == "http.response.start":
                    self._answered(scope["method"], message["status"])
                await send(message)

            await app(scope, receive, told if scope["type"] == "http" else send)
            if scope["type"] == "http":
                self._seconds.observe(perf_counter() - begun)

        return counted

    def _answered(self, method: str, status: int) -> None:
        known = method if method in {"GET", "HEAD", "POST"} else "other"
        self._requests.labels(known, str(status)).inc()
        if status in {401, 403, 404, 421, 429}:
            self._refusals.labels(str(status)).inc()
