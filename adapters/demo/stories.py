"""What demo data tells of: tasks, people and the sentences of notes, read from one file."""

from importlib.resources import files

import msgspec
import yaml
from msgspec import Struct

STORIES_FILE = "stories.yaml"
SOURCE = "wakelog demo-data"


class StoryCategory(Struct, frozen=True):
    """A category with its tasks, each ``title: step; step``; `template` is a seed or empty."""

    name: str
    language: str
    template: str
    people: tuple[str, ...]
    tasks: tuple[str, ...]


class Stories(Struct, frozen=True):
    """The whole file. `texts` are by language and use, see there."""

    categories: tuple[StoryCategory, ...]
    texts: dict[str, dict[str, tuple[str, ...]]]
    pasted: str
    thread_line: str
    tom: dict[str, str]


class Story(Struct, frozen=True):
    """One task to be lived through."""

    title: str
    steps: tuple[str, ...]
    category: StoryCategory


def read_stories() -> Stories:
    """The file that comes with wakelog."""
    text = files("adapters.demo").joinpath(STORIES_FILE).read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), Stories)


def pick_stories(given: Stories, count: int) -> list[Story]:
    """So many tasks, the categories taking turns; at most as many as there are."""
    longest = max(len(one.tasks) for one in given.categories)
    found = [
        _parse_story(one.tasks[nth], one)
        for nth in range(longest)
        for one in given.categories
        if nth < len(one.tasks)
    ]
    return found[:count]


def _parse_story(line: str, category: StoryCategory) -> Story:
    title, _, steps = line.partition(": ")
    return Story(title, tuple(steps.split("; ")), category)
