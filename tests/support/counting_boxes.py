"""How many tasks and items a file holds, counted a second time: by `re` alone, line by line, with
nothing of the readers."""

import re

_FENCE = re.compile(r"[ >]*(?:[-*+] +)?(```+|~~~+)")
_BULLETS = r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]*)"
_BOX = re.compile(
    rf"{_BULLETS}+\[[^\[\]]{{0,16}}\](?=\s|$)|{_BULLETS}*\[[ xX]\](?=\s+\S)|{_BULLETS}+\[ \](?=\w)"
)
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_ISSUE = re.compile(r'"(?:html_)?url": ?"https://[^"]+?([^/"]+/[^/"]+)/(?:issues|pulls?)/([0-9]+)"')
_STATUS = re.compile(r'"status": ?"')


def boxes(data: bytes, form: str) -> int:
    """Boxes of Markdown outside of code fences, lines of todo.txt, tasks or issues of JSON."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = re.sub(r"\r\n?", "\n", data.decode(encoding, "replace"))
    match form:
        case "todotxt":
            return sum(bool(line.strip()) for line in text.split("\n"))
        case "taskwarrior":
            return len(_STATUS.findall(text))
        case "github":
            return len(set(_ISSUE.findall(text)))
    count, fence = 0, ""
    for line in _FRONT.sub("", text, count=1).split("\n"):
        found = _FENCE.match(line)
        if found and (not fence or found[1].startswith(fence)):
            fence = "" if fence else found[1]
        elif not fence and _BOX.match(line) and not re.search(r"\*\[.*\*$", line):
            count += 1
    return count
