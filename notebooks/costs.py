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
        RED,
        Prose,
        ask,
        cut,
        empty,
        lasting,
        money,
        percent,
        picture,
        room,
    )
    from notebooks.reckoning import DECISIONS, ended_by, reached


@app.cell
def _():
    with wakelog.open_home(may_be_new=True) as _home:
        connection = _home.connect()
    unit = ask(connection, "SELECT currency FROM home")["currency"][0] or ""
    _all = ask(
        connection,
        """
        SELECT count(*) AS wakes, count(cost) AS priced,
            sum(cost::DECIMAL(38, 12))::DOUBLE AS cost,  -- exact, in whatever order they come
            count(*) FILTER (cost IS NULL AND run_key IN (SELECT run_key FROM token_usage))
                AS unknown,
            (SELECT count(*) FROM change_items WHERE status = 'confirmed') AS confirmed
        FROM wakes WHERE started_at IS NOT NULL
        """,
    ).row(0, named=True)
    if not _all["wakes"]:
        _told = "No agent has woken in this home yet, so nothing was paid."
    elif not _all["priced"]:
        _told = (
            f"Here are {_all['wakes']:,} wakes, and no cost is known: `settings.toml` holds no "
            "price of their models, or these counted no tokens."
        )
    else:
        _told = (
            f"Here {_all['priced']:,} wakes cost {money(_all['cost'], unit)} together. Of "
            f"{_all['unknown']:,} more the cost is not known: their model has no price, or counts "
            f"no tokens. {_all['confirmed']:,} changes were confirmed."
        )
    _models = ask(
        connection,
        """
        SELECT model, sum(cost::DECIMAL(38, 12)) / sum(confirmed) AS a_change FROM (
            SELECT w.model, w.cost, (SELECT count(*) FROM change_items i
                WHERE i.run_key = w.run_key AND i.status = 'confirmed') AS confirmed
            FROM wakes w WHERE w.cost IS NOT NULL
        ) GROUP BY model HAVING sum(confirmed) > 0 AND sum(cost) > 0 ORDER BY a_change, model
        """,
    )
    _now = (
        "**What one would do now**: let `{}` try what `{}` did, where a confirmed change costs {} "
        "and not {}: `wakelog rehearse --all --model {}`.\n\n".format(
            _models["model"][0], _models["model"][-1],
            *(money(_models["a_change"][one], unit) for one in (0, -1)), _models["model"][0],
        )
        if len(_models) > 1
        else ""
    )  # fmt: skip
    Prose(
        "# What does an agent cost and what does it give?\n\n"
        f"{_now}"
        "An agent costs tokens and somebody's attention. It gives changes that its person "
        f"confirms. {_told}"
    )
    return connection, unit


@app.cell
def _(connection):
    a_change = ask(
        connection,
        """
        WITH gave AS (
            SELECT run_key, count(*) AS confirmed FROM change_items WHERE status = 'confirmed'
            GROUP BY run_key
        ), each AS (
            SELECT coalesce(t.name, 'no template') || ', ' || w.model AS label, w.agent_id,
                sum(w.cost::DECIMAL(38, 12)) AS cost, coalesce(sum(g.confirmed), 0) AS confirmed
            FROM wakes w LEFT JOIN templates t USING (template_id) LEFT JOIN gave g USING (run_key)
            WHERE w.cost IS NOT NULL GROUP BY ALL
        ), summed AS (
            SELECT label, count(*) AS agents, sum(cost)::DOUBLE AS cost,
                sum(confirmed)::BIGINT AS confirmed
            FROM each GROUP BY label HAVING sum(confirmed) > 0 AND sum(cost) > 0
        )
        SELECT s.label, s.agents, s.cost, s.confirmed, s.cost / s.confirmed AS a_change,
            CASE WHEN s.agents > 2 THEN student_t(s.agents - 1) * sqrt(s.agents / (s.agents - 1)
                * sum(pow(e.cost - e.confirmed * s.cost / s.confirmed, 2))) / s.cost END AS width
        FROM summed s JOIN each e ON e.label = s.label
        GROUP BY s.label, s.agents, s.cost, s.confirmed ORDER BY a_change, s.label
        """,
    ).with_columns(
        low=pl.col("a_change") * (-pl.col("width")).exp(),
        high=pl.col("a_change") * pl.col("width").exp(),
    )
    return (a_change,)


