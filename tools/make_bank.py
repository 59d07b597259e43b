"""Write the table of a public bank of functions beside what the lab finds.

    python tools/make_bank.py            compute, and write docs/reference/dpriv_bench.md
    python tools/make_bank.py --check    compute again; exit status 1 if the page says otherwise

The bank is that of DPriv-Bench (2026): 49 functions of n numbers in [0, 1], one of which is
replaced, each with its sensitivity as the bank states it. Numbers keep their places here, so that a
dataset is a list. The functions are written again from their mathematical definitions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sensitivity_lab import formulas
from sensitivity_lab.bounds.boxes.search import Found, Root, bound, search

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "dpriv_bench.md"

SIZES = (4, 5)
"""For so many numbers bounds are computed."""

RTOL = 1e-3


class Row(NamedTuple):
    """A function of the bank.

    Attributes
    ----------
    told : str
        The function, in words or as a formula.
    f : callable
        The function of an array of n numbers.
    label : callable
        The bank's sensitivity for n numbers.
    each : callable or None
        If f is a sum over the records of one function, that function.
    formula : tuple or None
        What `formulas.formula` takes, and what its value is multiplied by, for n.
    """

    told: str
    f: Callable[[Any], Any]
    label: Callable[[int], float]
    each: Callable[[Any], Any] | None = None
    formula: tuple[Any, Callable[[int], float]] | None = None


def _of_sum(told: str, each: Callable[[Any], Any], label: float) -> Row:
    return Row(told, lambda x: np.sum(each(x)), lambda _: label, each)


def _sums(f: Callable[[Any, Any], Any]) -> tuple[Any, Callable[[int], float]]:
    return formulas.sums(f), lambda _: 1.0


def _one(_: int) -> float:
    return 1.0


def _places(x: Any) -> Any:
    return np.arange(1, len(x) + 1)


def _next(x: Any) -> Any:
    """The next number of each, the first one after the last."""
    return x[[*range(1, len(x)), 0]]


def _rank(x: Any) -> Any:
    """How many numbers are below the first one."""
    return np.sum(x[1:] < x[0])


def _parity(x: Any) -> Any:
    """Whether an odd number of numbers is above 1 / 2: ones that are added without carrying."""
    odd = 1.0 * (x[0] > 0.5)
    for at in range(1, len(x)):
        above = x[at] > 0.5
        odd = odd + above - 2 * odd * above
    return odd


_E = math.e

BANK: tuple[Row, ...] = (
    Row("sum", np.sum, _one, lambda x: x, ("sum", _one)),
    Row("product", np.prod, _one),
    Row("max", np.max, _one, None, ("max", _one)),
    Row("min", np.min, _one, None, ("min", _one)),
    Row("mean", np.mean, lambda n: 1 / n, None, ("mean", _one)),
    Row("root of the sum of x^2", np.linalg.norm, _one),
    Row("sum of abs(x_i - x_(i+1))", lambda x: np.abs(x[1:] - x[:-1]).sum(), lambda _: 2),
    Row(
        "sum of abs(x_i - mean)",
        lambda x: np.abs(x - x.mean()).sum(),
        lambda n: 2 * (n - 1) / n,
    ),
    Row(
        "sum of (x_i - mean)^2",
        lambda x: len(x) * x.var(),
        lambda n: (n - 1) / n,
        None,
        ("var", float),
    ),
    _of_sum("sum of (x_i - m)^2, worst m in [0, 1] (m = 0)", lambda x: x**2, 1),
    _of_sum("sum of x^2", lambda x: x**2, 1),
    _of_sum("sum of x^3", lambda x: x**3, 1),
    _of_sum("sum of sqrt(x)", np.sqrt, 1),
    _of_sum("sum of log(1 + x)", np.log1p, math.log(2)),
    _of_sum("sum of exp(x)", np.exp, _E - 1),
    _of_sum("sum of sin(pi x)", lambda x: np.sin(math.pi * x), 1),
    _of_sum("sum of cos(pi x)", lambda x: np.cos(math.pi * x), 2),
    _of_sum("sum of arctan(x)", np.arctan, math.pi / 4),
    _of_sum("sum of x (1 - x)", lambda x: 0.25 - (x - 0.5) ** 2, 1 / 4),
    _of_sum("sum of (x (1 - x))^2", lambda x: (0.25 - (x - 0.5) ** 2) ** 2, 1 / 16),
    Row("median", np.median, _one, None, ("median", _one)),
    Row("Q3 - Q1", lambda x: np.percentile(x, 75) - np.percentile(x, 25), _one),
    _of_sum("number above 1/2", lambda x: 1.0 * (x > 0.5), 1),
    _of_sum("number in [1/4, 3/4]", lambda x: 1.0 * ((x >= 0.25) & (x <= 0.75)), 1),
    Row("sum of x_i x_(i+1)", lambda x: np.sum(x[1:] * x[:-1]), lambda _: 2),
    Row(
        "sum of x_i x_j, i < j",
        lambda x: sum(x[i] * np.sum(x[i + 1 :]) for i in range(len(x) - 1)),
        lambda n: n - 1,
        None,
        _sums(lambda p, _: (p[1] ** 2 - p[2]) / 2),
    ),
    Row(
        "sum of x_(2i-1) - x_(2i)",
        lambda x: sum(x[2 * i] - x[2 * i + 1] for i in range(len(x) // 2)),
        _one,
    ),
    Row(
        "(sum of x)^2",
        lambda x: np.sum(x) ** 2,
        lambda n: 2 * n - 1,
        None,
        _sums(lambda p, _: p[1] ** 2),
    ),
    Row("sum of i x_i", lambda x: np.dot(_places(x), x), float),
    Row("whether the sum is above n / 2", lambda x: 1.0 * (np.sum(x) > len(x) / 2), _one),
    _of_sum("number above 0.7", lambda x: 1.0 * (x > 0.7), 1),
    Row("whether all are above 1/2", lambda x: np.prod(1.0 * (x > 0.5)), _one),
    Row("whether x_1 > x_2", lambda x: 1.0 * (x[0] > x[1]), _one),
    Row("whether the number above 1/2 is odd", _parity, _one),
    Row("log(1 + sum of x^2)", lambda x: np.log(1 + np.sum(x**2)), lambda _: math.log(2)),
    Row(
        "root of the sum of (x_i - x_(i+1))^2, in a circle",
        lambda x: np.linalg.norm(x - _next(x)),
        lambda _: math.sqrt(2),
    ),
    Row(
        "sum of x^2 / (1 + sum of x)",
        lambda x: np.sum(x**2) / (1 + np.sum(x)),
        lambda _: 1 / 2,
        None,
        _sums(lambda p, _: p[2] / (1 + p[1])),
    ),
    Row("exp(-sum of x^2)", lambda x: np.exp(-np.sum(x**2)), lambda _: 1 - 1 / _E),
    _of_sum("sum of 1 / (1 + x^2)", lambda x: 1 / (1 + x**2), 1 / 2),
    _of_sum(
        "sum of 1 / (1 + exp(-x))",
        lambda x: 1 / (1 + np.exp(-x)),
        (1 - 1 / _E) / (2 * (1 + 1 / _E)),
    ),
    Row(
        "softmax mean",
        lambda x: np.sum(np.exp(x) * x) / np.sum(np.exp(x)),
        lambda n: _E / (_E + n - 1),
    ),
    _of_sum("sum of abs(x - 1/2)", lambda x: np.abs(x - 0.5), 1 / 2),
    Row("sum of (x_i - x_(i+1))^2", lambda x: np.sum((x[1:] - x[:-1]) ** 2), lambda _: 2),
    _of_sum("sum in another order", lambda x: x, 1),
    Row("rank of one of the numbers", _rank, lambda n: n - 1),
    Row("sum of x_i with i even", lambda x: np.sum(x[1::2]), _one),
    Row("sum of x_i / i", lambda x: np.dot(1 / _places(x), x), _one),
    _of_sum("-sum of x log(x + 2)", lambda x: -x * np.log(x + 2), math.log(3)),
    Row("sum of abs(x_i - i/n)", lambda x: np.abs(x - _places(x) / len(x)).sum(), _one),
)


def bounds_of(f: Callable[[Any], Any], n: int) -> Found:
    """Return certified bounds for lists of n numbers, one of which is replaced."""
    ends = np.zeros(n + 1), np.ones(n + 1)
    roots = []
    for i in range(n):  # variable n is the new number, at place i
        on_y = tuple(n if at == i else at for at in range(n))
        roots.append(Root(*ends, tuple(range(n)), on_y, (), 1, lists=True))
    return search(f, roots, RTOL, 30, lambda *task: [bound(f, *task)], lambda _: None)


def table() -> tuple[str, list[str]]:
    """Return the table, and the functions that have no number or another one than the bank."""
    lines, other = [], []
    for at, row in enumerate(BANK, 1):
        cells, agrees, rule = [], [], "boxes"
        for n in SIZES:
            found = bounds_of(row.f, n) if row.each is None else bounds_of(row.each, 1)
            label = row.label(n)
            reached = found.upper - found.lower <= RTOL * found.upper
            agrees.append(found.lower * (1 - 1e-9) <= label <= found.upper)
            cells.append(
                f"{found.lower:.4f}" if reached else f"{found.lower:.4f}..{found.upper:.4f}"
            )
            if not (reached and agrees[-1]):
                x, y = (one.round(3).tolist() for one in found.root.pair(found.point))
                other.append(f"{row.told}, n = {n}: {x} and {y} are {found.lower:.4f} apart")
        if row.each is not None:
            rule = "sum of one function of a number: boxes at n = 1 are for every n"
        if row.formula is not None:
            query, factor = row.formula
            proved = formulas.formula(query, neighbors="bounded")
            values = [float(proved(n=n, k=1, L=0, U=1)) * factor(n) for n in SIZES]
            assert all(
                abs(v - float(c)) < 1e-3 * max(1, v) for v, c in zip(values, cells, strict=True)
            )
            rule = "formula, for every n"
        labels = " / ".join(dict.fromkeys(f"{row.label(n):.4f}" for n in SIZES))
        told = " / ".join(dict.fromkeys(cells))
        word = {True: "yes", False: "**no**"}
        agreement = " / ".join(dict.fromkeys(word[one] for one in agrees))
        lines.append(f"| {at} | {row.told} | {told} | {rule} | {labels} | {agreement} |")
    return "\n".join(lines), other


if __name__ == "__main__":
    import time

    for at, row in enumerate(BANK, 1):
        for n in SIZES:
            t = time.time()
            try:
                found = bounds_of(row.f, n) if row.each is None else bounds_of(row.each, 1)
                ok = found.upper - found.lower <= RTOL * found.upper
                label = row.label(n)
                agree = found.lower * (1 - 1e-9) <= label <= found.upper
                print(
                    at,
                    row.told,
                    n,
                    f"{found.lower:.5f} {found.upper:.5f}",
                    "ok" if ok else "GAP",
                    label,
                    "" if agree else "DISAGREE",
                    found.boxes,
                    f"{time.time() - t:.1f}s",
                    flush=True,
                )
            except Exception as e:
                print(at, row.told, n, type(e).__name__, str(e)[:200], flush=True)
