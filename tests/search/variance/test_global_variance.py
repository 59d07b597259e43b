"""The engine for variance and standard deviation, where small random universes do not reach."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from fractions import Fraction

import numpy as np
import oracle
import pytest
from checks import check_value
from hypothesis import example, given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.search import engines_for
from sensitivity_lab.search.layouts import Shape, sorted_universe
from sensitivity_lab.search.variance import branch, curve, global_max, patterns
from sensitivity_lab.search.variance import words as word_search
from sensitivity_lab.search.variance.comparing import Rated, Reference, Spread, as_real
from sensitivity_lab.search.variance.float_prefix_sums import (
    UNIT,
    WIDTHS,
    SortedRecords,
    limb_width,
)
from sensitivity_lab.search.variance.line import between
from sensitivity_lab.search.variance.patterns import PatternSearch, Placement
from sensitivity_lab.search.variance.words import any_at_ends, core_at_ends


def best_pair(records, relation, size, changed, spread, count=id) -> Placement:
    """The best pair for exactly so many records replaced or removed, one shape by itself."""
    of_y = changed if relation == "bounded" else 0
    shape = Shape(size - changed, changed, of_y, records.size)
    ((found,),) = curve.CurveFamily(records, [shape], [spread], None).solve(count)
    return found


def test_exactly_j_needs_a_word_with_an_a_between_c_and_b():
    # The patterns AOCBCOA and ACOBOA alone give 16505493.33 here; the optimum reads CCCCABBA.
    records = [40, 40, 41, 41, 80, 81, 81, 10_000]
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(records),
        sl.Var(ddof=1),
        size=6,
        neighbors=sl.Bounded(2, exactly=True),
        method="variance",
    )
    expected, _ = oracle.global_sensitivity(records, 6, ("var", 1), "bounded", 2, exactly=True)
    assert result.exact == expected == 16_505_536


@pytest.mark.parametrize(
    ("records", "size", "replaced", "word"),
    [
        # Only ACABAOA finds this one: an A would stand between C and B.
        ([0, 0, 0, 1, 1, 50, 50, 51, 1000], 7, 2, "COBA"),
        # Only AOCOBOA, as fewer records are kept than replaced.
        ([1, 1, 2, 30, 31, 32, 100, 100], 4, 3, "CAOBA"),
    ],
)
def test_words_that_random_universes_rarely_need(records, size, replaced, word):
    universe = sl.Universe.from_dataset(records)
    neighbors = sl.Bounded(replaced, exactly=True)
    result = sl.global_sensitivity(
        universe, "var", size=size, neighbors=neighbors, method="variance"
    )
    expected, _ = oracle.global_sensitivity(
        records, size, ("var", 0), "bounded", replaced, exactly=True
    )
    assert (result.exact, "".join(label for label, *_ in result.blocks)) == (expected, word)


@pytest.mark.exhaustive
@pytest.mark.parametrize("few", [0, 2048])
def test_bisection_and_trying_every_placement_agree_with_the_oracle(few, monkeypatch):
    monkeypatch.setattr(branch, "FEW", few)
    monkeypatch.setattr(word_search, "FEW", few)
    monkeypatch.setattr(patterns, "SEED", 3)
    draw = random.Random(few)
    for _ in range(150):
        records = [draw.choice([0, 1, 2, 30, 31, 100, draw.randint(-50, 50)]) for _ in range(8)]
        size = draw.randint(4, 6)
        k = draw.randint(1, 2)
        query = draw.choice([("var", 0), ("var", 1)])
        name, neighbors = draw.choice(
            [("bounded", sl.Bounded(k, exactly=True)), ("unbounded", sl.Unbounded(k))]
        )
        expected, _ = oracle.global_sensitivity(
            records, size, query, name, k, exactly=neighbors.exactly
        )
        result = sl.global_sensitivity(
            sl.Universe.from_dataset(records),
            sl.Var(query[1]),
            size=size,
            neighbors=neighbors,
            method="variance",
        )
        assert result.exact == expected, (records, size, query, neighbors)


@pytest.mark.representative
@pytest.mark.parametrize("size", [2_000, 10_000])
@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("neighbors", [sl.Bounded(2), sl.Unbounded(2)], ids=str)
def test_many_copies_stay_compact(name, neighbors, size):
    ages = sl.Universe.from_domain(range(121))
    tracemalloc.start()
    result = sl.global_sensitivity(ages, name, size=size, neighbors=neighbors)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.method == "variance"
    assert peak < 2**30 * size // 10_000
    result.verify()
    # Half of the records at each end, and what changes moves from the middle to an end or back.
    twice = sl.global_sensitivity(
        sl.Universe.from_domain([0, 120]), name, size=size, neighbors=neighbors
    )
    assert result.value >= twice.value


@pytest.mark.representative("neighbors")
@pytest.mark.parametrize("query", ["mean", "sum", "count", "median", "min", "var", "std"])
@pytest.mark.parametrize("neighbors", [sl.Bounded(3), sl.Unbounded(3)], ids=str)
def test_a_hundred_thousand_records_verify(query, neighbors):
    records = np.random.default_rng(1).lognormal(size=100_000)
    universe = sl.Universe.from_dataset(records)
    result = sl.global_sensitivity(universe, query, size=50_000, neighbors=neighbors)
    result.verify()
    assert result.datasets_evaluated == 0
    assert result.method != "enumeration"


@pytest.mark.parametrize("offset", [0, 10**9, -(10**15)])
def test_a_sum_of_parts_far_from_zero(offset):
    near = [offset + value for value in range(9)]
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(near), "var", size=5, neighbors=sl.Bounded(2), method="variance"
    )
    expected, _ = oracle.global_sensitivity(list(range(9)), 5, ("var", 0), "bounded", 2)
    assert result.exact == expected


def test_what_no_engine_takes_lists_every_reason():
    universe = sl.Universe.from_dataset([*range(-1100, -1000), *range(1000, 1100)])
    relation = sl.SymmetricDifference(3, exactly=True)
    with pytest.raises(sl.errors.TooLargeError) as caught:
        sl.global_sensitivity(universe, "std", size=190, neighbors=relation)
    message = str(caught.value)
    for engine in engines_for("global"):
        assert engine.name in message


def test_removing_is_symmetric_to_adding():
    universe = sl.Universe.from_dataset([1, 1, 2, 3, 5, 8, 13, 21, 34])
    for query in ("var", "std"):
        add = sl.global_sensitivity(
            universe, query, size=4, neighbors=sl.Unbounded(2, exactly=True, direction="add")
        )
        remove = sl.global_sensitivity(
            universe, query, size=6, neighbors=sl.Unbounded(2, exactly=True, direction="remove")
        )
        assert add.upper == remove.upper


def test_values_that_differ_past_the_digits_of_a_float_are_different_runs():
    universe = sl.Universe([0, 1, 2**63 - 1, 2**64 - 1], [1, 2, 2, 1])
    result = sl.global_sensitivity(universe, "var", size=3, neighbors=sl.Bounded(3))
    assert result.exact == Fraction(226854911280625642272022916807093037740, 3)


def test_floats_next_to_each_other_are_different_runs():
    records = [1e-05, 0.3, 0.1 + 0.2, 3.3, 1.1 + 2.2, 1.1 + 2.2]
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(records), "std", size=2, neighbors=sl.Bounded(1)
    )
    expected, _ = oracle.global_sensitivity(records, 2, ("std", 0), "bounded", 1)
    assert result.upper == 1.6499950000000003
    assert Fraction(result.upper) >= Fraction(expected)


def test_a_cluster_far_from_many_equal_records():
    records = [0] * 25 + [2**16] * 76 + [2**70 + i * 2**22 for i in range(100)]
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(records), "var", size=200, neighbors=sl.Bounded(1)
    )
    # Replacing leaves one record out of x and another out of y: all pairs of those.
    total, squares = sum(records), sum(record**2 for record in records)
    answers = [200 * (squares - out**2) - (total - out) ** 2 for out in records]
    assert result.exact == Fraction(max(answers) - min(answers), 200**2)
    assert result.value == 3.484491437395426e37


def test_a_ddof_that_is_no_float():
    records, ddof = [3, 3, 12, 18, 24, 27], Fraction(1670835461754453985, 995295517648879616)
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(records),
        sl.Var(ddof),
        size=4,
        neighbors=sl.Unbounded(1, exactly=True, direction="remove"),
    )
    expected, _ = oracle.global_sensitivity(
        records, 4, ("var", ddof), "unbounded", 1, exactly=True, direction="remove"
    )
    assert result.method == "variance"
    assert result.exact == expected
    assert Fraction(result.upper) >= expected


@pytest.mark.parametrize(
    ("size", "ddof"), [(3, Fraction(5, 7)), (4, Fraction(2, 5)), (5, Fraction(1, 13))]
)
def test_two_records_kept_need_no_condition(size, ddof):
    """At the first three, the sides of both conditions of "Two records kept" are equal."""
    for records in ([0, 0, 1, 5, 6, 20], [-7, -7, 3, 3, 4, 4], [1, 2, 4, 8, 16, 32]):
        result = sl.global_sensitivity(
            sl.Universe.from_dataset(records),
            sl.Std(ddof),
            size=size,
            neighbors=sl.Unbounded(size - 2, exactly=True, direction="remove"),
            method="variance",
        )
        expected, _ = oracle.global_sensitivity(
            records, size, ("std", ddof), "unbounded", size - 2, exactly=True, direction="remove"
        )
        check_value(result, expected)


def test_a_ddof_of_a_long_double_is_taken_exactly():
    assert sl.Var(np.longdouble(0.5)) == sl.Var(0.5)
    assert sl.Var(np.longdouble(1) + np.finfo(np.longdouble).eps).ddof > 1


@pytest.mark.further
@pytest.mark.representative("relation")
@pytest.mark.parametrize(("size", "changed"), [(4, 1), (5, 2), (3, 2)])
@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("relation", ["bounded", "unbounded"])
def test_values_of_more_bits_than_floats_have_are_compared_exactly(relation, root, size, changed):
    records = [-(10**2500), -1, 0, 1, 3, 10**2500, 10**2500 + 1]
    working = SortedRecords(np.array(records, dtype=object), [1] * 7)
    assert not working.readable
    word = best_pair(working, relation, size, changed, Spread(Fraction(0), root))
    core, of_x, of_y = (
        [record for start, stop in word.ranges(label) for record in records[start:stop]]
        for label in "CAB"
    )
    found = [oracle.evaluate(("var", 0), core + own) for own in (of_x, of_y)]
    removing = {} if relation == "bounded" else {"direction": "remove"}
    pairs = oracle.pairs(range(7), size, relation, changed, exactly=True, **removing)
    answers = [
        [oracle.evaluate(("var", 0), [records[at] for at in x]) for x in pair] for pair in pairs
    ]
    assert Difference(*found, root) == max(Difference(*pair, root) for pair in answers)


def placements_looked_at(records, query, relation, changed):
    """How many placements and windows a search looks at, among half of the records."""
    numbers = [Fraction(record) for record in records]
    distinct = sorted(set(numbers))
    scale = max(number.denominator for number in distinct)
    integers = np.array([int(number * scale) for number in distinct], dtype=object)
    integers = integers - integers[len(integers) // 2]
    working = SortedRecords(integers, [numbers.count(number) for number in distinct])
    looked: list[int] = []
    spread = Spread(Fraction(query.ddof), query.root)
    best_pair(working, relation, len(records) // 2, changed, spread, looked.append)
    return sum(looked)


@pytest.mark.further
@pytest.mark.representative("relation", "number")
@pytest.mark.parametrize("number", [400, pytest.param(1000, marks=pytest.mark.stress)])
@pytest.mark.parametrize("outliers", [[1e15, -1e15], [1e150], [1e300, 3e300, -1e300]], ids=str)
@pytest.mark.parametrize("relation", ["bounded", "unbounded"])
@pytest.mark.parametrize("query", [sl.Var(), sl.Std()], ids=str)
def test_outliers_leave_few_placements_to_look_at(query, relation, outliers, number, monkeypatch):
    monkeypatch.setattr(branch, "FEW", 64)
    records = np.random.default_rng(1).lognormal(size=number).tolist()
    # At most: every window and split, each with one place of B, or two.
    assert placements_looked_at([*records, *outliers], query, relation, 2) <= 4 * number


@pytest.mark.parametrize("query", [sl.Var(), sl.Std()], ids=str)
def test_removing_looks_at_the_larger_spread_only_where_the_other_cannot_win(query, monkeypatch):
    """Leaving out 2 of 200 records lowers a deviation by far more than it can raise one."""
    records = np.random.default_rng(1).lognormal(size=400).tolist()
    asked = []
    monkeypatch.setattr(curve, "core_at_ends", lambda *of: asked.append(of))
    placements_looked_at(records, query, "unbounded", 2)
    assert not asked


@pytest.mark.parametrize("root", [False, True])
def test_a_bisection_leaves_few_splits_of_each_window(root, monkeypatch):
    """Floats decide nearly all of them, if both records of every ten are kept."""
    monkeypatch.setattr(word_search, "FEW", 0)
    records = sorted([*np.random.default_rng(1).lognormal(size=60), -30.0, 40.0])
    working = global_max.working_records(sorted_universe(sl.Universe.from_dataset(records), 62))
    shape, looked = Shape(6, 0, 25, 62), []
    start = any_at_ends(shape)
    search = PatternSearch(working, Spread(Fraction(0), root), start, count=looked.append)
    core_at_ends(search, shape)
    # For the root the windows that may still win are searched again.
    assert sum(looked) < (62 - 25 + 1) * (2 if root else 1) + 5


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("name", "expected"), [("var", 131_486.762), ("std", 362.377)])
def test_windows_near_an_end_may_cut_two_runs(name, expected, sign):
    """Of 100 one is kept and one removed, of 95 five are kept: far records draw the mean away."""
    records = [sign * record for record in [-1000] + [95] * 10 + [100] * 2]
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(records),
        name,
        size=8,
        neighbors=sl.Unbounded(2, exactly=True, direction="remove"),
        method="variance",
    )
    truth, _ = oracle.global_sensitivity(
        records, 8, (name, 0), "unbounded", 2, exactly=True, direction="remove"
    )
    check_value(result, truth)
    assert result.value == pytest.approx(expected, rel=1e-6)


def test_where_floats_do_not_decide_every_index_is_left():
    values = np.array([-5, -1, 0, 1, 5], dtype=np.longdouble)
    row = np.zeros(1, dtype=np.int64)
    for error, expected in ((0.5, (2, 3)), (1, (1, 4)), (0, (2, 3)), (9, (0, 5))):
        low, high = between(row, row + 5, lambda at, off=error: (values.take(at, mode="clip"), off))
        assert (low.item(), high.item()) == expected


TIED = {
    "outlier": [0, 1, 2, 3, 2**70],
    "beyond 2**70": [2**70, 2**70 + 1, 2**70 + 2, 0, 1, -(2**70), 1 - 2**70, 2**71],
    "spacings": [1, 2**20, 2**33 - 1, 2**53 + 1, 2**63, 2**64 + 1],
    "few": [-3, -1, 0, 0, 1, 3, 7],
}


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("name", TIED)
def test_the_room_for_y_is_never_too_small(name, root, width):
    """Where x and y beat a pair, which was found, f(y) is at most the room: no y is left out."""
    spread, integers = Spread(Fraction(0), root), np.array(sorted(set(TIED[name])), dtype=object)
    working = SortedRecords(integers, [TIED[name].count(value) for value in integers])
    begin = np.arange(len(TIED[name]) - width + 1)
    blocks = np.stack([begin, begin + width], axis=1)
    start = PatternSearch(working, spread, Placement("C", (0, width)))
    sets = start.sets(working, "C", blocks, "C")
    exact = [spread.variance(working, sets.rows(row)) for row in range(len(sets.sums))]
    rated = [Rated(sets.rows(row), as_real(one)) for row, one in enumerate(exact)]
    checked = 0
    for x, y in itertools.product(range(len(exact)), repeat=2):
        gap = Difference(exact[x], exact[y], root)
        least = gap.bracket()[0] if gap > Difference(Fraction(0), Fraction(0), root) else 0
        room = Reference(rated[x], rated[y]).room(
            spread, working, sets, as_real(least) if least else 0.0
        )
        for own, other in itertools.product(range(len(exact)), repeat=2):
            if Difference(exact[own], exact[other], root) > gap and exact[own] > exact[other]:
                most = Fraction(*room[own].as_integer_ratio())
                assert most >= 0
                assert exact[other] <= (most**2 if root else most)
                checked += 1
    assert checked


@given(value=st.fractions().filter(lambda value: value > 0), power=st.integers(-200, 200))
@example(value=Fraction(2**112 - 1), power=0)
@example(value=Fraction(2**96 - 2**47, 3**61), power=-7)
def test_a_rational_is_read_as_a_float_within_two_units(value, power):
    value *= Fraction(10) ** power
    error = Fraction(*as_real(value).as_integer_ratio()) - value
    assert abs(error) <= 2 * Fraction(*UNIT.as_integer_ratio()) * value


@pytest.mark.further
def test_clusters_of_which_few_records_are_kept_need_few_placements():
    centers = [100 * at + at**2 for at in range(20)]
    records = [center + offset for center in centers for offset in range(10) for _ in range(3)]
    looked = placements_looked_at(records, sl.Std(), "bounded", 135)
    # Pairs of a place of the core and a number of the smallest records in A alone are 45,000.
    assert 0 < looked < 30_000


@pytest.mark.further
def test_very_many_copies_are_searched_without_being_written_out():
    found, small = (
        sl.global_sensitivity(sl.Universe.from_domain([1, 2, 3], copies=copies), "var", **asked)
        for copies, asked in (
            (100_000_001, {"size": 10**8, "neighbors": sl.Bounded(1)}),
            (11, {"size": 10, "neighbors": sl.Bounded(1)}),
        )
    )
    # One 3 among as many equal records as there are left.
    assert (found.exact, small.exact) == (4 * Fraction(10**8 - 1, 10**16), 4 * Fraction(9, 100))


@pytest.mark.further
def test_pairs_that_rounding_does_not_tell_apart_are_few():
    """Of five powers of two, far apart, one or two high ones give the same leading digits."""
    number, looked = 400, []
    records = np.array([2**power - 2**200 for power in range(number)], dtype=object)
    working, spread = SortedRecords(records, [1] * number), Spread(Fraction(0), root=True)
    best_pair(working, "bounded", 5, 4, spread, looked.append)
    # Pairs of a place of C and one of B are 80,000, along either direction.
    assert 0 < sum(looked) < 10_000


@pytest.mark.parametrize("progress", [True, False, None])
@pytest.mark.parametrize(("exactly", "unit"), [(True, " pairs"), (False, " changes")])
def test_a_progress_bar_counts_changes_or_pairs_of_one(exactly, unit, progress, capsys):
    universe, relation = sl.Universe.from_dataset(range(100)), sl.Bounded(3, exactly)
    sl.global_sensitivity(universe, "std", size=50, neighbors=relation, progress=progress)
    assert (unit in capsys.readouterr().err) == (progress is True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("root", [False, True])
def test_the_best_split_of_the_core_is_between_those_that_floats_leave(root):
    draw, checked = random.Random(5), 0
    for _ in range(60):
        drawn = sorted(draw.choice([-9, -8, -2, -1, 0, 0, 1, 2, 8, 9]) for _ in range(9))
        distinct = sorted(set(drawn))
        working = SortedRecords(
            np.array(distinct, dtype=object), [drawn.count(value) for value in distinct]
        )
        kept, removed = draw.choice([(3, 1), (4, 2), (5, 1)])
        shape = Shape(kept, 0, removed, 9)
        search = PatternSearch(working, Spread(Fraction(0), root), any_at_ends(shape))
        core = word_search.CoreAtEnds(search, np.arange(9 - removed + 1), shape, 0)
        for begin in range(9 - removed + 1):
            others = drawn[:begin] + drawn[begin + removed :]
            parts = [others[:i] + others[len(others) - kept + i :] for i in range(kept + 1)]
            more = drawn[begin : begin + removed]
            of = [
                Difference(
                    oracle.evaluate(("var", 0), part), oracle.evaluate(("var", 0), whole), root
                )
                for part, whole in ((part, part + more) for part in parts)
            ]
            # A difference is how far apart its two numbers are, whichever is larger.
            none = Difference(Fraction(0), Fraction(0), root)
            of = [one if one.first > one.second else none for one in of]
            most = max(of)
            if not most > none:
                continue
            reached = as_real(most.bracket()[0]) * (1 - 4 * np.longdouble(UNIT))
            low, high, wins = core.peaks(reached)
            assert wins[begin]
            assert max(of[low[begin] : high[begin] + 1]) == most
            checked += 1
    assert checked > 100


@pytest.mark.parametrize("width", WIDTHS)
def test_limbs_have_room_for_as_many_records_as_they_say(width):
    """Halves of 2**width, eight times as many as there are records, stay below 2**62."""
    most = 1 << (min(62, np.finfo(np.longdouble).nmant + 1) - width - 3)
    narrower = dict(zip(WIDTHS, [*WIDTHS[1:], None], strict=True))
    assert (limb_width(most), limb_width(most + 1)) == (width, narrower[width])


def test_records_are_centered_at_the_middle_record():
    """At the middle value, here an outlier, all other records would be far from zero."""
    universe = sl.Universe([0, 1, 10**15, 2 * 10**15, 3 * 10**15], [300, 301, 1, 1, 1])
    working = global_max.working_records(sorted_universe(universe, 301))
    each = working.total(working.starts + 1) - working.total(working.starts)
    assert working.integer_sums(each).tolist() == [
        -1,
        0,
        10**15 - 1,
        2 * 10**15 - 1,
        3 * 10**15 - 1,
    ]


@pytest.mark.exhaustive
def test_no_removal_is_skipped_by_floats_that_cannot_hold_the_records():
    """0 and 1 alone are further apart than with a record near 1/2, of which there are 700."""
    near = [Fraction(1, 2) + Fraction(number, 10**2600) for number in range(-350, 350)]
    result = sl.global_sensitivity(
        sl.Universe.from_dataset([0, 1, *near]),
        sl.Var(ddof=1),
        size=3,
        neighbors=sl.Unbounded(1, direction="remove"),
        method="variance",
    )
    assert sorted(result.witness.y) == [0, 1]
    assert result.exact == Fraction(1, 4)
