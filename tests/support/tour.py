"""README's tour: its first steps as they stand there, and whatever else it names, run in a home."""

import contextlib
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.support.cli import run, told
from tests.support.documented import ROOT, blocks

README = ROOT / "README.md"
GROUPS = (
    "agent",
    "database",
    "day",
    "home",
    "notify",
    "policy",
    "settings",
    "task",
    "template",
    "token",
)
_NAMED = re.compile(r"`wakelog\s([^`]+)`|^\$ wakelog ([^#\n]+)", re.MULTILINE)

GOES_ON = """
init --zone Europe/Berlin --no-import --no-agents
report tap
show {run}
why tap due
show {run} --prompt
schema home
completion bash
task show tap
list
defer 2.1 --until monday
undo
undo --list
confirm 2.1
edit passport --due friday
import MORE.md --agents
wake
inbox
confirm 3.1 --edit minutes=40
import EDITED.md --source TODO.md
conflicts
settle passport due --keep file
import EDITED.md --source TODO.md --undo
task conclude fence --follow-up "Paint the fence"
add "Oil the fence" --file MORE.md
write-back MORE.md
export --markdown tasks.md
recover
lessons --from-history
lessons House --never link_task
lessons House --again link_task
template list
template assign tap tom
agent timer tap set "every day 07:00"
agent ask tap "What is open?"
rate {run} 4
rehearse --all --show
agent sleep tap --until 2027-02-01
agent sleep tap --end
agent set tap --model rules
agent create --all
wake --cancel "Paint the fence"
task note tap "It takes 3 hours."
run --until-idle
agent pause passport
agent resume passport
agent watch tap --task passport
agent list
agent destroy "Mend the fence"
wakes
journal tap
messages tap
template version laura --report "Two sentences."
task list
task check tap "Buy a seal"
task time tap --start "today 10:00" --end "today 10:30"
settings show
done passport
log "Called Ann" --time 30m
search fence
search hours
edit "Oil the fence" --status on-hold --until monday
today
day put tap 9-11
day put --title Lunch 12-13
day move 9 10-12
day keep 10
day remove 12
day pin tap
day rate 4 "Long, and good"
day
day --days 7 --ical week.ics
day plan
day plan friday
day monday
agent set Day --prefer hours=8:30-16:00 --prefer pause=12:00-12:30
summary --weeks 2
help tasks
rebuild
doctor
status
health
home show
settings set agents.parallel 6
models
memory tap
replay {run} --step
at {run}
at "today 14:00"
diff {first} {run}
bisect tap --text items
fork {run} --model rules --note tap "It takes 5 hours." --out forked
policy try tap
policy allow gemini --category House
policy models House rules
policy show
policy withdraw gemini
settings set notify.command '["true"]'
notify allow
notify test
notify
notify withdraw
prove --anchor anchors.jsonl --new-anchor
export-history {run} --out histories/x.jsonl
sql "SELECT value AS category, confirmed, decided FROM acceptance WHERE dimension = 'category'"
sql "SELECT depth, position, tag, why FROM causality('journal', 9, of_row_n := 1)"
metrics
export --parquet parquet
prove --since last
prove
"""
"""With the names and numbers of the home that the first steps make; `run` is its newest wake."""

MORE = "- [ ] Mend the fence #home\n  - [ ] Buy boards\n\n  It takes about 3 hours.\n"


def first_steps() -> list[str]:
    """The commands of README's walk."""
    shown = [one.text for one in blocks(README.read_text("utf-8")) if one.language == "console"]
    return re.findall(r"^\$ wakelog (.+)$", "".join(shown), re.MULTILINE)


def named() -> set[str]:
    """The commands that README and the guide name anywhere."""
    pages = (page.read_text("utf-8") for page in (README, *ROOT.glob("docs/guide/*.md")))
    found = (one or other for page in pages for one, other in _NAMED.findall(page))
    return {deed(one) for one in found}


def run_here() -> set[str]:
    """The commands that the tour runs."""
    return {deed(one) for one in (*first_steps(), *GOES_ON.strip().splitlines())}


def deed(line: str) -> str:
    """The words of a command, without what is given to it."""
    words = re.sub(
        r"^(--json|--quiet|--home \S+|--model \S+)\s+", "", " ".join(line.split())
    ).split()
    return " ".join(words[: 2 if words[0] in GROUPS else 1])


def toured(home: Path | str, env: Mapping[str, str], folder: Path) -> list[tuple[str, int, str]]:
    """Run it all in a home, a minute apart: the commands, their statuses, and what they said.

    `folder`: where it types them; made anew, as a file's place is part of what is imported.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "histories").mkdir(parents=True)
    todo = (
        README.read_text("utf-8").partition('```markdown title="TODO.md"\n')[2].partition("```")[0]
    )
    edited = todo.replace("2027-03-01", "2027-03-02")
    for name, text in (("TODO.md", todo), ("EDITED.md", edited), ("MORE.md", MORE)):
        (folder / name).write_text(text, "utf-8")
    found = []
    with contextlib.chdir(folder):
        for nth, line in enumerate((*first_steps(), *GOES_ON.strip().splitlines())):
            now = {**env, "WAKELOG_NOW": f"2026-11-20T{13 + nth // 60}:{nth % 60:02}:00Z"}
            typed = _filled(line, told(["wakes"], home, env=now)) if "{" in line else line
            result = run(shlex.split(typed), home, env=now)
            found.append((typed, result.exit_code, _plainly(result.output, str(home))))
    return found


def _filled(line: str, wakes: list[dict[str, str]]) -> str:
    keys = [one["run_key"] for one in wakes if one["ended_at"]]
    return line.format(run=keys[0], first=keys[-1])


def _plainly(said: str, home: str) -> str:
    """What was said, without the home's name and place, how long it took, and when `run` told it,
    which is by the machine's clock."""
    said = re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d  ", "AT  ", said, flags=re.MULTILINE)
    said = re.sub(r"\bin \d+\.\d\d s\b", "in 0.00 s", said.replace(home, "HOME"))
    return re.sub(r"file \S+/proofs/\w+\.json", "file FILE", said)
