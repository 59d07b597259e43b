"""Race the library against the article's own method, on the article's data, in one run.

The article's method is written here plainly from its definition: list every release with
itertools, list every neighbor of each, evaluate numpy on both datasets of each pair. Run with
``make benchmark-article``; takes minutes, all but milliseconds of them the article's method.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sensitivity_lab.article import Experiment, experiments

QUERIES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": np.mean,
    "median": np.median,
    "count": len,
    "sum": np.sum,
    "std": np.std,
    "var": np.var,
    "percentile_25": lambda x: np.percentile(x, 25),
    "percentile_50": lambda x: np.percentile(x, 50),
    "percentile_75": lambda x: np.percentile(x, 75),
    "percentile_90": lambda x: np.percentile(x, 90),
}


def unbounded(
    universe: Sequence[float], size: int, k: int
) -> Iterator[tuple[Sequence[float], Sequence[float]]]:
    """Yield every release with every dataset that has k records more, or k fewer."""
    for release in itertools.combinations(universe, size):
        for fewer in itertools.combinations(release, size - k):
            yield release, fewer
        rest = list((Counter(universe) - Counter(release)).elements())
        for extra in itertools.combinations(rest, k):
            yield release, release + extra


def bounded(
    universe: Sequence[float], size: int, k: int
) -> Iterator[tuple[Sequence[float], Sequence[float]]]:
    """Yield every two releases that share all but k records."""
    for shared in itertools.combinations(universe, size - k):
        rest = list((Counter(universe) - Counter(shared)).elements())
        completed = [shared + extra for extra in itertools.combinations(rest, k)]
        yield from itertools.combinations(completed, 2)


def by_listing(experiment: Experiment) -> list[float]:
    """Return all sensitivities of an experiment, by the article's method."""
    pairs = unbounded if experiment.neighbors.name == "unbounded" else bounded
    return [
        max(abs(query(x) - query(y)) for x, y in pairs(list(universe), experiment.size, k))
        for universe in experiment.universes.values()
        for query in QUERIES.values()
        for k in experiment.distances
    ]


def by_library(experiment: Experiment) -> list[float]:
    """Return the same sensitivities, in the same order, by the library."""
    return [result.value for _, result in experiment.run()]


def main() -> None:
    """Run the race, and check that both give the same values."""
    ours, theirs = 0.0, 0.0
    for experiment in experiments():
        times = []
        for _ in range(7):
            started = time.perf_counter()
            values = by_library(experiment)
            times.append(time.perf_counter() - started)
        started = time.perf_counter()
        listed = by_listing(experiment)
        seconds = time.perf_counter() - started
        np.testing.assert_allclose(values, listed, rtol=1e-9, atol=1e-12)
        ours, theirs = ours + min(times), theirs + seconds
        print(
            f"{experiment.name:<12} {len(values):3} values equal; "
            f"library {min(times) * 1e3:6.1f} ms (worst of 7: {max(times) * 1e3:6.1f} ms), "
            f"listing {seconds:8.1f} s",
            flush=True,
        )
    print(
        f"all          library {ours * 1e3:.1f} ms, listing {theirs:.1f} s, "
        f"ratio {theirs / ours:,.0f}"
    )


if __name__ == "__main__":
    main()
