"""Queries by group, and the tables that they are asked of."""

from __future__ import annotations

from typing import Any

import pandas as pd

import sensitivity_lab as sl

Row = tuple[str, Any]


def grouped(name: str, empty: Any, groups: str, **options: Any) -> sl.GroupBy:
    given_empty = None if name in ("sum", "count") else empty
    inner = sl.ColumnQuery("d", name, empty=given_empty)
    return sl.GroupBy("g", inner, groups=list(groups), **options)


def table(rows: list[Row]) -> sl.TableUniverse:
    return sl.TableUniverse.from_dataset(pd.DataFrame(rows, columns=["g", "d"]))
