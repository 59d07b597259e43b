"""Published values for tables, counts per group and covariances, each with its source."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sensitivity_lab as sl

F = Fraction
REMOVE_ONE = sl.Unbounded(1, direction="remove")
ADD_ONE = sl.Unbounded(1, direction="add")

SEX, SMOKES = ["f", "m"], ["no", "yes"]
AGES = [0, 17, 65, 125]
PEOPLE = sl.TableUniverse.from_domain({"sex": SEX, "smokes": SMOKES, "age": AGES})

each_size = pytest.mark.parametrize("n", [2, 3, 5])


def sensitivity(query, n, neighbors, norm="L1", universe=PEOPLE) -> F | float:
    """The exact sensitivity; a float where it is a root."""
    result = sl.global_sensitivity(universe, query, size=n, neighbors=neighbors, norm=norm)
    result.verify()
    return result.value if result.exact is None else result.exact


# DPpack R/DataAccess.R, histogramDataAccess and tableDataAccess, citing Liu (2019): L1 for the
# Laplace mechanism, L2 for the Gaussian one; a change of one record counts 2 and sqrt 2, an added
# or removed one counts 1.
TABLES = {
    "categories": sl.Histogram("sex", categories=SEX),
    "bins": sl.Histogram("age", bins=[0, 18, 65, 125]),
    "contingency table": sl.GroupBy("sex", sl.Histogram("smokes", categories=SMOKES), groups=SEX),
}


@each_size
@pytest.mark.parametrize("query", TABLES.values(), ids=TABLES)
def test_histograms_and_contingency_tables(query, n):
    for relation in (REMOVE_ONE, ADD_ONE, sl.Unbounded(1)):
        for norm in ("L1", "L2", "Linf"):
            assert sensitivity(query, n, relation, norm) == 1
    assert sensitivity(query, n, sl.Bounded(1), "L1") == 2
    assert sensitivity(query, n, sl.Bounded(1), "L2") == math.sqrt(2)
    assert sensitivity(query, n, sl.Bounded(1), "Linf") == 1


# By group privacy, and attained: k records that move from one cell to another.
@pytest.mark.parametrize("k", [1, 2, 3])
def test_histograms_when_several_records_change(k):
    query = TABLES["categories"]
    assert sensitivity(query, 4, sl.Bounded(k), "L1") == 2 * k
    assert sensitivity(query, 4, sl.Bounded(k), "L2") == pytest.approx(k * math.sqrt(2), rel=1e-15)
    assert sensitivity(query, 4, sl.Bounded(k), "Linf") == k
    for norm in ("L1", "L2", "Linf"):
        assert sensitivity(query, 4, sl.Unbounded(k), norm) == k
        # A replacement counts 2 in the symmetric distance.
        assert sensitivity(query, 4, sl.SymmetricDifference(k), norm) == k


# "Global Sensitivity From Scratch", limitations: counts per group are 1 unbounded and 2 bounded.
# Its text says 1 for the bounded count of all records, its tables say 0, which is right.
@each_size
def test_the_articles_counts(n):
    groups = sl.GroupBy("sex", "count", groups=SEX)
    assert sensitivity(groups, n, sl.Unbounded(1)) == 1
    assert sensitivity(groups, n, sl.Bounded(1)) == 2
    assert sensitivity("count", n, sl.Unbounded(1)) == 1
    assert sensitivity("count", n, sl.Bounded(1)) == 0


# Programming Differential Privacy, chapter Sensitivity: a count of the rows with a property has
# sensitivity 1 when a row is added or removed; so it has when one is replaced.
@each_size
@pytest.mark.parametrize("relation", [sl.Bounded(1), sl.Unbounded(1), REMOVE_ONE, ADD_ONE])
def test_counting_queries(n, relation):
    assert sensitivity(sl.CountIf("age > 18"), n, relation) == 1
    assert sensitivity(sl.CountIf(lambda rows: rows["smokes"] == "yes"), n, relation) == 1


# As above: the sum of ages clipped to [0, 125] has sensitivity 125. The chapter's rule, the upper
# bound less the lower one, is that of a replacement: adding a row changes a sum clipped to [L, U]
# by up to max(|L|, |U|), which is the same for L = 0.
@each_size
@pytest.mark.parametrize(
    ("clip", "bounded", "unbounded"),
    [((0, 125), 125, 125), ((18, 65), 47, 65), ((0, 50), 50, 50), ((-40, 30), 30, 30)],
)
def test_clipped_sums(n, clip, bounded, unbounded):
    query = sl.SumOf("age", clip=clip)
    assert sensitivity(query, n, sl.Bounded(1)) == bounded
    assert sensitivity(query, n, sl.Unbounded(1)) == unbounded


# As above: an average released as a sum and a count. Its text adds up two privacy costs; released
# together, the two answers differ by at most the sum of their sensitivities in L1.
@each_size
def test_a_sum_and_a_count_released_together(n):
    query = sl.Stack(sl.SumOf("age", clip=(0, 125)), sl.Count())
    assert sensitivity(query, n, sl.Bounded(1)) == 125
    assert sensitivity(query, n, sl.Unbounded(1)) == 126
    assert sensitivity(query, n, sl.Unbounded(1), "L2") == math.hypot(125, 1)
    assert sensitivity(query, n, sl.Unbounded(1), "Linf") == 125


# DPpack R/DataAccess.R, meanDataAccess: (U - L) / n, bounded and unbounded.
@each_size
def test_means(n):
    assert sensitivity(sl.MeanOf("age"), n, sl.Bounded(1)) == F(125, n)
    assert sensitivity(sl.MeanOf("age"), n, REMOVE_ONE) == F(125, n)


# DPpack R/DataAccess.R, covDataAccess, citing Liu (2019): for R's cov, which divides by n - 1, on
# [L1, U1] x [L2, U2] it is (U1 - L1) (U2 - L2) / n, bounded and unbounded; so the population
# covariance, smaller by (n - 1) / n for both datasets of n records, has (n - 1) / n^2, as the
# variance has. Both are attained at the corners. Removing one leaves n - 1 records, so for ddof=0
# the two covariances are not smaller by one factor, and the oracle says that it is the same.
RECTANGLES = [((0, 1), (0, 1)), ((5, 10), (-2, 3)), ((0, 5), (-5, 0))]
each_rectangle = pytest.mark.parametrize(("a", "b"), RECTANGLES)


def area(a, b) -> int:
    return (a[1] - a[0]) * (b[1] - b[0])


def rectangle(a, b) -> sl.TableUniverse:
    return sl.TableUniverse.from_domain({"a": list(a), "b": list(b)})


@pytest.mark.representative("n", quick=())
@each_rectangle
@pytest.mark.parametrize("n", range(2, 6))
def test_closed_form_of_the_covariance(a, b, n):
    universe = rectangle(a, b)
    for ddof, expected in ((0, F(area(a, b) * (n - 1), n * n)), (1, F(area(a, b), n))):
        query = sl.Covariance("a", "b", ddof=ddof)
        assert sensitivity(query, n, sl.Bounded(1), universe=universe) == expected
        if n - 1 > ddof:
            assert sensitivity(query, n, REMOVE_ONE, universe=universe) == expected


@pytest.mark.parametrize("n", [2, 3])
def test_the_covariance_is_no_larger_inside_the_rectangle(n):
    """The corners are enough: a finer domain has the same sensitivity."""
    universe = sl.TableUniverse.from_domain({"a": [0, 0.5, 1], "b": [0, 0.25, 1]})
    query = sl.Covariance("a", "b")
    for relation in (sl.Bounded(1), REMOVE_ONE):
        assert sensitivity(query, n, relation, universe=universe) == F(n - 1, n * n)


# The covariance of a column with itself is the variance, whose closed form is published.
@pytest.mark.parametrize("n", range(2, 6))
def test_the_covariance_of_a_column_with_itself(n):
    universe = sl.TableUniverse.from_domain({"a": [0, 10]})
    for relation in (sl.Bounded(1), REMOVE_ONE):
        found = sensitivity(sl.Covariance("a", "a"), n, relation, universe=universe)
        assert found == F(100 * (n - 1), n * n)
