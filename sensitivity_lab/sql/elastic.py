"""Elastic sensitivity: a bound on rows from the most frequent value of each join column.

Johnson, Near and Song, "Towards Practical Differential Privacy for SQL Queries", PVLDB 11 (2018),
section 3. The bound reads no join: only how often the most frequent value of a column occurs in its
table, without any condition of the query. That makes it cheap, and loose.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from .join_columns import join_equalities
from .normal_form import Equality, NormalForm, Source, SourceColumn, quoted

Rows = Callable[[str], Sequence[tuple[Any, ...]]]
"""It runs a statement and returns its rows."""


@dataclass(frozen=True)
class _Base:
    """A table of the query."""

    source: Source
    is_private: bool

    @property
    def aliases(self) -> frozenset[str]:
        return frozenset({self.source.alias})

    @property
    def private(self) -> frozenset[str]:
        """The tables in it that can change; the ancestors of the paper."""
        return frozenset({self.source.table.sql} if self.is_private else ())


@dataclass(frozen=True)
class _Join:
    """A join of what stands before with one more table, by equalities (left, right)."""

    left: _Base | _Join
    right: _Base
    equal: tuple[tuple[SourceColumn, SourceColumn], ...]

    @property
    def aliases(self) -> frozenset[str]:
        return self.left.aliases | self.right.aliases

    @property
    def private(self) -> frozenset[str]:
        return self.left.private | self.right.private

    def pairs(self) -> tuple[tuple[SourceColumn | None, SourceColumn | None], ...]:
        """Return the pairs of columns to join by; all rows meet all rows if there is none."""
        return self.equal or ((None, None),)


class Elastic:
    """The elastic stability of the join of a query, for every distance.

    Parameters
    ----------
    form : NormalForm
        Of inner joins only.
    changing : collection of str
        The full names of the tables whose rows can be added and removed.
    rows : callable
        It runs a statement.

    Notes
    -----
    With mf_k(a, r) for a bound on how often one value of column a occurs in r after k rows changed,
    and S_k(r) for a bound on the rows of r that one row more or less changes (Figure 1 of the
    paper):

    - a table t: mf_k = mf + k and S_k = 1; if t is public, mf_k = mf and S_k = 0;
    - a join on a = b: mf_k of a column of one side is its mf_k there times mf_k of the other side's
      join column. S_k is max(mf_k(a, r1) S_k(r2), mf_k(b, r2) S_k(r1)) if no table that can change
      is in both r1 and r2, and else mf_k(a, r1) S_k(r2) + mf_k(b, r2) S_k(r1) + S_k(r1) S_k(r2).

    Where a join has several equalities, each alone gives a bound, and the smallest counts. A join
    without any is one on a column that is the same in all rows. Tables are joined in the order of
    FROM, but those that share a column with the ones before come first.

    The paper's neighbors replace a row, and its histograms count twice; here a row is added or
    removed, which changes each result's group only once.
    """

    def __init__(self, form: NormalForm, changing: Collection[str], rows: Rows) -> None:
        self._rows = rows
        self._frequencies: dict[tuple[str, str | None], int] = {}
        self._tree = _tree(form, changing)

    def stability(self, k: int) -> int:
        """Return S_k of the join."""
        return self._stability(self._tree, k)

    def _stability(self, node: _Base | _Join, k: int) -> int:
        if isinstance(node, _Base):
            return int(node.is_private)
        left, right = self._stability(node.left, k), self._stability(node.right, k)
        shares = bool(node.left.private & node.right.private)
        bounds = []
        for a, b in node.pairs():
            by_right = self._most(node.left, a, k) * right
            by_left = self._most(node.right, b, k) * left
            bounds.append(by_right + by_left + left * right if shares else max(by_right, by_left))
        return min(bounds)

    def _most(self, node: _Base | _Join, column: SourceColumn | None, k: int) -> int:
        """Return mf_k: how often one value of a column can occur; of None, the number of rows."""
        if isinstance(node, _Base):
            return self._frequency(node.source, column) + (k if node.is_private else 0)
        sides = [(node.left, node.right, 1), (node.right, node.left, 0)]
        bounds = []
        for here, there, other in sides:
            if column is None or column.alias in here.aliases:
                most = min(self._most(there, pair[other], k) for pair in node.pairs())
                bounds.append(self._most(here, column, k) * most)
        return min(bounds)

    def _frequency(self, source: Source, column: SourceColumn | None) -> int:
        """Return how often the most frequent value of a column occurs in its table."""
        name = None if column is None else column.name
        key = (source.table.sql, name)
        if key not in self._frequencies:
            statement = f"SELECT count(*) FROM {source.table.sql}"
            if name is not None:  # NULL joins with nothing
                statement = (
                    f"SELECT coalesce(max(n), 0) FROM ({statement} WHERE {quoted(name)} "
                    f"IS NOT NULL GROUP BY {quoted(name)}) AS counted(n)"
                )
            [[found]] = self._rows(statement)
            self._frequencies[key] = int(found)
        return self._frequencies[key]


def _tree(form: NormalForm, changing: Collection[str]) -> _Base | _Join:
    """Return the joins of a query, one table after the other."""
    bases = [_Base(source, source.table.sql in changing) for source in form.sources]
    equalities = join_equalities(form)
    node: _Base | _Join = bases.pop(0)
    while bases:
        pairs = [_across(equalities, node.aliases, base.source.alias) for base in bases]
        place = next((i for i, equal in enumerate(pairs) if equal), 0)
        node = _Join(node, bases.pop(place), pairs[place])
    return node


def _across(
    equalities: Collection[Equality], left: Collection[str], right: str
) -> tuple[tuple[SourceColumn, SourceColumn], ...]:
    """Return the equalities between two sides, the column of the left side first."""
    found = []
    for one in equalities:
        for a, b in ((one.left, one.right), (one.right, one.left)):
            if a.alias in left and b.alias == right:
                found.append((a, b))
    return tuple(found)
