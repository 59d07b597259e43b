"""The requests to samplers, and the tap that decides what they return instead of noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LAPLACE, GAUSSIAN, UNKNOWN = "Laplace", "Gaussian", "unknown"
"""Kinds of noise."""


@dataclass(frozen=True)
class Draw:
    """A request to a sampler.

    Attributes
    ----------
    location, scale : Any
        Numbers or arrays.
    size : Any, default None
        The shape of the answer, where the caller gave one.
    kind : {"Laplace", "Gaussian", "unknown"}, default "Laplace"
        The kind of noise.
    name, site : str, default ""
        The sampler's name, and where it was called.
    """

    location: Any
    scale: Any
    size: Any = field(default=None, compare=False)
    kind: str = field(default=LAPLACE, repr=False)
    name: str = field(default="", compare=False, repr=False)
    site: str = field(default="", compare=False, repr=False)

    @property
    def center(self) -> Any:
        """The location in the shape of the answer."""
        shape = np.broadcast_shapes(np.shape(self.location), np.shape(self.scale))
        shape = (
            shape if self.size is None else np.broadcast_shapes(shape, np.zeros(self.size).shape)
        )
        return np.zeros(shape) + self.location if shape else self.location


class Tap:
    """Where the draws of quiet samplers go while it is open.

    Attributes
    ----------
    seeds : list of tuple
        Where generators got a seed since it was opened, and which one, as text.
    """

    def __init__(self) -> None:
        self.seeds: list[tuple[str, str]] = []
        self._release: Callable[[Draw], Any] | None = None
        self._draws: list[Draw] = []

    @property
    def is_open(self) -> bool:
        """Whether samplers are quiet."""
        return self._release is not None

    @contextmanager
    def open(
        self, release: Callable[[Draw], Any] = lambda draw: draw.center
    ) -> Iterator[list[Draw]]:
        """Make the samplers quiet, and yield their draws.

        Parameters
        ----------
        release : callable, optional
            What a draw returns instead of noise; by default its location.
        """
        self._release, self._draws, self.seeds = release, [], []
        try:
            yield self._draws
        finally:
            self._release = None

    def ask(self, draw: Draw) -> Any:
        """Keep a draw, and return its release."""
        if self._release is None:
            raise RuntimeError("a sampler is asked while the tap is closed")
        self._draws.append(draw)
        return self._release(draw)

    def seed(self, name: str, seed: Any, site: str) -> None:
        """Keep a seed; fresh entropy and what was seeded elsewhere are none."""
        if isinstance(seed, np.random.SeedSequence):
            seed = seed.entropy, seed.spawn_key
        if seed is None or hasattr(seed, "random_raw") or hasattr(seed, "bit_generator"):
            return
        if self.is_open:
            self.seeds.append((f"{name} in {site}", repr(seed)))


def kind_of_noise(name: str) -> str:
    """Return which noise a sampler of this name draws, as far as the name says.

    Examples
    --------
    >>> kind_of_noise("laplace"), kind_of_noise("gauss"), kind_of_noise("noise")
    ('Laplace', 'Gaussian', 'unknown')
    """
    lower = name.lower()
    if "laplace" in lower:
        return LAPLACE
    return GAUSSIAN if "gauss" in lower or "normal" in lower else UNKNOWN
