"""Bad input of a search: the whole message, and no query is called before it is raised."""

from __future__ import annotations

import pandas as pd
import pytest
from search_cases import UNIVERSE, ask
from strategies import NAMES, RELATION_CHOICES

import sensitivity_lab as sl
from sensitivity_lab.problem import Problem
from sensitivity_lab.search import engines_for
from sensitivity_lab.search.engine import Options

QUERY_CHOICES = (
    f"choose one of {NAMES}, percentile_25 (any number from 0 "
    "to 100), a query such as Percentile(25), or a function of a 1-D array"
)


def infeasible(relation: str, size: int, why: str) -> str:
    return (
        f"{relation} is not feasible for datasets of size {size} in a universe of 4 records: {why}"
    )


BAD = {
    "query name": ({"query": "avg"}, f"unknown query 'avg'; {QUERY_CHOICES}; did you mean 'mean'?"),
    "query of a percentile": (
        {"query": "p90"},
        f"unknown query 'p90'; {QUERY_CHOICES}; did you mean 'percentile_90'?",
    ),
    "query in capitals": (
        {"query": "Median"},
        f"unknown query 'Median'; {QUERY_CHOICES}; did you mean 'median'?",
    ),
    "query quantile": (
        {"query": "quantile_90"},
        f"unknown query 'quantile_90'; {QUERY_CHOICES}; did you mean 'percentile_90'?",
    ),
    "query quantile as a share": (
        {"query": "quantile_0.9"},
        f"unknown query 'quantile_0.9'; {QUERY_CHOICES}; did you mean 'percentile_90'?",
    ),
    "query histogram": (
        {"query": "histogram"},
        f"unknown query 'histogram'; {QUERY_CHOICES}; write Histogram(column, categories=...) or "
        "Histogram(column, bins=...), of rows",
    ),
    "query class": (
        {"query": sl.Percentile},
        "the query Percentile needs q; write Percentile(q=...)",
    ),
    "query class of two arguments": (
        {"query": sl.GroupBy},
        "the query GroupBy needs column and query; write GroupBy(column=..., query=...)",
    ),
    "trimmed mean": (
        {"query": "trimmed_mean_50"},
        "the percentage of a name must be a number from 0 to below 50, got 'trimmed_mean_50'; "
        "write for example 'trimmed_mean_25'",
    ),
    "winsorized mean": (
        {"query": "winsorized_mean_nan"},
        "the percentage of a name must be a number from 0 to below 50, got 'winsorized_mean_nan'; "
        "write for example 'winsorized_mean_25'",
    ),
    "relation of elsewhere": (
        {"neighbors": "add-remove"},
        f"unknown neighbor relation 'add-remove'; {RELATION_CHOICES}; did you mean 'unbounded'?",
    ),
    "percentile": (
        {"query": "percentile_101"},
        "a percentile must be a number from 0 to 100, got 'percentile_101'; "
        "write for example 'percentile_25'",
    ),
    "percentile name": (
        {"query": "percentile_many"},
        "a percentile must be a number from 0 to 100, got 'percentile_many'; "
        "write for example 'percentile_25'",
    ),
    "undefined variance": (
        {"query": sl.Var(ddof=2)},
        "var_ddof_2 needs at least 3 records, got size 2; leave out smaller sizes, or say the "
        "answer for fewer, empty=, which is then public",
    ),
    "size too large": (
        {"size": 5},
        "size must be at most the universe's number of records, 4, got 5; choose a smaller "
        "size, or use a domain as the universe, Universe.from_domain(values)",
    ),
    "one size too large": (
        {"size": [2, 9]},
        "size must be at most the universe's number of records, 4, got 9; choose a smaller "
        "size, or use a domain as the universe, Universe.from_domain(values)",
    ),
    "nobody": (
        {"size": [0, 2], "query": "median"},
        "median needs at least 1 record, got size 0; leave out smaller sizes, or say the answer "
        "for fewer, empty=, which is then public",
    ),
    "no pair": (
        {"query": "gini_mean_difference", "size": [1, 2]},
        "gini_mean_difference needs at least 2 records, got size 1; leave out smaller sizes, or "
        "say the answer for fewer, empty=, which is then public",
    ),
    "k, replacing exactly": (
        {"neighbors": sl.Bounded(2, exactly=True), "size": 3},
        infeasible(
            "bounded, exactly 2",
            3,
            "replacing exactly k records needs k <= size and k <= records outside x; "
            "the largest feasible k is 1",
        ),
    ),
    "k, both": (
        {"neighbors": sl.Unbounded(2, exactly=True), "size": 3, "query": "mean"},
        infeasible(
            "unbounded, exactly 2",
            3,
            "removing needs k <= size - 1, adding needs k <= records outside x; the largest "
            "feasible k is 1, or choose direction='remove', "
            "which leaves out additions and can give a smaller sensitivity",
        ),
    ),
    "k, adding": (
        {"neighbors": sl.Unbounded(2, True, direction="add"), "size": 3},
        infeasible(
            "unbounded (add), exactly 2",
            3,
            "adding needs k <= records outside x; the largest feasible k is 1, "
            "or choose direction='remove', "
            "which leaves out additions and can give a smaller sensitivity",
        ),
    ),
    "k, removing": (
        {"neighbors": sl.Unbounded(2, True, direction="remove"), "query": "mean"},
        infeasible(
            "unbounded (remove), exactly 2",
            2,
            "removing needs k <= size - 1; the largest feasible k is 1, or choose direction='add', "
            "which leaves out removals and can give a smaller sensitivity",
        ),
    ),
    "k, symmetric difference": (
        {"neighbors": sl.SymmetricDifference(5, exactly=True), "query": "mean"},
        infeasible(
            "symmetric difference, exactly 5",
            2,
            "at most all records of x can be removed and at most those outside x added, and 1 must "
            "be left; the largest feasible k is 4",
        ),
    ),
    "no k is feasible": (
        {"size": 4},
        infeasible(
            "bounded, at most 1",
            4,
            "replacing needs a record of x and at least one record outside x; "
            "no distance is feasible; choose a smaller size, or use a domain as the "
            "universe, Universe.from_domain(values)",
        ),
    ),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD)
