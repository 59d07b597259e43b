"""Sensitivities of sequences that are known in closed form; `known_sensitivity` has the proofs."""

from __future__ import annotations

from fractions import Fraction

from sensitivity_lab.exact.difference import rational_of
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.spaces.closed_form import ClosedForm

from .relations import Hamming, InsertDelete
from .universe import SequenceUniverse


def known(
    query: str, universe: SequenceUniverse, neighbors: InsertDelete | Hamming, norm: Norm
) -> ClosedForm | None:
    """Return the closed form of a query over all sequences of 0 to L entries.

    Raises
    ------
    InputError
        If the query needs numbers, and a value is not a number.
    """
    if query in ("sum", "path_length"):
        universe._numbers(query)
    if universe.shortest or neighbors.k > universe.longest:
        return None
    v, most, k = len(universe.values), universe.longest, neighbors.k
    detours = min(2 * k, most - 1)
    if query == "changes":
        return ClosedForm("min(2 k, L - 1)", detours if v > 1 else 0)
    if query == "path_length":
        return ClosedForm("min(2 k, L - 1) R", detours * _range(universe))
    if isinstance(neighbors, InsertDelete):
        return _of_insertions(query, universe, k)
    return _of_replacements(query, universe, k, norm)


def _of_insertions(query: str, universe: SequenceUniverse, k: int) -> ClosedForm | None:
    v, most = len(universe.values), universe.longest
    if query in ("length", "counts"):
        return ClosedForm("k", k)
    if query == "sum":
        return ClosedForm("k M", k * max(map(abs, _numbers(universe))))
    if query == "distinct":
        return ClosedForm("min(k, v)", min(k, v))
    if k > 1:
        return None
    if v == 1:
        return ClosedForm("1", 1)
    return ClosedForm("max(1, floor((L - 1) / 2))", max(1, (most - 1) // 2))


def _of_replacements(
    query: str, universe: SequenceUniverse, k: int, norm: Norm
) -> ClosedForm | None:
    v, most = len(universe.values), universe.longest
    if query == "length" or (v == 1 and query == "counts"):
        return ClosedForm("0", 0)
    if query == "sum":
        return ClosedForm("k R", k * _range(universe))
    if query == "distinct":
        return ClosedForm("min(k, v - 1, L - 1)", min(k, v - 1, most - 1))
    if query == "counts":
        by_norm = {
            "L1": ClosedForm("2 k", 2 * k),
            "L2": ClosedForm("sqrt(2) k", 2 * k * k, root=True),
            "Linf": ClosedForm("k", k),
        }
        return by_norm[norm]
    if k > 1:
        return None
    return ClosedForm("0", 0) if v == 1 or most == 1 else ClosedForm("ceil(L / 2)", (most + 1) // 2)


def _numbers(universe: SequenceUniverse) -> list[Fraction]:
    return [rational_of(one) for one in universe._numbers("sum")]


def _range(universe: SequenceUniverse) -> Fraction:
    """R, the largest value less the smallest one."""
    return max(_numbers(universe)) - min(_numbers(universe))
