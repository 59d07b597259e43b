"""The best split over the groups, against a plain search through all splits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from doses import dose
from hypothesis import given, settings
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.search.groups.bounds import Bounds
from sensitivity_lab.search.groups.combine import ANY, Combination
from sensitivity_lab.search.groups.relaxation import relaxed


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


@pytest.mark.representative
@pytest.mark.parametrize("blocks", [4, 7, 11, 16])
def test_blocks_of_several_sizes_lose_nothing(monkeypatch, blocks):
    """Values that differ much from size to size, so that a block bounds its own sizes badly."""
    monkeypatch.setattr("sensitivity_lab.search.groups.bounds.BLOCKS", blocks)
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


WORK = 40_000_000
"""Additions that are enough."""

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


def bounds_of(tables, *, by_relaxation):
    """Bounds of both kinds, or those of the blocks alone, which the others often hide."""
    outside = {(0, 0): np.where(STAYS <= 2, 0.0, -np.inf)}
    relaxation = relaxed([outside, *tables], TARGET)
    if not by_relaxation:
        endless = [dict.fromkeys(after, np.inf) for after in relaxation.after]
        relaxation = replace(relaxation, after=endless)
    return Bounds(tables, outside, relaxation)


def priced_rest(bounds, tables, state):
    """What the groups that are left can add, and the price of all that stays in them, listed."""
    rest = np.array([rest_by_listing(tables, state, TARGET, s) for s in STAYS.tolist()])
    return rest + bounds.prices[1] * (TARGET[0] - STAYS)


def check_pairs(bounds, sums, own, bound, priced):
    """Every pair of sizes that can reach enough is among those that are left."""
    reached = np.full((TOP + 1, TOP + 1), -np.inf)
    for s in range(TOP + 1):
        for c in range(TOP + 1 - s):
            reached[s, c] = sums[s] + own[c] + priced[s + c]
    for needed in reached.max() - np.array([0, 5, 100]):
        left = {
            (s, c)
            for one, other in bounds.pairs(sums, own, bound, float(needed))
            for s, c in product(one.tolist(), other.tolist())
        }
        # Sums that miss by rounding alone are what the relaxation's error is for.
        enough = np.argwhere(reached >= needed + 1e-6)
        assert set(map(tuple, enough.tolist())) <= left


@pytest.mark.representative("by_relaxation")
@pytest.mark.exhaustive
@pytest.mark.parametrize("by_relaxation", [True, False])
@pytest.mark.parametrize("blocks", [3, 5, 8, 30])
def test_bounds_are_no_less_than_what_the_groups_that_are_left_can_add(
    monkeypatch, blocks, by_relaxation
):
    """At every size, and for the pairs of sizes that they leave."""
    monkeypatch.setattr("sensitivity_lab.search.groups.bounds.BLOCKS", blocks)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tables = list(spiked_tables(rng))
        bounds = bounds_of(tables, by_relaxation=by_relaxation)
        for group, state in product(range(3), product(range(2), repeat=2)):
            priced = priced_rest(bounds, tables[group:], state)
            bound = bounds.rest(group, state)
            assert (bounds.each(bound) >= priced - 1e-9).all()
            if group > 0 and np.isfinite(priced).any():
                sums = rng.integers(0, 1_000, TOP + 1) + bounds.prices
                for own in bounds.priced[group - 1].values():
                    check_pairs(bounds, sums, own, bound, priced)


def test_what_many_groups_leave_over_in_their_blocks_adds_up(monkeypatch):
    """Five groups of 3 records are all in the first block of 4, and 15 of them in the fourth."""
    monkeypatch.setattr("sensitivity_lab.search.groups.bounds.BLOCKS", 5)
    three = {(0, 0): np.where(STAYS <= 3, 0.0, -np.inf)}
    relaxation = relaxed([three] * 6, (18, (0, 0)))
    relaxation = replace(relaxation, after=[{(0, 0): np.inf} for _ in relaxation.after])
    bounds = Bounds([three] * 5, three, relaxation)
    assert bounds.width == 4
    assert bounds.each(bounds.rest(0, (0, 0)))[3] - bounds.prices[15] >= -1e-9


@pytest.mark.stress
@settings(max_examples=dose(5_000))
@given(problem=problems(), error=st.sampled_from([0, 1e-9]))
def test_the_best_split_for_long(problem, error):
    check(problem, error)


@pytest.mark.representative("norm")
@pytest.mark.exhaustive
@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("values", ["whole", "lognormal"])
def test_few_sums_are_added_where_many_splits_are_almost_as_good(monkeypatch, norm, values):
    """The work is counted: bounds that are too large, or a bad first split, show here."""
    rng = np.random.default_rng(0)
    days = {"whole": rng.integers(0, 120, 8_000), "lognormal": rng.lognormal(3, 1, 8_000)}
    stays = pd.DataFrame({"ward": rng.choice(list("abcde"), 8_000), "days": days[values]})
    done = []

    def best(self):
        split = found(self)
        done.append(self.work)
        return split

    found = Combination.best
    monkeypatch.setattr(Combination, "best", best)
    by_ward = sl.GroupBy("ward", sl.ColumnQuery("days", "mean", empty=0), groups=list("abcde"))
    universe = sl.TableUniverse.from_dataset(stays)
    sl.global_sensitivity(universe, by_ward, size=2_000, neighbors=sl.Bounded(5), norm=norm)
    assert 0 < sum(done) < WORK
