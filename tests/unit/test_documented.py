"""Docs cannot lie: a planted lie of each kind is found; what they name is there."""

import re
from pathlib import Path

import pytest

from tests.support import documented, tour
from tests.support.documented import PAGES, ROOT, redone, unknown

README = ROOT / "README.md"
WORDS_MAX = 1_200


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_that_a_page_names_is_there(page: Path) -> None:
    assert unknown(page.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("`wakelog frob`", "wakelog frob: no command 'frob'"),
        ("`wakelog list --nope`", "wakelog list --nope: no option --nope"),
        ("`wakelog day put tap 9-11 --onn friday`", "no option --onn"),
        ("```bash\n$ wakelog --home x sync ~/S --joinn  # no such\n```\n", "no option --joinn"),
        ("```bash\n$ cat x | wakelog imprt - --source s\n```\n", "no command 'imprt'"),
        ("| `wakelog show RUN --promt` | a table |", "no option --promt"),
    ],
)
def test_a_command_or_option_that_is_not_there_is_found(line: str, told: str) -> None:
    (found,) = unknown(f"# A page\n\n{line}\n")
    assert found.endswith(told)


@pytest.mark.parametrize(
    "line",
    [
        "`wakelog show RUN --prompt`",
        "`wakelog list @work`, `wakelog day plan friday`, `wakelog help TOPIC`",
        "`wakelog --home pg:anna backup ~/anna`",
        "`wakelog_eraser` and `import wakelog`",
    ],
)
def test_one_that_is_there_is_not(line: str) -> None:
    assert unknown(line) == []


def test_the_readme_is_short_and_has_one_picture() -> None:
    text = README.read_text("utf-8")
    assert len(text.split()) <= WORDS_MAX
    assert re.findall(r"!\[.+\]\((.+)\)", text) == ["docs/inbox.png"]


def test_what_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)", README.read_text("utf-8"))
    assert [one for one in links if not (ROOT / one).exists()] == []


PAGE = """\
```markdown title="TODO.md"
- [ ] Mow
```

```console
$ wakelog import TODO.md
TODO.md: 1 created
...
$ echo 12 tasks
12 tasks
$ false   # exit 1
```

```python
print(6 * 7)
```

```text
42
```
"""


@pytest.mark.slow
def test_an_output_or_figure_that_is_not_so_is_written_as_it_is() -> None:
    assert redone(PAGE) == PAGE
    for now, lie in (
        ("1 created", "2 created"),
        ("\n12 tasks", "\n13 tasks"),
        ("\n42", "\n41"),
        ("   # exit 1", ""),
        ("...", "... and all is well"),
    ):
        lying = PAGE.replace(now, lie)
        assert PAGE != lying != redone(lying)


def test_the_walk_of_the_readme_is_the_tour_in_other_homes() -> None:
    assert tour.first_steps()[0] == "import TODO.md"
    assert all(documented.unknown(f"`wakelog {one}`") == [] for one in tour.first_steps())
