"""Functions of callers, asked for on a few records."""

from __future__ import annotations

import sensitivity_lab as sl

FEW = sl.Universe.from_dataset([1, 2, 5, 9])


def solve(function, universe=FEW, size=2, neighbors="bounded", **options) -> sl.results.Sensitivity:
    return sl.global_sensitivity(universe, function, size=size, neighbors=neighbors, **options)


def by_rows(function):
    return sl.from_function(lambda rows: list(map(function, rows)), vectorized=True)