def test_arguments(changed, message):
    error, calls = ask(**changed)
    assert isinstance(error, sl.errors.InputError)
    assert isinstance(error, ValueError)
    assert str(error) == message
    assert calls == []


def test_the_query_of_these_tests_is_called_where_nothing_is_wrong():
    calls = []
    query = sl.from_function(lambda x: calls.append(x) or 0.0, order="sorted")
    sl.global_sensitivity(UNIVERSE, query, size=2, neighbors="bounded")
    assert len(calls) == 6 + 6 + 1  # each dataset, each once more, and the witness, x = y here


def test_a_search_too_large():
    """60 records, size 30: C(60, 30) datasets. Refused at once, with the ways out."""
    error, calls = ask(universe=sl.Universe.from_dataset(range(60)), size=30, method="enumeration")
    assert isinstance(error, sl.errors.TooLargeError)
    assert isinstance(error, sl.errors.NoEngineError)
    assert str(error) == (
        "no engine accepts function here: enumeration would evaluate about 1.2e+17 datasets and "
        "need about 6e+09 GiB, more than the memory limit of 4.0 GiB; choose a smaller size or "
        "distance, a coarser universe with fewer distinct values, or a larger "
        "run=Run(memory_limit=...)"
    )
    assert calls == []


def test_no_engine_says_the_reason_of_each():
    universe = sl.Universe.from_dataset(range(60))
    error, calls = ask(universe=universe, size=30)
    problem = Problem(universe, (sl.from_function(len, name="function"),), (sl.Bounded(1),), (30,))
    reasons = {
        engine.name: engine.plan(problem, Options()).reason for engine in engines_for("global")
    }
    assert error.reasons == reasons
    *others, last = reasons
    assert last == "enumeration"
    assert str(error) == (
        f"no engine accepts function here: {reasons[last]};\n  {', '.join(others)} do not cover it "
        "(the error's `reasons` say why)"
    )
    assert calls == []


