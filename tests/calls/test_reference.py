"""Published values of global sensitivities, each with its source."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from paths import ARTICLE_FILE

import sensitivity_lab as sl

F = Fraction
ARTICLE = json.loads(ARTICLE_FILE.read_text())

REMOVE_ONE = sl.Unbounded(1, direction="remove")


def sensitivity(universe, query, size, neighbors) -> F | float:
    """The exact sensitivity; a float for the standard deviation."""
    result = sl.global_sensitivity(universe, query, size=size, neighbors=neighbors)
    result.verify()
    return result.value if result.exact is None else result.exact


def identify(row) -> str:
    keys = ("scenario", "column", "neighbors", "k", "query")
    return "-".join(str(row[key]).replace(" ", "_") for key in keys)


@pytest.mark.parametrize("row", ARTICLE, ids=map(identify, ARTICLE))
def test_the_articles_tables(row):
    """ "Global Sensitivity From Scratch": unbounded means exactly k there, bounded at most k."""
    relation = {"unbounded": sl.Unbounded(row["k"], exactly=True), "bounded": sl.Bounded(row["k"])}
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(row["universe"]),
        row["query"].replace(" ", "_"),
        size=row["size"],
        neighbors=relation[row["neighbors"]],
    )
    assert result.value == pytest.approx(row["value"], rel=1e-9, abs=1e-9)


def test_the_articles_tables_are_all_there():
    assert len({identify(row) for row in ARTICLE}) == len(ARTICLE) == 200


# Lee and Clifton, How Much Is Enough? (2011), by way of the article's replication.
@pytest.mark.parametrize(
    ("records", "query", "unbounded", "bounded"),
    [
        ([1, 2, 3, 4], "mean", F(5, 6), 1),
        ([1, 2, 3, 4], "median", 1, 1),
        ([1, 2, 3, 4], "var", 1.305556, 0.888889),
        ([1, 2, 3, 4], "std", 0.747219, 0.430723),
        ([1, 2, 3, 10], "mean", F(17, 6), 3),
        ([1, 2, 3, 10], "median", 4, 1),
        ([1, 2, 3, 10], "var", 15.972222, 15.555556),
        ([1, 2, 3, 10], "sum", 10, 9),
        ([1, 2, 3, 10], "percentile_90", F(13, 2), F(29, 5)),
    ],
)
def test_lee_and_clifton(records, query, unbounded, bounded):
    universe = sl.Universe.from_dataset(records)
    for relation, published in ((sl.Unbounded(1), unbounded), (sl.Bounded(1), bounded)):
        found = sensitivity(universe, query, 3, relation)
        if isinstance(published, float):  # printed with six decimals
            assert round(float(found), 6) == published
        else:
            assert found == published


# As above: the global sensitivity of the median, 4, is reached at {1, 2, 10}.
def test_lee_and_clifton_witness_of_the_median():
    result = sl.global_sensitivity(
        sl.Universe.from_dataset([1, 2, 3, 10]), "median", size=3, neighbors=sl.Unbounded(1)
    )
    assert result.witness.x == (1, 2, 10)


# The picture of the second article.
def test_the_second_articles_picture():
    universe = sl.Universe.from_dataset([1, 2, 3, 10, 11])
    unbounded = sl.global_sensitivity(universe, "median", size=3, neighbors=sl.Unbounded(1))
    assert unbounded.exact == F(9, 2)
    assert unbounded.witness.x in {(1, 2, 11), (1, 10, 11)}
    assert sensitivity(universe, "median", 3, sl.Bounded(1)) == 8


# Closed forms on [L, U]: DPpack R/DataAccess.R, citing Liu (2019). They bound every domain within
# [L, U] and are attained where it has both ends.
DOMAINS = [(0, 1), (5, 10), (-2, 3)]
each_domain = pytest.mark.parametrize(("low", "high"), DOMAINS)
each_size = pytest.mark.parametrize("n", range(2, 9))


def domain(low: int, high: int) -> sl.Universe:
    return sl.Universe.from_domain([low, F(low + high, 2), high])


@each_domain
def test_closed_form_of_the_mean_over_all_sizes(low, high):
    assert sensitivity(
        domain(low, high), "mean", range(1, 8), sl.Unbounded(1, direction="add")
    ) == F(high - low, 2)


CLOSED = {
    "mean": lambda low, high, n: (F(high - low, n), F(high - low, n)),
    "var": lambda low, high, n: (F((high - low) ** 2 * (n - 1), n * n),) * 2,
    "median": lambda low, high, n: (F(high - low, 1 if n % 2 else 2), F(high - low, 2)),
    "sum": lambda low, high, _: (high - low, max(abs(low), abs(high))),
    "count": lambda *_: (0, 1),
}
"""Where a record is replaced, and where one is removed."""


@each_domain
@each_size
@pytest.mark.parametrize("query", CLOSED)
def test_closed_forms(query, low, high, n):
    expected = CLOSED[query](low, high, n)
    found = [sensitivity(domain(low, high), query, n, one) for one in (sl.Bounded(1), REMOVE_ONE)]
    assert tuple(found) == expected


@each_domain
@each_size
def test_closed_form_of_the_sample_variance(low, high, n):
    found = sensitivity(domain(low, high), sl.Var(ddof=1), n, sl.Bounded(1))
    assert found == F((high - low) ** 2, n)


# As above: a linear stability map over-charges.
def test_replacing_two_records_is_less_than_twice_replacing_one():
    universe = sl.Universe.from_domain([0, F(1, 2), 1])
    one = sensitivity(universe, sl.Var(ddof=1), 4, sl.Bounded(1))
    two = sensitivity(universe, sl.Var(ddof=1), 4, sl.Bounded(2))
    assert (2 * one, two) == (F(1, 2), F(1, 3))
