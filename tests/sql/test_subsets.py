"""The search for the units that lose the most together, against all sets of units."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab.sql import subsets
from sensitivity_lab.sql.subsets import Atom, Found, Length, SubsetSearch

MEASURES = ("signed", "L1", "L2")
BIG = 10**9

UNITS = st.frozensets(st.integers(0, 5), min_size=1, max_size=3)
"""The units of a result: few, so that many results are shared."""

WEIGHTS = st.one_of(st.integers(-3, 3), st.sampled_from([BIG, BIG + 1, -BIG]))
ATOMS = st.lists(
    st.builds(Atom, st.integers(0, 2), WEIGHTS, st.lists(UNITS, min_size=1, max_size=2).map(tuple)),
    max_size=9,
)


def size(vector: dict[int, int], measure: str) -> int:
    """A loss by place, measured; of L2 the square."""
    if measure == "signed":
        return sum(vector.values())
    return sum(abs(one) if measure == "L1" else one**2 for one in vector.values())


def lost(atoms: list[Atom], chosen: tuple[int, ...], measure: str) -> int:
    """What a set of units loses: the atoms each of whose clauses it meets."""
    vector: dict[int, int] = {}
    for atom in atoms:
        if all(any(unit in clause for unit in chosen) for clause in atom.clauses):
            vector[atom.place] = vector.get(atom.place, 0) + atom.weight
    return size(vector, measure)


def best_of_all(atoms: list[Atom], units: int, k: int, measure: str) -> int:
    """The most that any set of at most k units loses; 0 with nobody removed."""
    return max(
        lost(atoms, chosen, measure)
        for number in range(k + 1)
        for chosen in combinations(range(units), number)
    )


def ranked(atoms: list[Atom], units: int, measure: str) -> tuple[list[Atom], list[int]]:
    """The atoms with their units numbered by stake, the largest first, and the stakes."""
    stakes = []
    for unit in range(units):
        at_stake: dict[int, int] = {}
        for atom in atoms:
            if any(unit in clause for clause in atom.clauses):
                weight = max(atom.weight, 0) if measure == "signed" else abs(atom.weight)
                at_stake[atom.place] = at_stake.get(atom.place, 0) + weight
        stakes.append(size(at_stake, measure))
    order = sorted(range(units), key=lambda unit: -stakes[unit])
    number = {unit: place for place, unit in enumerate(order)}
    renamed = [
        Atom(
            atom.place,
            atom.weight,
            tuple(frozenset(number[unit] for unit in clause) for clause in atom.clauses),
        )
        for atom in atoms
    ]
    return renamed, [stakes[unit] for unit in order]


def at_least(upper: int | Length | None, value: int, measure: str) -> bool:
    """Whether a bound is not below a value, with roots to 60 digits."""
    if upper is None or isinstance(upper, int):
        return upper is None or upper >= value
    assert measure == "L2"
    with localcontext() as context:
        context.prec = 60
        total = sum((Decimal(square).sqrt() for square in upper.squares), Decimal(0))
        return total >= Decimal(value).sqrt() - Decimal("1e-40")


@given(atoms=ATOMS, k=st.integers(1, 4), measure=st.sampled_from(MEASURES))
def test_the_best_set_is_that_of_brute_force(atoms, k, measure):
    renamed, stakes = ranked(atoms, 6, measure)
    found = SubsetSearch(renamed, stakes, measure, k, 0).run()
    assert found.upper is None
    assert len(found.chosen) <= k
    assert found.value == lost(renamed, found.chosen, measure)
    assert found.value == best_of_all(atoms, 6, k, measure)


@given(atoms=ATOMS, k=st.integers(1, 4), measure=st.sampled_from(MEASURES), most=st.integers(0, 4))
def test_a_search_that_ends_early_has_both_ends(atoms, k, measure, most):
    renamed, stakes = ranked(atoms, 6, measure)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "MOST_STATES", most)
        found = SubsetSearch(renamed, stakes, measure, k, 0).run()
    best = best_of_all(atoms, 6, k, measure)
    assert found.value == lost(renamed, found.chosen, measure) <= best
    assert at_least(found.upper, best, measure)
    if found.upper is None:
        assert found.value == best


@given(
    atoms=ATOMS, k=st.integers(1, 4), measure=st.sampled_from(MEASURES), listed=st.integers(0, 5)
)
def test_units_that_are_not_listed_are_within_the_bound(atoms, k, measure, listed):
    """Units with smaller stakes are left out, as a search of many persons leaves them."""
    renamed, stakes = ranked(atoms, 6, measure)
    # An atom that a unit beyond the list is needed for is at stake with that unit alone.
    kept = [
        Atom(atom.place, atom.weight, clauses)
        for atom in renamed
        for clauses in [
            tuple(frozenset(u for u in clause if u < listed) for clause in atom.clauses)
        ]
        if all(clauses)
    ]
    search = SubsetSearch(kept, stakes[:listed], measure, k, stakes[listed])
    found = search.run()
    best = best_of_all(renamed, 6, k, measure)
    assert found.value <= best
    assert at_least(found.upper, best, measure)
    if found.upper is None:
        assert found.value == best


def test_what_is_shared_by_two_is_lost_once():
    """Maximum coverage: the two largest together lose less than the largest and the third."""
    shared = frozenset({0, 1})
    atoms = [Atom(0, 5, (shared,)), Atom(0, 1, (frozenset({0}),)), Atom(0, 3, (frozenset({2}),))]
    found = SubsetSearch(atoms, [6, 5, 3], "L1", 2, 0).run()
    assert found == Found((0, 2), 9, None, found.states)
