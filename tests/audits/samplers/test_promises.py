"""What noise is enough for: Gaussian noise with a delta, several scales, and what has no noise."""

# ruff: noqa: NPY002 - code in the field calls the samplers of the module

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab.noise.analytic import analytic_gaussian_scale

NORMAL = NormalDist()
BOUNDED = {"values": [0, 10], "sizes": [2], "neighbors": "bounded"}


def delta_of(sigma, sensitivity, epsilon):
    """Balle and Wang 2018, Theorem 8, in floats."""
    ratio = sigma / sensitivity
    return NORMAL.cdf(1 / (2 * ratio) - epsilon * ratio) - math.exp(epsilon) * NORMAL.cdf(
        -1 / (2 * ratio) - epsilon * ratio
    )


def gaussian(sigma):
    return lambda x: sum(x) / 2 + np.random.normal(0, sigma)


@pytest.mark.exhaustive
@pytest.mark.parametrize("sigma", [5.0, 20.0, 60.0])
def test_gaussian_noise_is_enough_for_the_delta_that_it_gives(sigma):
    delta = delta_of(sigma, 5, 0.5)
    for factor, verdict in ((1.001, "not judged"), (0.999, "violated")):
        report = sl.audits.audit_sampled(
            gaussian(sigma), **BOUNDED, epsilon=0.5, delta=delta * factor
        )
        assert (report.verdict, report.rows[0].exact) == (verdict, 5)
        assert math.isclose(report.rows[0].claimed, 5, rel_tol=1e-2)
        assert "norm L2" in report.setting


def test_the_answers_of_gaussian_noise_are_compared_in_norm_l2():
    def histogram(x):
        return [x.count(value) + np.random.default_rng().normal(0, sigma) for value in (0, 10)]

    sigma = analytic_gaussian_scale(math.sqrt(2), epsilon=1, delta=1e-6)
    report = sl.audits.audit_sampled(histogram, **BOUNDED, epsilon=1, delta=1e-6)
    assert report.rows[0].compared in {"tight", "tight up to rounding"}
    assert report.rows[0].value == math.sqrt(2)
    sigma = analytic_gaussian_scale(1, epsilon=1, delta=1e-6)
    assert (
        sl.audits.audit_sampled(histogram, **BOUNDED, epsilon=1, delta=1e-6).verdict == "violated"
    )


def gauss_noise(scale):
    raise NotImplementedError("no noise in a test")


def noise(scale):
    raise NotImplementedError("no noise in a test")


def test_functions_of_ones_own_draw_what_their_name_says():
    def by_name(x):
        return sum(x) + gauss_noise(3.0)

    with pytest.raises(sl.errors.QueryError, match="draws Gaussian noise"):
        sl.audits.audit_sampled(by_name, [0, 3], 1, gauss_noise, neighbors="bounded", epsilon=1)
    options = {"neighbors": "bounded", "epsilon": 1}
    nameless = sl.audits.audit_sampled(lambda x: sum(x) + noise(3.0), [0, 3], 1, noise, **options)
    assert (nameless.rows[0].compared, nameless.rows[0].claimed) == ("tight", 3)
    options["delta"] = 1e-6
    nameless = sl.audits.audit_sampled(lambda x: sum(x) + noise(3.0), [0, 3], 1, noise, **options)
    assert nameless.verdict == "violated"


def test_noise_of_two_scales_is_added_up():
    """1/4 of the sum's 2 and 1/2 of the count's 1 are an epsilon of 1."""

    def two(x):
        return [sum(x) + np.random.laplace(0, 4), len(x) + np.random.laplace(0, 2)]

    for epsilon, verdict in ((1, "tight"), (0.9, "violated"), (1.5, "loose")):
        options = {"neighbors": "unbounded", "epsilon": epsilon}
        (row,) = sl.audits.audit_sampled(two, [0, 2], [1, 2], **options).rows
        assert (row.step, row.exact, row.compared) == ("the whole run", 1, verdict)


def around_the_median(x, spread=1):
    """A noisy median, and the sum of the distances from it, clipped to 1 on each side."""
    center = np.random.laplace(sorted(x)[1], 20.0)
    near = [min(max(one - center, -1), 1) for one in x]
    return center, np.random.laplace(sum(near), 4.0 * spread)


def test_an_adaptive_release_is_replayed():
    """10/20 for the median and 2/4 for the sum around what was released."""
    options = {"neighbors": "bounded", "every_order": False, "value": "location"}
    report = sl.audits.audit_sampled(around_the_median, [0, 4, 5, 10], [3], epsilon=1, **options)
    (row,) = report.rows
    assert (row.step, row.claimed, report.verdict) == ("the whole run", 1, "not judged")
    assert 0.5 < row.value <= 1
    less = sl.audits.audit_sampled(
        lambda x: around_the_median(x, 1 / 8), [0, 4, 5, 10], [3], epsilon=1, **options
    )
    assert less.verdict == "violated"
    # The return value cannot tell: the window moves with the noise.
    with pytest.raises(sl.errors.QueryError, match="pass value='location'"):
        sl.audits.audit_sampled(
            around_the_median, [0, 4, 5, 10], [3], epsilon=1, neighbors="bounded"
        )


