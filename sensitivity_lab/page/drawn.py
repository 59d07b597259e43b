"""What the page draws, in plain Python objects: an axis, a pair of datasets, a strip, a fan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import rounded_up
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.results.literals import SHOWN, plain
from sensitivity_lab.results.pairs import show_answer
from sensitivity_lab.results.reach import Bound, Reach, float_above, float_below
from sensitivity_lab.results.reprs import rounded_down
from sensitivity_lab.results.roles import blocks_of
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.results.witness import Unlisted
from sensitivity_lab.universes.finite import AnyUniverse, finite
from sensitivity_lab.universes.interval import IntervalUniverse
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import multiplicities_of

MOST_BLOCKS = 60
"""The most blocks of a strip that is drawn."""

MOST_TICKS = 200
"""The most records marked on an axis."""


def axis_of(universe: AnyUniverse) -> dict[str, Any] | None:
    """Return the ends of a universe and some of its values; None if they are beyond the floats."""
    try:
        if isinstance(universe, IntervalUniverse):
            low, high, ticks = float(universe.lower), float(universe.upper), []
        else:
            values = universe.values
            chosen: NDArray[Any] = np.unique(
                np.linspace(0, len(values) - 1, MOST_TICKS).astype(np.intp)
            )
            ticks = [float(values[place]) for place in chosen]
            low, high = ticks[0], ticks[-1]
    except OverflowError:
        return None
    return {"low": low, "high": high, "ticks": ticks}


def records_text(data: Sequence[Any]) -> list[str]:
    """Return records as texts; of many, the first and the last with "…" between."""
    if len(data) <= SHOWN:
        return [*map(_decimal, data)]
    half = SHOWN // 2
    return [*map(_decimal, data[:half]), "…", *map(_decimal, data[-half:])]


def _decimal(record: Any) -> str:
    """Return a record as text, a fraction with its decimals."""
    fine = isinstance(record, Fraction) and record.denominator > 1
    return plain(record.numerator / Decimal(record.denominator) if fine else record)


def pair_of(result: Sensitivity) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the witness of a result, and the sorted universe in blocks; none if they are many."""
    held = vars(result)["witness"]
    if isinstance(held, Unlisted):
        # By multiplicities: this takes milliseconds, listing and sorting takes seconds.
        x, y, universe = held.pair.x, held.pair.y, held.universe
    else:
        records = dict.fromkeys((*result.witness.x, *result.witness.y))
        universe = finite(result.universe, records)
        x, y = (multiplicities_of(d, universe) for d in (result.witness.x, result.witness.y))
    witness = result.witness
    pair = {
        "x": records_text(witness.x),
        "y": records_text(witness.y),
        "only_x": _records(np.maximum(x - y, 0), universe),
        "only_y": _records(np.maximum(y - x, 0), universe),
        "size_x": int(x.sum()),
        "size_y": int(y.sum()),
        "shared": int(np.minimum(x, y).sum()),
        "answer_x": show_answer(witness.query_x),
        "answer_y": show_answer(witness.query_y),
        "value_x": as_float(witness.query_x),
        "value_y": as_float(witness.query_y),
    }
    blocks = blocks_of(x, y, universe)
    strip = [
        # Of a domain, values that neither dataset has are there without end.
        {
            "part": part,
            "count": int(count) if math.isfinite(count) else None,
            "first": _decimal(first),
            "last": _decimal(last),
        }
        for part, count, first, last in blocks
    ]
    return pair, strip if len(strip) <= MOST_BLOCKS else []


def as_float(number: Any) -> float | None:
    """Return a number as JSON has it: None beyond the floats."""
    try:
        value = float(number)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _records(of: Multiplicities, universe: FiniteUniverse) -> list[str]:
    """Return the records of some multiplicities as texts; of many, the ends."""
    places = np.flatnonzero(of)
    repeated = np.repeat(places, np.minimum(of[places], SHOWN).astype(np.intp))
    return records_text([universe.values[place] for place in repeated])


def fan_of(reach: Reach, k: int) -> dict[str, Any]:
    """Return the answers near a dataset, as floats, with texts about distance k.

    `least` and `greatest` are rounded outward; `down` and `up`, how far they are from the
    dataset's own answer, are rounded up.
    """
    least, greatest = reach.lower[k], reach.upper[k]
    return {
        "lower": [float_below(one) for one in reach.lower],
        "upper": [float_above(one) for one in reach.upper],
        "least": rounded_down(float_below(least), exact=_rational(least)),
        "greatest": rounded_up(float_above(greatest), _rational(greatest)),
        "down": _move(reach.answer, least),
        "up": _move(reach.answer, greatest),
        "steps": reach.neighbors.family,
    }


def _rational(bound: Bound) -> Fraction | None:
    return None if isinstance(bound, Root) else bound


def _move(one: Bound, other: Bound) -> str:
    """Return the distance of two answers of one query as text."""
    first, second = (end.square if isinstance(end, Root) else end for end in (one, other))
    apart = Difference(first, second, root=isinstance(one, Root))
    return rounded_up(apart.upper(), apart.exact, 6)
