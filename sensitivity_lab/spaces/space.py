"""What the one search has to know of a space of datasets, and of who is a neighbor of whom in it.

A *space* is a finite set of datasets. They come in *groups*, inside of which a dataset is a whole
number, its *code*, so that arrays hold many of them: sequences of one length are a group, and so
are graphs on the same nodes. A *relation* says how many pairs of neighbors a space has, and makes
them in blocks of arrays. Everything else is done once, for all spaces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.release import Things

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
        Those that occur in a pair, ascending.
    number : int
        How many pairs there are.
    blocks : callable
        Yields them, about so many at a time as it is told.
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
        What a dataset is called.
    _takes : str
        What a function of one is called with.
    _fewer, _few : str
        What to ask for where there are too many pairs, or too many calls of a function.
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


class SpaceRelation(ABC):
    """Who is a neighbor of whom in a space."""

    if TYPE_CHECKING:  # a field of every relation

        @property
        def k(self) -> Any:
            """How far apart neighbors are at most."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The relation without its distance, for tables."""

    _compared: ClassVar[str] = "pairs of neighbors"
    """What is counted of them."""

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
        return replace(self, k=k)  # type: ignore[type-var]  # they are dataclasses

    @abstractmethod
    def _check(self, space: Any) -> None:
        """Raise InputError if a space has no neighbors at this distance."""

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
