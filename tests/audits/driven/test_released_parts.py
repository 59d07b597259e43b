"""What tells two releases apart besides their numbers, and what no release can be."""

from __future__ import annotations

import array
import types
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_mechanism
from sensitivity_lab.audits.returned import parts

First = namedtuple("Point", "x y")
Second = namedtuple("Point", "x z")


def judge(function, **options):
    given = {"epsilon": 1, "neighbors": "bounded"} | options
    return audit_mechanism(function, [0, 1], 1, **given)


def record(name):
    return np.zeros(1, dtype=[(name, int)])


TOLD = {
    "a mask": (
        np.ma.array([1, 2], mask=[False, True]),
        np.ma.array([1, 2]),
        "event: release[0] = 1 and release[1] = 2 and release['mask'][0] = 0 and "
        "release['mask'][1] = 1",
    ),
    "fields": (First(1, 2), Second(1, 2), "event: the fields of release are ['x', 'y']"),
    "fields of a record": (record("a")[0], record("b")[0], "event: release['a'] = 0"),
    "a shorter float": (np.float32(1), np.float64(1), "event: release = 1 (float32)"),
    "a shorter whole number": (1, np.int8(1), "event: release = 1"),
    "a set": ({1, 2}, {1}, "event: release = set({1, 2})"),
}


@pytest.mark.parametrize("case", TOLD)
def test_what_differs_besides_the_numbers(case):
    first, second, event = TOLD[case]
    report = judge(lambda data, _: second if data[0] else first)
    assert (report.verdict, report.rows[0].value) == ("violated", float("inf"))
    assert report.notes[0].startswith(event)
    assert judge(lambda *_: first).rows[0].exact == 0


@pytest.mark.further
def test_numbers_of_the_widths_of_python_are_no_other_releases():
    for both in ((1, np.int64(1)), (1.5, np.float64(1.5)), (True, np.True_)):
        report = judge(lambda data, _, both=both: both[data[0]])
        assert report.rows[0].exact == 0


def test_names_count_without_types():
    assert parts(record("a")) != parts(record("b"))
    assert parts(First(1, 2)) != parts(Second(1, 2)) != parts((1, 2))


@pytest.mark.further
def test_a_missing_value_equals_itself():
    def table(*_):
        return pd.DataFrame({"a": pd.array([1, pd.NA], dtype="Int64")})

    for release in (lambda *_: pd.NA, lambda *_: [pd.NA, 1], table):
        assert judge(release).rows[0].exact == 0
    assert judge(lambda data, _: pd.NA if data[0] else None).verdict == "violated"


class Model:
    """A fitted model: only its identity tells it."""

    def __init__(self, mean):
        self.mean = mean


INCOMPARABLE = {
    "a model": (lambda data, _: Model(data[0]), "release is of the type Model"),
    "a namespace": (
        lambda data, _: types.SimpleNamespace(mean=data[0]),
        "release is of the type SimpleNamespace",
    ),
    "a lambda": (lambda data, _: lambda: data[0], "release is of the type function"),
    "an array of Python": (
        lambda data, _: array.array("d", data),
        "release is of the type array",
    ),
    "a part": (
        lambda _, rng: {"model": [Model(rng.integers(3))]},
        "release['model'][0] is of the type Model",
    ),
    "beside noise": (
        lambda _, rng: (rng.laplace(), Model(0)),
        "release[1] is of the type Model",
    ),
}


@pytest.mark.parametrize("case", INCOMPARABLE)
def test_what_cannot_be_compared_is_told(case):
    function, told = INCOMPARABLE[case]
    refused(
        lambda: judge(function),
        f"the function returns what cannot be compared: on [0], {told}, and no two of these are "
        "equal; return what it holds as numbers or texts, or as these in lists, tuples, mappings, "
        "arrays, tables and dataclasses",
        sl.errors.QueryError,
    )
