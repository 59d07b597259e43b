"""The result of a smooth search: the smooth sensitivity and the datasets that prove it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from sensitivity_lab.checks import Norm, check_column, check_text, rounded_up
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.exact.enclosures import Damped
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Dataset, Relation, multiplicities_of, show
from sensitivity_lab.universes.universe import FiniteUniverse, finite

from .noise_context import NoiseContext, left_out, of_datasets
from .reprs import between_sizes, how_searched, of_function
from .result import Found, Stated
from .sensitivity_result import Sensitivity
from .witness import Witness, changes, difference_of, exact_answer, in_short, show_answer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class SmoothSensitivity(Found):
    """The smooth sensitivity of a query on one dataset x, with its proof.

    Attributes
    ----------
    value : float
        The smooth sensitivity, in the query's unit: the float nearest to the exact one.
    upper : float or None
        The smallest float that is not below the exact one. None for callers' functions.
    beta : Fraction
        The damping per unit of distance, exactly as given.
    distance : int
        The distance from x to the dataset z that attains the maximum.
    local_at_distance : tuple of Fraction or float
        Entry t is the largest local sensitivity of the datasets within distance t of x, for t =
        0, ..., T; distances above T cannot matter. Rational if the answers are, else the nearest
        float.
    x : tuple of records
        The dataset, ascending.
    local : Sensitivity
        The local sensitivity of z, with the neighbor y of z that attains it, among neighbors with
        one of the `sizes`.
    status : {"exact"}
        "exact": no dataset gives more; the search left nothing out.
    method : str
        The name of the engine.
    arithmetic : {"exact", "float"}
        Whether candidates were compared exactly, or as the floats a function returned.
    datasets_evaluated : int
        The number of datasets that the query was evaluated on; 0 if the engine needs none.
    neighbors : Relation
        The relation at distance k, the most rows that one person can have. The sensitivity is that
        of single records for every k; k enters the noise.
    sizes : tuple of (int, int or None)
        The smallest and the largest size of the datasets z and y; None if there is no largest.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain([0, 10, 100])
    >>> smooth = sl.smooth_sensitivity(
    ...     scores, "median", dataset=[10] * 5, beta=0.5, neighbors="bounded"
    ... )
    >>> smooth.distance, smooth.local_at_distance
    (2, (Fraction(0, 1), Fraction(0, 1), Fraction(90, 1)))
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

    @property
    def z(self) -> Dataset:
        """The dataset at `distance` from x whose damped local sensitivity is the largest."""
        return self.local.witness.x

    @property
    def y(self) -> Dataset:
        """The neighbor of z that attains the local sensitivity of z."""
        return self.local.witness.y

    @property
    def witness(self) -> Witness:
        """The datasets z and y, and the answers on them."""
        return self.local.witness

    @property
    def exact(self) -> Fraction | None:
        """The smooth sensitivity as a rational; None if it is damped, a root or a float."""
        return self.local.exact if self.distance == 0 else None

    @property
    def query(self) -> Query:
        """The query."""
        return self.local.query

    @property
    def norm(self) -> Norm:
        """The norm of the difference of two vector answers."""
        return self.local.norm

    @property
    def _norm(self) -> Norm | None:
        return self.local._norm

    @property
    def universe(self) -> FiniteUniverse:
        """The records that datasets are drawn from."""
        return finite(self.local.universe)

    @property
    def depends_on_order(self) -> bool:
        """Whether the function answered a dataset differently in another order of its records."""
        return self.local.depends_on_order

    @property
    def size(self) -> int:
        """The number of records of x."""
        return len(self.x)

    def again(self) -> list[Stated]:
        """Measure z and y again, and how far z is from x."""
        self.local.verify()
        x, z, y = (multiplicities_of(data, self.universe) for data in (self.x, self.z, self.y))
        step = self.neighbors.step
        apart = None if step is None else int(step.between(x, z))
        if apart != self.distance:
            raise VerificationError(
                f"z = {show(self.z)} is at distance {apart} from x = {show(self.x)}, "
                f"the stated distance is {self.distance}"
            )
        of_z, of_y = (exact_answer(self.query, self.universe, data) for data in (z, y))
        gap = difference_of(of_z, of_y, self.norm, self.query.root)
        damped = Damped(gap, self.beta, self.distance)
        floats = self.arithmetic == "float"
        return [
            ("value", self.value, damped.nearest()),
            ("upper bound", self.upper, None if floats else damped.upper()),
        ]

    @property
    def _pair(self) -> dict[str, Dataset]:
        return {"z": self.z, "y": self.y}

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        release = of_datasets(self, "smooth", self._norm, self.size)
        return replace(release, beta=self.beta, left_out=left_out(self))

    def to_frame(self, column: str = "records") -> pd.DataFrame:
        """Return a tidy DataFrame with two rows per distance t = 0, ..., T.

        Parameters
        ----------
        column : str, default "records"
            The name of the data.

        Returns
        -------
        pandas.DataFrame
            Columns: column, query, kind, neighbors, meaning, distance (t), size, sensitivity. In
            rows of kind "local within k", the sensitivity is the largest local one within distance
            t of x; in rows of kind "smooth", it is that times exp(-beta t). The maximum of these is
            the smooth sensitivity.
        """
        check_text("column", column, "what to call the data")
        check_column("column", column)
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
            The name of the data.
        **options
            Options of `sensitivity_lab.plotting.plot_curves`, such as `units`, `title` and `ax`.
        """
        from sensitivity_lab.plotting import plot_curves

        figure: Figure = plot_curves(self.to_frame(column), **options)
        return figure

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        witness = self.witness
        gap = self.local_at_distance[self.distance]
        sizes = between_sizes(self.sizes, "z and y of size")
        short = isinstance(gap, Fraction) and len(str(gap)) <= 24
        upper = float(gap) if self.local.upper is None else self.local.upper
        times = f"{gap if short else rounded_up(upper)} * exp(-{_short(self.beta)} * "
        k = self.neighbors.k
        rows = [("rows", f"{k} per person: noise uses epsilon / {k}")] if k > 1 else []
        return [
            ("value", f"{times}{self.distance})"),
            ("neighbors", f"{self.neighbors}; size {self.size}{sizes}; {self.universe.extent}"),
            *rows,
            ("dataset x", in_short(self.x)),
            ("z", f"{changes(self.x, self.z, 'x')}  f(z) = {show_answer(witness.query_x)}"),
            ("y", f"{changes(self.z, self.y, 'z')}  f(y) = {show_answer(witness.query_y)}"),
            how_searched(self),
            *of_function(self),
        ]

    @property
    def _what(self) -> str:
        return "Smooth sensitivity"


def _short(value: Fraction) -> str:
    """Return a rational as it is, as the float that it is, or else as ten digits of one."""
    if value.denominator < 1000:
        return str(value)
    close = float(value)
    return repr(close) if Fraction(close) == value else f"{close:.10g}"
