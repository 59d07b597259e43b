"""Streams beside an upper bound: seconds, and how far below the bound of jax-privacy we are.

Run it with jax-privacy 2.0.0 beside the package: ``pip install jax-privacy==2.0.0``. Without it the
columns about it are empty.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from sensitivity_lab import streams

STEPS, K, SEPARATION = 1000, 10, 50


def factors() -> dict[str, np.ndarray]:
    """Matrices by their names."""
    ratios = [1.0, *((2 * i - 1) / (2 * i) for i in range(1, STEPS))]
    apart = np.subtract.outer(np.arange(STEPS), np.arange(STEPS))
    root = np.where(apart < 0, 0.0, np.cumprod(ratios)[np.maximum(apart, 0)])
    banded = np.where(apart < SEPARATION, root, 0.0)
    draw = np.random.default_rng(1)
    lower = np.tril(draw.random((STEPS, STEPS)))
    sparse = np.where(draw.random((STEPS, STEPS)) < 0.02, draw.random((STEPS, STEPS)), 0.0)

    def normalized(one: np.ndarray) -> np.ndarray:
        return one / np.linalg.norm(one, axis=0)

    return {
        "square root": root,
        "square root, normalized": normalized(root),
        "banded square root": banded,
        "banded, normalized": normalized(banded),
        "random, lower triangular": lower,
        "random": draw.random((STEPS, STEPS)),
        "random, normalized": normalized(lower),
        "sparse random": sparse,
        "sparse random, mixed signs": np.where(sparse > 0, 2 * sparse - 1, 0.0),
    }


def bound_of_others(factor: np.ndarray) -> tuple[float, float]:
    """The upper bound of jax-privacy in 64 bits, and its seconds after compilation."""
    import jax
    from jax_privacy.matrix_factorization import sensitivity

    jax.config.update("jax_enable_x64", True)
    gram = jax.numpy.asarray(factor.T @ factor)
    bound: Any = sensitivity.get_min_sep_sensitivity_upper_bound_for_X
    bound(gram, SEPARATION, K)
    begun = time.process_time()
    value = float(bound(gram, SEPARATION, K))
    return value, time.process_time() - begun


if __name__ == "__main__":
    print("| factor | sensitivity | jax-privacy / ours | ours, CPU s | jax-privacy, CPU s |")
    print("| --- | --- | --- | --- | --- |")
    for name, factor in factors().items():
        begun = time.process_time()
        found = streams.participation_sensitivity(factor, k=K, separation=SEPARATION, time_limit=15)
        took = time.process_time() - begun
        known = f"{found.upper:.6g}"
        if found.status == "bounds":
            known = f"{found.lower:.6g} to {found.upper:.6g}"
        beside, seconds = "", ""
        if find_spec("jax_privacy"):
            bound, other = bound_of_others(factor)
            beside, seconds = f"{bound / found.upper:.4f}", f"{other:.2f}"
        print(f"| {name} | {known} | {beside} | {took:.2f} | {seconds} |")
