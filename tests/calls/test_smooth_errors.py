"""Bad arguments of a smooth sensitivity: the whole message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from checks import refused_with

import sensitivity_lab as sl
from sensitivity_lab.universes.relations import RELATIONS, Relation

GRID = sl.Universe.from_domain([0, 0.25, 0.5, 0.75, 1])


GRID_OF_THE_PICTURE = sl.Universe.from_dataset([1, 2, 3, 10, 11])


def refused(error, dataset, *args, **options):
    with pytest.raises(error) as caught:
        sl.smooth_sensitivity(*args, dataset=dataset, **{"neighbors": "bounded", **options})
    return str(caught.value)


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
    *some, last = (f"{one.__name__}(k)" for one in RELATIONS.values() if one().step is not None)
    assert text == (
        "smooth sensitivity needs a distance between all datasets, which counts records that are "
        f"replaced, or added and removed; {told} declares no such distance; use {', '.join(some)} "
        f"or {last}, where k is the most rows of one person"
    )


def test_a_relation_declares_no_steps_by_itself():
    """One that nobody has thought about is refused, not taken for adding and removing."""

    @dataclass(frozen=True)
    class Own(Relation):
        name: ClassVar[str] = "own"
        does = "something"
        _limits = "none"

        def _largest(self, size, universe):
            return 1

        def _changes_at(self, k, *_):
            yield k, k

    text = refused(
        sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "median", beta=1, neighbors=Own(1)
    )
    assert "; own, at most 1 declares no such distance; use " in text


@pytest.mark.parametrize("moves", [[(2, 0), (0, 2)], [(1, 0)], [(1, 1), (2, 0), (0, 2)], [(2, 2)]])
def test_steps_change_one_record(moves):
    """Engines have the neighbors of one record: couples that join or leave have others."""

    @dataclass(frozen=True)
    class Own(Relation):
        name: ClassVar[str] = "own"
        does = "something"
        _limits = "none"

        @property
        def step(self):
            return Own(1)

        def _largest(self, size, universe):
            return 1

        def _changes_at(self, k, *_):
            return ((k * removed, k * added) for removed, added in moves)

    text = refused(
        sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "mean", beta=1, neighbors=Own(1)
    )
    assert "; own, at most 1 declares no such distance; use Bounded(k), " in text
    refused_with(
        lambda: sl.reach(
            GRID_OF_THE_PICTURE, "mean", dataset=[1, 2], neighbors=Own(1), distances=2
        ),
        r"own, at most 1 declares no such distance; ",
    )


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
    assert text == (
        f"sizes must be two sizes from 1 to 5 with the size of x, 2, between them, got {sizes}"
    )


def test_sizes_are_for_relations_that_change_them():
    options = {"beta": 1, "sizes": (1, 3)}
    assert refused(sl.errors.InputError, [1, 2], GRID_OF_THE_PICTURE, "median", **options) == (
        "sizes is for relations that add and remove, not bounded, at most 1"
    )


def test_what_is_too_large_is_refused_with_its_number():
    universe = sl.Universe.from_dataset(range(40))
    assert refused(sl.errors.TooLargeError, range(20), universe, "range", beta=1) == (
        "no engine accepts range here: enumeration would evaluate about 1.4e+11 datasets, more "
        "than the limit of 200,000; choose a smaller size or a coarser universe with fewer "
        "distinct values;\n"
        "  monotone does not cover it (the error's `reasons` say why)"
    )


def test_where_a_step_can_be_of_either_kind_every_dataset_is_listed():
    told = refused(
        sl.errors.NoEngineError,
        [0],
        GRID,
        "mean",
        beta=1,
        neighbors="edit",
        sizes=(1, 3),
        method="monotone",
    )
    assert told == (
        "no engine accepts mean here: monotone covers relations that replace records, or that add "
        "and remove them, not edit, of which a step can be either"
    )
    result = sl.smooth_sensitivity(
        GRID, "mean", dataset=[0], beta=1, neighbors="edit", sizes=(1, 3)
    )
    assert result.method == "enumeration"


def test_a_domain_needs_a_largest_size():
    assert refused(sl.errors.NoEngineError, [0], GRID, "median", beta=1, neighbors="unbounded") == (
        "no engine accepts median here: enumeration needs a largest size of datasets; give "
        "sizes=(smallest, largest);\n"
        "  monotone covers median under the bounded relation only"
    )
