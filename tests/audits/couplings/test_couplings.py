"""Audits of randomised code, by the best coupling of its outputs."""

from __future__ import annotations

import itertools
import math
import random

import naive_distances as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_randomized
from sensitivity_lab.audits.couplings import outputs
from sensitivity_lab.audits.couplings.distance import uncoupled

FRESH = itertools.count()


def shuffled(x, order):
    return [x[place] for place in order]


def orders(x):
    return list(itertools.permutations(range(len(x))))


def first_two(x, order):
    """A resize to two records by random choice."""
    return shuffled(x, order)[:2]


def best_coupling(p, q, distance):
    """The smallest over all pairings of equally many outputs of the largest distance."""
    return min(
        max(distance(one, two) for one, two in zip(p, order, strict=True))
        for order in itertools.permutations(q)
    )


def by_definition(function, datasets, inputs, measured, d_in, choices):
    """The worst pair of neighbors, by plain Python; repeated outputs make the numbers equal."""
    pairs = set()
    for x, y in itertools.combinations(datasets, 2):
        if naive.DISTANCE[inputs](x, y) <= d_in:
            p, q = ([tuple(function(data, one)) for one in choices(data)] for data in (x, y))
            longest = math.lcm(len(p), len(q))
            both = (sorted(one * (longest // len(one))) for one in (p, q))
            pairs.add(tuple(map(tuple, both)))
    return max((best_coupling(*pair, naive.DISTANCE[measured]) for pair in pairs), default=0)


@pytest.mark.parametrize("metric", ["insert_delete", "symmetric"])
def test_a_resize_by_random_choice_is_judged_under_coupling(metric):
    """A plain Python one: from three records to two, and from two to their shuffle."""
    datasets = [list(data) for size in (2, 3) for data in itertools.product((0, 1), repeat=size)]
    truth = by_definition(first_two, datasets, metric, metric, 1, orders)
    reports = [
        audit_randomized(
            first_two, [0, 1], [2, 3], claim=lambda d_in: 2 * d_in, input_metric=metric,
            output_metric=metric, d_in=1, choices=orders,
        )
        for _ in range(10)
    ]  # fmt: skip
    assert {(one.verdict, one.rows[0].exact) for one in reports} == {("tight", truth)}
    assert truth == 2
    assert len(set(map(repr, reports))) == 1
    assert "; all choices, equally likely, under the best coupling; impl" in reports[0].setting


@given(st.data())
@pytest.mark.parametrize("measured", ["symmetric", "hamming", "insert_delete"])
def test_the_distance_is_that_of_the_best_pairing(measured, data):
    """Random outputs, one, two or four on each of six datasets."""
    table = {
        (zeros, ones): data.draw(
            st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=4, max_size=4)
        )[: data.draw(st.sampled_from([1, 2, 4]))]
        for zeros in range(3)
        for ones in range(3 - zeros)
    }

    def function(x, choice):
        return table[x.count(0), x.count(1)][choice]

    def choices(x):
        return range(len(table[x.count(0), x.count(1)]))

    report = audit_randomized(
        function, [0, 1], range(3), claim=1, output_metric=measured, d_in=[1, 2],
        choices=choices, every_order=False,
    )  # fmt: skip
    datasets = [[0] * zeros + [1] * ones for zeros, ones in table]
    for row in report.rows:
        truth = by_definition(function, datasets, "symmetric", measured, row.distance, choices)
        assert row.exact == truth


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.integers(0, 2**25),
)
def test_a_flow_gets_stuck_in_the_worst_set(supply, demand, bits):
    """By all sets A of outputs: the largest of supply(A) less the demand close to A."""
    close = np.array(
        [[bits >> (5 * i + j) & 1 for j in range(len(demand))] for i in range(len(supply))], bool
    )
    left, stuck = uncoupled(supply, demand, close)

    def excess(inside):
        around = {j for i in inside for j in range(len(demand)) if close[i, j]}
        return sum(supply[i] for i in inside) - sum(demand[j] for j in around)

    sets = [
        inside
        for size in range(len(supply) + 1)
        for inside in itertools.combinations(range(len(supply)), size)
    ]
    assert left == max(map(excess, sets)) == excess(stuck)


def test_probabilities_count_not_only_what_is_possible():
    """Both outputs are possible everywhere, and yet a coupling has to move some of them."""
    report = audit_randomized(
        lambda x, choice: [int(choice < 1 + 2 * (1 in x))] * 2,
        [0, 1], 1, claim=1, d_in=2, choices=range(4), subject="coin",
    )  # fmt: skip
    assert repr(report) == (
        "Audit of coin: violated\n"
        "  setting  symmetric of at most d_in to symmetric; values (0, 1), sizes (1,) in every "
        "order; all choices, equally likely, under the best coupling; implementation\n"
        "  k  claimed  truth  verdict\n"
        "  2  1        4      violated (claim / truth = 0.25)\n"
        "  x  (0,)  ->  (((1, 1), 1/4), ((0, 0), 3/4))\n"
        "  y  (1,)  ->  (((1, 1), 3/4), ((0, 0), 1/4))"
    )
    assert not report.sound
    sampled = audit_randomized(
        lambda x, choice: [int(choice % 4 < 1 + 2 * (1 in x))] * 2,
        [0, 1], 1, claim=1, d_in=2, seeds=range(400),
    )  # fmt: skip
    assert (sampled.verdict, sampled.rows[0].exact) == ("violated", 4)
    assert "; sampled, not enumerated: 400 seeds, under the best coupling" in sampled.setting


def test_a_shuffle_is_the_identity_where_order_does_not_count():
    options = {"values": [0, 1], "sizes": range(4), "claim": lambda d_in: d_in, "choices": orders}
    report = audit_randomized(shuffled, **options)
    assert [(row.verdict, row.exact) for row in report.rows] == [("tight", 1), ("tight", 2)]
    ordered = audit_randomized(shuffled, **options, output_metric="insert_delete")
    assert [row.verdict for row in ordered.rows] == ["tight", "tight"]
    kept = audit_randomized(shuffled, **options, input_metric="hamming", output_metric="hamming")
    assert [row.verdict for row in kept.rows] == ["tight", "tight"]


def test_nan_equals_nan_and_zeros_are_as_asked_for():
    def missing(x, sign):
        return [float("nan"), math.copysign(0.0, sign if x else 1)]

    given = {"values": [0], "sizes": [0, 1], "claim": 0, "d_in": 1, "choices": (-1, 1)}
    assert audit_randomized(missing, **given).rows[0].exact == 0
    signed = audit_randomized(missing, **given, signed_zeros=True)
    assert (signed.rows[0].exact, signed.verdict) == (2, "violated")
    for metric in ("hamming", "discrete"):
        one = audit_randomized(missing, **given, signed_zeros=True, output_metric=metric)
        assert one.rows[0].exact == 1
    numbers = {**given, "signed_zeros": True, "output_metric": "L1"}
    assert audit_randomized(lambda x, sign: sign * float(len(x) - 1), **numbers).rows[0].exact == 1


def test_numbers_have_couplings_too():
    """A random one of the records, against the mean of them all."""
    report = audit_randomized(
        lambda x, place: x[place], [0, 0.5, 2], 2, claim=1, input_metric="change_one",
        output_metric="absolute", d_in=1, choices=range(2),
    )  # fmt: skip
    # From (0, 0) to (0, 2), one of two outcomes moves by 2, however they are coupled.
    assert (report.rows[0].exact, report.verdict) == (2, "violated")


def test_outputs_that_no_step_connects_are_infinitely_far_apart():
    report = audit_randomized(
        first_two, [0, 1], [1, 2], claim=9, output_metric="hamming", d_in=1, choices=orders
    )
    assert (report.rows[0].truth, report.verdict) == (math.inf, "violated")


def test_draws_give_the_same_answer_in_ten_runs():
    source = random.Random(5)

    def resize(x):
        return source.sample(x, 2) if len(x) > 2 else x

    verdicts = set()
    for _ in range(10):
        report = audit_randomized(
            resize, [0, 1], [2, 3], claim=lambda d_in: 2 * d_in, d_in=1, draws=200,
            every_order=False,
        )  # fmt: skip
        verdicts.add((report.verdict, report.rows[0].exact))
        assert "; sampled, not enumerated: 200 draws on each dataset, " in report.setting
    assert verdicts == {("not judged", 2)}


def test_draws_that_never_recur_tell_nothing():
    """Missing values become floats of a continuous range, each of which comes once."""
    source = random.Random(5)
    report = audit_randomized(
        lambda x: [source.random() if one is None else one for one in x],
        [None, 1.0], [1, 2], claim=1, d_in=1, draws=50,
    )  # fmt: skip
    assert (report.verdict, report.sound) == ("not judged", False)


def test_a_sample_violates_only_if_new_draws_say_so_again():
    """All first draws on (1,) are a rare accident, which does not come again."""
    called = []

    def accident(x):
        called.append(x)
        return [len(x) if len(called) <= 160 else 0] * 3

    report = audit_randomized(accident, [1], [0, 1], claim=1, d_in=1, draws=80)
    assert len(called) == 80 * 2 + 80 * 2
    assert (report.verdict, report.rows[0].exact) == ("not judged", 0)
    stable = audit_randomized(lambda x: [len(x)] * 3, [1], [0, 1], claim=1, d_in=1, draws=80)
    assert (stable.verdict, stable.rows[0].exact) == ("violated", 6)


def test_choices_must_be_all_that_is_random():
    source = random.Random(1)
    with pytest.raises(sl.errors.QueryError) as caught:
        audit_randomized(lambda _, __: [source.random()], [0], [1, 2], claim=1, choices=[0])
    assert str(caught.value) == (
        "two calls on [0, 0] with the same choices differ; the choices must cover all randomness, "
        "and the function must keep no state between calls"
    )


def bootstrap(x, seed=None):
    """Draw as many records with replacement, by a seed or by a fresh one that is the next."""
    return random.Random(next(FRESH) if seed is None else seed).choices(x, k=len(x))


@pytest.mark.parametrize("made", [{"draws": 100}, {"seeds": range(100)}])
def test_a_sample_calls_no_claim_large_enough(made):
    """A bootstrap can hold a replaced record up to three times: 2 is too little, 6 is true."""
    report = audit_randomized(
        bootstrap, [0, 1], [3], claim=2, input_metric="change_one", d_in=1, every_order=False,
        **made,
    )  # fmt: skip
    (row,) = report.rows
    assert (row.verdict, row.compared, report.sound) == ("not judged", "tight", False)
    assert row.remark == (
        "not judged (the outputs are a sample, and others may be farther apart; give all choices=)"
    )
    assert row.sentence == (
        f"a sensitivity of 2 is claimed at distance 1, the truth is 2: {row.remark}"
    )
    assert row.to_dict()["reason"] in row.remark
    with pytest.raises(sl.errors.SensitivityViolation, match="not judged"):
        report.raise_if_violated()
    exact = audit_randomized(
        lambda x, places: [x[place] for place in places], [0, 1], [3], claim=2, d_in=1,
        input_metric="change_one", every_order=False,
        choices=list(itertools.product(range(3), repeat=3)),
    )  # fmt: skip
    assert (exact.verdict, exact.rows[0].exact) == ("violated", 6)


def test_what_is_kept_from_one_call_to_the_next_is_found():
    """Each output depends on the dataset before, which in one order has one record less."""
    last = [None]

    def remembering(x, _):
        before, last[0] = last[0], len(x)
        return [0] * (5 if before == len(x) + 1 else 0)

    with pytest.raises(sl.errors.QueryError, match="the function must keep no state between calls"):
        audit_randomized(remembering, [0], [0, 1, 2], claim=0, d_in=1, choices=[0])


def test_datasets_without_neighbors_are_refused():
    with pytest.raises(sl.errors.InputError) as caught:
        audit_randomized(shuffled, [0, 1], 2, claim=1, d_in=[0, 1], choices=orders)
    assert str(caught.value) == (
        "no two datasets of size 2 are neighbors at distance 1: give sizes=[1, 2]"
    )
    assert audit_randomized(shuffled, [0, 1], 2, claim=2, d_in=[0, 2], choices=orders).sound


def test_too_many_outputs_are_refused(monkeypatch):
    monkeypatch.setattr(outputs, "OUTPUT_LIMIT", 3)
    with pytest.raises(sl.errors.TooLargeError) as caught:
        audit_randomized(shuffled, [0, 1], 2, claim=1, choices=orders)
    assert str(caught.value) == (
        "there are more than 3 different outputs, and all pairs are measured; use fewer "
        "values, smaller sizes or fewer draws; for code that adds noise, use audit_mechanism"
    )


def failing(*_):
    raise ValueError("no")


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (sl.errors.QueryError, {"function": failing, "choices": [7]},
         "[0] with the choice 7 raised ValueError: no"),
        (sl.errors.QueryError, {"function": failing}, "[0] raised ValueError: no"),
        (sl.errors.QueryError, {"choices": failing}, "choices, on [0], raised ValueError: no"),
        (sl.errors.InputError, {"choices": lambda _: []},
         "choices, on [0], must be at least one, got none"),
        (sl.errors.InputError, {"choices": []},
         "choices must be random choices, at least one, got none"),
        (sl.errors.InputError, {"choices": [1], "seeds": [1]},
         "choices and seeds exclude each other; give all choices, or some seeds"),
        (sl.errors.InputError, {"draws": 0},
         "draws must be a whole number (a number of calls, at least 1), got 0"),
        (sl.errors.InputError, {"claim": -1},
         "the claim at distance 1 must be a number that is not negative, got -1"),
        (sl.errors.InputError, {"claim": failing},
         "the claim, a function of d_in, raised ValueError at d_in = 1: no"),
    ],
)  # fmt: skip
def test_what_cannot_be_audited(error, options, message):
    with pytest.raises(error) as caught:
        audit_randomized(**{"function": list, "values": [0], "sizes": 1, "claim": 1, **options})
    assert str(caught.value) == message
