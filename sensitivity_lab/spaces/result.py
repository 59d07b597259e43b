"""The result of a search over a space: the sensitivity, and two neighboring datasets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from sensitivity_lab.checks import Norm
from sensitivity_lab.errors import InputError, VerificationError
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.noise_context import NoiseContext, Things
from sensitivity_lab.results.result import Found, Stated

from .answers import difference_of, evaluate
from .space import Space, SpaceWitness, Within


@dataclass(frozen=True, repr=False)
class SpaceSensitivity(Found):
    """The sensitivity of a query over a space of datasets, with its proof.

    Attributes
    ----------
    value : float
        The sensitivity in the query's unit.
    exact : Fraction or None
        The value as a rational; None if it is a root (L2) or a function returned floats.
    upper : float or None
        The smallest float that is not below it; None if a function returned floats.
    witness : SpaceWitness
        Two neighbors that attain it.
    arithmetic : {"exact", "float"}
        "float" where a function returned floats, which it may have rounded itself.
    datasets_evaluated : int
        The number of datasets that the query was evaluated on.
    pairs : int
        The number of pairs of neighbors, all of which were compared.
    query : str
        The query's name.
    space : Space
    neighbors : Within
    norm : {"L1", "L2", "Linf"}
        How to measure the difference of two vector answers; for numbers, all three agree.
    kind : {"global", "local"}
    definition : str or callable
        The query as it was passed.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> one = spaces.Within(1)
    >>> spaces.global_sensitivity(spaces.graphs(4, "node"), "max_degree", neighbors=one)
    Sensitivity of max_degree: 3 (exact)
      neighbors  node neighbors, edges of at most 1 node replaced; all 64 graphs on 4 nodes
      x          no edges  f(x) = 0
      y          0-1, 0-2, 0-3  f(y) = 3
      changed    0-1, 0-2, 0-3
      method     enumeration: 64 graphs evaluated, 704 pairs of neighbors compared
    >>> readings = spaces.sequences([0, 1, 2], 4, "hamming")
    >>> spaces.global_sensitivity(readings, "sum", neighbors=one)
    Sensitivity of sum: 2 (exact)
      neighbors  at most 1 entry replaced; all 81 sequences of 4 of 3 values
      x          (0, 0, 0, 0)  f(x) = 0
      y          (0, 0, 0, 2)  f(y) = 2
      method     enumeration: 81 sequences evaluated, 324 pairs of neighbors compared
    """

    value: float
    exact: Fraction | None
    upper: float | None
    witness: SpaceWitness
    arithmetic: Literal["exact", "float"]
    datasets_evaluated: int
    pairs: int
    query: str
    space: Space
    neighbors: Within
    norm: Norm
    kind: Literal["global", "local"]
    definition: str | Callable[[Any], Any]

    def again(self) -> list[Stated]:
        """Evaluate x and y again."""
        witness, space = self.witness, self.space
        try:
            x, y = space._place(witness.x, "x"), space._place(witness.y, "y")
        except InputError as error:
            raise VerificationError(f"the witness is not of the space: {error}") from error
        if not space._relates(x, y, self.neighbors):
            told = " and ".join(f"{one} = {brief(data)}" for one, data in self._pair.items())
            raise VerificationError(f"{told} are not neighbors: {space._told(self.neighbors)}")
        table = evaluate(self.definition, space, np.unique([x, y]))
        again = table.answer(x), table.answer(y)
        difference = difference_of(*again, self.norm)
        rounded = self.arithmetic == "float"
        return [
            ("answer on x", witness.query_x, again[0]),
            ("answer on y", witness.query_y, again[1]),
            ("value", self.value, difference.nearest()),
            ("exact value", self.exact, None if rounded else difference.exact),
            ("upper bound", self.upper, None if rounded else difference.upper()),
        ]

    def _shown(self, dataset: Any) -> str:
        return brief(dataset)

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        space, relation = self.space, self.neighbors
        return NoiseContext(
            query=self.query,
            kind=self.kind,
            norm=self._norm,
            neighbors=space._in(relation),
            exactly=False,
            sizes=space._sizes,
            size=space._size,
            upper=self.upper,
            things=Things(data=space._noun, parts=space._parts, room="sl.spaces"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects."""
        return {
            "query": self.query,
            "kind": self.kind,
            "neighbors": self.space._family,
            "meaning": "at most",
            "distance": self.neighbors.k,
            "size": self.space._size,
            "norm": self.norm,
            "sensitivity": self.value,
            "exact": None if self.exact is None else str(self.exact),
            "upper": self.upper,
            "arithmetic": self.arithmetic,
            "datasets_evaluated": self.datasets_evaluated,
            "pairs": self.pairs,
            **vars(self.witness),
        }

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        witness, space = self.witness, self.space
        compared = f"{self.pairs:,} pairs of neighbors compared"
        facts = [
            ("neighbors", f"{space._told(self.neighbors)}; {space}"),
            ("x", f"{space._text(witness.x)}  f(x) = {brief(witness.query_x)}"),
            ("y", f"{space._text(witness.y)}  f(y) = {brief(witness.query_y)}"),
            ("changed", space._changed(witness.x, witness.y)),
            (
                "method",
                f"enumeration: {self.datasets_evaluated:,} {space._noun}s evaluated, {compared}",
            ),
        ]
        return [(fact, text) for fact, text in facts if text is not None]
