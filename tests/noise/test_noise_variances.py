"""Variances of Laplace and Gaussian noise: the formulas', and the picture of them."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import matplotlib.figure
import pytest

import sensitivity_lab as sl
from sensitivity_lab.plotting import plot_noise_variances


def delta_of(sigma: float, distance: float, epsilon: float) -> float:
    """The delta of Gaussian noise (Balle and Wang 2018, Theorem 8), in floats."""
    normal, half = NormalDist().cdf, distance / (2 * sigma)
    away = epsilon * sigma / distance
    return normal(half - away) - math.exp(epsilon) * normal(-half - away)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (0.25, 1e-3), (4, 1e-6)])
def test_variances_are_those_of_the_formulas(epsilon, delta):
    frame = sl.noise.noise_variances(range(1, 12), [0.5, 3], epsilon=epsilon, delta=delta)
    assert len(frame) == 22
    for row in frame.itertuples():
        change = [row.sensitivity] * row.answers
        assert sum(change) == row.L1
        assert math.isclose(row.L2, math.hypot(*change), rel_tol=1e-15)
        exact = 2 * (Fraction(row.L1) / Fraction(epsilon)) ** 2
        assert 0 <= Fraction(row.laplace_variance) - exact <= exact / 2**52
        # Noise of this scale has this delta, and noise of a slightly smaller scale a larger one.
        sigma = math.sqrt(row.gaussian_variance)
        assert math.isclose(delta_of(sigma, row.L2, epsilon), delta, rel_tol=1e-6)
        assert delta_of(sigma * (1 - 1e-6), row.L2, epsilon) > delta
        assert (row.smaller == "Laplace") == (row.laplace_variance <= row.gaussian_variance)
        assert (row.epsilon, row.delta) == (epsilon, delta)


def test_laplace_noise_has_the_smaller_variance_for_few_answers():
    """Up to (epsilon r)^2 / 2 answers, whatever the sensitivity of one is."""
    frame = sl.noise.noise_variances(range(1, 30), [1, 100], epsilon=1, delta=1e-5)
    fewest = sl.noise.analytic_gaussian_scale(1, 1, 1e-5) ** 2 / 2
    assert 6.9 < fewest < 7
    for row in frame.itertuples():
        assert row.smaller == ("Laplace" if row.answers <= fewest else "Gaussian")


def test_the_picture():
    frame = sl.noise.noise_variances(range(1, 16), [1, 2.5], epsilon=1, delta=1e-5)
    ax = plot_noise_variances(frame)
    lines = {line.get_label(): line for line in ax.get_lines()}
    for place, column in (
        ("Laplace 2b²", "laplace_variance"),
        ("Gaussian σ²", "gaussian_variance"),
    ):
        for most in (1, 2.5):
            line = lines[f"{place}, D = {most}"]
            shown = frame[frame["sensitivity"] == most]
            assert line.get_xdata().tolist() == shown["answers"].tolist() == list(range(1, 16))
            assert line.get_ydata().tolist() == shown[column].tolist()
            assert line.get_linestyle() == ("-" if "Laplace" in place else "--")
    equal = next(line for line in ax.get_lines() if line.get_linestyle() == ":").get_xdata()[0]
    assert math.isclose(equal, sl.noise.analytic_gaussian_scale(1, 1, 1e-5) ** 2 / 2, rel_tol=1e-12)
    assert [text.get_text() for text in ax.texts] == ["Gaussian is smaller beyond k = 6.96"]
    assert ax.get_ylabel() == "variance of the noise on an answer (units²)"
    assert ax.get_yscale() == "log"
    assert ax.get_title() == "epsilon = 1; Gaussian: delta = 1e-05"
    few = plot_noise_variances(frame[frame["answers"] < 6], title="few")
    assert (len(few.texts), few.get_title()) == (0, "few")


def test_the_picture_against_the_sensitivity():
    frame = sl.noise.noise_variances([1, 20], [0.5, 1, 10])
    given = matplotlib.figure.Figure().subplots()
    ax = plot_noise_variances(frame, against="sensitivity", ax=given)
    assert ax is given
    lines = {line.get_label(): line.get_ydata().tolist() for line in ax.get_lines()}
    assert list(lines) == [
        *("Laplace 2b², k = 1", "Gaussian σ², k = 1", "Laplace 2b², k = 20", "Gaussian σ², k = 20")
    ]
    assert lines["Laplace 2b², k = 20"] == [200, 800, 80_000]
    assert lines["Laplace 2b², k = 1"] < lines["Gaussian σ², k = 1"]
    assert ax.get_xscale() == "log"


FRAME = sl.noise.noise_variances(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: plot_noise_variances(FRAME, against="k"),
            "against must be one of 'answers', 'sensitivity', got 'k'",
        ),
        (
            lambda: plot_noise_variances(FRAME.drop(columns="delta")),
            "frame lacks delta; pass the result of noise_variances",
        ),
        (
            lambda: plot_noise_variances(FRAME.iloc[:0]),
            "frame has no rows, so there is nothing to draw",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(sl.errors.InputError) as caught:
        call()
    assert str(caught.value) == message
