"""What the notebooks reckon, held against figures that others published."""

import polars as pl
import pytest

from notebooks.reckoning import ended_by, reached

WEEKS = (6, 6, 6, 7, 10, 13, 16, 22, 23)
STILL_WELL = (6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35)


def test_shares_over_time_are_those_of_the_textbook() -> None:
    """Remission under 6-MP, 21 patients, of whom 12 had no relapse yet (Freireich, 1963)."""
    ends = [*((one, True) for one in WEEKS), *((one, False) for one in STILL_WELL)]
    found = ended_by(pl.DataFrame(ends, schema=["days", "is_over"], orient="row"))
    left = (0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448)
    assert found["days"].to_list() == sorted({float(one) for one in WEEKS})
    assert (1 - found["share"]).to_list() == pytest.approx(left, abs=0.0006)
    assert found["at_risk"].to_list() == [21, 17, 15, 12, 11, 7, 6]
    assert [found[name][0] for name in ("low", "high")] == pytest.approx([0.0484, 0.3803], abs=2e-4)
    assert reached(found, 0.5) == (23, 13, None)  # half relapse by week 23, at soonest by 13


def test_where_all_have_ended_all_is_known() -> None:
    found = ended_by(pl.DataFrame({"days": [1.0, 2.0], "is_over": [True, True]}))
    assert found["share"].to_list() == [0.5, 1.0]
    assert reached(found, 1.0)[0] == 2.0


def test_what_nobody_has_ended_says_nothing() -> None:
    nothing = ended_by(pl.DataFrame({"days": [5.0], "is_over": [False]}))
    assert nothing.is_empty()
    assert reached(nothing, 0.5) == (None, None, None)


def test_an_amount_is_said_with_its_currency_and_as_exactly_as_it_is_great() -> None:
    from notebooks.drawing import money  # which loads what draws: no other quick test needs it

    told = [money(one, "EUR") for one in (1234.5, 0.0, 0.0857, 0.00123, None)]
    assert told == ["1,234.50 EUR", "0.00 EUR", "0.086 EUR", "0.0012 EUR", "-"]
    assert money(2.0, "") == "2.00"
