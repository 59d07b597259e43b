"""Samplers of noise that draw none: they return their location, and what they were asked is kept.

Code may add noise by ``total + np.random.laplace(0, scale)``, without a mechanism that gets the
total. With a quiet sampler the code returns its answer before noise.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

NUMPY = ("numpy.random.laplace", "numpy.random.normal", "numpy.random.default_rng")
"""The samplers that are quiet by default."""

_METHODS = ("laplace", "normal")


@dataclass(frozen=True)
class Draw:
    """What a sampler was asked: its location and its scale."""

    location: Any
    scale: Any


@dataclass(frozen=True)
class Place:
    """A module that holds a sampler under a name."""

    module: ModuleType
    name: str
    sampler: Any


def places_of(samplers: tuple[Any, ...]) -> list[Place]:
    """Return where all loaded modules hold some samplers, or raise InputError.

    Parameters
    ----------
    samplers : tuple
        Functions, generators of NumPy, ``np.random.default_rng``, or dotted names of these.
    """
    found = [_resolve(sampler) for sampler in samplers]
    return [
        Place(module, name, held)
        for module in list(sys.modules.values())
        for name, held in list(getattr(module, "__dict__", {}).items())
        if any(held is sampler for sampler in found)
    ]


@contextmanager
def quiet(places: list[Place], location: str, scale: str) -> Iterator[list[Draw]]:
    """Make samplers quiet, and yield their draws.

    Parameters
    ----------
    places : list of Place
        From `places_of`.
    location, scale : str
        The parameters of a function of the caller's; a function without the first draws around 0.

    Raises
    ------
    InputError
        If a sampler has no parameter for the scale.

    Examples
    --------
    >>> with quiet(places_of(NUMPY), "loc", "scale") as draws:
    ...     np.random.laplace(5.0, 2.0), np.random.default_rng(0).normal(scale=3.0, size=2).tolist()
    (5.0, [0.0, 0.0])
    >>> draws
    [Draw(location=5.0, scale=2.0), Draw(location=0.0, scale=3.0)]
    """
    draws: list[Draw] = []
    with ExitStack() as undo:
        for place in places:
            setattr(place.module, place.name, _quiet(place.sampler, location, scale, draws))
            undo.callback(setattr, place.module, place.name, place.sampler)
        yield draws


def _resolve(sampler: Any) -> Any:
    """Return what a dotted name stands for, or raise InputError."""
    found = sampler
    if isinstance(sampler, str):
        module, _, name = sampler.rpartition(".")
        try:
            found = getattr(importlib.import_module(module), name, None)
        except (ImportError, ValueError):
            found = None
    if not callable(found) and not isinstance(found, np.random.Generator | np.random.RandomState):
        raise InputError(
            "a sampler must be a function, a generator of NumPy, or the dotted name of one, such "
            f"as 'numpy.random.laplace', got {shown(sampler)}"
        )
    return found


def _quiet(sampler: Any, location: str, scale: str, draws: list[Draw]) -> Any:
    """Return what takes the place of a sampler."""
    if sampler is np.random.default_rng:
        return lambda *args, **options: _Generator(sampler(*args, **options), draws)
    if isinstance(sampler, np.random.Generator | np.random.RandomState):
        return _Generator(sampler, draws)
    if isinstance(getattr(sampler, "__self__", None), np.random.RandomState):
        return _numpy_sampler(draws)
    signature = inspect.signature(sampler)
    if scale not in signature.parameters:
        raise InputError(
            f"scale must be the name of a parameter of {sampler.__name__}{signature}, got {scale!r}"
        )

    def draw(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        asked = bound.arguments
        draws.append(Draw(asked.get(location, 0.0), asked[scale]))
        return _around(asked.get(location, 0.0), asked.get("size"))

    return draw


def _numpy_sampler(draws: list[Draw]) -> Callable[..., Any]:
    """Return a sampler with the parameters of NumPy's."""

    def draw(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        draws.append(Draw(loc, scale))
        return _around(loc, size)

    return draw


def _around(location: Any, size: Any) -> Any:
    """Return a location, once or as an array of a size."""
    return location if size is None else np.zeros(size) + location


class _Generator:
    """A generator of NumPy with quiet samplers; all else is that of the generator itself."""

    def __init__(self, generator: Any, draws: list[Draw]) -> None:
        self._generator = generator
        for name in _METHODS:
            setattr(self, name, _numpy_sampler(draws))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)
