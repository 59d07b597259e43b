"""The result of a search over a database: how far an answer moves, and the change that moves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sensitivity_lab.checks import named, number_text, rounded_up
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.exact.difference import Difference, root_difference, round_up
from sensitivity_lab.metrics.norms import Norm, distance
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.noise_context import ROWS, NoiseContext, Things
from sensitivity_lab.results.reprs import certainty
from sensitivity_lab.results.result import Found
from sensitivity_lab.results.verification import Stated

from .answers import exact_answers
from .changes import Removed, counted, remove_units
from .clipping import clipped_text
from .impacts import Unit
from .normal_form import Aggregate
from .read_query import ReadQuery

DATABASE = Things(
    data="database",
    parts="rows",
    room="sql",
    listed=ROWS.listed,
    domain=ROWS.domain,
    public=ROWS.public,
    every_size=ROWS.every_size,
    instead="bound what each person adds, and publish with Query.plan(epsilon=..., max_rows=...)",
)

PRIVATE = "it depends on the data: neither publish it nor scale noise to it"
"""What every result and picture says of itself."""


@dataclass(frozen=True)
class DatabaseNeighbors:
    """The databases that a result compares with the one at hand.

    Attributes
    ----------
    k : int
        At most so many units are removed.
    unit : {"person", "row"}
    tables : tuple of str
        The tables that lose rows.

    Examples
    --------
    >>> print(DatabaseNeighbors(1, "person", ("orders",)))
    at most 1 person removed, with all of their rows in orders
    """

    k: int
    unit: Unit
    tables: tuple[str, ...]

    def __str__(self) -> str:
        where = " and ".join(map(named, self.tables))
        number = f"at most {self.k} {self.unit}{'s' * (self.k > 1)} removed"
        whole = "from" if self.unit == "row" else "with all of their rows in"
        return f"{number}{',' * (self.unit == 'person')} {whole} {where}"


@dataclass(frozen=True, repr=False)
class DatabaseWitness:
    """The database at hand, a neighbor of it, and the query's answers on both.

    Attributes
    ----------
    change : Removed or None
        What is removed; None if no removal moves the answer.
    query_x : tuple of Fraction
        The answer on the database, per group in the order of the keys.
    query_y : tuple of Fraction
        The answer after the change.
    rows : tuple of (str, dict)
        The rows that are removed, if the unit is a row: their table, and the values that the query
        reads.

    Examples
    --------
    >>> import pandas as pd
    >>> from sensitivity_lab import sql
    >>> visits = pd.DataFrame({"person": [1, 1, 1, 2], "days": [3, 1, 2, 4]})
    >>> query = sql.Query(
    ...     "SELECT COUNT(*) AS visits FROM visits",
    ...     connection={"visits": visits},
    ...     person={"visits": "person"},
    ... )
    >>> query.local_sensitivity(k=1).witness
    DatabaseWitness(1 person removed, query_x=(Fraction(4, 1),), query_y=(Fraction(1, 1),))
    """

    change: Removed | None
    query_x: tuple[Fraction, ...]
    query_y: tuple[Fraction, ...]
    rows: tuple[tuple[str, dict[str, Any]], ...] = ()

    def __repr__(self) -> str:
        # Neither the ids of persons nor the values of rows: show these only on purpose.
        answers = f"query_x={self.query_x!r}, query_y={self.query_y!r}"
        return f"DatabaseWitness({self._told}, {answers})"

    @property
    def _told(self) -> str:
        if self.change is None:
            return "no change"
        return f"{counted(len(self.change.units), self.change.unit)} removed"

    @property
    def persons(self) -> tuple[Any, ...]:
        """The persons that are removed; none for rows."""
        change = self.change
        return change.units if change is not None and change.unit == "person" else ()

    # What all witnesses have: the two datasets, here as what one has and the other does not.

    @property
    def x(self) -> str:
        """The database at hand."""
        return "the database"

    @property
    def y(self) -> Removed | None:
        """What the neighbor lacks."""
        return self.change


@dataclass(frozen=True, repr=False)
class DatabaseSensitivity(Found):
    """How far the answer of a query moves between a database and its neighbors.

    It is a local sensitivity: it depends on the data, so it is private, and so is its witness.

    Attributes
    ----------
    value : float
        The sensitivity, or the largest change that was found if `status` is "bounds".
    exact : Fraction or None
        The value as a rational; None if it is a root (L2), or not known.
    upper : float
        No neighbor is farther away; the smallest float not below the value if `status` is "exact".
    status : {"exact", "bounds"}
        "bounds": the truth is between `value` and `upper`.
    witness : DatabaseWitness
        The change, and the answers before and after it.
    aggregate : Aggregate
        The aggregate that was searched.
    neighbors : DatabaseNeighbors
        The relation: which persons or rows are removed, at most k.
    norm : {"L1", "L2", "Linf"}
        How the difference of two answers is measured over the groups; for a single number, all
        three agree.
    searched : str
        What was searched, in words.
    query : ReadQuery
        The query.

    Examples
    --------
    >>> import pandas as pd
    >>> from sensitivity_lab import sql
    >>> visits = pd.DataFrame({"person": [1, 1, 1, 2], "days": [3, 1, 2, 4]})
    >>> query = sql.Query(
    ...     "SELECT COUNT(*) AS visits FROM visits",
    ...     connection={"visits": visits},
    ...     person={"visits": "person"},
    ... )
    >>> query.local_sensitivity(k=1).value
    3.0
    """

    value: float
    exact: Fraction | None
    upper: float
    status: Literal["exact", "bounds"]
    witness: DatabaseWitness
    aggregate: Aggregate
    neighbors: DatabaseNeighbors
    norm: Norm
    searched: str
    query: ReadQuery
    kind: Literal["local"] = "local"
    arithmetic: Literal["exact"] = "exact"

    @property
    def _name(self) -> str:
        return named(self.aggregate.name)

    @property
    def _norm(self) -> Norm | None:
        return self.norm if len(self.query.form.keys) > 1 else None

    @property
    def _title(self) -> str:
        if self.status == "exact":
            text = self._text()
            how = certainty(text, "exact", self.exact)
            return f"Local sensitivity of {self._name}{self._in_norm}: {text} ({how}, private)"
        upper = rounded_up(self.upper)
        return (
            f"Local sensitivity of {self._name}{self._in_norm}: between {self.value:.10g} and "
            f"{upper} (bounds, private)"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        witness = self.witness
        clipped = clipped_text(self.query.form, [self.aggregate])
        facts = [
            ("neighbors", f"{self.neighbors}; {self.query.database.described}"),
            ("private", PRIVATE),
            ("witness", self._changed()),
            *([("clipped", clipped)] if clipped else []),
            ("before", _listed(witness.query_x)),
            ("after", _listed(witness.query_y)),
            ("method", self.searched),
        ]
        exact = "" if self.exact is None else number_text(self.exact)
        if "/" in exact and len(exact) <= 24:
            facts.insert(2, ("exact", exact))
        return facts

    def _changed(self) -> str:
        """Return what changes, with ids only if the caller wants them shown."""
        change = self.witness.change
        if change is None:
            return "no change moves the answer"
        unit = counted(len(change.units), change.unit)
        if self.query.show_person is None:
            return f"{unit} (in witness.{'persons' if change.unit == 'person' else 'rows'})"
        if change.unit == "row":
            return "; ".join(f"{table} {brief(row)}" for table, row in self.witness.rows)
        return ", ".join(named(self.query.show_person(one)) for one in change.units)

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs; noise is refused, since the result is local."""
        return NoiseContext(
            query=self._name,
            kind="local",
            norm=self._norm,
            neighbors=self.neighbors,
            exactly=False,
            sizes=(),
            size="this database",
            upper=self.upper,
            things=DATABASE,
        )

    def again(self) -> list[Stated]:
        """Run the query on the database again, and on its neighbor."""
        query = self.query
        with query.session() as session:
            before = exact_answers(query.form, self.aggregate, session)
            after = before
            change = self.witness.change
            if change is not None:
                replaced = remove_units(query.form, change, session)
                after = exact_answers(query.form, self.aggregate, session, replaced)
        if change is not None and len(change.units) > self.neighbors.k:
            raise VerificationError(
                f"the witness removes {len(change.units)} {self.neighbors.unit}s, and neighbors "
                f"differ in {self.neighbors}"
            )
        moved = moved_by(before, after, self.norm)
        stated: list[Stated] = [
            ("answer before", self.witness.query_x, tuple(before)),
            ("answer after", self.witness.query_y, tuple(after)),
            ("value", self.value, moved.nearest()),
        ]
        if self.status == "exact":
            stated += [
                ("exact value", self.exact, moved.exact),
                ("upper bound", self.upper, moved.upper()),
            ]
        return stated

    def _shown(self, dataset: Any) -> str:
        return brief(dataset) if isinstance(dataset, str) else self._changed()

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects, without persons and rows."""
        return {
            "aggregate": self.aggregate.name,
            "kind": self.kind,
            "neighbors": str(self.neighbors),
            "unit": self.neighbors.unit,
            "k": self.neighbors.k,
            "norm": self.norm,
            "status": self.status,
            "sensitivity": self.value,
            "exact": None if self.exact is None else number_text(self.exact),
            "upper": self.upper,
            "searched": self.searched,
            "keys": [list(key) for key in self.query.form.keys],
            "before": [float(one) for one in self.witness.query_x],
            "after": [float(one) for one in self.witness.query_y],
        }


def moved_by(before: Sequence[Fraction], after: Sequence[Fraction], norm: Norm) -> Difference:
    """Return how far two answers are apart: as a root only if it is no rational."""
    moved = distance(before, after, norm)
    return root_difference(moved.first) if moved.root else moved


def measured(
    query: ReadQuery,
    aggregate: Aggregate,
    neighbors: DatabaseNeighbors,
    norm: Norm,
    before: Sequence[Fraction],
    after: Sequence[Fraction],
    change: Removed | None,
    *,
    upper: Fraction | None,
    searched: str,
    rows: tuple[tuple[str, dict[str, Any]], ...] = (),
) -> DatabaseSensitivity:
    """Return the result for a change, by the answers before and after it."""
    moved = moved_by(before, after, norm)
    if upper is not None and moved.exact == upper:
        upper = None  # the bound is attained
    return DatabaseSensitivity(
        value=moved.nearest(),
        exact=moved.exact if upper is None else None,
        upper=moved.upper() if upper is None else max(round_up(upper), moved.upper()),
        status="exact" if upper is None else "bounds",
        witness=DatabaseWitness(change, tuple(before), tuple(after), rows),
        aggregate=aggregate,
        neighbors=neighbors,
        norm=norm,
        searched=searched,
        query=query,
    )


def _listed(answers: tuple[Fraction, ...]) -> str:
    numbers = [one.numerator if one.denominator == 1 else float(one) for one in answers]
    return brief(numbers[0] if len(numbers) == 1 else tuple(numbers))
