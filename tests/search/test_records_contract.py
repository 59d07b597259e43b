"""Tables, vector answers and norms: agree with the definition in every engine, and prove it."""

from __future__ import annotations

import contextlib
from collections import Counter

import oracle_records
import pandas as pd
import pytest
from checks import check_value
from hypothesis import given
from hypothesis import strategies as st
from oracle_records import NORMS
from record_checks import changes_of_one, check_witness, each_relation, expected_of, solve
from strategies import BY_NAME, RELATIONS
from strategies_records import CASES, Asked, frame

import sensitivity_lab as sl

ADDITIVE = (
    *("count", "count if", "sum", "clipped sum", "histogram of categories", "histogram of bins"),
    *("counts by group", "sums by group", "histograms by group", "additive stack"),
    "stack of groups",
)

pytestmark = pytest.mark.exhaustive
TAKES = {
    "multiplicities": ("multiplicities",),
    "row_sums": ADDITIVE,
    "one_column": ("mean", "mean or"),
    "enumeration": tuple(CASES),
}
"""By engine, what it takes at least."""
each_norm = pytest.mark.parametrize("norm", NORMS)


def check(asked: Asked, ours, theirs, vector: bool, method: str, norms=NORMS) -> None:
    """Everything that holds for a query that is computed exactly."""
    try:
        changes = asked.sensitivity(theirs)
    except ValueError:  # undefined on one of the datasets
        with pytest.raises((sl.errors.InputError, sl.errors.QueryError)):
            solve(asked, ours, norms[0], method)
        return
    for norm in norms:
        try:
            result = solve(asked, ours, norm, method)
        except sl.errors.InputError:
            # Exactly k apart, all directions have to leave enough records.
            assert asked.relation.exactly
            assert asked.sizes[0] - asked.relation.k < theirs.least
            return
        check_value(result, expected_of(changes, norm, vector))
        check_witness(result, asked, theirs)
        of_witness = (theirs(result.witness.x), theirs(result.witness.y))
        assert oracle_records.distances(*of_witness)[norm] == changes[norm]
        assert (result.status, result.arithmetic, result.norm) == ("exact", "exact", norm)
        assert method in ("auto", result.method)
        assert (result.neighbors, result.kind) == (asked.relation, "global")
        result.verify()


@pytest.mark.representative("method", "case")
@pytest.mark.parametrize(
    ("method", "case"),
    [(method, case) for method, cases in TAKES.items() for case in cases],
)
@pytest.mark.parametrize("family", RELATIONS)
@given(data=st.data(), exactly=st.booleans())
def test_agrees_with_the_definition(method, case, family, data, exactly):
    kind = CASES[case]
    norm = data.draw(st.sampled_from(NORMS))
    check(*data.draw(kind.on(family, exactly)), kind.vector, method, (norm,))


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES)
@given(data=st.data(), family=st.sampled_from(list(RELATIONS)), exactly=st.booleans())
def test_the_engine_that_is_chosen_agrees_with_the_definition(case, data, family, exactly):
    kind = CASES[case]
    check(*data.draw(kind.on(family, exactly)), kind.vector, "auto")


ROWS = [("a", 1), ("b", 2), ("b", 4), ("c", 8)]
TABLE = frame(("g", "v"), ROWS)
FIXED = {
    "count": sl.Count(),
    "count if": sl.CountIf("v > 2"),
    "sum": sl.SumOf("v"),
    "clipped sum": sl.SumOf("v", clip=(2, 4)),
    "mean": sl.MeanOf("v"),
    "histogram of categories": sl.Histogram("g", categories=["a", "b"]),
    "histogram of bins": sl.Histogram("v", bins=[0, 2, 8]),
    "counts by group": sl.GroupBy("g", "count", groups=["a", "b"]),
    "sums by group": sl.GroupBy("g", sl.SumOf("v"), groups=["a", "b"]),
    "additive stack": sl.Stack(sl.Count(), sl.SumOf("v")),
}


@pytest.mark.representative("method", "case")
@each_relation
@pytest.mark.parametrize(
    ("method", "case"),
    [(method, case) for method, cases in TAKES.items() for case in cases if case in FIXED],
)
def test_each_engine_takes_its_queries(method, case, family, exactly):
    """Without this, an engine that refuses everything would agree with everything."""
    relation, parameters = RELATIONS[family]
    universe = sl.TableUniverse.from_dataset(TABLE)
    neighbors = relation(1, exactly, **parameters)
    for norm in NORMS:
        asked = {"size": 2, "neighbors": neighbors, "norm": norm, "method": method}
        assert sl.global_sensitivity(universe, FIXED[case], **asked).method == method


