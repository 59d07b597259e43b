"""Metrics on tables in which privacy ids own rows, on tables by group, and on data in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd

from sensitivity_lab.checks import check_kind, check_text_column, names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import Distance

from .cells import encode, encode_keys, encode_rows
from .metric import Metric
from .multisets import Rows, SymmetricDistance, numbered
from .vectors import L1Distance, L2Distance


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


_ROWS = SymmetricDistance()


@dataclass(frozen=True)
class PairDistance(Metric):
    """The distances of two tables, or of two answers, as a pair; they are not added up.

    Parameters
    ----------
    first, second : Metric
        The metrics of the parts.

    Examples
    --------
    >>> PairDistance(SymmetricDistance(), SymmetricDistance()).distance(([1], [2]), ([], [2, 3, 4]))
    (1, 2)
    """

    first: Metric
    second: Metric

    def __post_init__(self) -> None:
        check_kind("first", self.first, Metric, "a metric, such as SymmetricDistance()")
        check_kind("second", self.second, Metric, "a metric, such as SymmetricDistance()")

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"({self.first}; {self.second})"

    def form(self, data: tuple[Any, Any]) -> tuple[Hashable, Hashable]:
        """Return the forms of the parts."""
        first, second = data
        return self.first.form(first), self.second.form(second)

    def between(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return the distances of the parts."""
        return self.first.between(a[0], b[0]), self.second.between(a[1], b[1])

    def check(self, d_in: Any) -> tuple[Any, Any]:
        """Return a distance per part, or raise InputError."""
        if not isinstance(d_in, tuple) or len(d_in) != 2:
            raise InputError(
                f"d_in must be two distances, one per part {self.name}, got {shown(d_in)}"
            )
        return self.first.check(d_in[0]), self.second.check(d_in[1])


@dataclass(frozen=True)
class GroupsDistance(Metric):
    """The L1 or L2 norm of the vector with the rows added or removed in each group.

    Parameters
    ----------
    norm : L1Distance or L2Distance
        The norm of the vector.

    Examples
    --------
    >>> before, after = {"a": [1, 2], "b": [1]}, {"a": [2], "b": []}
    >>> GroupsDistance(L1Distance()).distance(before, after)
    2
    >>> GroupsDistance(L2Distance()).distance(before, after)
    sqrt(2)
    """

    norm: L1Distance | L2Distance

    def __post_init__(self) -> None:
        check_kind("norm", self.norm, L1Distance | L2Distance, "L1Distance() or L2Distance()")

    @property
    def name(self) -> str:
        """What the metric counts, in words."""
        return f"{self.norm.name} of the groups' rows added or removed"

    def form(self, data: Mapping[Any, Any]) -> tuple[Rows, ...]:
        """Return each group's multiset of rows, in the order of the groups."""
        return tuple(_ROWS.form_by(encode, rows) for rows in data.values())

    def between(self, a: tuple[Rows, ...], b: tuple[Rows, ...]) -> Distance:
        """Return the norm of the numbers of changed rows."""
        changed = (cast(int, _ROWS.between(x, y)) for x, y in zip(a, b, strict=True))
        return self.norm.norm(changed)
