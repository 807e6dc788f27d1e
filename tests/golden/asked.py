"""What is asked of the kept homes: command lines and addresses, with what they are asked of.

Words in braces stand for what a home has: `{task}` for each task that is looked at, `{agent}` for
its agent, `{run}` for one wake of each kind, and so on: see `Asker` in `outputs.py`. A line with
such a word is asked once for each.
"""

LEFT_OUT = {
    "demo": "makes a home of its own, and takes long",
    "demo-data": "the same",
    "init": "the same",
    "simulate": "takes long",
    "eval": "runs cases in memory: tests/integration/test_eval.py",
    "rehearse": "runs wakes of a home again: tests/integration/test_rehearse.py",
    "run": "waits",
    "serve": "waits",
    "mcp serve": "waits",
    "settings edit": "opens an editor",
    "backup": "writes files that are of a machine and a day",
    "home thaw": "writes; nothing is frozen here",
    **dict.fromkeys(("server", "dev", "task timer"), "what it has stands elsewhere, too"),
}
"""Commands whose help alone is kept, and why.

Of others a part is left out: `completion` (click writes the scripts) and `--version`; `export
--parquet` and `--inspect` (bytes of DuckDB and of Inspect), and what DuckDB says to bad SQL;
`models --ask` (it needs a network). Of commands that write or need a server, what they refuse is
asked: what they do has tests of its own.
"""

ALL = """
list --all
agent list
wakes --limit 20
inbox
status
conflicts
lessons
prove
doctor
"""
"""Of every home, as text and as JSON."""

OF_TASK = """
show {task}
report {task}
why {task}
why {task} due
"""

OF_WAKE = """
show {run}
show {run} --prompt
replay {run}
at {run}
"""

MORE = """
list
list --open --sort due --limit 5
list --overdue
list --deleted
list --status DONE
list --category Home
list --label wohnung
list --text tap
list tap --not-label wohnung --due-before 2030-01-01
list --blocked
list --ready --limit 3
today
day show
day show --days 2
search tap
summary --weeks 3
search nothing-of-it
help
help upkeep
help task link
help nothing
agent list --lifecycle dormant
wakes --outcome completed --limit 3
inbox --all
policy show
models
notify show
category list
label list
template list
template show laura
lessons Wohnung
undo --list
settings show
settings --defaults
health
home show
schema
export --markdown -
export --markdown - --open --category Home
prove --all-rules
at 2027-01-04
at yesterday
at journal:r1:12
diff 2027-01-02 2027-01-06
why journal:12
sql "FROM wakes SELECT reason, outcome, count(*) AS n GROUP BY ALL ORDER BY ALL"
sql "FROM tasks SELECT title ORDER BY id LIMIT 3" --format csv
template show {template}
metrics {template}
lessons {template}
at {newest} --all
at {newest} --prompt
export-history {newest}
diff {newest} {before}
fork {newest} --model rules --note {titled} "The landlord pays."
diff {newest} {home}/forks/{fork}::{newest}
bisect {titled} --text tap
bisect {titled} --python "len(proposals) > 1"
bisect {titled} --sql "SELECT status = 'DONE' FROM tasks"
memory {remembering}
memory {remembering} --sources {digest}
rebuild
"""
"""Of the home that is kept word for word, as text and as JSON."""

OF_TASK_MORE = """
report {task} --history
journal {task}
memory {task} --at 2027-01-05
messages {task} --limit 3
policy try {task}
why {task} estimate
at 2027-01-05 --task {task}
agent show {agent}
"""

OF_PAIR = """
replicas
sync {folder}/shelf --dry-run
sync {folder}/shelf
--home {folder}/laptop replicas
--home {folder}/laptop sync {folder}/shelf
--home {folder}/laptop conflicts
--home {folder}/laptop inbox
--home {folder}/laptop status
sync
replicas
doctor
diff {home} {folder}/laptop
"""
"""Of two machines, which meet in a folder on the way."""

