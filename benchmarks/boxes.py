"""Time certified bounds beside a global optimizer, SCIP, on functions of n numbers in [0, 1].

Run with ``make benchmark-boxes``, which installs PySCIPOpt. Both look for the most that a function
moves when one record is replaced, to a relative gap of 1e-3, on one processor, for at most 60
seconds; SCIP gets the formula with the mean as a variable of its own, and its common records
sorted. Prints CPU seconds and the gap that is left, and the sums. SCIP computes with tolerances of
1e-6, which no certificate stands for. With numbers as arguments, these are the sizes: 4 6 by
default, all functions, and six of them for others.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import sensitivity_lab as sl

try:
    import pyscipopt
except ImportError:
    pyscipopt = None

LIMIT, GAP = 60.0, 1e-3
MOST_FOR_SCIP = 20
"""SCIP gets no larger datasets: at 100 records the first three functions stayed open."""


class Dataset:
    """The same operations on numpy's arrays and on SCIP's expressions."""

    def __init__(self, records: Any, named: Callable[[Any], Any], of: Any) -> None:
        self.records, self.of, self.named = list(records), of, named
        self.n = len(self.records)

    def total(self, g: Callable[[Any], Any]) -> Any:
        """Return a sum over the records."""
        return sum(g(t) for t in self.records)

    @property
    def mean(self) -> Any:
        """Return the mean, under a name of its own."""
        if not hasattr(self, "_mean"):
            self._mean = self.named(self.total(lambda t: t) / self.n)
        return self._mean

    def moment(self, power: int) -> Any:
        """Return a central moment, under a name of its own."""
        mean = self.mean
        return self.named(self.total(lambda t: (t - mean) ** power) / self.n)


def skewness(x: np.ndarray) -> float:
    """Return the skewness, with a constant below."""
    return np.mean((x - x.mean()) ** 3) / (0.05 + x.std() ** 3)


def kurtosis(x: np.ndarray) -> float:
    """Return the kurtosis, with a constant below."""
    return np.mean((x - x.mean()) ** 4) / (0.05 + x.var() ** 2)


def entropy(x: np.ndarray) -> float:
    """Return the entropy of shares."""
    p = x / x.sum()
    return -np.sum(p * np.log(p))


def gini(x: np.ndarray) -> float:
    """Return Gini's coefficient, by ranks."""
    ascending = np.sort(x)
    ranks = 2 * np.arange(1, len(x) + 1) - len(x) - 1
    return np.sum(ranks * ascending) / (len(x) * x.sum())


def gini_of(d: Dataset) -> Any:
    """Return Gini's coefficient, by pairs."""
    apart = sum(abs(s - t) for i, s in enumerate(d.records) for t in d.records[:i])
    return apart / (d.n * d.n * d.mean)


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[Dataset], Any], float]] = {
    "shifted variation": (
        lambda x: x.std() / (1 + x.mean()),
        lambda d: d.of.sqrt(d.moment(2)) / (1 + d.mean),
        0,
    ),
    "index of dispersion": (lambda x: x.var() / x.mean(), lambda d: d.moment(2) / d.mean, 0.1),
    "signal to noise": (
        lambda x: x.mean() / (0.1 + x.std()),
        lambda d: d.mean / (0.1 + d.of.sqrt(d.moment(2))),
        0,
    ),
    "geometric mean": (
        lambda x: np.exp(np.log(x).mean()),
        lambda d: d.of.exp(d.total(d.of.log) / d.n),
        0.1,
    ),
    "harmonic mean": (
        lambda x: len(x) / np.sum(1 / x),
        lambda d: d.n / d.total(lambda t: 1 / t),
        0.1,
    ),
    "root mean square": (
        lambda x: np.sqrt(np.mean(x**2)),
        lambda d: d.of.sqrt(d.total(lambda t: t**2) / d.n),
        0,
    ),
    "softmax mean": (
        lambda x: np.sum(x * np.exp(x)) / np.sum(np.exp(x)),
        lambda d: d.total(lambda t: t * d.of.exp(t)) / d.total(d.of.exp),
        0,
    ),
    "log-sum-exp": (
        lambda x: np.log(np.sum(np.exp(x))),
        lambda d: d.of.log(d.total(d.of.exp)),
        0,
    ),
    "entropy": (
        entropy,
        lambda d: d.of.log(d.n * d.mean) - d.total(lambda t: t * d.of.log(t)) / (d.n * d.mean),
        0.1,
    ),
    "Herfindahl": (
        lambda x: np.sum((x / x.sum()) ** 2),
        lambda d: d.total(lambda t: t**2) / (d.n * d.mean) ** 2,
        0.1,
    ),
    "Simpson": (
        lambda x: 1 - np.sum(x**2) / (1 + x.sum()) ** 2,
        lambda d: 1 - d.total(lambda t: t**2) / (1 + d.n * d.mean) ** 2,
        0,
    ),
    "third central moment": (
        lambda x: np.mean((x - x.mean()) ** 3),
        lambda d: d.moment(3),
        0,
    ),
    "skewness": (skewness, lambda d: d.moment(3) / (0.05 + d.of.sqrt(d.moment(2)) ** 3), 0),
    "kurtosis": (kurtosis, lambda d: d.moment(4) / (0.05 + d.moment(2) ** 2), 0),
    "ratio of sums": (
        lambda x: x.sum() / (1 + np.sum(x**2)),
        lambda d: d.n * d.mean / (1 + d.total(lambda t: t**2)),
        0,
    ),
    "log variance": (
        lambda x: np.log(0.1 + x.var()),
        lambda d: d.of.log(0.1 + d.moment(2)),
        0,
    ),
    "gini": (gini, gini_of, 0.1),
}
SIX = (
    *("shifted variation", "index of dispersion", "geometric mean"),
    *("softmax mean", "Herfindahl", "log variance"),
)


