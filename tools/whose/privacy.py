"""What privacy libraries take for the sensitivity, measured: from their maps, or from their noise.

Where a library states a constant, it is read from it. Where it only returns noisy numbers, the
constant is the mean absolute deviation times epsilon, to the nearest of the numbers that it can be.
"""

from __future__ import annotations

import contextlib
import statistics
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import sensitivity_lab as sl

Cell = dict[str, str]

REMOVED, REPLACED = "added or removed", "replaced"


def ours(query: str, neighbors: str, size: str = "10", low: int = 0) -> str:
    """Return the call of ours that stands beside a constant."""
    place = "unit" if low == 0 else "shifted"
    return f'sl.global_sensitivity({place}, {query}, size={size}, neighbors="{neighbors}")'


def value_of(call: str) -> float:
    """Return the value of a call of ours on records from 0 to 1, or from 5 to 6."""
    names = {
        "sl": sl,
        "unit": sl.Universe.from_domain([0, Fraction(1, 2), 1]),
        "shifted": sl.Universe.from_domain([5, 6]),
        "wards": sl.TableUniverse.from_domain({"ward": ["a", "b"]}),
    }
    return float(eval(call, names).value)


def cell(call: str, relation: str, constant: float | str, ours_call: str = "", **told: str) -> Cell:
    """Return a row of the page; `told` has norm, noise and public."""
    found: Cell = {"call": call, "relation": relation, "norm": told.pop("norm", "absolute")}
    found["constant"] = constant if isinstance(constant, str) else f"{constant:.7g}"
    found["ours"], found["looser"] = "-", "-"
    if ours_call:
        value = value_of(ours_call)
        found["ours"] = f"{value:.7g}"
        if not isinstance(constant, str):
            found["looser"] = _looser(constant, value)
    return found | {"ours_call": ours_call, "noise": "-", "public": "-"} | told


def _looser(constant: float, value: float) -> str:
    if value == 0 or abs(constant / value - 1) < 1e-6:
        return "tight" if constant == value else "tight up to rounding"
    return (
        f"{constant / value:.4g} times"
        if constant > value
        else f"too small: {constant / value:.4g} times"
    )


def _opendp() -> list[Cell]:
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def numbers(size: int | None = None, low: float = 0.0) -> Any:
        domain = dp.atom_domain(bounds=(low, low + 1), nan=False)
        return dp.vector_domain(domain, size=size), dp.symmetric_distance()

    text = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    exact = {"noise": "none of its own: then_laplace, then_gaussian"}
    rows = (
        ("then_count()", numbers() >> dp.t.then_count(), 1, ours("sl.Count()", "unbounded"), {}),
        ("then_sum()", numbers() >> dp.t.then_sum(), 1, ours('"sum"', "unbounded"), {}),
        (
            *("then_sum(), bounds 5 and 6", numbers(low=5.0) >> dp.t.then_sum(), 1),
            *(ours('"sum"', "unbounded", low=5), {}),
        ),
        ("then_sum(), size=10", numbers(10) >> dp.t.then_sum(), 2, ours('"sum"', "bounded"), _SIZE),
        (
            "then_mean(), size=10",
            numbers(10) >> dp.t.then_mean(),
            2,
            ours('"mean"', "bounded"),
            _SIZE,
        ),
        (
            *("then_variance(), size=10", numbers(10) >> dp.t.then_variance(), 2),
            *(ours("sl.Var(ddof=1)", "bounded"), _SIZE),
        ),
        (
            'then_count_by_categories(["a", "b"])',
            text >> dp.t.then_count_by_categories(categories=["a", "b"]),
            1,
            'sl.global_sensitivity(wards, sl.Histogram("ward", categories=["a", "b"]), size=10, '
            'neighbors="unbounded")',
            {"norm": "L1", "public": "the categories; one more cell for all others"},
        ),
        (
            "then_quantile_score_candidates([0, 0.5, 1], 0.5)",
            numbers() >> dp.t.then_quantile_score_candidates([0.0, 0.5, 1.0], 0.5),
            1,
            "",
            {"norm": "Linf of the scores", "public": "the candidates"},
        ),
        (
            "then_quantile_score_candidates([0, 0.5, 1], 0.9)",
            numbers() >> dp.t.then_quantile_score_candidates([0.0, 0.5, 1.0], 0.9),
            1,
            "",
            {"norm": "Linf of the scores", "public": "the candidates; the score has another unit"},
        ),
    )
    return [
        cell(
            call,
            REMOVED if d_in == 1 else REPLACED,
            float(made.map(d_in)),
            call_of_ours,
            **exact | told,
        )
        for call, made, d_in, call_of_ours, told in rows
    ] + [
        cell(
            "then_mean(), size=10, d_in=1",
            "one step of the symmetric distance",
            float((numbers(10) >> dp.t.then_mean()).map(1)),
            **exact,
            public="the size: no neighbor is one step away, so nothing is left to hide",
        )
    ]