@pytest.mark.parametrize("wrong", [{"n_jobs": 0}, {"progress": "yes"}, {"run": {"timeout": 3}}])
def test_a_wrong_option_ends_a_search_before_it_starts(wrong):
    error, calls = ask(**wrong)
    assert isinstance(error, sl.errors.InputError)
    assert calls == []


@pytest.mark.parametrize(
    ("memory_limit", "limit"),
    [(10, "10 bytes"), (10_000, "9.8 KiB"), (3_000_000, "2.9 MiB"), (2**30, "1.0 GiB")],
)
def test_memory_is_told_in_units(memory_limit, limit):
    universe = sl.Universe.from_dataset(range(60))
    error, _ = ask(
        universe=universe, size=30, run=sl.Run(memory_limit=memory_limit), method="enumeration"
    )
    assert isinstance(error, sl.errors.TooLargeError)
    assert f"more than the memory limit of {limit}; " in str(error)


def test_an_engine_that_covers_no_such_query_is_not_too_small():
    error, _ = ask(query="mean", method="variance")
    assert type(error) is sl.errors.NoEngineError
    assert str(error) == "no engine accepts mean here: variance covers var and std, not mean"


def test_what_is_not_feasible_in_a_domain():
    domain = sl.Universe.from_domain([1, 2, 3])
    error, _ = ask(universe=domain, neighbors=sl.Bounded(3, exactly=True))
    assert str(error) == (
        "bounded, exactly 3 is not feasible for datasets of size 2 in a domain of 3 values, "
        "unlimited copies: replacing exactly k records needs k <= size and k <= records outside x; "
        "the largest feasible k is 2"
    )


@pytest.mark.parametrize(
    ("relation", "feasible"),
    [(sl.Bounded, 2), (sl.Unbounded, 2), (sl.SymmetricDifference, 3), (sl.Edit, 2)],
)
def test_at_most_k_changes_as_many_records_as_there_are(relation, feasible):
    """Three records, of which one is not in x, and a mean of nobody is none."""
    universe = sl.Universe.from_dataset([0, 3, 9])
    far, all_that_there_are = (
        sl.global_sensitivity(universe, "mean", size=2, neighbors=relation(k))
        for k in (9, feasible)
    )
    assert (far.exact, far.witness) == (all_that_there_are.exact, all_that_there_are.witness)


def test_neighbors_must_be_named():
    for call in (
        lambda: sl.global_sensitivity(UNIVERSE, "mean", size=2),
        lambda: sl.sensitivity_curves(UNIVERSE, "mean", size=2, distances=1),
    ):
        with pytest.raises(TypeError, match=r"\(\) needs neighbors. A call that works: "):
            call()


def test_engines_of_numbers_only_are_named_in_one_line():
    """Of a query on rows, a line per engine that covers it, and one for all that never do."""
    table = pd.DataFrame({"g": list("ab") * 40, "v": range(80)})
    universe = sl.TableUniverse.from_dataset(table)
    query = sl.GroupBy("g", sl.ColumnQuery("v", "var", empty=0), groups=["a", "b"])
    with pytest.raises(sl.errors.NoEngineError) as caught:
        sl.global_sensitivity(universe, query, size=30, neighbors=sl.Bounded(2))
    *lines, last = str(caught.value).split(";\n  ")
    assert [line.split(": ")[-1].split()[0] for line in lines] == ["groups", "enumeration"]
    others = {*caught.value.reasons} - {"groups", "enumeration"}
    assert last.endswith(" do not cover it (the error's `reasons` say why)")
    assert {*last.split(" do ")[0].split(", ")} == others >= {"monotone", "ranks", "variance"}
