"""What noise has to know of a result, whatever kind it is: one check for all of them."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab import spaces

AGES = sl.Universe.from_domain(range(11))
UNIT = sl.IntervalUniverse(0, 1)


def largest(x):
    return int(max(x, default=0))


def of_a_search(relation, size):
    return sl.global_sensitivity(AGES, "mean", size=size, neighbors=relation)


def of_bounds(relation, size):
    return sl.bounds.sensitivity_bounds(UNIT, np.max, size=size, neighbors=relation)


def of_rows(relation, size):
    rows = sl.TableUniverse.from_domain({"sex": ["f", "m"]})
    return sl.global_sensitivity(
        rows, sl.Histogram("sex", categories=["f", "m"]), size=size, neighbors=relation
    )


def of_graphs(neighbors="edge", nodes=4, query="edges", norm="L1"):
    space, one = spaces.graphs(nodes, neighbors), spaces.Within(1)
    return spaces.global_sensitivity(space, query, neighbors=one, norm=norm)


def of_sequences(length=3):
    return spaces.global_sensitivity(
        spaces.sequences([0, 5], length, "insert_delete"), "distinct", neighbors=spaces.Within(1)
    )


KINDS = {"search": of_a_search, "bounds": of_bounds, "rows": of_rows}


def message(call) -> str:
    with pytest.raises(sl.errors.InputError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("relation", "told"),
    [(sl.Bounded(2), "bounded, at most 2"), (sl.Unbounded(1), "unbounded, at most 1")],
    ids=str,
)
def test_every_kind_of_result_has_its_relation_compared(kind, relation, told):
    results = {
        "one": KINDS[kind](relation, 3),
        "number": 7,
        "other": sl.global_sensitivity(AGES, "sum", size=3, neighbors=sl.Bounded(1)),
    }
    for named in (results, dict(reversed(results.items()))):
        first, last = (name for name in named if name != "number")
        says = {"one": told, "other": "bounded, at most 1"}
        assert message(lambda named=named: sl.noise.noise_table(named, epsilon=1)) == (
            f"results: {first!r} is for neighbors {says[first]}, {last!r} for {says[last]}, and "
            "privacy losses add up only for one relation; compute all sensitivities with the same "
            "neighbors"
        )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_result_has_its_sizes_compared(kind):
    results = {
        "one": KINDS[kind](sl.Bounded(1), [3, 4]),
        "other": sl.global_sensitivity(AGES, "var", size=4, neighbors=sl.Bounded(1)),
    }
    assert message(lambda: sl.noise.noise_table(results, epsilon=1)) == (
        "results: 'one' is for size any of (3, 4), 'other' for size 4, and one dataset has one "
        "size; compute all sensitivities with the same size"
    )


def test_graphs_and_sequences_are_compared_too():
    edges, nodes = of_graphs(), of_graphs("node")
    assert message(lambda: sl.noise.noise_table({"a": edges, "b": nodes}, epsilon=1)) == (
        "results: 'a' is for neighbors edge neighbors, at most 1 edge added or removed, 'b' for "
        "node neighbors, edges of at most 1 node replaced, and privacy losses add up only for "
        "one relation; compute all sensitivities with the same neighbors"
    )
    assert message(
        lambda: sl.noise.noise_table(
            [of_graphs(), of_graphs(nodes=5, query="triangles")], epsilon=1
        )
    ) == (
        "results: 'edges' is for 4 nodes, 'triangles' for 5 nodes, and one dataset has one size; "
        "compute all sensitivities with the same size"
    )
    short, long = of_sequences(3), of_sequences(4)
    assert message(lambda: sl.noise.noise_table({"a": short, "b": long}, epsilon=1)) == (
        "results: 'a' is for 0 to 3 entries, 'b' for 0 to 4 entries, and one dataset has one size; "
        "compute all sensitivities with the same size"
    )


def test_the_table_tells_relation_k_and_size():
    sizes = range(1, 5)
    results = [
        sl.global_sensitivity(AGES, query, size=sizes, neighbors=sl.Unbounded(1))
        for query in ("mean", "sum")
    ]
    table = sl.noise.noise_table(results, epsilon=1)
    assert (table.neighbors, table.k, table.size) == (
        "unbounded, at most 1",
        1,
        "size any of 1 to 4",
    )
    assert repr(table).splitlines()[-1] == "  neighbors  unbounded, at most 1; size any of 1 to 4"
    assert "unbounded, at most 1; size any of 1 to 4" in table._repr_html_()
    alone = sl.noise.noise_table({"sum": 10}, epsilon=1)
    assert (alone.neighbors, alone.k, alone.size) == (None, None, None)
    assert repr(alone).splitlines()[-1] == (
        "  given      the sensitivities are your own: in L1, for your neighbors; nothing is checked"
    )
    of_graph = sl.noise.noise_table(of_graphs(), epsilon=1)
    assert repr(of_graph).endswith(
        "\n  neighbors  edge neighbors, at most 1 edge added or removed; 4 nodes"
    )


# Private sizes


SIZE = (
    "{name}: neighbors ({relation}) have different numbers of {noun}, so that number is private, "
    "but the result is for {size} only: the noise would reveal that number, and be too small for "
    "the others. {remedy}"
)
REMEDY = "Pass every size that the data can have, such as size=range({first}, 1001)"


CALLS = {
    "laplace_scale": lambda result: sl.noise.laplace_scale(result, 1),
    "gaussian_scale": lambda result: sl.noise.gaussian_scale(result, 1),
    "analytic_gaussian_scale": lambda result: sl.noise.analytic_gaussian_scale(result, 1, 1e-5),
    "laplace_epsilon": lambda result: sl.noise.laplace_epsilon(result, 1),
    "gaussian_rho": lambda result: sl.noise.gaussian_rho(result, 1),
    "noise_table": lambda result: sl.noise.noise_table({"a": result}, epsilon=1),
}
NAMES = {"noise_table": "results['a']", "laplace_epsilon": "d_in", "gaussian_rho": "d_in"}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["search", "bounds"])
def test_every_call_warns_of_one_size_where_sizes_differ(call, kind):
    """The mean of 0..10 moves by 5 at n = 2 and by 0.01 at n = 1000."""
    result = KINDS[kind](sl.Unbounded(1), 3)
    with pytest.warns(sl.errors.PrivateSizeWarning) as caught:
        CALLS[call](result)
    [warning] = caught
    assert str(warning.message) == SIZE.format(
        name=NAMES.get(call, "sensitivity"),
        relation="unbounded, at most 1",
        size="size 3",
        noun="records",
        remedy=REMEDY.format(first=0 if kind == "bounds" else 1),
    )
    assert warning.filename == __file__


LISTED = sl.Universe.from_dataset(range(10))


@pytest.mark.parametrize(
    ("universe", "relation", "size", "sizes"),
    [
        (AGES, sl.Unbounded(5), 100, (1, 1000)),
        (AGES, sl.Unbounded(5), [1, 1000], (1, 1000)),
        (AGES, sl.Unbounded(5), range(999, 1001), (1, 1000)),
        (AGES, sl.SymmetricDifference(3), 100, (1, 1000)),
        pytest.param(*(AGES, sl.Unbounded(700), 1000, (1, 1400)), marks=pytest.mark.stress),
        (LISTED, sl.Unbounded(2), 5, (1, 10)),
        (sl.Universe.from_domain(range(3), 2), sl.Unbounded(2), 3, (1, 6)),
    ],
    ids=str,
)
def test_the_sizes_that_the_warning_names_are_feasible(universe, relation, size, sizes):
    result = sl.global_sensitivity(universe, "mean", size=size, neighbors=relation)
    with pytest.warns(sl.errors.PrivateSizeWarning) as caught:
        sl.noise.laplace_scale(result, 1, public_universe=True)
    first, last = sizes
    named = f"size=range({first}, {last + 1})"
    assert str(caught[-1].message).endswith(f", such as {named}")
    sl.global_sensitivity(universe, "mean", size=range(first, last + 1), neighbors=relation)


ROWS = sl.TableUniverse.from_domain({"sex": ["f", "m"], "age": [20, 40]})
ADDED_UP = {
    "count": (AGES, "count"),
    "sum": (AGES, "sum"),
    "interval": (sl.Universe.from_interval(-3, 10), "sum"),
    "count of rows": (ROWS, "count"),
    "filtered count": (ROWS, sl.CountIf("sex == 'f'")),
    "sum of a column": (ROWS, sl.SumOf("age", clip=(0, 50))),
    "column query": (ROWS, sl.ColumnQuery("age", "sum")),
    "histogram": (ROWS, sl.Histogram("sex", categories=["f", "m"])),
    "counts of groups": (ROWS, sl.GroupBy("sex", sl.Count(), groups=["f", "m"])),
    "stack": (ROWS, sl.Stack(sl.Count(), sl.SumOf("age", clip=(0, 50)))),
}
NOT_ADDED_UP = {
    "mean": (AGES, "mean"),
    "median": (AGES, "median"),
    "count_distinct": (AGES, "count_distinct"),
    "function": (AGES, sl.from_function(largest, name="sum")),
    "mean of a column": (ROWS, sl.MeanOf("age", empty=0)),
    "stack with a mean": (ROWS, sl.Stack(sl.Count(), sl.MeanOf("age", empty=0))),
}
GROWING = [
    sl.Unbounded(1),
    sl.Unbounded(2, direction="add"),
    sl.Unbounded(2, direction="remove"),
    sl.SymmetricDifference(2),
    sl.Edit(2),
]


@pytest.mark.parametrize("relation", GROWING, ids=str)
@pytest.mark.parametrize("asked", ADDED_UP)
def test_what_adds_up_has_one_sensitivity_for_all_sizes(asked, relation):
    """So it needs no range of them; the sizes are compared here."""
    universe, query = ADDED_UP[asked]
    found = [
        sl.global_sensitivity(universe, query, size=size, neighbors=relation)
        for size in (3, 4, 6, 9)
    ]
    assert len({result.upper for result in found}) == 1
    assert sl.noise.laplace_scale(found[0], 1) == found[0].upper


@pytest.mark.parametrize("asked", NOT_ADDED_UP)
def test_what_does_not_add_up_has_a_warning(asked):
    universe, query = NOT_ADDED_UP[asked]
    result = sl.global_sensitivity(universe, query, size=3, neighbors=sl.Unbounded(1))
    with pytest.warns(sl.errors.PrivateSizeWarning):
        sl.noise.laplace_scale(result, 1)


def test_a_sum_over_few_records_depends_on_the_size_where_records_are_added_and_removed():
    """Of -5, 0, 10: 10 replaced by -5 moves two of them by 15; of all three, at most 10 leave."""
    few = sl.Universe.from_dataset([-5, 0, 10])
    two, three = (
        sl.global_sensitivity(few, "sum", size=size, neighbors=sl.SymmetricDifference(2))
        for size in (2, 3)
    )
    assert (two.value, three.value) == (15, 10)
    with pytest.warns(sl.errors.PrivateSizeWarning):
        sl.noise.laplace_scale(three, 1, public_universe=True)
    added = sl.global_sensitivity(few, "sum", size=2, neighbors=sl.Unbounded(1))
    assert sl.noise.laplace_scale(added, 1, public_universe=True) == 10


def test_a_sum_depends_on_a_size_that_has_not_the_records_to_replace():
    """Of one record, one at most is replaced: -5 by 6 and 6, not -5 and -5."""
    domain = sl.Universe.from_domain([-5, 6])
    one, three = (
        sl.global_sensitivity(domain, "sum", size=size, neighbors=sl.Edit(2)) for size in (1, 3)
    )
    assert (one.value, three.value) == (17, 22)
    with pytest.warns(sl.errors.PrivateSizeWarning):
        sl.noise.laplace_scale(one, 1)
    assert sl.noise.laplace_scale(three, 1) == 22


# Copies

COPIES = (
    "{name}: the universe has at most {copies} of a record, and a dataset of up to {size} records "
    "can hold more, so the sensitivity holds only among datasets that do not: noise scaled to it "
    "protects nobody unless that limit is public and true of all data. For private data leave out "
    "copies, or set copies={size}; if the limit is public, pass public_universe=True"
)


@pytest.mark.parametrize(
    ("copies", "relation", "size", "told"),
    [
        (1, sl.Bounded(1), 6, "1 copy"),
        (5, sl.Bounded(2), 6, "5 copies"),
        (6, sl.Unbounded(1), range(1, 7), "6 copies"),
    ],
)
def test_few_copies_are_as_private_as_a_dataset(copies, relation, size, told):
    """The median of 6 of 0..10, each once, moves by 1; with copies it moves by 5."""
    few = sl.Universe.from_domain(range(11), copies=copies)
    result = sl.global_sensitivity(few, "median", size=size, neighbors=relation)
    with pytest.warns(sl.errors.DatasetUniverseWarning) as caught:
        scale = sl.noise.laplace_scale(result, 1)
    [warning] = caught
    most = 6 + (relation.name == "unbounded")
    assert str(warning.message) == COPIES.format(name="sensitivity", copies=told, size=most)
    assert sl.noise.laplace_scale(result, 1, public_universe=True) == scale
    many = sl.Universe.from_domain(range(11), copies=most)
    unlimited = [
        sl.global_sensitivity(universe, "median", size=size, neighbors=relation)
        for universe in (many, AGES)
    ]
    assert sl.noise.laplace_scale(unlimited[0], 1) == sl.noise.laplace_scale(unlimited[1], 1)


def test_few_copies_of_a_smooth_sensitivity_and_of_rows():
    beta = sl.noise.smooth_beta(1)
    few = sl.Universe.from_domain([0, 5, 10], copies=2)
    smooth = sl.smooth_sensitivity(few, "median", dataset=[0, 5, 5], beta=beta, neighbors="bounded")
    with pytest.warns(sl.errors.DatasetUniverseWarning) as caught:
        sl.noise.smooth_cauchy_scale(smooth, 1)
    assert str(caught[0].message) == COPIES.format(name="result", copies="2 copies", size=3)
    rows = sl.TableUniverse.from_domain({"sex": ["f", "m"]}, copies=2)
    counted = sl.global_sensitivity(rows, sl.CountIf("sex == 'f'"), size=3, neighbors="bounded")
    with pytest.warns(sl.errors.DatasetUniverseWarning, match="at most 2 copies of a record"):
        sl.noise.laplace_scale(counted, 1)


# Graphs and sequences


def test_graph_and_sequence_results_are_taken_in_the_norm_of_the_noise():
    triangles = of_graphs(query="triangles")
    assert sl.noise.laplace_scale(triangles, 2) == sl.noise.gaussian_scale(triangles, 2) == 1
    assert sl.noise.gaussian_rho(triangles, 1) == 2
    assert sl.noise.noise_table([triangles], epsilon=1).rows[0].scale == 2
    distinct = of_sequences()
    assert sl.noise.laplace_scale(distinct, 1) == distinct.upper == 1
    degrees = {
        norm: of_graphs(query="degree_histogram", norm=norm) for norm in ("L1", "L2", "Linf")
    }
    assert sl.noise.laplace_scale(degrees["L1"], 1) == 4
    assert sl.noise.gaussian_scale(degrees["L2"], 0.5) == math.sqrt(8)
    for function, noise, needed, wrong in (
        (sl.noise.laplace_scale, "Laplace", "L1", "L2"),
        (sl.noise.gaussian_scale, "Gaussian", "L2", "Linf"),
    ):
        assert message(lambda f=function, w=wrong: f(degrees[w], 1)) == (
            f"sensitivity: the result is in the norm {wrong}, and {noise} noise needs {needed}; "
            f"compute the sensitivity in {needed}"
        )


def test_local_results_of_graphs_and_sequences_are_refused():
    triangle = [(0, 1), (0, 2), (1, 2)]
    space = spaces.graphs(4, "edge")
    of_graph = spaces.local_sensitivity(
        space, "triangles", dataset=triangle, neighbors=spaces.Within(1)
    )
    space = spaces.sequences([0, 5], 3, "insert_delete")
    of_sequence = spaces.local_sensitivity(
        space, "distinct", dataset=[0, 5], neighbors=spaces.Within(1)
    )
    for result, what in ((of_graph, "graph"), (of_sequence, "sequence")):
        assert message(lambda r=result: sl.noise.laplace_scale(r, 1)) == (
            f"sensitivity: the result is a local sensitivity, which depends on the {what}, so the "
            "size of the noise would reveal it; use the result of sl.spaces.global_sensitivity"
        )
        told = message(lambda r=result: sl.noise.smooth_cauchy_scale(r, 1))
        assert told == (
            "result must be a result of sl.smooth_sensitivity, got a local "
            f"{type(result).__name__}; for a global sensitivity use laplace_scale or gaussian_scale"
        )


def test_a_caller_can_say_that_the_warning_is_not_needed():
    result = of_a_search(sl.Unbounded(1), 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.PrivateSizeWarning)
        assert sl.noise.laplace_scale(result, 1) == result.upper
