"""The forms of a page, read from its HTML."""

from html.parser import HTMLParser


class Form:
    """A form of a page: where it goes, its fields, and its buttons as (name, value)."""

    def __init__(self, action: str, method: str) -> None:
        self.action = action
        self.method = method
        self.fields: list[tuple[str, str]] = []
        self.buttons: list[tuple[str, str]] = []

    def has(self, name: str, value: str) -> bool:
        return (name, value) in self.buttons or (name, value) in self.fields


class Forms(HTMLParser):
    """Reads the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.named: dict[str, list[tuple[str, str]]] = {}  # buttons that name their form
        self._ids: dict[str, Form] = {}
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(given.get("action", ""), given.get("method", "get")))
            self._ids[given.get("id", "")] = self.found[-1]
        elif tag == "button" and "name" in given and given.get("form"):
            self.named.setdefault(given["form"], []).append((given["name"], given.get("value", "")))
        elif not self.found:
            return
        elif tag == "button" and "name" in given:
            self.found[-1].buttons.append((given["name"], given.get("value", "")))
        elif tag == "input" and "name" in given and given.get("type") != "checkbox":
            self.found[-1].fields.append((given["name"], given.get("value", "")))
        elif tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and self._select and "selected" in given and "value" in given:
            self.found[-1].fields.append((self._select, given["value"]))

    def close(self) -> None:
        super().close()
        for name, buttons in self.named.items():
            if name in self._ids:
                self._ids[name].buttons += buttons


def forms(html: str) -> list[Form]:
    """The forms of a page, in order."""
    reader = Forms()
    reader.feed(html)
    reader.close()
    return reader.found
