"""What a page says to do is done on a page: no command where it has the deed itself."""

from pathlib import Path

import pytest

from adapters.web.remedies import WORDS
from tests.support.cli import done, told
from tests.support.forms import Form, forms
from tests.support.homes import Homes
from tests.support.pages import Visitor, refs, text_of, visiting
from tests.support.waking import proposing

TYPED = {
    "title": "Other words",
    "text": "Some words",
    "words": "How is it?",
    "target": "No such task",
    "agent": "No such agent",
    "task": "No such task",
    "sure": "yes",
    "schedule": "every day 07:00",
    "version": "9",
}


def sent(visitor: Visitor, found: list[Form]) -> list[str]:
    """What the page says to each form, sent once with each of its buttons."""
    said = []
    for form in found:
        names = {name for name, _ in form.fields}
        typed = {name: text for name, text in TYPED.items() if name in names or name == "sure"}
        for button in form.buttons or [("", "")]:
            pressed = {button[0].replace(".", "__"): button[1]} if button[0] else {}
            answer = visitor.send(form, None, **typed, **pressed)
            if answer.status_code >= 400:
                said.append(text_of(answer.text))
    return said


def of_page(visitor: Visitor, path: str) -> list[Form]:
    return [
        form
        for form in forms(visitor.page(path))
        if form.method == "post" and form.action not in ("/theme", "/keys", "/prove", "/wake")
    ]


@pytest.mark.slow
def test_no_refusal_of_the_page_names_a_command_for_what_the_page_can_do(
    tmp_path: Path, homes: Homes
) -> None:
    home = homes.copy(proposing, tmp_path)
    task, agent = told(["task", "list"], home)[0]["id"], told(["agent", "list"], home)[0]["id"]
    done(["template", "create", "Calm", "--general", "Be calm."], home)
    calm = next(one for one in told(["template", "list"], home) if one["name"] == "Calm")["id"]
    said: list[str] = []
    with visiting(home) as visitor:
        pages = ["/inbox", f"/tasks/{task}", f"/agents/{agent}", f"/templates/{calm}"]
        held = {page: of_page(visitor, page) for page in pages}
        done(["reject", refs(home)["update_task_estimate"]], home)
        done(["agent", "pause", agent], home)
        said += sent(visitor, held[f"/agents/{agent}"][:1])  # "Wake now"
        done(["agent", "destroy", agent], home)
        said += sent(visitor, held[f"/agents/{agent}"])
        done(["template", "delete", calm], home)
        said += sent(visitor, held[f"/templates/{calm}"])
        done(["task", "delete", task], home)
        said += sent(visitor, held[f"/tasks/{task}"])
        said += sent(visitor, held["/inbox"])
        gone = visitor.get(f"/tasks/{task}/none")
        assert gone.status_code == 404
    assert len(said) > 20
    whole = "\n".join(said)
    assert "`wakelog" not in whole
    for name in ("restore_task", "resume_agent", "create_agent", "see_tasks"):
        assert WORDS[name] in whole, name
