import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import difflib

    import polars as pl

    import wakelog
    from notebooks.drawing import (
        COLOURS,
        GREY,
        Prose,
        ask,
        empty,
        intervals,
        lasting,
        panels,
        percent,
        percents,
        picture,
    )
    from notebooks.reckoning import NONE_ENDED, ended_by, reached


@app.cell
def _():
    with wakelog.open_home(may_be_new=True) as _home:
        connection = _home.connect()
    about = ask(
        connection,
        "SELECT count(*) AS wakes, count(DISTINCT agent_id) AS agents,"
        " min(started_at)::DATE AS first, max(started_at)::DATE AS last FROM wakes",
    )
    _here = (
        f"This home has {about['wakes'][0]:,} wakes of {about['agents'][0]} agents, from "
        f"{about['first'][0]} to {about['last'][0]}."
        if about["first"][0]
        else "No agent has woken in this home yet, so no template has earned any."
    )
    _best = ask(
        connection,
        "SELECT t.name, string_split(a.value, ' v')[-1] AS version, a.low FROM acceptance a"
        " JOIN templates t ON starts_with(a.value, t.template_id)"
        " WHERE dimension = 'version' ORDER BY a.low DESC, a.value LIMIT 1",
    )
    _now = (
        "**What one would do now**: give new agents {name} v{version}, of whose proposals likely "
        "{low} or more are confirmed: `wakelog template assign TASK {name}`.".format(
            **{**_best.row(0, named=True), "low": percent(_best["low"][0])}
        )
        if len(_best)
        else ""
    )
    Prose(f"""
        # Which template earns trust?

        {_now}

        A template tells agents how to work. Trust is what people do with its proposals: they
        confirm them, or they do not. {_here}

        Shares stand with their 95 % Wilson interval: where two intervals overlap widely, the
        difference may be chance.
    """)
    return (connection,)


@app.cell
def _(connection):
    by_version = ask(
        connection,
        """
        SELECT coalesce(t.name || ' v' || string_split(a.value, ' v')[-1], 'no template') AS label,
            coalesce(t.name, 'no template') AS template, a.value AS version,
            a.decided, a.acceptance_rate, a.low, a.high
        FROM acceptance a LEFT JOIN templates t ON starts_with(a.value, t.template_id)
        WHERE dimension = 'version' AND decided > 0
        ORDER BY a.acceptance_rate DESC, a.low DESC, label
        """,
    )
    templates = sorted(set(by_version["template"]))
    colour_of = {name: COLOURS[nth] for nth, name in enumerate(templates)}
    return by_version, colour_of


@app.cell
def _(by_version, colour_of):
    if by_version.is_empty():
        by_template = empty("No proposal has been decided yet.")
    else:
        _best = by_version.row(0, named=True)
        _near = by_version[1:].filter(pl.col("high") >= _best["low"])["label"].to_list()
        by_template, _axes = picture(
            f"{_best['label']} is confirmed most: {percent(_best['acceptance_rate'])} of "
            f"{_best['decided']}; "
            + (f"as good may be {', '.join(_near)}" if _near else "no other may be as good"),
            height=1.4 + 0.45 * len(by_version),
        )
        intervals(
            _axes,
            by_version["label"].to_list(),
            by_version,
            [colour_of[one] for one in by_version["template"]],
        )
        _axes.set_xlabel("confirmed, of all proposals decided (95 % Wilson interval)")
    by_template
    return


