"""Samplers of noise that draw none: they return their location, and what they were asked is kept.

Code may add noise by ``total + np.random.laplace(0, scale)``, without a mechanism that gets the
total. With a quiet sampler the code returns its answer before noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from sensitivity_lab.audits.recording import named
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from .draws import Tap
from .holders import replaced
from .stand_ins import GENERATORS, SEED, StandIns

NUMPY = (
    "numpy.random.laplace",
    "numpy.random.normal",
    "numpy.random.standard_normal",
    "numpy.random.randn",
    "numpy.random.default_rng",
)
"""The samplers that are quiet by default."""


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
        If a sampler is none, or has no parameter for the scale.

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
    stand_ins = StandIns(location, scale, tap)
    found = [SEED.held, *(one for sampler in samplers for one in _resolved(sampler))]
    with replaced({id(one): (one, stand_ins.of(one)) for one in found}):
        yield tap


def _resolved(sampler: Any) -> list[Any]:
    """Return a sampler, and the generator that it is a method of, or raise InputError."""
    found = named(sampler) if isinstance(sampler, str) else sampler
    if isinstance(found, GENERATORS):
        return [found]
    if not callable(found):
        raise InputError(
            "a sampler must be a function, a generator of NumPy, or the dotted name of one, such "
            f"as 'numpy.random.laplace', got {shown(sampler)}"
        )
    owner = getattr(found, "__self__", None)
    return [found, owner] if isinstance(owner, np.random.Generator) else [found]
