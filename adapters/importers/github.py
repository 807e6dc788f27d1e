"""Tasks from GitHub issues as JSON (SPEC 1, Importers): a pure function of its bytes.

Read are the shapes of `gh issue list --json ...`, of the REST interface and of its search. An issue
is known by repository and number, whatever file it comes in. Boxes of its body are the checklist,
the rest of the body is the description; the repository is the category, the milestone a label, and
its date the due date. Pull requests are left out and counted."""

import re
from collections.abc import Iterable, Iterator, Mapping

from adapters.importers import common
from adapters.importers.json_records import Record, records
from adapters.importers.markdown import Box, outline
from adapters.importers.markdown_line import plain
from domain.journal.imported import ImportedFile, ImportedItem, ImportedNote, ImportedTask
from domain.log import canonical
from domain.log.keys import key
from domain.log.timestamps import moment
from domain.text import cut, fold, squeeze

_ADDRESS = re.compile(
    r"https?://[^/\s]+(?:/api/v3)?(?:/repos)?/(?P<owner>[^/\s]+)/(?P<name>[^/\s]+)"
    r"(?:/(?P<kind>issues|pull|pulls)/[0-9]+)?/?"
)
_REJECTED = {"not_planned": "not planned", "duplicate": "duplicate"}


def read(data: bytes, *, source: str) -> ImportedFile:
    """Read a file whole, see `formats.read`; its `source` stands for the repository where an issue
    names none.

    >>> issue = b'{"number": 7, "title": "Leak", "body": "Soon\\\\n- [x] Find it\\\\n- [ ] Fix it"}'
    >>> (task,) = read(issue, source="issues.json").tasks
    >>> task.title, task.description, [(item.title, item.is_checked) for item in task.items]
    ('Leak', 'Soon', [('Find it', True), ('Fix it', False)])
    """
    problems = common.Problems()
    source = canonical.clean(source)
    tasks: dict[str, ImportedTask] = {}
    pulls = 0
    for record in _issues(records(common.decoded(data, problems), problems)):
        if _is_pull(record):
            pulls += 1
        elif task := _task(record, source):
            if task.task_id in tasks:
                record.report("the issue is in the file twice; the first one was taken")
            tasks.setdefault(task.task_id, task)
    left_out = (common.counted(pulls, "pull request"),) if pulls else ()
    return ImportedFile("github", source, tuple(tasks.values()), common.bounded(problems), left_out)


def _issues(found: Iterable[Record]) -> Iterator[Record]:
    """The issues; those of a search stand in an object of their own."""
    for record in found:
        if not is_search(record):
            yield record
            continue
        issues = record.inners("items")
        if (count := record.values.get("total_count")) and count != len(issues):
            told = f"the file has {len(issues)} of {count} issues that were found"
            record.report(f"{told}; fetch the other pages, too")
        yield from issues


def is_search(record: Record) -> bool:
    """Whether this is what a search answers: `{"total_count": 2, "items": [...]}`."""
    return isinstance(record.values.get("items"), list) and not record.has("number")


def _task(record: Record, source: str) -> ImportedTask | None:
    number, title = record.number("number"), record.title("title")
    if not number or not title:
        record.report(f"the issue has no {'title' if number else 'number'}; it was left out")
        return None
    owner, name = _repository(record)
    status, reason = _status(record)
    description, items, links = _body(record.text("body"))
    milestone = record.inner("milestone")
    due = milestone.time("dueOn" if milestone.has("dueOn") else "due_on")
    labels = [*record.titles("labels", within="name"), milestone.title("title")]
    return ImportedTask(
        key("task", "github", fold(f"{owner}/{name}") if name else source, str(number)),
        cut(title, length_max=common.TITLE_LENGTH_MAX),
        category=cut(name, length_max=common.CATEGORY_LENGTH_MAX),
        status=status,
        status_reason=reason,
        due=due.date().isoformat() if due else "",
        labels=common.labels_of(labels, record.report),
        description=description,
        items=items,
        notes=(*common.whole_title(title), *map(ImportedNote, links), *_comments(record)),
    )


def _is_pull(record: Record) -> bool:
    found = _address(record.values, "url") or _address(record.values, "html_url")
    return record.has("pull_request") or bool(found and (found["kind"] or "").startswith("pull"))


def _repository(record: Record) -> tuple[str, str]:
    """Owner and name, both empty if the issue does not say."""
    for field in ("html_url", "url", "repository_url"):
        if found := _address(record.values, field):
            return found["owner"], found["name"]
    told = record.inner("repository") if record.has("repository") else record
    full = (told.title("nameWithOwner") or told.title("full_name")).split("/")
    return (full[0], full[1]) if len(full) == 2 and all(full) else ("", "")


def _address(values: Mapping[str, object], field: str) -> re.Match[str] | None:
    value = values.get(field)
    return _ADDRESS.fullmatch(canonical.clean(value)) if isinstance(value, str) else None


def _status(record: Record) -> tuple[str, str]:
    """Status and its reason; an issue of a list of open ones need not say anything."""
    state = record.title("state").lower()
    if state not in ("", "open", "closed"):
        shown = cut(state, length_max=40)
        record.report(f"the state {shown!r} is neither open nor closed; it was read as open")
    if state != "closed":
        return "", ""
    why = record.title("stateReason" if record.has("stateReason") else "state_reason").lower()
    if why in _REJECTED:
        return "REJECTED", _REJECTED[why]
    at = record.time("closedAt" if record.has("closedAt") else "closed_at")
    return "DONE", f"closed on {at.date().isoformat()}" if at else ""


def _body(text: str) -> tuple[str, tuple[ImportedItem, ...], list[str]]:
    """Description, checklist, and notes of what an item's title cannot hold."""
    if not text:
        return "", (), []
    lines = text.split("\n")
    items: list[tuple[ImportedItem, bool]] = []
    notes: list[str] = []
    taken: set[int] = set()
    for box in outline(text)[0]:
        if not isinstance(box, Box) or box.mark not in (" ", "x"):
            continue
        words = plain(box.title)
        if title := squeeze(words.text):
            item = ImportedItem(cut(title, length_max=common.ITEM_LENGTH_MAX), box.mark == "x")
            items.append((item, box.is_late))
            if not box.is_late:  # such a one stays in the description, too (ADR 0026)
                notes += common.extra_notes(title, common.ITEM_LENGTH_MAX, words.links)
                taken.update(range(box.start, box.line + 1))
    kept: list[str] = []
    for number, line in enumerate(lines):
        is_gap = not line.strip() and number - 1 in taken and (not kept or not kept[-1].strip())
        if is_gap:
            taken.add(number)
        if number not in taken:
            kept.append(line)
    return "\n".join(kept).strip(), common.file_order(items), notes


def _comments(record: Record) -> list[ImportedNote]:
    """The comments as notes; REST says only how many there are."""
    if isinstance(record.values.get("comments"), int):
        return []
    notes: list[ImportedNote] = []
    for one in record.inners("comments"):
        body = one.text("body").strip()
        author = one.inner("author" if one.has("author") else "user").title("login")
        at = one.time("createdAt" if one.has("createdAt") else "created_at")
        if body:
            said = f"{author}: {body}" if author else body
            notes.append(ImportedNote(said, moment(at) if at else "", one.identity("id")))
    return notes
