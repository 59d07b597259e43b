"""Sensitivity curves: what they take, what they tell, and that no search starts on bad input."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html import unescape

import numpy as np
import pandas as pd
import pytest
from checks import read_table
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, NUMPY_KINDS, RELATIONS, problems

import sensitivity_lab as sl
from sensitivity_lab.queries import DEFAULT_QUERIES

COLUMNS = [
    *("column", "query", "neighbors", "distance", "size", "sensitivity", "status", "method"),
    *("x", "y", "meaning", "exact", "upper", "kind", "norm"),
]
ABSENCE = sl.Universe.from_dataset([1, 2, 3, 10])
YEAR = sl.Universe.from_dataset([1, 2, 3, 4])
FEASIBLE = (
    "removing needs k < size, adding needs k <= records outside x; the largest feasible k is 1, "
    "or choose direction='remove'"
)


def spread(x) -> float:
    return x[-1] - x[0]


def middle(rows):
    return rows[:, rows.shape[1] // 2]


@pytest.fixture(scope="module")
def curves() -> sl.SensitivityCurves:
    return sl.sensitivity_curves(
        {"absence_days": ABSENCE, "school_year": YEAR},
        ["mean", sl.Std(), spread],
        size=3,
        distances=[1, 2],
        neighbors=["bounded", sl.Unbounded(1, exactly=True, direction="remove")],
        method="enumeration",
    )


def words_of_html(html: str) -> list[str]:
    return unescape(re.sub(r"<[^>]*>", " ", html)).split()


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
    with pytest.raises(sl.InputError) as caught:
        curves.to_csv(path)
    assert str(caught.value) == (
        f"cannot write the table to {str(path)!r}: "
        "No such file or directory; "
        "choose a file in an existing folder that you may write to"
    )


def test_csv_in_place_of_a_folder_is_an_error(curves, tmp_path):
    with pytest.raises(sl.InputError) as caught:
        curves.to_csv(tmp_path)
    assert str(caught.value) == (
        f"cannot write the table to {str(tmp_path)!r}: Is a directory; "
        "choose a file in an existing folder that you may write to"
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
            "k                                                      1        2",
            "column       neighbors                   query",
            "absence_days bounded, at most            mean          3        3",
            "                                         std     3.21119  3.21119",
            "                                         spread        7        7",
            "             unbounded (remove), exactly mean    2.83334  5.66667",
            "                                         std     3.52769  4.02769",
            "                                         spread        8        9",
            "school_year  bounded, at most            mean          1        1",
            "                                         std    0.430723 0.430723",
            "                                         spread        1        1",
            "             unbounded (remove), exactly mean   0.833334  1.66667",
            "                                         std     0.74722  1.24722",
            "                                         spread        2        3",
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
    "one is wanted; choose among column: absence_days, school_year; "
    "neighbors: bounded, unbounded (remove); meaning: at most, exactly; "
    "query: mean, std, spread; distance: 1, 2"
)


@pytest.mark.parametrize(
    ("query", "asked", "message"),
    [
        ("mean", {"distance": 1}, "4 points have query 'mean' and distance 1, "),
        ("mean", {"distance": 1, "column": "school_year"}, "2 points have query 'mean' and "),
        ("median", {"distance": 1}, "no points have query 'median' and distance 1, "),
        ("mean", {"distance": 3}, "no points have query 'mean' and distance 3, "),
        ("mean", {"distance": 1, "column": "age"}, "no points have query 'mean' and distance 1, "),
        ("mean", {"distance": 1, "neighbors": "unbounded"}, "no points have query 'mean' and "),
    ],
)
def test_no_result_or_several_are_an_error(curves, query, asked, message):
    with pytest.raises(sl.InputError) as caught:
        curves.result(query, **asked)
    start = message if "distance" in message else f"{message}distance {asked['distance']}, "
    assert str(caught.value) == start + CHOICES


@given(data=st.data())
def test_curves_are_separate_searches(data):
    family = data.draw(st.sampled_from(sorted(RELATIONS)))
    asked = data.draw(problems(family, data.draw(st.booleans()), NUMPY_KINDS))
    queries = data.draw(
        st.lists(st.sampled_from([*DEFAULT_QUERIES, "min", "max"]), max_size=3, unique=True)
    )
    queries += [spread, sl.from_function(middle, vectorized=True)]
    distances = list(range(1, asked.relation.k + 1))
    curves = sl.sensitivity_curves(
        asked.universe, queries, size=asked.size, distances=distances, neighbors=asked.relation
    )
    assert len(curves) == len(queries) * len(distances)
    points = iter(curves)
    for query in queries:
        for k in distances:
            column, point = next(points)
            alone = sl.global_sensitivity(
                asked.universe, query, size=asked.size, neighbors=asked.relation.at(k)
            )
            assert column == "records"
            for fact in ("value", "exact", "upper", "status", "arithmetic", "datasets_evaluated"):
                assert getattr(point, fact) == getattr(alone, fact), fact
            for fact in ("query", "neighbors", "size", "universe", "method"):
                assert getattr(point, fact) == getattr(alone, fact), fact
            point.verify()


def test_default_is_the_ten_queries_at_most_k_apart():
    frame = sl.sensitivity_curves(YEAR, size=3, distances=1, neighbors="unbounded").to_frame()
    assert list(frame["query"]) == list(DEFAULT_QUERIES)
    assert set(frame["neighbors"] + ", " + frame["meaning"]) == {"unbounded, at most"}


def test_a_single_query_and_a_single_distance_need_no_list():
    for query in ("mean", sl.Mean()):
        curves = sl.sensitivity_curves(YEAR, query, size=3, distances=1, neighbors="bounded")
        assert [point.exact for _, point in curves] == [1]


def test_names_of_relations_mean_exactly_where_asked():
    curves = sl.sensitivity_curves(
        YEAR,
        "sum",
        size=2,
        distances=[1, 2],
        neighbors=["bounded", "symmetric_difference"],
        exactly=True,
    )
    assert [point.neighbors for _, point in curves] == [
        sl.Bounded(1, exactly=True),
        sl.Bounded(2, exactly=True),
        sl.SymmetricDifference(1, exactly=True),
        sl.SymmetricDifference(2, exactly=True),
    ]
    assert [point.exact for _, point in curves] == [3, 4, 4, 7]


def test_relation_instances_keep_all_but_their_distance():
    relations = [sl.Unbounded(3, direction="add"), sl.Unbounded(1, exactly=True)]
    curves = sl.sensitivity_curves(YEAR, "sum", size=2, distances=1, neighbors=relations)
    assert [point.neighbors for _, point in curves] == [relation.at(1) for relation in relations]


def test_a_class_of_relations_stands_for_its_name():
    curves = sl.sensitivity_curves(YEAR, "sum", size=2, distances=1, neighbors=sl.Bounded)
    assert [point.neighbors for _, point in curves] == [sl.Bounded(1)]


def test_repeated_distances_are_one():
    curves = sl.sensitivity_curves(
        YEAR, "sum", size=3, distances=np.array([1, 1]), neighbors="unbounded"
    )
    assert [point.neighbors.k for _, point in curves] == [1]


def test_numeric_columns_of_a_frame_are_datasets():
    frame = pd.DataFrame(
        {
            "name": ["Chris", "Kelly", "Keny", "Sherry"],
            "year": [1, 2, 3, 4],
            "male": [True, False, True, True],
            "grade": [1.5, 2.0, 1.5, 3.0],
            "days": pd.array([1, 2, 3, 10], dtype="Int64"),
        }
    )
    curves = sl.sensitivity_curves(frame, "sum", size=3, distances=1, neighbors="unbounded")
    assert {column: point.universe for column, point in curves} == {
        "year": YEAR,
        "grade": sl.Universe([1.5, 2.0, 3.0], [2, 1, 1]),
        "days": ABSENCE,
    }


def test_a_single_universe_is_a_column_called_records():
    curves = sl.sensitivity_curves(YEAR, "sum", size=3, distances=1, neighbors="unbounded")
    assert [column for column, _ in curves] == ["records"]


def test_curves_of_fractions_are_exact():
    universe = sl.Universe.from_domain([Fraction(1, 3), Fraction(1, 2)])
    curves = sl.sensitivity_curves(universe, "sum", size=2, distances=1, neighbors="bounded")
    assert list(curves.to_frame()["exact"]) == ["1/6"]


NOT_FINITE = "; drop or replace missing and infinite values first"
SEVERAL_UNIVERSES = "universes must be a Universe, a mapping of column names to universes, or "


@pytest.mark.parametrize(
    ("universes", "message"),
    [
        (
            pd.DataFrame({"a": [1, 2, 3], "b": [1.0, np.nan, 2.0]}),
            f"column 'b': records must be finite numbers, got nan at position 1{NOT_FINITE}",
        ),
        (
            pd.DataFrame({"b": [1.0, np.inf, 2.0]}),
            f"column 'b': records must be finite numbers, got inf at position 1{NOT_FINITE}",
        ),
        (
            pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
            f"column 'a': records must be finite numbers, got <NA> at position 1{NOT_FINITE}",
        ),
        (
            pd.DataFrame({"a": ["x", "y"], "b": [True, False]}),
            "no column is numeric; the columns are 'a', 'b'",
        ),
        (pd.DataFrame(), "no column is numeric; the columns are none"),
        (
            pd.DataFrame({"a": np.array([], dtype=int)}),
            "column 'a': a universe needs at least one record, got none",
        ),
        ([1, 2, 3], f"{SEVERAL_UNIVERSES}a pandas.DataFrame, got list"),
        ({}, f"{SEVERAL_UNIVERSES}a pandas.DataFrame, got dict"),
        (
            {"a": YEAR, "b": [1, 2, 3]},
            "column 'b': universe must be a Universe, got list; "
            "make one with Universe.from_dataset(records) or Universe.from_domain(values)",
        ),
    ],
)
def test_bad_universes_are_named(universes, message):
    with pytest.raises(sl.InputError) as caught:
        sl.sensitivity_curves(universes, "mean", size=2, distances=1, neighbors="unbounded")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"queries": []}, "queries must name at least one query, got none"),
        (
            {"queries": ["mean", sl.Mean()]},
            "two queries are called 'mean'; ask for it once, "
            "or give functions names with from_function(..., name=...)",
        ),
        (
            {"queries": [lambda x: x[0], lambda x: x[-1]]},
            "two queries are called 'function'; ask for it once, "
            "or give functions names with from_function(..., name=...)",
        ),
        (
            {"queries": ["mean", "mode"]},
            f"unknown query 'mode'; choose one of {NAMES}, "
            "percentile_25 (any number from 0 to 100), a query such as Percentile(25), or a "
            "function of a 1-D array",
        ),
        ({"distances": []}, "distances and neighbors must name at least one each, got none"),
        ({"neighbors": []}, "distances and neighbors must name at least one each, got none"),
        ({"distances": [1, 0]}, "a distance must be a Hamming distance, at least 1, got 0"),
        (
            {"distances": True},
            "a distance must be a whole number (a Hamming distance, at least 1), got True (bool)",
        ),
        (
            {"distances": 1.0},
            "a distance must be a whole number (a Hamming distance, at least 1), got 1.0 (float)",
        ),
        (
            {"distances": [2]},
            "column 'records': unbounded, at most 2 is not feasible for datasets of size 3 in a "
            f"universe of 4 records: {FEASIBLE}",
        ),
        (
            {"neighbors": ["bounded", "nearby"]},
            "unknown neighbor relation 'nearby'; choose one of 'bounded', 'unbounded', "
            "'symmetric_difference', or Bounded(k), Unbounded(k), SymmetricDifference(k)",
        ),
        (
            {"neighbors": "bounded", "exactly": "yes"},
            "exactly must be True or False, got 'yes'",
        ),
        (
            {"size": 5},
            "column 'records': size must be at most the universe's number of records, 4; got 5",
        ),
        (
            {"queries": sl.Var(ddof=3)},
            "column 'records': var_ddof_3 needs at least 4 records, but datasets of size 2 occur "
            "among x and y; choose a larger size or a smaller k",
        ),
    ],
)
def test_bad_arguments_are_named(changed, message):
    arguments = {
        "queries": ["mean"],
        "size": 3,
        "distances": [1],
        "neighbors": "unbounded",
        **changed,
    }
    with pytest.raises(sl.InputError) as caught:
        sl.sensitivity_curves(YEAR, **arguments)
    assert str(caught.value) == message


def never(_x) -> float:
    raise AssertionError("the search has started")


def test_no_search_starts_while_a_column_is_bad():
    universes = {"a": YEAR, "b": sl.Universe.from_dataset([1, 2, 3])}
    with pytest.raises(sl.InputError) as caught:
        sl.sensitivity_curves(universes, never, size=3, distances=1, neighbors="unbounded")
    assert str(caught.value) == (
        "column 'b': unbounded, at most 1 is not feasible for datasets of size 3 in a universe of "
        "3 records: removing needs k < size, adding needs k <= records outside x; no distance is "
        "feasible; choose another size or a larger universe, or choose direction='remove'"
    )


def test_no_search_starts_while_a_column_is_too_large():
    universes = {"a": YEAR, "b": sl.Universe.from_dataset(range(60))}
    with pytest.raises(sl.TooLargeError, match=r"^column 'b': no engine accepts never here: "):
        sl.sensitivity_curves(
            universes, never, size=3, distances=1, neighbors="unbounded", memory_limit=10_000
        )


def test_no_search_starts_while_a_query_is_bad():
    with pytest.raises(sl.InputError, match=r"^column 'records': var_ddof_2 needs at least 3 "):
        sl.sensitivity_curves(
            YEAR, [never, sl.Var(ddof=2)], size=3, distances=1, neighbors="unbounded"
        )


def test_a_failing_function_names_its_dataset():
    def no_ten(x) -> float:
        return float("nan") if 10 in x else 0.0

    with pytest.raises(sl.QueryError) as caught:
        sl.sensitivity_curves(
            sl.Universe([1, 10]), ["mean", no_ten], size=1, distances=1, neighbors="bounded"
        )
    assert str(caught.value) == (
        "query 'no_ten' on the dataset (10,) returned nan; a query returns one finite number, or a "
        "1-D array of them"
    )


@pytest.fixture(scope="module")
def two_meanings() -> sl.SensitivityCurves:
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
    with pytest.raises(sl.InputError) as caught:
        two_meanings.result("mean", distance=1, neighbors="unbounded")
    assert str(caught.value) == (
        "2 points have query 'mean' and distance 1, one is wanted; choose among column: records; "
        "neighbors: unbounded; meaning: at most, exactly; query: mean, var_ddof_1; distance: 1"
    )


@pytest.mark.parametrize("distance", [np.int64(1), np.array(1)])
def test_a_single_distance_of_numpy(distance):
    curves = sl.sensitivity_curves(YEAR, "sum", size=3, distances=distance, neighbors="bounded")
    assert [point.neighbors for _, point in curves] == [sl.Bounded(1)]


@pytest.mark.parametrize(("names", "twice"), [(["1", 1], "1"), (["a", "a"], "a")])
def test_columns_of_one_name_are_refused(names, twice):
    frame = pd.DataFrame([[1, 2], [3, 4], [5, 6]], columns=names)
    with pytest.raises(sl.InputError) as caught:
        sl.sensitivity_curves(frame, "mean", size=2, distances=1, neighbors="bounded")
    assert str(caught.value) == (f"the column {twice!r} comes twice; columns need distinct names")


def test_witnesses_beyond_the_memory_are_refused_before_any_work(monkeypatch):
    """A domain has datasets of any size; two of a billion records are 16 GB of references."""

    def never(*_arguments):
        raise AssertionError("the changes of a relation have been listed")

    domain = sl.Universe.from_domain([1, 2])
    monkeypatch.setattr("sensitivity_lab.problem.Problem.checked", never)
    limit = "more than the memory limit of 4.0 GiB; choose a smaller size"
    with pytest.raises(sl.TooLargeError) as caught:
        sl.global_sensitivity(domain, "var", size=10**9, neighbors="bounded")
    assert str(caught.value) == (
        f"two datasets of 1,000,000,000 records need 14.9 GiB, {limit} or a larger memory_limit"
    )
    with pytest.raises(sl.TooLargeError) as caught:
        sl.sensitivity_curves(domain, size=30_000, distances=range(1, 20_001), neighbors="bounded")
    assert str(caught.value) == (
        "column 'records': 200,000 results with two datasets of 30,000 records need 89.4 GiB, "
        f"{limit}, fewer distances or queries, or a larger memory_limit"
    )


def test_a_table_of_neighbors_of_a_huge_dataset_is_refused():
    with pytest.raises(sl.TooLargeError) as caught:
        sl.neighbor_table(
            sl.Universe.from_domain([1]), "mean", size=10**9, neighbors=sl.Unbounded(1)
        )
    assert str(caught.value) == (
        "two datasets of 1,000,000,000 records need 14.9 GiB, more than the memory limit of 4.0 "
        "GiB; choose a smaller size or a larger memory_limit"
    )


@pytest.fixture(scope="module")
def large() -> sl.SensitivityCurves:
    return sl.sensitivity_curves(
        sl.Universe.from_dataset(range(10_000)),
        ["mean", "median"],
        size=5_000,
        distances=range(1, 31),
        neighbors=["bounded", "unbounded"],
    )


def test_tables_of_large_datasets_are_short(large, tmp_path):
    """120 points of 10,000 records each are 6.5 MB in full."""
    large.to_csv(tmp_path / "short.csv")
    assert len(large) == 120
    assert (tmp_path / "short.csv").stat().st_size < 60_000
    for row, (_, point) in zip(large.to_frame().itertuples(), large, strict=True):
        x = point.witness.x
        first, last = (", ".join(map(str, part)) for part in (x[:8], x[-8:]))
        assert row.x == f"({first}, ..., {last}; 5,000 in all)"
        assert row.y.endswith(f"; {len(point.witness.y):,} in all)")
    html = large.to_frame()._repr_html_() + large._repr_html_()
    assert len(html) < 100_000


def test_whole_witnesses_for_who_asks(large, tmp_path):
    frame = large.to_frame(witness="full")
    assert list(frame["x"]) == [point.witness.x for _, point in large]
    assert list(frame["y"]) == [point.witness.y for _, point in large]
    short = large.to_frame()
    pd.testing.assert_frame_equal(frame.drop(columns=["x", "y"]), short.drop(columns=["x", "y"]))
    large.to_csv(tmp_path / "full.csv", witness="full")
    read = read_table(tmp_path / "full.csv")
    assert list(read["x"]) == [str(point.witness.x) for _, point in large]


def test_sixteen_records_are_not_many():
    curves = sl.sensitivity_curves(
        sl.Universe.from_dataset(range(20)), "mean", size=[16, 17], distances=1, neighbors="bounded"
    )
    (row,) = curves.to_frame().itertuples()
    assert row.x == curves.points[0][1].witness.x
    assert len(row.x) == 16


@pytest.mark.parametrize("witness", ["none", None, True])
def test_bad_witness(large, witness):
    swept = sl.sweep(
        sl.global_sensitivity, "size", [2], universe=YEAR, query="sum", neighbors="bounded"
    )
    table = sl.neighbor_table(YEAR, "sum", size=2, neighbors="bounded")
    for call in (large.to_frame, swept.to_frame, table.to_frame):
        with pytest.raises(sl.InputError) as caught:
            call(witness=witness)
        assert str(caught.value) == f"witness must be 'short' or 'full', got {witness!r}"


def test_other_tables_of_large_datasets():
    universe = sl.Universe.from_dataset(range(30))
    swept = sl.sweep(
        sl.global_sensitivity,
        "size",
        [16, 17],
        universe=universe,
        query="mean",
        neighbors=sl.Bounded(1),
    )
    table = sl.neighbor_table(universe, "mean", size=29, neighbors=sl.Unbounded(1))
    for told, results in (
        (swept, [result.witness for result in swept.results]),
        (table, table.rows),
    ):
        short, full = told.to_frame(), told.to_frame(witness="full")
        assert list(full["x"]) == [one.x for one in results]
        assert list(full["y"]) == [one.y for one in results]
        for name in ("x", "y"):
            for written, whole in zip(short[name], full[name], strict=True):
                assert (written == whole) == (len(whole) <= 16)
                assert len(written) < 100


def test_long_answers_are_short_too():
    rows = sl.TableUniverse.from_dataset(pd.DataFrame({"a": range(20)}))
    table = sl.neighbor_table(
        rows, sl.Histogram("a", list(range(20))), size=2, neighbors=sl.Unbounded(1)
    )
    short, full = table.to_frame(), table.to_frame(witness="full")
    assert full["query_x"].iloc[0] == (1.0, 1.0) + (0.0,) * 18
    assert short["query_x"].iloc[0] == (
        "(1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, ..., 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0; "
        "20 in all)"
    )
    assert short["removed"].iloc[0] == full["removed"].iloc[0]
