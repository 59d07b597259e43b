"""Sensitivities of sequences, beside the definitions in plain Python and the formulas."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest

from sensitivity_lab import spaces
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.spaces import sequences

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


RELATIONS = {
    "insert_delete": (inserted_or_deleted, sequences.InsertDelete),
    "hamming": (replaced, sequences.Hamming),
}


def naive_neighbors(x, values, relation, k):
    """All that at most k edits make of x, of any length."""
    found = {x}
    for _ in range(k):
        found |= {y for some in found for y in RELATIONS[relation][0](some, values)}
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
UNIVERSES = [(NUMBERS, 3, 0), (NUMBERS[:2], 4, 0), (NUMBERS[:2], 3, 2), ((2,), 3, 0)]


def check_beside_the_definition(values, longest, shortest, most):
    universe = sequences.SequenceUniverse(values, longest=longest, shortest=shortest)
    sizes = range(shortest, longest + 1)
    assert len(universe) == len(every_sequence(values, sizes))
    for query, relation, k in itertools.product(QUERIES, RELATIONS, most):
        for norm in NORMS if query == "counts" else ("L1",):
            found = spaces.global_sensitivity(
                universe, query, neighbors=RELATIONS[relation][1](k), norm=norm
            )
            expected = naive_largest(values, sizes, query, relation, k, norm)
            assert found.value == pytest.approx(expected, rel=1e-15), (query, relation, k, norm)
            found.verify()


@pytest.mark.parametrize(("values", "longest", "shortest"), UNIVERSES)
def test_all_sequences_beside_the_definition(values, longest, shortest):
    check_beside_the_definition(values, longest, shortest, [1, 2])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("values", "longest", "shortest"), [(NUMBERS, 3, 1), (NUMBERS[:2], 4, 0), (NUMBERS, 3, 3)]
)
def test_more_changes_beside_the_definition(values, longest, shortest):
    # A deletion and an insertion of the oracle may pass outside of the lengths, and come back.
    check_beside_the_definition(values, longest, shortest, [2, 3])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", QUERIES)
def test_one_sequence_beside_the_definition(query, relation):
    universe = sequences.SequenceUniverse(NUMBERS, longest=4)
    for x in ((), (4,), (0.5, 0.5, 0.5), (4, -1, 4, 0.5)):
        for k in (1, 2):
            found = spaces.local_sensitivity(
                universe, query, dataset=x, neighbors=RELATIONS[relation][1](k)
            )
            assert found.value == naive_largest(NUMBERS, range(5), query, relation, k, only=x)
            assert (found.witness.x, found.known) == (x, None)
            found.verify()


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_neighbor_of_a_sequence_is_compared(relation, k):
    """Of each sequence, the search asks a function about its neighbors, and about no other one."""
    universe = sequences.SequenceUniverse("abc", longest=4)
    inside = set(every_sequence("abc", range(5)))
    for x in (("a",), ("a", "b", "a"), tuple("abca")):
        asked = set()

        def recorded(y, asked=asked):
            asked.add(y)
            return 0

        spaces.local_sensitivity(universe, recorded, dataset=x, neighbors=RELATIONS[relation][1](k))
        assert asked == (naive_neighbors(x, "abc", relation, k) & inside) | {x}


def without_formula(values, longest, most):
    """Compare all closed forms; return the queries, relations and norms that have none."""
    universe, unknown = sequences.SequenceUniverse(values, longest=longest), set()
    for query, (name, (_, make)), k in itertools.product(QUERIES, RELATIONS.items(), most):
        for norm in NORMS if query == "counts" else ("L1",):
            options = {"neighbors": make(k), "norm": norm}
            found = spaces.global_sensitivity(universe, query, **options)
            form = spaces.known_sensitivity(universe, query, **options)
            assert found.known == form
            if form is None:
                unknown.add((query, name, norm))
            else:
                assert found.value == float(form), (query, make(k), norm)
    return unknown


@pytest.mark.parametrize("longest", [1, 2, 3, 4])
def test_formulas_are_what_enumeration_finds(longest):
    for values in (NUMBERS, NUMBERS[:2], (7,)):
        assert without_formula(values, longest, [1]) == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("v", "longest"), [(2, 8), (3, 6), (5, 4)])
def test_formulas_of_longer_sequences_are_what_enumeration_finds(v, longest):
    values = [3, -8, Fraction(1, 3), 0, 5][:v]
    assert without_formula(values, longest, [1]) == set()
    runs = {("longest_run", relation, "L1") for relation in RELATIONS}
    assert without_formula(values, min(longest, 5), [2, 3]) == runs


def test_what_is_known_of_trajectories():
    """One visit more: a place more, two changes, a detour of twice the way; half of a long stay."""
    universe = sequences.SequenceUniverse([0, 3, 10], longest=7)
    one = sequences.InsertDelete()
    expected = {"length": 1, "distinct": 1, "changes": 2, "path_length": 20, "sum": 10}
    for query, value in {**expected, "longest_run": 3, "counts": 1}.items():
        assert spaces.global_sensitivity(universe, query, neighbors=one).value == value
    short = sequences.SequenceUniverse([0, 3, 10], longest=2)  # the second entry is the last
    assert spaces.global_sensitivity(short, "path_length", neighbors=one).value == 10


def test_events_and_users_of_a_time_series():
    """An event is in one bin, a replaced one leaves a bin for another, a user has up to three."""
    hours = sequences.SequenceUniverse(["8h", "9h", "10h"], longest=5)
    for neighbors, value in (
        *((sequences.InsertDelete(1), 1), (sequences.InsertDelete(3), 3)),
        *((sequences.Hamming(1), 2), (sequences.Hamming(3), 6)),
    ):
        found = spaces.global_sensitivity(hours, "counts", neighbors=neighbors)
        assert found.value == value


def test_functions_are_queries():
    universe = sequences.SequenceUniverse(NUMBERS, longest=3)
    for query, function in naive(NUMBERS).items():
        for relation in (sequences.InsertDelete(), sequences.Hamming()):
            one, other = (
                spaces.global_sensitivity(universe, asked, neighbors=relation, norm="L2")
                for asked in (query, function)
            )
            assert (one.value, one.exact) == (other.value, other.exact)
            other.verify()


def test_floats_and_large_integers_of_functions():
    universe = sequences.SequenceUniverse([1, 2], longest=2)
    options = {"neighbors": sequences.InsertDelete()}
    mean = spaces.global_sensitivity(universe, lambda x: sum(x) / max(len(x), 1), **options)
    assert (mean.value, mean.exact, mean.upper, mean.arithmetic) == (2.0, None, None, "float")
    mean.verify()
    huge = spaces.global_sensitivity(universe, lambda x: 10**30 * len(x), **options)
    assert huge.exact == 10**30
    far = sequences.SequenceUniverse([0, 10**30, Fraction(1, 3)], longest=3)
    assert spaces.global_sensitivity(far, "path_length", **options).exact == 2 * 10**30


def test_what_is_stated_is_verified():
    found = spaces.global_sensitivity(
        sequences.SequenceUniverse("ab", longest=4), "changes", neighbors=sequences.InsertDelete()
    )
    for change in (
        {"value": 3.0},
        {"neighbors": sequences.Hamming()},
        {"universe": sequences.SequenceUniverse("ab", longest=1)},
        {"upper": None},
        {"witness": replace(found.witness, query_x=5)},
        {"witness": replace(found.witness, x=())},
    ):
        with pytest.raises(VerificationError):
            replace(found, **change).verify()


def test_what_is_told():
    universe = sequences.SequenceUniverse("ab", longest=4, shortest=2)
    found = spaces.local_sensitivity(
        universe, "longest_run", dataset="abab", neighbors=sequences.InsertDelete(2)
    )
    assert "changed    y has 'b' deleted at 1 of x, 'a' inserted at 2\n" in repr(found)
    assert "insert" in found._repr_html_()
    told = found.to_dict()
    assert (told["sensitivity"], told["known"], told["deleted"]) == (2.0, None, (1,))
    assert f"{found:.1f}" == "2.0"
    assert repr(universe) == "SequenceUniverse(['a', 'b'], longest=4, shortest=2)"
    assert str(sequences.SequenceUniverse("a", 2, 2)) == "the only sequence of 2 of 1 value"


@pytest.mark.parametrize("relation", RELATIONS)
def test_blocks_change_nothing(relation, monkeypatch):
    neighbors = RELATIONS[relation][1](2)
    universe = sequences.SequenceUniverse(NUMBERS, longest=4)
    whole = spaces.global_sensitivity(universe, "changes", neighbors=neighbors)
    monkeypatch.setattr("sensitivity_lab.spaces.search._BLOCK", 5)
    assert spaces.global_sensitivity(universe, "changes", neighbors=neighbors) == whole


@pytest.mark.stress
def test_as_many_sequences_as_can_be():
    universe = sequences.SequenceUniverse([0, 1], longest=20)
    found = spaces.global_sensitivity(universe, "longest_run", neighbors=sequences.InsertDelete())
    assert found.value == float(found.known) == 9
