"""One thread and many find the same pair, which is that of the oracle."""

from __future__ import annotations

from contextlib import ExitStack
from unittest import mock

import joblib
import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import BY_NAME

import sensitivity_lab as sl
from sensitivity_lab.running import machine as machines
from sensitivity_lab.running.machine import Machine
from sensitivity_lab.search import lattice
from sensitivity_lab.search.enumeration import core_pairs as finders
from sensitivity_lab.search.enumeration.evaluate import ends_of, hold
from sensitivity_lab.search.lattice import Lattice
from sensitivity_lab.universes import listing

counts = st.lists(st.integers(1, 3), min_size=1, max_size=5)


def tiny_blocks() -> ExitStack:
    """Cut every level, and every batch of cores, into the smallest pieces."""
    stack = ExitStack()
    for module, name, value in (
        (lattice, "TABLE", 96),
        (lattice, "_LARGER", 1),
        (listing, "TABLE", 96),
        (machines, "_CELLS", 2),
        (finders, "_CORES_AT_ONCE", 2),
    ):
        stack.enter_context(mock.patch.object(module, name, value))
    return stack


@given(counts=counts, rows=st.integers(1, 7), data=st.data())
def test_blocks_are_a_level_in_order(counts, rows, data):
    """Every block is the datasets that its multiplicities say, and what it reads is above it."""
    top = min(sum(counts), 6)
    size = data.draw(st.integers(0, top - 1))
    levels = Lattice(counts, top, data.draw(st.integers(0, size)))
    listed, above = (
        [tuple(map(row.count, range(len(counts)))) for row in levels.rows(of, 0, number).tolist()]
        for of in (size, size + 1)
        for number in [levels.number(of)]
    )
    sizes = range(size, top + 1)
    end = 0
    for block in levels.blocks(sizes, rows):
        span = lattice.span_of(levels.numbers, levels.counts, block, size)
        if span.rows.stop == 0:
            continue
        assert span.rows.start == end
        end = span.rows.stop
        mine, copies = listed[span.rows], tuple(block.copies.tolist())
        assert {dataset[block.values :] for dataset in mine} == {copies}
        assert {sum(dataset[: block.values]) for dataset in mine} == {span.size}
        assert all(levels.numbers.of(block.values, of - sum(copies)) <= rows
                   for of in sizes if of >= sum(copies))  # fmt: skip
        # Above: the same multiplicities, whole; and one copy more, dataset by dataset.
        assert above[span.own] == [one for one in above if one[block.values :] == copies]
        reached = [
            [*dataset[:place], dataset[place] + 1, *dataset[place + 1 :]]
            for place in range(block.values, len(counts))
            if copies[place - block.values] < counts[place]
            for dataset in mine
        ]
        assert [list(one) for rows in span.others for one in above[rows]] == reached
    assert end == len(listed)


@pytest.mark.exhaustive
def test_few_values_of_many_copies_are_one_block():
    """Cut by the multiplicity of one value, the other one would be left with one dataset each."""
    size = 100_000
    levels = Lattice([size, size], size, size - 1)
    assert [block.values for block in levels.blocks([size - 1], 1 << 10)] == [2]
    answers = np.random.default_rng(0).random((size + 1, 1))
    below = levels.maximum_below(answers, size - 1, Machine(threads=2))
    assert np.array_equal(below, np.maximum(answers[:-1], answers[1:]))


@pytest.mark.exhaustive
@given(counts=counts, seed=st.integers(0, 2**32 - 1))
def test_a_pass_is_the_same_on_every_machine(counts, seed):
    top = min(sum(counts), 6)
    levels = Lattice(counts, top)
    for size in range(top):
        upper = np.random.default_rng(seed).normal(size=(levels.number(size + 1), 2))
        whole = levels.maximum_below(upper, size)
        for machine in (Machine(), Machine(2)):
            with tiny_blocks():
                assert np.array_equal(levels.maximum_below(upper, size, machine), whole)


def numbers(x):
    return float(np.ptp(x) * 3 + x[0])


def vectors(x):
    return [float(x[0]), float(x[-1] - x[0]), 2.0 * len(x)]


def whole(x):
    """Ints and floats, and ties."""
    return 2**53 + int(x.max()) if x[0] < 2 else float(x.min())


@pytest.mark.exhaustive
@pytest.mark.representative
@settings(max_examples=12)
@given(
    values=st.lists(st.integers(-3, 6), min_size=3, max_size=4, unique=True).map(sorted),
    data=st.data(),
)
@pytest.mark.parametrize("function", [numbers, vectors, whole])
def test_a_search_is_the_same_on_every_machine(function, values, data):
    limits = data.draw(st.lists(st.integers(1, 2), min_size=len(values), max_size=len(values)))
    records = oracle.universe_of(values, limits)
    relation = data.draw(st.sampled_from(list(BY_NAME)))
    distance, exactly = data.draw(st.integers(1, 2)), data.draw(st.booleans())
    assume(len(records) > 2 * distance)
    size = data.draw(st.integers(distance + 1, len(records) - distance))
    pairs = list(oracle.pairs(records, size, relation, distance, exactly=exactly))
    assume(pairs)
    asked = {
        "size": size,
        "distances": distance,
        "neighbors": relation,
        "exactly": exactly,
        "method": "enumeration",
    }
    universe = sl.Universe(values, limits)
    before = sl.sensitivity_curves(universe, [function], **asked)
    answer = {data: answer_of(function, data) for pair in pairs for data in pair}
    change = {
        (x, y): sum(abs(a - b) for a, b in zip(answer[x], answer[y], strict=True)) for x, y in pairs
    }
    ((_, result),) = before.points
    assert result.value == float(max(change.values()))
    assert change[result.witness.x, result.witness.y] == max(change.values())
    for n_jobs in (1, 2):
        with tiny_blocks(), joblib.parallel_config(backend="threading"):
            after = sl.sensitivity_curves(universe, [function], **asked, n_jobs=n_jobs)
        assert after == before


def answer_of(function, records) -> list[int]:
    """The function on a tuple of records; all that the functions return are whole numbers."""
    found = function(np.array(records))
    return list(map(int, found if isinstance(found, list) else [found]))


@pytest.mark.exhaustive
def test_several_queries_are_the_same_on_every_machine():
    universe = sl.Universe.from_dataset([1, 2, 2, 3, 5, 8, 9.5])
    asked = {"size": 4, "distances": [1, 2], "neighbors": ["bounded", "unbounded"]}
    queries = ["std", "var", "mean", numbers, whole, vectors]
    before = sl.sensitivity_curves(universe, queries, method="enumeration", **asked)
    with tiny_blocks(), joblib.parallel_config(backend="threading"):
        after = sl.sensitivity_curves(universe, queries, method="enumeration", **asked, n_jobs=2)
    assert after == before


def test_answers_are_held_as_they_are():
    given_ = [
        np.array([2**60 + 1, -5]),
        np.array([[0.1, -0.0], [1e300, 5e-324]]),
        np.array([2**70, 0.5], dtype=object),
    ]
    kept = hold(given_)
    for back, array in zip(kept, given_, strict=True):
        assert (back.dtype, back.tolist()) == (array.dtype, array.tolist())
        assert not np.shares_memory(back, array)
    assert ends_of(kept[0]).tolist() == [-5, 2**60 + 1]