REFUSED = """
frobnicate
lst
add
task
task shwo
list --status NOTHING
list --sort colour
list --limit 0
show
show nobody
task show nobody
show the
edit nobody --title x
edit tap
edit tap --due someday
edit tap --due 2027-02-30
edit tap --estimate soon
edit tap --priority P9
add ""
log ""
log x --time never
task check tap "no such item"
task uncheck tap nothing
task item add nobody x
task item rename tap nothing else
task item archive tap nothing
task item restore tap nothing
task link tap blocks tap
task unlink tap blocks fence
note nobody hello
note tap
start nobody
stop --summary
task time tap --start 2027-01-06T14:00 --end 2027-01-06T13:00
task retime tap 9 --start 2027-01-06T14:00
task rate tap 99
day plan someday
day put nobody 9-10
day move 9 10-11
day keep 9
day remove 9
day pin nobody
day unpin nobody
day rate 9
task conclude nobody
delete nobody
task restore tap
done nobody
undo j999
settle tap due --keep file
settle nobody due --keep mine
category add Home
category rename nothing x
category correct nothing a b
category review nothing
label assign nobody nothing
label suppress tap nothing
label add ""
label allow tap nothing
label remove tap nothing
label widen nothing
label delete nothing
agent create tap
agent create nobody
agent show nobody
agent set tap --turns 0
agent ask nobody hello
agent timer tap set "every blue moon"
agent timer tap remove
agent watch tap --task nobody
agent unwatch tap nothing
agent sleep tap --until yesterday
agent pause nobody
agent resume nobody
agent destroy nobody
agent delete nobody
agent chat nobody
template show nothing
template create ""
template set nothing --name x
template delete nothing
template version nothing
template rollback {template} 99
template assign tap nothing
wake nobody
--model nothing wake tap
confirm 99
confirm 1.9
confirm x
reject 99
defer 1.1 --until yesterday
lessons nothing
rate nobody 3
rate {newest} 9
policy models
policy withdraw openai:nothing
policy try nobody
policy allow "" --yes
notify withdraw
notify allow
notify test
models nothing
report nobody
journal nobody
memory nobody
messages nobody
messages tap --thread nothing
show nobody
show {newest}.99
why nobody
why tap colour
why journal:9999
replay nobody
at nobody
diff {newest} nobody
bisect tap
bisect nobody --text x
fork nobody --model rules
export
export-history nobody
import {folder}/nothing.md
write-back --source nothing
home list
home show --colour
settings set nothing 1
home create x
home rename x y
home access x
home freeze x
home delete x --sure x
home adopt sideways
restore {folder}/nothing
erase
erase note tap
erase task nothing --sure
erase task tap
retain
replicas
replicas lead
replicas name ""
replicas retire nothing
replicas rescue
sync
move {home} pg:x
recover
token list x
token create x
token revoke x
database check
database init
database scrub
database adopt moved
worker
cluster
schema nothing
completion csh
template improve nobody
template sessions laura
template sessions nobody
"""
"""Bad input, refusals, and deeds that change nothing. As text; every fourth one as JSON, too."""

PAGES = {
    "inbox": "/inbox",
    "first": "/first",
    "tasks": "/tasks",
    "search": "/search?q=fence",
    "task": "/tasks/{task}",
    "history": "/tasks/{task}/history",
    "why": "/tasks/{task}/why/due",
    "erase": "/tasks/{task}/erase",
    "agents": "/agents",
    "agent": "/agents/{agent}",
    "life": "/agents/{agent}/life?nth=6",
    "reports": "/agents/{agent}/reports",
    "digest": "/agents/{remembering}/memory/{digest}",
    "wakes": "/wakes",
    "wake": "/wakes/{run}",
    "before": "/wakes/{run}/at",
    "wakes-differ": "/wakes/{run}/diff",
    "proof-of-wake": "/wakes/{run}/proof",
    "proof": "/proof",
    "what-if": "/wakes/{run}/what-if",
    "forked": "/wakes/{newest}/forked",
    "forks": "/forks",
    "fork": "/forks/{fork}",
    "templates": "/templates",
    "template": "/templates/{template}",
    "template-diff": "/templates/{template}/diff",
    "preview": "/templates/{template}/preview?agent={templated}",
    "catalog": "/catalog",
    "lessons": "/lessons",
    "day": "/day/2027-01-06",
    "policy": "/policy",
    "health": "/health",
    "nothing": "/tasks/nothing",
}
"""Each kind of page by its name, as HTML and as JSON."""

PAGES_FEW = "inbox tasks task agent wakes wake before policy health".split()
"""The kinds that are asked of a home that is not kept word for word."""

PAGES_MORE = """
/
/inbox?show=decided
/inbox?show=deferred
/inbox?q=tap
/first?file=nothing
/tasks?q=tap
/tasks?status=DONE
/tasks?agent=none
/agents/{agent}/life?from=10&to=60
/wakes?outcome=completed
/wakes/{newest}?turn=1
/wakes/{newest}?turn=1.1
/wakes/{newest}?find=tap
/wakes/{newest}/diff?with={before}
/templates/laura
/static/nothing
/nowhere
"""
"""What else a page can show: a tab, a search, a part that is opened, nothing."""
