"""Curves at every distance: each point against the definition, its witness and plain loops."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import QUERIES, RELATIONS, as_fractions, percentiles, problems

import sensitivity_lab as sl
from sensitivity_lab.search.monotone.global_max import Monotone
from sensitivity_lab.universes.relations import Relation

BY_COLUMNS = ("mean", "sum", "count", "median", "min", "max")

FAMILIES = [
    pytest.param(family, exactly, id=f"{family}, {'exactly' if exactly else 'at most'}")
    for family in RELATIONS
    for exactly in (False, True)
]


@pytest.mark.representative("family")
@pytest.mark.parametrize(("family", "exactly"), FAMILIES)
@given(data=st.data())
def test_every_point_agrees_with_the_definition(family, exactly, data):
    asked = data.draw(problems(family, exactly))
    name = data.draw(st.sampled_from(BY_COLUMNS))
    some = [QUERIES[name], data.draw(percentiles())]
    queries = dict(some)
    distances = data.draw(st.permutations(range(1, asked.relation.k + 1)))
    curves = sl.sensitivity_curves(
        asked.universe,
        list({query.name: query for query in queries}.values()),
        size=asked.size,
        distances=distances,
        neighbors=asked.relation.at(1),
    )
    assert [result.neighbors.k for _, result in curves][: len(distances)] == distances
    for _, result in curves:
        here, theirs = replace(asked, relation=result.neighbors), queries[result.query]
        assert result.exact == here.sensitivity(theirs)
        x, y = as_fractions(result.witness.x), as_fractions(result.witness.y)
        assert y in here.neighbors(x)
        assert abs(oracle.evaluate(theirs, x) - oracle.evaluate(theirs, y)) == result.exact
        result.verify()


def draw_records(kind: str, number: int) -> list[float]:
    rng = Random(kind)
    return {
        "heavy tails": [rng.lognormvariate(0, 3) for _ in range(number)],
        "both signs": [rng.gauss(0, 1) for _ in range(number)],
        "ties": [rng.randrange(9) - 4 for _ in range(number)],
        "offset": [1e9 + rng.randrange(64) / 8 for _ in range(number)],
        "beyond 2**53": [2**60 + rng.randrange(64) for _ in range(number)],
    }[kind]


KINDS = ("heavy tails", "both signs", "ties", "offset", "beyond 2**53")


@pytest.mark.further
@pytest.mark.representative("kind")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "family",
    [sl.Bounded(), sl.Unbounded(), sl.Unbounded(exactly=True), sl.SymmetricDifference()],
    ids=str,
)
def test_every_distance_of_a_larger_universe(kind, family):
    """Of few values, so that all datasets can be listed by how often each occurs."""
    values = draw_records(kind, 4)
    asked = {"size": 10, "distances": range(1, 10), "neighbors": family}
    quick, listed = (
        sl.sensitivity_curves(
            sl.Universe.from_dataset([*values * 4, *values[:3]]),
            ["mean", "sum", "percentile_30"],
            method=method,
            **asked,
        )
        for method in ("monotone", "enumeration")
    )
    for (_, found), (_, expected) in zip(quick, listed, strict=True):
        assert found.exact == expected.exact
        found.verify()


@pytest.mark.representative("kind", quick=())
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["bounded", "unbounded", sl.Bounded(exactly=True)], ids=str)
def test_values_are_those_of_the_witnesses_at_every_distance(kind, family):
    """Also of results alone: a curve and a search for one distance find the same pair."""
    universe = sl.Universe.from_dataset(draw_records(kind, 120))
    queries = ["mean", "sum", "count", "median", "percentile_90"]
    curves = sl.sensitivity_curves(
        universe, queries, size=60, distances=range(1, 60), neighbors=family
    )
    for _, result in curves:
        result.verify()
    for k in (1, 2, 31, 59):
        for query in queries:
            alone = sl.global_sensitivity(
                universe, query, size=60, neighbors=curves.points[k - 1][1].neighbors
            )
            assert alone == curves.result(query, distance=k)


def test_relations_of_a_family_share_their_changes(monkeypatch):
    """At most 1 to 200 have 200 changes and not 20,100; an engine is asked once, not 200 times."""
    asked, planned = [], []
    changes_at, plan = Relation.changes_at, Monotone.plan
    monkeypatch.setattr(
        Relation, "changes_at", lambda *given: asked.append(given[1]) or changes_at(*given)
    )
    monkeypatch.setattr(Monotone, "plan", lambda *given: planned.append(1) or plan(*given))
    curves = sl.sensitivity_curves(
        sl.Universe.from_dataset(range(400)),
        "mean",
        size=200,
        distances=range(1, 201),
        neighbors="bounded",
    )
    assert len(curves) == 200
    assert sorted(asked) == list(range(1, 201))
    assert len(planned) == 2  # to choose the engine, and to solve


@pytest.mark.exhaustive
def test_distances_in_any_order_keep_their_order():
    """Of the symmetric difference, both engines cover every distance."""
    universe = sl.Universe.from_dataset([1, 2, 2, 2, 5, 5, 7, 8, 9, 9])
    family = sl.SymmetricDifference()
    curves = sl.sensitivity_curves(
        universe, ["var", "mean"], size=4, distances=[3, 1, 2], neighbors=family
    )
    methods = [(r.query.name, r.neighbors.k, r.method) for _, r in curves]
    assert methods == [
        ("var", 3, "variance"),
        ("var", 1, "variance"),
        ("var", 2, "variance"),
        ("mean", 3, "monotone"),
        ("mean", 1, "monotone"),
        ("mean", 2, "monotone"),
    ]
    for _, result in curves:
        alone = sl.global_sensitivity(
            universe, result.query, size=4, neighbors=result.neighbors, method="enumeration"
        )
        assert result.value == alone.value
