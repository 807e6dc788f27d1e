"""What changes categories and labels: `wakelog category add`, `label assign` and the like."""

from collections.abc import Callable, Sequence

from adapters.cli.editing import Editing
from adapters.cli.lazy_groups import keyed
from adapters.cli.shared import Session, flag, option
from adapters.documents.results import Deleted
from adapters.documents.tasks import catalog_of, category_lines, category_named, label_lines
from adapters.text.common import safe
from adapters.usecases import catalog, tasks
from adapters.usecases.inputs import language_named
from domain.journal.catalog import NAME_MAX
from domain.journal.edits import titled


def _tell_category(editing: Editing, done: str, kept: tasks.UseCaseResult) -> None:
    """Say what became of a category."""
    (category_id,) = editing.did(kept).ids
    category = category_named(catalog_of(editing.session.reading()), category_id)
    if editing.session.as_json:
        found = [one for one in category_lines(editing.session.reading()) if one.id == category.id]
        editing.session.document(found[0])
    editing.session.say(f'{editing.outcome(done)}: category "{safe(category.name)}"')


@keyed("category add", "name", example='"Garden" --language en')
@option("--language=L", "Its default language.", default="none")
def category_add(session: Session, name: str, language: str, key: str) -> None:
    """Add a category."""
    said = titled(name, NAME_MAX, "name"), language_named(language)
    editing = Editing(session, key)
    _tell_category(editing, "Added", catalog.add_category(editing.home, *said, key))


@keyed("category rename", "category", "name", example='"Garden" "Outdoors"')
def category_rename(session: Session, category: str, name: str, key: str) -> None:
    """Give a category another name; its tasks stay in it."""
    editing = Editing(session, key)
    _tell_category(editing, "Renamed", catalog.rename_category(editing.home, category, name, key))


@keyed("category correct", "category", "before", "after", example='Work "mtg" "meeting"')
def category_correct(session: Session, category: str, before: str, after: str, key: str) -> None:
    """Teach agents by example: what was written, and what it should have been."""
    catalog.check_correction(before, after)
    editing = Editing(session, key)
    kept = catalog.correct_category(editing.home, category, before, after, key)
    _tell_category(editing, "Noted the correction", kept)


@keyed("category review", "category", example=("House", "Work --model gemini --no-timer"))
@option("--model=M", "What it asks; else the home's.", default="")
@flag("--no-timer", "It wakes only when you ask.")
def category_review(
    session: Session, category: str, model: str, key: str, *, no_timer: bool
) -> None:
    """Let an agent look over a category: what was done in two weeks, what lies untouched.

    It is made where there is none, and wakes every Monday; the options are of a new one. What it
    asks of the agents of tasks, and tasks that it proposes, come to you as ever.
    """
    from adapters.cli.wake import tell_made, tell_woken, woken
    from adapters.documents.agent_output import report_document
    from adapters.usecases import kinds
    from adapters.usecases.agents import AgentOptions
    from adapters.usecases.wake_agents import request_wake

    home = session.writing()
    found = category_named(catalog_of(home), category)
    made = kinds.of_category(home, found, AgentOptions(model=model), has_timer=not no_timer)
    tell_made(session, home, made)
    document, error = woken(session, home, made.agent, lambda: request_wake(home, made.agent, key))
    said = report_document(home, made.agent).content
    if session.as_json or error or not said or document.outcome != "completed":
        raise SystemExit(tell_woken(session, home, document, error))
    if document.report is None:
        session.note("It wrote no new report; this is the one from before.")
    session.markdown(said)
    if document.proposals:
        session.note("See what it proposes with `wakelog inbox`.")


# ------------------------------------------------------------------------------------------- labels


@keyed("label add", "name", example="urgent --category Work")
@option("--category categories=C", "Only there.", multiple=True)
def label_add(session: Session, name: str, categories: Sequence[str], key: str) -> None:
    """Add a label; agents may then propose it."""
    said = titled(name.removeprefix("#"), NAME_MAX, "name")
    editing = Editing(session, key)
    (label_id,) = editing.did(catalog.add_label(editing.home, said, categories, key)).ids
    _show(session, label_id, f"{editing.outcome('Added')}: label {_hash(name)}")


@keyed("label widen", "label", example="urgent")
def label_widen(session: Session, label: str, key: str) -> None:
    """Offer a label in all categories. One from a file is offered where its tasks are."""
    editing = Editing(session, key)
    (label_id,) = editing.did(catalog.widen_label(editing.home, label.removeprefix("#"), key)).ids
    told = f"{editing.outcome('Widened')}: label {_hash(label)}, in all categories"
    _show(session, label_id, told)


@keyed("label delete", "label", example="urgent")
def label_delete(session: Session, label: str, key: str) -> None:
    """Take a label out of use; tasks that carry it keep it."""
    editing = Editing(session, key)
    (label_id,) = editing.did(catalog.delete_label(editing.home, label.removeprefix("#"), key)).ids
    session.tell(Deleted(label_id), f"{editing.outcome('Deleted')}: label {_hash(label)}")


def _show(session: Session, label_id: str, told: str) -> None:
    """A label as it is now, or a line of what was done."""
    found = [one for one in label_lines(session.reading()) if one.id == label_id]
    session.tell(found[0] if found else {}, told)


def _hash(label: str) -> str:
    return f"#{safe(label.removeprefix('#'))}"


def _of_task(words: str, deed: Callable[..., tasks.UseCaseResult], done: str, text: str) -> None:
    """A command that changes what a task has to do with some labels."""

    @keyed(words, "task", "label...", example='"Call Ann" urgent', text=text)
    def run(session: Session, task: str, label: Sequence[str], key: str) -> None:
        editing = Editing(session, key)
        found = editing.task(task)
        names = tuple(one.removeprefix("#") for one in label)
        editing.did(deed(editing.home, found.id, names, key=editing.key))
        editing.tell(done.format(" ".join(map(_hash, label))), found.id)


_of_task("label assign", tasks.assign_labels, "Labelled {}", "Put labels on a task.")
_of_task("label remove", tasks.remove_labels, "Took {} off", "Take labels off a task.")
_of_task(
    "label suppress", tasks.suppress_labels, "Agents may no longer propose {}",
    "Keep agents from proposing labels for a task.",
)  # fmt: skip
_of_task(
    "label allow", tasks.allow_labels, "Agents may propose {} again",
    "Let agents propose suppressed labels for a task again.",
)  # fmt: skip
