"""Stand-ins for samplers: while the tap is open they are quiet, and else they draw their noise."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from sensitivity_lab.audits.recording import site_of
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from .draws import GAUSSIAN, Draw, Tap, kind_of_noise
from .holders import Kept

DEFAULT_RNG = Kept(np.random.default_rng)
SEED = Kept(np.random.seed)
"""NumPy's own: under their names there are stand-ins while an audit runs."""

GENERATORS = np.random.RandomState, np.random.Generator

_Asked = tuple[Any, Any, Any]


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


class StandIns:
    """Makes the stand-ins that ask one tap."""

    def __init__(self, location: str, scale: str, tap: Tap) -> None:
        self._location, self._scale, self._tap = location, scale, tap
        self._classes: dict[type, Any] = {base: self._quiet_class(base) for base in GENERATORS}

    def of(self, sampler: Any) -> Any:
        """Return the stand-in of a sampler, or raise InputError."""
        if sampler is DEFAULT_RNG.held:
            return self._default_rng
        if sampler is SEED.held:
            return self._seed
        if isinstance(sampler, np.random.Generator):
            return self._classes[np.random.Generator](sampler.bit_generator)
        if isinstance(sampler, np.random.RandomState):
            return self._classes[np.random.RandomState](sampler._bit_generator)
        if isinstance(getattr(sampler, "__self__", None), GENERATORS):
            return self._method(sampler.__name__, Kept(sampler))
        return self._function(Kept(sampler))

    def _default_rng(self, seed: Any = None) -> Any:
        if not self._tap.is_open:
            return DEFAULT_RNG.held(seed)
        self._tap.seed("default_rng", seed, site_of(sys._getframe(1)))
        return self._classes[np.random.Generator](DEFAULT_RNG.held(seed).bit_generator)

    def _seed(self, seed: Any = None) -> None:
        self._tap.seed("seed", seed, site_of(sys._getframe(1)))
        SEED.held(seed)

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