@app.cell
def _(a_change, unit):
    def per_change():
        if a_change.is_empty():
            return empty("No confirmed change has a cost: see [prices] in settings.toml.")
        figure, axes = picture(dearest(), height=1.6 + 0.5 * len(a_change))
        for row, one in enumerate(a_change.iter_rows(named=True)):
            if one["low"] is not None:
                axes.plot([one["low"], one["high"]], [row, row], color=BLUE, linewidth=3)
            axes.plot(one["a_change"], row, "o", color=BLUE, markersize=9)
            axes.annotate(
                money(one["a_change"], unit), (one["a_change"], row), (0, 9), ha="center",
                textcoords="offset points",
            )  # fmt: skip
        labels = [
            f"{one['label']}\n({one['confirmed']} confirmed, {one['agents']} agents)"
            for one in a_change.iter_rows(named=True)
        ]
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.6)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: money(value, ""))
        axes.set_xlabel(
            f"{unit or 'in the currency of the prices'}, for each confirmed change, all wakes paid"
            "\n(95 % interval; an agent's wakes hang together, so agents are counted, not wakes)"
        )
        return figure

    def dearest():
        """Which costs more, where the intervals lie apart; else only that they do not."""
        low, high = a_change.row(0, named=True), a_change.row(-1, named=True)
        told = f"A confirmed change of {high['label']} costs {money(high['a_change'], unit)}"
        if len(a_change) == 1:
            return told
        told = f"{told}, of {low['label']} {money(low['a_change'], unit)}"
        apart = (low["high"] or float("inf")) < (high["low"] or 0)
        if not apart:
            return f"{told}: that may be chance"
        least = high["low"] / low["high"]
        return f"{told}: at least {least:.0f} times as much" if least >= 2 else told

    per_change()
    return


@app.cell
def _(connection):
    spent = ask(
        connection,
        """
        WITH became AS (
            SELECT run_key, bool_or(status = 'confirmed') AS is_confirmed FROM change_items
            WHERE run_key IS NOT NULL GROUP BY run_key
        )
        SELECT reason, CASE WHEN is_confirmed THEN 'a change was confirmed'
            WHEN is_confirmed IS NOT NULL THEN 'proposed, none confirmed'
            WHEN outcome IS DISTINCT FROM 'completed' THEN 'did not complete'
            WHEN is_noop THEN 'did nothing' ELSE 'did something else' END AS gave,
            sum(cost::DECIMAL(38, 12))::DOUBLE AS cost
        FROM wakes LEFT JOIN became USING (run_key) WHERE cost IS NOT NULL GROUP BY ALL
        ORDER BY reason, gave
        """,
    )
    return (spent,)


@app.cell
def _(spent, unit):
    def by_gift():
        total = spent["cost"].sum()
        if not total:
            return empty("No wake has a cost: see [prices] in settings.toml.")
        kinds = {
            "a change was confirmed": BLUE, "did something else": COLOURS[4],
            "proposed, none confirmed": GREY, "did nothing": ORANGE, "did not complete": RED,
        }  # fmt: skip
        kinds = {one: kinds[one] for one in kinds if one in set(spent["gave"])}
        share = {one: spent.filter(gave=one)["cost"].sum() / total for one in kinds}
        by_reason = spent.group_by("reason").agg(pl.col("cost").sum())
        reasons = by_reason.sort("cost", "reason", descending=[True, False])
        figure, axes = picture(
            f"{percent(share.get('a change was confirmed', 0))} of {money(total, unit)} went to "
            "wakes of which a change was confirmed, "
            f"{percent(share.get('did nothing', 0))} to wakes that did nothing",
            height=1.7 + 0.45 * len(reasons),
        )
        ends = [0.0] * len(reasons)
        for kind, colour in kinds.items():
            of_kind = dict(spent.filter(gave=kind).select("reason", "cost").iter_rows())
            widths = [of_kind.get(one, 0.0) for one in reasons["reason"]]
            axes.barh(range(len(ends)), widths, left=ends, color=colour, label=kind)
            ends = [end + width for end, width in zip(ends, widths, strict=True)]
        for row, end in enumerate(ends):
            axes.annotate(
                money(end, unit), (end, row), (6, 0), textcoords="offset points", va="center"
            )
        axes.set_yticks(range(len(ends)), reasons["reason"].to_list())
        axes.set_ylim(len(ends) - 0.5, -0.5)
        room(axes, 1.05 * max(ends))
        axes.legend(loc="lower right", frameon=False)
        axes.set_xlabel("cost of wakes, by why they woke and what came of them")
        return figure

    by_gift()
    return


