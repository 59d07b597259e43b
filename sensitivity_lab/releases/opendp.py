"""OpenDP measurements with the lab's sensitivities; needs the optional extra `opendp`.

The lab computes how much an answer can change, and OpenDP's samplers add noise of that size. OpenDP
requires an opt-in to functions whose proofs are not vetted, so first call
``opendp.prelude.enable_features("contrib")``.

Adding or removing a record is a distance of 1 in OpenDP's symmetric distance, which is the lab's
``SymmetricDifference(1)``. Replacing a record is a distance of 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.calls.sensitivity import global_sensitivity
from sensitivity_lab.checks import check_bounds, check_kind, check_number, check_positive, shown
from sensitivity_lab.errors import InputError, MissingExtraError
from sensitivity_lab.exact.difference import nearest, round_down, round_up
from sensitivity_lab.noise.inverse_mechanism import INVERSE_SENSITIVITY, InverseSensitivity
from sensitivity_lab.noise.mechanisms import check_public
from sensitivity_lab.noise.scales import LAPLACE, laplace_scale
from sensitivity_lab.universes.relations import SymmetricDifference
from sensitivity_lab.universes.universe import Universe

try:
    import opendp.prelude as dp
    from opendp.mod import OpenDPException
except ImportError as error:
    raise MissingExtraError(
        "sensitivity_lab.releases.opendp needs OpenDP, which is not installed; "
        "install the extra: pip install '.[opendp]' in a checkout"
    ) from error

__all__ = [
    "clamped_sum_maps",
    "opendp_clamped_sum",
    "opendp_inverse_sensitivity",
    "opendp_laplace",
    "opendp_laplace_sum",
    "opendp_release",
]
__dir__ = __all__.copy  # for tab completion

_STEPS = 2**20
"""The number of steps per sensitivity that `opendp_release` rounds an answer to."""

_SHARE_OF_LOSS = Fraction(1, 10**12)
"""By so much of it, OpenDP may round a stated loss up."""

_FARTHEST = 2**62
"""An answer is cut off at this many steps, which leaves room for noise in 64-bit integers."""


def opendp_laplace(
    sensitivity: Any,
    epsilon: Any,
    *,
    number: type[int | float] = float,
    public_universe: bool = False,
) -> Any:
    """Make OpenDP's Laplace measurement for an answer with a sensitivity of the lab.

    Parameters
    ----------
    sensitivity : number or result of a search
        The largest distance of the answers on neighbors, at least 0. If it is a result, its
        `upper` is used.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, at least 5e-324.
    number : {float, int}, default float
        The type of the answers: 64-bit floats, or 64-bit integers with integer noise. For integer
        answers the sensitivity is rounded up to an integer.
    public_universe : bool, default False
        As for `laplace_scale`.

    Returns
    -------
    opendp.Measurement
        Takes an answer and returns a noisy one. Its input metric is the absolute distance. At the
        sensitivity, rounded up to a float or an integer, its privacy map is at most `epsilon`.

    Raises
    ------
    InputError
        If an argument is invalid, or is a result that `laplace_scale` refuses.

    Warns
    -----
    DatasetUniverseWarning, PrivateSizeWarning
        As for `laplace_scale`.

    Notes
    -----
    The map covers the answers that the measurement gets. The exact sensitivity is for the query
    without rounding; if a query rounds its floats, its answers can be a little farther apart. Use
    integers, `opendp_release`, or OpenDP's own sum to avoid that.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> import sensitivity_lab as sl
    >>> ages = sl.Universe.from_domain(range(126))
    >>> total = sl.global_sensitivity(ages, "sum", size=10, neighbors="unbounded")
    >>> measurement = opendp_laplace(total, epsilon=0.5, number=int)
    >>> measurement.map(125), type(measurement(380))
    (0.5, <class 'int'>)
    """
    if number not in (int, float):
        raise InputError(f"number must be int or float, got {shown(number)}")
    distance = LAPLACE.bound(sensitivity, "sensitivity")
    check_public({"sensitivity": sensitivity}, public_universe)
    # The map takes and gives floats, or ints: the distance is rounded up to one, epsilon down.
    distance = Fraction(math.ceil(distance) if number is int else round_up(distance))
    loss = round_down(check_positive("epsilon", epsilon))
    if not loss:
        raise InputError(
            f"epsilon must be at least 5e-324, the smallest float, got {shown(epsilon)}"
        )
    scale = laplace_scale(distance, loss)
    name = _name(number)
    return dp.m.make_laplace(_atoms(name), dp.absolute_distance(T=name), scale=scale)


def opendp_clamped_sum(bounds: tuple[Any, Any]) -> Any:
    """Chain OpenDP's clamp and sum: ``clamp(L, U) >> sum(L, U)``.

    Parameters
    ----------
    bounds : tuple of two ints or two floats
        L and U, with L <= U. If both are ints, the transformation works on 64-bit integers, so they
        must be between -2**63 and 2**63; otherwise it works on floats.

    Returns
    -------
    opendp.Transformation
        Takes a list of records and returns their clamped sum. Its input metric is the symmetric
        distance, its output metric the absolute distance.

    Raises
    ------
    InputError
        If the bounds are not two finite numbers in order, or OpenDP refuses them.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> total = opendp_clamped_sum((0, 5))
    >>> total([1, 8, -3, 7]), total.map(2)
    (11, 10)
    """
    low, high, number = _checked(bounds)
    name = _name(number)
    start = dp.vector_domain(_atoms(name)), dp.symmetric_distance()
    with _refusals(f"bounds: OpenDP refuses a sum with the bounds {shown(bounds)}"):
        return start >> dp.t.then_clamp((low, high)) >> dp.t.then_sum()


def opendp_laplace_sum(bounds: tuple[Any, Any], scale: Any) -> Any:
    """Chain OpenDP's clamp, sum and Laplace noise, as the first page of its guide does.

    Parameters
    ----------
    bounds : tuple of two ints or two floats
        L and U, as for `opendp_clamped_sum`.
    scale : number
        The scale of the noise, above 0, for example from `laplace_scale`.

    Returns
    -------
    opendp.Measurement
        Takes a list of records and returns their noisy clamped sum; ``map(d_in)`` is the epsilon
        for people with up to d_in records.

    Raises
    ------
    InputError
        If an argument is invalid.

    Notes
    -----
    For integers, a scale that was made from the lab's sensitivity and an epsilon has exactly this
    epsilon. OpenDP's float sum rounds, and its map accounts for the rounding: for the same epsilon
    use ``laplace_scale(opendp_clamped_sum(bounds).map(d_in), epsilon)``.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> opendp_laplace_sum((0, 5), scale=5).map(2)
    2.0
    >>> round(opendp_laplace_sum((0.0, 5.0), scale=5).map(2), 6)
    2.0
    """
    noise = nearest(check_positive("scale", scale))
    return opendp_clamped_sum(bounds) >> dp.m.then_laplace(noise)


def clamped_sum_maps(bounds: tuple[Any, Any], distances: Iterable[int] = (1, 2, 3)) -> pd.DataFrame:
    """Compare OpenDP's stability map of a clamped sum with the sensitivity that the lab measures.

    Parameters
    ----------
    bounds : tuple of two ints or two floats
        L and U, as for `opendp_clamped_sum`.
    distances : iterable of int, default 1 to 3
        Symmetric distances d_in, at least 1.

    Returns
    -------
    pandas.DataFrame
        A row per distance: d_in, measured (the sensitivity of the sum of records in [L, U] at a
        symmetric difference of at most d_in; for floats, the smallest float that is not below it),
        map (the value of OpenDP's map).

    Raises
    ------
    InputError
        If an argument is invalid, or OpenDP's map has no value at a distance.

    Notes
    -----
    For integers the two agree. For floats the map is larger by a rounding term, and if L and U have
    different signs, it is U - L per record: OpenDP's float sum keeps a limited number of records,
    so adding one can push another one out.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> clamped_sum_maps((0, 5))
       d_in  measured  map
    0     1         5    5
    1     2        10   10
    2     3        15   15
    """
    if isinstance(distances, (str, bytes)) or not isinstance(distances, Iterable):
        raise InputError(f"distances must be several whole numbers, got {shown(distances)}")
    total = opendp_clamped_sum(bounds)
    low, high, number = _checked(bounds)
    ends = Universe.from_domain(sorted({low, high}))
    rows = []
    for relation in map(SymmetricDifference, distances):
        found = global_sensitivity(ends, "sum", size=relation.k + 1, neighbors=relation)
        # The sum of ints is an int, also beyond 2**53.
        measured = found.upper if number is float else int(found.exact or 0)
        with _refusals(
            f"bounds: OpenDP's map has no answer for {shown(bounds)} at d_in = {relation.k}"
        ):
            d_out = total.map(relation.k)
        rows.append({"d_in": relation.k, "measured": measured, "map": d_out})
    return pd.DataFrame(rows)


@contextmanager
def _refusals(what: str) -> Iterator[None]:
    """Turn OpenDP's refusals into InputError, with its reason."""
    try:
        yield
    except OpenDPException as error:
        raise InputError(f"{what}: {str(error).strip()}") from error


def opendp_release(
    value: Any, sensitivity: Any, epsilon: Any, *, public_universe: bool = False
) -> float:
    """Release a number with OpenDP's integer Laplace noise; a mechanism for `clipping_sweep`.

    The answer is rounded to a multiple of a step, the sensitivity over 2**20, and the noise is a
    multiple of that step as well.

    Parameters
    ----------
    value : number
        The exact answer.
    sensitivity, public_universe
        As for `opendp_laplace`. With a sensitivity of 0 the answer is the same for all data and
        gets no noise.
    epsilon : int, float, Fraction or Decimal
        The privacy loss, above 0.

    Returns
    -------
    float
        The noisy answer.

    Raises
    ------
    InputError
        As for `opendp_laplace`.

    Warns
    -----
    DatasetUniverseWarning, PrivateSizeWarning
        As for `laplace_scale`.

    Notes
    -----
    The privacy loss is at most epsilon, without a rounding term. Proof: floor(a + 1/2) is monotone,
    and floor(a + m + 1/2) = floor(a + 1/2) + m for whole numbers m. So answers that are at most
    2**20 steps apart are rounded to integers that are at most 2**20 apart. Cutting them off at
    2**62 steps moves no two of them farther apart. The steps after the noise, a product and a
    rounding to a float, see nothing else of the data. Rounding changes the answer by less than
    10**-6 of the sensitivity.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> from sensitivity_lab.noise import clipping_sweep
    >>> sweep = clipping_sweep(
    ...     [3, 5, 9], [4, 8, 16], epsilon=1, release=opendp_release, neighbors="unbounded"
    ... )
    >>> [type(point.release) for point in sweep.points]
    [<class 'float'>, <class 'float'>, <class 'float'>]
    """
    answer, distance = check_number("value", value), LAPLACE.bound(sensitivity, "sensitivity")
    check_public({"sensitivity": sensitivity}, public_universe)
    measurement = opendp_laplace(_STEPS, epsilon, number=int)
    if not distance:
        return nearest(answer)
    # Rounding on this grid moves no two answers more than 2**20 steps apart: see the notes above.
    step = distance / _STEPS
    rounded = math.floor(answer / step + Fraction(1, 2))
    noisy = measurement(max(-_FARTHEST, min(rounded, _FARTHEST)))
    return nearest(noisy * step)


def opendp_inverse_sensitivity(law: InverseSensitivity) -> float:
    """Draw an output from the law of the inverse sensitivity mechanism, with OpenDP's noise.

    Parameters
    ----------
    law : InverseSensitivity
        The return value of `sensitivity_lab.noise.inverse_sensitivity`, with equal weights.

    Returns
    -------
    float
        A point of the grid, rounded to a float.

    Raises
    ------
    InputError
        If the argument is not such a law, its weights differ, or OpenDP states a larger privacy
        loss than the law.

    Notes
    -----
    OpenDP adds Gumbel noise to the number of records that each output needs, and returns the place
    of the smallest sum. This is the exponential mechanism, so output t is drawn with probability
    proportional to ``exp(-s(t) / scale)``, as in the law. The scale, 2 k / epsilon, is rounded up
    to a float, so probabilities differ by less than one part in 10**8. The exponential mechanism is
    epsilon-differentially private. OpenDP states its loss in zCDP, as ``epsilon**2 / 8``, and that
    is checked. (Its noisy maximum for pure privacy is permute-and-flip, which has another law.)

    References
    ----------
    McSherry, Talwar, "Mechanism Design via Differential Privacy" (FOCS 2007), Theorem 6.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> x = [4, 5, 5, 6, 7]
    >>> reach = sl.reach(scores, "median", dataset=x, neighbors="bounded", distances=5)
    >>> law = sl.noise.inverse_sensitivity(reach, epsilon=1, grid=range(11))
    >>> opendp_inverse_sensitivity(law) in range(11)
    True
    """
    check_kind(
        "law", law, InverseSensitivity, "a result of sl.noise.inverse_sensitivity", way_out=""
    )
    if len(set(law.grid.weights)) > 1:
        raise InputError(
            "law: its outputs have different weights, and OpenDP has no exponential mechanism with "
            "a base measure; leave out weights"
        )
    scale = INVERSE_SENSITIVITY.scale(Fraction(law.k**2), Fraction(law.epsilon))
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    measurement = dp.m.make_noisy_max(
        *space, dp.zero_concentrated_divergence(), scale=scale, negate=True
    )
    # OpenDP rounds its statement up, hence the small share that is allowed.
    stated, expected = measurement.map(law.k), Fraction(law.epsilon) ** 2 / 8
    if Fraction(stated) > expected * (1 + _SHARE_OF_LOSS):
        raise InputError(
            f"law: OpenDP states a loss of {stated!r} in zCDP, and the law has {float(expected)!r}"
        )
    return nearest(law.grid.points[measurement(law.scores)])


def _atoms(name: str) -> Any:
    """Return the domain of finite numbers of a type."""
    return dp.atom_domain(T=name) if name == "i64" else dp.atom_domain(T=name, nan=False)


def _name(number: type[int | float]) -> str:
    """Return OpenDP's name of a type."""
    return "i64" if number is int else "f64"


def _checked(bounds: Any) -> tuple[Any, Any, type[int | float]]:
    """Return L, U and the type of the sum, or raise InputError."""
    low, high = check_bounds("bounds", bounds)
    number = int if all(isinstance(bound, (int, np.integer)) for bound in bounds) else float
    if number is int and not -(2**63) < low <= high < 2**63:
        raise InputError(
            "bounds of ints must be between -2**63 and 2**63, for 64-bit integers, got "
            f"{shown(bounds)}; give floats"
        )
    return number(bounds[0]), number(bounds[1]), number
