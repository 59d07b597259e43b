"""Sensitivities of graphs, beside the definitions in plain Python and published values."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sensitivity_lab import spaces
from sensitivity_lab.spaces import Within

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


RELATIONS = {"edge": edge_neighbors, "node": replaced}

NORMS = {
    "L1": lambda v: sum(map(abs, v)),
    "L2": lambda v: math.sqrt(sum(one * one for one in v)),
    "Linf": lambda v: max(map(abs, v)),
}


def naive_largest(n, edges, query, relation, k, norm, only=None):
    """The largest difference over all neighbors x and y, or over those of one x."""
    first = second = list(all_graphs(range(n), edges))
    if only is not None:
        first = [(frozenset(range(n)), frozenset(map(frozenset, only)))]
    related, f = RELATIONS[relation], naive(n)[query]
    answers = {graph: f(graph) for graph in second}
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
    space = spaces.graphs(n, relation)
    for norm in NORMS if query == "degree_histogram" and n == 3 else ("L1",):
        found = spaces.global_sensitivity(space, query, neighbors=Within(k), norm=norm)
        expected = naive_largest(n, pairs_of(n), query, relation, k, norm)
        assert found.value == pytest.approx(expected, rel=1e-15), norm
        found.verify()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", QUERIES)
def test_one_graph_beside_the_definition(query, relation):
    space, x = spaces.graphs(4, relation), [(0, 1), (1, 2), (2, 3)]
    given = [(3, 2), (1, 0), (2, 1)]
    local = spaces.local_sensitivity(space, query, dataset=given, neighbors=spaces.Within(1))
    assert local.value == naive_largest(4, pairs_of(4), query, relation, 1, "L1", only=x)
    assert local.witness.x == tuple(x)
    local.verify()


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_pair_is_compared_once(relation, k):
    """Of n nodes, every pair that the definitions make neighbors."""
    every = list(all_graphs(range(4), pairs_of(4)))
    space = spaces.graphs(4, relation)
    pairs = sum(RELATIONS[relation](*pair, k) for pair in itertools.combinations(every, 2))
    found = spaces.global_sensitivity(space, "edges", neighbors=Within(k))
    assert (found.pairs, found.datasets_evaluated) == (pairs, 64)


PUBLISHED = {
    "edge": {
        "edges": lambda _: 1,
        "triangles": lambda n: n - 2,
        "max_degree": lambda _: 1,
        "degree_histogram": lambda _: 4,
    },
    "node": {
        "edges": lambda n: n - 1,
        "triangles": lambda n: math.comb(n - 1, 2),
        "max_degree": lambda n: n - 1,
        "degree_histogram": lambda n: 2 * n,
    },
}
"""In L1: Hay et al. (2009), Kasiviswanathan et al. (2013)."""


@pytest.mark.parametrize("n", [4, 5, 6])
@pytest.mark.parametrize("relation", PUBLISHED)
def test_the_published_values_are_what_enumeration_finds(relation, n):
    space = spaces.graphs(n, relation)
    for query, value in PUBLISHED[relation].items():
        assert spaces.global_sensitivity(space, query, neighbors=spaces.Within(1)).value == value(n)


@pytest.mark.parametrize(
    ("relation", "k", "value"), [("edge", 3, 3), ("edge", 9, 4), ("node", 2, 4)]
)
def test_many_changes_move_the_maximum_degree_no_further_than_it_goes(relation, k, value):
    found = spaces.global_sensitivity(spaces.graphs(5, relation), "max_degree", neighbors=Within(k))
    assert found.value == value


def test_triangles_of_one_graph_move_by_the_most_common_neighbors():
    """Nissim, Raskhodnikova and Smith (STOC 2007): LS = the most common neighbors of two nodes."""
    rng = np.random.default_rng(3)
    space = spaces.graphs(6, "edge")
    for _ in range(20):
        x = [edge for edge in pairs_of(6) if rng.random() < 0.5]
        found = spaces.local_sensitivity(space, "triangles", dataset=x, neighbors=spaces.Within(1))
        friends = [{b if a == v else a for a, b in x if v in (a, b)} for v in range(6)]
        assert found.value == max(len(friends[a] & friends[b]) for a, b in pairs_of(6))


def test_functions_are_queries():
    """A function takes the edges; here it makes the adjacency matrix of them."""

    def adjacency(graph):
        matrix = np.zeros((4, 4), dtype=int)
        for a, b in graph:
            matrix[a, b] = matrix[b, a] = 1
        return matrix

    for name, function in {
        "triangles": lambda a: np.trace(np.linalg.matrix_power(a, 3)) // 6,
        "degree_histogram": lambda a: np.bincount(a.sum(axis=0), minlength=4),
        "max_degree": lambda a: a.sum(axis=0).max(),
    }.items():
        for relation in RELATIONS:
            one, other = (
                spaces.global_sensitivity(
                    spaces.graphs(4, relation), query, norm="L2", neighbors=spaces.Within(1)
                )
                for query in (name, lambda graph, of=function: of(adjacency(graph)))
            )
            assert (one.value, one.exact, one.witness) == (other.value, other.exact, other.witness)
            other.verify()


def test_fractions_and_floats_of_functions():
    space = spaces.graphs(3, "edge")
    third = spaces.global_sensitivity(
        space, lambda graph: Fraction(len(graph), 3), neighbors=spaces.Within(1)
    )
    assert third.exact == Fraction(1, 3)
    assert third.upper > Fraction(1, 3)
    density = spaces.global_sensitivity(
        space, lambda graph: len(graph) / 3, neighbors=spaces.Within(1)
    )
    assert (density.exact, density.upper, density.arithmetic) == (None, None, "float")
    assert density.value == pytest.approx(1 / 3)
    density.verify()
    huge = spaces.global_sensitivity(
        space, lambda graph: 10**30 * ((0, 1) in graph), neighbors=spaces.Within(1)
    )
    assert huge.exact == 10**30


def test_functions_need_no_hash():
    class Edges:
        __hash__ = None

        def __call__(self, graph):
            return len(graph)

    found = spaces.global_sensitivity(spaces.graphs(3, "edge"), Edges(), neighbors=spaces.Within(1))
    assert (found.value, found.query) == (1.0, "function")


def test_what_is_told():
    found = spaces.global_sensitivity(
        spaces.graphs(3, "node"), "degree_histogram", neighbors=spaces.Within(1)
    )
    assert "changed    0-1, 0-2\n" in repr(found)
    assert "known" not in found._repr_html_()
    told = found.to_dict()
    assert (told["neighbors"], told["size"]) == ("node neighbors", "3 nodes")
    assert (told["sensitivity"], told["x"]) == (6.0, ())
    assert f"{found:.1f}" == "6.0"
    assert repr(spaces.graphs(3, "edge")) == "graphs(3, 'edge')"
    assert str(spaces.graphs(3, "edge")) == "all 8 graphs on 3 nodes"
