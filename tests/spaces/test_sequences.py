"""Sensitivities of sequences, beside the definitions in plain Python."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from sensitivity_lab import spaces
from sensitivity_lab.spaces import Within

# The oracle: a sequence is a tuple. One edit is made at a time, and neighbors are what k make.


def every_sequence(values, sizes):
    return [x for size in sizes for x in itertools.product(values, repeat=size)]


def inserted_or_deleted(x, values):
    for place in range(len(x)):
        yield x[:place] + x[place + 1 :]
    for place in range(len(x) + 1):
        for value in values:
            yield (*x[:place], value, *x[place:])


def replaced(x, values):
    for place in range(len(x)):
        for value in values:
            yield (*x[:place], value, *x[place + 1 :])


RELATIONS = {"insert_delete": inserted_or_deleted, "hamming": replaced}


def naive_neighbors(x, values, relation, k):
    """All that at most k edits make of x, of any length."""
    found = {x}
    for _ in range(k):
        found |= {y for some in found for y in RELATIONS[relation](some, values)}
    return found - {x}


def runs(x):
    return [len(list(group)) for _, group in itertools.groupby(x)]


def naive(values):
    """The queries by their names, as functions of a tuple; answers are lists."""
    return {
        "length": lambda x: [len(x)],
        "sum": lambda x: [sum(map(Fraction, x))],
        "distinct": lambda x: [len(set(x))],
        "counts": lambda x: [x.count(value) for value in values],
        "changes": lambda x: [max(len(runs(x)) - 1, 0)],
        "path_length": lambda x: [
            sum(abs(Fraction(a) - Fraction(b)) for a, b in itertools.pairwise(x))
        ],
        "longest_run": lambda x: [max(runs(x), default=0)],
    }


NORMS = {
    "L1": lambda v: sum(map(abs, v)),
    "L2": lambda v: math.sqrt(sum(one * one for one in v)),
    "Linf": lambda v: max(map(abs, v)),
}


def naive_largest(values, sizes, query, relation, k, norm="L1", only=None):
    """The largest difference over all neighbors x and y, or over those of one x."""
    f, inside = naive(values)[query], set(every_sequence(values, sizes))
    return max(
        (
            NORMS[norm]([a - b for a, b in zip(f(x), f(y), strict=True)])
            for x in (inside if only is None else [only])
            for y in naive_neighbors(x, values, relation, k) & inside
        ),
        default=0,
    )


QUERIES = list(naive(()))
NUMBERS = (-1, 0.5, 4)
UNIVERSES = [(NUMBERS, 3), (NUMBERS[:2], 4), (NUMBERS[:2], 1)]


def sizes_of(length, relation):
    return range(length if relation == "hamming" else 0, length + 1)


def check_beside_the_definition(values, length, most):
    for relation in RELATIONS:
        space, sizes = spaces.sequences(values, length, relation), sizes_of(length, relation)
        assert list(space.datasets) == every_sequence(values, sizes)
        for query, k in itertools.product(QUERIES, most):
            for norm in NORMS if query == "counts" else ("L1",):
                found = spaces.global_sensitivity(space, query, neighbors=Within(k), norm=norm)
                expected = naive_largest(values, sizes, query, relation, k, norm)
                assert found.value == pytest.approx(expected, rel=1e-15), (query, relation, k, norm)
                found.verify()


@pytest.mark.parametrize(("values", "length"), UNIVERSES)
def test_all_sequences_beside_the_definition(values, length):
    check_beside_the_definition(values, length, [1, 2])


@pytest.mark.exhaustive
@pytest.mark.parametrize(("values", "length"), [(NUMBERS, 3), (NUMBERS[:2], 4)])
def test_more_changes_beside_the_definition(values, length):
    check_beside_the_definition(values, length, [3, 4])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", QUERIES)
def test_one_sequence_beside_the_definition(query, relation):
    space, sizes = spaces.sequences(NUMBERS, 4, relation), sizes_of(4, relation)
    for x in ((), (4,), (0.5, 0.5, 0.5), (4, -1, 4, 0.5)):
        for k in (1, 2) if len(x) in sizes else ():
            found = spaces.local_sensitivity(space, query, dataset=x, neighbors=Within(k))
            assert found.value == naive_largest(NUMBERS, sizes, query, relation, k, only=x)
            assert found.witness.x == x
            found.verify()


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_neighbor_of_a_sequence_is_compared(relation, k):
    """Of each sequence, the search asks a function about its neighbors, and about no other one."""
    space = spaces.sequences("abc", 4, relation)
    for x in (("a",), ("a", "b", "a"), tuple("abca")):
        if len(x) not in sizes_of(4, relation):
            continue
        asked = set()

        def recorded(y, asked=asked):
            asked.add(y)
            return 0

        spaces.local_sensitivity(space, recorded, dataset=x, neighbors=Within(k))
        assert asked == naive_neighbors(x, "abc", relation, k) & set(space.datasets) | {x}


def test_what_is_known_of_trajectories():
    """One visit more: a place more, two changes, a detour of twice the way; half of a long stay."""
    trips = spaces.sequences([0, 3, 10], 7, "insert_delete")
    expected = {"length": 1, "distinct": 1, "changes": 2, "path_length": 20, "sum": 10}
    for query, value in {**expected, "longest_run": 3, "counts": 1}.items():
        assert spaces.global_sensitivity(trips, query, neighbors=spaces.Within(1)).value == value
    short = spaces.sequences([0, 3, 10], 2, "insert_delete")  # the second entry is the last
    assert spaces.global_sensitivity(short, "path_length", neighbors=spaces.Within(1)).value == 10


def test_events_and_users_of_a_time_series():
    """An event is in one bin, a replaced one leaves a bin for another, a user has up to three."""
    for metric, k, value in (
        ("insert_delete", 1, 1),
        ("insert_delete", 3, 3),
        ("hamming", 1, 2),
        ("hamming", 3, 6),
    ):
        hours = spaces.sequences(["8h", "9h", "10h"], 5, metric)
        assert spaces.global_sensitivity(hours, "counts", neighbors=Within(k)).value == value


@pytest.mark.parametrize("relation", RELATIONS)
def test_functions_are_queries(relation):
    space = spaces.sequences(NUMBERS, 3, relation)
    for query, function in naive(NUMBERS).items():
        one, other = (
            spaces.global_sensitivity(space, asked, norm="L2", neighbors=spaces.Within(1))
            for asked in (query, function)
        )
        assert (one.value, one.exact) == (other.value, other.exact)
        other.verify()


def test_floats_and_large_integers_of_functions():
    space = spaces.sequences([1, 2], 2, "insert_delete")
    mean = spaces.global_sensitivity(
        space, lambda x: sum(x) / max(len(x), 1), neighbors=spaces.Within(1)
    )
    assert (mean.value, mean.exact, mean.upper, mean.arithmetic) == (2.0, None, None, "float")
    mean.verify()
    huge = spaces.global_sensitivity(space, lambda x: 10**30 * len(x), neighbors=spaces.Within(1))
    assert huge.exact == 10**30
    far = spaces.sequences([0, 10**30, Fraction(1, 3)], 3, "insert_delete")
    assert (
        spaces.global_sensitivity(far, "path_length", neighbors=spaces.Within(1)).exact
        == 2 * 10**30
    )


def test_what_is_told():
    space = spaces.sequences("ab", 4, "insert_delete")
    found = spaces.local_sensitivity(space, "longest_run", dataset="abab", neighbors=Within(2))
    assert found.value == 2
    assert "at most 2 entries inserted or deleted" in found._repr_html_()
    assert (found.to_dict()["neighbors"], found.to_dict()["size"]) == (
        "insert_delete",
        "0 to 4 entries",
    )
    assert f"{found:.1f}" == "2.0"
    assert repr(space) == "sequences(['a', 'b'], 4, 'insert_delete')"
    series = spaces.sequences("ab", 1, "hamming")
    assert str(series) == "all 2 sequences of 1 of 2 values"
    found = spaces.global_sensitivity(series, "counts", neighbors=spaces.Within(1))
    assert "neighbors  at most 1 entry replaced; all 2 sequences of 1 of 2 values\n" in repr(found)


@pytest.mark.stress
def test_as_many_sequences_as_can_be():
    found = spaces.global_sensitivity(
        spaces.sequences([0, 1], 15, "insert_delete"), "longest_run", neighbors=spaces.Within(1)
    )
    assert found.value == 7
