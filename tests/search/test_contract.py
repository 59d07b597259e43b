"""What every engine must do: agree with the definition, and prove it."""

from __future__ import annotations

import math
from itertools import product

import oracle
import pytest
from checks import check_value
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import (
    NUMPY_KINDS,
    QUERIES,
    RELATIONS,
    Asked,
    as_fractions,
    percentiles,
    problems,
)

import sensitivity_lab as sl
from sensitivity_lab.errors import NoEngineError
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import NAMED
from sensitivity_lab.queries.l_statistics import ByRank
from sensitivity_lab.search import engines_for
from sensitivity_lab.search.engine import Options, Plan


def accepted(queries) -> pytest.MarkDecorator:
    """Parametrize over every engine, query and relation that the engine takes for 5 records."""
    cases = []
    for engine, (name, query), (family, (relation, parameters)), exactly in product(
        engines_for("global"), queries.items(), RELATIONS.items(), (False, True)
    ):
        universe, neighbors = sl.Universe.from_dataset(range(5)), relation(1, exactly, **parameters)
        problem = Problem(universe, (query,), (neighbors,), (3,))
        if isinstance(engine.plan(problem, Options()), Plan):
            meaning = "exactly" if exactly else "at most"
            case = (engine.name, name, family, exactly)
            cases.append(pytest.param(*case, id=f"{engine.name}: {name}, {family} {meaning}"))
    return pytest.mark.parametrize(("engine", "query", "family", "exactly"), cases)


def solve(engine: str, asked: Asked, query) -> sl.results.Sensitivity:
    """The engine's result; where it refuses the problem, the example is left out."""
    try:
        return sl.global_sensitivity(
            asked.universe, query, size=asked.size, neighbors=asked.relation, method=engine
        )
    except NoEngineError:
        assume(False)
        raise


def defined_sensitivity(asked: Asked, query):
    """The oracle's answer; where the query is undefined, the example is left out."""
    try:
        return asked.sensitivity(query)
    except ValueError:
        assume(False)
        raise


def check_witness(result: sl.results.Sensitivity, asked: Asked) -> None:
    """The pair is one of neighbors by the oracle's definition, told in ascending order."""
    x, y = as_fractions(result.witness.x), as_fractions(result.witness.y)
    assert len(x) in asked.sizes
    assert x in oracle.datasets(asked.records, len(x))
    assert y in asked.neighbors(x)
    assert sorted(result.witness.shared + result.witness.only_x) == list(result.witness.x)
    assert sorted(result.witness.shared + result.witness.only_y) == list(result.witness.y)


def change_of(query, result: sl.results.Sensitivity):
    """How far the witness is apart, by the oracle."""
    x, y = result.witness.x, result.witness.y
    if query[0] == "std":
        return oracle.root_difference(
            *(oracle.evaluate(("var", query[1]), dataset) for dataset in (x, y))
        )
    return abs(oracle.evaluate(query, x) - oracle.evaluate(query, y))


def check(engine: str, asked: Asked, ours: sl.Query, theirs: tuple) -> None:
    """Everything that holds for a query that is computed exactly."""
    expected = defined_sensitivity(asked, theirs)
    result = solve(engine, asked, ours)
    check_value(result, expected)
    check_witness(result, asked)
    assert change_of(theirs, result) == expected
    assert (result.status, result.method, result.arithmetic) == ("exact", engine, "exact")
    assert result.neighbors == asked.relation
    assert result.universe == asked.universe
    result.verify()


@pytest.mark.representative("engine", "query")
@accepted({name: query for name, (query, _) in QUERIES.items()})
@given(data=st.data())
def test_agrees_with_the_definition(engine, query, family, exactly, data):
    check(engine, data.draw(problems(family, exactly)), *QUERIES[query])


@pytest.mark.representative("engine", "query")
@accepted({"percentile": sl.Percentile(25)})
@given(data=st.data())
def test_percentiles_agree_with_the_definition(engine, query, family, exactly, data):
    asked = data.draw(problems(family, exactly))
    ours, theirs = data.draw(percentiles())
    assert ours.name.startswith(query)
    check(engine, asked, ours, theirs)


def third_moment(dataset) -> float:
    """Not monotone, not convex, and the same for every order of summation."""
    return math.fsum((float(record) - 1) ** 3 for record in dataset)


FUNCTIONS = {
    "function": sl.from_function(third_moment),
    "vectorized": sl.from_function(lambda rows: list(map(third_moment, rows)), vectorized=True),
}


@pytest.mark.representative("engine", "query")
@accepted(FUNCTIONS)
@given(data=st.data())
def test_functions_agree_with_the_definition(engine, query, family, exactly, data):
    asked = data.draw(problems(family, exactly, NUMPY_KINDS))
    result = solve(engine, asked, FUNCTIONS[query])
    expected = asked.sensitivity(third_moment)
    assert result.value == expected
    assert abs(third_moment(result.witness.x) - third_moment(result.witness.y)) == expected
    assert (result.exact, result.upper, result.arithmetic) == (None, None, "float")
    check_witness(result, asked)
    result.verify()


@pytest.mark.representative("engine", "query")
@accepted({"count": sl.Count(), "median": sl.Median(), "var": sl.Var(), "std": sl.Std()})
def test_a_query_that_never_changes_has_a_witness(engine, query, family, exactly):
    """Of all pairs with no difference, the one that is shown is a pair of neighbors."""
    if query == "count" and family != "bounded":
        return
    relation, parameters = RELATIONS[family]
    records = [1, 2, 3, 4] if query == "count" else [7, 7, 7, 7]
    asked = Asked(sl.Universe.from_dataset(records), relation(1, exactly, **parameters), 2)
    result = solve(engine, asked, query)
    assert result.value == 0
    check_witness(result, asked)
    result.verify()


def test_some_engine_takes_everything():
    (taken,) = accepted({**FUNCTIONS, **{name: ours for name, (ours, _) in QUERIES.items()}}).args[
        1:
    ]
    everything = {case.values[1:] for case in taken}
    assert len(everything) == (len(FUNCTIONS) + len(QUERIES)) * len(RELATIONS) * 2


def test_every_query_with_a_name_is_compared_with_its_definition():
    """Here, or in `test_ranks.py` where it is declared as a weighted sum by rank."""
    by_rank = {name for name, query in NAMED.items() if isinstance(query, ByRank)}
    assert len(by_rank) > 5
    assert set(NAMED) - by_rank <= set(QUERIES)


def test_no_two_engines_share_a_name():
    names = [engine.name for engine in engines_for("global")]
    assert len(set(names)) == len(names)
    assert "auto" not in names
