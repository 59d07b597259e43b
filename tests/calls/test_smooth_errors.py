"""Bad arguments of a smooth sensitivity: the whole message."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import pytest

import sensitivity_lab as sl
from sensitivity_lab.checks import shown
from sensitivity_lab.universes.relation import Relation

GRID = sl.Universe.from_domain([0, 0.25, 0.5, 0.75, 1])


GRID_OF_THE_PICTURE = sl.Universe.from_dataset([1, 2, 3, 10, 11])


def refused(error, *args, **options):
    with pytest.raises(error) as caught:
        sl.smooth_sensitivity(*args, **options)
    return str(caught.value)


NO_BETAS = [0, -1, math.nan, math.inf, True, "1", 1e7]
NO_DECIMALS = ["NaN", "sNaN", "Infinity", "-1", "1e99999999", "1e-99999999"]


@pytest.mark.parametrize("beta", [*NO_BETAS, *map(Decimal, NO_DECIMALS)])
def test_beta_is_a_positive_number(beta):
    assert refused(sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "median", beta=beta) == (
        f"beta must be a number above 0, at most 1e6, got {shown(beta)}"
    )


@dataclass(frozen=True)
class Swapped(sl.Bounded):
    """A relation of a caller's own, of which nobody has said what its steps are."""

    name: ClassVar[str] = "swapped"
    step = None


@pytest.mark.parametrize(
    ("relation", "told"),
    [
        (sl.Unbounded(1, direction="add"), "unbounded (add), at most 1"),
        (sl.Unbounded(2, direction="remove"), "unbounded (remove), at most 2"),
        (Swapped(2), "swapped, at most 2"),
    ],
)
def test_the_relation_declares_the_steps_that_are_damped(relation, told):
    text = refused(
        sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "median", beta=1, neighbors=relation
    )
    assert text == (
        "smooth sensitivity needs a distance between all datasets, which counts records that are "
        f"replaced, or added and removed; {told} declares none; use Bounded(k), Unbounded(k) or "
        "SymmetricDifference(k), where k is the most rows of one person"
    )


def test_a_relation_declares_no_steps_by_itself():
    """One that nobody has thought about is refused, not taken for adding and removing."""

    @dataclass(frozen=True)
    class Own(Relation):
        name: ClassVar[str] = "own"
        _limits = "none"

        def _largest(self, size, universe):
            return 1

        def _changes_at(self, k):
            yield k, k

    text = refused(
        sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "median", beta=1, neighbors=Own(1)
    )
    assert "; own, at most 1 declares none; use " in text


def test_neighbors_are_at_most_k_apart():
    relation = sl.Bounded(2, exactly=True)
    text = refused(
        sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "median", beta=1, neighbors=relation
    )
    assert text == (
        "smooth sensitivity is for neighbors at a distance of at most k, got bounded, exactly 2; "
        "use exactly=False"
    )


@pytest.mark.parametrize("sizes", [(3, 4), (1, 9), (2, 2), (0, 3)])
def test_sizes_are_around_that_of_x(sizes):
    text = refused(
        sl.errors.InputError,
        [1, 2],
        GRID_OF_THE_PICTURE,
        "median",
        beta=1,
        neighbors="unbounded",
        sizes=sizes,
    )
    expected = (
        "a size must be a number of records, at least 1, got 0"
        if 0 in sizes
        else f"sizes must be two sizes from 1 to 5 with the size of x, 2, between them, got {sizes}"
    )
    assert text == expected


def test_sizes_are_a_pair():
    options = {"beta": 1, "neighbors": "unbounded", "sizes": 3}
    assert refused(sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "median", **options) == (
        "sizes must be a pair of whole numbers, got 3"
    )
    options = {"beta": 1, "sizes": (1, 3)}
    assert refused(sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "median", **options) == (
        "sizes is for relations that add and remove, not bounded, at most 1"
    )


def test_what_is_too_large_is_refused_with_its_number():
    universe = sl.Universe.from_dataset(range(40))
    assert refused(sl.errors.TooLargeError, range(20), universe, "range", beta=1) == (
        "no engine accepts range here: order_statistics does not cover range: it is no mean of two "
        "neighboring ranks; linear covers sum, mean and count, not range; variance covers var and "
        "std, not range; enumeration would evaluate about 1.4e+11 datasets, more than the limit of "
        "200,000; choose a smaller size or a coarser universe with fewer distinct values"
    )


def test_a_domain_needs_a_largest_size():
    assert refused(sl.errors.NoEngineError, [0], GRID, "median", beta=1, neighbors="unbounded") == (
        "no engine accepts median here: order_statistics covers the bounded relation only; "
        "linear covers sum, mean and count, not median; variance covers var and std, not median; "
        "enumeration needs a largest size of datasets; give sizes=(smallest, largest)"
    )
