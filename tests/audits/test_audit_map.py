"""The audit of any function beside its map: its truth, metrics, datasets and refusals."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial

import naive_distances as naive
import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from hypothesis import given, settings
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab.audits import maps
from sensitivity_lab.audits.maps import RANDOM
from sensitivity_lab.exact.difference import Difference


@pytest.fixture(autouse=True)
def _few_calls(monkeypatch):
    monkeypatch.setattr(maps, "PROBES", 40)
    monkeypatch.setattr(maps, "WITNESS", 2)


ON_RECORDS = ["symmetric", "insert_delete", "change_one", "hamming"]
ON_NUMBERS = ["L1", "L2", "absolute"]


@pytest.mark.representative("inputs")
@pytest.mark.parametrize("outputs", ["absolute", "L1", "Linf", "Linf_monotonic", "L2", "symmetric"])
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
    report = sl.audit(
        None,
        lambda x: table[datasets.index(x)],
        lambda d_in: 3 * d_in,
        neighbors=inputs,
        outputs=outputs,
        distances=range(4),
        datasets=datasets,
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

    report = sl.audit(
        [0, 1],
        shifted,
        lambda d: 2 * d,
        size=[1, 2],
        neighbors="insert_delete",
        outputs="L1",
        distances=(1, 2),
        every_order=False,
        subject="sum and size",
    )
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
    report = sl.audit(
        None,
        lambda x: 2 * x,
        lambda d: 2 * d,
        neighbors="absolute",
        outputs="absolute",
        distances=[0.5, Fraction(1, 3), 1],
        datasets=[0.0, 0.25, 0.75, 1.5],
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
        report = sl.audit(
            None,
            answers.get,
            2,
            neighbors="discrete",
            outputs=outputs,
            distances=d_in,
            datasets=datasets,
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
        return (
            sl.audit(
                [0.0, -0.0], sign, 9, size=1, neighbors=inputs, outputs="absolute", distances=d_in
            )
            .rows[0]
            .exact
        )

    for inputs, apart in [("symmetric", 2), ("change_one", 1), ("hamming", 1), ("discrete", 1)]:
        assert (truth(inputs, 0), truth(inputs, apart)) == (0, 2), inputs
    refused_with(
        lambda: truth("symmetric", 1), "no two datasets of size 1 are neighbors at distance"
    )
    for inputs in ("L1", "L2", "Linf"):
        assert truth(inputs, 0) == 2, inputs


def test_lists_of_text_are_records():
    report = sl.audit(
        [["a", "b"], ["c"], []],
        lambda x: [list(reversed(row)) for row in x],
        lambda d: d,
        size=range(3),
        neighbors="symmetric",
        outputs="symmetric",
        distances=(1, 2),
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
    report = sl.audit(
        None,
        total,
        lambda d: 3 * d,
        neighbors="symmetric",
        outputs="absolute",
        distances=[1, 2],
        datasets=lambda: map(make, tables_of_rows()),
    )
    assert [(row.claimed, row.exact) for row in report.rows] == [(3, 3), (6, 6)]
    assert "; 7 datasets; implementation" in report.setting


def test_a_map_that_fails_claims_nothing_there():
    def claim(d_in):
        if d_in == 1:
            raise OverflowError("too large")
        return {2: math.nan, 3: -1, 4: math.inf, 5: 5}[d_in]

    report = sl.audit(
        [0],
        len,
        claim,
        size=range(7),
        neighbors="symmetric",
        outputs="absolute",
        distances=[1, 2, 3, 4, 5],
    )
    assert [(row.claimed, row.exact, row.verdict, row.reason) for row in report.rows] == [
        (None, 1, "no claim", "OverflowError: too large"),
        (None, 2, "no claim", "the map returned nan"),
        (None, 3, "no claim", "the map returned -1"),
        (math.inf, 4, "loose", ""),
        (5, 5, "tight", ""),
    ]


@pytest.mark.parametrize("claim", [lambda k, n: k / n, lambda k: k / rnage])  # noqa: F821 - a mistake
def test_a_mistake_in_a_claim_is_no_promise(claim):
    asked = {"size": [1, 2], "neighbors": "bounded", "outputs": "absolute"}
    refused_with(
        lambda: sl.audit([0, 10], max, claim, **asked),
        "the claim, a function of the distance alone, raised",
    )


def test_a_test_does_not_pass_where_nothing_is_claimed():
    asked = {"size": 2, "neighbors": "bounded", "outputs": "absolute"}
    refused_with(
        lambda: sl.audits.assert_sensitivity([0, 10], max, lambda _: math.nan, **asked),
        "the claim promises nothing at any distance",
    )


def test_a_function_may_change_its_dataset():
    def drain(x):
        total = 0
        while x:
            total += x.pop()
        return total

    assert (
        sl.audit(
            [1, 3], drain, 3, size=range(3), neighbors="symmetric", outputs="absolute", distances=1
        ).verdict
        == "tight"
    )


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
    report = sl.audit(
        [one, other, one],
        lambda x: x.count(one),
        0,
        size=1,
        neighbors="change_one",
        outputs="absolute",
        distances=(1, 2),
    )
    assert (report.rows[0].value, report.sound) == (1, False)


FORMS = {
    "outputs of a pipeline": (
        lambda: sl.audit([0, 1], CHAIN, outputs="L1"),
        "outputs is not for a pipeline, got 'L1'; leave it out",
    ),
    "neighbors of a pipeline": (
        lambda: sl.audit([0, 1], CHAIN, neighbors="bounded"),
        "neighbors is not for a pipeline, got 'bounded'; leave it out",
    ),
    "a norm of a function": (
        lambda: sl.audit([0], len, 1, size=1, neighbors="discrete", outputs="L1", norm="L2"),
        "norm is not for a function with outputs=, got 'L2'; leave it out",
    ),
    "an array as the norm of a function": (
        lambda: sl.audit(
            [0], len, 1, size=1, neighbors="discrete", outputs="L1", norm=np.array([1, 2])
        ),
        "norm is not for a function with outputs=, got array([1, 2]); leave it out",
    ),
    "choices without outputs": (
        lambda: sl.audit([0], len, 1, size=1, neighbors="bounded", choices=3),
        "choices is not for a query, got 3; a function needs outputs=, as in sl.audit(values, "
        'function, claim, size=[2, 3], neighbors="symmetric", outputs="symmetric", choices=400)',
    ),
    "datasets without outputs": (
        lambda: sl.audit(None, len, 1, datasets=[[0]], neighbors="bounded"),
        "datasets is not for a query, got [[0]]; a function needs outputs=, as in sl.audit(None, "
        'function, claim, datasets=datasets, neighbors="bounded", outputs="L1")',
    ),
    "no claim": (
        lambda: sl.audit([0], len, size=1, neighbors="discrete", outputs="L1"),
        "the claim at distance 1 must be a number that is not negative: an int, float, Fraction "
        "or Decimal, got None (NoneType)",
    ),
}
CHAIN = (pl.Numbers(), pl.SymmetricDistance()) >> pl.count()


@pytest.mark.parametrize("case", FORMS)
def test_arguments_of_another_form_are_refused(case):
    call, message = FORMS[case]
    refused(call, message)


@pytest.mark.parametrize(
    ("relation", "metric"),
    [
        (sl.Bounded(2), "change_one"),
        (sl.Unbounded(2), "add_or_remove"),
        (sl.SymmetricDifference(2), "symmetric"),
    ],
)
def test_neighbors_of_a_function_are_a_relation_or_its_metric(relation, metric):
    options = {"size": [1, 2, 3], "outputs": "absolute"}
    first = sl.audit([0, 1, 5], sum, 9, **options, neighbors=relation)
    second = sl.audit([0, 1, 5], sum, 9, **options, neighbors=metric, distances=2)
    assert first.rows == second.rows


REFUSED = {
    "a table as an entry": (
        lambda: sl.audit(
            [pd.DataFrame({"a": [1]})],
            len,
            1,
            size=1,
            neighbors="symmetric",
            outputs="absolute",
            distances=(1, 2),
        ),
        "universe must be the values of records, got a table; write datasets= for tables, instead "
        "of universe and size",
    ),
    "no function": (
        lambda: sl.audit(
            [0], 3, 1, size=1, neighbors="symmetric", outputs="absolute", distances=(1, 2)
        ),
        "query must be a function of a dataset, where outputs= is given, got 3",
    ),
    "an unknown metric": (
        lambda: sl.audit([0], len, 1, size=1, neighbors="L3", outputs="absolute", distances=(1, 2)),
        "neighbors must be one of 'absolute', 'L0', 'L1', 'L2', 'Linf', 'Linf_monotonic', "
        "'symmetric', 'change_one', 'add_or_remove', 'hamming', 'insert_delete', 'discrete', or a "
        "function of two items that returns their distance, got 'L3'",
    ),
    "half a record": (
        lambda: sl.audit(
            [0], len, 1, size=1, neighbors="symmetric", outputs="absolute", distances=0.5
        ),
        "distances must be a whole number (a distance of datasets, at least 0), got 0.5 (float)",
    ),
    "a negative distance": (
        lambda: sl.audit([0], len, 1, size=1, neighbors="L1", outputs="absolute", distances=-0.5),
        "distances must be at least 0, got -0.5",
    ),
    "a huge distance": (
        lambda: sl.audit(
            [0], len, 1, size=1, neighbors="L1", outputs="absolute", distances=Fraction(2**64, 3)
        ),
        "distances must be below 2**62, got Fraction(18446744073709551616, 3)",
    ),
    "an infinite distance": (
        lambda: sl.audit(
            [0], len, 1, size=1, neighbors="L1", outputs="absolute", distances=math.inf
        ),
        "distances must be a distance of datasets, finite and at least 0, got inf",
    ),
    "neither": (
        lambda: sl.audit(None, len, 1, neighbors="symmetric", outputs="absolute", distances=(1, 2)),
        "give a universe and a size, or datasets, got neither",
    ),
    "both": (
        lambda: sl.audit(
            [0], len, 1, neighbors="symmetric", outputs="absolute", distances=(1, 2), datasets=[[0]]
        ),
        "give a universe and a size, or datasets, got both",
    ),
    "sizes of datasets": (
        lambda: sl.audit(
            None,
            len,
            1,
            size=3,
            neighbors="symmetric",
            outputs="absolute",
            distances=(1, 2),
            datasets=[[0]],
        ),
        "size must be left out: datasets have their own",
    ),
    "no sizes": (
        lambda: sl.audit([0], len, 1, neighbors="symmetric", outputs="absolute", distances=(1, 2)),
        "size must be given with a universe: the lengths of the lists to try; for datasets of your "
        "own, write datasets= instead of both",
    ),
    "no datasets": (
        lambda: sl.audit(
            None, len, 1, neighbors="symmetric", outputs="absolute", distances=(1, 2), datasets=[]
        ),
        "datasets must be the datasets to try, or a function that returns them, at least one, got "
        "none",
    ),
    "randomness": (
        lambda: sl.audit(
            [0], counting(), 1, size=1, neighbors="symmetric", outputs="absolute", distances=(1, 2)
        ),
        "what is audited must be a function, but it is randomised, or keeps state between calls: "
        "two calls on [0] returned 0 and 1; an audit needs the part that adds no randomness and "
        f"keeps nothing, or choices=, as in {RANDOM}",
    ),
    "a failure": (
        lambda: sl.audit(
            [0],
            fragile,
            1,
            size=[0, 1],
            neighbors="symmetric",
            outputs="absolute",
            distances=(1, 2),
        ),
        "the function fails on []: ValueError: no records",
    ),
    "no records": (
        lambda: sl.audit(
            None,
            abs,
            1,
            neighbors="symmetric",
            outputs="absolute",
            distances=(1, 2),
            datasets=[3, 4],
        ),
        "3 (int) has no records; those of lists, tuples, arrays, tables and texts are known, so "
        "give a function of two datasets instead of the metric",
    ),
    "no number": (
        lambda: sl.audit(
            [0], str, 1, size=[0, 1], neighbors="symmetric", outputs="absolute", distances=(1, 2)
        ),
        "on the dataset [], an answer holds '[]', which is not a finite number",
    ),
    "no distance": (
        lambda: sl.audit(
            None,
            abs,
            1,
            neighbors=lambda x, y: x - y,
            outputs="absolute",
            distances=1,
            datasets=[3, 4],
        ),
        "the distance of 3 and 4 must be a number of at least 0, math.inf, or True or False for "
        "neighbors, got -1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    refused(call, message, (sl.errors.InputError, sl.errors.QueryError))


def test_too_many_datasets_are_refused():
    refused(
        lambda: sl.audit(
            None,
            abs,
            1,
            neighbors="absolute",
            outputs="absolute",
            distances=(1, 2),
            datasets=range(200_001),
        ),
        "there are 200,001 datasets, more than the 200,000 that are tried; give fewer",
        sl.errors.TooLargeError,
    )


def test_neighbors_of_your_own_are_asked_once_per_pair():
    asked = []

    def neighbors(x, y):
        asked.append((x, y))
        return abs(x - y) <= 2

    report = sl.audit(
        None,
        lambda x: x * x,
        9,
        neighbors=neighbors,
        outputs="absolute",
        distances=[0, 1],
        datasets=[0, 2, 5],
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
        report = sl.audit(
            [0, 1],
            scores,
            lambda d: d,
            size=range(3),
            neighbors="symmetric",
            outputs=outputs,
            distances=1,
        )
        assert report.rows[0].exact == most
        assert report.sound == (most == 1)


def test_what_cannot_be_compared_is_refused():
    loop = []
    loop.append(loop)
    options = {"neighbors": "symmetric", "outputs": "absolute"}
    for name, source in {
        "universe": {"universe": [loop], "size": 1},
        "datasets": {"universe": None, "datasets": [loop]},
    }.items():
        refused(
            partial(sl.audit, query=len, claim=1, **options, **source),
            f"{name} must be what can be compared and hashed, got [[...]], which raised "
            "RecursionError",
        )
    refused(
        lambda: sl.audit([0], lambda _: pd.NA, 1, size=1, **options),
        "the function fails on [0]: TypeError: boolean value of NA is ambiguous",
        sl.errors.QueryError,
    )


@pytest.mark.parametrize("inputs", ["symmetric", "insert_delete"])
def test_what_is_kept_from_one_call_to_the_next_is_found(inputs):
    """After a dataset with one record more, which comes before only where the order is backward."""
    last = [None]

    def remembering(x):
        before, last[0] = last[0], len(x)
        return 5 if before == len(x) + 1 else 0

    refused_with(
        lambda: sl.audit(
            [0], remembering, 0, size=[0, 1, 2], neighbors=inputs, outputs="absolute", distances=1
        ),
        "or keeps state between calls",
    )


@pytest.mark.parametrize(
    "masked",
    [
        lambda x: np.ma.masked_equal(x, 1).sum(),
        lambda x: np.ma.masked_equal(x, 1),
        lambda x: [np.ma.masked_equal(x, 1).sum(), 0],
        lambda x: np.ma.array(sum(x), mask=min(x) == 1),
    ],
)
def test_what_is_masked_is_no_number(masked):
    """It was 0, so that no two answers differed."""
    report = sl.audit([0, 1], masked, 0, size=2, neighbors="bounded", outputs="L1")
    assert (report.verdict, report.rows[0].value) == ("violated", math.inf)


def test_what_is_kept_between_calls_is_no_answer():
    """The first call of a size decides all others, so that no two answers differ."""
    seen = {}

    def first(x):
        return seen.setdefault(len(x), sum(x))

    class Laplace:
        sensitivity = 1

        def randomise(self, value):
            return value

    kept = {"neighbors": "unbounded", "outputs": "absolute"}
    told = "the function keeps seen from one call to the next; make what is kept anew in every call"
    for report in (
        sl.audit([0, 1], first, 1, size=[1, 2], **kept),
        sl.audit(
            [0, 1], lambda x, _: seen.setdefault(-len(x), sum(x)), 1, size=[1, 2], choices=[0],
            **kept,
        ),
        sl.audits.audit_recorded(
            lambda x: Laplace().randomise(seen.setdefault((len(x), 1), sum(x))),
            [0, 1], [1, 2], Laplace, neighbors="unbounded",
        ),
    ):  # fmt: skip
        assert (report.verdict, report.held) == ("not judged", False)
        assert report.unjudged == (told,)


def test_a_function_that_changes_the_records_changes_only_its_own():
    """Centred in place, all but one pair would be further apart, and what is left keeps 4."""
    datasets = [[[0], [0], [0], [80]], [[0], [0], [0], [0]], [[1], [1], [1], [1]]]
    datasets += [[[1], [1], [1], [5]]]

    def spread(x):
        mean = sum(one for [one] in x) // len(x)
        for record in x:
            record[0] -= mean
        return sum(abs(one) for [one] in x)

    report = sl.audit(
        None, spread, 4, datasets=datasets, neighbors="change_one", outputs="absolute"
    )
    assert (report.verdict, report.rows[0].exact) == ("violated", 120)
    assert report.rows[0].evidence.x == [[0], [0], [0], [80]] == datasets[0]


COUNTED = {"symmetric": 1, "change_one": 2}


@pytest.mark.parametrize("neighbors", COUNTED)
@pytest.mark.parametrize("made", [pd.Series, lambda counts: pd.DataFrame({"people": counts})])
def test_tables_are_compared_by_their_labels(made, neighbors):
    def counts(x, names=("a", "b")):
        largest_first = sorted(names, key=x.count, reverse=True)
        return made({name: x.count(name) for name in largest_first})

    given = {"size": range(1, 4), "neighbors": neighbors, "outputs": "L1"}
    report = sl.audit(["a", "b"], counts, COUNTED[neighbors], **given)
    assert report.verdict == "tight"
    of_none = " and \"'b'\"" if made is pd.Series else " and \"'b', 'people'\""
    refused_with(
        lambda: sl.audit(["a", "b"], lambda x: counts(x, sorted(set(x))), 0, **given),
        of_none + " have no distance; return a dict, in which absent names count as 0",
        sl.errors.QueryError,
    )


def test_long_doubles_are_numbers():
    given = {"size": 1, "neighbors": "change_one", "outputs": "absolute"}
    report = sl.audit([0, 1], lambda x: np.longdouble(x[0]) / 3, 0, **given)
    assert report.rows[0].exact == Fraction(*(np.longdouble(1) / 3).as_integer_ratio())


def test_decimals_are_numbers():
    given = {"size": 1, "neighbors": "change_one", "outputs": "absolute"}
    report = sl.audit([0, 1], lambda x: Decimal("0.1") * x[0], Fraction(1, 10), **given)
    assert (report.verdict, report.rows[0].exact) == ("tight", Fraction(1, 10))
    refused_with(
        lambda: sl.audit([0, 1], lambda _: Decimal("NaN"), 0, **given),
        r"an answer holds Decimal\('NaN'\), which is not a finite number",
        sl.errors.QueryError,
    )
