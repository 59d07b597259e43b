"""What a piece of work is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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
