"""Removing up to k persons or rows: how far the answer moves, and which ones move it so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.metrics.norms import Norm, powered

from .answers import Weighing, exact_answers
from .changes import Removed, remove_units
from .database import Session
from .impacts import Impacts, Unit, as_whole, make_impacts, units_of
from .normal_form import Aggregate, NormalForm, quoted
from .statements import place_of, statement
from .subsets import Atom, Found, Length, Measure, SubsetSearch

_CHOSEN = 'temp.main."lab chosen"'
"""The temporary table of the units that are searched: `number` in the order of stakes, `unit`."""

_ROOM_FOR_UNITS = 2_000
"""How many units are searched one by one, beyond the k with the most at stake."""

_ATOMS = 300_000
"""The most atoms of a search."""

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
        if self.norm == "Linf":
            return self._worst_entry()
        found, units = self._search(None, self.norm, "gain0 + drop0")
        return self._concluded(found, units)

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
            f"SELECT COUNT(*) FROM {source.table.sql} WHERE {person} IS NULL"
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

    def _worst_entry(self) -> Worst:
        """Return the worst removal in the norm Linf: of each place and sign by itself."""
        tops = []
        for sign in ("gain0", "drop0"):
            ranked = (
                f"SELECT place, {sign} AS stake, ROW_NUMBER() OVER (PARTITION BY place ORDER BY "
                f"{sign} DESC) AS number FROM {self._each} WHERE {sign} > 0"
            )
            tops += [
                (int(bound), place, sign)
                for place, bound in self.session.rows(
                    f"SELECT place, SUM(stake) FROM ({ranked}) WHERE number <= {self.k} "
                    "GROUP BY place"
                )
            ]
        best: tuple[Found, list[Any]] | None = None
        upper, states = 0, 0
        for bound, place, sign in sorted(tops, reverse=True):
            if best is not None and bound <= max(upper, best[0].value):
                break
            found, units = self._search((place, sign), "signed", sign)
            states += found.states
            if isinstance(found.upper, int):
                upper = max(upper, found.upper)
            if best is None or found.value > best[0].value:
                best = (found, units)
        if best is None:
            return Worst((), None, "nobody changes the answer")
        found, units = best
        open_ = upper if upper > found.value else None
        return self._concluded(Found(found.chosen, found.value, open_, states), units)

    def _concluded(self, found: Found, units: list[Any]) -> Worst:
        chosen = tuple(units[place] for place in found.chosen)
        searched = f"{found.states:,} sets of {self._nouns(2)} by branch and bound"
        if found.upper is None:
            return Worst(chosen, None, searched)
        if isinstance(found.upper, Length):
            # The float of so many roots is off by less than this share.
            return Worst(
                chosen,
                Fraction(found.upper.close * (1 + 1e-9)) / self._weighing.denominator,
                searched,
            )
        return Worst(chosen, Fraction(found.upper, self._weighing.denominator), searched)

    def _search(
        self, entry: tuple[int, str] | None, measure: Measure, stake: str
    ) -> tuple[Found, list[Any]]:
        """Search the sets of units, and return the end and the units by number."""
        where = f"{stake} > 0" if entry is None else f"{stake} > 0 AND place = {entry[0]}"
        rank = f"SUM({stake})"
        if measure == "L2":
            rank = f"SUM(CAST({stake} AS DOUBLE) ** 2)"
        most = self.k + _ROOM_FOR_UNITS
        ranked: list[tuple[Any, Any]]
        while True:
            self.session.run(
                f"CREATE OR REPLACE TEMP TABLE {_CHOSEN} AS SELECT ROW_NUMBER() OVER (ORDER BY "
                f"stake DESC, unit) - 1 AS number, unit, stake FROM (SELECT unit, {rank} AS stake "
                f"FROM {self._each} WHERE {where} GROUP BY unit ORDER BY stake DESC, unit "
                f"LIMIT {most + 1})"
            )
            ranked = self.session.rows(f"SELECT unit, stake FROM {_CHOSEN} ORDER BY number")
            rest = ranked[most:]
            units = [unit for unit, _ in ranked[:most]]
            self.session.run(f"DELETE FROM {_CHOSEN} WHERE number >= {most}")
            atoms = self._atoms(entry, units)
            if atoms is not None:
                break
            if most <= max(self.k, 20):
                return self._unsearched(ranked, measure)
            most = max(self.k, 20, most // 10)
        stakes = self._stakes(atoms, len(units), measure)
        beyond = 0
        if rest:
            # The float of a sum of squares is off by a tiny share; rounded up it is a bound.
            stake = rest[0][1]
            beyond = int(float(stake) * (1 + 1e-9)) + 1 if measure == "L2" else int(stake)
        order = sorted(range(len(units)), key=lambda one: stakes[one], reverse=True)
        number = {unit: place for place, unit in enumerate(order)}
        renamed = [
            Atom(
                atom.place,
                atom.weight,
                tuple(frozenset(number[one] for one in clause) for clause in atom.clauses),
            )
            for atom in atoms
        ]
        search = SubsetSearch(renamed, [stakes[one] for one in order], measure, self.k, beyond)
        return search.run(), [units[one] for one in order]

    def _unsearched(
        self, ranked: Sequence[tuple[Any, Any]], measure: Measure
    ) -> tuple[Found, list[Any]]:
        """Return bounds where units share too many results to search: the k largest stakes."""
        top = [stake for _, stake in ranked[: self.k]]
        upper: int | Length
        if measure == "L2":
            upper = Length.of(0)
            for stake in top:
                upper += Length.of(int(stake * (1 + 1e-9)) + 1)
        else:
            upper = sum(int(stake) for stake in top)
        # The value is 0 until the query runs without these units.
        return Found(tuple(range(len(top))), 0, upper, 0), [unit for unit, _ in ranked[: self.k]]

    @staticmethod
    def _stakes(atoms: Sequence[Atom], number: int, measure: Measure) -> list[int]:
        """Return the stake of each unit, for L2 its square (see `subsets.py`)."""
        by_place: list[dict[int, int]] = [{} for _ in range(number)]
        for atom in atoms:
            weight = max(atom.weight, 0) if measure == "signed" else abs(atom.weight)
            for unit in atom.units:
                by_place[unit][atom.place] = by_place[unit].get(atom.place, 0) + weight
        if measure == "L2":
            return [sum(one * one for one in of.values()) for of in by_place]
        return [sum(of.values()) for of in by_place]

    def _atoms(self, entry: tuple[int, str] | None, units: Sequence[Any]) -> list[Atom] | None:
        """Return the atoms of the chosen units; None if there are too many."""
        sign = -1 if entry is not None and entry[1] == "drop0" else 1
        place = None if entry is None else entry[0]
        if self.aggregate.kind == "distinct":
            return self._atoms_of_values(place, units)
        if len(self.units) > 1:
            return self._atoms_of_results(place, sign, units)
        here = "" if place is None else f" AND place = {place}"
        rows = self.session.rows(
            f"SELECT place, number, lost0 FROM {self._each} JOIN {_CHOSEN} USING (unit) "
            f"WHERE lost0 <> 0{here} LIMIT {_ATOMS + 1}"
        )
        if len(rows) > _ATOMS:
            return None
        return [Atom(at, sign * int(lost), (frozenset({number}),)) for at, number, lost in rows]

    def _by_units(self, place: int | None, select: Sequence[str], where: list[str]) -> str:
        """Return the results of one place or all, grouped by their units u0, u1, ... and more.

        Whatever of `select` is no aggregate comes before the units.
        """
        keys = [one for one in select if not one.startswith(("SUM(", "COUNT("))]
        here = place_of(self.form)
        units = [f"{unit} AS u{i}" for i, unit in enumerate(self.units)]
        rows = [f"{here} AS place", *keys, *units, *(one for one in select if one not in keys)]
        groups = [str(1 + i) for i in range(1 + len(keys) + len(units))]
        chosen = where if place is None else [*where, f"{here} = {place}"]
        return statement(self.form, rows, where=chosen, group_by=groups)

    def _atoms_of_results(
        self, place: int | None, sign: int, units: Sequence[Any]
    ) -> list[Atom] | None:
        """Return the results that refer to chosen units, as many as there are kinds of them."""
        text = self._by_units(place, [f"SUM({self._weighing.row})"], [_chosen(self.units)])
        rows = self.session.rows(f"{text} LIMIT {_ATOMS + 1}")
        if len(rows) > _ATOMS:
            return None
        number = {unit: at for at, unit in enumerate(units)}
        weights: dict[tuple[int, frozenset[int]], int] = {}
        for at, *refers, weight in rows:
            clause = frozenset(number[one] for one in refers if one in number)
            weights[at, clause] = weights.get((at, clause), 0) + int(weight)
        return [
            Atom(at, sign * weight, (clause,)) for (at, clause), weight in weights.items() if weight
        ]

    def _atoms_of_values(self, place: int | None, units: Sequence[Any]) -> list[Atom] | None:
        """Return the values of COUNT(DISTINCT ...) that chosen units are in."""
        value = self.aggregate.sql
        whole = self._by_units(place, [f"{value} AS value", "COUNT(*)"], [f"{value} IS NOT NULL"])
        chosen = _chosen([f"u{i}" for i in range(len(self.units))])
        rows = self.session.rows(
            f"WITH lab_results AS ({whole}) SELECT * EXCLUDE (value), DENSE_RANK() OVER (ORDER BY "
            "place, value) FROM lab_results SEMI JOIN (SELECT place, value FROM lab_results "
            f"WHERE {chosen}) AS touched USING (place, value) LIMIT {_ATOMS + 1}"
        )
        if len(rows) > _ATOMS:
            return None
        number = {unit: at for at, unit in enumerate(units)}
        clauses: dict[int, tuple[int, set[frozenset[int]]]] = {}
        for at, *refers, _, one in rows:
            clause = frozenset(number[unit] for unit in refers if unit in number)
            clauses.setdefault(one, (at, set()))[1].add(clause)
        # A value with a result that refers to no chosen unit stays, whichever of them are removed.
        # If it vanishes with other units, it is at stake with those, too.
        return [
            Atom(at, 1, tuple(sorted(of, key=sorted)))
            for at, of in clauses.values()
            if frozenset() not in of
        ]

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


def _chosen(units: Iterable[str]) -> str:
    """Return the condition that one of some units is chosen."""
    return f"({' OR '.join(f'{unit} IN (SELECT unit FROM {_CHOSEN})' for unit in units)})"


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
        f"SELECT {unit} AS unit FROM {source.table.sql} AS {quoted(source.alias)}"
        for source, unit in zip(form.private, units, strict=True)
    )
    text = f"SELECT DISTINCT unit FROM ({together}) WHERE unit IS NOT NULL ORDER BY unit"
    return [unit for (unit,) in session.rows(text)]


def powered_norm(vector: Sequence[Fraction], norm: Norm) -> Any:
    """Return the norm of a vector, squared for L2."""
    import numpy as np

    return powered(np.array(list(vector), dtype=object), norm).item()