@app.cell
def _(connection):
    by_month = ask(
        connection,
        """
        SELECT t.name AS template, w.template_version AS version,
            date_trunc('month', i.opened_at)::DATE AS month,
            to_timestamp(avg(epoch(i.opened_at)))::DATE AS day,
            count(*) FILTER (i.status = 'confirmed') AS confirmed, count(*) AS decided,
            wilson_low(confirmed, decided) AS low, wilson_high(confirmed, decided) AS high
        FROM change_items i JOIN wakes w USING (run_key)
        JOIN templates t ON t.template_id = w.template_id
        WHERE i.status IN ('confirmed', 'rejected') GROUP BY ALL ORDER BY template, month, version
        """,
    )
    in_force = ask(
        connection,
        """
        WITH shown AS (
            SELECT t.name AS template, w.template_version AS version, i.opened_at, row_number()
                OVER one - row_number() OVER (PARTITION BY t.name, w.template_version
                ORDER BY i.opened_at, i.set_id, i.item) AS run
            FROM change_items i JOIN wakes w USING (run_key)
            JOIN templates t ON t.template_id = w.template_id WHERE i.opened_at IS NOT NULL
            WINDOW one AS (PARTITION BY t.name ORDER BY i.opened_at, i.set_id, i.item)
        )
        SELECT template, version, min(opened_at)::DATE AS first, max(opened_at)::DATE AS last
        FROM shown GROUP BY template, version, run HAVING count(*) > 1 ORDER BY template, first
        """,
    )
    changes = ask(
        connection,
        """
        SELECT t.name AS template, later.version, c.* FROM template_versions later
        JOIN templates t USING (template_id), compare_versions(later.template_id, later.version - 1,
            later.version) c
        WHERE later.version > 1 AND decided_a > 0 AND decided_b > 0 ORDER BY template, version
        """,
    )
    left_out = ask(
        connection,
        "SELECT count(*) AS n FROM change_items WHERE status NOT IN ('confirmed', 'rejected')",
    )["n"][0]
    return by_month, changes, in_force, left_out


@app.cell
def _(by_month, by_version, changes, colour_of, in_force, left_out):
    def over_time():
        names = sorted(set(by_month["template"]))
        if not names:
            return empty("No proposal of a template has been decided yet.")
        figure, each = panels(claim(), len(names), height=1.4 + 2.1 * len(names))
        for name, axes in zip(names, each, strict=True):
            for span in in_force.filter(template=name).iter_rows(named=True):
                level(axes, span)
            rows = by_month.filter(template=name)
            dots(axes, rows, colour_of[name])
            axes.set_ylim(0, 1.12)
            percents(axes, along="y")
            axes.set_ylabel(name)
        each[-1].set_xlabel(
            f"when it was proposed; dot: a month and version, band: all of a version, both with "
            f"95 % interval\n{left_out} proposals are in neither: undecided, expired or taken back"
        )
        return figure

    def level(axes, span):
        """The share of all that a version proposed, over the time in which it did."""
        of_all = by_version.filter(
            template=span["template"], label=f"{span['template']} v{span['version']}"
        )
        if of_all.is_empty():
            return
        one, colour = of_all.row(0, named=True), colour_of[span["template"]]
        days = [span["first"], span["last"]]
        axes.fill_between(days, one["low"], one["high"], color=colour, alpha=0.2, linewidth=0)
        axes.plot(days, [one["acceptance_rate"]] * 2, color=colour, linewidth=1.5)
        axes.annotate(f"v{span['version']}", (days[0], 1.03), color=colour, fontsize=10)
        axes.axvline(days[0], color=colour, linestyle=":", linewidth=1)

    def dots(axes, rows, colour):
        axes.vlines(rows["day"], rows["low"], rows["high"], color=colour, linewidth=1.2)
        sizes = [12 + 3 * one for one in rows["decided"]]
        axes.scatter(rows["day"], rows["confirmed"] / rows["decided"], sizes, color=colour)

    def claim():
        """Only differences whose interval and whose exact test both leave no room for chance."""
        sure = changes.filter(
            (pl.col("low") > 0).or_(pl.col("high") < 0), pl.col("p_value") * len(changes) < 0.05
        )
        told = [difference(one) for one in sure.iter_rows(named=True)]
        rest = len(changes) - len(sure)
        if not changes.height:
            return "Only one version of each template has been judged so far"
        if not told:
            return "No new version is confirmed more or less than chance would explain"
        return "; ".join(told) + (f"; {rest} more may be chance" if rest else "")

    def difference(one):
        ends = sorted(abs(100 * one[name]) for name in ("low", "high"))
        return (
            f"{one['template']} v{one['version']} is confirmed {abs(100 * one['difference']):.0f} "
            f"points {'more' if one['difference'] > 0 else 'less'} often than "
            f"v{one['version'] - 1} ({ends[0]:.0f} to {ends[1]:.0f})"
        )

    over_time()
    return


@app.cell
def _(connection):
    texts = ask(
        connection,
        """
        SELECT t.name, v.version, v.general FROM template_versions v
        JOIN templates t USING (template_id) WHERE version <= 2 ORDER BY t.name, version
        """,
    )
    return (texts,)


