"""Both programs of certified bounds: values and slopes of every function, at points of boxes."""

from __future__ import annotations

import numpy as np
import pytest

from sensitivity_lab.bounds import checker
from sensitivity_lab.bounds.carried import carried, records

GIVEN = {"runs": [[0, 2], [2, 3], [3, 4]], "on_x": [0, 1, 2], "on_y": [0, 1, 3], "sign": 1}
"""Two records of both datasets, one of x, and one of y."""

FUNCTIONS = {
    "add": lambda z: np.sum(z + 2 * z + 1),
    "subtract": lambda z: (3 - z).sum() - z[0],
    "multiply": lambda z: (z * z[::-1] * z).sum(),
    "divide": lambda z: z.sum() / (1 + z[0] * z[1]),
    "reciprocal": lambda z: np.reciprocal(z).sum(),
    "negative": lambda z: (-z).mean(),
    "exp": lambda z: np.exp(z - 2).sum(),
    "expm1": lambda z: np.expm1(z).sum(),
    "log": lambda z: np.log(z).sum(),
    "log2": lambda z: np.log2(z).sum(),
    "log10": lambda z: np.log10(z).sum(),
    "log1p": lambda z: np.log1p(z).sum(),
    "tanh": lambda z: np.tanh(z - 1).sum(),
    "sin": lambda z: np.sin(2 * z).sum(),
    "cos": lambda z: np.cos(3 * z).sum(),
    "arctan": lambda z: np.arctan(z - 1).sum(),
    "sqrt": lambda z: np.sqrt(z).sum() + np.sqrt(z.sum()),
    **{
        f"to the power {p}": lambda z, p=p: (z**p).sum()
        for p in (0, 0.5, 1.5, 2, 2.5, 3, 4, -1, -1.5, -2)
    },
    "of records": lambda z: (2**z).sum() + z[0] ** z[1],
    "cubes around 1": lambda z: ((z - 1) ** 3).sum() + np.square(z - 1).sum(),
    "maximum": lambda z: np.maximum(z, 1.2).sum() + np.maximum(z[0], z[2]),
    "minimum": lambda z: np.minimum(z, z[::-1]).sum(),
    "absolute": lambda z: np.abs(z - 1).sum() + np.fabs(z - z.mean()).sum(),
    "clip": lambda z: np.clip(z, 0.8, 1.5).sum() + np.clip(z, None, 1).mean(),
    "where": lambda z: np.where(z > 0.1, z * z, 7.0).sum(),
    "comparisons": lambda z: (
        np.where((z >= 0) & ~(z < 0.2), z, 1.0).sum() + np.where((z <= 9) | (z > 8), z, 0).sum()
    ),
    "sort": lambda z: np.sort(z)[0] * 2 + np.sort(z)[-1],
    "median": lambda z: np.median(z),
    "quantile": lambda z: np.quantile(z, 0.3) + np.percentile(z, 85),
    "std": lambda z: np.std(z) + z.std(ddof=1),
    "var": lambda z: np.var(z) + z.var(ddof=1),
    "norm": lambda z: np.linalg.norm(z) + np.linalg.norm(z, 1) + np.linalg.norm(z, np.inf),
    "extremes": lambda z: z.max() - 2 * z.min() + np.ptp(z),
    "prod": lambda z: np.prod(z) + np.cumsum(z)[1],
    "dot": lambda z: np.dot(z, z) + np.inner(z, [1, 2, 3]) + (z @ z),
    "average": lambda z: np.average(z, weights=[1, 2, 5]) + np.average(z),
    "diff": lambda z: (np.diff(z) ** 2).sum() + z.copy().ravel().sum(),
    "third moment": lambda z: ((z - z.mean()) ** 3).mean(),
}


def boxes(number, widest, rng, ascending=False):
    """Boxes of four records between 0.3 and 2.3, and points in them, many of them corners."""
    room, first = (0.5, [[0.31], [0.93], [1.47], [1.47]]) if ascending else (2.0, 0.3)
    widest = min(widest, room)
    lo = first + rng.uniform(0, room - widest, (4, number))
    hi = lo + widest * rng.random((4, number)) ** 2
    share = np.clip(rng.uniform(-0.5, 1.5, (20, 4, number)), 0, 1)
    return lo, hi, lo + share * (hi - lo)


def change(function, points):
    """f(x) - f(y) at points, of shape (..., 4, boxes)."""
    both = [np.moveaxis(points[..., GIVEN[side], :], -2, -1) for side in ("on_x", "on_y")]
    x, y = (
        np.array([function(np.array(one)) for one in side.reshape(-1, 3)]).reshape(side.shape[:-1])
        for side in both
    )
    return x - y


def by_search(function, lo, hi):
    """What the search says of f(x) - f(y) in boxes: axis 0 is the value, then the slopes."""
    on_x, on_y = GIVEN["on_x"], GIVEN["on_y"]
    sides = [(lo[on], hi[on]) for on in (on_x, on_y)]
    found = carried(function(records(*sides, on_x, on_y, np.arange(4), ordered=True))).d
    ends = (found.value.lo, found.slope.lo), (found.value.hi, found.slope.hi)
    return tuple(
        np.concatenate([np.broadcast_to(value, (1, 12)), np.broadcast_to(slope, (4, 12))])
        for value, slope in ends
    )


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("widest", [0, 0.05, 1])
@pytest.mark.parametrize("program", ["search", "checker"])
def test_boxes_hold_values_and_slopes(name, widest, program):
    function, rng = FUNCTIONS[name], np.random.default_rng(7)
    # The search gets records that ascend, and may use that.
    lo, hi, points = boxes(12, widest, rng, program == "search")
    with np.errstate(all="ignore"):
        low, high = (
            by_search(function, lo, hi)
            if program == "search"
            else checker.difference(function, GIVEN, lo, hi, 4)
        )
    at = change(function, points)
    near = 1e-9 * (1 + np.abs(at))
    assert (low[0] <= at + near).all()
    assert (at <= high[0] + near).all()
    if widest == 0:  # at a point nothing else is in the box
        assert (high[0] - low[0] <= near).all()
    step = 1e-6
    for record in range(4):
        moved = step * np.eye(4)[record][:, None]
        slope = (change(function, points + moved) - change(function, points - moved)) / (2 * step)
        off = 1e-4 * (1 + np.abs(slope))
        assert (low[1 + record] <= slope + off).all()
        assert (slope <= high[1 + record] + off).all()
        if widest == 0 and np.isfinite(high[1 + record]).all() and name not in KINKED:
            assert (high[1 + record] - low[1 + record] <= off).all()


KINKED = {
    "maximum",
    "minimum",
    "absolute",
    "clip",
    "sort",
    "median",
    "quantile",
    "extremes",
    "norm",
}
"""Where two numbers are equal, slopes are those of both."""


def test_every_function_is_tried():
    tried = set()
    known = dict(checker.CALLS)

    class Told(dict):
        def __getitem__(self, called):
            tried.add(called)
            return known[called]

    checker.CALLS, before = Told(known), checker.CALLS
    try:
        lo, hi, _ = boxes(1, 0, np.random.default_rng(1))
        for function in FUNCTIONS.values():
            checker.difference(function, GIVEN, lo, hi, 4)
    finally:
        checker.CALLS = before
    same = {"float_power", "logical_not", "logical_and", "logical_or", "positive", "amax", "amin"}
    assert known.keys() - tried <= same | {"astype", "count_nonzero", "flatten", "matmul"}
