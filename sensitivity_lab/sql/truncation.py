"""Truncation: what a bound on the results of each person cuts, and what noise then costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pandas as pd

from sensitivity_lab.checks import check_choice, check_positive, listed, number_text, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import nearest, round_up
from sensitivity_lab.noise import laplace_scale
from sensitivity_lab.noise.clipping import expected_error
from sensitivity_lab.results.reprs import Tabled

from .answers import aggregate_of, weigh
from .database import Session
from .impacts import as_whole, units_of
from .join_columns import one_person_per_result
from .linear_program import tolerance, truncated_total
from .normal_form import Aggregate, NormalForm
from .read_query import ReadQuery
from .statements import place_of, statement
from .value_ranges import per_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


METHODS = ("auto", "cap", "linear program")

_MOST_THRESHOLDS = 100

_ONE_NUMBER = (
    "the linear program needs one number and values of at least 0: with groups only its total is "
    "stable, and optima differ in how they share it out. Leave out GROUP BY (a query of each "
    "group, with WHERE and a share of epsilon, is private) and give bounds of at least 0"
)

_RANKED = 'temp.main."lab ranked"'
"""The temporary table of results, each with its number `nth` among those of its person."""


@dataclass(frozen=True, repr=False)
class TruncationStudy(Tabled):
    """What each bound on the results of a person cuts, and what noise costs. It is private.

    Attributes
    ----------
    aggregate : str
        The number that is truncated.
    method : {"cap", "linear program"}
        How results are cut.
    epsilon : Fraction
        The privacy loss of a release.
    persons : int
        The number of persons with results.
    groups : int
        The number of numbers that are released: one per public key.
    points : tuple of TruncationPoint
        One per threshold, ascending.

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
    >>> [point.scale for point in query.truncation([1, 2], epsilon=1).points]
    [1.0, 2.0]
    """

    aggregate: str
    method: str
    epsilon: Fraction
    persons: int
    groups: int
    points: tuple[TruncationPoint, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per threshold.

        Returns
        -------
        pandas.DataFrame
            The columns are those of `TruncationPoint`.
        """
        return pd.DataFrame([vars(point) for point in self.points])

    def plot(self, **options: Any) -> Axes:
        """Draw the errors, on logarithmic axes, which omit numbers that are not positive.

        Parameters
        ----------
        **options
            `unit` of the answer; `title`; `ax`, where to draw, by default on a new figure;
            `figsize`, in inches.
        """
        from sensitivity_lab.plotting.truncation import plot_truncation

        return plot_truncation(self.to_frame(), **options)

    def r2t_error(self, failure: Any = 0.1) -> float:
        """Return a bound on the error of R2T with these thresholds, which may choose one.

        R2T adds Laplace noise for epsilon / J to the truncated answer of each of J thresholds,
        takes J tau ln(J / failure) / epsilon off each, and answers with the largest. It never needs
        to know which threshold is good.

        Parameters
        ----------
        failure : number, default 0.1
            The chance, above 0 and below 1, that the error is larger.

        Returns
        -------
        float
            The smallest, over the thresholds, of what is cut plus twice what is taken off.

        Raises
        ------
        InputError
            If the answer is grouped, or its values can be negative.

        References
        ----------
        Dong, Fang, Yi, Tao, Machanavajjhala (2022), section 5; here for any public thresholds.
        """
        chance = check_positive("failure", failure)
        if chance >= 1:
            raise InputError(f"failure must be a number above 0 and below 1, got {shown(failure)}")
        if self.groups > 1 or any(point.signed for point in self.points):
            raise InputError(
                "r2t_error: R2T answers with one number, and truncation must only lower it; leave "
                "out GROUP BY, and give bounds of at least 0"
            )
        rounds = len(self.points)
        taken = rounds * math.log(rounds / chance) / float(self.epsilon)
        return min(point.cut + 2 * taken * point.sensitivity for point in self.points)

    @property
    def _title(self) -> str:
        return (
            f"Truncation of {self.aggregate} by {self.method}, {self.persons:,} persons, Laplace "
            f"noise for epsilon {number_text(self.epsilon)}; private: do not choose a threshold by "
            "these errors"
        )

    def _table(self) -> pd.DataFrame:
        return self.to_frame().drop(columns=["answers", "signed"]).set_index("threshold")


