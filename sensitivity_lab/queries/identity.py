"""Hashes of universes and queries, which tell them apart in any process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.running.encoding import NotPlainError, digest
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.interval import IntervalUniverse
from sensitivity_lab.universes.table import TableUniverse
from sensitivity_lab.universes.universe import of_numbers

from .base import Query


def universe_identity(universe: AnyUniverse) -> str:
    """Return the hash of the records of a universe, or of the bounds of an interval.

    Raises
    ------
    InputError
        If a record holds what is no plain data.
    """
    if isinstance(universe, IntervalUniverse):
        return digest((universe.lower, universe.upper))
    records = (
        (universe.values, _columns_of(universe.frame))
        if isinstance(universe, TableUniverse)
        else of_numbers(universe).array
    )
    try:
        return digest((records, np.asarray(universe.counts)))
    except NotPlainError as error:
        raise InputError(
            f"run=Run(checkpoint=...) needs records of plain data, which can be compared with "
            f"those of a later call, and the universe holds a {error}; use numbers, texts, dates, "
            "times or tuples of these, or leave the checkpoint out"
        ) from None


def query_identity(query: Query) -> str:
    """Return the hash of a query: its class and fields, or the name of a caller's function.

    Raises
    ------
    InputError
        If it is a caller's, and has no name by which a checkpoint could know it.
    """
    try:
        return digest(query)
    except NotPlainError as error:
        raise InputError(
            f"run=Run(checkpoint=...) cannot tell the query {shown(query.name)} from others, "
            f"because it is or holds a {error}, which is no plain data; give it a name: "
            "from_function(query, name='mine, version 1'), and change the name whenever the query, "
            "or anything that it reads, changes"
        ) from None


def _columns_of(frame: pd.DataFrame) -> list[Any]:
    """Return the names and the types of columns, with the categories of those that have some."""
    return [
        (name, str(dtype), [*getattr(dtype, "categories", ())], getattr(dtype, "ordered", None))
        for name, dtype in frame.dtypes.items()
    ]
