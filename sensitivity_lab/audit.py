"""Is a claimed sensitivity right? The claim beside the truth, with the datasets that prove it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .arithmetic import Difference, Number
from .curves import as_relations, sensitivity_curves
from .errors import InputError, SensitivityViolation
from .implementation import implemented_sensitivity
from .implementation_result import ImplementedSensitivity
from .measure import difference_of, exact_answer, rationals_of
from .neighbors import as_relation, multiplicities_of, show
from .norms import check_norm
from .problem import check_sizes
from .queries import as_query
from .result import Sensitivity
from .search.engine import Options
from .tables import TableUniverse
from .universe import Universe, check_universe
from .verdicts import AuditReport, AuditRow, Evidence, check_claim


def audit(
    query: Any,
    claim: Any,
    universe: Universe,
    *,
    size: Any,
    neighbors: Any,
    distances: Any,
    norm: str = "L1",
    exactly: bool = False,
    implementation: bool = False,
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
    memory_limit: int = Options.memory_limit,
) -> AuditReport:
    """Compare a claimed sensitivity with the true one.

    The truth is the maximum of ``|f(x) - f(y)|`` over all datasets x of a size and all neighbors y
    of x at distance k, found by exact search; claim and truth are compared without rounding.

    Parameters
    ----------
    query : str, Query or callable
        See `global_sensitivity`. With `implementation`, code to run on ordered datasets: a `Fold`
        or a function, see `implemented_sensitivity`.
    claim : int, float, Fraction, Decimal, or callable
        The sensitivity that somebody claims, the same at each distance, or a function of the
        distance k, such as ``lambda k: k / 6``; not negative. A float stands for its exact value.
    universe : Universe
        What datasets are drawn from.
    size : int or iterable of int
        The number n of records of x; for several, the maximum over them.
    neighbors : Relation or {"bounded", "unbounded", "symmetric_difference"}
        Which datasets are neighbors; of a Relation, k is replaced by the distances.
    distances : int or iterable of int
        The Hamming distances k; a row of the report each.
    norm : {"L1", "L2", "Linf"}, default "L1"
        Of the difference of two answers that are vectors; for numbers, all three are one.
    exactly : bool, default False
        Whether k is the distance exactly, instead of at most.
    implementation : bool, default False
        Whether the query is audited as it is implemented, rounding or overflowing, on ordered
        datasets, where orders of the same records are at distance 0; by default as mathematics.
    method, n_jobs, progress, memory_limit
        See `global_sensitivity`; `method` is not for implementations.

    Returns
    -------
    AuditReport
        `verdict` of all rows, `sound`, `rows` with `claimed`, `exact`, `value`, `verdict`,
        `factor`, `slack_ulp` and `evidence` each; `to_frame()`, `plot()`, `raise_if_violated()`.

    Raises
    ------
    InputError
        If an argument is not acceptable, a claim included, or a distance is not feasible.
    NoEngineError, QueryError
        See `global_sensitivity`.

    Notes
    -----
    Costs one search for all distances together, as `sensitivity_curves` does; for an
    implementation, one per distance. What holds in the universe and at the sizes that were
    searched need not hold beyond: "violated" is final, "tight" and "loose" are about this universe.
    A claim up to 4 units in the last place of the truth away from it, below it too, is "tight up to
    rounding" and so sound; the row's `slack_ulp` says which side it is on.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 1])
    >>> sl.audit(
    ...     sl.Var(ddof=1), lambda k: k / 4, universe, size=4, neighbors="bounded", distances=[1, 2]
    ... )
    Audit of var_ddof_1, bounded: loose
      setting  bounded, at most k; size 4; domain of 2 values, unlimited copies; exact arithmetic
      k  claimed  truth               verdict
      1  0.25     1/4 = 0.25          tight
      2  0.5      1/3 = 0.3333333333  loose (claim / truth = 1.5)
      x  (0, 0, 1, 1)  ->  1/3
      y  (0, 0, 0, 0)  ->  0
    """
    relation = as_relation(neighbors, exactly=exactly)
    relations = as_relations(relation, distances, exactly)
    ks = [one.k for one in relations]
    claims = [_claim_at(claim, k) for k in ks]
    sizes = check_sizes(size, check_universe(universe))
    check_norm(norm)
    if not isinstance(implementation, bool):
        raise InputError(f"implementation must be True or False, got {implementation!r}")
    shared: dict[str, Any] = {
        "size": sizes,
        "n_jobs": n_jobs,
        "progress": progress,
        "memory_limit": memory_limit,
    }
    if implementation:
        if method != "auto":
            raise InputError(f"method goes with queries as mathematics, not code; got {method!r}")
        found = [implemented_sensitivity(query, universe, neighbors=r, **shared) for r in relations]
        name, how = found[0].query.name, "as implemented, on ordered datasets"
        rows = [_implemented(*of_k) for of_k in zip(ks, claims, found, strict=True)]
    else:
        asked = as_query(query)
        points = sensitivity_curves(
            universe, asked, distances=ks, neighbors=relation, norm=norm, method=method, **shared
        )
        name, how = asked.name, f"{asked.arithmetic} arithmetic"
        rows = [_mathematical(c, point) for c, (_, point) in zip(claims, points, strict=True)]
    if isinstance(rows[0].evidence.answer_x, tuple):
        how = f"{norm} norm; {how}"
    sized = str(sizes[0]) if len(sizes) == 1 else f"any of {show(sizes)}"
    setting = f"{relation.family}, {relation.meaning} k; size {sized}; {universe.extent}; {how}"
    return AuditReport(f"{name}, {relation.family}", tuple(rows), setting)


def assert_sensitivity(
    query: Any,
    claim: Any,
    universe: Universe,
    *,
    size: Any,
    neighbors: Any,
    distances: Any,
    tight: bool = False,
    **options: Any,
) -> AuditReport:
    """Raise unless a claimed sensitivity is right; for test suites.

    Parameters
    ----------
    query, claim, universe, size, neighbors, distances
        See `audit`.
    tight : bool, default False
        Whether a claim that is larger than the truth is refused as well.
    **options
        `norm`, `exactly`, `implementation`, `method`, `n_jobs`, `progress`, `memory_limit` of
        `audit`.

    Returns
    -------
    AuditReport
        Where nothing is refused.

    Raises
    ------
    SensitivityViolation
        An AssertionError: the claim is smaller than the truth, or larger if `tight`. The message
        holds both datasets and answers, to paste into a bug report.
    InputError, NoEngineError, QueryError
        See `audit`.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 20, 125])
    >>> assert_sensitivity("sum", 105, universe, size=2, neighbors="unbounded", distances=1)
    Traceback (most recent call last):
    sensitivity_lab.errors.SensitivityViolation: sum, unbounded: a sensitivity of 105 is claimed...
    x = [0, 125]  ->  f(x) = 125
    y = [0]       ->  f(y) = 0
    (unbounded, at most k; size 2; domain of 3 values, unlimited copies; exact arithmetic)
    """
    if not isinstance(tight, bool):
        raise InputError(f"tight must be True or False, got {tight!r}")
    report = audit(
        query, claim, universe, size=size, neighbors=neighbors, distances=distances, **options
    )
    report.raise_if_violated()
    if tight and report.verdict == "loose":
        raise SensitivityViolation(report.counterexample(report.decisive))
    return report


def _claim_at(claim: Any, k: int) -> Number:
    """Return what is claimed at a distance, or raise InputError."""
    if not callable(claim):
        return check_claim(claim, k)
    try:
        claimed = claim(k)
    except Exception as error:
        raise InputError(
            f"the claim, a function of k, raised {type(error).__name__} at distance {k}: {error}"
        ) from error
    return check_claim(claimed, k)


def _mathematical(claimed: Number, point: Sensitivity) -> AuditRow:
    """Set a claim beside the result of a search."""
    query, universe, seen = point.query, point.universe, point.witness
    answers: tuple[Any, Any] = (seen.query_x, seen.query_y)
    first, second = floats = tuple(map(rationals_of, answers))
    told = query.arithmetic == "float"
    if told and point.arithmetic == "exact":
        exact = difference_of(first, second, point.norm).exact
        told = exact is not None and exact == point.exact
    if not told:
        first, second = (
            exact_answer(query, universe, multiplicities_of(data, universe))
            for data in (seen.x, seen.y)
        )
        rounded = query.arithmetic == "exact" or floats != (first, second)
        answers = (first, second) if rounded and not query.root else answers
    truth = difference_of(first, second, point.norm, query.root)
    columns = tuple(universe.columns) if isinstance(universe, TableUniverse) else None
    evidence = Evidence(seen.x, seen.y, *answers, columns)
    return AuditRow(point.neighbors.k, claimed, truth, evidence)


def _implemented(k: int, claimed: Number, found: ImplementedSensitivity) -> AuditRow:
    """Set a claim beside what code does on ordered datasets."""
    seen = found.witness
    evidence = Evidence(seen.x, seen.y, seen.query_x, seen.query_y)
    truth = math.inf if found.exact is None else Difference(found.exact, Fraction(0))
    return AuditRow(k, claimed, truth, evidence)
