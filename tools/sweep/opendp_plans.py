"""The settings of a sweep of Polars plans of OpenDP: drawn plans over two tables, and margins.

A plan is a chain of steps that OpenDP may refuse. It ends as a table, which
`make_stable_lazyframe` makes, or in aggregates with noise, which `make_private_lazyframe` makes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from .setting import Setting

_HEAD = """import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib", "honest-but-curious")

COLUMNS = {COLUMNS}
TABLE = pl.LazyFrame(schema=COLUMNS)
IDS = dp.symmetric_id_distance(identifier=pl.col("id"))


def data(rows):
    return pl.LazyFrame(rows, schema=COLUMNS, orient="row")


def domain(length, groups, invariant):
    made = dp.lazyframe_domain([{SERIES}])
    made = dp.with_margin(made, dp.polars.Margin(by=[], max_length=length * groups))
    given = {{"max_length": length, "max_groups": groups, "invariant": invariant}}
    return dp.with_margin(made, dp.polars.Margin(by=["g"], **given))
"""

TABLES = {
    "visits": _HEAD.format(
        COLUMNS='{"id": pl.Int64, "g": pl.String, "v": pl.Int64}',
        SERIES="""
        dp.series_domain("id", dp.atom_domain(T="i64")),
        dp.series_domain("g", dp.atom_domain(T=str)),
        dp.series_domain("v", dp.option_domain(dp.atom_domain(T="i64"))),
    """,
    ),
    "weights": _HEAD.format(
        COLUMNS='{"id": pl.String, "g": pl.Boolean, "v": pl.Float64}',
        SERIES="""
        dp.series_domain("id", dp.atom_domain(T=str)),
        dp.series_domain("g", dp.atom_domain(T=bool)),
        dp.series_domain("v", dp.atom_domain(T="f64", nan=False)),
    """,
    ),
}
"""The names of settings, by table: whole numbers, some of them missing; and floats."""

_ROWS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "visits": ((0, "a", 3), (0, "a", -1), (0, "b", None), (1, "b", 3)),
    "weights": (("p", False, 0.5), ("p", True, 2.5), ("p", True, -1.5), ("q", False, 2.5)),
}
_KEYS = {"visits": '{"g": ["a", "b"]}', "weights": '{"g": [False, True]}'}

_STEPS = (
    '.filter(pl.col("v") > 0)',
    '.filter(pl.col("v").is_not_null())',
    '.with_columns(v=pl.col("v") * 2)',
    '.with_columns(v=pl.col("v").clip(0, 1))',
    '.with_columns(v=pl.col("v").fill_null(2))',
    '.with_columns(w=pl.col("v"))',
    '.select("id", "g", "v")',
    '.select("g", "v", "id")',
    '.group_by("g").agg(pl.col("v").sum(), pl.col("id").first())',
    '.group_by("g").agg(pl.col("v").max())',
    '.group_by("id", "g").agg(pl.col("v").sum())',
)
"""Steps on rows, or on groups of rows."""

_OTHER_KEYS = {
    "visits": (
        '.with_columns(g=pl.lit("a"))',
        '.with_columns(g=pl.col("v").cast(pl.String).fill_null("a"))',
    ),
    "weights": (".with_columns(g=pl.lit(True))", '.with_columns(g=pl.col("v") > 0)'),
}
"""Steps that put rows into other groups, by table."""

_TRUNCATIONS = (
    '.filter(pl.int_range(pl.len()).over("id") < 1)',
    '.filter(pl.int_range(pl.len()).over("id") < 2)',
    '.filter(pl.int_range(pl.len()).reverse().over("id") < 1)',
    '.filter(pl.int_range(pl.len()).sort_by(pl.col("v")).over("id") < 1)',
    '.filter(pl.int_range(pl.len()).over("id", "g") < 1)',
    '.filter(pl.struct("g").rank("dense").over("id") < 2)',
    '.filter(pl.struct("g").rank("dense", descending=True).over("id") < 2)',
    '.filter(pl.int_range(pl.len()).over("id", "g") < 1)'
    '.filter(pl.struct("g").rank("dense").over("id") < 2)',
    '.group_by("id").agg(pl.col("v").sum(), pl.col("g").first())',
    '.group_by("id", "g").agg(pl.col("v").sum())',
    '.group_by("id", "g").agg(pl.col("v").max())'
    '.filter(pl.struct("g").rank("dense").over("id") < 2)',
)
"""What bounds the rows of an id."""

_AGGREGATES = (
    "dp.len(scale=scale)",
    'pl.col("v").fill_null(0).dp.sum((-1, 2), scale=scale)',
    'pl.col("v").fill_null(0).dp.sum((1, 3), scale=scale)',
    'pl.col("v").fill_null(0.0).fill_nan(0.0).dp.sum((-1.0, 2.0), scale=scale)',
    'pl.col("v").dp.n_unique(scale=scale)',
    'pl.col("v").dp.null_count(scale=scale)',
    'pl.col("v").dp.count(scale=scale)',
)

_SHARE = 90
_SEED = 20_261_124


def settings() -> Iterator[Setting]:
    """Yield the settings, the same ones in the same order each time.

    Examples
    --------
    >>> sorted({one.constructor for one in settings()})
    ['make_private_lazyframe', 'make_stable_lazyframe']
    """
    draw = random.Random(_SEED)
    known = set()
    for make in (_stable, _private):
        for place in range(_SHARE):
            table = ("visits", "weights")[place % 2]
            one = make(draw, table)
            if one.name not in known:
                known.add(one.name)
                yield one
    yield from _of_orders()


def _of_orders() -> Iterator[Setting]:
    """Yield truncations of tables in every order of their rows, which the metric does not see."""
    for truncation in (*_TRUNCATIONS[:2], *_TRUNCATIONS[3:6]):
        source = (
            f"dp.t.make_stable_lazyframe(domain(8, 2, None), IDS, TABLE{truncation}, "
            "MO='FrameDistance<SymmetricDistance>')"
        )
        by_group = '"g"' in truncation
        claim = "groups" if "rank" in truncation else "rows in a group" if by_group else "rows"
        far = "symmetric" if claim == "rows" else claim
        one = _of("make_stable_lazyframe", source, "visits", "ids", far, claim, (0, 1))
        options = (*one.options, ("every order", True))
        yield Setting(one.constructor, source, one.values, (0, 1, 2), options)


def _plan(draw: random.Random, table: str, by_id: bool) -> str:
    """Return a chain of steps; an id's rows are bounded at one place."""
    chain = draw.sample((*_STEPS, *_OTHER_KEYS[table]), draw.choice((0, 0, 1, 1, 2, 3)))
    if by_id:
        chain.insert(draw.randrange(len(chain) + 1), draw.choice(_TRUNCATIONS))
    return "TABLE" + "".join(chain)


