"""The cost contract: every engine heeds one limit of time, and says once that it takes long."""

from __future__ import annotations

import logging
import sys
from itertools import count
from types import SimpleNamespace
from unittest import mock

import pandas as pd
import pytest
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.running import progress

RECORDS = sl.Universe.from_dataset([i**2 for i in range(14)])
MANY = sl.Universe.from_dataset([(i * 37) % 101 + i**3 % 7 for i in range(60)])
ROWS = sl.TableUniverse.from_dataset(
    pd.DataFrame({"g": list("aabbccddee") * 3, "v": [i % 7 for i in range(30)]})
)


def of_groups():
    return sl.GroupBy("g", sl.MeanOf("v", empty=0), groups=list("abcde"))


SEARCHES = {
    "enumeration": lambda run: sl.global_sensitivity(
        RECORDS, lambda x: float(x[0] * x[-1]), size=6, neighbors=sl.Bounded(2), run=run
    ),
    "variance": lambda run: sl.global_sensitivity(
        MANY, "var", size=30, neighbors=sl.SymmetricDifference(9), run=run
    ),
    "ranks": lambda run: sl.global_sensitivity(
        MANY, "gini_mean_difference", size=30, neighbors=sl.Bounded(3), run=run
    ),
    "groups": lambda run: sl.global_sensitivity(
        ROWS, of_groups(), size=15, neighbors=sl.Bounded(4), run=run
    ),
    "local": lambda run: sl.local_sensitivity(
        RECORDS, lambda x: float(x[0]), dataset=[0, 1, 4, 9], neighbors=sl.Bounded(2), run=run
    ),
    "reach": lambda run: sl.reach(
        MANY, "var", dataset=MANY.values[:20], neighbors="edit", distances=9, run=run
    ),
    "smooth": lambda run: sl.smooth_sensitivity(
        MANY, "median", dataset=MANY.values[:9], beta=0.1, neighbors="bounded", run=run
    ),
    "curves": lambda run: sl.sensitivity_curves(
        MANY, ["var"], size=30, distances=range(1, 20), neighbors="bounded", run=run
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_limit_of_time_ends_every_search(name):
    """The clock is turned on: every look takes a second, so that two are too many."""
    clock = iter(range(10**9))
    with (
        mock.patch.object(progress, "_CLOCK", 1),
        mock.patch.object(progress.time, "monotonic", side_effect=map(float, clock)),
        pytest.raises(TooLargeError) as caught,
    ):
        SEARCHES[name](sl.Run(time_limit=0.5))
    assert (
        str(caught.value)
        .partition(", give")[0]
        .startswith("the search took longer than run=Run(time_limit=0.5)")
    )
    assert str(caught.value).endswith(
        "; give it more seconds, or choose a smaller size, distance or universe"
    )


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_within_its_limit_is_the_same(name):
    found, limited = (SEARCHES[name](run) for run in (sl.Run(), sl.Run(time_limit=600)))
    assert repr(found) == repr(limited)


def test_long_work_without_a_terminal_logs_one_line(caplog):
    clock = iter(range(0, 10**9, 3))
    with (
        mock.patch.object(progress.time, "monotonic", side_effect=map(float, clock)),
        caplog.at_level(logging.INFO, logger="sensitivity_lab"),
    ):
        SEARCHES["ranks"](sl.Run())
    [record] = caplog.records
    assert record.name == "sensitivity_lab"
    assert record.getMessage().startswith("the search takes over ")
    assert record.getMessage().endswith(" states done; progress=True shows it")


def test_a_bar_says_it_instead(caplog):
    clock = iter(range(0, 10**9, 3))
    with (
        mock.patch.object(progress.time, "monotonic", side_effect=map(float, clock)),
        caplog.at_level(logging.INFO, logger="sensitivity_lab"),
    ):
        sl.global_sensitivity(
            MANY, "gini_mean_difference", size=30, neighbors=sl.Bounded(3), progress=True
        )
    assert caplog.records == []


def test_work_that_ended_is_not_watched():
    clock = iter(range(0, 10**9, 100))
    with (
        mock.patch.object(progress, "_CLOCK", 1),
        mock.patch.object(progress.time, "monotonic", side_effect=map(float, clock)),
    ):
        with pytest.raises(TooLargeError), progress.watch(60, None):
            progress.poll()
        progress.poll()


@pytest.mark.parametrize("stream", [None, SimpleNamespace(write=len, flush=bool)])
def test_a_long_search_needs_no_stream_of_errors(stream, monkeypatch):
    """A program with windows has none, and one that logs may have one that is no terminal."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("tqdm.std.time", map(float, count(0, 2)).__next__)
    with progress.watch(60, None), progress.bar("records", None, 9) as shown:
        shown.update()


CALLS = {
    "global_sensitivity": lambda run: sl.global_sensitivity(
        RECORDS, "mean", size=3, neighbors="bounded", run=run
    ),
    "local_sensitivity": lambda run: sl.local_sensitivity(
        RECORDS, "mean", dataset=[0, 1], neighbors="bounded", run=run
    ),
    "sensitivity_curves": lambda run: sl.sensitivity_curves(
        RECORDS, ["mean", "var"], size=3, distances=1, neighbors="bounded", run=run
    ),
    "local_curves": lambda run: sl.local_curves(
        RECORDS, ["mean"], dataset=[0, 1], distances=1, neighbors="bounded", run=run
    ),
    "smooth_sensitivity": lambda run: sl.smooth_sensitivity(
        RECORDS, "mean", dataset=[0, 1], beta=1, neighbors="bounded", run=run
    ),
    "reach": lambda run: sl.reach(
        RECORDS, "mean", dataset=[0, 1], neighbors="bounded", distances=1, run=run
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_timeout_is_for_a_callers_function(call):
    refused(
        lambda: CALLS[call](sl.Run(timeout=5)),
        "timeout is the most seconds per dataset of a caller's function, and mean is none; for the "
        "whole search use Run(time_limit=5)",
    )
