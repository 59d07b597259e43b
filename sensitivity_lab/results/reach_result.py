"""The result of reach: how far the answer on one dataset moves within every number of steps."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import check_column, check_text, choice_kind, rounded_up, whole_kind
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.exact.difference import nearest, round_down, round_up
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import (
    Dataset,
    Multiplicities,
    Relation,
    multiplicities_of,
    show,
)
from sensitivity_lab.universes.universe import AnyUniverse, FiniteUniverse, finite

from .noise_context import NoiseContext, left_out, of_datasets
from .reprs import between_sizes, how_searched, of_function, rounded_down
from .result import Result, Stated
from .witness import Witness, answer_of, in_short

End = Literal["lower", "upper"]

ENDS: tuple[End, End] = ("lower", "upper")

Bound = Fraction | Root
"""An exact answer: a root for the standard deviation, else a rational number."""

_DISTANCES_SHOWN = 4
"""A repr shows so many of the first distances, and the last one."""


@dataclass(frozen=True)
class Farthest:
    """The datasets that attain the ends, made when first used.

    Attributes
    ----------
    x : ndarray of int64, shape (m,)
        The dataset, by multiplicities.
    values : tuple of numbers
        Where the universe is an interval: the distinct values that are counted.
    moves : dict of str to tuple of (int, callable)
        By end: the distances at which it moves, ascending, each with what returns a dataset that
        attains it from there on, by multiplicities.
    """

    x: Multiplicities
    values: tuple[Any, ...]
    moves: dict[End, tuple[tuple[int, Callable[[], Multiplicities]], ...]]

    def at(self, k: int, end: End) -> Multiplicities:
        """Return a dataset within distance k that attains an end, by multiplicities."""
        moves = self.moves[end]
        place = bisect_right(moves, k, key=lambda move: move[0])
        return moves[place - 1][1]() if place else self.x

    def __getstate__(self) -> dict[str, Any]:
        # The records that are changed, not what it takes to find them.
        moves = {
            end: tuple((k, _Changed.of(self.x, y())) for k, y in moves)
            for end, moves in self.moves.items()
        }
        return {**vars(self), "moves": moves}


@dataclass(frozen=True)
class _Changed:
    """A dataset as what it has more and less than x."""

    x: Multiplicities
    places: NDArray[np.intp]
    more: Multiplicities

    @classmethod
    def of(cls, x: Multiplicities, y: Multiplicities) -> _Changed:
        places = np.flatnonzero(y != x)
        return cls(x, places, (y - x)[places])

    def __call__(self) -> Multiplicities:
        y: Multiplicities = self.x.copy()
        y[self.places] += self.more
        return y


@dataclass(frozen=True, repr=False)
class Reach(Result):
    """How far the answer on one dataset x moves if up to k records change, for every k up to K.

    Attributes
    ----------
    answer : Fraction or Root
        The exact answer on x, in the query's unit: a `Root` for the standard deviation, else a
        rational number.
    distances : tuple of int
        0, 1, ..., K.
    lower, upper : tuple of Fraction or Root, shape (K + 1,)
        The least and the greatest answer on the datasets within each distance of x. Each interval
        contains the one before it; the first is `answer` alone.
    saturated_at : int or None
        After so many steps there are no further datasets, so that nothing changes from there on;
        None if that is beyond K. Equal records count as different ones.
    neighbors : Relation
        The relation whose distance counts the steps, at k = 1.
    x : tuple of records
        The dataset, ascending.
    sizes : tuple of (int, int or None)
        The smallest and the largest size of datasets; None if there is no largest.
    status : {"exact"}
        "exact": no dataset answers less or more; the search left nothing out.
    method : str
        The name of the engine; "none" if there is no dataset but x.
    arithmetic : {"exact", "float"}
        "float" where a caller's function returned floats, which it may have rounded itself.
    datasets_evaluated : int
        The number of datasets that the query was evaluated on; 0 if the engine needs none.
    query : Query
    universe : Universe, TableUniverse or IntervalUniverse
    depends_on_order : bool
        As of `Sensitivity`.

    See Also
    --------
    reach : Compute it.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain([0, 10, 100])
    >>> reach = sl.reach(scores, "median", dataset=[10] * 5, neighbors="bounded", distances=4)
    >>> [int(end) for end in reach.lower], [int(end) for end in reach.upper]
    ([10, 10, 10, 0, 0], [10, 10, 10, 100, 100])
    >>> reach.witness(4, "upper")
    Neighbors x of 5 records and y of 5
      only in x  10 (x3)   f(x) = 10
      only in y  100 (x3)  f(y) = 100
      in both    10 (x2)
    """

    kind: ClassVar[Literal["reach"]] = "reach"

    answer: Bound
    distances: tuple[int, ...]
    lower: tuple[Bound, ...]
    upper: tuple[Bound, ...]
    saturated_at: int | None
    neighbors: Relation
    x: Dataset
    sizes: tuple[int, int | None]
    status: Literal["exact"]
    method: str
    arithmetic: Literal["exact", "float"]
    datasets_evaluated: int
    query: Query
    universe: AnyUniverse
    farthest: Farthest = field(compare=False)
    depends_on_order: bool = False

    @property
    def size(self) -> int:
        """The number of records of x."""
        return len(self.x)

    def witness(self, k: int, end: str) -> Witness:
        """Return x and a dataset within distance k that attains an end.

        Parameters
        ----------
        k : int
            The distance, from 0 to K.
        end : {"lower", "upper"}
            Which end.

        Returns
        -------
        Witness
            The pair, measured as it is listed. Its text calls the two datasets neighbors.

        Raises
        ------
        InputError
            If there is no such distance or end.
        VerificationError
            If the dataset does not prove the end, which would be a mistake of the search.
        """
        last = self.distances[-1]
        whole_kind(f"a distance from 0 to {last}", least=0, most=last)("k", k)
        choice_kind(ENDS)("end", end)
        one: End = "lower" if end == "lower" else "upper"
        universe = self._finite()
        x, y = multiplicities_of(self.x, universe), self.farthest.at(k, one)
        apart = int(self.neighbors.between(x, y))
        query_x, _ = answer_of(self.query, universe, x)
        query_y, of_y = answer_of(self.query, universe, y)
        stated = (self.lower if one == "lower" else self.upper)[k]
        if apart > k or as_bound(of_y, self.query) != stated:
            raise VerificationError(
                f"the {one} end of {self._name} within distance {k} is stated as {stated}, but "
                f"{show(universe.dataset(y))} at distance {apart} from x answers "
                f"{as_bound(of_y, self.query)}"
            )
        return Witness(self.x, universe.dataset(y), _number(query_x), _number(query_y))

    def again(self) -> list[Stated]:
        """Measure x, and the datasets at which an end moves, again."""
        for name, ascending in (("lower", self.lower[::-1]), ("upper", self.upper)):
            if any(one > other for one, other in pairwise(ascending) if one is not other):
                raise VerificationError(f"the {name} ends of {self._name} are not nested")
        universe = self._finite()
        _, of_x = answer_of(self.query, universe, multiplicities_of(self.x, universe))
        answer = as_bound(of_x, self.query)
        stated: list[Stated] = [("answer on x", self.answer, answer)]
        for end, ends in zip(ENDS, (self.lower, self.upper), strict=True):
            if len(ends) != len(self.distances):
                raise VerificationError(f"there is not one {end} end for each distance")
            for k in self.distances:
                if k == 0:
                    stated.append((f"{end} end at distance 0", ends[0], answer))
                elif ends[k] != ends[k - 1]:
                    self.witness(k, end)
        return stated

    @property
    def _pair(self) -> dict[str, Dataset]:
        return {"x": self.x}

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        release = of_datasets(self, "reach", None, self.size)
        return replace(release, upper=None, left_out=left_out(self))

    def to_frame(self, column: str = "records") -> pd.DataFrame:
        """Return a tidy DataFrame with a row per distance 0, ..., K.

        Parameters
        ----------
        column : str, default "records"
            The name of the data.

        Returns
        -------
        pandas.DataFrame
            Columns: column, query, neighbors, distance, size, answer, lower, upper. As floats,
            lower ends are rounded down and upper ends up, so that no answer is outside.
        """
        check_text("column", column, "what to call the data")
        check_column("column", column)
        return pd.DataFrame(
            {
                "column": column,
                "query": self.query.name,
                "neighbors": self.neighbors.family,
                "distance": self.distances,
                "size": self.size,
                "answer": float_near(self.answer),
                "lower": [float_below(end) for end in self.lower],
                "upper": [float_above(end) for end in self.upper],
            }
        )

    def _finite(self) -> FiniteUniverse:
        """Return the universe, or of an interval one that has the values of all datasets."""
        return finite(self.universe, self.farthest.values)

    @property
    def _title(self) -> str:
        low, high = (
            rounded_down(float_below(self.lower[-1])),
            rounded_up(float_above(self.upper[-1])),
        )
        how = "exact" if self.arithmetic == "exact" else "exact search over float answers"
        return f"Reach of {self._name}: {low} to {high} within {self.distances[-1]} ({how})"

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        last = self.distances[-1]
        sizes = between_sizes(self.sizes, "sizes")
        shown = [
            *self.distances[1 : _DISTANCES_SHOWN + 1],
            *self.distances[max(_DISTANCES_SHOWN + 1, last) :],
        ]
        rows = [
            (
                f"within {k}",
                f"{rounded_down(float_below(self.lower[k]))} to "
                f"{rounded_up(float_above(self.upper[k]))}",
            )
            for k in shown
        ]
        everything = []
        if self.saturated_at is not None:
            everything = [("saturated", f"from distance {self.saturated_at} on: all datasets")]
        return [
            ("answer", f"f(x) = {float_near(self.answer):.10g}"),
            (
                "neighbors",
                f"{self.neighbors.family}; size {self.size}{sizes}; {self.universe.extent}",
            ),
            ("dataset x", in_short(self.x)),
            *rows,
            *everything,
            how_searched(self),
            *of_function(self),
        ]


def as_bound(answer: Any, query: Query) -> Bound:
    """Return an exact answer, a rational number or a tuple of one, as it is or as a root."""
    number = answer[0] if isinstance(answer, tuple) else answer
    return Root(number) if query.root else Fraction(number)


def float_near(bound: Bound) -> float:
    """Return the float nearest to an exact answer."""
    return float(bound) if isinstance(bound, Root) else nearest(bound)


def float_above(bound: Bound) -> float:
    """Return the smallest float that is not below an exact answer."""
    return bound.upper if isinstance(bound, Root) else round_up(bound)


def float_below(bound: Bound) -> float:
    """Return the largest float that is not above an exact answer."""
    if not isinstance(bound, Root):
        return round_down(bound) + 0.0  # no negative zero
    above = bound.upper
    return above if bound == Fraction(above) else math.nextafter(above, -math.inf)


def _number(answer: Any) -> float:
    return float(answer[0]) if isinstance(answer, tuple) else float(answer)
