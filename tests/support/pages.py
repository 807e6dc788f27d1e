"""The page in tests: a served home, and a visitor who keeps cookies."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from adapters.web.app import make_app
from adapters.web.auth import Guard
from adapters.web.site import Site
from tests.support.cli import FIXED, told
from tests.support.forms import Form, forms

ORIGIN = "http://127.0.0.1:8765"


class Visitor:
    """Somebody at the page; forms are sent as a browser without JavaScript sends them."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, **more)

    def page(self, path: str) -> str:
        """The HTML of a page that must be there."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    def json(self, path: str) -> Any:
        answer = self.get(f"{path}.json")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def form(self, path: str, action: str, **holding: str) -> Form:
        """The first form of a page that goes to an address and holds these values."""
        for one in forms(self.page(path)):
            if (
                one.method == "post"
                and one.action == action
                and all(one.has(*pair) for pair in holding.items())
            ):
                return one
        raise AssertionError(f"{path} has no form to {action} with {holding}")

    def send(self, form: Form, headers: Mapping[str, str] | None = None, **changed: str) -> Any:
        """Send a form, its fields changed as named (``_`` stands for ``.``)."""
        names = {name.replace("__", "."): value for name, value in changed.items()}
        data: dict[str, list[str]] = {}
        for name, value in form.fields:
            data.setdefault(name, []).append(value)
        data |= {name: [value] for name, value in names.items()}
        sent = {"origin": ORIGIN, **(headers or {})}
        return self.client.post(form.action, data=data, headers=sent)


@contextmanager
def visiting(
    home: Path,
    token: str = "",
    host: str = "127.0.0.1",
    guard: Guard | None = None,
    env: Mapping[str, str] = FIXED,
) -> Iterator[Visitor]:
    """A visitor of the page of a home."""
    site = Site(home, {**FIXED, **env})
    app = make_app(site, guard or Guard(host, 8765, token))
    try:
        with TestClient(app, base_url=ORIGIN) as client:
            yield Visitor(client)
    finally:
        site.jobs.wait(60)
        site.close()


def refs(home: Path) -> dict[str, str]:
    """The open items of the inbox: tool and reference."""
    return {item["tool"]: item["ref"] for one in told(["inbox"], home) for item in one["items"]}


def decision(html: str, ref: str, field: str = "") -> Form:
    """The first form of a page that decides on an item, or the one that edits a field of it."""
    for one in forms(html):
        values = dict(one.fields)
        number = values.get("ref", "..").split(".")[1]
        is_of_it = one.action == "/inbox/decide" and number == ref.partition(".")[2]
        if is_of_it and (not field or field in values):
            return one
    raise AssertionError(f"no form decides on {ref}")


def decided_by(visitor: Visitor, ref: str, field: str = "") -> Form:
    """The form of the inbox's pane that decides on an item."""
    return decision(visitor.page(f"/inbox?at={ref}"), ref, field)


def text_of(html: str) -> str:
    """What a page says, without its marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))
