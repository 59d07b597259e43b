"""Curves of large datasets: how many records their tables show, and who wants them all."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pandas as pd
import pytest
from checks import read_table, refused

import sensitivity_lab as sl


def test_witnesses_beyond_the_memory_are_refused_before_any_work(monkeypatch):
    """A domain has datasets of any size; two of a billion records are 16 GB of references."""

    def never(*_arguments):
        raise AssertionError("the changes of a relation have been listed")

    domain = sl.Universe.from_domain([1, 2])
    monkeypatch.setattr("sensitivity_lab.problem.Problem.checked", never)
    limit = "more than the memory limit of 4.0 GiB; choose a smaller size"
    refused(
        lambda: sl.global_sensitivity(domain, "var", size=10**9, neighbors="bounded"),
        f"two datasets of 1,000,000,000 records need 14.9 GiB, {limit} or a larger "
        "run=Run(memory_limit=...)",
        sl.errors.TooLargeError,
    )
    refused(
        lambda: sl.sensitivity_curves(
            domain, size=10**9, distances=range(1, 1_001), neighbors="bounded"
        ),
        "column 'records': two datasets of 1,000,000,000 records need 14.9 GiB, "
        f"{limit} or a larger run=Run(memory_limit=...)",
        sl.errors.TooLargeError,
    )


def test_many_witnesses_that_are_listed_are_refused_before_any_search(monkeypatch):
    def never(*_arguments):
        raise AssertionError("a search has started")

    monkeypatch.setattr("sensitivity_lab.search.Chosen.solve", never)
    columns = dict.fromkeys(("a", "b"), sl.Universe.from_domain([1, 2]))
    asked = {"size": 500, "distances": range(1, 101), "neighbors": "bounded"}
    refused(
        lambda: sl.sensitivity_curves(
            columns, "mean", **asked, method="enumeration", run=sl.Run(memory_limit=2**20)
        ),
        "column 'b': 200 results with two datasets of 500 records need 1.5 MiB, more than the "
        "memory limit of 1.0 MiB; choose a smaller size, fewer distances or queries, or a larger "
        "run=Run(memory_limit=...)",
        sl.errors.TooLargeError,
    )


@pytest.mark.exhaustive
def test_witnesses_that_are_not_listed_need_no_memory(monkeypatch):
    """2,000 pairs of 30,000 records each would be 0.9 GiB; one is listed, the last."""
    listed = []
    of_universe = sl.Universe.dataset
    monkeypatch.setattr(
        sl.Universe, "dataset", lambda *given: listed.append(1) or of_universe(*given)
    )
    curves = sl.sensitivity_curves(
        sl.Universe.from_domain([1, 2]),
        "mean",
        size=30_000,
        distances=range(1, 2_001),
        neighbors="bounded",
        run=sl.Run(memory_limit=2**26),
    )
    assert [result.exact for _, result in curves] == [Fraction(k, 30_000) for k in range(1, 2_001)]
    assert not listed
    last = curves.result("mean", distance=2_000)
    assert last.witness.x == (1,) * 28_000 + (2,) * 2_000
    assert last.witness.y == (1,) * 30_000
    assert len(listed) == 2
    last.verify()


def test_a_table_of_neighbors_of_a_huge_dataset_is_refused():
    refused(
        lambda: sl.neighbor_table(
            sl.Universe.from_domain([1]), "mean", size=10**9, neighbors=sl.Unbounded(1)
        ),
        "two datasets of 1,000,000,000 records need 14.9 GiB, more than the memory limit of 4.0 "
        "GiB; choose a smaller size or a larger run=Run(memory_limit=...)",
        sl.errors.TooLargeError,
    )


@pytest.fixture(scope="module")
def large() -> sl.results.SensitivityCurves:
    return sl.sensitivity_curves(
        sl.Universe.from_dataset(range(10_000)),
        ["mean", "median"],
        size=5_000,
        distances=range(1, 31),
        neighbors=["bounded", "unbounded"],
    )


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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
    refused(
        partial(large.to_frame, witness=witness),
        f"witness must be one of 'short', 'full', got {witness!r}",
    )
