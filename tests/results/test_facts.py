"""What results print: a sensitivity is never below itself, and both reprs tell the same."""

from __future__ import annotations

import math
import re
import sys
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab.checks import rounded_up
from sensitivity_lab.noise.clipping_bounds import clipping_sweep

TEN = sl.Universe.from_dataset([1, 2, 3, 4, 5, 6, 7, 8, 15, 20])
NUMBER = r"[0-9.]+(?:e[+-]?[0-9]+)?"


@given(st.floats(0, sys.float_info.max), st.integers(1, 15))
@example(1.0888355431377, 10)
@example(2 / 3, 6)
@example(5e-324, 3)
@example(1.5e-323, 10)
@example(sys.float_info.max, 10)
@example(9.9999999999, 10)
@example(0.1 + 0.2, 15)
@example(1.0000000000000002e308, 1)
def test_digits_are_rounded_up_and_no_farther(value, digits):
    text = rounded_up(value, digits=digits)
    assert float(text) >= value
    nearest = f"{value:.{digits}g}"
    if float(nearest) >= value:
        assert text == nearest
    else:
        unit = Decimal((0, (1,), Decimal(nearest).adjusted() - digits + 1))
        assert Decimal(text) == Decimal(nearest) + unit


def test_digits_of_what_has_none():
    assert rounded_up(math.inf) == "inf"
    assert rounded_up(math.nan) == "nan"
    assert [rounded_up(x) for x in (0.0, 3.0, 0.1, 1e20, 2.5e-7)] == [
        *("0", "3", "0.1", "1e+20", "2.5e-07")
    ]


def std(**options):
    return sl.global_sensitivity(TEN, "std", size=6, **{"neighbors": sl.Bounded(1), **options})


def histogram(norm):
    rows = sl.TableUniverse.from_domain({"sex": ["f", "m", "x"]})
    query = sl.Histogram("sex", categories=["f", "m"])
    return sl.global_sensitivity(rows, query, size=3, neighbors=sl.Bounded(1), norm=norm)


RESULTS = {
    "std": std,
    "a third": lambda: sl.global_sensitivity(TEN, "mean", size=3, neighbors="unbounded"),
    "L2": lambda: histogram("L2"),
    "local": lambda: sl.local_sensitivity(TEN, "std", dataset=[1, 2, 9 - 2], neighbors="bounded"),
    "smooth": lambda: sl.smooth_sensitivity(
        TEN, "median", dataset=[1, 2, 3], beta=0.3, neighbors="bounded"
    ),
    "smooth of roots": lambda: sl.smooth_sensitivity(
        TEN, "std", dataset=[1, 2], beta=0.01, neighbors="bounded"
    ),
}


def not_below(printed, result):
    """A rational is not above the digits; anything is not above the float that they are."""
    exact = getattr(result, "exact", None)
    return float(printed) >= result.upper or (exact is not None and Fraction(printed) >= exact)


def test_a_short_decimal_is_printed_as_it_is():
    """71/10 is no float, and the nearest float is below it; the float 0.1 is above a tenth."""
    asked = {"universe": TEN, "query": "percentile_90", "neighbors": "unbounded"}
    result = sl.global_sensitivity(size=4, **asked)
    assert (result.exact, result.upper > 12.1) == (Fraction(121, 10), True)
    assert repr(result).startswith("Sensitivity of percentile_90: 12.1 (exact)")
    tenths = sl.Universe.from_domain([0.0, 0.1])
    total = sl.global_sensitivity(tenths, "sum", size=2, neighbors=sl.Bounded(1))
    assert total.exact > Fraction(1, 10)
    assert repr(total).startswith("Sensitivity of sum: 0.1 (exact)")
    curves = sl.sensitivity_curves(TEN, "percentile_90", size=4, distances=1, neighbors="unbounded")
    assert repr(curves).endswith("12.1")


@pytest.mark.parametrize("name", RESULTS)
def test_a_title_is_never_below_the_sensitivity(name):
    result = RESULTS[name]()
    title = repr(result).split("\n")[0]
    [printed] = re.findall(f": ({NUMBER}) ", title)
    assert not_below(printed, result)
    assert result.upper >= float(printed) * (1 - 1e-8)
    assert title in result._repr_html_()


