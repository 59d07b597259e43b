"""Good arguments of the audits of OpenDP's measurements and of mechanisms."""

from __future__ import annotations

from typing import Any

import sensitivity_lab as sl


def noisy_count(scale: float) -> Any:
    """A measurement of OpenDP's."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return space >> dp.t.then_count() >> dp.m.then_laplace(scale)


def by_size(x: Any, y: Any) -> int:
    return abs(len(x) - len(y))


def honest_or_not(data: Any, rng: Any) -> Any:
    """A mechanism that gets its generator."""
    return len(data) + rng.integers(3)


AUDIT_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "audit_opendp.universe": ([0, 5], [0, 1, 5]),
    "audit_opendp.size": ([1, 2], 2),
    "audit_opendp.datasets": (None, None, [[1], [2]]),
    "audit_opendp.neighbors": (None, by_size),
    "audit.datasets": (None,),
    "audit.outputs": (None,),
    "audit.choices": (None,),
    "audit_mechanism.function": (honest_or_not,),
    "audit_mechanism.universe": ([0, 1],),
    "audit_mechanism.size": ([1, 2], 2),
    "audit_mechanism.datasets": (None, None, [[1], [2]]),
    "audit_mechanism.delta": (0, 0.25),
    "audit_mechanism.neighbors": ("bounded", "hamming", sl.Unbounded(1)),
    "audit_mechanism.rho": (None,),
    "audit_mechanism.fresh": (False,),
    "audit_mechanism.sampled": (False,),
    "audit_mechanism.time_limit": (None, 60),
    "audit_mechanism.generator": (None, "Random", "RandomState"),
    "audit_mechanism.branches": (1000,),
    "audit_mechanism.distances": (None, 1),
    "audit_recorded.scores": (None,),
    "audit_opendp.scale": (None, None, 0.5),
    "audit_opendp.outputs": (None, None, "L1"),
    "audit_opendp.answer": (None, None, abs),
}
"""By the name of a callable and of its parameter, as in `garbage.VALID`."""
