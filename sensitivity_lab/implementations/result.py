"""The result of a search over an implementation: the sensitivity and two ordered datasets."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from sensitivity_lab.checks import number_text, rounded_up, shown, text_of
from sensitivity_lab.errors import QueryError, VerificationError
from sensitivity_lab.exact.difference import Number, nearest, round_up
from sensitivity_lab.metrics.lists import common_places
from sensitivity_lab.queries import Function
from sensitivity_lab.results.noise_context import NoiseContext, of_datasets
from sensitivity_lab.results.reprs import show_sizes
from sensitivity_lab.results.result import Found
from sensitivity_lab.results.verification import Stated, check_size
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import (
    Dataset,
    Relation,
    check_dataset,
    check_related,
    show,
)

from .all_orders import Code
from .answers import CodeAnswer, as_answer, gap_between
from .folds import Fold

Implementation = Fold | Function
"""Code that can be run on an ordered dataset."""

Order = Literal["free", "aligned"]
"""Whether the orders of x and y are independent."""

Method = Literal["reachable accumulators", "accumulator pairs", "all orders"]
"""How all orders were covered."""


@dataclass(frozen=True)
class OrderedWitness:
    """A pair of neighboring datasets, in the orders that attain the sensitivity.

    Attributes
    ----------
    x, y : tuple of numbers
        The datasets, in the order in which the code read them.
    query_x, query_y : int, float or Fraction
        The code's answers on them, in the query's unit, without loss; may be inf or NaN.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> big = sl.Universe.from_dataset([2**53, 1, 1])
    >>> witness = sl.implementations.implemented_sensitivity(
    ...     big, sl.implementations.float_sum(), size=3, neighbors=None
    ... ).witness
    >>> witness.x, witness.y
    ((1, 1, 9007199254740992), (9007199254740992, 1, 1))
    """

    x: Dataset
    y: Dataset
    query_x: Number
    query_y: Number


@dataclass(frozen=True, repr=False)
class ImplementedSensitivity(Found):
    """The sensitivity of code on ordered datasets, with its proof.

    Attributes
    ----------
    value : float
        The sensitivity, in the query's unit: the float nearest to `exact`. math.inf if one dataset
        of a pair has a finite answer, +inf, -inf or NaN, and the other has another of these four
        kinds; two answers of +inf (or -inf, or NaN) are equal. It is math.inf, too, if `exact` is
        beyond all floats.
    exact : Fraction or None
        The difference of the two answers that the code returned, as rationals; None if infinite.
    ideal : Fraction or None
        The exact sensitivity of the same query as mathematics; None where it is not
        known, not rational, not defined for so few records, or beyond all floats.
    witness : OrderedWitness
        Two ordered datasets that attain the sensitivity.
    method : {"reachable accumulators", "accumulator pairs", "all orders"}
        How all orders were covered.
    multisets : int
        The number of distinct multisets among x and y.
    orders : int
        The number of distinct ordered datasets among x and y; all of them are covered.
    evaluations : int
        How often the function was called, or how many steps of the fold were computed.
    query : Fold or Function
    neighbors : Relation or None
        None: x and y are the same records in two orders (distance 0).
    order : {"free", "aligned"}
        "free": any order of x, any order of y. "aligned": y is x except at some positions.
    size : int or tuple of int
        The size n of x; if there are several, the maximum is over all of them.
    universe : Universe

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> big = sl.Universe.from_dataset([2**53, 1, 1])
    >>> result = sl.implementations.implemented_sensitivity(
    ...     big, sl.implementations.float_sum(), size=3, neighbors=None
    ... )
    >>> result.value, result.ideal, result.witness.x
    (2.0, Fraction(0, 1), (1, 1, 9007199254740992))
    """

    value: float
    exact: Fraction | None
    ideal: Fraction | None
    witness: OrderedWitness
    method: Method
    multisets: int
    orders: int
    evaluations: int
    query: Implementation
    neighbors: Relation | None
    order: Order
    size: int | tuple[int, ...]
    universe: FiniteUniverse

    @property
    def upper(self) -> float:
        """The smallest float that is not below the sensitivity."""
        if self.exact is None or self.value == math.inf:
            return math.inf
        return round_up(self.exact)

    def again(self) -> list[Stated]:
        """Run the code on x and y again."""
        witness = self.witness
        x, y = (check_dataset(data, self.universe) for data in (witness.x, witness.y))
        check_size(self.size, len(witness.x))
        if self.order == "aligned":
            _check_aligned(witness, self.neighbors, self.universe)
        else:
            _check_free(x, y, witness, self.neighbors, self.universe)
        again = [run(self.query, self.universe, data) for data in (witness.x, witness.y)]
        exact = gap_between(*again)
        return [
            ("answer on x", witness.query_x, again[0]),
            ("answer on y", witness.query_y, again[1]),
            ("value", self.value, as_float(exact)),
            ("exact value", self.exact, exact),
        ]

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        kind: Literal["global", "orders"] = "orders" if self.neighbors is None else "global"
        release = of_datasets(self, kind, None, self.size)
        # "At most" includes other orders of the same records, so the two differ even at distance 1.
        exactly = self.neighbors is not None and self.neighbors.exactly
        return replace(release, exactly=exactly, neighbors=self.neighbors)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects, ready for JSON except for unusual records."""
        relation = self.neighbors
        return {
            "query": self.query.name,
            "neighbors": "reordering" if relation is None else relation.family,
            "meaning": "exactly" if relation is None else relation.meaning,
            "distance": 0 if relation is None else relation.k,
            "order": self.order,
            "size": self.size,
            "sensitivity": self.value,
            "exact": None if self.exact is None else number_text(self.exact),
            "ideal": None if self.ideal is None else str(self.ideal),
            "upper": self.upper,
            "method": self.method,
            "multisets": self.multisets,
            "orders": self.orders,
            "evaluations": self.evaluations,
            "x": self.witness.x,
            "y": self.witness.y,
            "query_x": self.witness.query_x,
            "query_y": self.witness.query_y,
        }

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts that both reprs show, in order."""
        relation = "same records, reordered" if self.neighbors is None else str(self.neighbors)
        work = "calls" if isinstance(self.query, Function) else "steps"
        name = self.query.name
        facts = [
            ("neighbors", f"{relation}; size {show_sizes(self.size)}; {self.universe.extent}"),
            ("order", _MEANING[self.order]),
            ("witness x", f"{show(self.witness.x)}  {name} {text_of(self.witness.query_x)}"),
            ("witness y", f"{show(self.witness.y)}  {name} {text_of(self.witness.query_y)}"),
            (
                "method",
                f"{self.method}: {self.orders:,} orders of {self.multisets:,} multisets in "
                f"{self.evaluations:,} {work}",
            ),
        ]
        exact = "" if self.exact is None else number_text(self.exact)
        if "/" in exact and len(exact) <= 24:
            facts.insert(0, ("exact", exact))
        return facts

    @property
    def _title(self) -> str:
        title = f"Implemented sensitivity of {self.query.name}: {self._text()}"
        if self.ideal is None:
            return title
        return f"{title} (ideal {rounded_up(round_up(self.ideal), self.ideal)})"


_MEANING = {
    "free": "free: any order of x, any order of y",
    "aligned": "aligned: y is x in its order, except at some positions",
}


def as_float(exact: Fraction | None) -> float:
    """Return the float nearest to a sensitivity; None stands for an infinite one.

    Examples
    --------
    >>> as_float(Fraction(1, 4)), as_float(None), as_float(Fraction(10**400))
    (0.25, inf, inf)
    """
    if exact is None or exact > Fraction(sys.float_info.max):
        return math.inf
    return nearest(exact)


def run(query: Implementation, universe: FiniteUniverse, records: Sequence[Number]) -> CodeAnswer:
    """Return the answer of code on an ordered dataset of a universe."""
    if isinstance(query, Function):
        code = Code(query.function, query.vectorized, query.name, universe)
        return code([universe.index(record) for record in records])
    where = f"{shown(query.name)} on the ordered dataset {show(records)}"
    try:
        raw = query(records)
    except Exception as error:
        raise QueryError(f"{where} raised {type(error).__name__}: {error}") from error
    return as_answer(raw, where)


def _check_free(
    x: Multiplicities,
    y: Multiplicities,
    witness: OrderedWitness,
    relation: Relation | None,
    universe: FiniteUniverse,
) -> None:
    """Raise VerificationError unless x and y are neighbors in some orders."""
    same = np.array_equal(x, y)
    if relation is None:
        if not same:
            raise VerificationError(
                f"x = {show(witness.x)} and y = {show(witness.y)} are not the same records"
            )
    elif relation.exactly or not same:
        check_related(x, y, universe, relation)


def _check_aligned(
    witness: OrderedWitness, relation: Relation | None, universe: FiniteUniverse
) -> None:
    """Raise VerificationError unless y is x except at as many positions as the relation allows.

    It is as soon as enough records are shared: see "Checking a pair" in docs/proofs.md.
    """
    x, y = witness.x, witness.y
    if relation is not None and relation.aligned == "replaced":
        shared = sum(a == b for a, b in zip(x, y, strict=False))
    else:
        shared = len(common_places(x, y)[0])
    changes = () if relation is None else relation.changes(len(x), universe)
    if not any(len(x) - i == len(y) - j <= shared for i, j in changes):
        raise VerificationError(
            f"x = {show(x)} and y = {show(y)} are not aligned neighbors ({relation}): they share "
            f"{shared} positions"
        )