def by_boxes(name: str, n: int) -> tuple[float, float, float]:
    """Return CPU seconds, the lower and the upper bound of ours."""
    function, _, least = FUNCTIONS[name]
    started = time.process_time()
    found = sl.bounds.sensitivity_bounds(
        sl.Universe.from_interval(least, 1),
        function,
        size=n,
        neighbors="bounded",
        rtol=GAP,
        time_limit=LIMIT,
        n_jobs=1,
    )
    return time.process_time() - started, found.lower, found.upper


def by_scip(name: str, n: int) -> tuple[float, float, float]:
    """Return CPU seconds, the lower and the upper bound of SCIP's."""
    _, of, least = FUNCTIONS[name]
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", LIMIT)
    model.setParam("limits/gap", GAP)
    common = [model.addVar(lb=least, ub=1) for _ in range(n - 1)]
    own = [model.addVar(lb=least, ub=1) for _ in range(2)]
    for first, second in pairwise(common):
        model.addCons(first <= second)

    def named(expression: Any) -> Any:
        one = model.addVar(lb=None, ub=None)
        model.addCons(one == expression)
        return one

    def free() -> Any:
        return model.addVar(lb=None, ub=None)

    answers = []
    for record in own:
        dataset = Dataset([*common, record], named, pyscipopt)
        answer = free()
        model.addCons(answer == of(dataset))
        answers.append(answer)
    model.setObjective(answers[0] - answers[1], "maximize")
    started = time.process_time()
    model.optimize()
    lower = model.getPrimalbound() if model.getNSols() else 0.0
    return time.process_time() - started, lower, model.getDualbound()


def check(name: str) -> None:
    """End if both forms of a function differ."""
    function, of, _ = FUNCTIONS[name]
    x = np.random.default_rng(5).uniform(0.2, 0.9, 6)
    told = of(Dataset(x.tolist(), lambda value: value, np))
    if abs(told - function(x)) > 1e-12:
        raise SystemExit(f"the two forms of {name} differ: {told}, {function(x)}")


def shown(seconds: float, lower: float, upper: float) -> str:
    """Return one cell."""
    gap = (upper - lower) / lower if lower > 0 else np.inf
    return f"{seconds:6.2f} s" + ("        " if gap <= 1.1 * GAP else f" open {gap:.0e}")


def main() -> None:
    """Print the tables."""
    for name in FUNCTIONS:
        check(name)
    for n in [int(one) for one in sys.argv[1:]] or [4, 6, 20, 1000, 10**6]:
        names = FUNCTIONS if n <= 6 else SIX
        peer = by_scip if pyscipopt is not None and n <= MOST_FOR_SCIP else None
        print(f"n = {n:,}: boxes, then SCIP")
        sums = np.zeros(2)
        for name in names:
            ours = by_boxes(name, n)
            theirs = peer(name, n) if peer else None
            sums += [ours[0], theirs[0] if theirs else 0]
            print(f"  {name:22} {shown(*ours)}  {shown(*theirs) if theirs else ''}", flush=True)
        ratio = f" {sums[1]:6.1f} s, {sums[1] / sums[0]:.1f} times as long" if peer else ""
        print(f"  {'all':22} {sums[0]:6.1f} s {ratio}")


if __name__ == "__main__":
    main()
