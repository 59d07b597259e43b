"""The truth of a claim by an exact search: about a query over a universe, and of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.calls.curves import as_relations, sensitivity_curves
from sensitivity_lab.checks import check_norm, check_text, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.exact.roots import Distance
from sensitivity_lab.pipelines import PairDistance, Root, Transformation, measured_stability
from sensitivity_lab.pipelines.measuring import MeasuredStability
from sensitivity_lab.problem import check_sizes
from sensitivity_lab.queries import as_query
from sensitivity_lab.results.reprs import show_sizes
from sensitivity_lab.results.sensitivity_result import Sensitivity
from sensitivity_lab.results.witness import difference_of, exact_answer, rationals_of
from sensitivity_lab.search.engine import Run, check_run
from sensitivity_lab.universes.relations import Relation, as_relation, multiplicities_of
from sensitivity_lab.universes.universe import (
    AnyUniverse,
    TableUniverse,
    check_any_universe,
    finite,
)

from .claims import check_tolerance, claim_at, holds_float, needs_size
from .question import check_several, name_of, subject_named
from .report import AuditReport
from .row import AuditRow, Evidence


def audit_query(
    universe: AnyUniverse,
    query: Any,
    claim: Any,
    *,
    size: Any,
    neighbors: Any,
    distances: Any,
    norm: Any,
    exactly: Any,
    tolerance_ulps: Any,
    subject: str | None,
    method: Any,
    n_jobs: int | None,
    progress: bool | None,
    run: Run,
) -> AuditReport:
    """Compare a claim with the largest difference of a query's answers on neighbors.

    The arguments are those of `audit`.
    """
    relation = as_relation(neighbors, exactly=exactly)
    relations = as_relations(relation, relation.k if distances is None else distances, exactly)
    notes: tuple[str, ...] = ()
    if isinstance(universe, list | tuple):
        notes = (
            f"the list has the records of datasets, each of them once; for all datasets of these "
            f"values, pass sl.Universe.from_domain({shown(universe)})",
        )
    universe = check_any_universe(universe)
    if subject is not None:
        check_text("subject", subject, "a text")
    check_norm(norm)
    run = check_run(run)
    sizes = _check_audited_sizes(size, relations, universe)
    tolerance = check_tolerance(tolerance_ulps)
    # A claim that is a function of the size is compared with the truth at each size.
    together = [(n,) for n in sizes] if needs_size(claim) else [tuple(sizes)]
    claims = [claim_at(claim, one.k, ns[0]) for ns in together for one in relations]
    own_name = subject_named(subject or _name_of_query(query))
    query = as_query(query)
    options = {"norm": norm, "method": method, "n_jobs": n_jobs, "progress": progress, "run": run}
    bar = progress if len(together) > 1 else False
    given, least = [relation.k for relation in relations], query.least_size
    # One search finds the truths at all distances.
    found = [
        _measured(ns, point)
        for ns in running.tracked(together, unit="sizes", progress=bar)
        for _, point in sensitivity_curves(
            universe, query, size=ns, distances=given, neighbors=relation, **options
        )
    ]
    rows = [
        _row(claim, claimed, one, relations[given.index(one.distance)], universe, tolerance, least)
        for claimed, one in zip(claims, found, strict=True)
    ]
    rows.sort(key=lambda row: given.index(int(row.distance)))
    how = f"{query.arithmetic} arithmetic"
    if isinstance(rows[0].evidence.answer_x, tuple):
        how = f"{norm} norm; {how}"
    farthest = max(relations, key=lambda one: one.k)
    setting = f"{_setting(farthest, sizes, universe, least)}; {how}"
    subject = f"{own_name or query.name}, {relation.family}"
    return AuditReport(subject, tuple(rows), setting, notes)


def _setting(relation: Relation, sizes: Sequence[int], universe: AnyUniverse, least: int) -> str:
    """Return which datasets are compared, in words: of all distances, by the largest."""
    size = show_sizes(sizes)
    if not relation.keeps_size:
        fewer, more = relation.drift
        smallest, largest = max(least, sizes[0] + fewer), min(sizes[-1] + more, universe.size)
        size += f" of x, {smallest} to {largest} of y"
    return f"{relation.family}, {relation.meaning} k; size {size}; {universe.extent}"


def _row(
    claim: Any,
    claimed: Number,
    found: _Measured,
    relation: Relation,
    universe: AnyUniverse,
    tolerance: Number,
    least: int,
) -> AuditRow:
    """Compare what is claimed at the size and the distance of a truth, `claimed`, with the truth.

    Where the claim depends on the size, the smaller of the claims at both sizes counts.
    """
    sized = needs_size(claim)
    at = _at_two_sizes(claim, found, relation, universe, least) if sized else {}
    of_pair = [at[size] for size in at if size in found.sizes_of_pair]
    return AuditRow(
        found.distance,
        min([claimed, *of_pair]),
        found.truth,
        found.evidence,
        found.sizes[0] if sized else None,
        claims={f"at n = {size}": at[size] for size in at} or None,
        rounded=found.rounded,
        tolerance_ulps=tolerance,
    )


def _at_two_sizes(
    claim: Any, found: _Measured, relation: Relation, universe: AnyUniverse, least: int
) -> dict[int, Number]:
    """Return the claims at the sizes of x and of a neighbor; empty if all claims are equal."""
    [n] = found.sizes
    changes = relation.changes(n, universe, least)
    sizes = {n - removed + added for removed, added in changes} | {n}
    claims = {size: claim_at(claim, relation.k, size) for size in sorted(sizes)}
    others = [size for size in claims if claims[size] != claims[n]]
    if not others:
        return {}
    # The size of the witness's y, if the claim differs there.
    other = next((size for size in others if size in found.sizes_of_pair), others[0])
    return {n: claims[n], other: claims[other]}


def _name_of_query(query: Any) -> str:
    """Return the name of a query that has none of its own, or nothing.

    Examples
    --------
    >>> _name_of_query("sum"), _name_of_query(partial(sorted, reverse=True))
    ('', 'sorted')
    """
    nameless = isinstance(query, partial) or getattr(query, "__name__", "") == "<lambda>"
    return name_of(query) if nameless else ""


def _check_audited_sizes(
    size: Any, relations: Sequence[Relation], universe: AnyUniverse
) -> tuple[int, ...]:
    """Return sizes of x at which every relation allows neighbors, or raise InputError.

    The message says which size has none, and why.
    """
    sizes = check_sizes(size, universe)
    for n in sizes:
        for relation in relations:
            try:
                relation.check_feasible((n,), universe)
            except InputError as error:
                raise InputError(
                    f"size {n} has no such neighbors, so leave it out: {error}"
                ) from None
    return sizes


@dataclass(frozen=True)
class _Measured:
    """The true sensitivity at one distance, over datasets x of some sizes."""

    sizes: tuple[int, ...]
    distance: int
    truth: Difference | float
    evidence: Evidence
    rounded: bool

    @property
    def sizes_of_pair(self) -> tuple[int, int]:
        """The sizes of the two datasets."""
        return len(self.evidence.x), len(self.evidence.y)


def _measured(sizes: tuple[int, ...], point: Sensitivity) -> _Measured:
    """Return the truth of a search, measured again on its witness."""
    query, seen = point.query, point.witness
    universe = finite(point.universe, (*seen.x, *seen.y))
    answers: tuple[Any, Any] = (seen.query_x, seen.query_y)
    first, second = floats = tuple(map(rationals_of, answers))
    told = query.arithmetic == "float"
    if told and point.arithmetic == "exact":
        exact = difference_of(first, second, point.norm).exact
        told = exact is not None and exact == point.exact
    if not told:  # the answers of the witness may be rounded
        first, second = (
            exact_answer(query, universe, multiplicities_of(data, universe))
            for data in (seen.x, seen.y)
        )
        differ = query.arithmetic == "exact" or floats != (first, second)
        answers = (first, second) if differ and not query.root else answers
    rounded = point.arithmetic == "float" and holds_float(answers)
    truth = difference_of(first, second, point.norm, query.root)
    columns = tuple(universe.columns) if isinstance(universe, TableUniverse) else None
    evidence = Evidence(seen.x, seen.y, *answers, columns)
    return _Measured(sizes, point.neighbors.k, truth, evidence, rounded)


def audit_pipeline(
    transformation: Transformation,
    universe: Any,
    claim: Any,
    *,
    size: Any,
    distances: Any,
    tolerance_ulps: Any,
    n_jobs: int | None,
    progress: bool | None,
) -> AuditReport:
    """Compare the stability map of a transformation with its measured stability.

    The truth is the largest distance of two outputs over all inputs from a small universe that are
    at most d_in apart, found by exhaustive search. With two tables, both change by this much at the
    same time. Without a claim, it is the map of the transformation, where an irrational value such
    as sqrt(2) counts as the smallest float above it.
    """
    limits = check_several(
        "distances", 1 if distances is None else distances, "a distance, at least 1", 1
    )
    tolerance = check_tolerance(tolerance_ulps)
    claims = [None if claim is None else claim_at(claim, d, name="d_in") for d in limits]
    metric = transformation.input_metric
    two = isinstance(metric, PairDistance)
    options: dict[str, Any] = {} if size is None else {"sizes": size}
    found = [
        measured_stability(
            transformation, universe, (d, d) if two else d, n_jobs=n_jobs, progress=progress,
            **options,
        )
        for d in limits
    ]  # fmt: skip
    rows = tuple(
        _row_of_stability(distance, one, one.bound if claimed is None else claimed, tolerance)
        for distance, one, claimed in zip(limits, found, claims, strict=True)
    )
    drawn = " and ".join(map(str, found[0].rows))
    setting = f"at most d_in: {metric}; universe of {drawn} rows; mathematics"
    return AuditReport(transformation.name, rows, setting)


def _row_of_stability(
    distance: int, found: MeasuredStability, claimed: Any, tolerance: Number
) -> AuditRow:
    witness = found.witness
    evidence = Evidence(witness.x, witness.y, witness.output_x, witness.output_y)
    return AuditRow(distance, claimed, _exact(found.measured), evidence, tolerance_ulps=tolerance)


def _exact(measured: Distance) -> Difference | float:
    """Return a distance as a difference from 0; only infinity is a float."""
    if isinstance(measured, Root):
        return Difference(Fraction(measured.square), Fraction(0), root=True)
    if isinstance(measured, float):
        return measured
    return Difference(Fraction(measured), Fraction(0))