_SIZE = {"public": "the size"}


def _opendp_context() -> list[Cell]:
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def query(size: int | None, **unit: int) -> Any:
        atom = dp.atom_domain(T=float, nan=False)
        return dp.Context.compositor(
            data=[0.5] * 10,
            privacy_unit=dp.unit_of(**unit),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            domain=dp.vector_domain(atom, size=size),
        ).query()

    def scale(steps: Callable[[Any], Any], size: int | None, **unit: int) -> float | str:
        try:
            return float(steps(query(size, **unit)).laplace().param())
        except Exception as error:  # noqa: BLE001 - a refusal is a cell
            return f"refused: {type(error).__name__}"

    steps = {
        "count()": lambda q: q.count(),
        "clamp((0, 1)).sum()": lambda q: q.clamp((0.0, 1.0)).sum(),
        "clamp((0, 1)).mean()": lambda q: q.clamp((0.0, 1.0)).mean(),
        "clamp((0, 1)).variance()": lambda q: q.clamp((0.0, 1.0)).variance(),
    }
    beside = dict(zip(steps, ("sl.Count()", '"sum"', '"mean"', "sl.Var(ddof=1)"), strict=True))
    rows = []
    for name, made in steps.items():
        for size, unit, relation, near in (
            (None, "contributions", REMOVED, "unbounded"),
            (10, "contributions", REMOVED, ""),
            (10, "changes", REPLACED, "bounded"),
        ):
            found = scale(made, size, **{unit: 1})
            call = f"unit_of({unit}=1), size={size}: {name}"
            known = (near and name in ("count()", "clamp((0, 1)).sum()")) or near == "bounded"
            rows.append(
                cell(
                    call,
                    relation,
                    found,
                    ours(beside[name], near) if known else "",
                    noise="Laplace",
                    public="the size" if size else "-",
                )
            )
    return rows


def _opendp_polars() -> list[Cell]:
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    column = pl.col("v").fill_nan(0.0).fill_null(0.0)
    asked = {
        "dp.sum((0, 1))": column.dp.sum((0.0, 1.0)),
        "dp.mean((0, 1))": column.dp.mean((0.0, 1.0)),
        "dp.median([0, 1/4, .., 1])": column.dp.median([0.0, 0.25, 0.5, 0.75, 1.0]),
        "dp.quantile(0.9, [0, 1/4, .., 1])": column.dp.quantile(0.9, [0.0, 0.25, 0.5, 0.75, 1.0]),
        "dp.n_unique()": pl.col("v").dp.n_unique(),
    }
    rows = []
    for unit, invariant, relation in (
        ("contributions", None, REMOVED),
        ("contributions", "lengths", REMOVED),
        ("changes", "lengths", REPLACED),
    ):
        for name, expression in asked.items():
            margin = dp.polars.Margin(by=[], max_length=10, invariant=invariant)
            context = dp.Context.compositor(
                data=pl.LazyFrame({"v": [0.5] * 10}),
                privacy_unit=dp.unit_of(**{unit: 1}),
                privacy_loss=dp.loss_of(epsilon=1.0),
                split_evenly_over=1,
                margins=[margin],
            )
            told = context.query().select(expression).summarize().to_dicts()
            scales: Any = "; ".join(f"{one['aggregate']} {one['scale']:.7g}" for one in told)
            near = "bounded" if unit == "changes" else "" if invariant else "unbounded"
            query = {"dp.sum((0, 1))": '"sum"', "dp.n_unique()": '"count_distinct"'}.get(name)
            if near and query:
                scales = float(told[0]["scale"])
            rows.append(
                cell(
                    f"unit_of({unit}=1), invariant={invariant!r}: {name}",
                    relation,
                    scales,
                    ours(query, near) if near and query else "",
                    noise=" and ".join(dict.fromkeys(one["distribution"] for one in told)),
                    public="the length" if invariant else "max_length=10",
                )
            )
    return rows


