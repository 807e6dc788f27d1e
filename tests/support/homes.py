"""Homes that many tests begin with: each is made once in a run, and every test gets a copy."""

import shutil
from collections.abc import Callable
from pathlib import Path

Make = Callable[[Path], object]


class Homes:
    """Copies of homes, by what makes them; their times and names are fixed, so all are alike.

    Args:
        folder: Where those lie that are copied.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[Make, Path] = {}
        self._places: dict[Make, Path] = {}

    def copy(self, make: Make, home: Path) -> Path:
        """A home for one test alone; `make` runs only the first time, and closes what it opens."""
        if make not in self._made:
            first = self._folder / str(len(self._made))
            first.mkdir()
            make(first)
            self._made[make] = first
        shutil.copytree(self._made[make], home, dirs_exist_ok=True)
        return home

    def again(self, make: Make) -> Path:
        """The folder where `make` made homes that name one another, put back as it was then."""
        if make not in self._places:
            place = self._places[make] = self._folder / f"place-{len(self._places)}"
            place.mkdir()
            make(place)
            shutil.copytree(place, place.with_suffix(".kept"))
            return place
        place = self._places[make]
        shutil.rmtree(place)
        shutil.copytree(place.with_suffix(".kept"), place)
        return place
