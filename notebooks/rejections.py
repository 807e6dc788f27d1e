import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import matplotlib as mpl
    import polars as pl

    import wakelog
    from notebooks.drawing import (
        BLUE,
        GREY,
        ORANGE,
        RED,
        Prose,
        ask,
        bars,
        cut,
        empty,
        lasting,
        percent,
        picture,
        room,
    )
    from notebooks.reckoning import DECISIONS, ended_by, reached


@app.cell
def _():
    with wakelog.open_home(may_be_new=True) as _home:
        connection = _home.connect()
    decided = ask(
        connection,
        """
        SELECT i.tool, coalesce(c.name, '?') AS category, count(*) AS decided,
            count(*) FILTER (i.status = 'confirmed') AS confirmed,
            confirmed / decided AS rate, wilson_low(confirmed, decided) AS low,
            wilson_high(confirmed, decided) AS high
        FROM change_items i LEFT JOIN tasks t ON t.task_id = i.task_id
        LEFT JOIN names c ON c.kind = 'category' AND c.id = t.category_id
        WHERE i.status IN ('confirmed', 'rejected') GROUP BY ALL
        """,
    )
    _all, _yes = (sum(decided[name].to_list()) for name in ("decided", "confirmed"))
    _here = (
        f"Of {_all:,} proposals decided here, {_all - _yes:,} were rejected."
        if _all
        else "Nobody has decided about a proposal in this home yet."
    )
    _low = decided.sort("high", "category", "tool").head(1)
    _now = (
        "**What one would do now**: `wakelog lessons {category} --never {tool}`, for {confirmed} "
        "of {decided} were confirmed, or tell its agents what you want instead: `wakelog template "
        "version`.".format(**_low.row(0, named=True))
        if len(_low) and _low["high"][0] < _yes / _all
        else ""
    )
    Prose(f"""
        # What do people reject?

        {_now}

        Nothing that an agent proposes is applied before its person confirms it, so each rejection
        is a lesson with a reason. {_here}
    """)
    return connection, decided


@app.cell
def _(decided):
    def matrix():
        if decided.is_empty():
            return empty("No proposal has been decided yet.")
        order = decided.group_by("tool").agg(pl.col("decided").sum())
        tools = order.sort(-pl.col("decided"), "tool")["tool"].to_list()
        categories = sorted(set(decided["category"]))
        figure, axes = picture(least_wanted(), height=1.8 + 0.5 * len(tools))
        known = {(one["tool"], one["category"]): one for one in decided.iter_rows(named=True)}
        shades = mpl.colormaps["cividis"]
        cells = [[shade(known.get((tool, one)), shades) for one in categories] for tool in tools]
        axes.imshow(cells, aspect="auto")
        for row, tool in enumerate(tools):
            for column, category in enumerate(categories):
                one = known.get((tool, category))
                text = f"{percent(one['rate'])} of {one['decided']}" if one else "none"
                is_dark = sum(cells[row][column]) < 1.5
                axes.text(
                    column, row, text, ha="center", va="center", fontsize=10,
                    color="white" if is_dark else "black" if one else GREY,
                )  # fmt: skip
        axes.set_xticks(range(len(categories)), categories)
        axes.set_yticks(range(len(tools)), [names_of.get(one, one) for one in tools])
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        bar = figure.colorbar(mpl.cm.ScalarMappable(cmap=shades), ax=axes, shrink=0.9)
        bar.set_label("confirmed (paler: less is known)")
        bar.set_ticks([0, 0.5, 1], labels=["0 %", "50 %", "100 %"])
        return figure

    def least_wanted():
        """About the one field of which most is known to be bad, if it is worse than all."""
        low = decided.sort("high", "category", "tool").row(0, named=True)
        rate = sum(decided["confirmed"]) / sum(decided["decided"])
        if low["high"] >= rate:
            return f"No field stands out: any may have the {percent(rate)} of all together"
        return (
            f"Least wanted are {names_of.get(low['tool'], low['tool'])} in {low['category']}: "
            f"{low['confirmed']} of {low['decided']} confirmed (95 % interval "
            f"{percent(low['low'])} to {percent(low['high'])}; all together {percent(rate)})"
        )

    def shade(one, shades):
        """Its colour, the paler the wider its interval."""
        if one is None:
            return 1.0, 1.0, 1.0
        strength = max(0.0, 1 - 1.2 * (one["high"] - one["low"]))
        return tuple(1 - strength * (1 - part) for part in shades(one["rate"])[:3])

    names_of = {
        "update_task_due_date": "due dates",
        "update_task_estimate": "estimates",
        "set_task_status": "status",
        "add_checklist_item": "new items",
        "update_checklist_item": "item changes",
        "update_task_priority": "priorities",
        "assign_task_label": "labels",
        "set_task_title": "titles",
    }
    matrix()
    return


@app.cell
def _(connection):
    by_reason = ask(
        connection,
        """
        SELECT coalesce(reason, 'no reason given') AS reason, tool, rejected
        FROM rejection_reasons ORDER BY rejected DESC, reason LIMIT 10
        """,
    )
    _total = ask(connection, "SELECT sum(rejected)::BIGINT AS n FROM rejection_reasons")["n"][0]
    total = _total or 0
    return by_reason, total


@app.cell
def _(by_reason, total):
    if by_reason.is_empty():
        why = empty("Nothing has been rejected yet.")
    else:
        _top = by_reason.row(0, named=True)
        why, _axes = picture(
            f"“{cut(_top['reason'], 40)}” ({_top['tool'].replace('_', ' ')}) is the reason for "
            f"{percent(_top['rejected'] / total)} of all rejections",
            height=1.4 + 0.4 * len(by_reason),
        )
        _labels = [
            f"{cut(one['reason'], 32)}  ({one['tool'].replace('_', ' ')})"
            for one in by_reason.iter_rows(named=True)
        ]
        bars(_axes, _labels, by_reason["rejected"].to_list(), RED)
        _axes.set_xlabel("rejected proposals")
    why
    return


