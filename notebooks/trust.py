import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import difflib

    import polars as pl

    import wakelog
    from notebooks.drawing import (
        BLUE,
        COLOURS,
        GREY,
        Prose,
        ask,
        empty,
        intervals,
        lasting,
        percent,
        percents,
        picture,
    )


@app.cell
def _():
    with wakelog.open_home(may_be_new=True) as _home:
        connection = _home.connect()
    about = ask(
        connection,
        "SELECT count(*) AS wakes, count(DISTINCT agent_id) AS agents,"
        " min(started_at)::DATE AS first, max(started_at)::DATE AS last FROM wakes",
    )
    Prose(f"""
        # Which template earns trust?

        A template tells agents how to work. Trust is what people do with its proposals: they
        confirm them, or they do not. This home has {about["wakes"][0]:,} wakes of
        {about["agents"][0]} agents, from {about["first"][0]} to {about["last"][0]}.
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
        WHERE dimension = 'version' AND decided > 0 ORDER BY a.low DESC
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
        _best, _last = by_version.row(0, named=True), by_version.row(-1, named=True)
        by_template, _axes = picture(
            f"{_best['label']} earns most trust: {percent(_best['acceptance_rate'])} of its "
            f"proposals are confirmed, and {percent(_last['acceptance_rate'])} of "
            f"{_last['label']}'s",
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
        SELECT t.name AS template, date_trunc('month', i.opened_at)::DATE AS month,
            count(*) FILTER (i.status = 'confirmed') AS confirmed, count(*) AS decided,
            wilson_low(confirmed, decided) AS low, wilson_high(confirmed, decided) AS high
        FROM change_items i JOIN wakes w USING (run_key)
        JOIN templates t ON t.template_id = w.template_id
        WHERE i.status IN ('confirmed', 'rejected') GROUP BY ALL HAVING decided >= 5
        ORDER BY template, month
        """,
    )
    begins = ask(
        connection,
        """
        SELECT t.name AS template, v.version, v.first_wake_at::DATE AS day
        FROM version_series v JOIN templates t USING (template_id)
        WHERE v.version > 1 ORDER BY day
        """,
    )
    return begins, by_month


@app.cell
def _(begins, by_month, by_version, colour_of):
    def over_time():
        names = sorted(set(by_month["template"]))
        if not names:
            return empty("No month has five decided proposals of a template yet.")
        figure, axes = picture("; ".join(told(name) for name in names), height=4.0)
        for name in names:
            rows = by_month.filter(pl.col("template") == name)
            rates, colour = rows["confirmed"] / rows["decided"], colour_of[name]
            axes.fill_between(rows["month"], rows["low"], rows["high"], color=colour, alpha=0.15)
            axes.plot(rows["month"], rates, "o-", color=colour, linewidth=2, label=name)
        for nth, row in enumerate(begins.iter_rows(named=True)):
            colour = colour_of[row["template"]]
            axes.axvline(row["day"], color=colour, linestyle=":")
            text = f" {row['template']} v{row['version']}"
            axes.annotate(text, (row["day"], 1.02 + 0.08 * (nth % 2)), color=colour, fontsize=10)
        axes.set_ylim(0, 1.2)
        percents(axes, along="y")
        axes.legend(loc="lower left", frameon=False, ncols=len(names))
        axes.set_ylabel("confirmed, of those decided")
        axes.set_xlabel("month in which it was proposed (band: 95 % interval; line: a new version)")
        return figure

    def told(name):
        rows = by_version.filter(pl.col("template") == name).sort("label")
        each = [
            f"{one['label'].removeprefix(name).strip()} {percent(one['acceptance_rate'])}"
            for one in rows.iter_rows(named=True)
        ]
        return f"{name}: {', '.join(each)} confirmed"

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
    resolved = ask(
        connection,
        """
        SELECT coalesce(t.name, 'no template') AS template, seconds / 86400 AS days
        FROM resolution_time r LEFT JOIN templates t USING (template_id)
        WHERE status = 'DONE' ORDER BY template, days
        """,
    )
    return (resolved,)


