"""A join of parts that no equality ties: which choices of their rows have to be looked at.

A database joins sources quickly where an equality ties them. Where only an inequality does, or
nothing, it goes through all pairs of their rows, which can take hours. Here a join is grouped by
columns of its parts, and only the group with the most is wanted. Two things save most pairs
(docs/proofs.md, "Queries of databases"):

- *Folding.* A part that is only counted, and tied to the rest by one comparison or by none, need
  not be joined: running sums over its sorted values say how much goes with each row of the rest.
- *Pruning.* A group is a choice of one group of each part, and has at most the product of their
  weights. So a sample of the heaviest groups of each part is counted first; after that, only the
  groups whose product is above the best one found. Often there are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from sensitivity_lab.errors import TooLargeError

from .database import Session
from .join_columns import connected
from .normal_form import quoted

NAME = re.compile(r"'(?:[^']|'')*'|" + r'"((?:[^"]|"")*)"(?:\."(?:[^"]|"")*")*')
"""A text of SQL, or a name with its quotes, and the names after it."""

FEW = 20_000_000
"""Up to so many choices of rows, all of them are looked at."""

_SAMPLE = 5_000_000
"""The cost of the sample."""

_MOST = 1_000_000_000
"""The most that the search may cost, in choices of rows: some 20 seconds."""

GROUP = 30
"""What a group costs, in choices of rows."""

_PER_DOUBLING = 64
"""Weights are rounded up to powers of two to the power of 1/64."""


@dataclass(frozen=True)
class Fold:
    """A part of a join that is added up beforehand.

    Attributes
    ----------
    name : str
        Its columns are `total`, what its rows add, and `most`, the same of absolute values.
    text : str
        The SQL that joins it.
    reads : frozenset of str
        The relations that it is joined to.
    """

    name: str
    text: str
    reads: frozenset[str]


@dataclass(frozen=True)
class Join:
    """Relations, the conditions over them, and what each row of the join adds.

    Attributes
    ----------
    relations : dict of str to str
        The SQL of each relation, by its alias.
    where : tuple of str
    equal : tuple of (str, str)
        The sides of the equalities among the conditions.
    compared : dict of str to (str, str, str)
        By the text of a condition that is an inequality: its left side, its sign, its right side.
    worth : str
        The SQL of a whole number.
    folds : tuple of Fold
        What further adds to a row, as factors.
    """

    relations: Mapping[str, str]
    where: tuple[str, ...]
    equal: tuple[tuple[str, str], ...]
    compared: Mapping[str, tuple[str, str, str]]
    worth: str = "1"
    folds: tuple[Fold, ...] = ()

    def read(self, sql: str) -> frozenset[str]:
        """Return the aliases that SQL reads."""
        found = (one[1].replace('""', '"') for one in NAME.finditer(sql) if one[1] is not None)
        return frozenset(found) & frozenset(self.relations)

    @property
    def home(self) -> frozenset[str]:
        """The relations that `worth` reads; of a constant, the first one stands for all."""
        return self.read(self.worth) or frozenset([*self.relations][:1])

    def tail(self, aliases: frozenset[str] | None = None, where: Sequence[str] = ()) -> str:
        """Return FROM and WHERE of the join, or of that of some of its relations."""
        chosen = frozenset(self.relations) if aliases is None else aliases
        tables = [f"{sql} AS {quoted(a)}" for a, sql in self.relations.items() if a in chosen]
        own = [one for one in self.where if self.read(one) <= chosen]
        conditions = [*own, *where]
        text = f" FROM {' CROSS JOIN '.join(tables)}" if tables else ""
        text += "".join(one.text for one in self.folds if one.reads <= chosen)
        return text + (f" WHERE {' AND '.join(conditions)}" if conditions else "")

    def added(self, aliases: frozenset[str] | None = None) -> tuple[str, str]:
        """Return the SQL of what a row adds, of all relations or of some, and of a bound on it."""
        chosen = frozenset(self.relations) if aliases is None else aliases
        mine = self.worth if self.home <= chosen else "1"
        folds = [one.name for one in self.folds if one.reads <= chosen]
        total = " * ".join([mine, *(f"{name}.total" for name in folds)])
        return total, " * ".join([f"ABS({mine})", *(f"{name}.most" for name in folds)])

    def parts(self) -> list[frozenset[str]]:
        """Return the sets of relations that equalities tie."""
        ties: list[frozenset[str]] = []
        pairs = [(self.read(left), self.read(right)) for left, right in self.equal]
        while True:
            found = connected(self.relations, ties)
            # An equality between sums over several parts ties none of them before these are joined.
            more = [
                one | other
                for left, right in pairs
                for one in found
                for other in found
                if one != other and frozenset() < left <= one and frozenset() < right <= other
            ]
            if not more:
                return found
            ties += more

    def folded(self, kept: Sequence[str]) -> Join:
        """Return the join without the parts that can be added up beforehand.

        Parameters
        ----------
        kept : sequence of str
            The SQL that the join is grouped by, whose relations stay.
        """
        parts = self.parts()
        for part in parts:
            whole = self.home <= part or self.home.isdisjoint(part)
            if whole and len(parts) > 1 and not any(self.read(one) & part for one in kept):
                across = [one for one in self.where if not self.read(one).isdisjoint(part)]
                across = [one for one in across if not self.read(one) <= part]
                rest = [one for one in parts if one != part]
                found = self._fold(part, across, rest)
                if found is not None:
                    return self._without(part, across, found).folded(kept)
        return self

    def _fold(
        self, part: frozenset[str], across: Sequence[str], rest: Sequence[frozenset[str]]
    ) -> Fold | None:
        """Return a part, added up; None if more than one inequality ties it to other parts."""
        name = f'"lab fold {len(self.folds)}"'
        total, most = self.added(part)
        sums = f"SUM({total}) AS total, SUM({most}) AS most"
        if not across:
            text = f"SELECT {sums}{self.tail(part)} HAVING COUNT(*) > 0"
            return Fold(name, f" CROSS JOIN ({text}) AS {name}", frozenset([min(rest[0])]))
        if len(across) > 1 or across[0] not in self.compared:
            return None
        left, sign, right = self.compared[across[0]]
        if self.read(left) <= part:
            left, right, sign = right, left, sign.translate(str.maketrans("<>", "><"))
        reads = self.read(left)
        if not (self.read(right) <= part and any(reads <= one for one in rest)):
            return None
        # `left < right` meets the values from the first larger one on.
        order = "DESC" if "<" in sign else "ASC"
        values = f"SELECT {right} AS value, {sums}{self.tail(part)} GROUP BY 1"
        running = [
            f"SUM({one}) OVER (ORDER BY value {order}) AS {one}" for one in ("total", "most")
        ]
        text = f"SELECT value, {', '.join(running)} FROM ({values}) WHERE value IS NOT NULL"
        return Fold(name, f" ASOF JOIN ({text}) AS {name} ON {left} {sign} {name}.value", reads)

    def _without(self, part: frozenset[str], across: Sequence[str], fold: Fold) -> Join:
        """Return the join in which a fold stands for a part."""
        gone = {one for one in self.where if self.read(one) and self.read(one) <= part}
        return replace(
            self,
            relations={a: sql for a, sql in self.relations.items() if a not in part},
            where=tuple(one for one in self.where if one not in gone and one not in across),
            equal=tuple(pair for pair in self.equal if not self.read(" ".join(pair)) & part),
            worth="1" if self.home <= part else self.worth,
            folds=(*(one for one in self.folds if not one.reads <= part), fold),
        )

    def made(
        self, session: Session, columns: Sequence[str], kept: Sequence[str], *, counted: bool
    ) -> tuple[Join, dict[str, str]]:
        """Make a table of each part, with the weight of each row's group, and join these.

        Parameters
        ----------
        session : Session
            Where statements run.
        columns : sequence of str
            The SQL that says which group a row is of.
        kept : sequence of str
            What else is read of the join, as SQL.
        counted : bool
            Whether what the rows of a group add is added up; if not, it is 1 at most.

        Returns
        -------
        join : Join
            Of tables with the columns `total`, `most`, `nth`, `weight` and `size`, and one for each
            name that is read elsewhere.
        names : dict of str to str
            These names, by what they were.
        """
        parts = self.parts()
        across = [one for one in self.where if not any(self.read(one) <= part for part in parts)]
        alone = any(self.home <= part for part in parts)
        read = " ".join([*columns, *kept, *across, *([] if alone else [self.worth])])
        names: dict[str, str] = {}
        tables, folds = {}, []
        for place, part in enumerate(parts):
            alias = f"lab part {place}"
            mine = {one[0]: "" for one in NAME.finditer(read) if self.read(one[0]) & part}
            names |= {one: f"{quoted(alias)}.n{i}" for i, one in enumerate(mine)}
            total, most = self.added(part)
            listed = "".join(f"{one} AS n{i}, " for i, one in enumerate(mine))
            by = ", ".join(str(1 + i) for i in range(len(mine)))
            rows = (
                f"SELECT {listed}SUM({total}) AS total, SUM({most}) AS most{self.tail(part)} "
                + (f"GROUP BY {by}" if by else "HAVING COUNT(*) > 0")
            )
            own = [with_expressions(one, names) for one in columns if self.read(one) & part]
            by = f"PARTITION BY {', '.join(own)}" if own else ""
            order = ", ".join(["weight DESC", *([f"hash({', '.join(own)})", *own] if own else [])])
            # A result has at most one key. A sum of values of several parts has no bound here.
            weight = f"SUM(most) OVER ({by})" if alone else "CAST(POW(2, 100) AS HUGEINT)"
            weight = "1" if part == {"lab keys"} or not counted else weight
            size = f"CAST(CEIL({_PER_DOUBLING} * LOG2(CAST(weight AS DOUBLE)) + 1e-6) AS INTEGER)"
            size = f"CASE WHEN weight = 1 THEN 0 ELSE {size} END"
            tables[alias] = f'temp.main."{alias}"'
            session.run(
                f"CREATE OR REPLACE TEMP TABLE {tables[alias]} AS SELECT *, DENSE_RANK() OVER "
                f"(ORDER BY {order}) AS nth, {size} AS size "
                f"FROM (SELECT *, {weight} AS weight FROM ({rows}) AS {quoted(alias)}) "
                f"AS {quoted(alias)} WHERE weight > 0"
            )
            folds.append(Fold(quoted(alias), "", frozenset([alias])))
        where = tuple(with_expressions(one, names) for one in across)
        worth = "1" if alone else with_expressions(self.worth, names)
        return Join(tables, where, (), {}, worth, tuple(folds)), names


def with_expressions(sql: str, row: Mapping[str, str]) -> str:
    """Return SQL with columns replaced by expressions, by the column's SQL.

    A subquery beside the other sources (LATERAL) would say the same, and hide from DuckDB's planner
    which sources the equalities join.

    Examples
    --------
    >>> print(with_expressions('("t"."x" = 3)', {'"t"."x"': '"u"."y"'}))
    ("u"."y" = 3)
    """
    return NAME.sub(lambda found: row.get(found[0], found[0]), sql)


def heaviest(
    join: Join, session: Session, count: Callable[[str], int], power: int, asked: str
) -> None:
    """Count the groups of a join until no other one can have more than the best.

    Parameters
    ----------
    join : Join
        Of the tables that `Join.made` makes.
    session : Session
        Where statements run.
    count : callable
        Counts the groups that a condition leaves, and returns what the best of these and all
        earlier ones has, as a whole number.
    power : {1, 2}
        What `count` returns is a norm to this power.
    asked : str
        What was asked for, and of which tables, in words.

    Raises
    ------
    TooLargeError
        If too many groups could have more.
    """
    names, tables = list(map(quoted, join.relations)), list(join.relations.values())
    most = 1 << 12
    while most > 1 and prod(_rows_of_first(session, table, most) for table in tables) > _SAMPLE:
        most //= 2
    best = count(" AND ".join(f"{name}.nth <= {most}" for name in names))
    # A group of size s has at most 2^(s / 64), and a whole number: only groups above this size can
    # have more than the best.
    size = (((best + 1) ** _PER_DOUBLING - 1).bit_length() - 1) // power
    cost = _cost(session, tables, size)
    if cost > _MOST:
        raise TooLargeError(
            f"{asked}, where no equality ties some of them: about {cost:,.0f} choices of rows can "
            f"matter, and the limit is {_MOST:,}. Join them by equalities, leave out rows in "
            "WHERE, or declare few values of the columns with domains"
        )
    if cost:
        count(f"{names[0]}.size > {size} - ({' + '.join(f'{name}.size' for name in names[1:])})")


def _rows_of_first(session: Session, table: str, most: int) -> int:
    """Return the rows of the first groups of a part."""
    [(found,)] = session.rows(f"SELECT COUNT(*) FROM {table} WHERE nth <= {most}")
    return int(found)


def _cost(session: Session, tables: Sequence[str], size: int) -> float:
    """Return what the groups above a size cost."""
    kinds = [
        "(SELECT size, COUNT(*)::DOUBLE AS n, COUNT(DISTINCT nth)::DOUBLE AS number FROM "
        f"{table} GROUP BY size) AS p{place}"
        for place, table in enumerate(tables)
    ]
    every = range(len(tables))
    rows, groups = (" * ".join(f"p{place}.{name}" for place in every) for name in ("n", "number"))
    sizes = " + ".join(f"p{place}.size" for place in every)
    [(found,)] = session.rows(
        f"SELECT COALESCE(SUM({rows} + {GROUP} * {groups}), 0) FROM {' CROSS JOIN '.join(kinds)} "
        f"WHERE {sizes} > {size}"
    )
    return float(found)
