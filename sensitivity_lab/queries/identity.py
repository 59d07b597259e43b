"""Fingerprints, which distinguish universes and queries in any process."""

from __future__ import annotations

from functools import lru_cache

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.running.fingerprint import NoFingerprintError, fingerprint
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.interval import IntervalUniverse

from .base import Query


@lru_cache(maxsize=16)
def universe_identity(universe: AnyUniverse) -> str:
    """Return the fingerprint of the records of a universe, or of the bounds of an interval."""
    if isinstance(universe, IntervalUniverse):
        return fingerprint((universe.lower, universe.upper))
    columns = getattr(universe, "columns", None)
    described = (type(universe).__name__, universe.values, universe.counts, columns)
    return fingerprint(described)


def query_identity(query: Query) -> str:
    """Return the fingerprint of a query, or raise InputError if it has none."""
    try:
        return fingerprint(query)
    except NoFingerprintError as error:
        raise InputError(
            f"query {shown(query.name)} cannot be distinguished from others, because it uses "
            f"{error}; name it, "
            "and change the name whenever the query changes: "
            "from_function(function, name='my query 1')"
        ) from None
