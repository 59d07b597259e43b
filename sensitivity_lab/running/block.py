"""What a piece of work is, and what keeps its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from .checkpoint import Checkpoint

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
    def checkpoint(self) -> Checkpoint:
        """The folder where it keeps them."""


def to_go_on(keeper: Keeper | None) -> str:
    """Return the end of an error: that what is finished is kept, and how to go on from there."""
    return f"; what is finished is kept: {keeper.checkpoint.resume}" if keeper else ""
