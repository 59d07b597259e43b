"""Which returned numbers are an answer plus noise: those that move exactly as the noise does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from sensitivity_lab.audits.returned import Path, parts
from sensitivity_lab.checks import as_python
from sensitivity_lab.errors import QueryError
from sensitivity_lab.results.literals import short_literal

from .draws import Draw

_NEAR = 1e-6
"""Moves that differ by less, in proportion to the numbers, are equal: floats may be single."""

_LEAST = 1e-3
"""Noise is at least this large in proportion to what is returned, so that `_NEAR` sees it."""

_STEPS = (math.sqrt(5) - 1) / 2, math.sqrt(2) - 1
"""Multiples of these, less their whole parts, all differ."""


@dataclass(frozen=True)
class Unnoised:
    """Returned values without noise; `shown` is everything returned when noise is 0."""

    values: dict[Path, Any]
    shown: Any = field(compare=False)

    def __repr__(self) -> str:
        return short_literal(self.shown)


@dataclass(frozen=True)
class Answers:
    """What a function returns: by draw, the answers that its noise is added to; and the rest."""

    by_draw: list[tuple[Draw, list[Any]]]
    rest: Unnoised | None


Released = Callable[[Callable[[Draw], Any]], tuple[list[Draw], Any]]
"""Calls the function with what each draw is to return, and returns the draws and its answer."""


def answers_of(call: Released) -> Answers:
    """Return the answers before noise, of a function that adds noise and returns the sum.

    The function is called without noise, with noise, and with the opposite noise. A returned number
    is an answer if it moves by exactly one of the numbers of noise. Where one does not, two more
    calls show whether it moves in proportion to one of them, which then has another scale.

    Raises
    ------
    QueryError
        If a number moves in another way, for example since it was rounded or clipped after the
        noise. The message says why, and whether the sampler got the answer as its location.

    Examples
    --------
    >>> def called(release):
    ...     draw = Draw(0.0, 2.0)
    ...     return [draw], (7 + release(draw), "people")
    >>> found = answers_of(called)
    >>> found.by_draw, found.rest
    ([(Draw(location=0.0, scale=2.0, size=None), [7.0])], (7.0, 'people'))
    """
    draws, shown = call(lambda draw: draw.center)
    base = parts(shown)
    noise = _noise(draws, base)
    moved = [_moved(call, noise, sign) for sign in (1, -1)]
    try:
        found, rest = _sorted_out(base, [made for _, made in moved], _Added(_joined(noise)))
    except _NotAddedError as first:
        try:
            found, rest = _scaled_out(call, draws, base, noise, moved)
        except _NotAddedError as second:
            error = first if isinstance(second, _MovesOtherwiseError) else second
            raise QueryError(_why_not(call, draws, base, noise, moved, error)) from None
    if any(len(other) != len(draws) for other, _ in moved):
        raise QueryError(
            "what the function returns draws another number of times with other noise, "
            + _way_out(draws)
        )
    by_draw = _by_draw(draws, found, [np.size(one) for one in noise])
    return Answers(by_draw, _unnoised(base, rest, shown))


def _by_draw(
    draws: Sequence[Draw], found: dict[int, tuple[Any, float]], sizes: list[int]
) -> list[tuple[Draw, list[Any]]]:
    """Return the answers by draw, and by the size of the factor that scales its noise."""
    by_draw = []
    ends = np.cumsum(sizes).tolist()
    for draw, start, end in zip(draws, [0, *ends], ends, strict=False):
        answers: dict[float, list[Any]] = {}
        for place in range(start, end):
            if place in found:
                answer, factor = found[place]
                answers.setdefault(abs(factor), []).append(answer)
        by_draw += [(_scaled(draw, factor), those) for factor, those in answers.items()]
    return by_draw


def _scaled(draw: Draw, factor: float) -> Draw:
    """Return a draw whose noise is scaled; the product is exact where the scale is a number."""
    if factor == 1:
        return draw
    scale = draw.scale
    exact = np.ndim(scale) == 0 and _is_number(as_python(scale))
    product = Fraction(as_python(scale)) * Fraction(factor) if exact else scale * factor
    return replace(draw, scale=product)


def _unnoised(base: dict[Path, Any], rest: dict[Path, Any], shown: Any) -> Unnoised | None:
    """Return what is without noise, and where the noisy numbers stand; None if that says nothing.

    The places in one list or array of noisy numbers say no more than these numbers.
    """
    noisy = base.keys() - rest.keys()
    numbered = noisy == {()} or isinstance(shown, list | tuple | np.ndarray)
    if numbered and rest.keys() <= {("number of entries",)}:
        return None
    return Unnoised(rest | dict.fromkeys(noisy, "noisy"), shown)


_Place = Callable[[Any, Sequence[Any]], tuple[int, float]]
"""Returns which noise moves a returned number, and by which factor, or raises _NotAddedError."""


def _sorted_out(
    base: dict[Path, Any], moved: Sequence[dict[Path, Any]], place_of: _Place
) -> tuple[dict[int, tuple[Any, float]], dict[Path, Any]]:
    """Return the answers and factors by the number of noise, and what does not move."""
    if any(made.keys() != base.keys() for made in moved):
        raise _NotAddedError("has other parts with other noise")
    of_number: dict[int, tuple[Any, float]] = {}
    rest: dict[Path, Any] = {}
    for path, first in base.items():
        others = [made[path] for made in moved]
        if all(_same(first, other) for other in others):
            rest[path] = first
            continue
        place, factor = place_of(first, others)
        if of_number.setdefault(place, (first, factor)) != (first, factor):
            raise _NotAddedError("has the same noise in two numbers")
    if not of_number:
        raise _NotAddedError("does not move with the noise")
    return of_number, rest


def _scaled_out(
    call: Released,
    draws: Sequence[Draw],
    base: dict[Path, Any],
    noise: Sequence[Any],
    moved: Sequence[tuple[list[Draw], dict[Path, Any]]],
) -> tuple[dict[int, tuple[Any, float]], dict[Path, Any]]:
    """Return the same where noise is multiplied by a number, as in ``scale * normal()``."""
    other = _noise(draws, base, seed=1)
    power = _power(base)
    far = [np.full(np.shape(one), power) if np.ndim(one) else power for one in noise]
    made = [one for _, one in moved]
    place_of = _Multiplied(_joined(noise), _joined(other), power)
    # Far noise tells the factor exactly; it is huge, so what is not in proportion never sees it.
    for one in (other, far):
        drawn, more = _moved(call, one, 1)
        if len(drawn) != len(draws):
            raise _NotAddedError("draws another number of times with other noise")
        made.append(more)
        found = _sorted_out(base, made, place_of)
    return found


def _joined(noise: Sequence[Any]) -> Any:
    """Return all numbers of noise in a row."""
    return np.concatenate([np.ravel(one) for one in noise])


def _power(base: dict[Path, Any]) -> float:
    """Return a power of 2 beside which no returned number shows: it tells a factor exactly."""
    numbers = [abs(float(one)) for one in base.values() if _is_number(one)]
    return math.ldexp(1.0, 100 + math.frexp(max([1.0, *numbers]))[1])


_AGAIN = 8
"""How often a function is called again to see whether chance moves what it returns."""


def _why_not(
    call: Released,
    draws: Sequence[Draw],
    base: dict[Path, Any],
    noise: Sequence[Any],
    moved: Sequence[tuple[list[Draw], dict[Path, Any]]],
    error: _NotAddedError,
) -> str:
    """Return why what is returned is no answer plus noise, and what the caller can do."""
    again = [_moved(call, [], 1) for _ in range(_AGAIN)]
    if any(len(drawn) != len(draws) or not _all_same(base, made) for drawn, made in again):
        return (
            "what the function returns differs between two runs in which all named samplers were "
            "quiet: it also draws from another sampler, which must be named, too, or it is "
            "random before its noise; audit the part after that"
        )
    twice = _moved(call, [2 * np.asarray(one) if np.ndim(one) else 2 * one for one in noise], 1)[1]
    up, down = (made for _, made in moved)
    linear = all(
        _all_same(other, _along(base, up, steps)) for other, steps in ((down, -1), (twice, 2))
    )
    told = f"what the function returns {error}"
    if linear and sum(map(np.size, noise)) > 1:
        return (
            f"{told} (a number holds the noise of several draws, or several numbers that of one): "
            "add the noise of one draw to each answer; if the sampler gets the answer as its "
            "location, pass value='location'"
        )
    why = _CHANGED if isinstance(error, _MovesOtherwiseError) else ""
    return f"{told}{why}, {_way_out(draws)}"


_CHANGED = " (it is rounded, clipped or changed by a branch after the noise)"


def _along(base: dict[Path, Any], up: dict[Path, Any], steps: int) -> dict[Path, Any]:
    """Return what would be returned with noise of so many steps if it moved in proportion."""
    return {
        path: one + steps * (up[path] - one) if _is_number(one) and _is_number(up[path]) else one
        for path, one in base.items()
        if path in up
    }


def _all_same(one: dict[Path, Any], two: dict[Path, Any]) -> bool:
    return one.keys() == two.keys() and all(_same(one[path], two[path]) for path in one)


def _way_out(draws: Sequence[Draw]) -> str:
    """Return what the caller can do."""
    why = "so the answer before noise cannot be read off it: "
    if any(np.any(np.asarray(draw.location) != 0) for draw in draws):
        return why + "pass value='location', since the sampler gets the answer as its location"
    return why + (
        "if the sampler gets the answer as its location, pass value='location'; if not, audit the "
        "function without its steps after the noise"
    )


def _moved(call: Released, noise: Sequence[Any], sign: int) -> tuple[list[Draw], dict[Path, Any]]:
    """Return the draws, and the parts of what is returned with some noise."""
    left = iter(noise)

    def release(draw: Draw) -> Any:
        return draw.center + sign * next(left, 0.0)

    draws, shown = call(release)
    return draws, parts(shown)


def _noise(draws: Sequence[Draw], base: dict[Path, Any], seed: int = 0) -> list[Any]:
    """Return a number or an array of noise for each draw; all numbers differ, and none is whole."""
    numbers = [abs(one) for one in base.values() if _is_number(one)]
    scales = [abs(float(one)) for draw in draws for one in np.ravel(draw.scale)]
    unit = max([*scales, _LEAST * max(numbers, default=0)], default=0.0) or 1.0
    made: list[Any] = []
    drawn = 0
    for draw in draws:
        shape = np.shape(draw.center)
        places = drawn + np.arange(math.prod(shape))
        drawn += len(places)
        entries = unit * math.sqrt(2 + seed) * (1 + (places + seed) * _STEPS[seed] % 1)
        made.append(entries.reshape(shape) if shape else float(entries[0]))
    return made


class _NotAddedError(Exception):
    """What is returned is no answer plus noise: the message completes a sentence."""


class _MovesOtherwiseError(_NotAddedError):
    """A number moves with the noise, but not by it."""


@dataclass(frozen=True)
class _Added:
    """Finds the noise that a returned number moves by, in a row of numbers of noise."""

    numbers: Any

    def __call__(self, first: Any, others: Sequence[Any]) -> tuple[int, float]:
        """Return its place and the factor 1, or raise _NotAddedError."""
        up, down = _steps(first, others)
        place = int(np.argmin(np.abs(self.numbers - up)))
        noise = float(self.numbers[place])
        near = _NEAR * max(map(abs, (float(first), *map(float, others), noise)))
        if abs(up - noise) > near or abs(down + noise) > near:
            raise _MovesOtherwiseError(
                f"moves by {up:.6g} and {down:.6g} where the noise moves by {noise:.6g} and "
                f"{-noise:.6g}"
            )
        return place, 1.0


@dataclass(frozen=True)
class _Multiplied:
    """Finds the noise that a returned number moves in proportion to, and the factor.

    Two rows of noise tell the place, since only there both moves have the same ratio to the noise.
    """

    numbers: Any
    others: Any
    power: float

    def __call__(self, first: Any, others: Sequence[Any]) -> tuple[int, float]:
        """Return its place and its factor, or raise _NotAddedError."""
        up, down, other, *far = _steps(first, others)
        near = _NEAR * max(map(abs, (float(first), *map(float, others[:3]))))
        gaps = np.abs(up / self.numbers * self.others - other)
        place = int(np.argmin(gaps))
        ratio = up / float(self.numbers[place])
        factor = far[0] / self.power if far else ratio
        rivals = np.count_nonzero(gaps <= near)
        if (
            rivals != 1
            or abs(up + down) > near
            or abs(factor - ratio) > _NEAR * abs(ratio) + (near / abs(float(self.numbers[place])))
        ):
            raise _MovesOtherwiseError("moves otherwise than in proportion to one noise")
        return place, factor


def _steps(first: Any, others: Sequence[Any]) -> list[float]:
    """Return by how much a number moves, or raise _NotAddedError if it is none."""
    for one in (first, *others):
        if not _is_number(one):
            raise _NotAddedError(
                f"holds {short_literal(first)}, or with noise {short_literal(others[0])}"
            )
    return [float(other - first) for other in others]


def _same(one: Any, two: Any) -> bool:
    """Tell whether a part did not move."""
    if not _is_number(one) or not _is_number(two):
        return bool(one == two)
    return bool(abs(one - two) <= _NEAR * max(abs(one), abs(two)))


def _is_number(part: Any) -> bool:
    """Tell whether a part is a finite number."""
    if not isinstance(part, Rational | float) or isinstance(part, bool):
        return False
    return bool(math.isfinite(part))
