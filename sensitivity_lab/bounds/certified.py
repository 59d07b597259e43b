"""Certified bounds of a sensitivity, with the boxes that prove the upper one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import Norm, rounded_up
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.problem import Kind
from sensitivity_lab.queries import Query
from sensitivity_lab.results.noise_context import NoiseContext, of_datasets, setting
from sensitivity_lab.results.reprs import rounded_down, told
from sensitivity_lab.results.result import Paired, Stated, neighbors_of
from sensitivity_lab.results.sensitivity_result import Witness
from sensitivity_lab.results.witness import measure, pair_facts
from sensitivity_lab.universes.relations import Relation
from sensitivity_lab.universes.universe import IntervalUniverse, finite

from . import checker
from .box_search import Root


@dataclass(frozen=True, repr=False)
class CertifiedBounds(Paired):
    """A lower and an upper bound of a sensitivity on an interval, both proved.

    Noise is scaled to `upper`, which holds for all datasets of the interval.

    Attributes
    ----------
    lower : float
        The answers on the witness are at least that far apart, in the query's unit, by interval
        arithmetic: the rounding of the function's own floats does not count.
    upper : float
        No answers on neighbors are further apart.
    gap : float
        How far the bounds are apart.
    reached : bool
        Whether the gap is what was asked for; if not, the time was over.
    witness : Witness
        The neighbors furthest apart among those tried.
    boxes : int
        The number of boxes of pairs that were bounded.
    rtol : float
        How close the bounds were to be, relative to the lower one.
    followed : callable
        The function of the boxes' variables.
    query, neighbors, size, universe : Query, Relation, int or tuple of int, IntervalUniverse
    status : {"bounds"}
        Never "exact".
    kind : {"global", "local"}
        Whether they are for all datasets of a size, or for one.
    pole : str
        Where and why answers have no bound, if `upper` is infinite; else empty.
    sums : tuple of str
        The sums that the function sees its records through, such as ("x", "x**2"), if boxes are of
        these and not of records.

    See Also
    --------
    sensitivity_bounds : Compute them.

    Examples
    --------
    >>> import numpy as np
    >>> import sensitivity_lab as sl
    >>> def of_squares(x):
    ...     return np.sqrt(np.mean(x**2))
    >>> bounds = sl.bounds.sensitivity_bounds(
    ...     sl.Universe.from_interval(0, 2), of_squares, size=4, neighbors="bounded"
    ... )
    >>> round(bounds.lower, 6), round(bounds.upper, 6), bounds.reached
    (1.0, 1.0, True)
    >>> bounds.check() >= 1
    True
    """

    lower: float
    upper: float
    witness: Witness
    boxes: int
    rtol: float
    trees: tuple[tuple[Root, tuple[NDArray[Any], ...]], ...] = field(compare=False)
    followed: Callable[[Any], Any] = field(compare=False)
    query: Query
    neighbors: Relation
    size: int | tuple[int, ...]
    universe: IntervalUniverse
    kind: Kind
    norm: Norm = "L1"
    pole: str = ""
    sums: tuple[str, ...] = ()
    status: Literal["bounds"] = "bounds"

    @property
    def gap(self) -> float:
        """How far the bounds are apart."""
        return self.upper - self.lower

    @property
    def reached(self) -> bool:
        """Whether the gap is what was asked for."""
        return self.gap <= self.rtol * self.lower * (1 + 1e-9) + 1e-300

    def certificate(self) -> dict[str, Any]:
        """Return the boxes as plain Python objects: how each set of pairs was split.

        Returns
        -------
        dict
            ``upper``, and a list of ``roots``, each with the ends of its variables, the variables
            that are the records of x and of y, the runs of variables that ascend, the sign of the
            difference, the number of common records if only their sums are variables, and the
            splits (node, variable, cut, number of the part below the cut).
        """
        return {
            "upper": self.upper,
            "roots": [
                {
                    **root.told(),
                    "splits": [list(one) for one in zip(*(a.tolist() for a in tree), strict=True)],
                }
                for root, tree in self.trees
            ],
        }

    def check(self) -> int:
        """Check every box again, in a second program that shares no code with the search.

        Returns
        -------
        int
            The number of boxes that were checked.

        Raises
        ------
        VerificationError
            If a box is not shown to be below the upper bound.

        Notes
        -----
        The program is ``sensitivity_lab/bounds/checker.py``, a file that needs numpy alone:
        ``check(function, certificate)`` is what this calls, with `followed`: the caller's function,
        or, where boxes are of sums, the answer as it was read. It takes about as long as the
        search. That the certificate's roots are all pairs of neighbors, and that the reading is
        right, is the search's claim.
        """
        try:
            checked: int = cast(Any, checker).check(self.followed, self.certificate())
        except checker.NotShownError as error:
            raise VerificationError(str(error)) from error
        return checked

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        context = of_datasets(self, self.kind, self._norm, self.size)
        return replace(context, has_lower_bound_only=True)

    def again(self) -> list[Stated]:
        """Measure x and y again, which prove the lower bound but for the function's rounding."""
        records = finite(self.universe, (*self.witness.x, *self.witness.y))
        x, y = neighbors_of(self, records)
        again = measure(self.query, records, x, y)
        far = max(1.0, *(abs(float(np.max(one))) for one in (again.query_x, again.query_y)))
        if not self.lower - 1e-9 * far <= again.value or self.lower > self.upper:
            raise VerificationError(
                f"the lower bound {self.lower} of {self.query.name} is above the upper bound "
                f"{self.upper}, or the answers on the witness, which are {again.value} apart"
            )
        return [
            ("answer on x", self.witness.query_x, again.query_x),
            ("answer on y", self.witness.query_y, again.query_y),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects, ready for JSON; the boxes are `certificate`."""
        return {
            **told(self),
            "status": self.status,
            "lower": self.lower,
            "upper": self.upper,
            "gap": self.gap,
            "rtol": self.rtol,
            "boxes": self.boxes,
            **self.witness.to_dict(),
        }

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        wanted = f"{self.rtol:g} of the lower bound"
        over = self.pole or f"the time was over before {wanted} was reached"
        gap = f"{self.gap:.3g}, " + (f"within {wanted}" if self.reached else over)
        return [
            ("lower", f"{rounded_down(self.lower)}, attained by x and y"),
            ("gap", gap),
            ("neighbors", setting(self)),
            *pair_facts(self.witness),
            ("method", f"boxes, {self.boxes:,} bounded with outward rounding{self._of}"),
        ]

    @property
    def _of(self) -> str:
        number = len(self.sums)
        return f"; of {number} sum{'s' * (number > 1)}: {', '.join(self.sums)}" if number else ""

    @property
    def _title(self) -> str:
        what = "Local sensitivity" if self.kind == "local" else "Sensitivity"
        return f"{what} of {self._name}: at most {rounded_up(self.upper)} (certified bounds)"