def test_rounded_to_nearest_a_title_would_be_below():
    """About half of all results would be; none of them is printed so."""
    results = [
        sl.global_sensitivity(TEN, query, size=size, neighbors=sl.Unbounded(1))
        for query in ("mean", "std", "var", "percentile_90")
        for size in (3, 6, 7)
    ]
    below = [result for result in results if not not_below(f"{result.value:.10g}", result)]
    assert len(below) > 3
    for result in below:
        [printed] = re.findall(f": ({NUMBER}) ", repr(result).split("\n")[0])
        assert not_below(printed, result)


def test_tables_are_rounded_up():
    curves = sl.sensitivity_curves(
        TEN, ["mean", "std"], size=3, distances=[1, 2], neighbors="unbounded"
    )
    results = [point for _, point in curves]
    assert any(not not_below(f"{result.value:.6g}", result) for result in results)
    text = " ".join(repr(curves).split("\n")[-len(results) :])
    html = curves._repr_html_()
    for result in results:
        printed = rounded_up(result.upper, result.exact, digits=6)
        assert not_below(printed, result)
        assert printed in text
        assert f"<td>{printed}</td>" in html


def test_a_function_of_floats_is_rounded_up_too():
    result = sl.global_sensitivity(
        TEN, lambda x: float(x.max() / 51), size=3, neighbors=sl.Bounded(1), method="enumeration"
    )
    assert result.upper is None
    assert result.value == pytest.approx(1 / 3, rel=1e-15)
    assert repr(result).startswith("Sensitivity of function: 0.3333333334 (")


def test_a_table_of_neighbors_is_rounded_up():
    table = sl.neighbor_table(
        sl.Universe.from_dataset([1, 2, 3, 7]), "std", size=3, neighbors="bounded"
    )
    told = float(re.search(f"global sensitivity ({NUMBER}) ", repr(table))[1])
    assert told >= table.upper == max(row.upper for row in table) >= told * (1 - 1e-8)
    assert any(float(f"{row.difference:.10g}") < row.upper for row in table)
    listed = [float(text) for text in re.findall(rf"\|f\(x\) - f\(y\)\| = ({NUMBER})", repr(table))]
    assert len(listed) == len(table)
    for row, printed in zip(table, listed, strict=True):
        assert printed >= row.upper
        assert f">{row.text}<" in table._repr_html_()
    floats = sl.neighbor_table(TEN, lambda x: float(x.max()), size=1, neighbors="bounded")
    assert floats.upper is None


def test_a_clipping_sweep_and_a_stability_are_rounded_up():
    sweep = clipping_sweep([1, 2], [1.2345671, 2.3456781], neighbors="unbounded")
    assert "1.23457 to 2.34568 (exact" in repr(sweep)
    below = clipping_sweep([1, 2], [1.2345611, 2.3456711], neighbors="unbounded")
    assert "1.23457 to 2.34568 (exact" in repr(below)
    rows = pl.start(pl.AddRowsWithID("id")) >> pl.max_groups_per_id(3, "page")
    root = rows >> pl.max_rows_per_group_per_id(1, "page")
    in_l2 = root >> pl.group_by("page", "abc", pl.L2Distance()) >> pl.count()
    from sensitivity_lab.pipelines.measuring import show_distance

    assert show_distance(in_l2.map(1)) == "sqrt(3) (about 1.73206)"  # 1.7320508


def test_pictures_are_labeled_with_what_is_rounded_up():
    result = sl.global_sensitivity(TEN, "mean", size=3, neighbors=sl.Bounded(1))
    label = rounded_up(result.upper, digits=6)
    assert (label, f"{result.upper:.6g}") == ("6.33334", "6.33333")
    assert f"sensitivity {label} (" in result.plot().get_title()
    for ax in (result.plot("witness"), result.witness.plot()):
        [side] = ax.child_axes
        assert side.get_title(loc="left") == f"|f(x) − f(y)|\n= {label}\n(rounded up)"
