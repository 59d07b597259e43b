"""Residual sensitivity: a smooth bound on rows from joins of parts of the query.

Dong and Yi, "Residual Sensitivity for Differentially Private Multi-Way Joins", SIGMOD (2021),
section 4; with self-joins as in Dong and Yi, "A Nearly Instance-optimal Differentially Private
Mechanism for Conjunctive Queries", PODS (2022), section 4.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.damped import Damped
from sensitivity_lab.exact.difference import Difference

from .join_columns import classes, connected, join_equalities, one_of_each_kind, predicates
from .normal_form import NormalForm, SourceColumn, Term, quoted

Rows = Callable[[str], Sequence[tuple[Any, ...]]]
"""It runs a statement and returns its rows."""

Polynomial = dict[tuple[int, ...], int]
"""Coefficients by the exponents of each variable."""

Point = tuple[int, ...]
"""A number of changed rows for each table."""

_MOST_SOURCES = 10
"""The most aliases of tables that can change: there are 2^n parts of the query to join."""

_MOST_SPLITS = 1_000_000
"""The most ways to share k changes among tables that are tried for one k."""

_MOST_BOXES = 300_000
"""The most boxes in the search for the worst distance."""

_MARGIN = 1 + 1e-9
"""More than the relative error of a float bound of a box."""


class Residual:
    """The residual sensitivity of a query, for every distance and every beta.

    Parameters
    ----------
    form : NormalForm
        Of inner joins only.
    changing : collection of str
        The full names of the tables whose rows can be added and removed.
    rows : callable
        It runs a statement.

    Raises
    ------
    TooLargeError
        If more than ten aliases stand for such tables.

    Notes
    -----
    For a set F of the query's sources, T_F is the most results that the join of F alone has with
    one choice of values for its *boundary*: the join columns that F shares with the other sources.
    After s_t rows changed in each table t, a row more or less in table i changes at most

        P_i(s) = sum over D, E of T_(all - D - E) * product of s_t(j) over j in E

    results, over the nonempty sets D of the sources of table i and the sets E of other sources that
    can change: the row stands for all of D, and rows that came stand for E. The bound at distance k
    is the largest P_i(s) with sum s = k, and the residual sensitivity is the largest of these
    bounds times exp(-beta k).

    Predicates that read sources outside of F are left out in T_F, which only makes it larger.
    """

    def __init__(self, form: NormalForm, changing: Collection[str], rows: Rows) -> None:
        self._form, self._rows = form, rows
        self._variables = classes(join_equalities(form))
        self._predicates = predicates(form)
        self._known: dict[frozenset[str], int] = {frozenset(): 1}
        self.tables = tuple(
            dict.fromkeys(s.table.sql for s in form.sources if s.table.sql in changing)
        )
        self._copies = {
            table: [s.alias for s in form.sources if s.table.sql == table] for table in self.tables
        }
        if (n := sum(map(len, self._copies.values()))) > _MOST_SOURCES:
            raise TooLargeError(
                f"residual: the tables that can change stand under {n} aliases, and 2^{n} parts of "
                f"the query would be joined; the most is {_MOST_SOURCES}. Declare tables public, "
                "or count over fewer"
            )
        self._polynomials = [self._polynomial(table) for table in self.tables]

    def at(self, k: int) -> int:
        """Return the bound on the local sensitivity at distance k.

        Raises
        ------
        TooLargeError
            If k rows can be shared among the tables in more than a million ways.
        """
        if not self.tables:
            return 0
        if (ways := math.comb(k + len(self.tables) - 1, k)) > _MOST_SPLITS:
            raise TooLargeError(
                f"residual: {k} changes are shared among {len(self.tables)} tables in {ways:,} "
                "ways, which is too many to try"
            )
        return max(
            value_at(polynomial, shares)
            for shares in _shares(k, len(self.tables))
            for polynomial in self._polynomials
        )

    def smooth(self, beta: Fraction) -> Damped:
        """Return the largest bound at any distance k, times exp(-beta k)."""
        best = damped_at(0, beta, 0)
        for polynomial in self._polynomials:
            if polynomial:
                best = PointSearch(polynomial, beta).largest(best)
        return best

    def _polynomial(self, table: str) -> Polynomial:
        """Return P of a table, in the numbers of rows changed in each of `tables`."""
        everything = frozenset(source.alias for source in self._form.sources)
        private = frozenset(chain.from_iterable(self._copies.values()))
        found: Counter[tuple[int, ...]] = Counter()
        for own in _subsets(self._copies[table]):
            if not own:
                continue
            for others in _subsets(sorted(private - own)):
                exponents = tuple(len(others.intersection(self._copies[t])) for t in self.tables)
                found[exponents] += self._most(everything - own - others)
        return {exponents: count for exponents, count in found.items() if count}

    def _most(self, part: frozenset[str]) -> int:
        """Return T of a set of sources.

        Sources that share a column or a predicate of the part alone are joined and counted; where
        two such components share a boundary column only, the counts multiply for each of its
        values; where they share none, the largest counts do.
        """
        if part not in self._known:
            components = [_ConnectedPart(self, part, one) for one in self._connected(part)]
            found = 1
            shared = [one.shared(components) for one in components]
            every = range(len(components))
            holders = [[i for i in every if v in shared[i]] for v in frozenset().union(*shared)]
            for cluster in connected(every, holders):
                found *= self._most_together([components[i] for i in sorted(cluster)])
            self._known[part] = found
        return self._known[part]

    def _most_together(self, components: list[_ConnectedPart]) -> int:
        """Return the largest product of the counts of components that share boundary columns."""
        shared = [one.shared(components) for one in components]
        tables = [
            f"({component.statement(columns)}) AS c{i}"
            for i, (component, columns) in enumerate(zip(components, shared, strict=True))
        ]
        equal = []
        for variable in sorted(set().union(*shared)):
            holders = [f"c{i}.v{variable}" for i, held in enumerate(shared) if variable in held]
            equal += [f"{holders[0]} = {other}" for other in holders[1:]]
        counts = " * ".join(f"c{i}.n::HUGEINT" for i in range(len(components)))
        where = f" WHERE {' AND '.join(equal)}" if equal else ""
        [[found]] = self._rows(f"SELECT coalesce(max({counts}), 0) FROM {', '.join(tables)}{where}")
        return int(found)

    def _connected(self, part: frozenset[str]) -> list[frozenset[str]]:
        """Return the components of a part: by columns that only it has, and by its predicates."""
        links = [
            frozenset(column.alias for column in variable)
            for variable in self._variables
            if {column.alias for column in variable} <= part
        ]
        links += [term.aliases for term in self._predicates if term.aliases <= part]
        return connected(sorted(part), links)


class _ConnectedPart:
    """Some sources of a part, and the boundary columns of the part that they have."""

    def __init__(self, residual: Residual, part: frozenset[str], aliases: frozenset[str]) -> None:
        self._residual, self._aliases = residual, aliases
        self.boundary: dict[int, list[SourceColumn]] = {}
        self._equal: list[list[SourceColumn]] = []
        for place, variable in enumerate(residual._variables):
            own = sorted(column for column in variable if column.alias in aliases)
            if own:
                self._equal.append(own)
                if not {column.alias for column in variable} <= part:
                    self.boundary[place] = own

    def shared(self, components: Sequence[_ConnectedPart]) -> frozenset[int]:
        """Return the boundary columns that it shares with other components."""
        others = (set(one.boundary) for one in components if one is not self)
        return frozenset(self.boundary) & frozenset().union(*others)

    def statement(self, shared: Collection[int]) -> str:
        """Return SQL for the most results with one boundary, by the shared columns of it."""
        tables = ", ".join(
            f"{table} AS {quoted(alias)}" for alias, table in self._tables(shared).items()
        )
        where = [f"{own[0].sql} = {other.sql}" for own in self._equal for other in own[1:]]
        where += [f"{own[0].sql} IS NOT NULL" for own in self.boundary.values()]
        where += [term.sql for term in self._residual._predicates if term.aliases <= self._aliases]
        names = [f"{own[0].sql} AS v{place}" for place, own in self.boundary.items()]
        inner = f"SELECT {', '.join([*names, 'count(*) AS n'])} FROM {tables}"
        inner += f" WHERE {' AND '.join(f'({one})' for one in where)}" if where else ""
        inner += f" GROUP BY {', '.join(own[0].sql for own in self.boundary.values())}" * bool(
            names
        )
        by = ", ".join(f"v{place}" for place in sorted(shared))
        outer = f"SELECT {f'{by}, ' * bool(by)}max(n) AS n FROM ({inner}) AS counted"
        return f"{outer} GROUP BY {by}" if by else outer

    def _tables(self, shared: Collection[int]) -> dict[str, str]:
        """Return the relation of each source.

        Boundary columns of which only the largest count is read, and that only one source has, need
        one value of each kind. That pays if several sources have such columns.
        """
        sources = [s for s in self._residual._form.sources if s.alias in self._aliases]
        tables = {source.alias: source.table.sql for source in sources}
        free = {
            own[0]: place
            for place, own in self.boundary.items()
            if place not in shared and len(own) == 1
        }
        if len({column.alias for column in free}) < 2:
            return tables
        joined = [
            Term(column.sql, "column", column=column)
            for own in self._equal
            for column in own
            if column not in free
        ]
        for source in sources:
            values = [one.sql for one in free if one.alias == source.alias]
            if values:
                predicates = [t for t in self._residual._predicates if t.aliases <= self._aliases]
                alone = [t for t in predicates if t.aliases == {source.alias}]
                read = [*joined, *(t for t in predicates if t not in alone)]
                where = [*(t.sql for t in alone), *(f"{value} IS NOT NULL" for value in values)]
                tables[source.alias] = one_of_each_kind(
                    source, tables[source.alias], values, read, where
                )
        return tables


def _subsets(items: Sequence[str]) -> Iterator[frozenset[str]]:
    for size in range(len(items) + 1):
        yield from map(frozenset, combinations(items, size))


def _shares(k: int, tables: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write k as a sum of so many numbers, in order."""
    if tables == 1:
        yield (k,)
        return
    for first in range(k + 1):
        for rest in _shares(k - first, tables - 1):
            yield (first, *rest)


