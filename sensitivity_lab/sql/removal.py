"""Removing up to k persons or rows: how far the answer moves, and which ones move it so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.metrics.norms import Norm, powered

from .answers import Weighing, exact_answers
from .changes import Removed, remove_units
from .database import Session
from .impacts import Impacts, Unit, as_whole, make_impacts, units_of
from .join_columns import one_person_per_result
from .normal_form import Aggregate, NormalForm, quoted

MOST_RUNS = 2_000
"""The most times that a query with left joins is run again."""


@dataclass(frozen=True)
class Worst:
    """The worst change that a search has found.

    Attributes
    ----------
    units : tuple
        The persons or rows that are removed.
    upper : Fraction or None
        A bound that no change exceeds; None if this one is a maximum.
    searched : str
        What was searched, in words.
    lost : tuple of Fraction or None
        What vanishes with the units, in the order of the keys, where the impacts tell it.
    total : tuple of Fraction or None
        The sum of what vanishes with each of all units, where the search has it.
    """

    units: tuple[Any, ...]
    upper: Fraction | None
    searched: str
    lost: tuple[Fraction, ...] | None = None
    total: tuple[Fraction, ...] | None = None


class Removal:
    """The search for the worst removal.

    Parameters
    ----------
    form : NormalForm
    aggregate : Aggregate
    session : Session
    unit : {"person", "row"}
    k : int
    norm : {"L1", "L2", "Linf"}
    null_person : {"refuse", "public"}
    """

    def __init__(
        self,
        form: NormalForm,
        aggregate: Aggregate,
        session: Session,
        *,
        unit: Unit,
        k: int,
        norm: Norm,
        null_person: str,
    ) -> None:
        self.form, self.aggregate, self.session = form, aggregate, session
        self.unit, self.k = unit, k
        # Of a single number, all norms are its absolute value.
        self.norm: Norm = norm if len(form.keys) > 1 else "Linf"
        self.null_person = null_person
        self.units = units_of(form, unit, null_person)
        self.impacts = Impacts("", [Weighing("")])

    @property
    def _each(self) -> str:
        return self.impacts.relation

    @property
    def _weighing(self) -> Weighing:
        return self.impacts.weighings[0]

    def worst(self) -> Worst:
        """Return the worst removal of up to k units."""
        if not self.form.monotone:
            return self._by_running()
        # Of one number, the largest is read off in one statement.
        once = self.k == 1 and len(self.form.keys) == 1
        self.impacts = make_impacts(
            self.form, [self.aggregate], self.units, self.session, once=once
        )
        if once:
            return self._worst_number()
        if self.k == 1:
            return self._worst_one()
        return self._several()

    # One unit: the largest norm of what is lost with it.

    def _worst_number(self) -> Worst:
        # The impacts have each unit once.
        order = "ORDER BY ABS(lost0) DESC, unit"
        [(number, total, unit, lost)] = self.session.rows(
            f"SELECT COUNT(*), SUM(lost0), FIRST(unit {order}), FIRST(lost0 {order}) "
            f"FROM {self._each}"
        )
        searched = f"{number:,} {self._nouns(number)} compared"
        units = (unit,) if as_whole(lost) else ()
        lose = self._lost([(0, lost)])
        return Worst(units, None, searched, lose, total=self._lost([(0, total)]))

    def _worst_one(self) -> Worst:
        rows = self.session.rows
        [(number, largest)] = rows(
            f"SELECT COUNT(DISTINCT unit), MAX(ABS(lost0)) FROM {self._each}"
        )
        searched = f"{number:,} {self._nouns(number)} compared"
        if not number:
            return Worst((), None, searched)
        if self.norm == "L2" and as_whole(largest) ** 2 * len(self.form.keys) >= 2**126:
            return self._worst_length(searched)
        measure = {"L1": "SUM(ABS(lost0))", "Linf": "MAX(ABS(lost0))"}.get(
            self.norm, "SUM(lost0 * lost0)"
        )
        first = (
            f"SELECT unit, {measure} AS value FROM {self._each} GROUP BY unit "
            "ORDER BY value DESC, unit LIMIT 1"
        )
        found = rows(
            f"SELECT unit, value, place, lost0 FROM ({first}) JOIN {self._each} USING (unit)"
        )
        unit, value = found[0][:2]
        if not as_whole(value):
            return Worst((), None, searched)
        return Worst((unit,), None, searched, self._lost(row[2:] for row in found))

    def _lost(self, found: Iterable[tuple[Any, ...]]) -> tuple[Fraction, ...]:
        """Return losses by the order of the keys, from rows of a place and a whole number."""
        lost = [Fraction(0)] * len(self.form.keys)
        for place, whole in found:
            lost[place] = Fraction(as_whole(whole), self._weighing.denominator)
        return tuple(lost)

    def answers(self, worst: Worst) -> tuple[list[Fraction], list[Fraction]]:
        """Return the answers before and after the worst removal.

        Where the impacts tell what is lost, the query does not run again. If besides every result
        is of one unit, what all units lose is the answer, and it does not run at all. The
        result's `verify` always runs it.
        """
        before = self._total(worst) or exact_answers(self.form, self.aggregate, self.session)
        if not worst.units:
            return before, before
        if worst.lost is None:
            return before, self._without(worst.units)
        return before, [one - lost for one, lost in zip(before, worst.lost, strict=True)]

    def _total(self, worst: Worst) -> list[Fraction] | None:
        """Return the answer as the sum of all impacts; None if results have several units or none.

        A value of COUNT(DISTINCT ...) can be of several units, too.
        """
        form = self.form
        if not form.monotone or len(form.private) > 1 or self.aggregate.kind == "distinct":
            return None
        [source] = form.private
        person = quoted(source.owner.name)
        [(ownerless,)] = self.session.rows(
            f"SELECT COUNT(*) FROM {source.relation} WHERE {person} IS NULL"
        )
        if ownerless:
            return None
        if worst.total is not None:
            return list(worst.total)
        return list(
            self._lost(
                self.session.rows(f"SELECT place, SUM(lost0) FROM {self._each} GROUP BY place")
            )
        )

    def _worst_length(self, searched: str) -> Worst:
        """Return the unit of the largest L2 norm, where squares do not fit into the database.

        Floats choose: whoever is within their error of the largest is compared exactly here.
        """
        close = "SQRT(SUM(CAST(lost0 AS DOUBLE) ** 2))"
        norms = f"SELECT unit, {close} AS value FROM {self._each} GROUP BY unit"
        rows = self.session.rows(
            f"SELECT unit, place, lost0 FROM {self._each} WHERE unit IN (SELECT unit FROM "
            f"({norms}) WHERE value >= (SELECT MAX(value) FROM ({norms})) * (1 - 1e-9))"
        )
        squares: dict[Any, int] = {}
        for unit, _, lost in rows:
            squares[unit] = squares.get(unit, 0) + int(lost) ** 2
        worst = max(squares, key=lambda one: squares[one])
        return Worst((worst,), None, searched, self._lost(r[1:] for r in rows if r[0] == worst))

    # Several units.

    def _several(self) -> Worst:
        """Return the k units that lose the most, each by itself, and the sum of what they lose.

        That is a maximum where every result is of one unit, and losses cannot cancel: they have one
        sign, or a single entry is measured. Else it bounds what any k units can lose.
        """
        if self.norm == "Linf":
            units, upper = self._top_entry()
        else:
            units, upper = self._top()
        searched = f"the {self.k} {self._nouns(self.k)} that lose the most"
        return Worst(units, None if self._adds_up() else upper, searched)

    def _adds_up(self) -> bool:
        """Tell whether the worst of several units are those that lose the most, each by itself."""
        alone = len(self.units) == 1 or (self.unit == "person" and one_person_per_result(self.form))
        if not alone or self.aggregate.kind == "distinct" or self.norm == "L2":
            return False
        if self.norm == "Linf":
            return True
        [(mixed,)] = self.session.rows(
            f"SELECT COALESCE(MIN(lost0) < 0 AND MAX(lost0) > 0, FALSE) FROM {self._each}"
        )
        return not mixed

    def _top_entry(self) -> tuple[tuple[Any, ...], Fraction]:
        """Return the k units with the most at stake in one place and of one sign, and their sum."""
        best: tuple[Any, ...] = (0, 0, "gain0")
        for sign in ("gain0", "drop0"):
            ranked = (
                f"SELECT place, {sign} AS stake, ROW_NUMBER() OVER (PARTITION BY place ORDER BY "
                f"{sign} DESC, unit) AS number FROM {self._each} WHERE {sign} > 0"
            )
            tops = self.session.rows(
                f"SELECT SUM(stake), place FROM ({ranked}) WHERE number <= {self.k} GROUP BY place"
            )
            best = max([best, *((int(total), place, sign) for total, place in tops)])
        total, place, sign = best
        rows = self.session.rows(
            f"SELECT unit FROM {self._each} WHERE place = {place} AND {sign} > 0 "
            f"ORDER BY {sign} DESC, unit LIMIT {self.k}"
        )
        return tuple(unit for (unit,) in rows), Fraction(total, self._weighing.denominator)

    def _top(self) -> tuple[tuple[Any, ...], Fraction]:
        """Return the k units with the most at stake in L1 or L2, and the sum of their norms."""
        square = self.norm == "L2"
        stake = "SUM(CAST(gain0 + drop0 AS DOUBLE) ** 2)" if square else "SUM(gain0 + drop0)"
        rows = self.session.rows(
            f"SELECT unit, {stake} AS stake FROM {self._each} GROUP BY unit "
            f"HAVING stake > 0 ORDER BY stake DESC, unit LIMIT {self.k}"
        )
        upper = Fraction(0)
        for _, found in rows:
            # A float of a sum of squares is off by a tiny share; rounded up it is a bound.
            root = Difference(Fraction(int(found * (1 + 1e-9)) + 1), Fraction(0), root=True)
            upper += Fraction(root.upper()) if square else int(found)
        return tuple(unit for unit, _ in rows), upper / self._weighing.denominator

    # Left joins: the definition.

    def _by_running(self) -> Worst:
        """Run the query again without each set of units that the private tables hold."""
        best, chosen, runs = Fraction(0), (), 0
        asked = losses(self.form, [self.aggregate], self.session, self.unit, self.units, self.k)
        for units, [moved] in asked:
            runs += 1
            size = Fraction(powered_norm(moved, self.norm))
            if size > best:
                best, chosen = size, units
        return Worst(chosen, None, f"the query was run {runs:,} times")

    def _without(self, units: Sequence[Any]) -> list[Fraction]:
        """Return the answer without some units, by running the query."""
        change = Removed(tuple(units), self.unit)
        replaced = remove_units(self.form, change, self.session)
        return exact_answers(self.form, self.aggregate, self.session, replaced)

    def _nouns(self, number: int) -> str:
        return f"{self.unit}{'s' * (number != 1)}"


def losses(
    form: NormalForm,
    aggregates: Sequence[Aggregate],
    session: Session,
    unit: Unit,
    units: Sequence[str],
    k: int,
) -> Iterator[tuple[tuple[Any, ...], list[list[Fraction]]]]:
    """Yield each set of up to k units, and what each aggregate loses without it, by running.

    Raises
    ------
    TooLargeError
        If the query would run too often.
    """
    persons = everyone(form, units, session)
    runs = sum(comb(len(persons), size) for size in range(1, k + 1))
    if runs > MOST_RUNS:
        sets = f"set of up to {k} of " if k > 1 else "of "
        raise TooLargeError(
            "a LEFT JOIN adds rows of a private table, so that a result can change without being "
            f"lost, and the query has to run again without each {sets}{len(persons):,} {unit}s: "
            f"{runs:,} times, and the limit is {MOST_RUNS:,}; use INNER JOIN, or a smaller database"
        )
    before = [exact_answers(form, one, session) for one in aggregates]
    for size in range(1, k + 1):
        for chosen in combinations(persons, size):
            replaced = remove_units(form, Removed(chosen, unit), session)
            after = [exact_answers(form, one, session, replaced) for one in aggregates]
            yield (
                chosen,
                [
                    [x - y for x, y in zip(*both, strict=True)]
                    for both in zip(before, after, strict=True)
                ],
            )


def everyone(form: NormalForm, units: Sequence[str], session: Session) -> list[Any]:
    """Return the persons or rows of the private tables, each once, in order."""
    together = " UNION ".join(
        f"SELECT {unit} AS unit FROM {source.relation} AS {quoted(source.alias)}"
        for source, unit in zip(form.private, units, strict=True)
    )
    text = f"SELECT DISTINCT unit FROM ({together}) WHERE unit IS NOT NULL ORDER BY unit"
    return [unit for (unit,) in session.rows(text)]


def powered_norm(vector: Sequence[Fraction], norm: Norm) -> Any:
    """Return the norm of a vector, squared for L2."""
    import numpy as np

    return powered(np.array(list(vector), dtype=object), norm).item()
