"""Good arguments of the audits of maps, of OpenDP's measurements and of mechanisms."""

from __future__ import annotations

from typing import Any

import sensitivity_lab as sl


def noisy_count(scale: float) -> Any:
    """A measurement of OpenDP's."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return space >> dp.t.then_count() >> dp.m.then_laplace(scale)


class Selector:
    """A mechanism that selects by scores."""

    def __init__(self, utility: list[float], sensitivity: float) -> None:
        self.utility, self.sensitivity = utility, sensitivity

    def randomise(self) -> int:
        return 0


def mode(x: list[Any]) -> int:
    """A selection."""
    return Selector([x.count(0), x.count(1)], 1).randomise()


def by_size(x: Any, y: Any) -> int:
    return abs(len(x) - len(y))


def honest_or_not(data: Any, rng: Any) -> Any:
    """A mechanism that gets its generator."""
    return len(data) + rng.integers(3)


_AUDITS = ("audit_map", "audit_opendp")

AUDIT_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{f"{name}.values": ([0, 5], [0, 1, 5]) for name in _AUDITS},
    **{f"{name}.sizes": ([1, 2], 2) for name in _AUDITS},
    **{f"{name}.datasets": (None, None, [[1], [2]]) for name in _AUDITS},
    **{f"{name}.neighbors": (None, by_size) for name in _AUDITS},
    "audit_mechanism.function": (honest_or_not,),
    "audit_mechanism.values": ([0, 1],),
    "audit_mechanism.sizes": ([1, 2], 2),
    "audit_mechanism.datasets": (None, None, [[1], [2]]),
    "audit_mechanism.delta": (0, 0.25),
    "audit_mechanism.neighbors": ("bounded", "hamming", sl.Unbounded(1)),
    "audit_mechanism.rho": (None,),
    "audit_mechanism.fresh": (False,),
    "audit_mechanism.branches": (1000,),
    "audit_mechanism.d_in": (None, 1),
    "audit_map.transformation": (len, sum),
    "audit_map.claim": (1, 10, lambda k: 3 * k),
    "audit_map.inputs": ("symmetric", "L1", by_size),
    "audit_map.outputs": ("absolute", "Linf_monotonic", lambda x, y: abs(x - y)),
    "audit_selection.function": (mode,),
    "audit_selection.values": ([0, 1],),
    "audit_selection.sizes": ([1, 2], 2),
    "audit_selection.mechanisms": (Selector,),
    "audit_selection.inputs": ("symmetric", "L1"),
    "audit_selection.method": ("randomise",),
    "audit_selection.scores": ("utility",),
    "audit_selection.sensitivity": ("sensitivity",),
    "audit_selection.monotonic": ("monotonic",),
    "audit_selection.candidates": ("candidates",),
    "audit_selection.epsilon": ("epsilon",),
    "audit_selection.datasets": (None, [[1], [0]]),
    "audit_opendp.scale": (None, None, 0.5),
    "audit_opendp.outputs": (None, None, "L1"),
    "audit_opendp.answer": (None, None, abs),
}
"""By the name of a callable and of its parameter, as in `garbage.VALID`."""
