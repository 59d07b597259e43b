"""The page of a public bank of functions: it has all of them, and its lines are found again."""

from __future__ import annotations

import pytest

from tools.make_bank import BANK, PAGE, line

LINES = PAGE.read_text("utf-8").splitlines()

PLACES = [place for place, row in enumerate(BANK, 1) if row.formula is None and place != 22]
"""The lines that need no solver, but for one that takes 10 s."""


def test_the_page_has_all_functions_and_two_that_are_wrong():
    rows = [one for one in LINES if one.startswith("| ") and one.split("|")[1].strip().isdigit()]
    assert [int(one.split("|")[1]) for one in rows] == list(range(1, 50))
    wrong = [one.split("|")[2].strip() for one in rows if "no (n" in one]
    assert wrong == ["median", "Q3 - Q1"]


@pytest.mark.parametrize("place", PLACES)
def test_a_line_is_found_again(place):
    found, _ = line(place, BANK[place - 1])
    assert found in LINES
