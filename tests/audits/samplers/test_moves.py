"""Answers that are read off what is returned: only if they move exactly as the noise does."""

# ruff: noqa: NPY002 - code in the field calls the samplers of the module

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab.noise.analytic import analytic_gaussian_scale

# Slow; `test_promises.py` and `test_audit_sampled.py` represent them.
pytestmark = pytest.mark.stress

NOT = "not judged"


def total(x):
    return np.clip(x, 0, 10).sum()


def after(step):
    """Code that changes the noisy value: drawn around the total, or around 0."""
    return {
        "location": lambda x: step(np.random.laplace(total(x), 20.0)),
        "returns": lambda x: step(total(x) + np.random.laplace(0, 20.0)),
    }


CHANGED = {
    "rounded to tens": lambda noisy: round(noisy, -1),
    "clipped on both sides": lambda noisy: min(max(noisy, 0), 2.5),
    "clipped below": lambda noisy: max(noisy, 1),
    "clipped above": lambda noisy: min(noisy, 0),
    "clipped above the answer": lambda noisy: min(noisy, 25),
    "a whole number": int,
    "squared": lambda noisy: noisy**2,
    "without sign": abs,
    "as text": lambda noisy: f"{noisy:.0f}",
    "thrown away": lambda _: 5,
    "of another length": lambda noisy: [noisy] * int(abs(noisy)),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_is_changed_after_the_noise_is_refused(case):
    """Whatever the scale: a verdict on the changed value would be wrong in either direction."""
    functions = after(CHANGED[case])
    ways = {
        "location": "pass value='location', since the sampler gets the answer as its location",
        "returns": "if the sampler gets the answer as its location, pass value='location'; if not, "
        "audit the function without its steps after the noise",
    }
    for where, function in functions.items():
        with pytest.raises(sl.errors.QueryError) as caught:
            sl.audits.audit_sampled(function, [10, 0], [2], neighbors="bounded", epsilon=0.5)
        assert str(caught.value).startswith("on [10, 10], what the function returns ")
        assert str(caught.value).endswith(f"cannot be read off it: {ways[where]}")
    # The location tells, and what is done afterwards to what was released is no matter.
    report = sl.audits.audit_sampled(
        functions["location"], [0, 10], [2], neighbors="bounded", epsilon=0.5, value="location"
    )
    assert (report.decisive.compared, report.rows[0].exact) == ("tight", 10)


def test_the_message_says_how_it_moves():
    with pytest.raises(sl.errors.QueryError) as caught:
        sl.audits.audit_sampled(
            lambda x: max(total(x) + np.random.laplace(0, 10), 0), [0, 10], 1,
            neighbors="bounded", epsilon=1,
        )  # fmt: skip
    assert "moves by 14.1421 and 0 where the noise moves by 14.1421 and -14.1421 (it is " in str(
        caught.value
    )


UNCHANGED = {
    "a number of NumPy": lambda x: np.float32(total(x) + np.random.laplace(0, 10)),
    "a fraction": lambda x: Fraction(int(total(x))) + np.random.laplace(0, 10),
    "far from 0": lambda x: 1e9 + total(x) + np.random.laplace(0, 10),
    "around the total, moved": lambda x: np.random.laplace(total(x), 10) + 5,
    "around one part, another added": lambda x: np.random.laplace(x[0], 10) + sum(x[1:]),
    "in a table": lambda x: pd.DataFrame({"sum": [total(x) + np.random.laplace(0, 10)]}),
    "in a mapping": lambda x: {"n": len(x), "sum": total(x) + np.random.laplace(scale=10)},
    "clipped far away": lambda x: min(total(x) + np.random.laplace(0, 10), 1e6),
    "twice the same": lambda x: [total(x) + np.random.laplace(0, 10)] * 2,
    "noise of its own as well": lambda x: (
        total(x) + np.random.laplace(0, 10), np.random.laplace(0, 10)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNCHANGED)
def test_what_moves_with_the_noise_is_the_answer(case):
    """No false alarm where nothing is wrong, and no pass with half the noise."""
    for epsilon, verdict in ((1, NOT), (0.5, "violated")):
        report = sl.audits.audit_sampled(
            UNCHANGED[case], [0, 10], [2], neighbors="bounded", epsilon=epsilon
        )
        assert (report.rows[0].exact, report.verdict) == (10, verdict)


def test_counts_of_a_vector_are_answers_each():
    def histogram(x):
        return np.array([x.count(0), x.count(1)]) + np.random.laplace(scale=2.0, size=2)

    report = sl.audits.audit_sampled(histogram, [0, 1], [2], neighbors="bounded", epsilon=1)
    assert (report.rows[0].exact, report.rows[0].compared) == (2, "tight")
    shared = sl.audits.audit_sampled(
        lambda x: np.random.laplace(max(x), 2.0, size=2), [0, 1], [2], neighbors="bounded",
        epsilon=1, value="location",
    )  # fmt: skip
    # One location, two numbers released around it: each tells it.
    assert (shared.rows[0].exact, shared.rows[0].compared) == (2, "tight")


def test_the_same_noise_around_two_answers_hides_neither():
    def both(x):
        noise = np.random.laplace(0, 10)
        return [sum(x) + noise, max(x) + noise]

    with pytest.raises(sl.errors.QueryError, match="has the same noise in two numbers"):
        sl.audits.audit_sampled(both, [1, 2], [2], neighbors="bounded", epsilon=1)


SCALED = {
    "a scale times noise": lambda x: total(x) + 10 * np.random.default_rng().laplace(),
    "minus noise": lambda x: total(x) - np.random.laplace(0, 10),
    "halved": lambda x: (2 * total(x) + np.random.laplace(0, 20)) / 2,
    "a third of three": lambda x: total(x) + np.random.laplace(0, 30) / 3,
    "an average of a vector": lambda x: (
        [x.count(10) * 5, x.count(0) * 5] + 10 * np.random.laplace(size=2)
    ),
    "far from 0": lambda x: 1e9 + total(x) + 10 * np.random.laplace(0, 1),
}


@pytest.mark.parametrize("case", SCALED)
def test_noise_times_a_number_has_that_scale(case):
    for epsilon, verdict in ((1.0001, NOT), (1, NOT), (0.9999, "violated")):
        report = sl.audits.audit_sampled(
            SCALED[case], [0, 10], [2], neighbors="bounded", epsilon=epsilon
        )
        assert (report.rows[0].exact, report.verdict) == (10, verdict)


@pytest.mark.parametrize(
    "normal",
    [
        lambda: np.random.randn(),
        lambda: np.random.default_rng().standard_normal(),
        lambda: np.random.standard_normal(1)[0],
        lambda: np.random.default_rng().normal(),
    ],
)
def test_standard_normal_noise_times_sigma(normal):
    sigma = analytic_gaussian_scale(10, 1, 1e-6)
    for factor, verdict in ((1.001, NOT), (0.999, "violated")):
        report = sl.audits.audit_sampled(
            lambda x, scale=factor * sigma: total(x) + scale * normal(),
            [0, 10], [2], neighbors="bounded", epsilon=1, delta=1e-6,
        )  # fmt: skip
        assert report.verdict == verdict


def test_a_factor_of_the_data_is_a_scale_of_the_data():
    report = sl.audits.audit_sampled(
        lambda x: total(x) + (10 + max(x)) * np.random.laplace(), [0, 10], [2],
        neighbors="bounded", epsilon=1,
    )  # fmt: skip
    assert report.verdict == "data-dependent claim"


def test_one_noise_in_two_proportions_is_refused():
    """Twice the first number less the second is the total without noise."""

    def both(x):
        noise = np.random.laplace(0, 10)
        return [total(x) + noise, total(x) + 2 * noise]

    with pytest.raises(sl.errors.QueryError, match="the same noise in two numbers"):
        sl.audits.audit_sampled(both, [0, 10], [2], neighbors="bounded", epsilon=1)


CAUSES = {
    "another sampler": (
        lambda x: total(x) + np.random.laplace(0, 10) + random.gauss(0, 1),
        "differs between two runs in which all named samplers were quiet: it also draws from",
    ),
    "chance before the noise": (
        lambda x: total([*x, 9 * random.random()]) + np.random.laplace(0, 10),
        "differs between two runs in which all named samplers were quiet: it also draws from",
    ),
    "several draws": (
        lambda x: total(x) + sum(np.random.laplace(0, 10) for _ in range(2)),
        "(a number holds the noise of several draws, or several numbers that of one): ",
    ),
    "a branch": (
        lambda x: 1 if total(x) + np.random.laplace(0, 10) > 8 else 0,
        "(it is rounded, clipped or changed by a branch after the noise)",
    ),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_message_names_the_cause(case):
    function, cause = CAUSES[case]
    with pytest.raises(sl.errors.QueryError) as caught:
        sl.audits.audit_sampled(function, [0, 10], [2], neighbors="bounded", epsilon=1)
    assert cause in str(caught.value)
    assert ("rounded" in str(caught.value)) is (case == "a branch")