@app.cell
def _(connection):
    waits = ask(
        connection,
        f"""
        SELECT 'until a wake begins' AS part, true AS is_over,
            date_diff('millisecond', queued_at, started_at) / 86400000 AS days
        FROM wakes WHERE started_at IS NOT NULL AND queued_at IS NOT NULL
        UNION ALL
        SELECT 'agent works', true, active_seconds / 86400 FROM wakes
        WHERE active_seconds IS NOT NULL
        UNION ALL
        SELECT 'wake is held up', true, waited_seconds / 86400 FROM wakes
        WHERE waited_seconds IS NOT NULL
        UNION ALL
        SELECT 'person decides', is_over, days FROM ({DECISIONS})
        """,
    )
    return (waits,)


@app.cell
def _(waits):
    def where_time_goes():
        if waits.is_empty():
            return empty("No agent has woken yet.")
        parts = ("until a wake begins", "wake is held up", "agent works", "person decides")
        found = {one: reach(waits.filter(part=one)) for one in parts}
        slowest = max(parts, key=lambda one: found[one][0])
        if not found[slowest][0]:
            return empty("All that has ended took no time.")
        figure, axes = picture(
            f"Most time goes by {slow_words[slowest]}: half within {lasting(found[slowest][0])}; "
            f"agents work {lasting(found['agent works'][0])}",
            height=3.6,
        )
        for row, part in enumerate(parts):
            half, most, longest = found[part]
            marker = ">" if most == longest and part == "person decides" else "|"
            axes.plot([half, longest], [row, row], color=GREY, linewidth=1)
            axes.plot([half, most], [row, row], color=BLUE, linewidth=3)
            axes.plot(half, row, "o", color=BLUE, markersize=9)
            axes.plot(most, row, marker, color=BLUE, markersize=14, markeredgewidth=3)
        axes.set_yticks(range(len(parts)), [label(one) for one in parts])
        axes.set_ylim(len(parts) - 0.5, -0.5)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xticks(
            [0, 1, 60, 3_600, 86_400, 7 * 86_400, 90 * 86_400],
            ["0", "1 s", "1 min", "1 h", "1 day", "1 week", "90 days"],
        )
        axes.set_xticks([], minor=True)
        axes.set_xlim(-0.3, 2 * max(longest for *_, longest in found.values()) + 1)
        axes.set_xlabel(
            "median (dot), 95 % (bar; arrow: not yet), longest (thin line); zeros and open count"
        )
        return figure

    def reach(lasted):
        """Median, 95 % and longest in seconds; what is not reached yet, as long as it is known."""
        if lasted.is_empty():
            return 0.0, 0.0, 0.0
        longest = float(lasted["days"].max())
        shares = ended_by(lasted)
        known = [reached(shares, share)[0] for share in (0.5, 0.95)]
        half, most = (86_400 * (longest if one is None else one) for one in known)
        return half, most, 86_400 * longest

    def label(part):
        mine = waits.filter(part=part)
        if part == "person decides":
            return f"{part}\n({(~mine['is_over']).sum()} of {len(mine)} never)"
        return f"{part}\n({(mine['days'] > 0).sum():,} of {len(mine):,} above 0)"

    slow_words = {
        "until a wake begins": "before a wake begins",
        "wake is held up": "while a wake is held up",
        "agent works": "while an agent works",
        "person decides": "until a person decides",
    }
    where_time_goes()
    return


