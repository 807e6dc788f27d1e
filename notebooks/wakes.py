import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import polars as pl

    import wakelog
    from notebooks.drawing import (
        BLUE,
        COLOURS,
        GREY,
        ORANGE,
        Prose,
        ask,
        bars,
        cut,
        empty,
        lasting,
        panels,
        percent,
        picture,
        room,
    )


@app.cell
def _():
    with wakelog.open_home(may_be_new=True) as _home:
        connection = _home.connect()
    reasons = ask(connection, "SELECT * FROM wake_reasons WHERE begun > 0")
    _begun = reasons["begun"].sum()
    _share = pl.col("noop") / pl.col("completed")
    _idle = reasons.filter(pl.col("completed") >= 20, pl.col("noop") > 0).sort(-_share, "reason")
    _now = (
        "**What one would do now**: look at wakes by {reason} first, of which {noop:,} of "
        "{completed:,} did nothing. `wakelog why TASK` tells what woke an agent, `wakelog agent "
        "timer` and `wakelog agent watch` what may.".format(**_idle.row(0, named=True))
        if len(_idle)
        else ""
    )
    _here = f"Here are {_begun:,} wakes that began." if _begun else "No agent has woken here yet."
    Prose(f"""
        # Where do wakes come from, and which did nothing?

        {_now}

        An agent sleeps until its task changes, a timer fires, or somebody asks. Each wake costs
        tokens, whatever comes of it. {_here} One *did nothing* if it
        completed without a proposal, a change, an observation, a retraction or a report.
    """)
    return connection, reasons


@app.cell
def _(connection):
    weekly = ask(
        connection,
        """
        SELECT date_trunc('week', day_in(started_at, (SELECT timezone FROM home)))::DATE AS week,
            reason, count(*) AS wakes
        FROM wakes WHERE started_at IS NOT NULL GROUP BY ALL ORDER BY week
        """,
    )
    return (weekly,)


@app.cell
def _(reasons, weekly):
    def by_week():
        if weekly.is_empty():
            return empty("No agent has woken yet.")
        names = reasons["reason"].to_list()
        weeks = weekly["week"].unique().sort()
        top = reasons.row(0, named=True)
        share = top["begun"] / reasons["begun"].sum()
        figure, axes = picture(
            f"{percent(share)} of all wakes come from a "
            f"{names_of.get(top['reason'], top['reason'])}",
            height=3.8,
        )
        bottom = [0] * len(weeks)
        for name, colour in zip(names, COLOURS, strict=False):
            rows = dict(weekly.filter(pl.col("reason") == name).select("week", "wakes").rows())
            values = [rows.get(week, 0) for week in weeks]
            axes.bar(weeks, values, width=6, bottom=bottom, color=colour, label=name)
            bottom = [low + value for low, value in zip(bottom, values, strict=True)]
        room(axes, max(bottom), along="y")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        axes.set_ylabel("wakes in a week")
        axes.set_xlabel("week, by its Monday in the person's time zone")
        return figure

    names_of = {
        "subscription": "change of the task (subscription)",
        "timer": "timer",
        "user": "question of the person",
        "manual": "person's request",
    }
    by_week()
    return


@app.cell
def _(reasons):
    def idle():
        found = reasons.filter(pl.col("completed") > 0).sort(
            "noop", "reason", descending=[True, False]
        )
        if found.is_empty() or not found["noop"][0]:
            return empty("Every wake did something, or none has completed yet.")
        worst = found.row(0, named=True)
        share = worst["noop"] / found["noop"].sum()
        title = (
            f"{percent(share)} of the wakes that did nothing were {worst['reason']} wakes; "
            f"{percent(worst['noop'] / worst['completed'])} of these did nothing"
        )
        figure, axes = picture(title, height=1.5 + 0.5 * len(found))
        rows = range(len(found))
        useful = (found["completed"] - found["noop"]).to_list()
        axes.barh(rows, useful, color=BLUE, label="did something")
        axes.barh(rows, found["noop"].to_list(), left=useful, color=ORANGE, label="did nothing")
        for row, one in enumerate(found.iter_rows(named=True)):
            axes.annotate(
                f"{percent(one['noop'] / one['completed'])} did nothing", (one["completed"], row),
                (6, 0), textcoords="offset points", va="center",
            )  # fmt: skip
        axes.set_yticks(rows, found["reason"].to_list())
        axes.set_ylim(len(found) - 0.5, -0.5)
        room(axes, 1.12 * max(found["completed"]))  # the text beside a bar is long
        axes.legend(loc="lower right", frameon=False)
        axes.set_xlabel("completed wakes")
        return figure

    idle()
    return


