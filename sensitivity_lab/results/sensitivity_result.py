"""The result of a search: the sensitivity and the pair of datasets that proves it.

A picture shows the sorted universe as blocks: which of its records the pair shares, and which not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sensitivity_lab.checks import Norm, choice_kind, number_text, shown
from sensitivity_lab.errors import InputError, VerificationError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Multiplicities, Relation, multiplicities_of
from sensitivity_lab.universes.universe import AnyUniverse, FiniteUniverse, finite

from .noise_context import NoiseContext, of_datasets, setting
from .reprs import how_searched, of_function, told
from .result import Found, Stated, neighbors_of
from .witness import WhenAskedFor, has_vectors, measure, pair_facts
from .witness import Witness as Witness

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Sensitivity(Found):
    """The sensitivity of a query, with its proof.

    Attributes
    ----------
    value : float
        The sensitivity, in the query's unit (variance: units squared): the float nearest to the
        exact one; for a caller's own function, the difference between its two answers.
    exact : Fraction or None
        The sensitivity as a rational; None if it is a root (standard deviation, L2 norm of vectors)
        or a caller's function returned floats.
    upper : float or None
        The smallest float that is not below the exact sensitivity, so noise scaled to it is never
        too small. None if a caller's function returned floats.
    status : {"exact"}
        "exact": no pair of neighbors differs more; the search left nothing out.
    method : str
        The name of the engine.
    arithmetic : {"exact", "float"}
        "float" where a caller's function returned floats, which it may have rounded itself; "exact"
        for all other queries, and for functions that return whole numbers, Fractions or Decimals.
    datasets_evaluated : int
        The number of datasets that the query was evaluated on; 0 if the engine needs none.
    witness : Witness
        A pair that attains the sensitivity. Some engines only locate its records; then it is
        listed, checked and measured when first used.
    query : Query
    neighbors : Relation
    size : int or tuple of int
        The size n of x; if there are several, the maximum is over all of them.
    universe : FiniteUniverse
    norm : {"L1", "L2", "Linf"}
        How to measure the difference of two vector answers; for numbers, all three agree.
    kind : {"global", "local"}
        Whether the maximum is over all x and y, or over the neighbors y of one x.
    depends_on_order : bool
        Whether a caller's function answered a dataset differently in another order of its records.
        The sensitivity is then that of the function after sorting.

    Notes
    -----
    Printed digits are rounded up, also by a format: ``f"{result:.2f}"`` is never below the
    sensitivity. `float(result)` is the nearest float.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 3, 10])
    >>> result = sl.global_sensitivity(universe, "median", size=3, neighbors=sl.Bounded(1))
    >>> result
    Sensitivity of median: 1 (exact)
      neighbors  bounded, at most 1; size 3 (public); universe of 4 records (public)
      only in x  10  f(x) = 3
      only in y  1   f(y) = 2
      in both    2, 3
      method     monotone, exact arithmetic, no evaluation needed
    >>> float(result)
    1.0
    >>> spread = sl.global_sensitivity(universe, "std", size=3, neighbors=sl.Bounded(1))
    >>> f"{spread.value:.6f} nearest, {spread:.2f} rounded up"
    '3.211185 nearest, 3.22 rounded up'
    """

    value: float
    exact: Fraction | None
    upper: float | None
    status: Literal["exact"]
    method: str
    arithmetic: Literal["exact", "float"]
    datasets_evaluated: int
    witness: Witness
    query: Query
    neighbors: Relation
    size: int | tuple[int, ...]
    universe: AnyUniverse
    norm: Norm = "L1"
    kind: Literal["global", "local"] = "global"
    depends_on_order: bool = False

    def __getstate__(self) -> dict[str, Any]:
        # The datasets, not what it takes to list them.
        return {**vars(self), "witness": self.witness}

    def again(self) -> list[Stated]:
        """Measure x and y again."""
        universe = self._finite()
        x, y = neighbors_of(self, universe)
        again = measure(self.query, universe, x, y, self.norm)
        if self.arithmetic == "float":  # also where these two of a function's answers are no floats
            again = replace(again, exact=None, upper=None)
        return [
            ("answer on x", self.witness.query_x, again.query_x),
            ("answer on y", self.witness.query_y, again.query_y),
            ("value", self.value, again.value),
            ("exact value", self.exact, again.exact),
            ("upper bound", self.upper, again.upper),
        ]

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        return of_datasets(self, self.kind, self._norm, self.size)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects, ready for JSON except for exotic records."""
        return {
            **told(self),
            "sensitivity": self.value,
            "exact": None if self.exact is None else number_text(self.exact),
            "upper": self.upper,
            "status": self.status,
            "method": self.method,
            "arithmetic": self.arithmetic,
            "datasets_evaluated": self.datasets_evaluated,
            **self.witness.to_dict(),
        }

    @property
    def blocks(self) -> list[Block]:
        """The sorted universe as blocks of records with one role in the witness.

        Each block is a tuple: the role ("C" in both datasets, "A" only in x, "B" only in y, "O" in
        neither), the number of records (math.inf: as many as a dataset can hold), the smallest and
        the largest record.
        """
        universe = self._finite()
        x, y = (multiplicities_of(data, universe) for data in (self.witness.x, self.witness.y))
        return blocks_of(x, y, universe)

    def plot(
        self, kind: Literal["strip", "witness", "answers"] | None = None, **options: Any
    ) -> Axes:
        """Draw the worst case.

        Parameters
        ----------
        kind : {"strip", "witness", "answers"}, optional
            "strip": the sorted universe and the roles of its records; "witness": x and y on a
            number line; "answers": f(x) and f(y), coordinate by coordinate. The first two need
            numeric records and a numeric answer. The default is the strip if possible, else the
            answers.
        **options
            `unit`, of the records or of the answers; `ax`, where to draw, by default on a new
            figure; `title`, of strip and answers; `gap`, the difference of the answers as a text;
            for the answers `labels`, the names of the coordinates; for the witness `query` and
            `neighbors`, in words.

        Returns
        -------
        matplotlib.axes.Axes
            Save it with ``.figure.savefig(path)``. A new figure is pyplot's, as those of pandas
            are: a notebook shows it, and elsewhere ``plt.show()``.

        Raises
        ------
        InputError
            If `kind` is unknown, or not possible for this result.
        """
        choice_kind(("strip", "witness", "answers")).or_none("kind", kind)
        vector = has_vectors(self)
        numeric = self.universe.numeric
        if kind in ("strip", "witness") and (vector or not numeric):
            what = "answers that are vectors" if vector else "records that are not numbers"
            raise InputError(f"kind {shown(kind)} cannot show {what}; use plot('answers')")
        if kind == "witness":
            told = {
                "query": self.query.name,
                "neighbors": str(self.neighbors),
                "gap": self._text(6),
            }
            return self.witness.plot(**{**told, **options})
        from sensitivity_lab.plotting.pair import plot_answers, plot_strip

        norm = f" in {self.norm}" if vector else ""
        title = (
            f"{self.query.name}: sensitivity {self._text(6)}{norm} "
            f"({self.neighbors}, size {self.size})"
        )
        if kind == "answers" or vector or not numeric:
            drawn = {"title": title, "labels": self.query.labels, "gap": self._text(6)}
            return plot_answers(self.witness, **{**drawn, **options})
        return plot_strip(self.blocks, **{"title": title, **options})

    def _finite(self) -> FiniteUniverse:
        """Return a finite universe with the records of the witness; raise VerificationError."""
        try:
            return finite(self.universe, (*self.witness.x, *self.witness.y))
        except InputError as error:
            raise VerificationError(str(error)) from error

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        facts = [
            ("neighbors", setting(self)),
            *[("public", sizes) for sizes in [self.query.public_sizes] if sizes],
            *pair_facts(self.witness),
            how_searched(self),
        ]
        exact = "" if self.exact is None else number_text(self.exact)
        if "/" in exact and len(exact) <= 24:
            facts.insert(0, ("exact", exact))
        if absent := self.query.absent_from(self.universe):
            facts.append(("absent", absent))
        facts += of_function(self)
        return facts


