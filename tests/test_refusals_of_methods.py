"""What methods of results and universes say of arguments that they cannot take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import refused
from garbage import ROWS, UNIVERSE
from instances import instances
from matplotlib.figure import Figure

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab import plotting


def of(name: str) -> Any:
    """Something of a class, by its name."""
    return instances()[name][0]


PLACES = "places must be an array of positions of the 4 distinct values, from 0, got {}"
THREE_SECONDS = np.timedelta64(3, "s")
"""NumPy says that it is an integer, and writes it in two ways."""

TIMES = (
    "multiplicities must be an array of {} whole numbers of at least 0, one per distinct value, "
    "got {}"
)
WITNESS = "witness must be one of 'short', 'full', got array([1., 1.])"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: of("SensitivityCurves").result(query=..., distance=1),
            "no curve has the query Ellipsis (replace the dots); choose among mean, sum",
        ),
        (
            lambda: of("SensitivityCurves").result("mean", distance="1"),
            "distance must be a whole number (a Hamming distance, at least 1), got '1' (str)",
        ),
        (
            lambda: of("SensitivityCurves").result("mean", distance=1, neighbors=3),
            "neighbors must be a relation or its name, got 3",
        ),
        (
            lambda: of("SensitivityCurves").result("mean", distance=1, column=[1]),
            "column must be the name of one column, such as 'age', got [1]",
        ),
        (lambda: of("SensitivityCurves").to_frame(witness=np.ones(2)), WITNESS),
        (lambda: of("AuditReport").to_csv("a.csv", witness=np.ones(2)), WITNESS),
        (
            lambda: of("AuditReport").to_csv(3),
            "path must be the path of a file or a folder, got 3",
        ),
        (
            lambda: of("AuditReport").counterexample(3),
            "row must be a row of the report, such as report.decisive, got 3",
        ),
        (
            lambda: of("SmoothSensitivity").to_frame({}),
            "column must be what to call the data, got {}",
        ),
        (
            lambda: of("SmoothSensitivity").to_frame("\ud800"),
            r"column must be what to call the data, got '\ud800'",
        ),
        (lambda: ROWS.dataset(True), TIMES.format(3, True)),
        (
            lambda: UNIVERSE.dataset(np.array([1, -1, 0, 0])),
            TIMES.format(4, "array([ 1, -1,  0,  0])"),
        ),
        (lambda: UNIVERSE.given([[1, 2]]), PLACES.format("[[1, 2]]")),
        (lambda: UNIVERSE.given(np.array([7])), PLACES.format("array([7])")),
        (
            lambda: UNIVERSE.multiplicities("a"),
            "limit must be a whole number (a number of records, from 0 to 2**63 - 1), got "
            "'a' (str)",
        ),
        (
            lambda: UNIVERSE.multiplicities(THREE_SECONDS),
            f"limit must be a whole number (a number of records, from 0 to 2**63 - 1), got "
            f"{THREE_SECONDS!r} (timedelta64)",
        ),
        (
            lambda: sl.Mean()(3),
            "records must be a sequence of numbers, such as [0, 1, 2], range(21) or a column of a "
            "table, got 3",
        ),
        (lambda: sl.Count()(3), "a dataset must be a sequence of records, got 3"),
        (
            lambda: pl.SymmetricDistance().distance([1], 3),
            "a dataset is a sequence of records, got 3",
        ),
        (
            lambda: pl.PairDistance(pl.L1Distance(), pl.L1Distance()).distance(3, 4),
            "cannot measure ((L1 distance; L1 distance)) the distance of 3 and 4: TypeError: "
            "cannot unpack non-iterable int object",
        ),
        (lambda: pl.clamp(0, 1).after(3), "before must be a transformation or a start, got 3"),
        (
            lambda: plotting.save([], "a.png"),
            "figure must be a Figure or an Axes, got []",
        ),
        (
            lambda: plotting.save(Figure(), 3),
            "path must be the path of a file or a folder, got 3",
        ),
        (lambda: of("SensitivityCurves").plot(title=3), "title must be a text, got 3"),
        (
            lambda: of("SensitivityCurves").plot(figsize=(0, 1)),
            "figsize must be (width, height) in inches, above 0 and at most 500, got (0, 1)",
        ),
        (
            lambda: of("SensitivityCurves").plot(units={"age": 3}),
            "units['age'] must be a text, got 3",
        ),
        (
            lambda: of("SensitivityCurves").plot(ax=[3]),
            "ax: got 3; pass a matplotlib Axes or a sequence of them",
        ),
    ],
)
def test_what_methods_refuse(call: Callable[[], Any], message: str):
    refused(call, message, sl.errors.SensitivityLabError)
