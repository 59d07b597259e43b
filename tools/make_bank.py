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
from sensitivity_lab.bounds.box_search import Found, Root, bound, furthest, search

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
    return np.clip(odd, 0, 1)


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
    start = furthest(f, roots)
    return search(f, roots, RTOL, 30, lambda *task: [bound(f, *task)], lambda _: None, start)


def line(at: int, row: Row) -> tuple[str, list[str]]:
    """Return a line of the table, and pairs that show what is wrong in the bank."""
    cells, agreements, shown = [], [], []
    rule = "boxes"
    for n in SIZES:
        found = bounds_of(row.f, n) if row.each is None else bounds_of(row.each, 1)
        label = row.label(n)
        agrees = found.lower * (1 - 1e-9) <= label <= found.upper
        agreements.append("yes" if agrees else f"no (n = {n})")
        cells.append(text_of(found))
        if not agrees:
            shown.append(_apart(row.told, n, found, label))
    if row.each is not None:
        rule = "boxes of the one function in the sum, for every n"
    if row.formula is not None:
        query, factor = row.formula
        formula = formulas.formula(query, neighbors="bounded")
        for n, cell in zip(SIZES, cells, strict=True):
            value = float(formula(n=n, k=1, L=0, U=1)) * factor(n)
            if abs(value - float(cell)) > 1e-3 * max(1, value):
                raise SystemExit(f"{row.told}, n = {n}: the formula is {value}, boxes {cell}")
        rule = "formula, proved for every n; boxes"
    told = " / ".join(dict.fromkeys(cells))
    labels = " / ".join(dict.fromkeys(f"{row.label(n):.4f}" for n in SIZES))
    agreement = ", ".join(dict.fromkeys(agreements))
    return f"| {at} | {row.told} | {told} | {rule} | {labels} | {agreement} |", shown


def text_of(found: Found) -> str:
    """Return the lower bound, where the upper one is as close as asked, or both bounds."""
    if found.upper - found.lower <= RTOL * found.upper:
        return f"{found.lower:.4f}"
    return f"{found.lower:.4f} to {found.upper:.4f}"


def _apart(told: str, n: int, found: Found, label: float) -> str:
    x, y = (found.point[list(places)].round(3) for places in (found.root.on_x, found.root.on_y))
    lists = " and ".join(f"({', '.join(f'{one:g}' for one in data)})" for data in (x, y))
    return (
        f"- *{told}*, n = {n}: the bank says {label:.4f}; no two lists are further apart than "
        f"{found.upper:.4f}, and {lists} are {found.lower:.4f} apart."
    )


_HEAD = """# A public bank of sensitivities, checked

DPriv-Bench (2026) asks language models whether mechanisms are private. Its first part has a bank of
49 functions of n numbers in [0, 1], one of which is replaced, with a sensitivity for each. Here is
what the lab finds for n = 4 and n = 5: [certified bounds](../how_to/own_query.md) whose ends are
within 0.1 % of each other (the lower one is in the table), and a formula where one is proved.
Where the number depends on n, both are given. Datasets are lists here: numbers keep their places.

| | function | found | by | bank | agrees |
| --- | --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page."""
    found = [line(at, row) for at, row in enumerate(BANK, 1)]
    wrong = [pair for _, pairs in found for pair in pairs]
    lines = "\n".join(told for told, _ in found)
    return (
        f"{_HEAD}{lines}\n\n## What is wrong in the bank\n\n" + "\n".join(wrong) + "\n\n"
        "Quartiles and the median are numpy's, with linear interpolation. The bank's functions "
        "without\nnumbers in them have a choice here: m = 0, [a, b] = [1/4, 3/4], a threshold of "
        "1/2, delta = 2.\nThe page is made by `python tools/make_bank.py`.\n"
    )


if __name__ == "__main__":
    made = page()
    if "--check" in sys.argv:
        if PAGE.read_text("utf-8") != made:
            print(f"{PAGE.name} is not what make_bank.py finds: run it without --check")
            sys.exit(1)
        print(f"{PAGE.name} is up to date")
    else:
        PAGE.write_text(made, "utf-8")