# The class sees one attribute, whoever made the result: a frozen one that can be compared.
Sensitivity.witness = WhenAskedFor()  # type: ignore[assignment]


Block = tuple[str, float, Number, Number]
"""A role ("A", "B", "C" or "O"), a number of records, the smallest and the largest of them."""


def blocks_of(x: Multiplicities, y: Multiplicities, universe: FiniteUniverse) -> list[Block]:
    """Join neighboring values with one role; equal records stand so that blocks are few."""
    shared = np.minimum(x, y)
    parts = {"C": shared, "A": x - shared, "B": y - shared}
    if universe.counts is None:
        parts["O"] = np.full(len(x), math.inf, dtype=object)
    else:
        parts["O"] = np.array(universe.counts) - np.maximum(x, y)
    values = universe.values
    table = np.stack(list(parts.values()))
    # Values of the same single role as the one before only lengthen a block.
    present = table > 0
    roles = (1 << np.arange(len(parts))) @ present
    starts = np.flatnonzero((np.diff(roles, prepend=-1) != 0) | (present.sum(axis=0) > 1))
    groups = []
    for start, stop in pairwise([*starts.tolist(), len(values)]):
        counts = dict(zip(parts, table[:, start:stop].sum(axis=1).tolist(), strict=True))
        here = {part: count for part, count in counts.items() if count}
        groups.append((here, values[start], values[stop - 1]))
    blocks: list[Block] = []
    after = [*(here for here, _, _ in groups[1:]), {}]
    for (here, first, last), following in zip(groups, after, strict=True):
        before = blocks[-1][0] if blocks else None
        # The role of the block before comes first, one that goes on in the next block last.
        for part in sorted(here, key=lambda part: (part != before, part in following)):
            if part == before:
                _, count, first_of_all, _ = blocks.pop()
                blocks.append((part, count + here[part], first_of_all, last))
            else:
                blocks.append((part, here[part], first, last))
    return blocks
