"""The settings of a sweep of `opendp.extras`: its constructors on arrays of two columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from .setting import Setting

_UNIT = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.6, 0.8))
_FAR = ((5.0, 0.0), (-3.0, 4.0), (0.0, 0.25), (0.1, 1e200))
_SIZES = (1, 2, 4)


def settings() -> Iterator[Setting]:
    """Yield the settings, the same ones in the same order each time.

    Examples
    --------
    >>> next(settings()).constructor
    'make_np_clamp'
    """
    for p in (1, 2):
        for origin in ((0.0, 0.0), (10.0, 0.0), (0.5, -2.0)):
            for norm in (1.0, 0.5, 3.0):
                yield from _of_ball(p, origin, norm)
    yield from _of_lines()
    yield from _of_marginals()


def _of_ball(p: int, origin: tuple[float, float], norm: float) -> Iterator[Setting]:
    """Yield the settings of constructors on rows within a ball, with and without a public size."""
    center = f"np.array({list(origin)})"
    # On the axes, so that sums of few of them are exact; 0.6 and 0.8 are not in the ball for p = 1.
    inside = tuple(
        (origin[0] + norm * a, origin[1] + norm * b) for a, b in _UNIT[: 3 if p == 1 else 4]
    )
    for size in (None, *_SIZES[1:]):
        sizes = _SIZES if size is None else (size,)
        free = (
            f"dp.numpy.array2_domain(num_columns=2, size={size}, T=float), dp.symmetric_distance()"
        )
        ball = (
            f"dp.numpy.array2_domain(norm={norm}, p={p}, origin={center}, num_columns=2, "
            f"size={size}, nan=False, T=float), dp.symmetric_distance()"
        )
        clamp = f"dp.numpy.make_np_clamp({free}, {norm}, {p}, {center})"
        yield _of("make_np_clamp", clamp, _FAR, sizes, "symmetric")
        yield _of("make_np_sum", f"{clamp} >> _make_np_sum.then_np_sum()", _FAR, sizes, f"L{p}")
        yield _of("make_np_sum", f"_make_np_sum.make_np_sum({ball})", inside, sizes, f"L{p}")
        yield _of("make_np_count", f"_make_np_count.make_np_count({ball})", inside, sizes, "L1")
        if size is None:
            continue
        sscp = f"_make_np_sscp.make_np_sscp({ball})"
        yield _of(
            "make_eigenvalues",
            f"{sscp} >> _make_eigenvalues.then_eigenvalues()",
            inside,
            sizes,
            "L1",
        )
        mean = f"lambda scale: _make_np_mean.make_private_np_mean({ball}, scale)"
        claim = "epsilon" if p == 1 else "rho"
        yield _of("make_private_np_mean", mean, inside, sizes, f"L{p}", claim)


def _of_lines() -> Iterator[Setting]:
    """Yield the settings of the step of a regression that draws nothing."""
    points = ((0.0, 0.0), (1.0, 2.0), (3.0, 1.0))
    for column in (0, 1):
        source = f"make_select_column({column})"
        yield _of("make_select_column", source, points, (0, 1, 2), "symmetric")


def _of_marginals() -> Iterator[Setting]:
    """Yield the settings of counts by one column or two, to which `opendp.extras.mbi` fits models.

    Where rows are all apart in the groups of two columns, the map has a smaller claim for L2.
    """
    rows = ((0, 0), (0, 2), (1, 2), (2, 1))
    for far, clique in itertools.product(("L1", "L2"), (("p",), ("q",), ("p", "q"))):
        metric = f'dp.{far.lower()}_distance(T="u32")'
        source = f"make_stable_marginals(DOMAIN, ROWS, {metric}, [{clique}])"
        cases = {"marginal": "symmetric"}
        if len(clique) == 2:
            cases["marginal of groups apart"] = "rows apart"
        for claim, near in cases.items():
            given = {"data": "marginals", "near": near, "far": far, "claim": claim, "d_in": (1, 2)}
            options = tuple(given.items())
            yield Setting("make_stable_marginals", source, rows, (0, 1, 2, 3), options)


def _of(
    name: str,
    source: str,
    rows: tuple[tuple[float, ...], ...],
    sizes: tuple[int, ...],
    far: str,
    claim: str = "distance",
) -> Setting:
    given: dict[str, Any] = {"data": "arrays", "near": "symmetric", "far": far, "claim": claim}
    given["d_in"] = (2,) if len(sizes) == 1 else (1, 2)
    return Setting(name, source, rows, sizes, tuple(given.items()))
