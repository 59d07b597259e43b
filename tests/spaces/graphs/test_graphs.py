"""Sensitivities of graphs, beside the definitions in plain Python and the formulas."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sensitivity_lab import spaces
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.spaces import graphs

# The oracle: a graph is a set of nodes and a set of edges, which are sets of two nodes.


def all_graphs(nodes, edges):
    for number in range(len(edges) + 1):
        for chosen in itertools.combinations(edges, number):
            yield frozenset(nodes), frozenset(map(frozenset, chosen))


def pairs_of(n):
    return list(itertools.combinations(range(n), 2))


def degrees(graph):
    return [sum(node in edge for edge in graph[1]) for node in graph[0]]


def naive_triangles(graph):
    return sum(
        {frozenset(side) for side in itertools.combinations(three, 2)} <= graph[1]
        for three in itertools.combinations(graph[0], 3)
    )


def naive(n):
    """The queries by their names, as functions of a graph of the oracle; answers are lists."""
    return {
        "edges": lambda graph: [len(graph[1])],
        "triangles": lambda graph: [naive_triangles(graph)],
        "max_degree": lambda graph: [max(degrees(graph))],
        "degree_histogram": lambda graph: [degrees(graph).count(degree) for degree in range(n)],
    }


def without(graph, nodes):
    return graph[0] - nodes, frozenset(edge for edge in graph[1] if not edge & nodes)


def node_sets(n, k):
    for number in range(1, k + 1):
        yield from (set(nodes) for nodes in itertools.combinations(range(n), number))


def edge_neighbors(x, y, k):
    return x[0] == y[0] and 1 <= len(x[1] ^ y[1]) <= k


def replaced(x, y, k):
    """Whether x and y are the same graph without some k nodes, on the same nodes."""
    same = any(without(x, some) == without(y, some) for some in node_sets(len(x[0]), k))
    return x != y and x[0] == y[0] and same


def removed(x, y, k):
    return any(without(x, some) == y for some in node_sets(len(x[0]), k))


RELATIONS = {
    "edges": (edge_neighbors, graphs.EdgeNeighbors),
    "replace": (replaced, graphs.NodeNeighbors),
    "remove": (removed, lambda k: graphs.NodeNeighbors(k, change="remove")),
}

NORMS = {
    "L1": lambda v: sum(map(abs, v)),
    "L2": lambda v: math.sqrt(sum(one * one for one in v)),
    "Linf": lambda v: max(map(abs, v)),
}


def naive_largest(n, edges, query, relation, k, norm, only=None):
    """The largest difference over all neighbors x and y, or over those of one x."""
    first = list(all_graphs(range(n), edges))
    second = set(first)
    if relation == "remove":
        second = {without(x, some) for x in first for some in node_sets(n, k)}
    if only is not None:
        first = [(frozenset(range(n)), frozenset(map(frozenset, only)))]
    related, f = RELATIONS[relation][0], naive(n)[query]
    answers = {graph: f(graph) for graph in {*first, *second}}
    return max(
        NORMS[norm]([a - b for a, b in zip(answers[x], answers[y], strict=True)])
        for x in first
        for y in second
        if related(x, y, k)
    )


QUERIES = list(naive(1))
CASES = [
    *((3, query, relation, k) for query in QUERIES for relation in RELATIONS for k in (1, 2)),
    *((4, query, relation, 1) for query in QUERIES for relation in RELATIONS),
]


@pytest.mark.parametrize(("n", "query", "relation", "k"), CASES)
def test_all_graphs_beside_the_definition(n, query, relation, k):
    universe = graphs.GraphUniverse(n)
    for norm in NORMS if query == "degree_histogram" and n == 3 else ("L1",):
        found = spaces.global_sensitivity(
            universe, query, neighbors=RELATIONS[relation][1](k), norm=norm
        )
        expected = naive_largest(n, pairs_of(n), query, relation, k, norm)
        assert found.value == pytest.approx(expected, rel=1e-15), norm
        found.verify()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", QUERIES)
def test_subgraphs_and_one_graph_beside_the_definition(query, relation):
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]
    universe = graphs.GraphUniverse.subgraphs([(b, a) for a, b in reversed(edges)])
    neighbors = RELATIONS[relation][1](1)
    found = spaces.global_sensitivity(universe, query, neighbors=neighbors)
    assert found.value == naive_largest(5, edges, query, relation, 1, "L1")
    assert found.known is None
    x = [(0, 1), (1, 2), (2, 3)]
    local = spaces.local_sensitivity(universe, query, dataset=x, neighbors=neighbors)
    assert local.value == naive_largest(5, edges, query, relation, 1, "L1", only=x)
    assert local.witness.x == tuple(x)
    local.verify()


def test_pairs_are_counted_once():
    """Of n nodes, every pair that the definitions make neighbors is compared."""
    every = list(all_graphs(range(4), pairs_of(4)))
    for relation in ("edges", "replace"):
        related, make = RELATIONS[relation]
        number = sum(related(x, y, 1) for x, y in itertools.combinations(every, 2))
        universe = graphs.GraphUniverse(4)
        found = spaces.global_sensitivity(universe, "edges", neighbors=make(1))
        assert (found.pairs, found.datasets_evaluated) == (number, 64)


OF_ONE_CHANGE = {
    ("triangles", "edges", "L1"),
    *(("degree_histogram", "edges", norm) for norm in NORMS),
    ("degree_histogram", "replace", "L2"),
}
"""The query, relation and norm of formulas that are known of one change only."""


def without_formula(n, most):
    """Compare all closed forms; return the queries, relations and norms that have none."""
    universe = graphs.GraphUniverse(n)
    unknown = set()
    for query, (name, (_, make)), k in itertools.product(QUERIES, RELATIONS.items(), most):
        norms = NORMS if query == "degree_histogram" else ("L1",)
        for norm in norms:
            relation = make(k)
            found = spaces.global_sensitivity(universe, query, neighbors=relation, norm=norm)
            form = spaces.known_sensitivity(universe, query, neighbors=relation, norm=norm)
            assert found.known == form
            if form is None:
                unknown.add((query, name, norm))
            else:
                assert found.value == float(form), (query, relation, norm)
                assert found.exact == form.difference.exact or math.isqrt(form.power) ** 2 == (
                    form.power
                )
    return unknown


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_formulas_are_what_enumeration_finds(n):
    assert without_formula(n, [1]) == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [4, 5])
def test_formulas_of_more_changes_are_what_enumeration_finds(n):
    assert without_formula(n, [2, 3]) == OF_ONE_CHANGE


@pytest.mark.exhaustive
def test_formulas_of_six_nodes_are_what_enumeration_finds():
    assert without_formula(6, [1]) == set()


def test_the_published_values_are_what_enumeration_finds_on_six_nodes():
    universe = graphs.GraphUniverse(6)
    edge, node = graphs.EdgeNeighbors(), graphs.NodeNeighbors()
    for query, neighbors, value in (
        *(("triangles", edge, 4), ("max_degree", edge, 1), ("edges", edge, 1)),
        *(("edges", node, 5), ("edges", graphs.NodeNeighbors(change="remove"), 5)),
    ):
        assert spaces.global_sensitivity(universe, query, neighbors=neighbors).value == value


@pytest.mark.parametrize("n", [3, 4, 5, 30, 1000])
def test_the_published_values(n):
    """Triangles: n - 2; maximum degree 1; edges 1; under node neighbors edges: n - 1."""
    edge, node = graphs.EdgeNeighbors(), graphs.NodeNeighbors()
    known, universe = spaces.known_sensitivity, graphs.GraphUniverse(n)
    assert float(known(universe, "triangles", neighbors=edge)) == n - 2
    assert float(known(universe, "max_degree", neighbors=edge)) == 1
    assert float(known(universe, "edges", neighbors=edge)) == 1
    assert float(known(universe, "edges", neighbors=node)) == n - 1
    assert float(known(universe, "triangles", neighbors=node)) == (n - 1) * (n - 2) / 2


def test_triangles_of_one_graph_move_by_the_most_common_neighbors():
    """Nissim, Raskhodnikova and Smith (STOC 2007): LS = the most common neighbors of two nodes."""
    rng = np.random.default_rng(3)
    universe = graphs.GraphUniverse(7)
    for _ in range(20):
        x = [edge for edge in universe.edges if rng.random() < 0.5]
        found = spaces.local_sensitivity(
            universe, "triangles", dataset=x, neighbors=graphs.EdgeNeighbors()
        )
        friends = [{b if a == v else a for a, b in x if v in (a, b)} for v in range(7)]
        assert found.value == max(len(friends[a] & friends[b]) for a, b in universe.edges)


def test_functions_are_queries():
    universe, neighbors = graphs.GraphUniverse(4), graphs.NodeNeighbors(change="remove")
    for name, function in {
        "triangles": lambda a: np.trace(np.linalg.matrix_power(a.astype(int), 3)) // 6,
        "degree_histogram": lambda a: np.bincount(a.sum(axis=0), minlength=4),
        "max_degree": lambda a: a.sum(axis=0).max(),
    }.items():
        for relation in (neighbors, graphs.EdgeNeighbors()):
            one, other = (
                spaces.global_sensitivity(universe, query, neighbors=relation, norm="L2")
                for query in (name, function)
            )
            assert (one.value, one.exact, one.witness) == (other.value, other.exact, other.witness)
            other.verify()


def test_fractions_and_floats_of_functions():
    universe, neighbors = graphs.GraphUniverse(3), graphs.EdgeNeighbors()
    third = spaces.global_sensitivity(
        universe, lambda a: Fraction(int(a.sum()), 6), neighbors=neighbors
    )
    assert third.exact == Fraction(1, 3)
    assert third.upper > Fraction(1, 3)
    density = spaces.global_sensitivity(universe, lambda a: a.mean(), neighbors=neighbors)
    assert (density.exact, density.upper, density.arithmetic) == (None, None, "float")
    assert density.value == pytest.approx(2 / 9)
    density.verify()
    huge = spaces.global_sensitivity(universe, lambda a: 10**30 * int(a[0, 1]), neighbors=neighbors)
    assert huge.exact == 10**30


def test_functions_may_change_their_matrix():
    def hostile(adjacency):
        edges = int(adjacency.sum()) // 2
        adjacency[:] = True
        return edges

    found = spaces.global_sensitivity(
        graphs.GraphUniverse(3), hostile, neighbors=graphs.EdgeNeighbors(2)
    )
    assert found.value == 2


def test_functions_need_no_hash():
    class Edges:
        __hash__ = None

        def __call__(self, adjacency):
            return adjacency.sum() / 2

    found = spaces.global_sensitivity(
        graphs.GraphUniverse(3), Edges(), neighbors=graphs.EdgeNeighbors()
    )
    assert (found.value, found.known, found.query) == (1.0, None, "function")


def test_what_is_stated_is_verified():
    found = spaces.global_sensitivity(
        graphs.GraphUniverse(4), "triangles", neighbors=graphs.EdgeNeighbors()
    )
    for change in (
        {"value": 3.0},
        {"neighbors": graphs.NodeNeighbors(change="remove")},
        {"universe": graphs.GraphUniverse(3)},
        {"upper": None},
        {"witness": _other(found.witness, query_x=5)},
        {"witness": _other(found.witness, x=())},
    ):
        with pytest.raises(VerificationError):
            _other(found, **change).verify()


def _other(result, **changes):
    from dataclasses import replace

    return replace(result, **changes)


def test_what_is_told():
    found = spaces.global_sensitivity(
        graphs.GraphUniverse(3), "degree_histogram", neighbors=graphs.NodeNeighbors(change="remove")
    )
    assert "without node 0" in repr(found)
    assert "known" in found._repr_html_()
    told = found.to_dict()
    assert told["known"] == "2 n - 1"
    assert (told["sensitivity"], told["removed"], told["nodes"]) == (5.0, (0,), 3)
    assert f"{found:.1f}" == "5.0"
    assert repr(graphs.GraphUniverse(3, [(1, 0)])) == "GraphUniverse(3, edges=((0, 1),))"


@pytest.mark.stress
def test_seven_nodes():
    universe = graphs.GraphUniverse(7)
    for query, value in {"triangles": 5, "max_degree": 1, "edges": 1}.items():
        found = spaces.global_sensitivity(universe, query, neighbors=graphs.EdgeNeighbors())
        assert found.value == value
    found = spaces.global_sensitivity(universe, "edges", neighbors=graphs.NodeNeighbors())
    assert found.value == 6


@pytest.mark.stress
def test_formulas_of_two_changes_on_six_nodes():
    assert without_formula(6, [2]) == OF_ONE_CHANGE


@pytest.mark.parametrize("k", [4, 5, 6])
def test_many_edges_move_the_maximum_degree_no_further_than_it_goes(k):
    neighbors = graphs.EdgeNeighbors(k)
    found = spaces.global_sensitivity(graphs.GraphUniverse(4), "max_degree", neighbors=neighbors)
    assert found.value == float(found.known) == 3


@pytest.mark.parametrize("relation", RELATIONS)
def test_blocks_change_nothing(relation, monkeypatch):
    neighbors, universe = RELATIONS[relation][1](1), graphs.GraphUniverse(4)
    whole = spaces.global_sensitivity(universe, "degree_histogram", neighbors=neighbors)
    monkeypatch.setattr("sensitivity_lab.spaces.search._BLOCK", 5)
    assert spaces.global_sensitivity(universe, "degree_histogram", neighbors=neighbors) == whole
