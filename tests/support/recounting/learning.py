"""Lessons, ratings of wakes and digests: what agents are told of verdicts and of older notes."""

from typing import Any

from tests.support.checking.logs import Doc
from tests.support.recounting.facts import Fact, Past, Rows, grouped, when
from tests.support.recounting.views import Tables, share, wilson


def _in_order(fact: Fact) -> tuple[int, str, int]:
    """By append, whoever wrote it."""
    return fact.n, fact.replica, fact.row_n


def lessons(past: Past) -> Rows:
    """The newest verdict of each item in each scope; a row that comes later wins a tie."""
    newest: dict[Any, tuple[Any, Fact]] = {}
    for one in sorted(past.of("lessons.decided"), key=_in_order):
        given = when(one.data.get("at")) or one.at
        spot = one.entity, one.data["changes"], one.data["item"]
        if spot not in newest or newest[spot][0] <= given:
            newest[spot] = given, one
    return [_lesson(given, one) for given, one in newest.values()]


def _lesson(given: Any, fact: Fact) -> Doc:
    kind, _, scope = fact.entity.partition(":")
    said = fact.data
    return {
        "scope_kind": kind,
        "scope_id": scope,
        "set_id": said["changes"],
        "item": said["item"],
        "tool": said["tool"],
        "verdict": None if said["verdict"] == "reopened" else said["verdict"],
        "is_edited": said.get("isEdited", False),
        "template_id": said.get("template"),
        "template_version": said.get("version"),
        "model": said.get("model"),
        "decided_at": given,
    }


def wake_ratings(past: Past) -> Rows:
    versions: dict[str, Any] = {}
    for begun in past.of("wake.started"):
        versions.setdefault(begun.entity, begun.data.get("templateVersion"))
    told = sorted(past.of("lessons.rated"), key=_in_order)
    last = {(one.entity, one.data["runKey"]): one for one in told}
    return [
        {
            "run_key": run_key,
            "template_id": scope.removeprefix("template:"),
            "template_version": versions.get(run_key),
            "stars": one.data["stars"],
            "rated_at": one.at,
        }
        for (scope, run_key), one in last.items()
    ]


def digests(past: Past) -> Rows:
    """Note by note, and digest by digest: each belongs to the first that names it."""
    first: dict[tuple[str, str], Fact] = {}
    owner: dict[tuple[str, str], str] = {}
    adding: set[str] = set()
    for one in sorted(past.of("memory.folded"), key=_in_order):
        if (one.entity, one.data["id"]) in first:
            continue
        first[one.entity, one.data["id"]] = one
        for source in one.data["sources"]:
            if (one.entity, source) not in owner:
                owner[one.entity, source] = one.data["id"]
                adding.add(one.data["id"])
    return [
        _digest(past, one, owner.get(named), one.data["id"] in adding)
        for named, one in first.items()
    ]


def _digest(past: Past, fact: Fact, parent: str | None, is_adding: bool) -> Doc:
    said = fact.data
    text = past.said(said.get("words"))
    return {
        "digest_id": said["id"],
        "agent_id": fact.entity,
        "depth": said["depth"],
        "made_at": fact.at,
        "first_position": said["first"],
        "last_position": said["last"],
        "since": when(said["since"]),
        "until": when(said["until"]),
        "notes": said["count"],
        "bytes": None if text is None else len(text.encode()),
        "parent_id": parent,
        "is_top": parent is None and is_adding,
        "text": text,
    }


def lesson_counts(tables: Tables) -> Rows:
    names = {
        ("category", one["id"]): one["name"] for one in tables["names"] if one["kind"] == "category"
    }
    names |= {("template", one["template_id"]): one["name"] for one in tables["templates"]}
    standing = [one for one in tables["lessons"] if one["verdict"] not in (None, "undone")]
    by_tool = grouped(standing, lambda one: (one["scope_kind"], one["scope_id"], one["tool"]))
    return [_counted(spot, of, names.get(spot[:2])) for spot, of in by_tool.items()]


def _counted(spot: tuple[str, str, str], lessons_of: Rows, name: str | None) -> Doc:
    said = [one["verdict"] for one in lessons_of]
    yes, no = said.count("confirmed"), said.count("rejected")
    low, high = wilson(yes, yes + no)
    return {
        "scope_kind": spot[0],
        "scope_id": spot[1],
        "scope": name,
        "tool": spot[2],
        "confirmed": yes,
        "rejected": no,
        "deferred": said.count("deferred"),
        "edited": sum(one["is_edited"] for one in lessons_of),
        "acceptance_rate": share(yes, yes + no),
        "low": low,
        "high": high,
        "last_at": max(one["decided_at"] for one in lessons_of),
    }
