"""Queries: functions of a dataset, whose sensitivity the package computes.

A query declares its structure, and engines read the declaration: its `weights` by rank, the
`moment` that it computes, whether it counts distinct values (`of_multiplicities`), the `sums`
over the rows of a table, the one column of a table that it reads (`projection`), or none of these.
A query on tables is a `RecordQuery` with `sums_on`. CONTRIBUTING.md says how to add a query.
"""

from __future__ import annotations

from .base import Answer, Answered, ExactQuery, Query, Weights
from .distinct import CountDistinct
from .given import DEFAULT_QUERIES, NAMED, Function, as_answered, as_query, from_function
from .l_statistics import (
    GiniMeanDifference,
    InterquartileRange,
    LStatistic,
    Midrange,
    Range,
    TrimmedMean,
    WinsorizedMean,
)
from .moments import Count, Mean, Std, Sum, Var
from .order_statistics import PERCENTILE_METHODS, Max, Median, Min, Percentile
from .rows.columns import Covariance, MeanOf, SumOf, VectorSum
from .rows.groups import GroupBy, Histogram, Stack
from .rows.parts import ColumnQuery
from .rows.tables import CountIf, RecordQuery
from .rows.workload import Workload

__all__ = [
    "DEFAULT_QUERIES",
    "NAMED",
    "PERCENTILE_METHODS",
    "Answer",
    "Answered",
    "ColumnQuery",
    "Count",
    "CountDistinct",
    "CountIf",
    "Covariance",
    "ExactQuery",
    "Function",
    "GiniMeanDifference",
    "GroupBy",
    "Histogram",
    "InterquartileRange",
    "LStatistic",
    "Max",
    "Mean",
    "MeanOf",
    "Median",
    "Midrange",
    "Min",
    "Percentile",
    "Query",
    "Range",
    "RecordQuery",
    "Stack",
    "Std",
    "Sum",
    "SumOf",
    "TrimmedMean",
    "Var",
    "VectorSum",
    "Weights",
    "WinsorizedMean",
    "Workload",
    "as_answered",
    "as_query",
    "from_function",
]
