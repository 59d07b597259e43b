"""Categories that no record can be in."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from check_cases import DAYS, FRAME, UNIVERSE, ask, message
from checks import refused

import sensitivity_lab as sl


@pytest.mark.parametrize("universe", [UNIVERSE, sl.TableUniverse.from_domain(FRAME)])
@pytest.mark.parametrize(
    ("column", "keys", "said"),
    [
        (
            "day",
            ["2020-01-01"],
            "'2020-01-01' cannot occur in a record: column 'day' has timestamps; give values such "
            "as Timestamp('2020-01-03 00:00:00')",
        ),
        (
            "day",
            [DAYS[0], datetime.date(2020, 1, 2)],
            "datetime.date(2020, 1, 2) cannot occur in a record: column 'day' has timestamps; give "
            "values such as Timestamp('2020-01-03 00:00:00')",
        ),
        (
            "age",
            [*map(str, range(7)), 20],
            "'0', '1', '2', '3', '4' and 2 others cannot occur in a record: column 'age' has "
            "numbers; give values such as 40",
        ),
        (
            "sex",
            ["f", 1],
            "1 cannot occur in a record: column 'sex' has texts; give values such as ",
        ),
    ],
)
def test_categories_of_another_kind_than_the_column_are_named(universe, column, keys, said):
    """Before, a sensitivity of 0 without a word: text never equals a timestamp."""
    assert message(lambda: ask(sl.Histogram(column, keys), universe)).startswith(
        f"categories {said}"
    )
    groups = sl.GroupBy(column, "count", groups=keys)
    assert message(lambda: ask(groups, universe)).startswith(f"groups {said}")
    assert message(lambda: ask(sl.Stack("count", groups), universe)).startswith(f"groups {said}")
    inner = sl.GroupBy("age", sl.Histogram(column, keys), groups=[20])
    assert message(lambda: ask(inner, universe)).startswith(f"categories {said}")


def test_categories_of_the_columns_kind_that_no_record_has_are_told():
    """A public list may go beyond the universe at hand; the result says so."""
    result = ask(sl.Histogram("sex", ["f", "x", "y"]))
    assert result.exact == 1
    assert repr(result).endswith("\n  absent     no record of the universe has sex 'x', 'y'")
    result = ask(sl.Stack(sl.GroupBy("sex", sl.Histogram("age", [20, 21]), ["f", None]), "count"))
    assert repr(result).endswith(
        "\n  absent     no record of the universe has sex None; no record of the universe has "
        "age 21"
    )
    assert "absent" not in repr(ask(sl.Histogram("sex", ["f", "m"])))


def test_categories_that_are_equal_are_found_whatever_their_type():
    days = sl.Histogram("day", [np.datetime64("2020-01-01"), datetime.datetime(2020, 1, 2)])
    assert days(FRAME) == (1.0, 1.0)
    assert sl.Histogram("age", [20.0, Fraction(30), Decimal(40)])(FRAME) == (1.0, 1.0, 1.0)
    assert sl.Histogram("age", [np.int8(20), 30])(FRAME) == (1.0, 1.0)


def test_a_table_of_other_kinds_counts_nothing():
    """A query on one table knows no universe: its categories can be those of other tables."""
    assert sl.Histogram("age", ["old"])(FRAME) == (0.0,)


def test_bins_take_their_edges_as_numpy_does():
    edges, values = [-1, 0, 2.5, 7], [-2, -1, -0.5, 0, 1, 2.5, 6, 7, 8]
    expected = np.histogram(values, edges)[0].tolist()
    assert list(sl.Histogram("v", bins=edges)(pd.DataFrame({"v": values}))) == expected


class Counted:
    """A category that counts how often categories are compared."""

    compared = 0

    def __init__(self, name: int) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return isinstance(other, Counted) and self.name == other.name


def test_many_categories_are_not_compared_with_each_other():
    categories = [Counted(name) for name in range(2000)]
    table = pd.DataFrame({"c": categories[:20]})
    Counted.compared = 0
    query = sl.Histogram("c", categories=categories)
    assert sum(query(table)) == 20
    assert Counted.compared < 4 * len(categories)


@pytest.mark.exhaustive
def test_a_histogram_that_would_not_fit_is_refused():
    universe = sl.TableUniverse.from_domain({"n": range(20_000)})
    refused(
        lambda: sl.global_sensitivity(
            universe, sl.Histogram("n", range(20_000)), size=2, neighbors="bounded"
        ),
        "histogram of n would keep 20,000 numbers for each of 20,000 distinct records, more than "
        "100,000,000 together; choose fewer categories or groups, or a coarser universe with fewer "
        "distinct records",
        sl.errors.TooLargeError,
    )
