"""OpenDP measurements with the lab's sensitivities; needs the optional extra `opendp`.

The lab says how much an answer can change, and OpenDP, whose samplers are made for it, adds noise
of that size. OpenDP asks its users to opt in to functions whose proofs are not vetted:
``opendp.prelude.enable_features("contrib")`` comes first, and is the caller's to call.

Adding or removing a record is OpenDP's symmetric distance of 1, the lab's
``SymmetricDifference(1)``. Replacing one is a distance of 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from .calls.global_sensitivity import global_sensitivity
from .checks import shown
from .errors import InputError, MissingExtraError
from .exact.difference import nearest, round_down, round_up
from .pipelines.noise.arguments import positive, rational, upper_bound
from .pipelines.noise.scales import laplace_scale
from .universes.relations import SymmetricDifference
from .universes.universe import Universe

try:
    import opendp.prelude as dp
    from opendp.mod import OpenDPException
except ImportError as error:
    raise MissingExtraError(
        "sensitivity_lab.interop_opendp needs OpenDP, which is not installed; "
        "install the extra: pip install 'sensitivity_lab[opendp]'"
    ) from error

_STEPS = 2**20
"""`opendp_release` rounds an answer to so many steps per sensitivity."""

_FARTHEST = 2**62
"""An answer is cut off at so many steps, which leaves 64-bit integers room for noise."""


def opendp_laplace(sensitivity: Any, epsilon: Any, *, number: type[int | float] = float) -> Any:
    """Make OpenDP's Laplace measurement for an answer with a sensitivity of the lab.

    Parameters
    ----------
    sensitivity : number or result of a search
        How far answers on neighbors are apart, at least 0. Of a result its `upper` is taken.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of one release, at least 5e-324.
    number : {float, int}, default float
        The type of the answers: 64-bit floats, or 64-bit integers with integer noise. Between
        integer answers a sensitivity of 2.5 is one of 3.

    Returns
    -------
    opendp.Measurement
        From an answer to a noisy one. Its input metric is the absolute distance, and its privacy
        map gives at most `epsilon` at the sensitivity (at the next float, or integer, above it).

    Raises
    ------
    InputError
        If an argument is not acceptable; if a result is one that `laplace_scale` refuses.

    Notes
    -----
    The map speaks of the answer that the measurement gets. Where a float query rounds, the answers
    can be a little farther apart than the exact sensitivity, which speaks of the query without
    rounding: use integers, `opendp_release`, or OpenDP's own sum.

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
    distance = upper_bound(sensitivity, "sensitivity", "L1")
    # The map takes and gives floats, or ints: the distance is rounded up to one, epsilon down.
    distance = Fraction(math.ceil(distance) if number is int else round_up(distance))
    loss = round_down(positive(epsilon, "epsilon"))
    if not loss:
        raise InputError(f"epsilon must be at least 5e-324, the smallest float, got {epsilon!r}")
    scale = laplace_scale(distance, loss)
    name = _name(number)
    return dp.m.make_laplace(_atoms(name), dp.absolute_distance(T=name), scale=scale)