def _diffprivlib() -> list[Cell]:
    import numpy as np
    from diffprivlib import mechanisms, tools

    @contextlib.contextmanager
    def recorded() -> Iterator[list[Any]]:
        made: list[Any] = []
        first: dict[type, Any] = {}
        for kind in vars(mechanisms).values():
            if isinstance(kind, type) and "__init__" in vars(kind):
                first[kind] = kind.__init__

                def seen(self: Any, *given: Any, _first: Any = kind.__init__, **named: Any) -> None:
                    _first(self, *given, **named)
                    made.append(self)

                kind.__init__ = seen
        try:
            yield made
        finally:
            for kind, before in first.items():
                kind.__init__ = before

    data = np.linspace(0, 1, 10)
    given = {"epsilon": 1.0, "bounds": (0, 1)}
    rows = (
        (
            "count_nonzero(x)",
            lambda: tools.count_nonzero(data, epsilon=1.0),
            REMOVED,
            ours("sl.Count()", "unbounded"),
        ),
        ("sum(x)", lambda: tools.sum(data, **given), REPLACED, ours('"sum"', "bounded")),
        (
            "sum(x), bounds 5 and 6",
            lambda: tools.sum(data + 5, epsilon=1.0, bounds=(5, 6)),
            REPLACED,
            ours('"sum"', "bounded", low=5),
        ),
        ("mean(x)", lambda: tools.mean(data, **given), REPLACED, ours('"mean"', "bounded")),
        ("var(x)", lambda: tools.var(data, **given), REPLACED, ours('"var"', "bounded")),
        (
            "histogram(x, bins=2)",
            lambda: tools.histogram(data, epsilon=1.0, bins=2, range=(0, 1)),
            REMOVED,
            ours("sl.Count()", "unbounded"),
        ),
        ("median(x)", lambda: tools.median(data, **given), REMOVED, ""),
    )
    found = []
    for call, run, relation, beside in rows:
        with recorded() as made, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
        mechanism = made[-1]
        limits = (getattr(mechanism, "lower", None), getattr(mechanism, "upper", None))
        noise = type(mechanism).__name__
        if limits[1] is not None and abs(float(limits[1])) < 1e15:
            noise += f", cut to {float(limits[0]):g} .. {float(limits[1]):g}"
        found.append(
            cell(
                call,
                relation,
                float(mechanism.sensitivity),
                beside,
                norm="of the scores" if "median" in call else "absolute",
                noise=noise,
                public="the bins" if "histogram" in call else "the size",
            )
        )
    return found


def _scale(draw: Callable[[], float], times: int, most: tuple[float, ...]) -> float:
    """Return the scale of Laplace noise, to the nearest of numbers that it can be."""
    drawn = [draw() for _ in range(times)]
    centre = statistics.median(drawn)
    found = statistics.fmean(abs(one - centre) for one in drawn)
    return min(most, key=lambda one: abs(found - one))