@app.cell
def _(colour_of, resolved):
    def to_resolution():
        names = sorted(set(resolved["template"]))
        if not names:
            return empty("No task with an agent has been finished yet.")
        days = {one: resolved.filter(pl.col("template") == one)["days"] for one in names}
        medians = {one: days[one].median() for one in names}
        fastest, *_, slowest = sorted([*names, *names], key=lambda name: medians[name])
        gap = medians[slowest] - medians[fastest]
        said = f"median {medians[fastest]:.0f} days ({fastest}) to {medians[slowest]:.0f}"
        little = "Templates hardly differ in time to done" if gap < 14 else "Time to done differs"
        figure, axes = picture(f"{little}: {said} ({slowest})", height=1.4 + 0.6 * len(names))
        for row, name in enumerate(names):
            colour = colour_of.get(name, GREY)
            spread = [row + (nth % 5 - 2) * 0.07 for nth in range(len(days[name]))]
            axes.plot(days[name], spread, "o", color=colour, alpha=0.5)
            axes.plot([medians[name]] * 2, [row - 0.33, row + 0.33], color="black", linewidth=2.5)
        labels = [f"{one} ({len(days[one])} tasks)" for one in names]
        axes.set_yticks(range(len(names)), labels)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel("days from the agent's creation until its task was done (bar: median)")
        return figure

    to_resolution()
    return


@app.cell
def _(connection):
    price = ask(
        connection,
        """
        WITH confirmed AS (
            SELECT w.model, w.template_id, count(*) AS items
            FROM change_items i JOIN wakes w USING (run_key)
            WHERE i.status = 'confirmed' GROUP BY ALL
        )
        SELECT c.model, coalesce(t.name, 'no template') AS template, c.cost,
            c.cost / k.items AS cost_a_confirmed
        FROM tokens_and_cost c LEFT JOIN templates t USING (template_id)
        JOIN confirmed k ON k.model = c.model AND k.template_id IS NOT DISTINCT FROM c.template_id
        ORDER BY cost DESC NULLS LAST
        """,
    )
    return (price,)


@app.cell
def _(price):
    known = price.drop_nulls("cost_a_confirmed").sort("cost_a_confirmed")
    if known.is_empty():
        cost = empty("No model has a price in settings.toml, or none counted its tokens.")
    else:
        _labels = [f"{one['template']}, {one['model']}" for one in known.iter_rows(named=True)]
        _times = known["cost_a_confirmed"][-1] / known["cost_a_confirmed"][0]
        cost, _axes = picture(
            f"A confirmed proposal of {_labels[-1]} costs {_times:.1f} times one of {_labels[0]}",
            height=1.5 + 0.45 * len(known),
        )
        _values = [100 * one for one in known["cost_a_confirmed"]]
        _axes.barh(range(len(known)), _values, color=BLUE)
        _axes.set_yticks(range(len(known)), _labels)
        for _row, _value in enumerate(_values):
            _axes.annotate(
                f"{_value:.2f}", (_value, _row), (5, 0), textcoords="offset points", va="center"
            )
        _axes.margins(x=0.1)
        _axes.set_ylim(len(known) - 0.5, -0.5)
        _axes.set_xlabel("cents of tokens for each confirmed proposal, at the prices in settings")
    cost
    return


@app.cell
def _(connection):
    summary = ask(
        connection,
        """
        SELECT coalesce(template_name, 'no template') AS template, total_wakes AS wakes,
            success_rate, confirmed_items AS confirmed, decided_items AS decided,
            acceptance_rate, median_seconds_to_decision AS decided_in, noop_rate
        FROM template_performance ORDER BY acceptance_rate DESC NULLS LAST
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
        Costs of a model that counts no tokens, like `rules`, stay unknown and are left out above.
        The table is the view `template_performance`, as `wakelog metrics` prints it.
    """)
    return


if __name__ == "__main__":
    app.run()
