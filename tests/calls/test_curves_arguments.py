"""What curves accept as universes, queries, relations and distances."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab.queries import DEFAULT_QUERIES

ABSENCE = sl.Universe.from_dataset([1, 2, 3, 10])
YEAR = sl.Universe.from_dataset([1, 2, 3, 4])


def middle(rows):
    return rows[:, rows.shape[1] // 2]


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
    relations = [sl.Unbounded(2, direction="add"), sl.Unbounded(1, exactly=True)]
    ask = partial(sl.sensitivity_curves, YEAR, "sum", size=2, neighbors=relations)
    found = ask(distances=[1, 2], neighbors=relations[0])
    assert [point.neighbors for _, point in found] == [relations[0].at(k) for k in (1, 2)]
    refused(
        lambda: ask(distances=1),
        "neighbors is unbounded (add), at most 2, but distances=1 leaves out k = 2; pass all "
        "distances, or name the relation without a k",
    )


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