@app.cell
def _(connection):
    waits = ask(connection, DECISIONS)
    return (waits,)


@app.cell
def _(waits):
    def to_decision():
        if not waits["is_over"].any():
            return empty("No proposal has been decided yet.")
        tools = waits.group_by("tool").agg(pl.len().alias("n"), pl.col("is_over").sum())
        shown = tools.filter(pl.col("is_over") >= 5).sort("n", "tool", descending=[True, False])
        rows = [("all", waits), *((one, waits.filter(tool=one)) for one in shown["tool"])]
        figure, axes = picture(how_soon(), height=1.7 + 0.42 * len(rows))
        most = 24 * float(waits["days"].max())
        ticks = {1: "1 h", 6: "6 h", 24: "1 day", 72: "3 days", 168: "1 week", 672: "4 weeks",
                 2160: "90 days", 8760: "1 year"}  # fmt: skip
        for row, (_, lasted) in enumerate(rows):
            half, nine = (reached(ended_by(lasted), share) for share in (0.5, 0.9))
            ends = [most if one is None else 24 * one for one in (half[0], nine[0])]
            colour = GREY if row else BLUE
            axes.plot(ends, [row, row], color=colour, linewidth=3)
            axes.plot(ends[0], row, "o", color=colour, markersize=9)
            marker = "|" if nine[0] is not None else ">"  # an arrow: not known yet
            axes.plot(ends[1], row, marker, color=colour, markersize=14, markeredgewidth=3)
        labels = [
            f"{name.replace('_', ' ')} ({lasted['is_over'].sum()} of {len(lasted)} decided)"
            for name, lasted in rows
        ]
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xscale("log")
        axes.set_xticks([hours for hours in ticks if hours <= 2 * most], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xticklabels([ticks[hours] for hours in axes.get_xticks()])
        axes.set_xlim(right=1.3 * most)
        axes.set_xlabel("from being shown until half (dot) and 90 % (bar; arrow: not yet)")
        return figure

    def how_soon():
        shares = ended_by(waits)
        half, nine = reached(shares, 0.5), reached(shares, 0.9)
        open_yet = len(waits) - waits["is_over"].sum()
        told = f"Half of all proposals are decided within {within(half)}"
        return f"{told}, nine in ten within {within(nine)}; {open_yet} of {len(waits)} were not"

    def within(found):
        at, low, high = (None if one is None else lasting(86_400 * one) for one in found)
        return f"{at or 'a time not known yet'} (95 %: {low or '?'} to {high or '?'})"

    to_decision()
    return


@app.cell
def _():
    Prose("""
        Of what is still open, expired or was taken back, only this is known: it waited so long
        and was not decided. It counts until then (Kaplan and Meier). Left out, it would make people
        look quicker than they are.
    """)
    return


@app.cell
def _(connection):
    repeated = ask(
        connection,
        """
        SELECT a.name AS agent, r.summary AS proposal, r.times,
            list_aggregate(r.statuses, 'string_agg', ', ') AS became
        FROM repeated_proposals r JOIN agents a USING (agent_id)
        ORDER BY times DESC, agent, proposal LIMIT 10
        """,
    )
    held = ask(
        connection,
        """
        SELECT a.name AS agent, count(*) FILTER (c.message LIKE '%rejected by%') AS after_no,
            count(*) FILTER (c.message LIKE '%already proposed%') AS while_open
        FROM tool_calls c JOIN wakes w USING (run_key) JOIN agents a ON a.agent_id = w.agent_id
        WHERE c.status = 'denied' AND c.code = 'redundant'
        GROUP BY a.name HAVING after_no + while_open > 0
        ORDER BY after_no + while_open DESC, agent LIMIT 10
        """,
    )
    return held, repeated


@app.cell
def _():
    Prose("""
        ## Proposals that come again

        What was rejected is not shown again until somebody changes what it was about. The picture
        counts what was held back, the table what came through because the task had changed.
    """)
    return


@app.cell
def _(held):
    if held.is_empty():
        held_back = empty("No agent has tried to propose the same thing again.")
    else:
        _rows = range(len(held))
        _no, _open = held["after_no"].to_list(), held["while_open"].to_list()
        _top = held.row(0, named=True)
        held_back, _axes = picture(
            f"“{cut(_top['agent'], 40)}” tried most often: {_no[0] + _open[0]} calls that nobody "
            "had to look at",
            height=1.5 + 0.4 * len(held),
        )
        _axes.barh(_rows, _no, color=ORANGE, label="rejected before")
        _axes.barh(_rows, _open, left=_no, color=BLUE, label="still waiting")
        _axes.set_yticks(_rows, [cut(one, 38) for one in held["agent"]])
        _axes.set_ylim(len(held) - 0.5, -0.5)
        for _row in _rows:
            _axes.annotate(
                f"{_no[_row] + _open[_row]}", (_no[_row] + _open[_row], _row), (5, 0),
                textcoords="offset points", va="center",
            )  # fmt: skip
        room(_axes, max(a + b for a, b in zip(_no, _open, strict=True)))
        _axes.legend(loc="lower right", frameon=False)
        _axes.set_xlabel("proposals held back from the person")
    held_back
    return


@app.cell
def _(repeated):
    repeated.with_columns(
        pl.col("agent", "proposal", "became").map_elements(cut, return_dtype=pl.String)
    )
    return


if __name__ == "__main__":
    app.run()
