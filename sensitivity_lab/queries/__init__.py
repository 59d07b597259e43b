"""Queries: functions of a dataset, whose sensitivity the package computes.

A query declares its structure, and engines read the declaration: its `weights` by rank, the
`moment` that it computes, whether it counts distinct values (`of_multiplicities`), the `sums`
over the rows of a table, the one column of a table that it reads (`projection`), or none of these.
A query on tables is a `RecordQuery` with `sums_on`. CONTRIBUTING.md says how to add a query.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Any

from sensitivity_lab.checks import did_you_mean, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.universes.records import is_column
from sensitivity_lab.universes.universe import FiniteUniverse, IntervalUniverse

from .base import Answer, Answered, ExactQuery, Query, Weights, query_of_class
from .functions import Function, as_answered, from_function
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
from .multiplicities import CountDistinct
from .named import NAMED, by_name
from .order_statistics import PERCENTILE_METHODS, Max, Median, Min, Percentile
from .rows.columns import Covariance, MeanOf, SumOf, VectorSum
from .rows.groups import GroupBy, Histogram, Stack
from .rows.parts import ColumnQuery
from .rows.tables import CountIf, RecordQuery
from .rows.workloads import Workload

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

_ELSEWHERE = {
    **dict.fromkeys(("avg", "average"), "mean"),
    **dict.fromkeys(("sd", "stdev", "stddev", "standard_deviation"), "std"),
    "variance": "var",
    "total": "sum",
    "minimum": "min",
    "maximum": "max",
    "len": "count",
    "nunique": "count_distinct",
    "gini": "gini_mean_difference",
}
"""Names of queries elsewhere, and here."""

DEFAULT_QUERIES = (
    *("mean", "median", "count", "sum", "std", "var"),
    *("percentile_25", "percentile_50", "percentile_75", "percentile_90"),
)
"""The ten queries of the article that the project starts from, in its order."""


def as_query(query: Any) -> Query:
    """Return a query, given itself, its class or name, or a function; else InputError says which.

    A class of queries must need no arguments.
    """
    query = query_of_class(query)
    if isinstance(query, RecordQuery):
        return copy(query)  # it evaluates predicates again
    if isinstance(query, Query):
        return query
    if isinstance(query, str):
        known = by_name(query)
        if known is not None:
            return known
    elif callable(query) and not isinstance(query, type):
        return from_function(query)
    raise InputError(
        f"unknown query {shown(query)};"
        f" choose one of {', '.join(NAMED)}, percentile_25 (any number "
        "from 0 to 100), a query such as Percentile(25), or a function of a 1-D array"
        f"{_meant(query)}"
    )


def _meant(query: Any) -> str:
    """Return the end of the message about an unknown query: what may be meant."""
    if isinstance(query, list | tuple) and query and all(isinstance(one, str) for one in query):
        return "; one query is answered here, sensitivity_curves takes several"
    if isinstance(query, FiniteUniverse | IntervalUniverse) or is_column(query):
        return "; the universe is the first argument, the query the second"
    if not isinstance(query, str) or len(query) > 40:
        return ""
    known = query.lower()
    if known == "histogram":
        return "; write Histogram(column, categories=...) or Histogram(column, bins=...), of rows"
    percent = re.fullmatch(r"(?:[pq]|quantile_)(\d{1,2}|0?\.\d+)", known)
    if percent:
        times = 100 if "." in known else 1
        known = f"percentile_{times * float(percent[1]):.12g}"
    here = _ELSEWHERE.get(known, known)
    if here in NAMED or here != query.lower():
        return f"; did you mean {here!r}?"
    return did_you_mean(query, NAMED)
