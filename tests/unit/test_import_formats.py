"""A file's format is seen from its name and what stands in it."""

from pathlib import Path

import pytest

from adapters.importers.formats import ALIASES, FORMATS, guess, read

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    ("name", "data", "form"),
    [
        ("TODO.md", b"", "markdown"),
        ("issues.md", b'[{"number": 1, "title": "x"}]', "markdown"),
        ("TODO", b"- [ ] One", "markdown"),
        ("list.txt", b"\xef\xbb\xbf* [ ] One", "markdown"),
        ("-", b"[ ] no list", ""),
        ("-", b"  1. [x] One", "markdown"),
        ("-", b"", "markdown"),
        ("todo.txt", b"Call Mom", "todotxt"),
        ("done.txt", b"x Call Mom", "todotxt"),
        ("/home/ann/TODO.TXT", b"Call Mom", "todotxt"),
        ("work.todo.txt", b"Call Mom", "todotxt"),
        ("todo.txt", b"# Home\n- [ ] One", "markdown"),
        ("todo.txt", b"(A) One\n- [ ] Two", "todotxt"),
        ("list.txt", b"One\n(A) Two", "todotxt"),
        ("-", b"x 2027-01-01 Two", "todotxt"),
        ("notes.txt", b"Hello", ""),
        ("a.py", b"(A) Two", ""),
        ("x.json", b'[{"uuid": "u", "description": "d"}]', "taskwarrior"),
        ("x", b'{"uuid": "u", "description": "d"}\n{"uuid": "v"}', "taskwarrior"),
        ("x.json", b'[{"number": 1, "title": "t"}]', "github"),
        ("x.json", b'{"number": 1, "title": "t"}', "github"),
        ("x.json", b'\xef\xbb\xbf\r\n[nope,\n{"number": 1, "title": "t"}]', "github"),
        ("x.json", b"[\n]\n", "taskwarrior"),
        ("x.json", b"[]\n", "github"),
        ("x.json", b'{"a": 1}', ""),
        ("x.json", b"[[[[", ""),
    ],
)
def test_a_guess(name: str, data: bytes, form: str) -> None:
    assert guess(data, name) == form


def test_the_samples_are_known() -> None:
    known = {"taskwarrior": "taskwarrior", "todotxt": "todotxt", "github": "github"}
    for folder, form in known.items():
        for file in sorted((DATA / folder).iterdir()):
            assert guess(file.read_bytes(), file.name) == form


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_that_is_named_is_used_whatever_the_file_looks_like(form: str) -> None:
    file = read(b"{}", "x.md", form, "s")
    assert file is not None
    assert (file.format, file.source) == (form, "s")


def test_other_names_of_formats_lead_to_known_ones() -> None:
    assert set(ALIASES.values()) <= set(FORMATS)
    assert ALIASES["todo.txt"] == "todotxt"


def test_an_unknown_format_is_nothing() -> None:
    assert read(b"Hello", "notes.txt", "", "s") is None
