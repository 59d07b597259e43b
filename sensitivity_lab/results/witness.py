"""The pair of datasets that proves a sensitivity: listed at once, or when first used.

Checked twice: `Unlisted.listed` checks a pair as it lists it, and `Result.verify` in `result.py`
checks any result's pair again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from sensitivity_lab.errors import VerificationError
from sensitivity_lab.queries import Answer, Query
from sensitivity_lab.universes.relations import (
    SHOWN,
    Dataset,
    Multiplicities,
    Relation,
    check_related,
)
from sensitivity_lab.universes.universe import FiniteUniverse

from .literals import short, short_ends
from .measure import measure
from .pairs import pair_facts
from .reprs import Facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Witness(Facts):
    """A pair of neighboring datasets that attains the sensitivity.

    Attributes
    ----------
    x, y : tuple of records
        The datasets, ascending; rows of a table in the order of their universe.
    query_x, query_y : float or tuple of float
        The query's answers on them, in the query's unit; a tuple where the answer is a vector.

    Examples
    --------
    >>> Witness((2, 3, 10), (1, 2, 3), 3.0, 2.0)
    Neighbors x of 3 records and y of 3
      only in x  10  f(x) = 3
      only in y  1   f(y) = 2
      in both    2, 3
    """

    x: Dataset
    y: Dataset
    query_x: Answer
    query_y: Answer

    @property
    def shared(self) -> Dataset:
        """The records of the core: those of x that are in y too."""
        return tuple((Counter(self.x) & Counter(self.y)).elements())

    @property
    def only_x(self) -> Dataset:
        """The records of x that are not in y."""
        return tuple((Counter(self.x) - Counter(self.y)).elements())

    @property
    def only_y(self) -> Dataset:
        """The records of y that are not in x."""
        return tuple((Counter(self.y) - Counter(self.x)).elements())

    def to_dict(self) -> dict[str, Any]:
        """Return the datasets and the answers on them, by the names of the attributes."""
        return {"x": self.x, "y": self.y, "query_x": self.query_x, "query_y": self.query_y}

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        return pair_facts(self)

    @property
    def _title(self) -> str:
        return f"Neighbors x of {len(self.x):,} records and y of {len(self.y):,}"

    def plot(self, **options: Any) -> Axes:
        """Draw the pair on a number line.

        Parameters
        ----------
        **options
            `query`, `neighbors` and `gap`, texts for the labels and the title; `unit` of the
            records; `ax`, where to draw, by default on a new figure.
        """
        from sensitivity_lab.plotting.witness import plot_witness

        return plot_witness(self, **options)


class Pair(Protocol):
    """A pair of datasets by multiplicities, made when first used."""

    @property
    def x(self) -> Multiplicities:
        """How often each distinct value of the universe occurs in x."""

    @property
    def y(self) -> Multiplicities:
        """How often each distinct value of the universe occurs in y."""

    def ends(self, most: int) -> tuple[Ends, Ends]:
        """Return some records of x and of y: half from the start, half from the end; or all."""


Ends = tuple[list[int], int]
"""The places of some records of a dataset among the values, and how many records it has."""


@dataclass(frozen=True, eq=False)
class Unlisted:
    """A witness that is not listed yet: the pair, and the stated values.

    Attributes
    ----------
    pair : Pair
    query : Query
    neighbors : Relation
    universe : FiniteUniverse
    stated : tuple of float, Fraction or None, and float
        The value, the exact value and the upper bound that the search gave.
    """

    pair: Pair
    query: Query
    neighbors: Relation
    universe: FiniteUniverse
    stated: tuple[float, Fraction | None, float]

    def listed(self) -> Witness:
        """List the pair, and check that its records are neighbors and as far apart as stated."""
        x, y = self.pair.x, self.pair.y
        check_related(x, y, self.universe, self.neighbors)
        measured = measure(self.query, self.universe, x, y)
        if (measured.value, measured.exact, measured.upper) != self.stated:
            raise VerificationError(
                f"the search gave {self.stated[0]} for {self.query.name}, {self.neighbors}, but "
                f"its witness gives {measured.value}; please report it"
            )
        datasets = self.universe.dataset(x), self.universe.dataset(y)
        return Witness(*datasets, measured.query_x, measured.query_y)

    def short(self) -> tuple[Dataset | str, Dataset | str]:
        """Return x and y, as text where they are long; no more of their records are listed."""
        values = self.universe.values
        first, second = (
            short_ends([values[place] for place in places], size)
            for places, size in self.pair.ends(SHOWN)
        )
        return first, second


class WhenAskedFor:
    """The attribute `witness`: a `Witness`, or an `Unlisted` one that is listed when first used."""

    def __get__(self, result: Any, owner: type | None = None) -> Any:
        if result is None:
            raise AttributeError("witness is an attribute of results")
        held = vars(result)["witness"]
        if isinstance(held, Unlisted):
            held = vars(result)["witness"] = held.listed()
        return held

    def __set__(self, result: Any, witness: Witness | Unlisted) -> None:
        vars(result)["witness"] = witness


def has_vectors(result: Any) -> bool:
    """Tell whether the answers of a result are vectors, without listing its witness."""
    held = vars(result)["witness"]
    return not isinstance(held, Unlisted) and isinstance(held.query_x, tuple)


def short_pair(result: Any) -> tuple[Dataset | str, Dataset | str]:
    """Return x and y of a result, as text where they are long; no more records are listed."""
    held = vars(result)["witness"]
    if isinstance(held, Unlisted):
        return held.short()
    return short(held.x), short(held.y)
