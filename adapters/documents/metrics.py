"""The JSON documents of `metrics`: how each template does."""

from msgspec import Struct


class ToolMetrics(Struct, frozen=True):
    """How proposals of one kind do; `acceptance_rate` is between 0 and 1."""

    tool: str
    confirmed: int
    decided: int
    acceptance_rate: float


class TemplateMetrics(Struct, frozen=True):
    """How a template does; the one without an id and a name is the built-in directives. Rates are
    between 0 and 1, and null where there is nothing to divide by. Of `active` seconds, what a wake
    waited is left out; `cost_per_wake` is in the person's currency."""

    template_id: str | None
    template_name: str | None
    total_wakes: int
    success_count: int
    failure_count: int
    success_rate: float | None
    average_duration_seconds: float | None
    first_wake_at: str | None
    last_wake_at: str | None
    active_instance_count: int
    skipped_count: int
    running_count: int
    confirmed_items: int
    decided_items: int
    acceptance_rate: float | None
    median_seconds_to_decision: float | None
    tokens_per_wake: float | None
    noop_rate: float | None
    tools: list[ToolMetrics]
    median_duration_seconds: float | None
    p95_duration_seconds: float | None
    median_active_seconds: float | None
    p95_active_seconds: float | None
    waited_seconds: float
    cost_per_wake: float | None
