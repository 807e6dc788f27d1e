"""Runs of a graph of recorded steps with langgraph and SqliteSaver; in an environment of its own.

python langgraph_steps.py FOLDER RUNS STEPS TEXT CLOCK

Prints the seconds of each run as JSON, by a clock of `time`.
"""

import json
import sys
import time
from importlib import import_module
from typing import Any, TypedDict


class State(TypedDict):
    step: int
    said: str


def main(folder: str, runs: int, steps: int, text: str, clock: str) -> None:
    graphs: Any = import_module("langgraph.graph")
    read = getattr(time, clock)
    saver: Any = import_module("langgraph.checkpoint.sqlite").SqliteSaver

    def one(state: State) -> State:
        return {"step": state["step"] + 1, "said": text}

    def following(state: State) -> str:
        return "one" if state["step"] < steps else str(graphs.END)

    builder = graphs.StateGraph(State)
    builder.add_node("one", one)
    builder.add_edge(graphs.START, "one")
    builder.add_conditional_edges("one", following)
    with saver.from_conn_string(f"{folder}/langgraph.sqlite") as kept:
        graph = builder.compile(checkpointer=kept)

        def run(thread: int) -> float:
            named = {"configurable": {"thread_id": str(thread)}, "recursion_limit": steps + 5}
            begun = read()
            graph.invoke({"step": 0, "said": ""}, named, durability="sync")
            return float(read() - begun)

        run(-1)
        print(json.dumps([run(nth) for nth in range(runs)]))
        assert kept.conn.execute("PRAGMA synchronous").fetchone()[0] == 2, "not FULL"
        assert kept.conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
