"""The settings of a sweep of PipelineDP: calls of its engine, as text, and datasets of people.

A person is a tuple of rows, each a partition and a value. Neighbors differ in one person, who is
added or removed with all rows. The `values` of a setting are its datasets.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from .setting import Setting

Person = tuple[tuple[str, Any], ...]

_NOISE = ("LAPLACE", "GAUSSIAN")
_LIMITS = ((1, 1), (1, 2), (2, 2))
_BOUNDS = ((0, 1), (-1, 2), (-3, -1))
_PUBLIC = 'public=["a", "b"]'
_ENFORCED = "contribution_bounds_already_enforced=True"
_STRATEGIES = (
    "TRUNCATED_GEOMETRIC",
    "LAPLACE_THRESHOLDING",
    "GAUSSIAN_THRESHOLDING",
    "WEIGHTED_GAUSSIAN_THRESHOLDING",
)


def settings() -> Iterator[Setting]:
    """Yield the settings, the same ones in the same order each time.

    Examples
    --------
    >>> next(settings()).constructor
    'COUNT'
    """
    for noise in _NOISE:
        for limits in (*_LIMITS, (2,)):
            yield from _of_counts(noise, limits)
            yield from _of_sums(noise, limits)
            yield from _of_values(noise, limits)
            yield from _of_vectors(noise, limits)
    yield from _of_selections()
    yield from _of_runs()


def _given(noise: str, limits: tuple[int, ...]) -> str:
    """Return the arguments of the noise and of the bounds on a person's rows."""
    names: tuple[str, ...] = ("max_partitions_contributed", "max_contributions_per_partition")
    if len(limits) == 1:
        names = ("max_contributions",)
    told = (f"{name}={limit}" for name, limit in zip(names, limits, strict=True))
    return f"noise_kind=NoiseKind.{noise}, {', '.join(told)}"


def _people(values: tuple[Any, ...], limits: tuple[int, ...], enforced: bool) -> list[Person]:
    """Return people with one row, or with several; `enforced` drops those beyond the limits."""
    low, high = values[0], values[-1]
    # The first of a dataset: what it does to arrays that others share is seen in theirs.
    made: list[Person] = [(("a", values[1]), ("a", high))] if len(values) > 2 else []
    made += [
        *((("a", value),) for value in values),
        (("b", high),),
        (("a", high), ("a", high)),
        (("a", low), ("a", low)),
        (("a", high), ("b", high)),
        (("a", high), ("a", high), ("b", low), ("b", low)),
    ]
    if not enforced:
        return [*made, (("a", high), ("a", low), ("b", high))]
    most = limits[-1]
    partitions = limits[0]
    return [
        one
        for one in made
        if len({key for key, _ in one}) <= partitions
        and all(sum(row[0] == key for row in one) <= most for key in "ab")
        and (len(limits) == 2 or len(one) <= most)
    ]


def _datasets(people: Iterable[Person]) -> tuple[tuple[Person, ...], ...]:
    """Return the datasets of at most two people."""
    several = list(people)
    return ((), *((one,) for one in several), *itertools.combinations_with_replacement(several, 2))


def _of(
    name: str,
    noise: str,
    limits: tuple[int, ...],
    values: tuple[Any, ...],
    metrics: str,
    rest: str = "",
    ways: Iterable[str] = (_PUBLIC, "", f"{_ENFORCED}, {_PUBLIC}", _ENFORCED),
) -> Iterator[Setting]:
    """Yield a call with public partitions, with selected ones, and with bounds that hold already.

    `max_contributions` has no selected partitions: PipelineDP raises a TypeError.
    """
    for way in ways:
        if _PUBLIC not in way and len(limits) == 1:
            continue
        told = ", ".join(one for one in (_given(noise, limits), rest, way) if one)
        people = _people(values, limits, _ENFORCED in way)
        yield Setting(name, f"aggregate(rows, {metrics}, {told})", _datasets(people), None)


def _of_counts(noise: str, limits: tuple[int, ...]) -> Iterator[Setting]:
    """Yield the settings of counts of rows and of people."""
    yield from _of("COUNT", noise, limits, (1,), "Metrics.COUNT")
    private = (_PUBLIC, "")
    name = "PRIVACY_ID_COUNT"
    yield from _of(name, noise, limits, (1,), f"Metrics.{name}", ways=private)
    if len(limits) == 2:
        after = ("post_aggregation_thresholding=True",)
        several = f"Metrics.COUNT, Metrics.{name}"
        yield from _of(name, noise, limits, (1,), several, ways=after)


def _of_sums(noise: str, limits: tuple[int, ...]) -> Iterator[Setting]:
    """Yield the settings of sums, with bounds of values and with bounds of a person's sum."""
    for low, high in _BOUNDS:
        values = (low - 1, low, high, high + 1)
        by_value = f"min_value={low}, max_value={high}"
        yield from _of("SUM", noise, limits, values, "Metrics.SUM", by_value)
        if len(limits) == 2:
            by_sum = f"min_sum_per_partition={low}, max_sum_per_partition={high}"
            several = "Metrics.SUM, Metrics.COUNT"
            yield from _of("SUM, of partitions", noise, limits, values, several, by_sum)