def _python_dp() -> list[Cell]:
    from pydp.algorithms import laplacian

    def scale(kind: str, data: list[Any], *most: float, **named: Any) -> float:
        made = getattr(laplacian, kind)
        return _scale(lambda: made(epsilon=1.0, **named).quick_result(data), 400, most)

    floats = {"dtype": "float", "lower_bound": 0.0, "upper_bound": 1.0}
    high = {"dtype": "float", "lower_bound": 5.0, "upper_bound": 6.0}
    halves = [0.0, 1.0] * 50
    laplace = {"noise": "Laplace", "norm": "absolute"}
    return [
        cell(
            "Count()",
            REMOVED,
            scale("Count", [1] * 100, 1, 2, dtype="int"),
            ours("sl.Count()", "unbounded"),
            **laplace,
        ),
        cell(
            "Count(l0_sensitivity=2, linf_sensitivity=3)",
            "2 partitions, 3 rows each",
            scale(
                "Count", [1] * 100, 1, 2, 3, 6, dtype="int", l0_sensitivity=2, linf_sensitivity=3
            ),
            **laplace,
        ),
        cell(
            "BoundedSum(0, 1)",
            REMOVED,
            scale("BoundedSum", halves, 0.5, 1, 2, **floats),
            ours('"sum"', "unbounded"),
            **laplace,
        ),
        cell(
            "BoundedSum(5, 6)",
            REMOVED,
            scale("BoundedSum", [5.0] * 100, 1, 5, 6, 12, **high),
            ours('"sum"', "unbounded", low=5),
            **laplace,
        ),
        cell(
            "BoundedMean(0, 1), 100 records",
            REMOVED,
            scale("BoundedMean", halves, 0.005, 0.01, 0.02, 0.04, **floats),
            noise="not taken apart",
            public="no size",
        ),
    ]


def _pipeline_dp() -> list[Cell]:
    import pipeline_dp as p

    def release(metric: Any, low: float) -> float:
        accountant = p.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
        params = p.AggregateParams(
            metrics=[metric],
            noise_kind=p.NoiseKind.LAPLACE,
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            min_value=low,
            max_value=low + 1,
        )
        extract = p.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda _: "all",
            value_extractor=lambda row: row[1],
        )
        rows = [(place, low + place % 2) for place in range(100)]
        engine = p.DPEngine(accountant, p.LocalBackend())
        answer = engine.aggregate(rows, params, extract, public_partitions=["all"])
        accountant.compute_budgets()
        return float(next(iter(answer))[1][0])

    laplace = {"noise": "Laplace", "public": "the partitions"}
    return [
        cell(
            "Metrics.COUNT",
            REMOVED,
            _scale(lambda: release(p.Metrics.COUNT, 0), 200, (1, 2, 4)),
            ours("sl.Count()", "unbounded"),
            **laplace,
        ),
        cell(
            "Metrics.SUM, 0 to 1",
            REMOVED,
            _scale(lambda: release(p.Metrics.SUM, 0), 200, (0.5, 1, 2)),
            ours('"sum"', "unbounded"),
            **laplace,
        ),
        cell(
            "Metrics.SUM, 5 to 6",
            REMOVED,
            _scale(lambda: release(p.Metrics.SUM, 5), 200, (1, 5, 6, 12)),
            ours('"sum"', "unbounded", low=5),
            **laplace,
        ),
        cell(
            "Metrics.MEAN, 100 records of 0 to 1",
            REMOVED,
            _scale(lambda: release(p.Metrics.MEAN, 0), 200, (0.005, 0.01, 0.02, 0.04)),
            noise="not taken apart",
            public="no size",
        ),
    ]