def test_adaptive_gaussian_noise_is_refused():
    """Each draw is enough for its own answer, which says nothing of both together."""

    def adaptive(x):
        first = np.random.normal(sum(x), 100.0)
        return np.random.normal(sum(one for one in x if one > first), 100.0)

    with pytest.raises(
        sl.errors.QueryError, match="whose answer or scale depends on what was released"
    ):
        sl.audits.audit_sampled(adaptive, **BOUNDED, epsilon=1, delta=1e-6, value="location")


LEAKS = {
    "beside noise around the mean": (
        lambda x: (np.random.laplace(sum(x) / 2, 10.0), max(x)),
        ("returns", "location"),
    ),
    "beside a mean with noise": (
        lambda x: (sum(x) / 2 + np.random.laplace(0, 10.0), max(x)),
        ("returns",),
    ),
    "as a divisor": (
        lambda x: np.random.laplace(sum(x) / 2, 10.0) / (1 + max(x)),
        ("location",),
    ),
    "as a name": (lambda x: {max(x): np.random.laplace(sum(x) / 2, 10.0)}, ("returns", "location")),
}


@pytest.mark.parametrize("case", LEAKS)
def test_data_beside_the_noise_is_a_violation(case):
    function, ways = LEAKS[case]
    for value in ways:
        report = sl.audits.audit_sampled(function, **BOUNDED, epsilon=0.5, value=value)
        assert report.rows[0].compared == "tight"
        row = report.decisive
        assert (row.verdict, row.step, row.truth) == ("violated", "the return value", math.inf)
        assert max(row.evidence.x) != max(row.evidence.y)
        assert row.remark.startswith(
            "violated (the return value depends on the data besides the releases), after"
        )


def test_what_neighbors_share_is_no_leak():
    def with_size(x):
        return {"n": len(x), "mean": np.random.laplace(sum(x) / len(x), 10.0)}

    for value in ("returns", "location"):
        options = {"epsilon": 0.5, "value": value}
        assert sl.audits.audit_sampled(with_size, **BOUNDED, **options).verdict == "not judged"
        report = sl.audits.audit_sampled(
            with_size, [0, 5], [1, 2], neighbors="unbounded", **options
        )
        assert report.decisive.step == "the return value"


ZERO = (
    "what reaches laplace in {} (test_promises.py:{}) is 0 on every dataset, and what is returned "
    "depends on the data and moves with the noise: the noise is added to an answer that was not "
    "recorded; pass value='returns'"
)


@pytest.mark.parametrize("change", [float, round, abs, lambda noisy: noisy / 3])
def test_a_location_of_0_is_not_the_answer(change):
    def zero(x):
        return change(sum(x) / 2 + np.random.laplace(0, 1.0))

    with pytest.raises(sl.errors.QueryError) as caught:
        sl.audits.audit_sampled(zero, **BOUNDED, epsilon=0.5, value="location")
    assert str(caught.value) == ZERO.format("zero", zero.__code__.co_firstlineno + 1)


def test_the_hint_about_value_is_not_for_claims_that_depend_on_the_data():
    report = sl.audits.audit_sampled(
        lambda x: sum(x) / len(x) + np.random.laplace(0, 10 / len(x)), [0, 10], [1, 2],
        neighbors="unbounded", epsilon=1,
    )  # fmt: skip
    assert (report.verdict, report.rows[0].exact) == ("data-dependent claim", 0)
    assert "see value=" not in report.setting


def tried(noise, at):
    """Noise that is another one beyond a size that no audit tries."""
    return {
        "clipped": lambda: max(-at, min(noise(), at)),
        "drawn again": lambda: next(one for one in iter(noise, None) if abs(one) <= at),
        "replaced": lambda: one if abs(one := noise()) <= at else at,
    }


@pytest.mark.parametrize("case", ["clipped", "drawn again", "replaced"])
@pytest.mark.parametrize("value", ["returns", "location"])
def test_noise_that_is_changed_beyond_what_is_tried_is_not_judged(case, value):
    """It gives no pure epsilon, whatever its scale: some outputs tell the neighbors apart."""

    def returned(x):
        return sum(x) / 2 + tried(lambda: np.random.laplace(0, 10.0), 1e9)[case]()

    def located(x):
        return tried(lambda: np.random.laplace(sum(x) / 2, 10.0), 1e9)[case]()

    function = returned if value == "returns" else located
    report = sl.audits.audit_sampled(function, **BOUNDED, epsilon=0.5, value=value)
    (row,) = report.rows
    assert (row.compared, row.verdict, report.verdict) == ("tight", "not judged", "not judged")
    assert not report.sound
    assert row.remark == (
        "not judged (the noise is tried at a few values, and code that clips it, draws it again or "
        "replaces it at others is not seen)"
    )
    assert report.to_dict()["sound"] is False
    with pytest.raises(sl.errors.SensitivityViolation, match="is not seen"):
        report.raise_if_violated()


def test_a_seed_that_is_fixed_leaves_the_verdict_open():
    def seeded(x):
        return sum(x) / 2 + np.random.default_rng(7).laplace(0, 10.0)

    report = sl.audits.audit_sampled(seeded, **BOUNDED, epsilon=0.5)
    (note,) = report.unjudged
    assert note in report.notes
    assert note.startswith("the generator is seeded in the function ")
