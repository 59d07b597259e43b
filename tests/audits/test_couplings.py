"""Audits of randomised code, by the best coupling of its outputs."""

from __future__ import annotations

import itertools
import math
import random
import re
from pathlib import Path

import naive_distances as naive
import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.audits import audit, couplings
from sensitivity_lab.audits.couplings import uncoupled

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


@pytest.mark.exhaustive
@pytest.mark.parametrize("metric", ["insert_delete", "symmetric"])
def test_a_resize_by_random_choice_is_judged_under_coupling(metric):
    """A plain Python one: from three records to two, and from two to their shuffle."""
    datasets = [list(data) for size in (2, 3) for data in itertools.product((0, 1), repeat=size)]
    truth = by_definition(first_two, datasets, metric, metric, 1, orders)
    reports = [
        audit(
            [0, 1],
            first_two,
            lambda k: 2 * k,
            size=[2, 3],
            neighbors=metric,
            outputs=metric,
            choices=orders,
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

    report = audit(
        [0, 1],
        function,
        1,
        size=range(3),
        neighbors="symmetric",
        outputs=measured,
        distances=[1, 2],
        choices=choices,
        every_order=False,
    )
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
    report = audit(
        [0, 1],
        lambda x, choice: [int(choice < 1 + 2 * (1 in x))] * 2,
        1,
        size=1,
        neighbors="symmetric",
        outputs="symmetric",
        distances=2,
        choices=range(4),
        subject="coin",
    )
    assert repr(report) == (
        "Audit of coin: violated\n"
        "  setting  symmetric of at most k to symmetric; values (0, 1), sizes (1,) in every "
        "order; all choices, equally likely, under the best coupling; implementation\n"
        "  k  claimed  truth  verdict\n"
        "  2  1        4      violated (claim / truth = 0.25)\n"
        "  x  (0,)  ->  (((1, 1), 1/4), ((0, 0), 3/4))\n"
        "  y  (1,)  ->  (((1, 1), 3/4), ((0, 0), 1/4))"
    )
    assert not report.sound


def test_a_shuffle_is_the_identity_where_order_does_not_count():
    options = {"universe": [0, 1], "size": range(4), "claim": lambda k: k, "choices": orders}
    options |= {"distances": [1, 2], "neighbors": "symmetric", "outputs": "symmetric"}
    report = audit(query=shuffled, **options)
    assert [(row.verdict, row.exact) for row in report.rows] == [("tight", 1), ("tight", 2)]
    ordered = audit(query=shuffled, **{**options, "outputs": "insert_delete"})
    assert [row.verdict for row in ordered.rows] == ["tight", "tight"]
    options |= {"neighbors": "hamming", "outputs": "hamming"}
    kept = audit(query=shuffled, **options)
    assert [row.verdict for row in kept.rows] == ["tight", "tight"]


def test_nan_equals_nan_and_zeros_have_no_sign():
    def missing(x, sign):
        return [float("nan"), math.copysign(0.0, sign if x else 1)]

    given = {"universe": [0], "size": [0, 1], "claim": 0, "choices": (-1, 1)}
    for metric in ("symmetric", "hamming", "discrete"):
        one = audit(query=missing, neighbors="symmetric", outputs=metric, **given)
        assert (one.rows[0].exact, one.verdict) == (0, "tight")


def test_numbers_have_couplings_too():
    """A random one of the records, against the mean of them all."""
    report = audit(
        [0, 0.5, 2],
        lambda x, place: x[place],
        1,
        size=2,
        neighbors="change_one",
        outputs="absolute",
        distances=1,
        choices=range(2),
    )
    # From (0, 0) to (0, 2), one of two outcomes moves by 2, however they are coupled.
    assert (report.rows[0].exact, report.verdict) == (2, "violated")


def test_outputs_that_no_step_connects_are_infinitely_far_apart():
    report = audit(
        [0, 1],
        first_two,
        9,
        size=[1, 2],
        neighbors="symmetric",
        outputs="hamming",
        distances=1,
        choices=orders,
    )
    assert (report.rows[0].truth, report.verdict) == (math.inf, "violated")


@pytest.mark.exhaustive
def test_draws_give_the_same_answer_in_ten_runs():
    source = random.Random(5)

    def resize(x):
        return source.sample(x, 2) if len(x) > 2 else x

    verdicts = set()
    for _ in range(10):
        report = audit(
            [0, 1],
            resize,
            lambda d_in: 2 * d_in,
            size=[2, 3],
            neighbors="symmetric",
            outputs="symmetric",
            distances=1,
            every_order=False,
            choices=200,
        )
        verdicts.add((report.verdict, report.rows[0].exact))
        assert "; sampled, not enumerated: 200 draws on each dataset, " in report.setting
    assert verdicts == {("not judged", 2)}


def test_draws_that_never_recur_tell_nothing():
    """Missing values become floats of a continuous range, each of which comes once."""
    source = random.Random(5)
    report = audit(
        [None, 1.0],
        lambda x: [source.random() if one is None else one for one in x],
        1,
        size=[1, 2],
        neighbors="symmetric",
        outputs="symmetric",
        distances=1,
        choices=50,
    )
    assert (report.verdict, report.sound) == ("not judged", False)


def test_a_sample_violates_only_if_new_draws_say_so_again():
    """All first draws on (1,) are a rare accident, which does not come again."""
    called = []

    def accident(x):
        called.append(x)
        return [len(x) if len(called) <= 160 else 0] * 3

    report = audit(
        [1],
        accident,
        1,
        size=[0, 1],
        neighbors="symmetric",
        outputs="symmetric",
        distances=1,
        choices=80,
    )
    assert len(called) == 80 * 2 + 80 * 2
    assert (report.verdict, report.rows[0].exact) == ("not judged", 0)
    stable = audit(
        [1],
        lambda x: [len(x)] * 3,
        1,
        size=[0, 1],
        neighbors="symmetric",
        outputs="symmetric",
        distances=1,
        choices=80,
    )
    assert (stable.verdict, stable.rows[0].exact) == ("violated", 6)


def test_choices_must_be_all_that_is_random():
    source = random.Random(1)
    refused(
        lambda: audit(
            [0],
            lambda _, __: [source.random()],
            1,
            size=[1, 2],
            neighbors="symmetric",
            outputs="symmetric",
            distances=(1, 2),
            choices=[0],
        ),
        "two calls on [0, 0] with the same choices differ; the choices must cover all randomness, "
        "and the function must keep no state between calls",
        sl.errors.QueryError,
    )


def bootstrap(x):
    """Draw as many records with replacement, by a seed that is the next."""
    return random.Random(next(FRESH)).choices(x, k=len(x))


def test_a_sample_calls_no_claim_large_enough():
    """A bootstrap can hold a replaced record up to three times: 2 is too little, 6 is true."""
    report = audit(
        [0, 1],
        bootstrap,
        2,
        size=[3],
        neighbors="change_one",
        outputs="symmetric",
        every_order=False,
        choices=100,
    )
    (row,) = report.rows
    assert (row.verdict, row.compared, report.sound) == ("not judged", "tight", False)
    assert row.remark == (
        "not judged (the outputs are a sample, and others may be farther apart; give all choices=)"
    )
    assert row.sentence == (
        f"a sensitivity of 2 is claimed at distance 1, the truth is 2: {row.remark}"
    )
    assert row.to_dict()["reason"] in row.remark
    refused_with(lambda: report.raise_if_violated(), "not judged", sl.errors.SensitivityViolation)
    exact = audit(
        [0, 1],
        lambda x, places: [x[place] for place in places],
        2,
        size=[3],
        neighbors="change_one",
        outputs="symmetric",
        distances=1,
        every_order=False,
        choices=list(itertools.product(range(3), repeat=3)),
    )
    assert (exact.verdict, exact.rows[0].exact) == ("violated", 6)


def test_what_is_kept_from_one_call_to_the_next_is_found():
    """Each output depends on the dataset before, which in one order has one record less."""
    last = [None]

    def remembering(x, _):
        before, last[0] = last[0], len(x)
        return [0] * (5 if before == len(x) + 1 else 0)

    refused_with(
        lambda: audit(
            [0],
            remembering,
            0,
            size=[0, 1, 2],
            neighbors="symmetric",
            outputs="symmetric",
            distances=1,
            choices=[0],
        ),
        "the function must keep no state between calls",
        sl.errors.QueryError,
    )


def test_datasets_without_neighbors_are_refused():
    refused(
        lambda: audit(
            [0, 1],
            shuffled,
            1,
            size=2,
            neighbors="symmetric",
            outputs="symmetric",
            distances=[0, 1],
            choices=orders,
        ),
        "no two datasets of size 2 are neighbors at distance 1: give size=[1, 2], or a distance of "
        "2 if the size is fixed",
    )
    assert audit(
        [0, 1],
        shuffled,
        2,
        size=2,
        neighbors="symmetric",
        outputs="symmetric",
        distances=[0, 2],
        choices=orders,
    ).sound


def test_too_many_outputs_are_refused(monkeypatch):
    monkeypatch.setattr(couplings, "OUTPUT_LIMIT", 3)
    refused(
        lambda: audit(
            [0, 1],
            shuffled,
            1,
            size=2,
            neighbors="symmetric",
            outputs="symmetric",
            distances=(1, 2),
            choices=orders,
        ),
        "there are more than 3 different outputs, and all pairs are measured; use fewer "
        "values, smaller sizes or fewer draws; for code that adds noise, use audit_mechanism",
        sl.errors.TooLargeError,
    )


def failing(*_):
    raise ValueError("no")


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (sl.errors.QueryError, {"query": failing, "choices": [7]},
         "[0] with the choice 7 raised ValueError: no"),
        (sl.errors.QueryError, {"query": failing}, "[0] raised ValueError: no"),
        (sl.errors.QueryError, {"choices": failing}, "choices, on [0], raised ValueError: no"),
        (sl.errors.InputError, {"choices": lambda _: []},
         "choices, on [0], must be at least one, got none"),
        (sl.errors.InputError, {"choices": []},
         "choices must be all random choices, at least one, or a number of draws, got none"),
        (sl.errors.InputError, {"choices": 0},
         "choices must be a whole number (all random choices, or a number of draws), got 0, "
         "below 1"),
        (sl.errors.InputError, {"claim": -1},
         "the claim at distance 1 must be a number that is not negative, got -1"),
    ],
)  # fmt: skip
def test_what_cannot_be_audited(error, options, message):
    with pytest.raises(error) as caught:
        audit(
            **{
                "universe": [0], "query": list, "claim": 1, "size": 1, "neighbors": "discrete",
                "outputs": "symmetric", "choices": 9, **options,
            }
        )  # fmt: skip
    assert str(caught.value) == message


