"""Metrics on tables in which privacy ids own rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from sensitivity_lab.checks import check_text_column, names_of, shown
from sensitivity_lab.errors import InputError

from .encoding import encode_keys, encode_rows
from .metric import Metric
from .records import Rows, numbered


@dataclass(frozen=True)
class IdDistance(Metric):
    """How many privacy ids are added or removed with all their rows.

    An id whose rows differ between the two tables counts twice: it is removed, and added with other
    rows. Rows without an id count as the rows of one id.

    Parameters
    ----------
    column : str
        The column of the privacy id.

    Examples
    --------
    >>> visits = pd.DataFrame({"id": [1, 1, 2], "page": ["a", "b", "a"]})
    >>> metric = IdDistance("id")
    >>> metric.distance(visits, visits[visits["id"] == 2])
    1
    >>> metric.distance(visits, visits[visits["page"] == "a"])
    2
    """

    column: str

    def __post_init__(self) -> None:
        check_text_column("column", self.column)

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"ids in {shown(self.column)} added or removed with all their rows"

    def form(self, data: pd.DataFrame) -> frozenset[tuple[bytes | None, Rows]]:
        """Return the multiset of rows of each id."""
        return frozenset(_rows_by_id(data, self.column).items())

    def between(
        self,
        a: frozenset[tuple[bytes | None, Rows]],
        b: frozenset[tuple[bytes | None, Rows]],
    ) -> int:
        """Return how many ids are, with exactly these rows, in one table only."""
        return len(a ^ b)


@dataclass(frozen=True)
class SharedIdDistance(Metric):
    """How many privacy ids are added or removed with all their rows in two tables together.

    Both tables have the same ids. An id counts once if it has rows in one of the two pairs of
    tables only, and twice if it has other rows in the second pair than in the first.

    Parameters
    ----------
    column : str
        The column of the privacy id, which both tables have.

    Examples
    --------
    >>> users = pd.DataFrame({"id": [1, 2], "name": ["Ann", "Bo"]})
    >>> bought = pd.DataFrame({"id": [1, 1, 3], "item": ["pen", "ink", "pen"]})
    >>> without = users[users["id"] != 1], bought[bought["id"] != 1]
    >>> SharedIdDistance("id").distance((users, bought), without)
    1
    """

    column: str

    def __post_init__(self) -> None:
        check_text_column("column", self.column)

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"{IdDistance(self.column)} in both tables"

    def form(
        self, data: tuple[pd.DataFrame, pd.DataFrame]
    ) -> frozenset[tuple[bytes | None, Rows, Rows]]:
        """Return the multisets of rows of each id in both tables."""
        first, second = (_rows_by_id(table, self.column) for table in data)
        none: Rows = frozenset()
        return frozenset(
            (owner, first.get(owner, none), second.get(owner, none))
            for owner in {**first, **second}
        )

    def between(
        self,
        a: frozenset[tuple[bytes | None, Rows, Rows]],
        b: frozenset[tuple[bytes | None, Rows, Rows]],
    ) -> int:
        """Return how many ids are, with exactly these rows, in one pair of tables only."""
        return len(a ^ b)


def _rows_by_id(data: pd.DataFrame, column: str) -> dict[bytes | None, Rows]:
    """Return the multiset of rows of each id, or raise InputError if the ids have no column."""
    if column not in data.columns:
        raise InputError(
            f"the table has no column {shown(column)} of privacy ids; its columns are "
            f"{names_of(data.columns)}"
        )
    rows: dict[bytes | None, Counter[bytes]] = {}
    for owner, row in zip(encode_keys(data, [column]), encode_rows(data), strict=True):
        rows.setdefault(owner, Counter())[row] += 1
    return {owner: numbered(counts) for owner, counts in rows.items()}