@dataclass(frozen=True)
class TruncationPoint:
    """One threshold. Whatever depends on the data is private: all but `sensitivity` and `scale`.

    Attributes
    ----------
    threshold : number
        tau. The most results of a person ("cap"), or the most of the answer that one person makes
        ("linear program").
    cut : float
        How far truncation moves the answer, in L1: the sum over all keys.
    persons_cut : int
        The persons who lose results.
    sensitivity : float
        How much one person, added or removed with all rows, can change the truncated answer (in L1,
        with groups); of the linear program, with what its solver may be off. A person who is
        replaced can change twice as much.
    scale : float
        The scale of the Laplace noise of each number of the answer.
    error : float
        The expected distance of the noisy truncated answer from the answer without truncation, in
        L1 as `cut`: the sum over all keys. Divided by their number, it is that of one number.
    answers : tuple of Fraction
        The truncated answer of each public key, exactly. As floats, two answers can be farther
        apart than `sensitivity`: add noise to whole numbers, as `Query.plan` does.
    signed : bool
        Whether values can be negative.
    """

    threshold: int | float
    cut: float
    persons_cut: int
    sensitivity: float
    scale: float
    error: float
    answers: tuple[Fraction, ...] = ()
    signed: bool = False


class Truncation:
    """A query whose results are cut for each person.

    Parameters
    ----------
    query : ReadQuery
    aggregate : Aggregate
    session : Session
        Of the query, with its public keys.
    """

    def __init__(self, query: ReadQuery, aggregate: Aggregate, session: Session) -> None:
        form = query.form
        if aggregate.kind == "distinct":
            raise InputError(
                f"truncation: {aggregate.name} counts distinct values, which is not truncated. If "
                "they are persons, one person changes each group by at most 1, and all groups "
                "together by at most their number; if not, one person can have all values. "
                "Truncate a COUNT or a SUM, or plan a release: query.plan(...)"
            )
        ends = check_cuttable(form, aggregate, "truncation")
        self._form, self._aggregate, self._session = form, aggregate, session
        self._largest, self._signed = max(map(abs, ends)), ends[0] < 0
        self._persons = units_of(form, "person", query.null_person)
        value = aggregate.value
        self._counted = [] if value is None else [f"{value.sql} IS NOT NULL"]
        summed = value is not None and aggregate.kind == "sum"
        self._number = f"CAST({value.sql} AS DOUBLE)" if value is not None and summed else "0"

    def method(self, wanted: str) -> str:
        """Return how results are cut; raise InputError if the wanted way is not private here."""
        alone, one_number = one_person_per_result(self._form), not self._form.groups
        if wanted == "cap" and not alone:
            raise InputError(
                "method: 'cap' is private only if the join makes the persons of all private tables "
                "equal; cutting base rows does not bound a join. Use 'linear program', or add the "
                "columns of persons to the join"
            )
        if wanted == "linear program" and not (one_number and not self._signed):
            raise InputError(f"method: {_ONE_NUMBER}")
        if wanted != "auto":
            return wanted
        if alone:
            return "cap"
        if not one_number or self._signed:
            raise InputError(
                "truncation: a result can refer to several persons, where only the linear program "
                f"is private; {_ONE_NUMBER}, or add the columns of persons to the join"
            )
        return "linear program"

    def study(self, thresholds: Sequence[Any], epsilon: Fraction, method: str) -> TruncationStudy:
        """Return the study."""
        points, persons = (self._capped if method == "cap" else self._programs)(thresholds, epsilon)
        return TruncationStudy(
            self._aggregate.name, method, epsilon, persons, len(self._form.keys), tuple(points)
        )

    # Results of a person in an order that uses them alone.

    def _capped(
        self, thresholds: Sequence[int], epsilon: Fraction
    ) -> tuple[list[TruncationPoint], int]:
        """Keep the first tau results of each person.

        The order is that of a hash of the person and of what a result counts for: its group, its
        value, as a float whatever the type of the column, which can depend on others, and its
        number among equal ones. So what is kept of a person depends on the person's results only,
        which is what makes the sensitivity tau times the largest value: the others keep theirs.
        """
        weighing = weigh(self._form, self._aggregate, self._session)
        columns = [
            f"{self._persons[0]} AS person",
            f"{place_of(self._form)} AS place",
            f"{weighing.row} AS worth",
            f"{weighing.rough or 'FALSE'} AS rough",
            f"{self._number} AS number",
        ]
        results = statement(self._form, columns, where=self._counted)
        # A NULL person is public, and nothing of it is cut.
        self._session.run(
            f"CREATE OR REPLACE TEMP TABLE {_RANKED} AS SELECT *, CASE WHEN person IS NULL THEN 0 "
            "ELSE row_number() OVER (PARTITION BY person "
            "ORDER BY hash(concat_ws('|', person, place, number, copy)), place, worth) END AS nth "
            "FROM (SELECT *, row_number() OVER (PARTITION BY person, place, number, worth) AS copy "
            f"FROM ({results}))"
        )
        sums, lost = ["BOOL_OR(rough)", "SUM(worth)"], ["COUNT(DISTINCT person)"]
        for threshold in thresholds:
            sums.append(f"SUM(worth) FILTER (nth <= {threshold})")
            lost.append(f"COUNT(DISTINCT person) FILTER (nth > {threshold})")
        found = self._session.rows(f"SELECT place, {', '.join(sums)} FROM {_RANKED} GROUP BY place")
        [[persons, *cut]] = self._session.rows(f"SELECT {', '.join(lost)} FROM {_RANKED}")
        full = [Fraction(0)] * len(self._form.keys)
        kept = [list(full) for _ in thresholds]
        for place, rough, *totals in found:
            weighing.check(rough)
            full[place], *rest = (
                Fraction(as_whole(total), weighing.denominator) for total in totals
            )
            for answers, answer in zip(kept, rest, strict=True):
                answers[place] = answer
        points = [
            self._point(threshold, full, answers, lost_by, epsilon)
            for threshold, answers, lost_by in zip(thresholds, kept, cut, strict=True)
        ]
        return points, int(persons)

    def _point(
        self,
        threshold: int,
        full: Sequence[Fraction],
        kept: Sequence[Fraction],
        persons_cut: int,
        epsilon: Fraction,
    ) -> TruncationPoint:
        sensitivity = threshold * self._largest
        scale = laplace_scale(sensitivity, epsilon)
        biases = [abs(a - b) for a, b in zip(full, kept, strict=True)]
        errors = [expected_error(nearest(bias), scale) for bias in biases]
        return TruncationPoint(
            threshold,
            nearest(sum(biases, Fraction(0))),
            persons_cut,
            round_up(sensitivity),
            scale,
            math.fsum(errors),
            tuple(kept),
            self._signed,
        )

    # R2T's linear program.

    def _programs(
        self, thresholds: Sequence[Any], epsilon: Fraction
    ) -> tuple[list[TruncationPoint], int]:
        """Solve R2T's linear program for each threshold, over results with the same persons."""
        weighing = weigh(self._form, self._aggregate, self._session)
        who = f"LIST_SORT(LIST_DISTINCT([{', '.join(self._persons)}]))"
        select = [who, f"SUM({weighing.row})", weighing.is_rough]
        found = self._session.rows(
            statement(self._form, select, where=self._counted, group_by=["1"])
        )
        numbers: dict[Any, int] = {}
        persons, values = [], []
        for owners, total, is_rough in found:
            weighing.check(is_rough)
            persons.append([numbers.setdefault(one, len(numbers)) for one in owners])
            values.append(as_whole(total))
        full, below = sum(values), weighing.denominator
        points = []
        for threshold in thresholds:
            tau = Fraction(threshold)
            optimum = truncated_total(persons, values, tau * below)
            # The choice that is found is below the optimum, by as much as the tolerance at most.
            sensitivity = tau + tolerance(tau)
            bias = (full - optimum.lower) / below
            scale = laplace_scale(sensitivity, epsilon)
            points.append(
                TruncationPoint(
                    threshold,
                    nearest(bias),
                    optimum.cut,
                    round_up(sensitivity),
                    scale,
                    expected_error(nearest(bias), scale),
                    (optimum.lower / below,),
                )
            )
        return points, len(numbers)


