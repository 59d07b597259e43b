"""What a piece of work is, and what keeps its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

Recipe = TypeVar("Recipe")

Produced = tuple[int, int, Any]
"""A block's place, its length, and the answer on it."""


@dataclass(frozen=True)
class Block(Generic[Recipe]):
    """A piece of work.

    Attributes
    ----------
    recipe : object
        A small description of the work.
    length : int
        The amount of work, for the progress bar.
    label : str
        What errors call the block.
    """

    recipe: Recipe
    length: int
    label: str = "a block"


class Keeper(Protocol):
    """Keeps the answer on a finished block; travels to worker processes."""

    def keep(self, recipe: Any, answer: Any) -> None:
        """Keep an answer for a later call."""

    def found(self, recipe: Any) -> Any:
        """Return the answer that is kept on a block; None if there is none."""

    @property
    def is_here(self) -> bool:
        """Whether this process sees what is kept, as a worker on another machine may not."""

    @property
    def resume(self) -> str:
        """How to go on after an interruption, in words."""
