"""A home in which whatever a person or a model can write is hostile."""

from pathlib import Path
from typing import Any

from tests.support.cli import done, told
from tests.support.waking import reply, tape

HOSTILE = {
    "scripts": "<script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
    "'\"><svg onload=window.hurt=1></title></pre></style><script>window.hurt=1</script>{{ 7 * 7 }}",
    "endless": "a" * 180,
    "endless-shapes": "https://example.org/" + "_-/%W" * 30,
    "directions": "\u202eright to left\u202c \u2066back \u05e9\u05dc\u05d5\u05dd \u200f\u061c" * 2,
    "controls": "ring\x07 \x08\x08 \x1b[31mred\x1b[0m \x85\x9b\ufeff\u2028\u2029 e" + "\u0301" * 60,
    "links": "[x](javascript:window.hurt=1) ![i](http://evil.example/i.png) <javascript:alert(1)>",
}


def hostile_home(home: Path, words: str) -> list[str]:
    """Write the words wherever that is possible; the addresses that show them."""
    short = words[:50]
    text = f"# {words}\n\n{words * 20}\n\n- {words}\n\n`{words}`\n\n    {words * 3}\n\n> {words}\n"
    task = _task(home, f"Mend {words}", text)
    other = _task(home, f"Other {words}", words, "--item", words, "--description", text)
    done(["task", "link", task, "blocks", other], home)
    done(["category", "add", f"C {short}"], home)
    category = next(one["name"] for one in told(["category", "list"], home) if "C" in one["name"])
    done(["label", "add", f"L {short}"], home)
    done(["label", "assign", task, told(["label", "list"], home)[0]["id"]], home)
    fields = ["--category", category, "--status", "blocked", "--reason", words]
    done(["task", "set", task, *fields], home)
    done(["task", "note", task, text, "--kind", "transcript"], home)
    directives = ["--general", text, "--report", text]
    template = told(["template", "create", f"T {short}", *directives], home)["id"]
    done(["template", "version", template, "--report", text + words], home)
    agent = told(["agent", "create", task, "--template", template], home)["id"]
    done(["agent", "set", agent, "--goal", words], home)
    done(["agent", "watch", agent, "--task", other, "--category", category], home)
    model = tape(home / "hostile.jsonl", *_replies(words, text))
    done(["--model", model, "wake", agent], home)
    done(["--model", model, "agent", "ask", agent, words], home)
    done(["reject", "1.2", "--reason", words], home)
    asked, *_, run = (one["run_key"] for one in told(["wakes"], home))
    kept = ["tasks", f"tasks/{task}", f"tasks/{other}", "agents", f"agents/{agent}", "wakes"]
    more = [f"wakes/{run}", f"wakes/{asked}/at", f"wakes/{asked}/diff"]
    more += [f"tasks/{task}/history", f"tasks/{task}/why/status", f"agents/{agent}/reports"]
    more += [f"agents/{agent}/life", f"wakes/{run}/what-if", f"wakes/{run}?turn=1", "catalog"]
    more += ["templates", f"templates/{template}", "lessons", "health"]
    return ["/", "/inbox?show=decided", *(f"/{path}" for path in kept + more)]


def _task(home: Path, title: str, note: str, *options: str) -> str:
    task = str(told(["task", "add", title[:200], *options], home)["id"])
    done(["task", "note", task, note], home)
    return task


def _replies(words: str, text: str) -> list[Any]:
    deeds = (
        ("set_task_title", {"title": f"Better {words}"[:200]}),
        ("add_multiple_checklist_items", {"items": [{"title": words}, {"title": f"Or {words}"}]}),
        ("update_report", {"content": text, "tldr": words * 3, "oneLiner": words[:150]}),
        ("record_observations", {"observations": [{"text": words * 3}]}),
        (words, {words: words * 20}),
    )
    return [
        reply(*deeds, text=words * 10),
        reply(text=words),
        reply(text=f"Asked and answered: {words}"),
        reply(text=words),
    ]
