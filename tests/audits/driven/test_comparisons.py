"""Compared Laplace and exponential noise: probabilities by quadrature, and what is tight."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from checks import refused
from scipy import integrate, stats

from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.audits.driven import comparisons, runs
from sensitivity_lab.audits.driven.comparisons import Above, chance
from sensitivity_lab.audits.driven.laws import ReleaseLaw
from sensitivity_lab.audits.driven.runs import explore
from sensitivity_lab.audits.returned import bare
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.exponential_sums import ExponentialSum, log_ratio, quotient

CLOSE = 1e-12
"""How far quadrature may be off, in proportion."""

# The oracle: distributions of SciPy, and an integral over one of them.


def integral(function: Callable[[Any], Any], corners: list[float]) -> float:
    """Integrate a function of arrays over the line, between corners and 160 beyond them."""
    ends = sorted({*corners, min(corners) - 160, max(corners) + 160})
    pieces = [
        piece
        for low, high in itertools.pairwise(ends)
        for piece in itertools.pairwise(np.linspace(low, high, 2 + int(high - low)))
    ]
    return math.fsum(integrate.fixed_quad(function, *piece, n=24)[0] for piece in pieces)


def largest(laws: list[Any]) -> list[float]:
    """The probability that each of independent numbers is the largest."""
    corners = [float(law.kwds["loc"]) for law in laws]
    return [
        integral(
            lambda x, own=own, place=place: (
                own.pdf(x) * math.prod(one.cdf(x) for i, one in enumerate(laws) if i != place)
            ),
            corners,
        )
        for place, own in enumerate(laws)
    ]


def law_of(function: Callable[..., Any], data: Any) -> dict[Any, float]:
    """What a function releases, a text, with its exact probabilities as floats."""
    found = explore(function, data)
    assert found.unexplored == 0
    listed = ReleaseLaw(found).listed
    assert listed is not None
    return {str(bare(outcome.values[()])): float(p) for p, outcome in listed.values()}


@pytest.mark.parametrize("size", [2, 3, 4, pytest.param(5, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("scales", [(2,) * 5, (1, 2, 0.5, 3, 1.25)], ids=["equal", "other"])
@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_the_largest_of_noisy_numbers_against_quadrature(size, scales, noise):
    counts = (3, 1, 2, 1.5, 0.25)[:size]

    def noisy_max(_, rng):
        draw = getattr(rng, noise)
        return str(np.argmax([c + draw(scale=s) for c, s in zip(counts, scales, strict=False)]))

    found = law_of(noisy_max, [])
    law = {"laplace": stats.laplace, "exponential": stats.expon}[noise]
    laws = [law(loc=c, scale=s) for c, s in zip(counts, scales, strict=False)]
    for place, expected in enumerate(largest(laws)):
        assert found[str(place)] == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("size", [2, 3, 4, pytest.param(5, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("scales", [(4,) * 5, (1, 2, 0.5, 3, 1.25)], ids=["equal", "other"])
def test_sparse_vector_against_quadrature_given_the_threshold(size, scales):
    queries = (1, 0, 2, -1, 1.5)[:size]

    def sparse(_, rng):
        line, told = 1 + rng.laplace(scale=2), ""
        for query, scale in zip(queries, scales, strict=False):
            above = query + rng.laplace(scale=scale) >= line
            told += "+" if above else "-"
            if told.count("+") == 2:
                break
        return told

    found = law_of(sparse, [])
    assert sum(found.values()) == pytest.approx(1, abs=1e-15)
    laws = [stats.laplace(loc=q, scale=s) for q, s in zip(queries, scales, strict=False)]
    line = stats.laplace(loc=1, scale=2)
    for told, known in found.items():

        def density(x, told=told):
            ways = zip(told, laws, strict=False)
            return line.pdf(x) * math.prod(
                one.sf(x) if sign == "+" else one.cdf(x) for sign, one in ways
            )

        assert known == pytest.approx(integral(density, [1.0, *map(float, queries)]), rel=CLOSE)


def test_orders_and_loops_of_comparisons_against_quadrature():
    """Both of two numbers below both of two others, which is no tree of comparisons."""
    laws = [stats.laplace(loc=c, scale=s) for c, s in ((0, 1), (0.5, 2), (1, 1), (2, 0.5))]

    def release(_, rng):
        a, b, c, d = (c + rng.laplace(scale=s) for c, s in ((0, 1), (0.5, 2), (1, 1), (2, 0.5)))
        return str(bool(a < c and a < d and b < c and b < d))

    def least(x):  # the density of the smaller one of the last two
        return laws[2].pdf(x) * laws[3].sf(x) + laws[3].pdf(x) * laws[2].sf(x)

    expected = integral(lambda x: least(x) * laws[0].cdf(x) * laws[1].cdf(x), [0, 0.5, 1, 2])
    assert law_of(release, [])["True"] == pytest.approx(expected, rel=CLOSE)


def test_all_orders_of_four_numbers_have_probability_1():
    def order(_, rng):
        noisy = [place / 2 + rng.laplace(scale=1 + place % 2) for place in range(4)]
        return str(sorted(range(4), key=noisy.__getitem__))

    found = explore(order, [])
    assert found.unexplored == 0
    assert len(ReleaseLaw(found).listed) == 24


def test_probabilities_are_sums_of_exponentials():
    """P(X > 2) = e^-2 / 2 =: h, and P(X > 2, X > Y) = h - h^2 / 2."""
    one = Above(((0, Fraction(1)),), Fraction(2))
    larger = Above(((0, Fraction(1)), (1, Fraction(-1))), Fraction(0))
    half = ExponentialSum.of({-2: Fraction(1, 2)})
    assert chance(["Laplace"], [one])[0] == half
    assert chance(["Laplace"] * 2, [one, larger])[0] == half - half * half / 2
    apart = chance(["Laplace"] * 2, [one, larger.negated()])[0]
    assert apart + chance(["Laplace"] * 2, [one, larger])[0] == half
    assert chance(["Laplace"], [one, one.negated()])[0] == 0


@pytest.mark.parametrize(("one", "two"), [(1, 1), (1, 2), (3, 0.5)])
@pytest.mark.parametrize("least", [-1.5, 0.25, 2])
def test_a_sum_of_laplace_draws_against_quadrature(one, two, least):
    wide, other = stats.laplace(scale=one), stats.laplace(scale=two)
    terms = tuple((draw, Fraction(a)) for draw, a in enumerate((one, two)))
    found = chance(["Laplace"] * 2, [Above(terms, Fraction(least))])[0]
    expected = integral(lambda x: wide.pdf(x) * other.sf(least - x), [0.0, least])
    assert float(found) == pytest.approx(expected, rel=CLOSE)


def test_a_sum_of_three_draws_is_refused():
    def release(data, rng):
        a, b, c = rng.laplace(size=3)
        return a > b + sum(data) and b > c and c + a > 0 and a + b + c > sum(data)

    report = audit_mechanism(release, [0, 1], 1, epsilon=9, neighbors="bounded")
    assert report.verdict == "not refuted"
    assert report.decisive.reason.startswith("the function compares a sum of 3 draws of noise; ")


@pytest.mark.parametrize(
    "above",
    [
        lambda data, rng: sum(data) + stats.laplace.rvs(random_state=rng) > 1,
        lambda data, rng: sum(data) + stats.laplace(scale=1).rvs(random_state=rng) > 1,
        lambda data, rng: sum(data) + rng.exponential() - rng.standard_exponential() > 1,
        lambda data, rng: sum(data) + rng.expovariate(1.0) - rng.expovariate(1.0) > 1,
    ],
)
def test_laplace_noise_in_other_words(above):
    report = audit_mechanism(
        lambda data, rng: bool(above(data, rng)), [0, 1], 1, epsilon=1, neighbors="bounded"
    )
    assert (report.verdict, report.epsilon()) == ("tight", (1.0, 1.0))


def test_the_names_of_python_s_generator():
    def release(data, rng):
        return rng.gauss(sum(data), 2.0), rng.normalvariate(0.0, 1.0)

    report = audit_mechanism(release, [0, 1], 1, rho=0.125, neighbors="bounded")
    assert report.verdict == "tight"
    report = audit_mechanism(
        lambda data, rng: data[0] if rng.randint(1, 4) < 4 else rng.randrange(2),
        [0, 1], 1, epsilon=2, neighbors="bounded", generator="Random",
    )  # fmt: skip
    assert report.epsilon()[1] == pytest.approx(math.log(7))


def of_a_randint(data, rng):
    return data[0] if rng.randint(0, 4) < 3 else 1 - data[0]


RANDINT = (
    "the function calls rng.randint, whose last number is drawn by Python's random.Random and not "
    "by NumPy's RandomState: pass generator='Random' or generator='RandomState', whichever the "
    "function gets, or call rng.integers"
)


@pytest.mark.usefixtures("few_runs")
@pytest.mark.parametrize("sampled", [False, True])
def test_a_call_that_means_two_things_is_asked_about(sampled):
    """0 to 4, or 0 to 3: the truth is told with 3/5 or with 3/4."""

    def audited(**given):
        return audit_mechanism(
            of_a_randint, [0, 1], 1, epsilon=0.5, neighbors="bounded", sampled=sampled, **given
        )

    for given in ({}, {"generator": "Generator"}):
        refused(lambda given=given: audited(**given), RANDINT, QueryError)
    assert audited(generator="Random").verdict == ("not refuted" if sampled else "loose")
    report = audited(generator="RandomState")
    assert report.verdict == ("violated (sampled)" if sampled else "violated")
    if not sampled:
        assert report.epsilon()[1] == pytest.approx(math.log(3))
        assert "rng = np.random.RandomState(1)" in report.script


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.rand(),
        lambda rng: rng.rand(2)[1],
        lambda rng: rng.random_sample(),
        lambda rng: rng.sample(),
        lambda rng: rng.sample(3)[0],
        lambda rng: (rng.randint(4) + 0.5) / 4,
        lambda rng: (rng.randint(0, 4, size=2)[1] + 0.5) / 4,
    ],
)
def test_the_names_of_random_state(draw):
    report = audit_mechanism(
        lambda data, rng: data[0] if draw(rng) < 0.75 else 1 - data[0],
        [0, 1], 1, epsilon=1, neighbors="bounded", generator="RandomState",
    )  # fmt: skip
    assert report.epsilon()[1] == pytest.approx(math.log(3))


def test_standard_noise_of_random_state():
    report = audit_mechanism(
        lambda data, rng: sum(data) + 2 * rng.randn(1)[0], [0, 1], 1, rho=0.125,
        neighbors="bounded", generator="RandomState",
    )  # fmt: skip
    assert report.verdict == "tight"


@pytest.mark.exhaustive
def test_random_events_against_simulation():
    """Up to six events of up to five draws: within five standard deviations of 200,000 samples."""
    source, number = random.Random(3), 200_000
    simulated = np.random.default_rng(1)
    for _ in range(100):
        kinds = source.choices(["Laplace", "exponential"], (2, 1), k=source.randint(1, 5))
        events = [
            Above(
                tuple((draw, Fraction(source.choice((-2, -1, -1, 1, 1, 3)), 2)) for draw in draws),
                Fraction(source.randint(-6, 3), 2),
            )
            for draws in (
                sorted(source.sample(range(len(kinds)), min(len(kinds), source.randint(1, 2))))
                for _ in range(source.randint(1, 6))
            )
        ]
        draws = [getattr(simulated, kind.lower())(size=number) for kind in kinds]
        inside = np.ones(number, dtype=bool)
        for one in events:
            inside &= sum(float(a) * draws[draw] for draw, a in one.terms) > float(one.least)
        found = float(chance(kinds, events)[0])
        spread = math.sqrt(max(found, 1 / number) * max(1 - found, 1 / number) / number)
        assert inside.mean() == pytest.approx(found, abs=5 * spread)


def test_the_largest_by_numpy_s_maximum():
    def above(data, rng):
        noisy = np.array([sum(data) + rng.exponential(), rng.exponential(2.0)])
        return str(bool(np.max(noisy) > 2))

    found = law_of(above, [1])
    assert found["False"] == pytest.approx((1 - math.exp(-1)) * (1 - math.exp(-1)))


@pytest.mark.exhaustive
def test_a_loop_that_draws_again_is_cut_where_little_is_left():
    """Given that it is above -1/2, a draw is above 1 with probability e^-1 / (2 - e^-1/2)."""
    runs = []

    def redrawn(data, rng):
        runs.append(data)
        while (noise := rng.laplace()) <= -0.5:
            pass
        return str(bool(noise > 1))

    found = explore(redrawn, [])
    assert 0 < found.unexplored < 1e-15
    assert len(runs) < 300
    listed = ReleaseLaw(found).listed.values()
    chances = {bare(one.values[()]): float(p) for p, one in listed}
    assert chances["True"] == pytest.approx(math.exp(-1) / (2 - math.exp(-0.5)), rel=CLOSE)


def test_paths_of_small_probability_are_exact():
    """Scores that are 50 scales apart: the law is known whole, and epsilon with it."""

    def release(data, rng):
        return int(np.argmax([100 * data.count(v) + rng.laplace(scale=2) for v in (0, 1)]))

    report = audit_mechanism(release, [0, 1], 1, epsilon=1, neighbors="bounded")
    t = 50
    wrong = (2 + t) * math.exp(-t) / 4  # a difference of two draws is beyond t
    assert report.epsilon() == (pytest.approx(math.log((1 - wrong) / wrong)),) * 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("rho", "verdict"), [(1, "holds if post-processed"), (1e-4, "violated (sampled)")]
)
def test_no_rho_of_compared_noise_is_known(rho, verdict):
    report = audit_mechanism(noisy_max, [0, 1], 2, rho=rho, neighbors="bounded")
    assert report.verdict == verdict


# Gumbel noise.


def softmax(data, rng, scale=2.0, size=3):
    """The exponential mechanism: the largest count with Gumbel noise."""
    return int(np.argmax([data.count(v) + rng.gumbel(scale=scale) for v in range(size)]))


@pytest.mark.parametrize("size", [2, 3, 5, pytest.param(8, marks=pytest.mark.exhaustive)])
def test_the_largest_number_with_gumbel_noise_is_that_of_the_exponential_mechanism(size):
    found = explore(lambda data, rng: str(softmax(data, rng, 0.5, size)), [0, 0, 1])
    assert found.unexplored == 0
    weights = [ExponentialSum.of({2 * count: 1}) for count in ([2, 1] + [0] * size)[:size]]
    whole = sum(weights, Fraction(0))
    listed = ReleaseLaw(found).listed
    chances = {str(bare(one.values[()])): p for p, one in listed.values()}
    assert chances == {str(place): quotient(one, whole) for place, one in enumerate(weights)}


def test_the_exponential_mechanism_by_gumbel_noise():
    """The sum of all weights stays: epsilon is 1 / scale, and not twice as much."""
    report = audit_mechanism(softmax, range(3), 1, epsilon=0.5, neighbors="bounded")
    assert (report.verdict, report.epsilon()) == ("tight", (0.5, 0.5))
    report = audit_mechanism(
        lambda data, rng: softmax(data, rng, 1.0), range(3), 1, epsilon=0.5, neighbors="bounded"
    )
    assert (report.verdict, report.epsilon()) == ("violated", (1.0, 1.0))


def test_gumbel_noise_that_is_compared_otherwise():
    report = audit_mechanism(
        lambda data, rng: bool(sum(data) + rng.gumbel() > 1), [0, 1], 1, epsilon=9,
        neighbors="bounded",
    )  # fmt: skip
    assert report.decisive.reason.split("; see ")[0] == (
        "the function compares Gumbel noise otherwise than for the largest number; choose by "
        "rng.choice(options, p=weights), with weights in proportion to exp(score / scale)"
    )


# What is tight, and what is violated by how much.


def noisy_max(data, rng, scale=2.0):
    """Of two counts that one record moves in opposite directions."""
    return int(np.argmax([data.count(value) + rng.laplace(scale=scale) for value in (0, 1)]))


def above_threshold(data, rng, line=2.0, noise=4.0):
    """Sparse vector up to the first query above: the split of Dwork and Roth, algorithm 1."""
    threshold, told = 1 + rng.laplace(scale=line), []
    for query in (sum(data), len(data) - sum(data), sum(data)):
        told.append(bool(query + (rng.laplace(scale=noise) if noise else 0) >= threshold))
        if told[-1]:
            break
    return told


def all_above(data, rng, noise=4.0):
    """The same without an end: Lyu, Su and Li, algorithm 6; without noise algorithm 5."""
    threshold = 1 + rng.laplace(scale=2.0)
    queries = (sum(data), len(data) - sum(data), sum(data))
    return [bool(q + (rng.laplace(scale=noise) if noise else 0) >= threshold) for q in queries]


def test_a_threshold_is_tight_without_rounding():
    def above(data, rng):
        return bool(sum(data) + rng.laplace() > 3)

    report = audit_mechanism(above, [0, 1], 1, epsilon=1, neighbors="bounded")
    assert (report.verdict, report.epsilon()) == ("tight", (1.0, 1.0))
    worst = report.worst[1].divergence
    assert worst.delta(Fraction(1)) == (0, 0)
    (event,) = (one for one in worst.atoms if one.p > one.q)
    assert log_ratio(event.p, event.q) == (1, 1)


def test_a_binary_search_by_noisy_answers_composes():
    def searched(data, rng):
        low, high = 0.0, 4.0
        for _ in range(3):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if sum(data) + rng.laplace(scale=3) > middle else (low, middle)
            )
        return low

    report = audit_mechanism(searched, [0, 1], [1, 2], epsilon=1, neighbors="unbounded")
    assert (report.verdict, report.epsilon()) == ("tight", (1.0, 1.0))


def test_report_noisy_max_is_below_its_epsilon_and_violated_with_half_the_noise():
    report = audit_mechanism(noisy_max, [0, 1], 2, epsilon=1, neighbors="bounded")
    assert report.verdict == "loose"
    a, b = (
        largest([stats.laplace(loc=c, scale=2) for c in counts])[0] for counts in ((2, 0), (1, 1))
    )
    assert report.epsilon()[1] == pytest.approx(max(math.log(a / b), math.log((1 - b) / (1 - a))))
    half = audit_mechanism(
        lambda data, rng: noisy_max(data, rng, 1.0), [0, 1], 2, epsilon=1, neighbors="bounded"
    )
    assert half.verdict == "violated"
    assert half.script


def test_exponential_noise_has_half_the_scale_of_laplace_noise():
    """Report noisy max with exponential noise (Ding et al. 2021): one record moves one count."""

    def release(data, rng):
        return int(np.argmax([data.count(v) + rng.exponential(2.0) for v in (0, 1, 2)]))

    report = audit_mechanism(release, [0, 1, 2], 2, epsilon=1, neighbors="bounded")
    assert report.verdict in ("loose", "tight")
    assert 0.6 < report.epsilon()[1] <= 1


def test_sparse_vector_is_private_up_to_the_first_query_above():
    report = audit_mechanism(above_threshold, [0, 1], 2, epsilon=1, neighbors="bounded")
    assert report.verdict == "loose"
    assert 0.3 < report.epsilon()[0] <= report.epsilon()[1] <= 1


@pytest.mark.parametrize(
    ("function", "epsilon"),
    [
        (lambda data, rng: above_threshold(data, rng, line=1.0, noise=1.0), 1.0),
        (lambda data, rng: all_above(data, rng, noise=0), 5.0),
        (lambda data, rng: all_above(data, rng, noise=1.0), 1.0),
    ],
    ids=["too little noise", "no noise on the queries", "no end"],
)
def test_wrong_sparse_vectors_are_violated(function, epsilon):
    report = audit_mechanism(function, [0, 1], 2, epsilon=epsilon, neighbors="bounded")
    assert report.verdict == "violated"
    assert report.epsilon()[0] > epsilon


def test_a_decision_by_noise_that_is_not_released():
    def hidden(data, rng):
        return sum(data) + rng.laplace(scale=9) if rng.laplace() > 0 else 0.0

    report = audit_mechanism(hidden, [9], (0, 1), epsilon=1, neighbors="unbounded")
    assert report.verdict == "tight"


def test_a_law_with_too_many_terms_is_refused_with_its_line(monkeypatch):
    monkeypatch.setattr(comparisons, "MOST_TERMS", 10)
    comparisons.chance_of_part.cache_clear()

    def release(data, rng):
        noisy = [data[0] + rng.laplace() for _ in range(4)]
        return max(range(4), key=noisy.__getitem__)

    report = audit_mechanism(release, [0, 1], 1, epsilon=3, neighbors="bounded")
    line = release.__code__.co_firstlineno + 2
    assert report.verdict == "not refuted"
    assert report.decisive.reason == (
        "the function compares noise so that its exact law has more than 10 terms; "
        f"test_comparisons.py:{line} compares draws (return max(range(4), key=noisy.__getitem__)); "
        "its noisy numbers cost 4 if all are released"
    )


@pytest.mark.exhaustive
def test_too_many_paths_of_compared_noise_run_many_times(monkeypatch):
    def release(data, rng):
        return int(np.argmax([data[0] + rng.laplace() for _ in range(12)]))

    monkeypatch.setattr(runs, "PATHS", 20)
    report = audit_mechanism(release, [0, 1], 1, epsilon=5, neighbors="bounded")
    line = release.__code__.co_firstlineno + 1
    assert report.verdict == "not refuted"
    assert report.decisive.reason == (
        "the function compares noise so that its exact law has more than 20 paths; "
        f"test_comparisons.py:{line} compares draws "
        "(return int(np.argmax([data[0] + rng.laplace() for _ in range(12)]))); its noisy numbers "
        "cost 12 if all are released"
    )
