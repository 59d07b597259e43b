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
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from sensitivity_lab.audits.recording import site_of
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

NUMPY = ("numpy.random.laplace", "numpy.random.normal", "numpy.random.default_rng")
"""The samplers that are quiet by default."""

_METHODS = ("laplace", "normal")
_NUMPY = np.random.RandomState, np.random.Generator


LAPLACE, GAUSSIAN, UNKNOWN = "Laplace", "Gaussian", "unknown"
"""Kinds of noise."""


@dataclass(frozen=True)
class Draw:
    """What a sampler was asked.

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
    found = {id(sampler): sampler for sampler in map(_resolve, samplers)}
    return [
        Place(module, name, held)
        for module in list(sys.modules.values())
        for name, held in list(getattr(module, "__dict__", {}).items())
        if id(held) in found
    ]


@contextmanager
def quiet(
    places: list[Place],
    location: str,
    scale: str,
    release: Callable[[Draw], Any] = lambda draw: draw.center,
) -> Iterator[list[Draw]]:
    """Make samplers quiet, and yield their draws.

    Parameters
    ----------
    places : list of Place
        From `places_of`.
    location, scale : str
        The parameters of a function of the caller's; a function without the first draws around 0.
    release : callable, optional
        What a draw returns instead of noise; by default its location.

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
    [Draw(location=5.0, scale=2.0, size=None), Draw(location=0.0, scale=3.0, size=2)]
    """
    draws: list[Draw] = []

    def take(draw: Draw) -> Any:
        draws.append(draw)
        return release(draw)

    with ExitStack() as undo:
        for place in places:
            setattr(place.module, place.name, _quiet(place.sampler, location, scale, take))
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
    if not callable(found) and not isinstance(found, _NUMPY):
        raise InputError(
            "a sampler must be a function, a generator of NumPy, or the dotted name of one, such "
            f"as 'numpy.random.laplace', got {shown(sampler)}"
        )
    return found


_Take = Callable[[Draw], Any]


def _quiet(sampler: Any, location: str, scale: str, take: _Take) -> Any:
    """Return what takes the place of a sampler."""
    if sampler is np.random.default_rng:
        return lambda *args, **options: _Generator(sampler(*args, **options), take)
    if isinstance(sampler, _NUMPY):
        return _Generator(sampler, take)
    if isinstance(getattr(sampler, "__self__", None), _NUMPY):
        return _numpy_sampler(sampler.__name__, take)
    signature = inspect.signature(sampler)
    if scale not in signature.parameters:
        raise InputError(
            f"scale must be the name of a parameter of {sampler.__name__}{signature}, got {scale!r}"
        )

    def draw(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        asked = bound.arguments
        name = sampler.__name__
        given = asked.get(location, 0.0), asked[scale], asked.get("size")
        return take(Draw(*given, kind_of_noise(name), name, site_of(sys._getframe(1))))

    return draw


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


def _numpy_sampler(name: str, take: _Take) -> Callable[..., Any]:
    """Return a sampler with the parameters of NumPy's."""

    def draw(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        site = site_of(sys._getframe(1))
        return take(Draw(loc, scale, size, kind_of_noise(name), name, site))

    return draw


class _Generator:
    """A generator of NumPy with quiet samplers; all else is that of the generator itself."""

    def __init__(self, generator: Any, take: _Take) -> None:
        self._generator = generator
        for name in _METHODS:
            setattr(self, name, _numpy_sampler(name, take))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)
