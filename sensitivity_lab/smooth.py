"""Smooth sensitivity: the largest local sensitivity of all datasets, damped by their distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .arithmetic import Difference
from .damping import Damped
from .errors import InputError, VerificationError
from .local import dataset_of
from .measure import difference_of, exact_answer
from .neighbors import (
    Bounded,
    Dataset,
    Multiplicities,
    Relation,
    Unbounded,
    as_relation,
    check_whole,
    show,
)
from .norms import check_norm
from .problem import Problem
from .queries import Query, as_query
from .result import Sensitivity
from .search import choose_smooth
from .search.engine import Finding, Options
from .search.smooth_engine import Rise, SmoothProblem
from .sensitivity import conclude
from .universe import Universe, check_universe

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SmoothSensitivity:
    """The smooth sensitivity of a query on one dataset x, with its proof.

    Attributes
    ----------
    value : float
        The smooth sensitivity, in the query's unit: the float nearest to the exact one.
    upper : float or None
        The smallest float that is not below the exact one. None for callers' functions.
    beta : Fraction
        The damping per unit of distance, exactly what was given.
    distance : int
        How far from x the dataset z is that attains the maximum.
    local_at_distance : tuple of Fraction or float
        Entry t is the largest local sensitivity of the datasets within distance t of x, for t =
        0, ..., T; larger distances than T cannot matter. Rational where the answers are, else the
        nearest float.
    x : tuple of records
        The dataset, ascending.
    local : Sensitivity
        The local sensitivity of z, with the neighbor y of z that attains it.
    status : {"exact"}
        "exact": no dataset gives more; the search left nothing out.
    method : str
        The name of the engine.
    arithmetic : {"exact", "float"}
        Whether candidates were compared exactly, or as the floats a function returned.
    datasets_evaluated : int
        On how many datasets the query was evaluated; 0 if the engine needs no evaluation.
    neighbors : Relation
        At distance 1.
    sizes : tuple of (int, int or None)
        The smallest and the largest size of the datasets z and y; None: no largest one.
    """

    value: float
    upper: float | None
    beta: Fraction
    distance: int
    local_at_distance: tuple[Fraction | float, ...]
    x: Dataset
    local: Sensitivity
    status: Literal["exact"]
    method: str
    arithmetic: Literal["exact", "float"]
    datasets_evaluated: int
    neighbors: Relation
    sizes: tuple[int, int | None]

    def __float__(self) -> float:
        return self.value

    @property
    def z(self) -> Dataset:
        """The dataset at `distance` from x whose damped local sensitivity is the largest."""
        return self.local.witness.x

    @property
    def y(self) -> Dataset:
        """The neighbor of z that attains the local sensitivity of z."""
        return self.local.witness.y

    @property
    def query(self) -> Query:
        """The query."""
        return self.local.query

    @property
    def universe(self) -> Universe:
        """What the datasets are drawn from."""
        return self.local.universe

    @property
    def size(self) -> int:
        """The number of records of x."""
        return len(self.x)

    def verify(self) -> None:
        """Recompute what the datasets x, z and y prove.

        Raises
        ------
        VerificationError
            If z and y are not what `local` says, z is not at `distance` from x, or the value or the
            upper bound is not that of z and y. That no other dataset gives more is the search's
            claim.
        """
        self.local.verify()
        x, z = (dataset_of(data, self.universe) for data in (self.x, self.z))
        apart = _distance(x, z, self.neighbors)
        if apart != self.distance:
            raise VerificationError(
                f"z = {show(self.z)} is at distance {apart} from x = {show(self.x)}, "
                f"stated is {self.distance}"
            )
        y = dataset_of(self.y, self.universe)
        of_z, of_y = (exact_answer(self.query, self.universe, data) for data in (z, y))
        gap = difference_of(of_z, of_y, self.local.norm, self.query.root)
        damped = Damped(gap, self.beta, self.distance)
        for name, stated, computed in (
            ("value", self.value, damped.nearest()),
            ("upper bound", self.upper, None if self.upper is None else damped.upper()),
        ):
            if stated != computed:
                raise VerificationError(
                    f"the {name} of {self.query.name} is stated as {stated}, but z and y give "
                    f"{computed}; z = {show(self.z)}, y = {show(self.y)}"
                )

    def to_frame(self, column: str = "records") -> pd.DataFrame:
        """Return a tidy DataFrame with two rows per distance t = 0, ..., T.

        Parameters
        ----------
        column : str, default "records"
            What to call the data.

        Returns
        -------
        pandas.DataFrame
            Columns: column, query, kind, neighbors, meaning, distance (t), size, sensitivity. Of
            kind "local within k" it is the largest local sensitivity within distance t of x, of
            kind "smooth" that times exp(-beta t), whose maximum is the smooth sensitivity.
        """
        largest = np.array([float(gap) for gap in self.local_at_distance])
        distances = np.arange(len(largest))
        damped = largest * np.exp(-float(self.beta) * distances)
        damped[self.distance] = self.value
        shared = {
            "neighbors": self.neighbors.family,
            "meaning": "at most",
            "distance": distances,
            "size": self.size,
        }
        return pd.concat(
            [
                pd.DataFrame(
                    {"column": column, "query": self.query.name, "kind": kind, **shared}
                    | {"sensitivity": values}
                )
                for kind, values in (("local within k", largest), ("smooth", damped))
            ],
            ignore_index=True,
        )

    def plot(self, column: str = "records", **options: Any) -> Figure:
        """Draw the largest local sensitivity and its damped form against the distance from x.

        Parameters
        ----------
        column : str, default "records"
            What to call the data.
        **options
            Of `sensitivity_lab.plotting.plot_curves`, such as `units`, `title` and `ax`.
        """
        from .plotting import plot_curves

        figure: Figure = plot_curves(self.to_frame(column), **options)
        return figure

    def _facts(self) -> list[tuple[str, str]]:
        """Return what both reprs tell, in order."""
        name, witness = self.query.name, self.local.witness
        gap = self.local_at_distance[self.distance]
        lowest, highest = self.sizes
        if highest is None:
            sizes = f"; z and y of size {lowest} or more"
        else:
            sizes = f"; z and y of size {lowest} to {highest}" if lowest < highest else ""
        evaluated = "no dataset needed evaluation"
        if self.datasets_evaluated:
            evaluated = f"{self.datasets_evaluated:,} datasets evaluated"
        short = isinstance(gap, Fraction) and len(str(gap)) <= 24
        times = f"{gap if short else format(float(gap), '.10g')} * exp(-{_short(self.beta)} * "
        return [
            ("value", f"{times}{self.distance})"),
            ("neighbors", f"{self.neighbors}; size {self.size}{sizes}; {self.universe.extent}"),
            ("dataset x", show(self.x)),
            ("z", f"{show(self.z)}  {name} {_number(witness.query_x)}, {self.distance} from x"),
            ("y", f"{show(self.y)}  {name} {_number(witness.query_y)}, a neighbor of z"),
            ("method", f"{self.method}, {self.arithmetic} arithmetic, {evaluated}"),
        ]

    @property
    def _title(self) -> str:
        how = "exact" if self.arithmetic == "exact" else "exact search over float answers"
        norm = f", {self.local.norm} norm" if isinstance(self.local.witness.query_x, tuple) else ""
        return f"Smooth sensitivity of {self.query.name}{norm}: {self.value:.10g} ({how})"

    def __repr__(self) -> str:
        lines = [f"  {fact:<9}  {text}" for fact, text in self._facts()]
        return "\n".join([self._title, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(fact)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for fact, text in self._facts()
        )
        return f"<table><caption>{escape(self._title)}</caption><tbody>{rows}</tbody></table>"


def smooth_sensitivity(
    dataset: Any,
    universe: Universe,
    query: Any,
    *,
    beta: Any,
    neighbors: Any = Bounded(1),  # noqa: B008 - frozen
    sizes: Any = None,
    farthest: int = 0,
    norm: str = "L1",
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    memory_limit: int = Options.memory_limit,
) -> SmoothSensitivity:
    """Compute the smooth sensitivity of a query on one dataset.

    The maximum of ``LS(z) * exp(-beta * d(x, z))`` over all datasets z, where LS(z) is the local
    sensitivity of z, the largest change of the answer from z to one of its neighbors, and d the
    distance of the neighbor relation: the number of records that are replaced, or that are added
    and removed.

    Parameters
    ----------
    dataset : iterable of numbers, shape (n,)
        x, a sub-multiset of the universe, in any order.
    universe : Universe
        What datasets are drawn from.
    query : str, Query or callable
        See `global_sensitivity`.
    beta : int, float, Fraction or Decimal
        The damping per unit of distance: above 0, at most 1e6.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}, default Bounded(1)
        The relation, at distance 1. Bounded: z and y have the size of x. Unbounded and symmetric
        difference, which are one relation at distance 1: see `sizes`.
    sizes : tuple of (int, int), optional
        For relations that add and remove: the smallest and the largest size of z and y. By default
        all sizes for which the query is defined, up to the whole universe.
    farthest : int, default 0
        Continue `local_at_distance` at least up to this distance.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors; for numbers, all three are one.
    method : {"auto", "quantiles", "enumeration"}, default "auto"
        "quantiles" takes median, min, max and percentiles under the bounded relation; "enumeration"
        everything, up to 200,000 datasets.
    n_jobs : int, optional
        Worker processes for evaluating the query, as in joblib.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal and past a second.
    memory_limit : int, default 4 GiB
        The largest number of bytes that enumeration may plan to use.

    Returns
    -------
    SmoothSensitivity
        The value with x, z and y; `float(result)` is the value, in the query's unit.

    Raises
    ------
    InputError
        If an argument is not acceptable, or x is not a dataset of the universe.
    NoEngineError
        If no engine takes the problem; a TooLargeError if it is too large, with the numbers.
    QueryError
        If a caller's function raises or returns no finite number; names the dataset.

    Notes
    -----
    Exact: local sensitivities are rationals or differences of roots, exp(-beta t) is bracketed by
    decimals until every comparison, and the rounding of the value, is decided. Quantiles need
    O(T**2) steps, T the last distance that can matter (at most n). For even n the median is the
    mean of two records, and the textbook's formula, that of the lower median, does not hold.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, Smooth sensitivity and sampling in private data analysis,
    STOC 2007: definition 2.2, and section 3.1 for the median of an odd number of records.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 0.25, 0.5, 0.75, 1])
    >>> sl.smooth_sensitivity([0.25] * 4, universe, "median", beta=1)
    Smooth sensitivity of median: 0.1379547904 (exact)
      value      3/8 * exp(-1 * 1)
      neighbors  bounded, at most 1; size 4; domain of 5 values, unlimited copies
      dataset x  (0.25, 0.25, 0.25, 0.25)
      z          (0.25, 0.25, 0.25, 1)  median 0.25, 1 from x
      y          (0.25, 0.25, 1, 1)  median 0.625, a neighbor of z
      method     quantiles, exact arithmetic, no dataset needed evaluation
    """
    x = dataset_of(dataset, check_universe(universe))
    relation = _check_relation(neighbors)
    asked = as_query(query)
    size = int(x.sum())
    replace = isinstance(relation, Bounded)
    if replace:
        Problem(universe, (asked,), (relation,), (size,)).checked()
        if sizes is not None:
            raise InputError(f"sizes is for relations that add and remove, not {relation}")
        limits: tuple[int, float] = (size, size)
    else:
        limits = _check_sizes(sizes, size, universe, asked)
    problem = SmoothProblem(universe, asked, x, replace, limits, check_norm(norm))
    damping = _check_beta(beta)
    check_whole("farthest", farthest, "a distance, at least 0", least=0)
    options = Options(n_jobs, progress, memory_limit)
    engine = choose_smooth(problem, method, options)
    found = engine.solve(problem, options, _Enough(damping, farthest))
    best = _largest(found.rises, damping)
    damped = Damped(best.gap, damping, best.distance)
    exact = asked.arithmetic == "exact"
    finding = Finding(*best.pair(), None, found.datasets_evaluated)
    return SmoothSensitivity(
        value=damped.nearest(),
        upper=damped.upper() if exact else None,
        beta=damping,
        distance=best.distance,
        local_at_distance=_at_every_distance(found.rises, max(found.farthest, farthest)),
        x=universe.dataset(x),
        local=_local(problem, relation, engine.name, finding),
        status="exact",
        method=engine.name,
        arithmetic=asked.arithmetic,
        datasets_evaluated=found.datasets_evaluated,
        neighbors=relation,
        sizes=(limits[0], None if limits[1] == math.inf else int(limits[1])),
    )


def _check_relation(neighbors: Any) -> Relation:
    relation = as_relation(neighbors)
    if relation.k != 1 or getattr(relation, "direction", "both") != "both":
        raise InputError(
            f"smooth sensitivity is defined for neighbors at distance 1 in both directions, got "
            f"{relation}; use Bounded(1), Unbounded(1) or SymmetricDifference(1)"
        )
    return relation


def _check_beta(beta: Any) -> Fraction:
    given = beta.item() if isinstance(beta, np.generic) else beta
    number = isinstance(given, (int, float, Fraction, Decimal)) and not isinstance(given, bool)
    if not number or not 0 < given <= 10**6:
        raise InputError(f"beta must be a number above 0, at most 1e6, got {beta!r}")
    return Fraction(given)


def _check_sizes(sizes: Any, size: int, universe: Universe, query: Query) -> tuple[int, float]:
    """Return the smallest and the largest size of datasets, or raise InputError."""
    try:
        smallest, largest = (query.least_size, universe.size) if sizes is None else sizes
    except (TypeError, ValueError):
        raise InputError(f"sizes must be a pair of whole numbers, got {sizes!r}") from None
    if sizes is not None:
        for one in (smallest, largest):
            check_whole("a size", one, "a number of records, at least 1")
    if not query.least_size <= smallest <= size <= largest <= universe.size or smallest == largest:
        raise InputError(
            f"sizes must be two sizes from {query.least_size} to {universe.size} with the size of "
            f"x, {size}, between them, got ({smallest}, {largest})"
        )
    return int(smallest), largest


class _Enough:
    """Tells when no larger distance can matter: a bound of all gaps, damped, is below the best."""

    def __init__(self, beta: Fraction, farthest: int) -> None:
        self.beta = float(beta)
        self.farthest = farthest
        self.best = -math.inf

    def __call__(self, rise: Rise, distance: int, bound: Difference) -> bool:
        self.best = max(self.best, _log(rise.gap) - self.beta * rise.distance)
        most = _log(bound) - self.beta * (distance + 1)
        return distance >= self.farthest and most < self.best - _margin(most)


def _log(gap: Difference) -> float:
    """Return the natural logarithm; -inf of 0."""
    low, _ = gap.bracket()
    return math.log(low.numerator) - math.log(low.denominator) if low else -math.inf


def _margin(exponent: float) -> float:
    """Return more than what floats can be wrong by in such an exponent."""
    return 1e-9 * (1 + abs(exponent)) if exponent > -math.inf else 0.0


def _largest(rises: tuple[Rise, ...], beta: Fraction) -> Rise:
    """Return the rise with the largest damped gap; floats only leave out what cannot be it."""
    logs = [_log(rise.gap) - float(beta) * rise.distance for rise in rises]
    top = max(logs)
    near = [rise for rise, log in zip(rises, logs, strict=True) if log >= top - _margin(top)]
    return max(near, key=lambda rise: Damped(rise.gap, beta, rise.distance))


def _at_every_distance(rises: tuple[Rise, ...], farthest: int) -> tuple[Fraction | float, ...]:
    """Return the largest gap within every distance."""
    found: list[Fraction | float] = []
    for rise, after in zip(rises, (*rises[1:], None), strict=True):
        gap = rise.gap.exact
        stop = farthest + 1 if after is None else after.distance
        found += [rise.gap.nearest() if gap is None else gap] * (stop - rise.distance)
    return tuple(found)


def _local(
    problem: SmoothProblem, relation: Relation, method: str, finding: Finding
) -> Sensitivity:
    """Return the local sensitivity of z; one way only where z cannot go the other way."""
    size = int(finding.x.sum())
    if not problem.replace and size in problem.sizes:
        relation = Unbounded(1, direction="add" if finding.y.sum() > size else "remove")
    query = problem.query
    of_z = Problem(problem.universe, (query,), (relation,), (size,), problem.norm)
    return conclude(of_z, query, relation, method, finding, kind="local")


def _distance(x: Multiplicities, z: Multiplicities, relation: Relation) -> int:
    """Return how far two datasets are apart."""
    if isinstance(relation, Bounded):
        return int(np.maximum(z - x, 0).sum())
    return int(np.abs(z - x).sum())


def _short(value: Fraction) -> str:
    """Return a rational as it is, or as a float if that is shorter to read."""
    return str(value) if value.denominator < 1000 else f"{float(value):.10g}"


def _number(answer: Any) -> str:
    if not isinstance(answer, tuple):
        return f"{answer:.10g}"
    return show([f"{number:.10g}" for number in answer], "numbers")
