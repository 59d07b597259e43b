"""Functions of the order of the records are told; those of a multiset raise no alarm."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import sensitivity_lab as sl
from sensitivity_lab.queries import order

UNIVERSES = {
    "bits": sl.Universe.from_domain([0, 1]),
    "offset": sl.Universe.from_domain([1e9 + i for i in range(8)]),
    "signs": sl.Universe.from_domain(np.linspace(-1, 1, 7)),
    "spread": sl.Universe.from_domain([0.1, 0.2, 0.7, 1e5]),
}

OF_THE_ORDER = {
    "drawdown": lambda x: float((np.maximum.accumulate(x) - x).max()),
    "rise": lambda x: float((x - np.minimum.accumulate(x)).max() - np.ptp(x)),
    "runs": lambda x: int(1 + (np.diff(x) != 0).sum()),
    "neighbors": lambda x: float((x[1:] * x[:-1]).sum()),
    "first": lambda x: float(x[0]),
    "last": lambda x: float(x[-1]),
    "trend": lambda x: float(np.dot(np.arange(len(x)), x)),
    "halves": lambda x: float(x[: len(x) // 2].sum() - x[len(x) // 2 :].sum()),
    "longest": lambda x: float(np.abs(np.diff(x)).sum()),
    "place": lambda x: int(x.argmax()),
    "discounted": lambda x: float((x * 0.9 ** np.arange(len(x))).sum()),
    "in chunks": lambda x: float(np.mean([np.median(x[i : i + 3]) for i in range(0, len(x), 3)])),
    "searched": lambda x: int(np.searchsorted(x, x.mean())),
    "autocorrelation": lambda x: float(((x[1:] - x.mean()) * (x[:-1] - x.mean())).sum()),
    "every other": lambda x: float(x[::2].sum()),
    "vector": lambda x: [float(x[0]), float(x.sum())],
    "fails": lambda x: 1 / float(np.all(np.diff(x) >= 0)),
    "smoothed": lambda x: float(pd.Series(x).ewm(alpha=0.5).mean().iloc[-1]),
    "rolling": lambda x: float(pd.Series(x).rolling(2).max().iloc[1:].sum()),
    "turns": lambda x: int((np.diff(np.sign(np.diff(x))) != 0).sum()),
    "reversal leaves it": lambda x: float((x[1:] * x[:-1] ** 2 + x[1:] ** 2 * x[:-1]).sum()),
    "middle": lambda x: float(x[len(x) // 2]),
    "von Neumann": lambda x: float((np.diff(x) ** 2).sum()),
    "sum in place": lambda x: float(np.cumsum(x).max() + np.cumsum(x).sum()),
    "to the first": lambda x: float((x - x[0]).mean()),
    "strings": lambda x: len(str(x.tolist()).split(", 0")) + int(x[0] * 10),
    "hash": lambda x: hash(tuple(x.tolist())) % 1000,
    "slope": lambda x: float(np.polyfit(np.arange(len(x)), x - x.mean(), 1)[0]),
}

OF_A_MULTISET = {
    "mean": np.mean,
    "naive mean": lambda x: sum(x) / len(x),
    "var": np.var,
    "std": lambda x: float(np.std(x, ddof=1)),
    "median": np.median,
    "range": np.ptp,
    "sorted first": lambda x: float(sorted(x)[0]),
    "gini": lambda x: float(np.abs(x[:, None] - x).sum()),
    "mad": lambda x: float(np.median(np.abs(x - np.median(x)))),
    "trimmed": lambda x: float(scipy.stats.trim_mean(x, 0.25)),
    "distinct": lambda x: len(set(x.tolist())),
    "largest count": lambda x: int(np.unique(x, return_counts=True)[1].max()),
    "softmax mean": lambda x: float((x * np.exp(x - x.max())).sum() / np.exp(x - x.max()).sum()),
    "log-sum-exp": lambda x: float(x.max() + np.log(np.exp(x - x.max()).sum())),
    "root mean square": lambda x: float(np.sqrt((x**2).mean())),
    "third moment": lambda x: float(((x - x.mean()) ** 3).mean()),
    "naive variance": lambda x: float((x**2).mean() - x.mean() ** 2 if abs(x).max() < 1e4 else 0),
    "tanh": lambda x: float(np.tanh(x).sum()),
    "product": lambda x: float(np.prod(x / (1 + np.abs(x)))),
    "harmonic": lambda x: float(len(x) / (1 / (np.abs(x) + 1)).sum()),
    "above": lambda x: int((x > 0.5).sum()),
    "vector": lambda x: [float(x.sum()), float((x**2).sum())],
    "matrix": lambda x: np.histogram(x, bins=[-1, 0.5, 1, 2e9])[0],
    "percentiles": lambda x: np.percentile(x, [25, 75]),
    "norm": lambda x: float(np.linalg.norm(x)),
    "sem": lambda x: float(scipy.stats.sem(x)),
    "iqr": lambda x: float(scipy.stats.iqr(x)),
    "series": lambda x: float(pd.Series(x).describe()["mean"]),
    "pairs": lambda x: float(sum(abs(a - b) for i, a in enumerate(x) for b in x[i:])),
    "constant": lambda x: float(x.sum() - x.sum()),
    "offset": lambda x: float(1e12 + x.mean()),
}


def solve(name, function):
    return sl.global_sensitivity(UNIVERSES[name], function, size=4, neighbors="bounded")


@pytest.mark.parametrize("name", OF_THE_ORDER)
def test_a_function_of_the_order_is_told(name):
    result = solve("bits", OF_THE_ORDER[name])
    assert result.depends_on_order
    assert f"  order      {order.ORDER}" in repr(result)


@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("name", OF_A_MULTISET)
def test_a_function_of_a_multiset_raises_no_alarm(name, universe):
    assert not solve(universe, OF_A_MULTISET[name]).depends_on_order


def test_noise_is_refused_until_the_release_sorts():
    runs = OF_THE_ORDER["runs"]
    with pytest.raises(sl.errors.InputError) as caught:
        sl.noise.laplace_scale(solve("bits", runs), epsilon=1)
    assert str(caught.value) == (
        f"sensitivity: function: {order.ORDER}. If the release sorts the records, too, say so with "
        "sl.from_function(f, order='sorted'); if it does not, the sensitivity is that of "
        "sl.spaces.sequences"
    )
    result = solve("bits", sl.from_function(runs, order="sorted"))
    assert (result.depends_on_order, sl.noise.laplace_scale(result, epsilon=1)) == (False, 1)


def test_every_kind_of_result_tells_it():
    bits, first = UNIVERSES["bits"], OF_THE_ORDER["first"]
    x, rest = [0, 0, 1], {"neighbors": "bounded"}
    told = [
        sl.local_sensitivity(bits, first, dataset=x, **rest),
        sl.smooth_sensitivity(bits, first, dataset=x, beta=1, **rest),
        sl.reach(bits, first, dataset=x, distances=2, **rest),
    ]
    assert [one.depends_on_order for one in told] == [True] * 3
    assert all(order.ORDER in repr(one) for one in told)


def test_rows_of_a_table_and_many_rows_at_once():
    rows = sl.TableUniverse.from_domain(pd.DataFrame({"a": [0, 1, 5]}))
    for of, depends in ((lambda t: int(t.a.iloc[0]), True), (lambda t: int(t.a.sum()), False)):
        result = sl.global_sensitivity(rows, of, size=3, neighbors="bounded")
        assert result.depends_on_order is depends
    for of, depends in ((lambda rows: rows[:, 0], True), (lambda rows: rows.sum(axis=1), False)):
        query = sl.from_function(of, vectorized=True)
        assert solve("bits", query).depends_on_order is depends


def test_what_it_costs_is_bounded(monkeypatch):
    """After the quick calls, one for each `SHARE` datasets that the search evaluated."""
    monkeypatch.setattr(order, "QUICK", 0)
    calls = 0

    def counted(x):
        nonlocal calls
        calls += 1
        return float(x.sum())

    universe = sl.Universe.from_domain(range(12))
    result = sl.global_sensitivity(universe, counted, size=5, neighbors="bounded")
    others = calls - result.datasets_evaluated
    assert 8 <= others <= result.datasets_evaluated / order.SHARE + 80


def test_a_slow_function_is_asked_about_records_that_differ(monkeypatch):
    """The witness has zeros and a 1, whose order does not count here."""
    monkeypatch.setattr(order, "QUICK", 0)
    universe = sl.Universe.from_domain([0, 0.25, 0.5, 0.75, 1])

    def first_of_four(x):
        return float(x.mean()) - (0.01 * x[0] if len(set(x.tolist())) == 4 else 0)

    result = sl.global_sensitivity(universe, first_of_four, size=4, neighbors="bounded")
    assert set(result.witness.x) | set(result.witness.y) <= {0, 1}
    assert result.depends_on_order
