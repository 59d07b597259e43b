"""The best split over the groups, against a plain search through all splits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from doses import dose
from hypothesis import given, settings
from hypothesis import strategies as st

from sensitivity_lab.search.groups.combine import ANY, Combination, relaxed


@st.composite
def problems(draw):
    """Values by group and change: any, falling, linear, and alike for removed and added or not."""
    k, groups = draw(st.sampled_from([1, 2])), draw(st.integers(1, 3))
    top = draw(st.integers(2, 9))
    kind = draw(st.sampled_from(["any", "falling", "linear", "zero"]))
    mirrored = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    tables = []
    for _ in range(groups):
        size = draw(st.integers(1, top + 2))
        table = {}
        for i, j in product(range(k + 1), repeat=2):
            values = rng.integers(0, 9, top + 1).astype(float)
            if kind == "falling":
                values = np.sort(values)[::-1].copy()
            elif kind == "linear":
                values = 20.0 - 2 * np.arange(top + 1) + (values > 6)
            elif kind == "zero":
                values *= 0
            values[max(0, size - i - j + 1) :] = -np.inf
            table[i, j] = table[j, i] if mirrored and (j, i) in table else values
        stays = np.arange(top + 1)
        table[0, 0] = np.where(stays <= size, 0.0, -np.inf)
        tables.append(table)
    others = draw(st.integers(0, 4))
    targets = [(draw(st.integers(0, top)), (i, i)) for i in range(1, k + 1)]
    if draw(st.booleans()):
        targets = [(draw(st.integers(0, top)), (k, 0))]
    return tables, others, targets


def best_by_listing(tables, others, targets):
    """Return the largest sum, by all changes and sizes of all groups; None without a split."""
    best = None
    for total, (removed, added) in targets:
        sums = {(0, 0, 0): 0.0}
        for table in tables:
            more = {}
            for (i, j, stays), value in sums.items():
                for (a, b), values in table.items():
                    for c, own in enumerate(values.tolist()):
                        key = i + a, j + b, stays + c
                        if own > -np.inf and value + own > more.get(key, -np.inf):
                            more[key] = value + own
            sums = more
        for (i, j, stays), value in sums.items():
            left = removed - i, added - j, total - stays
            fits = min(left) >= 0 and sum(left) <= others
            if fits and (best is None or value > best):
                best = value
    return best


def check(problem, error):
    tables, others, targets = problem
    best = best_by_listing(*problem)
    if best is None:
        return

    def exactly(part):
        group, change, stays = part
        return Fraction(0 if stays == ANY else tables[group][change][stays])

    split = Combination(tables, others, targets, error, exactly).best()
    assert sum(map(exactly, split.parts)) == best


@pytest.mark.parametrize("error", [0, 1e-9])
@given(problem=problems())
def test_the_best_split_is_that_of_a_plain_search(problem, error):
    check(problem, error)


@pytest.mark.further
@pytest.mark.parametrize("near", [1e-12, 1e-3, 10])
def test_how_near_the_bound_the_best_split_is_makes_no_difference(monkeypatch, near):
    """Values that differ much from size to size, so that the bound is far from the best split."""
    monkeypatch.setattr("sensitivity_lab.search.groups.combine.NEAR", near)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        top, tables = 30, []
        for size in rng.integers(10, 25, 3):
            table = {(0, 0): np.where(np.arange(top + 1) <= size, 0.0, -np.inf)}
            for i, j in [(0, 1), (1, 0), (1, 1)]:
                steep = 1 / (1 + np.arange(top + 1)) ** rng.random()
                values = np.round(1e3 * steep) * rng.integers(0, 2, top + 1)
                values[size - i - j + 1 :] = -np.inf
                table[i, j] = values
            tables.append(table)
        for total in (7, 20, 29):
            check((tables, int(rng.integers(0, 3)), [(total, (1, 1))]), 0)


def rest_by_listing(tables, before, target, stays):
    """Return the largest sum of values of some groups, with so many changed and staying before."""
    total, (removed, added) = target
    sums = {(*before, stays): 0.0}
    for table in tables:
        more = {}
        for (i, j, s), value in sums.items():
            for (a, b), values in table.items():
                for c in np.flatnonzero(np.isfinite(values)).tolist():
                    key = i + a, j + b, s + c
                    if max(key[0] - removed, key[1] - added, key[2] - total) <= 0:
                        more[key] = max(more.get(key, -np.inf), value + float(values[c]))
        sums = more
    return sums.get((removed, added, total), -np.inf)


TOP, TARGET = 20, (17, (1, 1))
STAYS = np.arange(TOP + 1)


def spiked_tables(rng):
    """Three groups whose values are few and far apart, so that no block can stand for another."""
    for size in rng.integers(5, 12, 3).tolist():
        table = {(0, 0): np.where(size >= STAYS, 0.0, -np.inf)}
        for i, j in [(0, 1), (1, 0), (1, 1)]:
            there = (rng.random(TOP + 1) < 0.4) & (size - i - j >= STAYS)
            table[i, j] = np.where(there, rng.integers(0, 1_000, TOP + 1), -np.inf)
        yield table


@pytest.mark.further
def test_a_value_that_is_left_out_is_in_no_split_that_reaches_enough():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        tables = [{(0, 0): np.where(STAYS <= 2, 0.0, -np.inf)}, *spiked_tables(rng)]
        relaxation = relaxed(tables, TARGET)
        if relaxation is None:
            continue
        best = rest_by_listing(tables, (0, 0), TARGET, 0)
        assert relaxation.value >= best - 1e-9
        for least in relaxation.value - np.array([0, 5, 100, 1_000]):
            useful = relaxation.useful(float(least))
            for place, change in product(range(1, 4), [(0, 1), (1, 0), (1, 1)]):
                for stay in np.flatnonzero(np.isfinite(tables[place][change])).tolist():
                    # The one value of this table, and anything of the others.
                    alone = np.where(stay == STAYS, tables[place][change], -np.inf)
                    some = [*tables[:place], {change: alone}, *tables[place + 1 :]]
                    if rest_by_listing(some, (0, 0), TARGET, 0) >= least:
                        assert np.isfinite(useful[place][change][stay])


@pytest.mark.stress
@settings(max_examples=dose(5_000))
@given(problem=problems(), error=st.sampled_from([0, 1e-9]))
def test_the_best_split_for_long(problem, error):
    check(problem, error)
