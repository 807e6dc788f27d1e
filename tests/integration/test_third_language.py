"""A third language is a file: with one more table of phrases, notes in it are read."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FRENCH = r"""
small_words = 'le la les de des du et est un une pour avec je nous il faut avant pas encore'
letters = 'éèêàç'
months = '''
janvier
février
mars
avril'''
days = '''
lundi
mardi
mercredi
jeudi
vendredi
samedi
dimanche'''
the = 'le'
tomorrow = 'demain'
deadline_by = "{start}(?P<cue>avant|d'ici)(?: le)? {date}"
deadline_by_cues = "avant d'ici"
until = 'avant'
todo_need = '{start}(?P<who>je|nous)? ?(?:il faut|dois|devons) (?:encore )?(?=[^ ])'
todo_parts = ', ?(?:et )?'
irregular = '''
payer payé payée
acheter acheté'''
synonyms = '''
pay: payer régler
buy: acheter'''
verbs = 'payer acheter appeler'
done_stop = "le la les l' j'ai a été"
"""
CASE: dict[str, Any] = {
    "class": "french",
    "language": "fr",
    "now": "2027-03-02T12:00",
    "timezone": "Europe/Paris",
}
NOTES = {
    "due": ("À rendre avant le 12 mars.", "2027-03-12"),
    "tick": ("J'ai payé la facture.", "Payer la facture"),
    "add": ("Il faut encore appeler la mairie.", "Appeler la mairie"),
    "none": ("Rien de neuf, il pleut.", ""),
}


@pytest.mark.slow
def test_due_dates_ticks_and_items_are_read_in_a_language_that_is_a_file(tmp_path: Path) -> None:
    for name in ("adapters", "domain", "projections", "replay"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "adapters/models/offline/phrases/fr.toml").write_text(FRENCH, "utf-8")
    task = {"title": "Papiers", "items": [{"title": "Payer la facture"}]}
    rows = [
        CASE
        | {"id": kind, "task": task, "notes": [{"at": "2027-03-02T11:00", "text": text}]}
        | {"wanted": [{"kind": kind, "is": [value]}] if value else []}
        for kind, (text, value) in NOTES.items()
    ]
    cases = tmp_path / "french.jsonl"
    cases.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    command = ["-m", "adapters.cli.main", "eval", str(cases), "--model", "rules", "--json"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, *command],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    found = next(one for one in json.loads(told.stdout)["rows"] if one["by"] == "all")
    assert (found["right"], found["wrong"], found["missed"]) == (3, 0, 0)