@pytest.mark.representative("case")
@pytest.mark.parametrize("case", [case for case in FIXED if case in ADDITIVE])
@pytest.mark.parametrize("k", [1, 2])
def test_additive_queries_need_no_enumeration(case, k):
    """5,000 records are far too many for any engine that lists datasets."""
    rows = [(ROWS[i % 4][0], i % 7) for i in range(5000)]
    universe = sl.TableUniverse.from_dataset(frame(("g", "v"), rows))
    for relation in (sl.Bounded(k), sl.Unbounded(k)):
        for norm in NORMS:
            result = changes_of_one(universe, FIXED[case], relation, norm, size=1000)
            assert result.method == "row_sums"
            result.verify()


# Curves and local sensitivity


@pytest.mark.representative("family")
@each_norm
@pytest.mark.parametrize("family", BY_NAME)
def test_curves_are_global_sensitivities(norm, family):
    universe = sl.TableUniverse.from_dataset(TABLE)
    curves = sl.sensitivity_curves(
        {"table": universe},
        list(FIXED.values()),
        size=2,
        distances=1,
        neighbors=family,
        norm=norm,
    )
    rows = curves.to_frame()
    assert len(rows) == len(FIXED)
    for query, told in zip(FIXED.values(), rows["sensitivity"], strict=True):
        assert told == changes_of_one(universe, query, BY_NAME[family](1), norm).value


@pytest.mark.representative("family")
@each_relation
@given(data=st.data(), case=st.sampled_from(list(CASES)))
def test_local_sensitivity_agrees_with_the_definition(family, exactly, data, case):
    kind = CASES[case]
    asked, ours, theirs = data.draw(kind.on(family, exactly))
    records = asked.records
    x = data.draw(
        st.sampled_from(sorted(oracle_records.datasets(records, asked.sizes[0]), key=str))
    )
    arguments = (asked.table.universe, ours)
    try:
        found = oracle_records.local_sensitivity(records, x, theirs, **asked.oracle_relation)
    except ValueError:
        with pytest.raises((sl.errors.InputError, sl.errors.QueryError)):
            sl.local_sensitivity(*arguments, dataset=x, neighbors=asked.relation)
        return
    changes = {norm: value for norm, (value, _) in found.items()}
    if asked.relation.exactly and len(x) - asked.relation.k < getattr(theirs, "least", 0):
        # Exactly k apart in both directions needs k records to remove.
        with contextlib.suppress(sl.errors.InputError):
            sl.local_sensitivity(*arguments, dataset=x, neighbors=asked.relation)
        return
    for norm in NORMS:
        result = sl.local_sensitivity(*arguments, dataset=x, neighbors=asked.relation, norm=norm)
        check_value(result, expected_of(changes, norm, kind.vector))
        check_witness(result, asked, theirs)
        assert Counter(result.witness.x) == Counter(x)
        assert (result.norm, result.kind) == (norm, "local")
        result.verify()


def test_every_call_looks_at_a_predicate_anew():
    """In a notebook, what a predicate refers to changes while the function stays the same."""
    limits = {"age": 18}
    query = sl.GroupBy("g", sl.CountIf(lambda rows: rows["v"] >= limits["age"]), groups=["a"])
    table = pd.DataFrame({"g": ["a", "a", "b"], "v": [17, 30, 40]})
    universe = sl.TableUniverse.from_dataset(table)

    def answers() -> list[float]:
        x = table.iloc[:2]
        here = sl.local_sensitivity(universe, query, dataset=x, neighbors=sl.Bounded(1))
        listed = [
            sl.global_sensitivity(
                universe, query, size=1, neighbors=sl.Bounded(1), method=method
            ).value
            for method in ("row_sums", "enumeration")
        ]
        return [query(x)[0], here.witness.query_x[0], *listed]

    assert answers() == [1.0, 1.0, 1.0, 1.0]
    limits["age"] = 10
    assert answers() == [2.0, 2.0, 1.0, 1.0]
    limits["age"] = 100
    assert answers() == [0.0, 0.0, 0.0, 0.0]


def test_a_call_keeps_what_others_found():
    """A query's sums are its own: a call about another query does not make them again."""
    looks = []
    query = sl.CountIf(lambda rows: looks.append(len(rows)) or rows["v"] >= 18)
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"v": [17, 30, 40]}))
    result = sl.global_sensitivity(universe, query, size=1, neighbors=sl.Bounded(1))
    assert looks
    looks.clear()
    sl.global_sensitivity(universe, sl.CountIf("v >= 40"), size=1, neighbors=sl.Bounded(1))
    result.query.sums(universe)
    assert looks == []
    assert result.query == query
    result.query.sums(sl.TableUniverse.from_dataset(pd.DataFrame({"v": [1, 20]})))
    assert looks
