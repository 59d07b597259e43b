"""How a search on tables is judged: by the definition, and by its witness."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import oracle
import oracle_records
import pytest
from hypothesis import assume
from strategies import RELATIONS
from strategies_records import Asked

import sensitivity_lab as sl
from sensitivity_lab.errors import NoEngineError

each_relation = pytest.mark.parametrize(
    ("family", "exactly"),
    [
        pytest.param(family, exactly, id=f"{family} {'exactly' if exactly else 'at most'}")
        for family, exactly in product(RELATIONS, (False, True))
    ],
)


def solve(asked: Asked, query, norm: str, method: str = "auto") -> sl.results.Sensitivity:
    """The engine's result; where it refuses the problem, the example is left out."""
    options = {"size": asked.size, "neighbors": asked.relation, "norm": norm, "method": method}
    try:
        return sl.global_sensitivity(asked.table.universe, query, **options)
    except NoEngineError:
        assume(False)
        raise


def expected_of(changes: dict[str, Fraction], norm: str, vector: bool):
    """The oracle's sensitivity as `check_value` reads it: roots as Decimals."""
    if norm == "L2" and vector:
        return oracle.root_difference(changes["L2"], Fraction(0))
    return changes["Linf" if norm == "L2" else norm]


def is_plain(value) -> bool:
    return type(value) in (int, float, str, type(None))


def check_witness(result: sl.results.Sensitivity, asked: Asked, theirs) -> None:
    """The pair is one of neighbors by the oracle's definition, told in the universe's order."""
    x, y = result.witness.x, result.witness.y
    position = {record: i for i, record in enumerate(result.universe.values)}
    for dataset in (x, y):
        assert not Counter(dataset) - Counter(asked.records)
        assert list(dataset) == sorted(dataset, key=position.__getitem__)
        assert all(is_plain(value) for record in dataset for value in record)
    assert len(x) in asked.sizes
    listed = {tuple(sorted(one, key=position.__getitem__)) for one in asked.neighbors(x)}
    assert y in listed
    assert Counter(result.witness.shared + result.witness.only_x) == Counter(x)
    assert Counter(result.witness.shared + result.witness.only_y) == Counter(y)
    for dataset, answer in ((x, result.witness.query_x), (y, result.witness.query_y)):
        by_oracle = theirs(dataset)
        assert isinstance(answer, tuple) == isinstance(by_oracle, tuple)
        floats = tuple(one.numerator / one.denominator for one in oracle_records.vector(by_oracle))
        assert (answer if isinstance(answer, tuple) else (answer,)) == floats


def changes_of_one(universe, ours, relation, norm, size=2) -> sl.results.Sensitivity:
    return sl.global_sensitivity(universe, ours, size=size, neighbors=relation, norm=norm)
