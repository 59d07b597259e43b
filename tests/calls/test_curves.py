"""Sensitivity curves: their tables, files and texts, and how one result is selected."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from checks import read_table, refused, words_of_html
from curve_cases import spread

import sensitivity_lab as sl

COLUMNS = [
    *("column", "query", "neighbors", "distance", "size", "sensitivity", "status", "method"),
    *("x", "y", "meaning", "exact", "upper", "kind", "norm"),
]
ABSENCE = sl.Universe.from_dataset([1, 2, 3, 10])
YEAR = sl.Universe.from_dataset([1, 2, 3, 4])


@pytest.fixture(scope="module")
def curves() -> sl.results.SensitivityCurves:
    return sl.sensitivity_curves(
        {"absence_days": ABSENCE, "school_year": YEAR},
        ["mean", sl.Std(), spread],
        size=3,
        distances=[1, 2],
        neighbors=["bounded", sl.Unbounded(1, exactly=True, direction="remove")],
        method="enumeration",
    )


def test_frame_has_a_row_per_point_in_order(curves):
    frame = curves.to_frame()
    assert list(frame.columns) == COLUMNS
    expected = [
        (column, query, neighbors, meaning, distance)
        for column in ("absence_days", "school_year")
        for neighbors, meaning in (("bounded", "at most"), ("unbounded (remove)", "exactly"))
        for query in ("mean", "std", "spread")
        for distance in (1, 2)
    ]
    keys = ["column", "query", "neighbors", "meaning", "distance"]
    assert list(frame[keys].itertuples(index=False, name=None)) == expected
    assert list(frame.index) == list(range(len(expected)))
    assert len(curves) == len(expected)


def test_frame_tells_what_the_results_tell(curves):
    for row, (column, point) in zip(curves.to_frame().itertuples(), curves, strict=True):
        assert (row.column, row.query, row.neighbors) == (
            column,
            point.query.name,
            point.neighbors.family,
        )
        assert (row.distance, row.meaning) == (point.neighbors.k, point.neighbors.meaning)
        assert (row.size, row.sensitivity) == (point.size, point.value)
        assert (row.status, row.method) == ("exact", "enumeration")
        assert (row.x, row.y) == (point.witness.x, point.witness.y)
        assert row.exact == ("" if point.exact is None else str(point.exact))


def test_frame_has_the_types_that_tables_need(curves):
    frame = curves.to_frame()
    assert frame["sensitivity"].dtype == np.float64
    assert frame["distance"].dtype == frame["size"].dtype == np.int64
    for name in ("column", "query", "neighbors", "status", "method", "meaning", "exact"):
        assert pd.api.types.is_string_dtype(frame[name]), name
    assert all(type(dataset) is tuple for dataset in [*frame["x"], *frame["y"]])


def test_csv_is_the_frame(curves, tmp_path):
    curves.to_csv(tmp_path / "curves.csv")
    read = read_table(tmp_path / "curves.csv")
    frame = curves.to_frame()
    frame["x"], frame["y"] = frame["x"].map(str), frame["y"].map(str)
    pd.testing.assert_frame_equal(read, frame, check_exact=True, check_dtype=False)


def test_csv_in_a_missing_folder_is_an_error(curves, tmp_path):
    path = tmp_path / "missing" / "curves.csv"
    refused(
        lambda: curves.to_csv(path),
        f"cannot write the table to {str(path)!r}: "
        "No such file or directory; "
        "choose a file in an existing folder that you may write to",
    )


def test_csv_in_place_of_a_folder_is_an_error(curves, tmp_path):
    refused(
        lambda: curves.to_csv(tmp_path),
        f"cannot write the table to {str(tmp_path)!r}: Is a directory; "
        "choose a file in an existing folder that you may write to",
    )


def test_dictionaries_are_those_of_the_results(curves):
    listed = curves.to_dict()
    assert listed == [{"column": column, **point.to_dict()} for column, point in curves]
    assert json.loads(json.dumps(listed))[0] == {
        "column": "absence_days",
        "query": "mean",
        "neighbors": "bounded",
        "meaning": "at most",
        "distance": 1,
        "size": 3,
        "kind": "global",
        "norm": "L1",
        "sensitivity": 3.0,
        "exact": "3",
        "upper": 3.0,
        "status": "exact",
        "method": "enumeration",
        "arithmetic": "exact",
        "datasets_evaluated": 4,
        "x": [2, 3, 10],
        "y": [1, 2, 3],
        "query_x": 5.0,
        "query_y": 2.0,
    }


def test_repr_is_a_table_with_a_row_per_curve(curves):
    assert repr(curves) == "\n".join(
        [
            "Global sensitivity by Hamming distance k, size 3",
            "k                                                        1        2",
            "column       neighbors                     query",
            "absence_days bounded, at most k            mean          3        3",
            "                                           std     3.21119  3.21119",
            "                                           spread        7        7",
            "             unbounded (remove), exactly k mean    2.83334  5.66667",
            "                                           std     3.52769  4.02769",
            "                                           spread        8        9",
            "school_year  bounded, at most k            mean          1        1",
            "                                           std    0.430723 0.430723",
            "                                           spread        1        1",
            "             unbounded (remove), exactly k mean   0.833334  1.66667",
            "                                           std     0.74722  1.24722",
            "                                           spread        2        3",
        ]
    )


def test_html_tells_the_same_facts_as_the_repr(curves):
    assert words_of_html(curves._repr_html_()) == repr(curves).split()


def test_html_keeps_long_names_and_escapes_markup():
    name = "<b>" + "a_long_column_name_" * 6
    curves = sl.sensitivity_curves({name: YEAR}, "mean", size=3, distances=1, neighbors="unbounded")
    assert "<b>" not in curves._repr_html_()
    assert name in repr(curves)
    assert name in words_of_html(curves._repr_html_())


def test_several_sizes_are_told():
    curves = sl.sensitivity_curves(ABSENCE, "mean", size=[3, 2], distances=1, neighbors="unbounded")
    assert repr(curves).startswith("Global sensitivity by Hamming distance k, size (2, 3)\n")
    assert list(curves.to_frame()["size"]) == [(2, 3)]
    best = max(
        sl.global_sensitivity(ABSENCE, "mean", size=size, neighbors="unbounded").value
        for size in (2, 3)
    )
    assert curves.result("mean", distance=1).value == best == 4.5


def test_result_is_selected_by_what_tells_points_apart(curves):
    point = curves.result("mean", distance=2, column="absence_days", neighbors="bounded")
    assert point.exact == 3
    assert point.neighbors == sl.Bounded(2)
    removed = curves.result(
        "spread", distance=1, column="school_year", neighbors="unbounded (remove)"
    )
    assert removed.neighbors == sl.Unbounded(1, exactly=True, direction="remove")
    assert removed.query.name == "spread"
    assert removed.universe == YEAR


CHOICES = (
    "exactly one is needed; choose among column: absence_days, school_year; "
    "neighbors: bounded, unbounded (remove); meaning: at most, exactly; "
    "query: mean, std, spread; distance: 1, 2"
)


@pytest.mark.parametrize(
    ("query", "asked", "message"),
    [
        ("mean", {"distance": 1}, "4 points have query 'mean' and distance 1, "),
        ("mean", {"distance": 1, "column": "school_year"}, "2 points have query 'mean' and "),
        ("mean", {"distance": 3}, "no points have query 'mean' and distance 3, "),
        ("mean", {"distance": 1, "column": "age"}, "no points have query 'mean' and distance 1, "),
        ("mean", {"distance": 1, "neighbors": "unbounded"}, "no points have query 'mean' and "),
    ],
)
def test_no_result_or_several_are_an_error(curves, query, asked, message):
    with pytest.raises(sl.errors.InputError) as caught:
        curves.result(query, **asked)
    start = message if "distance" in message else f"{message}distance {asked['distance']}, "
    assert str(caught.value) == start + CHOICES


def test_a_query_without_a_curve(curves):
    message = "no curve has the query 'median'; choose among mean, std, spread"
    refused(lambda: curves.result("median", distance=1), message)
    refused(lambda: curves["median"], message)


@pytest.fixture(scope="module")
def two_meanings() -> sl.results.SensitivityCurves:
    return sl.sensitivity_curves(
        YEAR,
        ["mean", sl.Var(ddof=1)],
        size=3,
        distances=1,
        neighbors=["unbounded", sl.Unbounded(1, exactly=True)],
    )


def test_a_result_is_selected_by_query_and_relation_objects(two_meanings):
    """Of the relation all but its k counts; a name cannot tell at most from exactly."""
    for relation in (sl.Unbounded(1), sl.Unbounded(1, exactly=True)):
        point = two_meanings.result(sl.Var(ddof=1), distance=1, neighbors=relation.at(5))
        assert point.neighbors == relation
        assert point.query == sl.Var(ddof=1)
    refused(
        lambda: two_meanings.result("mean", distance=1, neighbors="unbounded"),
        "2 points have query 'mean' and distance 1, exactly one is needed; choose among column: "
        "records; neighbors: unbounded; meaning: at most, exactly; query: mean, var_ddof_1; "
        "distance: 1",
    )


@pytest.mark.parametrize("distance", [np.int64(1), np.array(1)])
def test_a_single_distance_of_numpy(distance):
    curves = sl.sensitivity_curves(YEAR, "sum", size=3, distances=distance, neighbors="bounded")
    assert [point.neighbors for _, point in curves] == [sl.Bounded(1)]


@pytest.mark.parametrize(("names", "twice"), [(["1", 1], "1"), (["a", "a"], "a")])
def test_columns_of_one_name_are_refused(names, twice):
    frame = pd.DataFrame([[1, 2], [3, 4], [5, 6]], columns=names)
    refused(
        lambda: sl.sensitivity_curves(frame, "mean", size=2, distances=1, neighbors="bounded"),
        f"the column {twice!r} occurs twice; columns need distinct names",
    )
