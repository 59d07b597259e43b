"""A checkpoint knows a caller's function by its name, and the rest of a problem by its data."""

from __future__ import annotations

import datetime
import enum
import signal
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with

import sensitivity_lab as sl
from sensitivity_lab.queries.identity import query_identity, universe_identity
from sensitivity_lab.running.encoding import NotPlainError, digest

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13])
TABLE = sl.TableUniverse.from_domain({"a": ["u", "v"], "b": [1, 2]})
NAME = "from_function(function, name='mine, version 1')"


def solve(folder, query, universe=UNIVERSE, size=3, **options):
    return sl.global_sensitivity(
        universe, query, size=size, neighbors="bounded", run=sl.Run(checkpoint=folder), **options
    )


def local(folder, query):
    return sl.local_sensitivity(
        UNIVERSE, query, dataset=[1, 2, 3], neighbors="bounded", run=sl.Run(checkpoint=folder)
    )


# No name.


def first_record(x):
    return float(x[0])


def ends(n):
    return [1, *[0] * (n - 2), 1]


def adults(rows):
    return rows["b"] > 1


class Doubled(sl.queries.Sum):
    """A caller's class: what its methods do has no name."""


@pytest.mark.parametrize(
    ("query", "name", "write"),
    [
        (first_record, "first_record", NAME),
        (lambda x: float(x[0]), "function", NAME),
        (sl.from_function(np.median), "median (function)", NAME),
        (sl.from_function(first_record, name=""), "first_record", NAME),
        (
            sl.queries.LStatistic(ends, name=""),
            "",
            "LStatistic(weight_function, name='mine, version 1')",
        ),
        (
            sl.queries.LStatistic(ends),
            "l_statistic",
            "LStatistic(weight_function, name='mine, version 1')",
        ),
    ],
    ids=["function", "lambda", "median", "empty", "empty weights", "weights"],
)
@pytest.mark.parametrize("call", [solve, local])
def test_a_function_without_a_name_is_refused(tmp_path, call, query, name, write):
    refused(
        lambda: call(tmp_path / "kept", query),
        f"run=Run(checkpoint=...) needs a name for the function of the query {name!r}, because "
        "nothing tells whether a function has changed since its answers were kept; write "
        f"{write}, and change the name whenever the function, or anything that it reads, changes",
    )
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("query", "write"),
    [
        (sl.queries.CountIf(adults), "CountIf(predicate, name='mine, version 1')"),
        (
            sl.queries.SumOf("b", where=adults),
            "where as a text, such as 'age >= 18', or from_function(query, name='mine, version 1')",
        ),
    ],
    ids=["count", "sum"],
)
@pytest.mark.parametrize("stacked", [False, True])
def test_a_predicate_without_a_name_is_refused(tmp_path, query, write, stacked):
    asked = sl.queries.Stack(query, sl.queries.CountIf("b > 1")) if stacked else query
    with pytest.raises(sl.errors.InputError, match=r"needs a name for the function ") as caught:
        solve(tmp_path, asked, TABLE, 2)
    assert f"; write {write}, and change the name whenever" in str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        sl.from_function(first_record, name="first record, version 1"),
        sl.queries.LStatistic(ends, name="ends, version 1"),
    ],
)
def test_a_name_is_enough(tmp_path, query):
    assert solve(tmp_path, query).value == solve(tmp_path, query).value


@pytest.mark.parametrize(
    "query",
    [
        sl.queries.CountIf(adults, name="adults, version 1"),
        sl.queries.CountIf("b > 1"),
        sl.queries.SumOf("b", where="b > 1"),
        sl.from_function(sl.queries.SumOf("b", where=adults), name="sum of adults, version 1"),
    ],
)
def test_a_name_or_a_text_is_enough_for_a_predicate(tmp_path, query):
    assert solve(tmp_path, query, TABLE, 2).value == solve(tmp_path, query, TABLE, 2).value


def test_a_class_of_the_caller_is_refused(tmp_path):
    refused(
        lambda: solve(tmp_path, Doubled()),
        "run=Run(checkpoint=...) cannot tell the query 'sum' from others, because it is or holds a "
        f"{__name__}.Doubled, which is no plain data; give it a name: "
        "from_function(query, name='mine, version 1'), and change the name whenever the query, or "
        "anything that it reads, changes",
    )
    named = sl.from_function(Doubled(), name="mine, version 1")
    assert solve(tmp_path, named).value == 12


class Color(enum.Enum):
    RED = 1


