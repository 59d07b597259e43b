"""The interface of the search: spaces of datasets, and neighbor relations in them.

A *space* is a finite set of datasets. They come in *groups*. Within a group, a dataset is a whole
number, its *code*, so arrays can hold many datasets: sequences of one length are a group, and so
are graphs on the same nodes. A *relation* counts the pairs of neighbors in a space, and makes them
in blocks of arrays. Everything else is done once, for all spaces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import check_whole
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.noise_context import Things

Group = Hashable
"""What the datasets of a group have in common, such as their length."""

Codes = NDArray[np.int64]
"""Datasets of one group, as whole numbers."""

Code = tuple[Group, int]
"""One dataset."""

Number = int | float | Fraction
Answer = Number | tuple[Number, ...]
"""What a query answers on one dataset."""

MOST_STEPS = 2**31
"""If there are more steps, the answers are not compared; a step is a pair."""


class Block(NamedTuple):
    """Pairs of neighbors, side by side: codes of shape (pairs,), or (1,) where all share one."""

    of_x: Group
    x: Codes
    of_y: Group
    y: Codes


@dataclass(frozen=True)
class Pairs:
    """All pairs of neighbors, or all with one x.

    Attributes
    ----------
    datasets : dict of group to codes
        The datasets that occur in a pair, ascending.
    number : int
        The number of pairs.
    blocks : callable
        Yields the pairs, about as many at a time as its argument says.
    """

    datasets: dict[Group, Codes]
    number: int
    blocks: Callable[[int], Iterator[Block]]


@dataclass(frozen=True)
class SpaceWitness:
    """Two neighboring datasets that attain a sensitivity.

    Attributes
    ----------
    x, y : dataset
        As the space writes them.
    query_x, query_y : int, float, Fraction or tuple of such
        The query's answers on them.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> space = spaces.Space([0, 1, 5], lambda a, b: abs(a - b))
    >>> spaces.global_sensitivity(space, lambda x: x * x, neighbors=spaces.Within(4)).witness
    SpaceWitness(x=1, y=5, query_x=1, query_y=25)
    """

    x: Any
    y: Any
    query_x: Answer
    query_y: Answer

    def _texts(self) -> tuple[str, str]:
        """Return x and y as text."""
        return brief(self.x), brief(self.y)

    def _changed(self, neighbors: Any) -> str | None:
        """Return what differs in words, where there are any for it."""
        return None

    def _to_dict(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


class FiniteSpace(ABC):
    """A finite set of datasets.

    Attributes
    ----------
    _noun : str
        The word for a dataset.
    _takes : str
        The argument of a function of one.
    _fewer, _few : str
        What to use if there are too many pairs, or too many calls of a function.
    _things : Things
        The words of warnings about noise.
    _picture : str
        The function of `plotting` that draws a witness.
    _sizes : tuple of int
        The sizes of its datasets, if these have any.
    _size : str
        The same in words.
    _is_listed : bool
        Whether it may be made of private data.
    """

    _noun: ClassVar[str]
    _takes: ClassVar[str]
    _fewer: ClassVar[str]
    _few: ClassVar[str]
    _things: ClassVar[Things]
    _picture: ClassVar[str]

    @property
    def _is_listed(self) -> bool:
        return False

    @property
    def _sizes(self) -> tuple[int, ...]:
        return ()

    @property
    @abstractmethod
    def _size(self) -> str: ...

    @abstractmethod
    def _code(self, dataset: Any, name: str) -> Code:
        """Return a caller's dataset by its code, or raise InputError."""

    @abstractmethod
    def _argument(self, code: Code) -> Any:
        """Return a dataset as a function of it is called with, which may change it."""

    @abstractmethod
    def _told(self, code: Code) -> str:
        """Return how errors name a dataset."""

    @abstractmethod
    def _witness(
        self, x: Code, y: Code, answers: tuple[Answer, Answer], neighbors: Any
    ) -> SpaceWitness:
        """Return two neighbors."""

    def _codes(self, witness: Any) -> tuple[Code, Code]:
        """Return x and y of a witness, or raise InputError if the space has no such dataset."""
        return self._code(witness.x, "x"), self._code(witness.y, "y")


def in_parts(codes: Codes, size: int) -> Iterator[Codes]:
    """Yield datasets, at most so many at a time."""
    for start in range(0, len(codes), size):
        yield codes[start : start + size]


def pairs_with(x: Code, others: Codes) -> Pairs:
    """Return the pairs of one dataset with others of its group that differ from it."""
    group, itself = x[0], np.array([x[1]])
    blocks = [Block(group, itself, group, others)] if len(others) else []
    return Pairs({group: np.union1d(itself, others)}, len(others), lambda _: iter(blocks))


@dataclass(frozen=True)
class SpaceRelation(ABC):
    """A neighbor relation in a space.

    Attributes
    ----------
    k : int
        The largest distance of neighbors.
    _counts : str
        What k counts, and the smallest one.
    _family : str
        The relation without its distance.
    _compared : str
        What the number of pairs counts.
    """

    k: Any = 1

    _counts: ClassVar[str]
    _family: ClassVar[str]
    _compared: ClassVar[str] = "pairs of neighbors"

    def __post_init__(self) -> None:
        """Check the distance."""
        object.__setattr__(self, "k", check_whole("k", self.k, self._counts))

    @property
    def family(self) -> str:
        """The relation without its distance, for tables."""
        return self._family

    @property
    def _keeps_size(self) -> bool:
        """Whether neighbors have the same size, so that it can be public."""
        return True

    @property
    def meaning(self) -> str:
        """Whether k is the distance "at most" or "exactly"."""
        return "at most"

    def at(self, k: Any) -> Self:
        """Return the same relation at another distance.

        Parameters
        ----------
        k : int
            The distance.
        """
        return replace(self, k=k)

    @abstractmethod
    def _check(self, space: Any) -> None:
        """Raise InputError if a space has no neighbors at this distance."""

    def _check_most(self, most: int, why: str) -> None:
        """Raise InputError if k is above the largest distance; the message gives the reason."""
        if self.k > most:
            raise InputError(f"k must be at most {most}, {why}, got {self.k}")

    @abstractmethod
    def _pairs(self, space: Any, x: Code | None) -> Pairs:
        """Return the pairs of neighbors, those with one x if it is given.

        Raises
        ------
        TooLargeError
            If they are too many; `check_steps` says so before anything is listed.
        """

    @abstractmethod
    def _relates(self, witness: Any, space: Any) -> bool:
        """Tell whether x and y of a witness are neighbors, by the definition."""

    def _is_exactly(self, space: Any) -> bool:
        """Tell whether nearer datasets are no neighbors, so that noise would not protect them."""
        return False

    def _in(self, space: Any) -> Any:
        """Return what has to be the same where results are released together."""
        return self


def check_steps(steps: int, space: FiniteSpace, relation: SpaceRelation) -> None:
    """Raise TooLargeError if comparing all pairs would take too many steps."""
    if steps > MOST_STEPS:
        raise TooLargeError(
            f"to compare the neighbors among {space} takes {steps:,} steps ({relation}), and the "
            f"limit is {MOST_STEPS:,}; use {space._fewer}, or a smaller k"
        )