def test_the_proof_names_the_file_and_its_function():
    root = Path(__file__).parents[2]
    proofs = (root / "docs/proofs.md").read_text(encoding="utf-8")
    section = proofs.split("\n## Couplings\n")[1].split("\n## ")[0]
    file = root / re.search(r"File: `(.*?)`", section)[1]
    [(function, name)] = re.findall(r"`(\w+)` in `(\w+\.py)`", section)
    assert name == file.name
    assert f"def {function}" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "made",
    [
        lambda x: "".join(f"value {one}\n" for one in x),
        lambda x: pd.DataFrame({"value": x}),
        pd.Series,
        np.array,
        lambda x: {(place, x[place]) for place in range(len(x))},
    ],
    ids=["text", "table", "column", "array", "set"],
)
def test_the_records_of_outputs_are_those_of_answers(made):
    """Lines of a text, not its characters; rows of a table, not the names of its columns."""
    given = {"size": [1, 2], "neighbors": "insert_delete", "outputs": "symmetric"}
    of_choices = audit([1, 2], lambda x, _: made(x), 1, **given, choices=[0])
    of_answers = audit([1, 2], made, 1, **given)
    assert of_choices.rows[0].exact == of_answers.rows[0].exact
    assert of_choices.verdict == of_answers.verdict