def _of_values(noise: str, limits: tuple[int, ...]) -> Iterator[Setting]:
    """Yield the settings of means, variances and quantiles, alone and with others."""
    # Squares of values around 0 change by as much as the variance is told, and by more.
    if len(limits) == 2:
        rest = "min_value=-1, max_value=1"
        yield from _of("VARIANCE", noise, limits, (-1, 0, 2), "Metrics.VARIANCE", rest)
    for low, high in _BOUNDS:
        values, rest = (low, high + 1), f"min_value={low}, max_value={high}"
        several = "Metrics.MEAN, Metrics.COUNT, Metrics.SUM"
        yield from _of("MEAN", noise, limits, values, several, rest)
        if len(limits) == 1:
            continue
        yield from _of("VARIANCE", noise, limits, values, "Metrics.VARIANCE", rest)
        two = "Metrics.PERCENTILE(50), Metrics.PERCENTILE(90)"
        yield from _of("PERCENTILE", noise, limits, values, two, rest)
        ways = (_PUBLIC, "")
        for name, metrics in {
            "VARIANCE": f"Metrics.VARIANCE, {several}, Metrics.PRIVACY_ID_COUNT",
            "PERCENTILE": f"Metrics.PERCENTILE(10), {several}",
        }.items():
            yield from _of(name, noise, limits, values, metrics, rest, ways)


def _of_vectors(noise: str, limits: tuple[int, ...]) -> Iterator[Setting]:
    """Yield the settings of sums of vectors, also of arrays that rows share."""
    if len(limits) == 1:
        return
    values = ((0.0, 0.0), (-1.0, 0.0), (3.0, 4.0))
    for kind in ("Linf", "L1" if noise == "LAPLACE" else "L2"):
        for norm in (2.0,):
            rest = f"vector_norm_kind=NormKind.{kind}, vector_max_norm={norm}, vector_size=2"
            yield from _of("VECTOR_SUM", noise, limits, values, "Metrics.VECTOR_SUM", rest)
            shared = "Metrics.VECTOR_SUM, shared=True"
            yield from _of("VECTOR_SUM", noise, limits, values, shared, rest, ways=("",))


def _of_selections() -> Iterator[Setting]:
    """Yield the settings of selected partitions: how likely each set of them is."""
    for strategy, most, threshold in itertools.product(_STRATEGIES, (1, 2), (None, 3)):
        given = f"partition_selection_strategy=PartitionSelectionStrategy.{strategy}"
        if threshold:
            given += f", pre_threshold={threshold}"
        for total in ((1.0, 1e-3), (5.0, 1e-3), (1.0, 0.1)):
            limit = f"max_partitions_contributed={most}"
            source = f"select(rows, total={total}, {limit}, {given})"
            yield _law(strategy, source, _crowds(most), total)


def _of_runs() -> Iterator[Setting]:
    """Yield the settings of whole runs: Gaussian noise beside a selection, and two accountants."""
    people: list[Person] = [(("a", 1),)] * 16
    crowds = [tuple(people[:size]) for size in (0, 1, 2, 3, 4, 5, 8, 9, 15, 16)]
    limits = "max_partitions_contributed=1, max_contributions_per_partition=1"
    several = ("Metrics.COUNT", "Metrics.COUNT, Metrics.SUM, min_value=0, max_value=1")
    for accountant, metrics in (("Naive", several[0]), ("Naive", several[1]), ("PLD", several[0])):
        ways = [_PUBLIC]
        for strategy, weight in itertools.product(_STRATEGIES[:3], (1, 0.1)):
            way = f"partition_selection_strategy=PartitionSelectionStrategy.{strategy}"
            ways.append(f"{way}, budget_weight={weight}")
        for way in ways:
            source = (
                f"aggregate(rows, {metrics}, noise_kind=NoiseKind.GAUSSIAN, {limits}, {way}, "
                f'accountant="{accountant}BudgetAccountant")'
            )
            yield _law(f"{accountant}BudgetAccountant", source, crowds, (1.0, 1e-3))


def _crowds(most: int) -> list[tuple[Person, ...]]:
    """Return crowds in two partitions with one person more or less, in one of them or in both.

    For weights by the number of a person's partitions, some are in other partitions, too.
    """
    in_a, in_b, both = (tuple((key, 0) for key in keys) for keys in ("a", "b", "ab"))
    made = [
        (*[in_a] * i, *[in_b] * j, *more)
        for i, j in itertools.combinations_with_replacement((0, 1, 2, 4, 12), 2)
        for more in ((), (in_a,), (in_b,), (both,))
    ]
    if most > 1:
        beside = [tuple((key, 0) for key in keys) for keys in ("ac", "bc", "abcd"[: most + 1])]
        for several in ([beside[0]], beside[:2], [beside[2]], [beside[2], in_a], [both, both]):
            made += [tuple(several), (*several, in_a), (*several, both)]
    return list(dict.fromkeys(tuple(sorted(one)) for one in made))


def _law(
    name: str, source: str, datasets: list[tuple[Person, ...]], total: tuple[float, float]
) -> Setting:
    return Setting(name, source, tuple(datasets), None, (("audit", "law"), ("total", total)))
