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

    @property
    def resume(self) -> str:
        """How to go on after an interruption, in words."""