def _smartnoise() -> list[Cell]:
    import logging

    import pandas as pd
    import snsql

    logging.disable(logging.CRITICAL)
    columns = {
        "rows": 100,
        "id": {"name": "id", "type": "int", "private_id": True},
        "v": {"type": "float", "lower": 0, "upper": 1},
        "w": {"type": "float", "lower": 5, "upper": 6},
    }
    values = [0.0, 1.0] * 50
    frame = pd.DataFrame({"id": range(100), "v": values, "w": [5 + one for one in values]})
    privacy = snsql.Privacy(epsilon=1.0, delta=1e-5)
    reader = snsql.from_df(frame, privacy=privacy, metadata={"": {"s": {"t": columns}}})

    def scale(asked: str, *most: float) -> float:
        text = f"SELECT {asked} FROM s.t"
        return _scale(lambda: float(reader.execute(text)[1][0]), 80, most)

    def cost(asked: str) -> str:
        return f"costs epsilon {reader.get_privacy_cost(f'SELECT {asked} FROM s.t')[0]:.4g}"

    return [
        cell(
            "COUNT(*)",
            REMOVED,
            scale("COUNT(*)", 1, 2),
            ours("sl.Count()", "unbounded"),
            noise="cut to whole numbers towards 0",
            public=cost("COUNT(*)"),
        ),
        cell(
            "SUM(v), 0 to 1",
            REMOVED,
            scale("SUM(v)", 0.5, 1, 2),
            ours('"sum"', "unbounded"),
            noise="Laplace",
            public=cost("SUM(v)"),
        ),
        cell(
            "SUM(w), 5 to 6",
            REMOVED,
            scale("SUM(w)", 0.5, 1, 3, 6),
            ours('"sum"', "unbounded", low=5),
            noise="Laplace",
            public=cost("SUM(w)"),
        ),
        cell(
            "AVG(v), 100 records",
            REMOVED,
            scale("AVG(v)", 0.005, 0.01, 0.02),
            noise="sum and count of their own",
            public=cost("AVG(v)"),
        ),
        cell(
            "VAR(v), 100 records",
            REMOVED,
            scale("VAR(v)", 0.005, 0.01, 0.02, 0.04),
            noise="three sums",
            public=cost("VAR(v)"),
        ),
    ]


def _jax_privacy() -> list[Cell]:
    import jax.numpy as jnp
    from dp_accounting import NeighboringRelation as Near
    from jax_privacy import clipping

    def bound(near: Any, **named: Any) -> float:
        loss = clipping.clipped_grad(
            lambda weights, x: jnp.sum(weights * x), l2_clip_norm=1.0, batch_argnums=1, **named
        )
        return float(loss.sensitivity(near))

    told = {"norm": "L2", "noise": "none of its own: gaussian_privatizer"}
    return [
        cell(
            "clipped_grad(l2_clip_norm=1).sensitivity()",
            REMOVED,
            bound(Near.ADD_OR_REMOVE_ONE),
            **told,
        ),
        cell(
            "clipped_grad(l2_clip_norm=1).sensitivity()", REPLACED, bound(Near.REPLACE_ONE), **told
        ),
        cell(
            "clipped_grad(l2_clip_norm=1).sensitivity()",
            "replaced by nothing (REPLACE_SPECIAL)",
            bound(Near.REPLACE_SPECIAL),
            **told,
        ),
        cell(
            "clipped_grad(l2_clip_norm=1, normalize_by=4).sensitivity()",
            REMOVED,
            bound(Near.ADD_OR_REMOVE_ONE, normalize_by=4.0),
            **told,
            public="the 4, in place of the batch's size",
        ),
    ]


def _dp_accounting() -> list[Cell]:
    from dp_accounting import NeighboringRelation as Near
    from dp_accounting import dp_event as event
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    def epsilon(accountant: Any, one: Any, delta: float) -> str:
        if not accountant.supports(one):
            return "refused"
        accountant.compose(one)
        return f"epsilon {accountant.get_epsilon(delta):.5g}"

    gauss, laplace = event.GaussianDpEvent(1), event.LaplaceDpEvent(1)
    rows = [
        cell(
            f"PLDAccountant: {name}, delta {delta:g}",
            near.name,
            epsilon(PLDAccountant(near), one, delta),
            norm="L2" if one is gauss else "L1",
            noise="that of the event",
            public="-",
        )
        for name, one, delta in (
            ("GaussianDpEvent(1)", gauss, 1e-5),
            ("LaplaceDpEvent(1)", laplace, 0.0),
        )
        for near in (Near.ADD_OR_REMOVE_ONE, Near.REPLACE_ONE, Near.REPLACE_SPECIAL)
    ]
    return [
        *rows,
        cell(
            "RdpAccountant: GaussianDpEvent(1), delta 1e-05",
            "ADD_OR_REMOVE_ONE",
            epsilon(RdpAccountant(), gauss, 1e-5),
            norm="L2",
            noise="that of the event",
        ),
    ]


