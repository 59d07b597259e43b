"""What relations declare, against the oracle's definition and against each other."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import numpy as np
import oracle
import pytest
from strategies import RELATIONS as FAMILIES

import sensitivity_lab as sl
from sensitivity_lab.metrics import METRICS, OF_NEIGHBORS
from sensitivity_lab.metrics.metric import INFINITE
from sensitivity_lab.universes.relations import RELATIONS

VARIANTS = [variant for relation in RELATIONS.values() for variant in relation.variants()]
DOMAIN = sl.Universe.from_domain(range(9))
GRID = [pair for pair in product(range(5), repeat=2) if pair != (0, 0)]


def apart(relation, removed, added):
    return relation.metric.apart(added, removed)


each_relation = pytest.mark.parametrize("relation", VARIANTS, ids=lambda one: one.family)


def test_every_relation_is_tested_and_exported():
    assert {one.family for one in VARIANTS} == set(FAMILIES)
    assert all(getattr(sl, relation.__name__) is relation for relation in RELATIONS.values())
    assert all(
        as_named == relation.name.replace(" ", "_") for as_named, relation in RELATIONS.items()
    )


@each_relation
@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_changes_are_those_of_the_definition(relation, k, exactly):
    name, direction = relation.name.replace(" ", "_"), getattr(relation, "direction", "both")
    changes = type(relation).towards(direction, k, exactly).changes(20, DOMAIN)
    assert len(changes) == len(set(changes))
    assert set(changes) == set(oracle.shapes(name, k, exactly, direction))


@each_relation
def test_the_distance_says_who_is_a_neighbor_whatever_the_direction(relation):
    whole = type(relation)()
    for k in (1, 2, 4):
        near = {pair for pair in GRID if apart(relation, *pair) <= k}
        assert near == set(whole.at(k).changes(20, DOMAIN)) & set(GRID)
    pairs = np.array(GRID)
    assert apart(relation, *pairs.T).tolist() == [int(apart(relation, *one)) for one in GRID]
    far = [one for one in GRID if apart(relation, *one) >= INFINITE]
    assert all(pair not in whole.at(9).changes(20, DOMAIN) for pair in far)


@each_relation
def test_what_follows_from_the_changes(relation):
    for k in (1, 2, 3):
        changes = set(relation.at(k).changes(20, DOMAIN))
        assert relation.keeps_size == all(i == j for i, j in changes)
        assert relation.at(k).exchanges == any(i and j for i, j in changes)
        assert relation.at(k).growth == max(0, *(j - i for i, j in changes))
        assert relation.at(k).counts_each_record == all(i + j <= k for i, j in changes)


@each_relation
def test_steps_lead_from_every_dataset_to_every_other_one(relation):
    """The distance that smooth sensitivity damps by is a metric; its steps are the neighbors."""
    step = relation.step
    if step is None:
        assert getattr(relation, "direction", "both") != "both"
        return
    assert set(step.changes(20, DOMAIN)) == set(relation.changes(20, DOMAIN))
    datasets = [np.array(counts) for counts in product(range(3), repeat=3)]
    if step.keeps_size:
        datasets = [x for x in datasets if x.sum() == 3]
    apart = np.array([[step.between(x, y) for y in datasets] for x in datasets])
    assert (apart < INFINITE).all()
    assert (apart == apart.T).all()
    assert ((apart == 0) == np.eye(len(datasets), dtype=bool)).all()
    assert (apart[:, :, None] + apart[None] >= apart[:, None]).all()


def test_the_metric_that_an_audit_proposes_for_a_relation_is_its_own():
    for name, metric in OF_NEIGHBORS.items():
        assert METRICS[metric] == RELATIONS[name].metric


@each_relation
def test_the_size_can_change_at_distance_1_where_the_metric_says_so(relation):
    """Of two sizes, of one, or of both: then it says neither."""
    sizes = {i == j for i, j in type(relation)().changes(20, DOMAIN)}
    assert relation.metric.resizes == {(True,): False, (False,): True}.get(tuple(sizes))


def test_an_edit_is_a_record_replaced_added_or_removed():
    """Of 1, 2, 3: 3 replaced by 10, or removed, or 10 added; each counts once."""
    universe = sl.Universe.from_dataset([1, 2, 3, 10])
    of_sum = {
        relation: sl.global_sensitivity(universe, "sum", size=3, neighbors=relation).value
        for relation in (sl.Bounded(1), sl.Unbounded(1), sl.SymmetricDifference(1), sl.Edit(1))
    }
    assert list(of_sum.values()) == [9, 10, 10, 10]
    twice = sl.global_sensitivity(universe, "count", size=2, neighbors=sl.Edit(2)).value
    assert twice == 2
    assert str(sl.Edit(2, exactly=True)) == "edit, exactly 2"


@pytest.mark.parametrize("query", ["var", "std"])
def test_a_variance_is_searched_by_patterns(query):
    """One record removed, added or replaced; and two removed and one added."""
    universe = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13])
    for k in (1, 2):
        found = [
            sl.global_sensitivity(universe, query, size=4, neighbors=sl.Edit(k), method=method)
            for method in ("auto", "enumeration")
        ]
        assert found[0].method == "variance"
        assert found[0].value == found[1].value


@pytest.mark.exhaustive
def test_nobody_asks_a_relation_for_its_class():
    classes = {relation.__name__ for relation in RELATIONS.values()}
    asking = []
    for path in Path(sl.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in ("isinstance", "issubclass"):
                named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
                asking += [(path.name, node.lineno)] if named & classes else []
    assert asking == []
