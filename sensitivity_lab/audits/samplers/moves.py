"""Which returned numbers are an answer plus noise: those that move exactly as the noise does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Rational
from typing import Any

import numpy as np

from sensitivity_lab.audits.replay.returned import Path, parts
from sensitivity_lab.errors import QueryError
from sensitivity_lab.results.literals import short_literal

from .draws import Draw

NEAR = 1e-6
"""Moves that differ by less, in proportion to the numbers, are equal: floats may be single."""

_LEAST = 1e-3
"""Noise is at least this large in proportion to what is returned, so that `NEAR` sees it."""

_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Unnoised:
    """What is returned without noise; `shown` is all that is returned where noise is 0."""

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
    is an answer if it moves by exactly one of the numbers of noise.

    Raises
    ------
    QueryError
        If a number moves in another way: it was rounded, clipped or scaled after the noise. The
        message says whether the sampler got the answer as its location.

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
    numbers = np.concatenate([np.ravel(one) for one in noise])
    try:
        of_number, rest = _sorted_out(base, [made for _, made in moved], numbers)
        if any(len(other) != len(draws) for other, _ in moved):
            raise _NotAddedError("draws another number of times with other noise")
    except _NotAddedError as error:
        raise QueryError(f"what the function returns {error}, {_way_out(draws)}") from None
    ends = np.cumsum([np.size(one) for one in noise]).tolist()
    by_draw = [
        (draw, [of_number[place] for place in range(start, end) if place in of_number])
        for draw, start, end in zip(draws, [0, *ends], ends, strict=False)
    ]
    return Answers(
        [(draw, answers) for draw, answers in by_draw if answers], _unnoised(base, rest, shown)
    )


def _unnoised(base: dict[Path, Any], rest: dict[Path, Any], shown: Any) -> Unnoised | None:
    """Return what is without noise, and where the noisy numbers stand; None if that says nothing.

    The places in one list or array of noisy numbers say no more than these numbers.
    """
    noisy = base.keys() - rest.keys()
    numbered = noisy == {()} or isinstance(shown, list | tuple | np.ndarray)
    if numbered and rest.keys() <= {("number of entries",)}:
        return None
    return Unnoised(rest | dict.fromkeys(noisy, "noisy"), shown)


class _NotAddedError(Exception):
    """What is returned is no answer plus noise: the message completes a sentence."""


def _sorted_out(
    base: dict[Path, Any], moved: Sequence[dict[Path, Any]], numbers: Any
) -> tuple[dict[int, Any], dict[Path, Any]]:
    """Return the answers by the number of noise that moves them, and what does not move."""
    if any(made.keys() != base.keys() for made in moved):
        raise _NotAddedError("has other parts with other noise")
    of_number: dict[int, Any] = {}
    rest: dict[Path, Any] = {}
    for path, first in base.items():
        others = [made[path] for made in moved]
        if all(_same(first, other) for other in others):
            rest[path] = first
            continue
        place = _place(first, others, numbers)
        if of_number.setdefault(place, first) != first:
            raise _NotAddedError("has the same noise in two numbers")
    if not of_number:
        raise _NotAddedError("does not move with the noise")
    return of_number, rest


def _way_out(draws: Sequence[Draw]) -> str:
    """Return what the caller can do."""
    why = "so the answer before noise cannot be read off it: "
    if any(np.any(np.asarray(draw.location) != 0) for draw in draws):
        return why + "say value='location', since the sampler gets the answer as its location"
    return why + (
        "if the sampler gets the answer as its location, say value='location'; if not, audit the "
        "function without its steps after the noise"
    )


def _moved(call: Released, noise: Sequence[Any], sign: int) -> tuple[list[Draw], dict[Path, Any]]:
    """Return the draws, and the parts of what is returned with some noise."""
    left = iter(noise)

    def release(draw: Draw) -> Any:
        return draw.center + sign * next(left, 0.0)

    draws, shown = call(release)
    return draws, parts(shown)


def _noise(draws: Sequence[Draw], base: dict[Path, Any]) -> list[Any]:
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
        entries = unit * math.sqrt(2) * (1 + places * _GOLDEN % 1)
        made.append(entries.reshape(shape) if shape else float(entries[0]))
    return made


def _place(first: Any, others: Sequence[Any], numbers: Any) -> int:
    """Return the place of the noise that a returned number moves by, or raise _NotAddedError."""
    if not all(map(_is_number, (first, *others))):
        raise _NotAddedError(
            f"holds {short_literal(first)}, or with noise {short_literal(others[0])}"
        )
    up, down = (float(other - first) for other in others)
    place = int(np.argmin(np.abs(numbers - up)))
    noise = float(numbers[place])
    near = NEAR * max(map(abs, (float(first), *map(float, others), noise)))
    if abs(up - noise) > near or abs(down + noise) > near:
        raise _NotAddedError(
            f"moves by {up:.6g} and {down:.6g} where the noise moves by {noise:.6g} and "
            f"{-noise:.6g} (it is rounded, clipped or scaled after the noise)"
        )
    return place


def _same(one: Any, two: Any) -> bool:
    """Tell whether a part did not move."""
    if not _is_number(one) or not _is_number(two):
        return bool(one == two)
    return bool(abs(one - two) <= NEAR * max(abs(one), abs(two)))


def _is_number(part: Any) -> bool:
    """Tell whether a part is a finite number."""
    if not isinstance(part, Rational | float) or isinstance(part, bool):
        return False
    return bool(math.isfinite(part))
