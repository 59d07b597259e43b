"""OpenDP's measurements with the lab's sensitivities, beside OpenDP's own maps."""

from __future__ import annotations

import itertools
import math
import statistics
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from paths import ROOT

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab.noise.clipping_bounds import clipping_sweep
from sensitivity_lab.noise.scales import laplace_epsilon, laplace_scale, ratio
from sensitivity_lab.releases.opendp_noise import noise_of


@pytest.fixture(scope="module")
def lab():
    """The module under test; OpenDP's opt-in belongs to the caller."""
    dp = pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")
    dp.enable_features("contrib")
    from sensitivity_lab.releases import opendp

    return opendp


@pytest.mark.exhaustive
def test_without_the_extra_the_import_says_what_to_install():
    command = (
        "import sys; sys.modules['opendp'] = None\n"
        "import sensitivity_lab as sl\n"
        "try:\n    import sensitivity_lab.releases.opendp\n"
        "except sl.errors.InputError as error:\n"
        "    print(type(error).__name__, isinstance(error, ImportError), error, sep='|')"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == (
        "MissingExtraError|True|sensitivity_lab.releases.opendp needs OpenDP, which is not "
        "installed; install the extra: pip install '.[opendp]' in a checkout"
    )


def measured(bounds, d_in):
    universe = sl.Universe.from_domain(range(bounds[0], bounds[1] + 1))
    neighbors = sl.SymmetricDifference(d_in)
    return sl.global_sensitivity(universe, "sum", size=d_in + 2, neighbors=neighbors)


@pytest.mark.opendp
def test_the_chain_of_the_page_between_integers(lab):
    """clamp(0, 5) >> sum(0, 5) >> Laplace of scale 5, for people with two records."""
    total = lab.opendp_clamped_sum((0, 5))
    assert total([1, 7, -2, 7]) == 11
    assert total.map(2) == 10 == measured((0, 5), 2).exact
    chain = lab.opendp_laplace_sum((0, 5), scale=5.0)
    assert chain.map(2) == 2 == laplace_epsilon(measured((0, 5), 2), 5)
    assert isinstance(chain([1, 7, -2, 7]), int)


@pytest.mark.opendp
def test_the_chain_of_the_page_between_floats(lab):
    total = lab.opendp_clamped_sum((0.0, 5.0))
    assert total([1.3, 7.8, -2.5, 7.0]) == 11.3
    assert 10 < total.map(2) < 10 + 1e-6
    assert 2 < lab.opendp_laplace_sum((0.0, 5.0), scale=5).map(2) < 2 + 1e-6
    scale = laplace_scale(total.map(2), 2)
    assert lab.opendp_laplace_sum((0.0, 5.0), scale).map(2) <= 2
    alone = lab.opendp_laplace(10, epsilon=2)
    assert alone.map(10.0) == 2
    assert isinstance(alone(0.0), float)


@pytest.mark.opendp
@pytest.mark.parametrize("bounds", [(0, 5), (-2, 3), (5, 10), (-7, -3), (4, 4), (0, 0)])
def test_between_integers_map_and_measurement_agree(lab, bounds):
    frame = lab.clamped_sum_maps(bounds, [1, 2, 3])
    assert frame["d_in"].tolist() == [1, 2, 3]
    assert frame["measured"].tolist() == frame["map"].tolist()
    assert frame["map"].tolist() == [measured(bounds, k).exact for k in (1, 2, 3)]
    assert frame["map"].dtype == np.int64


@pytest.mark.opendp
@pytest.mark.parametrize("bounds", [(0, 5), (-2, 3), (5, 10)])
@pytest.mark.parametrize("scale", [0.5, 3, 5, 8])
def test_the_privacy_map_of_a_measurement_is_that_of_opendp(lab, bounds, scale):
    """Between integers; OpenDP may round up by a few units in the last place more."""
    clamped = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(*bounds) >> pl.sum_(*bounds)
    noisy, theirs = clamped >> pl.laplace(scale), lab.opendp_laplace_sum(bounds, scale)
    for d_in in (1, 2, 3):
        ours, epsilon = noisy.map(d_in), theirs.map(d_in)
        assert ours <= epsilon <= ours * (1 + 1e-15)


@pytest.mark.opendp
def test_between_floats_the_map_is_never_below_and_not_always_tight(lab):
    for bounds, loose in (((0.0, 5.0), 1), ((5.0, 10.0), 1), ((-5.0, 5.0), 2), ((-1.0, 5.0), 1.2)):
        frame = lab.clamped_sum_maps(bounds)
        assert (frame["map"] > frame["measured"]).all()
        np.testing.assert_allclose(frame["map"], loose * frame["measured"], rtol=1e-6)


@pytest.mark.opendp
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1, Fraction(1, 3), 7.7])
def test_a_measurement_costs_at_most_what_was_asked_for(lab, epsilon):
    universe = sl.Universe.from_domain([1, 2, 11])
    mean = sl.global_sensitivity(universe, "mean", size=range(1, 5), neighbors=sl.Unbounded(1))
    assert lab.opendp_laplace(mean, epsilon).map(mean.upper) <= epsilon
    whole = lab.opendp_laplace(mean, epsilon, number=int)  # 10/3, so 4 between integers
    assert whole.map(4) <= epsilon
    assert whole.map(3) < epsilon


