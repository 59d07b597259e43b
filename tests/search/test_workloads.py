"""Workloads: the engine against the definition, and matrices whose sensitivity is known."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations_with_replacement, pairwise

import numpy as np
import pandas as pd
import pytest
from checks import refused_with

import sensitivity_lab as sl
from sensitivity_lab.errors import TooLargeError

NORMS = ("L1", "L2", "Linf")

RELATIONS = {
    "bounded": sl.Bounded,
    "unbounded": sl.Unbounded,
    "symmetric": sl.SymmetricDifference,
    "edit": sl.Edit,
}

ENTRIES = {
    "flags": (0, 1),
    "signs": (-1, 0, 1),
    "floats": (0.0, 0.1, 0.3, -0.7, 1 / 3),
    "whole": tuple(range(-5, 6)),
    "sparse": (0, 0, 0, 0, 2, -1),
}


def rows_of(name, m):
    """Return the matrix of a constructor as its definition says."""
    if name == "ranges":
        return [[int(a <= c <= b) for c in range(m)] for a in range(m) for b in range(a, m)]
    if name == "prefix_sums":
        return [[int(c <= b) for c in range(m)] for b in range(m)]
    if name == "identity":
        return np.eye(m, dtype=int).tolist()
    if name == "haar":
        return {1: [[1]], 2: [[1, 1], [1, -1]]}.get(
            m, [[1] * 4, [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]]
        )
    rows, level = [], [[c] for c in range(m)]
    while True:
        rows += [[int(c in node) for c in range(m)] for node in level]
        if len(level) == 1:
            return rows
        level = [list(chain(*level[at : at + 2])) for at in range(0, len(level), 2)]


def by_definition(rows, values, relation, size, k, norm):
    """Return the largest distance of answers (for L2 its square) over all pairs of datasets."""

    def answer(data):
        counts = [data.count(c) for c in range(len(rows[0]))]
        return [sum(Fraction(e) * n for e, n in zip(row, counts, strict=True)) for row in rows]

    best = Fraction(0)
    for x in combinations_with_replacement(values, size):
        for other in range(max(0, size - k), size + k + 1):
            for y in combinations_with_replacement(values, other):
                removed = (Counter(x) - Counter(y)).total()
                added = (Counter(y) - Counter(x)).total()
                near = {
                    "bounded": removed == added <= k,
                    "unbounded": min(removed, added) == 0 < max(removed, added) <= k,
                    "symmetric": removed + added <= k,
                    "edit": max(removed, added) <= k,
                }
                if near[relation]:
                    gaps = [abs(a - b) for a, b in zip(answer(x), answer(y), strict=True)]
                    far = {"L1": sum(gaps), "L2": sum(g * g for g in gaps), "Linf": max(gaps)}
                    best = max(best, far[norm])
    return best


def check(seed):
    """Compare one random workload with the definition; the witness attains what is told."""
    draw = random.Random(seed)
    name = draw.choice(["array", "array", "function", "ranges", "prefix_sums", "tree", "haar"])
    m = draw.choice([1, 2, 4] if name == "haar" else [1, 2, 3, 4])
    if name in ("array", "function"):
        entries = ENTRIES[draw.choice(sorted(ENTRIES))]
        rows = [[draw.choice(entries) for _ in range(m)] for _ in range(draw.randint(1, 5))]
        given = rows if name == "array" else lambda c: [row[c] for row in rows]
        workload = sl.Workload(given, range(m))
    else:
        rows, workload = rows_of(name, m), getattr(sl.Workload, name)(range(m))
    values = [*range(draw.randint(0, m > 2), m), *[m + 3] * draw.randint(0, 1)]
    relation, norm, k = draw.choice(sorted(RELATIONS)), draw.choice(NORMS), draw.randint(1, 2)
    size = draw.randint(k, 3)
    result = sl.global_sensitivity(
        sl.Universe.from_domain(values), workload, size=size, neighbors=RELATIONS[relation](k),
        norm=norm, method="workloads",
    )  # fmt: skip
    best = by_definition(rows, values, relation, size, k, norm)
    x, y = result.witness.query_x, result.witness.query_y
    gap = np.linalg.norm(np.subtract(x, y), {"L1": 1, "L2": 2, "Linf": np.inf}[norm])
    assert gap == pytest.approx(result.value, abs=1e-12)
    if norm == "L2":
        assert result.value**2 == pytest.approx(float(best), rel=1e-12)
    else:
        assert result.exact == best


@pytest.mark.parametrize("seed", range(40))
def test_random_workloads_are_as_the_definition_says(seed):
    check(seed)


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(40, 1000))
def test_more_random_workloads(seed):
    check(seed)


@pytest.mark.parametrize("norm", NORMS)
def test_listed_records_are_searched_as_sums(norm):
    rows = [[1, -2, 0], [0.5, 0, 3]]
    listed = sl.Universe.from_dataset([0, 1, 1, 2])
    found = sl.global_sensitivity(
        listed, sl.Workload(rows, [0, 1, 2]), size=2, neighbors="bounded", norm=norm
    )
    assert found.method == "row_sums"
    answers = np.array(rows).T
    far = [np.linalg.norm(a - b, {"L1": 1, "L2": 2, "Linf": np.inf}[norm])
           for a in answers for b in answers]  # fmt: skip
    assert found.value == pytest.approx(max(far))


def test_known_sensitivities_at_size():
    def found(workload, neighbors, norm="L1"):
        domain = sl.Universe.from_domain(range(workload.shape[1]))
        return sl.global_sensitivity(
            domain, workload, size=5, neighbors=neighbors, norm=norm, method="workloads"
        )

    of_ranges = sl.Workload.ranges(range(300))
    assert of_ranges.shape == (300 * 301 // 2, 300)
    # The middle category is in the most intervals.
    assert found(of_ranges, "unbounded").exact == 150 * 151
    tree = sl.Workload.tree(range(1 << 14))
    # All 15 levels count a record; a replaced one stays in the root.
    assert found(tree, "unbounded").exact == 15
    assert found(tree, "bounded").exact == 28
    assert found(tree, "bounded", "L2").value == 28**0.5
    haar = sl.Workload.haar(range(1 << 14))
    assert (found(haar, "unbounded").exact, found(haar, "bounded").exact) == (15, 28)
    sums = sl.Workload.prefix_sums(range(10**5))
    assert found(sums, sl.Bounded(2)).exact == 2 * (10**5 - 1)


@pytest.mark.opendp
@pytest.mark.parametrize(("leaves", "branching"), [(2, 2), (10, 2), (16, 4), (9, 3), (100, 5)])
def test_a_tree_has_the_sensitivity_that_opendp_states(leaves, branching):
    dp = pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i32"), leaves)
    tree = dp.t.make_b_ary_tree(domain, dp.l1_distance(T="i32"), leaves, branching)
    workload = sl.Workload.tree(range(leaves), branching=branching)
    found = sl.global_sensitivity(
        sl.Universe.from_domain(range(leaves)), workload, size=5, neighbors="unbounded"
    )
    assert found.exact == tree.map(1)


def test_tables_have_their_categories_in_columns():
    table = {"sex": ["f", "m"], "age": [20, 30, 40]}
    universe = sl.TableUniverse.from_domain(table)
    prefixes = sl.Workload.prefix_sums([20, 30, 40], "age")
    frame = pd.DataFrame({"sex": ["f", "m", "m"], "age": [20, 40, 20]})
    assert prefixes(frame) == (2.0, 2.0, 3.0)
    asked = {"size": 4, "neighbors": "bounded", "method": "workloads"}
    assert sl.global_sensitivity(universe, prefixes, **asked).exact == 2
    pairs = sl.Workload.marginals(table, 1)
    assert pairs.shape == (5, 6)
    assert pairs(frame) == (1.0, 2.0, 2.0, 0.0, 1.0)
    found = sl.global_sensitivity(universe, pairs, **asked)
    assert found.exact == 4
    assert sl.Workload.marginals(table, 2).shape == (6, 6)
    assert sl.noise.noise_table({"pairs": found}, epsilon=1).rows[0].scale == 4


def test_numbers_that_are_no_category_count_nothing():
    workload = sl.Workload.prefix_sums([1, 2, 5])
    assert workload([1, 5, 5, 7]) == (1.0, 1.0, 3.0)
    assert workload([]) == (0.0, 0.0, 0.0)
    assert [b - a for a, b in pairwise((0, *workload([1, 2, 2, 5])))] == [1, 2, 1]


def test_what_is_no_matrix_is_refused():
    wrong = "^matrix must be a matrix of finite floats or whole numbers below 2"
    for given in ("matrix", [1, 2], [[1, float("nan")]], [["a", "b"]], [[2**53 + 1, 0]], [[]]):
        refused_with(lambda given=given: sl.Workload(given, [0, 1]), wrong)
    refused_with(
        lambda: sl.Workload([[1, 2, 3]], [0, 1]),
        "^matrix must have a column for each of the 2 categories, got 3 columns$",
    )
    refused_with(
        lambda: sl.Workload.haar(range(6)), "^haar takes a power of two of categories, got 6$"
    )
    refused_with(
        lambda: sl.global_sensitivity(
            sl.TableUniverse.from_domain({"age": [1, 2]}),
            sl.Workload([[1, 2]], [1, 2]),
            size=2,
            neighbors="bounded",
        ),
        "is a query on numbers, and the universe has rows",
    )


def test_too_many_near_pairs_are_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr("sensitivity_lab.search.workloads.MOST_STEPS", 1000)
    # The bounds of mixed signs do not close for L2.
    with pytest.raises(
        TooLargeError, match="so nearly alike that too many pairs would be compared"
    ):
        sl.global_sensitivity(
            sl.Universe.from_domain(range(256)), sl.Workload.haar(range(256)), size=2,
            neighbors="bounded", norm="L2", method="workloads",
        )  # fmt: skip


def test_marginals_are_of_some_of_the_columns():
    refused_with(
        lambda: sl.Workload.marginals({"a": [1, 2]}, 2),
        "^order must be a whole number .*, got 2$",
    )


def test_entries_whose_squares_no_float_holds_are_refused():
    """The sensitivity was 0."""
    for rows in ([[1e200, 1.0]], [[1e300, 5e-324]]):
        refused_with(lambda rows=rows: sl.Workload(rows, [0, 1]), "^matrix has entries that are ")


def test_categories_of_several_columns_are_read_as_those_of_one():
    frame = pd.DataFrame({"a": [1, np.nan, 2], "b": ["x", "y", "x"]})
    universe = sl.TableUniverse.from_domain(frame, allow_missing=True)
    asked = {"size": 2, "neighbors": "unbounded"}
    for missing in (np.nan, None, pd.NA):
        counted = sl.Workload.marginals({"a": iter([missing]), "b": ["y"]}, 1)
        assert sl.global_sensitivity(universe, counted, **asked).exact == 2
        counted = sl.Workload([[1]], [(missing, "y")], ["a", "b"])
        assert sl.global_sensitivity(universe, counted, **asked).exact == 1
    refused_with(
        lambda: sl.Workload([[1]], [(1, 2, 3)], ["a", "b"]),
        "^categories must have a value of each column",
    )


def test_categories_that_no_record_can_have_are_refused():
    asked = {"size": 2, "neighbors": "unbounded"}
    table = sl.TableUniverse.from_domain({"a": [1, 2], "b": [1, 2]})
    refused_with(
        lambda: sl.global_sensitivity(
            table, sl.Workload.marginals({"a": ["1", "2"], "b": [1, 2]}, 1), **asked
        ),
        "^categories '1', '2' cannot occur in a record: column 'a' has numbers",
    )
    refused_with(
        lambda: sl.global_sensitivity(
            sl.Universe.from_domain([1, 2]), sl.Workload.identity(["1", "2"]), **asked
        ),
        "^categories '1', '2' cannot occur in a record: column 'x' has numbers",
    )


def test_matrices_that_floats_round_are_refused():
    wrong = "^matrix must be a matrix of finite floats or whole numbers below 2"
    long = 1 + np.longdouble(2) ** -60
    given = [lambda c: [1] * (c + 1), [[1j, 1]]]
    if long != 1:  # else long floats are floats here
        given.append(np.array([[long, 1]]))
    for matrix in given:
        refused_with(lambda matrix=matrix: sl.Workload(matrix, [0, 1]), wrong)