def _autodp() -> list[Cell]:
    import autodp.mechanism_zoo as zoo
    import autodp.privacy_calibrator as calibrator

    told = {"noise": "that of the mechanism"}
    return [
        cell(
            "GaussianMechanism(sigma=1).get_approxDP(1e-5)",
            "the caller's",
            f"epsilon {zoo.GaussianMechanism(sigma=1.0).get_approxDP(1e-5):.5g}",
            norm="L2",
            **told,
        ),
        cell(
            "LaplaceMechanism(b=1).get_approxDP(0)",
            "the caller's",
            f"epsilon {zoo.LaplaceMechanism(b=1.0).get_approxDP(0):.5g}",
            norm="L1",
            **told,
        ),
        cell(
            "privacy_calibrator.gaussian_mech(1, 1e-5)",
            "the caller's",
            f"sigma {calibrator.gaussian_mech(1, 1e-5)['sigma']:.5g}",
            norm="L2",
            **told,
        ),
    ]


LIBRARIES: dict[str, tuple[str, str, Callable[[], list[Cell]], str]] = {
    "OpenDP": (
        "opendp",
        "0.16.0",
        _opendp,
        "Transformations; the constant is their map's. A term for the rounding of floats is added. "
        "d_in counts steps of the symmetric distance, so a replaced record is 2.",
    ),
    "OpenDP Context": (
        "opendp",
        "0.16.0",
        _opendp_context,
        "The constant is the scale of the noise at epsilon 1.",
    ),
    "OpenDP Polars": (
        "opendp",
        "0.16.0",
        _opendp_polars,
        "The constant is the scale that `summarize()` states at epsilon 1; with `contributions` a "
        "person adds or removes rows, with `changes` rows are replaced.",
    ),
    "diffprivlib": (
        "diffprivlib",
        "0.6.6",
        _diffprivlib,
        "The constant is the sensitivity of the mechanism that a tool makes.",
    ),
    "python-dp": (
        "python-dp",
        "1.1.5",
        _python_dp,
        "The constant is the scale of 400 releases at epsilon 1, to the nearest candidate.",
    ),
    "PipelineDP": (
        "pipeline-dp",
        "0.3.1",
        _pipeline_dp,
        "The constant is the scale of 200 releases at epsilon 1, to the nearest candidate.",
    ),
    "SmartNoise SQL": (
        "smartnoise-sql",
        "1.0.10",
        _smartnoise,
        "The constant is the scale of 80 releases at epsilon 1 per column, to the nearest "
        "candidate.",
    ),
    "jax-privacy": ("jax-privacy", "2.0.0", _jax_privacy, "Sums of clipped gradients."),
    "dp-accounting": (
        "dp-accounting",
        "0.6.0",
        _dp_accounting,
        "An accountant: it takes noise over sensitivity, and says which relation the sensitivity "
        "is of.",
    ),
    "autodp": ("autodp", "0.2.3.1", _autodp, "An accountant: it takes noise over sensitivity."),
}
"""Package, version, what measures it, and what the page says of it."""


def measured(only: str = "") -> dict[str, Any]:
    """Return what is measured of the libraries that are here at the pinned version."""
    found = {}
    for name, (package, pin, measure, says) in LIBRARIES.items():
        try:
            here = version(package) == pin
        except PackageNotFoundError:
            here = False
        if here and only in ("", name):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = {"version": pin, "says": says, "cells": measure()}
    return found
