"""A house that `wakelog category review` looks over, at the command line: two weeks of it, and
models that propose tasks there and ask agents."""

from pathlib import Path
from typing import Any

from tests.support.cli import done, told
from tests.support.waking import reply, report, tape

MONDAY = "2027-01-04"
BERLIN = {"WAKELOG_TIMEZONE": "Europe/Berlin"}
ENV = {**BERLIN, "WAKELOG_NOW": f"{MONDAY}T07:10:00Z"}
SHELF = (
    "Sort the shelf that stands in the garage behind the old car, which nobody has used for years"
)
ROOF = "屋根を直すために足場を借りて、瓦を注文し、大工さんに電話をかける"
TAP, FENCE, REPORT = "Fix the tap", "Paint the fence", "Write the report"


def house(home: Path) -> None:
    """Two weeks of a house, and a task of another category: what was planned, spent and done."""

    def on(day: str, *args: str) -> None:
        done([*args], home, env={**BERLIN, "WAKELOG_NOW": f"{day}T08:00:00Z"})

    on("2026-12-01", "add", SHELF, "--category", "House")
    on("2026-12-10", "add", ROOF, "--category", "House", "--estimate", "60")
    on("2026-12-24", "add", TAP, "--category", "House", "--due", "2027-01-05", "--estimate", "90")
    on("2026-12-24", "add", "Call Ann", "--category", "House", "--estimate", "30")
    on("2026-12-24", "add", FENCE, "--category", "House", "--due", "2027-01-02")
    on("2026-12-24", "add", REPORT, "--category", "Work", "--due", MONDAY, "--priority", "P1")
    on("2026-12-29", "day", "put", FENCE, "9-11", "--on", "2026-12-30")
    spent = ["--start", "2026-12-30 09:00", "--end", "2026-12-30 10:30"]
    on("2026-12-30", "task", "time", TAP, *spent)
    on("2026-12-31", "done", "Call Ann")
    on("2026-12-31", "task", "rate", "Call Ann", "4")


def did(home: Path, *args: str, env: dict[str, str] = ENV) -> str:
    """What a command prints, that Monday."""
    return done([*args], home, env=env)


def seen(home: Path, *args: str, env: dict[str, str] = ENV) -> Any:
    """The document that a command prints, that Monday."""
    return told([*args], home, env=env)


def agents(home: Path) -> dict[str, Any]:
    return {one["name"]: one for one in seen(home, "agent", "list")}


PLUMBER = {
    "title": "Call the plumber",
    "description": "The kitchen tap drips.\nAsk for a price.",
    "dueDate": "2027-01-08",
    "priority": "P1",
    "estimateMinutes": 30,
    "items": [{"title": "Ask for a price"}, {"title": "Agree on a day"}],
    "because": TAP,
}
PAINT = {"title": "Buy paint", "because": FENCE}
TILES = {"title": "瓦を注文する", "because": ROOF[:8]}


def with_model(home: Path, folder: Path, *calls: tuple[str, Any], category: str = "House") -> str:
    """A category is looked over by a model that makes these calls, and reports; what is printed."""
    said = reply(*calls, report("Look at the tap")), reply(text="Done.")
    model = tape(folder / "tape.jsonl", *said)
    return did(home, "--model", model, "category", "review", category)


def proposing(home: Path, folder: Path) -> None:
    """Three tasks are proposed."""
    with_model(home, folder, *(("create_task", one) for one in (PLUMBER, PAINT, TILES)))


def asked_by(home: Path, folder: Path, *asked: tuple[str, str]) -> str:
    """The agents of these tasks are asked by the one of their category; its wake."""
    ids = {one["title"]: one["id"] for one in seen(home, "list")}
    calls = [("ask_agent", {"taskId": ids[task], "about": about}) for task, about in asked]
    with_model(home, folder, *calls)
    mine = agents(home)["House week"]["id"]
    return next(str(one["run_key"]) for one in seen(home, "wakes") if one["agent_id"] == mine)


def answering(home: Path) -> None:
    """Agents of two tasks that have nothing to do."""
    did(home, "agent", "create", TAP)
    did(home, "agent", "create", FENCE)
    did(home, "wake")


def seen_status(home: Path) -> str:
    """What became of the first proposal."""
    return str(seen(home, "inbox", "--all")[0]["items"][0]["status"])