def test_records_that_are_no_plain_data_are_refused(tmp_path):
    universe = sl.TableUniverse.from_domain({"color": pd.Series([Color.RED], dtype=object)})
    refused(
        lambda: solve(tmp_path, "count", universe, 2),
        "run=Run(checkpoint=...) needs records of plain data, which can be compared with those of "
        f"a later call, and the universe holds a {__name__}.Color; use numbers, texts, dates, "
        "times or tuples of these, or leave the checkpoint out",
    )


# Names, and answers that are computed again.


@pytest.mark.parametrize("call", [solve, local])
def test_another_name_is_another_search(tmp_path, call):
    call(tmp_path, sl.from_function(first_record, name="first, version 1"))
    there, here = (
        f"first, version {number} "
        + query_identity(sl.from_function(first_record, name=f"first, version {number}"))[:16]
        for number in (1, 2)
    )
    refused(
        lambda: call(tmp_path, sl.from_function(first_record, name="first, version 2")),
        f"the checkpoint {str(tmp_path)!r} belongs to another search: there, queries is {there}; "
        f"here, {here}; choose another folder, or delete this one",
        sl.errors.CheckpointError,
    )


def changed(folder, dataset, kept, now, name="mine, version 1"):
    return (
        f"the checkpoint {str(folder)!r} holds answers of another query: on the dataset {dataset}, "
        f"{name} is kept as {kept}, and is {now} now; the function, or something that it reads, "
        "has changed, or it is random; choose another folder, or delete this one, and give the "
        "function a new name"
    )


@pytest.mark.parametrize("vectorized", [False, True])
def test_another_function_of_the_same_name_is_noticed(tmp_path, vectorized):
    def query(scale):
        return sl.from_function(
            lambda x: scale * x[..., 0] * 1.0, name="mine, version 1", vectorized=vectorized
        )

    assert solve(tmp_path, query(2)).value == solve(tmp_path, query(2)).value == 8
    refused(
        lambda: solve(tmp_path, query(3)),
        changed(tmp_path, "(1, 2, 3)", "2.0", "3.0"),
        sl.errors.CheckpointError,
    )


def test_a_file_that_a_function_reads_is_noticed_by_its_answers(tmp_path):
    file = tmp_path / "scale"
    query = sl.from_function(
        lambda x: float(file.read_text()) * float(x[0]), name="mine, version 1"
    )
    file.write_text("2")
    assert local(tmp_path / "kept", query).value == 2
    file.write_text("3")
    refused(
        lambda: local(tmp_path / "kept", query),
        changed(tmp_path / "kept", "(2, 3, 13)", "4", "6"),
        sl.errors.CheckpointError,
    )


@pytest.mark.parametrize("vectorized", [False, True])
def test_the_witness_is_computed_again(tmp_path, monkeypatch, vectorized):
    """Where a function changed on one dataset, and the sample misses it."""
    domain = sl.Universe.from_domain(range(8))

    def query(height):
        def alone(x):
            return height if x.tolist() == [2, 3, 4, 5] else 0.0

        rows = (lambda rows: np.array([alone(row) for row in rows])) if vectorized else alone
        return sl.from_function(rows, name="mine, version 1", vectorized=vectorized)

    assert solve(tmp_path, query(1.0), domain, 4).value == 1
    monkeypatch.setattr(
        "sensitivity_lab.search.enumeration.kept.KeptSample.chosen", property(lambda _: [])
    )
    refused(
        lambda: solve(tmp_path, query(0.5), domain, 4),
        changed(tmp_path, "(2, 3, 4, 5)", "1.0", "0.5"),
        sl.errors.CheckpointError,
    )


def test_a_random_function_is_not_blamed_on_a_new_folder(tmp_path):
    random = np.random.default_rng(0)
    refused_with(
        lambda: solve(
            tmp_path, sl.from_function(lambda _: random.random(), name="mine, version 1")
        ),
        "when it was called again: it is random",
        sl.errors.QueryError,
    )


def test_every_call_that_goes_on_computes_32_others_again(tmp_path):
    calls = []

    def first(x):
        calls.append(tuple(x.tolist()))
        return float(x[0])

    domain = sl.Universe.from_domain(range(8))
    samples = []
    for _ in range(3):
        calls.clear()
        solve(tmp_path, sl.from_function(first, name="first record 1", order="sorted"), domain, 4)
        samples.append(calls[:32])
        number = len(calls)
    assert number == 32 + 2  # and the witness
    for sample in samples[1:]:
        assert len(set(sample)) == 32
        assert {(0, 0, 0, 0), (7, 7, 7, 7)} < set(sample)
    assert set(samples[1]) != set(samples[2])


