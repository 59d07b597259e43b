"""The article's four experiments, against its published numbers and against the definition."""

from __future__ import annotations

import json

import oracle
import pytest
from paths import ARTICLE_FILE, ROOT

from sensitivity_lab.article import DATA, UNITS, checks, experiments
from sensitivity_lab.queries import DEFAULT_QUERIES

REFERENCE = json.loads(ARTICLE_FILE.read_text("utf-8"))
SCENARIOS = {"a_large": "a", "b": "b", "a_small": "small"}

NAMES = ("a_unbounded", "a_bounded", "b_unbounded", "b_bounded")
ORACLE_QUERIES = {
    "median": ("median",),
    "std": ("std", 0),
    "percentile_90": ("percentile", 90, "linear"),
}
each_experiment = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def curves():
    return {experiment.name: experiment.run() for experiment in (*checks(), *experiments())}


def experiment_of(name: str):
    return next(experiment for experiment in experiments() if experiment.name == name)


def test_there_are_four_experiments_in_the_articles_order():
    assert tuple(experiment.name for experiment in experiments()) == NAMES
    assert [experiment.title for experiment in experiments()] == [
        "Scenario (a), a dataset of ten students: unbounded",
        "Scenario (a), a dataset of ten students: bounded",
        "Scenario (b), a domain of values: unbounded",
        "Scenario (b), a domain of values: bounded",
    ]


def test_the_data_are_those_of_the_repository():
    assert DATA.resolve() == (ROOT / "data").resolve()
    assert {column for one in experiments() for column in one.universes} == set(UNITS)


@pytest.mark.parametrize(
    "entry",
    [entry for entry in REFERENCE if entry["scenario"] in SCENARIOS],
    ids=lambda e: f"{e['scenario']}-{e['column']}-{e['neighbors']}-{e['k']}-{e['query']}",
)
def test_published_numbers(curves, entry):
    point = curves[f"{SCENARIOS[entry['scenario']]}_{entry['neighbors']}"].result(
        entry["query"].replace(" ", "_"), distance=entry["k"], column=entry["column"]
    )
    assert point.value == pytest.approx(entry["value"], abs=1e-9)
    assert point.size == entry["size"]
    assert list(point.universe) == sorted(entry["universe"])


@each_experiment
def test_every_query_column_and_distance_is_there(curves, name):
    experiment = experiment_of(name)
    points = [
        (column, point.query.name, point.neighbors.k, point.neighbors.at(1))
        for column, point in curves[name]
    ]
    assert points == [
        (column, query, k, experiment.neighbors)
        for column in experiment.universes
        for query in DEFAULT_QUERIES
        for k in experiment.distances
    ]
    assert list(experiment.distances) == ([1, 2, 3, 4] if name.startswith("a") else [1, 2, 3])


@pytest.mark.representative
@each_experiment
@pytest.mark.parametrize("query", ORACLE_QUERIES)
def test_further_distances_agree_with_the_definition(curves, name, query):
    experiment = experiment_of(name)
    for column, universe in experiment.universes.items():
        for k in experiment.distances[2:]:
            expected, _ = oracle.global_sensitivity(
                list(universe),
                experiment.size,
                ORACLE_QUERIES[query],
                experiment.neighbors.name,
                k,
                exactly=experiment.neighbors.exactly,
            )
            point = curves[name].result(query, distance=k, column=column)
            assert point.value == pytest.approx(float(expected), abs=1e-12), (column, k)


@each_experiment
def test_every_witness_holds(curves, name):
    for _, point in curves[name]:
        point.verify()
