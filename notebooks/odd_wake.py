import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import polars as pl

    import wakelog
    from notebooks.drawing import BLUE, GREY, ORANGE, RED, Prose, ask, cut, empty, picture


@app.cell
def _():
    with wakelog.open_home(may_be_new=True) as _home:
        connection = _home.connect()
    wakes = ask(
        connection,
        """
        SELECT run_key, agent_id, replica, started_at, reason, turns, tool_calls, denied_calls,
            tokens_in, coalesce(stop, outcome) AS ending
        FROM wakes WHERE outcome IS NOT NULL AND started_at IS NOT NULL
        ORDER BY denied_calls DESC, tool_calls DESC, started_at, run_key
        """,
    )
    _none = "" if len(wakes) else "No wake has ended in this home yet."
    _now = (
        f"**What one would do now**: `wakelog replay {wakes['run_key'][0][:8]} --step`."
        if len(wakes)
        else ""
    )
    Prose(f"""
        # Replaying an odd wake

        {_now}

        Most wakes look alike. This notebook finds the one that does not, shows what its model saw
        and did, runs it again on its recorded replies, and compares it with the wake before it.
        *Odd* means here: the most tool calls that were denied. {_none}
    """)
    return connection, wakes


@app.cell
def _(wakes):
    def crowd():
        if wakes.is_empty():
            return empty("No wake has ended yet.")
        odd = wakes.row(0, named=True)
        figure, axes = picture(
            f"One wake had {odd['denied_calls']} of its {odd['tool_calls']} calls denied"
            if odd["denied_calls"]
            else "No wake had a call denied"
        )
        tokens = wakes.filter(pl.col("tokens_in").is_not_null())
        axes.scatter(tokens["tokens_in"], tokens["denied_calls"], color=GREY, alpha=0.35, s=22)
        if odd["tokens_in"] is not None:
            axes.scatter(odd["tokens_in"], odd["denied_calls"], color=RED, s=70)
            axes.annotate(
                f"{odd['run_key'][:8]}, {odd['started_at']:%d %B}: {odd['turns']} turns, "
                f"{odd['ending'].replace('_', ' ')}",
                (odd["tokens_in"], odd["denied_calls"]), (-10, -4), ha="right", va="top",
                textcoords="offset points",
            )  # fmt: skip
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("tokens that the model read in the wake")
        axes.set_ylabel("tool calls denied")
        axes.set_xlim(left=0)
        axes.margins(x=0.08, y=0.12)
        return figure

    crowd()
    return


@app.cell
def _(connection, wakes):
    odd = wakes.row(0, named=True) if len(wakes) else None
    run_key = odd["run_key"] if odd else ""
    _before = ask(
        connection,
        """
        SELECT b.run_key FROM wakes w JOIN wakes b ON b.agent_id = w.agent_id
            AND b.started_at < w.started_at AND b.outcome = 'completed'
        WHERE w.run_key = ? ORDER BY b.started_at DESC, b.run_key LIMIT 1
        """,
        run_key,
    )
    before_key = _before["run_key"][0] if len(_before) else ""
    calls = ask(
        connection,
        """
        SELECT turn, called, arguments, status, code, message FROM tool_calls
        WHERE run_key = ? ORDER BY turn, ordinal LIMIT 6
        """,
        run_key,
    )
    return before_key, calls, odd, run_key


@app.cell
def _(odd):
    Prose(
        "## What it did\n\n"
        + (
            f"The first calls of wake `{odd['run_key'][:8]}`. Of all its {odd['tool_calls']} calls "
            f"{odd['denied_calls']} were denied, each with its reason. It ended as "
            f"“{odd['ending'].replace('_', ' ')}” after {odd['turns']} turns."
            if odd and odd["denied_calls"]
            else "There is no wake with a denied call."
        )
    )
    return


@app.cell
def _(calls):
    calls.with_columns(
        pl.col("arguments", "message").map_elements(
            lambda text: cut(text, 90), return_dtype=pl.String
        )
    )
    return


