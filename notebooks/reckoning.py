"""What the notebooks reckon with what is not over yet.

What has not ended is no gap in the data: it lasted at least so long. Leaving it out makes waits
look shorter than they are, so shares over time are those of Kaplan and Meier.
"""

import math

import polars as pl

Z = 1.959964  # of a 95 % interval

COLUMNS = ("days", "at_risk", "ended", "share", "low", "high")
NONE_ENDED = pl.DataFrame(dict.fromkeys(COLUMNS, 0.0))
"""A row to draw where nothing has ended yet."""

DECISIONS = """
    SELECT tool, status IN ('confirmed', 'rejected') AS is_over,
        date_diff('millisecond', opened_at, CASE WHEN status IN ('pending', 'confirming',
            'deferred') THEN (SELECT max(occurred_at) FROM events) ELSE decided_at END)
            / 86400000 AS days
    FROM change_items WHERE opened_at IS NOT NULL
"""
"""How long each proposal waited for its person, and whether it was decided then: what is deferred
still waits, what expired or was taken back waited so long in vain."""


def ended_by(lasted: pl.DataFrame) -> pl.DataFrame:
    """Which share has ended by when, with its 95 % interval (Greenwood's, on the log-log scale).

    Args:
        lasted: Columns ``days`` and ``is_over``; where it is false, the end is not known yet.

    Returns:
        A row for each time of an end: ``days``, ``at_risk``, ``ended``, ``share``, ``low`` and
        ``high``.
    """
    rows: list[dict[str, float]] = []
    kept, spread = 1.0, 0.0
    for (days,), ends in lasted.sort("days").group_by(["days"], maintain_order=True):
        ended = int(ends["is_over"].sum())
        at_risk = len(lasted.filter(pl.col("days") >= days))
        if not ended:
            continue
        kept *= 1 - ended / at_risk
        if kept > 0:
            spread += ended / (at_risk * (at_risk - ended))
            off = Z * math.sqrt(spread) / math.log(kept)
            low, high = 1 - kept ** math.exp(-off), 1 - kept ** math.exp(off)
        else:
            low, high = rows[-1]["low"] if rows else 0.0, 1.0
        row = {"days": float(days), "at_risk": at_risk, "ended": ended, "share": 1 - kept}
        rows.append({**row, "low": min(low, high), "high": max(low, high)})
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Float64))


def reached(shares: pl.DataFrame, share: float) -> tuple[float | None, float | None, float | None]:
    """When a share is reached, and the ends of its 95 % interval; None: not yet, as far as known.

    The sooner end is where the upper end of the share gets there, the later where the lower does.
    """

    def first(column: str) -> float | None:
        found = shares.filter(pl.col(column) >= share - 1e-9)["days"]
        return float(found[0]) if len(found) else None

    return first("share"), first("high"), first("low")
