"""The settings of a sweep of OpenDP: constructors by types, bounds, sizes and metrics, as text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_INTEGERS: dict[str, list[tuple[float, float]]] = {
    "i8": [(0, 1), (-2, 3), (-128, 127), (100, 127)],
    "i32": [(0, 1), (-2, 3), (-(2**31), 2**31 - 1), (2**30, 2**31 - 1)],
    "i64": [(0, 1), (-2, 3), (-(2**63), 2**63 - 1), (2**62, 2**63 - 1)],
    "i16": [(0, 1), (-2, 3), (-(2**15), 2**15 - 1)],
    "u32": [(0, 1), (2, 3), (0, 2**32 - 1)],
    "u64": [(0, 1), (2, 3), (0, 2**64 - 1)],
}
"""Bounds by type: small ones, of both signs, and up to the limits of the type."""

_FLOATS: dict[str, list[tuple[float, float]]] = {
    name: [(0.0, 1.0), (-0.5, 3.0), (0.0, 1e30), (-1e-3, 1e-3)] for name in ("f32", "f64")
}

_UNSIZED = ("symmetric_distance", "insert_delete_distance")
_SIZED = (*_UNSIZED, "change_one_distance", "hamming_distance")
_SIZES = (1, 2, 3)


@dataclass(frozen=True)
class Setting:
    """A constructor and its arguments, as source that makes the transformation anywhere.

    Attributes
    ----------
    constructor : str
        The name, such as "make_sum".
    source : str
        Python that makes the transformation, where ``dp`` is ``opendp.prelude``.
    values : tuple
        The universe of entries.
    sizes : tuple of int
        The lengths of the vectors.
    """

    constructor: str
    source: str
    values: tuple[object, ...]
    sizes: tuple[int, ...]


def settings() -> Iterator[Setting]:
    """Yield the settings, the same ones in the same order each time.

    Examples
    --------
    >>> first = next(settings())
    >>> first.constructor, first.source
    ('make_sum', "dp.t.make_sum(dp.vector_domain(dp.atom_domain(T='i8', bounds=(0, 1))), \
dp.symmetric_distance())")
    """
    for kind, several in {**_INTEGERS, **_FLOATS}.items():
        for bounds in several:
            yield from _of_bounds(kind, bounds)
        yield from _of_type(kind)


def _of_bounds(kind: str, bounds: tuple[float, float]) -> Iterator[Setting]:
    """Yield the settings of aggregates of bounded numbers."""
    low, high = bounds
    values = tuple(dict.fromkeys((low, _between(low, high), high)))
    for size in (None, *_SIZES):
        domain = _vectors(kind, size, bounds)
        sizes = (0, 1, 2) if size is None else (size,)
        for metric in _UNSIZED if size is None else _SIZED:
            for name in ("make_sum", *(("make_mean", "make_variance") if size else ())):
                yield Setting(name, f"dp.t.{name}({domain}, dp.{metric}())", values, sizes)
    for metric in _UNSIZED:
        free = _vectors(kind, None, None)
        source = f"dp.t.make_clamp({free}, dp.{metric}(), {bounds!r})"
        yield Setting("make_clamp", source, values, (0, 1, 2))


def _of_type(kind: str) -> Iterator[Setting]:
    """Yield the settings of transformations of numbers without bounds."""
    real = kind in _FLOATS
    values: tuple[object, ...] = (0.0, -0.0, 1.5) if real else (0, 1, 2)
    categories = "[0, 1]"
    for size in (None, *_SIZES):
        sizes = (0, 1, 2) if size is None else (size,)
        domain = _vectors(kind, size, None)
        for metric in _UNSIZED:
            space = f"{domain}, dp.{metric}()"
            names = ["make_count", *(() if real else ("make_count_distinct",))]
            for name in names:
                yield Setting(name, f"dp.t.{name}({space})", values, sizes)
            for target in ("i32", "f64", "String", "bool"):
                source = f"dp.t.make_cast_default({space}, TOA={target!r})"
                yield Setting("make_cast_default", source, values, sizes)
            if not real:
                source = f"dp.t.make_count_by_categories({space}, {categories})"
                yield Setting("make_count_by_categories", source, values, sizes)
                source = f"dp.t.make_quantile_score_candidates({space}, [0, 1, 2], 0.5)"
                yield Setting("make_quantile_score_candidates", source, values, sizes)


def _vectors(kind: str, size: int | None, bounds: tuple[float, float] | None) -> str:
    """Return the source of a domain of vectors."""
    inner = f"T={kind!r}"
    inner += "" if bounds is None else f", bounds={bounds!r}"
    inner += ", nan=False" if kind in _FLOATS else ""
    return f"dp.vector_domain(dp.atom_domain({inner}){'' if size is None else f', size={size}'})"


def _between(low: float, high: float) -> float:
    """Return a number between two bounds."""
    return low + (high - low) / 3 if isinstance(low, float) else low + (high - low) // 3


def made_of(source: str, dp: Any) -> Any:
    """Return what the source of a setting makes; nothing but calls of OpenDP is read.

    Parameters
    ----------
    source : str
        Calls of functions of `dp`, with constants, lists and tuples of these, and ``>>``.
    dp : module
        OpenDP's prelude.
    """
    return _made(ast.parse(source, mode="eval").body, dp)


def _made(node: ast.AST, dp: Any) -> Any:
    """Return the value of a part of a source."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return {"dp": dp, **_TYPES}[node.id]
    if isinstance(node, ast.Attribute):
        return getattr(_made(node.value, dp), node.attr)
    if isinstance(node, ast.List | ast.Tuple):
        several = [_made(one, dp) for one in node.elts]
        return several if isinstance(node, ast.List) else tuple(several)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_made(node.operand, dp)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift):
        return _made(node.left, dp) >> _made(node.right, dp)
    if isinstance(node, ast.Call):
        named = {str(one.arg): _made(one.value, dp) for one in node.keywords}
        return _made(node.func, dp)(*(_made(one, dp) for one in node.args), **named)
    raise ValueError(f"a setting is made of calls of OpenDP, not of {ast.unparse(node)}")


_TYPES = {one.__name__: one for one in (int, float, str, bool, list, tuple)}
