"""Variance and standard deviation where some records are removed and another number added."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracle
import pytest

import sensitivity_lab as sl
from sensitivity_lab.search.layouts import Shape
from sensitivity_lab.search.variance import core_at_ends, mixed, windows
from sensitivity_lab.search.variance.comparing import Spread
from sensitivity_lab.search.variance.core_at_ends import any_at_ends, search_at_ends
from sensitivity_lab.search.variance.float_prefix_sums import SortedRecords
from sensitivity_lab.search.variance.mixed import Reached
from sensitivity_lab.search.variance.patterns import PatternSearch


def records_of(values: list[int]) -> SortedRecords:
    middle, distinct = sorted(values)[len(values) // 2], sorted(set(values))
    centered = np.array([value - middle for value in distinct], dtype=object)
    return SortedRecords(centered, [values.count(value) for value in distinct])


def read(search: PatternSearch, total: int) -> str:
    """The label of each record."""
    labels = ["O"] * total
    for label in "ABC":
        for start, stop in search.best.ranges(label):
            labels[start:stop] = label * (stop - start)
    return "".join(labels)


ROWS = [82, 86, 117, 258, 779, 1626, 1657, 1938, 1992, 2357, 2360, 14408]
"""The optimum has a record of A between the core and a record outside both datasets."""


@pytest.mark.parametrize("few", [0, 2048])
@pytest.mark.parametrize("turned", [False, True])
def test_o_may_lie_between_two_records_of_a(few, turned, monkeypatch):
    monkeypatch.setattr(windows, "FEW", few)
    values, shape = [-row for row in ROWS] if turned else ROWS, Shape(6, 2, 3, 12)
    search = PatternSearch(records_of(values), Spread(Fraction(0), root=False), any_at_ends(shape))
    search_at_ends(search, shape)
    word = read(search, 12)
    assert (word[::-1] if turned else word) == "CCCCCCBBBAOA"
    # Of x = C + A and y = C + B, from the definition.
    x, y = (
        [row for row, label in zip(ROWS, "CCCCCCBBBAOA", strict=True) if label in own]
        for own in ("CA", "CB")
    )
    expected = oracle.evaluate(("var", 0), x) - oracle.evaluate(("var", 0), y)
    assert search.value.bracket()[0] <= expected <= search.value.bracket()[1]


def two_clusters(number: int) -> list[float]:
    draw = np.random.default_rng(0)
    return (draw.choice([-1, 1], number) + draw.normal(size=number) / 100).tolist()


def test_a_root_without_a_proof_is_refused_with_the_reason():
    with pytest.raises(sl.errors.NoEngineError) as caught:
        sl.global_sensitivity(
            sl.Universe.from_dataset(two_clusters(60)),
            "std",
            size=55,
            neighbors=sl.SymmetricDifference(3, exactly=True),
            method="variance",
        )
    assert str(caught.value) == (
        "no engine accepts std here: variance does not cover std, symmetric difference, exactly 3: "
        "not proved for 1 record of one dataset and 2 of the other, where the smaller dataset may "
        "have the larger standard deviation; ask for var, or choose a smaller universe, which can "
        "be enumerated"
    )


def test_a_root_without_a_proof_is_enumerated_where_few_records_are():
    universe = sl.Universe.from_dataset([*range(-106, -99), *range(100, 107)])
    relation = sl.SymmetricDifference(3, exactly=True)
    one, other = (
        sl.global_sensitivity(universe, query, size=12, neighbors=relation)
        for query in ("std", "var")
    )
    assert (one.method, other.method) == ("enumeration", "variance")
    one.verify()


@pytest.mark.parametrize("query", ["var", "std"])
def test_a_bound_leaves_out_what_the_smaller_set_reaches(query, monkeypatch):
    """Of a large universe, only pairs whose larger set is more spread are looked at."""
    asked = []
    monkeypatch.setattr(mixed, "search_at_ends", lambda *of: asked.append(of))
    records = np.random.default_rng(1).lognormal(size=5_000)
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(records),
        query,
        size=2_500,
        neighbors=sl.SymmetricDifference(4),
        method="variance",
    )
    result.verify()
    assert not asked


@pytest.mark.exhaustive
def test_what_skips_the_smaller_set_is_a_bound():
    """`surely_below` says so only if the search finds less."""
    draw, skipped = np.random.default_rng(3), 0
    for trial in range(30):
        values = np.sort(draw.integers(-99, 99, 9) ** draw.choice([1, 3])).tolist()
        core, of_a = int(draw.integers(1, 5)), int(draw.integers(1, 3))
        shape, spread = Shape(core, of_a, of_a + 1, 9), Spread(Fraction(0), root=bool(trial % 2))
        if core + 2 * of_a + 1 > 9:
            continue
        search = PatternSearch(records_of(values), spread, any_at_ends(shape))
        found = PatternSearch(records_of(values), spread, any_at_ends(shape))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(core_at_ends, "surely_below", lambda *_: False)
            search_at_ends(found, shape)
        for share in (0.5, 0.9, 1.0, 1.1, 2.0, 5.0):
            search.least = found.floor() * np.longdouble(share)
            below = core_at_ends.surely_below(search, shape)
            assert not below or share > 1.0
            skipped += below
    assert skipped


def test_the_bound_of_the_root_counts_pairs_of_earlier_shapes():
    records = records_of([round(1000 * record) for record in two_clusters(60)])
    reached = Reached(records, Spread(Fraction(0), root=True))
    assert not reached.enough(Shape(54, 2, 1, 60))
    reached.least = np.longdouble(1e9)
    assert reached.enough(Shape(54, 2, 1, 60))
    assert not Reached(records, Spread(Fraction(0), root=True)).enough(Shape(54, 2, 1, 60))
    # Without a core, or records outside both, there is nothing to exclude.
    assert Reached(records, Spread(Fraction(0), root=True)).enough(Shape(57, 2, 1, 60))
    assert Reached(records, Spread(Fraction(0), root=True)).enough(Shape(0, 2, 1, 60))


@pytest.mark.parametrize(
    ("records", "query", "size", "relation"),
    [
        ([0, 0, 0, 1, 1, 50], "var", 3, sl.SymmetricDifference(3, exactly=True)),
        ([-1, -1, 0, 0, 1, 1], sl.Var(ddof=1), 3, sl.Edit(2, exactly=True)),
        pytest.param(
            *(ROWS, "var", 8, sl.SymmetricDifference(5, exactly=True)), marks=pytest.mark.exhaustive
        ),
        # Integers in the unit of the smallest record exceed the range of floats.
        ([0.0, 0.0, 0.0, 0.0, 1.0, 1.4272652227082345e-294], "std", 4, sl.Edit(2)),
        ([0.0, 0.0, 0.0, 0.0, 1.0, 1.4272652227082345e-294], "var", 4, sl.Edit(2)),
    ],
)
def test_what_patterns_find_is_what_listing_finds(records, query, size, relation):
    universe = sl.Universe.from_dataset(records)
    found, listed = (
        sl.global_sensitivity(universe, query, size=size, neighbors=relation, method=method)
        for method in ("variance", "enumeration")
    )
    assert (found.value, found.exact) == (listed.value, listed.exact)
    found.verify()
