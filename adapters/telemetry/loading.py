"""Whether effects are traced, and by what: OpenTelemetry is loaded here, or not at all."""

from adapters.home.prices import CostOf
from adapters.home.settings import OtelSettings
from adapters.telemetry.spans import NoSpans, Spans
from domain.errors import Refused

NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def checked(settings: OtelSettings) -> None:
    """See that what is switched on can be had; nothing is looked for where it is off. Raises
    Refused, code ``missing_extra``."""
    if settings.enabled and not all(map(_is_there, NEEDED)):
        because = "otel.enabled is true, but OpenTelemetry is not installed"
        instead = "use `pip install 'wakelog[otel]'`, or set otel.enabled to false"
        raise Refused("missing_extra", because=because, instead=instead)


def _is_there(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # one of its parents is missing
        return False


def spans_for(settings: OtelSettings, cost_of: CostOf) -> Spans:
    """What the settings ask for. Where it cannot be made, that is told, and nothing is traced:
    a mistake in an `OTEL_` variable must not keep an agent from waking."""
    if not settings.enabled:
        return NoSpans()
    try:
        from adapters.telemetry import otel

        return otel.sending(has_texts=settings.texts, cost_of=cost_of)
    except Exception as error:  # noqa: BLE001  whatever the packages make of their variables
        import logging  # who only reads never comes here

        log = logging.getLogger(__name__)
        log.warning("spans are not sent: %s: %s", type(error).__name__, error)
        return NoSpans()
