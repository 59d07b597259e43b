"""Truncation: what a bound on each person's share of the answer cuts, and what noise then costs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pandas as pd

from sensitivity_lab.checks import check_positive, listed, names_of, number_text, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import nearest, round_up
from sensitivity_lab.noise import laplace_scale
from sensitivity_lab.noise.clipping import expected_error
from sensitivity_lab.results.reprs import Tabled

from .answers import aggregate_of, weigh
from .impacts import as_whole, units_of
from .join_columns import one_person_per_result
from .linear_program import tolerance, truncated_total
from .normal_form import Aggregate, NormalForm
from .read_query import ReadQuery
from .statements import statement
from .value_ranges import per_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_THRESHOLDS = 100


@dataclass(frozen=True, repr=False)
class TruncationStudy(Tabled):
    """What each bound on a person's share of the answer cuts, and what noise costs. It is private.

    Attributes
    ----------
    aggregate : str
        The number that is truncated.
    epsilon : Fraction
        The privacy loss of a release.
    persons : int
        The number of persons with results.
    points : tuple of TruncationPoint
        One per threshold, in their order.

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
    epsilon: Fraction
    persons: int
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
            If `failure` is no number above 0 and below 1.

        References
        ----------
        Dong, Fang, Yi, Tao, Machanavajjhala (2022), section 5; here for any public thresholds.
        """
        chance = check_positive("failure", failure)
        if chance >= 1:
            raise InputError(f"failure must be a number above 0 and below 1, got {shown(failure)}")
        rounds = len(self.points)
        taken = rounds * math.log(rounds / chance) / float(self.epsilon)
        return min(point.cut + 2 * taken * point.sensitivity for point in self.points)

    @property
    def _title(self) -> str:
        return (
            f"Truncation of {self.aggregate} by R2T's linear program, {self.persons:,} persons, "
            f"Laplace noise for epsilon {number_text(self.epsilon)}; private: do not choose a "
            "threshold by these errors"
        )

    def _table(self) -> pd.DataFrame:
        return self.to_frame().drop(columns="answer").set_index("threshold")


@dataclass(frozen=True)
class TruncationPoint:
    """One threshold. Whatever depends on the data is private: all but `sensitivity` and `scale`.

    Attributes
    ----------
    threshold : number
        tau, the most of the answer that one person makes.
    cut : float
        How far truncation lowers the answer.
    persons_cut : int
        The persons who lose results.
    sensitivity : float
        How much one person, added or removed with all rows, can change the truncated answer, with
        what its solver may be off. A person who is replaced can change twice as much.
    scale : float
        The scale of its Laplace noise.
    error : float
        The expected distance of the noisy truncated answer from the answer without truncation.
    answer : Fraction
        The truncated answer, exactly. As floats, two answers can be farther apart than
        `sensitivity`: add noise to whole numbers, as `Query.plan` does.
    """

    threshold: int | float
    cut: float
    persons_cut: int
    sensitivity: float
    scale: float
    error: float
    answer: Fraction


def truncation_study(
    query: ReadQuery, thresholds: Any, *, epsilon: Any, aggregate: Any
) -> TruncationStudy:
    """Return what each threshold cuts and what noise costs; see `Query.truncation`.

    R2T's linear program is solved for each threshold, over results with the same persons.
    """
    form = query.form
    chosen = form.aggregates[aggregate_of(form, aggregate)]
    rate, taus = check_positive("epsilon", epsilon), _checked(thresholds)
    query.cascades.check()
    query.check_public()
    _check_one_number(form, chosen)
    with query.session() as session:
        weighing = weigh(form, chosen, session)
        who = (
            f"LIST_SORT(LIST_DISTINCT([{', '.join(units_of(form, 'person', query.null_person))}]))"
        )
        select = [who, f"SUM({weighing.row})", weighing.is_rough]
        value = chosen.value
        counted = [] if value is None else [f"{value.sql} IS NOT NULL"]
        found = session.rows(statement(form, select, where=counted, group_by=["1"]))
    alone, numbers = one_person_per_result(form), dict[Any, int]()
    persons, values = [], []
    for owners, total, is_rough in found:
        weighing.check(is_rough)
        persons.append([numbers.setdefault(one, len(numbers)) for one in owners])
        values.append(as_whole(total))
    full, below = sum(values), weighing.denominator
    points = []
    for tau in taus:
        optimum = truncated_total(persons, values, tau * below)
        # The choice that is found is below the optimum, by as much as the tolerance at most. Where
        # every result is one person's, in every database, it is the optimum.
        sensitivity = tau if alone else tau + tolerance(tau)
        bias = nearest((full - optimum.lower) / below)
        scale = laplace_scale(sensitivity, rate)
        points.append(
            TruncationPoint(
                threshold=int(tau) if tau.denominator == 1 else nearest(tau),
                cut=bias,
                persons_cut=optimum.cut,
                sensitivity=round_up(sensitivity),
                scale=scale,
                error=expected_error(bias, scale),
                answer=optimum.lower / below,
            )
        )
    return TruncationStudy(chosen.name, rate, len(numbers), tuple(points))


def _check_one_number(form: NormalForm, aggregate: Aggregate) -> None:
    """Raise InputError for an answer that the linear program does not make stable."""
    if aggregate.kind == "distinct":
        raise InputError(
            f"truncation: {aggregate.name} counts distinct values, which is not truncated; plan a "
            "release: query.plan(...)"
        )
    if form.groups or check_cuttable(form, aggregate, "truncation")[0] < 0:
        raise InputError(
            "truncation: the linear program needs one number and values of at least 0: with groups "
            "only its total is stable, and optima differ in how they share it out. Leave out GROUP "
            "BY (a query of each group, with WHERE and a share of epsilon, is private) and give "
            "bounds of at least 0; or plan a release: query.plan(...)"
        )


def check_cuttable(form: NormalForm, aggregate: Aggregate, what: str) -> tuple[Fraction, Fraction]:
    """Return the least and the largest number that a result adds, or raise InputError."""
    ends = per_result(form, aggregate)
    if ends is None:
        columns = aggregate.value.value_columns - set(form.bounds) if aggregate.value else ()
        open_ = [
            f"{form.source(one.alias).table.name}.{one.name}" for one in sorted(columns, key=str)
        ]
        raise InputError(
            f"{what}: {aggregate.name} adds up values without bounds; "
            + (
                f"give public bounds of {names_of(open_)}, such as bounds={{{open_[0]!r}: (1, 50)}}"
                if open_
                else "write it with +, -, *, CASE, COALESCE and CAST alone: value * 0.5 for "
                "value / 2"
            )
        )
    if not form.monotone:
        raise InputError(
            f"{what}: a LEFT JOIN to a private table is not supported, because a person can take "
            "results away from others; use an inner join"
        )
    return ends


def _checked(thresholds: Any) -> list[Fraction]:
    """Return thresholds, exactly as they came."""
    given: Iterable[Any] = listed(thresholds, "thresholds must be a list of numbers above 0")
    found = [check_positive("thresholds", one) for one in given]
    if not 0 < len(found) <= _MOST_THRESHOLDS:
        raise InputError(
            f"thresholds must be a list of 1 to {_MOST_THRESHOLDS} numbers, got {len(found)}"
        )
    return found