@pytest.mark.exhaustive
@pytest.mark.opendp
def test_of_fractions_the_map_is_not_an_ulp_above_epsilon(lab):
    """Most of these fractions are no floats: neither the sensitivity nor epsilon."""
    fractions = {Fraction(above, below) for above in range(1, 12) for below in (1, 3, 7, 10)}
    checked = 0
    for distance, epsilon in itertools.product(fractions, repeat=2):
        nearest = distance.numerator / distance.denominator
        up = nearest if Fraction(nearest) >= distance else math.nextafter(nearest, math.inf)
        loss = lab.opendp_laplace(distance, epsilon).map(up)
        assert epsilon * (1 - Fraction(1, 10**15)) <= Fraction(loss) <= epsilon
        checked += 1
    assert checked > 1000


@pytest.mark.opendp
def test_what_laplace_scale_warns_of_and_takes_is_the_same_here(lab):
    ages = sl.Universe.from_domain(range(11))
    mean = sl.global_sensitivity(ages, "mean", size=3, neighbors=sl.Unbounded(1))
    with pytest.warns(sl.errors.PrivateSizeWarning):
        lab.opendp_release(3, mean, 1)
    triangles = sl.spaces.global_sensitivity(
        sl.spaces.graphs(4, "edge"), "triangles", neighbors=sl.spaces.Within(1)
    )
    assert isinstance(lab.opendp_release(3, triangles, 1), float)


def test_what_laplace_scale_refuses_gets_no_measurement(lab):
    universe = sl.Universe.from_dataset([1, 2, 3, 4, 5, 6, 7, 8, 15, 20])
    x, one = [1, 2, 3], sl.Bounded(1)
    add_four = sl.Unbounded(4, exactly=True, direction="add")
    for result, reason in (
        (sl.local_sensitivity(universe, "mean", dataset=x, neighbors=one), "a local sensitivity"),
        (
            sl.smooth_sensitivity(universe, "median", dataset=x, beta=1, neighbors="bounded"),
            "a smooth sensitivity",
        ),
        (
            sl.global_sensitivity(universe, "var", size=6, neighbors=add_four),
            "for neighbors at a distance of exactly 4",
        ),
        (
            sl.global_sensitivity(universe, lambda r: float(r.max()), size=3, neighbors=one),
            "has no upper bound",
        ),
    ):
        for call in (
            lambda given: lab.opendp_laplace(given, 1),
            lambda given: lab.opendp_laplace(given, 1, number=int),
            lambda given: lab.opendp_release(3, given, 1),
        ):
            with pytest.raises(sl.errors.InputError) as refused:
                call(result)
            with pytest.raises(sl.errors.InputError) as expected:
                laplace_scale(result, 1)
            assert str(refused.value) == str(expected.value)
            assert reason in str(refused.value)


@pytest.mark.opendp
def test_whole_bounds_beyond_floats_are_not_rounded(lab):
    """2**53 + 1 is no float, and neither are its multiples."""
    bound = 2**53 + 1
    frame = lab.clamped_sum_maps((0, bound), [1, 2, 3])
    assert frame["measured"].tolist() == [bound, 2 * bound, 3 * bound] == frame["map"].tolist()
    assert lab.clamped_sum_maps((1 - 2**63, 0), [1])["measured"].tolist() == [2**63 - 1]
    third = lab.clamped_sum_maps((0.0, 0.1), [3])["measured"][0]
    assert Fraction(third) >= 3 * Fraction(0.1) > Fraction(math.nextafter(third, 0))


@pytest.mark.exhaustive
@pytest.mark.opendp
def test_noise_has_the_scale_that_was_asked_for(lab):
    """The mean distance of Laplace noise is its scale: 4,000 draws miss it by 15 % hardly ever."""
    draws = [abs(lab.opendp_release(Fraction(1, 3), 10, 0.5) - 1 / 3) for _ in range(4000)]
    assert 17 < statistics.fmean(draws) < 23
    assert len(set(draws)) > 3900


@pytest.mark.opendp
def test_a_release_is_rounded_to_the_grid_and_no_farther(lab):
    """At an enormous epsilon the noise is nothing, and what is left is the rounding."""
    for value in (Fraction(1, 3), 10**6 + 0.1, -7, 0):
        assert abs(Fraction(lab.opendp_release(value, 3, 1e9)) - Fraction(value)) <= 3e-6
    assert lab.opendp_release(12, 0, 0.1) == 12
    # Beyond 2**62 steps an answer is cut off, not refused: refusing would tell of the data.
    assert lab.opendp_release(10**30, 2**20, 1e9) == pytest.approx(2.0**62)


