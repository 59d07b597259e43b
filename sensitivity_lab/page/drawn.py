"""What the page draws, in plain Python objects: an axis, a pair of datasets, a strip, a fan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.checks import rounded_up
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.results.literals import plain
from sensitivity_lab.results.reach import Bound, Reach, float_above, float_below
from sensitivity_lab.results.reprs import rounded_down
from sensitivity_lab.results.sensitivity import Sensitivity, blocks_of
from sensitivity_lab.results.witness import Unlisted, show_answer
from sensitivity_lab.universes.relations import SHOWN, multiplicities_of
from sensitivity_lab.universes.universe import AnyUniverse, IntervalUniverse, finite

MOST_BLOCKS = 60
"""The most blocks of a strip that is drawn."""

MOST_TICKS = 200
"""The most records marked on an axis, beside the last one."""


def axis_of(universe: AnyUniverse) -> dict[str, Any] | None:
    """Return the ends of a universe and some of its values; None if they are beyond the floats."""
    try:
        if isinstance(universe, IntervalUniverse):
            low, high, ticks = float(universe.lower), float(universe.upper), []
        else:
            values = universe.values
            step = -(-len(values) // MOST_TICKS)
            ticks = [float(one) for one in (*values[:-1:step], values[-1])]
            low, high = ticks[0], ticks[-1]
    except OverflowError:
        return None
    return {"low": low, "high": high, "ticks": ticks}


def records_text(data: Sequence[Any]) -> list[str]:
    """Return records as texts; of many, the first and the last with "…" between."""
    if len(data) > SHOWN:
        half = SHOWN // 2
        return [*records_text(data[:half]), "…", *records_text(data[-half:])]
    return [*map(_decimal, data)]


def _decimal(record: Any) -> str:
    """Return a record as text, a fraction with its decimals."""
    fine = isinstance(record, Fraction) and record.denominator > 1
    return plain(record.numerator / Decimal(record.denominator) if fine else record)


def pair_of(result: Sensitivity) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the witness of a result, and the sorted universe in blocks; none if they are many."""
    held, witness = vars(result)["witness"], result.witness
    if isinstance(held, Unlisted):
        # By multiplicities: this takes milliseconds, sorting takes seconds.
        x, y, universe = held.pair.x, held.pair.y, held.universe
    else:
        universe = finite(result.universe, dict.fromkeys((*witness.x, *witness.y)))
        x, y = (multiplicities_of(one, universe) for one in (witness.x, witness.y))
    pair = {
        "x": records_text(witness.x),
        "y": records_text(witness.y),
        "only_x": records_text(universe.dataset(np.maximum(x - y, 0))),
        "only_y": records_text(universe.dataset(np.maximum(y - x, 0))),
        "size_x": len(witness.x),
        "size_y": len(witness.y),
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
    }


def _rational(bound: Bound) -> Fraction | None:
    return None if isinstance(bound, Root) else bound


def _move(one: Bound, other: Bound) -> str:
    """Return the distance of two answers of one query as text."""
    first, second = (end.square if isinstance(end, Root) else end for end in (one, other))
    apart = Difference(first, second, root=isinstance(one, Root))
    return rounded_up(apart.upper(), apart.exact, 6)
