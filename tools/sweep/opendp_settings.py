"""The settings of a sweep of OpenDP: constructors by types, bounds, sizes and metrics, as text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .setting import Setting

_SMALL = [(0, 1), (2, 3), (0, 100), (7, 7)]
_SIGNED = [(-2, 3), (-5, -1), (-1, 1)]
_INTEGERS: dict[str, list[tuple[float, float]]] = {
    "i32": [*_SMALL, *_SIGNED, (-(2**31), 2**31 - 1), (2**30, 2**31 - 1)],
    "i64": [*_SMALL, *_SIGNED, (-(2**63), 2**63 - 1), (2**62, 2**63 - 1)],
    "u32": [*_SMALL, (1, 9), (0, 2**32 - 1), (2**31, 2**32 - 1)],
    "u64": [*_SMALL, (1, 9), (0, 2**64 - 1), (2**63, 2**64 - 1)],
}
"""Bounds by type: small ones, of both signs, and up to the limits of the type."""

_TENTHS = [(0.0, 1.0), (-0.5, 3.0), (0.1, 0.3), (-1e-3, 1e-3), (-100.0, -1.0), (0.0, 1e16)]
_FLOATS: dict[str, list[tuple[float, float]]] = {
    "f32": [*_TENTHS, (0.0, 1e30), (0.0, 1e-40)],
    "f64": [*_TENTHS, (0.0, 1e300), (0.0, 1e-310)],
}
"""Also bounds that are hardly any floats, and so large or so small that arithmetic gives out."""

_UNORDERED, _ORDERED = "symmetric_distance", "insert_delete_distance"
_METRICS = (_UNORDERED, _ORDERED)
_SIZES = (1, 2, 3, 4)
_FREE = (0, 1, 2)
"""The sizes of vectors that have no size of their own."""

_NORMS = {"l1_distance": "L1", "l2_distance": "L2"}


def settings() -> Iterator[Setting]:
    """Yield the settings, the same ones in the same order each time.

    Examples
    --------
    >>> first = next(settings())
    >>> first.constructor, first.source
    ('make_sum', "dp.t.make_sum(dp.vector_domain(dp.atom_domain(T='i32', bounds=(0, 1))), \
dp.symmetric_distance())")
    """
    for kind, several in {**_INTEGERS, **_FLOATS}.items():
        for bounds in several:
            yield from _of_bounds(kind, bounds)
            yield from _of_fixed_sums(kind, bounds)
        yield from _of_type(kind)
        yield from _of_rows(kind)
    yield from _of_categories()
    yield from _of_missing()
    yield from _of_lines()
    yield from _of_vectors()
    yield from _of_random_choices()
    yield from _of_noise()


def _of_bounds(kind: str, bounds: tuple[float, float]) -> Iterator[Setting]:
    """Yield the settings of aggregates of bounded numbers."""
    values = _values(bounds)
    for size in (None, *_SIZES):
        domain = _vectors(kind, size, bounds)
        sizes = _FREE if size is None else (size,)
        for metric in _METRICS:
            for name in ("make_sum", *(("make_mean",) if size and kind in _FLOATS else ())):
                yield Setting(name, f"dp.t.{name}({domain}, dp.{metric}())", values, sizes)
        for order in ("Sequential", "Pairwise") if size and kind in _FLOATS else ():
            space = f"{domain}, dp.{_UNORDERED}()"
            for ddof in (0, 1):
                source = f"dp.t.make_variance({space}, ddof={ddof}, S='{order}<{kind}>')"
                yield Setting("make_variance", source, values, sizes)
            source = f"dp.t.make_sum_of_squared_deviations({space}, S='{order}<{kind}>')"
            yield Setting("make_sum_of_squared_deviations", source, values, sizes)
    for metric in _METRICS:
        free = _vectors(kind, None, None)
        source = f"dp.t.make_clamp({free}, dp.{metric}(), {bounds!r})"
        yield Setting("make_clamp", source, values, _FREE)


def _of_fixed_sums(kind: str, bounds: tuple[float, float]) -> Iterator[Setting]:
    """Yield the settings of the sums whose domain their own arguments fix."""
    values = _values(bounds)
    if kind in _INTEGERS:
        for way in ("monotonic", "ordered", "split"):
            name = f"make_bounded_int_{way}_sum"
            yield Setting(name, f"dp.t.{name}({bounds!r}, T={kind!r})", values, _FREE)
        for way in ("checked", "monotonic", "ordered", "split"):
            name = f"make_sized_bounded_int_{way}_sum"
            source = f"dp.t.{name}(2, {bounds!r}, T={kind!r})"
            yield Setting(name, source, values, (2,))
        return
    for way in ("checked", "ordered"):
        for order in ("Sequential", "Pairwise"):
            for size in (2, 3):
                given = f"{size}, {bounds!r}, S='{order}<{kind}>'"
                name = f"make_bounded_float_{way}_sum"
                yield Setting(name, f"dp.t.{name}({given})", values, tuple(range(size + 1)))
                name = f"make_sized_bounded_float_{way}_sum"
                yield Setting(name, f"dp.t.{name}({given})", values, (size,))


def _of_type(kind: str) -> Iterator[Setting]:
    """Yield the settings of counts, casts and scores of numbers without bounds."""
    real = kind in _FLOATS
    most = max(high for _, high in (_FLOATS if real else _INTEGERS)[kind])
    values: tuple[object, ...] = (0.0, -0.0, 1.5, most) if real else (0, 1, most)
    for size in (None, 2):
        sizes = _FREE if size is None else (size,)
        for metric in _METRICS:
            space = f"{_vectors(kind, size, None)}, dp.{metric}()"
            for target in ("i32", "i64", "u32", "u64", "f64", "String", "bool"):
                source = f"dp.t.make_cast_default({space}, TOA={target!r})"
                yield Setting("make_cast_default", source, values, sizes)
                source = f"dp.t.make_cast({space}, TOA={target!r}) >> dp.t.then_drop_null()"
                yield Setting("make_cast", source, values, sizes)
            for target in ("f32", "f64"):
                source = f"dp.t.make_cast_inherent({space}, TOA={target!r})"
                yield Setting("make_cast_inherent", source, values, sizes)
        space = f"{_vectors(kind, size, None)}, dp.{_UNORDERED}()"
        for target in ("i32", "i64", "u32", "u64", "f64"):
            for name in ("make_count", *(() if real else ("make_count_distinct",))):
                source = f"dp.t.{name}({space}, TO={target!r})"
                yield Setting(name, source, values, sizes)
        for alpha in (0.0, 0.5, 0.9) if not real else ():
            source = f"dp.t.make_quantile_score_candidates({space}, [0, 1, 2], {alpha})"
            yield Setting("make_quantile_score_candidates", source, (0, 1, 2), sizes)


def _of_rows(kind: str) -> Iterator[Setting]:
    """Yield the settings of transformations that work record by record."""
    real = kind in _FLOATS
    values: tuple[object, ...] = (0.0, 1.0, 2.0) if real else (0, 1, 2)
    calls = {"make_identity": ("", "")}
    calls |= {"make_is_null": ("", "")} if real else {}
    calls["make_is_equal"] = f", {values[1]!r}", ""
    calls["make_find_bin"] = f", {list(values[1:])!r}", ""
    calls["make_index"] = f", {list(values)!r}, {values[0]!r}, TOA={kind!r}", ""
    if not real:
        calls["make_find"] = f", {list(values[:2])!r}", " >> dp.t.then_impute_constant(0)"
    for size in (None, 2):
        sizes = _FREE if size is None else (size,)
        for metric in _METRICS:
            for name, (rest, end) in calls.items():
                # An index is whole, whatever it is an index of.
                place: tuple[Any, ...] = (0, 1, 2) if name == "make_index" else values
                domain = _vectors("usize" if name == "make_index" else kind, size, None)
                source = f"dp.t.{name}({domain}, dp.{metric}(){rest}){end}"
                yield Setting(name, source, place, sizes)


def _of_categories() -> Iterator[Setting]:
    """Yield the settings of counts by category."""
    kinds = {"i64": (0, 1, 2), "String": ("a", "b", "c"), "bool": (False, True)}
    for kind, values in kinds.items():
        space = f"{_vectors(kind, None, None)}, dp.{_UNORDERED}()"
        for target in ("i32", "i64", "u32", "f64"):
            for norm in _NORMS.values():
                for null in (True, False):
                    source = (
                        f"dp.t.make_count_by_categories({space}, {list(values[:2])!r}, "
                        f"null_category={null}, TOA={target!r}, MO='{norm}Distance<{target}>')"
                    )
                    yield Setting("make_count_by_categories", source, values, _FREE)
            for component in ("L0", "L1", "Linf"):
                source = f"dp.t.make_count_by({space}, TV={target!r})"
                options = (("component", component),)
                yield Setting("make_count_by", source, values, _FREE, options)
            if kind != "i64":
                source = f"dp.t.make_count_distinct({space}, TO={target!r})"
                yield Setting("make_count_distinct", source, values, _FREE)


def _of_missing() -> Iterator[Setting]:
    """Yield the settings of what deals with missing values."""
    for kind in _FLOATS:
        for metric in _METRICS:
            for size in (None, 2):
                sizes = _FREE if size is None else (size,)
                end = "" if size is None else f", size={size}"
                domain = f"dp.vector_domain(dp.atom_domain(T={kind!r}, nan=True){end})"
                for name, rest in {
                    "make_drop_null": "",
                    "make_is_null": "",
                    "make_impute_constant": ", 0.5",
                }.items():
                    source = f"dp.t.{name}({domain}, dp.{metric}(){rest})"
                    yield Setting(name, source, (0.0, 1.0, math.nan), sizes)


def _of_lines() -> Iterator[Setting]:
    """Yield the settings of what takes a text of lines, or texts of fields."""
    yield Setting("make_split_lines", "dp.t.make_split_lines()", ("a", "b"), (0, 1, 2))
    fields = ("a,1", "b", "a,1,2")
    for separator in (",", ";"):
        source = f"dp.t.make_split_dataframe({separator!r}, ['one', 'two'])"
        column = " >> dp.t.make_select_column('one', TOA=str)"
        yield Setting("make_split_dataframe", source + column, fields, (0, 1, 2))
        source = (
            f"dp.t.make_split_lines() >> dp.t.make_split_records({separator!r}) >> "
            "dp.t.make_create_dataframe(['one', 'two'])"
        )
        yield Setting("make_create_dataframe", source + column, fields, (0, 1, 2))


def _of_vectors() -> Iterator[Setting]:
    """Yield the settings of what takes numbers or vectors of numbers, not records."""
    further = (("d_in", (1, 2, 3, 4)),)
    for kind in ("i32", "i64", "u32"):
        most = max(high for _, high in _INTEGERS[kind])
        for norm in _NORMS:
            for leaves, branches in [(2, 2), (3, 2), (4, 2), (4, 3), (4, 4), (8, 3), (8, 4)]:
                source = (
                    f"dp.t.make_b_ary_tree(dp.vector_domain(dp.atom_domain(T={kind!r})), "
                    f"dp.{norm}(T={kind!r}), {leaves}, {branches})"
                )
                # Fewer values of long vectors: all of them are compared with all others.
                values = (0, 1, 3) if leaves < 4 else (0, 1)
                yield Setting("make_b_ary_tree", source, values, (leaves,), further)
                if leaves == 2:
                    large, at = (0, 1, most - 1, most), (("values", "large"), ("d_in", (1,)))
                    yield Setting("make_b_ary_tree", source, large, (leaves,), at)
    for kind, several in _FLOATS.items():
        for constant in (0.5, -2.0, 0.1):
            for low, high in several:
                source = (
                    f"dp.t.make_lipschitz_float_mul(dp.atom_domain(T={kind!r}, nan=False), "
                    f"dp.absolute_distance(T={kind!r}), {constant}, ({low}, {high}))"
                )
                numbers = (low, low + 1, (low + high) / 2, high)
                yield Setting("make_lipschitz_float_mul", source, numbers, None)


def _of_random_choices() -> Iterator[Setting]:
    """Yield the settings of what orders, shuffles, fills up, or draws, under couplings."""
    coupled = (("audit", "coupling"),)
    numbers = _vectors("i32", None, None)
    for metric, name in ((_UNORDERED, "SymmetricDistance"), (_ORDERED, "InsertDeleteDistance")):
        for size in (1, 2, 3):
            source = (
                f"dp.t.make_resize({numbers}, dp.{metric}(), size={size}, constant=0, MO='{name}')"
            )
            around = tuple(n for n in (size - 1, size, size + 1) if n)
            yield Setting("make_resize", source, (0, 1), around, coupled)
    for some in (None, 2):
        space, sizes = _vectors("i32", some, None), (1, 2) if some is None else (some,)
        for name, metrics in {
            "make_unordered": (_ORDERED, "hamming_distance"),
            "make_ordered_random": (_UNORDERED, "change_one_distance"),
            "make_metric_bounded": _METRICS,
            "make_metric_unbounded": ("change_one_distance", "hamming_distance"),
        }.items():
            for metric in metrics:
                options: tuple[tuple[str, Any], ...] = ()
                if name == "make_ordered_random":
                    options = coupled
                if options and some and metric == "symmetric_distance":
                    options += (("d_in", (2,)),)  # no two datasets of one size are at distance 1
                source = f"dp.t.{name}({space}, dp.{metric}())"
                yield Setting(name, source, (0, 1), sizes, options)
    for kind in _FLOATS:
        domain = f"dp.vector_domain(dp.atom_domain(T={kind!r}, nan=True))"
        source = f"dp.t.make_impute_uniform_float({domain}, dp.{_UNORDERED}(), (0.0, 1.0))"
        yield Setting("make_impute_uniform_float", source, (0.5, math.nan), (1, 2), coupled)


def _of_noise() -> Iterator[Setting]:
    """Yield the settings of mechanisms, by their twins without noise."""
    twin = (("audit", "measurement"),)
    for kind in ("i32", "i64", "f32", "f64"):
        real = kind in _FLOATS
        values: tuple[Any, ...] = (0.0, 0.1, 1.0) if real else (0, 1, 3)
        more = ", nan=False" if real else ""
        atom = f"dp.atom_domain(T={kind!r}{more})"
        single = f"{atom}, dp.absolute_distance(T={kind!r})"
        for name in ("make_laplace", "make_gaussian", *(() if real else ("make_geometric",))):
            source = f"lambda scale: dp.m.{name}({single}, scale)"
            yield Setting(name, source, values, None, twin)
            norm = "l2_distance" if name == "make_gaussian" else "l1_distance"
            for size in (1, 2):
                vector = f"dp.vector_domain({atom}), dp.{norm}(T={kind!r})"
                source = f"lambda scale: dp.m.{name}({vector}, scale)"
                yield Setting(name, source, values, (size,), (*twin, ("size", size)))


def _vectors(kind: str, size: int | None, bounds: tuple[float, float] | None) -> str:
    """Return the source of a domain of vectors."""
    inner = f"T={kind!r}"
    inner += "" if bounds is None else f", bounds={bounds!r}"
    inner += ", nan=False" if kind in _FLOATS else ""
    return f"dp.vector_domain(dp.atom_domain({inner}){'' if size is None else f', size={size}'})"


def _values(bounds: tuple[float, float]) -> tuple[float, ...]:
    """Return both bounds and a number between them."""
    low, high = bounds
    third = low + (high - low) / 3 if isinstance(low, float) else low + (high - low) // 3
    return tuple(dict.fromkeys((low, third, high)))
