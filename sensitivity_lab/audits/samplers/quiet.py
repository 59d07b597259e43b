"""Samplers without noise: they return their location, and their requests are kept.

Code may add noise by ``total + np.random.laplace(0, scale)``, without a mechanism that gets the
total. With a quiet sampler the code returns its answer before noise. Stand-ins take the places
of samplers: while the tap is open they are quiet, and else they draw their noise.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sensitivity_lab.audits.recording import named, site_of
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from .draws import GAUSSIAN, Draw, Tap, kind_of_noise
from .holders import Kept, replaced

NUMPY = (
    "numpy.random.laplace",
    "numpy.random.normal",
    "numpy.random.standard_normal",
    "numpy.random.randn",
    "numpy.random.default_rng",
)
"""The samplers that are quiet by default."""

_DEFAULT_RNG = Kept(np.random.default_rng)
_SEED = Kept(np.random.seed)
"""NumPy's own: under their names there are stand-ins while an audit runs."""

_GENERATORS = np.random.RandomState, np.random.Generator

_Asked = tuple[Any, Any, Any]


@contextmanager
def quiet(samplers: Iterable[Any], location: str, scale: str) -> Iterator[Tap]:
    """Make samplers quiet wherever they are held while a tap is open, and yield the tap.

    Parameters
    ----------
    samplers : iterable
        Functions, generators of NumPy, ``np.random.default_rng``, or dotted names of these.
    location, scale : str
        The parameters of a function of the caller's; a function without the first draws around 0.

    Raises
    ------
    InputError
        If a sampler is not one, or has no parameter for the scale.

    Notes
    -----
    A stand-in that the code keeps, such as a generator that it makes and caches, draws its noise
    as ever while the tap is closed, and after the end.

    Examples
    --------
    >>> with quiet(NUMPY, "loc", "scale") as tap, tap.open() as draws:
    ...     np.random.laplace(5.0, 2.0), np.random.default_rng(0).normal(scale=3.0, size=2).tolist()
    (5.0, [0.0, 0.0])
    >>> draws
    [Draw(location=5.0, scale=2.0, size=None), Draw(location=0.0, scale=3.0, size=2)]
    """
    tap = Tap()
    stand_ins = _StandIns(location, scale, tap)
    found = [_SEED.held, *(one for sampler in samplers for one in _resolved(sampler))]
    with replaced({id(one): (one, stand_ins.of(one)) for one in found}):
        yield tap


def _resolved(sampler: Any) -> list[Any]:
    """Return a sampler, and the generator that it is a method of, or raise InputError."""
    found = named(sampler) if isinstance(sampler, str) else sampler
    if isinstance(found, _GENERATORS):
        return [found]
    if not callable(found):
        raise InputError(
            "a sampler must be a function, a generator of NumPy, or the dotted name of one, such "
            f"as 'numpy.random.laplace', got {shown(sampler)}"
        )
    owner = getattr(found, "__self__", None)
    return [found, owner] if isinstance(owner, np.random.Generator) else [found]


def _located(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> _Asked:
    return loc, scale, size


def _standard(size: Any = None, *_: Any, **__: Any) -> _Asked:
    return 0.0, 1.0, size


def _by_dimensions(*dimensions: int) -> _Asked:
    return 0.0, 1.0, dimensions or None


_ASKED: dict[str, Callable[..., _Asked]] = {
    "laplace": _located,
    "normal": _located,
    "standard_normal": _standard,
    "randn": _by_dimensions,
}
"""By sampler of NumPy: the location, the scale and the size that its arguments ask for."""


class _StandIns:
    """Makes the stand-ins that ask one tap."""

    def __init__(self, location: str, scale: str, tap: Tap) -> None:
        self._location, self._scale, self._tap = location, scale, tap
        self._classes: dict[type, Any] = {base: self._quiet_class(base) for base in _GENERATORS}

    def of(self, sampler: Any) -> Any:
        """Return the stand-in of a sampler, or raise InputError."""
        if sampler is _DEFAULT_RNG.held:
            return self._default_rng
        if sampler is _SEED.held:
            return self._seed
        if isinstance(sampler, np.random.Generator):
            return self._classes[np.random.Generator](sampler.bit_generator)
        if isinstance(sampler, np.random.RandomState):
            return self._classes[np.random.RandomState](sampler._bit_generator)
        if isinstance(getattr(sampler, "__self__", None), _GENERATORS):
            return self._method(sampler.__name__, Kept(sampler))
        return self._function(Kept(sampler))

    def _default_rng(self, seed: Any = None) -> Any:
        if not self._tap.is_open:
            return _DEFAULT_RNG.held(seed)
        self._tap.seed("default_rng", seed, site_of(sys._getframe(1)))
        return self._classes[np.random.Generator](_DEFAULT_RNG.held(seed).bit_generator)

    def _seed(self, seed: Any = None) -> None:
        self._tap.seed("seed", seed, site_of(sys._getframe(1)))
        _SEED.held(seed)

    def _method(self, name: str, original: Kept, bound: int = 0) -> Callable[..., Any]:
        """Return a sampler with the parameters of NumPy's, after `bound` others."""
        if name not in _ASKED:
            raise InputError(
                f"a sampler of NumPy must be one of {', '.join(_ASKED)}, got {name}; draw in a "
                "function of your own, such as noise(scale), and name that one"
            )
        kind = GAUSSIAN if name == "randn" else kind_of_noise(name)

        def draw(*args: Any, **options: Any) -> Any:
            if not self._tap.is_open:
                return original.held(*args, **options)
            asked = _ASKED[name](*args[bound:], **options)
            return self._tap.ask(Draw(*asked, kind, name, site_of(sys._getframe(1))))

        draw.__name__ = name
        return draw

    def _quiet_class(self, base: type) -> type:
        """Return a class of generators that share a bit generator with the one they stand for."""
        methods = {
            name: self._method(name, Kept(getattr(base, name)), bound=1)
            for name in _ASKED
            if hasattr(base, name)
        }
        return type(base.__name__, (base,), methods)

    def _function(self, sampler: Kept) -> Callable[..., Any]:
        """Return what takes the place of a function of the caller's."""
        signature = inspect.signature(sampler.held)
        name = sampler.held.__name__
        if self._scale not in signature.parameters:
            raise InputError(
                f"scale must be the name of a parameter of {name}{signature}, got "
                f"{shown(self._scale)}"
            )

        def draw(*args: Any, **options: Any) -> Any:
            if not self._tap.is_open:
                return sampler.held(*args, **options)
            bound = signature.bind(*args, **options)
            bound.apply_defaults()
            asked = bound.arguments
            given = asked.get(self._location, 0.0), asked[self._scale], asked.get("size")
            site = site_of(sys._getframe(1))
            return self._tap.ask(Draw(*given, kind_of_noise(name), name, site))

        return draw
