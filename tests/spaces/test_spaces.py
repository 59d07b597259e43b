"""A caller's own datasets with a metric, beside the definition in plain Python."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab import spaces
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.spaces import graphs, sequences

NORMS = {
    "L1": lambda v: sum(map(abs, v)),
    "L2": lambda v: math.sqrt(sum(one * one for one in v)),
    "Linf": lambda v: max(map(abs, v)),
}


def naive_largest(number, distance, answer, norm, near, only=None):
    """The largest difference over all neighbors, by the numbers of the datasets; None without."""
    gaps = [
        NORMS[norm]([a - b for a, b in zip(answer(x), answer(y), strict=True)])
        for x in (range(number) if only is None else [only])
        for y in range(number)
        if x != y and near(distance(x, y))
    ]
    return max(gaps, default=None)


NUMBERS = st.one_of(
    st.integers(-9, 9), st.fractions(-3, 3, max_denominator=6), st.integers(10**20, 10**20 + 5)
)
DISTANCES = st.sampled_from([0, 1, 2, 3, 0.5, Fraction(1, 3), 0.1, 10**18])


@st.composite
def problems(draw):
    """Distances with no triangle inequality, answers of one width, and a distance k."""
    number = draw(st.integers(2, 6))
    pairs = list(itertools.combinations(range(number), 2))
    apart = dict(zip(pairs, draw(st.tuples(*[DISTANCES] * len(pairs))), strict=True))
    width = draw(st.integers(1, 3))
    answers = draw(st.tuples(*[st.tuples(*[NUMBERS] * width)] * number))
    return number, apart, answers, draw(DISTANCES.filter(bool)), draw(st.booleans())


@given(problems(), st.sampled_from(list(NORMS)), st.integers(0, 5))
def test_any_metric_beside_the_definition(problem, norm, place):
    number, apart, answers, k, exactly = problem

    def distance(x, y):
        return 0 if x == y else apart[min(x, y), max(x, y)]

    def near(d):
        return d == k if exactly else d <= k

    def metric(a, b):
        return distance(a[0], b[0])

    def query(x):
        return answers[x[0]]

    def check(found, expected):
        assert found.value == pytest.approx(float(expected), rel=1e-14)
        x, y = found.witness.x[0], found.witness.y[0]
        gap = NORMS[norm]([a - b for a, b in zip(answers[x], answers[y], strict=True)])
        assert gap == expected
        assert norm == "L2" or found.exact == expected
        assert x == y or near(distance(x, y))
        found.verify()

    space = spaces.Space([[one] for one in range(number)], metric)  # lists have no hash
    assert space.distances == tuple(sorted(set(apart.values())))
    related = spaces.Within(k, exactly=exactly)
    expected = naive_largest(number, distance, answers.__getitem__, norm, near)
    if expected is None:
        with pytest.raises(sl.errors.InputError, match=r"^no two datasets are"):
            spaces.global_sensitivity(space, query, neighbors=related, norm=norm)
        return
    found = spaces.global_sensitivity(space, query, neighbors=related, norm=norm)
    check(found, expected)
    assert found.pairs == sum(map(near, apart.values()))
    assert found.datasets_evaluated == number
    only = place % number
    local = spaces.local_sensitivity(space, query, dataset=[only], neighbors=related, norm=norm)
    naive = naive_largest(number, distance, answers.__getitem__, norm, near, only)
    assert local.witness.x == [only]
    if naive is None:
        assert (local.value, local.witness.y, local.pairs) == (0, [only], 0)
        if not exactly:
            local.verify()
    else:
        check(local, naive)


def exchanges(a, b):
    """The distance of Kendall: in how many pairs two rankings differ."""
    pairs = itertools.combinations(sorted(a), 2)
    return sum((a.index(i) < a.index(j)) != (b.index(i) < b.index(j)) for i, j in pairs)


def test_rankings():
    """An exchange of two neighbors moves a place by one, and all places by two in L1."""
    rankings = spaces.Space(itertools.permutations("abcd"), exchanges)
    assert rankings.distances == tuple(range(1, 7))

    def places(ranking):
        return [ranking.index(one) for one in "abcd"]

    for norm, value in (("L1", 2), ("L2", math.sqrt(2)), ("Linf", 1)):
        found = spaces.global_sensitivity(rankings, places, neighbors=spaces.Within(), norm=norm)
        assert found.value == value
        found.verify()
    curve = spaces.sensitivity_curve(
        rankings,
        lambda ranking: ranking.index("a"),
        distances=rankings.distances,
        neighbors=spaces.Within(),
    )
    assert [point.value for point in curve.results] == [1, 2, 3, 3, 3, 3]
    assert curve.to_frame()["distance"].tolist() == list(range(1, 7))
    assert "distance, at most k" in repr(curve)
    assert curve.plot().axes[0].get_xlabel() == "distance k"


def test_blocks_change_nothing(monkeypatch):
    rankings = spaces.Space(itertools.permutations("abcd"), exchanges)
    asked = {"distances": rankings.distances, "neighbors": spaces.Within()}
    whole = spaces.sensitivity_curve(rankings, lambda ranking: ranking.index("b"), **asked)
    monkeypatch.setattr("sensitivity_lab.spaces.search._BLOCK", 5)
    monkeypatch.setattr("sensitivity_lab.spaces.listed._SCANNED", 7)
    parts = spaces.sensitivity_curve(rankings, lambda ranking: ranking.index("b"), **asked)
    for one, other in zip(whole.results, parts.results, strict=True):
        assert (one.value, one.witness, one.pairs) == (other.value, other.witness, other.pairs)


def test_each_dataset_is_asked_about_once():
    """Also where a curve has many distances; but for the sample that is asked again."""
    asked = []

    def recorded(word):
        asked.append(word)
        return len(word)

    words = ["".join(some) for n in range(5) for some in itertools.product("ab", repeat=n)]
    assert len(words) == 31
    space = spaces.Space(words, lambda a, b: abs(len(a) - len(b)))
    spaces.sensitivity_curve(space, recorded, distances=[1, 2, 3], neighbors=spaces.Within())
    assert asked == [*words, *reversed(words)]


def test_the_metric_is_called_on_every_pair_in_both_orders():
    called = []

    def metric(a, b):
        called.append((a, b))
        return abs(a - b)

    spaces.Space([0, 1, 5], metric)
    assert sorted(called) == sorted(itertools.product([0, 1, 5], repeat=2))


def test_curves_of_graphs_and_sequences():
    path = [(0, 1), (1, 2)]
    for universe, query, neighbors, dataset in (
        (graphs.GraphUniverse(4), "triangles", graphs.EdgeNeighbors(), None),
        (graphs.GraphUniverse(4), "triangles", graphs.EdgeNeighbors(), path),
        (graphs.GraphUniverse(4), "edges", graphs.NodeNeighbors(change="remove"), None),
        (sequences.SequenceUniverse("ab", 4), "changes", sequences.InsertDelete(), None),
        (sequences.SequenceUniverse("ab", 4), "changes", sequences.InsertDelete(), "ab"),
    ):
        curve = spaces.sensitivity_curve(
            universe, query, distances=[1, 3, 2], neighbors=neighbors, dataset=dataset
        )
        for found, k in zip(curve.results, [1, 3, 2], strict=True):
            asked = {"neighbors": neighbors.at(k)}
            if dataset is None:
                alone = spaces.global_sensitivity(universe, query, **asked)
            else:
                alone = spaces.local_sensitivity(universe, query, dataset=dataset, **asked)
            assert (found.value, found.witness, found.known) == (
                *(alone.value, alone.witness, alone.known),
            )
            found.verify()


def test_datasets_that_a_function_changes_are_not_changed():
    def hostile(basket):
        size = len(basket)
        basket.clear()
        return size

    baskets = [{"tea"}, {"tea", "milk"}]
    space = spaces.Space(baskets, lambda a, b: len(a ^ b))
    assert spaces.global_sensitivity(space, hostile, neighbors=spaces.Within()).value == 1
    assert baskets == [{"tea"}, {"tea", "milk"}]


def test_arrays_and_objects_are_datasets():
    arrays = spaces.Space([np.zeros(2), np.array([0.0, 1.0])], lambda a, b: abs(a - b).sum())
    found = spaces.local_sensitivity(arrays, np.sum, dataset=[0, 1], neighbors=spaces.Within())
    assert (found.value, found.arithmetic) == (1.0, "float")
    found.verify()

    class Thing:
        __hash__ = None

        def __eq__(self, other):
            raise ValueError

    things = [Thing(), Thing()]
    space = spaces.Space(things, lambda a, b: int(a is not b))
    found = spaces.local_sensitivity(
        space, lambda one: int(one is things[1]), dataset=things[1], neighbors=spaces.Within()
    )
    assert found.witness.x is things[1]


def test_what_is_stated_is_verified():
    space = spaces.Space([0, 1, 3], lambda a, b: abs(a - b))
    found = spaces.global_sensitivity(space, lambda x: x * x, neighbors=spaces.Within(2))
    found.verify()
    near = spaces.Space([0, 3], lambda a, b: abs(a - b))
    for change in (
        {"value": 3.0},
        {"neighbors": spaces.Within(1)},
        {"neighbors": spaces.Within(1, exactly=True)},
        {"universe": near},
        {"upper": None},
        {"witness": replace(found.witness, query_x=5)},
        {"witness": replace(found.witness, x=2)},
    ):
        with pytest.raises(VerificationError):
            replace(found, **change).verify()


def test_what_is_told():
    space = spaces.Space([(0,), (1, 2)], lambda a, b: abs(len(a) - len(b)))
    assert repr(space) == "Space(((0,), (1, 2)), the metric)"
    found = spaces.global_sensitivity(space, len, neighbors=spaces.Within(0.5 + 0.5))
    assert repr(found).splitlines() == [
        "Sensitivity of len: 1 (exact)",
        "  neighbors  distance at most 1.0; 2 datasets with the metric",
        "  x          (0,)  f(x) = 1",
        "  y          (1, 2)  f(y) = 2",
        "  method     enumeration: 2 datasets evaluated, 1 pairs of neighbors compared",
    ]
    told = found.to_dict()
    assert (told["neighbors"], told["meaning"], told["distance"]) == ("distance", "at most", 1)
    assert (told["size"], told["x"]) == ("2 datasets", (0,))


def test_noise_takes_what_it_may():
    space = spaces.Space([(0, 0), (0, 3), (4, 3)], lambda a, b: sum(map(int.__ne__, a, b)))

    def itself(x):
        return x

    found = {
        norm: spaces.global_sensitivity(space, itself, neighbors=spaces.Within(), norm=norm)
        for norm in NORMS
    }
    assert sl.noise.laplace_scale(found["L1"], 2) == 2
    assert sl.noise.gaussian_scale(found["L2"], 0.5) == 4
    with pytest.raises(sl.errors.InputError, match="in the norm Linf, and Laplace noise needs L1"):
        sl.noise.laplace_scale(found["Linf"], 1)
    local = spaces.local_sensitivity(space, itself, dataset=(0, 0), neighbors=spaces.Within())
    with pytest.raises(
        sl.errors.InputError, match="a local sensitivity, which depends on the dataset"
    ):
        sl.noise.laplace_scale(local, 1)
    far = spaces.global_sensitivity(space, itself, neighbors=spaces.Within(2, exactly=True))
    with pytest.raises(sl.errors.InputError, match="at a distance of exactly 2, and nearer ones"):
        sl.noise.laplace_scale(far, 1)
    nearest = spaces.global_sensitivity(space, itself, neighbors=spaces.Within(1, exactly=True))
    assert sl.noise.laplace_scale(nearest, 1) == 4


def test_noise_of_two_answers_is_for_one_metric():
    def differences(a, b):
        return abs(a - b)

    one, other = (
        spaces.Space([0, 1, 2], metric) for metric in (differences, lambda a, b: int(a != b))
    )
    near = {"neighbors": spaces.Within()}
    results = {
        "a": spaces.global_sensitivity(one, lambda x: x, **near),
        "b": spaces.global_sensitivity(one, lambda x: 2 * x, **near),
    }
    table = sl.noise.noise_table(results, epsilon=1)
    assert (table.neighbors, table.k, table.size) == (
        *("distance at most 1 by the metric differences", 1, "3 datasets"),
    )
    results["c"] = spaces.global_sensitivity(other, lambda x: x, **near)
    with pytest.raises(sl.errors.InputError) as caught:
        sl.noise.noise_table(results, epsilon=1)
    assert str(caught.value) == (
        "results: 'b' is for neighbors distance at most 1 by the metric differences, 'c' for "
        "distance at most 1 by the metric, and privacy losses add up only for one relation; "
        "compute all sensitivities with the same neighbors"
    )


def test_formulas_need_no_list_of_sequences():
    year = sequences.SequenceUniverse([0, 3, 10], longest=10**6)
    assert str(year) == "all sequences of 0 to 1000000 of 3 values"
    found = spaces.known_sensitivity(year, "longest_run", neighbors=sequences.InsertDelete())
    assert float(found) == 499_999
    far = {"neighbors": sequences.InsertDelete(10**6)}
    for call in (
        *(lambda: len(year), lambda: year.code([0]), lambda: year.sequence(1, 0)),
        lambda: spaces.global_sensitivity(year, "length", **far),
        lambda: spaces.local_sensitivity(year, "length", dataset=[], **far),
    ):
        with pytest.raises(
            sl.errors.TooLargeError, match=r"^longest must be at most 21, got 1000000"
        ):
            call()


def test_formulas_need_no_list_of_graphs():
    many = graphs.GraphUniverse(10**6)
    assert str(many) == "all 2**499999500000 graphs on 1000000 nodes"
    found = spaces.known_sensitivity(many, "triangles", neighbors=graphs.EdgeNeighbors())
    assert float(found) == 999_998
    assert many == graphs.GraphUniverse(10**6) != graphs.GraphUniverse(7)
    assert graphs.GraphUniverse(3, [(0, 1), (0, 2), (1, 2)]) == graphs.GraphUniverse(3)
    calls = [lambda: many.edges, lambda: len(many), lambda: many.mask([(0, 1)])]
    for neighbors in (
        *(graphs.EdgeNeighbors(2), graphs.NodeNeighbors(2)),
        graphs.NodeNeighbors(900_000, change="remove"),
    ):
        asked = {"neighbors": neighbors}
        calls.append(lambda asked=asked: spaces.global_sensitivity(many, "edges", **asked))
        calls.append(
            lambda asked=asked: spaces.local_sensitivity(many, "edges", dataset=[], **asked)
        )
    for call in calls:
        with pytest.raises(
            sl.errors.TooLargeError, match=r"^1000000 nodes have 499999500000 pairs"
        ):
            call()
