import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
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
    )


@app.cell
def _():
    with wakelog.open_home(may_be_new=True) as _home:
        connection = _home.connect()
    decided = ask(
        connection,
        """
        SELECT i.tool, coalesce(c.name, '?') AS category, count(*) AS decided,
            count(*) FILTER (i.status = 'confirmed') AS confirmed
        FROM change_items i LEFT JOIN tasks t ON t.task_id = i.task_id
        LEFT JOIN names c ON c.kind = 'category' AND c.id = t.category_id
        WHERE i.status IN ('confirmed', 'rejected') GROUP BY ALL
        """,
    )
    _all, _yes = (sum(decided[name].to_list()) for name in ("decided", "confirmed"))
    Prose(f"""
        # What do people reject?

        Nothing that an agent proposes is applied before its person confirms it, so each rejection
        is a lesson with a reason. Of {_all:,} proposals decided here, {_all - _yes:,} were
        rejected.
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
        many = decided.filter(pl.col("decided") >= 8)
        worst = (many if len(many) else decided).with_columns(
            rate=pl.col("confirmed") / pl.col("decided")
        )
        low = worst.sort("rate", -pl.col("decided"), "category", "tool").row(0, named=True)
        figure, axes = picture(
            f"{low['category']} wants no {names_of.get(low['tool'], low['tool'])}: "
            f"{low['confirmed']} of {low['decided']} were confirmed",
            height=1.8 + 0.5 * len(tools),
        )
        known = {(one["tool"], one["category"]): one for one in decided.iter_rows(named=True)}
        cells = [[_rate(known.get((tool, one))) for one in categories] for tool in tools]
        shown = axes.imshow(cells, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        for row, tool in enumerate(tools):
            for column, category in enumerate(categories):
                one = known.get((tool, category))
                text = f"{percent(cells[row][column])} of {one['decided']}" if one else "none"
                dark = one and cells[row][column] < 0.55
                axes.text(
                    column, row, text, ha="center", va="center", fontsize=10,
                    color="white" if dark else "black" if one else GREY,
                )  # fmt: skip
        axes.set_xticks(range(len(categories)), categories)
        axes.set_yticks(range(len(tools)), [names_of.get(one, one) for one in tools])
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        bar = figure.colorbar(shown, ax=axes, shrink=0.9)
        bar.set_label("confirmed")
        bar.set_ticks([0, 0.5, 1], labels=["0 %", "50 %", "100 %"])
        return figure

    def _rate(one):
        return one["confirmed"] / one["decided"] if one else float("nan")

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
            f"“{cut(_top['reason'], 40)}” is the reason for {percent(_top['rejected'] / total)} of "
            "all rejections",
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
    waits = ask(
        connection,
        """
        SELECT tool, decided, median_seconds / 3600 AS median, p90_seconds / 3600 AS p90
        FROM time_to_decision WHERE decided >= 5 ORDER BY median, tool
        """,
    )
    return (waits,)


@app.cell
def _(waits):
    if waits.is_empty():
        to_decision = empty("No tool has five decided proposals yet.")
    else:
        to_decision, _axes = picture(
            f"Whatever is proposed, half of it is decided within "
            f"{lasting(3600 * waits['median'].max())}, nine in ten within "
            f"{lasting(3600 * waits['p90'].max())}",
            height=1.5 + 0.42 * len(waits),
        )
        for _row, _one in enumerate(waits.iter_rows(named=True)):
            _axes.plot([_one["median"], _one["p90"]], [_row, _row], color=BLUE, linewidth=3)
            _axes.plot(_one["median"], _row, "o", color=BLUE, markersize=9)
            _axes.plot(_one["p90"], _row, "|", color=BLUE, markersize=14, markeredgewidth=3)
        _labels = [
            f"{one['tool'].replace('_', ' ')} ({one['decided']})"
            for one in waits.iter_rows(named=True)
        ]
        _axes.set_yticks(range(len(waits)), _labels)
        _axes.set_ylim(len(waits) - 0.5, -0.5)
        _axes.set_xlim(left=0)
        _axes.set_xlabel("hours from being shown to being decided: median (dot) to 90 % (bar)")
    to_decision
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
        _axes.margins(x=0.1)
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
