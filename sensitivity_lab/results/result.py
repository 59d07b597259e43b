"""The base of all results: the facts for noise, the proof, and what is shown.

A result is verified: everything that it states is measured again on its witness.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sensitivity_lab.checks import Norm, rounded_up
from sensitivity_lab.errors import InputError, VerificationError
from sensitivity_lab.universes.relations import (
    Dataset,
    Multiplicities,
    check_related,
    multiplicities_of,
    show,
)
from sensitivity_lab.universes.universe import FiniteUniverse

from .noise_context import NoiseSource
from .reprs import Facts, certainty, format_up
from .witness import has_vectors

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


class Result(NoiseSource, Proved, Facts):
    """A statement about the answers of a query, with datasets that prove it.

    A class of results defines four things, and everything else follows: `noise_context`, the facts
    that noise needs; `again`, which measures the witness again, for `verify`; `facts`, for text and
    HTML; and the datasets that a message of `verify` shows.
    """

    if TYPE_CHECKING:  # fields of the one class, properties of the other

        @property
        def query(self) -> Any:
            """The query, or its name."""


class Paired(Result):
    """A statement about a sensitivity, with a pair of neighbors that proves it as its `witness`."""

    if TYPE_CHECKING:

        @property
        def witness(self) -> Any:
            """Two neighbors."""

        @property
        def upper(self) -> float | None:
            """An upper bound of the sensitivity; None if unknown."""

        @property
        def norm(self) -> Norm:
            """The norm of the difference of two vector answers."""

        @property
        def kind(self) -> str:
            """Whether it is for all datasets or for one."""

    @property
    def _pair(self) -> dict[str, Dataset]:
        return {"x": self.witness.x, "y": self.witness.y}

    @property
    def _norm(self) -> Norm | None:
        """The norm of the difference of two answers; None if they are numbers."""
        return self.norm if has_vectors(self) else None

    @property
    def _in_norm(self) -> str:
        """The norm in a title."""
        return "" if self._norm is None else f", {self._norm} norm"


class Found(Paired):
    """A known sensitivity. It is formatted as a number, rounded up.

    Noise is scaled to a sensitivity, so the digits shown are never below it.
    """

    if TYPE_CHECKING:

        @property
        def value(self) -> float:
            """The float nearest to the sensitivity."""

        @property
        def exact(self) -> Fraction | None:
            """The sensitivity as a rational; None if it is irrational or unknown."""

        @property
        def arithmetic(self) -> str:
            """Whether the answers are exact, or floats."""

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format_up(self._bound, self.exact, spec) if spec else str(self)

    @property
    def _bound(self) -> float:
        return self.value if self.upper is None else self.upper

    def _text(self, digits: int = 10) -> str:
        """Return the sensitivity as text, rounded up."""
        return rounded_up(self._bound, self.exact, digits)

    @property
    def _what(self) -> str:
        """What was found, in words."""
        return "Local sensitivity" if self.kind == "local" else "Sensitivity"

    @property
    def _title(self) -> str:
        text = self._text()
        how = certainty(text, self.arithmetic, self.exact)
        return f"{self._what} of {self._name}{self._in_norm}: {text} ({how})"