@app.cell
def _(connection):
    schedules = ask(
        connection,
        """
        SELECT schedule, count(DISTINCT w.agent_id) AS agents, count(*) AS wakes,
            count(*) FILTER (w.is_noop) AS did_nothing, count(*) FILTER (w.proposals > 0)
            AS proposed, sum(w.tokens_in + w.tokens_out)::BIGINT AS tokens
        FROM wakes w JOIN (
            SELECT json_extract_string(data, '$.timer') AS timer,
                max(json_extract_string(data, '$.schedule')) AS schedule
            FROM events WHERE tag = 'agent.timer_set.1' GROUP BY timer
        ) s ON s.timer = w.reason_id
        WHERE w.reason = 'timer' AND w.outcome = 'completed' GROUP BY schedule
        ORDER BY wakes DESC, schedule
        """,
    )
    schedules
    return


@app.cell
def _():
    Prose("""
        A timer on a task that nobody touches costs nothing, unless it is set to ask always. The
        next picture asks whether timers keep their word: a wall time like "every day 07:00" moves
        by an hour in UTC when the clocks change, and must not move for the person.
    """)
    return


@app.cell
def _(connection):
    ticks = ask(
        connection,
        """
        SELECT occurred_at::DATE AS day, hour(occurred_at) AS utc,
            hour((occurred_at AT TIME ZONE 'UTC') AT TIME ZONE (SELECT timezone FROM home))
            AS wall, count(*) AS ticks
        FROM triggers WHERE reason = 'timer' AND fate = 'first' GROUP BY ALL ORDER BY ALL
        """,
    )
    return (ticks,)


@app.cell
def _(ticks):
    def over_the_change():
        if ticks.is_empty():
            return empty("No timer has fired yet.")
        clocks = {"in UTC": "utc", "on the person's clock": "wall"}
        hours = {clock: sorted(set(ticks[column])) for clock, column in clocks.items()}
        figure, both = panels(claim(*hours.values()), 2, height=4.4)
        for axes, (clock, column), colour in zip(both, clocks.items(), (GREY, BLUE), strict=True):
            axes.scatter(ticks["day"], ticks[column], color=colour, s=14)
            axes.set_yticks(hours[clock], [f"{one}:00" for one in hours[clock]])
            axes.set_ylim(min(hours[clock]) - 1, max(hours[clock]) + 1)
            axes.set_ylabel(f"hour {clock}".replace(" on ", "\non "))
        both[-1].set_xlabel("day of the tick")
        return figure

    def claim(utc, wall):
        told = " and ".join(f"{one}:00" for one in wall[:3])
        told = f"the hours of {told}" if len(wall) <= 3 else f"{len(wall)} hours of the day"
        if len(utc) > len(wall):
            return f"On the person's clock timers fire in {told}; in UTC these move with the season"
        return f"On the person's clock timers fire in {told}; no change of the clock moved them yet"

    over_the_change()
    return


@app.cell
def _(connection):
    silent = ask(
        connection,
        """
        SELECT outcome || ': ' || replace(why, '_', ' ') AS why, count(*) AS times,
            (SELECT count(*) FROM why_no_wake) AS of_all
        FROM why_no_wake GROUP BY ALL ORDER BY times DESC, why LIMIT 10
        """,
    )
    return (silent,)


@app.cell
def _(silent):
    if silent.is_empty():
        no_wake = empty("Every change and every tick led to a wake.")
    else:
        _top = silent.row(0, named=True)
        no_wake, _axes = picture(
            f"{_top['times']} of {_top['of_all']} changes and ticks that led to no wake were "
            f"“{_top['why']}”",
            height=1.4 + 0.4 * len(silent),
        )
        bars(_axes, silent["why"].to_list(), silent["times"].to_list(), GREY)
        _axes.set_xlabel("changes and ticks, by what stopped them")
    no_wake
    return


@app.cell
def _(connection):
    latency = ask(connection, "SELECT * FROM trigger_latency").with_columns(
        pl.col("median_seconds", "p95_seconds", "median_seconds_from_change").map_elements(
            lasting, return_dtype=pl.String
        )
    )
    latency
    return


@app.cell
def _(connection):
    idlers = ask(
        connection,
        """
        SELECT agent, sum(wakes)::BIGINT AS did_nothing,
            max(struct_pack(wakes, reason)).reason AS mostly_by, sum(tokens)::BIGINT AS tokens
        FROM (
            SELECT a.name AS agent, w.reason, count(*) AS wakes,
                sum(n.tokens_in + n.tokens_out) AS tokens
            FROM noop_wakes n JOIN wakes w USING (run_key) JOIN agents a ON a.agent_id = n.agent_id
            GROUP BY ALL
        ) GROUP BY agent ORDER BY did_nothing DESC, agent LIMIT 8
        """,
    ).with_columns(pl.col("agent").map_elements(cut, return_dtype=pl.String))
    idlers
    return


@app.cell
def _(idlers, reasons):
    _share = idlers["did_nothing"].sum() / max(1, reasons["noop"].sum())
    _said = (
        f"The agents in the table stand for {percent(_share)} of all wakes that did nothing. "
        "Tokens are empty where the model counts none."
        if len(idlers)
        else "No wake has done nothing so far, so the table is empty."
    )
    Prose(f"""
        {_said} A rarer timer, or none, is a change worth trying:
        `wakelog agent timer TASK remove`.
    """)
    return


if __name__ == "__main__":
    app.run()