def _stable(draw: random.Random, table: str) -> Setting:
    """Return a plan that ends as a table, with one of the bounds that its map can give."""
    by_id = draw.random() < 0.6
    metric, near = ("IDS", "ids") if by_id else ("dp.symmetric_distance()", "symmetric")
    rest = ", MO='FrameDistance<SymmetricDistance>'"
    plan = _plan(draw, table, by_id)
    source = f"dp.t.make_stable_lazyframe(domain(8, 2, None), {metric}, {plan}{rest})"
    claim = draw.choice(("rows", "rows in a group", "groups")) if by_id else "rows"
    far = "symmetric" if claim == "rows" else claim
    return _of("make_stable_lazyframe", source, table, near, far, claim, (1, 2))


def _private(draw: random.Random, table: str) -> Setting:
    """Return a plan that ends in aggregates: over all rows, or by groups whose keys are public."""
    by_id = draw.random() < 0.5
    metric, near = ("IDS", "ids") if by_id else ("dp.symmetric_distance()", "symmetric")
    plan = _plan(draw, table, by_id)
    count, *others = _AGGREGATES
    several = draw.choice((count, draw.choice(others), f"{count}, {draw.choice(others)}"))
    how = draw.choice(("all", "join", "keys", "lengths") if not by_id else ("all", "join", "join"))
    invariant = how if how in ("keys", "lengths") else None
    length = draw.choice((3, 8))
    if how == "all":
        plan += f".select({several})"
    else:
        plan += f'.group_by("g").agg({several})'
    if how == "join":
        plan = f'pl.LazyFrame({_KEYS[table]}).join({plan}, on="g", how="left")'
    measure, claim, far = draw.choice(
        (("max_divergence", "epsilon", "L1"), ("zero_concentrated_divergence", "rho", "L2"))
    )
    source = (
        f"lambda scale: dp.m.make_private_lazyframe(domain({length}, 2, {invariant!r}), {metric}, "
        f"dp.{measure}(), {plan})"
    )
    near = f"same {invariant}" if invariant else near
    distances = {"keys": (1, 2, 4), "lengths": (2, 4)}.get(how, (1, 2) if by_id else (1, 2, 6))
    return _of("make_private_lazyframe", source, table, near, far, claim, distances)


def _of(
    name: str, source: str, table: str, near: str, far: str, claim: str, d_in: tuple[int, ...]
) -> Setting:
    given = {"data": table, "near": near, "far": far, "claim": claim, "d_in": d_in}
    return Setting(name, source, _ROWS[table], (0, 1, 2, 3), tuple(given.items()))
