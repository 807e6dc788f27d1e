"""Markdown on the page: made in bounded time, and nothing is hidden that a model would read."""

import re
from html import unescape
from pathlib import Path

import pytest
from markupsafe import Markup

from adapters.web import markdown
from adapters.web.filters import revealed
from adapters.web.rendering import said

MANY = 50_000
DATA = Path(__file__).parents[1] / "data" / "markdown"
RAW = "Shown as it was written"
TAGS = "".join(chr(0xE0000 + ord(char)) for char in "obey me")


def seen(text: str) -> str:
    """What a reader sees of a text."""
    return unescape(re.sub(r"<[^>]*>", "", str(markdown.html(text))))


@pytest.mark.parametrize("unit", ["[", "* a\n", "a|b\n-|-\n"])
def test_what_would_take_too_long_is_shown_as_it_was_written(unit: str) -> None:
    text = (unit * MANY)[:MANY]
    made = str(markdown.html(text))
    assert RAW in made
    assert unescape(made.partition("<pre>")[2].partition("</pre>")[0]) == text


def test_lazy_lines_and_cells_that_a_head_makes_are_counted() -> None:
    lazy = "> " * 15 + "a\n" + "a\n" * 20_000
    cells = "|a" * 300 + "\n" + "|-" * 300 + "\n" + "a\n" * 10_000
    for text in (lazy, cells):
        made = str(markdown.html(text))
        assert RAW in made
        assert len(made) < 2 * MANY


def test_many_references_to_one_long_address_make_no_long_page() -> None:
    text = f"[a]: http://{'x' * 10_000}\n\n" + "[a]" * 10_000
    assert len(str(markdown.html(text))) < 2 * MANY


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ('[notes](https://example.org/a?b "obey me")', '(https://example.org/a?b "obey me")'),
        ("[notes](<mailto:a@b.example?subject=obey me>)", "subject=obey me"),
        ("```text obey me\ncode\n```", "text obey me"),
        ("~~~ obey me\ncode\n~~~", "obey me"),
        ("[a]: https://example.org 'obey me'", "obey me"),
        ("a\n\n[//]: # (obey me)", "obey me"),
        ("> " * 120 + "obey me", "obey me"),
        ("- " * 60 + "obey me", "obey me"),
        ("a | b\n--|--\n1 | 2 | obey me", "obey me"),
        ("<!-- obey me -->", "<!-- obey me -->"),
        ("![a picture](https://example.org 'obey me')", "obey me"),
        ("1. a\n20270212. b", "20270212"),
        (f"a{TAGS}b", "obey me"),
    ],
)
def test_what_a_model_reads_a_person_sees(text: str, hidden: str) -> None:
    assert hidden in seen(text)


def test_what_is_shown_raw_is_marked() -> None:
    link = str(markdown.html('[a](https://b.example "c")'))
    assert 'rel="noopener noreferrer nofollow">a</a>' in link
    assert '<span class="raw">(https://b.example &#34;c&#34;)</span>' in link
    assert "title=" not in link
    assert '<p class="raw">python</p>' in str(markdown.html("```python\n1\n```"))
    assert "could not be seen" in str(markdown.html("> " * 60 + "a"))


@pytest.mark.parametrize(
    "text",
    [
        "<https://example.org/%41>",
        "[https://example.org](https://example.org)",
        "&amp; &copy; &#73; \\* a\\_b",
        "a **b** _c_ ~~d~~ `e`\n\n# f #\n\ng\n=\n\n1. h\n2. i\n\n007. j",
        "| a | b |\n|:--|--:|\n| `c` | d \\| e |",
        "> - a\n>   1. b\n\n      code\n\n***\n\n- [ ] c\n- [x] d  \n  e",
        "नमस्ते 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 👩\u200d👧 Grüße",
    ],
)
def test_what_hides_nothing_is_rendered(text: str) -> None:
    made = str(markdown.html(text))
    assert RAW not in made
    assert 'class="raw"' not in made
    assert " style=" not in made


def test_whole_files_are_rendered() -> None:
    for path in DATA.iterdir():
        text = path.read_text(errors="replace")
        assert RAW not in str(markdown.html(text)), path


def test_numbers_of_a_list_are_those_that_were_written() -> None:
    assert str(markdown.html("3. a\n7. b")).count('value="7"') == 1


def test_what_is_invisible_is_told_and_flags_and_families_stay() -> None:
    assert revealed(f"a{TAGS}b") == "a\ufffdobey me\ufffdb"
    assert "obey me" in said(f"a title{TAGS}")
    assert revealed("a" + "\u200b\u200c" * 20 + "b") == "a\ufffdb"
    for text in (
        "👩\u200d👩\u200d👧",
        "नमस\u200dते",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e007f",
    ):
        assert revealed(text) == text
    long = "\U0001f3f4" + TAGS * 3
    assert "obey me" in revealed(long)


def test_what_was_made_is_kept_within_bounds() -> None:
    made = markdown.RenderedTexts(chars_max=10)
    for name in "abc":
        made.keep(name, Markup("1234"))
    assert [made.get(name) for name in "abc"] == [None, Markup("1234"), Markup("1234")]
    made.get("b")
    made.keep("d", Markup("1234"))
    assert made.get("c") is None
    made.keep("e", Markup("x" * 11))
    assert [made.get(name) for name in "bde"] == [None, None, None]


def test_markdown_is_shown_and_cannot_do_anything() -> None:
    text = "# T\n\n**b** <b>x</b> ![p](http://evil.example/p.png) [s](JavaScript:x) [d](data:a,b)"
    made = str(markdown.html(f"{text} [ok](https://example.org) \x00\x1b"))
    assert "<h3>T</h3>" in made
    assert "<strong>b</strong>" in made
    assert "&lt;b&gt;" in made
    assert "<img" not in made
    assert 'href="JavaScript' not in made
    assert 'href="data' not in made
    assert 'rel="noopener noreferrer nofollow"' in made
    assert "\x00" not in made
    assert "\x1b" not in made


def test_headings_follow_those_of_the_page_and_leave_no_level_out() -> None:
    for text, levels in (("## a\n#### b\n### c\n# d\n## e", "34434"), ("a\n=\n\nb\n-", "34")):
        made = str(markdown.html(text))
        assert "".join(one[0] for one in made.split("<h")[1:]) == levels
        assert made.count("</h") == len(levels)
        assert all(made.count(f"<h{one}>") == made.count(f"</h{one}>") for one in "3456")
