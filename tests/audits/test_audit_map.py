"""The audit of any function beside its map: its truth, metrics, datasets and refusals."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import naive_distances as naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.audits import randomness
from sensitivity_lab.exact.difference import Difference


@pytest.fixture(autouse=True)
def _few_calls(monkeypatch):
    monkeypatch.setattr(randomness, "PROBES", 40)
    monkeypatch.setattr(randomness, "WITNESS", 2)


ON_RECORDS = ["symmetric", "insert_delete", "change_one", "hamming"]
ON_NUMBERS = ["L1", "L2", "absolute"]


@pytest.mark.parametrize("outputs", ["absolute", "Linf", "Linf_monotonic", "L2", "symmetric"])
@pytest.mark.parametrize("inputs", [*ON_RECORDS, *ON_NUMBERS])
@settings(max_examples=2)
@given(data=st.data())
def test_the_truth_is_that_of_the_definition(inputs, outputs, data):
    if inputs == "absolute":
        datasets = [-1, 0, 2, 3]
    else:
        sizes = [2] if inputs in ON_NUMBERS else [0, 1, 2]
        datasets = [list(x) for n in sizes for x in itertools.product([0, 1, 3], repeat=n)]
    number = st.integers(-5, 5)
    answer = number if outputs == "absolute" else st.lists(number, min_size=2, max_size=2)
    table = data.draw(st.lists(answer, min_size=len(datasets), max_size=len(datasets)))
    report = sl.audits.audit_map(
        lambda x: table[datasets.index(x)],
        lambda d_in: 3 * d_in,
        datasets=datasets,
        inputs=inputs,
        outputs=outputs,
        d_in=range(4),
    )
    for row in report.rows:
        most = naive.farthest(datasets, table, inputs, outputs, row.distance)
        assert row.truth == Difference(Fraction(most), Fraction(0), root=outputs == "L2")
        assert row.claimed == 3 * row.distance
        seen = row.evidence
        assert naive.within(inputs, seen.x, seen.y, row.distance)
        assert table[datasets.index(seen.x)] == seen.answer_x


def test_a_report_says_what_was_audited():
    def shifted(x):
        return [sum(x), -len(x)]

    report = sl.audits.audit_map(shifted, lambda d: 2 * d, [0, 1], [1, 2], inputs="insert_delete",
                          outputs="L1", every_order=False, subject="sum and size")  # fmt: skip
    assert repr(report) == (
        "Audit of sum and size: loose\n"
        "  setting  insert_delete of at most k to L1; values (0, 1), sizes (1, 2) in one order; "
        "implementation\n"
        "  k  claimed  truth  verdict\n"
        "  2  4        2      loose (claim / truth = 2)\n"
        "  1  2        2      tight\n"
        "  x  (0,)  ->  (0, -1)\n"
        "  y  (0, 1)  ->  (1, -2)"
    )


def test_distances_between_numbers_need_not_be_whole():
    report = sl.audits.audit_map(
        lambda x: 2 * x,
        lambda d: 2 * d,
        datasets=[0.0, 0.25, 0.75, 1.5],
        inputs="absolute",
        d_in=[0.5, Fraction(1, 3), 1],
    )
    assert [(row.distance, row.exact) for row in report.rows] == [
        (Fraction(1, 3), Fraction(1, 2)),
        (0.5, 1),
        (1, Fraction(3, 2)),
    ]
    assert report.verdict == "loose"


def test_infinite_and_missing_answers_are_answers():
    """By OpenDP's and the lab's definition: infinitely far from all others, not from themselves."""
    answers = {0: [1.0, math.inf], 1: [3.0, math.inf], 2: [1.0, math.nan], 3: [1.0]}

    def truth(datasets, outputs, d_in=1):
        report = sl.audits.audit_map(
            answers.get, 2, datasets=datasets, inputs="discrete", outputs=outputs, d_in=d_in
        )
        return report.rows[0].truth, report.verdict

    for outputs in ("L1", "Linf", "Linf_monotonic"):
        assert truth([0, 1], outputs) == (Difference(Fraction(2), Fraction(0)), "tight")
    assert truth([0, 1], "L2")[0].nearest() == 2.0
    for outputs in ("L1", "L2", "Linf", "Linf_monotonic"):
        assert truth([0, 2], outputs) == (math.inf, "violated")
        assert truth([0, 3], outputs) == (math.inf, "violated")
        assert truth([2], outputs, d_in=0)[0] == Difference(Fraction(0), Fraction(0))
    assert truth([0, 2], "L0") == (Difference(Fraction(1), Fraction(0)), "loose")
    assert truth([0, 3], "hamming") == (math.inf, "violated")


def test_zeros_of_two_signs_are_two_records_and_one_number():
    def sign(x):
        return int(math.copysign(1, x[0]))

    def truth(inputs, d_in):
        return sl.audits.audit_map(sign, 9, [0.0, -0.0], 1, inputs=inputs, d_in=d_in).rows[0].exact

    for inputs, apart in [("symmetric", 2), ("change_one", 1), ("hamming", 1), ("discrete", 1)]:
        assert (truth(inputs, 0), truth(inputs, apart)) == (0, 2), inputs
    with pytest.raises(
        sl.errors.InputError, match="no two datasets of size 1 are neighbors at distance"
    ):
        truth("symmetric", 1)
    for inputs in ("L1", "L2", "Linf"):
        assert truth(inputs, 0) == 2, inputs


def test_lists_of_text_are_records():
    report = sl.audits.audit_map(
        lambda x: [list(reversed(row)) for row in x],
        lambda d: d,
        [["a", "b"], ["c"], []],
        range(3),
        outputs="symmetric",
    )
    assert [row.exact for row in report.rows] == [1, 2]
    assert report.verdict == "tight"


def tables_of_rows():
    for n in range(3):
        yield from itertools.product([(0, 1.0), (2, 3.0)], repeat=n)


DATASETS = {
    "arrays": (lambda rows: np.array(rows).reshape(-1, 2), lambda x: float(x[:, 1].sum())),
    "tables": (
        lambda rows: pd.DataFrame(list(rows), columns=["a", "b"], dtype=float),
        lambda x: float(x["b"].sum()),
    ),
    "texts": (
        lambda rows: "".join(f"{a},{b}\n" for a, b in rows),
        lambda x: sum(float(line.split(",")[1]) for line in x.splitlines()),
    ),
}


@pytest.mark.parametrize("kind", DATASETS)
def test_records_are_rows_and_lines(kind):
    make, total = DATASETS[kind]
    report = sl.audits.audit_map(
        total, lambda d: 3 * d, datasets=lambda: map(make, tables_of_rows()), d_in=[1, 2]
    )
    assert [(row.claimed, row.exact) for row in report.rows] == [(3, 3), (6, 6)]
    assert "; 7 datasets; implementation" in report.setting


def test_a_map_that_fails_claims_nothing_there():
    def claim(d_in):
        if d_in == 1:
            raise OverflowError("too large")
        return {2: math.nan, 3: -1, 4: math.inf, 5: 5}[d_in]

    report = sl.audits.audit_map(len, claim, [0], range(7), d_in=[1, 2, 3, 4, 5])
    assert [(row.claimed, row.exact, row.verdict, row.reason) for row in report.rows] == [
        (None, 1, "no claim", "OverflowError: too large"),
        (None, 2, "no claim", "the map returned nan"),
        (None, 3, "no claim", "the map returned -1"),
        (math.inf, 4, "loose", ""),
        (5, 5, "tight", ""),
    ]


def test_a_function_may_change_its_dataset():
    def drain(x):
        total = 0
        while x:
            total += x.pop()
        return total

    assert sl.audits.audit_map(drain, 3, [1, 3], range(3), d_in=1).verdict == "tight"


def counting():
    calls = itertools.count()
    return lambda _: next(calls)


def fragile(x):
    if not x:
        raise ValueError("no records")
    return max(x)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a" * 5000 + "x" + "a" * 5000, "a" * 10_000), (10**400, 10**400 + 10**200)],
    ids=["texts", "numbers"],
)
def test_values_that_a_message_writes_alike_are_several(one, other):
    report = sl.audits.audit_map(
        lambda x: x.count(one), 0, values=[one, other, one], sizes=1, inputs="change_one"
    )
    assert (report.rows[0].value, report.sound) == (1, False)


REFUSED = {
    "a table as an entry": (
        lambda: sl.audits.audit_map(len, 1, [pd.DataFrame({"a": [1]})], 1),
        "values must be what can be compared and hashed, got a 0 1, which raised ValueError",
    ),
    "no function": (
        lambda: sl.audits.audit_map(3, 1, [0], 1),
        "transformation must be a function of a dataset, got 3",
    ),
    "an unknown metric": (
        lambda: sl.audits.audit_map(len, 1, [0], 1, inputs="L3"),
        "inputs must be one of 'absolute', 'L0', 'L1', 'L2', 'Linf', 'Linf_monotonic', "
        "'symmetric', 'change_one', 'add_or_remove', 'hamming', 'insert_delete', 'discrete', or a "
        "function of two items that returns their distance, got 'L3'",
    ),
    "a relation": (
        lambda: sl.audits.audit_map(len, 1, [0], 1, inputs="bounded"),
        "inputs must be one of 'absolute', 'L0', 'L1', 'L2', 'Linf', 'Linf_monotonic', "
        "'symmetric', 'change_one', 'add_or_remove', 'hamming', 'insert_delete', 'discrete', or a "
        "function of two items that returns their distance, got 'bounded'; did you mean "
        "'change_one'?",
    ),
    "half a record": (
        lambda: sl.audits.audit_map(len, 1, [0], 1, d_in=0.5),
        "d_in must be a whole number (an input distance, at least 0), got 0.5 (float)",
    ),
    "a negative distance": (
        lambda: sl.audits.audit_map(len, 1, [0], 1, inputs="L1", d_in=-0.5),
        "d_in must be an input distance, at least 0, got -0.5",
    ),
    "a huge distance": (
        lambda: sl.audits.audit_map(len, 1, [0], 1, inputs="L1", d_in=Fraction(2**64, 3)),
        "d_in must be below 2**62, got Fraction(18446744073709551616, 3)",
    ),
    "an infinite distance": (
        lambda: sl.audits.audit_map(len, 1, [0], 1, inputs="L1", d_in=math.inf),
        "d_in must be an input distance, finite and at least 0, got inf",
    ),
    "neither": (lambda: sl.audits.audit_map(len, 1), "give values, or datasets, got neither"),
    "both": (
        lambda: sl.audits.audit_map(len, 1, [0], datasets=[[0]]),
        "give values, or datasets, got both",
    ),
    "sizes of datasets": (
        lambda: sl.audits.audit_map(len, 1, None, 3, datasets=[[0]]),
        "sizes must be left out: datasets have their own",
    ),
    "no sizes": (
        lambda: sl.audits.audit_map(len, 1, [0]),
        "sizes must be given with values: the lengths of the lists to try",
    ),
    "no datasets": (
        lambda: sl.audits.audit_map(len, 1, datasets=[]),
        "datasets must be the datasets to try, or a function that returns them, at least one, got "
        "none",
    ),
    "randomness": (
        lambda: sl.audits.audit_map(counting(), 1, [0], 1),
        "transformation must be a function, but it is randomised, or keeps state between "
        "calls: two calls on [0] returned 0 and 1; an audit needs the part that adds no "
        "randomness and keeps nothing, or audit_randomized",
    ),
    "a failure": (
        lambda: sl.audits.audit_map(fragile, 1, [0], [0, 1]),
        "the transformation fails on []: ValueError: no records",
    ),
    "no records": (
        lambda: sl.audits.audit_map(abs, 1, datasets=[3, 4]),
        "3 (int) has no records; those of lists, tuples, arrays, tables and texts are known, so "
        "give a function of two datasets instead of the metric",
    ),
    "no number": (
        lambda: sl.audits.audit_map(str, 1, [0], [0, 1]),
        "on the dataset [], an answer holds '[]', which is not a finite number",
    ),
    "no distance": (
        lambda: sl.audits.audit_map(abs, 1, datasets=[3, 4], inputs=lambda x, y: x - y, d_in=1),
        "the distance of 3 and 4 must be a number of at least 0, math.inf, or True or False for "
        "neighbors, got -1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises((sl.errors.InputError, sl.errors.QueryError)) as caught:
        call()
    assert str(caught.value) == message


def test_too_many_datasets_are_refused():
    with pytest.raises(sl.errors.TooLargeError) as caught:
        sl.audits.audit_map(abs, 1, datasets=range(200_001), inputs="absolute")
    assert str(caught.value) == (
        "there are 200,001 datasets, more than the 200,000 that are tried; give fewer"
    )


def test_neighbors_of_your_own_are_asked_once_per_pair():
    asked = []

    def neighbors(x, y):
        asked.append((x, y))
        return abs(x - y) <= 2

    report = sl.audits.audit_map(
        lambda x: x * x, 9, datasets=[0, 2, 5], inputs=neighbors, d_in=[0, 1]
    )
    assert asked == [(0, 2), (0, 5), (2, 5)]
    assert [row.exact for row in report.rows] == [0, 4]
    assert report.setting == "neighbors of at most k to absolute; 3 datasets; implementation"


SCORES = {
    "one way": (lambda x: [x.count(0), x.count(1)], 1, 1),
    "both ways": (lambda x: [x.count(0) - x.count(1), x.count(1) - x.count(0)], 1, 2),
}


@pytest.mark.parametrize("case", SCORES)
def test_scores_of_a_selection_are_monotonic_or_not(case):
    """A claim for monotonic scores is refuted exactly if one record moves scores both ways."""
    scores, linf, monotonic = SCORES[case]
    for outputs, most in [("Linf", linf), ("Linf_monotonic", monotonic)]:
        report = sl.audits.audit_map(scores, lambda d: d, [0, 1], range(3), outputs=outputs, d_in=1)
        assert report.rows[0].exact == most
        assert report.sound == (most == 1)


def test_what_cannot_be_compared_is_refused():
    loop = []
    loop.append(loop)
    for source in ({"values": [loop], "sizes": 1}, {"datasets": [loop]}):
        with pytest.raises(sl.errors.InputError) as caught:
            sl.audits.audit_map(len, 1, **source)
        assert str(caught.value) == (
            f"{next(iter(source))} must be what can be compared and hashed, got [[...]], which "
            "raised RecursionError"
        )
    with pytest.raises(sl.errors.QueryError) as caught:
        sl.audits.audit_map(lambda _: pd.NA, 1, [0], 1)
    assert str(caught.value) == (
        "the transformation fails on [0]: TypeError: boolean value of NA is ambiguous"
    )


@pytest.mark.parametrize("inputs", ["symmetric", "insert_delete"])
def test_what_is_kept_from_one_call_to_the_next_is_found(inputs):
    """After a dataset with one record more, which comes before only where the order is backward."""
    last = [None]

    def remembering(x):
        before, last[0] = last[0], len(x)
        return 5 if before == len(x) + 1 else 0

    with pytest.raises(sl.errors.InputError, match="or keeps state between calls"):
        sl.audits.audit_map(remembering, 0, [0], [0, 1, 2], inputs=inputs, d_in=1)