@pytest.mark.opendp
def test_a_sweep_takes_it_as_its_mechanism(lab):
    ages = [3, 17, 25, 38, 61, 90]
    sweep = clipping_sweep(
        ages, [50, 100], epsilon=1e9, release=lab.opendp_release, neighbors="unbounded"
    )
    for point in sweep.points:
        assert abs(point.release - float(point.clipped_sum)) < 1e-3


@pytest.mark.opendp
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda lab: lab.opendp_laplace(1, 1, number="int"),
            "number must be int or float, got 'int'",
        ),
        (
            lambda lab: lab.opendp_laplace(1, 0),
            "epsilon must be a finite number above 0, got 0",
        ),
        (
            lambda lab: lab.opendp_clamped_sum((5, 0)),
            "bounds must be two finite numbers (lower, upper), in order, got (5, 0)",
        ),
        (
            lambda lab: lab.opendp_clamped_sum(5),
            "bounds must be two finite numbers (lower, upper), in order, got 5",
        ),
        (
            lambda lab: lab.opendp_clamped_sum((0, math.inf)),
            "bounds must be two finite numbers (lower, upper), in order, got (0, inf)",
        ),
        (
            lambda lab: lab.clamped_sum_maps((0, 2**70)),
            "bounds of ints must be between -2**63 and 2**63, for 64-bit integers, got "
            "(0, 1180591620717411303424); give floats",
        ),
        (
            lambda lab: lab.clamped_sum_maps((0, 2**62)),
            "bounds: OpenDP's map has no answer for (0, 4611686018427387904) at d_in = 2: "
            'Overflow("2 * 4611686018427387904 overflows. Consider tightening your parameters.")',
        ),
        (
            lambda lab: lab.opendp_clamped_sum((0.0, 1e308)),
            "bounds: OpenDP refuses a sum with the bounds (0.0, 1e+308): "
            'Overflow("(2).inf_powi(1024) is not finite. Consider tightening your parameters.")',
        ),
        (
            lambda lab: lab.clamped_sum_maps((0, 5), 3),
            "distances must be several whole numbers, got 3",
        ),
        (
            lambda lab: lab.opendp_laplace(1, Decimal("1e-400")),
            "epsilon must be at least 5e-324, the smallest float, got Decimal('1E-400')",
        ),
        (
            lambda lab: lab.opendp_laplace_sum((0, 5), 0),
            "scale must be a finite number above 0, got 0",
        ),
        (
            lambda lab: lab.opendp_release(math.nan, 1, 1),
            "value must be a finite number, got nan",
        ),
        (
            lambda lab: lab.opendp_release(1, 0, 0),
            "epsilon must be a finite number above 0, got 0",
        ),
    ],
)
def test_what_is_refused(lab, call, message):
    with pytest.raises(sl.errors.InputError) as caught:
        call(lab)
    assert str(caught.value) == message


def law_of_a_median(**options):
    scores = sl.Universe.from_domain(range(11))
    reach = sl.reach(scores, "median", dataset=[4, 5, 5, 6, 7], neighbors="bounded", distances=5)
    return sl.noise.inverse_sensitivity(reach, epsilon=2, grid=range(11), **options)


@pytest.mark.exhaustive
def test_draws_of_the_inverse_sensitivity_mechanism_follow_its_law(lab):
    law, number = law_of_a_median(k=2), 1500
    drawn = [lab.opendp_inverse_sensitivity(law) for _ in range(number)]
    for point in range(11):
        chance = float(law.probability(point))
        spread = math.sqrt(chance * (1 - chance) / number)
        assert abs(drawn.count(point) / number - chance) < 5 * spread, point


def test_other_laws_are_not_drawn_from(lab):
    for wrong, message in (
        (
            law_of_a_median(weights=range(1, 12)),
            "law: its outputs have different weights, and OpenDP has no exponential mechanism with "
            "a base measure; leave out weights",
        ),
        (5, "law must be a result of sl.noise.inverse_sensitivity, got 5"),
    ):
        with pytest.raises(sl.errors.InputError) as error:
            lab.opendp_inverse_sensitivity(wrong)
        assert str(error.value) == message


class OneCount:
    """A count that a person moves by 1."""

    def l2_square(self, person, groups):
        return Fraction(1)


@pytest.mark.parametrize("below", [1e-3, 1e-6, 1e-9, -1e-6])
def test_noise_covers_the_rounding_of_its_own_grid(below):
    # At this share, the scale without the rounding is just below a power of two, and the scale with
    # it above: the grid of the latter is coarser.
    r = Fraction(ratio(Fraction(1), Fraction(1, 10**6)))
    share = r**2 / (8 * (1 - Fraction(below))) ** 2
    [noise] = noise_of([OneCount()], [share], None, 1, Fraction(1), Fraction(1, 10**6))
    # The variance of the draws less a quarter of the square of 4 steps of the grid, as proved in
    # docs/proofs.md, "Releases".
    left = Fraction(noise.scale) ** 2 - Fraction(16, noise.finer**2)
    assert left >= r**2 / share
    assert left <= r**2 / share * (1 + Fraction(1, 10**9))