SCRIPT = """
import os, signal, sys
import sensitivity_lab as sl

calls, last = [], int(sys.argv[2])

def count():
    calls.append(1)
    if len(calls) == last:
        os.kill(os.getpid(), signal.SIGKILL)

query = sl.from_function(
    lambda x: count() or float(x.max()), name="largest, version 1", order="sorted"
)
found = sl.global_sensitivity(
    sl.Universe.from_domain(range(8)), query, size=4, neighbors="bounded",
    run=sl.Run(checkpoint=sys.argv[1]),
)
print(found.value, len(calls))
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_lambda_of_a_script_goes_on_in_another_process(tmp_path):
    def call(seed, last=-1):
        command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(last)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={"PYTHONHASHSEED": seed}
        )
        return done.returncode, done.stdout.split()

    assert call("1", last=200) == (-signal.SIGKILL, [])
    code, (value, calls) = call("2")
    assert (code, value) == (0, "7.0")
    assert 330 - 200 + 32 + 32 + 2 <= int(calls) < 330 - 150 + 32 + 32 + 2
    assert call("3") == (0, ["7.0", str(32 + 2)])


# Built-in queries, by their fields.


def test_a_built_in_query_with_other_fields_is_another_search(tmp_path):
    asked = {"method": "enumeration"}
    solve(tmp_path, sl.queries.Var(ddof=0), **asked)
    solve(tmp_path, sl.queries.Var(ddof=0), **asked)
    refused_with(
        lambda: solve(tmp_path, sl.queries.Var(ddof=1), **asked),
        r"there, queries is var \w+; here, var",
        sl.errors.CheckpointError,
    )


QUERIES = [
    *(sl.queries.NAMED.values()),
    *(sl.queries.Var(ddof=1), sl.queries.Var(ddof=Fraction(1, 2)), sl.queries.Std(ddof=1)),
    *(sl.queries.Mean(empty=0), sl.queries.Mean(empty=0.0), sl.queries.Mean(empty=Decimal(0))),
    *(sl.queries.Percentile(q) for q in (25.0, Fraction(25), 27)),
    *(sl.queries.Percentile(26, method) for method in sl.queries.PERCENTILE_METHODS),
    *(sl.queries.TrimmedMean(Fraction(1, 5)), sl.queries.WinsorizedMean(Fraction(1, 5))),
    *(sl.queries.CountDistinct("a"), sl.queries.CountDistinct("b")),
    *(sl.queries.LStatistic(ends, name=name) for name in ("ends 1", "ends 2")),
    *(sl.from_function(ends, name=name) for name in ("ends 1", "ends 2", "ends " + 500 * "x")),
    sl.from_function(ends, name="ends " + 501 * "x"),
    sl.from_function(ends, name="ends 1", vectorized=True),
    *(sl.queries.CountIf(text) for text in ("b > 1", "b > 2")),
    *(sl.queries.CountIf(adults, name=name) for name in ("b > 1", "adults 1")),
    *(sl.queries.SumOf("b"), sl.queries.SumOf("b", (0, 1)), sl.queries.SumOf("b", where="b > 1")),
    *(sl.queries.MeanOf("b"), sl.queries.MeanOf("b", 0), sl.queries.MeanOf("a")),
    *(sl.queries.Covariance("a", "b"), sl.queries.Covariance("a", "b", 1)),
    *(sl.queries.VectorSum(["a", "b"], 3), sl.queries.VectorSum(["a", "b"], 4)),
    *(sl.queries.Histogram("a", ["u"]), sl.queries.Histogram("a", ["u", "v"])),
    sl.queries.Histogram("b", bins=[0, 1, 2]),
    *(sl.queries.GroupBy("a", sl.queries.SumOf("b"), of) for of in (["u"], ["u", "v"])),
    *(sl.queries.ColumnQuery("b", query) for query in ("median", "max")),
    sl.queries.Stack(sl.queries.SumOf("b"), sl.queries.CountIf("b > 1")),
    sl.queries.Stack(sl.queries.CountIf("b > 1"), sl.queries.SumOf("b")),
]


def test_queries_are_told_apart_by_class_and_fields():
    identities = [query_identity(query) for query in QUERIES]
    assert identities == [query_identity(query) for query in QUERIES]
    assert len(set(identities)) == len(QUERIES)


# Universes and plain data.


def test_universes_are_told_apart_by_records_columns_and_types():
    frame = pd.DataFrame({"a": [1, 2], "b": ["u", "v"]})
    ordered = pd.CategoricalDtype(["v", "u"], ordered=True)
    universes = [
        *(sl.Universe.from_domain([1, 2]), sl.Universe.from_domain([1, 3])),
        *(sl.Universe.from_dataset([1, 2]), sl.Universe.from_dataset([1, 2, 2])),
        *(sl.Universe.from_domain([1.0, 2.0]), sl.Universe.from_domain([Fraction(1), 2])),
        *(sl.Universe.from_interval(1, 2), sl.Universe.from_interval(1, 2.0)),
        sl.TableUniverse(frame),
        sl.TableUniverse(frame.rename(columns={"a": "c"})),
        sl.TableUniverse(frame.astype({"a": "int8"})),
        sl.TableUniverse(frame.astype({"b": "category"})),
        sl.TableUniverse(frame.astype({"b": pd.CategoricalDtype(["u", "v", "w"])})),
        sl.TableUniverse(frame.astype({"b": ordered})),
        sl.TableUniverse.from_domain({"a": [1, 2], "b": ["u", "v"]}),
    ]
    assert len({universe_identity(universe) for universe in universes}) == len(universes)
    assert universe_identity(universes[0]) == universe_identity(sl.Universe.from_domain([2, 1]))


ZONE = ZoneInfo("Europe/Berlin")
MOMENT = datetime.datetime(2020, 1, 2)
PLAIN = [
    *(None, True, 1, 1.0, 1 + 0j, 0.0, -0.0, float("nan"), float("inf"), 10**5000, Fraction(1)),
    *(Fraction(1, 2), Decimal(1), Decimal("1.0"), "1", b"1", "", "a\udcffb", np.str_("1")),
    *(np.int8(1), np.int64(1), np.float64(1), np.bool_(True), np.datetime64("2020-01-02")),
    *((), (1,), [1], [1, [2]], [[1, 2]], [[1], 2], ((), ()), {1}, frozenset({1}), {1: 2}, {2: 1}),
    *({"a": 1, "b": 2}, {"b": 2, "a": 1}, ("a,", "b"), ("a", ",b"), range(3), range(0, 4, 2)),
    *(MOMENT, MOMENT.date(), MOMENT.time(), MOMENT.replace(tzinfo=datetime.UTC)),
    *(MOMENT.replace(tzinfo=ZONE), pd.Timestamp(MOMENT), pd.Timestamp(MOMENT, tz=ZONE), pd.NaT),
    *(pd.NA, datetime.timedelta(1), pd.Timedelta(1, "D"), pd.Interval(0, 1), pd.Interval(0, 2)),
    *(pd.Interval(0, 1, "left"), pd.Period("2020", "Y"), pd.Period("2020-01", "M")),
    *(np.arange(2), np.arange(2.0), np.arange(2)[None], np.array([0, 1], dtype=object)),
    *(np.array([1, 0]), np.array(["a", "b"]), np.array([], dtype=np.int64)),
]


def test_plain_data_is_told_apart():
    digests = [digest(value) for value in PLAIN]
    twice = {digests.index(one): at for at, one in enumerate(digests)}
    assert [(PLAIN[at], PLAIN[last]) for at, last in twice.items() if at != last] == []
    assert len(set(digests)) == len(PLAIN)


@pytest.mark.exhaustive
def test_a_digest_does_not_depend_on_the_process():
    value = '({"b", "a", 3.5}, ["x", {"k": (1, None)}], frozenset(range(50)))'
    script = f"from sensitivity_lab.running.encoding import digest; print(digest({value}))"
    for seed in ("1", "7"):
        told = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        )
        assert told.stdout.strip() == digest(
            ({"b", "a", 3.5}, ["x", {"k": (1, None)}], frozenset(range(50)))
        )


class Zone(datetime.tzinfo):
    """A caller's time zone."""

    def utcoffset(self, _):
        return datetime.timedelta(hours=1)


class Text(str):
    """Can hold more than its text."""


@pytest.mark.parametrize(
    "value",
    [
        *(first_record, len, np.add, object(), iter([]), Color.RED, Text("a"), sl, sl.queries.Sum),
        MOMENT.replace(tzinfo=Zone()),
        np.ma.array([1], mask=[1]),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.random.default_rng(0),
        pd.DataFrame({"a": [1]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_plain_data_is_refused(value):
    with pytest.raises(NotPlainError):
        digest(value)
    with pytest.raises(NotPlainError):
        digest({"deep": [(value,)]})