def opendp_clamped_sum(bounds: tuple[Any, Any]) -> Any:
    """Chain OpenDP's clamp and sum: ``clamp(L, U) >> sum(L, U)``.

    Parameters
    ----------
    bounds : tuple of two ints or two floats
        L and U, with L <= U. Of ints, which must be less than 2**63 in size, the transformation is
        one of 64-bit integers, else of floats.

    Returns
    -------
    opendp.Transformation
        From a list of records to their clamped sum; from the symmetric to the absolute distance.

    Raises
    ------
    InputError
        If the bounds are not two finite numbers in order, or OpenDP makes no sum of them.

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
    with _refusals(f"bounds: OpenDP makes no sum of {bounds!r}"):
        return start >> dp.t.then_clamp((low, high)) >> dp.t.then_sum()


def opendp_laplace_sum(bounds: tuple[Any, Any], scale: Any) -> Any:
    """Chain OpenDP's clamp, sum and Laplace noise, as the first page of its guide does.

    Parameters
    ----------
    bounds : tuple of two ints or two floats
        L and U, as for `opendp_clamped_sum`.
    scale : number
        The scale of the noise, above 0, for example of `laplace_scale`.

    Returns
    -------
    opendp.Measurement
        From a list of records to their noisy clamped sum; ``map(d_in)`` is the epsilon for people
        with up to d_in records.

    Raises
    ------
    InputError
        If an argument is not acceptable.

    Notes
    -----
    Between integers, a scale for the lab's sensitivity has exactly the epsilon that it was made
    for. OpenDP's float sum rounds, and its map charges for that: for the same epsilon take
    ``laplace_scale(opendp_clamped_sum(bounds).map(d_in), epsilon)``.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> opendp_laplace_sum((0, 5), scale=5).map(2)
    2.0
    >>> round(opendp_laplace_sum((0.0, 5.0), scale=5).map(2), 6)
    2.0
    """
    noise = nearest(positive(scale, "scale"))
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
        symmetric difference of at most d_in; between floats the smallest float that is not below
        it), map (OpenDP's).

    Raises
    ------
    InputError
        If an argument is not acceptable, or OpenDP's map has no number for it.

    Notes
    -----
    Between integers the two agree. Between floats the map is larger by a rounding term, and where L
    and U have different signs it charges U - L per record: its float sum keeps a limited number of
    records, so that adding one can push another one out.

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
        raise InputError(f"distances must be several whole numbers, got {distances!r}")
    total = opendp_clamped_sum(bounds)
    low, high, number = _checked(bounds)
    ends = Universe.from_domain(sorted({low, high}))
    rows = []
    for relation in map(SymmetricDifference, distances):
        found = global_sensitivity(ends, "sum", size=relation.k + 1, neighbors=relation)
        # Of ints the sum is an int, beyond 2**53 too.
        measured = found.upper if number is float else int(found.exact or 0)
        with _refusals(f"bounds: OpenDP's map has no answer for {bounds!r} at d_in = {relation.k}"):
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


def opendp_release(value: Any, sensitivity: Any, epsilon: Any) -> float:
    """Release a number with OpenDP's integer Laplace noise; a mechanism for `clipping_sweep`.

    The answer is rounded to a multiple of a 2**20th of the sensitivity, and gets noise in multiples
    of that step.

    Parameters
    ----------
    value : number
        The answer, exactly.
    sensitivity : number or result of a search
        How far answers on neighbors are apart, at least 0. Of a result its `upper` is taken. With a
        sensitivity of 0 the answer is the same for all data and gets no noise.
    epsilon : int, float, Fraction or Decimal
        The privacy loss, above 0.

    Returns
    -------
    float
        The noisy answer.

    Raises
    ------
    InputError
        If an argument is not acceptable; if a result is one that `laplace_scale` refuses.

    Notes
    -----
    Why the privacy loss is at most epsilon, without a rounding term: floor(a + 1/2) is monotone and
    moves with whole numbers, so answers at most 2**20 steps apart are rounded to integers at most
    2**20 apart. Cutting them off at 2**62 steps brings none farther apart. What follows the noise,
    here a product and a rounding to a float, sees nothing else of the data. The rounding of the
    answer is less than 10**-6 of the sensitivity.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> from sensitivity_lab.pipelines.noise.clipping import clipping_sweep
    >>> sweep = clipping_sweep([3, 5, 9], [4, 8, 16], epsilon=1, release=opendp_release)
    >>> [type(point.release) for point in sweep.points]
    [<class 'float'>, <class 'float'>, <class 'float'>]
    """
    answer, distance = rational(value, "value"), upper_bound(sensitivity, "sensitivity", "L1")
    measurement = opendp_laplace(_STEPS, epsilon, number=int)
    if not distance:
        return nearest(answer)
    step = distance / _STEPS
    rounded = math.floor(answer / step + Fraction(1, 2))
    noisy = measurement(max(-_FARTHEST, min(rounded, _FARTHEST)))
    return nearest(noisy * step)


def _atoms(name: str) -> Any:
    """Return the domain of finite numbers of a type."""
    return dp.atom_domain(T=name) if name == "i64" else dp.atom_domain(T=name, nan=False)


def _name(number: type[int | float]) -> str:
    """Return OpenDP's name of a type."""
    return "i64" if number is int else "f64"


def _checked(bounds: Any) -> tuple[Any, Any, type[int | float]]:
    """Return L, U and the type of the sum, or raise InputError."""
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise InputError(f"bounds must be two numbers (lower, upper), got {shown(bounds)}")
    low, high = (rational(bound, "bounds") for bound in bounds)
    if low > high:
        raise InputError(f"bounds must be in order, got {shown(bounds)}")
    number = int if all(isinstance(bound, (int, np.integer)) for bound in bounds) else float
    if number is int and not -(2**63) < low <= high < 2**63:
        raise InputError(
            "bounds of ints must be between -2**63 and 2**63, for 64-bit integers, got "
            f"{bounds!r}; give floats"
        )
    return number(bounds[0]), number(bounds[1]), number