@app.cell
def _(before_key, connection, run_key):
    sections = ask(
        connection,
        """
        SELECT s.name, max(bytes) FILTER (run_key = ?) AS odd, max(bytes) FILTER (run_key = ?)
            AS before
        FROM prompt_sections s WHERE run_key IN (?, ?) GROUP BY s.name
        ORDER BY coalesce(odd, 0) + coalesce(before, 0) DESC, s.name
        """,
        run_key,
        before_key,
        run_key,
        before_key,
    ).fill_null(0)
    return (sections,)


@app.cell
def _(sections):
    def sizes():
        if sections.is_empty():
            return empty("There is no prompt to look at.")
        grew = sections.with_columns(more=pl.col("odd") - pl.col("before"))
        most = grew.sort("more", "name", descending=[True, False]).row(0, named=True)
        has_before = sections["before"].sum() > 0
        figure, axes = picture(
            f"Its prompt's section “{most['name']}” had {most['odd']:,} bytes, "
            + (f"{most['before']:,} in the wake before" if has_before else "the most of all"),
            height=1.5 + 0.45 * len(sections),
        )
        rows = range(len(sections))
        axes.barh([row - 0.2 for row in rows], sections["before"].to_list(), 0.36, color=BLUE,
                  label="the wake before")  # fmt: skip
        axes.barh([row + 0.2 for row in rows], sections["odd"].to_list(), 0.36, color=ORANGE,
                  label="the odd wake")  # fmt: skip
        axes.set_yticks(rows, sections["name"].to_list())
        axes.set_ylim(len(sections) - 0.5, -0.5)
        axes.legend(loc="lower right", frameon=False)
        axes.set_xlabel("bytes of the section")
        return figure

    sizes()
    return


@app.cell
def _(connection, run_key):
    new_words = ask(
        connection,
        """
        WITH lines AS (
            SELECT s.run_key, unnest(string_split(replace(t.text, '\\n', chr(10)), chr(10)))
                AS line
            FROM prompt_sections s JOIN texts t USING (payload) WHERE s.name = 'task'
                AND s.run_key = ?
        )
        SELECT line FROM lines WHERE line ILIKE '%to the assistant%' OR line ILIKE '%DONE and%'
        """,
        run_key,
    )
    return (new_words,)


@app.cell
def _(new_words):
    Prose(
        "## What it saw\n\n"
        + (
            "A text in the task holds an order to whoever reads it:\n\n"
            + "\n".join(f"> {cut(line, 200)}" for line in new_words["line"])
            + "\n\nThe prompt says that notes are data and no instructions. This model did not "
            "heed it; the rules did: only the person sets DONE, and there is no tool that deletes."
            if len(new_words)
            else "No line of the task speaks to its reader."
        )
    )
    return


@app.cell
def _(before_key, odd, run_key):
    def again():
        """Run it again, and compare it with the wake before; nothing is written."""
        if odd is None:
            return "There is no wake to run again."
        with wakelog.open_home() as home:
            replay = home.replay(run_key)
            beside = home.diff(before_key, run_key) if before_key else None
        told = (
            f"{replay.sections} prompt sections and {replay.steps} steps were made again by "
            "today's code: "
            f"**{'every byte is the same' if replay.is_same else 'some bytes are others'}**.\n\n"
            f"{listed(replay.lines, 14)}"
        )
        if beside is None:
            return told
        return f"{told}\n\n## Beside the wake before it\n\n{listed(beside.lines, 24)}"

    def listed(lines, most):
        kept = [line if len(line) <= 100 else line[:99] + "…" for line in lines]
        more = ["..."] if len(kept) > most else []
        return "\n".join(["```text", *kept[:most], *more, "```"])

    Prose("## Run it again\n\n" + again())
    return


@app.cell
def _(before_key, run_key):
    _lines = [f"replay {run_key[:8]} --step", f"at {run_key[:8]} --prompt"]
    _lines += [f"diff {before_key[:8]} {run_key[:8]}"] if before_key else []
    _lines += [f"fork {run_key[:8]} --model rules"]
    _shell = "\n".join(["```console", *(f"$ wakelog {one}" for one in _lines), "```"])
    Prose(
        f"The same in the shell:\n\n{_shell}"
        if run_key
        else "With a wake, `wakelog replay`, `at`, `diff` and `fork` do the same in the shell."
    )
    return


if __name__ == "__main__":
    app.run()
