"""How a result is verified: everything that it states is measured again on its witness."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sensitivity_lab.errors import InputError, VerificationError
from sensitivity_lab.universes.relations import (
    Dataset,
    Multiplicities,
    check_related,
    multiplicities_of,
    show,
)
from sensitivity_lab.universes.universe import FiniteUniverse

Stated = tuple[str, Any, Any]
"""What a result states: its name in a message, what is stated, and what the witness gives."""


class Proved(ABC):
    """A statement that datasets prove; `verify` is the same for all of them."""

    query: Any

    @abstractmethod
    def again(self) -> Iterable[Stated]:
        """Measure the witness again: return each number's name, stated value and measured value.

        Raises
        ------
        InputError, VerificationError
            If x or y is not a dataset of the universe, has another size than stated, or they are
            not neighbors.
        """

    def verify(self) -> None:
        """Recompute everything that the witness proves.

        Raises
        ------
        VerificationError
            If x or y is not a dataset of the universe, has another size than stated, they are not
            neighbors, or the answers and the numbers are not those of x and y.

        Notes
        -----
        This evaluates the query on the witness only. The witness cannot show that no other pair
        differs more; that is the search's claim.
        """
        with _verifying():
            for name, stated, computed in self.again():
                both_nan = stated != stated and computed != computed  # NaN is not equal to itself
                if stated != computed and not both_nan:
                    pair = [f"{one} = {self._shown(data)}" for one, data in self._pair.items()]
                    raise VerificationError(
                        f"the {name} of {self._name} is stated as {stated}, but the witness gives "
                        f"{computed}; {', '.join(pair)}"
                    )

    @property
    @abstractmethod
    def _pair(self) -> dict[str, Dataset]:
        """The datasets that a message shows, by their names."""

    def _shown(self, dataset: Any) -> str:
        """Return a dataset as errors show it."""
        return show(dataset)

    @property
    def _name(self) -> str:
        """The name of the query."""
        return str(getattr(self.query, "name", self.query))


@contextmanager
def _verifying() -> Iterator[None]:
    """Raise VerificationError for what a result states that no search would have accepted.

    Such as a record that is not in the universe, or a distance that is not feasible: elsewhere an
    InputError, but here it is not the caller's argument that is wrong.
    """
    try:
        yield
    except InputError as error:
        raise VerificationError(str(error)) from error


def check_size(size: int | tuple[int, ...], records: int) -> None:
    """Raise VerificationError unless x has one of the stated sizes."""
    sizes = (size,) if isinstance(size, int) else size
    if records not in sizes:
        raise VerificationError(f"x has {records} records, the stated sizes are {sizes}")


def neighbors_of(result: Any, universe: FiniteUniverse) -> tuple[Multiplicities, Multiplicities]:
    """Return x and y of a result by multiplicities; InputError or VerificationError if wrong."""
    x, y = (_ascending(data, universe) for data in (result.witness.x, result.witness.y))
    check_size(result.size, int(x.sum()))
    check_related(x, y, universe, result.neighbors)
    return x, y


def _ascending(dataset: Dataset, universe: FiniteUniverse) -> Multiplicities:
    """Return the multiplicities of an ascending dataset, or raise VerificationError."""
    multiplicities = multiplicities_of(dataset, universe)
    if universe.dataset(multiplicities) != dataset:
        raise VerificationError(f"{show(dataset)} is not in ascending order")
    return multiplicities