@app.cell
def _(texts):
    def changed():
        for name in sorted(set(texts["name"])):
            both = texts.filter(pl.col("name") == name)["general"].to_list()
            if len(both) == 2 and both[0] != both[1]:
                lines = difflib.ndiff(both[0].splitlines(), both[1].splitlines())
                shown = [line for line in lines if line[0] in "+-"]
                return f"## What changed in {name}\n\n```diff\n" + "\n".join(shown) + "\n```"
        return "No template's directives have changed."

    Prose(
        changed() + "\n\nVersions whose directives are the same differ in their model only. "
        "That comparison is not blinded: a later version also met later months."
    )
    return


@app.cell
def _(connection):
    lives = ask(
        connection,
        """
        SELECT coalesce(t.name, 'no template') AS template, r.agent_id IS NOT NULL AS is_over,
            date_diff('second', a.created_at, coalesce(r.resolved_at, least(a.destroyed_at,
                d.deleted_at, (SELECT max(occurred_at) FROM events)))) / 86400 AS days
        FROM agents a LEFT JOIN templates t USING (template_id)
        LEFT JOIN resolution_time r USING (agent_id)
        LEFT JOIN (SELECT task_id, min(occurred_at) AS deleted_at FROM task_changes
            WHERE what = 'deleted' GROUP BY task_id) d ON d.task_id = a.task_id
        ORDER BY template, days
        """,
    )
    return (lives,)


@app.cell
def _(colour_of, lives):
    def to_resolution():
        names = sorted(set(lives["template"]))
        if not lives["is_over"].any():
            return empty("No task with an agent has been closed yet.")
        figure, each = panels(medians(names), len(names), height=1.3 + 1.5 * len(names))
        for name, axes in zip(names, each, strict=True):
            mine = lives.filter(template=name)
            curve(axes, mine, colour_of.get(name, GREY))
            axes.set_ylim(0, 1.05)
            percents(axes, along="y")
            axes.set_ylabel(f"{name}\n({mine['is_over'].sum()} of {len(mine)} closed)")
        each[-1].set_xlim(left=0)
        each[-1].set_xlabel(
            "days since the agent was created: share of tasks that are done or rejected by then\n"
            "(band: 95 % interval; cross: an agent whose task is still open, or gone)"
        )
        return figure

    def curve(axes, mine, colour):
        shares = ended_by(mine)
        known = shares if len(shares) else NONE_ENDED
        days = [0.0, *known["days"], mine["days"].max()]
        lines = [[0.0, *known[one], known[one][-1]] for one in ("share", "low", "high")]
        axes.step(days, lines[0], where="post", color=colour, linewidth=2)
        axes.fill_between(days, *lines[1:], step="post", color=colour, alpha=0.2, linewidth=0)
        for lasted in mine.filter(is_over=False)["days"]:
            by_then = shares.filter(pl.col("days") <= lasted)["share"]
            axes.plot(lasted, by_then[-1] if len(by_then) else 0, "x", color="black")
        axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")

    def medians(names):
        """Medians, and whether their intervals lie apart; less than that is no difference."""
        half = {one: reached(ended_by(lives.filter(template=one)), 0.5) for one in names}
        told = ", ".join(f"{one} {with_ends(*half[one])}" for one in names)
        ends = [(low or 0, high or float("inf")) for _, low, high in half.values()]
        apart = max(low for low, _ in ends) > min(high for _, high in ends)
        sure = "not all by chance" if apart else "the differences may be chance"
        return f"Days until half of the tasks are closed: {told}; " + (
            sure if len(names) > 1 else "95 % interval in brackets"
        )

    def with_ends(*found):
        at, low, high = ("?" if one is None else f"{one:.0f}" for one in found)
        return f"{at} ({low} to {high})"

    to_resolution()
    return


@app.cell
def _(connection):
    summary = ask(
        connection,
        """
        SELECT coalesce(template_name, 'no template') AS template, total_wakes AS wakes,
            success_rate, confirmed_items AS confirmed, decided_items AS decided,
            acceptance_rate, median_seconds_to_decision AS decided_in, noop_rate
        FROM template_performance ORDER BY acceptance_rate DESC NULLS LAST, template
        """,
    ).with_columns(
        pl.col("success_rate", "acceptance_rate", "noop_rate").map_elements(
            percent, return_dtype=pl.String
        ),
        pl.col("decided_in").map_elements(lasting, return_dtype=pl.String),
    )
    summary
    return


@app.cell
def _():
    Prose("""
        What a confirmed proposal costs is asked in `costs.py`. The table is the view
        `template_performance`, as `wakelog metrics` prints it.
    """)
    return


if __name__ == "__main__":
    app.run()