def value_at(polynomial: Polynomial, at: Sequence[int]) -> int:
    """Return the value of a polynomial at a point."""
    return sum(
        count * math.prod(s**e for s, e in zip(at, exponents, strict=True))
        for exponents, count in polynomial.items()
    )


def damped_at(gap: int, beta: Fraction, distance: int) -> Damped:
    """Return a number at a distance, damped by beta per step."""
    return Damped(Difference(Fraction(gap), Fraction(0)), beta, distance)


class PointSearch:
    """The search for the largest P(s) exp(-beta sum s) over whole numbers s.

    P has no negative coefficient and the degree d_t in s_t, so one step down from s_t leaves at
    least (1 - 1/s_t)^d_t of it. Beyond 1 / (1 - exp(-beta / d_t)) such a step does not lose, so all
    s that count are in one box.
    """

    def __init__(self, polynomial: Polynomial, beta: Fraction) -> None:
        self._polynomial, self._beta, self._rate = polynomial, beta, float(beta)
        self._degrees = [max(exponents) for exponents in zip(*polynomial, strict=True)]
        self._most = tuple(
            math.ceil(_MARGIN / -math.expm1(-self._rate / degree)) if degree else 0
            for degree in self._degrees
        )

    def largest(self, best: Damped) -> Damped:
        """Return the largest value, or `best` if that is larger.

        The box with the largest bound is cut in halves, until no bound exceeds the best point.
        Floats drop boxes, with a margin; points near the best one are compared exactly.
        """
        start = tuple(0 for _ in self._most)
        boxes = [(-self._bound(start, self._most), start, self._most)]
        floor = _logarithm(best)
        for _ in range(_MOST_BOXES):
            least = floor - math.log(_MARGIN) * max(1.0, abs(floor))
            if not boxes or -boxes[0][0] < least:
                return best
            _, low, high = heapq.heappop(boxes)
            if self._at(low) >= least:
                point = damped_at(value_at(self._polynomial, low), self._beta, sum(low))
                best = point if best < point else best
                floor = max(floor, self._at(low))
            for lower, upper in _halves(low, high):
                heapq.heappush(boxes, (-self._bound(lower, upper), lower, upper))
        raise TooLargeError(
            f"beta: the search over {len(self._most)} tables that can change did not end within "
            f"{_MOST_BOXES:,} steps; a larger beta or fewer such tables need fewer"
        )

    def _at(self, point: Point) -> float:
        """Return the logarithm of P(s) exp(-beta sum s)."""
        value = value_at(self._polynomial, point)
        return math.log(value) - self._rate * sum(point) if value else -math.inf

    def _bound(self, low: Point, high: Point) -> float:
        """Return no less than the logarithm at any point between two corners."""
        steps = sum(h - a for a, h in zip(low, high, strict=True))
        bounds = [self._at(high) + self._rate * steps]  # P of one corner, damped as in the other
        if all(low):
            # No monomial grows faster than s^d, and s^d exp(-beta s) rises up to s = d / beta.
            gains = 0.0
            for a, h, degree in zip(low, high, self._degrees, strict=True):
                top = min(float(h), max(float(a), degree / self._rate))
                gains += degree * math.log(top / a) - self._rate * (top - a)
            bounds.append(self._at(low) + gains)
        return min(bounds)


def _halves(low: Point, high: Point) -> list[tuple[Point, Point]]:
    """Return the two halves of a box, cut across its longest side; none of a point."""
    widths = [h - a for a, h in zip(low, high, strict=True)]
    side = widths.index(max(widths))
    if not widths[side]:
        return []
    middle = (low[side] + high[side]) // 2
    ends = ((low[side], middle), (middle + 1, high[side]))
    return [
        ((*low[:side], a, *low[side + 1 :]), (*high[:side], h, *high[side + 1 :])) for a, h in ends
    ]


def _logarithm(number: Damped) -> float:
    gap = number.gap.nearest()
    return math.log(gap) - float(number.beta) * number.distance if gap else -math.inf
