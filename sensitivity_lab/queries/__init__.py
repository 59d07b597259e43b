"""Queries: functions of a dataset whose sensitivity is asked for.

A query declares its structure, and engines read the declaration: `weights` by rank,
the `moment` it is made of, what it is `of_multiplicities`, the `sums` over the rows of a table, the
one column of a table that it reads (`projection`), or none of these. To add a query on numbers,
write one frozen dataclass in the file where it belongs, and put it into that file's `QUERIES`. A
query on tables is a `RecordQuery` with `sums_on`.
"""

from __future__ import annotations

import re
from copy import copy
from decimal import Decimal
from typing import Any

from sensitivity_lab.checks import did_you_mean, shown
from sensitivity_lab.errors import InputError

from . import l_statistics, multiplicities
from . import order_statistics as quantiles
from . import power_sums as moments
from .base import Answer, Answered, ExactQuery, Query, Weights
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
from .multiplicities import CountDistinct, ModeCount
from .order_statistics import PERCENTILE_METHODS, Max, Median, Min, Percentile
from .power_sums import Count, Mean, Std, Sum, Var
from .rows.columns import Covariance, MeanOf, SumOf, VectorSum
from .rows.groups import GroupBy, Histogram, Stack
from .rows.parts import ColumnQuery
from .rows.tables import CountIf, RecordQuery

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
    "ModeCount",
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
    "as_answered",
    "as_query",
    "from_function",
]

NAMED = {
    query.name: query
    for listed in (
        *(moments.QUERIES, quantiles.QUERIES),
        *(l_statistics.QUERIES, multiplicities.QUERIES),
    )
    for query in listed
}
"""The queries that can be asked for by name, besides percentile_0 to percentile_100."""

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
"""What queries are called elsewhere, and here."""

DEFAULT_QUERIES = (
    *("mean", "median", "count", "sum", "std", "var"),
    *("percentile_25", "percentile_50", "percentile_75", "percentile_90"),
)
"""The ten queries of the article that the project starts from, in its order."""


def as_query(query: Any) -> Query:
    """Return a query given itself, its name or a function; raise InputError with the choices."""
    if isinstance(query, RecordQuery):
        return copy(query)  # it evaluates predicates again
    if isinstance(query, Query):
        return query
    if isinstance(query, str):
        if query in NAMED:
            return NAMED[query]
        prefix, _, number = query.partition("_")
        if prefix == "percentile" and number:
            try:
                return Percentile(int(number) if number.isdecimal() else Decimal(number))
            except (ValueError, ArithmeticError) as error:
                raise InputError(
                    f"a percentile must be a number from 0 to 100, got {shown(query)}; "
                    "write for example 'percentile_25'"
                ) from error
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
    if isinstance(query, type) and issubclass(query, Query):
        return f"; this is a class: make a query of it, as {query.__name__}()"
    if not isinstance(query, str) or len(query) > 40:
        return ""
    known = query.lower()
    if re.fullmatch(r"[pq]\d{1,2}", known):
        known = f"percentile_{known[1:]}"
    here = _ELSEWHERE.get(known, known)
    if here in NAMED or here != query.lower():
        return f"; did you mean {here!r}?"
    return did_you_mean(query, NAMED)
