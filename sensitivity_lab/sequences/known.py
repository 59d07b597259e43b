"""Sensitivities of sequences that are known in closed form, with their proofs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_choice, check_kind
from sensitivity_lab.exact.difference import rational_of
from sensitivity_lab.graphs.known import ClosedForm
from sensitivity_lab.metrics.norms import Norm, check_norm

from .queries import QUERIES, numbers_of_values
from .relations import InsertDelete, SequenceRelation
from .universe import SequenceUniverse


def known_sensitivity(
    query: str, universe: SequenceUniverse, *, neighbors: SequenceRelation, norm: Norm = "L1"
) -> ClosedForm | None:
    r"""Return the global sensitivity over all sequences of 0 to L entries, where one is known.

    Parameters
    ----------
    query : {"length", "sum", "distinct", "counts", "changes", "path_length", "longest_run"}
        What is asked of a sequence.
    universe : SequenceUniverse
        With v values and ``shortest=0``.
    neighbors : InsertDelete or Hamming
        With k at most L.
    norm : {"L1", "L2", "Linf"}, default "L1"
        For the counts.

    Returns
    -------
    ClosedForm or None
        None where no formula is proved here: for the longest run under several edits, and where k
        is above L or `shortest` above 0.

    Raises
    ------
    InputError
        If an argument is not as said.

    Notes
    -----
    An edit is one insertion, one deletion or one replacement; k of them move an answer by at most k
    times as far. M is the largest absolute value, R the largest less the smallest value. Every
    bound is attained by the pair that is named; with v = 1, changes and path length are 0.

    Entries inserted or deleted, at most k:

    - length: k. From no entry to k.
    - sum: k M. From no entry to k times the value of absolute value M.
    - distinct: min(k, v). One entry more is at most one value more, of v. From no entry to
      different ones.
    - counts: k in all norms. From no entry to k equal ones.
    - changes: min(2 k, L - 1). A new entry between two has a change at either side, and L entries
      have at most L - 1 changes. From equal entries to every other one another one.
    - path length: min(2 k, L - 1) R, the same pair with the values that are R apart. Each step is
      at most R, and a detour is two steps.
    - longest run, k = 1: max(1, floor((L - 1) / 2)); 1 for v = 1. An entry makes a run longer by at
      most one. It splits a run of at most L - 1 into two, of which the longer one has at least half
      the entries.

    Entries replaced, at most k:

    - length: 0.
    - sum: k R. From k times the smallest value to k times the largest one.
    - distinct: min(k, v - 1, L - 1). There are at least 1 and at most min(v, L) values. From equal
      entries to different ones.
    - counts: 2 k in L1, sqrt(2) k in L2, k in Linf, since k entries leave a value for another one;
      0 for v = 1.
    - changes: min(2 k, L - 1); path length: min(2 k, L - 1) R. As above.
    - longest run, k = 1: ceil(L / 2); 0 for v = 1 or L = 1. Replacing an entry of a run of r <= L
      leaves r - 1 entries at its two sides, so at least ceil((r - 1) / 2) at one of them.

    Examples
    --------
    >>> from sensitivity_lab import sequences
    >>> kilometers = sequences.SequenceUniverse([0, 3, 10], longest=6)
    >>> print(
    ...     sequences.known_sensitivity(
    ...         "path_length", kilometers, neighbors=sequences.InsertDelete()
    ...     )
    ... )
    min(2 k, L - 1) R = 20
    """
    check_choice("query", query, tuple(QUERIES))
    check_kind("universe", universe, SequenceUniverse, "a SequenceUniverse")
    check_kind("neighbors", neighbors, SequenceRelation, "InsertDelete(...) or Hamming(...)")
    check_norm(norm)
    if query in ("sum", "path_length"):
        numbers_of_values(universe, query)
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
    return [rational_of(one) for one in numbers_of_values(universe, "sum")]


def _range(universe: SequenceUniverse) -> Fraction:
    """R, the largest value less the smallest one."""
    return max(_numbers(universe)) - min(_numbers(universe))


def known_for(
    query: Any, universe: SequenceUniverse, neighbors: SequenceRelation, norm: Norm
) -> ClosedForm | None:
    """Return what is known for a query of a name; None for a function."""
    if not isinstance(query, str):  # a caller's function may have no hash
        return None
    return known_sensitivity(query, universe, neighbors=neighbors, norm=norm)
