"""A caller's own datasets with a metric or neighbors, beside the definition in plain Python."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab import spaces
from sensitivity_lab.errors import VerificationError

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
    return number, apart, answers, draw(DISTANCES.filter(bool))


@given(problems(), st.sampled_from(list(NORMS)), st.integers(0, 5))
def test_any_metric_beside_the_definition(problem, norm, place):
    number, apart, answers, k = problem

    def distance(x, y):
        return 0 if x == y else apart[min(x, y), max(x, y)]

    def near(d):
        return d <= k

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
    related = spaces.Within(k)
    expected = naive_largest(number, distance, answers.__getitem__, norm, near)
    if expected is None:
        refused_with(
            lambda: spaces.global_sensitivity(space, query, neighbors=related, norm=norm),
            r"^no two datasets are",
        )
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
    )
    assert [point.value for point in curve] == [1, 2, 3, 3, 3, 3]


def gap(a, b):
    return abs(a - b)


GRAPHS, WORDS = spaces.graphs(4, "node"), spaces.sequences("ab", 4, "insert_delete")


@pytest.mark.parametrize(
    ("space", "query", "k"),
    [
        (spaces.Space(itertools.permutations("abcd"), exchanges), lambda x: x.index("b"), 3),
        (spaces.graphs(4, "edge"), "degree_histogram", 1),
        (GRAPHS, "degree_histogram", 1),
        (WORDS, "changes", 2),
        (spaces.sequences((-1, 0.5, 4), 3, "hamming"), "changes", 2),
    ],
)
def test_blocks_change_nothing(space, query, k, monkeypatch):
    whole = spaces.sensitivity_curve(space, query, distances=range(1, k + 1))
    monkeypatch.setattr("sensitivity_lab.spaces.space_sensitivity._BLOCK", 5)
    monkeypatch.setattr("sensitivity_lab.spaces.nearness._CELLS", 7)
    parts = spaces.sensitivity_curve(space, query, distances=range(1, k + 1))
    for one, other in zip(whole, parts, strict=True):
        assert (one.value, one.witness, one.pairs) == (other.value, other.witness, other.pairs)


@pytest.mark.parametrize(
    ("space", "query", "k", "others"),
    [
        (spaces.Space([0, 1, 3], gap), lambda x: x * x, 2, [spaces.Space([0, 3], gap)]),
        (GRAPHS, "triangles", 1, [spaces.graphs(4, "edge"), spaces.graphs(3, "node")]),
        (
            *(WORDS, "changes", 1),
            [spaces.sequences("ab", 3, "hamming"), spaces.sequences("ab", 1, "insert_delete")],
        ),
    ],
)
def test_what_holds_in_one_space_does_not_in_another(space, query, k, others):
    found = spaces.global_sensitivity(space, query, neighbors=spaces.Within(k))
    changes = [{"space": other} for other in others]
    if k > 1:
        changes.append({"neighbors": spaces.Within(1)})
    for change in changes:
        with pytest.raises(VerificationError):
            replace(found, **change).verify()


def test_each_dataset_is_asked_about_once():
    """Also where a curve has many distances; but for the sample that is asked again."""
    asked = []

    def recorded(word):
        asked.append(word)
        return len(word)

    words = ["".join(some) for n in range(5) for some in itertools.product("ab", repeat=n)]
    assert len(words) == 31
    space = spaces.Space(words, lambda a, b: abs(len(a) - len(b)))
    spaces.sensitivity_curve(space, recorded, distances=[1, 2, 3])
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
    for space, query, dataset in (
        (spaces.graphs(4, "edge"), "triangles", None),
        (spaces.graphs(4, "node"), "triangles", path),
        (spaces.sequences("ab", 4, "insert_delete"), "changes", None),
        (spaces.sequences("ab", 4, "insert_delete"), "changes", "ab"),
    ):
        curve = spaces.sensitivity_curve(space, query, distances=[1, 3, 2], dataset=dataset)
        for found, k in zip(curve, [1, 3, 2], strict=True):
            asked = {"neighbors": spaces.Within(k)}
            if dataset is None:
                alone = spaces.global_sensitivity(space, query, **asked)
            else:
                alone = spaces.local_sensitivity(space, query, dataset=dataset, **asked)
            assert (found.value, found.witness) == (alone.value, alone.witness)
            found.verify()


RELATED = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.sets(st.sampled_from(list(itertools.combinations(range(n), 2))), min_size=1),
        st.lists(st.integers(-9, 9), min_size=n, max_size=n),
    )
)


@given(RELATED, st.integers(1, 4), st.integers(0, 6))
def test_any_neighbors_beside_the_definition(problem, k, place):
    """The distance is the fewest steps, by paths of Floyd and Warshall."""
    number, pairs, answers = problem
    steps = [[0 if i == j else math.inf for j in range(number)] for i in range(number)]
    for i, j in pairs:
        steps[i][j] = steps[j][i] = 1
    for between, i, j in itertools.product(range(number), repeat=3):
        steps[i][j] = min(steps[i][j], steps[i][between] + steps[between][j])

    def neighbors(x):
        for y in range(number):
            if steps[x[0]][y] == 1:
                yield from ([y], [y])  # twice is once

    def near(distance):
        return distance <= k

    space = spaces.Space([[one] for one in range(number)], neighbors=neighbors)
    only, asked = place % number, {"neighbors": spaces.Within(k)}

    def query(x):
        return answers[x[0]]

    def far(x, y):
        return steps[x][y]

    as_list = [(answer,) for answer in answers]
    expected = naive_largest(number, far, as_list.__getitem__, "L1", near)
    found = spaces.global_sensitivity(space, query, **asked)
    close = sum(near(far(*pair)) for pair in itertools.combinations(range(number), 2))
    assert (found.value, found.pairs) == (expected, close)
    assert near(far(found.witness.x[0], found.witness.y[0]))
    found.verify()
    local = spaces.local_sensitivity(space, query, dataset=[only], **asked)
    naive = naive_largest(number, far, as_list.__getitem__, "L1", near, only)
    assert local.value == (naive or 0)
    local_pair = local.witness.x[0], local.witness.y[0]
    assert near(far(*local_pair)) or naive is None


def test_neighbors_and_their_metric_are_one_relation():
    """Exchanges of two that stand side by side make the distance of Kendall."""

    def exchanged(ranking):
        ranking = list(ranking)
        for i in range(3):
            yield (*ranking[:i], ranking[i + 1], ranking[i], *ranking[i + 2 :])

    every = list(itertools.permutations("abcd"))
    spaces_of_both = spaces.Space(every, exchanges), spaces.Space(every, neighbors=exchanged)
    for k in range(1, 7):
        one, other = (
            spaces.global_sensitivity(space, lambda x: x.index("a"), neighbors=spaces.Within(k))
            for space in spaces_of_both
        )
        assert (one.value, one.witness, one.pairs) == (other.value, other.witness, other.pairs)


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


def test_what_is_told():
    space = spaces.Space([(0,), (1, 2)], lambda a, b: abs(len(a) - len(b)))
    assert repr(space) == "Space(((0,), (1, 2)), the metric)"
    found = spaces.global_sensitivity(space, len, neighbors=spaces.Within(0.5 + 0.5))
    assert repr(found).splitlines() == [
        "Sensitivity of len: 1 (exact)",
        "  neighbors  distance at most 1.0 by the metric; 2 datasets",
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
    refused_with(
        lambda: sl.noise.laplace_scale(found["Linf"], 1),
        "in the norm Linf, and Laplace noise needs L1",
    )
    local = spaces.local_sensitivity(space, itself, dataset=(0, 0), neighbors=spaces.Within())
    refused_with(
        lambda: sl.noise.laplace_scale(local, 1),
        "a local sensitivity, which depends on the dataset",
    )


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
    refused(
        lambda: sl.noise.noise_table(results, epsilon=1),
        "results: 'b' is for neighbors distance at most 1 by the metric differences, 'c' for "
        "distance at most 1 by the metric, and privacy losses add up only for one relation; "
        "compute all sensitivities with the same neighbors",
    )