@app.cell
def _(connection):
    given = ask(
        connection,
        """
        WITH decided AS (
            SELECT agent_id, count(*) AS decided,
                count(*) FILTER (status = 'confirmed') AS confirmed
            FROM change_items WHERE status IN ('confirmed', 'rejected') GROUP BY agent_id
        )
        SELECT a.name AS agent, a.lifecycle, c.wakes, c.cost, c.proposed, c.confirmed,
            coalesce(d.decided, 0) AS decided, wilson_high(c.confirmed, d.decided) AS at_best,
            pow(1 - (SELECT sum(confirmed) / sum(decided) FROM decided), decided) AS by_luck
        FROM cost_per_confirmed_change('agent') c JOIN agents a ON a.agent_id = c.value
        LEFT JOIN decided d ON d.agent_id = a.agent_id
        ORDER BY c.confirmed, c.cost DESC NULLS LAST, c.wakes DESC, agent
        """,
    )
    candidates = given.filter(pl.col("confirmed") == 0, pl.col("lifecycle") != "destroyed")
    return candidates, given


@app.cell
def _(candidates, given, unit):
    def gifts():
        priced = given.drop_nulls("cost")
        if priced.is_empty():
            return empty("No agent has a cost: see [prices] in settings.toml.")
        figure, axes = picture(retire(), height=4.2)
        for kind, colour, marker in (("destroyed", GREY, "."), ("living", BLUE, "o")):
            mine = priced.filter((pl.col("lifecycle") == "destroyed") == (kind == "destroyed"))
            axes.plot(mine["cost"], mine["confirmed"], marker, color=colour, alpha=0.6, label=kind)
        worst = candidates.drop_nulls("cost").head(3)
        for nth, one in enumerate(worst.iter_rows(named=True)):
            axes.plot(one["cost"], 0, "o", color=RED, markersize=9)
            axes.annotate(
                cut(one["agent"], 30), (one["cost"], 0), (8, -16 - 12 * nth), color=RED,
                textcoords="offset points", fontsize=9,
            )  # fmt: skip
        axes.set_xscale("symlog", linthresh=max(1e-6, priced["cost"].median() / 4))
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(lambda value, _: money(value, ""))
        axes.set_yticks([one for one in axes.get_yticks() if one >= 0])
        axes.set_ylim(bottom=-0.3 * (1 + priced["confirmed"].max()))
        axes.set_ylabel("changes confirmed")
        axes.set_xlabel(f"cost of an agent so far, {unit or 'in the currency of the prices'}")
        axes.legend(loc="upper left", frameon=False)
        return figure

    def retire():
        """How many may go, and of how many of them this is more than bad luck."""
        if candidates.is_empty():
            return "Of every agent that still lives something was confirmed"
        sure = (candidates["by_luck"].fill_null(1.0) * len(given) < 0.05).sum()
        plural = "s" if len(candidates) > 1 else ""
        least = "at least " if candidates["cost"].null_count() else ""
        return (
            f"Nothing of {len(candidates)} living agent{plural} was confirmed, "
            f"at a cost of {least}{money(candidates['cost'].sum(), unit)}, and "
            + (f"of {sure} it is more than bad luck" if sure else "it may all be bad luck")
        )

    gifts()
    return


@app.cell
def _(candidates):
    candidates.head(10).with_columns(
        pl.col("agent").map_elements(cut, return_dtype=pl.String),
        pl.col("at_best", "by_luck").map_elements(percent, return_dtype=pl.String),
        pl.col("cost").map_elements(lambda one: money(one, ""), return_dtype=pl.String),
    )
    return


@app.cell
def _(candidates):
    Prose(
        (
            "`at_best` is the upper end of the 95 % interval of what is confirmed of such an "
            "agent; `by_luck`, how often an agent as good as all others would see none of so many "
            "confirmed. Where nothing was decided, nothing is known: ask the agent first, or read "
            "its report. `wakelog agent pause TASK` lets one sleep, `wakelog agent destroy TASK` "
            "ends it; both keep what it did."
        )
        if len(candidates)
        else "There is no agent to retire: none has woken, or of each something was confirmed."
    )
    return


if __name__ == "__main__":
    app.run()
