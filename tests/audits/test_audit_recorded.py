"""Audits of what recorders see in the place of mechanisms."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from decimal import Decimal
from fractions import Fraction

import naive_distances as naive
import numpy as np
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st
from recorded_mechanisms import Mechanism

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_recorded
from sensitivity_lab.audits.recording import NO_CALL
from sensitivity_lab.exact.difference import Difference

pytestmark = pytest.mark.usefixtures("few_histories")


def mean(x):
    return Mechanism(1 / len(x)).randomise(sum(x) / len(x))


@pytest.mark.parametrize(
    ("values", "verdict"), [([0, 1], "tight"), ([0, 0.5], "loose"), ([0, 1, 2], "violated")]
)
def test_a_claim_is_compared_with_the_truth(values, verdict):
    report = audit_recorded(mean, values, 4, Mechanism, neighbors="bounded", subject="my mean")
    assert (report.subject, report.verdict) == ("my mean", verdict)
    (row,) = report.rows
    assert (row.distance, row.claimed, row.exact) == (1, 0.25, Fraction(max(values)) / 4)


def test_zeros_of_two_signs_are_two_records():
    def signs(x):
        return Mechanism(1).randomise(sum(math.copysign(1, record) for record in x))

    report = audit_recorded(signs, [0.0, -0.0], 2, Mechanism, neighbors="bounded")
    assert (report.verdict, report.rows[0].exact) == ("violated", 2)


@given(table=st.lists(st.integers(-9, 9), min_size=15, max_size=15), claim=st.integers(1, 9))
@pytest.mark.parametrize(
    ("neighbors", "metric"),
    [
        (sl.Bounded(1), "change_one"),
        (sl.Unbounded(1), "add_or_remove"),
        (sl.SymmetricDifference(2), "symmetric"),
        (sl.Edit(1), naive.edit),
        (sl.Edit(2), naive.edit),
    ],
)
def test_the_truth_is_that_of_the_definition(neighbors, metric, table, claim):
    datasets = [[0] * zeros + [1] * ones for zeros in range(5) for ones in range(5 - zeros)]

    def answer(x):
        return table[datasets.index(sorted(x))]

    report = audit_recorded(
        lambda x: Mechanism(claim).randomise(answer(x)),
        [0, 1],
        range(5),
        Mechanism,
        neighbors=neighbors,
    )
    (row,) = report.rows
    assert row.exact == naive.farthest(
        datasets, [answer(x) for x in datasets], metric, "absolute", neighbors.k
    )
    assert row.claimed == neighbors.k * claim


def test_the_worst_pair_in_proportion_to_its_claim_is_reported():
    """Replacing a record moves the sum by 6 at any size; too small a claim is that of size 3."""

    def total(x):
        return Mechanism({2: 6, 3: 4, 4: 5}[len(x)]).randomise(sum(x))

    report = audit_recorded(total, [0, 6], [2, 3, 4], Mechanism, neighbors="bounded")
    assert repr(report) == (
        "Audit of total: violated\n"
        "  setting  bounded, at most 1; norm L1; values (0, 6), sizes (2, 3, 4) in every order; "
        "implementation; the claim changes with the dataset\n"
        "  k  claimed  truth  verdict\n"
        "  1  4        6      violated (claim / truth = 0.6667)\n"
        "  x  (0, 0, 0)  ->  0\n"
        "  y  (0, 0, 6)  ->  6"
    )


def test_a_claim_of_zero_is_worse_than_any_other():
    def total(x):
        return Mechanism(0 if len(x) == 2 else 1e-9).randomise(sum(x))

    report = audit_recorded(total, [0, 6], [1, 2], Mechanism, neighbors="bounded")
    assert (report.rows[0].claimed, report.rows[0].verdict) == (0, "violated")


def test_0_over_0_is_the_best_pair_of_all():
    """A claim of 0 at size 1, where nothing changes, does not hide .1 claimed for 100 at size 2."""

    def total(x):
        return Mechanism(0 if len(x) == 1 else 0.1).randomise(0 if len(x) == 1 else sum(x))

    report = audit_recorded(total, [0, 100], [1, 2], Mechanism, neighbors="bounded")
    (row,) = report.rows
    assert (row.claimed, row.exact, row.verdict) == (0.1, 100, "violated")
    assert "; the claim changes with the dataset" in report.setting


@pytest.mark.parametrize("norm", ["L1", "L2", "Linf"])
@given(
    table=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=10, max_size=10),
    claims=st.lists(
        st.sampled_from([0, 1, 0.5, 2, Fraction(1, 3), Decimal("1.5")]), min_size=10, max_size=10
    ),
)
def test_the_worst_pair_is_that_of_the_definition(norm, table, claims):
    """Truth over the smaller claim, over all pairs of neighbors; 0 over 0 counts nothing."""
    datasets = [[0] * zeros + [1] * ones for zeros in range(4) for ones in range(4 - zeros)]

    def at(x):
        return datasets.index(sorted(x))

    report = audit_recorded(
        lambda x: Mechanism(claims[at(x)]).randomise(np.array(table[at(x)])),
        [0, 1],
        range(4),
        Mechanism,
        neighbors=sl.Unbounded(1),
        norm=norm,
    )
    ratios, differing = [], []
    for i, j in itertools.combinations(range(10), 2):
        if naive.add_or_remove(datasets[i], datasets[j]) <= 1:
            gap = naive.l2_squared if norm == "L2" else naive.DISTANCE[norm]
            size = gap(table[i], table[j]) ** (1 if norm == "L2" else 2)
            small, large = sorted(Fraction(claims[place]) for place in (i, j))
            ratios.append(-1 if small == size == 0 else size / small**2 if small else math.inf)
            differing.append(small != large)
    (row,) = report.rows
    if max(ratios) > 1:
        assert row.verdict == "violated"
        assert row.claimed == 0 or row.truth == Difference(
            max(ratios) * Fraction(row.claimed) ** 2, Fraction(0), root=True
        )
    elif any(differing):
        assert row.verdict == "data-dependent claim"
        assert row.claimed == min(row.claims.values()) < max(row.claims.values())
    else:
        assert row.verdict == ("tight" if max(ratios) in (1, -1) else "loose")
    # However small the row's own claims differ, the setting tells of any pair's.
    assert ("depends on the data" in report.setting) == any(differing)
    assert report.sound == (max(ratios) <= 1 and not any(differing))


def local(x, values=(0, 1, 10)):
    """The local sensitivity of the median at x, by definition."""
    others = [[*x[:i], value, *x[i + 1 :]] for i in range(len(x)) for value in values]
    return max(abs(statistics.median(y) - statistics.median(x)) for y in others)


def test_noise_scaled_to_the_local_sensitivity_is_never_tight():
    """No truth exceeds the smaller of two local sensitivities, and yet it is not private."""
    report = audit_recorded(
        lambda x: Mechanism(local(x)).randomise(statistics.median(x)),
        [0, 1, 10],
        3,
        Mechanism,
        neighbors="bounded",
    )
    (row,) = report.rows
    assert (row.verdict, report.verdict, report.sound) == (*["data-dependent claim"] * 2, False)
    assert row.claims == {"on x": 0, "on y": 10}
    assert "; implementation; the claim depends on the data" in report.setting
    assert repr(report).splitlines()[3:] == [
        "  1  0        0      data-dependent claim (0 on x, 10 on y)",
        "  x  (0, 0, 0)  ->  0",
        "  y  (0, 0, 10)  ->  0",
    ]
    refused_with(
        lambda: report.raise_if_violated(),
        "sensitivities of 0 on x and 10 on y are",
        sl.errors.SensitivityViolation,
    )


def test_a_claim_that_depends_on_a_size_that_neighbors_share_is_none_of_that():
    report = audit_recorded(mean, [0, 1], [2, 3], Mechanism, neighbors="bounded")
    assert report.sound
    assert report.setting.endswith("; the claim changes with the dataset")
    removed = audit_recorded(mean, [0, 1], [2, 3], Mechanism, neighbors="unbounded")
    assert removed.verdict == "data-dependent claim"


def test_the_tolerance_reaches_the_verdict():
    claim = (1 - 2 / 3) - 4 * math.ulp(1 / 3)

    def third(x):
        return Mechanism(claim).randomise(sum(x) / 3)

    near = audit_recorded(third, [0, 1], 3, Mechanism, neighbors="bounded")
    assert near.rows[0].slack_ulp == -4
    assert near.verdict == "tight up to rounding"
    strict = audit_recorded(third, [0, 1], 3, Mechanism, neighbors="bounded", tolerance_ulps=3)
    assert strict.verdict == "violated"


def test_numbers_of_numpy_and_texts_are_shown_as_python_writes_them():
    def longest(x):
        return Mechanism(np.float64(3)).randomise(np.float64(max(len(text) for text, _ in x)))

    records = [("a\nb", np.float64(0.5)), ("c", np.float64(1.5))]
    report = audit_recorded(longest, records, 2, Mechanism, neighbors="bounded", subject="a\nb")
    assert repr(report) == (
        "Audit of a b: loose\n"
        "  setting  bounded, at most 1; norm L1; values (('a\\nb', 0.5), ('c', 1.5)), sizes (2,) "
        "in every order; implementation\n"
        "  k  claimed  truth  verdict\n"
        "  1  3        2      loose (claim / truth = 1.5)\n"
        "  x  (('a\\nb', 0.5), ('c', 1.5))  ->  3.0\n"
        "  y  (('c', 1.5), ('c', 1.5))  ->  1.0"
    )
    assert json.loads(json.dumps(report.to_dict()))["rows"][0]["x"] == [["a\nb", 0.5], ["c", 1.5]]


def test_progress_is_shown_where_it_is_asked_for(capsys):
    audit_recorded(mean, [0, 1], 2, Mechanism, neighbors="bounded", progress=True)
    shown = capsys.readouterr().err
    assert "0/4" in shown
    assert " datasets" in shown
    audit_recorded(mean, [0, 1], 2, Mechanism, neighbors="bounded", progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.exhaustive
def test_two_orders_of_the_same_records_can_differ():
    def left_to_right(x):
        return Mechanism(1).randomise(sum(np.array(x, dtype=np.float16), np.float16(0)))

    one, every = (
        audit_recorded(
            left_to_right, [0, 0.1, 1], 6, Mechanism, neighbors="bounded", every_order=every_order
        )
        for every_order in (False, True)
    )
    assert (one.rows[0].value, every.rows[0].value) == (1.001953125, 1.00390625)
    assert "in one order" in one.setting


def test_several_calls_are_judged_one_by_one():
    def count_and_total(x):
        return Mechanism(1).randomise(len(x)), Mechanism(5).randomise(sum(x))

    report = audit_recorded(count_and_total, [0, 2], [1, 2], Mechanism, neighbors="unbounded")
    assert [(row.claimed, row.exact) for row in report.rows] == [(1, 1), (5, 2)]


def test_datasets_can_be_left_out():
    report = audit_recorded(
        lambda x: Mechanism(1).randomise(6 / sum(x)),
        [0, 1, 2],
        2,
        Mechanism,
        neighbors="bounded",
        where=any,
    )
    assert report.rows[0].exact == 4  # from (0, 1) to (1, 2)
    assert ", 8 datasets that `where` accepts; implementation" in report.setting


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (sum, f"on [0] the library called no recorded mechanism; {NO_CALL}"),
        (lambda _: 1 // 0, "[0] raised ZeroDivisionError: integer division or modulo by zero"),
        (
            lambda _: Mechanism(math.inf).randomise(1),
            "the library claims an infinite sensitivity, which no truth exceeds",
        ),
    ],
)
def test_functions_that_cannot_be_audited(function, message):
    refused(
        lambda: audit_recorded(function, [0], 1, Mechanism, neighbors="bounded"),
        message,
        sl.errors.QueryError,
    )
    assert Mechanism(1).randomise(5) == 1005


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"neighbors": sl.Bounded(1, exactly=True)},
            "neighbors must be a relation of at most k, got bounded, exactly 1",
        ),
        (
            {"where": lambda _: False},
            "where must accept at least one dataset, but it accepts none",
        ),
        ({"norm": 2}, "norm must be one of 'L1', 'L2', 'Linf', got 2"),
    ],
)
def test_arguments_that_are_not_accepted(options, message):
    refused(
        lambda: audit_recorded(mean, [0], 1, Mechanism, **{"neighbors": "bounded", **options}),
        message,
    )


def test_no_noise_on_one_of_two_neighbors_is_a_leak():
    """It used to be refused as if the wrong mechanism was named."""

    def early(x):
        return 0 if sum(x) == 0 else Mechanism(1).randomise(sum(x))

    report = sl.audits.audit_recorded(early, [0, 1], 2, Mechanism, neighbors="bounded")
    assert (report.verdict, report.sound) == ("violated", False)
    row = report.decisive
    assert (row.step, row.evidence.x, row.evidence.answer_x) == ("the return value", [0, 0], 0)
    assert "a recorded mechanism releases on only one of them" in str(report)


def test_an_answer_that_is_no_number_is_far_from_all_others():
    report = audit_recorded(
        lambda x: Mechanism(9).randomise(sum(x)), [math.nan, 0], 1, Mechanism, neighbors="bounded"
    )
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)