def check_cuttable(form: NormalForm, aggregate: Aggregate, what: str) -> tuple[Fraction, Fraction]:
    """Return the least and the largest number that a result adds, or raise InputError."""
    ends = per_result(form, aggregate)
    if ends is None:
        raise InputError(
            f"{what}: {aggregate.name} adds up values without bounds; give bounds for each "
            "column in it, such as bounds={'lineitem.quantity': (1, 50)}, and write it with +, -, "
            "*, CASE, COALESCE and CAST alone: value * 0.5 for value / 2"
        )
    if not form.monotone:
        raise InputError(
            f"{what}: a LEFT JOIN to a private table is not supported, because a person can take "
            "results away from others; use an inner join"
        )
    return ends


def _checked(thresholds: Any, method: str) -> list[Any]:
    """Return thresholds as they came: whole numbers for "cap", else numbers above 0."""
    given: Iterable[Any] = listed(thresholds, "thresholds must be a list of numbers above 0")
    found = [check_positive("thresholds", one) for one in given]
    if not found or len(found) > _MOST_THRESHOLDS:
        raise InputError(
            f"thresholds must be a list of 1 to {_MOST_THRESHOLDS} numbers, got {len(found)}"
        )
    broken = [one for one in found if one.denominator != 1]
    if method == "cap" and broken:
        raise InputError(
            "thresholds: a cap is a whole number of results for each person, got "
            f"{nearest(broken[0])!r}"
        )
    return [int(one) if one.denominator == 1 else nearest(one) for one in found]


def truncation_study(
    query: ReadQuery, thresholds: Any, *, epsilon: Any, method: Any, aggregate: Any
) -> TruncationStudy:
    """Return what each threshold cuts and what noise costs; see `Query.truncation`."""
    chosen = query.form.aggregates[aggregate_of(query.form, aggregate)]
    wanted = check_choice("method", method, METHODS)
    rate = check_positive("epsilon", epsilon)
    query.cascades.check()
    with query.session() as session:
        truncation = Truncation(query, chosen, session)
        how = truncation.method(wanted)
        return truncation.study(_checked(thresholds, how), rate, how)
